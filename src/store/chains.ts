/** Chains in the database: heads, entries with their parts and nodes, checkpoints, and reading them back. */
import { type CompiledQuery, type Insertable, type Selectable, sql } from "kysely";
import { AlteredError } from "../domain/errors.ts";
import { parseChain } from "../evidence/chain_name.ts";
import { concat, type Crypto, equalBytes } from "../evidence/crypto.ts";
import {
  type AppendedEntry,
  type ChainHead,
  type Entry,
  entrySchema,
  isCommitted,
  type Part,
} from "../evidence/entry.ts";
import { entryHash, type PartName } from "../evidence/hashes.ts";
import { orNull } from "../evidence/or_null.ts";
import { compileOnce } from "./compile_once.ts";
import { type Database, query, type Statement } from "./database.ts";
import { chunksOf, readPages } from "./paging.ts";
import type { SetPlace } from "./seals.ts";
import type {
  AuditChainTable,
  AuditCheckpointTable,
  AuditEntryTable,
  AuditNodeTable,
  AuditPartTable,
} from "./schema.ts";

const HASH_LENGTH = 32;

/** The newest head of a family, with what the service stores about it besides. */
export interface StoredHead extends ChainHead {
  /** The chain of epoch 1. */
  readonly family: string;
  readonly epoch: number;
  /** The position of the chain's first entry, counted over all epochs. */
  readonly firstPosition: number;
  /** Ordinal of the signing key in use for this chain. */
  readonly keyOrdinal: number;
  /**
   * The set of the rows that belong to the chain, as it is stored; null if rows were written before they were
   * sealed.
   */
  readonly held: Uint8Array | null;
}

/** The row of a chain's head. */
export type HeadRow = Selectable<AuditChainTable>;

const newestOfFamilies = compileOnce(({ families }: { readonly families: string }) =>
  query.selectFrom("audit_chain as c").selectAll()
    .where(sql<boolean>`family in (select value from json_each(${families}))`)
    .where(sql<boolean>`epoch = (select max(epoch) from audit_chain where family = c.family)`).compile()
);

/** The query for the newest head of each of the named families. */
export function headsQuery(families: readonly string[]): CompiledQuery<HeadRow> {
  return newestOfFamilies({ families: JSON.stringify(families) });
}

/**
 * Loads the newest head of each of the named families.
 * @throws {AlteredError} if a head's row names a family that its chain does not belong to.
 */
export async function loadHeads(
  database: Database,
  families: readonly string[],
): Promise<readonly StoredHead[]> {
  if (families.length === 0) return [];
  const rows = await database.read(headsQuery(families));
  for (const row of rows) requireOfFamily(row);
  return rows.map(headOf);
}

/**
 * Requires that a chain is named after its family and epoch.
 * @throws {AlteredError} if its row names another.
 */
function requireOfFamily(
  { chain, family, epoch }: Pick<HeadRow, "chain" | "family"> & { readonly epoch?: number },
): void {
  const name = parseChain(chain);
  if (name?.family === family && (epoch === undefined || epoch === name.epoch)) return;
  throw new AlteredError(family, `the row of ${chain} says that it is a chain of ${family}`);
}

/**
 * The number of chains and of their entries. `unanchored` is the number of entries that no checkpoint in the
 * system chain (`except`) covers.
 */
export async function countChains(
  database: Database,
  { except }: { readonly except: string },
): Promise<{ readonly chains: number; readonly entries: number; readonly unanchored: number }> {
  const [row] = await database.read(
    sql<{ chains: number; entries: number; unanchored: number }>`select count(*) as chains,
        coalesce(sum(size), 0) as entries,
        coalesce(sum(case when family = ${except} then 0 else size - anchored_size end), 0) as unanchored
      from audit_chain`.compile(query),
  );
  return row!;
}

/**
 * Every chain of every epoch, ordered by family and epoch. The pages are not all of one state of the
 * database.
 */
export async function loadChains(database: Database): Promise<readonly StoredChain[]> {
  const chains: StoredChain[] = [];
  const pages = readPages<HeadRow>(database, (after, limit) => {
    const ordered = query.selectFrom("audit_chain").selectAll().orderBy("family").orderBy("epoch").limit(
      limit,
    );
    return after === null
      ? ordered.compile()
      : ordered.where(sql<boolean>`(family, epoch) > (${after.family}, ${after.epoch})`).compile();
  });
  for await (const rows of pages) {
    chains.push(...rows.map(chainOf));
  }
  return chains;
}

