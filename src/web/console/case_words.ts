/** Cases in words. */
import { type CaseCause, type CaseState, type CaseStep, isOpenCase } from "../../domain/case_states.ts";
import { conductInShort, type ShortConduct, waitInWords } from "../../pages/operator_cause.ts";
import { partInWords, VERDICT_WORDS } from "../../scoring/verdict_words.ts";
import type { Cases } from "./types.ts";

export const CAUSE_WORDS: Readonly<Record<CaseCause, string>> = {
  at_risk: "Below the threshold",
  probe_missed: "Missed sealed probes",
  projected_below: "Projected to fall below the threshold",
  away: "Away",
  probes_lost: "Probes without a decision",
  contest: "Contests a record",
  by_hand: "Opened by hand",
};

/** The usual next step. */
const NEXT_WORDS: Readonly<Record<CaseCause, string>> = {
  at_risk: "Talk to the operator, and set an exercise.",
  probe_missed: "Look at the decisions together, and set an exercise on finding errors.",
  projected_below: "Set an exercise before the score fades.",
  away: "Find out why; set an exercise before the first decision after the return.",
  probes_lost: "Ask why the cases were left, or whether the application lost them.",
  contest: "Look at the record, answer the operator, and note what came of it.",
  by_hand: "Do what the statement asks for.",
};

/** The causes whose usual next step is an exercise. */
const ASKS_FOR_EXERCISE: ReadonlySet<CaseCause> = new Set([
  "at_risk",
  "probe_missed",
  "projected_below",
  "away",
]);

/** Whether the next step of a cause is an exercise. */
export function asksForExercise(cause: CaseCause): boolean {
  return ASKS_FOR_EXERCISE.has(cause);
}

/** The next step of a case that is open: the usual one, or the wait for the exercise that was set. */
export function nextInWords({ cause, present }: Pick<Cases["cases"][number], "cause" | "present">): string {
  const exercise = present?.exercise ?? null;
  return exercise !== null && ASKS_FOR_EXERCISE.has(cause) ? waitInWords(exercise) : NEXT_WORDS[cause];
}

export const STATE_WORDS: Readonly<Record<CaseState, string>> = {
  open: "Open",
  assigned: "In work",
  waiting: "Waiting",
  done: "Done",
  dismissed: "Dismissed",
};

export const STEP_WORDS: Readonly<Record<CaseStep, string>> = {
  assign: "gave it to somebody",
  note: "noted",
  exercise: "named an exercise",
  wait: "made it wait",
  done: "ended it as done",
  dismiss: "dismissed it",
};

/**
 * Whether the verdict's mark and the score beside it say what the case is about. They do not say it of a single part of the work, and
 * then the statement does.
 */
export function isSaidByVerdict({ cause, statement, present }: Pick<
  Cases["cases"][number],
  "cause" | "statement" | "present"
>): boolean {
  const verdict = present?.verdict ?? null;
  return verdict !== null && VERDICT_WORDS[verdict] === CAUSE_WORDS[cause] &&
    reasonInWords({ cause, statement }).startsWith(`The score on ${partInWords("all")} `);
}

/**
 * How the operator judges now, if that is what the case is about; null for other causes, which their statements say, and for a case
 * that ended.
 */
export function conductOf(
  { cause, state, present }: Pick<Cases["cases"][number], "cause" | "state" | "present">,
):
  | ShortConduct
  | null {
  const rates = present?.rates ?? null;
  return cause === "at_risk" && isOpenCase(state) && rates !== null ? conductInShort(rates) : null;
}

/** The statement of a case that stands below its cause: without the cause, with which some begin. */
export function reasonInWords(
  { cause, statement }: { readonly cause: CaseCause; readonly statement: string },
): string {
  const said = `${CAUSE_WORDS[cause]}: `;
  if (!statement.startsWith(said)) return statement;
  const rest = statement.slice(said.length);
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}
