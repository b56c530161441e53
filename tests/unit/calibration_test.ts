/**
 * Calibration: the cases that count, the limits of its values, and whether it finds known reviewers again.
 */
import assert from "node:assert/strict";
import type { Interaction } from "../../src/domain/interaction.ts";
import { calibrate, calibratedVersion } from "../../src/scoring/calibration/calibrate.ts";
import { LabelledCases } from "../../src/scoring/calibration/labelled_cases.ts";
import { modelSchema } from "../../src/scoring/model.ts";
import {
  type ArchetypeName,
  DEFAULT_ENVIRONMENT,
  drawInteraction,
  drawOperator,
  type Operator,
} from "../../src/simulation/archetypes.ts";
import { BAD } from "../../src/simulation/populations.ts";
import { seeded } from "../../src/simulation/random.ts";
import { quantile } from "../../src/simulation/statistics.ts";
import { casesOf, type Reviews, reviewsOf } from "../labelled_reviews.ts";
import { JIS_1_1_0 as model } from "../models.ts";

const BUILT_IN = model.domains.financial;
/** The least number of cases of each kind. */
const JUDGE: Reviews = { hits: 10, correct: 20, times: [60_000] };

function timesOf(operators: readonly (readonly Interaction[])[]) {
  return calibrate(model, casesOf(operators)).times[0]!;
}

function judges(count: number, reviews: Partial<Reviews> = {}) {
  return Array.from({ length: count }, () => reviewsOf({ ...JUDGE, ...reviews }));
}

// ---- times ------------------------------------------------------------------------------------------------

Deno.test("five operators who judge give a domain their median time, and the fast threshold keeps its proportion", () => {
  const medians = [30_000, 60_000, 90_000, 120_000, 240_000];
  const fit = timesOf(medians.map((ms) => reviewsOf({ ...JUDGE, times: [ms] })));
  assert.deepEqual(fit, {
    domain: "financial",
    operators: 5,
    enough_cases: 5,
    judging: 5,
    counted: 5,
    reviews: 150,
    before: { fast_ms: 2_000, reference_ms: 15_000 },
    medians_ms: [60_000, 90_000, 120_000],
    result: "fitted",
    after: { fast_ms: 12_000, reference_ms: 90_000 },
  });
});

Deno.test("with too few operators, cases of either kind or good reviews a domain keeps its times", () => {
  const kept = (operators: readonly (readonly Interaction[])[]) => {
    const { result, after, before, medians_ms } = timesOf(operators);
    assert.deepEqual([result, after, medians_ms], ["kept", before, null]);
  };
  assert.equal(timesOf(judges(5)).result, "fitted");
  kept(judges(4));
  kept([...judges(4), ...judges(1, { hits: 9 })]);
  kept([...judges(4), ...judges(1, { correct: 19 })]);
  // Reflexive acceptances are not good reviews; hits are, however fast.
  assert.equal(timesOf(judges(5, { correct: 20, hits: 20, times: [1_000] })).reviews, 100);
  assert.equal(timesOf(judges(5, { hits: 20, times: [2_000] })).result, "bounded");
  kept(judges(5, { hits: 19, times: [2_000] }));
});

Deno.test("an operator who always accepts, always departs, or barely discriminates does not count", () => {
  const counted = (reviews: Partial<Reviews>) => timesOf(judges(5, reviews)).judging;
  assert.equal(counted({}), 5);
  assert.equal(counted({ hits: 0, misses: 50, correct: 300 }), 0);
  assert.equal(counted({ hits: 50, correct: 0, alarms: 300 }), 0);
  // Exactly one half: 15/20 - 10/40. With one right acceptance less it is a little below.
  assert.equal(counted({ hits: 14, misses: 4, correct: 29, alarms: 9 }), 5);
  assert.equal(counted({ hits: 14, misses: 4, correct: 28, alarms: 9 }), 0);
});

