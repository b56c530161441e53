"""Parts that were erased, until an entry tells of it, docs/verify/evidence-format.md section 9."""


def is_erasure(entry):
    """Whether an entry tells that the parts of its subject were destroyed."""
    return entry["event_type"] == "SUBJECT_ERASED" and entry["actor"] == "system"


class Erasures:
    """What one family still owes, over all bundles of an input: for each subject, who saw it erased and where first."""

    def __init__(self):
        self.owed = {}

    def need(self, subject, findings, seq):
        """A part of this subject is erased at this entry, and a later entry must tell of it."""
        if subject is None:
            findings.add("ERASURE_UNPROVEN", seq)
        else:
            self.owed.setdefault(subject, {}).setdefault(id(findings), (findings, seq))

    def prove(self, subject):
        """An entry tells that this subject was erased."""
        self.owed.pop(subject, None)

    def give_up(self):
        """Entries of the family are missing: one of them may have told of it."""
        self.owed.clear()

    def settle(self):
        """The input has ended: what is still owed is unproven."""
        for places in self.owed.values():
            for findings, seq in places.values():
                findings.add("ERASURE_UNPROVEN", seq)
