"""Parts that were erased, until an entry records it, docs/verify/evidence-format.md section 9."""


def is_erasure(entry):
    """Whether an entry records that the parts of its subject were destroyed."""
    return entry["event_type"] == "SUBJECT_ERASED" and entry["actor"] == "system"


class Erasures:
    """The erasures of one family that no entry has recorded yet, over all bundles of an input, by subject."""

    def __init__(self):
        self.owed = {}

    def need(self, subject, findings, seq):
        """Notes an erased part of this subject at this entry; a later entry must record it."""
        if subject is None:
            findings.add("ERASURE_UNPROVEN", seq)
        else:
            self.owed.setdefault(subject, {}).setdefault(id(findings), (findings, seq))

    def prove(self, subject):
        """Notes that an entry records this subject's erasure."""
        self.owed.pop(subject, None)

    def give_up(self):
        """Notes that entries of the family are missing: one of them may have recorded it."""
        self.owed.clear()

    def settle(self):
        """Ends the input: erasures without a record are unproven."""
        for places in self.owed.values():
            for findings, seq in places.values():
                findings.add("ERASURE_UNPROVEN", seq)
