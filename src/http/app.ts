/**
 * The router, made from the catalogue. The order of checks on a route: Layer 1, declared body size,
 * authentication, Layer 2, received body size, headers, JSON, then the handler's own validation.
 * Source: contract, section 2.
 */
import { Hono } from "hono";
import { ServiceError } from "../domain/errors.ts";
import { IDEMPOTENCY_KEY_MAX_LENGTH } from "../domain/limits.ts";
import { checkContentType, checkDeclaredLength, parseJson, readBody } from "./body.ts";
import type { AppContext, AppEnvironment, AppOptions, Route, Services } from "./exchange.ts";
import { AuthenticationFloor, requireKey, requireMaster } from "./middleware/authentication.ts";
import { allowOrigin, answerPreflight, isPreflight } from "./middleware/cors.ts";
import { admitAddress, admitKey } from "./middleware/rate_limits.ts";
import { requestContext } from "./middleware/request_context.ts";
import { openApiDocument } from "./openapi.ts";
import { renderError, renderReply } from "./render.ts";
import { methodsOf, ROUTES } from "./routes.ts";

export type App = Hono<AppEnvironment>;

export function createApp(options: AppOptions): App {
  const services: Services = {
    ...options,
    catalogue: ROUTES,
    openApi: () => openApiDocument(options.description.baseUrl()),
  };
  const app: App = new Hono<AppEnvironment>();
  const floor = new AuthenticationFloor(services.clock);
  const guarded = (run: (context: AppContext) => Promise<Response>) => async (context: AppContext) => {
    try {
      return await run(context);
    } catch (error) {
      return renderError(services, context, error);
    }
  };

  app.use("*", requestContext(services));
  // HEAD is answered from GET, without the body.
  for (const route of ROUTES.filter(({ method }) => method !== "HEAD")) {
    app.on(
      route.method,
      routerPath(route.path),
      guarded((context) => serve(services, { context, route, floor })),
    );
  }
  for (const path of new Set(ROUTES.map((route) => route.path))) {
    app.all(routerPath(path), guarded((context) => serveOtherMethod(services, context, path)));
  }
  app.notFound(guarded((context) => {
    admitAddress(services, context.var.exchange);
    throw new ServiceError("NOT_FOUND", "There is nothing at this path: GET /v1 lists the endpoints.");
  }));
  return app;
}

/** `{name}` of the catalogue is `:name` of the router. */
function routerPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

async function serve(
  services: Services,
  { context, route, floor }: {
    readonly context: AppContext;
    readonly route: Route;
    readonly floor: AuthenticationFloor;
  },
): Promise<Response> {
  const { exchange } = context.var;
  const request = context.req.raw;
  exchange.route = route;
  if (route.layer1) admitAddress(services, exchange);
  if (route.body !== null) checkDeclaredLength(request, route.body.limitBytes);

  const presented = context.req.header("X-API-Key");
  if (route.auth.kind === "key") {
    exchange.caller = await requireKey(services, { floor, exchange, presented });
    await allowOrigin(services, context);
    admitKey(services, exchange);
  } else if (route.auth.kind === "master") {
    await requireMaster(services, { floor, exchange, presented, scope: route.auth.scope });
  }

  let json: unknown;
  if (route.body !== null) {
    const bytes = await readBody(request, route.body.limitBytes);
    checkContentType(request);
    if (route.idempotent) checkIdempotencyKey(context);
    json = bytes.length === 0 && route.body.optional ? undefined : parseJson(bytes);
  }
  return renderReply(services, context, await route.handler(services, { context, exchange, json }));
}

function checkIdempotencyKey(context: AppContext): void {
  const key = context.req.header("Idempotency-Key") ?? "";
  if (key.length > 0 && key.length <= IDEMPOTENCY_KEY_MAX_LENGTH) return;
  const problem = key === "" ? "it is missing or empty" : `it has ${key.length}`;
  throw new ServiceError(
    "VALIDATION_FAILED",
    `Send an Idempotency-Key header of 1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} characters; ${problem}.`,
    { status: 400 },
  );
}

/** A known path with a method that it does not have: a preflight, or 405. */
async function serveOtherMethod(services: Services, context: AppContext, path: string): Promise<Response> {
  const methods = methodsOf(path);
  admitAddress(services, context.var.exchange);
  if (isPreflight(context.req.raw)) return await answerPreflight(services, context, methods);
  throw new ServiceError("METHOD_NOT_ALLOWED", `This path takes ${methods.join(", ")}.`, {
    headers: { Allow: methods.join(", ") },
  });
}
