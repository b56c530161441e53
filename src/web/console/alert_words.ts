/** Alerts in words. */
import type { OrganizationAlertKind } from "../../domain/organization_alert.ts";
import type { Alerts } from "./types.ts";

export const ALERT_WORDS: Readonly<Record<OrganizationAlertKind, string>> = {
  USAGE_ANOMALY: "Unusual use",
  PROBE_LOST: "Lost probes",
  CHAIN_TAMPERED: "Altered evidence",
  ADMIN_CHAIN_TAMPERED: "Altered audit log",
};

/** The person or program that acknowledged an alert. */
export function acknowledgerInWords(
  { actor, user_id, user_name }: NonNullable<Alerts["alerts"][number]["acknowledged_by"]>,
): string {
  if (user_id !== null) return user_name ?? "an erased user";
  return actor === "admin-worker" ? "the administrator of the service" : "an application with a key";
}
