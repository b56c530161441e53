/** Reads a chain from the database, page by page: no read is held open while a bundle is written. */
import type { PartName } from "../evidence/hashes.ts";
import { orNull } from "../evidence/or_null.ts";
import { type Database, query } from "./database.ts";

/** An entry as it was hashed, with those of its parts that are held. */
export interface BundleEntry {
  readonly seq: number;
  readonly text: string;
  readonly subject: string | null;
  /** The type that the entry itself names; null if its text is no entry. */
  readonly eventType: string | null;
  /** In the order of their names; `held` is null in an erased part. */
  readonly parts: readonly BundlePart[];
}

interface BundlePart {
  readonly name: PartName;
  readonly held: { readonly salt: Uint8Array; readonly text: string } | null;
}

/** The entries from `first` (inclusive) to `end` (exclusive), all of one state of the database. */
export async function readBundleEntries(
  database: Database,
  { chain, first, end }: { readonly chain: string; readonly first: number; readonly end: number },
): Promise<readonly BundleEntry[]> {
  const [entries, parts] = await database.snapshot([
    query.selectFrom("audit_entry").select(["seq", "body", "subject"])
      .where("chain", "=", chain).where("seq", ">=", first).where("seq", "<", end).orderBy("seq").compile(),
    query.selectFrom("audit_part").select(["seq", "name", "salt", "data"])
      .where("chain", "=", chain).where("seq", ">=", first).where("seq", "<", end)
      .orderBy("seq").orderBy("name").compile(),
  ]);
  const partsOf = Map.groupBy(parts, ({ seq }) => seq);
  return entries.map(({ seq, body, subject }) => ({
    seq,
    text: body,
    subject,
    eventType: orNull(() => JSON.parse(body))?.event_type ?? null,
    parts: (partsOf.get(seq) ?? []).map(({ name, salt, data }) => ({
      name: name as PartName,
      held: salt === null || data === null ? null : { salt, text: data },
    })),
  }));
}

/** The seq after the last entry that is held; 0 if there is none. */
export async function endOfEntries(database: Database, chain: string): Promise<number> {
  const [last] = await database.read(
    query.selectFrom("audit_entry").select("seq").where("chain", "=", chain).orderBy("seq", "desc").limit(1)
      .compile(),
  );
  return (last?.seq ?? -1) + 1;
}

/** The stored checkpoint with the smallest size that is at least `size`; null if there is none. */
export async function checkpointFrom(
  database: Database,
  { chain, size }: { readonly chain: string; readonly size: number },
) {
  const [row] = await database.read(
    query.selectFrom("audit_checkpoint").select(["size", "note"]).where("chain", "=", chain)
      .where("size", ">=", size).orderBy("size").limit(1).compile(),
  );
  return row ?? null;
}

/** The stored checkpoint with the largest size that is at most `size`; null if there is none. */
export async function checkpointUpTo(
  database: Database,
  { chain, size }: { readonly chain: string; readonly size: number },
) {
  const [row] = await database.read(
    query.selectFrom("audit_checkpoint").select(["size", "note"]).where("chain", "=", chain)
      .where("size", "<=", size).orderBy("size", "desc").limit(1).compile(),
  );
  return row ?? null;
}

/** The sizes of a chain at the ends of its days, ascending. */
export async function readLadder(database: Database, chain: string): Promise<readonly number[]> {
  const rows = await database.read(
    query.selectFrom("audit_ladder").select("size").where("chain", "=", chain).orderBy("size").compile(),
  );
  return rows.map(({ size }) => size);
}
