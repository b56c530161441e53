"""Compares commits with the scores that they make final, docs/verify/evidence-format.md section 9, "Replay".

Keeps one hash for each seq modulo 65,536, of the newest provisional score, so that memory does not grow with the chain.
"""
from shapes import COMMIT_REFERENCE
from canonical import canonical_bytes
from tree import sha256

_REMEMBERED = 65_536
# A score without its parts, and one that was already reported.
_ABSENT, _REPORTED = object(), object()


def committed_hash(result):
    """The hash by which a score and its commit are equal: a commit changes only two members."""
    return sha256(canonical_bytes({**result, "provisional": False, "committed": True}))


class Commits:
    """The provisional scores of one chain that a commit may still name."""

    def __init__(self, base_size, is_first, findings):
        self.base_size = base_size
        self.is_first = is_first
        self.findings = findings
        self.scores = {}
        self.uncompared = None

    def remember(self, entry, hash_of_entry, result):
        """Remembers a provisional score, as it was computed anew."""
        score = (hash_of_entry.hex(), entry["id"], committed_hash(result))
        self.scores[entry["seq"] % _REMEMBERED] = (entry["seq"], score)

    def remember_absent(self, seq):
        """Remembers that a score's parts are not given."""
        self.scores[seq % _REMEMBERED] = (seq, _ABSENT)

    def remember_reported(self, seq):
        """Remembers a score that was already reported as wrong."""
        self.scores[seq % _REMEMBERED] = (seq, _REPORTED)

    def compare(self, seq, reference, result):
        """Compares a commit's result with its score; `reference` names the score, None if that part is not given."""
        if reference is None:
            self._pass_over(seq)
        elif not COMMIT_REFERENCE(reference):
            self.findings.add("RECORD_MALFORMED", seq)
        else:
            self._compare(seq, reference, result)

    def _compare(self, seq, reference, result):
        at = reference["ref_seq"]
        held, score = self.scores.get(at % _REMEMBERED, (-1, None))
        if held == at and score is _REPORTED:
            return
        named = (reference["ref_entry_hash"], reference["ref_id"], committed_hash(result))
        if held == at and score == named:
            return
        is_overtaken = held > at or (held == at and score is _ABSENT)
        if is_overtaken or at < self.base_size or not self.is_first:
            self._pass_over(seq)
        else:
            self.findings.add("SCORE_MISMATCH", seq)

    def _pass_over(self, seq):
        if self.uncompared is None:
            self.uncompared = seq

    def settle(self):
        """Ends the bundle."""
        if self.uncompared is not None:
            self.findings.add("COMMIT_UNCOMPARED", self.uncompared)
