/**
 * The router, made from the catalogue. The order of checks on a route: Layer 1, declared body size,
 * authentication, Layer 2, received body size, headers, JSON, then the handler's own validation.
 * If the key may be in the body, the body is received and parsed before authentication.
 * Source: contract, section 2.
 */
import { Hono } from "hono";
import { accepts } from "hono/accepts";
import { notSignedIn, ServiceError } from "../domain/errors.ts";
import { BODY_MEMORY_BYTES, SIGN_IN_FLOOR_MS, SIGN_IN_GRID_MS } from "../domain/limits.ts";
import { BodyMemory } from "./body_memory.ts";
import { bodyTimeout, checkContentType, checkDeclaredLength, parseJson, readBody } from "./body.ts";
import { PASSKEY_CEREMONY_MS } from "../domain/passkey.ts";
import { UsedOnce } from "../identity/used_once.ts";
import type { AppContext, AppEnvironment, AppOptions, Route, Services } from "./exchange.ts";
import { checkIdempotencyKey } from "./idempotency_key.ts";
import { requireGranted, requireKey, requireMaster } from "./middleware/authentication.ts";
import { AuthenticationFloor } from "./middleware/floor.ts";
import { announceSunset, readBodyKey, withoutKey } from "./middleware/body_key.ts";
import { allowOrigin, answerPreflight, isPreflight } from "./middleware/cors.ts";
import { admitAddress, admitKey, admitSession } from "./middleware/rate_limits.ts";
import { cookieFor, requireOwnPage, requireSession } from "./middleware/session.ts";
import { requestContext } from "./middleware/request_context.ts";
import { openApiDocument } from "./openapi.ts";
import { demoPage, type Page, pagesFor } from "./pages.ts";
import { beginAtProvider, endFromProvider, returnFromProvider } from "./provider_pages.ts";
import { Pseudonyms } from "./pseudonyms.ts";
import { renderError, renderPage, renderReply } from "./render.ts";
import { methodsOf, ROUTES } from "./routes.ts";

export type App = Hono<AppEnvironment>;

export function createApp(options: AppOptions): App {
  // Made once, as it takes as long as a hundred other answers, at the first call: then the address is known.
  let document: Record<string, unknown> | undefined;
  const services: Services = {
    ...options,
    catalogue: ROUTES,
    openApi: () => document ??= openApiDocument(options.description.baseUrl()),
    bodies: new BodyMemory(options.bodyMemoryBytes ?? BODY_MEMORY_BYTES),
    usedChallenges: new UsedOnce(PASSKEY_CEREMONY_MS),
    signInFloor: new AuthenticationFloor(options.clock, {
      floorMs: SIGN_IN_FLOOR_MS,
      gridMs: SIGN_IN_GRID_MS,
    }),
  };
  const app: App = new Hono<AppEnvironment>();
  const floor = new AuthenticationFloor(services.clock);
  const catchErrors = (run: (context: AppContext) => Promise<Response>) => async (context: AppContext) => {
    try {
      return await run(context);
    } catch (error) {
      return renderError(services, context, error);
    }
  };

  app.use("*", requestContext(services));
  // The router answers HEAD from GET, without the body.
  for (const route of ROUTES.filter(({ method }) => method !== "HEAD")) {
    app.on(
      route.method,
      routerPath(route.path),
      catchErrors((context) => serve(services, { context, route, floor })),
    );
  }
  for (const path of new Set(ROUTES.map((route) => route.path))) {
    app.all(routerPath(path), catchErrors((context) => serveOtherMethod(services, context, methodsOf(path))));
  }
  const provider = [
    ["GET", "/sign-in/oidc", beginAtProvider],
    ["GET", "/sign-in/oidc/callback", returnFromProvider],
    ["POST", "/sign-in/oidc/back-channel-logout", endFromProvider],
  ] as const;
  for (const [method, path, answer] of provider) {
    app.on(
      method,
      path,
      catchErrors((context) => {
        context.var.exchange.route = `${method} ${path}`;
        return answer(services, context);
      }),
    );
    app.all(path, catchErrors((context) => serveOtherMethod(services, context, [method])));
  }
  const demo = demoPage({ keptDays: services.dependencies.assessmentRetentionDays });
  // Registered before the pages, because one of them matches every path below the console.
  const pages = [...pagesFor({ hasProvider: services.identifying !== null }), demo];
  for (const page of pages) {
    if (hasTypedPath(page)) app.get(`${page.path}/`, (context) => redirectTo(context, page));
  }
  for (const page of pages) {
    app.get(page.path, (context) => servePage(context, page));
    app.all(page.path, catchErrors((context) => serveOtherMethod(services, context, ["GET", "HEAD"])));
  }
  app.notFound(catchErrors(async (context) => {
    await admitAddress(services, context.var.exchange);
    throw new ServiceError("NOT_FOUND", "There is no endpoint at this path: GET /v1 lists the endpoints.");
  }));
  return app;
}

