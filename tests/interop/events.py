"""What entries mean beyond their hashes: how a chain came about, what was erased and cut, and whether scores follow.

docs/evidence-format.md sections 4, 5 and 9. Everything here sees an entry once all of its parts were read; parts whose
commitment does not hold are not given to it.
"""
import re

import replay
from notes import Malformed, parse_certificate, parse_checkpoint, parse_vkey
from replay import instant_of
from shapes import INPUTS, STRUCTURAL
from tree import model_hash, state_hash

_EPOCH = re.compile(r"(?P<family>sys|org/[A-Za-z0-9_-]{1,128}(?:/admin)?)(?:/e(?P<epoch>[2-9]|[1-9][0-9]+))?")
# Those on whose detail a verdict may turn.
_BEARING = ("RETENTION_POLICY", "RETENTION_PRUNED", "SIGNING_KEY_ROTATED")
_DAY_MS = 86_400_000
_UNKNOWN = object()


def family_and_epoch(chain):
    """The family of a chain and the number of its epoch; None where it is no chain's name."""
    match = _EPOCH.fullmatch(chain)
    return None if match is None else (match["family"], int(match["epoch"] or 1))


# ---- how the chain came about -----------------------------------------------------------------------------


class Structure:
    """Follows the entries of section 5 through one chain."""

    def __init__(self, bundle):
        self.bundle = bundle
        self.policy_days = _UNKNOWN
        self.cuts = []
        self.cut_is_withheld = False
        self.pruned = []
        self.restored_from = None
        self.anchors = []

    def take(self, entry, parts):
        """An entry with those of its parts that are given."""
        if entry["seq"] == 0:
            self._check_genesis(entry, parts)
        if entry["actor"] != "system" or entry["event_type"] not in STRUCTURAL:
            return
        if entry["event_type"] == "SUBJECT_ERASED" and entry["subject"] is not None:
            self.bundle.erasures.prove(entry["subject"])
            self.bundle.line_of_states.forget(entry["subject"])
        if "detail" not in parts:
            self._pass_over(entry)
            return
        detail = parts["detail"]
        if not STRUCTURAL[entry["event_type"]](detail):
            if entry["event_type"] in _BEARING or (
                entry["event_type"] == "ORG_CHECKPOINTS" and self.bundle.family == "sys"
            ):
                self.bundle.findings.add("RECORD_MALFORMED", entry["seq"])
            return
        handler = getattr(self, "_take_" + entry["event_type"].lower(), None)
        if handler is not None:
            handler(entry, detail)

    def need_cut(self, seq):
        """A part of this entry is said to be pruned."""
        self.pruned.append(seq)

    def settle(self):
        """The bundle has ended: what was pruned lies below a cut that an entry tells of."""
        end = max((size for size, _ in self.cuts), default=0)
        for seq in self.pruned:
            if seq >= end:
                self.bundle.findings.add("ERASURE_UNPROVEN", seq)

    def _pass_over(self, entry):
        """The detail is not given, so that what it would have said is not known."""
        if entry["event_type"] == "RETENTION_PRUNED":
            self.cut_is_withheld = True
        if entry["event_type"] == "RETENTION_POLICY":
            self.policy_days = _UNKNOWN
        if entry["event_type"] == "SIGNING_KEY_ROTATED":
            self.bundle.trust.lose_track()

    def _check_genesis(self, entry, parts):
        family, epoch = self.bundle.family, self.bundle.epoch
        expected = "CHAIN_RESTORED" if family == "sys" and epoch > 1 else "CHAIN_GENESIS"
        if entry["event_type"] != expected or entry["actor"] != "system":
            self.bundle.findings.add("GENESIS_MISMATCH", 0)
            return
        if "detail" in parts and not (STRUCTURAL[expected](parts["detail"]) and self._agrees(parts["detail"])):
            self.bundle.findings.add("GENESIS_MISMATCH", 0)

    def _agrees(self, detail):
        origin, epoch = self.bundle.origin, self.bundle.epoch
        if detail["origin"] != origin or parse_vkey(detail["vkey"])[0] != origin:
            return False
        if self.bundle.prefix != "" and not self.bundle.prefix.endswith(f"/{detail['deployment']}/"):
            return False
        if epoch == 1:
            return "previous_origin" not in detail
        suffix = "" if epoch == 2 else f"/e{epoch - 1}"
        return detail.get("previous_origin") == f"{self.bundle.prefix}{self.bundle.family}{suffix}"

    def _take_chain_genesis(self, entry, detail):
        if entry["seq"] != 0:
            return
        self.policy_days = detail["retention_days"]
        if "previous_origin" in detail:
            self.restored_from = detail

    _take_chain_restored = _take_chain_genesis

    def _take_retention_policy(self, entry, detail):
        rules = "audit_log" if self.bundle.family.endswith("/admin") else "evidence"
        if self.bundle.family != "sys" and detail["policy"] == rules:
            self.policy_days = detail["to_days"]

    def _take_retention_pruned(self, entry, detail):
        self.cuts.append((detail["to"], bytes.fromhex(detail["root"])))
        latest = instant_of(entry["timestamp"]) - detail["policy_days"] * _DAY_MS
        holds = detail["from"] < detail["to"] <= entry["seq"] and detail["last_ts"] < detail["cutoff"]
        holds = holds and instant_of(detail["cutoff"]) <= latest
        if not holds or self.policy_days not in (_UNKNOWN, detail["policy_days"]):
            self.bundle.findings.add("PRUNE_POLICY_VIOLATION", entry["seq"])

    def _take_signing_key_rotated(self, entry, detail):
        try:
            certificate = parse_certificate(detail["cert"])
        except Malformed:
            certificate = None
        if certificate is None or certificate.prefix != self.bundle.prefix:
            self.bundle.findings.add("RECORD_MALFORMED", entry["seq"])
            return
        too_early = self.bundle.trust.rotate(entry["seq"], certificate)
        if too_early is not None:
            self.bundle.findings.add("UNTRUSTED_KEY", too_early - 1)
        if not detail["overlap"]:
            self.bundle.trust.retire(entry["seq"], certificate)

    def _take_org_checkpoints(self, entry, detail):
        if self.bundle.family == "sys":
            self.anchors.extend(
                (one["origin"], one["size"], bytes.fromhex(one["root"])) for one in detail["checkpoints"]
            )


