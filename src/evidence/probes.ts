/**
 * Sealed probes: cases with known truth that are put among live ones. What is on the chain about them, how the
 * truth of a probe is committed to before anybody sees it, and how the day's seed decides who is shown one.
 *
 * The seed is committed to at the start of a UTC day and opened after it. A draw is a pseudorandom function of
 * the operator and the session under it: nobody can draw until it suits, draws without a probe need no entry,
 * and afterwards an auditor computes every one of them anew. Source: evidence-format.md, section 11.
 */
import * as z from "zod";
import { hash32 } from "../domain/hash.ts";
import { DOMAINS, PROBE_STAKES } from "../domain/enums.ts";
import { operatorIdSchema, sessionIdSchema } from "../domain/interaction.ts";
import { canonicalJson } from "./canonical.ts";
import { concat, type Crypto, hex, utf8 } from "./crypto.ts";
import { timestampSchema } from "./entry.ts";

const dayText = z.iso.date();
const probeId = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/);
const stratum = { domain: z.enum(DOMAINS), stakes: z.enum(PROBE_STAKES) };

/** The most probes that may ever be shown for each case. Source: oversight loop, section 1. */
export const HIGHEST_SHARE_MAX = 0.1;

/** An organization's rule for its probes. */
export const probePolicySchema = z.strictObject({
  enabled: z.boolean(),
  /** Share of cases before which a probe is shown. */
  rate: z.number().min(0).max(HIGHEST_SHARE_MAX),
  /** The share while an operator has had fewer probes than `minimum`. */
  highest_share: z.number().min(0).max(HIGHEST_SHARE_MAX),
  /** Probes for each operator in {@link PROBE_WINDOW_DAYS} days. */
  minimum: z.int().min(0).max(1000),
  /** Minutes in which a probe must be decided after its draw. */
  ticket_minutes: z.int().min(5).max(1440),
});
export type ProbePolicy = z.infer<typeof probePolicySchema>;

/** The days before a draw's day in which an operator's decided probes are counted. */
export const PROBE_WINDOW_DAYS = 90;

/** The `detail` of each event about probes. */
export const PROBE_DETAILS = {
  PROBE_POLICY_CHANGED: probePolicySchema,
  PROBE_SEED_COMMITTED: z.strictObject({ day: dayText, commitment: hash32, policy: probePolicySchema }),
  PROBE_SEED_OPENED: z.strictObject({ day: dayText, seed: hash32 }),
  PROBE_SEALED: z.strictObject({ probe_id: probeId, ...stratum, commitment: hash32 }),
  /** A case before which a probe was due. `probe_id` is null if none of its stratum was left. */
  PROBE_DRAWN: z.strictObject({
    day: dayText,
    ...stratum,
    /** The share by which it was due. */
    share: z.number().min(0).max(1),
    /** How many probes of the stratum could be drawn. */
    stock: z.int().min(0),
    probe_id: probeId.nullable(),
  }),
  /** Follows PROBE_DRAWN: the only one of these events that names anybody. */
  PROBE_ASSIGNED: z.strictObject({
    operator_id: operatorIdSchema,
    /** The case before which the probe is shown. */
    session_id: sessionIdSchema,
    probe_id: probeId.nullable(),
    /** The session under which the probe itself is scored; null if no probe was left. */
    probe_session_id: sessionIdSchema.nullable(),
    expires_at: timestampSchema.nullable(),
  }).refine(({ probe_session_id, expires_at }) => (probe_session_id === null) === (expires_at === null)),
  /** Follows the score of the probe. */
  PROBE_OPENED: z.strictObject({
    probe_id: probeId,
    salt: hash32,
    ai_correct: z.boolean(),
    reference: z.string().nullable(),
  }),
  /** A probe that nobody decided: withdrawn, or shown and never decided. */
  PROBE_RECALLED: z.strictObject({
    probe_id: probeId,
    reason: z.enum(["request", "erasure", "restore"]),
    salt: hash32,
    ai_correct: z.boolean(),
    reference: z.string().nullable(),
  }),
  PROBE_LOST: z.strictObject({
    probe_id: probeId,
    salt: hash32,
    ai_correct: z.boolean(),
    reference: z.string().nullable(),
  }),
} as const;
export type ProbeEvent = keyof typeof PROBE_DETAILS;
export type ProbeDetail<Event extends ProbeEvent> = z.infer<(typeof PROBE_DETAILS)[Event]>;

