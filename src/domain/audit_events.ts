/** The names of the events that the service itself writes to its chains. Source: specification, Audit event; contract, section 5. */

/** Events of an organization's audit log: what is done to the organization and its keys, and by whom. */
const AUDIT_EVENTS = [
  "ORG_CREATED",
  "KEY_ROTATED",
  "KEY_REVOKED",
  "NAMED_KEY_CREATED",
  "NAMED_KEY_REMOVED",
  "USER_INVITED",
  "USER_LINK_ISSUED",
  "USER_CHANGED",
  "USER_ERASED",
  "USER_PASSWORD_SET",
  "USER_SIGNED_IN",
  "USER_SIGNED_OUT",
  "USER_SESSIONS_ENDED",
  "AUTH_FAIL_SIGN_IN",
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
  "OPERATOR_ERASED",
  "ALERT_RAISED",
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

/** Event types by which the audit log can be filtered. */
export const AUDIT_LOG_EVENTS = [...AUDIT_EVENTS, ...CHAIN_EVENTS] as const;

/** Every event that the service writes itself; a caller must not be able to forge one. */
export const SERVICE_EVENTS = [
  ...AUDIT_LOG_EVENTS,
  "SCORE_COMPUTED",
  "SCORE_SKIPPED",
  "SCORE_COMMITTED",
  "OUTCOME_LABELLED",
  "DRS_COMPUTED",
  "REPORT_ISSUED",
  "PROBE_SEED_COMMITTED",
  "PROBE_SEED_OPENED",
  "PROBE_SEALED",
  "PROBE_DRAWN",
  "PROBE_ASSIGNED",
  "PROBE_OPENED",
  "PROBE_RECALLED",
  "PROBE_LOST",
  "CASE_SET_ADDED",
  "EXERCISE_SET",
  "EXERCISE_DECIDED",
  "SUBJECT_ERASED",
  "SIGNING_KEY_COMPROMISED",
  "MODEL_CHANGED",
  "ORG_CHECKPOINTS",
] as const;
