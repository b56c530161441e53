/**
 * Reading a request body: its type, its declared and its received bytes, its JSON and its depth.
 * Source: specification, Limits and Errors; contract, sections 2 and 8.
 */
import { ServiceError } from "../domain/errors.ts";
import { JSON_DEPTH_LIMIT } from "../domain/limits.ts";
import type { BodyLease } from "./body_memory.ts";
import { measureJson } from "./json_cost.ts";

function tooLarge(limit: number, received: string): ServiceError {
  return new ServiceError("PAYLOAD_TOO_LARGE", `The body must be at most ${limit} bytes; ${received}.`);
}

/**
 * Refuses a body whose declared length is over the limit, before any other work.
 * @throws {ServiceError} PAYLOAD_TOO_LARGE
 */
export function checkDeclaredLength(request: Request, limit: number): void {
  const declared = request.headers.get("Content-Length");
  if (declared !== null && Number(declared) > limit) throw tooLarge(limit, `it declares ${Number(declared)}`);
}

/** A missing type counts as JSON. @throws {ServiceError} UNSUPPORTED_MEDIA_TYPE, also for an encoded body. */
export function checkContentType(request: Request): void {
  checkContentEncoding(request);
  const type = request.headers.get("Content-Type");
  if (type === null || type === "") return;
  const essence = type.split(";")[0]!.trim().toLowerCase();
  if (essence === "application/json" || /^application\/[a-z0-9.-]+\+json$/.test(essence)) return;
  throw new ServiceError(
    "UNSUPPORTED_MEDIA_TYPE",
    "Send the body as JSON, with Content-Type: application/json.",
  );
}

/** Refuses encoded bodies: no body is unpacked, so none can grow past its limit. */
function checkContentEncoding({ headers }: Request): void {
  const codings = (headers.get("Content-Encoding") ?? "").split(",").map((coding) =>
    coding.trim().toLowerCase()
  );
  if (codings.every((coding) => coding === "" || coding === "identity")) return;
  throw new ServiceError(
    "UNSUPPORTED_MEDIA_TYPE",
    "Send the body without Content-Encoding: encoded bodies are not supported.",
    // RFC 9110, section 15.5.16.
    { headers: { "Accept-Encoding": "identity" } },
  );
}

/** How a body is read: its limit in bytes, and the lease that counts its memory. */
interface Reading {
  readonly limit: number;
  readonly lease: BodyLease;
}

/**
 * Reads the body.
 * @throws {ServiceError} PAYLOAD_TOO_LARGE; INVALID_JSON if it breaks off; SERVICE_UNAVAILABLE if no memory
 *   is left.
 */
export async function readBody(request: Request, reading: Reading): Promise<Uint8Array> {
  const { limit, lease } = reading;
  try {
    const declared = declaredLength(request);
    const isSmall = declared !== null && declared <= Math.min(limit, FIRST_BYTES);
    lease.take(WAITING_BYTES + (isSmall ? MEMORY_FACTOR * declared : 0));
    // The server passes on no more than was declared. Reading all at once costs half of reading it in pieces.
    const body = isSmall ? await request.bytes() : await readGrowing(request, reading);
    if (body.length > limit) throw receivedTooManyBytes(limit);
    lease.giveBack(WAITING_BYTES);
    return body;
  } catch (error) {
    throw error instanceof ServiceError ? error : invalidJson("The body could not be read completely.");
  }
}

/**
 * Bytes that a request takes, besides its connection, while it waits for its body: objects of the server and
 * of the program. Measured for HTTP/1.1, and for HTTP/2 with many requests on one connection
 * (docs/understand/performance.md).
 */
export const WAITING_BYTES = 24 * 1_024;

/**
 * Bytes that are allocated before any byte has come. A body that declares no more is read at once, and Deno
 * allocates its length twice. The buffer of a larger body grows by the factor `GROWTH` when it is full.
 */
const FIRST_BYTES = 16_384;
const GROWTH = 4;

