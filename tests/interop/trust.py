"""Which keys are trusted for a bundle, and which of them must have signed a checkpoint of a size.

docs/verify/evidence-format.md section 7. Pinned keys are trusted; so is a key that a certificate ties to a trusted one. What a
chain says of its keys (genesis, SIGNING_KEY_ROTATED) only narrows down which of the trusted ones had to sign.
"""
from notes import good_signers


class Trust:
    """The keys of one bundle; the reader passes it each rotation."""

    def __init__(self, pins, name, joins):
        """`joins` are sets of keys, each of one holder, of the whole input: it grows with each certificate."""
        self.origin = name.origin
        self.prefix = name.prefix
        mine = [pin for pin in pins if pin.is_for(name.prefix)]
        self.trusted = {pin.raw for pin in mine}
        # Keys that may certify a next one: a key trusted only as an earlier one may be in anybody's hands by now.
        self.handing = {pin.raw for pin in mine if pin.last is None}
        # The sizes that a JWKS says are of the first chain of the system alone.
        binds = name.family == "sys" and name.epoch == 1
        self.ranges = {pin.raw: (pin.first, pin.last) for pin in mine} if binds else {}
        self.certificates = []
        self.joins = joins
        self.first_key = None
        self.rotations = []
        self.retired = {}
        self.signed_before = {}
        self.has_signature = False
        # Keys with good signatures in the bundle.
        self.signed = set()
        self.current_size = self.former_size = 0

    def add_certificate(self, certificate):
        """Takes a certificate with good signatures."""
        # Both keys signed it, whatever log it is for.
        self.joins.append({certificate.old, certificate.new})
        if certificate.prefix != self.prefix:
            return
        self.certificates.append(certificate)
        grown = True
        while grown:
            before = len(self.trusted) + len(self.handing)
            for one in self.certificates:
                if one.new in self.trusted:
                    self.trusted.add(one.old)
                if one.old in self.handing:
                    self.trusted.add(one.new)
                    self.handing.add(one.new)
            grown = len(self.trusted) + len(self.handing) > before

    def joined(self):
        """The keys that signed the bundle, and all others of their holders: once the whole input is read."""
        joined = set(self.signed)
        grown = True
        while grown:
            before = len(joined)
            for one in self.joins:
                if joined & one:
                    joined |= one
            grown = len(joined) > before
        return joined

    def follows(self, certificate):
        """Whether a certificate leads on from the current key."""
        return not self.rotations or self.rotations[-1][2] == certificate.old

    def rotate(self, seq, certificate):
        """The chain takes up a new key at this entry; returns the sizes of checkpoints up to it that were signed
        without the old one.
        """
        if certificate.new not in self.trusted:
            return []
        if not self.rotations:
            self.first_key = certificate.old
        self.rotations.append((seq, certificate.old, certificate.new))
        sizes = [size for signers, size in self.signed_before.items() if certificate.old not in signers]
        self.signed_before = {}
        return sizes

    def lose_track(self):
        """A rotation of which nothing is told: any trusted key may have its turn from here on."""
        self.first_key = None
        self.rotations = []
        self.signed_before = {}

    def retire(self, seq, certificate):
        """Retires the old key at this entry."""
        self.retired.setdefault(certificate.old, seq)

    def judge(self, checkpoint):
        """What is wrong with the signatures of one of the bundle's own checkpoints: a finding's code, or None."""
        code, signers = self.signers(checkpoint)
        if code is None:
            code = self._code_of_time(signers, checkpoint.size)
        if code is None:
            self.signed |= signers
        if code is None and signers & self.handing:
            self.has_signature = True
            self.current_size = max(self.current_size, checkpoint.size)
        elif code is None:
            self.former_size = max(self.former_size, checkpoint.size)
        return code

    def finish(self, known_size):
        """The size of the newest checkpoint if only earlier keys signed it; None if a root that is known from
        elsewhere, of that size or more, agrees, or a key in use signed it.
        """
        if self.former_size <= self.current_size:
            return None
        if self.former_size > known_size:
            return self.former_size
        self.has_signature = True
        return None

    def _code_of_time(self, signers, size):
        """Whether these keys were in use at that size: none may have signed outside of its time."""
        ranges = [self.ranges.get(raw, (None, None)) for raw in signers]
        if any(first is not None and size < first for first, _ in ranges):
            return "UNTRUSTED_KEY"
        is_late = any(last is not None and size > last for _, last in ranges)
        if is_late or any(size > self.retired[raw] for raw in signers if raw in self.retired):
            return "RETIRED_KEY"
        return self._code_of_turn(signers, size)

    def signers(self, checkpoint):
        """A finding's code and the trusted keys that signed; one of the two is None."""
        if checkpoint.origin != self.origin:
            return "WRONG_ORIGIN", None
        signers = good_signers(checkpoint.note, self.origin, self.trusted)
        if signers is None:
            return "BAD_SIGNATURE", None
        return (None, signers) if signers else ("UNTRUSTED_KEY", None)

    def _code_of_turn(self, signers, size):
        """Checks against the key in use at that size."""
        earlier, current = set(), self.first_key
        for seq, old, new in self.rotations:
            if size <= seq:
                break
            earlier, current = earlier | {old}, new
        if current is None:
            self.signed_before.setdefault(frozenset(signers), size)
            return None
        if current in signers:
            return None
        return "RETIRED_KEY" if signers & (earlier - {current}) else "UNTRUSTED_KEY"
