/**
 * Cross-origin calls: only from origins that an organization registered, never by wildcard.
 * Source: specification, Authentication, rule 9; contract, section 3.
 */
import { ServiceError } from "../../domain/errors.ts";
import { organizationsOfOrigin } from "../../operations/organizations/authentication.ts";
import type { AppContext, Services } from "../exchange.ts";

const REQUEST_HEADERS = [
  "Content-Type",
  "X-API-Key",
  "Idempotency-Key",
  "X-Service-Mode",
  "X-Service-Role-Tier",
  "X-Service-Mode-Override",
].join(", ");
const EXPOSED_HEADERS = [
  "X-Request-Id",
  "Idempotency-Replayed",
  "Retry-After",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
].join(", ");
const PREFLIGHT_SECONDS = "600";

export function isPreflight(request: Request): boolean {
  return request.method === "OPTIONS" && request.headers.has("Origin") &&
    request.headers.has("Access-Control-Request-Method");
}

/**
 * Grants a preflight if an active organization registered the origin.
 * @throws {ServiceError} ORIGIN_NOT_ALLOWED.
 */
export async function answerPreflight(
  { dependencies }: Services,
  context: AppContext,
  methods: readonly string[],
): Promise<Response> {
  const origin = context.req.header("Origin")!;
  context.var.exchange.headers.append("Vary", "Origin");
  if ((await organizationsOfOrigin(dependencies, origin)).length === 0) {
    throw new ServiceError(
      "ORIGIN_NOT_ALLOWED",
      "No organization registered this origin: add it to allowed_origins of the organization that calls from it.",
    );
  }
  return new Response(null, {
    status: 204,
    headers: {
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Allow-Methods": methods.join(", "),
      "Access-Control-Allow-Headers": REQUEST_HEADERS,
      "Access-Control-Max-Age": PREFLIGHT_SECONDS,
    },
  });
}

/** Lets a browser read the answer if the authenticated organization registered the request's origin. */
export async function allowOrigin({ dependencies }: Services, context: AppContext): Promise<void> {
  const { caller, headers } = context.var.exchange;
  headers.append("Vary", "Origin");
  const origin = context.req.header("Origin");
  if (origin === undefined) return;
  if (!(await organizationsOfOrigin(dependencies, origin)).includes(caller!.orgId)) return;
  headers.set("Access-Control-Allow-Origin", origin);
  headers.set("Access-Control-Expose-Headers", EXPOSED_HEADERS);
}
