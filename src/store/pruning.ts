/**
 * Reads what is to be removed below a cut: the entries that are still stored there, and the rows at their
 * positions.
 */
import { type CompiledQuery, sql } from "kysely";
import { AlteredError } from "../domain/errors.ts";
import { firstRemovable } from "./chains.ts";
import { type Database, query } from "./database.ts";

/** The entry that recorded a cut. */
export interface CauseOfCut {
  readonly chain: string;
  readonly seq: number;
  readonly entry_hash: Uint8Array;
}

/**
 * The newest cut of a chain. It is recorded in the chain itself or, if a restore ended the chain, in a later
 * epoch.
 * @throws {AlteredError} if no entry recorded a cut.
 */
export async function readCause(database: Database, chain: string): Promise<CauseOfCut> {
  const [cause] = await database.read(causeQuery(chain));
  if (cause === undefined) throw new AlteredError(chain, `${chain} was cut by no entry`);
  return cause;
}

function causeQuery(chain: string): CompiledQuery<CauseOfCut> {
  return query.selectFrom("audit_chain as cut")
    .innerJoin("audit_chain as own", "own.family", "cut.family")
    .innerJoin("audit_entry as e", "e.chain", "own.chain")
    .innerJoin(
      "audit_part as p",
      (join) => join.onRef("p.chain", "=", "e.chain").onRef("p.seq", "=", "e.seq"),
    )
    .select(["e.chain", "e.seq", "e.entry_hash"])
    .where("cut.chain", "=", chain).where("e.event_type", "=", "RETENTION_PRUNED")
    // Text that is no JSON names no chain, and must not make the query fail for the others.
    .where(sql<boolean>`case when json_valid(p.data) then p.data ->> '$.origin' end = cut.origin`)
    .orderBy("own.epoch", "desc").orderBy("e.seq", "desc").limit(1).compile();
}

/**
 * The index below which a chain is cut according to its row, and the newest cut that is recorded of it, both
 * of one state.
 */
export async function readCut(
  database: Database,
  chain: string,
): Promise<{ readonly minIndex: number; readonly cause: CauseOfCut | null }> {
  const [[row], [cause]] = await database.snapshot([
    query.selectFrom("audit_chain").select("min_index").where("chain", "=", chain).compile(),
    causeQuery(chain),
  ]);
  return { minIndex: row?.min_index ?? 0, cause: cause ?? null };
}

/** Seqs of the oldest entries that are still to be removed below a cut. */
export async function readPrunedSeqs(
  database: Database,
  { chain, below, limit }: { readonly chain: string; readonly below: number; readonly limit: number },
): Promise<readonly number[]> {
  const rows = await database.read(
    query.selectFrom("audit_entry").select("seq").where("chain", "=", chain)
      .where("seq", ">=", firstRemovable(chain)).where("seq", "<", below)
      .orderBy("seq").limit(limit).compile(),
  );
  return rows.map(({ seq }) => seq);
}
