/**
 * The cookie of a user's session: read, set and cleared, and held to the console's own pages. Source: oversight-loop design,
 * section 3.
 */
import { notSignedIn, ServiceError } from "../../domain/errors.ts";
import { hashOfCookie, type OpenSession, openSession } from "../../operations/users/sessions.ts";
import { isSecure, readCookie, setCookie } from "../cookies.ts";
import type { AppContext, Exchange, Route, Services } from "../exchange.ts";
import type { AuthenticationFloor } from "./floor.ts";

const COOKIE = "jiss_session";

/**
 * The hash of the session's cookie, if the request has one that this installation issued and the route takes sessions; null
 * otherwise.
 */
export function cookieFor(services: Services, context: AppContext, { auth }: Route): Uint8Array | null {
  if (auth.kind !== "key" && auth.kind !== "user") return null;
  const cookie = readCookie(services, context, COOKIE);
  return cookie === undefined ? null : hashOfCookie(services.dependencies, cookie);
}

/** The session of a cookie. @throws {ServiceError} UNAUTHORIZED if it ended; RATE_LIMITED if too many refusals wait. */
export async function requireSession(
  { dependencies }: Services,
  { floor, exchange, cookie }: {
    readonly floor: AuthenticationFloor;
    readonly exchange: Exchange;
    readonly cookie: Uint8Array;
  },
): Promise<OpenSession> {
  return await openSession(dependencies, cookie, exchange.call) ??
    await floor.refuse(exchange, notSignedIn());
}

/**
 * Requires that a request with a cookie comes from a page of this service. Browsers name the origin of each request that
 * may change something, and say of each whether another site made it.
 * @param options.mayComeFromNoPage whether a program may call, too, which names no origin. Default: false.
 * @throws {ServiceError} FORBIDDEN.
 */
export function requireOwnPage(
  services: Services,
  context: AppContext,
  { mayComeFromNoPage = false }: { readonly mayComeFromNoPage?: boolean } = {},
): void {
  const { method } = context.req;
  const origin = context.req.header("Origin");
  const site = context.req.header("Sec-Fetch-Site");
  const isRead = method === "GET" || method === "HEAD";
  const isOwnOrigin = origin === undefined
    ? isRead || mayComeFromNoPage
    : originOf(services.description.baseUrl()) === origin ||
      // A proxy may end TLS, of which the service knows nothing; a page in the clear is none of a service on TLS.
      (isSecure(services) ? ["https"] : ["https", "http"]).some((scheme) =>
        origin === `${scheme}://${context.req.header("Host")}`
      );
  const isOwnSite = site === undefined || site === "same-origin" || (isRead && site === "none");
  if (isOwnOrigin && isOwnSite) return;
  throw new ServiceError(
    "FORBIDDEN",
    "A session works on the pages of this service alone: call from elsewhere with a key.",
  );
}

function originOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).origin : null;
}

/** Gives the browser the cookie of a session that ends at an instant, epoch milliseconds. */
export function giveCookie(
  services: Services,
  context: AppContext,
  { token, expiresAt }: { readonly token: string; readonly expiresAt: number },
): void {
  const { call } = context.var.exchange;
  const maxAge = Math.max(0, Math.floor((expiresAt - call.now) / 1000));
  setCookie(services, context, { name: COOKIE, value: token, maxAge });
}

/** Takes the cookie back. */
export function takeCookie(services: Services, context: AppContext): void {
  setCookie(services, context, { name: COOKIE, value: "", maxAge: 0 });
}
