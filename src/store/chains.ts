/** Chains in the database: heads, entries with their parts and nodes, checkpoints, and proofs read back. */
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
import { piecesOf, readPages } from "./paging.ts";
import type { SetPlace } from "./seals.ts";
import type {
  AuditChainTable,
  AuditCheckpointTable,
  AuditEntryTable,
  AuditNodeTable,
  AuditPartTable,
} from "./schema.ts";

const HASH_LENGTH = 32;

/** The head of the chain that a family goes on with, and what the service knows of it besides. */
export interface StoredHead extends ChainHead {
  /** The chain of epoch 1. */
  readonly family: string;
  readonly epoch: number;
  /** The position of its first entry, counted over all epochs. */
  readonly firstPosition: number;
  /** Which signing key is its own. */
  readonly keyOrdinal: number;
  /** The set of the rows that belong to it, as it is kept; null where rows were written before they were sealed. */
  readonly held: Uint8Array | null;
}

/** The row of a head. */
export type HeadRow = Selectable<AuditChainTable>;

const newestOfFamilies = compileOnce(({ families }: { readonly families: string }) =>
  query.selectFrom("audit_chain as c").selectAll()
    .where(sql<boolean>`family in (select value from json_each(${families}))`)
    .where(sql<boolean>`epoch = (select max(epoch) from audit_chain where family = c.family)`).compile()
);

/** Asks for the newest head of each of the named families. */
export function headsQuery(families: readonly string[]): CompiledQuery<HeadRow> {
  return newestOfFamilies({ families: JSON.stringify(families) });
}

/**
 * Loads the newest head of each of the named families.
 * @throws {AlteredError} where the chain that a family is said to go on with is another's.
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

/** A chain is named after its family and its epoch. @throws {AlteredError} where its row says something else. */
function requireOfFamily(
  { chain, family, epoch }: Pick<HeadRow, "chain" | "family"> & { readonly epoch?: number },
): void {
  const name = parseChain(chain);
  if (name?.family === family && (epoch === undefined || epoch === name.epoch)) return;
  throw new AlteredError(family, `the row of ${chain} says that it is a chain of ${family}`);
}

/**
 * How many chains there are, and their entries; `unanchored`: those that the system chain, which is `except`, has no
 * checkpoint of.
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

/** Every chain, of every epoch, in the order of its name and epoch; not all of one state. */
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

/** The head that each family goes on with, by family. */
export async function newestHeads(database: Database): Promise<ReadonlyMap<string, StoredChain>> {
  // Chains come in the order of their epochs: the newest of a family stands.
  return new Map((await loadChains(database)).map((chain) => [chain.family, chain]));
}

/** How far a chain reaches. */
export type ChainSize = Pick<HeadRow, "chain" | "family" | "size">;

/** How far every chain reaches, of every epoch, page by page. */
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
  /** The size that the system chain holds a checkpoint of. */
  readonly anchoredSize: number;
  /** Entries below it were pruned. */
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

/** Where a record lies. */
export interface Place {
  readonly chain: string;
  readonly seq: number;
  /** Whether its entry was pruned. */
  readonly pruned: boolean;
}

/**
 * The chain and the index of a position, which is counted over the epochs of a family.
 * @throws {AlteredError} where the family has no such position, or the chain is another's.
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

/** A place, and the position that it is. */
export interface PositionedPlace extends Omit<Place, "pruned"> {
  readonly position: number;
}

interface FamilyEvent {
  readonly family: string;
  readonly eventType: string;
}

/** Where entries of an event stand in a family, oldest first. */
export function placesOfEventsQuery({ family, eventType }: FamilyEvent): CompiledQuery<PositionedPlace> {
  return query.selectFrom("audit_chain as c").innerJoin("audit_entry as e", "e.chain", "c.chain")
    .select(["c.chain", "e.seq", sql<number>`c.first_position + e.seq`.as("position")])
    .where("c.family", "=", family).where("e.event_type", "=", eventType)
    .orderBy("c.epoch").orderBy("e.seq").compile();
}

/** As {@link placesOfEventsQuery}. */
export async function placesOfEvents(
  database: Database,
  event: FamilyEvent,
): Promise<readonly PositionedPlace[]> {
  return await database.read(placesOfEventsQuery(event));
}

/** Makes room for a chain that has no entry yet. */
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

/** The entry, its parts and its nodes; a trigger refuses it unless it continues the stored head. */
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

/** What a change of a head goes on from; it fails where another process was first. */
export interface HeadBefore {
  readonly size: number;
  readonly held: Uint8Array | null;
}

/** The frontier after a commit, of a chain that has a size by now; size and head are moved by its entries. */
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

