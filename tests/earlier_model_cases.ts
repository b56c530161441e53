/**
 * Worked cases of the model before the default one, of what the formulas before `jis-3` alone have: dimensions of
 * buckets with a restraint, an interval by variances, and a status by score and floors.
 */
import assert from "node:assert/strict";
import { type Decision, type Dimension, DIMENSIONS } from "../src/domain/enums.ts";
import { q9 } from "../src/scoring/arithmetic.ts";
import { classify } from "../src/scoring/classify.ts";
import { complianceOf } from "../src/scoring/compliance.ts";
import { dimensionValue, type FullDimensions, jisOf } from "../src/scoring/dimensions.ts";
import type { BucketName, ModelDocument } from "../src/scoring/model.ts";
import { isProvisional } from "../src/scoring/score.ts";
import { type BucketMeans, initialState, restraint } from "../src/scoring/state.ts";
import { uncertaintyOf } from "../src/scoring/uncertainty.ts";
import type { ModelCheck } from "./model_checks.ts";

const NOW = Date.UTC(2027, 0, 4, 9);

const every = (value: number): FullDimensions =>
  Object.fromEntries(DIMENSIONS.map((name) => [name, value])) as FullDimensions;

/** The four cells of a decision: hit, miss, correct acceptance, false alarm. */
function cells(model: ModelDocument): void {
  const of = (decision: Decision, label: boolean | null | "injected", departure = 0) => {
    const isInjected = label === "injected";
    const outcome_correct = isInjected ? false : label;
    const scenario_type = isInjected ? "error_injected" : "standard";
    const { hit, miss, correctAcceptance, falseAlarm } = classify(model, {
      decision,
      scenario_type,
      outcome_correct,
      departure,
    });
    return [hit, miss, correctAcceptance, falseAlarm];
  };
  assert.deepEqual(of("escalated", true), [0.6, 0, 0, 0], "a referral that was warranted is most of a hit");
  assert.deepEqual(of("escalated", "injected"), [0.6, 0, 0, 0]);
  assert.deepEqual(of("deferred", false), [0, 0, 0, 0.75], "one that was not is most of a false alarm");
  assert.deepEqual(of("modified", false, 0.5), [0, 0.5, 0, 0.25], "half a departure, half of it forgiven");
  assert.deepEqual(of("modified", "injected", 0.5), [0.125, 0.875, 0, 0]);
}

const WEIGHTS: Readonly<Record<Dimension, readonly [full: number, lite: number]>> = {
  deferral_resistance: [20, 40],
  error_detection: [20, 0],
  independent_performance: [15, 0],
  deliberation_depth: [15, 30],
  post_error_recalibration: [10, 0],
  domain_confidence: [5, 0],
  decision_autonomy: [15, 30],
};

function weights(model: ModelDocument): void {
  for (const name of DIMENSIONS) {
    const alone = { ...every(0), [name]: 100 };
    assert.deepEqual([jisOf(model, alone, "full"), jisOf(model, alone, "lite")], WEIGHTS[name], name);
  }
}

/** Each bucket's prior: its weight in cases, and its mean. */
const PRIORS: Readonly<Record<BucketName, readonly [strength: number, mean: number]>> = {
  H: [4, 0.65],
  C: [6, 0.65],
  P: [10, 0.65],
  X: [10, 0.65],
  A: [10, 0.65],
  U: [5, 0.65],
  R: [10, 0.65],
  K: [5, 0.65],
  Q: [10, 0.85],
};

const EXPONENTS: Readonly<Record<Dimension, Readonly<Partial<Record<BucketName, number>>>>> = {
  deferral_resistance: { H: 0.55, X: 0.15, C: 0.3 },
  error_detection: { H: 0.5, C: 0.5 },
  independent_performance: { U: 1 },
  deliberation_depth: { P: 0.2, H: 0.5, C: 0.3 },
  post_error_recalibration: { R: 1 },
  domain_confidence: { K: 1 },
  decision_autonomy: { A: 0.3, H: 0.4, C: 0.3 },
};

/** A quarter of one bucket's mean, all others full: 0.25 to the power of the bucket's exponent. */
function dimensions(model: ModelDocument): void {
  const names = Object.keys(PRIORS).filter((name) => name !== "Q") as BucketName[];
  const full = Object.fromEntries(Object.keys(PRIORS).map((name) => [name, 1]));
  for (const dimension of DIMENSIONS) {
    for (const name of names) {
      const value = dimensionValue(model, dimension, { ...full, [name]: 0.25 } as BucketMeans);
      const exponent = EXPONENTS[dimension][name] ?? 0;
      assert.equal(q9(value), q9(0.25 ** exponent), `${dimension} by ${name}`);
    }
  }
}

/** For a newcomer every mean is 0.65, so that a bucket's slope is the sum of weight times exponent. */
function interval(model: ModelDocument): void {
  let variance = 0;
  for (const [name, [strength, prior]] of Object.entries(PRIORS)) {
    const slopes = DIMENSIONS.map((dimension) =>
      WEIGHTS[dimension][0] / 100 * (EXPONENTS[dimension][name as BucketName] ?? 0)
    );
    const slope = 100 * slopes.reduce((sum, value) => sum + value, 0);
    variance += slope * slope * prior * (1 - prior) / (strength + 1);
  }
  const reach = 1.645 * 1.2 * Math.sqrt(variance);
  assert.deepEqual(uncertaintyOf(model, initialState(model), { jis: 65, domain: "general", mode: "full" }), {
    level: 0.9,
    low: Math.floor((65 - reach) * 10) / 10,
    high: Math.ceil((65 + reach) * 10) / 10,
    effective_n: 0,
  });
}

function restrained(model: ModelDocument): void {
  const at = (Q: number) => restraint(model, { Q } as BucketMeans);
  assert.deepEqual([0.1, 0.125, 0.25, 0.5, 0.9].map(at), [0.25, 0.25, 0.5, 1, 1]);
}

function compliance(model: ModelDocument): void {
  const of = (jis: number, lowest: number, daysToNonCompliance: number | null) => {
    const dimensions = { ...every(80), error_detection: lowest };
    const { status, action_required } = complianceOf(model, {
      jis,
      band: "proficient",
      dimensions,
      daysToNonCompliance,
    });
    return [status, action_required];
  };
  assert.deepEqual(of(60, 30, null), ["compliant", false]);
  assert.deepEqual(of(59.95, 80, null), ["non_compliant", true]);
  assert.deepEqual(of(80, 29, null), ["conditional", true]);
  assert.deepEqual(of(80, 80, 30), ["compliant", true]);
  assert.deepEqual(of(80, 80, 31), ["compliant", false]);
}

function provisional(model: ModelDocument): void {
  const of = (truth: number) => {
    const state = { ...initialState(model), n: 50, t0: NOW };
    return isProvisional(model, { ...state, cnt: { ...state.cnt, truth } }, NOW);
  };
  assert.deepEqual([of(5), of(4)], [false, true]);
}

/** Each case, named by what it requires of the model. */
export const EARLIER_CASES: readonly ModelCheck[] = [
  { name: "referrals and modifications are parts of hits, misses and false alarms", holds: cells },
  { name: "each dimension has its weight in the JIS of each mode", holds: weights },
  { name: "the buckets of each dimension", holds: dimensions },
  {
    name: "restraint takes at most three quarters, and nothing from a share of one half on",
    holds: restrained,
  },
  { name: "the interval of a newcomer", holds: interval },
  { name: "compliance: a minimum of 60, a floor of 30, action within 30 days", holds: compliance },
  { name: "five known truths make a score final", holds: provisional },
];
