/**
 * The arithmetic of the scoring model: `exp`, `ln`, rounding and quantising, bit for bit the same in every
 * IEEE-754 language.
 *
 * Everything here is + − × ÷, floor and comparisons in one fixed order, each operation rounded to binary64.
 * The engine's own `Math.exp`, `Math.log`, `Math.pow` and `Math.round` are never used in scoring, because
 * ECMAScript leaves their last bits to the implementation and a replay years later must agree to the bit.
 * Source: scoring model, Read first, point 2, and section 0; vectors in `tests/vectors/scoring/exp-ln.json`.
 */

/** ln 2, and its split into the leading 40 bits and the rest. */
const LN2 = 0.69314718055994529;
const LN2_HI = 0.69314718055920821;
const LN2_LO = 7.3710025651677989e-13;
/** √2 and √½: the bounds between which the mantissa is brought before the series is summed. */
const SQRT2 = 1.4142135623730951;
const SQRT1_2 = 0.70710678118654757;

const FACTORIALS = [1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880, 3628800, 39916800, 479001600, 6227020800];

/** Below this `exp` is 0; above {@link EXP_MAX} it is refused. */
const EXP_MIN = -700;
const EXP_MAX = 700;
const SMALLEST_NORMAL = 2.2250738585072014e-308;

/**
 * Natural logarithm of a positive normal number, at most 1 ulp from the exact value.
 *
 * Ten terms of 2·(s + s³/3 + s⁵/5 + …), by Horner, with s = (m − 1)/(m + 1) and m the mantissa in [√½, √2].
 * @throws {RangeError} if `x` is not a positive, finite, normal number.
 */
export function ln(x: number): number {
  if (!(x >= SMALLEST_NORMAL && x < Infinity)) throw new RangeError(`ln of ${x}`);
  let m = x;
  let e = 0;
  while (m > SQRT2) {
    m = m * 0.5;
    e = e + 1;
  }
  while (m < SQRT1_2) {
    m = m * 2;
    e = e - 1;
  }
  const f = m - 1;
  const s = f / (m + 1);
  const z = s * s;
  let q = 1 / 21;
  for (let n = 19; n >= 3; n -= 2) q = q * z + 1 / n;
  return e * LN2_HI + (f - (s * (f - 2 * (z * q)) - e * LN2_LO));
}

/**
 * e^x for x ≤ 700; 0 below −700; at most 1 ulp from the exact value.
 *
 * Taylor to degree 13, by Horner, on the remainder r with x = k·ln 2 + r, then |k| exact doublings or halvings.
 * @throws {RangeError} if `x` is above 700 or not a number.
 */
export function exp(x: number): number {
  if (!(x <= EXP_MAX)) throw new RangeError(`exp of ${x}`);
  if (x < EXP_MIN) return 0;
  const k = Math.floor(x / LN2 + 0.5);
  const r = (x - k * LN2_HI) - k * LN2_LO;
  let p = 1 / FACTORIALS[13]!;
  for (let n = 12; n >= 2; n -= 1) p = p * r + 1 / FACTORIALS[n]!;
  let y = 1 + (r + (r * r) * p);
  for (let i = 0; i < k; i += 1) y = y * 2;
  for (let i = 0; i > k; i -= 1) y = y * 0.5;
  return y;
}

/** x^p for positive x, as exp(p·ln x). */
export function power(x: number, p: number): number {
  return exp(p * ln(x));
}

/** floor(x + ½), everywhere, negatives included: the model's one rounding rule. */
export function round(x: number): number {
  return Math.floor(x + 0.5);
}

/** Rounds to `decimals` places, 0 to 9, by {@link round}. */
export function roundTo(x: number, decimals: number): number {
  let scale = 1;
  for (let i = 0; i < decimals; i += 1) scale = scale * 10;
  return round(x * scale) / scale;
}

/**
 * Quantises to 1e-9. The computed numbers of an operator's state are quantised, which keeps stored states
 * short.
 */
export function q9(x: number): number {
  return round(x * 1e9) / 1e9;
}

export function clamp(x: number, low: number, high: number): number {
  return Math.min(Math.max(x, low), high);
}

/** A unit value as an integer dimension, 0 to 100, quantised to 1e-6 first. */
export function toDimension(x: number): number {
  return clamp(round(round(x * 1e6) / 1e4), 0, 100);
}
