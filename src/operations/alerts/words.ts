/** Alerts in words: what happened, and what to do next. */
import {
  CHAIN_TAMPERED_KINDS,
  type ChainTampered,
  PROBE_LOST_ALERT,
  USAGE_ANOMALY,
  type UsageAnomaly,
} from "../../domain/alert.ts";
import { ANOMALY_DAYS, ANOMALY_FACTOR } from "../../domain/limits.ts";
import type { OrganizationAlertKind } from "../../domain/organization_alert.ts";
import { formatQuantity } from "../../scoring/wording.ts";

/** The content of an alert. */
export type AlertContent =
  | { readonly kind: typeof USAGE_ANOMALY; readonly usage: UsageAnomaly }
  | { readonly kind: typeof PROBE_LOST_ALERT; readonly probeIds: readonly string[] }
  | {
    readonly kind: typeof CHAIN_TAMPERED_KINDS.evidence | typeof CHAIN_TAMPERED_KINDS.admin;
    readonly fault: ChainTampered;
  };

/** A sentence that says what happened. */
export function alertStatement(content: AlertContent): string {
  switch (content.kind) {
    case USAGE_ANOMALY: {
      const { count_24h, p95, threshold } = content.usage;
      return `${
        formatQuantity(String(count_24h), "score")
      } in 24 hours: more than ${threshold}, which is ${ANOMALY_FACTOR} times a busy day (${p95}) of the ${ANOMALY_DAYS} days before.`;
    }
    case PROBE_LOST_ALERT: {
      const count = content.probeIds.length;
      return `${formatQuantity(String(count), "sealed probe")} ${
        count === 1 ? "was" : "were"
      } shown and never decided.`;
    }
    case CHAIN_TAMPERED_KINDS.evidence:
      return `The evidence in the database is not what was signed. ${asSentence(content.fault.what)}`;
    case CHAIN_TAMPERED_KINDS.admin:
      return `The audit log in the database is not what was signed. ${asSentence(content.fault.what)}`;
  }
}

/** A sentence from the words of a finding, which are one or the middle of one. */
function asSentence(what: string): string {
  return `${what.charAt(0).toUpperCase()}${what.slice(1).replace(/\.$/, "")}.`;
}

const TAMPERED_NEXT =
  "Tell the administrator of the service at once, and keep the backups. Export the chain and verify it offline: jiss verify FILE --key jwks.json.";

const NEXT_STEPS: Readonly<Record<OrganizationAlertKind, string>> = {
  [USAGE_ANOMALY]:
    "Find out who sent them: look when each named key was used last. If nobody can say why, replace the keys, because somebody else may have one.",
  [PROBE_LOST_ALERT]:
    "Find each case in your application, make sure that nobody acts on it, and ask why it was left.",
  [CHAIN_TAMPERED_KINDS.evidence]: TAMPERED_NEXT,
  [CHAIN_TAMPERED_KINDS.admin]: TAMPERED_NEXT,
};

/** A sentence that says what to do next about an alert. */
export function alertNextStep(kind: OrganizationAlertKind): string {
  return NEXT_STEPS[kind];
}
