/** Renders replies and failures as responses. This is the one place that writes an envelope. */
import { AlteredError, BehindIssued, type ErrorStatus, ServiceError } from "../domain/errors.ts";
import { errorFields } from "../observability/log.ts";
import { withMembers } from "../operations/shared/answers.ts";
import type { Call } from "../operations/shared/call.ts";
import { raiseTampering, tamperingOf } from "../operations/shared/tampering.ts";
import { REFUSAL_PAGE_CSP, refusalPage } from "../pages/refusal.ts";
import { encoded } from "./compression.ts";
import type { Page } from "./pages.ts";
import type { AppContext, Services } from "./exchange.ts";
import type { Reply, StreamReply } from "./reply.ts";

/** The fields that every body carries. */
export function envelope({ now, requestId }: Call) {
  return { request_id: requestId, timestamp: new Date(now).toISOString() };
}

export function renderReply(
  services: Services,
  context: AppContext,
  reply: Reply,
): Response | Promise<Response> {
  const { exchange } = context.var;
  if ("text" in reply) {
    exchange.headers.set("Content-Security-Policy", reply.policy);
    return respond(reply.text, { status: reply.status, contentType: reply.contentType });
  }
  if ("pieces" in reply) return stream(services, context, reply);
  if (reply.call !== undefined) exchange.call = reply.call;
  if (reply.replayed) exchange.headers.set("Idempotency-Replayed", "true");
  if ("json" in reply) return respondJson(withMembers(reply.json, envelope(exchange.call)), reply.status);
  if (reply.document) {
    return respondPublic(context, JSON.stringify(reply.body), {
      status: reply.status,
      contentType: "application/json",
    });
  }
  return json({ ...reply.body, ...envelope(exchange.call) }, reply.status);
}

/** A page or an asset, unchanged. */
export function renderPage(context: AppContext, { text, contentType, headers }: Page): Response {
  return respondPublic(context, text, { status: 200, contentType, headers });
}

/**
 * An error as the specification's envelope, or as a page if the client prefers one. The details of an error
 * that is not a {@link ServiceError} are only in the log.
 */
export function renderError(services: Services, context: AppContext, error: unknown): Response {
  const { exchange } = context.var;
  if (error instanceof AlteredError || error instanceof BehindIssued) reportAltered(services, context, error);
  const known = error instanceof ServiceError ? error : internalError(services, context, error);
  const serviceError = exchange.pseudonyms?.error(known) ?? known;
  for (const [name, value] of Object.entries(serviceError.headers)) exchange.headers.set(name, value);
  if (exchange.prefersPage) {
    exchange.headers.set("Content-Security-Policy", REFUSAL_PAGE_CSP);
    const text = refusalPage({
      error: serviceError,
      path: context.req.path,
      requestId: exchange.call.requestId,
    });
    return respond(text, { status: serviceError.status, contentType: "text/html; charset=utf-8" });
  }
  return json(errorBody(serviceError, exchange.call), serviceError.status);
}

/** The specification's envelope for errors. */
export function errorBody({ code, message, details }: ServiceError, call: Call) {
  return { error: { code, message, ...envelope(call), ...(details === undefined ? {} : { details }) } };
}

function reportAltered(
  { log, dependencies }: Services,
  context: AppContext,
  error: AlteredError | BehindIssued,
): void {
  const { call, route } = context.var.exchange;
  const { chain, what } = error;
  raiseTampering(dependencies, tamperingOf(error), call.now);
  const isAltered = error instanceof AlteredError;
  log.error(
    isAltered
      ? "stored data was altered: the request was refused"
      : "the database is older than what was issued: the request was refused",
    {
      audit: true,
      request_id: call.requestId,
      route,
      chain,
      what,
    },
  );
}

function internalError({ log }: Services, context: AppContext, error: unknown): ServiceError {
  const { call, route } = context.var.exchange;
  log.error("request failed", { request_id: call.requestId, route, ...errorFields(error) });
  return new ServiceError(
    "INTERNAL_ERROR",
    "The service failed on this request; nothing was written. Report the request_id to your administrator.",
  );
}

function json(body: unknown, status: number | ErrorStatus): Response {
  return respondJson(JSON.stringify(body), status);
}

function respondJson(text: string, status: number): Response {
  return respond(text, { status, contentType: "application/json" });
}

interface Head {
  readonly status: number;
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Responds with what is the same for everybody. */
function respondPublic(context: AppContext, text: string, { headers = {}, ...head }: Head): Response {
  const { bytes, headers: ofEncoding } = encoded(context, text);
  return respondBytes(bytes, { ...head, headers: { ...headers, ...ofEncoding } });
}

function respond(text: string, head: Head): Response {
  return respondBytes(new TextEncoder().encode(text), head);
}

function respondBytes(
  bytes: Uint8Array<ArrayBuffer>,
  { status, contentType, headers = {} }: Head,
): Response {
  // Set here, so that HEAD gives the same Content-Length as GET (RFC 9110, section 8.6).
  return new Response(bytes, {
    status,
    headers: { ...headers, "Content-Type": contentType, "Content-Length": String(bytes.length) },
  });
}

/** Characters that are gathered before they are sent. */
const PIECE_BYTES = 16_384;

/** Pieces that are sent together. */
interface Chunk {
  readonly text: string;
  readonly isLast: boolean;
}

async function readChunk(pieces: StreamReply["pieces"]): Promise<Chunk> {
  let text = "";
  while (text.length < PIECE_BYTES) {
    const { done, value } = await pieces.next();
    if (done) return { text, isLast: true };
    text += value;
  }
  return { text, isLast: false };
}

/**
 * Streams a reply. A failure before the first byte is answered like any other. A later failure cuts the body
 * short, so that nobody takes it for whole; the log tells why.
 */
async function stream(services: Services, context: AppContext, reply: StreamReply): Promise<Response> {
  const { exchange } = context.var;
  const { pieces, status, contentType, headers = {}, policy } = reply;
  let first: Chunk | null;
  try {
    first = await readChunk(pieces);
  } catch (error) {
    return renderError(services, context, error);
  }
  if (policy !== undefined) exchange.headers.set("Content-Security-Policy", policy);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      context.env.beginServiceTurn?.();
      try {
        const { text, isLast } = first ?? await readChunk(pieces);
        first = null;
        controller.enqueue(encoder.encode(text));
        if (isLast) controller.close();
      } catch (error) {
        if (error instanceof AlteredError) reportAltered(services, context, error);
        else internalError(services, context, error);
        controller.error(error);
      } finally {
        context.env.beginClientTurn?.();
      }
    },
    async cancel() {
      await pieces.return(undefined);
    },
  });
  return new Response(body, { status, headers: { ...headers, "Content-Type": contentType } });
}
