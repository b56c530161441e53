/** Statements about the truth of one case, and when they contradict each other. Source: scoring model, section 2. */
import type { Decision, ScenarioType } from "./enums.ts";

/** The statements about the truth of one case. */
export interface SaidTruth {
  readonly decision: Decision;
  readonly scenario_type: ScenarioType;
  /** Whether the decision proved right; null if nobody knows. */
  readonly outcome_correct: boolean | null;
  /** Whether the recommendation was right; absent if nobody said it. */
  readonly ai_correct?: boolean | undefined;
}

/** Whether the recommendation was right, as somebody said it before the outcome was known; null if nobody did. An injected error is wrong. */
export function saidOfAdvice(
  { scenario_type, ai_correct }: {
    readonly scenario_type: ScenarioType;
    readonly ai_correct?: boolean | null | undefined;
  },
): boolean | null {
  return scenario_type === "error_injected" ? false : ai_correct ?? null;
}

/** Why the statements about the truth of a case cannot all hold, as the end of "ai_correct …"; null if they can. */
export function contradictionOf(
  { decision, scenario_type, outcome_correct, ai_correct }: SaidTruth,
): string | null {
  if (ai_correct === undefined) return null;
  if (scenario_type === "error_injected") {
    return ai_correct ? "cannot be true for error_injected: the recommendation was made wrong" : null;
  }
  if (outcome_correct === null) return null;
  if (decision === "accepted" && outcome_correct !== ai_correct) {
    return "must equal outcome_correct if the decision is accepted";
  }
  const isAgainst = decision === "rejected" || decision === "overridden";
  return isAgainst && outcome_correct && ai_correct
    ? `cannot be true if the decision is ${decision} and outcome_correct is true`
    : null;
}
