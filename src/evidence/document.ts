/**
 * Verification of one saved document by the evidence that it carries. A document is an answer about a score,
 * a commit or a decision, a webhook's body, a replay, a batch, a compliance report, an appended event, an erasure,
 * a sealed probe, a case set or an exercise.
 *
 * The verification is offline and uses this document alone. It proves that the document's part stands in the
 * signed log, not that the log was never rewritten: for that, its checkpoint must be compared with others.
 * Source: evidence design, section 5.
 */
import { canonicalJson } from "./canonical.ts";
import { BATCH_MAX } from "../domain/limits.ts";
import { chainPrefix } from "./chain_name.ts";
import { type Crypto, equalBytes, fromBase64, fromHex, hex, utf8 } from "./crypto.ts";
import type { Entry } from "./entry.ts";
import {
  type BatchEvidence,
  batchEvidenceSchema,
  type Evidence,
  evidenceSchema,
  type InclusionProof,
  parseProof,
  resultPart,
} from "./envelope.ts";
import { entryHash, partCommitment, type PartName } from "./hashes.ts";
import { type KnownCheckpoint, knownCheckpointOrNull } from "./kept.ts";
import type { StatedScore } from "./kept_check.ts";
import { isMembers } from "./line_shapes.ts";
import { rootFromInclusion } from "./merkle.ts";
import { parseNote, type VerifierKey, verifyNote } from "./note.ts";
import { orNull } from "./or_null.ts";

/** The faults of a document, in the order of the checks. */
export const EVIDENCE_FAULTS = [
  "MALFORMED",
  "RESULT_MISMATCH",
  "ENTRY_HASH_MISMATCH",
  "INCLUSION_FAILED",
  "BAD_SIGNATURE",
  "UNTRUSTED_KEY",
  "WRONG_ORIGIN",
] as const;
export type EvidenceFault = (typeof EVIDENCE_FAULTS)[number];

type Body = Readonly<Record<string, unknown>>;

/** An entry that a document is about. */
interface DocumentEntry {
  readonly seq: number;
  /** Hexadecimal. */
  readonly entryHash: string;
  /** The session id in the document; null if the entry is not a score. */
  readonly sessionId: string | null;
  /** The score that a sound batch states, which its evidence does not prove; null if there is none. */
  readonly statedScore: StatedScore | null;
}

/** The content of a document. It is proven only if `fault` is null. */
export interface DocumentReport {
  /** The part that the evidence covers; a batch covers entries alone. */
  readonly kind: PartName | "batch";
  /** The first check that failed; null if none failed. */
  readonly fault: EvidenceFault | null;
  /** Origin that the checkpoint names; null if there is no readable checkpoint. */
  readonly origin: string | null;
  readonly checkpoint: KnownCheckpoint | null;
  readonly entries: readonly DocumentEntry[];
}

interface Trust {
  /** The trusted keys for the checkpoints of an origin; empty if nothing is pinned. */
  readonly keysFor: (origin: string) => readonly VerifierKey[];
}

/** Verifies a document by its `evidence` member, in the order of the rule. */
export function verifyDocument(crypto: Crypto, body: Body, trust: Trust): DocumentReport {
  if (isOverlong(body.evidence)) {
    return { kind: "batch", fault: "MALFORMED", origin: null, checkpoint: null, entries: [] };
  }
  const batch = batchEvidenceSchema.safeParse(body.evidence);
  if (batch.success) return verifyBatch(crypto, { body, evidence: batch.data }, trust);
  const single = evidenceSchema.safeParse(body.evidence);
  if (single.success) return verifySingle(crypto, { body, evidence: single.data }, trust);
  return { kind: "result", fault: "MALFORMED", origin: null, checkpoint: null, entries: [] };
}

/** The most hashes of an inclusion path. */
const PATH_MAX = 64;

/** Whether it has more items or longer paths than a batch: the schema would report each bad one. */
function isOverlong(evidence: unknown): boolean {
  const items = isMembers(evidence) ? evidence.items : null;
  if (!Array.isArray(items)) return false;
  return items.length > BATCH_MAX ||
    items.some((item) => isMembers(item) && Array.isArray(item.path) && item.path.length > PATH_MAX);
}

// ---- one entry --------------------------------------------------------------------------------------------

interface EvidencedBody {
  readonly body: Body;
  readonly evidence: Evidence;
}

function verifySingle(crypto: Crypto, document: EvidencedBody, trust: Trust): DocumentReport {
  const { covers, entry, entry_hash, proof: proofText } = document.evidence;
  const proof = orNull(() => parseProof(proofText));
  const checkpoint = proof && knownCheckpointOrNull(proof.note);
  const covered = coveredOrNull(crypto, document);
  const fault = partFault(crypto, document, covered) ??
    entryFault(crypto, document) ??
    (proof === null || checkpoint === null ? "MALFORMED" : null) ??
    inclusionFault(crypto, { ...proof!, seq: entry.seq, leafHash: fromHex(entry_hash) }, checkpoint!) ??
    signatureFault(crypto, checkpoint!, trust) ??
    (chainPrefix(checkpoint!.origin, entry.chain) === null ? "WRONG_ORIGIN" : null);
  return {
    kind: covers,
    fault,
    origin: checkpoint?.origin ?? null,
    checkpoint,
    entries: [{
      seq: entry.seq,
      entryHash: entry_hash,
      sessionId: textOrNull(covered?.part.session_id),
      statedScore: null,
    }],
  };
}

