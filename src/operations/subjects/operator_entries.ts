/**
 * Proves the entries that the database assigns to an operator: each one is in the signed tree, it commits to
 * its parts, and they name the operator. In an epoch that an administrator accepted, an entry that cannot be
 * proven counts as the operator's if one of its parts names the operator.
 */
import type { Proving } from "../shared/capabilities.ts";
import { AlteredError } from "../../domain/errors.ts";
import { type Crypto, fromHex, hex } from "../../evidence/crypto.ts";
import { type Entry, entrySchema, isCommitted } from "../../evidence/entry.ts";
import { entryHash } from "../../evidence/hashes.ts";
import type { KnownCheckpoint } from "../../evidence/kept.ts";
import { orNull } from "../../evidence/or_null.ts";
import { readEntriesAt, type StoredText } from "../../store/operator_records.ts";
import { requirePlace } from "../../store/proofs.ts";
import { requireUnder } from "../../store/proven_pages.ts";

export type ProofDependencies = Proving;

/** The entry that last moved an operator's state, as a later record names it. */
export interface Prior {
  readonly seq: number;
  readonly entry_hash: string;
}

/** Facts from an entry of the operator. */
export interface OwnEntry {
  readonly eventType: string;
  /** In hexadecimal. */
  readonly hash: string;
  /** Ids of sessions and decisions that its parts name. */
  readonly names: readonly string[];
  readonly prior: Prior | null;
}

interface OwnChain {
  readonly dependencies: ProofDependencies;
  readonly chain: string;
  readonly pseudonym: string;
  readonly operatorId: string;
}

interface EntriesToProve {
  readonly seqs: readonly number[];
  readonly checkpoint: KnownCheckpoint | null;
  readonly isStrict: boolean;
}

/**
 * The entries at some places, by seq; null for an entry of an accepted epoch that does not name the operator.
 * @throws {AlteredError} if the epoch is not accepted, and an entry is not what was recorded or is another
 *   operator's.
 */
export async function proveEntries(
  own: OwnChain,
  { seqs, checkpoint, isStrict }: EntriesToProve,
): Promise<ReadonlyMap<number, OwnEntry | null>> {
  const { dependencies, chain } = own;
  const stored = await readEntriesAt(dependencies.database, { chain, seqs });
  if (isStrict) return await provenEntries(own, stored, checkpoint!);
  try {
    if (checkpoint !== null) return await provenEntries(own, stored, checkpoint);
  } catch (error) {
    if (!(error instanceof AlteredError)) throw error;
  }
  const found = new Map<number, OwnEntry | null>();
  for (const storedText of stored) {
    found.set(storedText.seq, await acceptedEntry(own, storedText, checkpoint));
  }
  return found;
}

/** @throws {AlteredError} if an entry is not what was recorded, or is another operator's. */
async function provenEntries(
  { dependencies, chain, pseudonym, operatorId }: OwnChain,
  stored: readonly StoredText[],
  checkpoint: KnownCheckpoint,
): Promise<ReadonlyMap<number, OwnEntry>> {
  const { crypto } = dependencies;
  const entries = new Map(stored.map((storedText) => {
    const entry = entryOf(chain, storedText);
    if (entry.subject !== pseudonym) throw foreignEntryError(chain, storedText.seq);
    return [storedText.seq, heldEntry(crypto, { chain, stored: storedText, entry, operatorId })];
  }));
  const hashes = new Map([...entries].map(([seq, { hash }]) => [seq, fromHex(hash)]));
  await requireUnder(dependencies, { chain, hashes, checkpoint });
  return entries;
}

/** An entry of an accepted epoch; null if it is not proven and does not name the operator. */
async function acceptedEntry(
  own: OwnChain,
  stored: StoredText,
  checkpoint: KnownCheckpoint | null,
): Promise<OwnEntry | null> {
  const { dependencies: { crypto }, operatorId } = own;
  try {
    if (checkpoint !== null) return (await provenEntries(own, [stored], checkpoint)).get(stored.seq)!;
  } catch (error) {
    if (!(error instanceof AlteredError)) throw error;
  }
  const data = stored.parts.map(({ text }) => dataOf(text));
  if (!data.some((part) => part?.operator_id === operatorId)) return null;
  return {
    eventType: "",
    hash: hex(entryHash(crypto, stored.text)),
    names: data.flatMap(namesIn),
    prior: null,
  };
}

/** @throws {AlteredError} if the row of an entry holds no entry, or the entry of another place. */
export function entryOf(chain: string, { seq, text }: StoredText): Entry {
  const entry = entrySchema.safeParse(orNull(() => JSON.parse(text))).data;
  if (entry === undefined) throw alteredEntryError(chain, seq);
  requirePlace({ entry }, { chain, seq });
  return entry;
}

/** @throws {AlteredError} if a part is not what the entry commits to, or names another operator. */
export function heldEntry(
  crypto: Crypto,
  { chain, stored: { seq, text, parts }, entry, operatorId }: {
    readonly chain: string;
    readonly stored: StoredText;
    readonly entry: Entry;
    readonly operatorId: string;
  },
): OwnEntry {
  if (!parts.every((part) => isCommitted(crypto, entry, part))) throw alteredEntryError(chain, seq);
  const records = parts.filter(({ name }) => name !== "detail").map((part) => dataOf(part.text));
  if (records.some((data) => data?.operator_id !== operatorId)) throw foreignEntryError(chain, seq);
  const input = parts.find(({ name }) => name === "input");
  return {
    eventType: entry.event_type,
    hash: hex(entryHash(crypto, text)),
    names: records.flatMap(namesIn),
    prior: (input === undefined ? null : dataOf(input.text)?.prior as Prior | null | undefined) ?? null,
  };
}

function dataOf(text: string): Readonly<Record<string, unknown>> | null {
  const data: unknown = orNull(() => JSON.parse(text));
  return typeof data === "object" ? data as Record<string, unknown> | null : null;
}

function namesIn(data: Readonly<Record<string, unknown>> | null): readonly string[] {
  return [data?.session_id, data?.decision_id, data?.probe_session_id].filter((name) =>
    typeof name === "string"
  );
}

export function alteredEntryError(chain: string, seq: number): AlteredError {
  return new AlteredError(chain, `entry ${seq} of ${chain} or a part of it is not what was recorded`);
}

export function foreignEntryError(chain: string, seq: number): AlteredError {
  return new AlteredError(
    chain,
    `entry ${seq} of ${chain} is said to be of an operator, and its record names another`,
  );
}
