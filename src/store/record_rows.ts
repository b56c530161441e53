/** The rows beside the entries of an organization's evidence, each with the entry that it stands for. */
import { sql } from "kysely";
import { organizationOf } from "../evidence/chain_name.ts";
import type { PartName } from "../evidence/hashes.ts";
import { headOf, type HeadRow, headsQuery, type StoredHead } from "./chains.ts";
import { type Database, query } from "./database.ts";
import { readPages } from "./paging.ts";
import {
  decisions,
  frozenOperators,
  installations,
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
 * The newest head of a family and, of the same state, the rows whose set it holds: operators and operators
 * with frozen calls; an organization and its webhooks; or the installation.
 */
export async function readHeld(database: Database, family: string): Promise<HeldRows> {
  const orgId = organizationOf(family);
  const kinds: readonly AnyKind[] = orgId === null
    ? [installations]
    : [operators, frozenOperators, organizations, webhooks];
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
