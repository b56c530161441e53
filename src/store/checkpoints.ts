/** The signed checkpoints at the end of a chain: reads them from the newest on, and corrects them. */
import type { StoredCheckpoint } from "./chains.ts";
import { type Database, query, type Statement } from "./database.ts";
import { readPages } from "./paging.ts";

/** Checkpoints in a page: the newest one is almost always the one that is looked for. */
const CHECKPOINTS_IN_PAGE = 64;

/** The checkpoints of a chain, newest first, page by page. */
export function readNewestCheckpoints(
  database: Database,
  chain: string,
): AsyncGenerator<readonly StoredCheckpoint[]> {
  const newest = query.selectFrom("audit_checkpoint").select(["size", "note"]).where("chain", "=", chain)
    .orderBy("size", "desc");
  return readPages<StoredCheckpoint>(
    database,
    (after, limit) =>
      (after === null ? newest : newest.where("size", "<", after.size)).limit(limit).compile(),
    CHECKPOINTS_IN_PAGE,
  );
}

/** The rows of a chain around one of its sizes. */
export interface EndRows {
  /** Number of checkpoints of larger sizes. */
  readonly beyond: number;
  /** The signed note of this size; null if there is none. */
  readonly note: string | null;
  /** The text of the last entry that this size covers; null if it is not stored. */
  readonly body: string | null;
}

/** The rows of a chain around a size, all of one state of the database. */
export async function readEndRows(
  database: Database,
  { chain, size }: { readonly chain: string; readonly size: number },
): Promise<EndRows> {
  const [[beyond], [own], [last]] = await database.snapshot([
    query.selectFrom("audit_checkpoint").select(({ fn }) => fn.countAll<number>().as("count"))
      .where("chain", "=", chain).where("size", ">", size).compile(),
    query.selectFrom("audit_checkpoint").select("note").where("chain", "=", chain).where("size", "=", size)
      .compile(),
    query.selectFrom("audit_entry").select("body").where("chain", "=", chain).where("seq", "=", size - 1)
      .compile(),
  ]);
  return { beyond: beyond!.count, note: own?.note ?? null, body: last?.body ?? null };
}

/** Makes a checkpoint the last one of its chain: removes those of its size and of larger sizes. */
export function endWithCheckpoint(
  { chain, size, ts, note }: StoredCheckpoint & { readonly chain: string; readonly ts: string },
): readonly Statement[] {
  return [
    query.deleteFrom("audit_checkpoint").where("chain", "=", chain).where("size", ">=", size).compile(),
    query.insertInto("audit_checkpoint").values({ chain, size, ts, note }).compile(),
  ];
}
