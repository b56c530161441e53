/**
 * Passwords, stored as scrypt hashes (RFC 7914), which need memory as well as time. The parameters are one of the choices of
 * the OWASP Password Storage Cheat Sheet: N = 2^15, r = 8, p = 3, which take 32 MiB.
 */
import { scrypt, timingSafeEqual } from "node:crypto";
import { unavailable } from "../domain/errors.ts";

const PARAMETERS = { cost: 2 ** 15, blockSize: 8, parallelization: 3 } as const;
/** Twice what the parameters take: the function refuses to use more. */
const MEMORY_MAX_BYTES = 64 * 1024 * 1024;
const HASH_BYTES = 32;
export const PASSWORD_SALT_BYTES = 16;

const FORM = /^scrypt\$15\$8\$3\$([A-Za-z0-9_-]{22})\$([A-Za-z0-9_-]{43})$/;

/** What is compared for a user who has no password, or does not exist, so that the refusal takes as long. */
const NOBODY = { salt: new Uint8Array(PASSWORD_SALT_BYTES), hash: new Uint8Array(HASH_BYTES) };

/** At most so many hashes are computed at once, in this process: each takes 32 MiB and a core. */
const HASHES_AT_ONCE = 2;

/** At most so many of strangers wait: more would only wait for longer than anybody does. */
const STRANGERS_WAITING = 32;
/** At most so many from one address run or wait, so that a few addresses do not take every place. */
const FROM_ONE_ADDRESS = 4;
/** When a refused attempt may come again, seconds. */
const RETRY_S = 3;

/**
 * For whom a hash is computed: somebody who has shown a link or a session, or a stranger from an address, in the form in which
 * addresses are limited.
 */
export type HashedFor = { readonly kind: "known" } | { readonly kind: "stranger"; readonly address: string };

/** Those who wait, by kind: each call begins a hash. */
const waiting: Readonly<Record<HashedFor["kind"], (() => void)[]>> = { known: [], stranger: [] };
let running = 0;
/** The kind that last had its turn after a wait: the kinds take turns, so that neither keeps the other waiting. */
let last: HashedFor["kind"] = "stranger";
const fromAddress = new Map<string, number>();

/**
 * A password in the form in which it is stored. `salt` is 16 random bytes.
 * @throws {ServiceError} SERVICE_UNAVAILABLE, as {@link isPassword}.
 */
export async function hashPassword(password: string, salt: Uint8Array, whose: HashedFor): Promise<string> {
  return `scrypt$15$8$3$${base64url(salt)}$${base64url(await hashOf(password, salt, whose))}`;
}

/**
 * Whether a password is the stored one; false, after the same work, if none is stored.
 * @throws {ServiceError} SERVICE_UNAVAILABLE if too many strangers wait, or too many from this address.
 */
export async function isPassword(
  password: string,
  stored: string | null,
  whose: HashedFor,
): Promise<boolean> {
  const [, salt, hash] = FORM.exec(stored ?? "") ?? [];
  const known = salt === undefined || hash === undefined
    ? NOBODY
    : { salt: fromBase64url(salt), hash: fromBase64url(hash) };
  const isSame = timingSafeEqual(await hashOf(password, known.salt, whose), known.hash);
  return isSame && known !== NOBODY;
}

async function hashOf(password: string, salt: Uint8Array, whose: HashedFor): Promise<Uint8Array> {
  const leave = enter(whose);
  try {
    if (running >= HASHES_AT_ONCE) await new Promise<void>((begin) => waiting[whose.kind].push(begin));
    else running += 1;
    return await scryptOf(password, salt);
  } finally {
    leave();
  }
}

/** Takes a place for a hash; the result gives it back, and lets the next one begin. @throws {ServiceError} SERVICE_UNAVAILABLE. */
function enter(whose: HashedFor): () => void {
  const address = whose.kind === "stranger" ? whose.address : null;
  if (address !== null) {
    const own = fromAddress.get(address) ?? 0;
    if (waiting.stranger.length >= STRANGERS_WAITING || own >= FROM_ONE_ADDRESS) {
      throw unavailable("Too many people sign in with a password at the moment: try again.", RETRY_S);
    }
    fromAddress.set(address, own + 1);
  }
  return () => {
    if (address !== null) {
      const left = fromAddress.get(address)! - 1;
      if (left === 0) fromAddress.delete(address);
      else fromAddress.set(address, left);
    }
    const next = nextTurn();
    // The place goes on to whoever waits.
    if (next === undefined) running -= 1;
    else next();
  };
}

function nextTurn(): (() => void) | undefined {
  const other = last === "known" ? "stranger" : "known";
  last = waiting[other].length > 0 ? other : last;
  return waiting[last].shift();
}

function scryptOf(password: string, salt: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    // The same letters are typed as different code points on different keyboards (NIST SP 800-63B, 3.1.1.2).
    const text = password.normalize("NFKC");
    scrypt(
      text,
      salt,
      HASH_BYTES,
      { ...PARAMETERS, maxmem: MEMORY_MAX_BYTES },
      (error, hash) => error === null ? resolve(new Uint8Array(hash)) : reject(error),
    );
  });
}

function base64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

function fromBase64url(text: string): Uint8Array {
  return Uint8Array.fromBase64(text, { alphabet: "base64url" });
}
