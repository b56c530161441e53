/**
 * An authenticator and its browser in software, which follow the standard to the byte and break any rule of it that a
 * test names. It is independent of the package that verifies: keys are of `node:crypto`, CBOR is written by hand.
 * Source: Web Authentication Level 3 (W3C), sections 5.8.1, 6.1 and 6.5; RFC 8949, section 3; RFC 9053, section 7.1.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import type {
  PasskeyAlgorithm,
  PasskeyAuthentication,
  PasskeyCreationOptions,
  PasskeyRegistration,
  PasskeyRequestOptions,
} from "../src/domain/passkey.ts";

export const FLAGS = {
  userPresent: 0x01,
  userVerified: 0x04,
  mayBeBackedUp: 0x08,
  isBackedUp: 0x10,
  hasKey: 0x40,
  hasExtensions: 0x80,
} as const;

const USUAL_FLAGS = FLAGS.userPresent | FLAGS.userVerified;

/** What differs from an honest answer. */
export interface Forgery {
  readonly type?: string;
  /** base64url. */
  readonly challenge?: string;
  readonly origin?: string;
  /** More members of the browser's data, or none of them by `undefined`. */
  readonly clientData?: Readonly<Record<string, unknown>>;
  /** The whole of the browser's data. */
  readonly clientDataBytes?: Uint8Array;
  readonly rpId?: string;
  /** Without {@link FLAGS.hasKey} and {@link FLAGS.hasExtensions}, which follow from the rest. */
  readonly flags?: number;
  /** The counter in place of the next. */
  readonly counter?: number;
  /** CBOR after the key. */
  readonly extensions?: Uint8Array;
  /** CBOR of the public key. */
  readonly publicKey?: Uint8Array;
  /** Id in the authenticator's data. */
  readonly attestedId?: Uint8Array;
  /** Bytes after the authenticator's data, which it has no room for. */
  readonly trailing?: Uint8Array;
  /** Format of a statement about the authenticator, and the CBOR of the statement. */
  readonly statement?: { readonly format: string; readonly cbor: Uint8Array };
  /** The whole attestation object. */
  readonly attestationObject?: Uint8Array;
  readonly transports?: readonly string[];
  readonly userHandle?: string;
  readonly signature?: Uint8Array;
  /** Signs with another key. */
  readonly privateKey?: KeyObject;
  /** Changes the signed bytes before they are signed. */
  readonly signed?: (bytes: Uint8Array) => Uint8Array;
}

export interface SoftwareCredential {
  readonly id: string;
  readonly userHandle: string;
  readonly algorithm: PasskeyAlgorithm;
  readonly privateKey: KeyObject;
  counter: number;
}

export interface AuthenticatorOptions {
  readonly algorithm?: PasskeyAlgorithm;
  /** Whether it counts uses; otherwise the counter stays 0. */
  readonly counts?: boolean;
}

/** An authenticator with one browser, whose page is at one origin. */
export class SoftwareAuthenticator {
  readonly credentials: SoftwareCredential[] = [];
  readonly #algorithm: PasskeyAlgorithm;
  readonly #counts: boolean;

  constructor(readonly origin: string, { algorithm = "ES256", counts = true }: AuthenticatorOptions = {}) {
    this.#algorithm = algorithm;
    this.#counts = counts;
  }

