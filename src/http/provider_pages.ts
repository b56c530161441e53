/**
 * Three addresses send browsers to the identity provider, take them back, and let the provider end sessions. No part of
 * the API: nobody calls them by hand. Source: OpenID Connect Core 1.0, section 3.1; Back-Channel Logout 1.0.
 */
import { ServiceError, unavailable } from "../domain/errors.ts";
import { SIGN_IN_STATE_SECONDS } from "../domain/limits.ts";
import { type Grant, grantOf, leftOutClaims } from "../identity/claims_map.ts";
import type { KeptSecrets, SignedIn as Identified } from "../identity/oidc.ts";
import { OidcRefused } from "../identity/refusal.ts";
import { openState, sealState } from "../keys/sign_in_state.ts";
import { WRAP_IV_BYTES } from "../keys/secrets.ts";
import { endProvidedSessions, knownAtProvider, signInFromProvider } from "../operations/users/provider.ts";
import { readBody } from "./body.ts";
import type { AppContext, Identifying, Services } from "./exchange.ts";
import { readCookie, setCookie } from "./cookies.ts";
import { giveCookie } from "./middleware/session.ts";
import { admitAddress } from "./middleware/rate_limits.ts";
import { recordFailure } from "./routes/signing_in.ts";

const COOKIE = "jiss_provider";
/** A logout token is a few KB. */
const LOGOUT_BODY_BYTES = 65_536;

/** The browser keeps this, sealed, while its user is at the provider. */
interface State extends KeptSecrets {
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** Sends the browser to the provider. */
export async function beginAtProvider(services: Services, context: AppContext): Promise<Response> {
  const { oidc } = await identifying(services, context);
  const { url, kept } = await asked(services, context, () => oidc.begin());
  const { exchange: { call } } = context.var;
  const state: State = { ...kept, expiresAt: call.now + SIGN_IN_STATE_SECONDS * 1_000 };
  const { installation, world } = services.dependencies;
  const sealed = sealState(installation.key, JSON.stringify(state), world.random(WRAP_IV_BYTES));
  sendState(services, context, sealed, SIGN_IN_STATE_SECONDS);
  return redirect(url);
}

/** Takes the browser back from the provider, and begins the session. */
export async function returnFromProvider(services: Services, context: AppContext): Promise<Response> {
  const { oidc, issuer, map, usedOnce } = await identifying(services, context);
  const { exchange } = context.var;
  const state = stateOf(services, context);
  // It is offered once: whatever comes of it, the next try begins anew.
  sendState(services, context, "", 0);
  if (state === null || !usedOnce.isNew(`state ${state.state}`, exchange.call.now)) {
    throw new ServiceError(
      "FORBIDDEN",
      "This sign-in was begun in another browser, too long ago, or is over: begin again at the console.",
    );
  }
  const person = await asked(services, context, () => oidc.finish(context.req.url, state));
  const grant = grantOf(map, person.claims);
  if (grant === null) {
    for (const known of await knownAtProvider(services.dependencies, { issuer, subject: person.sub })) {
      recordFailure(services, exchange, known);
    }
    throw notMapped(services, person);
  }
  const signedIn = await signInFromProvider(services.dependencies, personOf(issuer, person, grant), {
    agent: context.req.header("User-Agent") ?? "",
    call: exchange.call,
  });
  if (!("token" in signedIn)) {
    recordFailure(services, exchange, signedIn);
    throw new ServiceError("FORBIDDEN", "This user may not sign in: ask an admin of your organization.");
  }
  giveCookie(services, context, { token: signedIn.token, expiresAt: signedIn.row.expires_at });
  return redirect("/console/signed-in");
}

function personOf(issuer: string, person: Identified, { organization, role }: Grant) {
  const { sub: subject, email, emailVerified, name, sid: session } = person;
  return { issuer, subject, email, emailVerified, name, session, orgId: organization, role };
}

/** The refusal of a person whom no rule of the map matches. */
function notMapped({ log }: Services, { claims }: Identified): ServiceError {
  const leftOut = leftOutClaims(claims);
  log.warn("somebody signed in at the identity provider whom no rule of JISS_OIDC_MAP_FILE matches", {
    claims: Object.keys(claims).join(" "),
    ...(leftOut.length === 0 ? {} : { left_out_by_the_provider: leftOut.join(" ") }),
  });
  return new ServiceError(
    "FORBIDDEN",
    "The identity provider knows you, and nothing that it says of you gives you a role here: ask the administrator of this service.",
  );
}

/** Ends the sessions that a logout token of the provider names. */
export async function endFromProvider(services: Services, context: AppContext): Promise<Response> {
  const { oidc, issuer, usedOnce } = await identifying(services, context);
  const { exchange } = context.var;
  const bytes = await readBody(context.req.raw, { limit: LOGOUT_BODY_BYTES, lease: exchange.body });
  const token = new URLSearchParams(new TextDecoder().decode(bytes)).get("logout_token") ?? "";
  const { sub, sid, jti } = await asked(services, context, () => oidc.readLogoutToken(token));
  const id = `logout ${jti}`;
  if (usedOnce.isNew(id, exchange.call.now)) {
    try {
      await endProvidedSessions(services.dependencies, { issuer, subject: sub, session: sid }, exchange.call);
    } catch (error) {
      // The provider sends it again.
      usedOnce.forget(id);
      throw error;
    }
  }
  return new Response(null, { status: 200, headers: { "Cache-Control": "no-store" } });
}

/** The provider of the configuration. @throws {ServiceError} NOT_FOUND; RATE_LIMITED. */
async function identifying(services: Services, context: AppContext): Promise<Identifying> {
  const { exchange } = context.var;
  exchange.prefersPage = context.req.method === "GET";
  exchange.headers.set("Cache-Control", "no-store");
  await admitAddress(services, exchange, { signsIn: true });
  if (services.identifying === null) {
    throw new ServiceError("NOT_FOUND", "No identity provider is configured here.");
  }
  return services.identifying;
}

/** Asks the provider. @throws {ServiceError} FORBIDDEN or SERVICE_UNAVAILABLE for a refusal, which is logged. */
async function asked<Result>(
  { log }: Services,
  context: AppContext,
  ask: () => Promise<Result>,
): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof OidcRefused)) throw error;
    const { reason, message } = error;
    log.warn("signing in at the identity provider failed", {
      request_id: context.var.exchange.call.requestId,
      reason,
      error: message,
    });
    if (reason === "provider_unavailable" || reason === "provider_slow") {
      throw unavailable(`${message} Try again.`, 5);
    }
    throw new ServiceError("FORBIDDEN", `${message} Begin again at the console.`);
  }
}

function stateOf(services: Services, context: AppContext): State | null {
  const sealed = readCookie(services, context, COOKIE);
  const text = sealed === undefined ? null : openState(services.dependencies.installation.key, sealed);
  if (text === null) return null;
  const state: State = JSON.parse(text);
  return context.var.exchange.call.now < state.expiresAt ? state : null;
}

/** The browser sends it on the way back from the provider, so that it cannot be `Strict`. */
function sendState(services: Services, context: AppContext, value: string, maxAge: number): void {
  setCookie(services, context, { name: COOKIE, value, maxAge, sameSite: "Lax" });
}

function redirect(location: string): Response {
  return new Response(null, { status: 303, headers: { Location: location, "Cache-Control": "no-store" } });
}
