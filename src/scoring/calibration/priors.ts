/**
 * Prior means of the buckets that count outcomes, by empirical Bayes: operators' rates as Beta-Binomial draws, by the
 * method of moments (Kleinman 1973) [7].
 *
 * H, C and U count outcomes that proved right or wrong. P, X, A, R and Q hold the model's judgement of
 * conduct: if they were fitted, common practice would be the norm, even if it is rubber-stamping. K follows
 * from the same outcomes as H and C. H and C are fitted from the same operators or not at all: C alone rises
 * if everything is accepted. Prior strengths are estimated for information and never written: if all
 * operators are alike they have no limit, and the first operator who differs would be hidden behind the
 * others.
 */
import { clamp, roundTo } from "../arithmetic.ts";
import { DEFAULT_MODEL_DOCUMENT, type ModelDocument } from "../model.ts";
import { hasEnoughCases, type LabelledCases, type Outcomes } from "./labelled_cases.ts";
import type { FitResult } from "./times.ts";

export const PRIOR_RULES = {
  /** Fewest cases decided without the AI of an operator that counts for U. */
  unaidedCases: 10,
  /** Fewest operators that count, for a prior to be fitted. */
  operators: 20,
} as const;

const DECIMALS = 3;

interface Rule {
  readonly counts: (of: Outcomes) => boolean;
  readonly right: (of: Outcomes) => number;
  readonly wrong: (of: Outcomes) => number;
}

/** For each fitted bucket: the test if an operator counts, and the operator's right and wrong cases. */
const RULES = {
  H: { counts: hasEnoughCases, right: ({ hits }) => hits, wrong: ({ misses }) => misses },
  C: {
    counts: hasEnoughCases,
    right: ({ correctAcceptances }) => correctAcceptances,
    wrong: ({ falseAlarms }) => falseAlarms,
  },
  U: {
    counts: ({ unaidedRight, unaidedWrong }) => unaidedRight + unaidedWrong >= PRIOR_RULES.unaidedCases,
    right: ({ unaidedRight }) => unaidedRight,
    wrong: ({ unaidedWrong }) => unaidedWrong,
  },
} as const satisfies Record<string, Rule>;
type FittedBucket = keyof typeof RULES;
export const FITTED_BUCKETS = Object.keys(RULES) as readonly FittedBucket[];

export interface PriorFit {
  readonly bucket: FittedBucket;
  /** Number of operators that count, and of their cases. */
  readonly operators: number;
  readonly cases: number;
  /** π, 0..1. */
  readonly before: number;
  /** The mean of the operators' rates, 0..1; null if nothing was fitted. */
  readonly rate: number | null;
  /**
   * n₀ of these operators, for information; null if nothing was fitted, or if rates differ by no more than
   * chance.
   */
  readonly strength: number | null;
  readonly result: FitResult;
  readonly after: number;
}

/** Fits the prior mean of a bucket. */
export function fitPrior(model: ModelDocument, bucket: FittedBucket, cases: LabelledCases): PriorFit {
  const { counts, right, wrong }: Rule = RULES[bucket];
  const counted = cases.ofOperators().filter(counts)
    .map((own) => ({ right: right(own), wrong: wrong(own) }))
    // A sum of fractions depends on the order of its terms.
    .sort((one, other) => one.right - other.right || one.wrong - other.wrong);
  const before = model.buckets[bucket].prior_mean;
  const shared = {
    bucket,
    operators: counted.length,
    cases: counted.reduce((total, row) => total + row.right + row.wrong, 0),
    before,
  };
  if (counted.length < PRIOR_RULES.operators) {
    return { ...shared, rate: null, strength: null, result: "kept", after: before };
  }
  const rates = counted.map((row) => row.right / (row.right + row.wrong));
  const rate = mean(rates);
  const [low, high] = priorBounds(model, bucket);
  const after = roundTo(clamp(rate, low, high), DECIMALS);
  return {
    ...shared,
    rate: roundTo(rate, DECIMALS),
    strength: strengthOf(rates, counted.map((row) => 1 / (row.right + row.wrong))),
    result: rate < low || rate > high ? "bounded" : "fitted",
    after,
  };
}

/**
 * The bounds of a prior, as far above the built-in one as below it. If all priors are at least a point above
 * the minimum and below the target, a new operator starts between these two (section 3.1). The bound above is
 * no farther than the bound below, because the means of H and C also give relief from the time that a review
 * takes, which must be earned.
 */
function priorBounds(
  model: ModelDocument,
  bucket: FittedBucket,
): readonly [low: number, high: number] {
  const { prior_mean } = DEFAULT_MODEL_DOCUMENT.buckets[bucket];
  const { min_jis, target_jis } = model.thresholds;
  const reach = Math.max(0, Math.min(prior_mean - (min_jis + 1) / 100, (target_jis - 1) / 100 - prior_mean));
  return [roundTo(prior_mean - reach, DECIMALS), roundTo(prior_mean + reach, DECIMALS)];
}

/**
 * n₀ = 1/ρ − 1; ρ follows from the variance of the rates, p(1−p)·(ρ + (1−ρ)·mean(1/n)). null if ρ is not
 * above 0.
 */
function strengthOf(rates: readonly number[], reciprocals: readonly number[]): number | null {
  const rate = mean(rates);
  const chance = mean(reciprocals);
  const variance = mean(rates.map((own) => (own - rate) * (own - rate))) * rates.length / (rates.length - 1);
  const correlation = (variance / (rate * (1 - rate)) - chance) / (1 - chance);
  return correlation > 0 ? roundTo(Math.max(0, 1 / correlation - 1), DECIMALS) : null;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
