/** One saved document of every kind, verified alone: what its evidence proves, and what it does not. */
import assert from "node:assert/strict";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { base64, concat, fromHex, hex, type Signer, utf8 } from "../../src/evidence/crypto.ts";
import { type DocumentReport, verifyDocument } from "../../src/evidence/document.ts";
import { type AppendedEntry, appendEntry, type ChainHead, emptyChain } from "../../src/evidence/entry.ts";
import { batchEvidenceOf, type Evidence, evidenceOfAppended } from "../../src/evidence/envelope.ts";
import type { PartName } from "../../src/evidence/hashes.ts";
import { inclusionPath, rootOf } from "../../src/evidence/merkle.ts";
import { nodeCrypto, signerFromPem } from "../../src/evidence/node_crypto.ts";
import { formatCheckpoint, signNote, type VerifierKey } from "../../src/evidence/note.ts";
import { TrustedKeys } from "../../src/evidence/trust.ts";

const PREFIX = "jiss.test/01DEPLOYMENT/";
const ORIGIN = `${PREFIX}org/acme`;
/** Time of every entry. */
const AT = 1_795_165_200_000;

/** A key for these tests: its seed is the SHA-256 of the label. */
function signerOf(label: string): Signer {
  const pkcs8 = concat(fromHex("302e020100300506032b657004220420"), nodeCrypto.sha256(utf8(label)));
  return signerFromPem(`-----BEGIN PRIVATE KEY-----\n${pkcs8.toBase64()}\n-----END PRIVATE KEY-----\n`);
}
const signer = signerOf("document");
const stranger = signerOf("stranger");

// deno-lint-ignore no-explicit-any
type Json = any;

interface Happening {
  readonly eventType: string;
  readonly parts: Readonly<Partial<Record<PartName, unknown>>>;
}

/** A log with one entry for each event, one checkpoint over all of them, and the evidence of each part. */
function logOf(
  happenings: readonly Happening[],
  { chain = "org/acme", origin = ORIGIN, signers = [signer] }: {
    readonly chain?: string;
    readonly origin?: string;
    readonly signers?: readonly Signer[];
  } = {},
) {
  const nodes = new Map<number, Uint8Array>();
  const entries: AppendedEntry[] = [];
  let head: ChainHead = emptyChain(nodeCrypto, { chain, origin });
  for (const [seq, { eventType, parts }] of happenings.entries()) {
    const next = appendEntry(nodeCrypto, head, {
      id: `01ENTRY${String(seq).padStart(19, "0")}`,
      actor: "self_serve",
      eventType,
      orgId: "acme",
      prefix: "jis_ABCD",
      subject: null,
      at: AT + seq,
      parts: Object.entries(parts).map(([name, data]) => ({
        name: name as PartName,
        salt: new Uint8Array(32).fill(seq + 1),
        text: canonicalJson(data),
      })),
    });
    head = next.head;
    entries.push(next.appended);
    for (const { index, hash } of next.appended.nodes) nodes.set(index, hash);
  }
  const size = entries.length;
  const text = formatCheckpoint({ origin, size, root: rootOf(nodeCrypto, head.frontier.peaks) });
  const note = signNote(nodeCrypto, { text, name: origin }, signers);
  const proofOf = (seq: number) => ({
    index: seq,
    path: inclusionPath(nodeCrypto, { leaf: seq, size }, (index) => nodes.get(index)),
    note,
  });
  return {
    note,
    entries,
    proofOf,
    evidence: (seq: number, covers: PartName): Evidence =>
      evidenceOfAppended(entries[seq]!, { covers, proof: proofOf(seq) }),
  };
}

const ENVELOPE = { request_id: "01REQUEST", timestamp: "2026-11-20T09:00:00.000Z" };
const SCORE = { jis: 76.25, session_id: "case-1", operator_id: "operator-1", model: { version: "1" } };
const DECISION = { decision_id: "decision-1", decision_risk_score: 0.4, model: { version: "1" } };
const REPORT = {
  report_id: "01REPORT",
  overall_status: "partial",
  findings: [{ status: "partial", observed: 3 }],
};
const REPORT_SHA256 = hex(nodeCrypto.sha256(utf8(canonicalJson(REPORT))));
const FORGED = { ...REPORT, overall_status: "compliant" };
const FORGED_SHA256 = hex(nodeCrypto.sha256(utf8(canonicalJson(FORGED))));
const ERASURE = { requested_at: "2026-11-20T09:00:00.004Z", entries: 4, basis: "request" };

