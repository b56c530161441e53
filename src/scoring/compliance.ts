/**
 * The compliance block of a score, oriented at Article 14 of the EU AI Act.
 *
 * A weighted sum is compensatory, human oversight is not: besides the minimum JIS there is a floor for the
 * dimensions on which oversight depends. Source: scoring model, section 6.
 */
import type { Band, ComplianceStatus } from "../domain/enums.ts";
import type { Dimensions } from "./dimensions.ts";
import type { ModelDocument } from "./model.ts";
import type { Verdict } from "./verdict.ts";

export interface Compliance {
  readonly band: Band;
  readonly status: ComplianceStatus;
  readonly jis: number;
  readonly article14_met: boolean;
  readonly action_required: boolean;
  readonly thresholds: { readonly min_jis: number; readonly target_jis: number };
  /** What the status rests on; absent with the formulas before `jis-3`. */
  readonly verdict?: Verdict;
}

/** The computed floor dimensions that are below their floor. */
export function belowFloor(model: ModelDocument, dimensions: Dimensions): readonly (keyof Dimensions)[] {
  const { floor_dimensions, dimension_floor } = model.thresholds;
  return floor_dimensions.filter((name) => (dimensions[name] ?? dimension_floor) < dimension_floor);
}

/** The compliance block of a JIS; `daysToNonCompliance` comes from the decay projection. */
export function complianceOf(
  model: ModelDocument,
  { jis, band, dimensions, daysToNonCompliance, verdict = null }: {
    readonly jis: number;
    readonly band: Band;
    readonly dimensions: Dimensions;
    readonly daysToNonCompliance: number | null;
    /** Null with the formulas before `jis-3`, of which the status follows from the score and the floors. */
    readonly verdict?: Verdict | null;
  },
): Compliance {
  const { min_jis, target_jis, action_required_days } = model.thresholds;
  const status = verdict !== null
    ? verdict.status
    : jis < min_jis
    ? "non_compliant"
    : belowFloor(model, dimensions).length > 0
    ? "conditional"
    : "compliant";
  const met = status === "compliant";
  const soon = daysToNonCompliance !== null && daysToNonCompliance <= action_required_days;
  return {
    band,
    status,
    jis,
    article14_met: met,
    action_required: !met || soon,
    thresholds: { min_jis, target_jis },
    ...(verdict === null ? {} : { verdict }),
  };
}
