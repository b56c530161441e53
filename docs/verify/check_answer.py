"""Checks a saved answer by hand: python3 check_answer.py response.json

Takes the answers that carry evidence: scores, commits, decisions, replays, reports, appended events, erasures, sealed
probes, case sets, exercises that were set (not their links) and batches (whose entries are proven, not the numbers).
Standard library only. It recomputes every hash; the signature under the checkpoint is Ed25519 (C2SP signed note) and
needs a library of your choice. The last line says what was shown. Exit code: 0 if all of it holds, 1 if the answer
proves nothing, 2 if the file is no answer that can be read.
"""
import base64, decimal, hashlib, json, sys

def canonical(value):  # RFC 8785 for what an answer holds
    if isinstance(value, dict):
        return "{" + ",".join(f"{canonical(k)}:{canonical(value[k])}" for k in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float):
        if value.is_integer():
            return str(int(value))
        return format(decimal.Decimal(repr(value)), "f" if abs(value) >= 1e-6 else "e")
    return json.dumps(value, ensure_ascii=False)

def sha256(*chunks):
    return hashlib.sha256(b"".join(c.encode() if isinstance(c, str) else c for c in chunks)).digest()

def require(holds, what):
    if not holds:
        sys.exit(f"This answer proves nothing: {what}. Get it from the service again, and compare.")

def unusable(why):
    print(f"Nothing was checked: {why}.", file=sys.stderr)
    sys.exit(2)

def covered_part(body):  # what the evidence speaks of
    for name in ("detail", "input"):  # an appended event, an erasure, a probe, a case set; an exercise
        if name in body:
            return body[name]
    if body["evidence"]["covers"] == "detail":  # a report: its entry holds its id and its hash
        require(sha256(canonical(body["report"])).hex() == body["report_sha256"], "the report was changed")
        return {"report_id": body["report"]["report_id"], "report_sha256": body["report_sha256"]}
    if "recorded" in body:  # a replay
        return body["recorded"]
    outside = {"evidence", "request_id", "timestamp", "event", "delivery_id"}
    return {name: value for name, value in body.items() if name not in outside}

def check_place(index, leaf, path, note):  # RFC 6962, section 2.1.1
    origin, size, root = note.split("\n")[:3]
    require("\n\n\u2014 " in note, "its checkpoint bears no signature")
    node, last, hashed = index, int(size) - 1, leaf
    require(0 <= index <= last, "the entry lies beyond the signed root")
    for sibling in path:
        require(last > 0, "the entry is not under the signed root")
        if node % 2 == 1 or node == last:
            hashed = sha256(b"\x01", sibling, hashed)
            while node % 2 == 0:
                node, last = node // 2, last // 2
        else:
            hashed = sha256(b"\x01", hashed, sibling)
        node, last = node // 2, last // 2
    require(last == 0 and base64.b64encode(hashed).decode() == root, "the entry is not under the signed root")
    print(f"intact: entry {index} of {size} in {origin}")

def check_batch(evidence):  # the full evidence of an item comes from GET /v1/decision/replay/{session_id}
    require(isinstance(evidence["items"], list) and evidence["items"], "its evidence names no entry")
    for item in evidence["items"]:
        path = [base64.b64decode(h) for h in item["path"]]
        check_place(item["index"], bytes.fromhex(item["entry_hash"]), path, evidence["checkpoint"])
    return "The entries of this batch stand in the log that its checkpoint names; the numbers beside them are not proven."

def check_one(body):
    evidence = body["evidence"]
    entry, name = evidence["entry"], evidence["covers"]
    # 1. The answer is what the entry commits to.
    part = canonical(covered_part(body))
    commitment = sha256(f"jis.commit/1\n{name}\n", bytes.fromhex(evidence["salt"]), part).hex()
    require(commitment == evidence["sha256"] == entry["commit"][name], "the answer was changed")
    # 2. The entry is the one that was hashed: SHA-256(0x00 || canonical JSON of the entry).
    leaf = sha256(b"\x00", canonical(entry))
    require(leaf.hex() == evidence["entry_hash"], "the entry was changed")
    # 3. The entry stands at its place under the signed root.
    head, note = evidence["proof"].split("\n\n", 1)
    index, path = int(head.split("\n")[1].split(" ")[1]), [base64.b64decode(h) for h in head.split("\n")[2:]]
    require(index == entry["seq"], "the proof is for another entry")
    check_place(index, leaf, path, note)
    return "This answer says what that entry recorded, and the entry stands in the log that its checkpoint names."

def read_answer(path):
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
    except OSError as error:
        unusable(f"{path} cannot be read ({error.strerror})")
    except UnicodeDecodeError:
        unusable(f"{path} is no text in UTF-8")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        what = "a page, not JSON: save the answer itself" if text.lstrip().startswith("<") else "not JSON, or not all of it"
        unusable(f"{path} is {what}")
    if not isinstance(body, dict):
        unusable(f"{path} holds no answer of the service")
    if isinstance(body.get("error"), dict):
        unusable(f"{path} is an error that the service answered, {body['error'].get('code')}: ask again")
    if "evidence" not in body:
        unusable("this file carries no evidence; of the service's answers, lists, profiles and dashboards have none")
    return body

if len(sys.argv) != 2:
    unusable("give one file, python3 check_answer.py response.json")
body = read_answer(sys.argv[1])
try:
    version = body["evidence"]["v"]
    is_batch = version == "jis.evidence-batch/1"
    require(is_batch or version == "jis.evidence/1", "its evidence is of no version that is known here")
    shown = check_batch(body["evidence"]) if is_batch else check_one(body)
except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
    require(False, "its evidence is not of the form in which the service writes it")
print(f"{shown} Who signed the checkpoint was not checked: jiss verify does, with a key that you pin.")
