/** The rows beside the entries of an organization's evidence, each of which stands for an entry. */
import { sql } from "kysely";
import { organizationOf } from "../evidence/chain_name.ts";
import type { PartName } from "../evidence/hashes.ts";
import { headOf, type HeadRow, headsQuery, type StoredHead } from "./chains.ts";
import { type Database, query, type Statement } from "./database.ts";
import { namedKeys } from "./named_keys.ts";
import { passkeys } from "./passkeys.ts";
import { userAccounts, userSessions } from "./users.ts";
import { listed } from "./value_list.ts";
import type { RecordTable } from "./operator_records.ts";
import { readPages } from "./paging.ts";
import { probeDraws, probeProgrammes, probes } from "./probes.ts";
import {
  decisions,
  frozenOperators,
  installations,
  type InteractionRow,
  interactions,
  operators,
  organizations,
  outcomeLabels,
  type RecordKind,
  scoreCommits,
  skippedInteractions,
  webhooks,
} from "./records.ts";
import type { Sealed } from "./seals.ts";

// deno-lint-ignore no-explicit-any -- rows of several kinds, each beside its own
export type AnyKind = RecordKind<any>;

/** The kind of rows that stand for a type of entries, and how they are joined. */
export interface RowKind {
  readonly kind: AnyKind;
  /** The part that names the session or decision. */
  readonly part: PartName;
}

/** The kind of rows for each event type. */
export const ROW_KINDS: ReadonlyMap<string, RowKind> = new Map<string, RowKind>([
  ["SCORE_COMPUTED", { kind: interactions, part: "input" }],
  ["SCORE_SKIPPED", { kind: skippedInteractions, part: "input" }],
  ["DRS_COMPUTED", { kind: decisions, part: "input" }],
  ["SCORE_COMMITTED", { kind: scoreCommits, part: "result" }],
  ["OUTCOME_LABELLED", { kind: outcomeLabels, part: "input" }],
  ["PROBE_ASSIGNED", { kind: probeDraws, part: "input" }],
]);

/** A row that stands for an entry. */
export interface RecordRow extends Sealed {
  /** Absent in rows of commits and labels: the score's row has it. */
  readonly operator_id?: string;
  readonly position: number;
  /** Only in the row of a label: 0 or 1. */
  readonly outcome_correct?: number;
}

/** A held part of an entry that has a subject, with the ids in its text. */
export interface HeldPart {
  readonly seq: number;
  readonly event_type: string;
  /** The entry's pseudonym. */
  readonly subject: string;
  readonly name: PartName;
  /** null if the part names nobody. */
  readonly operator_id: string | null;
  /** The session's id, or the decision's; null if the part names none. */
  readonly id: string | null;
  /** The ground truth in a label, 0 or 1; null if the part is not a label. */
  readonly label: number | null;
}

const PARTS_IN_PAGE = 200;

/**
 * The held parts of those entries of a chain that have a subject, in the order of the entries. Does not check
 * whether they are intact. Leaves out the service's own record that an operator was erased: it stays after
 * the erasure.
 */
export function readHeldParts(
  database: Database,
  { chain, first }: { readonly chain: string; readonly first: number },
): AsyncGenerator<readonly HeldPart[]> {
  // Text that is no JSON is reported elsewhere, and must not end the reading of the others.
  const member = <Value>(path: string) =>
    sql<Value>`case when json_valid(p.data) then p.data ->> ${sql.lit(path)} end`;
  const parts = query.selectFrom("audit_entry as e")
    .innerJoin(
      "audit_part as p",
      (join) => join.onRef("p.chain", "=", "e.chain").onRef("p.seq", "=", "e.seq"),
    )
    .select([
      "e.seq",
      "e.event_type",
      "e.subject",
      "p.name",
      member<string | null>("$.operator_id").as("operator_id"),
      sql<string | null>`coalesce(${member("$.session_id")}, ${member("$.decision_id")})`.as("id"),
      member<number | null>("$.label").as("label"),
    ])
    .$narrowType<{ subject: string; name: PartName }>()
    .where("p.data", "is not", null).where("e.chain", "=", chain).where("e.subject", "is not", null)
    .where("e.event_type", "!=", "SUBJECT_ERASED").orderBy("e.seq").orderBy("p.name");
  return readPages<HeldPart>(
    database,
    (after, limit) =>
      (after === null ? parts.where("e.seq", ">=", first) : parts.where("e.seq", ">=", after.seq)
        .where(sql<boolean>`(e.seq, p.name) > (${after.seq}, ${after.name})`)).limit(limit).compile(),
    PARTS_IN_PAGE,
  );
}

/** The number of rows beside an organization's evidence. */
export async function countRecordRows(database: Database, orgId: string): Promise<number> {
  const counts = await database.snapshot(
    [...ROW_KINDS.values()].map(({ kind: { name } }) =>
      query.selectFrom(name as "interaction").select(({ fn }) => fn.countAll<number>().as("count"))
        .where("org_id", "=", orgId).compile()
    ),
  );
  return counts.reduce((sum, [row]) => sum + row!.count, 0);
}

/** A head and the rows that belong to it. */
export interface HeldRows {
  readonly head: StoredHead;
  /** The kinds of rows that belong to the head, even those without rows. */
  readonly kinds: readonly AnyKind[];
  /** Each row with its kind. */
  readonly rows: readonly (readonly [AnyKind, Sealed])[];
}

