/**
 * Signed notes and checkpoints: C2SP signed-note and tlog-checkpoint, Ed25519 only.
 *
 * A checkpoint is three lines, each ended by a line feed: origin, tree size, base64 root. A signature line is
 * `— name base64(keyID[4] ‖ signature)`. Signatures by unknown keys are ignored; a bad signature by a known
 * key makes the note bad.
 */
import {
  base64,
  concat,
  type Crypto,
  equalBytes,
  fromBase64,
  fromHex,
  hex,
  type Signer,
  utf8,
} from "./crypto.ts";
import { NOTE_LIMIT } from "./limits.ts";

const ED25519 = 0x01;
/** The most signature lines that are read; C2SP asks for at least 16. */
const SIGNATURE_LIMIT = 32;

/** A public key with the name under which it signs. */
export interface VerifierKey {
  readonly name: string;
  /** Raw Ed25519 public key, 32 bytes. */
  readonly publicKey: Uint8Array;
}

export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
}

interface SignatureLine {
  readonly name: string;
  readonly keyId: Uint8Array;
  readonly signature: Uint8Array;
}

export interface Note {
  /** The signed text, its last line feed included. */
  readonly text: string;
  readonly signatures: readonly SignatureLine[];
}

/** First four bytes of SHA-256(name ‖ 0x0A ‖ 0x01 ‖ public key). */
export function keyId(crypto: Crypto, { name, publicKey }: VerifierKey): Uint8Array {
  return crypto.sha256(utf8(`${name}\n`), Uint8Array.of(ED25519), publicKey).slice(0, 4);
}

/** `name+hex(key id)+base64(0x01 ‖ public key)`: the form in which a key is pinned. */
export function formatVerifierKey(crypto: Crypto, key: VerifierKey): string {
  return `${key.name}+${hex(keyId(crypto, key))}+${base64(concat(Uint8Array.of(ED25519), key.publicKey))}`;
}

/**
 * Encodings of the eight points of small order: for such a key a signature can be made that verifies over any
 * message, so it must never be trusted.
 */
const SMALL_ORDER = [
  "0100000000000000000000000000000000000000000000000000000000000000",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "0000000000000000000000000000000000000000000000000000000000000080",
  "0000000000000000000000000000000000000000000000000000000000000000",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
];

/** Whether the y coordinate (little-endian, without the sign bit) is below 2^255 − 19, and so canonical. */
function isCanonicalY(publicKey: Uint8Array): boolean {
  if ((publicKey[31]! & 0x7f) !== 0x7f) return true;
  for (let i = 30; i >= 1; i -= 1) if (publicKey[i] !== 0xff) return true;
  return publicKey[0]! < 0xed;
}

/** Whether a public key may be trusted at all: 32 bytes, canonical, not of small order. */
export function isSoundPublicKey(publicKey: Uint8Array): boolean {
  return publicKey.length === 32 && isCanonicalY(publicKey) && !SMALL_ORDER.includes(hex(publicKey)) &&
    !SMALL_ORDER.includes(hex(withoutSign(publicKey)));
}

function withoutSign(publicKey: Uint8Array): Uint8Array {
  const copy = publicKey.slice();
  copy[31]! &= 0x7f;
  return copy;
}

/**
 * Reads a pinned key.
 * @throws {SyntaxError} if the text is not a verifier key, its id does not fit, or the key is not sound.
 */
export function parseVerifierKey(crypto: Crypto, text: string): VerifierKey {
  const match = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text);
  if (match === null) throw new SyntaxError("not a verifier key");
  const [, name, id, encoded] = match;
  const bytes = fromBase64(encoded!);
  const key = { name: name!, publicKey: bytes.slice(1) };
  if (bytes[0] !== ED25519 || !isSoundPublicKey(key.publicKey)) {
    throw new SyntaxError("not a sound Ed25519 key");
  }
  if (!equalBytes(keyId(crypto, key), fromHex(id!))) throw new SyntaxError("the key id does not fit the key");
  return key;
}

