/**
 * The Merkle tree over a chain's entry hashes: an append-only frontier, stored nodes, inclusion proofs.
 *
 * Hashes are those of RFC 6962. Every hash of a complete subtree has one place in a linear order, and
 * appending only writes at its end (Crosby and Wallach; the layout of Go's sumdb). There are two hashes for
 * each entry on average.
 */
import type { Crypto } from "./crypto.ts";
import { nodeHash } from "./hashes.ts";

/**
 * The roots of a tree's complete subtrees, largest first: enough to append a leaf and to compute the root.
 */
export interface Frontier {
  readonly size: number;
  readonly peaks: readonly Uint8Array[];
}

export const EMPTY_FRONTIER: Frontier = { size: 0, peaks: [] };

/** A hash with its place in the linear order. */
export interface TreeNode {
  readonly index: number;
  readonly hash: Uint8Array;
}

/** Half-open range of leaves. */
export type Range = readonly [low: number, high: number];

/** Place of the n-th complete subtree of 2^level leaves. Safe for trees below 2^52 hashes. */
export function storedNodeIndex(level: number, n: number): number {
  let last = n;
  for (let l = level; l > 0; l -= 1) last = 2 * last + 1;
  let index = 0;
  for (; last > 0; last = Math.floor(last / 2)) index += last;
  return index + level;
}

/** Appends a leaf. Returns the new frontier and the nodes that it completes, ascending, the leaf first. */
export function appendLeaf(
  crypto: Crypto,
  frontier: Frontier,
  leaf: Uint8Array,
): { readonly frontier: Frontier; readonly nodes: readonly TreeNode[] } {
  const peaks = [...frontier.peaks];
  const nodes: TreeNode[] = [{ index: storedNodeIndex(0, frontier.size), hash: leaf }];
  let hash = leaf;
  let level = 0;
  for (let n = frontier.size; n % 2 === 1; n = Math.floor(n / 2)) {
    hash = nodeHash(crypto, peaks.pop()!, hash);
    level += 1;
    nodes.push({ index: storedNodeIndex(level, Math.floor(n / 2)), hash });
  }
  peaks.push(hash);
  return { frontier: { size: frontier.size + 1, peaks }, nodes };
}

/** The root of a tree of at least one leaf. */
export function rootOf(crypto: Crypto, peaks: readonly Uint8Array[]): Uint8Array {
  return peaks.reduceRight((right, left) => nodeHash(crypto, left, right));
}

/**
 * The node indexes of the complete subtrees that make up a range, largest first. The low end of the range
 * must be a multiple of a power of two that is not less than the range's width.
 */
export function completeSubtrees([low, high]: Range): readonly number[] {
  const indexes: number[] = [];
  let start = low;
  while (start < high) {
    let level = 0;
    let width = 1;
    while (start % (width * 2) === 0 && start + width * 2 <= high) {
      width *= 2;
      level += 1;
    }
    indexes.push(storedNodeIndex(level, start / width));
    start += width;
  }
  return indexes;
}

/** Reads a stored node. */
export type ReadNode = (index: number) => Uint8Array | undefined;

/** The hashes of a range's complete subtrees, largest first. @throws {Error} if `read` lacks a node. */
export function readSubtrees(range: Range, read: ReadNode): readonly Uint8Array[] {
  return completeSubtrees(range).map((index) => {
    const hash = read(index);
    if (hash === undefined) throw new Error(`tree node ${index} is missing`);
    return hash;
  });
}

/** The peaks of a tree of `size` leaves, with their places. */
export function peakNodes(frontier: Frontier): readonly TreeNode[] {
  return completeSubtrees([0, frontier.size]).map((index, i) => ({ index, hash: frontier.peaks[i]! }));
}

/** The leaf that divides a range of two leaves or more: after the largest power of two below its width. */
export function middleOf([low, high]: Range): number {
  let split = 1;
  while (split * 2 < high - low) split *= 2;
  return low + split;
}

/** The ranges of an inclusion path, from the leaf up (RFC 6962, section 2.1.1). */
function inclusionRanges(leaf: number, size: number): readonly Range[] {
  const ranges: Range[] = [];
  let [low, high] = [0, size];
  while (high - low > 1) {
    const middle = middleOf([low, high]);
    if (leaf < middle) {
      ranges.push([middle, high]);
      high = middle;
    } else {
      ranges.push([low, middle]);
      low = middle;
    }
  }
  return ranges.reverse();
}

