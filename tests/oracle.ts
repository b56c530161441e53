/**
 * The deep oracle: verifies all evidence in a database from its rows, by other means than those that wrote
 * them.
 *
 * It hashes each stored entry, follows the links, compares every part with its commitment, recomputes each
 * signed root by the recursive definition of RFC 6962 (the program keeps a frontier), checks each signature
 * against the chain's own key at that size, and recomputes each score, decision and label from its recorded
 * input, and its state from the operator's entry before. Missing data must have been erased or cut off by an
 * entry that records it; a chain after a restore must name the chain that it continues. The rules are in
 * `oracle/`, each a function.
 */
import { type Database, query } from "../src/store/database.ts";
import { verifyChain } from "./oracle/chain_rules.ts";
import { type Chain, familiesOf, type Json, partOf, readChains } from "./oracle/chains.ts";
import { verifyFamilies } from "./oracle/family_rules.ts";
import { verifyKeys } from "./oracle/key_rules.ts";
import { verifyRecords } from "./oracle/record_rules.ts";
import { verifyRows } from "./oracle/row_rules.ts";

export interface VerifiedChain {
  readonly chain: string;
  /** The entries that are still stored. */
  readonly entries: readonly Json[];
  /** `seq/name` → data, for the parts that are still stored. */
  readonly parts: ReadonlyMap<string, Json>;
}

/** The schema step that introduced the ladder. */
const LADDER_STEP = 3;

/** Verifies everything; fails the test with the first violation. `publicKey` is the first key. */
export async function verifyDatabase(
  database: Database,
  { publicKey }: { readonly publicKey: Uint8Array },
): Promise<readonly VerifiedChain[]> {
  const chains = await readChains(database);
  const ladderSince = await appliedAt(database, LADDER_STEP);
  for (const epochs of familiesOf(chains).values()) {
    for (const chain of epochs) verifyChain(chain, { ladderSince, epochs });
  }
  await Promise.all([
    verifyKeys(database, chains, publicKey),
    verifyFamilies(database, chains),
    verifyRecords(database, chains).then((states) => verifyRows(database, chains, states)),
  ]);
  return chains.map(verifiedOf);
}

/** When a step of the schema was applied, epoch milliseconds. */
async function appliedAt(database: Database, version: number): Promise<number> {
  const [row] = await database.read(
    query.selectFrom("schema_migration").select("applied_at").where("version", "=", version).compile(),
  );
  return row!.applied_at;
}

function verifiedOf({ row, links }: Chain): VerifiedChain {
  const parts = links.flatMap((link) =>
    [...link.parts.keys()].flatMap((name) => {
      const data = partOf(link, name);
      return data === undefined ? [] : [[`${link.entry.seq}/${name}`, data] as const];
    })
  );
  return { chain: row.chain, entries: links.map(({ entry }) => entry), parts: new Map(parts) };
}
