/** Verdicts of three kinds in words, the same on every page. */
import type { Doubt, VerdictStatus } from "../domain/enums.ts";
import type { Verdict } from "../scoring/verdict.ts";
import { countInWords, nameInWords } from "./wording.ts";

export const VERDICT_WORDS: Readonly<Record<VerdictStatus, string>> = {
  compliant: "Meets the threshold",
  non_compliant: "Below the threshold",
  undetermined: "Undetermined",
};

const DOUBT_WORDS: Readonly<Record<Doubt, string>> = {
  too_few_wrong_cases: "too few cases of wrong advice have a known truth",
  too_few_natural_wrong_cases: "too few cases of wrong advice that nobody planted have a known truth",
  part_not_measured: "too few cases of wrong advice in this part of the work have a known truth",
  interval_spans_minimum: "what is known allows scores on both sides of the threshold",
};

const PART_WORDS: Readonly<Record<string, string>> = {
  all: "all cases",
  natural: "the cases that nobody planted",
  high_stakes: "the cases with high stakes",
};

/** The verdict on one reviewer with the part of the work that it rests on, and what would settle a doubt. */
export function reviewerVerdictInWords({ status, part, doubt, wrong_cases_needed: needed }: Verdict): string {
  const rests = `It rests on ${
    PART_WORDS[part] ?? `the cases of the domain ${nameInWords(part).toLowerCase()}`
  }.`;
  if (doubt === null) return `${VERDICT_WORDS[status]}. ${rests}`;
  const settles = needed === null
    ? ""
    : ` About ${countInWords(needed, "more case")} of wrong advice with known truth would settle it.`;
  return `${VERDICT_WORDS[status]}: ${DOUBT_WORDS[doubt]}. ${rests}${settles}`;
}