export function formatCheckpoint({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${base64(root)}\n`;
}

/**
 * Reads a checkpoint.
 * @throws {SyntaxError} if the text is not exactly a checkpoint without extension lines.
 */
export function parseCheckpoint(text: string): Checkpoint {
  const lines = text.split("\n");
  if (lines.length !== 4 || lines[3] !== "") throw new SyntaxError("a checkpoint has three lines");
  const [origin, size, root] = lines as [string, string, string, string];
  if (origin === "") throw new SyntaxError("a checkpoint without origin");
  if (!/^(?:0|[1-9][0-9]{0,15})$/.test(size) || !Number.isSafeInteger(Number(size))) {
    throw new SyntaxError("a checkpoint's size is a decimal number");
  }
  const bytes = fromBase64(root);
  if (bytes.length !== 32) throw new SyntaxError("a checkpoint's root has 32 bytes");
  return { origin, size: Number(size), root: bytes };
}

/** Signs a text as `name` with each signer, in their order. */
export function signNote(
  crypto: Crypto,
  { text, name }: { readonly text: string; readonly name: string },
  signers: readonly Signer[],
): string {
  const message = utf8(text);
  const signatures = signers.map((signer) => ({
    name,
    keyId: keyId(crypto, { name, publicKey: signer.publicKey }),
    signature: signer.sign(message),
  }));
  return formatNote({ text, signatures });
}

/** The note with its signature lines in their order. */
export function formatNote({ text, signatures }: Note): string {
  const lines = signatures.map(({ name, keyId, signature }) =>
    `— ${name} ${base64(concat(keyId, signature))}\n`
  );
  return `${text}\n${lines.join("")}`;
}

/** Reads a signed note. @throws {SyntaxError} if the text is not a signed note. */
export function parseNote(note: string): Note {
  if (note.length > NOTE_LIMIT) throw new SyntaxError("a note is too long");
  const end = note.lastIndexOf("\n\n");
  if (end < 0 || !note.endsWith("\n")) throw new SyntaxError("not a signed note");
  const lines = note.slice(end + 2).split("\n").slice(0, -1);
  if (lines.length === 0 || lines.length > SIGNATURE_LIMIT) {
    throw new SyntaxError("a note has 1 to 32 signatures");
  }
  const signatures = lines.map((line) => {
    const match = /^— ([^\s+]+) ([A-Za-z0-9+/=]+)$/.exec(line);
    if (match === null) throw new SyntaxError("not a signature line");
    const bytes = fromBase64(match[2]!);
    if (bytes.length < 5) throw new SyntaxError("a signature line is too short");
    return { name: match[1]!, keyId: bytes.slice(0, 4), signature: bytes.slice(4) };
  });
  return { text: note.slice(0, end + 1), signatures };
}

/** Each signature once: a note can hold one many times, and to check one takes long. */
export function distinct(signatures: Note["signatures"]): Note["signatures"] {
  if (signatures.length === 1) return signatures;
  return [
    ...new Map(
      signatures.map((line) => [`${line.name} ${hex(line.keyId)} ${hex(line.signature)}`, line]),
    ).values(),
  ];
}

export type NoteVerdict = "verified" | "bad_signature" | "untrusted_key";

/** Checks a note with trusted keys: one good signature is needed, and none by a known key may be bad. */
export function verifyNote(crypto: Crypto, note: Note, keys: readonly VerifierKey[]): NoteVerdict {
  const message = utf8(note.text);
  let verdict: NoteVerdict = "untrusted_key";
  for (const { name, keyId: id, signature } of distinct(note.signatures)) {
    const key = keys.find((known) => known.name === name && equalBytes(keyId(crypto, known), id));
    if (key === undefined) continue;
    if (!crypto.verifyEd25519(key.publicKey, message, signature)) return "bad_signature";
    verdict = "verified";
  }
  return verdict;
}