const [SCORED, DECIDED, ISSUED, NOTED, ERASED, POSING] = [0, 1, 2, 3, 4, 5] as const;
const log = logOf([
  { eventType: "SCORE_COMPUTED", parts: { input: { v: "jis.input/1" }, result: SCORE } },
  { eventType: "DRS_COMPUTED", parts: { input: { v: "jis.input/1" }, result: DECISION } },
  { eventType: "REPORT_ISSUED", parts: { detail: { report_id: "01REPORT", report_sha256: REPORT_SHA256 } } },
  { eventType: "POLICY_REVIEWED", parts: { detail: { by: "the board", event_type: "a member of its own" } } },
  { eventType: "SUBJECT_ERASED", parts: { detail: ERASURE } },
  {
    eventType: "MY_REPORT",
    parts: { detail: { report_id: "01REPORT", report_sha256: FORGED_SHA256 } },
  },
]);

const scored = { ...SCORE, ...ENVELOPE, evidence: log.evidence(SCORED, "result") };
const replayed = {
  id: "case-1",
  kind: "score",
  recorded: SCORE,
  replayed: SCORE,
  match: true,
  differences: [],
  explanation: [],
  model: { version: "1" },
  label: null,
  ...ENVELOPE,
  evidence: log.evidence(SCORED, "result"),
};
const issued = {
  report: REPORT,
  report_sha256: REPORT_SHA256,
  ...ENVELOPE,
  evidence: log.evidence(ISSUED, "detail"),
};
const noted = {
  seq: NOTED,
  event_type: "POLICY_REVIEWED",
  detail: { by: "the board", event_type: "a member of its own" },
  ...ENVELOPE,
  evidence: log.evidence(NOTED, "detail"),
};
const erased = {
  erased: true,
  operator_id: "operator-1",
  erased_at: "2026-11-20T09:00:00.004Z",
  physical: "done",
  detail: ERASURE,
  ...ENVELOPE,
  evidence: log.evidence(ERASED, "detail"),
};
const batch = {
  results: [{ session_id: "case-1", jis: 76.25 }, { session_id: "case-2", jis: 71 }],
  count: 2,
  operator_id: "operator-1",
  ...ENVELOPE,
  evidence: batchEvidenceOf([
    { sessionId: "case-1", entryHash: log.entries[0]!.hash, proof: log.proofOf(0) },
    { sessionId: "case-2", entryHash: log.entries[1]!.hash, proof: log.proofOf(1) },
  ]),
};
const documents: Readonly<Record<string, Json>> = { scored, replayed, issued, noted, erased, batch };

const own: readonly VerifierKey[] = [{ name: ORIGIN, publicKey: signer.publicKey }];

/** The report on a document that was sent as JSON. */
function reportOn(body: Json, keys = own): DocumentReport {
  return verifyDocument(nodeCrypto, JSON.parse(JSON.stringify(body)), { keysFor: () => keys });
}

const faultOf = (body: Json, keys = own) => reportOn(body, keys).fault;

// ---- what a document proves -------------------------------------------------------------------------------

Deno.test("a score's answer and its webhook are proven, and the report names the entry", () => {
  const report = reportOn(scored);
  assert.deepEqual(report, {
    kind: "result",
    fault: null,
    origin: ORIGIN,
    checkpoint: report.checkpoint,
    entries: [{ seq: 0, entryHash: hex(log.entries[0]!.hash), sessionId: "case-1", statedScore: null }],
  });
  assert.equal(report.checkpoint!.note, log.note);
  assert.equal(report.checkpoint!.size, 6);
  const { request_id: _, ...webhook } = { ...scored, event: "score.computed", delivery_id: "01DELIVERY" };
  assert.equal(faultOf(webhook), null);
});

