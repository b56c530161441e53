"""Whether recorded scores, decisions and labels follow, docs/verify/evidence-format.md section 9, "Replay".

For each subject it keeps a hash from the last record: of state and entry, or of the entry alone if the state is not
known.
"""
import replay
from commits import Commits
from models import fault_of
from shapes import INPUTS
from tree import model_hash, state_hash

_MOVING = ("SCORE_COMPUTED", "OUTCOME_LABELLED")
_PARTS = {
    "SCORE_COMPUTED": {"input", "result"},
    "SCORE_SKIPPED": {"input", "result"},
    "DRS_COMPUTED": {"input", "result"},
    "OUTCOME_LABELLED": {"input"},
    "SCORE_COMMITTED": {"detail", "result"},
}


class States:
    """Replays the records of one chain, and compares each state with the one that the record before left."""

    def __init__(self, name, base_size, findings):
        self.name = name
        self.base_size = base_size
        self.findings = findings
        self.documents = {}
        # Models that cannot be used and were already reported; what is wrong with a document.
        self.missing = set()
        self.faults = {}
        self.known = {}
        self.commits = Commits(base_size, is_first=name.epoch == 1, findings=findings)
        self.is_off_track = False
        # Whether every record of the line from its beginning on is in the input.
        self.is_complete = name.epoch == 1 and base_size == 0
        self.replayed = 0

    def add_document(self, sha256, document):
        """Takes a model document; False if there is one of that name already."""
        if sha256 in self.documents:
            return False
        fault = fault_of(document) if model_hash(document).hex() == sha256 else "MODEL_MISMATCH"
        self.documents[sha256] = document if fault is None else None
        self.faults[sha256] = fault
        if fault in ("MALFORMED_LINE", "LIMIT_EXCEEDED"):
            self.findings.add(fault)
            self.missing.add(sha256)
        return True

    def lose_track(self):
        """Forgets every state: entries are missing or altered."""
        self.known.clear()
        self.is_off_track = True

    def inherit(self, earlier):
        """Takes over the states of the chain that this one continues."""
        self.known = dict(earlier.known)
        self.is_complete = earlier.is_complete and not earlier.is_off_track

    def forget(self, subject):
        """Forgets the state of an erased subject."""
        self.known.pop(subject, None)

    def settle(self):
        """Ends the bundle: a document that no record named must hash to its name too."""
        self.commits.settle()
        for sha256, fault in self.faults.items():
            if fault == "MODEL_MISMATCH" and sha256 not in self.missing:
                self.findings.add("MODEL_MISMATCH")

    def take(self, entry, hash_of_entry, parts):
        """Takes an entry with those of its parts that are given."""
        event_type = entry["event_type"]
        if event_type not in _PARTS:
            return
        if entry["commit"].keys() != _PARTS[event_type]:
            self.findings.add("RECORD_MALFORMED", entry["seq"])
            return
        after = ("entry", hash_of_entry)
        if event_type == "SCORE_COMMITTED":
            self._check_commit(entry, parts)
        elif parts.keys() == entry["commit"].keys():
            state = self._replay(entry, hash_of_entry, parts)
            if state is not None:
                after = ("state", state_hash(hash_of_entry, state))
        elif event_type == "SCORE_COMPUTED":
            self.commits.remember_absent(entry["seq"])
        if event_type in _MOVING:
            self.known[entry["subject"]] = after

    def _check_commit(self, entry, parts):
        if "result" not in parts:
            return
        self.replayed += 1
        result = parts["result"]
        if not isinstance(result, dict):
            self.findings.add("RECORD_MALFORMED", entry["seq"])
        elif (result.get("provisional"), result.get("committed")) != (False, True):
            self.findings.add("SCORE_MISMATCH", entry["seq"])
        elif not self.is_off_track:
            self.commits.compare(entry["seq"], parts.get("detail"), result)

    def _replay(self, entry, hash_of_entry, parts):
        """The state after the record; None if it leaves none, or none that can be computed."""
        again = self._replayed(entry, parts)
        if entry["event_type"] == "SCORE_COMPUTED":
            if again is None:
                self.commits.remember_reported(entry["seq"])
            elif again.result["provisional"]:
                self.commits.remember(entry, hash_of_entry, again.result)
        return None if again is None else again.state

    def _replayed(self, entry, parts):
        """The record's result; None if it cannot be computed, which was then reported."""
        seq, given, event_type = entry["seq"], parts["input"], entry["event_type"]
        if is_of_a_later_release(given):
            self.findings.add("UNSUPPORTED_VERSION", seq)
            return None
        if entry["subject"] is None or not INPUTS[event_type](given):
            self.findings.add("RECORD_MALFORMED", seq)
            return None
        if event_type != "SCORE_SKIPPED":
            self._check_state(entry, given)
        document = self._document(given["algo"]["model_sha256"], seq)
        if document is None:
            return None
        try:
            again = replay.replay(event_type, document, given, entry["id"])
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            # Record and document do not fit together: nothing can be computed.
            self.findings.add("RECORD_MALFORMED", seq)
            return None
        self.replayed += 1
        algorithm = given["algo"]
        named = (algorithm["formulas"], algorithm["model_version"])
        differs = event_type != "SCORE_SKIPPED" and named != (document.get("formulas"), document.get("version"))
        differs = differs or any(replay.differences(parts.get("result"), again.result))
        if event_type == "SCORE_COMPUTED":
            differs = differs or any(replay.differences(given["weights"], again.weights))
        if differs:
            self.findings.add("SCORE_MISMATCH", seq)
        return again

    def _document(self, sha256, seq):
        """The model document of that name; reported once if it is missing or another."""
        document = self.documents.get(sha256)
        if document is None and sha256 not in self.missing:
            self.missing.add(sha256)
            self.findings.add(self.faults.get(sha256, "MODEL_MISSING"), seq)
        return document

    def _check_state(self, entry, given):
        """Whether the record starts from the state that the one before left."""
        prior, state, known = given["prior"], given["state"], self.known.get(entry["subject"])
        if prior is None or state is None:
            holds = prior is None and state is None and known is None
        else:
            hash_of_prior = bytes.fromhex(prior["entry_hash"])
            start = ("state", state_hash(hash_of_prior, state))
            holds = known == start
            if known == ("entry", hash_of_prior) or (known is None and self._is_elsewhere(prior)):
                # The state is taken as it is given; a decision leaves it for the next record to start from.
                self.findings.add("STATE_UNANCHORED", entry["seq"])
                self.known[entry["subject"]] = start
                holds = True
        if not holds:
            self.findings.add("STATE_MISMATCH", entry["seq"])

    def _is_elsewhere(self, prior):
        """Whether the record may lie outside of the bundle."""
        if self.is_off_track or self.is_complete:
            return self.is_off_track
        return self.name.epoch > 1 or prior["seq"] < self.base_size


def is_of_a_later_release(given):
    """Whether the version of an input or of its formulas is unknown."""
    if not isinstance(given, dict):
        return False
    algorithm = given.get("algo")
    formulas = algorithm.get("formulas") if isinstance(algorithm, dict) else None
    told = ((given.get("v"), ("jis.input/1",)), (formulas, ("jis-1", "jis-2", "jis-3")))
    return any(isinstance(one, str) and one not in known for one, known in told)
