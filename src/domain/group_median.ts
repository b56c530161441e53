/** The interval of a group's median score, when each member's score is itself known within an interval. No score depends on it. */

/** A member's score with its interval, in points. */
export interface Measured {
  readonly jis: number;
  readonly low: number;
  readonly high: number;
}

/** The normal quantile that leaves 5 % on one side: the half width of a 90 % interval, in standard deviations. */
const HALF_WIDTH_90 = 1.6448536269514722;
/** The share of the median's distribution that each end of its interval leaves outside. */
const TAIL = 0.05;
/** Members up to which the distribution is summed exactly; the normal distribution takes its place above. */
const EXACT_MEMBERS = 64;
/** Halvings of 100 points until the rest is far below a hundredth. */
const HALVINGS = 24;

/**
 * The 90 % interval of the median score of a group, in points with two decimals: the uncertainty that the members' own intervals
 * leave, and not that of another group. Each true score is taken as independent and normal, with the spread of the member's
 * interval on either side. The median is at most x if at least half of the members are, which is a sum of independent trials with
 * unequal chances (the Poisson binomial distribution; David and Nagaraja, Order Statistics, 3rd edition, section 5.2). With an even
 * number the ends are the means of those of both middle ranks: few people then have an interval that is a little too wide. Null for
 * no member.
 * @param members intervals of 90 %, each with low ≤ jis ≤ high.
 */
export function medianInterval(
  members: readonly Measured[],
): { readonly low: number; readonly high: number } | null {
  if (members.length === 0) return null;
  const middle = (members.length + 1) >> 1;
  const ranks = members.length % 2 === 1 ? [middle] : [middle, middle + 1];
  const end = (probability: number) => {
    const scores = ranks.map((rank) => quantile(members, { rank, probability }));
    return Math.round(scores.reduce((sum, score) => sum + score, 0) / scores.length * 100) / 100;
  };
  return { low: end(TAIL), high: end(1 - TAIL) };
}

/** The score that the true score at a rank, from 1 for the lowest, is at most with a probability. */
function quantile(
  members: readonly Measured[],
  { rank, probability }: { readonly rank: number; readonly probability: number },
): number {
  let [low, high] = [0, 100];
  for (let halving = 0; halving < HALVINGS; halving += 1) {
    const middle = (low + high) / 2;
    if (atLeast(members.map((member) => chanceAtMost(member, middle)), rank) < probability) low = middle;
    else high = middle;
  }
  return high;
}

/** The probability that a member's true score is at most `score`. */
function chanceAtMost({ jis, low, high }: Measured, score: number): number {
  const distance = score - jis;
  const spread = (distance < 0 ? jis - low : high - jis) / HALF_WIDTH_90;
  if (spread <= 0) return distance < 0 ? 0 : 1;
  return normal(distance / spread);
}

/** The probability of at least `count` successes in trials with these chances. */
function atLeast(chances: readonly number[], count: number): number {
  if (chances.length > EXACT_MEMBERS) {
    const mean = chances.reduce((sum, chance) => sum + chance, 0);
    const variance = chances.reduce((sum, chance) => sum + chance * (1 - chance), 0);
    // A count from `count` on begins half a step below it.
    if (variance === 0) return mean >= count - 0.5 ? 1 : 0;
    return normal((mean - count + 0.5) / Math.sqrt(variance));
  }
  let sums = [1];
  for (const chance of chances) {
    const next = new Array<number>(sums.length + 1).fill(0);
    for (const [successes, probability] of sums.entries()) {
      next[successes]! += probability * (1 - chance);
      next[successes + 1]! += probability * chance;
    }
    sums = next;
  }
  return sums.slice(count).reduce((sum, probability) => sum + probability, 0);
}

/**
 * The standard normal distribution function, within 1.5e-7.
 * Source: Abramowitz and Stegun, Handbook of Mathematical Functions, formula 7.1.26.
 */
function normal(deviations: number): number {
  const x = Math.abs(deviations) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const polynomial = t *
    (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const tail = polynomial * Math.exp(-x * x) / 2;
  return deviations < 0 ? tail : 1 - tail;
}