/**
 * The part of a document that its evidence covers, and the values with which its other members must agree.
 */
interface Covered {
  readonly part: Body;
  /** Members that, if the document has them beside the part, must have these values. */
  readonly beside: Body;
  /** The only event type of such a document; null if the part itself says what it is. */
  readonly eventType: string | null;
}

/** The covered part; null if the document does not hold the part that its evidence is about. */
function coveredOrNull(crypto: Crypto, { body, evidence }: EvidencedBody): Covered | null {
  switch (evidence.covers) {
    case "input":
      return coveredInput({ body, evidence });
    case "result":
      return coveredResult(body);
    case "detail":
      return coveredDetail(crypto, { body, evidence });
  }
}

/** The input of an exercise that was set; no other answer is proven by its input. */
function coveredInput({ body, evidence: { entry } }: EvidencedBody): Covered | null {
  const { input } = body;
  if (!isMembers(input) || !Array.isArray(input.cases)) return null;
  const beside = { input, run_id: entry.id, set_at: entry.timestamp, case_count: input.cases.length };
  // The link is a secret that no entry holds; everything else is proven.
  const isWhole = Object.keys(resultPart(body)).every((name) =>
    name === "link" || Object.hasOwn(beside, name)
  );
  return isWhole ? { part: input, beside, eventType: "EXERCISE_SET" } : null;
}

/** The members that the answers about a case set and a probe have beside their detail. */
function besideDetail({ event_type, timestamp }: Entry, detail: Body): Body {
  if (event_type === "PROBE_SEALED") return { ...detail, state: "sealed", sealed_at: timestamp };
  const { sha256, case_set: set } = detail;
  if (event_type !== "CASE_SET_ADDED" || !isMembers(set) || !Array.isArray(set.cases)) return {};
  const { name, domain, language, title, cases } = set;
  const wrong = cases.filter((one) => isMembers(one) && one.ai_correct === false).length;
  return { sha256, name, domain, language, title, cases: cases.length, wrong, added_at: timestamp };
}

function coveredResult(body: Body): Covered | null {
  if (!Object.hasOwn(body, "recorded")) return { part: resultPart(body), beside: {}, eventType: null };
  const { recorded } = body;
  if (!isMembers(recorded)) return null;
  const id = recorded.session_id ?? recorded.decision_id;
  const kind = Object.hasOwn(recorded, "decision_id") ? "decision" : "score";
  const match = canonicalOrNull(body.replayed) === canonicalOrNull(recorded);
  return { part: recorded, beside: { ...recorded, id, kind, match }, eventType: null };
}

function coveredDetail(
  crypto: Crypto,
  { body, evidence: { entry, entry_hash } }: EvidencedBody,
): Covered | null {
  const { report, report_sha256, detail } = body;
  if (Object.hasOwn(body, "report")) {
    const text = canonicalOrNull(report);
    if (!isMembers(report) || text === null) return null;
    return {
      part: { report_id: report.report_id, report_sha256 },
      beside: { report_sha256: hex(crypto.sha256(utf8(text))) },
      eventType: "REPORT_ISSUED",
    };
  }
  if (!isMembers(detail)) return null;
  const beside = { ...entry, entry_hash, event_id: entry.id, entry, ...besideDetail(entry, detail) };
  if (!Object.hasOwn(body, "erased")) return { part: detail, beside, eventType: null };
  const erasure = { erased: true, erased_at: detail.requested_at };
  return { part: detail, beside: { ...beside, ...erasure }, eventType: "SUBJECT_ERASED" };
}

function partFault(
  crypto: Crypto,
  { body, evidence: { covers, salt, sha256, entry } }: EvidencedBody,
  covered: Covered | null,
): EvidenceFault | null {
  const text = covered && canonicalOrNull(covered.part);
  if (covered === null || text === null) return "MALFORMED";
  const commitment = hex(partCommitment(crypto, { name: covers, salt: fromHex(salt), text }));
  if (commitment !== sha256 || commitment !== entry.commit[covers]) return "RESULT_MISMATCH";
  // Anybody with the organization's key can append an event whose detail looks like that of a report.
  if (covered.eventType !== null && covered.eventType !== entry.event_type) return "RESULT_MISMATCH";
  // The members beside the part are not proven, so they must not contradict the proven values.
  const contradicts = Object.entries(resultPart(body)).some(([name, value]) =>
    Object.hasOwn(covered.beside, name) && canonicalOrNull(value) !== canonicalOrNull(covered.beside[name])
  );
  return contradicts ? "RESULT_MISMATCH" : null;
}