Deno.test("a replay of a score and of a decision is proven by its recorded result", () => {
  assert.deepEqual(reportOn(replayed).entries, reportOn(scored).entries);
  assert.equal(faultOf(replayed), null);
  const decision = {
    ...replayed,
    id: "decision-1",
    kind: "decision",
    recorded: DECISION,
    replayed: DECISION,
    evidence: log.evidence(DECIDED, "result"),
  };
  assert.equal(faultOf(decision), null);
  assert.equal(reportOn(decision).entries[0]!.sessionId, null);
});

Deno.test("a compliance report, an appended event and an erasure are proven by their detail", () => {
  for (const [body, seq] of [[issued, ISSUED], [noted, NOTED], [erased, ERASED]] as const) {
    const { kind, fault, entries } = reportOn(body);
    assert.deepEqual({ kind, fault }, { kind: "detail", fault: null });
    assert.deepEqual(entries, [{
      seq,
      entryHash: hex(log.entries[seq]!.hash),
      sessionId: null,
      statedScore: null,
    }]);
  }
});

Deno.test("a batch proves that each of its entries is in the log", () => {
  const { kind, fault, origin, entries } = reportOn(batch);
  assert.deepEqual({ kind, fault, origin }, { kind: "batch", fault: null, origin: ORIGIN });
  assert.deepEqual(entries, [
    {
      seq: 0,
      entryHash: hex(log.entries[0]!.hash),
      sessionId: "case-1",
      statedScore: { session_id: "case-1", operator_id: batch.operator_id, jis: 76.25 },
    },
    {
      seq: 1,
      entryHash: hex(log.entries[1]!.hash),
      sessionId: "case-2",
      statedScore: { session_id: "case-2", operator_id: batch.operator_id, jis: 71 },
    },
  ]);
});

Deno.test("the verifier asks for the keys of the origin that the checkpoint names", () => {
  const asked: string[] = [];
  for (const body of [scored, batch]) {
    verifyDocument(nodeCrypto, body, {
      keysFor: (origin) => {
        asked.push(origin);
        return own;
      },
    });
  }
  assert.deepEqual(asked, [ORIGIN, ORIGIN]);
});

Deno.test("a key that is pinned for the log proves its documents, one that is pinned for another log does not", () => {
  const pinned = (prefix: string | null) => {
    const pins = [{ publicKey: signer.publicKey, prefix, from: null, until: null }];
    const keys = new TrustedKeys(nodeCrypto, { pins, prefix: PREFIX });
    return (origin: string) => keys.verifierKeys(origin);
  };
  for (const body of Object.values(documents)) {
    for (const prefix of [null, PREFIX]) {
      assert.equal(verifyDocument(nodeCrypto, body, { keysFor: pinned(prefix) }).fault, null);
    }
    const elsewhere = pinned("other.example/dep-1/");
    assert.equal(verifyDocument(nodeCrypto, body, { keysFor: elsewhere }).fault, "UNTRUSTED_KEY");
  }
});

Deno.test("a document of a later epoch is proven under that epoch's origin", () => {
  const names = { chain: "org/acme/e2", origin: `${ORIGIN}/e2` };
  const later = logOf([{ eventType: "SCORE_COMPUTED", parts: { result: SCORE } }], names);
  const keys = [{ name: names.origin, publicKey: signer.publicKey }];
  assert.equal(faultOf({ ...SCORE, evidence: later.evidence(0, "result") }, keys), null);
});

// ---- what it does not prove -------------------------------------------------------------------------------

Deno.test("without a pinned key every sound document is UNTRUSTED_KEY", () => {
  for (const [name, body] of Object.entries(documents)) {
    assert.equal(faultOf(body, []), "UNTRUSTED_KEY", name);
  }
});

Deno.test("a fault that needs no key is reported before the missing key", () => {
  assert.equal(faultOf({ ...scored, jis: 99 }, []), "RESULT_MISMATCH");
  assert.equal(faultOf({ ...issued, report: FORGED }, []), "RESULT_MISMATCH");
  const entry = { ...scored.evidence.entry, actor: "system" };
  assert.equal(faultOf({ ...scored, evidence: { ...scored.evidence, entry } }, []), "ENTRY_HASH_MISMATCH");
  const [first, second] = batch.evidence.items;
  const items = [first, { ...second!, index: 2 }];
  assert.equal(faultOf({ ...batch, evidence: { ...batch.evidence, items } }, []), "INCLUSION_FAILED");
});

