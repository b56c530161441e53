/**
 * The compliance block of a score, oriented at Article 14 of the EU AI Act.
 *
 * A weighted sum is compensatory, human oversight is not: besides the minimum JIS there is a floor for the
 * dimensions on which oversight depends. Source: scoring model, section 6.
 */
import type { Band } from "../domain/enums.ts";
import type { Dimensions } from "./dimensions.ts";
import type { ModelDocument } from "./model.ts";

export const COMPLIANCE_STATUSES = ["compliant", "conditional", "non_compliant"] as const;
export type ComplianceStatus = (typeof COMPLIANCE_STATUSES)[number];

export interface Compliance {
  readonly band: Band;
  readonly status: ComplianceStatus;
  readonly jis: number;
  readonly article14_met: boolean;
  readonly action_required: boolean;
  readonly thresholds: { readonly min_jis: number; readonly target_jis: number };
}

/** The computed floor dimensions that are below their floor. */
export function belowFloor(model: ModelDocument, dimensions: Dimensions): readonly (keyof Dimensions)[] {
  const { floor_dimensions, dimension_floor } = model.thresholds;
  return floor_dimensions.filter((name) => (dimensions[name] ?? dimension_floor) < dimension_floor);
}

/** The compliance block of a JIS; `daysToNonCompliance` comes from the decay projection. */
export function complianceOf(
  model: ModelDocument,
  { jis, band, dimensions, daysToNonCompliance }: {
    readonly jis: number;
    readonly band: Band;
    readonly dimensions: Dimensions;
    readonly daysToNonCompliance: number | null;
  },
): Compliance {
  const { min_jis, target_jis, action_required_days } = model.thresholds;
  const status = jis < min_jis
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
  };
}
