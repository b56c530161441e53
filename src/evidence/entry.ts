/**
 * An entry of a chain: its hashed form, and how an entry and its parts are made from an event.
 *
 * An entry holds commitments, never personal data: operator and session ids stand in parts, which can be
 * destroyed while the entry stays. Source: evidence design, section 4.
 */
import * as z from "zod";
import { hash32 } from "../domain/hash.ts";
import { canonicalJson } from "./canonical.ts";
import { type Crypto, hex, utf8 } from "./crypto.ts";
import { entryHash, genesisPrevious, PART_NAMES, partCommitment, type PartName } from "./hashes.ts";
import { appendLeaf, EMPTY_FRONTIER, type Frontier, type TreeNode } from "./merkle.ts";

const ENTRY_VERSION = "jis.audit/1";
/** Version of an entry for what a user did: it has the user's id besides. */
const USER_ENTRY_VERSION = "jis.audit/2";
export const ENTRY_VERSIONS = [ENTRY_VERSION, USER_ENTRY_VERSION] as const;

/** Hard cap on an entry's canonical text, in bytes. */
const ENTRY_LIMIT_BYTES = 4096;

export const ACTORS = ["api", "self_serve", "payment-worker", "admin-worker", "system", "user"] as const;
export type Actor = (typeof ACTORS)[number];

/** A user's id: random, so that it names nobody once the user's row is erased. */
export const USER_ID = /^usr_[0-9A-HJKMNP-TV-Z]{26}$/;

/** Whether an entry's version, actor and user's id belong together. */
export function isSignedConsistently(
  { v, actor, user_id }: { readonly v: unknown; readonly actor: unknown; readonly user_id?: unknown },
): boolean {
  return v === USER_ENTRY_VERSION
    ? actor === "user" && typeof user_id === "string" && USER_ID.test(user_id)
    : v === ENTRY_VERSION && actor !== "user" && user_id === undefined;
}

/** ISO 8601 UTC with milliseconds, exactly 24 characters, so that byte order is time order. */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Whether a text is an instant in the one form that entries use, on a day that exists. */
export function isTimestamp(text: string): boolean {
  if (!TIMESTAMP.test(text)) return false;
  const at = new Date(text);
  return !Number.isNaN(at.getTime()) && at.toISOString() === text;
}

/** A timestamp, a text in clients too: parsing it and writing it again may change the hashed bytes. */
export const timestampSchema = z.string().refine(isTimestamp, "must be an instant").meta({
  override: { pattern: TIMESTAMP.source },
});

/** An entry: twelve members, and the user's id if a user made it. */
export const entrySchema = z.strictObject({
  actor: z.enum(ACTORS),
  chain: z.string(),
  commit: z.partialRecord(z.enum(PART_NAMES), hash32),
  event_type: z.string(),
  id: z.string(),
  org_id: z.string().nullable(),
  prefix: z.string().nullable(),
  prev: hash32,
  seq: z.int().min(0),
  subject: z.string().regex(/^[0-9a-f]{32}$/).nullable(),
  timestamp: timestampSchema,
  user_id: z.string().regex(USER_ID).optional().meta({
    description: "The user who made the entry, if its actor is `user`: then `v` is `jis.audit/2`.",
  }),
  v: z.enum(ENTRY_VERSIONS),
}).refine(isSignedConsistently, "must have a user_id if, and only if, its actor is user").meta({
  id: "EvidenceEntry",
  description: "A chain entry: SHA-256(0x00 ‖ its canonical JSON) is entry_hash.",
});

export type Entry = z.infer<typeof entrySchema>;

/** A part in the form that the commitment covers: its canonical text and the salt that hides it. */
export interface Part {
  readonly name: PartName;
  /** 32 random bytes. */
  readonly salt: Uint8Array;
  readonly text: string;
}

/**
 * An event before it has a place in a chain. It stays the same over retries: only the place is computed anew.
 */
export interface EntryDraft {
  /** ULID, the audit identifier. */
  readonly id: string;
  readonly actor: Actor;
  readonly eventType: string;
  readonly orgId: string | null;
  /** First 8 characters of the key that was used. */
  readonly prefix: string | null;
  /** The user's id if the actor is a user; absent otherwise. */
  readonly userId?: string;
  /** Pseudonym of the operator, 32 hexadecimal digits. */
  readonly subject: string | null;
  /** Epoch milliseconds. If the chain's last timestamp is later, the entry gets that one. */
  readonly at: number;
  readonly parts: readonly Part[];
}

/** The end of a chain: all the data needed to append an entry. */
export interface ChainHead {
  readonly chain: string;
  readonly origin: string;
  /** Hash of the newest entry; hash of the origin if the chain has no entry yet. */
  readonly previous: Uint8Array;
  readonly lastTimestamp: string;
  readonly frontier: Frontier;
}

export interface AppendedEntry {
  readonly entry: Entry;
  /** The hashed bytes, as text; the entry is never serialised again. */
  readonly text: string;
  readonly hash: Uint8Array;
  readonly parts: readonly Part[];
  /** The tree nodes that this entry completed. */
  readonly nodes: readonly TreeNode[];
}

/** The head of a chain that has no entry yet. */
export function emptyChain(crypto: Crypto, { chain, origin }: { chain: string; origin: string }): ChainHead {
  return {
    chain,
    origin,
    previous: genesisPrevious(crypto, origin),
    lastTimestamp: "",
    frontier: EMPTY_FRONTIER,
  };
}

/** Gives a draft its place at the end of a chain. @throws {RangeError} if the entry would exceed 4 KiB. */
export function appendEntry<Head extends ChainHead>(
  crypto: Crypto,
  head: Head,
  draft: EntryDraft,
): { readonly head: Head; readonly appended: AppendedEntry } {
  const at = new Date(draft.at).toISOString();
  const timestamp = at > head.lastTimestamp ? at : head.lastTimestamp;
  const entry: Entry = {
    actor: draft.actor,
    chain: head.chain,
    commit: Object.fromEntries(draft.parts.map((part) => [part.name, hex(partCommitment(crypto, part))])),
    event_type: draft.eventType,
    id: draft.id,
    org_id: draft.orgId,
    prefix: draft.prefix,
    prev: hex(head.previous),
    seq: head.frontier.size,
    subject: draft.subject,
    timestamp,
    ...(draft.userId === undefined ? { v: ENTRY_VERSION } : { user_id: draft.userId, v: USER_ENTRY_VERSION }),
  };
  const text = canonicalJson(entry);
  requireSmall(text);
  const hash = entryHash(crypto, text);
  const { frontier, nodes } = appendLeaf(crypto, head.frontier, hash);
  return {
    head: { ...head, previous: hash, lastTimestamp: timestamp, frontier },
    appended: { entry, text, hash, parts: draft.parts, nodes },
  };
}

function requireSmall(text: string): void {
  // No UTF-16 code unit takes more than three bytes: so almost no entry has to be encoded to check its
  // length.
  if (text.length * 3 <= ENTRY_LIMIT_BYTES) return;
  const { length } = utf8(text);
  if (length > ENTRY_LIMIT_BYTES) throw new RangeError(`an entry of ${length} bytes`);
}

/** Whether a stored part is the one that its entry commits to. */
export function isCommitted(crypto: Crypto, entry: Entry, part: Part): boolean {
  return entry.commit[part.name] === hex(partCommitment(crypto, part));
}
