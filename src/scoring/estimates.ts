/**
 * The posterior of `jis-3` in quantities for people, beside the score: both rates, how well the operator
 * tells wrong from right advice, what the operator leans to, and whether announced tests show another conduct.
 *
 * Nothing here enters a score or a verdict. Intervals hold the quantity with 90 %.
 */
import { clamp, roundTo } from "./arithmetic.ts";
import { Posterior, requireDiscrimination } from "./discrimination.ts";
import {
  allLive,
  allWork,
  casesOf,
  NO_PARTS,
  type Part,
  type PartsOfWork,
  unsealed,
  workToday,
} from "./known_cases.ts";
import type { ModelDocument } from "./model.ts";
import type { OperatorState } from "./state.ts";
import { errorRate } from "./points.ts";
import type { Verdict } from "./verdict.ts";

/** A quantity: its mean, and the interval that holds it with 90 %. */
export interface Estimate {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** A rate, 0..1, with the number of known cases behind it. */
export interface RateEstimate extends Estimate {
  readonly cases: number;
}

export interface RatePair {
  readonly departs_when_wrong: RateEstimate;
  readonly departs_when_right: RateEstimate;
}

/** Both rates in the work on which a verdict rests: `live` is all live work, for a part that has no rates of its own. */
export interface RatesBehind extends RatePair {
  readonly work: "live" | "high_stakes" | "critical";
}

/** In wire names; rates to four decimals, other quantities to two. */
export interface Estimates extends RatePair {
  /** How often the AI is wrong in the operator's own work, 0..1, as the verdict takes it. */
  readonly error_rate: number;
  /**
   * Logit of departing from wrong advice minus that of departing from right advice: 0 if the operator cannot tell
   * one from the other. It is the sensitivity d′ of a logistic signal detection model (DeCarlo 1998).
   */
  readonly sensitivity: Estimate;
  /** Minus the mean of both logits: above 0 the operator leans to follow the AI, below 0 to depart from it. */
  readonly criterion: Estimate;
  /** Both rates in live cases with high stakes, critical ones among them; null if no such case is known. */
  readonly high_stakes: RatePair | null;
  /** Both rates in critical live cases; null if no such case is known. */
  readonly critical: RatePair | null;
  /** Both rates in tests that the operator knew of; null if no such case is known. */
  readonly announced: RatePair | null;
  /**
   * How much better the operator tells wrong from right advice in announced tests than in live work: the difference of
   * (departs from wrong − departs from right), −2..2. Null unless both have as many known cases of wrong advice
   * as a verdict needs.
   */
  readonly exam_effect: Estimate | null;
  /** Both rates in sealed probes; null if none was decided. */
  readonly probes: RatePair | null;
  /**
   * How much better the operator tells wrong from right advice in sealed probes than in other live work, as
   * {@link Estimates.exam_effect}: above 0, probes are recognised.
   */
  readonly probe_effect: Estimate | null;
}

/** The share of the posterior that each interval holds. */
export const ESTIMATE_LEVEL = 0.9;
/** Share of the posterior on each side of an interval, and the normal quantile that leaves it. */
const TAIL = 0.05;
const NORMAL_QUANTILE = 1.645;

/** Null with the formulas before `jis-3`, which have no such estimates. */
export function estimatesOf(model: ModelDocument, { ev }: OperatorState): Estimates | null {
  if (model.discrimination === undefined) return null;
  const parts = ev ?? NO_PARTS;
  const live = partPosterior(model, allLive(parts));
  const announced = partPosterior(model, parts.a);
  const { wrong_cases: least } = requireDiscrimination(model);
  const work = allWork(parts);
  const probes = partPosterior(model, work.sealed);
  const labelled = partPosterior(model, unsealed(work));
  const effectOf = (of: PartPosterior, beside: PartPosterior) =>
    of.part[4] >= least && beside.part[4] >= least ? differenceOf(of.posterior, beside.posterior) : null;
  return {
    error_rate: errorRate(model, unsealed(work)),
    ...ratesOf(live),
    ...signalDetection(live.posterior),
    high_stakes: knownRates(graveWork(model, parts, "high_stakes")),
    critical: knownRates(graveWork(model, parts, "critical")),
    announced: knownRates(announced),
    exam_effect: effectOf(announced, live),
    probes: knownRates(probes),
    probe_effect: effectOf(probes, labelled),
  };
}

/** The rates behind a verdict on a part of the work, as {@link estimatesOf} has them; null with the formulas before `jis-3`. */
export function ratesBehind(
  model: ModelDocument,
  { ev }: OperatorState,
  part: Verdict["part"],
): RatesBehind | null {
  if (model.discrimination === undefined) return null;
  const parts = ev ?? NO_PARTS;
  const own = part === "high_stakes" || part === "critical"
    ? { work: part, rates: knownRates(graveWork(model, parts, part)) }
    : null;
  return own !== null && own.rates !== null
    ? { work: own.work, ...own.rates }
    : { work: "live", ...ratesOf(partPosterior(model, allLive(parts))) };
}

interface PartPosterior {
  readonly part: Part;
  readonly posterior: Posterior;
}

function partPosterior(model: ModelDocument, part: Part): PartPosterior {
  return { part, posterior: new Posterior(model, casesOf(part)) };
}

/** The live cases of these stakes, faded to the day to which the whole has faded, as a verdict reads them today. */
function graveWork(
  model: ModelDocument,
  parts: PartsOfWork,
  name: "high_stakes" | "critical",
): PartPosterior {
  return partPosterior(model, workToday(model, parts, name).natural);
}

/** Both rates; null if no case is known. */
function knownRates(of: PartPosterior): RatePair | null {
  return of.part[4] + of.part[5] === 0 ? null : ratesOf(of);
}

function ratesOf({ part, posterior }: PartPosterior): RatePair {
  const rate = (probabilities: readonly number[], cases: number): RateEstimate => ({
    ...rounded(estimateOf(posterior.rates, probabilities, { least: 0, most: 1 }), 4),
    cases,
  });
  return {
    departs_when_wrong: rate(posterior.ofWrongAdvice(), part[4]),
    departs_when_right: rate(posterior.ofRightAdvice(), part[5]),
  };
}

/** Both quantities lie on a lattice: the grid's logits are equally spaced. */
function signalDetection(
  { logits, weights, total }: Posterior,
): Pick<Estimates, "sensitivity" | "criterion"> {
  const size = logits.length;
  const steps = 2 * size - 1;
  const differences = new Array<number>(steps).fill(0);
  const sums = new Array<number>(steps).fill(0);
  for (let row = 0, cell = 0; row < size; row += 1) {
    for (let column = 0; column < size; column += 1, cell += 1) {
      const probability = weights[cell]! / total;
      differences[row - column + size - 1] = differences[row - column + size - 1]! + probability;
      // The criterion falls as both logits rise.
      sums[steps - 1 - row - column] = sums[steps - 1 - row - column]! + probability;
    }
  }
  const [first, second] = [logits[0]!, logits[1]!];
  const lattice = (step: number) => Array.from({ length: steps }, (_, index) => (index - size + 1) * step);
  return {
    sensitivity: rounded(estimateOf(lattice(second - first), differences), 2),
    criterion: rounded(estimateOf(lattice((second - first) / 2), sums), 2),
  };
}

/** The difference of two independent posteriors in h − f; its interval is normal. */
function differenceOf(one: Posterior, other: Posterior): Estimate {
  const [of, from] = [one, other].map((posterior) => {
    const mean = posterior.mean((h, f) => h - f);
    return { mean, variance: posterior.mean((h, f) => (h - f - mean) * (h - f - mean)) };
  }) as [Moments, Moments];
  const mean = of.mean - from.mean;
  const reach = NORMAL_QUANTILE * Math.sqrt(of.variance + from.variance);
  return rounded({ mean, low: clamp(mean - reach, -2, 2), high: clamp(mean + reach, -2, 2) }, 4);
}

interface Moments {
  readonly mean: number;
  readonly variance: number;
}

function rounded({ mean, low, high }: Estimate, decimals: number): Estimate {
  return { mean: roundTo(mean, decimals), low: roundTo(low, decimals), high: roundTo(high, decimals) };
}

/**
 * The mean and the 90 % interval of a quantity whose probabilities are known at rising points. Each point's
 * probability lies evenly between the middles towards its neighbours, and at the ends up to the bounds.
 */
export function estimateOf(
  points: readonly number[],
  probabilities: readonly number[],
  { least = points[0]!, most = points.at(-1)! }: { readonly least?: number; readonly most?: number } = {},
): Estimate {
  const quantile = (level: number): number => {
    let below = 0;
    for (const [index, probability] of probabilities.entries()) {
      if (below + probability >= level) {
        const from = index === 0 ? least : (points[index - 1]! + points[index]!) / 2;
        const to = index === points.length - 1 ? most : (points[index]! + points[index + 1]!) / 2;
        return from + (to - from) * ((level - below) / probability);
      }
      below += probability;
    }
    return most;
  };
  const mean = points.reduce((sum, point, index) => sum + point * probabilities[index]!, 0);
  return { mean, low: quantile(TAIL), high: quantile(1 - TAIL) };
}
