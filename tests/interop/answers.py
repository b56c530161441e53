"""Saved answers with an evidence block, docs/verify/evidence-format.md section 6: what they claim about the log."""
import json

from canonical import canonical_bytes
from notes import Malformed, from_base64, parse_checkpoint
from tree import entry_hash, root_above


def read_answer(text):
    """Origin, seq and hash of a saved answer's entry, and its checkpoint. Raises ValueError.

    The entry's hash and its path to the checkpoint's root are checked here, the signature if keys are known.
    """
    evidence = json.loads(text).get("evidence", {})
    if evidence.get("v") != "jis.evidence/1":
        raise Malformed("not an answer with the evidence of one entry")
    entry = evidence["entry"]
    leaf = entry_hash(canonical_bytes(entry))
    if leaf.hex() != evidence["entry_hash"]:
        raise Malformed("the answer's entry was changed")
    head, note = evidence["proof"].split("\n\n", 1)
    version, index, *path = head.split("\n")
    checkpoint = parse_checkpoint(note)
    if version != "c2sp.org/tlog-proof@v1" or index != f"index {entry['seq']}":
        raise Malformed("the answer's proof is for another entry")
    if root_above(leaf, entry["seq"], checkpoint.size, map(from_base64, path)) != checkpoint.root:
        raise Malformed("the answer's entry is not under its checkpoint")
    if not checkpoint.origin.endswith("/" + entry["chain"]):
        raise Malformed("the answer's checkpoint is of another chain")
    return checkpoint.origin, entry["seq"], leaf, checkpoint
