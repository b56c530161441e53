/** A run of the public demo, in the form that its page shows. */
import { recordedInteractionSchema } from "../src/domain/interaction.ts";
import { DEFAULT_MODEL_DOCUMENT, type ModelDocument } from "../src/scoring/model.ts";
import { explainScore } from "../src/scoring/explain.ts";
import { score, type Scored } from "../src/scoring/score.ts";
import { readState } from "../src/scoring/reading.ts";
import { initialState, type OperatorState } from "../src/scoring/state.ts";
import type { AssessmentPage } from "../src/pages/assessment.ts";

const NOW = Date.parse("2026-11-20T09:00:00.000Z");

/** `count` cases, half of them examined, each scored by the engine. */
export function sampleAssessment(
  count: number,
  model: ModelDocument = DEFAULT_MODEL_DOCUMENT,
): AssessmentPage {
  let state: OperatorState | null = null;
  const records = Array.from({ length: count }, (_, index) =>
    recordedInteractionSchema.parse(
      index % 2 === 0
        ? { time_to_decision_ms: 9_000 + index, decision: "rejected", outcome_correct: true, hover_events: 3 }
        : { time_to_decision_ms: 700, decision: "accepted", outcome_correct: false, scroll_depth: 0.125 },
    ));
  const results = records.map((interaction) => {
    const event = { interaction, domain: "general", now: NOW } as const;
    const explanation = explainScore(model, state, event);
    const scored: Scored = score(model, state, event, {
      mode: "full",
      modeOverride: "normal",
    });
    state = scored.state;
    return { ...scored.result, explanation };
  });
  return {
    sessionId: "visit-1",
    createdAt: "2026-11-20T09:00:00.000Z",
    records,
    summary: {
      ...results.at(-1)!,
      verdict: results.at(-1)!.compliance.verdict,
    } as AssessmentPage["summary"],
    initialJis: readState(DEFAULT_MODEL_DOCUMENT, initialState(DEFAULT_MODEL_DOCUMENT), {
      domain: "general",
      mode: "full",
    }).jis,
    results,
    shareUrl: "https://jiss.example/assessments/visit-1",
    thresholds: { minJis: 60, targetJis: 75 },
    retentionDays: 30,
  };
}
