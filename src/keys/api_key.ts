/**
 * Live keys of organizations: their form, how they are made, stored and compared.
 *
 * `jis_` and 26 characters of Crockford base32 from a secure source: 130 bits. Only a keyed hash is stored.
 * Source: specification, Authentication; contract, section 3.
 */
import { timingSafeEqual } from "node:crypto";
import { hmacSha256 } from "./hmac.ts";

const LIVE_PREFIX = "jis_";
const BODY_LENGTH = 26;
const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const FORM = new RegExp(`^${LIVE_PREFIX}[${CROCKFORD}]{${BODY_LENGTH}}$`);

/** Number of characters of a key that are stored in the clear: for look-up, rate limits and the audit log. */
const PREFIX_LENGTH = 8;

/**
 * A key of the right form that no organization has. Missing and malformed keys are compared as this one, so that
 * refusing them takes as long.
 */
const NOBODY = LIVE_PREFIX + "0".repeat(BODY_LENGTH);

/** Makes a key from 26 random bytes and uses five bits of each. */
export function mintApiKey(random: Uint8Array): string {
  if (random.length !== BODY_LENGTH) throw new RangeError(`a key is made of ${BODY_LENGTH} bytes`);
  return LIVE_PREFIX + Array.from(random, (byte) => CROCKFORD[byte & 31]).join("");
}

/** Number of random bytes that {@link mintApiKey} takes. */
export const API_KEY_RANDOM_BYTES = BODY_LENGTH;

export function isApiKey(text: string): boolean {
  return FORM.test(text);
}

/**
 * Whether an organization may have this key: it has the right form and is not the one that missing and malformed
 * keys are compared as.
 */
export function mayBeHeld(text: string): boolean {
  return isApiKey(text) && text !== NOBODY;
}

/** The first 8 characters of a key. */
export function apiKeyPrefix(key: string): string {
  return key.slice(0, PREFIX_LENGTH);
}

/** HMAC-SHA256 of the key under the pepper, 32 bytes. Only this is stored. */
export function hashApiKey(key: string, pepper: string): Uint8Array {
  return hmacSha256(pepper, key);
}

/** The id of a pepper, 16 hexadecimal digits. It distinguishes peppers and reveals nothing about them. */
export function pepperId(pepper: string): string {
  return hmacSha256(pepper, "jiss pepper id").toHex().slice(0, 16);
}

/**
 * The key to look up and compare for a presented value: the value itself, or a key that nobody has if it is
 * missing or malformed.
 */
export function comparableKey(presented: string | undefined): string {
  return presented !== undefined && isApiKey(presented) ? presented : NOBODY;
}

const NO_HASH = new Uint8Array(32);

/**
 * The pepper that gives a key's stored hash, in constant time; null if none does. A missing hash takes as
 * long as a wrong one.
 */
export function matchingPepper(
  key: string,
  storedHash: Uint8Array | null,
  peppers: readonly string[],
): string | null {
  let matching: string | null = null;
  for (const pepper of peppers) {
    const same = timingSafeEqual(hashApiKey(key, pepper), storedHash ?? NO_HASH);
    matching = same && storedHash !== null ? pepper : matching;
  }
  return matching;
}
