"""What is found in a bundle, and the verdict that follows, docs/verify/evidence-format.md section 9."""
from dataclasses import dataclass, field
from typing import List, Optional, Tuple

NOT_FATAL = {
    *("PRUNED_PREFIX", "STATE_UNANCHORED", "COMMIT_UNCOMPARED", "RESTORED"),
    *("PROBE_LEFT_OUT", "PROBE_SELECTION", "PROBE_UNCOMPARED"),
    *("KNOWN_CHECKPOINT_UNLINKABLE", "KNOWN_EPOCH_UNLINKED", "KNOWN_DEPLOYMENT_OTHER", "ANCHOR_AHEAD"),
}
# Reported only if some checkpoint of the bundle is signed by a trusted key.
NEED_TRUST = {
    *("ROOT_MISMATCH", "UNSIGNED_TAIL", "PRUNED_PREFIX_UNPROVEN", "PRUNED_PREFIX"),
    *("RESTORED", "KNOWN_CHECKPOINT_UNLINKABLE", "ANCHOR_AHEAD"),
}
CONTRADICTIONS = {"FORK_VS_KNOWN_CHECKPOINT", "ROLLBACK_VS_KNOWN_CHECKPOINT"}
NOT_COMPARED = "INTACT, NOT COMPARED"
EXIT_CODES = {
    **{"INTACT": 0, "INTACT, UNANCHORED": 0, NOT_COMPARED: 2},
    **{"TAMPERED": 1, "DIVERGED": 1, "NOT VERIFIABLE": 2},
}
# From the best to the worst.
_RANKS = ("INTACT", "INTACT, UNANCHORED", NOT_COMPARED, "NOT VERIFIABLE", "TAMPERED", "DIVERGED")
# At most this many of one bundle are listed; the first bad place takes all into account.
_LISTED = 500


@dataclass(frozen=True)
class Finding:
    """One finding; `seq` is exact, `range` (both ends included) if the place is only known to lie in it."""

    code: str
    seq: Optional[int] = None
    range: Optional[Tuple[int, int]] = None

    @property
    def fatal(self):
        """Whether it takes the verdict INTACT away."""
        return self.code not in NOT_FATAL


@dataclass
class Findings:
    """The findings of one bundle; some are reported only once a signature is trusted."""

    listed: List[Finding] = field(default_factory=list)
    dropped: int = 0

    def add(self, code, seq=None, span=None):
        """Takes a finding; `span` is its range."""
        if len(self.listed) < _LISTED:
            self.listed.append(Finding(code, seq, span))
        else:
            self._keep_the_first(Finding(code, seq, span))

    def _keep_the_first(self, finding):
        # A later finding may still be the first bad place: it replaces the last one.
        self.dropped += 1
        if finding.fatal and _place(finding) < min(map(_place, self.listed)):
            self.listed[-1] = finding

    def has(self, code):
        """Whether there is such a finding."""
        return any(finding.code == code for finding in self.listed)

    def is_fatal(self):
        """Whether anything is fatally wrong so far, whatever key signed."""
        return any(finding.fatal for finding in self.listed)

    def said(self, trusted):
        """The findings that may be reported."""
        return [finding for finding in self.listed if trusted or finding.code not in NEED_TRUST]


def _place(finding):
    """Orders places: exact ones, then ranges, then states that do not fit, mostly a consequence of another finding."""
    if not finding.fatal or (finding.seq is None and finding.range is None):
        return _NOWHERE
    if finding.seq is None:
        return (1, *finding.range)
    return (2 if finding.code == "STATE_MISMATCH" else 0, finding.seq, 0)


_NOWHERE = (3, 0, 0)


def first_bad(findings):
    """Seq and range of the first bad place; the range is None if the seq is exact."""
    first = min(findings, key=_place, default=None)
    if first is None or _place(first) == _NOWHERE:
        return None, None
    if first.seq is not None:
        return first.seq, None
    return first.range[0], first.range


def worst(verdicts):
    """The verdict over several bundles; NOT VERIFIABLE if there is none."""
    if not verdicts:
        return "NOT VERIFIABLE"
    return max(verdicts, key=_RANKS.index)
