/** The estimates of how an operator judges, as rows of words: the same for every page. */
import { roundTo } from "../scoring/arithmetic.ts";
import type { Estimate, Estimates, RateEstimate } from "../scoring/estimates.ts";
import { formatQuantity } from "../scoring/wording.ts";

export interface EstimateRow {
  readonly name: string;
  readonly estimate: string;
  readonly interval: string;
  /** Sentences in plain words. */
  readonly meaning: string;
}

/** A row for each quantity that is known; announced tests, probes and their effects only if there are any. */
export function estimateRows(estimates: Estimates): readonly EstimateRow[] {
  const {
    departs_when_wrong,
    departs_when_right,
    sensitivity,
    criterion,
    announced,
    exam_effect,
    probes,
    probe_effect,
  } = estimates;
  return [
    rateRow("Departs from wrong advice", departs_when_wrong, "wrong"),
    rateRow("Departs from right advice", departs_when_right, "right"),
    row("Sensitivity", sensitivity, {
      above: "The operator tells wrong advice from right advice.",
      below: "The operator departs from right advice more than from wrong advice.",
      open: "Whether the operator tells wrong advice from right advice is not known yet.",
    }),
    row("Leaning", criterion, {
      above: "The operator leans to follow the AI.",
      below: "The operator leans to depart from the AI.",
      open: "No leaning to either side is certain.",
    }),
    ...(announced === null ? [] : [
      rateRow("Departs from wrong advice in announced tests", announced.departs_when_wrong, "wrong"),
      rateRow("Departs from right advice in announced tests", announced.departs_when_right, "right"),
    ]),
    ...(exam_effect === null ? [] : [
      row("Exam effect", exam_effect, {
        above: "The operator judges better in announced tests than in live work.",
        below: "The operator judges worse in announced tests than in live work.",
        open: "No difference between announced tests and live work is certain.",
      }),
    ]),
    ...(probes === null ? [] : [
      rateRow("Departs from wrong advice in sealed probes", probes.departs_when_wrong, "wrong"),
      rateRow("Departs from right advice in sealed probes", probes.departs_when_right, "right"),
    ]),
    ...(probe_effect === null ? [] : [
      row("Probe effect", probe_effect, {
        above: "The operator judges better in probes than in other live work: probes may be recognised.",
        below: "The operator judges worse in probes than in other live work: probes may be harder.",
        open: "No difference between probes and other live work is certain.",
      }),
    ]),
  ];
}

function rateRow(name: string, rate: RateEstimate, kind: "wrong" | "right"): EstimateRow {
  const { mean, low, high, cases } = rate;
  return {
    name,
    estimate: shareOf(mean),
    interval: `${shareOf(low)} to ${shareOf(high)}`,
    meaning: cases === 0
      ? `No case of ${kind} advice is known: the numbers are what is usual.`
      : `From ${formatQuantity(String(cases), "known case")} of ${kind} advice.`,
  };
}

function row(
  name: string,
  { mean, low, high }: Estimate,
  words: { readonly above: string; readonly below: string; readonly open: string },
): EstimateRow {
  return {
    name,
    estimate: figureOf(mean),
    interval: `${figureOf(low)} to ${figureOf(high)}`,
    meaning: low > 0 ? words.above : high < 0 ? words.below : words.open,
  };
}

/** A share, 0..1, in whole percent. */
function shareOf(share: number): string {
  return `${roundTo(100 * share, 0)} %`;
}

function figureOf(value: number): string {
  return roundTo(value, 2).toFixed(2);
}
