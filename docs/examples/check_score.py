"""Checks a saved score response by hand: python3 check_score.py response.json

Standard library only. It recomputes the three hashes of the evidence block; the signature under the
checkpoint is Ed25519 (C2SP signed note) and needs a library of your choice.
"""
import base64, decimal, hashlib, json, sys

def canonical(value):  # RFC 8785 for what a response holds
    if isinstance(value, dict):
        return "{" + ",".join(f"{canonical(k)}:{canonical(value[k])}" for k in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else format(decimal.Decimal(repr(value)), "f")
    return json.dumps(value, ensure_ascii=False)

def sha256(*chunks):
    return hashlib.sha256(b"".join(c.encode() if isinstance(c, str) else c for c in chunks)).digest()

body = json.load(open(sys.argv[1]))
evidence = body["evidence"]
outside = {"evidence", "request_id", "timestamp", "event", "delivery_id"}
result = {name: value for name, value in body.items() if name not in outside}

# 1. The answer is what the entry commits to.
commitment = sha256("jis.commit/1\nresult\n", bytes.fromhex(evidence["salt"]), canonical(result)).hex()
assert commitment == evidence["sha256"] == evidence["entry"]["commit"]["result"], "the answer was changed"

# 2. The entry is the one that was hashed: SHA-256(0x00 || canonical JSON of the entry).
leaf = sha256(b"\x00", canonical(evidence["entry"]))
assert leaf.hex() == evidence["entry_hash"], "the entry was changed"

# 3. The entry stands at its place under the signed root (RFC 6962, section 2.1.1).
head, note = evidence["proof"].split("\n\n", 1)
index, path = int(head.split("\n")[1].split(" ")[1]), [base64.b64decode(h) for h in head.split("\n")[2:]]
origin, size, root = note.split("\n")[:3]
assert index == evidence["entry"]["seq"], "the proof is for another entry"
node, last, hashed = index, int(size) - 1, leaf
for sibling in path:
    if node % 2 == 1 or node == last:
        hashed = sha256(b"\x01", sibling, hashed)
        while node % 2 == 0:
            node, last = node // 2, last // 2
    else:
        hashed = sha256(b"\x01", hashed, sibling)
    node, last = node // 2, last // 2
assert last == 0 and base64.b64encode(hashed).decode() == root, "the entry is not under the signed root"
print(f"intact: entry {index} of {size} in {origin}")
