/** The keys that belong to one holder, in any order of the facts; and the limit of pairs. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { hex } from "../../src/evidence/crypto.ts";
import { KeyHolders } from "../../src/evidence/key_holders.ts";
import { JOIN_LIMIT } from "../../src/evidence/limits.ts";

/** The bytes need not be a point of the curve. */
const keyOf = (number: number) => new Uint8Array(new Uint32Array([number, 0, 0, 0, 0, 0, 0, 0]).buffer);
const certificateOf = (old: number, next: number) => ({ oldKey: keyOf(old), newKey: keyOf(next) });

const KEYS = 12;
const pairs = fc.array(fc.tuple(fc.nat(KEYS - 1), fc.nat(KEYS - 1)), { maxLength: 20 });

Deno.test("keys have one holder exactly if files and certificates lead from one to the other", () => {
  fc.assert(fc.property(pairs, pairs, (files, certificates) => {
    const holders = new KeyHolders(files.map((pair) => pair.map(keyOf)));
    for (const [old, next] of certificates) assert.ok(holders.certify(certificateOf(old, next)));
    // The same by another way: the smallest key that can be reached.
    const smallest = Array.from({ length: KEYS }, (_, key) => key);
    for (let round = 0; round < KEYS; round += 1) {
      for (const [one, other] of [...files, ...certificates]) {
        smallest[one] = smallest[other] = Math.min(smallest[one]!, smallest[other]!);
      }
    }
    for (let one = 0; one < KEYS; one += 1) {
      for (let other = 0; other < KEYS; other += 1) {
        const count = smallest[one] === smallest[other] ? 1 : 2;
        assert.equal(holders.of([keyOf(one), keyOf(other)]).length, count, `${one}, ${other}`);
        assert.equal(holders.oneOfEach([keyOf(one), keyOf(other)]).length, count);
      }
    }
    const [holder] = holders.of([keyOf(0)]);
    const expected = smallest.flatMap((least, key) => least === 0 ? [hex(keyOf(key))] : []);
    assert.deepEqual([...holder!].sort(), expected.sort());
  }));
});

Deno.test("holders of several of the keys are listed, each once, and no others", () => {
  const holders = new KeyHolders([[keyOf(1), keyOf(2)], [keyOf(3)], [keyOf(4), keyOf(5)]]);
  const several = holders.severalOf([keyOf(2), keyOf(1), keyOf(3), keyOf(6)]);
  assert.deepEqual(several, [[keyOf(1), keyOf(2)]]);
});

Deno.test("pairs beyond the limit are refused, except known ones and those that the auditor gives", () => {
  const holders = new KeyHolders();
  for (let pair = 0; pair < JOIN_LIMIT; pair += 1) {
    assert.ok(holders.certify(certificateOf(2 * pair, 2 * pair + 1)));
  }
  assert.ok(!holders.certify(certificateOf(0, 2)));
  assert.equal(holders.of([keyOf(0), keyOf(2)]).length, 2);
  assert.ok(holders.certify(certificateOf(1, 0)));
  const given = Array.from({ length: 2 * JOIN_LIMIT }, (_, key) => keyOf(key));
  assert.equal(new KeyHolders([given]).of(given).length, 1);
});
