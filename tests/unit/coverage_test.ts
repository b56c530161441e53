/** Intervals of counts and of rates, and how often they hold what came. */
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  countCoverage,
  countInterval,
  LONG_HISTORY,
  rateCoverage,
} from "../../src/scoring/evaluation/coverage.ts";
import { seeded } from "../../src/simulation/random.ts";

const certain = (rate: number) => ({ rates: [rate], probabilities: [1] });

Deno.test("the interval of a count with a known rate is that of the binomial distribution", () => {
  // 10 draws at one half: 2 to 7 leaves 0 and 1 with 11/1024, 8 to 10 with 56/1024; 3 to 7 would hold 89.1 %.
  const { low, high, probability } = countInterval(certain(0.5), 10);
  assert.deepEqual([low, high], [2, 7]);
  assert.ok(Math.abs(probability - (1 - 67 / 1024)) < 1e-12);
  assert.deepEqual(countInterval(certain(0.5), 0), { low: 0, high: 0, probability: 1 });
});

Deno.test("a count that probably ends at 0 gets an interval with one tail", () => {
  const { low, high } = countInterval(certain(0.05), 10);
  assert.deepEqual([low, high], [0, 1]);
});

Deno.test("an uncertain rate makes the interval of the count wider", () => {
  const { low, high } = countInterval({ rates: [0.2, 0.8], probabilities: [0.5, 0.5] }, 100);
  assert.ok(low < 20 && high > 80, `${low} to ${high}`);
  const known = countInterval(certain(0.5), 100);
  assert.ok(known.low > 40 && known.high < 60);
});

Deno.test("an interval lies among the possible counts and holds at least 90 %", () => {
  const distribution = fc.array(fc.double({ min: 0.001, max: 0.999, noNaN: true }), {
    minLength: 1,
    maxLength: 5,
  }).map((rates) => ({ rates, probabilities: rates.map(() => 1 / rates.length) }));
  fc.assert(fc.property(distribution, fc.integer({ min: 1, max: 60 }), (of, draws) => {
    const { low, high, probability } = countInterval(of, draws);
    assert.ok(0 <= low && low <= high && high <= draws);
    assert.ok(probability >= 0.9 - 1e-9 && probability <= 1 + 1e-9, String(probability));
  }));
});

Deno.test("counts that are drawn from the distributions lie in their intervals as often as foretold", () => {
  const random = seeded("coverage");
  const rates = Array.from({ length: 20 }, (_, index) => (index + 0.5) / 20);
  const distribution = { rates, probabilities: rates.map(() => 1 / 20) };
  const people = Array.from({ length: 2_000 }, () => {
    const rate = rates[Math.floor(random.uniform() * 20)]!;
    const yes = Array.from({ length: 12 }, () => random.uniform()).filter((draw) => draw < rate).length;
    return { distribution, came: { yes, all: 12 } };
  });
  const { people: count, foretold, came } = countCoverage(people);
  assert.equal(count, 2_000);
  assert.ok(foretold! >= 0.9 && Math.abs(came! - foretold!) < 0.02, `${foretold} ${came}`);
});

Deno.test("people without a decision held back, or with a short row of them, do not count", () => {
  const none = { distribution: certain(0.5), came: { yes: 0, all: 0 } };
  assert.deepEqual(countCoverage([none]), { people: 0, foretold: null, came: null });
  const row = (yes: number, all: number) => ({ low: 0.4, high: 0.6, came: { yes, all } });
  const long = LONG_HISTORY;
  assert.deepEqual(rateCoverage([row(long / 2 - 1, long - 1)]), { people: 0, came: null });
  assert.deepEqual(rateCoverage([row(long / 2, long), row(0, long), row(long, long), row(0, 1)]), {
    people: 3,
    came: 1 / 3,
  });
});
