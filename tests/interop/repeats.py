"""Finds records that can be made once only, docs/verify/evidence-format.md section 9, "Records that are made once".

Keeps a keyed hash of 16 bytes for each name; nobody who chooses names can make two of them equal.
"""
import hashlib
import os

_KEY = os.urandom(16)
# What a record names, and the parts that may give it.
_NAMES = {
    "SCORE_COMPUTED": ("session_id", ("input", "result")),
    "SCORE_COMMITTED": ("session_id", ("result",)),
    "OUTCOME_LABELLED": ("session_id", ("input",)),
    "DRS_COMPUTED": ("decision_id", ("input", "result")),
}


class Repeats:
    """The sessions and decisions that one chain, and the chains that it continues, recorded."""

    def __init__(self, findings):
        self.findings = findings
        self.known = set()
        self.is_off_track = False

    def lose_track(self):
        """Notes that entries are missing or altered: a later record may be one of them."""
        self.is_off_track = True

    def inherit(self, earlier):
        """Takes over the names of the chain that this one continues."""
        self.known = set(earlier.known)

    def take(self, entry, parts):
        """Takes an entry with those of its parts that are given."""
        event_type = entry["event_type"]
        if self.is_off_track or event_type not in _NAMES:
            return
        member, names = _NAMES[event_type]
        given = next((parts[name] for name in names if name in parts), None)
        name = given.get(member) if isinstance(given, dict) else None
        if not isinstance(name, str):
            return
        text = f"{event_type}\n{name}".encode("utf-8", "surrogatepass")
        told = hashlib.blake2b(text, digest_size=16, key=_KEY).digest()
        if told in self.known:
            self.findings.add("RECORD_REPEATED", entry["seq"])
        self.known.add(told)
