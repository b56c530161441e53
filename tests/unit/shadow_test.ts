/** The figures of a candidate model: the pure part. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { BANDS } from "../../src/domain/enums.ts";
import { COMPLIANCE_STATUSES } from "../../src/domain/enums.ts";
import {
  type Comparison,
  countDirections,
  differenceFigures,
  differenceOf,
  directionsOf,
  EMPTY_TALLY,
  type Figures,
  tallied,
} from "../../src/scoring/shadow.ts";

const jis = fc.integer({ min: 0, max: 10_000 }).map((hundredths) => hundredths / 100);
const figures: fc.Arbitrary<Figures> = fc.record({
  jis,
  band: fc.constantFrom(...BANDS),
  status: fc.constantFrom(...COMPLIANCE_STATUSES),
});
const comparison: fc.Arbitrary<Comparison> = fc.record({ inUse: figures, candidate: figures });
const tenths = fc.integer({ min: -1000, max: 1000 }).map((count) => count / 10);

const tallyOf = (differences: readonly number[]) => differences.reduce(tallied, EMPTY_TALLY);

Deno.test("a difference is the candidate's JIS minus that of the model in use, to two decimals", () => {
  const of = (one: number, other: number) =>
    differenceOf({
      inUse: { jis: one, band: "adequate", status: "compliant" },
      candidate: { jis: other, band: "adequate", status: "compliant" },
    });
  assert.equal(of(60.1, 60.3), 0.2);
  assert.equal(of(60.3, 60.1), -0.2);
  assert.ok(Object.is(of(71.55, 71.55), 0));
  fc.assert(fc.property(comparison, (compared) => {
    const difference = differenceOf(compared);
    assert.ok(Math.abs(difference - (compared.candidate.jis - compared.inUse.jis)) < 1e-9);
    assert.equal(difference, Number(difference.toFixed(2)));
  }));
});

Deno.test("higher is a better band or status under the candidate, lower a worse one", () => {
  const seen = (inUse: Partial<Figures>, candidate: Partial<Figures>) => {
    const common = { jis: 60, band: "adequate", status: "conditional" } as const;
    return directionsOf({ inUse: { ...common, ...inUse }, candidate: { ...common, ...candidate } });
  };
  assert.deepEqual(seen({ band: "at_risk" }, { band: "adequate" }), { band: "higher", status: "same" });
  assert.deepEqual(seen({ band: "exemplary" }, { band: "proficient" }), { band: "lower", status: "same" });
  assert.deepEqual(seen({}, { status: "compliant" }), { band: "same", status: "higher" });
  assert.deepEqual(seen({}, { status: "non_compliant" }), { band: "same", status: "lower" });
  const mirrored = { higher: "lower", lower: "higher", same: "same" } as const;
  fc.assert(fc.property(comparison, ({ inUse, candidate }) => {
    const [there, back] = [
      directionsOf({ inUse, candidate }),
      directionsOf({ inUse: candidate, candidate: inUse }),
    ];
    assert.deepEqual(back, { band: mirrored[there.band], status: mirrored[there.status] });
    assert.equal(there.band === "same", inUse.band === candidate.band);
    assert.equal(there.status === "same", inUse.status === candidate.status);
  }));
  assert.deepEqual(countDirections(["higher", "same", "higher"]), { higher: 2, lower: 0, same: 1 });
});

Deno.test("the figures of many tallies are those of all their differences", () => {
  assert.equal(differenceFigures([]), null);
  assert.equal(differenceFigures([EMPTY_TALLY]), null);
  assert.deepEqual(differenceFigures([tallyOf([-2, 0.5]), tallyOf([1, 1.04])]), {
    mean: 0.14,
    min: -2,
    p05: -2,
    p25: -2,
    median: 0.5,
    p75: 1,
    p95: 1,
    max: 1,
  });
  fc.assert(
    fc.property(fc.array(fc.array(tenths, { minLength: 1 }), { minLength: 1, maxLength: 5 }), (parts) => {
      const all = parts.flat().toSorted((one, other) => one - other);
      const found = differenceFigures(parts.map(tallyOf))!;
      assert.ok(
        Math.abs(found.mean - all.reduce((sum, value) => sum + value, 0) / all.length) <= 0.005 + 1e-9,
      );
      const at = (share: number) =>
        all.find((value) => all.filter((other) => other <= value).length >= share * all.length);
      for (
        const [share, value] of [
          [0.05, found.p05],
          [0.25, found.p25],
          [0.5, found.median],
          [0.75, found.p75],
          [0.95, found.p95],
        ] as const
      ) assert.equal(value, at(share));
      assert.deepEqual([found.min, found.max], [all[0], all.at(-1)]);
    }),
  );
});

Deno.test("a tally has a counter for each tenth of a point, not for each difference, and leaves the one before unchanged", () => {
  const before = tallyOf([1]);
  const after = tallied(before, 1.02);
  assert.deepEqual([before.count, [...before.tenths]], [1, [[10, 1]]]);
  assert.deepEqual([after.count, after.sum, [...after.tenths]], [2, 2.02, [[10, 2]]]);
});