/** The newest head of each family, by family. */
export async function newestHeads(database: Database): Promise<ReadonlyMap<string, StoredChain>> {
  // Chains are ordered by epoch, so the newest of a family replaces the earlier ones.
  return new Map((await loadChains(database)).map((chain) => [chain.family, chain]));
}

/** The size of a chain. */
export type ChainSize = Pick<HeadRow, "chain" | "family" | "size">;

/** The sizes of all chains of every epoch, page by page. */
export function readChainSizes(database: Database): AsyncGenerator<readonly ChainSize[]> {
  return readPages<ChainSize>(database, (after, limit) => {
    const ordered = query.selectFrom("audit_chain").select(["chain", "family", "size"]).orderBy("chain")
      .limit(limit);
    return after === null ? ordered.compile() : ordered.where("chain", ">", after.chain).compile();
  });
}

/** Every family of chains, by its name. */
export async function readFamilies(database: Database): Promise<readonly string[]> {
  const families: string[] = [];
  const pages = readPages<{ readonly family: string }>(database, (after, limit) => {
    const ordered = query.selectFrom("audit_chain").select("family").distinct().orderBy("family").limit(
      limit,
    );
    return after === null ? ordered.compile() : ordered.where("family", ">", after.family).compile();
  });
  for await (const rows of pages) families.push(...rows.map(({ family }) => family));
  return families;
}

/** The epochs of one family, oldest first. */
export async function loadEpochs(database: Database, family: string): Promise<readonly StoredChain[]> {
  const rows = await database.read(
    query.selectFrom("audit_chain").selectAll().where("family", "=", family).orderBy("epoch").compile(),
  );
  return rows.map(chainOf);
}

export interface StoredChain extends StoredHead {
  /** The size of the newest checkpoint that the system chain holds. */
  readonly anchoredSize: number;
  /** Entries with a smaller seq were pruned. */
  readonly minIndex: number;
}

function chainOf(row: HeadRow): StoredChain {
  return { ...headOf(row), minIndex: row.min_index, anchoredSize: row.anchored_size };
}

export function headOf(row: HeadRow): StoredHead {
  return {
    chain: row.chain,
    family: row.family,
    epoch: row.epoch,
    firstPosition: row.first_position,
    keyOrdinal: row.key_ordinal,
    origin: row.origin,
    previous: row.head,
    lastTimestamp: row.last_ts,
    held: row.held,
    frontier: {
      size: row.size,
      peaks: Array.from(
        { length: row.peaks.length / HASH_LENGTH },
        (_, i) => row.peaks.slice(i * HASH_LENGTH, (i + 1) * HASH_LENGTH),
      ),
    },
  };
}

/** The chain and seq of a record. */
export interface Place {
  readonly chain: string;
  readonly seq: number;
  /** Whether the entry was pruned. */
  readonly pruned: boolean;
}

/**
 * The chain and seq of a position. Positions are counted over the epochs of a family.
 * @throws {AlteredError} if the family has no such position, or the chain belongs to another family.
 */
export async function placeOf(
  database: Database,
  { family, position }: { readonly family: string; readonly position: number },
): Promise<Place> {
  const [row] = await database.read(
    query.selectFrom("audit_chain").select(["chain", "first_position", "min_index"])
      .where("family", "=", family).where("first_position", "<=", position)
      .orderBy("epoch", "desc").limit(1).compile(),
  );
  if (row === undefined) throw new AlteredError(family, `${family} has no position ${position}`);
  requireOfFamily({ ...row, family });
  const seq = position - row.first_position;
  return { chain: row.chain, seq, pruned: seq < row.min_index };
}

/** A place and its position. */
export interface PositionedPlace extends Omit<Place, "pruned"> {
  readonly position: number;
}

interface FamilyEvent {
  readonly family: string;
  readonly eventType: string;
}

/** The places of all entries of an event type in a family, oldest first. */
export function placesOfEventsQuery({ family, eventType }: FamilyEvent): CompiledQuery<PositionedPlace> {
  return query.selectFrom("audit_chain as c").innerJoin("audit_entry as e", "e.chain", "c.chain")
    .select(["c.chain", "e.seq", sql<number>`c.first_position + e.seq`.as("position")])
    .where("c.family", "=", family).where("e.event_type", "=", eventType)
    .orderBy("c.epoch").orderBy("e.seq").compile();
}

