/** Chains in the database: heads, entries with their parts and nodes, checkpoints, and proofs read back. */
import { type Insertable, sql } from "kysely";
import { concat, type Crypto, equalBytes } from "../evidence/crypto.ts";
import {
  type AppendedEntry,
  type ChainHead,
  type Entry,
  entrySchema,
  isCommitted,
  type Part,
} from "../evidence/entry.ts";
import { type Evidence, evidenceOf, type InclusionProof } from "../evidence/envelope.ts";
import { entryHash, type PartName } from "../evidence/hashes.ts";
import { inclusionNodeIndexes, inclusionPath } from "../evidence/merkle.ts";
import { type Database, query, type Statement } from "./database.ts";
import type { AuditChainTable } from "./schema.ts";

const HASH_LENGTH = 32;

/** Loads the heads of the named chains (a JSON array of names) in one query. */
export async function loadHeads(database: Database, names: readonly string[]): Promise<readonly ChainHead[]> {
  if (names.length === 0) return [];
  const rows = await database.read(
    query.selectFrom("audit_chain").selectAll()
      .where(sql<boolean>`chain in (select value from json_each(${JSON.stringify(names)}))`).compile(),
  );
  return rows.map(({ chain, origin, size, head, last_ts, peaks }) => ({
    chain,
    origin,
    previous: head,
    lastTimestamp: last_ts,
    frontier: {
      size,
      peaks: Array.from(
        { length: peaks.length / HASH_LENGTH },
        (_, i) => peaks.slice(i * HASH_LENGTH, (i + 1) * HASH_LENGTH),
      ),
    },
  }));
}

/** Makes room for a chain that has no entry yet. */
export function insertChain({ chain, origin, previous, lastTimestamp }: ChainHead): Statement {
  const row: Insertable<AuditChainTable> = {
    chain,
    origin,
    epoch: 1,
    size: 0,
    head: previous,
    last_ts: lastTimestamp,
    peaks: new Uint8Array(),
    min_index: 0,
  };
  return query.insertInto("audit_chain").values(row).compile();
}

/** The entry, its parts and its nodes; a trigger refuses it unless it continues the stored head. */
export function insertEntry(
  { entry, text, hash, parts, nodes }: AppendedEntry,
  previous: Uint8Array,
): Statement[] {
  const { chain, seq } = entry;
  return [
    query.insertInto("audit_entry").values({
      chain,
      seq,
      id: entry.id,
      entry_hash: hash,
      prev_hash: previous,
      event_type: entry.event_type,
      ts: entry.timestamp,
      body: text,
    }).compile(),
    ...parts.map((part) =>
      query.insertInto("audit_part")
        .values({ chain, seq, name: part.name, salt: part.salt, data: part.text }).compile()
    ),
    ...nodes.map(({ index, hash }) =>
      query.insertInto("audit_node").values({ chain, idx: index, hash }).compile()
    ),
  ];
}

/** The frontier after a commit; the trigger has moved size and head already. */
export function updatePeaks({ chain, frontier }: ChainHead): Statement {
  const compiled = query.updateTable("audit_chain").set({ peaks: concat(...frontier.peaks) })
    .where("chain", "=", chain).where("size", "=", frontier.size).compile();
  return { ...compiled, mustChange: 1 };
}

export function insertCheckpoint({ chain, frontier, lastTimestamp }: ChainHead, note: string): Statement {
  return query.insertInto("audit_checkpoint")
    .values({ chain, size: frontier.size, ts: lastTimestamp, note }).compile();
}

export interface StoredCheckpoint {
  readonly size: number;
  /** The signed note. */
  readonly note: string;
}

/** The newest checkpoint of a chain, or null where there is none. */
export async function newestCheckpoint(database: Database, chain: string): Promise<StoredCheckpoint | null> {
  const [row] = await database.read(
    query.selectFrom("audit_checkpoint").select(["size", "note"]).where("chain", "=", chain)
      .orderBy("size", "desc").limit(1).compile(),
  );
  return row ?? null;
}

/**
 * The checkpoint of the commit that an entry came with: every commit signs one, at its last size. Null where
 * there is no such entry.
 */
export async function checkpointOfCommit(
  database: Database,
  { chain, seq }: { readonly chain: string; readonly seq: number },
): Promise<StoredCheckpoint | null> {
  const [row] = await database.read(
    query.selectFrom("audit_checkpoint").select(["size", "note"]).where("chain", "=", chain)
      .where("size", ">", seq).orderBy("size").limit(1).compile(),
  );
  return row ?? null;
}

