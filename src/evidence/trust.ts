/**
 * The keys that an auditor trusts: pinned keys, which are read from any form in which keys are published, and
 * keys that rotation certificates join to them.
 *
 * Messages are for an auditor who does not program. They never hold any of the text that was read.
 */
import * as z from "zod";
import { canonicalJson } from "./canonical.ts";
import { splitName } from "./chain_name.ts";
import { base64, type Crypto, equalBytes, fromBase64, fromHex, hex, utf8 } from "./crypto.ts";
import { KEY_LIMIT } from "./limits.ts";
import { isSoundPublicKey, parseVerifierKey, type VerifierKey } from "./note.ts";
import { orNull } from "./or_null.ts";
import { parseRotationCertificate, type Rotation } from "./rotation.ts";

/** A key that the auditor trusts from the start. */
export interface PinnedKey {
  /** Raw Ed25519 public key, 32 bytes. */
  readonly publicKey: Uint8Array;
  /** Prefix of the only log for which it is trusted, `<log name>/<deployment id>/`; null if for any log. */
  readonly prefix: string | null;
  /** First and last size of `sys` that it may sign; null if not stated. */
  readonly from: number | null;
  readonly until: number | null;
}

export type KeyRange = Pick<PinnedKey, "from" | "until">;

// ---- forms of a public key --------------------------------------------------------------------------------

/** DER of a SubjectPublicKeyInfo for Ed25519, up to the 32 key bytes (RFC 8410). */
const SPKI_PREFIX = fromHex("302a300506032b6570032100");

/** `SHA256:` and the base64 of the SHA-256 of the raw public key, without padding: for people to compare. */
export function fingerprint(crypto: Crypto, publicKey: Uint8Array): string {
  return `SHA256:${base64(crypto.sha256(publicKey)).replace(/=+$/, "")}`;
}

/** A JWK (RFC 8037) named by its RFC 7638 thumbprint, with the sizes of `sys` that the key may sign. */
export function jwkOf(
  crypto: Crypto,
  { publicKey, from, until }: Pick<PinnedKey, "publicKey" | "from" | "until">,
): Record<string, unknown> {
  const required = { crv: "Ed25519", kty: "OKP", x: base64Url(publicKey) };
  return {
    ...required,
    use: "sig",
    alg: "EdDSA",
    kid: base64Url(crypto.sha256(utf8(canonicalJson(required)))),
    "x-jiss-from": from,
    "x-jiss-until": until,
  };
}

function base64Url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

// ---- pins -------------------------------------------------------------------------------------------------

/**
 * Reads the keys that an auditor pins: PEM public keys, a JWKS or a single JWK, or verifier keys, one a line.
 * @throws {SyntaxError} if the text is none of these, or holds a private key or a key that must not be
 * trusted.
 */
export function parsePins(crypto: Crypto, text: string): readonly PinnedKey[] {
  const trimmed = text.replaceAll("\r\n", "\n").trim();
  if (holdsPrivateKey(trimmed)) throw privateKeyError();
  if (trimmed.includes("-----BEGIN")) return pemPins(trimmed);
  if (trimmed.startsWith("{")) return jwkPins(trimmed);
  return verifierKeyPins(crypto, trimmed);
}

function holdsPrivateKey(text: string): boolean {
  return /-----BEGIN [^-\n]*PRIVATE KEY/.test(text) || text.includes("PRIVATE+KEY+");
}

function privateKeyError(): SyntaxError {
  return new SyntaxError(
    "This is a private key, which must stay with the service. Pin its public key instead: /.well-known/jwks.json of the service has it.",
  );
}

function pin(publicKey: Uint8Array, fields: Partial<PinnedKey> = {}): PinnedKey {
  if (!isSoundPublicKey(publicKey)) {
    throw new SyntaxError(
      "A key in it is not a sound Ed25519 public key: signatures of anybody would pass for its own. Get the key again from the service's administrator.",
    );
  }
  return { publicKey, prefix: null, from: null, until: null, ...fields };
}

function pemPins(text: string): readonly PinnedKey[] {
  const blocks = [...text.matchAll(/-----BEGIN ([^-\n]+)-----\n([A-Za-z0-9+/=\s]*)-----END \1-----/g)];
  if (blocks.length !== text.split("-----BEGIN").length - 1) {
    throw new SyntaxError("A PEM key in it is cut off or damaged: get the file again.");
  }
  return blocks.map(([, label, body]) => {
    if (label !== "PUBLIC KEY") {
      throw new SyntaxError(
        "It holds PEM that is not a public key: the first line must be -----BEGIN PUBLIC KEY-----.",
      );
    }
    const der = orNull(() => fromBase64(body!.replace(/\s/g, "")));
    if (der?.length !== 44 || !equalBytes(der.slice(0, 12), SPKI_PREFIX)) {
      throw new SyntaxError(
        "A PEM key in it is not an Ed25519 public key, the only kind that signs evidence.",
      );
    }
    return pin(der.slice(12));
  });
}