/** Reads the places that {@link placesOfEventsQuery} selects. */
export async function placesOfEvents(
  database: Database,
  event: FamilyEvent,
): Promise<readonly PositionedPlace[]> {
  return await database.read(placesOfEventsQuery(event));
}

/** Inserts a chain that has no entries yet. */
export function insertChain(head: StoredHead): Statement {
  const row: Insertable<AuditChainTable> = {
    chain: head.chain,
    family: head.family,
    origin: head.origin,
    epoch: head.epoch,
    first_position: head.firstPosition,
    key_ordinal: head.keyOrdinal,
    anchored_size: 0,
    size: 0,
    head: head.previous,
    last_ts: head.lastTimestamp,
    peaks: new Uint8Array(),
    min_index: 0,
    held: null,
  };
  return query.insertInto("audit_chain").values(row).compile();
}

/**
 * Inserts the entry, its parts and its nodes. A trigger refuses the entry unless it continues the stored
 * head.
 */
export function insertEntry(
  { entry, text, hash, parts, nodes }: AppendedEntry,
  previous: Uint8Array,
): Statement[] {
  const { chain, seq } = entry;
  return [
    insertEntryRow({
      chain,
      seq,
      id: entry.id,
      entry_hash: hash,
      prev_hash: previous,
      event_type: entry.event_type,
      ts: entry.timestamp,
      body: text,
    }),
    ...parts.map(({ name, salt, text }) => ({
      ...insertPart({ chain, seq, name, salt, data: text }),
      last: true,
    })),
    ...nodes.map(({ index, hash }) => ({ ...insertNode({ chain, idx: index, hash }), last: true })),
  ];
}

const insertEntryRow = compileOnce((row: Insertable<AuditEntryTable>) =>
  query.insertInto("audit_entry").values(row).compile()
);
const insertPart = compileOnce((row: Insertable<AuditPartTable>) =>
  query.insertInto("audit_part").values(row).compile()
);
const insertNode = compileOnce((row: Insertable<AuditNodeTable>) =>
  query.insertInto("audit_node").values(row).compile()
);

/** The head before a change. The change fails if another process changed the head first. */
export interface HeadBefore {
  readonly size: number;
  readonly held: Uint8Array | null;
}

/**
 * Stores the frontier after a commit, if the chain has the given size and set now. Its entries move size and
 * head.
 */
export function updatePeaks(
  { chain, frontier: { peaks }, keyOrdinal, held }: StoredHead,
  { size, held: heldBefore }: HeadBefore,
): Statement {
  return {
    ...setPeaks({ chain, size, heldBefore, peaks: concat(...peaks), key_ordinal: keyOrdinal, held }),
    mustChange: 1,
  };
}

const setPeaks = compileOnce((
  { chain, size, heldBefore, peaks, key_ordinal, held }:
    & Pick<Selectable<AuditChainTable>, "chain" | "size" | "peaks" | "key_ordinal" | "held">
    & { readonly heldBefore: Uint8Array | null },
) =>
  query.updateTable("audit_chain").set({ peaks, key_ordinal, held })
    .where("chain", "=", chain).where("size", "=", size).where("held", "is", heldBefore).compile()
);

/** Updates the set that a chain's head holds, if the chain did not grow. */
export function updateHeld(
  { chain, frontier: { size }, held }: StoredHead,
  { held: heldBefore }: Pick<HeadBefore, "held">,
): Statement {
  const update = query.updateTable("audit_chain").set({ held })
    .where("chain", "=", chain).where("size", "=", size).where("held", "is", heldBefore);
  return { ...update.compile(), mustChange: 1 };
}

/** A column with the set that the head of the organization's audit log holds, for each row of the table. */
export function heldColumn(table: "organization" | "webhook" | "named_key" | "user_session") {
  return sql<Uint8Array | null>`(select held from audit_chain
    where family = 'org/' || ${sql.ref(`${table}.org_id`)} || '/admin' order by epoch desc limit 1)`.as(
    "held",
  );
}

/** The place of a head to which its set is bound. */
export function placeOfHead({ previous, frontier: { size }, ...head }: StoredHead): SetPlace {
  const { chain, origin, epoch, firstPosition, keyOrdinal } = head;
  return { chain, origin, epoch, firstPosition, keyOrdinal, size, head: previous };
}

/** Records the size that a chain had before the first commit of a day. */
export function insertLadder({ chain, frontier, lastTimestamp }: ChainHead): Statement {
  return insertCut(chain, { size: frontier.size, ts: lastTimestamp });
}

