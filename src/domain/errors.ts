/**
 * The closed table of errors: every code with its statuses, and the one error type that the service throws.
 * Source: specification, Errors; contract, section 2.
 */

/** The statuses that each code may carry; the first is the default. */
export const ERROR_STATUSES = {
  INVALID_JSON: [400],
  VALIDATION_FAILED: [422, 400],
  UNAUTHORIZED: [401],
  ORIGIN_NOT_ALLOWED: [403],
  FORBIDDEN: [403],
  NOT_FOUND: [404],
  METHOD_NOT_ALLOWED: [405],
  CONFLICT: [409],
  GONE: [410],
  PAYLOAD_TOO_LARGE: [413],
  UNSUPPORTED_MEDIA_TYPE: [415],
  INSUFFICIENT_DATA: [422],
  IDEMPOTENCY_KEY_REUSED: [422],
  RATE_LIMITED: [429],
  INTERNAL_ERROR: [500],
  NOT_IMPLEMENTED: [501],
  upstream_protocol_violation: [502],
  SERVICE_UNAVAILABLE: [503],
} as const satisfies Record<string, readonly [number, ...number[]]>;

export type ErrorCode = keyof typeof ERROR_STATUSES;
export type ErrorStatus = (typeof ERROR_STATUSES)[ErrorCode][number];

export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
}

/** The reason why a record is gone, and the entry of its chain that records it. */
export interface GoneDetails {
  readonly reason: string;
  readonly entry: { readonly seq: number; readonly entry_hash: string } | null;
}

export interface ServiceErrorOptions {
  /** One of the code's statuses; its first by default. */
  readonly status?: ErrorStatus;
  readonly details?: readonly ErrorDetail[] | GoneDetails;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A failure with a code. Its message is shown to the caller: it says what to change, and holds no secret,
 * path, SQL or stack.
 */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly status: ErrorStatus;
  readonly details: readonly ErrorDetail[] | GoneDetails | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(readonly code: ErrorCode, message: string, options: ServiceErrorOptions = {}) {
    super(message);
    this.status = options.status ?? ERROR_STATUSES[code][0];
    this.details = options.details;
    this.headers = options.headers ?? {};
  }
}

/** A refusal of one member of a request, at its path. `message` is the end of "Change path: it …". */
export function refusedAt(path: string, message: string): ServiceError {
  return new ServiceError("VALIDATION_FAILED", `Change ${path}: it ${message}.`, {
    details: [{ path, message }],
  });
}

/** `Retry-After`, in seconds, of a refusal that an administrator must resolve first. */
export const ADMINISTRATOR_RETRY_SECONDS = 60;

/** A 503 with `Retry-After` in whole seconds. */
export function unavailable(message: string, retryAfterSeconds = 1): ServiceError {
  return new ServiceError("SERVICE_UNAVAILABLE", message, { headers: retryAfter(retryAfterSeconds) });
}

/**
 * Stored data differ from what was signed. They are not answered, and nothing is signed from them. The status
 * is 503, because a client can do nothing about it and an administrator can.
 */
export class AlteredError extends ServiceError {
  /**
   * @param chain the chain to which the data belong, in any of its epochs.
   * @param what a clause that says what differs from what was signed; it names no person and holds no
   * content.
   */
  constructor(readonly chain: string, readonly what: string) {
    super(
      "SERVICE_UNAVAILABLE",
      `The database was altered: ${what}. It is not answered from until an administrator puts the database back, or accepts it as it stands with \`jiss restore --acknowledge REASON\`.`,
      { headers: retryAfter(ADMINISTRATOR_RETRY_SECONDS) },
    );
  }
}

/**
 * A chain in the database is behind what was issued of it, or is suspect: nothing is recorded, and only the
 * reads that may be of a database that was put back are answered.
 */
export class BehindIssued extends ServiceError {
  /** A clause that says what was found. */
  readonly what: string;

  /** @param chain family of the chain. */
  constructor(readonly chain: string) {
    super(
      "SERVICE_UNAVAILABLE",
      "The database is older than what this installation has issued, or was altered: nothing is recorded until an administrator runs `jiss restore --acknowledge REASON`.",
      { headers: retryAfter(ADMINISTRATOR_RETRY_SECONDS) },
    );
    this.what = `${chain} in the database is older than what was issued of it`;
  }
}

export function retryAfter(seconds = 1): Readonly<Record<string, string>> {
  return { "Retry-After": String(seconds) };
}

/**
 * True for a temporary refusal, which the refusing code has reported; false for altered data, not yet
 * reported.
 */
export function isUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && error.code === "SERVICE_UNAVAILABLE" &&
    !(error instanceof AlteredError);
}

/** The error's message, followed by the messages of its causes down to the first. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${reasonOf(error.cause)}` : error.message;
}

/** True if the requested record is no longer stored. */
export function isGone(error: unknown): boolean {
  return error instanceof ServiceError && error.code === "GONE";
}

/** The same refusal for every failed authentication. */
export function unauthorized(): ServiceError {
  return new ServiceError("UNAUTHORIZED", "Authentication failed: send a valid key in the X-API-Key header.");
}

/** The same refusal for every call of a user without an open session. */
export function notSignedIn(): ServiceError {
  return new ServiceError("UNAUTHORIZED", "You are not signed in, or the session has ended: sign in again.");
}
