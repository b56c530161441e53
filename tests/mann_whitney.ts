/**
 * The rank test of Mann and Whitney: whether values of one sample tend to be greater than those of another, whatever
 * their distribution. Normal approximation with the correction for ties and for continuity (Hollander and Wolfe,
 * Nonparametric Statistical Methods, chapter 4).
 */

import { midranks } from "../src/simulation/statistics.ts";

export interface RankTest {
  /** Pairs in which the first sample's value is the greater one; a tie counts half. */
  readonly u: number;
  /** Standard deviations from the mean for samples of one distribution. */
  readonly z: number;
  /** Two-sided: how often samples of one distribution differ by this much. */
  readonly p: number;
}

/** Samples of at least 20 values each; for fewer the normal approximation is a rough one. */
export function mannWhitney(first: readonly number[], second: readonly number[]): RankTest {
  const [n, m] = [first.length, second.length];
  const ranks = midranks([...first, ...second]);
  const rankSum = ranks.slice(0, n).reduce((sum, rank) => sum + rank, 0);
  const ties = [...Map.groupBy(ranks, (rank) => rank).values()]
    .reduce((sum, { length }) => sum + length ** 3 - length, 0);
  const u = rankSum - (n * (n + 1)) / 2;
  const all = n + m;
  const variance = ((n * m) / 12) * (all + 1 - ties / (all * (all - 1)));
  const distance = u - (n * m) / 2;
  if (!(variance > 0)) return { u, z: 0, p: 1 };
  const z = Math.sign(distance) * Math.max(0, Math.abs(distance) - 0.5) / Math.sqrt(variance);
  return { u, z, p: Math.min(1, complementaryError(Math.abs(z) / Math.SQRT2)) };
}

/**
 * erfc of a number from 0 on, to a relative error of 1.2e-7 however small it is (Press et al., Numerical Recipes in C,
 * section 6.2, a Chebyshev fit).
 */
function complementaryError(x: number): number {
  const t = 1 / (1 + x / 2);
  const coefficients = [
    -1.26551223,
    1.00002368,
    0.37409196,
    0.09678418,
    -0.18628806,
    0.27886807,
    -1.13520398,
    1.48851587,
    -0.82215223,
    0.17087277,
  ];
  const polynomial = coefficients.reduceRight((sum, coefficient) => coefficient + t * sum, 0);
  return t * Math.exp(-x * x + polynomial);
}
