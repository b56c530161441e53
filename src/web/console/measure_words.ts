/** Measures of Article 14 in words. */
import { nameInWords, shareInWords } from "../../pages/wording.ts";
import { VERDICT_WORDS } from "../../scoring/verdict_words.ts";
import type { Article14 } from "./types.ts";

const BEGINNING = "share of operators with ";

/** Conditions whose names do not read well as they are. */
const CONDITIONS: Readonly<Record<string, string>> = {
  "jis": "JIS",
  "mean_correct_acceptance": "mean acceptance of right advice",
};

/** The condition for an operator to pass a measure, from the API's words for it, which have names of the model. */
export function passingInWords(metric: string): string {
  if (!metric.startsWith(BEGINNING)) return nameInWords(metric);
  const conditions = metric.slice(BEGINNING.length).split(" and ").map((condition) => {
    if (condition === "the verdict compliant") return VERDICT_WORDS.compliant.toLowerCase();
    const [name, least] = condition.split(" at least ");
    return `${CONDITIONS[name!] ?? name!.replaceAll("_", " ")} at least ${least}`;
  }).join(", ");
  return conditions.charAt(0).toUpperCase() + conditions.slice(1);
}

/**
 * How many operators must pass a measure, and how many do: once for all measures. Null if nobody is measured, or if the measures do not
 * share one threshold and one population.
 */
export function barInWords(measures: Article14["measures"]): string | null {
  const [first, ...others] = measures;
  if (first === undefined || first.operators === 0) return null;
  const { operators, threshold } = first;
  const isShared = others.every((other) => other.operators === operators && other.threshold === threshold);
  if (!isShared) return null;
  const bar = `Passing needs ${shareInWords(threshold)} of the operators: ${
    leastPassing(threshold, operators)
  } of ${operators}.`;
  const counts = measures.flatMap(({ passing }) => passing ?? []);
  if (counts.length < measures.length) return bar;
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return `${bar} Passing now: ${least === most ? least : `${least} to ${most}, by measure`}.`;
}

/** The least count whose share of the operators reaches the threshold, which the service compares by the same division. */
function leastPassing(threshold: number, operators: number): number {
  let count = Math.ceil(threshold * operators);
  while (count > 0 && (count - 1) / operators >= threshold) count -= 1;
  return count;
}
