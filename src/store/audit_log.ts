/**
 * Reads over logs. The entries on a page are selected here, newest first. Their content is read from them
 * once they are proven.
 */
import { sql } from "kysely";
import { type Database, query } from "./database.ts";

export interface LogPage {
  readonly chain: string;
  /** Inclusive. */
  readonly from: number;
  /** Exclusive. */
  readonly before: number;
  /** null for all types. */
  readonly eventType: string | null;
  /** null for the entries of everybody. */
  readonly userId: string | null;
  readonly limit: number;
}

/**
 * Seqs of the entries on a page, newest first, as the columns have them. A filter by type uses the index of
 * types.
 */
export async function readLogPage(
  database: Database,
  { chain, from, before, eventType, userId, limit }: LogPage,
): Promise<readonly number[]> {
  let entries = query.selectFrom("audit_entry").select("seq")
    .where("chain", "=", chain).where("seq", ">=", from).where("seq", "<", before);
  if (userId !== null) entries = entries.where(sql<string>`body ->> '$.user_id'`, "=", userId);
  const ordered = eventType === null
    ? entries.orderBy("seq", "desc")
    : entries.where("event_type", "=", eventType).orderBy("ts", "desc").orderBy("seq", "desc");
  const rows = await database.read(ordered.limit(limit).compile());
  return rows.map(({ seq }) => seq);
}

/**
 * The seq of the first entry at or after an instant, by binary search: timestamps never decrease along a
 * chain. Returns `size` if there is no such entry; `from` is the first seq that is stored.
 */
export async function firstSeqAt(
  database: Database,
  { chain, from, size, instant }: {
    readonly chain: string;
    readonly from: number;
    readonly size: number;
    readonly instant: string;
  },
): Promise<number> {
  let [low, high] = [from, size];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [row] = await database.read(
      query.selectFrom("audit_entry").select("ts").where("chain", "=", chain).where("seq", "=", middle)
        .compile(),
    );
    // An entry that is pruned during the search is older than any that is searched for.
    if (row === undefined || row.ts < instant) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The retention in days in the first entry of the newest audit log; null if there is none. */
export async function retentionOfNewestLog(database: Database): Promise<number | null> {
  const [row] = await database.read(
    query.selectFrom("audit_entry as e")
      .innerJoin(
        "audit_part as p",
        (join) => join.onRef("p.chain", "=", "e.chain").onRef("p.seq", "=", "e.seq"),
      )
      .select(sql<number | null>`p.data ->> '$.retention_days'`.as("days"))
      .where("e.seq", "=", 0).where("e.chain", "like", "org/%/admin").where("p.name", "=", "detail")
      .orderBy("e.ts", "desc").limit(1).compile(),
  );
  return row?.days ?? null;
}
