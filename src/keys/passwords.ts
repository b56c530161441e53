/**
 * Passwords, stored as scrypt hashes (RFC 7914), which need memory as well as time. The parameters are one of the choices of
 * the OWASP Password Storage Cheat Sheet: N = 2^15, r = 8, p = 3, which take 32 MiB.
 */
import { scrypt, timingSafeEqual } from "node:crypto";

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

let running = 0;
const waiting: (() => void)[] = [];

/** A password in the form in which it is stored. `salt` is 16 random bytes. */
export async function hashPassword(password: string, salt: Uint8Array): Promise<string> {
  return `scrypt$15$8$3$${base64url(salt)}$${base64url(await hashOf(password, salt))}`;
}

/** Whether a password is the stored one; false, after the same work, if none is stored. */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const [, salt, hash] = FORM.exec(stored ?? "") ?? [];
  const known = salt === undefined || hash === undefined
    ? NOBODY
    : { salt: fromBase64url(salt), hash: fromBase64url(hash) };
  const isSame = timingSafeEqual(await hashOf(password, known.salt), known.hash);
  return isSame && known !== NOBODY;
}

async function hashOf(password: string, salt: Uint8Array): Promise<Uint8Array> {
  if (running >= HASHES_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return await new Promise((resolve, reject) => {
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
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

function base64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

function fromBase64url(text: string): Uint8Array {
  return Uint8Array.fromBase64(text, { alphabet: "base64url" });
}
