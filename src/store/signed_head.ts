/** Whether what a chain would go on from is what was signed. Source: evidence design, section 10. */
import type { CompiledQuery } from "kysely";
import { type Crypto, equalBytes } from "../evidence/crypto.ts";
import type { Entry } from "../evidence/entry.ts";
import { entryHash } from "../evidence/hashes.ts";
import { knownCheckpointOrNull } from "../evidence/kept.ts";
import { rootOf, storedNodeIndex } from "../evidence/merkle.ts";
import type { StoredHead } from "./chains.ts";
import { type Database, query } from "./database.ts";
import { piecesOf } from "./paging.ts";

/** Heads that are looked at in one read: some hundred kilobytes, and tens of milliseconds of a server. */
const HEADS_TOGETHER = 128;

/**
 * Those of these heads that are not the end of their chain as its own commit signed it: the tree's root, the hash of
 * the last entry and its instant. Every commit signs a checkpoint at its last size, so that another process's later
 * commit makes no difference.
 */
export async function findUnsignedHeads(
  database: Database,
  crypto: Crypto,
  heads: readonly StoredHead[],
): Promise<readonly StoredHead[]> {
  const unsigned: StoredHead[] = [];
  for (const piece of piecesOf(heads, HEADS_TOGETHER)) {
    const found = await database.snapshot(piece.flatMap(endQueries));
    unsigned.push(...piece.filter((head, index) => {
      const [[signed], [node], [last], [pruned]] = found.slice(index * QUERIES_OF_END) as unknown as End;
      return !isSigned(crypto, head, { note: signed?.note, node: node?.hash, body: last?.body, ...pruned });
    }));
  }
  return unsigned;
}

export async function isSignedHead(database: Database, crypto: Crypto, head: StoredHead): Promise<boolean> {
  return (await findUnsignedHeads(database, crypto, [head])).length === 0;
}

type End = readonly [
  readonly { readonly note: string }[],
  readonly { readonly hash: Uint8Array }[],
  readonly { readonly body: string }[],
  readonly { readonly min_index: number }[],
];
const QUERIES_OF_END = 4;

function endQueries({ chain, frontier: { size } }: StoredHead): readonly CompiledQuery<unknown>[] {
  const leaf = size === 0 ? 0 : storedNodeIndex(0, size - 1);
  return [
    query.selectFrom("audit_checkpoint").select("note").where("chain", "=", chain).where("size", "=", size)
      .compile(),
    query.selectFrom("audit_node").select("hash").where("chain", "=", chain).where("idx", "=", leaf)
      .compile(),
    query.selectFrom("audit_entry").select("body").where("chain", "=", chain).where("seq", "=", size - 1)
      .compile(),
    query.selectFrom("audit_chain").select("min_index").where("chain", "=", chain).compile(),
  ];
}

interface EndOfChain {
  readonly note: string | undefined;
  /** The hash of the last leaf. */
  readonly node: Uint8Array | undefined;
  /** The last entry. */
  readonly body: string | undefined;
  readonly min_index?: number;
}

function isSigned(
  crypto: Crypto,
  { previous, lastTimestamp, frontier: { size, peaks } }: StoredHead,
  { note, node, body, min_index }: EndOfChain,
): boolean {
  if (size === 0 || peaks.length === 0) return false;
  const checkpoint = note === undefined ? null : knownCheckpointOrNull(note);
  if (checkpoint === null || !equalBytes(checkpoint.root, rootOf(crypto, peaks))) return false;
  if (node === undefined || !equalBytes(node, previous)) return false;
  // Of a chain whose entries were all pruned the tree alone is left.
  if (body === undefined) return min_index === size;
  // What hashes to what was signed is an entry.
  if (!equalBytes(entryHash(crypto, body), previous)) return false;
  const { timestamp }: Entry = JSON.parse(body);
  return timestamp === lastTimestamp;
}
