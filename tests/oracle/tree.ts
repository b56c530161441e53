/**
 * Hashes and trees by the definitions of RFC 6962, literally: recursive, over all leaves. The program keeps a
 * frontier instead, so that the two agree only if both are right.
 */
import assert from "node:assert/strict";
import { hash } from "node:crypto";

export function sha256(...chunks: (string | Uint8Array)[]): Uint8Array {
  const bytes = chunks.map((chunk) => (typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk));
  const whole = new Uint8Array(bytes.reduce((length, chunk) => length + chunk.length, 0));
  let offset = 0;
  for (const chunk of bytes) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return new Uint8Array(hash("sha256", whole, "buffer"));
}

/** The hash of a leaf, and of an entry. */
export function leafHash(text: string): Uint8Array {
  return sha256(Uint8Array.of(0), text);
}

/** The largest power of two below `count`. */
function splitOf(count: number): number {
  let split = 1;
  while (split * 2 < count) split *= 2;
  return split;
}

/** A tree over known leaves, every subtree of which is computed once. */
export interface Tree {
  readonly size: number;
  /** MTH(D[low:high]) of RFC 6962, section 2.1. */
  hashOf(low: number, high: number): Uint8Array;
}

export function treeOf(leaves: readonly Uint8Array[]): Tree {
  const known = new Map<string, Uint8Array>();
  function hashOf(low: number, high: number): Uint8Array {
    if (high - low === 1) return leaves[low]!;
    const name = `${low}-${high}`;
    const before = known.get(name);
    if (before !== undefined) return before;
    const middle = low + splitOf(high - low);
    const value = sha256(Uint8Array.of(1), hashOf(low, middle), hashOf(middle, high));
    known.set(name, value);
    return value;
  }
  return { size: leaves.length, hashOf };
}

/** The root of the first `size` leaves. */
export function rootAt(tree: Tree, size: number): Uint8Array {
  assert.ok(size > 0 && size <= tree.size, `a tree of ${tree.size} leaves has a root at ${size}`);
  return tree.hashOf(0, size);
}

/** Leaves low to high − 1 of a complete subtree. */
export type Subtree = readonly [low: number, high: number];

/** The complete subtrees of which a tree of `size` leaves consists, largest first. */
export function peaksOf(size: number): readonly Subtree[] {
  const peaks: Subtree[] = [];
  for (let low = 0; low < size;) {
    let width = 1;
    while (width * 2 <= size - low) width *= 2;
    peaks.push([low, low + width]);
    low += width;
  }
  return peaks;
}

/** Every complete subtree of a tree of `size` leaves in the order in which appending completes them. */
export function completedSubtrees(size: number): readonly Subtree[] {
  const subtrees: Subtree[] = [];
  for (let high = 1; high <= size; high += 1) {
    for (let width = 1; high % width === 0 && width <= high; width *= 2) subtrees.push([high - width, high]);
  }
  return subtrees;
}