Deno.test("a document without evidence, or with evidence of an unknown kind, is MALFORMED and its report is empty", () => {
  const bodies = [
    {},
    { evidence: null },
    { evidence: [] },
    { ...scored, evidence: { ...scored.evidence, v: "jis.evidence/2" } },
    { ...batch, evidence: { ...batch.evidence, v: "jis.evidence-batch/2" } },
    { ...batch, evidence: { ...batch.evidence, more: 1 } },
  ];
  for (const body of bodies) {
    const expected = { kind: "result", fault: "MALFORMED", origin: null, checkpoint: null, entries: [] };
    assert.deepEqual(reportOn(body), expected);
  }
});

Deno.test("a document that does not hold the part that its evidence covers is MALFORMED", () => {
  const bodies = {
    "a score by a detail": { ...SCORE, evidence: log.evidence(ISSUED, "detail") },
    "the input's evidence": { v: "jis.input/1", evidence: log.evidence(SCORED, "input") },
    "a detail that is not an object": { ...noted, detail: "the board" },
    "a detail that is a list": { ...noted, detail: [] },
    "a report that is not an object": { ...issued, report: "compliant" },
    "a report without its hash": { ...issued, report_sha256: undefined },
    "a report without its id": { ...issued, report: { ...REPORT, report_id: undefined } },
    "a record that is not an object": { ...replayed, recorded: "case-1" },
  };
  for (const [what, body] of Object.entries(bodies)) assert.equal(faultOf(body), "MALFORMED", what);
});

Deno.test("a part that differs from its entry's commitment is RESULT_MISMATCH", () => {
  const bodies = {
    "a score": { ...scored, jis: 99 },
    "a recorded score": { ...replayed, recorded: { ...SCORE, jis: 99 } },
    "a report": { ...issued, report: FORGED },
    "a report with its own hash": { ...issued, report: FORGED, report_sha256: FORGED_SHA256 },
    "a report's id": { ...issued, report: { ...REPORT, report_id: "01OTHER" } },
    "the replayed result": { ...replayed, replayed: { ...SCORE, jis: 99 } },
    "the match of a replay": { ...replayed, match: false },
    "the kind of a replayed record": { ...replayed, kind: "decision" },
    "an event's id": { ...noted, event_id: "01OTHER" },
    "the entry beside an event": { ...noted, entry: { ...noted.evidence.entry, actor: "system" } },
    "an event": { ...noted, detail: { ...noted.detail, by: "nobody" } },
    "an erasure": { ...erased, detail: { ...ERASURE, entries: 3 } },
    "an erasure's instant": { ...erased, erased_at: "2026-11-19T09:00:00.004Z" },
    "an erasure with erased: false": { ...erased, erased: false },
  };
  for (const [what, body] of Object.entries(bodies)) assert.equal(faultOf(body), "RESULT_MISMATCH", what);
});

Deno.test("an appended event whose detail looks like a report's does not prove a report", () => {
  const forged = {
    report: FORGED,
    report_sha256: FORGED_SHA256,
    ...ENVELOPE,
    evidence: log.evidence(POSING, "detail"),
  };
  assert.equal(faultOf(forged), "RESULT_MISMATCH");
});

Deno.test("an appended event does not prove an erasure", () => {
  const { seq: _seq, event_type: _type, ...rest } = noted;
  assert.equal(faultOf(rest), null);
  assert.equal(faultOf({ ...rest, erased: true, operator_id: "operator-1" }), "RESULT_MISMATCH");
});

Deno.test("a true record beside an altered score proves nothing", () => {
  assert.equal(faultOf({ ...scored, recorded: SCORE }), null, "equal members may be there");
  assert.equal(faultOf({ ...scored, jis: 99, recorded: SCORE }), "RESULT_MISMATCH");
  assert.equal(faultOf({ ...replayed, id: "case-2" }), "RESULT_MISMATCH");
  assert.equal(faultOf({ ...replayed, model: { version: "2" } }), "RESULT_MISMATCH");
});

