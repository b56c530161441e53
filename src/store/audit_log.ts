/** Which entries of a chain a page of its log has, newest first. What they say is read from them once they are proven. */
import { type Database, query } from "./database.ts";

export interface LogPage {
  readonly chain: string;
  /** Included. */
  readonly from: number;
  /** Excluded. */
  readonly before: number;
  /** null: of all types. */
  readonly eventType: string | null;
  readonly limit: number;
}

/** Where the entries of a page stand, newest first, as their columns have it: over the index of types if one is asked for. */
export async function readLogPage(
  database: Database,
  { chain, from, before, eventType, limit }: LogPage,
): Promise<readonly number[]> {
  const entries = query.selectFrom("audit_entry").select("seq")
    .where("chain", "=", chain).where("seq", ">=", from).where("seq", "<", before);
  const ordered = eventType === null
    ? entries.orderBy("seq", "desc")
    : entries.where("event_type", "=", eventType).orderBy("ts", "desc").orderBy("seq", "desc");
  const rows = await database.read(ordered.limit(limit).compile());
  return rows.map(({ seq }) => seq);
}

/**
 * The place of the first entry at or after an instant, by halving: times never go back along a chain.
 * `size` where there is none; `from` is the first place that is held.
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
    // An entry that is pruned at this moment is older than any that is asked for.
    if (row === undefined || row.ts < instant) low = middle + 1;
    else high = middle;
  }
  return low;
}
