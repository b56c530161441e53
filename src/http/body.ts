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

/**
 * Reads the body.
 * @throws {ServiceError} PAYLOAD_TOO_LARGE; INVALID_JSON where it breaks off; SERVICE_UNAVAILABLE where no more is held.
 */
export async function readBody(
  request: Request,
  { limit, lease }: { readonly limit: number; readonly lease: BodyLease },
): Promise<Uint8Array> {
  try {
    if (!isDeclaredSmall(request, limit)) return await readCounting(request, { limit, lease });
    // The server lets no more through than was declared; reading that at once costs a fraction of counting as it comes.
    const body = await request.bytes();
    if (body.length > limit) throw receivedTooMuch(limit);
    lease.take(COUNTED * body.length);
    return body;
  } catch (error) {
    throw error instanceof ServiceError ? error : invalidJson("The body could not be read to its end.");
  }
}

/** Up to here, what was declared and has not come yet is no memory to speak of. */
const SMALL_BYTES = 65_536;

function isDeclaredSmall({ headers }: Request, limit: number): boolean {
  const declared = headers.get("Content-Length");
  return declared !== null && /^[0-9]+$/.test(declared) && Number(declared) <= Math.min(limit, SMALL_BYTES);
}

/**
 * For what each byte counts as it comes: for itself and for the text that is made of it. Else bodies that come at once could
 * fill the memory with their bytes alone, and none of them could be parsed.
 */
const COUNTED = 2;

/** Reads as it comes, up to the limit: what was declared and never sent is held by nobody. */
async function readCounting(
  request: Request,
  { limit, lease }: { readonly limit: number; readonly lease: BodyLease },
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.length;
    if (length > limit) throw receivedTooMuch(limit);
    lease.take(COUNTED * chunk.length);
    chunks.push(chunk);
  }
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
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