/** The set that a chain's head holds, of a chain that did not grow. */
export function updateHeld(
  { chain, frontier: { size }, held }: StoredHead,
  { held: heldBefore }: Pick<HeadBefore, "held">,
): Statement {
  const update = query.updateTable("audit_chain").set({ held })
    .where("chain", "=", chain).where("size", "=", size).where("held", "is", heldBefore);
  return { ...update.compile(), mustChange: 1 };
}

/** The set that the head of the audit log of a row's organization holds, as a column beside the row. */
export function heldOf(table: "organization" | "webhook") {
  return sql<Uint8Array | null>`(select held from audit_chain
    where family = 'org/' || ${sql.ref(`${table}.org_id`)} || '/admin' order by epoch desc limit 1)`.as(
    "held",
  );
}

/** Where a head stands, for the set that it holds. */
export function placeOfHead({ previous, frontier: { size }, ...head }: StoredHead): SetPlace {
  const { chain, origin, epoch, firstPosition, keyOrdinal } = head;
  return { chain, origin, epoch, firstPosition, keyOrdinal, size, head: previous };
}

/** Marks the size that a chain had before the first commit of a day. */
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

/** Heads whose checkpoints are read at once: a few hundred kilobytes. */
const NOTES_TOGETHER = 256;

/** The signed notes that heads have at their own size, by chain. */
export async function notesOfHeads(
  database: Database,
  heads: readonly StoredHead[],
): Promise<ReadonlyMap<string, string>> {
  const notes = new Map<string, string>();
  for (const piece of piecesOf(heads, NOTES_TOGETHER)) {
    const wanted = JSON.stringify(piece.map(({ chain, frontier: { size } }) => [chain, size]));
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
 * Entries that follow one another, those of which anything is held. Whether they are intact is not looked at.
 * @throws {AlteredError} where one is no entry at all.
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
  return [...Map.groupBy(rows, ({ seq }) => seq).values()].map((own) => {
    const { body, entry_hash } = own[0]!;
    const parts = own.flatMap(({ name, salt, data }) => {
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

/** What was hashed of the entries from `first` to before `end`, oldest first. Whether they are intact is not looked at. */
export function readBodies(
  database: Database,
  { chain, first, end }: { readonly chain: string; readonly first: number; readonly end: number },
): Promise<readonly { readonly seq: number; readonly body: string }[]> {
  return database.read(
    query.selectFrom("audit_entry").select(["seq", "body"]).where("chain", "=", chain)
      .where("seq", ">=", first).where("seq", "<", end).orderBy("seq").compile(),
  );
}

/** @returns null where there is no such entry, or nothing of it is held. */
export async function readEntry(
  database: Database,
  { chain, seq }: { readonly chain: string; readonly seq: number },
): Promise<StoredEntry | null> {
  const [stored] = await readEntries(database, { chain, first: seq, count: 1 });
  return stored ?? null;
}

/** What is said or signed anew must be what was recorded. @throws {AlteredError} where an entry or a part of it is not. */
export function requireIntact(crypto: Crypto, stored: StoredEntry): void {
  requireEntry(crypto, stored);
  const { entry, parts } = stored;
  if (![...parts.values()].every((part) => isCommitted(crypto, entry, part))) throw notRecorded(stored);
}

/** As {@link requireIntact}, whatever became of its parts. */
export function requireEntry(crypto: Crypto, stored: StoredEntry): void {
  if (!equalBytes(entryHash(crypto, stored.text), stored.hash)) throw notRecorded(stored);
}

function notRecorded({ entry: { chain, seq } }: StoredEntry): AlteredError {
  return new AlteredError(chain, `entry ${seq} of ${chain} or a part of it is not what was recorded`);
}

/** The stored tree nodes of a chain at these indexes. */
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

/** Chains that have grown since the system chain took in their checkpoint. */
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

/** Where an epoch of a family begins, and what of it was pruned. */
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

/** The timestamp of the last entry that was pruned from a family; null where nothing was. */
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

/** Marks a size as one at which a chain is cut. */
export function insertCut(chain: string, { size, ts }: CutPoint): Statement {
  return query.insertInto("audit_ladder").values({ chain, size, ts })
    .onConflict((conflict) => conflict.columns(["chain", "size"]).doNothing()).compile();
}

/** The last end of a day of which everything is before an instant. */
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
 * The first entry of a chain that a cut removes. The very first of one that a restore began stays for good: it names the
 * end of the chain before, of which nothing else may be left.
 */
export function firstRemovable(chain: string): number {
  return (parseChain(chain)?.epoch ?? 1) > 1 ? 1 : 0;
}

/** Removes entries below an index, their parts, and the checkpoints below the cut that no old proof is linked over. */
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
