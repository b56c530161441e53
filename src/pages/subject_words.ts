/** A record about a reviewer in words for the reviewer: the measurements, the result, its use. */
import type { CaseStep } from "../domain/case_states.ts";
import type { Decision, Formulas, ScenarioType } from "../domain/enums.ts";
import type { SubjectRecord } from "../domain/subject.ts";
import { formatFigure, formatQuantity, inSeconds, joinWithAnd, percent } from "../scoring/wording.ts";
import { nameInWords, pointsInWords } from "./wording.ts";

/** The name of a fact, and its value. */
export type Fact = readonly [name: string, value: string];

const DECISIONS: Readonly<Record<Decision, string>> = {
  accepted: "You accepted the AI's recommendation",
  modified: "You changed the AI's recommendation",
  rejected: "You rejected the AI's recommendation",
  overridden: "You put your own decision in place of the AI's recommendation",
  deferred: "You put the decision off",
  escalated: "You passed the decision on to somebody else",
};

const SCENARIOS: Readonly<Record<ScenarioType, string>> = {
  standard: "A standard case",
  high_stakes: "A case with high stakes",
  critical: "A critical case",
  error_injected: "A case with a planted error, to see whether it is noticed",
  calibration: "A case for comparison, whose truth is known",
  ai_withheld: "A case in which the AI's recommendation was held back",
};

const ROUTE_WORDS: Readonly<Record<string, string>> = {
  auto: "nobody else needed to look at it",
  review: "somebody else was to look at it where possible",
  must_review: "somebody else had to look at it",
  escalation: "somebody above had to look at it",
};

const CASE_STEP_WORDS: Readonly<Record<CaseStep, string>> = {
  assign: "Somebody took it over, or gave it away.",
  note: "A note was added.",
  exercise: "You were set an exercise.",
  wait: "It waits.",
  done: "It was ended as done.",
  dismiss: "It was ended without a result.",
};

/** The interaction as the service wrote it; an altered record is never put into words. */
interface InteractionView {
  readonly decision: Decision;
  readonly modification_extent: number;
  readonly time_to_decision_ms: number;
  readonly scenario_type: ScenarioType;
  readonly ai_available: boolean;
  readonly ai_recommendation_presented: boolean;
  readonly outcome_correct: boolean | null;
  readonly hover_events: number | null;
  readonly scroll_depth: number | null;
  readonly alternative_views_checked: number | null;
}

// deno-lint-ignore no-explicit-any -- the parts of an entry are read by the names under which the service wrote them
type View = any;

/** The subject of a record, in a few words. */
export function titleOf({ event_type, session_id, decision_id, input, altered }: SubjectRecord): string {
  if (altered) return "A record that is not what was recorded";
  switch (event_type) {
    case "SCORE_COMPUTED":
      return `Case ${session_id}: scored`;
    case "SCORE_SKIPPED":
      return `Case ${session_id}: not scored`;
    case "SCORE_COMMITTED":
      return `Case ${session_id}: score made final`;
    case "OUTCOME_LABELLED":
      return `Case ${session_id}: it became known whether your decision was right`;
    case "DRS_COMPUTED":
      return `Decision ${decision_id}: how risky it was`;
    case "EXERCISE_SET":
      return `An exercise: ${(input as View).exercise.title}`;
    case "PROBE_ASSIGNED":
      return `Case ${session_id}: a sealed probe was due before it`;
    case "SUBJECT_ACCESS":
      return "A copy of these records was made";
    case "SUBJECT_UNMASKED":
      return "Somebody looked up who you are";
    case "SUBJECT_LINK_ISSUED":
      return "A link to your own page was issued";
    case "SCORE_CONTESTED":
      return "You contested a record";
    case "CASE_OPENED":
      return "A follow-up about you was opened";
    case "CASE_CHANGED":
      return "A step of a follow-up about you";
    case "TEAM_SET":
      return "Your team was set";
    default:
      return nameInWords(event_type.toLowerCase());
  }
}

/** The facts of a record, one after another; empty if the record was altered. */
export function factsOf(record: SubjectRecord): readonly Fact[] {
  if (record.altered) return [];
  const { input, result, detail }: Readonly<Record<"input" | "result" | "detail", View>> = record;
  switch (record.event_type) {
    case "SCORE_COMPUTED":
      return [...measured(input), ...scored(result)];
    case "SCORE_SKIPPED":
      return [
        ...measured(input),
        [
          "What it was used for",
          "Nothing: scoring was frozen during an incident, and your record stayed as it was.",
        ],
      ];
    case "SCORE_COMMITTED":
      return [["What was made final", scoreInWords(result)]];
    case "OUTCOME_LABELLED":
      return [
        ["What became known", input.label ? "Your decision proved right." : "Your decision proved wrong."],
        [
          "What it was used for",
          `It moved your record: ${
            countsAtOnce(input.algo.formulas)
              ? "your present score and verdict count it at once"
              : "the next score shows it"
          }. The score of the case stays as it was.`,
        ],
      ];
    case "DRS_COMPUTED":
      return [...measured(input), ...weighed(input, result)];
    case "EXERCISE_SET":
      return [
        [
          "What was set",
          `${formatQuantity(String(input.cases.length), "case")}; field: ${
            input.domain.replaceAll("_", " ")
          }. The link worked until ${input.expires_at}.`,
        ],
        ["What it was used for", "Practice: its cases move neither your score nor your verdict."],
      ];
    case "PROBE_ASSIGNED":
      return [[
        "What was shown",
        input.probe_id === null
          ? "Nothing: no probe was left."
          : "A case whose truth was fixed before you saw it, to see whether a wrong recommendation is noticed. Its decision is a record of its own.",
      ]];
    case "SUBJECT_UNMASKED":
      return [["Reason that was given", String(detail.reason)]];
    case "SUBJECT_LINK_ISSUED":
      return [["How long it works", `Until ${detail.expires_at}, or until there is a newer one.`]];
    case "SCORE_CONTESTED":
      return [
        ["What you contested", input.record_id ?? "The record as a whole."],
        ["What you said", input.statement],
      ];
    case "CASE_OPENED":
      return [["Why", input.statement], [
        "What it was used for",
        "It changes neither your score nor your verdict.",
      ]];
    case "CASE_CHANGED":
      return [
        ["What was done", CASE_STEP_WORDS[input.step as CaseStep]],
        ...(input.note === null ? [] : [["What was noted", input.note] as const]),
      ];
    case "TEAM_SET":
      return [["Your team", input.team ?? "None."], [
        "What it was used for",
        "Figures of teams: it changes neither your score nor your verdict.",
      ]];
    case "SUBJECT_ACCESS":
      return [["How", detail.format === "html" ? "As a page." : "As data (JSON)."]];
    default:
      return [];
  }
}

