/**
 * Secrets at rest: the key that wraps them, wrapping and unwrapping, and keyed request digests.
 *
 * Wrapping uses AES-256-GCM. The wrapping key is HKDF-SHA256 (RFC 5869) of `JISS_SECRETS_KEY`, or of the
 * pepper if that is not set. A wrapped value is bound to its purpose, so that it cannot replace one of
 * another purpose.
 */
import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { hmacSha256 } from "./hmac.ts";

const KEY_LENGTH = 32;
export const WRAP_IV_BYTES = 12;
const TAG_LENGTH = 16;

/** The wrapping key, 32 bytes, derived from a secret of the configuration. */
export function deriveSecretsKey(secret: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, "", "jiss secrets at rest v1", KEY_LENGTH));
}

/** Wraps `plain` for one purpose: iv ‖ ciphertext ‖ tag. `iv` is 12 random bytes, never used again. */
export function wrapSecret(
  plain: Uint8Array,
  { key, purpose, iv }: { readonly key: Uint8Array; readonly purpose: string; readonly iv: Uint8Array },
): Uint8Array {
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  cipher.setAAD(new TextEncoder().encode(purpose));
  const sealed = [cipher.update(plain), cipher.final(), cipher.getAuthTag()];
  return new Uint8Array(Buffer.concat([iv, ...sealed]));
}

/** The plain bytes; null if the key or the purpose differs, or the bytes were changed. */
export function unwrapSecret(
  wrapped: Uint8Array,
  { key, purpose }: { readonly key: Uint8Array; readonly purpose: string },
): Uint8Array | null {
  if (wrapped.length < WRAP_IV_BYTES + TAG_LENGTH) return null;
  const decipher = createDecipheriv("aes-256-gcm", key, wrapped.slice(0, WRAP_IV_BYTES));
  decipher.setAAD(new TextEncoder().encode(purpose));
  decipher.setAuthTag(wrapped.slice(-TAG_LENGTH));
  try {
    const sealed = wrapped.slice(WRAP_IV_BYTES, -TAG_LENGTH);
    return new Uint8Array(Buffer.concat([decipher.update(sealed), decipher.final()]));
  } catch {
    return null;
  }
}

/** The plain bytes, and the index of the key that unwrapped them; null if none does. */
export function unwrapWithAny(
  wrapped: Uint8Array,
  { keys, purpose }: { readonly keys: readonly Uint8Array[]; readonly purpose: string },
): { readonly plain: Uint8Array; readonly index: number } | null {
  for (const [index, key] of keys.entries()) {
    const plain = unwrapSecret(wrapped, { key, purpose });
    if (plain !== null) return { plain, index };
  }
  return null;
}

/**
 * The key for the seals of rows, 32 bytes. It is derived from the installation key, so that no rotation
 * breaks the seals.
 */
export function deriveSealKey(installationKey: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", installationKey, "", "jiss row seals v1", KEY_LENGTH));
}

/**
 * HMAC-SHA256 of a canonical request under the installation key, 32 bytes. No rotation of a secret changes
 * it.
 */
export function requestDigest(installationKey: Uint8Array, canonicalText: string): Uint8Array {
  return hmacSha256(installationKey, "jis.request/1\n", canonicalText);
}
