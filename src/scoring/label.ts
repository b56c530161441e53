/**
 * The late label: the change of an operator's state once the truth of a case that was scored without it is
 * known.
 *
 * It owns no constant: it runs the labelled lines of the reducer with the weights that the score recorded. So
 * a label counts as much as it would have counted at once. With `jis-3` it counts in the operator's JIS from then
 * on, with the formulas before from the next score on. The recorded score never changes. The caller decides whether
 * a label is allowed: the first one, and only for a score without outcome. Source: scoring model, section 15, point 6.
 */
import type { Decision, ScenarioType } from "../domain/enums.ts";
import { classify, isUnclear } from "./classify.ts";
import { withDecision } from "./known_cases.ts";
import type { ModelDocument } from "./model.ts";
import { readState } from "./reading.ts";
import {
  beginAnew,
  begins,
  Draft,
  type EventWeights,
  isAnnounced,
  type Observer,
  putDiscrimination,
  putDomainAndUnaidedProxies,
  putLabelledOwnership,
  putUnaided,
} from "./reducer.ts";
import type { OperatorState } from "./state.ts";

/** A label and its case, as the score recorded the case. */
export interface LateLabel {
  /** The weights recorded with the score; `s` is its departure share. */
  readonly weights: EventWeights;
  readonly decision: Decision;
  readonly scenario_type: ScenarioType;
  /** Whether the operator's own decision proved right. */
  readonly outcome_correct: boolean;
  /** Whether the recommendation was right; absent if the label says nothing about it. Only `jis-3` reads it. */
  readonly ai_correct?: boolean | undefined;
  /**
   * True if the interaction itself said whether the recommendation was right, and is no modification. With `jis-3` its
   * evidence was counted then, and is not counted again.
   */
  readonly isAdviceCounted?: boolean;
}

/**
 * The state after a late label. It changes the buckets H, C, A, U and the domain's K (unaided: U and K) and
 * the two counters of truth. Nothing fades, because a label is no interaction: a case counts as of its label, and not
 * as of its decision. The unlabelled evidence of the case stays in A and Q. A label before the first score by `jis-3`
 * begins the operator as that score would, so that no label is lost. `observer` receives every step of a bucket and
 * cannot change it.
 * @throws {RangeError} for an injected error: its truth was known by construction and is in the state
 * already.
 */
export function applyLabel(
  model: ModelDocument,
  state: OperatorState,
  label: LateLabel,
  observer?: Observer,
): OperatorState {
  const { weights, decision, scenario_type, outcome_correct, ai_correct } = label;
  if (scenario_type === "error_injected") throw new RangeError("late label of an injected error");
  const draft = new Draft(model, state, weights.domain, observer);
  if (isCountedBefore(model, label)) return state;
  const isFirst = begins(model, state);
  if (isFirst) beginAnew(draft);
  if (weights.presented) {
    const labelled = { decision, scenario_type, outcome_correct, ai_correct, departure: weights.s };
    const evidence = classify(model, labelled);
    if (!isAnnounced(model, label)) {
      putDiscrimination(draft, evidence, weights.omega);
      putLabelledOwnership(draft, evidence, weights);
      putDomainAndUnaidedProxies(draft, { evidence, weights, outcome: outcome_correct });
    }
    if (model.discrimination !== undefined) {
      const { domain } = weights;
      draft.state.ev = withDecision(model, draft.state.ev!, {
        domain,
        scenario_type,
        // A probe's truth is known at its score: it takes no label.
        isProbe: false,
        isNew: false,
        evidence,
        isUnclear: isUnclear(labelled),
      });
    }
  } else if (!isAnnounced(model, label)) {
    putUnaided(draft, outcome_correct, weights.omega);
  }
  if (isFirst || (model.discrimination !== undefined && weights.presented)) {
    draft.state.jis = readState(model, draft.state, { domain: weights.domain, mode: "full" }).jis;
  }
  const { cnt } = draft.state;
  draft.state.cnt = { ...cnt, truth: cnt.truth + 1, lab: cnt.lab + (weights.presented ? 1 : 0) };
  return draft.state;
}

/** Whether the score counted the truth of the case when it was made: with `jis-3` the label then changes nothing. */
export function isCountedBefore(model: ModelDocument, { weights, isAdviceCounted }: LateLabel): boolean {
  return model.discrimination !== undefined && weights.presented && isAdviceCounted === true;
}
