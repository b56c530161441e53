/** Keys that are derived from the installation key, one for each purpose. */
import { hkdfSync } from "node:crypto";

const KEY_LENGTH = 32;

/**
 * Returns a function that derives a purpose's key, 32 bytes, from the installation key. Uses HKDF-SHA256 (RFC 5869). It
 * remembers the keys of the installation keys in use, since deriving one takes longer than all that is made with it.
 */
export function derivedKey(purpose: string): (installationKey: Uint8Array) => Uint8Array {
  const derived = new WeakMap<Uint8Array, Uint8Array>();
  return (installationKey) => {
    const known = derived.get(installationKey);
    if (known !== undefined) return known;
    const key = new Uint8Array(hkdfSync("sha256", installationKey, "", purpose, KEY_LENGTH));
    derived.set(installationKey, key);
    return key;
  };
}
