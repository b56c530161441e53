/** The estimates of how an operator judges, as rows of words: the same for every page. */
import { roundTo } from "../scoring/arithmetic.ts";
import type { Estimate, Estimates, RatePair } from "../scoring/estimates.ts";

export interface EstimateRow {
  readonly name: string;
  readonly estimate: string;
  readonly interval: string;
  /** Sentences in plain words. */
  readonly meaning: string;
}

/** A row for each quantity that is known; effects of announced tests and of probes only if there are any. */
export function estimateRows(estimates: Estimates): readonly EstimateRow[] {
  const { sensitivity, criterion, exam_effect, probe_effect } = estimates;
  return [
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
    ...(exam_effect === null ? [] : [
      row("Exam effect", exam_effect, {
        above: "The operator judges better in announced tests than in live work.",
        below: "The operator judges worse in announced tests than in live work.",
        open: "No difference between announced tests and live work is certain.",
      }),
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

/** The kinds of work whose rates are known, in the order in which they are shown. */
const WORK = ["live", "high_stakes", "critical", "probes", "announced"] as const;
export type WorkKind = (typeof WORK)[number];

const WORK_NAMES: Readonly<Record<WorkKind, string>> = {
  live: "All live work",
  high_stakes: "High stakes",
  critical: "Critical decisions",
  probes: "Sealed probes",
  announced: "Announced tests",
};

/** One kind of work with both rates; a rate is null if nothing is known of this kind. */
export interface WorkRates {
  readonly kind: WorkKind;
  readonly name: string;
  readonly rates: RatePair | null;
}

/** Both rates of live work, by stakes, in sealed probes and in announced tests, for showing them side by side. */
export function ratesByWork(estimates: Estimates): readonly WorkRates[] {
  return WORK.map((kind) => ({
    kind,
    name: WORK_NAMES[kind],
    rates: kind === "live" ? estimates : estimates[kind],
  }));
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

/** A rate, 0..1, in whole percent. */
export function rateInWords(share: number): string {
  return `${roundTo(100 * share, 0)} %`;
}

function figureOf(value: number): string {
  return roundTo(value, 2).toFixed(2);
}
