"""Hashes and the Merkle tree of a chain, docs/verify/evidence-format.md section 2 (RFC 6962)."""
import hashlib

from canonical import canonical_bytes, encoded


def sha256(*chunks):
    """SHA-256 of the chunks, one after another."""
    return hashlib.sha256(b"".join(chunks)).digest()


def entry_hash(line):
    """The hash of an entry's bytes, which is also its leaf."""
    return sha256(b"\x00", line)


def node_hash(left, right):
    """An inner node of the tree."""
    return sha256(b"\x01", left, right)


def genesis_previous(origin):
    """The `prev` of a chain's first entry."""
    return sha256(b"jis.genesis/1\n", encoded(origin))


def part_commitment(name, salt, data):
    """The commitment to a part that an entry holds."""
    return sha256(b"jis.commit/1\n", encoded(name), b"\n", salt, canonical_bytes(data))


def model_hash(document):
    """The name of a model document: its hash."""
    return sha256(b"jis.params/1\n", canonical_bytes(document))


def state_hash(hash_of_entry, state):
    """The hash kept for a subject after an entry that left this state (section 9)."""
    return sha256(hash_of_entry, canonical_bytes(state))


class Tree:
    """A growing tree that keeps only the roots of its complete subtrees, the largest first."""

    def __init__(self, size=0, peaks=()):
        self.size = size
        self.peaks = list(peaks)

    def append(self, leaf):
        """Takes the next leaf."""
        subtree, width = leaf, self.size
        while width & 1:
            subtree = node_hash(self.peaks.pop(), subtree)
            width >>= 1
        self.peaks.append(subtree)
        self.size += 1

    def root(self):
        """The root of all leaves so far."""
        if not self.peaks:
            return sha256()
        *larger, root = self.peaks
        for peak in reversed(larger):
            root = node_hash(peak, root)
        return root


def root_above(leaf, index, size, path):
    """The root to which an inclusion path leads from the leaf of this index in a tree of this size; None if the
    path is not of that shape (RFC 9162, section 2.1.3.2).
    """
    node, last, hashed = index, size - 1, leaf
    if not 0 <= node <= last:
        return None
    for sibling in path:
        if last == 0:
            return None
        if node & 1 or node == last:
            hashed = node_hash(sibling, hashed)
            while not node & 1 and node != 0:
                node, last = node >> 1, last >> 1
        else:
            hashed = node_hash(hashed, sibling)
        node, last = node >> 1, last >> 1
    return hashed if last == 0 else None


def advanced_root(old_root, first, second, proof):
    """The root at size `second` to which a consistency proof leads from this root at size `first`; None if the
    proof does not begin at that root or is not of that shape (RFC 9162, section 2.1.4.2).
    """
    if first == second:
        return None if proof else old_root
    if not 0 < first < second:
        return None
    path = [old_root, *proof] if first & (first - 1) == 0 else list(proof)
    if not path:
        return None
    node, last = first - 1, second - 1
    while node & 1:
        node, last = node >> 1, last >> 1
    old, new = path[0], path[0]
    for sibling in path[1:]:
        if last == 0:
            return None
        if node & 1 or node == last:
            old, new = node_hash(sibling, old), node_hash(sibling, new)
            while not node & 1 and node != 0:
                node, last = node >> 1, last >> 1
        else:
            new = node_hash(new, sibling)
        node, last = node >> 1, last >> 1
    return new if last == 0 and old == old_root else None
