/**
 * One record of a subject's copy: an entry with its stored parts, whether they are what was recorded, the row
 * beside the entry, and the values that it moved. A record is altered if its entry is not in the signed tree,
 * if its parts are not those that the entry commits to, or if its row is not what this installation wrote for
 * it. An altered record is shown, and nothing is concluded from it.
 * Source: contract, section 4.
 */
import type { Logging, Proving, Reading, Scoring } from "../shared/capabilities.ts";
import { DIMENSIONS, type VerdictStatus } from "../../domain/enums.ts";
import type { SubjectRecord } from "../../domain/subject.ts";
import { type Crypto, equalBytes, hex } from "../../evidence/crypto.ts";
import { type Entry, entrySchema, isCommitted } from "../../evidence/entry.ts";
import { entryHash, PART_NAMES, type PartName } from "../../evidence/hashes.ts";
import {
  decisionInputSchema,
  labelInputSchema,
  lateLabelOf,
  scoreInputSchema,
} from "../../evidence/record.ts";
import {
  type DimensionExplanation,
  explainDecision,
  explainLabel,
  explainScore,
} from "../../scoring/explain.ts";
import { errorFields } from "../../observability/log.ts";
import type { ModelDocument } from "../../scoring/model.ts";
import { findInTree } from "../../store/proven_pages.ts";
import {
  decisions,
  type InteractionRow,
  interactions,
  outcomeLabels,
  type RecordKind,
  scoreCommits,
  skippedInteractions,
} from "../../store/records.ts";
import { probeDraws } from "../../store/probes.ts";
import { type Sealed, shareOf } from "../../store/seals.ts";
import {
  pseudonymQuery,
  storedSeqsQuery,
  type SubjectEntry,
  type SubjectName,
} from "../../store/subjects.ts";
import { originOf } from "../shared/deployment.ts";
import { modelDocument } from "../scoring/replay.ts";

/** The dependencies of these operations. */
type Needs = Proving & Logging & Scoring;

/** A part's data; its text if that is no JSON object. */
type PartData = Record<string, unknown> | string;

/** An entry with the data of its parts. */
export interface StoredRecord {
  readonly entry: SubjectEntry;
  readonly parts: Readonly<Record<PartName, PartData | null>>;
  readonly altered: boolean;
}

/** Stored entries of one chain, each with whether it or a part was altered. Rows are not checked here. */
export async function readRecords(
  dependencies: Needs,
  chain: string,
  entries: readonly SubjectEntry[],
): Promise<readonly StoredRecord[]> {
  const { crypto } = dependencies;
  const hashes = new Map(entries.map(({ seq, text }) => [seq, entryHash(crypto, text)]));
  const signedSeqs = await findInTree(dependencies, { chain, origin: originOf(dependencies, chain), hashes });
  return entries.map((entry) => readRecord(crypto, entry, signedSeqs.has(entry.seq)));
}

/** @param isSigned whether the hash of the entry's text is in the signed tree. */
function readRecord(crypto: Crypto, stored: SubjectEntry, isSigned: boolean): StoredRecord {
  const data = (name: PartName) => {
    const held = stored.parts.get(name);
    return held === undefined ? null : partData(held.text);
  };
  const parts = { input: data("input"), result: data("result"), detail: data("detail") };
  const entry = isSigned ? entrySchema.parse(JSON.parse(stored.text)) : null;
  if (entry === null) return { entry: stored, parts, altered: true };
  // The entry's own text was signed; the columns beside it only repeat it.
  const { id, event_type: eventType, timestamp } = entry;
  return {
    entry: { ...stored, id, eventType, timestamp },
    parts,
    altered: !isIntact(crypto, stored, entry),
  };
}

/** Whether the stored hash is the entry's, and its parts are all of those that it commits to. */
function isIntact(crypto: Crypto, { text, hash, parts }: SubjectEntry, entry: Entry): boolean {
  return equalBytes(entryHash(crypto, text), hash) && PART_NAMES.every((name) => {
    const held = parts.get(name);
    return held === undefined
      ? !Object.hasOwn(entry.commit, name)
      : isCommitted(crypto, entry, { name, ...held });
  });
}

