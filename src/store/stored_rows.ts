/** Reads the rows beside the entries of a chain, page by page, to check them against what was signed. */
import { type Selectable, sql } from "kysely";
import { placesOfEventsQuery, type PositionedPlace } from "./chains.ts";
import { type Database, query } from "./database.ts";
import type { ComplianceReportRow, TombstoneRow } from "./records.ts";
import type { AuditCheckpointTable, AuditEntryTable, AuditLadderTable, AuditNodeTable } from "./schema.ts";

export type EntryRow = Omit<Selectable<AuditEntryTable>, "chain" | "subject">;
export type NodeRow = Omit<Selectable<AuditNodeTable>, "chain">;
export type CheckpointRow = Omit<Selectable<AuditCheckpointTable>, "chain">;
export type LadderRow = Omit<Selectable<AuditLadderTable>, "chain">;

/** Number of rows that are read at once: some tens of kilobytes. */
const PAGE = 128;

/** The rows of a chain's entries from `first` (inclusive) to `end` (exclusive), in their order. */
export async function* readEntryRows(
  database: Database,
  { chain, first, end }: { readonly chain: string; readonly first: number; readonly end: number },
): AsyncGenerator<EntryRow> {
  for (let next = first; next < end;) {
    const rows = await database.read(
      query.selectFrom("audit_entry")
        .select(["seq", "id", "entry_hash", "prev_hash", "event_type", "ts", "body"])
        .where("chain", "=", chain).where("seq", ">=", next).where("seq", "<", end).orderBy("seq").limit(PAGE)
        .compile(),
    );
    yield* rows;
    if (rows.length < PAGE) return;
    next = rows.at(-1)!.seq + 1;
  }
}

/** The hashes of a chain's tree from an index on, in their order. */
export async function* readNodeRows(
  database: Database,
  { chain, first }: { readonly chain: string; readonly first: number },
): AsyncGenerator<NodeRow> {
  for (let next = first;;) {
    const rows = await database.read(
      query.selectFrom("audit_node").select(["idx", "hash"]).where("chain", "=", chain)
        .where("idx", ">=", next).orderBy("idx").limit(PAGE).compile(),
    );
    yield* rows;
    if (rows.length < PAGE) return;
    next = rows.at(-1)!.idx + 1;
  }
}

/** The checkpoints of a chain with more than `above` and at most `upTo` entries, ordered by size. */
export async function* readCheckpointRows(
  database: Database,
  { chain, above, upTo }: { readonly chain: string; readonly above: number; readonly upTo: number },
): AsyncGenerator<CheckpointRow> {
  for (let last = above;;) {
    const rows = await database.read(
      query.selectFrom("audit_checkpoint").select(["size", "ts", "note"]).where("chain", "=", chain)
        .where("size", ">", last).where("size", "<=", upTo).orderBy("size").limit(PAGE).compile(),
    );
    yield* rows;
    if (rows.length < PAGE) return;
    last = rows.at(-1)!.size;
  }
}

/** The sizes of a chain at the ends of its days, each with 1 if there is a checkpoint of that size. */
export function readLadderRows(
  database: Database,
  chain: string,
): Promise<readonly (LadderRow & { readonly has_checkpoint: number })[]> {
  return database.read(
    sql<LadderRow & { has_checkpoint: number }>`select size, ts, exists (
        select 1 from audit_checkpoint as c where c.chain = l.chain and c.size = l.size) as has_checkpoint
      from audit_ladder as l where chain = ${chain} order by size`.compile(query),
  );
}

/** The first and last rows of a chain, all of one state. */
export interface RowBounds {
  readonly size: number;
  readonly least_node: number | null;
  readonly last_node: number | null;
  readonly least_entry: number | null;
  readonly last_entry: number | null;
}

