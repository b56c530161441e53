/**
 * Consistency of two sizes of one tree: makes from stored nodes, and checks, the proof that the larger tree
 * only added leaves to the smaller. Also reads the frontier of an older size.
 *
 * Source: RFC 6962, section 2.1.2; RFC 9162, section 2.1.4.2. Proofs are those of Go's `tlog.ProveTree`, byte
 * for byte.
 */
import { type Crypto, equalBytes } from "./crypto.ts";
import { nodeHash } from "./hashes.ts";
import {
  completeSubtrees,
  type Frontier,
  middleOf,
  type Range,
  type ReadNode,
  readSubtrees,
  rootOf,
} from "./merkle.ts";

/** An older and a newer size of one tree, in leaves. */
interface Sizes {
  readonly from: number;
  readonly to: number;
}

function areSizes({ from, to }: Sizes): boolean {
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && from >= 1 && from <= to;
}

/**
 * The ranges whose hashes make up a proof, in its order. The first range ends at `from`, except if the older
 * tree is itself a subtree of the newer one: then its root is known, and the proof begins above it.
 */
function consistencyRanges({ from, to }: Sizes): readonly Range[] {
  const ranges: Range[] = [];
  let [low, high] = [0, to];
  while (high !== from) {
    const middle = middleOf([low, high]);
    if (from <= middle) {
      ranges.push([middle, high]);
      high = middle;
    } else {
      ranges.push([low, middle]);
      low = middle;
    }
  }
  if (low > 0) ranges.push([low, high]);
  return ranges.reverse();
}

/**
 * The indexes of the stored nodes that a proof needs, so that they can be fetched at once.
 * @throws {RangeError} unless 1 ≤ from ≤ to.
 */
export function consistencyNodeIndexes(from: number, to: number): readonly number[] {
  return provableRanges({ from, to }).flatMap(completeSubtrees);
}

/**
 * The consistency proof of two sizes; empty if they are the same.
 * @throws {RangeError} unless 1 ≤ from ≤ to; {Error} if `read` lacks a node.
 */
export function consistencyPath(crypto: Crypto, sizes: Sizes, read: ReadNode): readonly Uint8Array[] {
  return provableRanges(sizes).map((range) => rootOf(crypto, readSubtrees(range, read)));
}

function provableRanges(sizes: Sizes): readonly Range[] {
  if (!areSizes(sizes)) throw new RangeError(`no consistency of size ${sizes.from} with size ${sizes.to}`);
  return consistencyRanges(sizes);
}

/**
 * The root at `to` to which a proof leads from the known root at `from`; null if the proof does not fit the
 * sizes or does not lead back to the known root.
 */
export function rootsFromConsistency(
  crypto: Crypto,
  { from, to, fromRoot, path }: Sizes & {
    readonly fromRoot: Uint8Array;
    readonly path: readonly Uint8Array[];
  },
): Uint8Array | null {
  if (!areSizes({ from, to }) || [fromRoot, ...path].some((hash) => hash.length !== 32)) return null;
  const ranges = consistencyRanges({ from, to });
  if (ranges.length !== path.length) return null;

  const beginsAbove = ranges[0]?.[1] !== from;
  let older = beginsAbove ? fromRoot : path[0]!;
  let newer = older;
  for (let at = beginsAbove ? 0 : 1; at < path.length; at += 1) {
    const hash = path[at]!;
    const isLeft = ranges[at]![0] < from;
    if (isLeft) older = nodeHash(crypto, hash, older);
    newer = isLeft ? nodeHash(crypto, hash, newer) : nodeHash(crypto, newer, hash);
  }
  return equalBytes(older, fromRoot) ? newer : null;
}

/** The indexes of the stored nodes that are the peaks of the tree of `size` leaves, largest first. */
export function frontierNodeIndexes(size: number): readonly number[] {
  return completeSubtrees([0, size]);
}

/** The frontier of an older size, from stored nodes. @throws {Error} if `read` lacks a node. */
export function frontierFrom(size: number, read: ReadNode): Frontier {
  return { size, peaks: readSubtrees([0, size], read) };
}