function partData(text: string): PartData {
  try {
    const data: unknown = JSON.parse(text);
    const isObject = typeof data === "object" && data !== null && !Array.isArray(data);
    return isObject ? data as Record<string, unknown> : text;
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

// ---- the row beside an entry ------------------------------------------------------------------------------

/** The ids of an entry's row, and the full-mode figures of a score. */
type Row = Pick<SubjectRecord, "session_id" | "decision_id" | "request_id" | "full_mode">;

const NO_ROW: Row = { session_id: null, decision_id: null, request_id: null, full_mode: null };

interface KeptRow extends Sealed {
  readonly position: number;
  /** Absent in a draw's row. */
  readonly request_id?: string;
  /** Absent if the row does not name the operator. */
  readonly operator_id?: string;
  readonly session_id?: string;
  readonly decision_id?: string;
}

interface RowKind {
  readonly kind: RecordKind<KeptRow>;
  /** The part that names the row; `id` is the member of that part. */
  readonly part: PartName;
  readonly id: "session_id" | "decision_id";
}

/** By event type, the kind of its row; only for events that have a row. */
const ROW_KINDS: ReadonlyMap<string, RowKind> = new Map<string, RowKind>([
  ["SCORE_COMPUTED", { kind: interactions, part: "result", id: "session_id" }],
  ["SCORE_SKIPPED", { kind: skippedInteractions, part: "result", id: "session_id" }],
  ["SCORE_COMMITTED", { kind: scoreCommits, part: "result", id: "session_id" }],
  ["OUTCOME_LABELLED", { kind: outcomeLabels, part: "input", id: "session_id" }],
  ["DRS_COMPUTED", { kind: decisions, part: "result", id: "decision_id" }],
  ["PROBE_ASSIGNED", { kind: probeDraws, part: "input", id: "session_id" }],
]);

/** A record with the row beside it. */
export interface RecordWithRow {
  readonly record: StoredRecord;
  readonly row: Row;
}

/**
 * The records of a page of one chain, in their order, each with its row; the rows are read from one snapshot.
 * A record whose row is missing, or is not what was written for it, is marked as altered.
 * @returns null if the operator was erased meanwhile, together with its rows.
 */
export async function readWithRows(
  { database, seals }: Pick<Reading, "database" | "seals">,
  { orgId, operatorId, pseudonym }: SubjectName & { readonly pseudonym: string },
  { chain, firstPosition, records }: {
    readonly chain: string;
    readonly firstPosition: number;
    readonly records: readonly StoredRecord[];
  },
): Promise<readonly RecordWithRow[] | null> {
  const kinds = [...ROW_KINDS];
  const names = records.map(rowName);
  const keysOf = (eventType: string) =>
    records.flatMap(({ entry }, index) =>
      entry.eventType === eventType && names[index] !== null ? [[orgId, names[index]]] : []
    );
  const [[known], stored, ...found] = await database.snapshot([
    pseudonymQuery({ orgId, operatorId }),
    storedSeqsQuery(chain, records.map(({ entry: { seq } }) => seq)),
    ...kinds.map(([eventType, { kind }]) => kind.load(JSON.stringify(keysOf(eventType)))),
  ]) as readonly [
    readonly { readonly pseudonym: string }[],
    readonly { readonly seq: number }[],
    ...(readonly KeptRow[])[],
  ];
  if (known?.pseudonym !== pseudonym) return null;
  const seqs = new Set(stored.map(({ seq }) => seq));
  const rows = new Map(
    kinds.flatMap(([eventType, { id }], index) =>
      found[index]!.map((row) => [`${eventType} ${row[id]}`, row] as const)
    ),
  );
  return records.map((record, index) => {
    const { entry: { eventType, seq } } = record;
    const kind = ROW_KINDS.get(eventType)?.kind;
    if (kind === undefined || names[index] === null) return { record, row: NO_ROW };
    const row = rows.get(`${eventType} ${names[index]}`);
    // A row is deleted together with its entry. Rows of a kind without seals are not checked elsewhere
    // either.
    if (row === undefined) {
      return { record: { ...record, altered: kind.sealing !== undefined && seqs.has(seq) }, row: NO_ROW };
    }
    const isOwn = row.position === firstPosition + seq && (row.operator_id ?? operatorId) === operatorId &&
      (kind.sealing === undefined || shareOf(seals, kind, row) !== null);
    return isOwn
      ? { record, row: rowFields(eventType, row) }
      : { record: { ...record, altered: true }, row: NO_ROW };
  });
}

/** The name of a record's row; null if it has no row, or if the record was altered. */
function rowName({ entry, parts, altered }: StoredRecord): string | null {
  const kind = ROW_KINDS.get(entry.eventType);
  if (altered || kind === undefined) return null;
  const data = parts[kind.part];
  const name = typeof data === "object" ? data?.[kind.id] : null;
  return typeof name === "string" ? name : null;
}

function rowFields(eventType: string, row: KeptRow): Row {
  return {
    session_id: row.session_id ?? null,
    decision_id: row.decision_id ?? null,
    request_id: row.request_id ?? null,
    full_mode: eventType === "SCORE_COMPUTED" ? fullMode(row as InteractionRow) : null,
  };
}

function fullMode({ jis, low, high, verdict, d1, d2, d3, d4, d5, d6, d7 }: InteractionRow): Row["full_mode"] {
  const values = [d1, d2, d3, d4, d5, d6, d7];
  const dimensions = Object.fromEntries(DIMENSIONS.map((name, index) => [name, values[index]!]));
  return {
    jis,
    low,
    high,
    verdict: verdict as VerdictStatus | null,
    dimensions: dimensions as NonNullable<Row["full_mode"]>["dimensions"],
  };
}

// ---- the values that a record moved -----------------------------------------------------------------------

/** The record in the form of the copy. */
export async function toSubjectRecord(
  { record: { entry, parts, altered }, row }: RecordWithRow,
  documents: Documents,
): Promise<SubjectRecord> {
  const explained = altered ? null : await explain(documents, entry.eventType, parts.input);
  return {
    seq: entry.seq,
    chain: entry.chain,
    event_id: entry.id,
    entry_hash: hex(entry.hash),
    event_type: entry.eventType,
    timestamp: entry.timestamp,
    ...row,
    ...parts,
    explanation: explained === null ? null : explained.map((line) => ({ ...line, rules: [...line.rules] })),
    altered,
  };
}

/** Why each dimension moved; null if the event moves none, or if its model document cannot be used. */
async function explain(
  documents: Documents,
  eventType: string,
  input: PartData | null,
): Promise<readonly DimensionExplanation[] | null> {
  switch (eventType) {
    case "SCORE_COMPUTED": {
      const { algo, state, interaction, domain, as_of } = scoreInputSchema.parse(input);
      const model = await documents.find(algo.model_sha256);
      return model && explainScore(model, state, { interaction, domain, now: Date.parse(as_of) });
    }
    case "DRS_COMPUTED": {
      const { algo, state, domain, as_of } = decisionInputSchema.parse(input);
      const model = await documents.find(algo.model_sha256);
      return model && explainDecision(model, state, { domain, now: Date.parse(as_of) });
    }
    case "OUTCOME_LABELLED": {
      const label = labelInputSchema.parse(input);
      const model = await documents.find(label.algo.model_sha256);
      return model && explainLabel(model, label.state, lateLabelOf(label));
    }
    default:
      return null;
  }
}

/** The model documents that one copy needs; each is looked up once. */
export class Documents {
  readonly #found = new Map<string, ModelDocument | null>();

  constructor(private readonly dependencies: Needs) {}

  /**
   * null if the document is missing or was altered: that is only logged, and the rest of the copy is made.
   */
  async find(sha256: string): Promise<ModelDocument | null> {
    const known = this.#found.get(sha256);
    if (known !== undefined) return known;
    const document = await this.#read(sha256);
    this.#found.set(sha256, document);
    return document;
  }

  async #read(sha256: string): Promise<ModelDocument | null> {
    try {
      return await modelDocument(this.dependencies, sha256);
    } catch (error) {
      this.dependencies.log.error("a model document cannot be used", { sha256, ...errorFields(error) });
      return null;
    }
  }
}
