/**
 * One attempt to deliver: one POST to a checked address, under one deadline for resolution, connection, TLS
 * and answer.
 *
 * The name is resolved once, and every address that it has must be allowed. The connection is made to one of
 * these addresses directly, so that it cannot be redirected elsewhere; the certificate must still be for the
 * name. A connection is reused only for the same address and name. Redirects are not followed. Only the
 * status of the answer is kept.
 * Source: contract, sections 1 (JISS_WEBHOOK_ALLOW) and 8.14; issue of the same name: "Safe targets".
 */
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { isIP } from "node:net";
import { WEBHOOK_ANSWER_BYTES } from "../domain/limits.ts";
import type { AttemptError } from "../domain/webhook.ts";
import type { AttemptResult } from "./health.ts";
import { deliveryHeaders } from "./signature.ts";
import { allowedAddresses, type Resolve, type TargetPolicy, TargetRefused } from "./target.ts";

/**
 * Milliseconds that an idle connection is kept for the next attempt. Shorter than servers keep theirs, or a
 * request could be sent while the server closes the connection.
 */
const IDLE_MS = 2_000;
/** Maximum number of idle connections for each address. */
const IDLE_CONNECTIONS = 64;

export interface Attempt {
  readonly url: URL;
  readonly body: string;
  /** The 32 bytes behind the `signing_secret`. */
  readonly secret: Uint8Array;
  /** A UUID. */
  readonly deliveryId: string;
}

export interface Deliverer {
  /** Makes an attempt. Never throws. `signal` ends it before its deadline. */
  deliver(attempt: Attempt, signal: AbortSignal): Promise<AttemptResult>;
  close(): void;
}

export interface DelivererOptions {
  readonly policy: TargetPolicy;
  readonly resolve: Resolve;
  /** Trusted certificates, each PEM. */
  readonly certificates: readonly string[];
  /** Limit for a whole attempt, milliseconds. */
  readonly timeoutMs: number;
  readonly clock: { now(): number; monotonic(): number };
}

export function createDeliverer(options: DelivererOptions): Deliverer {
  const { clock, timeoutMs } = options;
  const agent = new Agent({
    keepAlive: true,
    maxFreeSockets: IDLE_CONNECTIONS,
    timeout: IDLE_MS,
    ca: [...options.certificates],
  });

  async function makeAttempt(
    attempt: Attempt,
    signal: AbortSignal,
  ): Promise<Omit<AttemptResult, "durationMs">> {
    try {
      const addresses = await untilAborted(allowedAddresses(attempt.url, options), signal);
      const body = new TextEncoder().encode(attempt.body);
      const timestamp = Math.floor(clock.now() / 1000);
      const headers = {
        ...deliveryHeaders(attempt.secret, { ...attempt, timestamp }),
        "Content-Length": String(body.length),
      };
      const post = { agent, url: attempt.url, headers, body, signal };
      const answer = await untilAborted(postToFirst(addresses, post), signal);
      await drain(answer, signal);
      const status = answer.statusCode!;
      return { status, error: errorOfStatus(status) };
    } catch (error) {
      return { status: null, error: signal.aborted ? reasonOf(signal) : errorOf(error) };
    }
  }

  return {
    async deliver(attempt, stopped) {
      const began = clock.monotonic();
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort("timeout" satisfies AttemptError), timeoutMs);
      const stop = () => deadline.abort("interrupted" satisfies AttemptError);
      stopped.addEventListener("abort", stop, { once: true });
      if (stopped.aborted) stop();
      try {
        const result = await makeAttempt(attempt, deadline.signal);
        return { ...result, durationMs: clock.monotonic() - began };
      } finally {
        clearTimeout(timer);
        stopped.removeEventListener("abort", stop);
      }
    },
    close() {
      agent.destroy();
    },
  };
}

function errorOfStatus(status: number): AttemptError | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? "redirect" : "status";
}

function reasonOf({ reason }: AbortSignal): AttemptError {
  return reason as AttemptError;
}

interface Post {
  readonly agent: Agent;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
}

/** The connection was not made, so another address may be tried. */
class NotConnected extends Error {
  override readonly name = "NotConnected";
}

/** Milliseconds in which an address must be reached before the next of several is tried. */
const CONNECT_MS = 1_000;

/** Sends to the first address that accepts a connection, and returns its answer. */
async function postToFirst(addresses: readonly string[], post: Post): Promise<IncomingMessage> {
  let failure: unknown;
  for (const [index, address] of addresses.entries()) {
    const isLast = index === addresses.length - 1;
    try {
      return await postOnce(address, { ...post, connectMs: isLast ? null : CONNECT_MS });
    } catch (error) {
      if (!(error instanceof NotConnected) || post.signal.aborted) throw error;
      failure = error;
    }
  }
  throw failure;
}

function postOnce(
  address: string,
  { agent, url, headers, body, signal, connectMs }: Post & { readonly connectMs: number | null },
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const sent = request({
    agent,
    host: address,
    port: url.port === "" ? 443 : Number(url.port),
    // The certificate must be for this name. If the host is an address, the certificate is checked against
    // the address.
    servername: isIP(host) === 0 ? host.replace(/\.$/, "") : "",
    path: `${url.pathname}${url.search}`,
    method: "POST",
    headers: { ...headers, Host: url.host },
    signal,
  });
  let connected = false;
  const timer = connectMs === null ? undefined : setTimeout(() => {
    if (!connected) sent.destroy(new NotConnected("it took too long"));
  }, connectMs);
  sent.on("socket", (socket) => {
    if (!sent.reusedSocket) {
      socket.once("connect", () => connected = true);
      return;
    }
    connected = true;
    // Deno 2.9.6 resends a request that fails on a reused connection, even after the deadline, unless it
    // takes the connection for a new one.
    sent.reusedSocket = false;
  });
  sent.once("response", (answer) => {
    clearTimeout(timer);
    resolve(answer);
  });
  sent.on("error", (error) => {
    clearTimeout(timer);
    reject(connected ? error : new NotConnected("no connection", { cause: error }));
  });
  // After an answer of 101 there is neither a response nor an error.
  sent.once("close", () => reject(new Error("closed without an answer")));
  sent.end(body);
  return promise;
}

/** Reads an answer until its end, its size limit or the end of the attempt. Its status is known already. */
async function drain(answer: IncomingMessage, signal: AbortSignal): Promise<void> {
  const end = () => answer.destroy();
  signal.addEventListener("abort", end, { once: true });
  try {
    let bytes = 0;
    // Piece by piece, so that no more is read from the connection than needed.
    for await (const piece of answer) {
      bytes += (piece as Uint8Array).length;
      if (bytes > WEBHOOK_ANSWER_BYTES) break;
    }
  } catch {
    // A body that breaks off changes nothing.
  } finally {
    signal.removeEventListener("abort", end);
  }
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(new Error("aborted"));
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

const CERTIFICATE =
  /^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH)/;

function errorOf(error: unknown): AttemptError {
  if (error instanceof TargetRefused) return "refused_target";
  if (error instanceof NotConnected) return error.cause === undefined ? "timeout" : "connection_failed";
  const code = String((error as { code?: unknown } | null)?.code ?? "");
  if (CERTIFICATE.test(code)) return "certificate";
  if (/SSL|TLS/.test(code)) return "tls";
  return /^HPE_/.test(code) ? "invalid_answer" : "connection_lost";
}
