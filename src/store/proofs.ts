/**
 * Proofs made from stored rows. Each is verified before it is returned: an entry is what was hashed, its path
 * leads to the root of a checkpoint, and one of the deployment's own keys signed that checkpoint.
 */
import { AlteredError } from "../domain/errors.ts";
import { type Crypto, equalBytes } from "../evidence/crypto.ts";
import { type Evidence, evidenceOf, type InclusionProof } from "../evidence/envelope.ts";
import type { PartName } from "../evidence/hashes.ts";
import type { KnownCheckpoint } from "../evidence/kept.ts";
import {
  inclusionNodeIndexes,
  inclusionPath,
  type ReadNode,
  rootFromInclusion,
  storedNodeIndex,
} from "../evidence/merkle.ts";
import { OwnNotes } from "../evidence/own_notes.ts";
import {
  checkpointOfCommit,
  newestCheckpoint,
  readEntry,
  readNodes,
  requireIntact,
  type StoredCheckpoint,
  type StoredEntry,
} from "./chains.ts";
import type { Database } from "./database.ts";

/** Verifies signatures by the deployment's own keys. */
export interface OwnSignatures {
  /**
   * The checkpoint in a note, if it has this origin and one of the deployment's own keys signed it; otherwise
   * null.
   */
  openOwn(note: string, origin: string): Promise<KnownCheckpoint | null>;
}

/** Own signatures if only these keys are known (raw Ed25519 public keys). */
export function signaturesBy(crypto: Crypto, held: readonly Uint8Array[]): OwnSignatures {
  const notes = new OwnNotes(crypto);
  notes.setSources({ held, certificates: [] });
  return { openOwn: (note, origin) => Promise.resolve(notes.open(note, origin)) };
}

/** The dependencies for proofs from stored rows. */
export interface ProofSource {
  readonly database: Database;
  readonly crypto: Crypto;
  readonly signing: OwnSignatures;
}

/** A chain's name, and the origin under which its checkpoints must be signed. */
export interface NamedChain {
  readonly chain: string;
  readonly origin: string;
}

/**
 * @throws {AlteredError} if a stored checkpoint is not the one of this size that the deployment's own keys
 * signed.
 */
export async function requireOwnCheckpoint(
  { signing }: Pick<ProofSource, "signing">,
  { chain, origin }: NamedChain,
  { size, note }: StoredCheckpoint,
): Promise<KnownCheckpoint> {
  const checkpoint = await signing.openOwn(note, origin);
  if (checkpoint?.size === size) return checkpoint;
  throw new AlteredError(
    chain,
    `the checkpoint of ${size} entries of ${chain} is not one that this service signed`,
  );
}

/**
 * The newest checkpoint of a chain that has entries.
 * @throws {AlteredError} if it has none, or it is not the deployment's own.
 */
export async function newestOwnCheckpoint(source: ProofSource, place: NamedChain): Promise<KnownCheckpoint> {
  const newest = await newestCheckpoint(source.database, place.chain);
  if (newest === null) throw new AlteredError(place.chain, `${place.chain} has no checkpoint`);
  return await requireOwnCheckpoint(source, place, newest);
}

/**
 * The checkpoint of the commit that wrote an entry.
 * @throws {AlteredError} if there is none, or it is not the deployment's own.
 */
export async function ownCheckpointOfCommit(
  source: ProofSource,
  { seq, ...place }: NamedChain & { readonly seq: number },
): Promise<KnownCheckpoint> {
  const stored = await checkpointOfCommit(source.database, { chain: place.chain, seq });
  if (stored === null) {
    throw new AlteredError(place.chain, `no checkpoint of ${place.chain} covers entry ${seq}`);
  }
  return await requireOwnCheckpoint(source, place, stored);
}

/**
 * Proves that entries of these hashes, by `seq`, are under a checkpoint that was verified as the deployment's
 * own.
 * @throws {AlteredError} if a path does not lead to the signed root, or an entry is beyond the checkpoint.
 */
