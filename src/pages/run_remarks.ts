/** The words of a run of the public demo that its page and the demo itself share. */
import type { Interaction } from "../domain/interaction.ts";
import { isPresented, isReferral } from "../scoring/classify.ts";
import type { Verdict } from "../scoring/verdict.ts";
import { verdictBasis, verdictInWords, verdictReason } from "../scoring/verdict_words.ts";
import { priorRemarks } from "./jis_plot.ts";
import { countInWords } from "./wording.ts";

/** Why a dimension's number is not the visitor's own, by name of the dimension. */
export function runRemarks(
  records: readonly Interaction[],
  prior: readonly string[],
): Readonly<Record<string, string>> {
  const hasDecidedAlone = records.some((record) => !isPresented(record) && !isReferral(record));
  return {
    ...priorRemarks(prior),
    ...(hasDecidedAlone ? {} : { independent_performance: "unknown: nothing was decided without the AI" }),
  };
}

/** The verdict of a run, with the kind word that so short a run needs. */
export function runVerdictInWords(verdict: Verdict, cases: number): string {
  return verdict.status === "undetermined"
    ? `That is usual after ${countInWords(cases, "case")}, and no fault of yours: ${
      verdictReason(verdict)
    }. ${verdictBasis(verdict)}`
    : `${verdictInWords(verdict)} A run of ${
      countInWords(cases, "case")
    } shows how a verdict is made; a real one is made of real work.`;
}
