/**
 * The statistics of the validation against sums by hand, and that it distinguishes a good score from a bad
 * one.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { DEFAULT_MODEL_DOCUMENT as model } from "../../src/scoring/model.ts";
import { ARCHETYPES, DEFAULT_ENVIRONMENT } from "../../src/simulation/archetypes.ts";
import { discrimination, runHistory } from "../../src/simulation/histories.ts";
import { BAD, drawFrom, GAMING, HONEST } from "../../src/simulation/populations.ts";
import { seeded } from "../../src/simulation/random.ts";
import {
  auc,
  correlation,
  mean,
  midranks,
  quantile,
  shareOf,
  spearman,
} from "../../src/simulation/statistics.ts";
import { missesOf, validate, type Validation } from "../../src/simulation/validation.ts";
import { mannWhitney } from "../mann_whitney.ts";

const isNear = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1e-12, `${actual}, expected ${expected}`);
const sample = (length = 2) =>
  fc.array(fc.integer({ min: -5, max: 5 }), { minLength: length, maxLength: 30 });

function whole(generator: Generator<number, Validation>): Validation {
  let before = 0;
  for (;;) {
    const step = generator.next();
    if (step.done) return step.value;
    assert.ok(step.value > before && step.value <= 1);
    before = step.value;
  }
}

Deno.test("means, shares and quantiles equal those of the textbook", () => {
  assert.equal(mean([1, 2, 6]), 3);
  assert.equal(shareOf([1, 2, 3, 4], (value) => value > 1), 0.75);
  assert.deepEqual([0, 0.25, 0.5, 0.9, 1].map((at) => quantile([4, 1, 3, 2], at)), [1, 1.75, 2.5, 3.7, 4]);
  assert.equal(quantile([7], 0.3), 7);
});

Deno.test("equal values share the middle of their ranks", () => {
  assert.deepEqual(midranks([10, 20, 20, 5, 20]), [2, 4, 4, 1, 4]);
  fc.assert(fc.property(sample(1), (values) => {
    isNear(mean(midranks(values)), (values.length + 1) / 2);
  }));
});

Deno.test("Spearman's correlation is Pearson's of the ranks, and stays the same under any rising change", () => {
  isNear(correlation([1, 2, 3], [2, 4, 6]), 1);
  isNear(correlation([1, 2, 3], [3, 2, 1]), -1);
  isNear(spearman([1, 2, 3, 4, 5], [5, 6, 7, 8, 7]), 0.8207826816681233);
  assert.equal(spearman([1, 1], [1, 2]), NaN);
  fc.assert(fc.property(sample(3), (values) => {
    const other = values.map((value, index) => value * 2 + index % 3);
    const changed = values.map((value) => value ** 3 + 7);
    const [one, two] = [spearman(values, other), spearman(changed, other)];
    assert.ok(Object.is(one, two) || Math.abs(one - two) < 1e-12);
  }));
});

Deno.test("the area under the curve is the share of pairs in order, ties half; Mann and Whitney's U gives the same", () => {
  assert.equal(auc([2, 3], [1, 2]), 0.875);
  assert.equal(auc([1], [2]), 0);
  fc.assert(fc.property(sample(1), sample(1), (above, below) => {
    const pairs = above.flatMap((one) => below.map((other) => one > other ? 1 : one === other ? 0.5 : 0));
    isNear(auc(above, below), mean(pairs));
    isNear(auc(above, below), mannWhitney(above, below).u / (above.length * below.length));
  }));
});

Deno.test("a history is the same for the same seed, and has a result at each length that is asked for", () => {
  const operator = drawFrom("spectrum", seeded("one"));
  const run = (lengths: readonly number[]) =>
    runHistory(operator, { model, environment: DEFAULT_ENVIRONMENT, random: seeded("history"), lengths });
  const groups = run([3, 10]);
  assert.deepEqual(groups.map(({ after }) => after), [3, 10]);
  assert.deepEqual(run([10]), [groups[1]]);
  assert.equal(groups[1]!.state.n, 10);
});

Deno.test("an operator's discrimination follows from the hidden parameters, and the archetypes' ranges are apart", () => {
  const operator = drawFrom("independent", seeded("two"));
  isNear(discrimination(operator, 0), operator.theta.to * (1.5 * operator.skill.to - 0.5));
  assert.ok(BAD.every((name) => ARCHETYPES[name].theta[1] <= 0.12));
  assert.ok(HONEST.every((name) => ARCHETYPES[name].theta[0] >= 0.85));
  assert.deepEqual(GAMING.length, BAD.length - 1);
});

Deno.test("a validation is the same for the same seeds, has the mean over them, and lists the missed targets", () => {
  const run = () => whole(validate({ model, seeds: [3, 4], operators: 2 }));
  const validation = run();
  assert.deepEqual(run(), validation);
  const names = validation.figures.map(({ measure, of, after }) => `${measure}/${of}/${after}`);
  assert.equal(new Set(names).size, names.length);
  for (const { value, by_seed } of validation.figures) {
    assert.ok(by_seed.length === 1 || by_seed.length === 2);
    isNear(value, mean(by_seed));
  }
  const figure = (value: number, target: { least?: number; most?: number } | null) =>
    missesOf({
      ...validation,
      figures: [{ measure: "m", of: "o", after: 50, value, by_seed: [value], target }],
    }).map(({ by }) => by);
  assert.deepEqual(figure(0.5, null), []);
  assert.deepEqual(figure(0.5, { least: 0.5, most: 0.5 }), []);
  assert.deepEqual(figure(0.25, { least: 0.5 }), [0.25]);
  assert.deepEqual(figure(0.75, { most: 0.5 }), [0.25]);
  assert.equal(figure(NaN, { least: 0.5 }).length, 1);
});

Deno.test("a model that uses only the time misses a target that the real one meets", () => {
  const dimensions = Object.fromEntries(
    Object.entries(model.dimensions).map((
      [name, row],
    ) => [name, { ...row, exponents: { P: 1 }, restraint: false }]),
  ) as unknown as typeof model.dimensions;
  const timed = whole(validate({ model: { ...model, dimensions }, seeds: [5], operators: 3 }));
  const missed = missesOf(timed).map(({ figure: { measure, of } }) => `${measure}, ${of}`);
  assert.ok(missed.includes("AUC, independent above, hover_gamer"), missed.join("; "));
});