export async function readRowBounds(database: Database, chain: string): Promise<RowBounds> {
  const [row] = await database.read(
    sql<RowBounds>`select size,
        (select min(idx) from audit_node where chain = ${chain}) as least_node,
        (select max(idx) from audit_node where chain = ${chain}) as last_node,
        (select min(seq) from audit_entry where chain = ${chain}) as least_entry,
        (select max(seq) from audit_entry where chain = ${chain}) as last_entry
      from audit_chain where chain = ${chain}`.compile(query),
  );
  return row!;
}

/** The entry that a tombstone names: it records an erasure or a cut. */
export type ToldBy = Pick<TombstoneRow, "reason" | "chain" | "seq" | "entry_hash">;

/** The entries in these chains that tombstones name, without duplicates. */
export function readCauses(database: Database, chains: readonly string[]): Promise<readonly ToldBy[]> {
  return database.read(
    query.selectFrom("tombstone").select(["reason", "chain", "seq", "entry_hash"]).distinct()
      .where("chain", "in", chains).compile(),
  );
}

/** Chains that tombstones name but that do not exist. */
export async function readLostCauses(database: Database): Promise<readonly string[]> {
  const rows = await database.read(
    query.selectFrom("tombstone").select("chain").distinct()
      .where("chain", "not in", query.selectFrom("audit_chain").select("chain")).compile(),
  );
  return rows.map(({ chain }) => chain);
}

/** The reports of an organization, one by one. */
export async function* readReports(database: Database, orgId: string): AsyncGenerator<ComplianceReportRow> {
  for (let last = "";;) {
    const [row] = await database.read(
      query.selectFrom("compliance_report").selectAll().where("org_id", "=", orgId)
        .where("report_id", ">", last).orderBy("report_id").limit(1).compile(),
    );
    if (row === undefined) return;
    yield row;
    last = row.report_id;
  }
}

/** Entries of a family that record a report of the organization, if the report has no row. */
export async function readLostReports(
  database: Database,
  { orgId, family }: { readonly orgId: string; readonly family: string },
): Promise<readonly PositionedPlace[]> {
  const [issued, rows] = await database.snapshot([
    placesOfEventsQuery({ family, eventType: "REPORT_ISSUED" }),
    query.selectFrom("compliance_report").select("position").where("org_id", "=", orgId).compile(),
  ]);
  const positions = new Set(rows.map(({ position }) => position));
  return issued.filter(({ position }) => !positions.has(position));
}

/** Whether an entry of a family records a report, according to its stored part. */
export async function tellsOfReport(
  database: Database,
  { family, reportId }: { readonly family: string; readonly reportId: string },
): Promise<boolean> {
  const rows = await database.read(
    sql<{ one: number }>`select 1 as one from audit_chain as c
      join audit_entry as e on e.chain = c.chain and e.event_type = 'REPORT_ISSUED'
      join audit_part as p on p.chain = e.chain and p.seq = e.seq and p.name = 'detail'
      where c.family = ${family} and instr(p.data, ${JSON.stringify(reportId)}) > 0 limit 1`.compile(query),
  );
  return rows.length > 0;
}

/** An entry that records an erasure. */
export interface ErasureEntry {
  readonly chain: string;
  readonly seq: number;
  readonly subject: string;
}

/** The erasures of those operators of a family who have an entry that used up a name, oldest first. */
export function readErasuresOfNames(database: Database, family: string): Promise<readonly ErasureEntry[]> {
  return database.read(
    sql<ErasureEntry>`select c.chain, e.seq, e.subject from audit_chain as c
      join audit_entry as e on e.chain = c.chain and e.event_type = 'SUBJECT_ERASED'
      where c.family = ${family} and exists (
        select 1 from audit_entry as used join audit_chain as own on own.chain = used.chain
        where used.subject = e.subject and used.event_type in ('SCORE_COMPUTED', 'DRS_COMPUTED')
          and own.family = c.family)
      order by c.epoch, e.seq`.compile(query),
  );
}
