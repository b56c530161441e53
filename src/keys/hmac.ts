/**
 * HMAC-SHA256 under keys that are used many times.
 *
 * It is implemented here (RFC 2104) with the two pads of a key, which are made once: the runtime's own
 * function prepares the key again for each text and takes three times as long.
 */
import { createHash } from "node:crypto";

/** Block length of SHA-256, bytes. */
const BLOCK_LENGTH = 64;
const INNER = 0x36;
const OUTER = 0x5c;

/** Maximum number of keys whose pads are kept: an installation and its configuration have fewer. */
const KEPT_MAX = 16;

interface Pads {
  readonly inner: Uint8Array;
  readonly outer: Uint8Array;
}

const kept = new Map<string | Uint8Array, Pads>();

/**
 * HMAC-SHA256 of the concatenation of the texts, 32 bytes. The bytes of a key must not change between two
 * uses.
 */
export function hmacSha256(key: string | Uint8Array, ...texts: readonly string[]): Uint8Array {
  const { inner, outer } = padsOf(key);
  const hash = createHash("sha256").update(inner);
  for (const text of texts) hash.update(text);
  const inside = Uint8Array.fromHex(hash.digest("hex"));
  return Uint8Array.fromHex(createHash("sha256").update(outer).update(inside).digest("hex"));
}

function padsOf(key: string | Uint8Array): Pads {
  const known = kept.get(key);
  if (known !== undefined) return known;
  const bytes = typeof key === "string" ? new TextEncoder().encode(key) : key;
  const short = bytes.length <= BLOCK_LENGTH ? bytes : createHash("sha256").update(bytes).digest();
  const block = new Uint8Array(BLOCK_LENGTH);
  block.set(short);
  const pads = { inner: block.map((byte) => byte ^ INNER), outer: block.map((byte) => byte ^ OUTER) };
  if (kept.size >= KEPT_MAX) kept.clear();
  kept.set(key, pads);
  return pads;
}