const sysSize = z.int().min(0).nullish();
const jwkSchema = z.object({
  kty: z.literal("OKP"),
  crv: z.literal("Ed25519"),
  x: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  "x-jiss-from": sysSize,
  "x-jiss-until": sysSize,
}).refine((key) => (key["x-jiss-from"] ?? 0) <= (key["x-jiss-until"] ?? Infinity));
const jwksSchema = z.object({ keys: z.array(z.record(z.string(), z.unknown())) });

/** Members of a JWK that hold secrets, of any kind of key. */
const SECRET_MEMBERS = ["d", "k", "p", "q", "dp", "dq", "qi", "oth", "priv"];

function jwkPins(text: string): readonly PinnedKey[] {
  const parsed: Record<string, unknown> | null = orNull(() => JSON.parse(text));
  if (parsed === null) {
    throw new SyntaxError(
      "It begins like JSON but is none: save /.well-known/jwks.json of the service again.",
    );
  }
  const set = jwksSchema.safeParse(parsed);
  const keys = set.success ? set.data.keys : [parsed];
  if (keys.some((key) => SECRET_MEMBERS.some((name) => Object.hasOwn(key, name)))) throw privateKeyError();
  // Keys of other kinds are ignored, as RFC 7517, section 5, says.
  const own = keys.filter(({ kty, crv }) => kty === "OKP" && crv === "Ed25519");
  if (own.length === 0) {
    throw new SyntaxError('It holds no Ed25519 key: a JWKS has keys with "kty":"OKP" and "crv":"Ed25519".');
  }
  return own.map(jwkPin);
}

function jwkPin(key: unknown): PinnedKey {
  const parsed = jwkSchema.safeParse(key);
  const publicKey = parsed.success ? orNull(() => fromBase64Url(parsed.data.x)) : null;
  if (!parsed.success || publicKey === null) {
    throw new SyntaxError(
      "A key in its JSON is damaged: x must be 43 characters of base64url, x-jiss-from and x-jiss-until whole numbers or null.",
    );
  }
  const { "x-jiss-from": from = null, "x-jiss-until": until = null } = parsed.data;
  return pin(publicKey, { from, until });
}

function fromBase64Url(text: string): Uint8Array {
  const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
  if (base64Url(bytes) !== text) throw new SyntaxError("not canonical base64url");
  return bytes;
}

function verifierKeyPins(crypto: Crypto, text: string): readonly PinnedKey[] {
  if (text === "") throw new SyntaxError("It is empty: it must hold the service's public key.");
  const lines = text.split("\n").map((line) => line.trim());
  return lines.flatMap((line, at) => line === "" ? [] : [verifierKeyPin(crypto, line, at + 1)]);
}

function verifierKeyPin(crypto: Crypto, line: string, number: number): PinnedKey {
  const key = orNull(() => parseVerifierKey(crypto, line));
  if (key === null) {
    throw new SyntaxError(
      `Line ${number} is no public key, or not a whole one: it must be a PEM public key, a JWKS, or a verifier key on one line, name+8 hexadecimal digits+base64.`,
    );
  }
  const name = splitName(key.name);
  if (name === null) {
    throw new SyntaxError(
      `The key in line ${number} is not for a chain of this service: its name must be like jiss.local/01JCR5Z8K0X7V3T2M9QWERTY02/sys.`,
    );
  }
  return pin(key.publicKey, { prefix: name.prefix });
}

// ---- trust ------------------------------------------------------------------------------------------------

/**
 * The keys that an auditor trusts for one log: its pins, their successors by certificate, and the
 * predecessors of any of these. If a key is trusted only as a predecessor, or a pin says that it was retired,
 * its successors are not trusted: anybody who holds it can sign any certificate. The set grows while a file
 * is read; the order of certificates does not matter.
 */
export class TrustedKeys {
  readonly #crypto: Crypto;
  readonly #prefix: string;
  readonly #pins: readonly PinnedKey[];
  readonly #trusted = new Map<string, Uint8Array>();
  /** Keys whose successors are trusted, in hexadecimal: pins that are not retired, and their successors. */
  readonly #handing = new Set<string>();
  /** Valid certificates of this log, by the old key and by the new key, in hexadecimal. */
  readonly #byOld = new Map<string, Rotation[]>();
  readonly #byNew = new Map<string, Rotation[]>();
  #rotations = 0;