export async function proveHashes(
  { database, crypto }: Pick<ProofSource, "database" | "crypto">,
  { chain, hashes, checkpoint: { size, root, note } }: {
    readonly chain: string;
    readonly hashes: ReadonlyMap<number, Uint8Array>;
    readonly checkpoint: KnownCheckpoint;
  },
): Promise<ReadonlyMap<number, InclusionProof>> {
  const seqs = [...hashes.keys()];
  const beyond = seqs.find((seq) => seq >= size);
  if (beyond !== undefined) throw notCoveredError(chain, { size, seq: beyond });
  const indexes = seqs.flatMap((seq) => inclusionNodeIndexes(seq, size));
  const nodes = await readNodes(database, { chain, indexes });
  const read = nodesOf(chain, nodes);
  return new Map(seqs.map((seq) => {
    const path = inclusionPath(crypto, { leaf: seq, size }, read);
    const reached = rootFromInclusion(crypto, { leaf: seq, size, leafHash: hashes.get(seq)!, path });
    if (reached === null || !equalBytes(reached, root)) {
      throw new AlteredError(chain, `entry ${seq} of ${chain} does not stand in the tree that was signed`);
    }
    return [seq, { index: seq, path, note }];
  }));
}

function notCoveredError(
  chain: string,
  { size, seq }: { readonly size: number; readonly seq: number },
): AlteredError {
  return new AlteredError(chain, `the checkpoint of ${size} entries of ${chain} does not cover entry ${seq}`);
}

/** Reads from these nodes. The returned function throws {AlteredError} if one is missing. */
export function nodesOf(chain: string, nodes: ReadonlyMap<number, Uint8Array>): ReadNode {
  return (index) => {
    const hash = nodes.get(index);
    if (hash === undefined) throw new AlteredError(chain, `a hash of the tree of ${chain} is missing`);
    return hash;
  };
}

/** The hash that the tree holds for an entry, even if the entry itself is gone; null if it holds none. */
export async function leafHash(
  database: Database,
  { chain, seq }: { readonly chain: string; readonly seq: number },
): Promise<Uint8Array | null> {
  const leaf = storedNodeIndex(0, seq);
  return (await readNodes(database, { chain, indexes: [leaf] })).get(leaf) ?? null;
}

/** An entry that is what was recorded, with its proof. */
export interface ProvenEntry {
  readonly stored: StoredEntry;
  readonly proof: InclusionProof;
}

/**
 * An entry with its parts, proven against the checkpoint of its own commit or against another.
 * @returns null if the entry does not exist, or no part of it is held.
 * @throws {AlteredError} if the entry, a part of it, the tree or the checkpoint is not what was signed.
 */
export async function readProven(
  source: ProofSource,
  { seq, checkpoint, ...place }: NamedChain & {
    readonly seq: number;
    /** Default: the checkpoint of the entry's own commit. */
    readonly checkpoint?: KnownCheckpoint;
  },
): Promise<ProvenEntry | null> {
  const { database, crypto } = source;
  const { chain } = place;
  const stored = await readEntry(database, { chain, seq });
  if (stored === null) return null;
  requireIntact(crypto, stored);
  requirePlace(stored, { chain, seq });
  const proofs = await proveHashes(source, {
    chain,
    hashes: new Map([[seq, stored.hash]]),
    checkpoint: checkpoint ?? await ownCheckpointOfCommit(source, { ...place, seq }),
  });
  return { stored, proof: proofs.get(seq)! };
}

/** @throws {AlteredError} if an entry names another chain or seq than that of its row. */
export function requirePlace(
  { entry }: Pick<StoredEntry, "entry">,
  { chain, seq }: { readonly chain: string; readonly seq: number },
): void {
  if (entry.chain === chain && entry.seq === seq) return;
  throw new AlteredError(
    chain,
    `the row of entry ${seq} of ${chain} holds entry ${entry.seq} of ${entry.chain}`,
  );
}

export interface StoredEvidence {
  readonly stored: StoredEntry;
  readonly evidence: Evidence;
  /** The part that the evidence covers, as canonical JSON. */
  readonly text: string;
}

/**
 * Evidence of a stored entry, and the part that it covers.
 * @returns null if the entry or its part does not exist.
 * @throws {AlteredError} like {@link readProven}.
 */
export async function readEvidence(
  source: ProofSource,
  { covers, ...place }: NamedChain & {
    readonly seq: number;
    readonly covers: PartName;
    readonly checkpoint?: KnownCheckpoint;
  },
): Promise<StoredEvidence | null> {
  const proven = await readProven(source, place);
  const part = proven?.stored.parts.get(covers);
  if (!proven || part === undefined) return null;
  const { stored, proof } = proven;
  return { stored, evidence: evidenceOf({ ...stored, part, proof }), text: part.text };
}
