/**
 * The laws of consistency proofs: they equal RFC 6962's own, they lead to the root that RFC 9162's algorithm
 * computes, and a proof that was changed, or was made for other sizes, never proves anything false.
 */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import fc from "fast-check";
import {
  consistencyNodeIndexes,
  consistencyPath,
  frontierFrom,
  rootsFromConsistency,
} from "../../src/evidence/consistency.ts";
import { concat, equalBytes, utf8 } from "../../src/evidence/crypto.ts";
import { appendLeaf, EMPTY_FRONTIER, type Frontier } from "../../src/evidence/merkle.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";

const SEED = 20_261_121;
const EXHAUSTIVE = 130;
const LARGEST = 3_000;

function sha256(...chunks: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(hash("sha256", concat(...chunks), "buffer"));
}

function node(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(Uint8Array.of(1), left, right);
}

const leaves = Array.from({ length: LARGEST }, (_, index) => sha256(utf8(`leaf ${index}`)));

/** The largest power of two below n. */
function splitOf(n: number): number {
  return 2 ** (Math.ceil(Math.log2(n)) - 1);
}

const known = new Map<string, Uint8Array>();

/** MTH(D[low:high]), RFC 6962, section 2.1, as it is written there, remembering what it computed. */
function rootOfRange(low: number, high: number): Uint8Array {
  if (high - low === 1) return leaves[low]!;
  const name = `${low}-${high}`;
  let value = known.get(name);
  if (value === undefined) {
    const k = splitOf(high - low);
    value = node(rootOfRange(low, low + k), rootOfRange(low + k, high));
    known.set(name, value);
  }
  return value;
}

const rootAt = (size: number) => rootOfRange(0, size);

type Range = readonly [low: number, high: number];

/** SUBPROOF(m, D[low:high], isWhole), RFC 6962, section 2.1.2, as the ranges of its hashes; m counted from `low`. */
function subproof(m: number, [low, high]: Range, isWhole: boolean): readonly Range[] {
  const n = high - low;
  if (m === n) return isWhole ? [] : [[low, high]];
  const k = splitOf(n);
  return m <= k
    ? [...subproof(m, [low, low + k], isWhole), [low + k, high]]
    : [...subproof(m - k, [low + k, high], false), [low, low + k]];
}

/** RFC 9162, section 2.1.4.2, step by step, with the new root as its result. */
function rootByTheRfc(
  { from, to, fromRoot, path }: {
    from: number;
    to: number;
    fromRoot: Uint8Array;
    path: readonly Uint8Array[];
  },
): Uint8Array | null {
  if (from === to) return path.length === 0 ? fromRoot : null;
  if (path.length === 0) return null;
  const hashes = Number.isInteger(Math.log2(from)) ? [fromRoot, ...path] : path;
  let [fn, sn] = [from - 1, to - 1];
  while (fn & 1) [fn, sn] = [fn >> 1, sn >> 1];
  let [fr, sr] = [hashes[0]!, hashes[0]!];
  for (const c of hashes.slice(1)) {
    if (sn === 0) return null;
    if (fn & 1 || fn === sn) {
      [fr, sr] = [node(c, fr), node(c, sr)];
      while (!(fn & 1) && fn !== 0) [fn, sn] = [fn >> 1, sn >> 1];
    } else {
      sr = node(sr, c);
    }
    [fn, sn] = [fn >> 1, sn >> 1];
  }
  return sn === 0 && equalBytes(fr, fromRoot) ? sr : null;
}

const stored: Uint8Array[] = [];
const frontiers: Frontier[] = [EMPTY_FRONTIER];
for (const leaf of leaves) {
  const { frontier, nodes } = appendLeaf(nodeCrypto, frontiers.at(-1)!, leaf);
  frontiers.push(frontier);
  stored.push(...nodes.map(({ hash }) => hash));
}

/** The proof, made from only those nodes that were named beforehand. */
function proofOf(from: number, to: number): readonly Uint8Array[] {
  const named = new Set(consistencyNodeIndexes(from, to));
  return consistencyPath(nodeCrypto, { from, to }, (index) => named.has(index) ? stored[index] : undefined);
}

function assertConsistent(from: number, to: number): void {
  const path = proofOf(from, to);
  const expected = subproof(from, [0, to], true).map(([low, high]) => rootOfRange(low, high));
  assert.deepEqual(path, expected, `${from} in ${to}`);
  const root = rootsFromConsistency(nodeCrypto, { from, to, fromRoot: rootAt(from), path });
  assert.deepEqual(root, rootAt(to), `${from} in ${to}`);
}

