/** Cases with known truth, for the tests of calibration. */
import { type Interaction, recordedInteractionSchema } from "../src/domain/interaction.ts";
import { LabelledCases } from "../src/scoring/calibration/labelled_cases.ts";
import type { ModelDocument } from "../src/scoring/model.ts";
import { JIS_1_1_0 } from "./models.ts";

/** The outcomes of an operator's cases, and the times of the hits and correct acceptances, in turn. */
export interface Reviews {
  readonly hits: number;
  readonly misses?: number;
  readonly correct: number;
  readonly alarms?: number;
  readonly times: readonly number[];
}

/** The cases as they would be posted. */
export function reviewsOf({ hits, misses = 0, correct, alarms = 0, times }: Reviews): readonly Interaction[] {
  const cases = (count: number, fields: Partial<Interaction>) =>
    Array.from(
      { length: count },
      () => recordedInteractionSchema.parse({ time_to_decision_ms: 0, ...fields }),
    );
  return [
    ...cases(hits, { decision: "rejected", outcome_correct: true }),
    ...cases(misses, { decision: "accepted", outcome_correct: false }),
    ...cases(correct, { decision: "accepted", outcome_correct: true }),
    ...cases(alarms, { decision: "overridden", outcome_correct: false }),
  ].map((row, index) => ({ ...row, time_to_decision_ms: times[index % times.length]! }));
}

/** One operator for each list of interactions, all in `financial`. */
export function casesOf(
  operators: readonly (readonly Interaction[])[],
  model: ModelDocument = JIS_1_1_0,
): LabelledCases {
  const cases = new LabelledCases(model);
  operators.forEach((own, index) => own.forEach((row) => cases.add(`operator-${index}`, "financial", row)));
  return cases;
}
