/** HMAC-SHA256 under keys that are used again and again: preparing one takes longer than the HMAC of a short text. */
import { createHmac, createSecretKey, type KeyObject } from "node:crypto";

/** Keys that are kept prepared: those of the installation and of its configuration are fewer. */
const PREPARED_MAX = 16;

const prepared = new Map<string | Uint8Array, KeyObject>();

/** HMAC-SHA256 of the concatenation of the texts, 32 bytes. The bytes of a key may not change between two uses. */
export function hmacSha256(key: string | Uint8Array, ...texts: readonly string[]): Uint8Array {
  const hmac = createHmac("sha256", preparedKey(key));
  for (const text of texts) hmac.update(text);
  return new Uint8Array(hmac.digest());
}

function preparedKey(key: string | Uint8Array): KeyObject {
  const known = prepared.get(key);
  if (known !== undefined) return known;
  const object = typeof key === "string" ? createSecretKey(key, "utf8") : createSecretKey(key);
  if (prepared.size >= PREPARED_MAX) prepared.clear();
  prepared.set(key, object);
  return object;
}
