/**
 * How well a rate of a person foretells the person's next decisions, beside simple baselines: everybody's rate,
 * the person's own rate, and empirical Bayes, a beta-binomial fitted to all people (Kleinman 1973).
 *
 * Every term is summed in the order of the people, so that the same file always gives the same figures.
 */
import { exp, ln } from "../arithmetic.ts";

/** Decisions of one kind: those that the rate counts, and all. */
export interface Counts {
  readonly yes: number;
  readonly all: number;
}

/** A beta distribution of people's rates. */
export interface BetaPrior {
  readonly a: number;
  readonly b: number;
}

/** Bounds of the search for the concentration a + b: from people who hardly agree to people who are alike. */
const CONCENTRATION = { least: 0.5, most: 2000 } as const;
const MEAN = { least: 0.001, most: 0.999 } as const;
/** Steps of each golden-section search: the bracket shrinks below 1e-7 of its width. */
const STEPS = 34;
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** The person's own rate with half a case on each side (Krichevsky and Trofimov 1981), 0..1. */
export function ownRate({ yes, all }: Counts): number {
  return (yes + 0.5) / (all + 1);
}

/** The rate of all people together, by the same rule, 0..1. */
export function everybodysRate(people: readonly Counts[]): number {
  return ownRate({
    yes: people.reduce((sum, { yes }) => sum + yes, 0),
    all: people.reduce((sum, { all }) => sum + all, 0),
  });
}

/** The mean of a person's rate if people's rates are drawn from the prior, 0..1. */
export function shrunkenRate({ a, b }: BetaPrior, { yes, all }: Counts): number {
  return (a + yes) / (a + b + all);
}

/**
 * The beta distribution under which the people's counts are most probable; null if there are no two people with
 * cases.
 */
export function fitBeta(people: readonly Counts[]): BetaPrior | null {
  const known = people.filter(({ all }) => all > 0);
  if (known.length < 2) return null;
  const mean = (concentration: number) =>
    highest(MEAN.least, MEAN.most, (m) => logLikelihood(known, m, concentration));
  const spread = highest(ln(CONCENTRATION.least), ln(CONCENTRATION.most), (log) => {
    const concentration = exp(log);
    return logLikelihood(known, mean(concentration), concentration);
  });
  const concentration = exp(spread);
  const m = mean(concentration);
  return { a: m * concentration, b: (1 - m) * concentration };
}

/** ln of the probability of the counts, but for the binomial coefficients, which do not depend on the prior. */
function logLikelihood(people: readonly Counts[], mean: number, concentration: number): number {
  const a = mean * concentration;
  const b = concentration - a;
  let sum = 0;
  for (const { yes, all } of people) {
    for (let index = 0; index < yes; index += 1) sum += ln(a + index);
    for (let index = 0; index < all - yes; index += 1) sum += ln(b + index);
    for (let index = 0; index < all; index += 1) sum -= ln(concentration + index);
  }
  return sum;
}

/** Where a function with one peak is highest (golden-section search, Kiefer 1953). */
function highest(from: number, to: number, value: (at: number) => number): number {
  let [low, high] = [from, to];
  let [left, right] = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
  let [atLeft, atRight] = [value(left), value(right)];
  for (let step = 0; step < STEPS; step += 1) {
    if (atLeft >= atRight) {
      [high, right, atRight] = [right, left, atLeft];
      left = high - GOLDEN * (high - low);
      atLeft = value(left);
    } else {
      [low, left, atLeft] = [left, right, atRight];
      right = low + GOLDEN * (high - low);
      atRight = value(right);
    }
  }
  return (low + high) / 2;
}

/** One foretold rate and what came. */
export interface Foretold {
  /** 0..1. */
  readonly rate: number;
  readonly came: Counts;
}

/**
 * Mean negative log-probability of each decision, nats; lower is better. null if there is none. A rate of 0 or 1
 * that a decision contradicts has no end; no estimate here reaches either.
 */
export function logLoss(foretold: readonly Foretold[]): number | null {
  let [sum, all] = [0, 0];
  for (const { rate, came } of foretold) {
    if (came.yes > 0) sum -= came.yes * ln(rate);
    if (came.all > came.yes) sum -= (came.all - came.yes) * ln(1 - rate);
    all += came.all;
  }
  return all === 0 ? null : sum / all;
}

/** One row of a table of calibration. */
export interface CalibrationBin {
  /** The bin holds foretold rates from here, and below `to`, 0..1. */
  readonly from: number;
  readonly to: number;
  /** Number of decisions. */
  readonly decisions: number;
  /** Mean of the foretold rates, and share that came, 0..1. */
  readonly foretold: number;
  readonly came: number;
}

/** Foretold rates by tenths; tenths without a decision are left out. */
export function calibrationOf(foretold: readonly Foretold[]): readonly CalibrationBin[] {
  const bins = Array.from({ length: 10 }, () => ({ decisions: 0, foretold: 0, came: 0 }));
  for (const { rate, came } of foretold) {
    const bin = bins[Math.min(9, Math.floor(rate * 10))]!;
    bin.decisions += came.all;
    bin.foretold += rate * came.all;
    bin.came += came.yes;
  }
  return bins.flatMap(({ decisions, foretold: sum, came }, index) =>
    decisions === 0 ? [] : [{
      from: index / 10,
      to: (index + 1) / 10,
      decisions,
      foretold: sum / decisions,
      came: came / decisions,
    }]
  );
}
