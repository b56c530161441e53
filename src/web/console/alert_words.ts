/** Alerts in words. */
import type { OrganizationAlertKind } from "../../domain/organization_alert.ts";
import { ANOMALY_DAYS, ANOMALY_FACTOR } from "../../domain/limits.ts";
import type { Alerts } from "./types.ts";

export const ALERT_WORDS: Readonly<Record<OrganizationAlertKind, string>> = {
  USAGE_ANOMALY: "Unusual use",
  PROBE_LOST: "Lost probes",
  CHAIN_TAMPERED: "Altered evidence",
  ADMIN_CHAIN_TAMPERED: "Altered audit log",
};

/** The rule that raises an alert. */
export const ALERT_RULES: Readonly<Record<OrganizationAlertKind, string>> = {
  USAGE_ANOMALY:
    `The scores of 24 hours are more than ${ANOMALY_FACTOR} times those of a busy day of the ${ANOMALY_DAYS} days before. It is raised once a day (UTC) at most.`,
  PROBE_LOST:
    "A sealed probe was shown as a case, and nobody decided it in time. One alert holds all such probes of a day (UTC).",
  CHAIN_TAMPERED:
    "The service verified the signed chain of the evidence, and found an entry that is not as it was signed.",
  ADMIN_CHAIN_TAMPERED:
    "The service verified the signed chain of the audit log, and found an entry that is not as it was signed.",
};

/** The effect of an acknowledgement, and what it leaves as it is. */
export const ACKNOWLEDGING = "It takes the alert off the open ones for everybody, under your name.";
const MENDS_NOTHING = "It mends nothing, and the administrator of the service keeps the alert.";
export const ACKNOWLEDGING_LIMITS: Readonly<Record<OrganizationAlertKind, string>> = {
  USAGE_ANOMALY: "It stops no key: if the use goes on, another day raises another alert.",
  PROBE_LOST: "It ends no case, and another probe that is lost on the same day opens the alert again.",
  CHAIN_TAMPERED: MENDS_NOTHING,
  ADMIN_CHAIN_TAMPERED: MENDS_NOTHING,
};

/** The person or program that acknowledged an alert. */
export function acknowledgerInWords(
  { actor, user_id, user_name }: NonNullable<Alerts["alerts"][number]["acknowledged_by"]>,
): string {
  if (user_id !== null) return user_name ?? "an erased user";
  return actor === "admin-worker" ? "the administrator of the service" : "an application with a key";
}
