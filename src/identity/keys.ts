/**
 * Public keys of passkeys, in the form in which they are stored: COSE, as the authenticator made them.
 * Source: RFC 9053, sections 2.1 and 7.1; RFC 8812, section 2; Web Authentication Level 3, section 6.5.1.1.
 */
import { PASSKEY_ALGORITHMS, type PasskeyAlgorithm, RS256_SIGNATURE_BYTES } from "../domain/passkey.ts";
import type * as webauthn from "./webauthn.ts";

/** Labels of a key's members. */
const LABEL = { type: 1, algorithm: 3, curve: -1, x: -2, y: -3, modulus: -1, exponent: -2 };
const ES256 = { type: 2, curve: 1, coordinateBytes: 32, members: 5 };
/** The authenticator of Windows makes keys of 2,048 bits. By one size the time of a refusal tells nothing. */
const RS256 = { type: 3, modulusBytes: RS256_SIGNATURE_BYTES, exponent: "010001", members: 4 };

/**
 * The algorithm of a key; null unless it is one of the two, by its type and its size as well as by its name, with no member
 * too many.
 */
export function algorithmOf(
  publicKey: Uint8Array<ArrayBuffer>,
  { isoCBOR }: Pick<typeof webauthn, "isoCBOR">,
): PasskeyAlgorithm | null {
  const key = decoded(publicKey, isoCBOR);
  if (!(key instanceof Map)) return null;
  const isBytes = (label: number, length: number) => {
    const value: unknown = key.get(label);
    return value instanceof Uint8Array && value.length === length ? value : null;
  };
  const isOf = (
    { type, members }: { readonly type: number; readonly members: number },
    name: PasskeyAlgorithm,
  ) =>
    key.size === members && key.get(LABEL.type) === type &&
    key.get(LABEL.algorithm) === PASSKEY_ALGORITHMS[name];
  if (isOf(ES256, "ES256")) {
    const isPoint = isBytes(LABEL.x, ES256.coordinateBytes) !== null &&
      isBytes(LABEL.y, ES256.coordinateBytes) !== null;
    return isPoint && key.get(LABEL.curve) === ES256.curve ? "ES256" : null;
  }
  if (!isOf(RS256, "RS256")) return null;
  const modulus = isBytes(LABEL.modulus, RS256.modulusBytes);
  const exponent = isBytes(LABEL.exponent, RS256.exponent.length / 2);
  return modulus !== null && modulus[0]! >= 0x80 && exponent?.toHex() === RS256.exponent ? "RS256" : null;
}

function decoded(bytes: Uint8Array<ArrayBuffer>, isoCBOR: typeof webauthn.isoCBOR): unknown {
  try {
    return isoCBOR.decodeFirst<unknown>(bytes);
  } catch {
    return null;
  }
}

/** The algorithm that a signature has the form of; null if it has none. */
export function algorithmOfSignature(signature: Uint8Array): PasskeyAlgorithm | null {
  if (signature.length === RS256_SIGNATURE_BYTES) return "RS256";
  return isPairOfIntegers(signature) ? "ES256" : null;
}

const DER = { sequence: 0x30, integer: 0x02 };

/** Whether it is two integers from 0 on in DER, which has one spelling for each. The package reads other spellings too. */
function isPairOfIntegers(bytes: Uint8Array): boolean {
  if (bytes[0] !== DER.sequence || bytes[1] !== bytes.length - 2) return false;
  return endOfInteger(bytes, endOfInteger(bytes, 2)) === bytes.length;
}

/** Index after the integer at an index; NaN if there is none. */
function endOfInteger(bytes: Uint8Array, at: number): number {
  const [tag, length = 0, first = 0x80, second = 0] = bytes.subarray(at, at + 4);
  const isLongest = length <= ES256.coordinateBytes + 1;
  const isShort = first !== 0 || length === 1 || second >= 0x80;
  return tag === DER.integer && length > 0 && isLongest && first < 0x80 && isShort ? at + 2 + length : NaN;
}

/**
 * Whether a signature of RS256 is a number below the key's modulus, as every right one is. One that is not would be refused
 * at once, and so tell how large the modulus is that it was compared with.
 */
export function isBelowModulus(
  signature: Uint8Array,
  publicKey: Uint8Array<ArrayBuffer>,
  { isoCBOR }: Pick<typeof webauthn, "isoCBOR">,
): boolean {
  const key = decoded(publicKey, isoCBOR);
  const modulus: unknown = key instanceof Map ? key.get(LABEL.modulus) : null;
  // Hexadecimal digits of one length sort as their numbers.
  return modulus instanceof Uint8Array && signature.toHex() < modulus.toHex();
}

/** A wrong signature of the algorithm's form, which takes as long to verify as any other. */
export const NO_SIGNATURE: Readonly<Record<PasskeyAlgorithm, Uint8Array<ArrayBuffer>>> = {
  ES256: Uint8Array.fromHex("3006020101020101"),
  // Below every modulus.
  RS256: new Uint8Array(RS256_SIGNATURE_BYTES).fill(0x55),
};

/**
 * Keys that nobody has: they were made once, and their private parts were thrown away. Signatures are verified by them
 * if no stored key fits, so that refusing takes as long.
 */
export const STAND_INS: Readonly<Record<PasskeyAlgorithm, Uint8Array<ArrayBuffer>>> = {
  ES256: key(
    "pQECAyYgASFYIMT2G0S69KJQWvgHfS3Sy3YP_Gx965K6YeObdL4bc41iIlggur9KuH3KmBOB1YgNjkQAHE-F85tZWdFj-GU0" +
      "ELGnxL4",
  ),
  RS256: key(
    "pAEDAzkBACBZAQDb6eak6YsXOkyXvVpJx0FPSFq6zRIuGM66kevENHjhPUGfszspnStmbnBh1uzrr8t264p80ZsYlxJYDiG1" +
      "p98Q5KCdbyu3kffKIFTBZ6q0-1kjuJZ0EekgvHOt4f3GLNMxGdDzLM-cJyIQOQfmr-0HkZaPUyqpeIv6RyzS05B_Sz5Kk8pF" +
      "Jb5doR5Fv4r9tRf6rvNkiDc2FrMMKFIPAdTPxRtMiAfecVJbkSlAB2E3YCh8Z3XRLCKnkjCfCW2t_lLdiQ32UiR-8uOxaTTD" +
      "iFXctMXXI8m4atsFH8FkFD8jU38vlt1LmijdeSdZKNut3YWmX96priCUuk5mRYsHMf05IUMBAAE",
  ),
};

function key(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromBase64(text, { alphabet: "base64url" });
}
