/**
 * A key in a POST body, `api_key`: deprecated, accepted until its sunset if no header carries a key.
 * Source: specification, Authentication, rules 2, 3 and 7, and Versioning, rule 3; contract, section 3.
 */
import { BODY_KEY_SUNSET } from "../../domain/limits.ts";
import { ServiceError } from "../../domain/errors.ts";
import { parseJson, readBody } from "../body.ts";
import type { BodyLease } from "../body_memory.ts";
import type { Exchange, Route, Services } from "../exchange.ts";

/** A body that was read before the request was authenticated. */
export interface EarlyBody {
  readonly bytes: Uint8Array;
  /** null if the body contains no key. */
  readonly key: string | null;
}

/**
 * Reads the body and the key in it. Reads nothing and returns null if the body may not carry a key.
 * @throws {ServiceError} PAYLOAD_TOO_LARGE; INVALID_JSON if it breaks off; SERVICE_UNAVAILABLE if no memory
 *   is left.
 */
export async function readBodyKey(
  request: Request,
  { route, exchange, presented }: {
    readonly route: Route;
    readonly exchange: Exchange;
    /** The key in the header; it wins over one in the body. */
    readonly presented: string | undefined;
  },
): Promise<EarlyBody | null> {
  const { method, auth, body, headerKeyOnly } = route;
  const mayCarry = method === "POST" && auth.kind === "key" && body !== null && !headerKeyOnly;
  if (!mayCarry || presented !== undefined || exchange.call.now >= BODY_KEY_SUNSET) return null;
  const bytes = await readBody(request, { limit: body.limitBytes, lease: exchange.body });
  return { bytes, key: keyIn(bytes, exchange.body) };
}

/**
 * The key in the body; null if the body is no JSON object with a key. The sender learns only that there is
 * none.
 * @throws {ServiceError} SERVICE_UNAVAILABLE if no memory is left.
 */
function keyIn(bytes: Uint8Array, lease: BodyLease): string | null {
  try {
    const { api_key: key } = parseJson(bytes, lease) as Record<string, unknown>;
    return typeof key === "string" ? key : null;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "SERVICE_UNAVAILABLE") throw error;
    return null;
  }
}

/** Tells a caller whose key came in the body how long this will work. */
export function announceSunset({ description }: Services, { headers }: Exchange): void {
  headers.set("Deprecation", "true");
  headers.set("Sunset", new Date(BODY_KEY_SUNSET).toUTCString());
  headers.set("Link", `<${description.baseUrl()}/docs#authentication>; rel="deprecation"`);
}

/** The body without its key: handlers never see the key. */
export function withoutKey(json: unknown): unknown {
  if (typeof json !== "object" || json === null || !Object.hasOwn(json, "api_key")) return json;
  const { api_key: _, ...rest } = json as Record<string, unknown>;
  return rest;
}
