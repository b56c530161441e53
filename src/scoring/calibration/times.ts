/**
 * The review times of a domain, from the operators whose own outcomes show that they judge well.
 *
 * A correct acceptance alone proves nothing, because an operator who accepts everything is right as often as
 * the AI. So an operator counts only if hits and correct acceptances together are far better than chance.
 * Each operator counts the same, however many cases there were: medians of operators' medians, in log time
 * [8].
 */
import type { Domain } from "../../domain/enums.ts";
import { clamp, exp, ln, round } from "../arithmetic.ts";
import { DEFAULT_MODEL_DOCUMENT, domainRules, type ModelDocument } from "../model.ts";
import { hasEnoughCases, type LabelledCases, type Outcomes } from "./labelled_cases.ts";

export const TIME_RULES = {
  /** Share of hits minus share of false alarms, each of Beta(1,1): 0 is chance, 1 is perfect. */
  discrimination: 0.5,
  /** Fewest good reviews of an operator that counts. */
  reviews: 20,
  /** Fewest operators that count, for a domain to be fitted. */
  operators: 5,
  /** Largest share of a typical operator's good reviews that may lie below the fast threshold. */
  fastShare: 0.05,
  /** Lowest value that a fit can reach, as a share of the built-in value. */
  lowestShare: 0.5,
  /** Highest reference, as a share of the longest time that the model tells apart. */
  highestShare: 0.5,
} as const;

interface Times {
  readonly fast_ms: number;
  readonly reference_ms: number;
}

/** The treatment of a value: fitted, or fitted and held at a bound, or kept for want of data. */
export type FitResult = "fitted" | "bounded" | "kept";

export interface TimesFit {
  readonly domain: Domain;
  /**
   * Numbers of operators: with a case whose truth is known, with enough such cases, judging well, counted.
   */
  readonly operators: number;
  readonly enough_cases: number;
  readonly judging: number;
  readonly counted: number;
  /** Good reviews of the counted operators. */
  readonly reviews: number;
  readonly before: Times;
  /** Lower quartile, median and upper quartile of the operators' median times; null if nothing was fitted. */
  readonly medians_ms: readonly [number, number, number] | null;
  readonly result: FitResult;
  readonly after: Times;
}

/** Fits the times of a domain. */
export function fitTimes(model: ModelDocument, domain: Domain, cases: LabelledCases): TimesFit {
  const operators = cases.in(domain);
  const known = operators.filter(hasEnoughCases);
  const judging = known.filter((own) => discrimination(own) >= TIME_RULES.discrimination);
  const counted = judging.filter(({ goodReviewsMs }) => goodReviewsMs.length >= TIME_RULES.reviews);
  const { fast_ms, reference_ms } = domainRules(model, domain);
  const before = { fast_ms, reference_ms };
  const shared = {
    domain,
    operators: operators.length,
    enough_cases: known.length,
    judging: judging.length,
    counted: counted.length,
    reviews: counted.reduce((sum, { goodReviewsMs }) => sum + goodReviewsMs.length, 0),
    before,
  };
  if (counted.length < TIME_RULES.operators) {
    return { ...shared, medians_ms: null, result: "kept", after: before };
  }
  const times = counted.map(({ goodReviewsMs }) => sorted(goodReviewsMs.map(ln)));
  const medians = sorted(times.map((own) => quantile(own, 0.5)));
  const lowTail = quantile(sorted(times.map((own) => quantile(own, TIME_RULES.fastShare))), 0.5);
  const milliseconds = (at: number) => round(exp(quantile(medians, at)));
  const fitted = timesOf(model, domain, { reference: exp(quantile(medians, 0.5)), lowTail: exp(lowTail) });
  return {
    ...shared,
    medians_ms: [milliseconds(0.25), milliseconds(0.5), milliseconds(0.75)],
    ...fitted,
  };
}

/**
 * Youden's J of the operator's record: about 0 for one who accepts, departs or refers whatever the advice is
 * worth.
 */
function discrimination({ hits, misses, correctAcceptances, falseAlarms }: Outcomes): number {
  return (hits + 1) / (hits + misses + 2) - (falseAlarms + 1) / (correctAcceptances + falseAlarms + 2);
}

/**
 * Good reviews show the reference; about the fast threshold they show only that they lie above it. So the
 * threshold keeps the built-in proportion to the reference, and also lies below nearly all good reviews. The
 * bounds are those of the built-in document, so that a series of calibrations can go no farther than one
 * calibration.
 */
function timesOf(
  model: ModelDocument,
  domain: Domain,
  { reference, lowTail }: { readonly reference: number; readonly lowTail: number },
): { readonly result: FitResult; readonly after: Times } {
  const builtIn = domainRules(DEFAULT_MODEL_DOCUMENT, domain);
  const lowest = TIME_RULES.lowestShare * builtIn.reference_ms;
  const highest = Math.max(lowest, TIME_RULES.highestShare * model.process.max_ms);
  const bounded = clamp(reference, lowest, highest);
  const proportional = bounded * builtIn.fast_ms / builtIn.reference_ms;
  const fast = Math.max(Math.min(proportional, lowTail), TIME_RULES.lowestShare * builtIn.fast_ms);
  return {
    result: bounded === reference ? "fitted" : "bounded",
    after: { fast_ms: round(fast), reference_ms: round(bounded) },
  };
}

function sorted(values: readonly number[]): readonly number[] {
  return [...values].sort((one, other) => one - other);
}

/** A quantile, 0..1, of values in rising order, linear between order statistics (Hyndman and Fan 1996, type 7). */
function quantile(values: readonly number[], at: number): number {
  const place = at * (values.length - 1);
  const below = Math.floor(place);
  const low = values[below]!;
  return low + (values[Math.min(below + 1, values.length - 1)]! - low) * (place - below);
}
