/** Events of the audit log in words: their titles, who made them, and the names of what they hold. */
import type { AUDIT_LOG_EVENTS } from "../../domain/audit_events.ts";
import { nameInWords } from "../../pages/wording.ts";

type EventName = (typeof AUDIT_LOG_EVENTS)[number];

export const EVENT_WORDS: Readonly<Record<EventName, string>> = {
  ORG_CREATED: "Organization created",
  KEY_ROTATED: "Organization's key rotated",
  KEY_REVOKED: "Organization's key revoked",
  NAMED_KEY_CREATED: "Named key made",
  NAMED_KEY_REMOVED: "Named key removed",
  USER_INVITED: "User invited",
  USER_PROVIDED: "User provided by the identity provider",
  USER_LINK_ISSUED: "Link issued to a user",
  USER_CHANGED: "User changed",
  USER_ERASED: "User erased",
  USER_PASSWORD_SET: "Password set",
  USER_PASSKEY_ADDED: "Passkey added",
  USER_PASSKEY_REMOVED: "Passkey removed",
  USER_SIGNED_IN: "User signed in",
  USER_SIGNED_OUT: "User signed out",
  USER_SESSIONS_ENDED: "Sessions ended",
  AUTH_FAIL_SIGN_IN: "Sign-in refused",
  ACCESS_DENIED: "Call refused: not allowed",
  AUTH_FAIL_MASTER_KEY: "Administrator's key refused",
  AUTH_FAIL_RATE_LIMITED_IP: "Too many calls from an address",
  AUTH_FAIL_RATE_LIMITED_KEY: "Too many calls with a key",
  ADMIN_ORG_SUSPEND: "Organization suspended",
  ADMIN_ORG_REACTIVATE: "Organization reactivated",
  ADMIN_ORG_FORCE_ROTATE: "Key rotated by the administrator",
  ADMIN_ORG_FORCE_REVOKE: "Key revoked by the administrator",
  ADMIN_BILLING_SUSPEND: "Organization suspended by billing",
  ADMIN_BILLING_ROTATE: "Key rotated by billing",
  ADMIN_ALERT_ACK: "Alert acknowledged by the administrator",
  AUDIT_LOG_READ: "Audit log read",
  AUDIT_LOG_EXPORTED: "Audit log exported",
  SUBJECT_ACCESS: "Copy of an operator's records made",
  SUBJECT_UNMASKED: "Operator's name looked up",
  SUBJECT_LINK_ISSUED: "Link to an operator's page issued",
  OPERATOR_ERASED: "Operator erased",
  ALERT_RAISED: "Alert raised",
  ALERT_ACKNOWLEDGED: "Alert acknowledged",
  PROTOCOL_VIOLATION: "Record refused: against the protocol",
  PROBE_POLICY_CHANGED: "Policy of probes changed",
  WEBHOOK_REGISTERED: "Webhook registered",
  WEBHOOK_LISTED: "Webhooks listed",
  WEBHOOK_REMOVED: "Webhook removed",
  WEBHOOK_PAUSED: "Webhook paused",
  WEBHOOK_RESUMED: "Webhook resumed",
  WEBHOOK_DISABLED: "Webhook disabled: its address is gone",
  WEBHOOK_TESTED: "Webhook tested",
  WEBHOOK_REDELIVERED: "Delivery sent again",
  WEBHOOK_EVENTS_DROPPED: "Waiting deliveries dropped",
  CHAIN_GENESIS: "Log begun",
  CHAIN_RESTORED: "Log begun anew after a restore",
  CLOCK_ANOMALY: "Clock jumped",
  RETENTION_POLICY: "Time of keeping changed",
  RETENTION_PRUNED: "Old entries removed",
  SIGNING_KEY_ROTATED: "Signing key rotated",
  SCORE_COMMITTED: "Score made final",
  OUTCOME_LABELLED: "Late label given",
  REPORT_ISSUED: "Report issued",
  PROBE_SEALED: "Probe sealed",
  PROBE_RECALLED: "Probe recalled",
  CASE_SET_ADDED: "Set of cases added",
  EXERCISE_SET: "Exercise set",
  CASE_OPENED: "Case opened",
  CASE_CHANGED: "Case changed",
  TEAM_SET: "Team set",
};

/** The parts of the log: what changed something, and what read records. */
export const EVENT_KINDS = { changes: "Changes", reading: "Reading" } as const;
export type EventKind = keyof typeof EVENT_KINDS;

const READING: ReadonlySet<string> = new Set<EventName>([
  "AUDIT_LOG_READ",
  "AUDIT_LOG_EXPORTED",
  "SUBJECT_ACCESS",
  "SUBJECT_UNMASKED",
  "WEBHOOK_LISTED",
]);

/** Events that neither changed nor read a record: they are in neither part. */
const OTHERS: ReadonlySet<string> = new Set<EventName>([
  "USER_SIGNED_IN",
  "USER_SIGNED_OUT",
  "AUTH_FAIL_SIGN_IN",
  "ACCESS_DENIED",
  "AUTH_FAIL_MASTER_KEY",
  "AUTH_FAIL_RATE_LIMITED_IP",
  "AUTH_FAIL_RATE_LIMITED_KEY",
  "PROTOCOL_VIOLATION",
  "ALERT_RAISED",
  "CLOCK_ANOMALY",
]);

/** Whether an event is of a part of the log; a name of a later version counts as a change. */
export function isOfKind(name: string, kind: EventKind): boolean {
  return kind === "reading" ? READING.has(name) : !READING.has(name) && !OTHERS.has(name);
}

/** An event in words; a name of a later version stays as it is. */
export function eventInWords(name: string): string {
  return name in EVENT_WORDS ? EVENT_WORDS[name as EventName] : name;
}

const ACTOR_WORDS: Readonly<Record<string, string>> = {
  "api": "An application",
  "self_serve": "A key",
  "payment-worker": "Billing",
  "admin-worker": "The administrator",
  "system": "The service",
};

/** The maker of an event that no user made, in words. */
export function actorInWords(actor: string): string {
  return ACTOR_WORDS[actor] ?? actor;
}

/** Names of an event's details that do not read well as they are. */
const FIELD_WORDS: Readonly<Record<string, string>> = {
  alert_id: "Alert",
  calls: "First calls",
  case_id: "Case",
  delivery_id: "Delivery",
  expires_at: "Ends",
  from_days: "Days before",
  host: "Goes to",
  id: "Id",
  key_id: "Key",
  link_expires_at: "Link ends",
  org_id: "Organization",
  report_id: "Report",
  retention_days: "Days kept",
  session_id: "Record",
  since: "From",
  to_days: "Days now",
  until: "Until",
  user_id: "User",
  vkey: "Verification key",
};

/** The name of a detail of an event. */
export function fieldInWords(name: string): string {
  return FIELD_WORDS[name] ?? nameInWords(name);
}
