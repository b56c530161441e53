"""Holds commits against the scores that they make final, docs/verify/evidence-format.md section 9, "Replay".

Of the newest provisional score of each seq modulo 65,536 a hash is kept, so that memory does not grow with the chain.
"""
from shapes import COMMIT_REFERENCE
from canonical import canonical_bytes
from tree import sha256

_REMEMBERED = 65_536
# A score whose parts are not given, and one that was found malformed or could not be computed.
_ABSENT, _REPORTED = object(), object()


def committed_hash(result):
    """By which a score and its commit are the same: a commit changes two members and no more."""
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
        """A provisional score, as it was computed anew."""
        score = (hash_of_entry.hex(), entry["id"], committed_hash(result))
        self.scores[entry["seq"] % _REMEMBERED] = (entry["seq"], score)

    def remember_absent(self, seq):
        """A score whose parts are not given."""
        self.scores[seq % _REMEMBERED] = (seq, _ABSENT)

    def remember_reported(self, seq):
        """A score with which something is wrong, which was said."""
        self.scores[seq % _REMEMBERED] = (seq, _REPORTED)

    def compare(self, seq, reference, result):
        """A commit's result, and the detail that names its score, None where that is not given."""
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
        """The bundle has ended."""
        if self.uncompared is not None:
            self.findings.add("COMMIT_UNCOMPARED", self.uncompared)
