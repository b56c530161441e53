/**
 * The challenge of a passkey ceremony. The browser keeps it, sealed, from the options to the answer; each is taken once.
 * Source: Web Authentication Level 3 (W3C), section 13.4.3.
 */
import { generateCookie, getCookie } from "hono/cookie";
import { ServiceError } from "../domain/errors.ts";
import { PASSKEY_CEREMONY_MS, PASSKEY_CHALLENGE_BYTES } from "../domain/passkey.ts";
import { relyingPartyOf } from "../identity/relying_party.ts";
import { WRAP_IV_BYTES } from "../keys/secrets.ts";
import { openState, sealState } from "../keys/sign_in_state.ts";
import type { Ceremony } from "../operations/users/passkeys.ts";
import type { AppContext, Services } from "./exchange.ts";
import { isSecure } from "./middleware/session.ts";

const COOKIE = "jiss_passkey";

/** Begins a ceremony. @throws {ServiceError} NOT_IMPLEMENTED if the service's address can have no passkeys. */
export function beginCeremony(services: Services, context: AppContext): Ceremony {
  const { dependencies: { installation, world } } = services;
  const ceremony = { party: partyOf(services), challenge: world.random(PASSKEY_CHALLENGE_BYTES) };
  const state = {
    challenge: ceremony.challenge.toHex(),
    expires_at: context.var.exchange.call.now + PASSKEY_CEREMONY_MS,
  };
  const sealed = sealState(installation.key, JSON.stringify(state), world.random(WRAP_IV_BYTES));
  sendCookie(services, context, sealed, PASSKEY_CEREMONY_MS / 1_000);
  return ceremony;
}

/**
 * The ceremony that the browser began; it can be ended once.
 * @throws {ServiceError} VALIDATION_FAILED if it was begun elsewhere, too long ago, or is over.
 */
export function endCeremony(services: Services, context: AppContext): Ceremony {
  const { dependencies: { installation }, usedChallenges } = services;
  const { now } = context.var.exchange.call;
  const sealed = isSecure(services) ? getCookie(context, COOKIE, "host") : getCookie(context, COOKIE);
  sendCookie(services, context, "", 0);
  const text = sealed === undefined ? null : openState(installation.key, sealed);
  const state: { readonly challenge: string; readonly expires_at: number } | null = text && JSON.parse(text);
  if (
    state?.challenge !== undefined && now < state.expires_at && usedChallenges.isNew(state.challenge, now)
  ) {
    return { party: partyOf(services), challenge: Uint8Array.fromHex(state.challenge) };
  }
  throw new ServiceError(
    "VALIDATION_FAILED",
    "This use of a passkey was begun in another browser, more than five minutes ago, or is over: begin again.",
  );
}

function partyOf({ description }: Services) {
  const party = relyingPartyOf(description.baseUrl());
  if (party.rpId !== null) return party;
  throw new ServiceError("NOT_IMPLEMENTED", party.message);
}

function sendCookie(services: Services, context: AppContext, value: string, maxAge: number): void {
  const cookie = generateCookie(COOKIE, value, {
    path: "/",
    httpOnly: true,
    sameSite: "Strict",
    maxAge,
    ...(isSecure(services) ? { secure: true, prefix: "host" } as const : {}),
  });
  context.var.exchange.headers.append("Set-Cookie", cookie);
}
