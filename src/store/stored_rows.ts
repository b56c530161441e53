/** Reads the rows beside the entries of a chain, page by page, to check them against what was signed. */
import { type Selectable, sql } from "kysely";
import { type Database, query } from "./database.ts";
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
