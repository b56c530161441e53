/** Exercises of the catalogue in words: for the operator's page, and for the sheet by which somebody holds one by hand. */
import { formatFigure, joinWithAnd } from "../scoring/wording.ts";
import { isWide, SAYS_LITTLE } from "./estimates.ts";
import { countInWords, dayInWords, nameInWords, scoreInWords, shareInWords } from "./wording.ts";

/** An exercise as the recommendation has it. */
export interface RecommendedExercise {
  readonly id: string;
  readonly title: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** A worked case, with its solution. */
export interface SampleCase {
  readonly text: string;
  /** Empty if the case is decided without advice. */
  readonly advice: string;
  /** Null if there is no advice. */
  readonly isAdviceRight: boolean | null;
  readonly lookFor: string;
}

/** Everything that a person needs to hold an exercise by hand. */
export interface ExerciseSheet {
  readonly title: string;
  readonly purpose: string;
  readonly difficulty: string;
  readonly cases: number;
  readonly minutes: number;
  /** Sentences about the run: how many cases have wrong advice, when the reviewer is told, what is special. */
  readonly conditions: readonly string[];
  readonly passed: string;
  /** Steps for the person who prepares it. */
  readonly setup: readonly string[];
  /** Steps for the integration, with the names of the API: how the decided cases are sent back. */
  readonly sending: readonly string[];
  readonly instructions: readonly string[];
  readonly debrief: readonly string[];
  readonly sample: SampleCase | null;
}

/** How far a run is. */
export interface RunState {
  readonly state: "open" | "started" | "done" | "expired";
  readonly decided: number;
  readonly case_count: number;
  /** ISO 8601. */
  readonly expires_at: string;
}

/** The exact interval of a count's share, 0 to 1; null without a case. */
export interface CountInterval {
  readonly low: number | null;
  readonly high: number | null;
}

/** A score of live work with its interval, points. */
interface LiveScore {
  readonly jis: number;
  readonly low: number;
  readonly high: number;
}

/** The effect of a run, as `GET /v1/exercises/{run_id}` has it. */
export interface RunEffect {
  readonly status: "not_done" | "no_live_work_before" | "too_early" | "measured";
  readonly live_interactions: number;
  readonly live_interactions_needed: number;
  readonly before: LiveScore | null;
  readonly after: LiveScore | null;
  readonly difference: number | null;
  readonly clear: boolean | null;
}

const text = (value: unknown) => typeof value === "string" ? value : "";
const number = (value: unknown) => typeof value === "number" ? value : 0;
const texts = (value: unknown) => Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
const members = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Readonly<Record<string, unknown>>
    : {};

/** Reads an exercise of the recommendation. Members of another kind than the catalogue's are left out. */
export function exerciseSheet({ title, payload }: RecommendedExercise): ExerciseSheet {
  const params = members(payload.params);
  const success = members(payload.success);
  const sample = members(payload.sample_case);
  const setup = texts(payload.setup);
  const cases = number(payload.items) * (number(params.items_multiplier) || 1);
  const wrongShare = number(params.prevalence) || number(payload.ai_error_share);
  return {
    title,
    purpose: text(payload.purpose),
    difficulty: text(payload.difficulty),
    cases,
    minutes: number(payload.estimated_minutes),
    conditions: [
      adviceInWords(text(payload.scenario_type), { cases, wrongShare }),
      payload.feedback === "immediate"
        ? "Tell the reviewer after each case whether the decision was right."
        : "Tell the reviewer after the last case which decisions were right, and not before.",
      ...Object.entries(params).flatMap(([name, value]) => paramInWords(name, value)),
    ],
    passed: successInWords(text(success.metric), number(success.threshold)),
    setup: setup.filter((step) => !isAboutSending(step)).map(withoutNames),
    sending: setup.filter(isAboutSending),
    instructions: texts(payload.instructions),
    debrief: texts(payload.debrief),
    sample: text(sample.case) === "" ? null : {
      text: text(sample.case),
      advice: text(sample.ai_recommendation),
      isAdviceRight: typeof sample.ai_is_right === "boolean" ? sample.ai_is_right : null,
      lookFor: text(sample.look_for),
    },
  };
}

function isAboutSending(step: string): boolean {
  return step.startsWith("Post ");
}

/** The conditions that the catalogue gives as parameters, in the words of a sheet, with their values. */
const BY_NAME: readonly (readonly [said: RegExp, words: string])[] = [
  [
    /in the share that prevalence gives, rounded up; prevalence replaces ai_error_share here/,
    "in as many cases as the conditions say",
  ],
  [/in the share that ai_error_share gives/, "in as many cases as the conditions say"],
  [/: items times items_multiplier, with/, ", with"],
  [/, as error_kinds lists/, ""],
  [/only after reveal_delay_ms/, "only after the delay that the conditions name"],
  [/advice_budget times/, "as often as the conditions say"],
  [/at least min_case_age_days ago/, "as long ago as the conditions say"],
  [/min_chars characters each/, "each as long as the conditions say"],
  [/; required_views is how many there should be/, ""],
  [/, as window says,/, ""],
  [/that params names/, "that the conditions name"],
];

/** A step without names of the API. */
function withoutNames(step: string): string {
  const said = BY_NAME.reduce((text, [name, words]) => text.replace(name, words), step);
  return said.replaceAll(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => name.replaceAll("_", " "));
}

/** How many cases have wrong advice: none may be planted in live work, and none is if there is no advice. */
function adviceInWords(
  scenario: string,
  { cases, wrongShare }: { readonly cases: number; readonly wrongShare: number },
): string {
  if (scenario === "high_stakes" || scenario === "standard") return "These are live cases: plant no error.";
  if (scenario === "ai_withheld") return "Hold the AI's advice back as described; plant no error.";
  // 1e-9: 0.1 × 30 is a little above 3.
  const wrong = Math.ceil(wrongShare * cases - 1e-9);
  return `Let the advice be wrong in ${wrong} of the ${countInWords(cases, "case")}.`;
}

/** The request of a parameter as a sentence; nothing if another sentence says it already. */
function paramInWords(name: string, value: unknown): readonly string[] {
  const count = (noun: string) => countInWords(number(value), noun);
  switch (name) {
    case "items_multiplier":
    case "prevalence":
    case "threshold_is_maximum":
      return [];
    case "commit_before_reveal":
    case "before_reveal":
      return ["Show the advice only after the reviewer has written down a decision or a reason."];
    case "reveal_delay_ms":
      return [`Show the advice ${countInWords(number(value) / 1000, "second")} after the case.`];
    case "advice_budget":
      return [`The reviewer may ask for the advice in ${count("case")}.`];
    case "error_kinds":
      return [`Plant errors of these kinds: ${joinWithAnd(texts(value))}.`];
    case "confidence_rating":
      return ["With each decision the reviewer states the chance that it is right."];
    case "ai_available":
      return ["The advice is never shown."];
    case "pattern":
      return ["Show the advice with the first case and with every second one after it."];
    case "min_case_age_days":
      return [`Take cases that were decided at least ${count("day")} ago.`];
    case "min_chars":
      return [`A reason has at least ${count("character")}.`];
    case "required_views":
      return [`The reviewer opens at least ${count("piece")} of the file before deciding.`];
    case "window":
      return [`Only the first ${count("case")} count.`];
    case "questions":
      return [`After each case the reviewer answers ${count("question")} in writing.`];
    case "domain":
      return [`Take cases of this domain: ${nameInWords(text(value)).toLowerCase()}.`];
    case "edge_case":
      return ["Take cases that lie just inside or just outside a rule."];
    case "must_substitute":
      return ["If the advice is wrong, the reviewer puts another decision in its place."];
    case "source":
      return ["Take cases in which the reviewer erred lately."];
    case "prompt":
      return ["Before the decision the reviewer argues for the opposite."];
    case "peer_or_self":
      return ["The reviewer raises the objections, without a second person."];
    default:
      return typeof value === "object" ? [] : [`${nameInWords(name)}: ${String(value)}.`];
  }
}

/** The rule by which an exercise is passed. `threshold` is 0 to 1: a share, but for a Brier score, which is a maximum. */
export function successInWords(metric: string, threshold: number): string {
  const share = shareInWords(threshold);
  switch (metric) {
    case "over_reliance_avoided":
      return `It is passed if wrong advice is not followed in at least ${share} of the cases that have it.`;
    case "hit_rate":
      return `It is passed if at least ${share} of the planted errors are found.`;
    case "balanced_accuracy":
      return `It is passed if the share of right decisions is at least ${share}: take it for right and for wrong advice apart, and then the mean of both.`;
    case "accuracy":
      return `It is passed if at least ${share} of the decisions are right.`;
    case "accuracy_next_5":
      return `It is passed if at least ${share} of the first five decisions are right.`;
    case "quiz_score":
      return `It is passed if at least ${share} of the answers are right.`;
    case "corrected_on_retry":
      return `It is passed if at least ${share} of the cases in which the reviewer erred are decided rightly now.`;
    case "accuracy_gap":
      return `It is passed if the share of right decisions without advice is at most ${
        shareInWords(1 - threshold)
      } below that with advice.`;
    case "self_consistency":
      return `It is passed if at least ${share} of the cases are decided as the first time.`;
    case "rationale_complete":
      return `It is passed if a second reader finds the reasons complete in at least ${share} of the cases.`;
    case "evidence_viewed":
      return `It is passed if enough of the file was opened before the decision in at least ${share} of the cases.`;
    case "debrief_complete":
      return `It is passed if all questions are answered in at least ${share} of the cases.`;
    case "justified_override_rate":
      return `It is passed if at least ${share} are right: of the decisions against the advice, together with planted errors that nobody decided against.`;
    case "brier_score_max":
      return `It is passed if the mean squared difference between the stated chance and the result (1 or 0) is at most ${
        formatFigure(threshold, 2)
      }.`;
    default:
      return `It is passed if ${nameInWords(metric).toLowerCase()} is at least ${share}.`;
  }
}

/** How far a run is, as a clause. */
export function stateInWords({ state, decided, case_count, expires_at }: RunState): string {
  switch (state) {
    case "open":
      return `not begun; the link works until ${dayInWords(expires_at)}`;
    case "started":
      return `begun, with ${decided} of ${countInWords(case_count, "case")} decided; the link works until ${
        dayInWords(expires_at)
      }`;
    case "done":
      return "done";
    case "expired":
      return `over since ${dayInWords(expires_at)}, with ${decided} of ${
        countInWords(case_count, "case")
      } decided`;
  }
}

/** The names of the three counts of a run. */
export const FIGURE_NAMES: Readonly<Record<"correct" | "wrong" | "right", string>> = {
  correct: "Right decisions",
  wrong: "Errors found",
  right: "False alarms",
};

/** The exact interval of a count, as words in brackets, with a remark if it says little; empty without a case. */
export function countInterval({ low, high }: CountInterval): string {
  if (low === null || high === null) return "";
  const remark = isWide({ low, high }) ? `: ${SAYS_LITTLE}` : "";
  return ` (${shareInWords(low)} to ${shareInWords(high)}${remark})`;
}

/** The effect of a run on live work, in whole sentences. */
export function effectInWords(effect: RunEffect): string {
  const { status, live_interactions: since, live_interactions_needed: needed } = effect;
  const { before, after, difference, clear } = effect;
  switch (status) {
    case "not_done":
      return "The effect is not known: cases are still open.";
    case "no_live_work_before":
      return "The effect is not known: there was no live work before it to compare with.";
    case "too_early":
      return `The effect is not known yet: ${since} of ${
        countInWords(needed, "live interaction")
      } have come since.`;
    case "measured": {
      const score = ({ jis, low, high }: LiveScore) =>
        `${scoreInWords(jis)} (${scoreInWords(low)} to ${scoreInWords(high)})`;
      const change = difference! === 0
        ? "no change"
        : `${difference! > 0 ? "up" : "down"} by ${scoreInWords(Math.abs(difference!))}`;
      return `The score of live work was ${score(before!)} before it and ${
        score(after!)
      } after ${needed} more cases: ${change}. ${
        clear
          ? "The intervals have no value in common."
          : "The intervals overlap, so that chance may be the reason."
      } It shows a change, not its cause.`;
    }
  }
}

/** Whether a run was passed, as a sentence; null until it is known. */
export function passedInWords(
  { metric, threshold, met }: {
    readonly metric: string;
    readonly threshold: number;
    readonly met: boolean | null;
  },
): string | null {
  return met === null ? null : `${met ? "Passed" : "Not passed"}. ${successInWords(metric, threshold)}`;
}
