/**
 * The meaning of each error code and its remedy. The OpenAPI document and the error catalogue take their
 * words from this table alone. A code without an entry does not compile.
 */
import type { ErrorCode, ErrorDetail, GoneDetails } from "./errors.ts";

/**
 * Says whether the same request may be sent again unchanged. `no`: it gets the same answer. `wait`: after the
 * seconds in `Retry-After`. `yes`: at once.
 */
export type ErrorRetry = "no" | "wait" | "yes";

export interface ErrorMeaning {
  /** One sentence. */
  readonly meaning: string;
  /** The remedy: one sentence or more, with code between backticks. */
  readonly remedy: string;
  readonly retry: ErrorRetry;
  readonly example: {
    readonly message: string;
    readonly details?: readonly ErrorDetail[] | GoneDetails;
  };
}

export const ERROR_MEANINGS: Readonly<Record<ErrorCode, ErrorMeaning>> = {
  INVALID_JSON: {
    meaning: "The body is not UTF-8, is not JSON, or is nested deeper than 16.",
    remedy:
      "Make the body with a JSON library, not by joining strings. The message says which of the three faults it is.",
    retry: "no",
    example: { message: "The body must be valid JSON." },
  },
  VALIDATION_FAILED: {
    meaning: "A field, parameter or header is missing, of the wrong type, or out of range.",
    remedy:
      'Change what `details` names: each has the `path` of a field and what it must be. Nothing is converted: `"8500"` is no number. The status is 422; it is 400 where a header is missing (`Idempotency-Key`) or an `alert_id` is malformed.',
    retry: "no",
    example: {
      message: "Change interaction.time_to_decision_ms: expected number, received string.",
      details: [{ path: "interaction.time_to_decision_ms", message: "expected number, received string" }],
    },
  },
  UNAUTHORIZED: {
    meaning: "The key is bad, missing, revoked, of another scope, or of an inactive organization.",
    remedy:
      "Send a valid key in the `X-API-Key` header. The answer does not tell the reasons apart, and is never faster than 80 ms, so that nothing can be learned from it. An organization's key opens no master operation, and a master key opens its own operation alone.",
    retry: "no",
    example: { message: "Authentication failed: send a valid key in the X-API-Key header." },
  },
  FORBIDDEN: {
    meaning: "The key or the user is known, but may not make this call.",
    remedy:
      "Use the organization's own key, a named key with the scope that the message names, or ask an admin for another role.",
    retry: "no",
    example: {
      message:
        "This call needs the organization's own key or a named key with the scope export, or a person who is an auditor or an admin; this key has the scopes score.",
    },
  },
  ORIGIN_NOT_ALLOWED: {
    meaning: "A browser asked to call from an origin that no organization registered.",
    remedy:
      "Call from your server, or have the origin added to `allowed_origins` of the organization. Wildcards are never honoured.",
    retry: "no",
    example: {
      message:
        "No organization registered this origin: add it to allowed_origins of the organization that calls from it.",
    },
  },
  NOT_FOUND: {
    meaning: "There is no endpoint at this path, or nothing with this id in the organization.",
    remedy:
      "Check the path and the id. Data of another organization get the same answer as data that do not exist.",
    retry: "no",
    example: {
      message: "session_id case-2026-000123 has no score: score it first, or check the session_id.",
    },
  },
  METHOD_NOT_ALLOWED: {
    meaning: "The path exists, and takes other methods.",
    remedy: "Use a method that the `Allow` header names.",
    retry: "no",
    example: { message: "This path takes POST." },
  },
  CONFLICT: {
    meaning: "The id was used for a different request or exists, or the state of things forbids the call.",
    remedy:
      "The message says which conflict it is. If a `session_id`, `decision_id` or `sessionId` was used before, send the first request again, unchanged, to get its answer, or use a new id. Otherwise do first what the message says.",
    retry: "no",
    example: {
      message:
        "session_id case-2026-000123 was used for a different request: send the same request again to get its answer, or use a new session_id.",
    },
  },
  GONE: {
    meaning: "The record was erased with its operator or is past its retention; its name stays used.",
    remedy:
      "Nothing brings it back. Use another id for a new record. `details` says why it is gone, and which entry of the chain records that.",
    retry: "no",
    example: {
      message:
        "This record was erased with its operator's personal data; its name stays used: use another id for a new one.",
      details: {
        reason: "erased",
        entry: {
          seq: 412,
          entry_hash: "9f2b6c1d4e8a07355ad0c9b1e6f43872d15f0a9c6b7e2d48130f5c8a96e7b2d4",
        },
      },
    },
  },
  PAYLOAD_TOO_LARGE: {
    meaning: "The body is too large; declared and received bytes are both checked.",
    remedy: "Send at most 1 MB (1,048,576 bytes), or 5 MB in a batch. Split a batch into smaller ones.",
    retry: "no",
    example: { message: "The body must be at most 1048576 bytes; it declares 2097152." },
  },
  UNSUPPORTED_MEDIA_TYPE: {
    meaning: "The body is not JSON, or is encoded.",
    remedy: "Send `Content-Type: application/json`, and no `Content-Encoding` but `identity`.",
    retry: "no",
    example: { message: "Send the body as JSON, with Content-Type: application/json." },
  },
  INSUFFICIENT_DATA: {
    meaning:
      "The operator's record is too short for a recommendation; or figures are about fewer than five reviewers, where users see pseudonyms.",
    remedy:
      "Ask again when the operator has 50 interactions or 10 days of monitoring, or when there are five reviewers; the message has the present figures.",
    retry: "no",
    example: {
      message:
        "A recommendation needs at least 50 interactions or 10 days of monitoring; operator_id reviewer-ada has 12 and 3.",
    },
  },
  IDEMPOTENCY_KEY_REUSED: {
    meaning: "The `Idempotency-Key` was used with a different body.",
    remedy: "Use a new key for a new request, and the old key only to repeat the old one unchanged.",
    retry: "no",
    example: {
      message: "This Idempotency-Key was used with a different body: use a new key for a new request.",
    },
  },
  RATE_LIMITED: {
    meaning: "Over a rate limit; `Retry-After` says how many seconds to wait.",
    remedy:
      "Wait that long, then send the same again; nothing was done yet. There is one limit for an address and one for a key, each over any 60 seconds. `X-RateLimit-Remaining` shows how many requests are left.",
    retry: "wait",
    example: { message: "At most 1000 requests in 60 seconds for one key: wait and retry." },
  },
  INTERNAL_ERROR: {
    meaning: "The service failed; nothing was written.",
    remedy:
      "Report the `request_id` to the administrator: the service's log has the reason under it. Send the request again with its id (`session_id`, `Idempotency-Key`): it is never done twice.",
    retry: "yes",
    example: {
      message:
        "The service failed on this request; nothing was written. Report the request_id to your administrator.",
    },
  },
  NOT_IMPLEMENTED: {
    meaning: "The admin dashboard's operations are off on this installation.",
    remedy:
      "Its administrator can set `JISS_ADMIN_DASHBOARD=on`; `jiss org` suspends, reactivates and re-keys from a shell.",
    retry: "no",
    example: {
      message: "The admin dashboard is disabled: the administrator can set JISS_ADMIN_DASHBOARD=on.",
    },
  },
  upstream_protocol_violation: {
    meaning: "A new key was promised and none was minted; the present one goes on working.",
    remedy: "Repeat the call with the same `Idempotency-Key`. The code is spelt in small letters.",
    retry: "yes",
    example: {
      message:
        "No new key was minted; the present key still works. Repeat the call with the same Idempotency-Key.",
    },
  },
  SERVICE_UNAVAILABLE: {
    meaning: "The service cannot do this at the moment; `Retry-After` says when to try again.",
    remedy:
      "Wait that long, then send the same again. The service is stopping, has too much to write, or is without its database, its disk or its counters; if it lasts, `jiss doctor` tells the administrator why.",
    retry: "wait",
    example: { message: "The service is shutting down: retry later." },
  },
};
