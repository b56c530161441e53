/**
 * Every environment variable that the program knows. Any other `JISS_…` name is a typing mistake.
 * Source: contract, section 1.
 */
import { MASTER_SCOPES, masterSecretNames } from "../keys/master_keys.ts";

/** Secrets. Each also has a `…_FILE` form with the path of a file that holds the value. */
export const SECRET_VARIABLES: readonly string[] = [
  "JISS_KEY_PEPPER",
  "JISS_KEY_PEPPER_PREVIOUS",
  "JISS_SECRETS_KEY",
  "JISS_DATABASE_AUTH_TOKEN",
  "JISS_OIDC_CLIENT_SECRET",
  ...MASTER_SCOPES.flatMap(masterSecretNames),
];

const OTHER_VARIABLES: readonly string[] = [
  "JISS_HOST",
  "JISS_PORT",
  "JISS_BASE_URL",
  "JISS_DATA_DIR",
  "JISS_DATABASE_URL",
  "JISS_DATABASE_ADMIN_URL",
  "JISS_SIGNING_KEY_FILE",
  "JISS_SIGNING_KEY_PREVIOUS_FILE",
  "JISS_RATE_LIMIT_IP",
  "JISS_RATE_LIMIT_KEY",
  "JISS_RATE_LIMIT_SESSION",
  "JISS_RATE_LIMIT_STORE",
  "JISS_OIDC_ISSUER",
  "JISS_OIDC_CLIENT_ID",
  "JISS_OIDC_MAP_FILE",
  "JISS_OIDC_SCOPES",
  "JISS_OIDC_USERINFO",
  "JISS_SESSION_HOURS",
  "JISS_SESSION_IDLE_MINUTES",
  "JISS_PRIVACY",
  "JISS_ADMIN_DASHBOARD",
  "JISS_BOOTSTRAP_ORG_FILE",
  "JISS_METRICS_ADDR",
  "JISS_TRUSTED_PROXIES",
  "JISS_WEBHOOK_ALLOW",
  "JISS_WEBHOOK_BACKOFF_MS",
  "JISS_WEBHOOK_TIMEOUT_MS",
  "JISS_EXTRA_CA_FILE",
  "JISS_TLS_CERT_FILE",
  "JISS_TLS_KEY_FILE",
  "JISS_LOG",
  "JISS_LOG_NAME",
  "JISS_AUDIT_RETENTION_DAYS",
  "JISS_EVIDENCE_RETENTION_DAYS",
  "JISS_ASSESSMENT_RETENTION_DAYS",
  "JISS_SCORING_MODEL_FILE",
  "JISS_SCORING_SHADOW_MODEL_FILE",
  "JISS_PATENT_JSON",
];

export const KNOWN_VARIABLES: readonly string[] = [
  ...new Set([
    ...OTHER_VARIABLES,
    ...SECRET_VARIABLES.flatMap((name) => [name, `${name}_FILE`]),
  ]),
];

/** Whether the program claims a name: an unknown name of this kind is refused. */
export function isClaimed(name: string): boolean {
  return name.startsWith("JISS_") || name.startsWith("MASTER_ADMIN_KEY_");
}