class Erasures:
    """Parts that were erased, until an entry tells of it; shared by the bundles of an input, by family."""

    def __init__(self):
        self.open = {}

    def of(self, family):
        """Those of one family, and of one bundle in it."""
        return self.open.setdefault(family, {})


class ErasuresOfBundle:
    """One bundle's view of the erasures of its family."""

    def __init__(self, erasures, family, findings):
        self.subjects = erasures.of(family)
        self.findings = findings

    def need(self, subject, seq):
        """A part of this subject is erased at this entry."""
        if subject is None:
            self.findings.add("ERASURE_UNPROVEN", seq)
        else:
            self.subjects.setdefault(subject, {}).setdefault(id(self.findings), (self.findings, seq))

    def prove(self, subject):
        """An entry tells that this subject was erased."""
        self.subjects.pop(subject, None)


def settle_erasures(erasures):
    """At the end of the input: what is still open is unproven."""
    for subjects in erasures.open.values():
        for found in subjects.values():
            for findings, seq in found.values():
                findings.add("ERASURE_UNPROVEN", seq)


# ---- whether scores follow --------------------------------------------------------------------------------


class LineOfStates:
    """Replays records, and holds each operator's state against the one that the record before left."""

    def __init__(self, bundle):
        self.bundle = bundle
        self.documents = {}
        self.known = {}
        self.is_off_track = False
        self.missing = set()
        self.replayed = 0

    def add_document(self, name, document):
        """Takes a model document, None where it does not hash to its name."""
        self.documents[name] = document if model_hash(document).hex() == name else None

    def lose_track(self):
        """Entries are missing or altered: nobody's state is known any more."""
        self.known.clear()
        self.is_off_track = True

    def settle(self):
        """The bundle has ended: a document that nothing named must hash to its name too."""
        for name, document in self.documents.items():
            if document is None and name not in self.missing:
                self.bundle.findings.add("MODEL_MISMATCH")

    def forget(self, subject):
        """The subject was erased: nothing will start from its state."""
        self.known.pop(subject, None)

    def take(self, entry, hash_of_entry, parts):
        """A record with those of its parts that are given."""
        event_type = entry["event_type"]
        if event_type == "SCORE_COMMITTED":
            self._check_commit(entry, parts)
        if event_type not in INPUTS or "input" not in entry["commit"]:
            return
        if parts.keys() != entry["commit"].keys():
            if event_type in ("SCORE_COMPUTED", "OUTCOME_LABELLED"):
                self.known[entry["subject"]] = ("entry", hash_of_entry)
            return
        state = self._replay(entry, parts)
        if event_type in ("SCORE_COMPUTED", "OUTCOME_LABELLED"):
            after = ("entry", hash_of_entry)
            if state is not None:
                after = ("state", state_hash(hash_of_entry, state))
            self.known[entry["subject"]] = after

    def _check_commit(self, entry, parts):
        result = parts.get("result")
        if result is None:
            return
        self.replayed += 1
        if not isinstance(result, dict):
            self.bundle.findings.add("RECORD_MALFORMED", entry["seq"])
        elif (result.get("provisional"), result.get("committed")) != (False, True):
            self.bundle.findings.add("SCORE_MISMATCH", entry["seq"])

    def _replay(self, entry, parts):
        """The state after the record; None where it leaves none, or none that can be computed."""
        add, seq = self.bundle.findings.add, entry["seq"]
        given, event_type = parts["input"], entry["event_type"]
        if isinstance(given, dict) and is_newer(given):
            add("UNSUPPORTED_VERSION", seq)
            return None
        if entry["subject"] is None or not INPUTS[event_type](given):
            add("RECORD_MALFORMED", seq)
            return None
        self._check_state(entry, given)
        document = self._document(given["algo"]["model_sha256"], seq)
        if document is None:
            return None
        try:
            again = replay.replay(event_type, document, given, entry["id"])
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            # Record and document do not go together: nothing follows from them.
            add("RECORD_MALFORMED", seq)
            return None
        self.replayed += 1
        differs = again.result is not None and given["algo"]["model_version"] != document.get("version")
        differs = differs or any(replay.differences(parts.get("result"), again.result))
        if event_type == "SCORE_COMPUTED":
            differs = differs or any(replay.differences(given["weights"], again.weights))
        if differs:
            add("SCORE_MISMATCH", seq)
        return again.state

    def _document(self, name, seq):
        """The model document of that name; said once where it is not there or another."""
        document = self.documents.get(name)
        if document is None and name not in self.missing:
            self.missing.add(name)
            self.bundle.findings.add("MODEL_MISMATCH" if name in self.documents else "MODEL_MISSING", seq)
        return document

    def _check_state(self, entry, given):
        """Whether the record starts from where the one before ended."""
        if entry["event_type"] == "SCORE_SKIPPED":
            return
        subject, prior, state = entry["subject"], given["prior"], given["state"]
        known = self.known.get(subject)
        if prior is None or state is None:
            holds = prior is None and state is None and known is None
        elif known is None:
            holds = self._history_is_elsewhere(prior)
            if holds:
                self._adopt(entry, prior, state)
        else:
            kind, value = known
            hash_of_prior = bytes.fromhex(prior["entry_hash"])
            if kind == "state":
                holds = value == state_hash(hash_of_prior, state)
            else:
                holds = value == hash_of_prior
                if holds:
                    self._adopt(entry, prior, state)
        if not holds:
            self.bundle.findings.add("STATE_MISMATCH", entry["seq"])

    def _history_is_elsewhere(self, prior):
        return self.is_off_track or self.bundle.epoch > 1 or prior["seq"] < self.bundle.base_size

    def _adopt(self, entry, prior, state):
        """The state is taken as it is given; a decision leaves it for the next record to start from."""
        self.bundle.findings.add("STATE_UNANCHORED", entry["seq"])
        self.known[entry["subject"]] = ("state", state_hash(bytes.fromhex(prior["entry_hash"]), state))


def is_newer(given):
    """Whether an input is of a version, or its formulas are of one, that is not known here."""
    algorithm = given.get("algo")
    formulas = algorithm.get("formulas") if isinstance(algorithm, dict) else None
    return any(isinstance(one, str) and one != known for one, known in ((given.get("v"), "jis.input/1"), (formulas, "jis-1")))


def last_known(detail):
    """The checkpoint of which a restore says that it knew, None where there is none."""
    try:
        return parse_checkpoint(detail["last_known_checkpoint"] or "")
    except Malformed:
        return None
