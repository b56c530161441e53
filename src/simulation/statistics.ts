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
