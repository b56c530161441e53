/** Verdicts of three kinds in words: pages, console and command line say them with the same sentences. */
import type { VerdictStatus } from "../domain/enums.ts";
import type { Verdict } from "./verdict.ts";
import { formatFigure, formatQuantity } from "./wording.ts";

/** A status in words. It speaks of the threshold: no score declares anybody compliant with a law. */
export const VERDICT_WORDS: Readonly<Record<VerdictStatus, string>> = {
  compliant: "Meets the threshold",
  undetermined: "Undetermined",
  non_compliant: "Below the threshold",
};

const PART_WORDS: Readonly<Record<string, string>> = {
  all: "all cases",
  natural: "the cases that nobody planted",
  high_stakes: "the cases with high stakes",
  critical: "the critical cases",
};

/** The part of the work that a verdict rests on: `all cases`, `the cases in public sector`. */
export function partInWords(part: Verdict["part"]): string {
  return PART_WORDS[part] ?? `the cases in ${part.replaceAll("_", " ")}`;
}

/**
 * Why a status is what it is, as a clause without a capital and without an end: for an undetermined one, what would
 * settle it.
 */
export function verdictReason(verdict: Verdict): string {
  const { part, doubt, wrong_cases_needed: needed } = verdict;
  switch (doubt) {
    case null:
      return `the score on ${partInWords(part)} lies between ${rangeInWords(verdict)}`;
    case "too_few_wrong_cases":
      return neededFirst(needed, "");
    case "too_few_natural_wrong_cases":
      return neededFirst(needed, " that nobody planted");
    case "natural_cases_below_minimum":
      // How many would settle it follows from all cases, of which this verdict says nothing.
      return `${
        partInWords(part)
      } are certainly below the threshold, but all cases together are not; more known cases of both kinds would settle it`;
    case "part_not_measured":
      return neededFirst(needed, ` among ${partInWords(part)}`);
    case "interval_spans_minimum":
      return needed === null
        ? "the score is so near the threshold that nobody can say how many more known cases of wrong advice would settle it"
        : `about ${moreCases(needed)} of wrong advice would settle it`;
  }
}

/** A verdict in whole sentences: the status with its reason, then what it rests on. */
export function verdictInWords(verdict: Verdict): string {
  const { status, part, doubt, wrong_cases } = verdict;
  const known = `${formatQuantity(String(wrong_cases), "known case")} of wrong advice`;
  const basis = doubt === null
    ? `It rests on ${known}.`
    : `On ${partInWords(part)} the score lies between ${rangeInWords(verdict)}, with ${known}.`;
  return `${VERDICT_WORDS[status]}: ${verdictReason(verdict)}. ${basis}`;
}

/** A shortage of cases, without which there is no verdict at all. */
function neededFirst(needed: number | null, kind: string): string {
  return needed === null
    ? `more known cases of wrong advice${kind} are needed before there can be a verdict`
    : `${moreCases(needed)} of wrong advice${kind} ${
      needed === 1 ? "is" : "are"
    } needed before there can be a verdict`;
}

function moreCases(count: number): string {
  return formatQuantity(String(count), "more known case");
}

function rangeInWords({ low, high }: Verdict): string {
  return `${formatFigure(low, 1)} and ${formatFigure(high, 1)}`;
}
