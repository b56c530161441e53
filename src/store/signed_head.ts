/** Whether what a chain would go on from is what was signed. Source: evidence design, section 10. */
import { type Crypto, equalBytes } from "../evidence/crypto.ts";
import type { Entry } from "../evidence/entry.ts";
import { entryHash } from "../evidence/hashes.ts";
import { knownCheckpointOrNull } from "../evidence/kept.ts";
import { rootOf, storedNodeIndex } from "../evidence/merkle.ts";
import type { StoredHead } from "./chains.ts";
import { type Database, query } from "./database.ts";

/**
 * Whether a stored head is the end of its chain as its own commit signed it: the tree's root, the hash of the last
 * entry and its instant. Every commit signs a checkpoint at its last size, so that another process's later commit
 * makes no difference.
 */
export async function isSignedHead(database: Database, crypto: Crypto, head: StoredHead): Promise<boolean> {
  const { chain, previous, lastTimestamp, frontier: { size, peaks } } = head;
  if (size === 0 || peaks.length === 0) return false;
  const leaf = storedNodeIndex(0, size - 1);
  const [[signed], [node], [last], [pruned]] = await database.snapshot([
    query.selectFrom("audit_checkpoint").select("note").where("chain", "=", chain).where("size", "=", size)
      .compile(),
    query.selectFrom("audit_node").select("hash").where("chain", "=", chain).where("idx", "=", leaf)
      .compile(),
    query.selectFrom("audit_entry").select("body").where("chain", "=", chain).where("seq", "=", size - 1)
      .compile(),
    query.selectFrom("audit_chain").select("min_index").where("chain", "=", chain).compile(),
  ]);
  const checkpoint = signed === undefined ? null : knownCheckpointOrNull(signed.note);
  if (checkpoint === null || !equalBytes(checkpoint.root, rootOf(crypto, peaks))) return false;
  if (node === undefined || !equalBytes(node.hash, previous)) return false;
  // Of a chain whose entries were all pruned the tree alone is left.
  if (last === undefined) return pruned?.min_index === size;
  // What hashes to what was signed is an entry.
  if (!equalBytes(entryHash(crypto, last.body), previous)) return false;
  const { timestamp }: Entry = JSON.parse(last.body);
  return timestamp === lastTimestamp;
}
