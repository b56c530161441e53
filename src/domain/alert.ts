/**
 * Alerts, and the rule by which usage raises one.
 * Source: specification, Alert and Limits (quota breach); contract, section 5.
 */
import * as z from "zod";
import { ANOMALY_DAYS_WITH_DATA, ANOMALY_FACTOR, ANOMALY_PERCENTILE } from "./limits.ts";

export const USAGE_ANOMALY = "USAGE_ANOMALY";
export const ALERT_SEVERITY = "HIGH";

/** Alert for probes that were shown and never decided: one for each organization and UTC day, which each adds to. */
export const PROBE_LOST_ALERT = "PROBE_LOST";

/** The content of such an alert: the ids of the day's lost probes. */
export interface ProbesLost {
  readonly probes: readonly string[];
}

/** Alerts for a chain that differs from what was signed, by the kind of chain. */
export const CHAIN_TAMPERED_KINDS = {
  evidence: "CHAIN_TAMPERED",
  admin: "ADMIN_CHAIN_TAMPERED",
  system: "SYSTEM_CHAIN_TAMPERED",
} as const;

/** The content of such an alert, in wire names. */
export const chainTamperedSchema = z.object({
  /** The chain of epoch 1. */
  family: z.string(),
  /** The epoch in which the first fault was found. */
  chain: z.string(),
  /** Code of the finding; `ALTERED` if the fault was met while data were read. */
  code: z.string(),
  seq: z.int().nullable(),
  what: z.string(),
});
export type ChainTampered = z.infer<typeof chainTamperedSchema>;

/** Number of altered organizations from which the whole service is concerned. */
const ORGANIZATIONS_OF_ALL = 2;

/**
 * True if the altered chains concern the whole service, so that it is not ready: the system's chain, or
 * chains of two organizations or more. `families` are the altered chains: `sys`, `org/<org_id>` or
 * `org/<org_id>/admin`.
 */
export function mustLeaveRotation(families: readonly string[]): boolean {
  const organizations = new Set(families.map((family) => family.split("/")[1] ?? null));
  return organizations.has(null) || organizations.size >= ORGANIZATIONS_OF_ALL;
}

/** The reason for an alert, in wire names; counts are scores. */
export const usageAnomalySchema = z.object({
  count_24h: z.int().min(0),
  p95: z.int().min(0),
  threshold: z.int().min(0).meta({ description: "The limit that `count_24h` exceeds." }),
  days_with_data: z.int().min(0),
});
export type UsageAnomaly = Readonly<z.infer<typeof usageAnomalySchema>>;

/**
 * The 95th percentile by nearest rank: the value at rank ⌈0.95 n⌉ of n values in ascending order, so always
 * one of them. For 30 values it is the 29th, the second largest. `values` must not be empty.
 */
export function p95(values: readonly number[]): number {
  const rank = Math.ceil(ANOMALY_PERCENTILE * values.length / 100);
  return values.toSorted((a, b) => a - b)[rank - 1]!;
}

/**
 * The usage anomaly of an organization's last 24 hours; null if there is none. Usage is anomalous if it
 * exceeds ten times the p95 of the earlier daily counts. A day without scores counts as 0; if fewer than 7
 * days have scores, the result is null.
 */
export function usageAnomaly(
  { last, before }: {
    /** Scores of the last 24 hours. */
    readonly last: number;
    /** Scores of each day before those, zeros included. */
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