export function insertCheckpoint({ chain, frontier, lastTimestamp }: ChainHead, note: string): Statement {
  return insertCheckpointRow({ chain, size: frontier.size, ts: lastTimestamp, note });
}

const insertCheckpointRow = compileOnce((row: Insertable<AuditCheckpointTable>) =>
  query.insertInto("audit_checkpoint").values(row).compile()
);

export interface StoredCheckpoint {
  readonly size: number;
  /** The signed note. */
  readonly note: string;
}

/** The newest checkpoint of a chain; null if there is none. */
export async function newestCheckpoint(database: Database, chain: string): Promise<StoredCheckpoint | null> {
  const [row] = await database.read(
    query.selectFrom("audit_checkpoint").select(["size", "note"]).where("chain", "=", chain)
      .orderBy("size", "desc").limit(1).compile(),
  );
  return row ?? null;
}

/**
 * The checkpoint of the commit that wrote an entry: every commit signs one, at its last size. Null if there
 * is no such checkpoint.
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

/** Number of heads whose checkpoints are read at once: a few hundred kilobytes. */
const NOTES_TOGETHER = 256;

/** The signed notes at the current sizes of the heads, by chain. */
export async function notesOfHeads(
  database: Database,
  heads: readonly StoredHead[],
): Promise<ReadonlyMap<string, string>> {
  const notes = new Map<string, string>();
  for (const chunk of chunksOf(heads, NOTES_TOGETHER)) {
    const wanted = JSON.stringify(chunk.map(({ chain, frontier: { size } }) => [chain, size]));
    const rows = await database.read(
      sql<{ chain: string; note: string }>`select chain, note from json_each(${wanted}) as wanted
        cross join audit_checkpoint on chain = wanted.value ->> 0 and size = wanted.value ->> 1`.compile(
        query,
      ),
    );
    for (const { chain, note } of rows) notes.set(chain, note);
  }
  return notes;
}

/** An entry and those of its parts that are still held, as they are stored. */
export interface StoredEntry {
  readonly entry: Entry;
  /** The entry as it was hashed. */
  readonly text: string;
  readonly hash: Uint8Array;
  readonly parts: ReadonlyMap<PartName, Part>;
}

/**
 * Consecutive entries, without those of which no part is held. Does not check whether they are intact.
 * @throws {AlteredError} if a row holds no valid entry.
 */
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
  return [...Map.groupBy(rows, ({ seq }) => seq).values()].map((entryRows) => {
    const { body, entry_hash } = entryRows[0]!;
    const parts = entryRows.flatMap(({ name, salt, data }) => {
      if (salt === null || data === null) return [];
      const part: Part = { name: name as PartName, salt, text: data };
      return [[part.name, part] as const];
    });
    const entry = entrySchema.safeParse(orNull(() => JSON.parse(body))).data;
    if (entry === undefined) throw new AlteredError(chain, `a row of ${chain} holds no entry`);
    return {
      entry,
      text: body,
      hash: entry_hash,
      parts: new Map(parts),
    };
  });
}

/**
 * The texts that were hashed, of the entries from `first` (inclusive) to `end` (exclusive), oldest first.
 * Does not check whether they are intact.
 */
export function readBodies(
  database: Database,
  { chain, first, end }: { readonly chain: string; readonly first: number; readonly end: number },
): Promise<readonly { readonly seq: number; readonly body: string }[]> {
  return database.read(
    query.selectFrom("audit_entry").select(["seq", "body"]).where("chain", "=", chain)
      .where("seq", ">=", first).where("seq", "<", end).orderBy("seq").compile(),
  );
}

/** @returns null if there is no such entry, or no part of it is held. */
export async function readEntry(
  database: Database,
  { chain, seq }: { readonly chain: string; readonly seq: number },
): Promise<StoredEntry | null> {
  const [stored] = await readEntries(database, { chain, first: seq, count: 1 });
  return stored ?? null;
}

/**
 * Requires that an entry and its held parts are what was recorded, before they are shown or signed again.
 * @throws {AlteredError} if one is not.
 */
export function requireIntact(crypto: Crypto, stored: StoredEntry): void {
  requireEntry(crypto, stored);
  const { entry, parts } = stored;
  if (![...parts.values()].every((part) => isCommitted(crypto, entry, part))) throw alteredEntryError(stored);
}

/** Like {@link requireIntact}, but without checking the parts. */
export function requireEntry(crypto: Crypto, stored: StoredEntry): void {
  if (!equalBytes(entryHash(crypto, stored.text), stored.hash)) throw alteredEntryError(stored);
}

