/** The condition for an operator to pass, which the API says with names of the model, in words for people. */
import { VERDICT_WORDS } from "../scoring/verdict_words.ts";
import { joinWithAnd } from "../scoring/wording.ts";
import { nameInWords } from "./wording.ts";

const BEGINNING = "share of operators with ";
const MEETS = "the verdict compliant";

/** Conditions whose names do not read well as they are. */
const CONDITIONS: Readonly<Record<string, string>> = {
  "jis": "JIS",
  "mean_correct_acceptance": "mean acceptance of right advice",
};

/** The conditions of a metric; null if it is not of the API's form. */
function conditionsOf(metric: string): readonly string[] | null {
  return metric.startsWith(BEGINNING) ? metric.slice(BEGINNING.length).split(" and ") : null;
}

/** A bound on one quantity: `of` stands before the bound. */
function boundInWords(condition: string, of: string): string {
  const [name, least] = condition.split(" at least ");
  return `${CONDITIONS[name!] ?? name!.replaceAll("_", " ")} ${of}at least ${least}`;
}

/** The condition for an operator to pass a measure, by itself. */
export function passingInWords(metric: string): string {
  const conditions = conditionsOf(metric)?.map((condition) =>
    condition === MEETS ? VERDICT_WORDS.compliant.toLowerCase() : boundInWords(condition, "")
  ).join(", ");
  return conditions === undefined
    ? nameInWords(metric)
    : conditions.charAt(0).toUpperCase() + conditions.slice(1);
}

/** The share that a finding measures, in a clause; a metric of another form stays as it is. */
export function metricInWords(metric: string): string {
  const conditions = conditionsOf(metric);
  if (conditions === null) return metric;
  const bounds = conditions.filter((condition) => condition !== MEETS)
    .map((condition) => boundInWords(condition, "of "));
  const parts = [
    ...(bounds.length < conditions.length ? ["meet the threshold"] : []),
    ...(bounds.length === 0 ? [] : [`have ${joinWithAnd(bounds)}`]),
  ];
  return `the share of the operators who ${parts.join(", and ")}`;
}
