/** The service's cookies: no script reads them, and no other host of the domain sets them. Source: RFC 6265bis. */
import { generateCookie, getCookie } from "hono/cookie";
import type { AppContext, Services } from "./exchange.ts";

/** Whether browsers reach the service over TLS. */
export function isSecure({ description, servesTls }: Services): boolean {
  return servesTls || description.baseUrl().startsWith("https:");
}

/** The value of a cookie of the request; undefined if there is none. */
export function readCookie(services: Services, context: AppContext, name: string): string | undefined {
  return isSecure(services) ? getCookie(context, name, "host") : getCookie(context, name);
}

/**
 * Sets a cookie, for `maxAge` seconds; 0 takes it back.
 * @param options.sameSite `Lax` if the browser must send it when another site leads here. Default: `Strict`.
 */
export function setCookie(
  services: Services,
  context: AppContext,
  { name, value, maxAge, sameSite = "Strict" }: {
    readonly name: string;
    readonly value: string;
    readonly maxAge: number;
    readonly sameSite?: "Strict" | "Lax";
  },
): void {
  const cookie = generateCookie(name, value, {
    path: "/",
    httpOnly: true,
    sameSite,
    maxAge,
    // The prefix binds the cookie to this host, so that no other host of the domain can set one.
    ...(isSecure(services) ? { secure: true, prefix: "host" } as const : {}),
  });
  context.var.exchange.headers.append("Set-Cookie", cookie);
}
