/** What a browser keeps while its user is at the identity provider: sealed, so that only this installation can read it. */
import { derivedKey } from "./derived_key.ts";
import { unwrapSecret, wrapSecret } from "./secrets.ts";

const PURPOSE = "jiss sign-in at the provider v1";
const stateKey = derivedKey(PURPOSE);

/** The sealed form of a text, base64url. `iv` is 12 random bytes, never used again. */
export function sealState(installationKey: Uint8Array, text: string, iv: Uint8Array): string {
  const plain = new TextEncoder().encode(text);
  return wrapSecret(plain, { key: stateKey(installationKey), purpose: PURPOSE, iv })
    .toBase64({ alphabet: "base64url", omitPadding: true });
}

/** The text; null if this installation did not seal it. */
export function openState(installationKey: Uint8Array, sealed: string): string | null {
  if (!/^[A-Za-z0-9_-]{1,4096}$/.test(sealed)) return null;
  try {
    const wrapped = Uint8Array.fromBase64(sealed, { alphabet: "base64url" });
    const plain = unwrapSecret(wrapped, { key: stateKey(installationKey), purpose: PURPOSE });
    return plain === null ? null : new TextDecoder().decode(plain);
  } catch {
    // A length that base64 cannot have.
    return null;
  }
}
