/**
 * Alerts, and when usage is one.
 * Source: specification, Alert and Limits (quota breach); contract, section 5.
 */
import * as z from "zod";
import { ANOMALY_DAYS_WITH_DATA, ANOMALY_FACTOR, ANOMALY_PERCENTILE } from "./limits.ts";

export const USAGE_ANOMALY = "USAGE_ANOMALY";
export const ALERT_SEVERITY = "HIGH";

/** Alerts of a chain that is not what was signed, by what the chain holds. */
export const CHAIN_TAMPERED_KINDS = {
  evidence: "CHAIN_TAMPERED",
  admin: "ADMIN_CHAIN_TAMPERED",
  system: "SYSTEM_CHAIN_TAMPERED",
} as const;

/** What such an alert says, in wire names. */
export const chainTamperedSchema = z.object({
  /** The chain of epoch 1. */
  family: z.string(),
  /** The epoch in which something was found first. */
  chain: z.string(),
  /** Of the finding; `ALTERED` where it was met as something was read. */
  code: z.string(),
  seq: z.int().nullable(),
  what: z.string(),
});
export type ChainTampered = z.infer<typeof chainTamperedSchema>;

/** From how many organizations on it is not one organization's matter. */
const ORGANIZATIONS_OF_ALL = 2;

/**
 * Whether chains that are not what was signed concern the service as a whole, so that it is not ready: the system's
 * chain, or chains of two organizations or more. `families`: `sys`, `org/<org_id>` or `org/<org_id>/admin`.
 */
export function mustLeaveRotation(families: readonly string[]): boolean {
  const organizations = new Set(families.map((family) => family.split("/")[1] ?? null));
  return organizations.has(null) || organizations.size >= ORGANIZATIONS_OF_ALL;
}

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