const sizes = fc.integer({ min: 1, max: LARGEST }).chain((to) =>
  fc.record({ to: fc.constant(to), from: fc.integer({ min: 1, max: to }) })
);

Deno.test("every size to 130 is proven consistent with every older one, by the RFC's proof", () => {
  for (let to = 1; to <= EXHAUSTIVE; to += 1) {
    for (let from = 1; from <= to; from += 1) assertConsistent(from, to);
  }
});

Deno.test("random sizes to 3,000 are proven consistent by the RFC's proof", () => {
  fc.assert(fc.property(sizes, ({ from, to }) => assertConsistent(from, to)), { seed: SEED, numRuns: 1_000 });
});

Deno.test("the frontier of any older size can be rebuilt from the stored nodes", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: LARGEST }), (size) => {
      assert.deepEqual(frontierFrom(size, (index) => stored[index]), frontiers[size]);
    }),
    { seed: SEED, numRuns: 500 },
  );
});

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = bytes.slice();
  copy[bit >> 3]! ^= 1 << (bit & 7);
  return copy;
}

Deno.test("a flipped bit anywhere in a proof or in the older root never leads to the newer root", () => {
  fc.assert(
    fc.property(sizes, fc.nat({ max: 255 }), ({ from, to }, bit) => {
      const path = proofOf(from, to);
      const leadsTo = (fromRoot: Uint8Array, hashes: readonly Uint8Array[]) =>
        rootsFromConsistency(nodeCrypto, { from, to, fromRoot, path: hashes });
      for (const [at, hash] of path.entries()) {
        const root = leadsTo(rootAt(from), path.with(at, flipped(hash, bit)));
        assert.ok(root === null || !equalBytes(root, rootAt(to)), `${from} in ${to}, hash ${at}`);
      }
      const root = leadsTo(flipped(rootAt(from), bit), path);
      assert.ok(root === null || !equalBytes(root, rootAt(to)), `${from} in ${to}, older root`);
    }),
    { seed: SEED, numRuns: 200 },
  );
});

Deno.test("a flipped bit in a hash that the older root is made of is found at once", () => {
  for (let to = 2; to <= 60; to += 1) {
    for (let from = 1; from < to; from += 1) {
      const path = proofOf(from, to);
      for (const [at, [, high]] of subproof(from, [0, to], true).entries()) {
        if (high > from) continue;
        const proof = { from, to, fromRoot: rootAt(from), path: path.with(at, flipped(path[at]!, 0)) };
        assert.equal(rootsFromConsistency(nodeCrypto, proof), null, `${from} in ${to}, hash ${at}`);
      }
    }
  }
});

Deno.test("a proof for other sizes than it states never leads to the root of the stated size", () => {
  const limit = 24;
  for (let to = 1; to <= limit; to += 1) {
    for (let from = 1; from <= to; from += 1) {
      const path = proofOf(from, to);
      for (let claimedTo = 1; claimedTo <= limit; claimedTo += 1) {
        for (let claimedFrom = 1; claimedFrom <= claimedTo; claimedFrom += 1) {
          if (claimedFrom === from && claimedTo === to) continue;
          const what = `${from} in ${to} as ${claimedFrom} in ${claimedTo}`;
          const claim = { from: claimedFrom, to: claimedTo, fromRoot: rootAt(from), path };
          const root = rootsFromConsistency(nodeCrypto, claim);
          assert.ok(root === null || !equalBytes(root, rootAt(claimedTo)), what);
        }
      }
    }
  }
});

Deno.test("for arbitrary hashes, the result is that of RFC 9162's algorithm", () => {
  const hashOf = fc.integer({ min: 0, max: 40 }).map((index) => leaves[index]!);
  const edited = sizes.chain(({ from, to }) =>
    fc.record({
      from: fc.constant(from),
      to: fc.constant(to),
      fromRoot: fc.oneof(fc.constant(rootAt(from)), hashOf),
      path: fc.oneof(
        fc.constant(proofOf(from, to)),
        fc.constant(proofOf(from, to).slice(1)),
        fc.constant([...proofOf(from, to), rootAt(to)]),
        fc.array(hashOf, { maxLength: 14 }),
      ),
    })
  );
  fc.assert(
    fc.property(edited, (proof) => {
      assert.deepEqual(rootsFromConsistency(nodeCrypto, proof), rootByTheRfc(proof));
    }),
    { seed: SEED, numRuns: 2_000 },
  );
});
