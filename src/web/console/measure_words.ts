/** Measures of Article 14 in words. */
import { nameInWords } from "../../pages/wording.ts";
import { VERDICT_WORDS } from "../../scoring/verdict_words.ts";

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
