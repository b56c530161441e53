/**
 * Reading a request body: its type, its declared and its received bytes, its JSON and its depth.
 * Source: specification, Limits and Errors; contract, sections 2 and 8.
 */
import { ServiceError } from "../domain/errors.ts";
import { JSON_DEPTH_LIMIT } from "../domain/limits.ts";
import type { BodyLease } from "./body_memory.ts";
import { survey } from "./json_cost.ts";

function tooLarge(limit: number, received: string): ServiceError {
  return new ServiceError("PAYLOAD_TOO_LARGE", `The body must be at most ${limit} bytes; ${received}.`);
}

/** Refuses a body whose declared length is over the limit, before anything else is spent on it. */
export function checkDeclaredLength(request: Request, limit: number): void {
  const declared = request.headers.get("Content-Length");
  if (declared !== null && Number(declared) > limit) throw tooLarge(limit, `it declares ${Number(declared)}`);
}

/** A missing type is read as JSON. @throws {ServiceError} UNSUPPORTED_MEDIA_TYPE, of an encoded body too. */
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

/** Bodies are taken as they are: nothing here unpacks one, so that none grows past its limit. */
function checkContentEncoding({ headers }: Request): void {
  const codings = (headers.get("Content-Encoding") ?? "").split(",").map((coding) =>
    coding.trim().toLowerCase()
  );
  if (codings.every((coding) => coding === "" || coding === "identity")) return;
  throw new ServiceError(
    "UNSUPPORTED_MEDIA_TYPE",
    "Send the body as it is, without Content-Encoding: an encoded one is not unpacked.",
    // RFC 9110, section 15.5.16.
    { headers: { "Accept-Encoding": "identity" } },
  );
}

/** How a body is read: its limit in bytes, and what counts its memory. */
interface Reading {
  readonly limit: number;
  readonly lease: BodyLease;
}

/**
 * Reads the body.
 * @throws {ServiceError} PAYLOAD_TOO_LARGE; INVALID_JSON if it breaks off; SERVICE_UNAVAILABLE if no more is held.
 */
export async function readBody(request: Request, reading: Reading): Promise<Uint8Array> {
  const { limit, lease } = reading;
  try {
    const declared = declaredLength(request);
    const isSmall = declared !== null && declared <= Math.min(limit, FIRST_BYTES);
    lease.take(WAITING_BYTES + (isSmall ? COUNTED * declared : 0));
    // The server lets no more through than was declared; reading that at once costs half of reading as it comes.
    const body = isSmall ? await request.bytes() : await readGrowing(request, reading);
    if (body.length > limit) throw receivedTooMuch(limit);
    lease.giveBack(WAITING_BYTES);
    return body;
  } catch (error) {
    throw error instanceof ServiceError ? error : invalidJson("The body could not be read to its end.");
  }
}

/**
 * Bytes that a request takes beside its connection while its body has not come: the server's and the program's own objects,
 * measured for HTTP/1.1 and for HTTP/2, of which one connection has many (docs/understand/performance.md).
 */
export const WAITING_BYTES = 24 * 1_024;

/**
 * Bytes for which there is room before any of them has come. A body that declares no more is read at once, for which Deno
 * makes room twice; of a larger one more room is made once that is full, so many times as much.
 */
const FIRST_BYTES = 16_384;
const GROWTH = 4;

function declaredLength({ headers }: Request): number | null {
  const declared = headers.get("Content-Length");
  return declared !== null && /^[0-9]+$/.test(declared) ? Number(declared) : null;
}

/**
 * For what each byte counts as there is room for it: for itself and for the text that is made of it. Else bodies that come at
 * once could fill the memory with their bytes alone, and none of them could be parsed.
 */
const COUNTED = 2;

/**
 * Reads as it comes, into one buffer that grows with what has come: what was declared and never sent is held by nobody, and
 * a body that comes byte by byte takes no more than one that comes at once.
 * (Pieces as a stream hands them out would keep 64 KiB each.)
 */
async function readGrowing(request: Request, { limit, lease }: Reading): Promise<Uint8Array> {
  const reader = comingReader(request);
  if (reader === null) {
    const whole = await request.bytes();
    lease.take(COUNTED * whole.length);
    return whole;
  }
  // It is not cancelled if that fails: Deno would close the connection before its client has the answer.
  return await readInto(reader, { limit, lease, declared: declaredLength(request) });
}

/** Bytes that are read at once: Deno makes as much room again as it is given. */
const READ_BYTES = 65_536;
/** Bytes of room beyond what may come: Deno 2.9.6 reads nothing of a chunked body, for ever, where there are fewer than five. */
const ROOM_BYTES = 64;

async function readInto(
  reader: ReadableStreamBYOBReader,
  { limit, lease, declared }: Reading & { readonly declared: number | null },
): Promise<Uint8Array> {
  const most = Math.min(declared ?? limit, limit) + ROOM_BYTES;
  let buffer = new Uint8Array(0);
  let length = 0;
  for (;;) {
    if (buffer.length - length < ROOM_BYTES) {
      const size = Math.min(Math.max(GROWTH * length, FIRST_BYTES), most);
      lease.take(COUNTED * (size - buffer.length));
      buffer = new Uint8Array(buffer.buffer.transfer(size));
    }
    const { value, done } = await reader.read(buffer.subarray(length, length + READ_BYTES));
    // The buffer is another one now, with the same bytes.
    if (value !== undefined) buffer = new Uint8Array(value.buffer);
    if (done) return buffer.subarray(0, length);
    length += value.length;
    if (length > limit) throw receivedTooMuch(limit);
  }
}

/** null: the body is whole already, as one without a byte is. */
function comingReader({ body }: Request): ReadableStreamBYOBReader | null {
  try {
    return body?.getReader({ mode: "byob" }) ?? null;
  } catch (error) {
    // Deno makes a stream of bytes only of what is still to come.
    if (error instanceof TypeError) return null;
    throw error;
  }
}

function receivedTooMuch(limit: number): ServiceError {
  return tooLarge(limit, "more than that was received");
}

/** What whoever is not heard of to the end of their body is told. */
export function lateBody(): ServiceError {
  return invalidJson("The body did not come to its end in time.");
}

function invalidJson(message: string): ServiceError {
  return new ServiceError("INVALID_JSON", message);
}

/**
 * Parses a body, once there is room for what is made of it.
 * @throws {ServiceError} INVALID_JSON where the bytes are not UTF-8, not JSON, or nested too deep; SERVICE_UNAVAILABLE
 *   where no more is held.
 */
export function parseJson(bytes: Uint8Array, lease: BodyLease): unknown {
  const { depth, cost } = survey(bytes);
  if (depth > JSON_DEPTH_LIMIT) {
    textOf(bytes);
    throw invalidJson(`The body must be nested at most ${JSON_DEPTH_LIMIT} deep.`);
  }
  lease.takeParsed(Math.max(cost - (COUNTED - 1) * bytes.length, 0));
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