/** Turns `{name}` of the catalogue into `:name` of the router. */
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
  exchange.route = `${route.method} ${route.path}`;
  if (route.negotiated) negotiate(context);
  const presented = context.req.header("X-API-Key");
  // A key wins over a cookie, which browsers send by themselves.
  const cookie = presented === undefined ? cookieFor(services, context, route) : null;
  if (cookie !== null) await admitSession(services, exchange, cookie);
  else if (route.layer1) await admitAddress(services, exchange, route);
  if (route.body !== null) checkDeclaredLength(request, route.body.limitBytes);

  const earlyBody = cookie === null
    ? await receive(context, () => readBodyKey(request, { route, exchange, presented }))
    : null;
  if (cookie !== null) {
    requireOwnPage(services, context);
    exchange.session = await requireSession(services, { floor, exchange, cookie });
    exchange.caller = exchange.session.caller;
    exchange.body.holder = `organization ${exchange.caller.orgId}`;
    if (route.auth.kind === "key") {
      requireGranted(services, exchange, route.auth.access);
      if (services.dependencies.privacy === "pseudonymous") {
        exchange.pseudonyms = new Pseudonyms(services.dependencies, exchange.caller.orgId);
      }
    }
  } else if (route.auth.kind === "user") {
    await floor.refuse(exchange, notSignedIn());
  } else if (route.auth.kind === "key") {
    const key = presented ?? earlyBody?.key ?? undefined;
    exchange.caller = await requireKey(services, { floor, exchange, presented: key });
    exchange.body.holder = `organization ${exchange.caller.orgId}`;
    if (earlyBody !== null) announceSunset(services, exchange);
    await allowOrigin(services, context);
    await admitKey(services, exchange);
    requireGranted(services, exchange, route.auth.access);
  } else if (route.auth.kind === "master") {
    await requireMaster(services, { floor, exchange, presented, scope: route.auth.scope });
    exchange.body.holder = "administrators";
    if (route.dashboard && !services.adminDashboard) throw notImplemented();
  }

  let json: unknown;
  if (route.body !== null) {
    const limit = route.body.limitBytes;
    const bytes = earlyBody?.bytes ??
      await receive(context, () => readBody(request, { limit, lease: exchange.body }));
    checkContentType(request);
    requireIdempotencyKey(route, request);
    json = bytes.length === 0 && route.body.optional
      ? undefined
      : withoutKey(parseJson(bytes, exchange.body));
  } else {
    requireIdempotencyKey(route, request);
  }
  try {
    const named = { path: context.req.param(), request, json };
    const { pseudonyms } = exchange;
    const input = pseudonyms === null ? named : await pseudonyms.request(named);
    const reply = await route.handler(services, { context, exchange, ...input });
    return renderReply(services, context, pseudonyms === null ? reply : await pseudonyms.reply(reply));
  } catch (error) {
    const isOfCaller = route.auth.kind !== "none" && error instanceof ServiceError &&
      error.code === "UNAUTHORIZED";
    if (!isOfCaller) throw error;
    // The key or the session ended after it was looked up. Like any refusal, this one says nothing of it.
    for (const name of [...exchange.headers.keys()]) exchange.headers.delete(name);
    return await floor.refuse(exchange, exchange.session === null ? undefined : notSignedIn());
  }
}

/** @throws {ServiceError} VALIDATION_FAILED, 400, if a required key is missing, or the key is invalid. */
function requireIdempotencyKey({ idempotent, honoursIdempotencyKey }: Route, request: Request): void {
  const isSent = request.headers.has("Idempotency-Key");
  if (idempotent || (honoursIdempotencyKey && isSent)) checkIdempotencyKey(request);
}

/**
 * Reads what the client still has to send. The client's time runs only while the service waits for it.
 * @throws {ServiceError} INVALID_JSON if it does not come in time, even on an otherwise active connection.
 */
async function receive<Result>({ env }: AppContext, read: () => Promise<Result>): Promise<Result> {
  env.beginClientTurn?.();
  const timeout = Promise.withResolvers<never>();
  const timer = env.bodyMs === undefined
    ? undefined
    : setTimeout(() => timeout.reject(bodyTimeout()), env.bodyMs);
  try {
    return await Promise.race([read(), timeout.promise]);
  } finally {
    clearTimeout(timer);
    env.beginServiceTurn?.();
  }
}

/**
 * Chooses a page if the client prefers one, as browsers do, else JSON. The answer is not cached or indexed.
 */
function negotiate(context: AppContext): void {
  const { exchange } = context.var;
  exchange.headers.append("Vary", "Accept");
  exchange.headers.set("Cache-Control", "no-store");
  exchange.headers.set("X-Robots-Tag", "noindex");
  exchange.prefersPage = accepts(context, {
    header: "Accept",
    supports: ["application/json", "text/html"],
    default: "application/json",
  }) === "text/html";
}

/**
 * Serves a page or an asset. Like a health probe it is outside Layer 1, so a browser never locks itself out.
 */
function servePage(context: AppContext, page: Page): Response {
  context.var.exchange.route = `GET ${page.path}`;
  return renderPage(context, page);
}

/** Whether people may type the path of the page: false for assets, the console's views and exercises. */
function hasTypedPath({ path, contentType }: Page): boolean {
  return contentType.startsWith("text/html") && !path.endsWith("*") && !path.includes(":");
}

/** Redirects a path with a slash too many at its end. */
function redirectTo(context: AppContext, { path }: Page): Response {
  context.var.exchange.route = `GET ${path}`;
  return context.redirect(path + new URL(context.req.url).search, 308);
}

function notImplemented(): ServiceError {
  return new ServiceError(
    "NOT_IMPLEMENTED",
    "The admin dashboard is disabled: the administrator can set JISS_ADMIN_DASHBOARD=on.",
  );
}

/** A known path with a method that it does not have: a preflight, or 405. */
async function serveOtherMethod(
  services: Services,
  context: AppContext,
  methods: readonly string[],
): Promise<Response> {
  await admitAddress(services, context.var.exchange);
  if (isPreflight(context.req.raw)) return await answerPreflight(services, context, methods);
  throw new ServiceError("METHOD_NOT_ALLOWED", `This path takes ${methods.join(", ")}.`, {
    headers: { Allow: methods.join(", ") },
  });
}
