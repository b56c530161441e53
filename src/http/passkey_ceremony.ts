/**
 * The challenge of a passkey ceremony. The browser keeps it, sealed, from the options to the answer; each is taken once.
 * Source: Web Authentication Level 3 (W3C), section 13.4.3.
 */
import { ServiceError } from "../domain/errors.ts";
import { PASSKEY_CEREMONY_MS, PASSKEY_CHALLENGE_BYTES } from "../domain/passkey.ts";
import { relyingPartyOf } from "../identity/relying_party.ts";
import { WRAP_IV_BYTES } from "../keys/secrets.ts";
import { openState, sealState } from "../keys/sign_in_state.ts";
import type { Ceremony } from "../operations/users/passkeys.ts";
import { readCookie, setCookie } from "./cookies.ts";
import type { AppContext, Services } from "./exchange.ts";

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
  setCookie(services, context, { name: COOKIE, value: sealed, maxAge: PASSKEY_CEREMONY_MS / 1_000 });
  return ceremony;
}

/**
 * The ceremony that the browser began; it can be ended once.
 * @throws {ServiceError} VALIDATION_FAILED if it was begun elsewhere, too long ago, or is over.
 */
export function endCeremony(services: Services, context: AppContext): Ceremony {
  const { dependencies: { installation }, usedChallenges } = services;
  const { now } = context.var.exchange.call;
  const sealed = readCookie(services, context, COOKIE);
  setCookie(services, context, { name: COOKIE, value: "", maxAge: 0 });
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
