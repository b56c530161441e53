/**
 * The seven dimensions, the JIS and its band.
 *
 * Each dimension is a weighted geometric mean of bucket means: neither deliberate-looking behaviour without
 * results nor results without any sign of scrutiny can carry one. The JIS is computed from the integer
 * dimensions, so that any client can recompute it from a response.
 * Source: scoring model, section 5; two success rates after [1][2][4].
 */
import { type Band, type Dimension, DIMENSIONS, type Mode } from "../domain/enums.ts";
import { power, roundTo, toDimension } from "./arithmetic.ts";
import type { BucketName, ModelDocument } from "./model.ts";
import { type BucketMeans, restraint } from "./state.ts";

export type Dimensions = Readonly<Partial<Record<Dimension, number>>>;
export type FullDimensions = Readonly<Record<Dimension, number>>;

/** A dimension's weight in the JIS of this mode, 0..1; 0 if the mode does not compute it. */
export function dimensionWeight(model: ModelDocument, name: Dimension, mode: Mode): number {
  const row = model.dimensions[name];
  return mode === "lite" ? row.lite_weight ?? 0 : row.weight;
}

/** The dimensions that this mode computes, in their fixed order. */
export function computedDimensions(model: ModelDocument, mode: Mode): readonly Dimension[] {
  if (model.discrimination === undefined) {
    return DIMENSIONS.filter((name) => dimensionWeight(model, name, mode) > 0);
  }
  return DIMENSIONS.filter((name) => mode === "full" || model.dimensions[name].lite_weight !== undefined);
}

/** The order in which factors are multiplied, whatever the order of the document's keys: replays agree to the bit. */
export const FACTOR_ORDER = ["P", "A", "H", "X", "C", "U", "R", "K"] as const satisfies readonly BucketName[];

/** A dimension's unit value from the buckets, 0..1, before it is rounded. */
export function dimensionValue(model: ModelDocument, name: Dimension, means: BucketMeans): number {
  const row = model.dimensions[name];
  const exponents = row.exponents ?? {};
  let value = row.restraint ? restraint(model, means) : 1;
  for (const bucket of FACTOR_ORDER) {
    const exponent = exponents[bucket];
    if (exponent === undefined) continue;
    value = value * (exponent === 1 ? means[bucket] : power(means[bucket], exponent));
  }
  return value;
}

/**
 * The integer dimensions of a mode, each 0..100. With `jis-3` only those that the buckets give: `readState` has
 * all of them.
 */
export function dimensionsOf(model: ModelDocument, means: BucketMeans, mode: Mode): Dimensions {
  return Object.fromEntries(
    computedDimensions(model, mode).filter((name) => model.dimensions[name].exponents !== undefined)
      .map((name) => [name, toDimension(dimensionValue(model, name, means))]),
  );
}

/** Weighted sum of the integer dimensions, 0..100, exact to two decimals. */
export function jisOf(model: ModelDocument, dimensions: Dimensions, mode: Mode): number {
  let sum = 0;
  for (const name of computedDimensions(model, mode)) {
    sum += dimensionWeight(model, name, mode) * dimensions[name]!;
  }
  return roundTo(sum, 2);
}

export function bandOf(model: ModelDocument, jis: number): Band {
  if (jis >= model.bands.exemplary) return "exemplary";
  if (jis >= model.bands.proficient) return "proficient";
  if (jis >= model.bands.adequate) return "adequate";
  return "at_risk";
}
