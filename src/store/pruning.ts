/** Reading what a cut leaves to be removed: entries below it, and the names that their records used. */
import { sql } from "kysely";
import { AlteredError } from "../domain/errors.ts";
import { firstRemovable } from "./chains.ts";
import { type Database, query } from "./database.ts";

/** An entry below a cut, with the name of the record that goes with it; at most one name is not null. */
export interface PrunedRecord {
  readonly seq: number;
  /** Of a score. */
  readonly session_id: string | null;
  readonly decision_id: string | null;
  readonly report_id: string | null;
  /** The entry by which it was cut off. */
  readonly cause: CauseOfCut;
}

/** The entry by which a chain was cut. */
export interface CauseOfCut {
  readonly chain: string;
  readonly seq: number;
  readonly entry_hash: Uint8Array;
}

/** The newest cut of a chain: recorded in itself, or, where a restore ended it, in the one that goes on. */
export async function readCause(database: Database, chain: string): Promise<CauseOfCut> {
  const [cause] = await database.read(
    query.selectFrom("audit_chain as cut")
      .innerJoin("audit_chain as own", "own.family", "cut.family")
      .innerJoin("audit_entry as e", "e.chain", "own.chain")
      .innerJoin(
        "audit_part as p",
        (join) => join.onRef("p.chain", "=", "e.chain").onRef("p.seq", "=", "e.seq"),
      )
      .select(["e.chain", "e.seq", "e.entry_hash"])
      .where("cut.chain", "=", chain).where("e.event_type", "=", "RETENTION_PRUNED")
      .where(sql<boolean>`p.data ->> '$.origin' = cut.origin`)
      .orderBy("own.epoch", "desc").orderBy("e.seq", "desc").limit(1).compile(),
  );
  if (cause === undefined) throw new AlteredError(chain, `${chain} was cut by no entry`);
  return cause;
}

/** The oldest entries that are still to be removed below a cut. */
export async function readPrunedRecords(
  database: Database,
  { chain, below, limit }: { readonly chain: string; readonly below: number; readonly limit: number },
): Promise<readonly PrunedRecord[]> {
  const rows = await database.read(
    query.selectFrom("audit_entry as e")
      .leftJoin(
        "audit_part as p",
        (join) =>
          join.onRef("p.chain", "=", "e.chain").onRef("p.seq", "=", "e.seq")
            .on("p.name", "in", ["input", "detail"]),
      )
      .select(["e.seq", "e.event_type", "p.data"])
      .where("e.chain", "=", chain).where("e.seq", ">=", firstRemovable(chain)).where("e.seq", "<", below)
      .orderBy("e.seq").limit(limit).compile(),
  );
  if (rows.length === 0) return [];
  const cause = await readCause(database, chain);
  return rows.map(({ seq, event_type, data }) => {
    const part: Record<string, string> = data === null ? {} : JSON.parse(data);
    const named = (type: string, member: string) => (event_type === type ? part[member] ?? null : null);
    return {
      seq,
      session_id: named("SCORE_COMPUTED", "session_id"),
      decision_id: named("DRS_COMPUTED", "decision_id"),
      report_id: named("REPORT_ISSUED", "report_id"),
      cause,
    };
  });
}