/** The indexes of the stored nodes that an inclusion proof needs, so that they can be fetched at once. */
export function inclusionNodeIndexes(leaf: number, size: number): readonly number[] {
  return inclusionRanges(leaf, size).flatMap(completeSubtrees);
}

/**
 * The inclusion path of a leaf in the tree of `size` leaves, from the leaf up.
 * @throws {RangeError} if the leaf is not in the tree; {Error} if `read` lacks a node.
 */
export function inclusionPath(
  crypto: Crypto,
  { leaf, size }: { readonly leaf: number; readonly size: number },
  read: ReadNode,
): readonly Uint8Array[] {
  if (!(leaf >= 0 && leaf < size)) throw new RangeError(`no leaf ${leaf} in a tree of ${size}`);
  return inclusionRanges(leaf, size).map((range) => rootOf(crypto, readSubtrees(range, read)));
}

/** The root to which a path leads; null if the path does not fit the leaf and the size. */
export function rootFromInclusion(
  crypto: Crypto,
  { leaf, size, leafHash, path }: {
    readonly leaf: number;
    readonly size: number;
    readonly leafHash: Uint8Array;
    readonly path: readonly Uint8Array[];
  },
): Uint8Array | null {
  if (!(leaf >= 0 && leaf < size)) return null;
  const ranges = inclusionRanges(leaf, size);
  if (ranges.length !== path.length) return null;
  return ranges.reduce(
    (hash, [low], i) => low > leaf ? nodeHash(crypto, hash, path[i]!) : nodeHash(crypto, path[i]!, hash),
    leafHash,
  );
}

/** Hashes of some leaves of a tree, in ascending order of their places. */
export interface KnownLeaves {
  readonly size: number;
  /** Each leaf once. */
  readonly leaves: readonly (readonly [leaf: number, hash: Uint8Array])[];
}

/** The indexes of the stored nodes that are needed beside these leaves to compute the root, each once. */
export function nodesBesideLeaves(leaves: readonly number[], size: number): readonly number[] {
  const indexes: number[] = [];
  visitLeaves({ leaves, size }, {
    unknown: (range) => void indexes.push(...completeSubtrees(range)),
    known: () => undefined,
    join: () => undefined,
  });
  return indexes;
}

/**
 * The root of a tree, computed from some known leaves and from the stored nodes between them. It is the
 * tree's root only if each of the leaves is right, which proves all of them at once: a hash that two paths
 * share is computed once.
 * @throws {RangeError} if a leaf is not in the tree, or the leaves are not in their order; {Error} if `read`
 * lacks a node.
 */
export function rootFromLeaves(crypto: Crypto, { size, leaves }: KnownLeaves, read: ReadNode): Uint8Array {
  return visitLeaves({ leaves: leaves.map(([leaf]) => leaf), size }, {
    unknown: (range) => rootOf(crypto, readSubtrees(range, read)),
    known: (index) => leaves[index]![1],
    join: (left, right) => nodeHash(crypto, left, right),
  });
}

/** Walks a tree, and enters only the subtrees that hold a known leaf. */
function visitLeaves<Result>(
  { leaves, size }: { readonly leaves: readonly number[]; readonly size: number },
  visit: {
    /** A range without a known leaf. */
    unknown(range: Range): Result;
    /** The leaf at this place of the list. */
    known(index: number): Result;
    join(left: Result, right: Result): Result;
  },
): Result {
  const isAscending = leaves.every((leaf, index) =>
    leaf >= 0 && leaf < size && !(leaf <= leaves[index - 1]!)
  );
  if (size < 1 || !isAscending) {
    throw new RangeError(`the leaves are not ascending leaves of a tree of ${size}`);
  }
  /** The result for a range. The known leaves in it are those from `from` to before `to`. */
  const visitRange = ([low, high]: Range, from: number, to: number): Result => {
    if (from === to) return visit.unknown([low, high]);
    if (high - low === 1) return visit.known(from);
    const middle = middleOf([low, high]);
    let split = from;
    while (split < to && leaves[split]! < middle) split += 1;
    return visit.join(visitRange([low, middle], from, split), visitRange([middle, high], split, to));
  };
  return visitRange([0, size], 0, leaves.length);
}
