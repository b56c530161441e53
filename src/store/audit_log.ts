/** The entries of a chain, newest first, with their details. */
import type { Entry } from "../evidence/entry.ts";
import { type Database, query } from "./database.ts";

export interface LoggedEntry {
  readonly seq: number;
  readonly entry: Entry;
  /** null where it is not held any more. */
  readonly detail: Record<string, unknown> | null;
}

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

/** A page of a chain, newest first, over the index of types where one is asked for. */
export async function readLogPage(
  database: Database,
  { chain, from, before, eventType, limit }: LogPage,
): Promise<readonly LoggedEntry[]> {
  const entries = query.selectFrom("audit_entry as e")
    .leftJoin(
      "audit_part as p",
      (join) =>
        join.onRef("p.chain", "=", "e.chain").onRef("p.seq", "=", "e.seq").on("p.name", "=", "detail"),
    )
    .select(["e.seq", "e.body", "p.data"])
    .where("e.chain", "=", chain).where("e.seq", ">=", from).where("e.seq", "<", before);
  const ordered = eventType === null
    ? entries.orderBy("e.seq", "desc")
    : entries.where("e.event_type", "=", eventType).orderBy("e.ts", "desc").orderBy("e.seq", "desc");
  const rows = await database.read(ordered.limit(limit).compile());
  return rows.map(({ seq, body, data }) => ({
    seq,
    entry: JSON.parse(body),
    detail: data === null ? null : JSON.parse(data),
  }));
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