function declaredLength({ headers }: Request): number | null {
  const declared = headers.get("Content-Length");
  return declared !== null && /^[0-9]+$/.test(declared) ? Number(declared) : null;
}

/**
 * Each allocated byte counts twice: for itself and for the text that is decoded from it. Otherwise
 * simultaneous bodies could fill the memory with their bytes alone, and none of them could be parsed.
 */
const MEMORY_FACTOR = 2;

/**
 * Reads the body as it comes, into one buffer that grows with the received bytes. So bytes that were declared
 * but never sent take no memory, and a body that comes byte by byte takes no more than one that comes at
 * once. (The pieces that a stream returns would keep 64 KiB each.)
 */
async function readGrowing(request: Request, { limit, lease }: Reading): Promise<Uint8Array> {
  const reader = unreadBodyReader(request);
  if (reader === null) {
    const whole = await request.bytes();
    lease.take(MEMORY_FACTOR * whole.length);
    return whole;
  }
  // It is not cancelled if this fails: Deno would close the connection before its client has the answer.
  return await readInto(reader, { limit, lease, declared: declaredLength(request) });
}

/** Bytes that are read at once: Deno allocates as many again. */
const READ_BYTES = 65_536;
/** Free bytes beyond the longest body: Deno 2.9.6 hangs on a chunked body if fewer than five are free. */
const ROOM_BYTES = 64;

async function readInto(
  reader: ReadableStreamBYOBReader,
  { limit, lease, declared }: Reading & { readonly declared: number | null },
): Promise<Uint8Array> {
  const maxSize = Math.min(declared ?? limit, limit) + ROOM_BYTES;
  let buffer = new Uint8Array(0);
  let length = 0;
  for (;;) {
    if (buffer.length - length < ROOM_BYTES) {
      const size = Math.min(Math.max(GROWTH * length, FIRST_BYTES), maxSize);
      lease.take(MEMORY_FACTOR * (size - buffer.length));
      buffer = new Uint8Array(buffer.buffer.transfer(size));
    }
    const { value, done } = await reader.read(buffer.subarray(length, length + READ_BYTES));
    // The read has moved the bytes to a new buffer.
    if (value !== undefined) buffer = new Uint8Array(value.buffer);
    if (done) return buffer.subarray(0, length);
    length += value.length;
    if (length > limit) throw receivedTooManyBytes(limit);
  }
}

/** A reader for the bytes that are still to come; null if the body is whole already, as an empty one is. */
function unreadBodyReader({ body }: Request): ReadableStreamBYOBReader | null {
  try {
    return body?.getReader({ mode: "byob" }) ?? null;
  } catch (error) {
    // Deno makes a byte stream only if bytes are still to come.
    if (error instanceof TypeError) return null;
    throw error;
  }
}

function receivedTooManyBytes(limit: number): ServiceError {
  return tooLarge(limit, "more than that was received");
}

/** The error for a client that does not send its whole body in time. */
export function bodyTimeout(): ServiceError {
  return invalidJson("The body was not received completely in time.");
}

function invalidJson(message: string): ServiceError {
  return new ServiceError("INVALID_JSON", message);
}

/**
 * Parses a body after memory for the parsed value was taken.
 * @throws {ServiceError} INVALID_JSON if the bytes are not UTF-8, not JSON, or nested too deep;
 *   SERVICE_UNAVAILABLE if no memory is left.
 */
export function parseJson(bytes: Uint8Array, lease: BodyLease): unknown {
  const { depth, cost } = measureJson(bytes);
  if (depth > JSON_DEPTH_LIMIT) {
    textOf(bytes);
    throw invalidJson(`The body must be nested at most ${JSON_DEPTH_LIMIT} deep.`);
  }
  lease.takeParsed(Math.max(cost - (MEMORY_FACTOR - 1) * bytes.length, 0));
  const text = textOf(bytes);
  try {
    return JSON.parse(text);
  } catch {
    throw invalidJson(text === "" ? "The body must be JSON; it is empty." : "The body must be valid JSON.");
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalidJson("The body must be valid JSON in UTF-8; it is not UTF-8.");
  }
}
