/** Exact intervals of a proportion, for counts that people read. No score depends on them. */

/** A share, 0..1, with its exact interval. */
export interface Proportion {
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** Halvings of the interval in which a bound is looked for: more than a double can tell apart. */
const HALVINGS = 60;
/** Terms below this part of the first one change no digit. */
const NEGLIGIBLE = 1e-18;

/**
 * The share of `successes` among `trials`, with the interval of Clopper and Pearson (Biometrika 26, 1934): it holds the
 * true share with at least `level`, however few the trials are. Null if there are none.
 * @param level 0 to 1; default 0.95.
 * @throws {RangeError} unless both are whole numbers and 0 ≤ successes ≤ trials.
 */
export function exactProportion(successes: number, trials: number, level = 0.95): Proportion | null {
  if (
    !Number.isSafeInteger(trials) || !Number.isSafeInteger(successes) || successes < 0 || successes > trials
  ) {
    throw new RangeError(`${successes} of ${trials}`);
  }
  if (trials === 0) return null;
  const tail = (1 - level) / 2;
  const failures = trials - successes;
  return {
    share: successes / trials,
    low: successes === 0 ? 0 : 1 - largest((share) => atMost(failures, trials, share) >= tail),
    high: failures === 0 ? 1 : largest((share) => atMost(successes, trials, share) >= tail),
  };
}

/** The largest share at which a condition holds that holds up to some share. */
function largest(holds: (share: number) => boolean): number {
  let [low, high] = [0, 1];
  for (let halving = 0; halving < HALVINGS; halving += 1) {
    const middle = (low + high) / 2;
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** The probability of at most `most` successes in `trials` with a share between 0 and 1. */
function atMost(most: number, trials: number, share: number): number {
  // The largest term of the sum: all others are smaller the further they are from it.
  const from = Math.min(most, Math.floor((trials + 1) * share));
  let logarithm = trials * Math.log1p(-share);
  const odds = share / (1 - share);
  for (let count = 1; count <= from; count += 1) {
    logarithm += Math.log((trials - count + 1) / count) + Math.log(odds);
  }
  let sum = 1;
  for (let count = from, term = 1; count > 0 && term > NEGLIGIBLE; count -= 1) {
    term *= count / ((trials - count + 1) * odds);
    sum += term;
  }
  for (let count = from, term = 1; count < most && term > NEGLIGIBLE; count += 1) {
    term *= (trials - count) * odds / (count + 1);
    sum += term;
  }
  return Math.min(1, Math.exp(logarithm) * sum);
}
