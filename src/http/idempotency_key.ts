/** The header that makes a call safe to repeat. Source: specification, Limits; contract, section 8.9. */
import { ServiceError } from "../domain/errors.ts";
import { IDEMPOTENCY_KEY_MAX_LENGTH } from "../domain/limits.ts";
import type { IdempotentCall } from "../operations/shared/idempotency.ts";
import type { AppContext } from "./exchange.ts";
import { validationFailed } from "./parse.ts";

/**
 * The header's text; empty if there is none. Deno gives each octet of the header as one character, so the
 * octets are decoded as UTF-8 if they are valid UTF-8.
 */
function idempotencyKeyOf(request: Request): string {
  const field = request.headers.get("Idempotency-Key") ?? "";
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(
      Uint8Array.from(field, (octet) => octet.charCodeAt(0)),
    );
  } catch {
    return field;
  }
}

/**
 * The endpoint and the key that make a call safe to repeat; null if the call carries no key. A user's keys are the user's own:
 * nobody gets the stored answer of somebody else.
 */
export function idempotentCall({ req, var: { exchange } }: AppContext): IdempotentCall | null {
  if (!req.raw.headers.has("Idempotency-Key")) return null;
  const by = exchange.session === null ? "" : ` of ${exchange.session.caller.userId}`;
  return { endpoint: `${req.method} ${req.path}${by}`, key: idempotencyKeyOf(req.raw) };
}

/** @throws {ServiceError} VALIDATION_FAILED, 400, if the header is missing, empty or too long. */
export function checkIdempotencyKey(request: Request): void {
  const { length } = Array.from(idempotencyKeyOf(request));
  if (length > 0 && length <= IDEMPOTENCY_KEY_MAX_LENGTH) return;
  const problem = length === 0 ? "it is missing or empty" : `it has ${length}`;
  throw new ServiceError(
    "VALIDATION_FAILED",
    `Send an Idempotency-Key header of 1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} characters; ${problem}.`,
    { status: 400 },
  );
}

/** @throws {ServiceError} VALIDATION_FAILED if the key in the body is not that of the header. */
export function requireSameKey({ req }: AppContext, idempotencyKey: string): void {
  if (idempotencyKey === idempotencyKeyOf(req.raw)) return;
  throw validationFailed([{
    path: "idempotency_key",
    message: "must be the same as the Idempotency-Key header",
  }]);
}
