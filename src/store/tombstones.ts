/** Tombstones: each names the entry because of which the record of a used name is gone. */
import { type Database, query, type Statement } from "./database.ts";
import type { TombstoneRow } from "./records.ts";

/** The tombstone of a name; null if its record is not gone, or the name was never used. */
export async function readTombstone(database: Database, name: Uint8Array): Promise<TombstoneRow | null> {
  const [row] = await database.read(
    query.selectFrom("tombstone").selectAll().where("name", "=", name).compile(),
  );
  return row ?? null;
}

/** Inserts a tombstone, unless its name has one. */
export function insertTombstone(row: TombstoneRow): Statement {
  return query.insertInto("tombstone").values(row)
    .onConflict((conflict) => conflict.column("name").doNothing()).compile();
}

/**
 * The timestamp of the entry because of which the record of a name is gone. If that entry was cut off, the
 * timestamp of the last entry below the cut. Null if the name has no tombstone, or no entry tells the time.
 */
export async function readGoneSince(database: Database, name: Uint8Array): Promise<string | null> {
  const [row] = await database.read(
    query.selectFrom("tombstone as t")
      .innerJoin("audit_chain as c", "c.chain", "t.chain")
      .leftJoin(
        "audit_entry as e",
        (join) => join.onRef("e.chain", "=", "t.chain").onRef("e.seq", "=", "t.seq"),
      )
      .leftJoin(
        "audit_ladder as cut",
        (join) => join.onRef("cut.chain", "=", "c.chain").onRef("cut.size", "=", "c.min_index"),
      )
      .select(["e.ts", "cut.ts as cut_ts"]).where("t.name", "=", name).compile(),
  );
  return row?.ts ?? row?.cut_ts ?? null;
}

/** The entry that a tombstone names: it records an erasure or a cut. */
export type GoneCause = Pick<TombstoneRow, "reason" | "chain" | "seq" | "entry_hash">;

/** The entries in these chains that tombstones name, without duplicates. */
export function readCauses(database: Database, chains: readonly string[]): Promise<readonly GoneCause[]> {
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
