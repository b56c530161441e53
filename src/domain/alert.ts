/**
 * Alerts, and when usage is one.
 * Source: specification, Alert and Limits (quota breach); contract, section 5.
 */
import { ANOMALY_DAYS_WITH_DATA, ANOMALY_FACTOR, ANOMALY_PERCENTILE } from "./limits.ts";

export const USAGE_ANOMALY = "USAGE_ANOMALY";
export const ALERT_SEVERITY = "HIGH";

/** Why an alert was raised, in wire names; counts are scores. */
export interface UsageAnomaly {
  readonly count_24h: number;
  readonly p95: number;
  /** What `count_24h` exceeds. */
  readonly threshold: number;
  readonly days_with_data: number;
}

/**
 * The 95th percentile by nearest rank: of n values in ascending order the one at rank ⌈0.95 n⌉, so always one of
 * them; of 30 the 29th, which is the second largest. `values` must not be empty.
 */
export function p95(values: readonly number[]): number {
  const rank = Math.ceil(ANOMALY_PERCENTILE * values.length / 100);
  return values.toSorted((a, b) => a - b)[rank - 1]!;
}

/**
 * What is wrong with the last 24 hours of an organization, or null: they must exceed ten times the p95 of the daily
 * counts before them. A day without scores counts as 0; with fewer than 7 that have some, nothing is known of it yet.
 */
export function usageAnomaly(
  { last, before }: {
    /** Scores of the last 24 hours. */
    readonly last: number;
    /** Of each of the days before those, zeros included. */
    readonly before: readonly number[];
  },
): UsageAnomaly | null {
  const daysWithData = before.filter((count) => count > 0).length;
  if (daysWithData < ANOMALY_DAYS_WITH_DATA) return null;
  const percentile = p95(before);
  const threshold = ANOMALY_FACTOR * percentile;
  if (last <= threshold) return null;
  return { count_24h: last, p95: percentile, threshold, days_with_data: daysWithData };
}
