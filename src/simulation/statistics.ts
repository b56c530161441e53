/** The few statistics of the validation. Samples are not empty. */

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The share of the values, 0..1, for which `holds` is true. */
export function shareOf<Value>(values: readonly Value[], holds: (value: Value) => boolean): number {
  return values.filter(holds).length / values.length;
}

/** A quantile, 0..1, linear between order statistics (Hyndman and Fan 1996, type 7). */
export function quantile(values: readonly number[], at: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  const place = at * (sorted.length - 1);
  const below = Math.floor(place);
  const [low, high] = [sorted[below]!, sorted[Math.min(below + 1, sorted.length - 1)]!];
  return low + (high - low) * (place - below);
}

/** Ranks from 1, in the order of the values; equal values share the middle of their ranks. */
export function midranks(values: readonly number[]): readonly number[] {
  const order = values.map((_, index) => index).sort((one, other) => values[one]! - values[other]!);
  const ranks = new Array<number>(values.length);
  for (let from = 0; from < order.length;) {
    let to = from;
    while (to < order.length && values[order[to]!] === values[order[from]!]) to += 1;
    for (const index of order.slice(from, to)) ranks[index] = (from + 1 + to) / 2;
    from = to;
  }
  return ranks;
}

/** Spearman's rank correlation, ties shared: -1..1; NaN if one side is constant. */
export function spearman(one: readonly number[], other: readonly number[]): number {
  return correlation(midranks(one), midranks(other));
}

/** Pearson's correlation, -1..1; NaN if one side is constant. */
export function correlation(one: readonly number[], other: readonly number[]): number {
  const [middleOne, middleOther] = [mean(one), mean(other)];
  const sum = (product: (index: number) => number) =>
    one.reduce((total, _, index) => total + product(index), 0);
  const spread = (values: readonly number[], middle: number) =>
    sum((index) => (values[index]! - middle) ** 2);
  return sum((index) => (one[index]! - middleOne) * (other[index]! - middleOther)) /
    Math.sqrt(spread(one, middleOne) * spread(other, middleOther));
}

/**
 * The area under the ROC curve, 0..1: how often a value of the first sample is above one of the second; a tie counts half
 * (Hanley and McNeil 1982).
 */
export function auc(above: readonly number[], below: readonly number[]): number {
  const ranks = midranks([...above, ...below]);
  const sum = ranks.slice(0, above.length).reduce((total, rank) => total + rank, 0);
  return (sum - above.length * (above.length + 1) / 2) / (above.length * below.length);
}

/**
 * The standard error of a statistic of a sample, by leaving out one value after the other (Efron and Stein 1981).
 * `of` gets the indices that remain. NaN with fewer than two values.
 */
export function jackknifeError(size: number, of: (indices: readonly number[]) => number): number {
  const all = Array.from({ length: size }, (_, index) => index);
  const without = all.map((left) => of(all.filter((index) => index !== left)));
  const middle = mean(without);
  const squares = without.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  return size < 2 ? NaN : Math.sqrt(squares * (size - 1) / size);
}

/** Coefficients of the rational approximations in {@link normalQuantile}: the middle, then the tails. */
const MIDDLE = {
  above: [
    -39.69683028665376,
    220.9460984245205,
    -275.9285104469687,
    138.357751867269,
    -30.66479806614716,
    2.506628277459239,
  ],
  below: [
    -54.47609879822406,
    161.5858368580409,
    -155.6989798598866,
    66.80131188771972,
    -13.28068155288572,
    1,
  ],
};
const TAILS = {
  above: [
    -0.007784894002430293,
    -0.3223964580411365,
    -2.400758277161838,
    -2.549732539343734,
    4.374664141464968,
    2.938163982698783,
  ],
  below: [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416, 1],
};
const TAIL_BELOW = 0.02425;

/** The quantile of the standard normal distribution, for 0 < at < 1; relative error below 1.2e-9 (Acklam 2003). */
export function normalQuantile(at: number): number {
  const ratio = ({ above, below }: typeof TAILS, x: number) => {
    const polynomial = (coefficients: readonly number[]) =>
      coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0);
    return polynomial(above) / polynomial(below);
  };
  if (at < TAIL_BELOW) return ratio(TAILS, Math.sqrt(-2 * Math.log(at)));
  if (at > 1 - TAIL_BELOW) return -ratio(TAILS, Math.sqrt(-2 * Math.log(1 - at)));
  const middle = at - 0.5;
  return middle * ratio(MIDDLE, middle * middle);
}

/** A correlation; 0 for a measure that is the same for everybody, which orders nobody. */
export function orNone(correlation: number): number {
  return Number.isNaN(correlation) ? 0 : correlation;
}