Deno.test("modifications, referrals, cases without a label and cases without advice are not reviews", () => {
  const [plain] = judges(1);
  for (
    const fields of [
      { decision: "modified", modification_extent: 1, outcome_correct: true },
      { decision: "escalated", outcome_correct: true },
      { decision: "rejected", outcome_correct: null },
      { decision: "rejected", outcome_correct: true, scenario_type: "ai_withheld" },
    ] as const
  ) {
    const more = Array.from({ length: 40 }, (): Interaction => ({ ...plain![0]!, ...fields }));
    assert.equal(timesOf([[...plain!, ...more], ...judges(4)]).reviews, 150, fields.decision);
  }
  // An injected error that was caught is a hit, with and without a label.
  const caught = Array.from({ length: 7 }, (): Interaction => ({
    ...plain![0]!,
    scenario_type: "error_injected",
    outcome_correct: null,
  }));
  assert.equal(timesOf([[...plain!, ...caught], ...judges(4)]).reviews, 157);
});

Deno.test("times are kept between half of the built-in reference and half of the longest time that is measured", () => {
  const low = timesOf(judges(5, { times: [3_000] }));
  assert.deepEqual([low.result, low.after], ["bounded", { fast_ms: 1_000, reference_ms: 7_500 }]);
  const high = timesOf(judges(5, { times: [3_600_000] }));
  assert.deepEqual([high.result, high.after], ["bounded", { fast_ms: 40_000, reference_ms: 300_000 }]);
});

Deno.test("a second calibration on the same cases changes nothing more", () => {
  const cases = casesOf(judges(5, { times: [3_000] }));
  const first = calibrate(model, cases).document!;
  const again = new LabelledCases(first);
  judges(5, { times: [3_000] }).forEach((own, index) =>
    own.forEach((row) => again.add(`operator-${index}`, "financial", row))
  );
  const { document, isFitted } = calibrate(first, again);
  assert.deepEqual([document, isFitted], [null, true]);
});

Deno.test("if times have fallen, the next calibration uses cases that the last one called reflexive", () => {
  const { financial, ...others } = model.domains;
  const slow = {
    ...model,
    domains: { ...others, financial: { ...financial, fast_ms: 30_000, reference_ms: 200_000 } },
  };
  const cases = new LabelledCases(slow);
  judges(5, { times: [20_000] }).forEach((own, index) =>
    own.forEach((row) => cases.add(`operator-${index}`, "financial", row))
  );
  const [fit] = calibrate(slow, cases).times;
  assert.deepEqual([fit!.reviews, fit!.after.reference_ms], [150, 20_000]);
});

Deno.test("if good reviews spread widely the fast threshold is below nearly all of them", () => {
  const times = [3_000, ...Array.from({ length: 7 }, () => 60_000)];
  assert.equal(timesOf(judges(5, { times })).after.fast_ms, 3_000);
  // The spread of one operator counts once.
  assert.equal(timesOf([...judges(1, { times }), ...judges(5)]).after.fast_ms, 8_000);
});

// ---- priors -----------------------------------------------------------------------------------------------

const MIXED: Reviews = { hits: 13, misses: 7, correct: 17, alarms: 8, times: [60_000] };

function priorsOf(operators: readonly (readonly Interaction[])[]) {
  const { priors } = calibrate(model, casesOf(operators));
  return Object.fromEntries(priors.map((row) => [row.bucket, row])) as Record<
    string,
    (typeof priors)[number]
  >;
}

Deno.test("twenty operators give a prior the mean of their rates, within its bounds", () => {
  const twenty = Array.from({ length: 20 }, () => reviewsOf(MIXED));
  const { H, C, U } = priorsOf(twenty);
  assert.deepEqual([H!.operators, H!.cases, H!.rate, H!.after, H!.result], [20, 400, 0.65, 0.65, "fitted"]);
  assert.deepEqual([C!.operators, C!.cases, C!.rate, C!.after, C!.result], [20, 500, 0.68, 0.68, "fitted"]);
  assert.deepEqual([U!.operators, U!.rate, U!.after, U!.result], [0, null, 0.65, "kept"]);
  const kept = priorsOf(twenty.slice(1));
  assert.deepEqual([kept.H!.result, kept.C!.result], ["kept", "kept"]);
});

