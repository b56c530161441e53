"""Entries that say how a chain came about, docs/verify/evidence-format.md section 5.

They are seen once all of their parts were read; a part whose commitment does not hold is as good as not given.
"""
import re
from dataclasses import dataclass
from typing import Optional

from notes import Malformed, parse_certificate, parse_checkpoint
from replay import instant_of
from shapes import STRUCTURAL

_CHAIN = re.compile(r"(?P<family>sys|org/[A-Za-z0-9_-]{1,128}(?:/admin)?)(?:/e(?P<epoch>[2-9]|[1-9][0-9]+))?")
# Entries whose detail can change a verdict.
_BEARING = ("RETENTION_POLICY", "RETENTION_PRUNED", "SIGNING_KEY_ROTATED")
_DAY_MS = 86_400_000
_UNKNOWN = object()


@dataclass(frozen=True)
class ChainName:
    """A chain's origin, taken apart; `family` is empty if the origin is not of the header's chain."""

    origin: str
    prefix: str = ""
    family: str = ""
    epoch: int = 1

    @staticmethod
    def of(origin, chain):
        """The name of a chain with this origin."""
        match = _CHAIN.fullmatch(chain)
        if match is None or not origin.endswith("/" + chain):
            return ChainName(origin)
        return ChainName(origin, origin[: -len(chain)], match["family"], int(match["epoch"] or 1))

    def sibling(self, origin):
        """The name of another origin, None if that is no chain of the same family."""
        match = _CHAIN.fullmatch(origin[len(self.prefix) :]) if origin.startswith(self.prefix) else None
        if match is None or match["family"] != self.family:
            return None
        return ChainName(origin, self.prefix, self.family, int(match["epoch"] or 1))

    @property
    def is_admin(self):
        """Whether it is the audit log of an organization, which may itself be called `admin`."""
        return self.family.count("/") == 2


@dataclass(frozen=True)
class Cut:
    """A recorded removal: up to which size entries were removed, and the tree's root at that size."""

    origin: str
    size: int
    root: bytes