Deno.test("members of an event's answer that the entry has too must be the entry's", () => {
  for (
    const part of [{ event_type: "OTHER" }, { seq: 2 }, { seq: "3" }, { actor: "system" }, { entry_hash: "" }]
  ) {
    assert.equal(faultOf({ ...noted, ...part }), "RESULT_MISMATCH", JSON.stringify(part));
  }
  assert.equal(faultOf({ ...noted, entry_hash: noted.evidence.entry_hash, actor: "self_serve" }), null);
});

Deno.test("a batch is MALFORMED without items, checkpoint or whole hashes", () => {
  const { evidence } = batch;
  const [first] = evidence.items;
  const broken = {
    "no items": { ...evidence, items: [] },
    "no checkpoint": { ...evidence, checkpoint: "" },
    "a proof for the checkpoint": { ...evidence, checkpoint: scored.evidence.proof },
    "a hash of 31 bytes": { ...evidence, items: [{ ...first, path: [base64(new Uint8Array(31))] }] },
    "a hash in hexadecimal": { ...evidence, items: [{ ...first, path: ["00".repeat(32)] }] },
    "a hash that is not base64": { ...evidence, items: [{ ...first, path: ["?"] }] },
  };
  for (const [what, changed] of Object.entries(broken)) {
    const { fault, entries } = reportOn({ ...batch, evidence: changed });
    assert.equal(fault, "MALFORMED", what);
    assert.equal(entries.length, changed.items.length, what);
  }
});

Deno.test("a batch with one item that is not in the log is INCLUSION_FAILED, at every position", () => {
  const { evidence } = batch;
  for (const at of [0, 1]) {
    const item = evidence.items[at]!;
    const changes = [
      { entry_hash: hex(log.entries[5]!.hash) },
      { index: 5 },
      { index: 6 },
      { index: -1 },
      { path: item.path.toReversed() },
      { path: item.path.slice(1) },
      { path: [...item.path, item.path[0]!] },
    ];
    for (const change of changes) {
      const items = evidence.items.with(at, { ...item, ...change });
      assert.equal(faultOf({ ...batch, evidence: { ...evidence, items } }), "INCLUSION_FAILED", `${at}`);
    }
  }
});

Deno.test("a batch whose results are not of the sessions in its evidence is RESULT_MISMATCH, with a key and without", () => {
  const { results, evidence } = batch;
  const [first, second] = results as [Json, Json];
  const [one, two] = evidence.items as [Json, Json];
  const other = { session_id: "case-3", jis: 71 };
  const withItems = (...items: Json[]) => ({ ...batch, evidence: { ...evidence, items } });
  const bodies = {
    "results swapped": { ...batch, results: [second, first] },
    "one result more": { ...batch, results: [first, second, other] },
    "a result twice": { ...batch, results: [first, second, second] },
    "one result less": { ...batch, results: [first] },
    "no result": { ...batch, results: [] },
    "a result of another session": { ...batch, results: [first, other] },
    "a result of no session": { ...batch, results: [first, { jis: 71 }] },
    "a result that is null": { ...batch, results: [first, null] },
    "results that are not a list": { ...batch, results: { 0: first, 1: second, length: 2 } },
    "results that are null": { ...batch, results: null },
    "items swapped": withItems(two, one),
    "one item more": withItems(one, two, two),
    "one item less": withItems(one),
    "an item of another session": withItems(one, { ...two, session_id: "case-3" }),
    "names of items swapped": withItems(
      { ...one, session_id: "case-2" },
      { ...two, session_id: "case-1" },
    ),
  };
  for (const [what, body] of Object.entries(bodies)) {
    assert.equal(faultOf(body), "RESULT_MISMATCH", what);
    assert.equal(faultOf(body, []), "RESULT_MISMATCH", what);
  }
});

Deno.test("a batch's evidence without its results is proven by itself; with results reordered or repeated it is not", () => {
  const { results, evidence } = batch;
  assert.equal(faultOf({ ...batch, results: undefined }), null);
  const items = evidence.items.toReversed();
  const reordered = { ...batch, results: results.toReversed(), evidence: { ...evidence, items } };
  assert.equal(faultOf(reordered), "RESULT_MISMATCH");
  const doubled = {
    ...batch,
    count: 2,
    results: [results[0], results[0]],
    evidence: { ...evidence, items: [evidence.items[0], evidence.items[0]] },
  };
  assert.equal(faultOf(doubled), "RESULT_MISMATCH");
  assert.equal(faultOf({ ...batch, average_jis: 99 }), "RESULT_MISMATCH");
});

