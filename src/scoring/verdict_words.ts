/** Verdicts of three kinds in words: pages, console and command line say them with the same sentences. */
import type { VerdictStatus } from "../domain/enums.ts";
import type { Verdict } from "./verdict.ts";
import { formatQuantity, scoreInWords } from "./wording.ts";

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
  other_domains: "the cases in the other domains",
};

/** The part of the work that a verdict rests on: `all cases`, `the cases in public sector`. */
export function partInWords(part: Verdict["part"]): string {
  return PART_WORDS[part] ?? `the cases in ${part.replaceAll("_", " ")}`;
}

/** A part of the work as the end of a sentence about cases: `in public sector`, `among the critical cases`. */
function placeInWords(part: Verdict["part"]): string {
  const words = partInWords(part);
  const beginning = "the cases ";
  return words.startsWith(beginning) ? words.slice(beginning.length) : `among ${words}`;
}

/** The cases of a part that came up by themselves. */
function naturalInWords(part: Verdict["part"]): string {
  return part === "natural" ? partInWords(part) : `${partInWords(part)} that nobody planted`;
}

/**
 * Why a status is what it is, as a clause without a capital and without an end: for an undetermined one, what would
 * settle it.
 */
export function verdictReason(verdict: Verdict): string {
  const { part, doubt, wrong_cases_needed, right_cases_needed } = verdict;
  const needed = neededInWords({ wrong_cases_needed, right_cases_needed });
  switch (doubt) {
    case null:
      return `the score on ${partInWords(part)} lies between ${rangeInWords(verdict)}`;
    case "too_few_wrong_cases":
      return neededFirst(needed, "");
    case "too_few_right_cases":
      return neededFirst(needed, "", "right");
    case "too_few_natural_wrong_cases":
      return neededFirst(needed, part === "all" ? " that nobody planted" : ` among ${naturalInWords(part)}`);
    case "natural_cases_below_minimum":
      return `the score on ${
        naturalInWords(part)
      } is below the threshold, and that on all together is not; more known cases of both kinds would settle it`;
    case "part_not_measured":
      return neededFirst(needed, ` among ${partInWords(part)}`);
    case "interval_spans_minimum":
      return needed === null
        ? "the score is so near the threshold that nobody can say how many more known cases would settle it"
        : `about ${needed.cases} could settle it`;
    case "modifications_unclear":
      return `most of the errors found among ${
        partInWords(part)
      } are modifications or referrals of which nobody has said whether the AI was wrong, and of a modification whether its outcome is right; saying it of new cases would settle it`;
  }
}

/**
 * Says in a few words, for a row of a list, what an undetermined verdict waits for; {@link verdictReason} says it whole. Null for
 * the others.
 */
export function verdictWait(verdict: Verdict): string | null {
  const { part, doubt, wrong_cases_needed: wrong, right_cases_needed: right } = verdict;
  const count = wrong ?? right;
  const more = (kind: string) =>
    count === null ? `more ${kind} cases` : formatQuantity(String(count), `more ${kind} case`);
  switch (doubt) {
    case null:
      return null;
    case "too_few_wrong_cases":
      return `needs ${more("known")} of wrong advice`;
    case "too_few_right_cases":
      return `needs ${more("known")} of right advice`;
    case "too_few_natural_wrong_cases":
      return `needs ${more("unplanted")} of wrong advice`;
    case "natural_cases_below_minimum":
      return "unplanted cases are below the threshold";
    case "part_not_measured":
      return `needs ${more("known")} ${placeInWords(part)}`;
    case "interval_spans_minimum":
      return count === null
        ? "very near the threshold"
        : `needs about ${more("known")} of ${wrong === null ? "right" : "wrong"} advice`;
    case "modifications_unclear":
      return "modifications wait for a label";
  }
}

/** A verdict in whole sentences: the status with its reason, then what it rests on. */
export function verdictInWords(verdict: Verdict): string {
  return `${VERDICT_WORDS[verdict.status]}: ${verdictReason(verdict)}. ${verdictBasis(verdict)}`;
}

/** What a verdict rests on, as a sentence: the known cases, and for an undetermined one the interval of the score. */
export function verdictBasis(verdict: Verdict): string {
  const { part, doubt, wrong_cases, right_cases } = verdict;
  const known = `${
    formatQuantity(String(wrong_cases), "known case")
  } of wrong advice and ${right_cases} of right advice`;
  return doubt === null
    ? `It rests on ${known}.`
    : `On ${partInWords(part)} the score lies between ${rangeInWords(verdict)}, with ${known}.`;
}

/** Cases that would settle a verdict, in words, and the verb's form; null if nobody can say how many. */
function neededInWords(
  { wrong_cases_needed: wrong, right_cases_needed: right }: Pick<
    Verdict,
    "wrong_cases_needed" | "right_cases_needed"
  >,
): { readonly cases: string; readonly verb: string } | null {
  const count = wrong ?? right;
  if (count === null) return null;
  return {
    cases: `${formatQuantity(String(count), "more known case")} of ${
      wrong === null ? "right" : "wrong"
    } advice`,
    verb: count === 1 ? "is" : "are",
  };
}

/** A shortage of cases, without which there is no verdict at all. */
function neededFirst(
  needed: ReturnType<typeof neededInWords>,
  kind: string,
  advice: "wrong" | "right" = "wrong",
): string {
  const { cases, verb } = needed ?? { cases: `more known cases of ${advice} advice`, verb: "are" };
  return `${cases}${kind} ${verb} needed before there can be a verdict`;
}

function rangeInWords({ low, high }: Verdict): string {
  return `${scoreInWords(low)} and ${scoreInWords(high)}`;
}
