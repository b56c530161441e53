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

/** A place in the order of a chain's entries by users: by time, then by place. */
export interface UserEntryPlace {
  readonly chain: string;
  readonly seq: number;
  readonly ts: string;
}

/**
 * The places of the entries that users made on some chains, newest first. One index has them alone.
 * @param options.userId null for all users.
 * @param options.before the last entry of the page before; null to begin with the newest.
 */
export async function readUserEntries(
  database: Database,
  { chains, eventTypes, userId, since, until, before, limit }: {
    readonly chains: readonly string[];
    readonly eventTypes: readonly string[];
    readonly userId: string | null;
    /** ISO 8601, included; null for the beginning. */
    readonly since: string | null;
    /** Excluded. */
    readonly until: string;
    readonly before: UserEntryPlace | null;
    readonly limit: number;
  },
): Promise<readonly UserEntryPlace[]> {
  const conditions = [
    sql`substr(e.body, -18) = '"v":"jis.audit/2"}'`,
    sql`e.chain in (select value from json_each(${JSON.stringify(chains)}))`,
    sql`e.event_type in (select value from json_each(${JSON.stringify(eventTypes)}))`,
    sql`e.ts < ${until}`,
    ...(since === null ? [] : [sql`e.ts >= ${since}`]),
    ...(userId === null
      ? []
      : [sql`case when json_valid(e.body) then e.body ->> '$.user_id' end = ${userId}`]),
    ...(before === null
      ? []
      : [sql`(e.ts, e.chain, e.seq) < (${before.ts}, ${before.chain}, ${before.seq})`]),
  ];
  return await database.read(
    sql<UserEntryPlace>`select e.chain, e.seq, e.ts from audit_entry as e indexed by audit_entry_user
      where ${sql.join(conditions, sql` and `)}
      order by e.ts desc, e.chain desc, e.seq desc limit ${limit}`.compile(query),
  );
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