/** Whether a late label counts in the present score: with the formulas before `jis-3` the next score counts it. */
function countsAtOnce(formulas: Formulas): boolean {
  return formulas !== "jis-1" && formulas !== "jis-2";
}

function measured(
  { interaction, domain }: { interaction: InteractionView; domain: string },
): readonly Fact[] {
  const { decision, modification_extent, outcome_correct } = interaction;
  const extent = decision === "modified" ? ` by ${percent(modification_extent)}` : "";
  const outcome = outcome_correct === null ? "Not known then" : outcome_correct ? "Yes" : "No";
  return [
    ["What you decided", `${DECISIONS[decision]}${extent}, after ${timeInWords(interaction)}.`],
    ["Kind of case", `${SCENARIOS[interaction.scenario_type]}; field: ${domain.replaceAll("_", " ")}.`],
    ["The AI", assistance(interaction)],
    ["What you looked at", telemetry(interaction)],
    ["Whether it proved right", `${outcome}.`],
  ];
}

function timeInWords({ time_to_decision_ms }: InteractionView): string {
  return formatQuantity(inSeconds(time_to_decision_ms), "second");
}

function assistance({ ai_available, ai_recommendation_presented }: InteractionView): string {
  if (!ai_available) return "It was not available.";
  return ai_recommendation_presented
    ? "Its recommendation was on the screen."
    : "It was available; its recommendation was not on the screen.";
}

function telemetry(
  { hover_events, scroll_depth, alternative_views_checked }: InteractionView,
): string {
  const seen = [
    hover_events === null ? null : `pointed at the evidence ${formatQuantity(String(hover_events), "time")}`,
    scroll_depth === null ? null : `scrolled through ${percent(scroll_depth)} of it`,
    alternative_views_checked === null
      ? null
      : `opened ${formatQuantity(String(alternative_views_checked), "other view")}`,
  ].filter((text) => text !== null);
  return seen.length === 0 ? "Not measured." : `You ${joinWithAnd(seen)}.`;
}

function scored(result: View): readonly Fact[] {
  return [["What the score said", scoreInWords(result)], ["What it was used for", usedFor(result)]];
}

function scoreInWords({ jis, band, uncertainty, provisional, mode }: View): string {
  return [
    `${pointsInWords(jis)} of 100, ${nameInWords(band).toLowerCase()}; with what was known, between ${
      pointsInWords(uncertainty.low)
    } and ${pointsInWords(uncertainty.high)}.`,
    provisional ? "Provisional: it rests on too little to be relied on." : "",
    mode === "lite" ? "Lite mode: three of the seven dimensions were looked at." : "",
  ].filter((text) => text !== "").join(" ");
}

function usedFor({ compliance, maintenance_recommendation: { urgency, recommendation } }: View): string {
  const practice = urgency === "none"
    ? "No practice was recommended."
    : `Practice was recommended (${
      nameInWords(recommendation.intervention_type).toLowerCase()
    }; urgency: ${urgency}).`;
  const reasons: readonly string[] = recommendation.reasons;
  return [
    "It is shown to the organization and counts in its figures.",
    practice,
    recommendation.recommend_withhold ? "More cases without the AI's recommendation were recommended." : "",
    reasons.length === 0 ? "" : `Reasons: ${joinWithAnd(reasons.map((name) => name.replaceAll("_", " ")))}.`,
    compliance.action_required ? "The organization was asked to act." : "",
  ].filter((text) => text !== "").join(" ");
}

function weighed({ stakes }: View, result: View): readonly Fact[] {
  const { decision_risk_score, routing_decision, policy_triggers, factors } = result;
  const jis = factors.find(({ name }: View) => name === "operator_jis")?.value;
  const reasons: readonly string[] = policy_triggers.flatMap(({ triggered, evidence }: View) =>
    triggered && evidence !== null ? [evidence] : []
  );
  return [
    [
      "How risky it was",
      `${formatFigure(decision_risk_score, 2)} on a scale from 0 to 1.${
        stakes === null ? "" : ` What hung on it: ${stakes}.`
      }`,
    ],
    ["What was read of your record", `A score of ${pointsInWords(jis ?? null)} of 100. It was not changed.`],
    [
      "What it was used for",
      [
        `To say who should look at the decision: ${ROUTE_WORDS[routing_decision] ?? routing_decision}.`,
        ...reasons,
      ].join(" "),
    ],
  ];
}
