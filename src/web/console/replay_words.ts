/** The case of a replay in one sentence. */
import { countInWords } from "../../pages/wording.ts";
import type { Replay } from "./types.ts";

type Case = NonNullable<Replay["case"]>;

const DONE: Readonly<Record<Case["decision"], readonly [what: string, withAdvice: string]>> = {
  accepted: ["accepted it", "accepted the AI's recommendation"],
  modified: ["modified it", "modified the AI's recommendation"],
  rejected: ["rejected it", "rejected the AI's recommendation"],
  overridden: ["overrode it", "overrode the AI's recommendation"],
  deferred: ["put the case off", "put the case off"],
  escalated: ["passed the case on", "passed the case on"],
};

/** A time to decide: whole seconds, or minutes from two of them on. */
function timeInWords(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 1) return "less than a second";
  return seconds < 120 ? countInWords(seconds, "second") : `about ${Math.round(seconds / 60)} minutes`;
}

/** Whether the AI was right, what the operator did and how fast. A late label tells it, too, of an acceptance. */
export function caseInWords(
  { decision, time_to_decision_ms, ai_recommendation_presented: isPresented, ai_correct }: Case,
  label: Pick<NonNullable<Replay["label"]>, "outcome_correct"> | null,
): string {
  const isRight = ai_correct ?? (label !== null && decision === "accepted" ? label.outcome_correct : null);
  const [what, withAdvice] = DONE[decision];
  const time = timeInWords(time_to_decision_ms);
  if (!isPresented) return `The AI's recommendation was not on screen; the operator decided in ${time}.`;
  return isRight === null
    ? `The operator ${withAdvice} in ${time}; whether the AI was right is not said.`
    : `The AI was ${isRight ? "right" : "wrong"}; the operator ${what} in ${time}.`;
}
