/** Consistency proofs against the vectors that Go's tlog accepts, and the proofs that are refused. */
import assert from "node:assert/strict";
import {
  consistencyNodeIndexes,
  consistencyPath,
  frontierFrom,
  frontierNodeIndexes,
  rootsFromConsistency,
} from "../../src/evidence/consistency.ts";
import { fromHex, hex } from "../../src/evidence/crypto.ts";
import { appendLeaf, EMPTY_FRONTIER, type Frontier } from "../../src/evidence/merkle.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import merkle from "../vectors/evidence/merkle.json" with { type: "json" };

const stored: Uint8Array[] = [];
const frontiers: Frontier[] = [EMPTY_FRONTIER];
for (const leaf of merkle.chain_leaf_hashes) {
  const { frontier, nodes } = appendLeaf(nodeCrypto, frontiers.at(-1)!, fromHex(leaf));
  frontiers.push(frontier);
  stored.push(...nodes.map(({ hash }) => hash));
}
const read = (index: number) => stored[index];
const rootAt = (size: number) => fromHex(merkle.chain_roots[size]!.root_hex);

for (const { from, to, old_root_hex, new_root_hex, proof_hex } of merkle.consistency) {
  Deno.test(`the proof of size ${from} in size ${to} equals the vector, and leads to its root`, () => {
    const path = consistencyPath(nodeCrypto, { from, to }, read);
    assert.deepEqual(path.map(hex), proof_hex);
    const proof = { from, to, fromRoot: fromHex(old_root_hex), path: proof_hex.map(fromHex) };
    assert.equal(hex(rootsFromConsistency(nodeCrypto, proof)!), new_root_hex);
  });
}

Deno.test("the nodes of a proof are listed before it is made, in its order", () => {
  assert.deepEqual(consistencyNodeIndexes(3, 8), [3, 4, 2, 13]);
  assert.deepEqual(consistencyNodeIndexes(6, 8), [9, 12, 6]);
  assert.deepEqual(consistencyNodeIndexes(4, 7), [9, 10]);
  assert.deepEqual(consistencyNodeIndexes(8, 8), []);
});

Deno.test("a size is consistent with itself by an empty proof, and by no other", () => {
  for (let size = 1; size <= 8; size += 1) {
    assert.deepEqual(consistencyPath(nodeCrypto, { from: size, to: size }, read), []);
    const proof = { from: size, to: size, fromRoot: rootAt(size) };
    assert.deepEqual(rootsFromConsistency(nodeCrypto, { ...proof, path: [] }), rootAt(size));
    assert.equal(rootsFromConsistency(nodeCrypto, { ...proof, path: [rootAt(1)] }), null);
  }
});

Deno.test("for sizes in no possible order making a proof throws, and checking one gives null", () => {
  const impossible = [[0, 8], [-1, 8], [8, 7], [1.5, 8], [1, 8.5], [NaN, 8], [1, Infinity], [1, 2 ** 53]];
  for (const [from, to] of impossible as [number, number][]) {
    assert.throws(() => consistencyPath(nodeCrypto, { from, to }, read), RangeError, `${from} to ${to}`);
    assert.throws(() => consistencyNodeIndexes(from, to), RangeError, `${from} to ${to}`);
    const proof = { from, to, fromRoot: rootAt(8), path: [] };
    assert.equal(rootsFromConsistency(nodeCrypto, proof), null, `${from} to ${to}`);
  }
});

Deno.test("a proof with a hash less, a hash more, or a hash of another length fits nothing", () => {
  const path = consistencyPath(nodeCrypto, { from: 3, to: 8 }, read);
  const check = (hashes: readonly Uint8Array[], fromRoot = rootAt(3)) =>
    rootsFromConsistency(nodeCrypto, { from: 3, to: 8, fromRoot, path: hashes });
  assert.deepEqual(check(path), rootAt(8));
  assert.equal(check([]), null);
  assert.equal(check(path.slice(1)), null);
  assert.equal(check(path.slice(0, -1)), null);
  assert.equal(check([...path, rootAt(8)]), null);
  assert.equal(check(path.with(3, new Uint8Array(31))), null);
  assert.equal(check(path.with(3, new Uint8Array(33))), null);
  assert.equal(check(path, rootAt(4)), null);
  assert.equal(check(path, new Uint8Array(0)), null);
});

Deno.test("a proof over nodes that are not stored is refused", () => {
  const lacking = (index: number) => index === 13 ? undefined : stored[index];
  assert.throws(() => consistencyPath(nodeCrypto, { from: 3, to: 8 }, lacking), /tree node 13 is missing/);
});

Deno.test("the frontier of an older size is read from the stored nodes", () => {
  assert.deepEqual(frontierNodeIndexes(7), [6, 9, 10]);
  assert.deepEqual(frontierNodeIndexes(0), []);
  for (const frontier of frontiers) assert.deepEqual(frontierFrom(frontier.size, read), frontier);
  assert.throws(() => frontierFrom(9, read), /tree node 15 is missing/);
});
