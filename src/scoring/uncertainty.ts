/**
 * The interval around a score: the precision that the evidence so far gives it.
 *
 * First-order propagation: the variance of the unrounded JIS is a sum over the buckets. Each term is the
 * squared derivative of the JIS by the bucket's mean, times the Beta variance of that mean. The interval is
 * normal, centred on the reported JIS, scaled by a calibration factor that validation tunes, and rounded
 * outward. Source: scoring model, Read first, point 4.
 */
import type { Dimension, Domain, Mode } from "../domain/enums.ts";
import { clamp, roundTo } from "./arithmetic.ts";
import { computedDimensions, dimensionValue, dimensionWeight, FACTOR_ORDER } from "./dimensions.ts";
import type { BucketName, ModelDocument } from "./model.ts";
import { type BucketMeans, bucketMeans, domainBucket, type OperatorState } from "./state.ts";

export interface Uncertainty {
  /** Coverage that the interval claims, 0..1. */
  readonly level: number;
  /** JIS points, 0..100, one decimal. */
  readonly low: number;
  readonly high: number;
  /** Weight of evidence in H and C together: cases whose truth is known, one decimal. */
  readonly effective_n: number;
}

/** A dimension as a term of the JIS. */
interface Term {
  readonly row: ModelDocument["dimensions"][Dimension];
  readonly weight: number;
  /** The unit value, before it is rounded. */
  readonly value: number;
}

/** ∂JIS/∂mean of one bucket, in JIS points; 0 for Q if ρ_Q is clamped or at one of its kinks. */
function derivative(
  model: ModelDocument,
  name: BucketName,
  { means, terms }: { readonly means: BucketMeans; readonly terms: readonly Term[] },
): number {
  const ratio = means.Q / model.restraint.full_at;
  const restraintMoves = ratio > model.restraint.floor && ratio < 1;
  let sum = 0;
  for (const { row, weight, value } of terms) {
    const elasticity = name === "Q" ? (row.restraint && restraintMoves ? 1 : 0) : row.exponents?.[name] ?? 0;
    if (elasticity === 0) continue;
    sum += weight * (value * elasticity / means[name]);
  }
  return 100 * sum;
}

/** The interval of a JIS computed from `state` in this domain and mode. */
export function uncertaintyOf(
  model: ModelDocument,
  state: OperatorState,
  { jis, domain, mode }: { readonly jis: number; readonly domain: Domain; readonly mode: Mode },
): Uncertainty {
  const means = bucketMeans(model, state, domain);
  const terms = computedDimensions(model, mode).map((name) => ({
    row: model.dimensions[name],
    weight: dimensionWeight(model, name, mode),
    value: dimensionValue(model, name, means),
  }));
  let variance = 0;
  for (const name of [...FACTOR_ORDER, "Q"] as const) {
    const slope = derivative(model, name, { means, terms });
    if (slope === 0) continue;
    const [a, b] = name === "K" ? domainBucket(state, domain) : state.b[name];
    const m = means[name];
    variance += slope * slope * (m * (1 - m) / (a + b + model.buckets[name].prior_strength + 1));
  }
  const { level, z, calibration_factor } = model.uncertainty;
  const reach = z * Math.sqrt(variance) * calibration_factor;
  const { H, C } = state.b;
  return {
    level,
    low: clamp(Math.floor((jis - reach) * 10) / 10, 0, 100),
    high: clamp(Math.ceil((jis + reach) * 10) / 10, 0, 100),
    effective_n: roundTo(H[0] + H[1] + C[0] + C[1], 1),
  };
}