Deno.test("acceptances alone fit no prior, however many there are", () => {
  const stampers = Array.from(
    { length: 30 },
    () => reviewsOf({ hits: 0, misses: 9, correct: 500, times: [1_000] }),
  );
  const { H, C } = priorsOf(stampers);
  assert.deepEqual([H!.operators, H!.result, C!.operators, C!.result], [0, "kept", 0, "kept"]);
});

Deno.test("cases that were decided without the AI give U its prior", () => {
  const [row] = reviewsOf(JUDGE);
  const unaided = (right: number, wrong: number) =>
    [...Array(right).fill(true), ...Array(wrong).fill(false)].map((outcome_correct): Interaction => ({
      ...row!,
      scenario_type: "ai_withheld",
      outcome_correct,
    }));
  const { U } = priorsOf(Array.from({ length: 20 }, () => unaided(3, 7)));
  assert.deepEqual([U!.operators, U!.cases, U!.rate, U!.after, U!.result], [20, 200, 0.3, 0.61, "bounded"]);
  assert.equal(priorsOf(Array.from({ length: 20 }, () => unaided(3, 6))).U!.result, "kept");
});

Deno.test("the strength of a prior is estimated, and never written", () => {
  const random = seeded("strength");
  const operators = Array.from({ length: 600 }, () => {
    const [hit, right] = [random.beta(6, 4), random.beta(16, 4)];
    const drawn = (count: number, rate: number) =>
      Array.from({ length: count }, () => random.bernoulli(rate)).filter(Boolean).length;
    const [hits, correct] = [drawn(40, hit), drawn(40, right)];
    return reviewsOf({ hits, misses: 40 - hits, correct, alarms: 40 - correct, times: [60_000] });
  });
  const { document, priors: [H, C] } = calibrate(model, casesOf(operators));
  assert.ok(Math.abs(H!.rate! - 0.6) < 0.02 && Math.abs(C!.rate! - 0.8) < 0.02);
  assert.ok(Math.abs(H!.strength! - 10) < 2, `${H!.strength}`);
  assert.ok(Math.abs(C!.strength! - 20) < 4, `${C!.strength}`);
  for (const bucket of ["H", "C"] as const) {
    assert.equal(document!.buckets[bucket].prior_strength, model.buckets[bucket].prior_strength);
  }
  // If all operators are alike there is no estimate.
  assert.equal(priorsOf(Array.from({ length: 20 }, () => reviewsOf(MIXED))).H!.strength, null);
});

Deno.test("a prior stays if the document's minimum and target leave no room for it", () => {
  const cases = casesOf(Array.from({ length: 20 }, () => reviewsOf({ ...JUDGE, misses: 10 })));
  const narrow = { ...model, thresholds: { ...model.thresholds, min_jis: 64 } };
  assert.equal(calibrate(narrow, cases).priors[0]!.after, 0.65);
});

// ---- the document -----------------------------------------------------------------------------------------

Deno.test("the new document differs only in the fitted values, is valid, and leaves the model as it was", () => {
  const before = structuredClone(model);
  const { document } = calibrate(model, casesOf(judges(20)));
  assert.deepEqual(model, before);
  assert.deepEqual(modelSchema.parse(document), document);
  const expected = structuredClone(model);
  Object.assign(expected.domains.financial, { fast_ms: 8_000, reference_ms: 60_000 });
  for (const bucket of ["H", "C"] as const) expected.buckets[bucket].prior_mean = 0.69;
  assert.deepEqual(document, expected);
});

