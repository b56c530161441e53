/**
 * Calls to the service from which the page came: the only place where a page uses the network. After a 429 it
 * waits and sends the request again; `onWait` receives the end of the wait.
 */
// The console imports this module before any that makes a schema.
import "./no_eval.ts";
import type { ErrorCode } from "../../domain/errors.ts";
import { reportCall } from "./connection.ts";

export interface ApiRequest {
  readonly method?: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  /** The path with its query. */
  readonly path: string;
  readonly key?: string;
  /** Whether the cookie of the user's session is sent, and one that the answer gives is kept. Default: false. */
  readonly withSession?: boolean;
  /** The body, sent as JSON. */
  readonly body?: unknown;
  /** JSON text that is sent unchanged, in place of `body`. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface SendOptions {
  readonly signal?: AbortSignal;
  /** Ends only the waiting before another attempt. */
  readonly patience?: AbortSignal;
  /** Receives the end of the wait, milliseconds of `performance.now()`; null when the wait is over. */
  readonly onWait?: (until: number | null) => void;
  /** False if a 429 is a failure like any other: nobody wants an attempt to sign in to be repeated. Default: true. */
  readonly mayWait?: boolean;
}

/** A refusal by the service, or a failure to reach it (status 0). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(
    readonly status: number,
    readonly code: ErrorCode | "UNREACHABLE" | "UNREADABLE",
    message: string,
    readonly more: {
      readonly requestId: string | null;
      /** The faults of an invalid request. */
      readonly details: readonly { readonly path: string; readonly message: string }[];
      /** The reason why a record is gone. */
      readonly reason?: string;
    } = { requestId: null, details: [] },
  ) {
    super(message);
  }
}

/** The wait after a 429 that names none, and the longest wait. */
const WAIT_SECONDS = { usual: 5, most: 120 };

/**
 * The answer unchanged, of any status; of 429 only if the call may not wait. @throws {ApiError} UNREACHABLE; the signal's reason if it is
 * aborted.
 */
export async function send(
  request: ApiRequest,
  { signal, patience, onWait, mayWait = true }: SendOptions = {},
): Promise<ApiAnswer> {
  for (;;) {
    const answer = await attempt(request, signal);
    if (answer.status !== 429 || !mayWait) return answer;
    const asked = Number(answer.headers.get("Retry-After") ?? WAIT_SECONDS.usual);
    const seconds = Math.min(
      Number.isFinite(asked) ? Math.max(1, asked) : WAIT_SECONDS.usual,
      WAIT_SECONDS.most,
    );
    onWait?.(performance.now() + seconds * 1000);
    try {
      await pause(seconds * 1000, AbortSignal.any([signal, patience].filter((one) => one !== undefined)));
    } finally {
      onWait?.(null);
    }
  }
}

/** The body of a successful answer. @throws {ApiError} */
export async function call<Body>(request: ApiRequest, options?: SendOptions): Promise<Body> {
  const { status, text } = await send(request, options);
  if (status >= 400) throw errorOf(status, text);
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable(status);
  }
}

/** The text of a successful answer. @throws {ApiError} */
export async function callText(request: ApiRequest, options?: SendOptions): Promise<string> {
  const { status, text } = await send(request, options);
  if (status >= 400) throw errorOf(status, text);
  return text;
}

async function attempt(
  { method = "GET", path, key, withSession = false, body, text = JSON.stringify(body), headers }: ApiRequest,
  signal?: AbortSignal,
) {
  try {
    const response = await fetch(path, {
      method,
      headers: {
        ...(key === undefined ? {} : { "X-API-Key": key }),
        ...(text === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(text === undefined ? {} : { body: text }),
      credentials: withSession ? "same-origin" : "omit",
      // No copy is kept on disk.
      cache: "no-store",
      ...(signal === undefined ? {} : { signal }),
    });
    const answer = { status: response.status, headers: response.headers, text: await response.text() };
    reportCall(true);
    return answer;
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (!(error instanceof TypeError)) throw error;
    reportCall(false);
    throw new ApiError(
      0,
      "UNREACHABLE",
      "The service cannot be reached: look whether it runs, then try again.",
    );
  }
}

function errorOf(status: number, text: string): ApiError {
  try {
    const { error } = JSON.parse(text);
    const { code, message, request_id: requestId, details } = error;
    return new ApiError(status, code, message, {
      requestId,
      details: Array.isArray(details) ? details : [],
      ...(typeof details?.reason === "string" ? { reason: details.reason } : {}),
    });
  } catch {
    return unreadable(status);
  }
}

function unreadable(status: number): ApiError {
  return new ApiError(
    status,
    "UNREADABLE",
    `Something between this page and the service answered ${status}, not the service: look at the proxy in front of it.`,
  );
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener("abort", stop, { once: true });
  });
}
