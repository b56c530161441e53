/**
 * What a state says at one moment: dimensions, score, interval and, with `jis-3`, the verdict. Everything that
 * shows a score reads it here, so that no two pages can differ.
 */
import type { Domain, Mode } from "../domain/enums.ts";
import { roundTo } from "./arithmetic.ts";
import { computedDimensions, type Dimensions, dimensionsOf, jisOf } from "./dimensions.ts";
import { NO_PARTS } from "./known_cases.ts";
import type { ModelDocument } from "./model.ts";
import { type BucketMeans, bucketMeans, type OperatorState } from "./state.ts";
import { type Uncertainty, uncertaintyOf } from "./uncertainty.ts";
import { judge, type Judgment } from "./verdict.ts";

export interface StateReading {
  readonly dimensions: Dimensions;
  readonly jis: number;
  readonly uncertainty: Uncertainty;
  readonly means: BucketMeans;
  /** Null with the formulas before `jis-3`. */
  readonly judgment: Judgment | null;
}

/** Reads a state in a mode; the domain is that of its domain confidence. */
export function readState(
  model: ModelDocument,
  state: OperatorState,
  { domain, mode }: { readonly domain: Domain; readonly mode: Mode },
): StateReading {
  const means = bucketMeans(model, state, domain);
  const judgment = model.discrimination === undefined ? null : judge(model, state.ev ?? NO_PARTS, mode);
  const fromBuckets = dimensionsOf(model, means, mode);
  const dimensions = Object.fromEntries(
    computedDimensions(model, mode).map((name) => [name, judgment?.dimensions[name] ?? fromBuckets[name]!]),
  );
  const jis = jisOf(model, dimensions, mode);
  return {
    dimensions,
    jis,
    means,
    judgment,
    uncertainty: intervalOf(model, state, { domain, mode, jis, judgment }),
  };
}

function intervalOf(
  model: ModelDocument,
  state: OperatorState,
  { domain, mode, jis, judgment }: {
    readonly domain: Domain;
    readonly mode: Mode;
    readonly jis: number;
    readonly judgment: Judgment | null;
  },
): Uncertainty {
  if (judgment === null) return uncertaintyOf(model, state, { jis, domain, mode });
  const { n, p } = state.ev ?? NO_PARTS;
  const cases = [...n.slice(0, 4), ...p.slice(0, 4)];
  return {
    level: model.uncertainty.level,
    // The score is made of whole points, and may lie outside a narrow interval by less than one.
    low: Math.min(judgment.low, Math.floor(jis * 10) / 10),
    high: Math.max(judgment.high, Math.ceil(jis * 10) / 10),
    effective_n: roundTo(cases.reduce((sum, count) => sum + count, 0), 1),
  };
}