/** An entry and those of its parts that are still held, as they are stored. */
export interface StoredEntry {
  readonly entry: Entry;
  /** The entry as it was hashed. */
  readonly text: string;
  readonly hash: Uint8Array;
  readonly parts: ReadonlyMap<PartName, Part>;
}

/** Entries that follow one another, those of which anything is held. Whether they are intact is not looked at. */
export async function readEntries(
  database: Database,
  { chain, first, count }: { readonly chain: string; readonly first: number; readonly count: number },
): Promise<readonly StoredEntry[]> {
  const rows = await database.read(
    query.selectFrom("audit_entry as e")
      .innerJoin(
        "audit_part as p",
        (join) => join.onRef("p.chain", "=", "e.chain").onRef("p.seq", "=", "e.seq"),
      )
      .select(["e.seq", "e.body", "e.entry_hash", "p.name", "p.salt", "p.data"])
      .where("e.chain", "=", chain).where("e.seq", ">=", first).where("e.seq", "<", first + count)
      .orderBy("e.seq").compile(),
  );
  return [...Map.groupBy(rows, ({ seq }) => seq).values()].map((own) => {
    const { body, entry_hash } = own[0]!;
    const parts = own.flatMap(({ name, salt, data }) => {
      if (salt === null || data === null) return [];
      const part: Part = { name: name as PartName, salt, text: data };
      return [[part.name, part] as const];
    });
    return {
      entry: entrySchema.parse(JSON.parse(body)),
      text: body,
      hash: entry_hash,
      parts: new Map(parts),
    };
  });
}

/** @returns null where there is no such entry, or nothing of it is held. */
export async function readEntry(
  database: Database,
  { chain, seq }: { readonly chain: string; readonly seq: number },
): Promise<StoredEntry | null> {
  const [stored] = await readEntries(database, { chain, first: seq, count: 1 });
  return stored ?? null;
}

/** What is said or signed anew must be what was recorded. @throws {Error} where an entry or a part of it is not. */
export function requireIntact(crypto: Crypto, { entry, text, hash, parts }: StoredEntry): void {
  const intact = equalBytes(entryHash(crypto, text), hash) &&
    [...parts.values()].every((part) => isCommitted(crypto, entry, part));
  if (!intact) {
    throw new Error(`entry ${entry.seq} of ${entry.chain} or a part of it is not what was recorded`);
  }
}

export interface StoredEvidence {
  readonly evidence: Evidence;
  /** The part that the evidence covers. */
  readonly data: Record<string, unknown>;
}

/**
 * Evidence of a stored entry against a checkpoint, and the part that it covers.
 * @returns null where the entry or its part is not there.
 * @throws {Error} where the entry, or a part of it, is not what was recorded.
 */
export async function readEvidence(
  database: Database,
  crypto: Crypto,
  { chain, seq, covers, checkpoint }: {
    readonly chain: string;
    readonly seq: number;
    readonly covers: PartName;
    readonly checkpoint: StoredCheckpoint;
  },
): Promise<StoredEvidence | null> {
  const stored = await readEntry(database, { chain, seq });
  const part = stored?.parts.get(covers);
  if (!stored || part === undefined) return null;
  requireIntact(crypto, stored);
  const inclusions = await readInclusions(database, crypto, { chain, seqs: [seq], checkpoint });
  const evidence = evidenceOf({ ...stored, part, proof: inclusions.get(seq)! });
  return { evidence, data: JSON.parse(part.text) };
}

/** Proofs that entries stand under a checkpoint, by `seq`. @throws where the checkpoint does not cover one. */
export async function readInclusions(
  database: Database,
  crypto: Crypto,
  { chain, seqs, checkpoint: { size, note } }: {
    readonly chain: string;
    readonly seqs: readonly number[];
    readonly checkpoint: StoredCheckpoint;
  },
): Promise<ReadonlyMap<number, InclusionProof>> {
  const indexes = new Set(seqs.flatMap((seq) => inclusionNodeIndexes(seq, size)));
  const nodes = await database.read(
    query.selectFrom("audit_node").select(["idx", "hash"]).where("chain", "=", chain)
      .where(sql<boolean>`idx in (select value from json_each(${JSON.stringify([...indexes])}))`).compile(),
  );
  const hashes = new Map(nodes.map(({ idx, hash }) => [idx, hash]));
  return new Map(seqs.map((seq) => {
    const path = inclusionPath(crypto, { leaf: seq, size }, (index) => hashes.get(index));
    return [seq, { index: seq, path, note }];
  }));
}
