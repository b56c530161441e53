/**
 * Every hash of the evidence format and its domain separation: no two uses share their first bytes.
 * Source: evidence design, section 3; leaf and node hashes are RFC 6962's.
 */
import { canonicalJson } from "./canonical.ts";
import { type Crypto, hex, utf8 } from "./crypto.ts";

const LEAF = Uint8Array.of(0x00);
const NODE = Uint8Array.of(0x01);
const LINE_FEED = utf8("\n");

/** Names of the parts that an entry can commit to. */
export const PART_NAMES = ["input", "result", "detail"] as const;
export type PartName = (typeof PART_NAMES)[number];

/** entry_hash = SHA-256(0x00 ‖ JCS(entry)): it is both the chain's link and the tree's leaf. */
export function entryHash(crypto: Crypto, entryText: string): Uint8Array {
  return crypto.sha256(LEAF, utf8(entryText));
}

/** SHA-256(0x01 ‖ left ‖ right). */
export function nodeHash(crypto: Crypto, left: Uint8Array, right: Uint8Array): Uint8Array {
  return crypto.sha256(NODE, left, right);
}

/** The `prev` of a chain's first entry: it binds the chain to its origin. */
export function genesisPrevious(crypto: Crypto, origin: string): Uint8Array {
  return crypto.sha256(utf8(`jis.genesis/1\n${origin}`));
}

/** commit[name] = SHA-256(`jis.commit/1\n` ‖ name ‖ `\n` ‖ salt ‖ JCS(part)), with a salt of 32 bytes. */
export function partCommitment(
  crypto: Crypto,
  { name, salt, text }: { readonly name: PartName; readonly salt: Uint8Array; readonly text: string },
): Uint8Array {
  return crypto.sha256(utf8("jis.commit/1\n"), utf8(name), LINE_FEED, salt, utf8(text));
}

/** The one hash of a model document, lower-case hex: SHA-256(`jis.params/1\n` ‖ JCS(document)). */
export function modelSha256(crypto: Crypto, document: unknown): string {
  return modelTextSha256(crypto, canonicalJson(document));
}

/** {@link modelSha256} of a document that is given as its canonical JSON text. */
export function modelTextSha256(crypto: Crypto, text: string): string {
  return hex(crypto.sha256(utf8("jis.params/1\n"), utf8(text)));
}