function entryFault(crypto: Crypto, { body, evidence }: EvidencedBody): EvidenceFault | null {
  // This hashes the entry as it came, not as it was parsed: a change that the schema overlooks must change
  // the hash.
  const text = canonicalOrNull((body.evidence as { readonly entry: Entry }).entry);
  if (text === null) return "MALFORMED";
  return hex(entryHash(crypto, text)) === evidence.entry_hash ? null : "ENTRY_HASH_MISMATCH";
}

// ---- a batch ----------------------------------------------------------------------------------------------

function verifyBatch(
  crypto: Crypto,
  { body, evidence: { checkpoint: note, items } }: {
    readonly body: Body;
    readonly evidence: BatchEvidence;
  },
  trust: Trust,
): DocumentReport {
  const checkpoint = knownCheckpointOrNull(note);
  const proofs = items.map((item) => ({ ...item, path: orNull(() => parsePath(item.path)) }));
  const isWhole = checkpoint !== null && items.length > 0 && proofs.every(({ path }) => path !== null);
  const fault = (isWhole ? null : "MALFORMED") ??
    (hasMatchingResults(body, items) ? null : "RESULT_MISMATCH") ??
    firstFault(
      proofs,
      ({ index, path, entry_hash }) =>
        inclusionFault(
          crypto,
          { index, path: path!, seq: index, leafHash: fromHex(entry_hash) },
          checkpoint!,
        ),
    ) ??
    (areConsecutive(items) ? null : "RESULT_MISMATCH") ??
    signatureFault(crypto, checkpoint!, trust);
  return {
    kind: "batch",
    fault,
    origin: checkpoint?.origin ?? null,
    checkpoint,
    entries: items.map(({ session_id, index, entry_hash }, at) => ({
      seq: index,
      entryHash: entry_hash,
      sessionId: session_id,
      statedScore: fault !== null || body.results === undefined ? null : {
        session_id,
        operator_id: body.operator_id,
        jis: (body.results as Body[])[at]!.jis,
      },
    })),
  };
}

const BATCH_MEMBERS = ["results", "count", "operator_id", "evidence", "request_id", "timestamp"];

/** Whether the items name consecutive entries, each once: the entries of one batch stand in a row. */
function areConsecutive(items: BatchEvidence["items"]): boolean {
  return items.every(({ index }, at) => index === items[0]!.index + at);
}

/** Whether a batch has known members only, and its results, if any, name the sessions of its evidence. */
function hasMatchingResults(body: Body, items: BatchEvidence["items"]): boolean {
  const { results, count } = body;
  if (Object.keys(body).some((name) => !BATCH_MEMBERS.includes(name))) return false;
  if (results === undefined) return true;
  if (!Array.isArray(results) || results.length !== items.length || count !== items.length) return false;
  return results.every((result, index) =>
    isMembers(result) && Object.keys(result).sort().join() === "jis,session_id" &&
    result.session_id === items[index]!.session_id && typeof result.jis === "number"
  );
}

function firstFault<Item>(
  items: readonly Item[],
  faultOf: (item: Item) => EvidenceFault | null,
): EvidenceFault | null {
  for (const item of items) {
    const fault = faultOf(item);
    if (fault !== null) return fault;
  }
  return null;
}

// ---- checks of both ---------------------------------------------------------------------------------------

function inclusionFault(
  crypto: Crypto,
  { index, path, seq, leafHash }: Pick<InclusionProof, "index" | "path"> & {
    readonly seq: number;
    readonly leafHash: Uint8Array;
  },
  { size, root }: KnownCheckpoint,
): EvidenceFault | null {
  const computed = rootFromInclusion(crypto, { leaf: index, size, leafHash, path });
  return index === seq && computed !== null && equalBytes(computed, root) ? null : "INCLUSION_FAILED";
}

function signatureFault(
  crypto: Crypto,
  { origin, note }: KnownCheckpoint,
  { keysFor }: Trust,
): EvidenceFault | null {
  const signed = parseNote(note);
  const keys = keysFor(origin);
  const verdict = verifyNote(crypto, signed, keys);
  if (verdict === "bad_signature") return "BAD_SIGNATURE";
  if (verdict === "untrusted_key") return "UNTRUSTED_KEY";
  // A key counts only for the origin under which it is pinned, not for another log.
  const own = keys.filter(({ name }) => name === origin);
  return verifyNote(crypto, signed, own) === "verified" ? null : "WRONG_ORIGIN";
}

// ---- reading ----------------------------------------------------------------------------------------------

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Canonical JSON; null if the value has none: it has lone surrogates, 1e999 or too deep a nesting. */
function canonicalOrNull(value: unknown): string | null {
  try {
    return canonicalJson(value);
  } catch {
    return null;
  }
}

/** The hashes of a path. @throws {SyntaxError} if an item is not a hash in base64. */
function parsePath(path: readonly string[]): readonly Uint8Array[] {
  const hashes = path.map(fromBase64);
  if (hashes.some((hash) => hash.length !== 32)) throw new SyntaxError("a bad proof hash");
  return hashes;
}