function alteredEntryError({ entry: { chain, seq } }: StoredEntry): AlteredError {
  return new AlteredError(chain, `entry ${seq} of ${chain} or a part of it is not what was recorded`);
}

/** The stored tree nodes of a chain at the given indexes. */
export async function readNodes(
  database: Database,
  { chain, indexes }: { readonly chain: string; readonly indexes: readonly number[] },
): Promise<ReadonlyMap<number, Uint8Array>> {
  const wanted = JSON.stringify([...new Set(indexes)]);
  const nodes = await database.read(
    query.selectFrom("audit_node").select(["idx", "hash"]).where("chain", "=", chain)
      .where(sql<boolean>`idx in (select value from json_each(${wanted}))`).compile(),
  );
  return new Map(nodes.map(({ idx, hash }) => [idx, hash]));
}

/** Chains that have grown since the system chain last recorded their checkpoint. */
export async function readGrownChains(
  database: Database,
  { except, limit }: { readonly except: string; readonly limit: number },
): Promise<readonly StoredHead[]> {
  const rows = await database.read(
    query.selectFrom("audit_chain").selectAll().where("family", "!=", except)
      .whereRef("size", ">", "anchored_size").orderBy("chain").limit(limit).compile(),
  );
  return rows.map(headOf);
}

/** The first position of an epoch, and the index below which it was pruned. */
export type EpochSpan = Pick<HeadRow, "chain" | "first_position" | "min_index">;

/** The epochs of a family, oldest first. */
export function epochSpansQuery(family: string): CompiledQuery<EpochSpan> {
  return query.selectFrom("audit_chain").select(["chain", "first_position", "min_index"]).where(
    "family",
    "=",
    family,
  )
    .orderBy("epoch").compile();
}

/** The timestamp of the last entry that was pruned from a family; null if nothing was pruned. */
export async function prunedUntil(database: Database, family: string): Promise<string | null> {
  const [row] = await database.read(
    query.selectFrom("audit_chain as c")
      .innerJoin(
        "audit_ladder as l",
        (join) => join.onRef("l.chain", "=", "c.chain").onRef("l.size", "=", "c.min_index"),
      )
      .select(({ fn }) => fn.max("l.ts").as("ts")).where("c.family", "=", family).compile(),
  );
  return row?.ts ?? null;
}

/** A size at which a chain can be cut, and the timestamp of the last entry below it. */
export interface CutPoint {
  readonly size: number;
  readonly ts: string;
}

/** Records a size at which a chain is cut. */
export function insertCut(chain: string, { size, ts }: CutPoint): Statement {
  return query.insertInto("audit_ladder").values({ chain, size, ts })
    .onConflict((conflict) => conflict.columns(["chain", "size"]).doNothing()).compile();
}

/** The newest end of a day whose last entry is before an instant. */
export async function newestCut(
  database: Database,
  { chain, before }: { readonly chain: string; readonly before: string },
): Promise<CutPoint | null> {
  const [row] = await database.read(
    query.selectFrom("audit_ladder").select(["size", "ts"]).where("chain", "=", chain).where(
      "ts",
      "<",
      before,
    )
      .orderBy("size", "desc").limit(1).compile(),
  );
  return row ?? null;
}

/**
 * The first entry of a chain that a cut removes. The first entry of a chain that a restore began is never
 * removed: it names the end of the chain before, of which nothing else may be left.
 */
export function firstRemovable(chain: string): number {
  return (parseChain(chain)?.epoch ?? 1) > 1 ? 1 : 0;
}

/**
 * Removes the entries below an index, their parts, and the checkpoints below the cut that no old proof needs.
 */
export function deleteEntriesBelow(
  chain: string,
  { index, minIndex }: { readonly index: number; readonly minIndex: number },
): readonly Statement[] {
  const first = firstRemovable(chain);
  const ladder = query.selectFrom("audit_ladder").select("size").where("chain", "=", chain);
  return [
    query.deleteFrom("audit_part").where("chain", "=", chain).where("seq", ">=", first)
      .where("seq", "<", index).compile(),
    query.deleteFrom("audit_entry").where("chain", "=", chain).where("seq", ">=", first)
      .where("seq", "<", index).compile(),
    query.deleteFrom("audit_checkpoint").where("chain", "=", chain).where("size", "<=", index)
      .where("size", "<", minIndex).where("size", "not in", ladder).compile(),
  ];
}
