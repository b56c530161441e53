/**
 * The late label: what an operator's state learns once the truth of a case that was scored without it is known.
 *
 * Owns no constant: it runs the labelled lines of the reducer with the weights that the score recorded, so that a
 * label counts as much as it would have at once, and only from the next score on. The recorded score never changes.
 * Whether a label is allowed (first, not for a score that came with an outcome) is the caller's to decide.
 * Source: scoring model, section 15, point 6.
 */
import type { Decision, ScenarioType } from "../domain/enums.ts";
import { classify } from "./classify.ts";
import type { ModelDocument } from "./model.ts";
import {
  Draft,
  type EventWeights,
  type Observer,
  putDiscrimination,
  putDomainAndUnaidedProxies,
  putLabelledOwnership,
  putUnaided,
} from "./reducer.ts";
import type { OperatorState } from "./state.ts";

/** A label and the case that it belongs to, as its score recorded it. */
export interface LateLabel {
  /** The weights recorded with the score; `s` is its departure share. */
  readonly weights: EventWeights;
  readonly decision: Decision;
  readonly scenario_type: ScenarioType;
  /** Whether the operator's own decision proved right. */
  readonly outcome_correct: boolean;
}

/**
 * The state after a late label: buckets H, C, A, U and the domain's K (unaided: U and K) and the two counters of
 * truth. Nothing fades, as a label is no interaction; what the case left in A and Q while nobody knew stays.
 * `observer` is told every step that a bucket takes, and can change nothing by it.
 * @throws {RangeError} for an injected error, whose truth was known by construction and is in the state already.
 */
export function applyLabel(
  model: ModelDocument,
  state: OperatorState,
  label: LateLabel,
  observer?: Observer,
): OperatorState {
  const { weights, decision, scenario_type, outcome_correct } = label;
  if (scenario_type === "error_injected") throw new RangeError("late label of an injected error");
  const draft = new Draft(model, state, weights.domain, observer);
  if (weights.presented) {
    const evidence = classify(model, { decision, scenario_type, outcome_correct, departure: weights.s });
    putDiscrimination(draft, evidence, weights.omega);
    putLabelledOwnership(draft, evidence, weights);
    putDomainAndUnaidedProxies(draft, { evidence, weights, outcome: outcome_correct });
  } else {
    putUnaided(draft, outcome_correct, weights.omega);
  }
  const { cnt } = draft.state;
  draft.state.cnt = { ...cnt, truth: cnt.truth + 1, lab: cnt.lab + (weights.presented ? 1 : 0) };
  return draft.state;
}
