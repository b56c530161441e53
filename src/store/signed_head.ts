/**
 * Checks that the head of a chain is what was signed, before the chain continues. Source: evidence design,
 * section 10.
 */
import type { CompiledQuery } from "kysely";
import { AlteredError } from "../domain/errors.ts";
import { chainPrefix } from "../evidence/chain_name.ts";
import { type Crypto, equalBytes } from "../evidence/crypto.ts";
import type { Entry } from "../evidence/entry.ts";
import { entryHash } from "../evidence/hashes.ts";
import type { KnownCheckpoint } from "../evidence/kept.ts";
import { rootOf, storedNodeIndex } from "../evidence/merkle.ts";
import type { StoredHead } from "./chains.ts";
import { query } from "./database.ts";
import { chunksOf } from "./paging.ts";
import type { ProofSource } from "./proofs.ts";

/**
 * Number of heads that are checked in one read: some hundred kilobytes, and tens of milliseconds of a server.
 */
const HEADS_TOGETHER = 128;

/**
 * Returns the given heads that are not the end of their chain as its own commit signed it with one of the
 * deployment's own keys. Checks the tree's root, the hash of the last entry and its instant. Every commit
 * signs a checkpoint at its last size, so a later commit of another process makes no difference.
 */
export async function findUnsignedHeads(
  { database, crypto, signing }: ProofSource,
  heads: readonly StoredHead[],
): Promise<readonly StoredHead[]> {
  const unsigned: StoredHead[] = [];
  for (const chunk of chunksOf(heads, HEADS_TOGETHER)) {
    const found = await database.snapshot(chunk.flatMap(endQueries));
    for (const [index, head] of chunk.entries()) {
      const [[signed], [node], [last], [pruned]] = found.slice(index * QUERIES_OF_END) as unknown as End;
      const isNamed = chainPrefix(head.origin, head.chain) !== null;
      const checkpoint = signed === undefined || !isNamed
        ? null
        : await signing.openOwn(signed.note, head.origin);
      const end = { checkpoint, node: node?.hash, body: last?.body, ...pruned };
      if (!isSigned(crypto, head, end)) unsigned.push(head);
    }
  }
  return unsigned;
}

/** The error for a head that nobody signed. */
export function unsignedHeadError({ family }: StoredHead): AlteredError {
  return new AlteredError(family, `the chain ${family} does not end as it was signed`);
}

export async function isSignedHead(source: ProofSource, head: StoredHead): Promise<boolean> {
  return (await findUnsignedHeads(source, [head])).length === 0;
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
  /** null if there is none, or it is not the deployment's own. */
  readonly checkpoint: KnownCheckpoint | null;
  /** The hash of the last leaf. */
  readonly node: Uint8Array | undefined;
  /** The text of the last entry; undefined if it was pruned. */
  readonly body: string | undefined;
  readonly min_index?: number;
}

function isSigned(
  crypto: Crypto,
  { previous, lastTimestamp, frontier: { size, peaks } }: StoredHead,
  { checkpoint, node, body, min_index }: EndOfChain,
): boolean {
  if (size === 0 || peaks.length === 0) return false;
  if (checkpoint?.size !== size || !equalBytes(checkpoint.root, rootOf(crypto, peaks))) return false;
  if (node === undefined || !equalBytes(node, previous)) return false;
  // If all entries of a chain were pruned, only the tree is left.
  if (body === undefined) return min_index === size;
  // A text whose hash was signed is a valid entry.
  if (!equalBytes(entryHash(crypto, body), previous)) return false;
  const { timestamp }: Entry = JSON.parse(body);
  return timestamp === lastTimestamp;
}
