/**
 * The review times of a domain, from those of its operators whose own outcomes show that they judge.
 *
 * A correct acceptance alone proves nothing, as whoever accepts everything is right as often as the AI is; so an operator
 * counts only where hits and correct acceptances together are far better than chance. Each of them counts the same,
 * however many cases they had: medians of operators' medians, in log time [8].
 */
import type { Domain } from "../../domain/enums.ts";
import { clamp, exp, ln, round } from "../arithmetic.ts";
import { DEFAULT_MODEL_DOCUMENT, type ModelDocument } from "../model.ts";
import { hasEnoughCases, type LabelledCases, type Outcomes } from "./labelled_cases.ts";

export const TIME_RULES = {
  /** Share of hits minus share of false alarms, each of Beta(1,1): 0 is chance, 1 is perfect. */
  discrimination: 0.5,
  /** Good reviews of an operator that counts. */
  reviews: 20,
  /** Operators that count, for a domain to be fitted. */
  operators: 5,
  /** No good review of a typical operator is below the fast threshold more often than this. */
  fastShare: 0.05,
  /** Of the built-in value: the lowest that a fit can reach. */
  lowestShare: 0.5,
  /** Of the longest time that the model tells apart: the highest reference. */
  highestShare: 0.5,
} as const;

export interface Times {
  readonly fast_ms: number;
  readonly reference_ms: number;
}

/** What was done with a value: fitted, or fitted and held at a bound, or kept for want of data. */
export type FitResult = "fitted" | "bounded" | "kept";

export interface TimesFit {
  readonly domain: Domain;
  /** Operators with a case whose truth is known; of them, with enough cases; of those, who judge; who count. */
  readonly operators: number;
  readonly enough_cases: number;
  readonly judging: number;
  readonly counted: number;
  /** Good reviews of those who count. */
  readonly reviews: number;
  readonly before: Times;
  /** Of the operators' median times: the lower quartile, the median, the upper quartile. null where nothing was fitted. */
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
  const { fast_ms, reference_ms } = model.domains[domain];
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

/** Youden's J of the operator's own record: 0 for whoever accepts, departs or refers whatever the advice is worth. */
function discrimination({ hits, misses, correctAcceptances, falseAlarms }: Outcomes): number {
  return (hits + 1) / (hits + misses + 2) - (falseAlarms + 1) / (correctAcceptances + falseAlarms + 2);
}

/**
 * Good reviews say where the reference lies; of the fast threshold they say only that they lie above it. It keeps the
 * built-in proportion to the reference, and is below nearly all good reviews besides. Bounds are those of the built-in
 * document, so that no row of calibrations can go farther than one.
 */
function timesOf(
  model: ModelDocument,
  domain: Domain,
  { reference, lowTail }: { readonly reference: number; readonly lowTail: number },
): { readonly result: FitResult; readonly after: Times } {
  const builtIn = DEFAULT_MODEL_DOCUMENT.domains[domain];
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
