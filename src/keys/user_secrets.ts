/**
 * The secrets of people who sign in: session cookies and one-time links. Both are random; only their hashes are stored. A
 * cookie carries a MAC besides, so that an invented one is refused without a look at the database.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { derivedKey } from "./derived_key.ts";
import { hmacSha256 } from "./hmac.ts";

/** Random bytes of a session or a link: 256 bits. */
export const USER_SECRET_BYTES = 32;
const MAC_BYTES = 16;

const TOKEN = /^[A-Za-z0-9_-]{64}$/;
const LINK = /^(usr_[0-9A-HJKMNP-TV-Z]{26})\.([A-Za-z0-9_-]{43})$/;

const sessionKey = derivedKey("jiss user sessions v1");

/** The value of a session's cookie, 64 characters of base64url: the random bytes, then their MAC. */
export function sessionToken(installationKey: Uint8Array, random: Uint8Array): string {
  const bytes = new Uint8Array(USER_SECRET_BYTES + MAC_BYTES);
  bytes.set(random);
  bytes.set(macOf(installationKey, random), USER_SECRET_BYTES);
  return base64url(bytes);
}

/** The hash under which a cookie's session is stored; null if this installation did not issue the cookie. */
export function sessionHash(installationKey: Uint8Array, token: string): Uint8Array | null {
  if (!TOKEN.test(token)) return null;
  const bytes = Uint8Array.fromBase64(token, { alphabet: "base64url" });
  const random = bytes.subarray(0, USER_SECRET_BYTES);
  return timingSafeEqual(macOf(installationKey, random), bytes.subarray(USER_SECRET_BYTES))
    ? secretHash(random)
    : null;
}

function macOf(installationKey: Uint8Array, random: Uint8Array): Uint8Array {
  return hmacSha256(sessionKey(installationKey), random.toHex()).subarray(0, MAC_BYTES);
}

/** The token of a user's one-time link. */
export function linkTokenOf(userId: string, random: Uint8Array): string {
  return `${userId}.${base64url(random)}`;
}

/** The user of a link, and the hash of its secret; null if the text is no link's token. */
export function parseLinkToken(
  token: string,
): { readonly userId: string; readonly hash: Uint8Array } | null {
  const [, userId, secret] = LINK.exec(token) ?? [];
  if (userId === undefined || secret === undefined) return null;
  return { userId, hash: secretHash(Uint8Array.fromBase64(secret, { alphabet: "base64url" })) };
}

/** SHA-256 of a random secret, 32 bytes: 256 bits cannot be guessed, so the hash needs no salt. */
export function secretHash(random: Uint8Array): Uint8Array {
  return new Uint8Array(createHash("sha256").update(random).digest());
}

function base64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}
