/** The outermost layer: one instant and one id for each request, the headers of every answer, the access log. */
import type { MiddlewareHandler } from "hono";
import { clientAddress } from "../../limits/client_address.ts";
import { ServiceError, unavailable } from "../../domain/errors.ts";
import { renderError } from "../render.ts";
import { admitAddress } from "./rate_limits.ts";
import type { AppEnvironment, Exchange, Services } from "../exchange.ts";

const HSTS = "max-age=31536000";

export function requestContext(services: Services): MiddlewareHandler<AppEnvironment> {
  const { clock, log, observe, trustedProxies, servesTls, dependencies } = services;
  return async (context, next) => {
    const now = clock.now();
    const exchange: Exchange = {
      call: { now, requestId: dependencies.world.ulid(now) },
      arrivedAt: clock.monotonic(),
      address: clientAddress(context.env.peer, {
        forwardedFor: context.req.header("X-Forwarded-For") ?? null,
        trusted: trustedProxies,
      }),
      route: null,
      caller: null,
      session: null,
      pseudonyms: null,
      prefersPage: false,
      headers: new Headers(),
      body: services.bodies.lease("requests without a verified key"),
    };
    context.set("exchange", exchange);
    try {
      await requireAcceptable(services, exchange, context.req.header("Host"));
      await next();
    } catch (error) {
      context.res = renderError(services, context, error);
    } finally {
      exchange.body.release();
    }

    const { headers } = context.res;
    for (const [name, value] of exchange.headers) {
      if (name === "set-cookie") headers.append(name, value);
      else headers.set(name, value);
    }
    headers.set("X-Request-Id", exchange.call.requestId);
    headers.set("X-Content-Type-Options", "nosniff");
    headers.set("Referrer-Policy", "no-referrer");
    if (isVersioned(context.req.path)) headers.set("Cache-Control", "no-store");
    if (servesTls) headers.set("Strict-Transport-Security", HSTS);
    const { route } = exchange;
    const { status } = context.res;
    const milliseconds = clock.monotonic() - exchange.arrivedAt;
    log.info("request", {
      request_id: exchange.call.requestId,
      org_id: exchange.caller?.orgId ?? null,
      ...(exchange.session === null ? {} : { user_id: exchange.session.user.user_id }),
      route,
      status,
      duration_ms: Math.round(milliseconds * 1000) / 1000,
    });
    observe?.({ route, status, milliseconds });
  };
}

/** @throws {ServiceError} if the service drains, or if the Host header is invalid. */
async function requireAcceptable(
  services: Services,
  exchange: Exchange,
  host: string | undefined,
): Promise<void> {
  if (services.isDraining()) throw unavailable("The service is shutting down: retry later.");
  if (host === undefined || isValidHost(host)) return;
  await admitAddress(services, exchange);
  // RFC 9110, section 7.2: an invalid Host field is answered 400.
  throw new ServiceError("VALIDATION_FAILED", "Send a Host header that contains only a host.", {
    status: 400,
  });
}

/**
 * Deno makes the URL, and so the path, from this header: one with more than a host must not choose a route.
 */
function isValidHost(host: string): boolean {
  return /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?$/.test(host);
}

function isVersioned(path: string): boolean {
  return path === "/v1" || path.startsWith("/v1/");
}
