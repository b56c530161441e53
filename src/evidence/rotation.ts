/**
 * Rotation certificates: the old and the new signing key of a log both sign that one follows the other, so
 * that an auditor who has pinned either can trust the other.
 *
 * A certificate is a signed note. The keys sign under the name in its first line, `<prefix>keys`, which is no
 * chain's origin. Source: evidence design, section 11.
 */
import { splitName } from "./chain_name.ts";
import { base64, type Crypto, equalBytes, fromBase64, type Signer } from "./crypto.ts";
import { isSoundPublicKey, parseNote, signNote, verifyNote } from "./note.ts";
import { orNull } from "./or_null.ts";

const TEXT =
  /^([^\n]+)\nrotate ([2-9]|[1-9][0-9]{1,14})\nold ([^\n]+)\nnew ([^\n]+)\nfrom ([^\n]+)\nreason (\P{Cc}+)\n$/u;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/;

/** The content of a certificate. */
export interface Rotation {
  /** `<log name>/<deployment id>/`: the prefix of the log's origins. */
  readonly prefix: string;
  /** Ordinal of the new key, from 2; the log's first key has ordinal 1. */
  readonly ordinal: number;
  /** Raw Ed25519 public keys, 32 bytes. */
  readonly oldKey: Uint8Array;
  readonly newKey: Uint8Array;
  /** ISO 8601, UTC. */
  readonly from: string;
  /** One line without control characters. */
  readonly reason: string;
}

/**
 * Certifies that a new key follows an old one. `from` is ISO 8601 in UTC, `ordinal` counts from 2.
 * @throws {RangeError} if {@link parseRotationCertificate} would refuse the certificate.
 */
export function formatRotationCertificate(
  crypto: Crypto,
  { prefix, ordinal, from, reason, old: oldSigner, new: newSigner }:
    & Pick<Rotation, "prefix" | "ordinal" | "from" | "reason">
    & { readonly old: Signer; readonly new: Signer },
): string {
  const name = `${prefix}keys`;
  const text = [
    name,
    `rotate ${ordinal}`,
    `old ${base64(oldSigner.publicKey)}`,
    `new ${base64(newSigner.publicKey)}`,
    `from ${from}`,
    `reason ${reason}`,
    "",
  ].join("\n");
  const certificate = signNote(crypto, { text, name }, [oldSigner, newSigner]);
  if (parseRotationCertificate(crypto, certificate) === null) {
    throw new RangeError(`no certificate says: ${JSON.stringify({ prefix, ordinal, from, reason })}`);
  }
  return certificate;
}

/**
 * The content of a certificate; null unless it is well-formed, both keys are sound and not the same, and both
 * of their signatures are good. The caller decides whether to trust either key.
 */
export function parseRotationCertificate(crypto: Crypto, note: string): Rotation | null {
  const signed = orNull(() => parseNote(note));
  const match = signed && TEXT.exec(signed.text);
  if (signed === null || match === null) return null;
  const [, name, ordinal, oldText, newText, from, reason] = match as unknown as RegExpFields;
  const split = splitName(name);
  if (split?.rest !== "keys" || !INSTANT.test(from) || Number.isNaN(Date.parse(from))) return null;
  const [oldKey, newKey] = [orNull(() => fromBase64(oldText)), orNull(() => fromBase64(newText))];
  if (oldKey === null || newKey === null || equalBytes(oldKey, newKey)) return null;
  const isGood = (publicKey: Uint8Array) =>
    isSoundPublicKey(publicKey) && verifyNote(crypto, signed, [{ name, publicKey }]) === "verified";
  if (!isGood(oldKey) || !isGood(newKey)) return null;
  return { prefix: split.prefix, ordinal: Number(ordinal), oldKey, newKey, from, reason };
}

type RegExpFields = readonly [string, string, string, string, string, string, string];