  /** Makes a passkey, as `navigator.credentials.create` does. */
  create(options: PasskeyCreationOptions, forgery: Forgery = {}): PasskeyRegistration {
    const { publicKey, privateKey } = keyPair(this.#algorithm);
    const idBytes = randomBytes(32);
    const credential: SoftwareCredential = {
      id: base64url(idBytes),
      userHandle: options.user.id,
      algorithm: this.#algorithm,
      privateKey,
      counter: 0,
    };
    this.credentials.push(credential);
    const attestedId = forgery.attestedId ?? idBytes;
    const data = concat(
      this.#fixedPart(options.rp.id, { ...forgery, counter: forgery.counter ?? 0 }, FLAGS.hasKey),
      new Uint8Array(16),
      Uint8Array.of(attestedId.length >> 8, attestedId.length & 0xff),
      attestedId,
      forgery.publicKey ?? coseKey(publicKey, this.#algorithm),
      forgery.extensions ?? new Uint8Array(),
      forgery.trailing ?? new Uint8Array(),
    );
    const { format, cbor } = forgery.statement ?? { format: "none", cbor: cborMap([]) };
    const object = cborMap([
      [cborText("fmt"), cborText(format)],
      [cborText("attStmt"), cbor],
      [cborText("authData"), cborBytes(data)],
    ]);
    return {
      id: credential.id,
      type: "public-key",
      response: {
        clientDataJSON: base64url(this.#clientData("webauthn.create", options.challenge, forgery)),
        attestationObject: base64url(forgery.attestationObject ?? object),
        transports: [...forgery.transports ?? ["internal"]],
      },
    };
  }

  /** Signs in with a credential, the first by default, as `navigator.credentials.get` does. */
  get(
    options: PasskeyRequestOptions,
    forgery: Forgery = {},
    credential: SoftwareCredential = this.credentials[0]!,
  ): PasskeyAuthentication {
    if (this.#counts) credential.counter += 1;
    const data = concat(
      this.#fixedPart(options.rpId, { ...forgery, counter: forgery.counter ?? credential.counter }, 0),
      forgery.extensions ?? new Uint8Array(),
      forgery.trailing ?? new Uint8Array(),
    );
    const clientData = this.#clientData("webauthn.get", options.challenge, forgery);
    const signed = concat(data, sha256(clientData));
    const key = forgery.privateKey ?? credential.privateKey;
    const signature = forgery.signature ??
      sign("sha256", (forgery.signed ?? ((bytes) => bytes))(signed), key);
    return {
      id: credential.id,
      type: "public-key",
      response: {
        clientDataJSON: base64url(clientData),
        authenticatorData: base64url(data),
        signature: base64url(signature),
        userHandle: forgery.userHandle ?? credential.userHandle,
      },
    };
  }

  #clientData(
    usualType: string,
    usualChallenge: string,
    { type, challenge, origin, clientData, clientDataBytes }: Forgery,
  ): Uint8Array {
    return clientDataBytes ?? utf8(JSON.stringify({
      type: type ?? usualType,
      challenge: challenge ?? usualChallenge,
      origin: origin ?? this.origin,
      crossOrigin: false,
      ...clientData,
    }));
  }

  #fixedPart(usualRpId: string, { rpId, flags, counter, extensions }: Forgery, more: number): Uint8Array {
    const part = new Uint8Array(37);
    part.set(sha256(utf8(rpId ?? usualRpId)));
    part[32] = (flags ?? USUAL_FLAGS) | more | (extensions === undefined ? 0 : FLAGS.hasExtensions);
    new DataView(part.buffer).setUint32(33, counter!);
    return part;
  }
}

// ---- keys -------------------------------------------------------------------------------------------------

export interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

export function keyPair(algorithm: PasskeyAlgorithm): KeyPair {
  return algorithm === "ES256"
    ? generateKeyPairSync("ec", { namedCurve: "P-256" })
    : generateKeyPairSync("rsa", { modulusLength: 2048 });
}

/** A label or number, and what COSE has for it. */
export type CoseMember = readonly [label: number, value: number | Uint8Array];

/** The members of a public key as COSE has them. */
export function coseMembers(publicKey: KeyObject, algorithm: PasskeyAlgorithm): readonly CoseMember[] {
  const jwk = publicKey.export({ format: "jwk" });
  const bytes = (text: string | undefined) => Uint8Array.fromBase64(text!, { alphabet: "base64url" });
  return algorithm === "ES256"
    ? [[1, 2], [3, -7], [-1, 1], [-2, bytes(jwk.x)], [-3, bytes(jwk.y)]]
    : [[1, 3], [3, -257], [-1, bytes(jwk.n)], [-2, bytes(jwk.e)]];
}

export function coseKey(publicKey: KeyObject, algorithm: PasskeyAlgorithm): Uint8Array {
  return coseBytes(coseMembers(publicKey, algorithm));
}

export function coseBytes(members: readonly CoseMember[]): Uint8Array {
  return cborMap(
    members.map(([label, value]) => [
      cborInteger(label),
      typeof value === "number" ? cborInteger(value) : cborBytes(value),
    ]),
  );
}

// ---- CBOR -------------------------------------------------------------------------------------------------

const MAJOR = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5 } as const;

function cborHead(major: number, argument: number): Uint8Array {
  const type = major << 5;
  if (argument < 24) return Uint8Array.of(type | argument);
  if (argument < 0x100) return Uint8Array.of(type | 24, argument);
  return Uint8Array.of(type | 25, argument >> 8, argument & 0xff);
}

/** An integer from -65,536 to 65,535. */
export function cborInteger(value: number): Uint8Array {
  return value < 0 ? cborHead(MAJOR.negative, -1 - value) : cborHead(MAJOR.unsigned, value);
}

export function cborBytes(bytes: Uint8Array): Uint8Array {
  return concat(cborHead(MAJOR.bytes, bytes.length), bytes);
}

export function cborText(text: string): Uint8Array {
  const bytes = utf8(text);
  return concat(cborHead(MAJOR.text, bytes.length), bytes);
}

export function cborArray(items: readonly Uint8Array[]): Uint8Array {
  return concat(cborHead(MAJOR.array, items.length), ...items);
}

export function cborMap(pairs: readonly (readonly [key: Uint8Array, value: Uint8Array])[]): Uint8Array {
  return concat(cborHead(MAJOR.map, pairs.length), ...pairs.flat());
}

// ---- bytes ------------------------------------------------------------------------------------------------

export function concat(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export function base64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}