Deno.test("too little data is told apart from data that changes nothing", () => {
  const { isFitted, document } = calibrate(model, casesOf([]));
  assert.deepEqual([isFitted, document], [false, null]);
  const same = calibrate(model, casesOf(judges(5, { times: [15_000] })));
  assert.deepEqual([same.isFitted, same.document], [true, null]);
});

Deno.test("a calibrated version contains its base version, differs from it, and fits the schema for any base", () => {
  const hash = "0123456789abcdef".repeat(4);
  assert.equal(calibratedVersion("jis-1.0.0", hash), "jis-1.0.0+cal.0123456789ab");
  assert.equal(calibratedVersion("jis-1.0.0+cal.ffffffffffff", hash), "jis-1.0.0+cal.0123456789ab");
  const longest = calibratedVersion("a".repeat(64), hash);
  assert.ok(modelSchema.shape.version.safeParse(longest).success, longest);
});

// ---- simulated reviewers ----------------------------------------------------------------------------------

const HISTORY = 200;

function simulate(cases: LabelledCases, name: string, operator: Operator): void {
  const random = seeded(`calibration/${name}`);
  for (let index = 0; index < HISTORY; index += 1) {
    cases.add(name, "financial", drawInteraction(operator, index, DEFAULT_ENVIRONMENT, random));
  }
}

/** Independent reviewers whose median times vary around a common one. */
function honest(cases: LabelledCases, { around, seed }: { readonly around: number; readonly seed: number }) {
  const random = seeded(`honest/${seed}/${around}`);
  return Array.from({ length: 24 }, (_, index) => {
    const medianMs = random.lognormal(around, 0.3);
    simulate(cases, `honest-${seed}-${index}`, { ...drawOperator("independent", random), medianMs });
    return medianMs;
  });
}

Deno.test("the median time of 24 simulated reviewers with 200 cases each is estimated within 10 %", () => {
  for (const around of [8_000, 15_000, 60_000, 180_000]) {
    for (const seed of [1, 2, 3]) {
      const cases = new LabelledCases(model);
      const known = quantile(honest(cases, { around, seed }), 0.5);
      const { result, counted, after } = calibrate(model, cases).times[0]!;
      if (around > BUILT_IN.reference_ms) assert.equal(result, "fitted");
      assert.ok(counted >= 18, `${counted} of 24 count`);
      const expected = Math.max(known, BUILT_IN.reference_ms / 2);
      assert.ok(
        Math.abs(after.reference_ms / expected - 1) < 0.1,
        `${after.reference_ms}, expected ${expected}`,
      );
    }
  }
});

Deno.test("none of 200 operators who approve or depart without judging counts, and at least 90 % of independent ones do", () => {
  const judging = (kind: ArchetypeName) => {
    const cases = new LabelledCases(model);
    for (let index = 0; index < 200; index += 1) {
      simulate(cases, `${kind}-${index}`, drawOperator(kind, seeded(`judging/${kind}/${index}`)));
    }
    return calibrate(model, cases).times[0]!.judging;
  };
  for (const kind of BAD) assert.equal(judging(kind), 0, kind);
  assert.ok(judging("independent") >= 180);
});

Deno.test("twice as many operators who approve or depart without judging do not change the times of those who judge", () => {
  const alone = new LabelledCases(model);
  honest(alone, { around: 60_000, seed: 1 });
  const expected = calibrate(model, alone).times[0]!;
  for (const kind of BAD) {
    const cases = new LabelledCases(model);
    honest(cases, { around: 60_000, seed: 1 });
    for (let index = 0; index < 48; index += 1) {
      simulate(cases, `${kind}-${index}`, drawOperator(kind, seeded(`${kind}/${index}`)));
    }
    const fit = calibrate(model, cases).times[0]!;
    assert.equal(fit.operators, 72);
    assert.deepEqual([fit.counted, fit.after], [expected.counted, expected.after], kind);
  }
});
