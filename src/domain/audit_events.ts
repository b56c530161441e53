/** The names of the events that the service itself writes to its chains. Source: specification, Audit event; contract, section 5. */

/** Events of an organization's audit log: what is done to the organization and its keys, and by whom. */
const AUDIT_EVENTS = [
  "ORG_CREATED",
  "KEY_ROTATED",
  "KEY_REVOKED",
  "NAMED_KEY_CREATED",
  "NAMED_KEY_REMOVED",
  "USER_INVITED",
  "USER_PROVIDED",
  "USER_LINK_ISSUED",
  "USER_CHANGED",
  "USER_ERASED",
  "USER_PASSWORD_SET",
  "USER_PASSKEY_ADDED",
  "USER_PASSKEY_REMOVED",
  "USER_SIGNED_IN",
  "USER_SIGNED_OUT",
  "USER_SESSIONS_ENDED",
  "AUTH_FAIL_SIGN_IN",
  "ACCESS_DENIED",
  "AUTH_FAIL_MASTER_KEY",
  "AUTH_FAIL_RATE_LIMITED_IP",
  "AUTH_FAIL_RATE_LIMITED_KEY",
  "ADMIN_ORG_SUSPEND",
  "ADMIN_ORG_REACTIVATE",
  "ADMIN_ORG_FORCE_ROTATE",
  "ADMIN_ORG_FORCE_REVOKE",
  "ADMIN_BILLING_SUSPEND",
  "ADMIN_BILLING_ROTATE",
  "ADMIN_ALERT_ACK",
  "AUDIT_LOG_READ",
  "AUDIT_LOG_EXPORTED",
  "SUBJECT_ACCESS",
  "SUBJECT_UNMASKED",
  "SUBJECT_LINK_ISSUED",
  "OPERATOR_ERASED",
  "ALERT_RAISED",
  "ALERT_ACKNOWLEDGED",
  "PROTOCOL_VIOLATION",
  "PROBE_POLICY_CHANGED",
  "WEBHOOK_REGISTERED",
  "WEBHOOK_LISTED",
  "WEBHOOK_REMOVED",
  "WEBHOOK_PAUSED",
  "WEBHOOK_RESUMED",
  "WEBHOOK_DISABLED",
  "WEBHOOK_TESTED",
  "WEBHOOK_REDELIVERED",
  "WEBHOOK_EVENTS_DROPPED",
] as const;

/** Events about a chain itself, which any chain may hold. */
const CHAIN_EVENTS = [
  "CHAIN_GENESIS",
  "CHAIN_RESTORED",
  "CLOCK_ANOMALY",
  "RETENTION_POLICY",
  "RETENTION_PRUNED",
  "SIGNING_KEY_ROTATED",
] as const;

/** Events of the evidence chain that a user can make: the audit log has those that users made. */
export const USER_RECORD_EVENTS = [
  "SCORE_COMMITTED",
  "OUTCOME_LABELLED",
  "REPORT_ISSUED",
  "PROBE_SEALED",
  "PROBE_RECALLED",
  "CASE_SET_ADDED",
  "EXERCISE_SET",
  "CASE_OPENED",
  "CASE_CHANGED",
  "TEAM_SET",
] as const;

/** Event types by which the audit log can be filtered. */
export const AUDIT_LOG_EVENTS = [...AUDIT_EVENTS, ...CHAIN_EVENTS, ...USER_RECORD_EVENTS] as const;

/** Every event that the service writes itself; a caller must not be able to forge one. */
export const SERVICE_EVENTS = [
  ...AUDIT_LOG_EVENTS,
  "SCORE_COMPUTED",
  "SCORE_SKIPPED",
  "DRS_COMPUTED",
  "PROBE_SEED_COMMITTED",
  "PROBE_SEED_OPENED",
  "PROBE_DRAWN",
  "PROBE_ASSIGNED",
  "PROBE_OPENED",
  "PROBE_LOST",
  "EXERCISE_DECIDED",
  "SCORE_CONTESTED",
  "SUBJECT_ERASED",
  "SIGNING_KEY_COMPROMISED",
  "MODEL_CHANGED",
  "ORG_CHECKPOINTS",
] as const;