/** A probe is drawn for a case of its own domain and stakes. */
export type Stratum = Pick<ProbeDetail<"PROBE_SEALED">, "domain" | "stakes">;

/** The part of a probe that stays hidden until it is decided, recalled or lost. */
export interface ProbeTruth {
  readonly probe_id: string;
  /** Whether the recommendation of the probe is right. */
  readonly ai_correct: boolean;
  /** The organization's name for the case; null if it gave none. */
  readonly reference: string | null;
}

/** SHA-256(`jis.probe/1\n` ‖ salt ‖ JCS of the truth), in hexadecimal; the salt has 32 bytes. */
export function probeCommitment(
  crypto: Crypto,
  salt: Uint8Array,
  { probe_id, ai_correct, reference }: ProbeTruth,
): string {
  const text = canonicalJson({ ai_correct, probe_id, reference });
  return hex(crypto.sha256(utf8("jis.probe/1\n"), salt, utf8(text)));
}

/** SHA-256(`jis.probe-seed/1\n` ‖ day ‖ `\n` ‖ seed), in hexadecimal; the seed has 32 bytes. */
export function seedCommitment(crypto: Crypto, day: string, seed: Uint8Array): string {
  return hex(crypto.sha256(utf8(`jis.probe-seed/1\n${day}\n`), seed));
}

/** The UTC day of an instant in epoch milliseconds, such as `2026-11-26`. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** A draw: two numbers that its seed, operator and session fix. */
export interface Draw {
  /** 0 to below 1: a probe is due if it is below the share. */
  readonly chance: number;
  /** 0 to below 1: the place of the probe among those of its stratum. */
  readonly place: number;
}

/** Bytes of each number of a draw: 48 bits, which a double holds exactly. */
const DRAW_BYTES = 6;
const DRAW_RANGE = 2 ** (8 * DRAW_BYTES);

/**
 * The draw of a session: HMAC-SHA256 (RFC 2104) under the seed, over `jis.probe-draw/1\n` ‖ JCS of
 * `[operator_id, session_id]`. Its first six bytes are `chance`, the next six `place`, both as a share of 2^48.
 */
export function drawOf(
  crypto: Crypto,
  seed: Uint8Array,
  { operatorId, sessionId }: { readonly operatorId: string; readonly sessionId: string },
): Draw {
  const word = hmac(crypto, seed, utf8(`jis.probe-draw/1\n${canonicalJson([operatorId, sessionId])}`));
  return { chance: fraction(word, 0), place: fraction(word, DRAW_BYTES) };
}

function fraction(bytes: Uint8Array, first: number): number {
  let value = 0;
  for (let at = first; at < first + DRAW_BYTES; at += 1) value = value * 256 + bytes[at]!;
  return value / DRAW_RANGE;
}

/** Block length of SHA-256, bytes. */
const BLOCK_LENGTH = 64;

/** HMAC-SHA256 under a key of at most a block; of {@link Crypto} alone, so that a browser can verify too. */
function hmac(crypto: Crypto, key: Uint8Array, text: Uint8Array): Uint8Array {
  const block = new Uint8Array(BLOCK_LENGTH);
  block.set(key);
  const inner = crypto.sha256(block.map((byte) => byte ^ 0x36), text);
  return crypto.sha256(concat(block.map((byte) => byte ^ 0x5c), inner));
}

/** The share of an operator on a day: the rate, or the highest share if that is more and too few probes were decided. */
export function shareOf({ rate, highest_share, minimum }: ProbePolicy, decided: number): number {
  return decided < minimum ? Math.max(rate, highest_share) : rate;
}

/** The place of the probe that a draw takes, in the order in which they were sealed: 0 to `stock` - 1. */
export function placeIn(stock: number, { place }: Draw): number {
  return Math.floor(place * stock);
}
