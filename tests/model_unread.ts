/**
 * The numbers of the default document that its formulas do not read: the schema requires them, because one schema
 * holds for every set of formulas. They are no survivors of `task mutate`, and nobody can hide one here: a number
 * in this list must change nothing, whatever it is, and a number that is not in it must be noticed.
 */
import assert from "node:assert/strict";
import type { ModelDocument } from "../src/scoring/model.ts";
import { explained, type Golden } from "./golden.ts";
import type { ModelCheck } from "./model_checks.ts";
import { at, type Path, withNumber } from "./model_mutations.ts";

/** Each path with the reason why nothing reads it. */
export const UNREAD: Readonly<Record<string, string>> = {
  "buckets.Q.prior_strength": "the mean of Q is read by the restraint alone",
  "buckets.Q.prior_mean": "the mean of Q is read by the restraint alone",
  "restraint.full_at": "no dimension is restrained: the cost of false alarms is in the points",
  "restraint.floor": "no dimension is restrained: the cost of false alarms is in the points",
  "thresholds.dimension_floor": "the verdict of the worst part takes the place of floors",
  "minimum_data.ground_truth": "discrimination.wrong_cases takes its place",
  "uncertainty.z": "the interval is the posterior's own",
  "uncertainty.calibration_factor": "the interval is the posterior's own",
};

/** Factors by which an unread number is changed; NaN makes it no number at all, and all that is computed from it. */
const FACTORS = [NaN, 0, 0.001, 0.5, 2, 1_000, -1];

/**
 * The first check that notices any value of the number at a path; null if none does. Values may be such that the
 * schema refuses them: whatever would be computed from them could be seen.
 */
export function readBy(
  document: ModelDocument,
  path: Path,
  checks: readonly ModelCheck[],
): ModelCheck | null {
  const value: number = at(document, path);
  const documents = FACTORS.map((factor) => withNumber(document, path, value * factor));
  return checks.find(({ holds }) =>
    documents.some((changed) => {
      try {
        holds(changed);
        return false;
      } catch {
        return true;
      }
    })
  ) ?? null;
}

/** The explanations of every event and decision of the vectors, as the unchanged document gives them. */
export function explanationChecks(document: ModelDocument, { histories }: Golden): readonly ModelCheck[] {
  return histories.map((history) => {
    const before = explained(document, history);
    return {
      name: `explanations: ${history.name}`,
      holds: (model) => assert.deepEqual(explained(model, history), before),
    };
  });
}
