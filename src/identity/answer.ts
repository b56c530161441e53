/** The parts that the answers of both ceremonies share, and their checks. Each check throws its own refusal. */
import { createHash } from "node:crypto";
import * as z from "zod";
import { PasskeyRefusal } from "./passkey_refusal.ts";

/** The values that an answer must fit. */
export interface Expected {
  /** The random bytes of the options. Whoever keeps them must let each be used once. */
  readonly challenge: Uint8Array;
  readonly origin: string;
  readonly rpId: string;
}

/**
 * The answer in the form of the schema.
 * @throws {PasskeyRefusal} malformed
 */
export function parseAnswer<Schema extends z.ZodType>(schema: Schema, answer: unknown): z.output<Schema> {
  const parsed = schema.safeParse(answer);
  if (!parsed.success) throw new PasskeyRefusal("malformed");
  return parsed.data;
}

/** Bytes as base64url without padding. */
export function toBase64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/**
 * The bytes of base64url. Each has one spelling.
 * @throws {PasskeyRefusal} malformed
 */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  try {
    const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
    if (toBase64url(bytes) === text) return bytes;
  } catch {
    // It is refused below.
  }
  throw new PasskeyRefusal("malformed");
}

// ---- what the browser says --------------------------------------------------------------------------------

const clientDataSchema = z.object({
  type: z.string(),
  challenge: z.string(),
  origin: z.string(),
  crossOrigin: z.boolean().optional(),
  topOrigin: z.string().optional(),
});

/**
 * Checks what the browser says about its page and the question.
 * @throws {PasskeyRefusal}
 */
export function checkClientData(
  clientDataJSON: string,
  { type, challenge, origin }: Expected & { readonly type: "webauthn.create" | "webauthn.get" },
): void {
  const said = parseAnswer(clientDataSchema, jsonOf(bytesOf(clientDataJSON)));
  if (said.type !== type) throw new PasskeyRefusal("wrong_ceremony");
  if (said.challenge !== toBase64url(challenge)) throw new PasskeyRefusal("wrong_challenge");
  if (said.origin !== origin) throw new PasskeyRefusal("wrong_origin");
  if (said.crossOrigin === true || said.topOrigin !== undefined) throw new PasskeyRefusal("in_frame");
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new PasskeyRefusal("malformed");
  }
}

// ---- what the authenticator says --------------------------------------------------------------------------

const RP_ID_HASH_BYTES = 32;
/** Hash of the name, flags, and a counter of four bytes. */
const FIXED_BYTES = RP_ID_HASH_BYTES + 1 + 4;
const FLAGS = { userPresent: 0x01, userVerified: 0x04, mayBeBackedUp: 0x08, isBackedUp: 0x10 };

export interface AuthenticatorState {
  /** Counts the uses of the passkey; many authenticators leave it at 0. */
  readonly counter: number;
  /** Whether the passkey is kept in more than one place, such as an account of its maker. */
  readonly backedUp: boolean;
}

/**
 * Checks the fixed part of the authenticator's data, and returns its state.
 * @throws {PasskeyRefusal}
 */
export function checkAuthenticatorData(data: Uint8Array, { rpId }: Expected): AuthenticatorState {
  if (data.length < FIXED_BYTES) throw new PasskeyRefusal("malformed");
  const hash = createHash("sha256").update(rpId).digest("hex");
  if (data.subarray(0, RP_ID_HASH_BYTES).toHex() !== hash) throw new PasskeyRefusal("wrong_relying_party");
  const flags = data[RP_ID_HASH_BYTES]!;
  const has = (flag: number) => (flags & flag) !== 0;
  if (!has(FLAGS.userPresent) || !has(FLAGS.userVerified)) throw new PasskeyRefusal("user_not_verified");
  if (has(FLAGS.isBackedUp) && !has(FLAGS.mayBeBackedUp)) throw new PasskeyRefusal("malformed");
  const counter = new DataView(data.buffer, data.byteOffset).getUint32(RP_ID_HASH_BYTES + 1);
  return { counter, backedUp: has(FLAGS.isBackedUp) };
}
