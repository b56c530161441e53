/**
 * Proves the records below a cut before they are removed. So an altered part cannot name a row that is to
 * stay, and a row is removed only if it has its own entry's position.
 */
import type { Proving, Reading } from "../shared/capabilities.ts";
import { AlteredError } from "../../domain/errors.ts";
import type { Statement } from "../../store/database.ts";
import type { StoredChain } from "../../store/chains.ts";
import { readProvenPage } from "../../store/proven_pages.ts";
import type { CauseOfCut } from "../../store/pruning.ts";
import { deleteRowAt } from "../../store/record_rows.ts";
import { probeDraws } from "../../store/probes.ts";
import { decisions, interactions, skippedInteractions } from "../../store/records.ts";
import { reportPositionsQuery } from "../../store/reports.ts";
import { batchesQuery, deleteBatches } from "../../store/score_batches.ts";
import { insertTombstone } from "../../store/tombstones.ts";
import { originOf } from "../shared/deployment.ts";
import { tombstoneName } from "../shared/gone.ts";
import type { ProvingDependencies } from "../shared/proven_records.ts";

/** An entry below a cut whose row is removed with it. */
interface PrunedRecord {
  readonly kind: RowKind;
  /** The id of the session, the decision or the report. */
  readonly id: string;
  /** null for a report. */
  readonly operatorId: string | null;
  readonly position: number;
}

/** The tables of such rows, by the event that their rows stand for. */
const ROW_KINDS = {
  SCORE_COMPUTED: { table: "interaction", part: "input", id: "session_id" },
  SCORE_SKIPPED: { table: "skipped_interaction", part: "input", id: "session_id" },
  DRS_COMPUTED: { table: "decision", part: "input", id: "decision_id" },
  PROBE_ASSIGNED: { table: "probe_draw", part: "input", id: "session_id" },
  REPORT_ISSUED: { table: "compliance_report", part: "detail", id: "report_id" },
} as const;
type RowKind = (typeof ROW_KINDS)[keyof typeof ROW_KINDS];

/**
 * The statements that remove the rows of some entries of an organization's evidence chain, and record that
 * their names were used.
 * @throws {AlteredError} if an entry is not what was signed, or the row of its name belongs to another
 *   record.
 */
export async function removalStatements(
  dependencies: ProvingDependencies,
  { orgId, chain, seqs, cause }: {
    /** null if no rows belong to the entries; they are proven all the same. */
    readonly orgId: string | null;
    readonly chain: StoredChain;
    /** Ascending; at least one. */
    readonly seqs: readonly number[];
    readonly cause: CauseOfCut;
  },
): Promise<readonly Statement[]> {
  const { installation } = dependencies;
  const records = await provenRecords(dependencies, chain, seqs);
  if (orgId === null) return [];
  const [first, last] = [chain.firstPosition + seqs[0]!, chain.firstPosition + seqs.at(-1)!];
  await requireOwnRows(dependencies, { orgId, chain, records, range: [first, last] });
  const removal = { orgId, cause };
  return [
    ...records.flatMap((record) => removalStatementsOf(installation, record, removal)),
    deleteBatches(orgId, [first, last]),
  ];
}

async function provenRecords(
  dependencies: ProvingDependencies,
  { chain, firstPosition }: StoredChain,
  seqs: readonly number[],
): Promise<readonly PrunedRecord[]> {
  const page = { chain, origin: originOf(dependencies, chain), seqs, names: ["input", "detail"] as const };
  const proven = await readProvenPage(dependencies, page);
  return [...proven].flatMap(([seq, { entry: { event_type }, parts }]) => {
    if (!Object.hasOwn(ROW_KINDS, event_type)) return [];
    const kind = ROW_KINDS[event_type as keyof typeof ROW_KINDS];
    const part = parts.get(kind.part);
    // The rows of an erased operator are gone.
    if (part === undefined) return [];
    const data: Readonly<Record<string, string | undefined>> = JSON.parse(part.text);
    return [{
      kind,
      id: data[kind.id]!,
      operatorId: data.operator_id ?? null,
      position: firstPosition + seq,
    }];
  });
}

/**
 * Requires that each row with the name of a record belongs to that record.
 * @throws {AlteredError} if one does not.
 */
async function requireOwnRows(
  { database }: Pick<Reading, "database">,
  { orgId, chain: { chain }, records, range }: {
    readonly orgId: string;
    readonly chain: StoredChain;
    readonly records: readonly PrunedRecord[];
    readonly range: readonly [first: number, last: number];
  },
): Promise<void> {
  const recordsOf = (table: RowKind["table"]) => records.filter(({ kind }) => kind.table === table);
  const keys = (table: RowKind["table"]) => JSON.stringify(recordsOf(table).map(({ id }) => [orgId, id]));
  const [scores, frozen, decided, drawn, reports, batches] = await database.snapshot([
    interactions.load(keys("interaction")),
    skippedInteractions.load(keys("skipped_interaction")),
    decisions.load(keys("decision")),
    probeDraws.load(keys("probe_draw")),
    reportPositionsQuery(orgId, recordsOf("compliance_report").map(({ id }) => id)),
    batchesQuery(orgId, range),
  ]);
  const rows = [
    ...scores.map((row) => ["interaction", row.session_id, row] as const),
    ...frozen.map((row) => ["skipped_interaction", row.session_id, row] as const),
    ...decided.map((row) => ["decision", row.decision_id, row] as const),
    ...drawn.map((row) => ["probe_draw", row.session_id, row] as const),
    ...reports.map((row) => ["compliance_report", row.report_id, { ...row, operator_id: null }] as const),
  ];
  const expected = new Map(records.map((record) => [`${record.kind.table} ${record.id}`, record]));
  for (const [table, id, { position, operator_id }] of rows) {
    const record = expected.get(`${table} ${id}`);
    if (record?.position === position && record.operatorId === operator_id) continue;
    throw new AlteredError(chain, `a row of ${table} bears the name of another record of ${chain}`);
  }
  const scored = new Map(recordsOf("interaction").map(({ position, operatorId }) => [position, operatorId]));
  for (const { first_position, operator_id } of batches) {
    if (scored.get(first_position) === operator_id) continue;
    throw new AlteredError(chain, `a row of score_batch leads to another record of ${chain}`);
  }
}

function removalStatementsOf(
  installation: Proving["installation"],
  { kind: { table }, id, position }: PrunedRecord,
  { orgId, cause }: { readonly orgId: string; readonly cause: CauseOfCut },
): readonly Statement[] {
  const removed = deleteRowAt(table, { orgId, id, position });
  // A frozen call and a draw used no name up, so they leave no tombstone.
  if (table === "skipped_interaction" || table === "probe_draw") return removed;
  const kind = table === "compliance_report" ? "report" : "record";
  const name = tombstoneName(installation, { kind, orgId, name: id });
  return [...removed, insertTombstone({ name, reason: "pruned", ...cause })];
}
