/** Destinations of webhooks and their deliveries in words. */
import type { DELIVERY_STATUSES, WebhookEvent } from "../../domain/enums.ts";
import type { AttemptError } from "../../domain/webhook.ts";
import type { Webhooks } from "./types.ts";

/** The events in words, the test included. */
export const WEBHOOK_EVENT_WORDS: Readonly<Record<WebhookEvent | "ping", string>> = {
  "score.committed": "A score was made final",
  "drs.must_review": "A decision must be reviewed",
  "drs.escalation": "A decision must be escalated",
  "case.opened": "A case was opened",
  "ping": "A test",
};

export const DELIVERY_WORDS: Readonly<Record<(typeof DELIVERY_STATUSES)[number], string>> = {
  queued: "Waiting",
  delivered: "Delivered",
  dead: "Failed",
  cancelled: "Cancelled",
};

const ERROR_WORDS: Readonly<Record<AttemptError, string>> = {
  refused_target: "its address may not be called, or its name does not resolve",
  connection_failed: "no connection",
  certificate: "its certificate is not valid here",
  tls: "TLS failed",
  connection_lost: "the connection was lost",
  timeout: "no answer in time",
  invalid_answer: "its answer is not HTTP",
  redirect: "a redirect, which is never followed: status",
  status: "status",
  interrupted: "the service stopped meanwhile",
};

/** The reason why an attempt did not deliver; `status`: that of the answer, null if there was none. */
export function failureInWords(error: AttemptError, status: number | null): string {
  return status === null ? ERROR_WORDS[error] : `${ERROR_WORDS[error]} ${status}`;
}

export function stateInWords({ active }: Pick<Webhooks["webhooks"][number], "active">): string {
  return active ? "Active" : "Off";
}
