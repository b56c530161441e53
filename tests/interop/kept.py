"""Checkpoints and entries that were kept from earlier visits, and anchors of `sys`: docs/verify/evidence-format.md section 9."""
from dataclasses import dataclass
from typing import Optional

from notes import Checkpoint
from tree import advanced_root


@dataclass
class Kept:
    """A size and root to compare a chain with; `checkpoint` is None for an anchor, which anchors nothing by itself.
    `is_pinned` is one that a kept checkpoint of `sys` covers.

    `found` is the chain's root at that size, once it was passed; `climbed` how far ladder lines lead from it, and
    `climbed_root` the root there, None once a line did not fit.
    """

    size: int
    root: bytes
    checkpoint: Optional[Checkpoint] = None
    is_pinned: bool = False
    found: Optional[bytes] = None
    climbed: int = 0
    climbed_root: Optional[bytes] = None

    def __post_init__(self):
        self.climbed, self.climbed_root = self.size, self.root


class KeptOfChain:
    """All that one chain is compared with; `held` counts the auditor's own that agree."""

    def __init__(self, kept, entries):
        self.kept = sorted(kept, key=lambda one: one.size)
        self.entries = entries
        self.held = 0
        self.known_size = 0
        self.agreed = set()
        self.has_bad_signature = False
        self.beyond_end = []

    def see_root(self, size, root):
        """Takes the chain's root at this size."""
        for one in self.kept:
            if one.size == size and one.found is None:
                one.found = root

    def see_entry(self, seq, leaf, findings):
        """Compares the hash of the entry of this seq."""
        if any(expected != leaf for expected in self.entries.get(seq, ())):
            findings.add("FORK_VS_KNOWN_CHECKPOINT", seq, (seq, seq))

    def climb(self, first, last, proof):
        """Takes a ladder line."""
        for one in self.kept:
            if one.climbed == first and one.climbed_root is not None:
                one.climbed, one.climbed_root = last, advanced_root(one.climbed_root, first, last, proof)

    def compare(self, bundle):
        """Ends the chain."""
        for one in self.kept:
            if one.checkpoint is not None and bundle.trust.signers(one.checkpoint)[0] is not None:
                self.has_bad_signature = True
            elif one.size < bundle.base_size:
                self._compare_below_base(one, bundle)
            elif one.size > bundle.next_seq:
                self._compare_beyond_end(one, bundle)
            elif one.found is not None:
                self._compare_within(one, bundle)

    def _compare_below_base(self, one, bundle):
        is_at_base = one.climbed == bundle.base_size
        if one.climbed_root is None or (is_at_base and bundle.base_root not in (None, one.climbed_root)):
            bundle.findings.add("FORK_VS_KNOWN_CHECKPOINT", span=(0, one.size - 1))
        elif is_at_base and bundle.base_root is not None:
            self._hold(one)
        elif one.checkpoint is not None or one.is_pinned:
            bundle.findings.add("KNOWN_CHECKPOINT_UNLINKABLE")

    def _compare_beyond_end(self, one, bundle):
        if bundle.findings.has("TRUNCATED"):
            return
        if one.checkpoint is None:
            bundle.findings.add("ANCHOR_AHEAD", bundle.next_seq)
        else:
            self.beyond_end.append(one)

    def _compare_within(self, one, bundle):
        if one.found == one.root:
            self._hold(one)
            bundle.good_sizes.append(one.size)
        else:
            first = max((size for size in bundle.good_sizes if size < one.size), default=0)
            bundle.findings.add("FORK_VS_KNOWN_CHECKPOINT", span=(first, one.size - 1))

    def _hold(self, one):
        self.known_size = max(self.known_size, one.climbed, one.size)
        self.agreed.add((one.size, one.root))
        self.held += one.checkpoint is not None
