/**
 * Signed tokens of the OpenID provider: what must be true of an ID token, and of a logout token.
 * Source: OpenID Connect Core 1.0, 3.1.3.7; OpenID Connect Back-Channel Logout 1.0, 2.6.
 */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from "jose";
import { isMisleading } from "../domain/organization.ts";
import type { KeptDocument } from "./kept_document.ts";
import { OidcRefused } from "./refusal.ts";

/** Seconds by which the provider's clock and ours may differ. */
export const CLOCK_TOLERANCE_S = 60;
/** Seconds after which a logout token is too old, whatever it says: its `jti` must be remembered for so long. */
export const LOGOUT_TOKEN_AGE_S = 300;
/** Seconds after which an ID token, which comes directly from the provider, is too old, whatever it says. */
const ID_TOKEN_AGE_S = 86_400;

/**
 * Signatures that only the provider can make. Without one (`none`), or with a key that others know (`HS256`), anybody
 * could sign.
 */
export const ALGORITHMS: readonly string[] = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];

const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";
/** Types that a logout token may name in its header. Some providers name the general one, or none. */
const LOGOUT_TYPES: readonly unknown[] = ["logout+jwt", "application/logout+jwt", "JWT", undefined];
/** OpenID Connect Core 1.0, section 2. */
const SUBJECT_LENGTH = 255;

/** The provider's public keys, as a function that finds the key of a token. */
export type KeySet = ReturnType<typeof createLocalJWKSet>;

/** @throws {OidcRefused} if it is no key set. */
export function keySetOf(document: unknown): KeySet {
  try {
    return createLocalJWKSet(document as JSONWebKeySet);
  } catch {
    throw new OidcRefused("provider_error", "The identity provider's keys are not a JSON Web Key Set.");
  }
}

/** For whom and when a token must be valid. */
export interface Expected {
  readonly keys: KeptDocument<KeySet>;
  readonly issuer: string;
  /** Those of {@link ALGORITHMS} that the provider announces. */
  readonly algorithms: readonly string[];
  readonly clientId: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The claims of an ID token. @throws {OidcRefused} */
export async function verifyIdToken(
  token: string,
  expected: Expected & { readonly nonce: string },
): Promise<JWTPayload & { readonly sub: string }> {
  const { payload } = await verify(token, expected, {
    name: "ID token",
    maxTokenAge: ID_TOKEN_AGE_S,
    requiredClaims: ["exp", "sub"],
  });
  const { sub, aud, azp, nonce } = payload;
  if (nonce !== expected.nonce) {
    throw new OidcRefused("wrong_nonce", "The ID token belongs to another sign-in: its nonce is another.");
  }
  const hasSeveral = Array.isArray(aud) && aud.length > 1;
  if ((hasSeveral || azp !== undefined) && azp !== expected.clientId) {
    throw new OidcRefused("wrong_audience", "The ID token was issued to another client.");
  }
  if (!isName(sub)) throw new OidcRefused("wrong_token", "The ID token names no subject.");
  return { ...payload, sub };
}

export interface LogoutToken {
  /** The person whose sessions end; null if only one session is named. */
  readonly sub: string | null;
  /** The session that ends; null if all of the person's end. */
  readonly sid: string | null;
  /** Epoch seconds. */
  readonly iat: number;
  /** The caller must refuse one that it has seen within {@link LOGOUT_TOKEN_AGE_S}. */
  readonly jti: string;
}

/** What a logout token ends. @throws {OidcRefused} */
export async function verifyLogoutToken(token: string, expected: Expected): Promise<LogoutToken> {
  const { payload, protectedHeader } = await verify(token, expected, {
    name: "logout token",
    maxTokenAge: LOGOUT_TOKEN_AGE_S,
    requiredClaims: ["jti", "events"],
  });
  const { sub, sid, iat, jti, events } = payload;
  const refuse = (what: string) => new OidcRefused("wrong_token", `The logout token ${what}.`);
  if (!LOGOUT_TYPES.includes(protectedHeader.typ)) throw refuse("is of another type");
  if (!isObject(events) || !Object.hasOwn(events, LOGOUT_EVENT) || !isObject(events[LOGOUT_EVENT])) {
    throw refuse("announces no logout");
  }
  // Otherwise an ID token could pass as a logout token.
  if (Object.hasOwn(payload, "nonce")) throw refuse("has a nonce, which it must not");
  if (!isName(jti)) throw refuse("has no id");
  if (![sub, sid].every((name) => name === undefined || isName(name))) {
    throw refuse("names its subject or session by something other than a text");
  }
  if (sub === undefined && sid === undefined) throw refuse("names neither a subject nor a session");
  return { sub: sub ?? null, sid: (sid as string | undefined) ?? null, iat: iat!, jti };
}

interface Kind {
  readonly name: string;
  readonly maxTokenAge: number;
  readonly requiredClaims: readonly string[];
}

async function verify(token: string, { keys, issuer, algorithms, clientId, now }: Expected, kind: Kind) {
  const options = {
    algorithms: [...algorithms],
    issuer,
    audience: clientId,
    clockTolerance: CLOCK_TOLERANCE_S,
    currentDate: new Date(now),
    maxTokenAge: kind.maxTokenAge,
    requiredClaims: [...kind.requiredClaims],
  };
  const known = await keys.get();
  try {
    return await jwtVerify(token, known, options);
  } catch (error) {
    if (!mayNeedNewKeys(error)) throw refusalOf(error, kind);
  }
  try {
    return await jwtVerify(token, await keys.renewed(), options);
  } catch (error) {
    throw refusalOf(error, kind);
  }
}

/** The provider may have changed its keys, under a new id or under the same. */
function mayNeedNewKeys(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed;
}

/** The error's own message may quote the token. */
function refusalOf(error: unknown, { name }: Kind): OidcRefused {
  if (error instanceof OidcRefused) return error;
  if (error instanceof errors.JWTExpired) return new OidcRefused("expired", `The ${name} has expired.`);
  if (error instanceof errors.JWTClaimValidationFailed) {
    const { claim, reason } = error;
    if (claim === "iss") return new OidcRefused("wrong_issuer", `The ${name} is from another issuer.`);
    if (claim === "aud") return new OidcRefused("wrong_audience", `The ${name} is for another client.`);
    if ((claim === "nbf" || claim === "iat") && reason === "check_failed") {
      const message = `The ${name} is not valid yet. The clocks of provider and service may differ.`;
      return new OidcRefused("not_yet_valid", message);
    }
    return new OidcRefused("wrong_token", `The ${name} has no valid claim "${claim}".`);
  }
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported) {
    const message = `The ${name} is signed by no allowed algorithm that the provider announces.`;
    return new OidcRefused("bad_signature", message);
  }
  if (error instanceof errors.JWKSNoMatchingKey) {
    return new OidcRefused("bad_signature", `The ${name} is signed by none of the provider's keys.`);
  }
  if (error instanceof errors.JWKSMultipleMatchingKeys) {
    return new OidcRefused("bad_signature", `The ${name} does not say by which of the keys it is signed.`);
  }
  return new OidcRefused("bad_signature", `The ${name} has no valid signature.`);
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= SUBJECT_LENGTH && !isMisleading(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
