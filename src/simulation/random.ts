/**
 * Seeded random numbers for the simulation: the same seed gives the same sequence.
 *
 * The generator is xoshiro128** 1.1 (Blackman and Vigna 2018, prng.di.unimi.it/xoshiro128starstar.c). It is no
 * source of secrets, and its draws are no evidence: the distributions use the engine's own `Math`, whose last bits
 * may differ between engines, so nothing that is replayed may depend on them.
 */

/** A stream of draws; every call advances it. */
export interface Random {
  /** Uniform in [low, high), by default [0, 1), with 53 random bits. */
  uniform(low?: number, high?: number): number;
  /** True with this probability, 0..1. */
  bernoulli(probability: number): boolean;
  /** Normal with this mean and standard deviation, by default 0 and 1. */
  normal(mean?: number, deviation?: number): number;
  /** Lognormal with this median (> 0); `sigma` is the standard deviation of the logarithm. */
  lognormal(median: number, sigma: number): number;
  /** Beta in 0..1; both shapes at least 1. */
  beta(a: number, b: number): number;
  /** Poisson count, for means from 0 to a few hundred. */
  poisson(mean: number): number;
  /**
   * One of the values, with a probability in proportion to its weight, or all with the same one if there are
   * no weights.
   * @throws {RangeError} if there are no values.
   */
  pick<Value>(values: readonly Value[], weights?: readonly number[]): Value;
}

type Words = [number, number, number, number];

const TWO_POW_26 = 67_108_864;
const TWO_POW_53 = 9_007_199_254_740_992;

/** FNV-1a's 32-bit offset basis and prime (Fowler, Noll and Vo). */
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** A generator for a seed; a number and its decimal text are the same seed. */
export function seeded(seed: number | string): Random {
  const text = String(seed);
  const state: Words = [hash(`0/${text}`), hash(`1/${text}`), hash(`2/${text}`), hash(`3/${text}`)];

  function uniform(low = 0, high = 1): number {
    const upper = nextWord(state) >>> 5;
    const lower = nextWord(state) >>> 6;
    return low + (high - low) * ((upper * TWO_POW_26 + lower) / TWO_POW_53);
  }

  function bernoulli(probability: number): boolean {
    return uniform() < probability;
  }

  /** Box and Muller (1958); the second value is dropped, so that a draw depends on the stream alone. */
  function normal(mean = 0, deviation = 1): number {
    const radius = Math.sqrt(-2 * Math.log(1 - uniform()));
    return mean + deviation * radius * Math.cos(2 * Math.PI * uniform());
  }

  function lognormal(median: number, sigma: number): number {
    return median * Math.exp(normal(0, sigma));
  }

  /** Marsaglia and Tsang (2000), for shapes of at least 1. */
  function gamma(shape: number): number {
    const d = shape - 1 / 3;
    const c = 1 / Math.sqrt(9 * d);
    for (;;) {
      const x = normal();
      const v = (1 + c * x) ** 3;
      if (v > 0 && Math.log(1 - uniform()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
    }
  }

  function beta(a: number, b: number): number {
    const x = gamma(a);
    return x / (x + gamma(b));
  }

  /** Knuth, The Art of Computer Programming, volume 2, section 3.4.1. */
  function poisson(mean: number): number {
    const limit = Math.exp(-mean);
    let count = 0;
    for (let product = uniform(); product > limit; product *= uniform()) count += 1;
    return count;
  }

  function pick<Value>(values: readonly Value[], weights?: readonly number[]): Value {
    if (values.length === 0) throw new RangeError("nothing to pick from");
    if (!weights) return values[Math.floor(uniform(0, values.length))]!;
    let rest = uniform(0, weights.reduce((sum, weight) => sum + weight, 0));
    const index = weights.findIndex((weight) => (rest -= weight) < 0);
    return values[index < 0 ? values.length - 1 : index]!;
  }

  return { uniform, bernoulli, normal, lognormal, beta, poisson, pick };
}

/**
 * FNV-1a over the text's UTF-16 units, finished as in MurmurHash3, so that similar seeds give different
 * states.
 */
function hash(text: string): number {
  let h = FNV_OFFSET;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), FNV_PRIME);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** The generator's next 32 bits, as a signed integer. */
function nextWord(state: Words): number {
  const scrambled = Math.imul(rotateLeft(Math.imul(state[1], 5), 7), 9);
  const shifted = state[1] << 9;
  state[2] ^= state[0];
  state[3] ^= state[1];
  state[1] ^= state[2];
  state[0] ^= state[3];
  state[2] ^= shifted;
  state[3] = rotateLeft(state[3], 11);
  return scrambled;
}

function rotateLeft(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
