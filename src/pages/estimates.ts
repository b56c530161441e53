/** The estimates of how an operator judges, as rows of words: the same for every page. */
import { roundTo } from "../scoring/arithmetic.ts";
import type { Estimate, Estimates, RateEstimate, RatePair } from "../scoring/estimates.ts";
import { countInWords, inPercent } from "./wording.ts";

export interface EstimateRow {
  readonly name: string;
  readonly estimate: string;
  readonly interval: string;
  /** Sentences in plain words. */
  readonly meaning: string;
}

/** A row for each quantity that is known; effects of announced tests and of probes only if there are any. */
export function estimateRows(estimates: Estimates): readonly EstimateRow[] {
  const { departs_when_wrong: wrong, departs_when_right: right } = estimates;
  const { sensitivity, criterion, exam_effect, probe_effect } = estimates;
  // With few known cases both quantities are what is usual among people, however narrow their intervals.
  const isKnown = Math.min(wrong.cases, right.cases) >= ENOUGH_CASES;
  const unknown = "Whether the operator tells wrong advice from right advice is not known yet.";
  const unsettled = "No leaning to either side is certain.";
  return [
    row("Sensitivity", sensitivity, {
      above: isKnown ? "The operator tells wrong advice from right advice." : unknown,
      below: isKnown ? "The operator departs from right advice more than from wrong advice." : unknown,
      open: isKnown
        ? `The rates on wrong and right advice (${rateInWords(wrong.mean)} and ${
          rateInWords(right.mean)
        }) do not differ measurably.`
        : unknown,
    }),
    row("Leaning", criterion, {
      above: isKnown ? "The operator leans to follow the AI." : unsettled,
      below: isKnown ? "The operator leans to depart from the AI." : unsettled,
      open: unsettled,
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
  return inPercent(String(roundTo(100 * share, 0)));
}

/**
 * Known cases of wrong or of right advice from which on the model gives a verdict. With fewer, an interval can be narrow by what is
 * usual among people alone, so that its width does not tell enough.
 */
export const ENOUGH_CASES = 5;

/** The remark on a figure that few cases gave. */
export const SAYS_LITTLE = "says little";

/** Whether an interval, 0..1, is wider than half the scale. */
export function isWide({ low, high }: Pick<Estimate, "low" | "high">): boolean {
  return high - low > 0.5;
}

/** Whether a rate rests on so few known cases that it must not look as firm as others. */
export function saysLittle(rate: Pick<RateEstimate, "low" | "high" | "cases">): boolean {
  return rate.cases < ENOUGH_CASES || isWide(rate);
}

/** The known cases behind a rate, with the remark if they are few. */
export function casesInWords(rate: Pick<RateEstimate, "low" | "high" | "cases">): string {
  if (rate.cases === 0) return `no known case: what is usual, ${SAYS_LITTLE}`;
  const known = countInWords(rate.cases, "known case");
  return saysLittle(rate) ? `${known}: ${SAYS_LITTLE}` : known;
}

/** Both rates of live work for whoever they are about, in the second person. */
export function ownRatesInWords({ departs_when_wrong: wrong, departs_when_right: right }: RatePair): string {
  const rate = (advice: string, of: RateEstimate) =>
    of.cases === 0
      ? `how often you depart from ${advice} advice is not known yet`
      : `you depart from ${advice} advice in about ${rateInWords(of.mean)} of the cases (${
        rateInWords(of.low)
      } to ${rateInWords(of.high)}, from ${casesInWords(of)})`;
  return `In live work ${rate("wrong", wrong)}, and ${
    rate("right", right)
  }. To depart from wrong advice is to find an error; to depart from right advice is a false alarm.`;
}

function figureOf(value: number): string {
  return roundTo(value, 2).toFixed(2);
}
