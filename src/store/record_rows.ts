/** The rows that stand beside the entries of an organization's evidence, each with the entry that it stands for. */
import { sql } from "kysely";
import { organizationOf } from "../evidence/chain_name.ts";
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
  type RecordKind,
  skippedInteractions,
  webhooks,
} from "./records.ts";
import type { Sealed } from "./seals.ts";

// deno-lint-ignore no-explicit-any -- rows of several kinds, each beside its own
export type AnyKind = RecordKind<any>;

/** Which rows stand for entries of a type. */
export const ROW_KINDS: ReadonlyMap<string, AnyKind> = new Map<string, AnyKind>([
  ["SCORE_COMPUTED", interactions],
  ["SCORE_SKIPPED", skippedInteractions],
  ["DRS_COMPUTED", decisions],
]);

/** A row that stands for an entry. */
export interface RecordRow extends Sealed {
  readonly operator_id: string;
  readonly position: number;
}

/** An entry that has a row, by what its input says. */
export interface NamedRecord {
  readonly seq: number;
  readonly event_type: string;
  readonly subject: string | null;
  readonly operator_id: string;
  /** The session's id, or the decision's. */
  readonly id: string;
}

const RECORDS_IN_PAGE = 100;

/** The entries of a chain that have a row and whose input is held, oldest first. Whether they are intact is not looked at. */
export function readNamedRecords(
  database: Database,
  { chain, first }: { readonly chain: string; readonly first: number },
): AsyncGenerator<readonly NamedRecord[]> {
  const records = query.selectFrom("audit_entry as e")
    .innerJoin(
      "audit_part as p",
      (join) => join.onRef("p.chain", "=", "e.chain").onRef("p.seq", "=", "e.seq").on("p.name", "=", "input"),
    )
    .select([
      "e.seq",
      "e.event_type",
      "e.subject",
      sql<string>`p.data ->> '$.operator_id'`.as("operator_id"),
      sql<string>`coalesce(p.data ->> '$.session_id', p.data ->> '$.decision_id')`.as("id"),
    ])
    .where("p.data", "is not", null).where("e.chain", "=", chain)
    .where("e.event_type", "in", [...ROW_KINDS.keys()]).orderBy("e.seq");
  return readPages<NamedRecord>(
    database,
    (after, limit) =>
      records.where("e.seq", ">=", after === null ? first : after.seq + 1).limit(limit).compile(),
    RECORDS_IN_PAGE,
  );
}

/** How many rows stand beside an organization's evidence. */
export async function countRecordRows(database: Database, orgId: string): Promise<number> {
  const counts = await database.snapshot(
    [...ROW_KINDS.values()].map(({ name }) =>
      query.selectFrom(name as "interaction").select(({ fn }) => fn.countAll<number>().as("count"))
        .where("org_id", "=", orgId).compile()
    ),
  );
  return counts.reduce((sum, [row]) => sum + row!.count, 0);
}

/** A head and the rows that belong to it. */
export interface HeldRows {
  readonly head: StoredHead;
  /** The kinds of rows that belong to it, whether there are any or not. */
  readonly kinds: readonly AnyKind[];
  /** Each with its kind. */
  readonly rows: readonly (readonly [AnyKind, Sealed])[];
}

/**
 * The newest head of a family and, of the same state, the rows whose set it holds: operators, and those that have frozen
 * calls; an organization and its webhooks; or the installation.
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
