/** Laws of the estimates that `jis-3` gives of an operator beside the score. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { type Estimate, estimateOf, type Estimates, estimatesOf } from "../../src/scoring/estimates.ts";
import { NO_PARTS, type Part, type PartsOfWork } from "../../src/scoring/known_cases.ts";
import { initialState } from "../../src/scoring/state.ts";
import { errorRate } from "../../src/scoring/points.ts";
import { JIS_1_0_0, JIS_1_1_0, JIS_2_0_0 as model } from "../models.ts";

const SEED = 20_261_124;

/** A part of known cases, with as many decisions. */
function partOf(hit: number, miss: number, right: number, alarm: number): Part {
  return [hit, miss, right, alarm, hit + miss, right + alarm, hit + miss + right + alarm, 0];
}

const part = fc.tuple(...[40, 40, 150, 60].map((max) => fc.oneof(fc.nat({ max: 6 }), fc.nat({ max }))))
  .map(([hit, miss, right, alarm]) => partOf(hit!, miss!, right!, alarm!));

const parts: fc.Arbitrary<PartsOfWork> = fc.record({ n: part, p: part, a: part }).map((of) => ({
  ...NO_PARTS,
  ...of,
}));

function estimatesBy(of: Partial<PartsOfWork>): Estimates {
  return estimatesOf(model, { ...initialState(model), ev: { ...NO_PARTS, ...of } })!;
}

function law<Value>(name: string, of: fc.Arbitrary<Value>, holds: (value: Value) => void): void {
  Deno.test(name, () => fc.assert(fc.property(of, holds), { seed: SEED, numRuns: 300 }));
}

/** Asserts that an interval holds its mean, between the bounds of the quantity. */
function assertWithin({ low, mean, high }: Estimate, least: number, most: number): void {
  assert.ok(least <= low && low <= mean && mean <= high && high <= most, `${low} ${mean} ${high}`);
}

law("every interval holds its mean, and rates lie between 0 and 1", parts, (of) => {
  const {
    error_rate,
    departs_when_wrong,
    departs_when_right,
    sensitivity,
    criterion,
    announced,
    exam_effect,
  } = estimatesBy(of);
  assert.equal(error_rate, errorRate(model, of.n));
  for (const rate of [departs_when_wrong, departs_when_right]) assertWithin(rate, 0, 1);
  assertWithin(sensitivity, -12, 12);
  assertWithin(criterion, -6, 6);
  for (const rate of Object.values(announced ?? {})) assertWithin(rate, 0, 1);
  if (exam_effect !== null) assertWithin(exam_effect, -2, 2);
});

law("rates have the numbers of known cases behind them, announced tests apart", parts, (of) => {
  const { departs_when_wrong, departs_when_right, announced } = estimatesBy(of);
  assert.deepEqual(
    [departs_when_wrong.cases, departs_when_right.cases],
    [of.n[4] + of.p[4], of.n[5] + of.p[5]],
  );
  if (of.a[4] + of.a[5] === 0) return assert.equal(announced, null);
  assert.deepEqual([announced!.departs_when_wrong.cases, announced!.departs_when_right.cases], [
    of.a[4],
    of.a[5],
  ]);
});

law("announced tests change no estimate of live work", fc.tuple(parts, part), ([of, a]) => {
  const { announced: _, exam_effect: __, ...live } = estimatesBy(of);
  const { announced: ___, exam_effect: ____, ...same } = estimatesBy({ ...of, a });
  assert.deepEqual(same, live);
});

law(
  "high stakes and critical cases have rates of their own, which are those of the whole if it has no other case",
  fc.tuple(parts, part, part),
  ([of, s, c]) => {
    const { high_stakes, critical, ...live } = estimatesBy({ ...of, s, c });
    assert.deepEqual(live, (({ high_stakes: _, critical: __, ...same }) => same)(estimatesBy(of)));
    for (const [rates, grave] of [[high_stakes, s], [critical, c]] as const) {
      if (grave[4] + grave[5] === 0) {
        assert.equal(rates, null);
        continue;
      }
      const { departs_when_wrong, departs_when_right } = estimatesBy({ n: grave });
      assert.deepEqual(rates, { departs_when_wrong, departs_when_right });
    }
  },
);

Deno.test("rates of stakes that did not come up lately fade to today, as those of all work", () => {
  const grave = partOf(9, 1, 20, 2);
  const old = { ...NO_PARTS, n: grave, s: grave, t: 20_195, u: { high_stakes: 20_000 } };
  const width = ({ low, high }: Estimate) => high - low;
  const { high_stakes, departs_when_wrong } = estimatesBy(old);
  assert.ok(width(high_stakes!.departs_when_wrong) > width(departs_when_wrong));
  assert.equal(high_stakes!.departs_when_wrong.cases, 10);
});

