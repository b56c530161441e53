/** Exact intervals of a proportion. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { exactProportion } from "../../src/domain/proportion.ts";

const near = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 5e-5, `${actual}, not ${expected}`);

Deno.test("intervals are those of published tables", () => {
  // As binom.test of R gives them.
  for (
    const [successes, trials, low, high] of [
      [0, 10, 0, 0.30850],
      [1, 10, 0.00253, 0.44502],
      [7, 9, 0.39991, 0.97186],
      [10, 10, 0.69150, 1],
      [45, 100, 0.35032, 0.55271],
    ] as const
  ) {
    const { low: least, high: most } = exactProportion(successes, trials)!;
    near(least, low);
    near(most, high);
  }
});

Deno.test("an interval holds its share, narrows with trials, and mirrors its complement", () => {
  fc.assert(fc.property(fc.integer({ min: 1, max: 3_000 }), fc.nat(), (trials, drawn) => {
    const successes = drawn % (trials + 1);
    const { share, low, high } = exactProportion(successes, trials)!;
    assert.ok(0 <= low && low <= share && share <= high && high <= 1);
    const mirrored = exactProportion(trials - successes, trials)!;
    near(mirrored.low, 1 - high);
    near(mirrored.high, 1 - low);
    const more = exactProportion(10 * successes, 10 * trials)!;
    assert.ok(more.high - more.low < high - low);
  }));
});

Deno.test("no trials have no share, and impossible counts are refused", () => {
  assert.equal(exactProportion(0, 0), null);
  for (const [successes, trials] of [[2, 1], [-1, 3], [0.5, 1], [1, NaN]] as const) {
    assert.throws(() => exactProportion(successes, trials), RangeError);
  }
});