/**
 * The newest head of a family and, of the same state, the rows whose set it holds: operators, operators with
 * frozen calls, probes and their programme; an organization with its webhooks, named keys, users and sessions; or the
 * installation.
 */
export async function readHeld(database: Database, family: string): Promise<HeldRows> {
  const orgId = organizationOf(family);
  const kinds: readonly AnyKind[] = orgId === null ? [installations] : [
    operators,
    frozenOperators,
    probeProgrammes,
    probes,
    organizations,
    webhooks,
    namedKeys,
    userAccounts,
    passkeys,
    userSessions,
  ];
  const own = kinds.filter(({ sealing }) => sealing!.heldBy!({ org_id: orgId }) === family);
  const [[head], ...found] = await database.snapshot<[HeadRow, ...Sealed[]]>([
    headsQuery([family]),
    ...own.map(({ name }) => {
      const rows = query.selectFrom(name as "operator").selectAll();
      return (orgId === null ? rows : rows.where("org_id", "=", orgId)).compile();
    }),
  ]);
  return {
    head: headOf(head!),
    kinds: own,
    rows: own.flatMap((kind, index) => found[index]!.map((row) => [kind, row] as const)),
  };
}

// ---- changes ----------------------------------------------------------------------------------------------

/** Tables whose rows have an id within their organization. */
type TableWithId = RecordTable | "compliance_report";

/** The column with a row's id, by table. A table comes after those whose rows refer to it. */
const ID_COLUMNS: Readonly<Record<TableWithId, string>> = {
  outcome_label: "session_id",
  score_commit: "session_id",
  interaction: "session_id",
  skipped_interaction: "session_id",
  decision: "decision_id",
  score_batch: "request_digest",
  probe_draw: "session_id",
  compliance_report: "report_id",
};

/** Kysely is told the name of one table, since a union of tables has no columns in common. */
function idColumn(table: TableWithId) {
  return ID_COLUMNS[table] as "session_id";
}

/** Rows in a page of {@link readRecordRows}. */
const ROWS_IN_PAGE = 200;

/** The rows of a kind that an organization has, in the order of their ids, page by page. */
export function readRecordRows(
  database: Database,
  kind: AnyKind,
  orgId: string,
): AsyncGenerator<readonly RecordRow[]> {
  const id = idColumn(kind.name as RecordTable);
  const rows = query.selectFrom(kind.name as "interaction").selectAll()
    .where("org_id", "=", orgId).orderBy(id);
  return readPages<RecordRow>(
    database,
    (after, limit) =>
      (after === null ? rows : rows.where(id, ">", kind.keyOf(after)[1]!)).limit(limit).compile() as never,
    ROWS_IN_PAGE,
  );
}

/** Sets columns of the row of a record. */
export function updateRecordRow<Row>(kind: RecordKind<Row>, row: Row, columns: Partial<Row>): Statement {
  const [orgId, id] = kind.keyOf(row);
  return query.updateTable(kind.name as "interaction").set(columns as Partial<InteractionRow>)
    .where("org_id", "=", orgId!).where(idColumn(kind.name as RecordTable), "=", id!).compile();
}

/** Deletes rows of an organization by their ids. */
export function deleteRecordRows(
  table: TableWithId,
  { orgId, ids }: { readonly orgId: string; readonly ids: readonly string[] },
): Statement {
  return query.deleteFrom(table as "interaction").where("org_id", "=", orgId)
    .where(idColumn(table), "in", listed<string>(ids)).compile();
}

/** Deletes rows of several tables by their ids, in an order in which no row refers to one that is gone. */
export function deleteRowsOfTables(
  orgId: string,
  idsOf: ReadonlyMap<TableWithId, readonly string[]>,
): readonly Statement[] {
  return (Object.keys(ID_COLUMNS) as TableWithId[]).flatMap((table) => {
    const ids = idsOf.get(table);
    return ids === undefined ? [] : [deleteRecordRows(table, { orgId, ids })];
  });
}

/**
 * Deletes the row of a record if it has the position of the record's entry. The rows of a score's commit and
 * late label go with it.
 */
export function deleteRowAt(
  table: Exclude<TableWithId, "score_batch">,
  { orgId, id, position }: { readonly orgId: string; readonly id: string; readonly position: number },
): readonly Statement[] {
  const row = query.deleteFrom(table as "interaction").where("org_id", "=", orgId)
    .where(idColumn(table), "=", id).where("position", "=", position).compile();
  if (table !== "interaction") return [row];
  const score = query.selectFrom("interaction").select("session_id").where("org_id", "=", orgId)
    .where("session_id", "=", id).where("position", "=", position);
  return [
    ...(["outcome_label", "score_commit"] as const).map((beside) =>
      query.deleteFrom(beside).where("org_id", "=", orgId).where("session_id", "in", score).compile()
    ),
    row,
  ];
}

/** Deletes the rows of commits and late labels that no score's row of the organization names. */
export function deleteUnfollowedRows(orgId: string): readonly Statement[] {
  const followed = (column: "commit_position" | "label_position") =>
    query.selectFrom("interaction").select("session_id").where("org_id", "=", orgId)
      .where(column, "is not", null);
  return [
    query.deleteFrom("score_commit").where("org_id", "=", orgId)
      .where("session_id", "not in", followed("commit_position")).compile(),
    query.deleteFrom("outcome_label").where("org_id", "=", orgId)
      .where("session_id", "not in", followed("label_position")).compile(),
  ];
}