Deno.test("the more cases are known, the narrower are the intervals on average", () => {
  const rates = [0.05, 0.2, 0.5, 0.8, 0.95];
  const widthAt = (cases: number, name: "departs_when_wrong" | "departs_when_right" | "sensitivity") =>
    rates.flatMap((h) => rates.map((f) => ({ h, f }))).reduce((sum, { h, f }) => {
      const [hit, alarm] = [Math.round(h * cases), Math.round(f * cases)];
      const { low, high } = estimatesBy({ n: partOf(hit, cases - hit, cases - alarm, alarm) })[name];
      return sum + high - low;
    }, 0);
  for (const name of ["departs_when_wrong", "departs_when_right", "sensitivity"] as const) {
    const widths = [0, 5, 20, 80, 320].map((cases) => widthAt(cases, name));
    assert.deepEqual(widths, widths.toSorted((one, other) => other - one), name);
    assert.ok(widths.at(-1)! < widths[0]! / 3, name);
  }
});

Deno.test("with many cases the rates are those of the cases, and sensitivity and criterion follow from them", () => {
  const { departs_when_wrong, departs_when_right, sensitivity, criterion } = estimatesBy({
    n: partOf(1_600, 400, 1_800, 200),
  });
  const isAbout = ({ mean, low, high }: Estimate, value: number, tolerance: number) =>
    assert.ok(
      Math.abs(mean - value) < tolerance && low <= value + 0.02 && value - 0.02 <= high,
      `${mean} ${value}`,
    );
  isAbout(departs_when_wrong, 0.8, 0.02);
  isAbout(departs_when_right, 0.1, 0.02);
  const [h, f] = [Math.log(0.8 / 0.2), Math.log(0.1 / 0.9)];
  isAbout(sensitivity, h - f, 0.2);
  isAbout(criterion, -(h + f) / 2, 0.2);
});

law("who departs more from either advice leans less to follow it", part, ([hit, miss, right, alarm]) => {
  fc.pre(miss > 0 && right > 0);
  const before = estimatesBy({ n: partOf(hit, miss, right, alarm) });
  const after = estimatesBy({ n: partOf(hit + 1, miss - 1, right - 1, alarm + 1) });
  assert.ok(after.criterion.mean <= before.criterion.mean);
});

law(
  "the exam effect needs five known cases of wrong advice in tests and as many in live work",
  parts,
  (of) => {
    const { exam_effect } = estimatesBy(of);
    assert.equal(exam_effect !== null, of.n[4] + of.p[4] >= 5 && of.a[4] >= 5);
  },
);

law(
  "the exam effect is certainly above 0 if tests are judged and live work is waved through, and the reverse below",
  fc.record({ cases: fc.integer({ min: 15, max: 60 }), slips: fc.nat({ max: 1 }) }),
  ({ cases, slips }) => {
    const judged = partOf(cases - slips, slips, 3 * cases - slips, slips);
    const waved = partOf(slips, cases - slips, 3 * cases, 0);
    const { mean, low, high } = estimatesBy({ n: waved, a: judged }).exam_effect!;
    assert.ok(low > 0);
    // The sign changes with the sides; each side has its own rounding.
    const reverse = estimatesBy({ n: judged, a: waved }).exam_effect!;
    assert.ok(reverse.high < 0);
    assert.deepEqual(
      [reverse.mean, reverse.low, reverse.high].map((value) => Math.round(-value * 1e3)),
      [
        mean,
        high,
        low,
      ].map((value) => Math.round(value * 1e3)),
    );
  },
);

law("the same conduct in tests and in live work has an exam effect around 0", part, (of) => {
  fc.pre(of[4] >= 5);
  const { mean, low, high } = estimatesBy({ n: of, a: of }).exam_effect!;
  assert.ok(mean === 0 && low < 0 && high > 0);
});

law("the formulas before jis-3 have no such estimates", parts, (ev) => {
  for (const earlier of [JIS_1_0_0, JIS_1_1_0]) {
    assert.equal(estimatesOf(earlier, initialState(earlier)), null);
    assert.equal(estimatesOf(earlier, { ...initialState(earlier), ev }), null);
  }
});

Deno.test("an operator whose state jis-3 has not seen has the estimates of the prior", () => {
  assert.deepEqual(estimatesOf(model, initialState(model)), estimatesBy({}));
  assert.equal(estimatesBy({}).announced, null);
});

law(
  "an interval of 90 % has a twentieth of the probability on each side",
  fc.array(fc.double({ min: 0.001, max: 1, noNaN: true }), { minLength: 3, maxLength: 60 }),
  (weights) => {
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const probabilities = weights.map((weight) => weight / total);
    const points = weights.map((_, index) => index);
    const { low, mean, high } = estimateOf(points, probabilities, {
      least: -0.5,
      most: weights.length - 0.5,
    });
    // Each point's probability lies evenly within half a step around it.
    const below = (value: number) =>
      probabilities.reduce(
        (sum, probability, index) => sum + probability * Math.min(1, Math.max(0, value - (index - 0.5))),
        0,
      );
    assert.ok(Math.abs(below(low) - 0.05) < 1e-9 && Math.abs(below(high) - 0.95) < 1e-9);
    assert.ok(low < high && mean >= 0 && mean <= weights.length - 1);
  },
);