Deno.test("a batch's checkpoint needs the log's own good signature", () => {
  const under = (note: string, keys = own) =>
    faultOf({ ...batch, evidence: { ...batch.evidence, checkpoint: note } }, keys);
  const [text] = log.note.split("\n\n");
  const signature = log.note.split(" ").at(-1)!;
  const spoiled = `${signature.slice(0, 10)}${signature[10] === "A" ? "B" : "A"}${signature.slice(11)}`;
  assert.equal(under(log.note.replace(signature, spoiled)), "BAD_SIGNATURE");

  const by = (name: string, other: Signer) => signNote(nodeCrypto, { text: `${text}\n`, name }, [other]);
  const elsewhere = "other.example/dep-1/org/acme";
  const foreign = { name: elsewhere, publicKey: stranger.publicKey };
  assert.equal(under(by(ORIGIN, stranger)), "UNTRUSTED_KEY");
  assert.equal(under(by(elsewhere, stranger), [...own, foreign]), "WRONG_ORIGIN");
});

Deno.test("a checkpoint that cannot be read is MALFORMED, in every kind", () => {
  const { proof } = scored.evidence;
  const unread = [proof.replace("\n6\n", "\n06\n"), proof.slice(0, proof.indexOf("\n\n")), "", log.note];
  for (const text of unread) {
    const { fault, origin, checkpoint } = reportOn({
      ...scored,
      evidence: { ...scored.evidence, proof: text },
    });
    assert.deepEqual({ fault, origin, checkpoint }, { fault: "MALFORMED", origin: null, checkpoint: null });
  }
});

Deno.test("an entry of one chain is not proven by the tree of another one whose name has the same end", () => {
  const names = { chain: "sys", origin: `${PREFIX}org/sys` };
  const crossed = logOf([{ eventType: "SCORE_COMPUTED", parts: { result: SCORE } }], names);
  const keys = [{ name: names.origin, publicKey: signer.publicKey }];
  assert.equal(faultOf({ ...SCORE, evidence: crossed.evidence(0, "result") }, keys), "WRONG_ORIGIN");
});

// ---- changes ----------------------------------------------------------------------------------------------

/** Every body that differs in one character of its JSON, is still JSON, and differs where it is proven. */
function* altered(body: Json, proven: (body: Json) => unknown): Generator<readonly [at: number, body: Json]> {
  const text = JSON.stringify(body);
  const said = canonicalJson(proven(body));
  for (let at = 0; at < text.length; at += 1) {
    for (const bit of [1, 2, 4, 8, 16, 32]) {
      const changed = text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ bit) + text.slice(at + 1);
      let parsed: Json;
      try {
        parsed = JSON.parse(changed);
        if (canonicalJson(proven(parsed)) === said) continue;
      } catch {
        continue; // neither JSON nor a document
      }
      yield [at, parsed];
    }
  }
}

Deno.test("a report with any character changed is refused", () => {
  const { request_id: _id, timestamp: _timestamp, ...body } = issued;
  let changes = 0;
  for (const [at, changed] of altered(body, (whole) => whole)) {
    assert.notEqual(faultOf(changed), null, `character ${at}: ${JSON.stringify(changed).slice(at, at + 20)}`);
    changes += 1;
  }
  assert.ok(changes > 5_000, `${changes} changes were tried`);
});

Deno.test("a batch's evidence with any character changed is refused, except in the names of its items", () => {
  const evidenceOnly = ({ evidence }: Json) => ({
    ...evidence,
    items: evidence.items.map(({ session_id: _, ...item }: Json) => item),
  });
  let changes = 0;
  for (const [at, changed] of altered({ evidence: batch.evidence }, evidenceOnly)) {
    assert.notEqual(faultOf(changed), null, `character ${at}`);
    changes += 1;
  }
  assert.ok(changes > 3_000, `${changes} changes were tried`);
});
