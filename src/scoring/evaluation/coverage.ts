/**
 * Whether intervals hold what they claim to hold. There are two claims, and they are told apart:
 *
 * - The predictive interval of a count holds how many of a person's next decisions will be of one kind. It has
 *   the uncertainty of the rate and the chance of the draws (Box 1980; Gneiting, Balabdaoui and Raftery 2007).
 * - The interval of a rate holds the person's own long-run rate. Only a long row of decisions shows that rate, and
 *   the share of such a row still has chance in it.
 */
import { exp, ln } from "../arithmetic.ts";
import type { Counts } from "./rates.ts";

/** Probability inside of an interval, at least. */
const LEVEL = 0.9;

/** Fewest decisions of a kind whose share is taken for a person's long-run rate. */
export const LONG_HISTORY = 50;

/** How probable each rate is for one person, at rising points. */
export interface RateDistribution {
  readonly rates: readonly number[];
  readonly probabilities: readonly number[];
}

/** A person's count that was foretold, and what came. */
export interface ForetoldCount {
  readonly distribution: RateDistribution;
  readonly came: Counts;
}

/** Coverage of the intervals of counts. */
export interface CountCoverage {
  /** People with a decision held back. */
  readonly people: number;
  /**
   * Mean probability that the model gives its own intervals, 0..1: at least 0.9, and more where few decisions were
   * held back, because counts are whole. Null without people.
   */
  readonly foretold: number | null;
  /** Share of people whose count lay in the interval, 0..1; null without people. */
  readonly came: number | null;
}

/** Coverage of the intervals of rates. */
export interface RateCoverage {
  /** People with at least {@link LONG_HISTORY} decisions held back. */
  readonly people: number;
  /** Share of people whose share of decisions lay in the interval of the rate, 0..1; null without people. */
  readonly came: number | null;
}

/** A count's interval, ends included, and its probability, 0..1. */
export interface CountInterval {
  readonly low: number;
  readonly high: number;
  readonly probability: number;
}

/**
 * The narrowest interval with at least {@link LEVEL}, of several the most probable: draws from a rate that is itself
 * uncertain. An interval with equal tails would hold more, because a count that ends at 0 or at all has one tail.
 */
export function countInterval({ rates, probabilities }: RateDistribution, draws: number): CountInterval {
  const counts = countProbabilities({ rates, probabilities }, draws);
  let best: CountInterval = { low: 0, high: draws, probability: 1 };
  let high = -1;
  let inside = 0;
  for (let low = 0; low <= draws; low += 1) {
    while (inside < LEVEL && high < draws) {
      high += 1;
      inside = inside + counts[high]!;
    }
    if (inside < LEVEL) break;
    const width = high - low - (best.high - best.low);
    if (width < 0 || (width === 0 && inside > best.probability)) best = { low, high, probability: inside };
    inside = inside - counts[low]!;
  }
  return best;
}

/** The probability of each count from 0 to `draws`: binomial at each rate, weighted by the rate's probability. */
function countProbabilities({ rates, probabilities }: RateDistribution, draws: number): Float64Array {
  const counts = new Float64Array(draws + 1);
  const ways = logsOfWays(draws);
  for (const [index, rate] of rates.entries()) {
    const [yes, no] = [ln(rate), ln(1 - rate)];
    for (let count = 0; count <= draws; count += 1) {
      const log = ways[count]! + count * yes + (draws - count) * no;
      counts[count] = counts[count]! + probabilities[index]! * exp(Math.min(0, log));
    }
  }
  return counts;
}

/** ln of the binomial coefficients. */
function logsOfWays(draws: number): Float64Array {
  const logs = new Float64Array(draws + 1);
  for (let count = 1; count <= draws; count += 1) {
    logs[count] = logs[count - 1]! + ln(draws - count + 1) - ln(count);
  }
  return logs;
}

/** How often counts lay in their predictive intervals. People without a decision held back do not count. */
export function countCoverage(people: readonly ForetoldCount[]): CountCoverage {
  let [count, foretold, came] = [0, 0, 0];
  for (const { distribution, came: { yes, all } } of people) {
    if (all === 0) continue;
    const { low, high, probability } = countInterval(distribution, all);
    count += 1;
    foretold += probability;
    if (low <= yes && yes <= high) came += 1;
  }
  if (count === 0) return { people: 0, foretold: null, came: null };
  return { people: count, foretold: foretold / count, came: came / count };
}

/** How often the share of a long row of decisions lay in the interval of the rate. */
export function rateCoverage(
  people: readonly { readonly low: number; readonly high: number; readonly came: Counts }[],
): RateCoverage {
  const long = people.filter(({ came }) => came.all >= LONG_HISTORY);
  const inside = long.filter(({ low, high, came: { yes, all } }) => low <= yes / all && yes / all <= high);
  return { people: long.length, came: long.length === 0 ? null : inside.length / long.length };
}
