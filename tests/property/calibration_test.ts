/** The laws of calibration over random organizations. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Interaction } from "../../src/domain/interaction.ts";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { calibrate } from "../../src/scoring/calibration/calibrate.ts";
import { LabelledCases } from "../../src/scoring/calibration/labelled_cases.ts";
import { dimensionsOf, jisOf } from "../../src/scoring/dimensions.ts";
import { modelSchema } from "../../src/scoring/model.ts";
import { bucketMeans, initialState } from "../../src/scoring/state.ts";
import { quantile } from "../../src/simulation/statistics.ts";
import { casesOf, type Reviews, reviewsOf } from "../labelled_reviews.ts";
import { JIS_1_1_0 as model } from "../models.ts";

const SEED = 20_261_122;
const RUNS = 200;
const { fast_ms, reference_ms } = model.domains.financial;

const anyTime = fc.oneof(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 0, max: 86_400_000 }));
const anyTimes = fc.array(anyTime, { minLength: 1, maxLength: 30 });
const anyReviews: fc.Arbitrary<Reviews> = fc.record({
  hits: fc.nat(30),
  misses: fc.nat(30),
  correct: fc.nat(60),
  alarms: fc.nat(30),
  times: anyTimes,
});
/** A reviewer who is far better than chance, whatever time they take. */
const judge: fc.Arbitrary<Reviews> = fc.record({
  hits: fc.integer({ min: 20, max: 40 }),
  misses: fc.nat(3),
  correct: fc.integer({ min: 20, max: 40 }),
  alarms: fc.nat(3),
  times: anyTimes,
});
/**
 * A reviewer who departs from the AI as often when it is right as when it is wrong: always, never, or in
 * between.
 */
const indifferent: fc.Arbitrary<Reviews> = fc.record({
  rate: fc.integer({ min: 0, max: 10 }),
  times: anyTimes,
}).map(({ rate, times }) => ({
  hits: 2 * rate,
  misses: 20 - 2 * rate,
  correct: 60 - 6 * rate,
  alarms: 6 * rate,
  times,
}));
const anyOrganization = fc.array(fc.oneof(anyReviews, judge, indifferent), { maxLength: 30 });

function holds<Args extends [unknown, ...unknown[]]>(
  name: string,
  arbitraries: { [K in keyof Args]: fc.Arbitrary<Args[K]> },
  check: (...args: Args) => void,
): void {
  Deno.test(name, () => fc.assert(fc.property(...arbitraries, check), { seed: SEED, numRuns: RUNS }));
}

function fit(organization: readonly Reviews[]) {
  return calibrate(model, casesOf(organization.map(reviewsOf)));
}

function timesOf(organization: readonly Reviews[]) {
  return fit(organization).times.find(({ domain }) => domain === "financial");
}

holds("whatever the organization does, times and priors stay in their bounds, and the document is valid", [
  anyOrganization,
], (organization) => {
  const { document } = fit(organization);
  if (document === null) return;
  assert.deepEqual(modelSchema.parse(document), document);
  const { financial } = document.domains;
  assert.ok(financial.fast_ms >= fast_ms / 2 && financial.fast_ms <= 40_000);
  assert.ok(financial.reference_ms >= reference_ms / 2 && financial.reference_ms <= 300_000);
  assert.ok(financial.fast_ms <= Math.ceil(financial.reference_ms * fast_ms / reference_ms));
  for (const bucket of Object.values(document.buckets)) {
    assert.ok(bucket.prior_mean === 0.85 || (bucket.prior_mean >= 0.61 && bucket.prior_mean <= 0.69));
  }
});

holds("a new operator still starts between the minimum and the target, in every dimension", [
  fc.array(anyReviews, { minLength: 40, maxLength: 60 }),
], (organization) => {
  const document = fit(organization).document ?? model;
  const means = bucketMeans(document, initialState(document), "financial");
  for (const mode of ["full", "lite"] as const) {
    const dimensions = dimensionsOf(document, means, mode);
    for (const value of [...Object.values(dimensions), jisOf(document, dimensions, mode)]) {
      assert.ok(value > document.thresholds.min_jis && value < document.thresholds.target_jis, String(value));
    }
  }
});

holds("neither the order of the cases nor the names of the operators matter, to the last bit", [
  fc.array(fc.oneof(judge, anyReviews), { minLength: 5, maxLength: 25 }),
  fc.infiniteStream(fc.nat()),
], (organization, order) => {
  const rows = organization.flatMap((own, index) =>
    reviewsOf(own).map((
      row,
    ): readonly [string, Interaction] => [`another-${organization.length - index}`, row])
  );
  const shuffled = rows.map((row) => ({ row, at: order.next().value as number }))
    .sort((one, other) => one.at - other.at);
  const cases = new LabelledCases(model);
  for (const { row: [operatorId, interaction] } of shuffled) cases.add(operatorId, "financial", interaction);
  assert.equal(canonicalJson(calibrate(model, cases)), canonicalJson(fit(organization)));
});

holds(
  "operators who cannot tell right from wrong change no time, however many they are and whatever time they take",
  [
    fc.array(judge, { minLength: 5, maxLength: 8 }),
    fc.array(indifferent, { maxLength: 40 }),
  ],
  (judges, others) => {
    const [alone, together] = [timesOf(judges)!, timesOf([...judges, ...others])!];
    assert.deepEqual(together.after, alone.after);
    assert.deepEqual(together.medians_ms, alone.medians_ms);
  },
);

holds("no single operator moves the reference beyond the middle operators around it", [
  fc.array(judge, { minLength: 5, maxLength: 12 }),
  judge,
], (judges, one) => {
  // Times that are neither reflexive nor longer than the model distinguishes, so that each counts as it is.
  const within = (own: Reviews) => ({
    ...own,
    times: own.times.map((ms) => Math.min(Math.max(ms, 16_000), 290_000)),
  });
  const own = judges.map(within);
  const medians = own.map((row) => {
    const good = reviewsOf(row).filter(({ outcome_correct }) => outcome_correct === true);
    return Math.exp(quantile(good.map((review) => Math.log(review.time_to_decision_ms)), 0.5));
  }).sort((a, b) => a - b);
  const middle = medians.length >> 1;
  const { reference_ms: fitted } = timesOf([...own, one])!.after;
  assert.ok(fitted >= Math.floor(medians[middle - 1]!) - 1);
  assert.ok(fitted <= Math.ceil(medians[Math.min(middle + 1, medians.length - 1)]!) + 1);
});

holds("times that are all longer by a factor give a reference that is longer by it", [
  fc.array(judge, { minLength: 5, maxLength: 8 }),
  fc.integer({ min: 11, max: 40 }),
], (judges, tenths) => {
  const scaled = (factor: number) =>
    timesOf(judges.map((own) => ({
      ...own,
      times: own.times.map((ms) => (10_000 + ms % 10_000) * factor),
    })))!.after.reference_ms;
  const [one, other] = [scaled(1), scaled(tenths / 10)];
  assert.ok(Math.abs(other / one - tenths / 10) < 0.001, `${one} and ${other}`);
});