class Structure:
    """Follows those entries through one chain."""

    def __init__(self, bundle):
        self.bundle = bundle
        self.name = bundle.name
        self.policy_days = _UNKNOWN
        self.cuts = []
        self.has_withheld_cut = False
        self.pruned = []
        self.restored_from = None
        # Checkpoints of other chains, each with the seq of the entry that holds it; seqs of entries that hide theirs.
        self.anchors = []
        self.hidden_anchors = []

    def take(self, entry, parts):
        """Takes an entry with those of its parts that are given."""
        event_type = entry["event_type"]
        if entry["seq"] == 0:
            self._check_genesis(entry, parts)
        if entry["actor"] != "system" or event_type not in STRUCTURAL:
            return
        if "detail" not in parts:
            self._pass_over(event_type, entry["seq"])
        elif STRUCTURAL[event_type](parts["detail"]):
            handler = getattr(self, "_take_" + event_type.lower(), None)
            if handler is not None:
                handler(entry, parts["detail"])
        elif event_type in _BEARING or (event_type == "ORG_CHECKPOINTS" and self.name.family == "sys"):
            self.bundle.findings.add("RECORD_MALFORMED", entry["seq"])

    def take_beginning(self, entry, parts):
        """The first entry of a later epoch, below its removed prefix. Of the retention in force it tells no more; but
        what is older than it, all of the chain before, was removed by the same rule.
        """
        detail = parts.get("detail")
        if not self._check_genesis(entry, parts) or detail is None:
            return
        self.restored_from = Restore.of(detail)
        if detail["restored_root"] is not None:
            root = bytes.fromhex(detail["restored_root"])
            self.cuts.append(Cut(detail["previous_origin"], detail["restored_size"], root))

    def need_cut(self, seq):
        """Notes that a part of this entry is marked as pruned."""
        self.pruned.append(seq)

    def settle(self):
        """Ends the bundle: pruned parts must lie below a recorded cut."""
        end = max((cut.size for cut in self.cuts if cut.origin == self.name.origin), default=0)
        for seq in self.pruned:
            if seq >= end:
                self.bundle.findings.add("ERASURE_UNPROVEN", seq)

    def _pass_over(self, event_type, seq):
        """Notes that this entry's detail is not given."""
        if event_type == "ORG_CHECKPOINTS":
            self.hidden_anchors.append(seq)
        if event_type == "RETENTION_PRUNED":
            self.has_withheld_cut = True
        if event_type == "RETENTION_POLICY":
            self.policy_days = _UNKNOWN
        if event_type == "SIGNING_KEY_ROTATED":
            self.bundle.trust.lose_track()

    def _check_genesis(self, entry, parts):
        is_restored = self.name.family == "sys" and self.name.epoch > 1
        expected = "CHAIN_RESTORED" if is_restored else "CHAIN_GENESIS"
        agrees = entry["event_type"] == expected and entry["actor"] == "system"
        if agrees and "detail" in parts:
            agrees = STRUCTURAL[expected](parts["detail"]) and self._agrees(parts["detail"])
        if not agrees:
            self.bundle.findings.add("GENESIS_MISMATCH", 0)
        return agrees

    def _agrees(self, detail):
        name = self.name
        if detail["origin"] != name.origin or not detail["vkey"].startswith(name.origin + "+"):
            return False
        if name.family != "" and not name.prefix.endswith(f"/{detail['deployment']}/"):
            return False
        if "previous_origin" not in detail:
            return name.epoch == 1
        previous = name.sibling(detail["previous_origin"])
        return previous is not None and previous.epoch < name.epoch

    def _take_chain_genesis(self, entry, detail):
        if entry["seq"] != 0:
            return
        self.policy_days = detail["retention_days"]
        if "previous_origin" in detail:
            self.restored_from = Restore.of(detail)
            self.bundle.inherit(self.restored_from)

    _take_chain_restored = _take_chain_genesis

    def _take_retention_policy(self, _entry, detail):
        rules = "audit_log" if self.name.is_admin else "evidence"
        if self.name.family != "sys" and detail["policy"] == rules:
            self.policy_days = detail["to_days"]

    def _take_retention_pruned(self, entry, detail):
        self.cuts.append(Cut(detail["origin"], detail["to"], bytes.fromhex(detail["root"])))
        is_own = detail["origin"] == self.name.origin
        latest = instant_of(entry["timestamp"]) - detail["policy_days"] * _DAY_MS
        holds = detail["from"] < detail["to"] and (not is_own or detail["to"] <= entry["seq"])
        holds = holds and detail["last_ts"] < detail["cutoff"] and instant_of(detail["cutoff"]) <= latest
        if not holds or self.policy_days not in (_UNKNOWN, detail["policy_days"]):
            self.bundle.findings.add("PRUNE_POLICY_VIOLATION", entry["seq"])

    def _take_signing_key_rotated(self, entry, detail):
        try:
            certificate = parse_certificate(detail["cert"])
        except Malformed:
            certificate = None
        trust = self.bundle.trust
        if certificate is not None:
            trust.add_certificate(certificate)
        if certificate is None or certificate.prefix != self.name.prefix:
            self.bundle.findings.add("RECORD_MALFORMED", entry["seq"])
            return
        if not detail["overlap"]:
            trust.retire(entry["seq"], certificate)
        elif certificate.new in trust.trusted and not trust.follows(certificate):
            self.bundle.findings.add("RECORD_MALFORMED", entry["seq"])
        else:
            for size in trust.rotate(entry["seq"], certificate):
                self.bundle.findings.add("UNTRUSTED_KEY", size - 1)

    def _take_org_checkpoints(self, entry, detail):
        if self.name.family == "sys":
            self.anchors.extend(
                (one["origin"], one["size"], bytes.fromhex(one["root"]), entry["seq"])
                for one in detail["checkpoints"]
                if one["size"] > 0
            )


@dataclass(frozen=True)
class Restore:
    """What the first entry of a later epoch states about the chain that it continues."""

    origin: str
    size: int
    root: Optional[str]
    known_origin: Optional[str]
    known_size: int
    known_root: bytes

    @staticmethod
    def of(detail):
        """Reads a detail; a last known checkpoint that cannot be read counts as not given."""
        try:
            known = parse_checkpoint(detail["last_known_checkpoint"] or "")
            told = (known.origin, known.size, known.root)
        except Malformed:
            told = (None, 0, b"")
        return Restore(detail["previous_origin"], detail["restored_size"], detail["restored_root"], *told)

    def knew_of(self, size, root, earlier):
        """Whether it states that it knew this checkpoint of the earlier chain, or a later one."""
        if self.known_origin == earlier.origin:
            return self.known_size > size or (self.known_size == size and self.known_root == root)
        known = None if self.known_origin is None else earlier.sibling(self.known_origin)
        return known is not None and known.epoch > earlier.epoch