  /** `prefix` is the log's, `<log name>/<deployment id>/`; pins for another log do not count. */
  constructor(
    crypto: Crypto,
    { pins, prefix }: { readonly pins: readonly PinnedKey[]; readonly prefix: string },
  ) {
    this.#crypto = crypto;
    this.#prefix = prefix;
    this.#pins = pins.filter((key) => key.prefix === null || key.prefix === prefix);
    for (const { publicKey, until } of this.#pins) {
      this.#trust(publicKey);
      // A pin that states a last size is of a retired key.
      if (until === null) this.#handing.add(hex(publicKey));
    }
  }

  /**
   * Adds a certificate; one that is not valid, or is of another log, changes nothing.
   * @returns false if there are too many certificates.
   */
  admit(certificateNote: string): boolean {
    const rotation = parseRotationCertificate(this.#crypto, certificateNote);
    return rotation === null || this.add(rotation);
  }

  /** Adds a parsed certificate. @returns false if there are too many certificates. */
  add(rotation: Rotation): boolean {
    if (rotation.prefix !== this.#prefix) return true;
    const [oldName, newName] = [hex(rotation.oldKey), hex(rotation.newKey)];
    const ofOld = this.#byOld.get(oldName) ?? [];
    if (ofOld.some(({ newKey }) => equalBytes(newKey, rotation.newKey))) return true;
    if (this.#rotations >= KEY_LIMIT) return false;
    this.#rotations += 1;
    this.#byOld.set(oldName, [...ofOld, rotation]);
    this.#byNew.set(newName, [...this.#byNew.get(newName) ?? [], rotation]);
    this.#spread([oldName, newName]);
    return true;
  }

  /** Follows the certificates of these keys, and of each key whose trust changes, until nothing changes. */
  #spread(names: readonly string[]): void {
    const waiting = [...names];
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      for (const { oldKey } of this.#trusted.has(name) ? this.#byNew.get(name) ?? [] : []) {
        if (this.#trust(oldKey)) waiting.push(hex(oldKey));
      }
      for (const { newKey } of this.#handing.has(name) ? this.#byOld.get(name) ?? [] : []) {
        const next = hex(newKey);
        const isNew = this.#trust(newKey) || !this.#handing.has(next);
        this.#handing.add(next);
        if (isNew) waiting.push(next);
      }
    }
  }

  has(publicKey: Uint8Array): boolean {
    return this.#trusted.has(hex(publicKey));
  }

  /** Whether a key is a pin in use, or a successor of one: its signatures need no further proof. */
  isCurrent(publicKey: Uint8Array): boolean {
    return this.#handing.has(hex(publicKey));
  }

  /** The current keys of which any of these is the successor by certificate. */
  supersededBy(publicKeys: readonly Uint8Array[]): readonly Uint8Array[] {
    return [...new Set(publicKeys.map(hex))].flatMap((name) => this.#byNew.get(name) ?? [])
      .map(({ oldKey }) => oldKey).filter((oldKey) => this.isCurrent(oldKey));
  }

  /** The trusted keys, named as they sign for an origin; none if the origin is of another log. */
  verifierKeys(origin: string): readonly VerifierKey[] {
    if (splitName(origin)?.prefix !== this.#prefix) return [];
    return [...this.#trusted.values()].map((publicKey) => ({ name: origin, publicKey }));
  }

  /** First and last size of `sys` that a key may sign: the narrowest range of its pins; null if not given. */
  rangeOf(publicKey: Uint8Array): KeyRange {
    const pins = this.#pins.filter((key) => equalBytes(key.publicKey, publicKey));
    return {
      from: narrowest(pins.map(({ from }) => from), Math.max),
      until: narrowest(pins.map(({ until }) => until), Math.min),
    };
  }

  /** The number of trusted keys; it only grows. */
  get size(): number {
    return this.#trusted.size;
  }

  /** Adds a key. True if it was not trusted before. */
  #trust(publicKey: Uint8Array): boolean {
    const name = hex(publicKey);
    if (this.#trusted.has(name)) return false;
    this.#trusted.set(name, publicKey);
    return true;
  }
}

function narrowest(sizes: readonly (number | null)[], choose: (...sizes: number[]) => number): number | null {
  const stated = sizes.filter((size) => size !== null);
  return stated.length === 0 ? null : choose(...stated);
}
