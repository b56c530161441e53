/** A visitor's run: its name, its records, and their way to the service and back as scores. */
import type * as z from "zod";
import type { assessmentSchema, assessmentSubmittedSchema } from "../../domain/assessment.ts";
import type { Interaction } from "../../domain/interaction.ts";
import type { JissMeasurement } from "../collector/main.ts";
import { call, type SendOptions } from "../shared/api.ts";
import { type Choice, type DemoCase, outcomeOf } from "./cases.ts";
import { randomHex } from "../shared/random_hex.ts";

export type Assessment = z.infer<typeof assessmentSchema>;

/** A visitor's decision on a case, and the measurement of the case. */
export interface Judgment {
  readonly choice: Choice;
  readonly measured: JissMeasurement;
}

/** A name that nobody guesses: 128 random bits. */
export function newSessionId(): string {
  return randomHex(16);
}

/** The record of a case, with every field explicit. */
export function recordOf(demoCase: DemoCase, { choice, measured }: Judgment): Interaction {
  return {
    ai_recommendation_presented: demoCase.advice !== null,
    time_to_decision_ms: measured.time_to_decision_ms,
    decision: choice.decision,
    modification_extent: choice.extent ?? 0,
    ai_available: true,
    scenario_type: demoCase.scenario,
    outcome_correct: outcomeOf(demoCase, choice),
    hover_events: measured.hover_events,
    scroll_depth: measured.scroll_depth,
    alternative_views_checked: measured.alternative_views_checked,
  };
}

/** Submits a run. A repetition is safe: the service knows the same run by its name. @throws {ApiError} */
export async function submitRun(
  run: { readonly sessionId: string; readonly records: readonly Interaction[] },
  options: SendOptions,
): Promise<Assessment> {
  await call<z.infer<typeof assessmentSubmittedSchema>>(
    { method: "POST", path: "/assessments", body: run },
    options,
  );
  return await call<Assessment>(
    { path: `/assessments/${run.sessionId}`, headers: { Accept: "application/json" } },
    options,
  );
}
