/**
 * Compares the rows beside one chain's entries with the entries: every hash of its tree, every column that
 * repeats a field of an entry, every checkpoint, and the chain's own row. It runs over entries that were
 * found whole.
 * Source: evidence design, section 8.
 */
import type { Proving } from "../shared/capabilities.ts";
import { parseChain } from "../../evidence/chain_name.ts";
import { frontierFrom, frontierNodeIndexes } from "../../evidence/consistency.ts";
import { equalBytes, hex } from "../../evidence/crypto.ts";
import { type Entry, entrySchema } from "../../evidence/entry.ts";
import { entryHash } from "../../evidence/hashes.ts";
import { type KnownCheckpoint, knownCheckpointOrNull } from "../../evidence/kept.ts";
import { appendLeaf, EMPTY_FRONTIER, type Frontier, rootOf, storedNodeIndex } from "../../evidence/merkle.ts";
import { keyId, parseNote } from "../../evidence/note.ts";
import { orNull } from "../../evidence/or_null.ts";
import { retentionPrunedSchema } from "../../evidence/structural.ts";
import { firstRemovable, readEntry, readNodes, type StoredChain } from "../../store/chains.ts";
import {
  type CheckpointRow,
  type EntryRow,
  type LadderRow,
  type NodeRow,
  readCheckpointRows,
  readEntryRows,
  readLadderRows,
  readNodeRows,
  readRowBounds,
} from "../../store/stored_rows.ts";
import type { SigningKeyRow } from "../../store/records.ts";
import { originOf } from "../shared/deployment.ts";
import type { Found, FoundRows, RowCode } from "./row_findings.ts";
import { restoredSize } from "../chains/signed_ends.ts";

/** The part of a chain that was found whole: its rows are compared with it. */
export interface WholeChain {
  readonly chain: StoredChain;
  /** The epoch before it; null if it is the first. */
  readonly before: StoredChain | null;
  /** Whether it is the newest epoch of its family. */
  readonly isNewest: boolean;
  /** The size at which its verification began, and the signed size at which it ended. */
  readonly base: number;
  readonly size: number;
  readonly keys: readonly SigningKeyRow[];
}

/** A cut that an entry records. */
export interface Cut {
  readonly origin: string;
  readonly to: number;
  readonly lastTimestamp: string;
}

export class RowCheck {
  readonly #dependencies: Proving;
  readonly #found: FoundRows;
  readonly #whole: WholeChain;
  readonly #rest: () => Promise<void>;
  /** Cuts that the chain's entries record. */
  readonly #cuts: Cut[] = [];

  /** @param rest lets other work run; called after each slice. */
  constructor(dependencies: Proving, found: FoundRows, whole: WholeChain, rest: () => Promise<void>) {
    this.#dependencies = dependencies;
    this.#found = found;
    this.#whole = whole;
    this.#rest = rest;
  }

  /** Checks all rows of the chain. @returns the cuts that its entries record. */
  async run(): Promise<readonly Cut[]> {
    const { chain, isNewest, base } = this.#whole;
    await this.#checkEntries();
    if (isNewest && !this.#found.isFull) await this.#checkBounds();
    this.#checkOwnRow();
    if (base <= chain.minIndex) await this.#checkFirstPosition();
    return this.#cuts;
  }

  #add(code: RowCode, finding: Omit<Found, "chain" | "code" | "fatal">): void {
    this.#found.add(code, { chain: this.#whole.chain.chain, ...finding });
  }

  #addColumn(seq: number | null, column: string): void {
    this.#add("COLUMN_MISMATCH", { seq, detail: column });
  }

  /** Checks entry by entry: its columns, the hashes that it adds to the tree, and the checkpoint after it. */
  async #checkEntries(): Promise<void> {
    const { database, crypto } = this.#dependencies;
    const { chain: { chain, minIndex }, base, size } = this.#whole;
    // Below a cut only the leaves are left of the entries.
    const first = base > minIndex ? base : 0;
    let frontier = await this.#frontierAt(first);
    const nodes = new Rows<NodeRow>(readNodeRows(database, { chain, first: storedNodeIndex(0, first) }));
    const entries = new Rows<EntryRow>(this.#entryRows(first));
    const above = first;
    const checkpoints = new Rows<CheckpointRow>(readCheckpointRows(database, { chain, above, upTo: size }));
    const ladder = new Rows<LadderRow & { has_checkpoint: number }>(await readLadderRows(database, chain));
    await ladder.skip(({ size }) => size <= first);
    let previous: Uint8Array | null = null;
    for (let seq = first; seq < size && !this.#found.isFull; seq += 1) {
      if (seq % ENTRIES_IN_SLICE === 0) await this.#rest();
      const row = await entries.take((entry) => entry.seq === seq);
      const leaf = await nodes.peek();
      const hash: Uint8Array | undefined = row === null ? leaf?.hash : entryHash(crypto, row.body);
      if (hash === undefined) return this.#addNode(seq, "is missing");
      const entry = row === null
        ? null
        : entrySchema.safeParse(orNull(() => JSON.parse(row.body))).data ?? null;
      if (row !== null && entry !== null) {
        this.#checkColumns(row, { entry, hash, previous });
        if (entry.event_type === "RETENTION_PRUNED") await this.#noteCut(seq);
      }
      previous = hash;
      const appended = appendLeaf(crypto, frontier, hash);
      frontier = appended.frontier;
      for (const { index, hash } of appended.nodes) {
        const node = await nodes.take(({ idx }) => idx === index);
        if (node === null) return this.#addNode(seq, `${index} is missing`);
        if (!equalBytes(node.hash, hash)) this.#addNode(seq, `${index}`);
      }
      const checkpoint = await checkpoints.take((row) => row.size === frontier.size);
      if (checkpoint !== null) await this.#checkCheckpoint(checkpoint, frontier, entry);
      const step = await ladder.take((row) => row.size === frontier.size);
      if (step !== null) this.#checkStep(step, entry);
    }
  }

  /** Entry rows from `first` on. Below a cut only the first one can be left, if it names the chain before. */
  async *#entryRows(first: number): AsyncGenerator<EntryRow> {
    const { database } = this.#dependencies;
    const { chain: { chain, minIndex }, size } = this.#whole;
    const kept = Math.min(firstRemovable(chain), minIndex);
    if (first < kept) yield* readEntryRows(database, { chain, first, end: kept });
    yield* readEntryRows(database, { chain, first: Math.max(first, minIndex), end: size });
  }

  async #frontierAt(size: number): Promise<Frontier> {
    if (size === 0) return EMPTY_FRONTIER;
    const { chain: { chain } } = this.#whole;
    const nodes = await readNodes(this.#dependencies.database, { chain, indexes: frontierNodeIndexes(size) });
    return frontierFrom(size, (index) => nodes.get(index));
  }

  #addNode(seq: number, what: string): void {
    this.#add("NODE_MISMATCH", { seq, detail: `audit_node ${what}` });
  }

  #checkColumns(
    row: EntryRow,
    { entry, hash, previous }: {
      readonly entry: Entry;
      readonly hash: Uint8Array;
      readonly previous: Uint8Array | null;
    },
  ): void {
    const { seq } = row;
    if (row.id !== entry.id) this.#addColumn(seq, "audit_entry.id");
    if (row.event_type !== entry.event_type) this.#addColumn(seq, "audit_entry.event_type");
    if (row.ts !== entry.timestamp) this.#addColumn(seq, "audit_entry.ts");
    if (!equalBytes(row.entry_hash, hash)) this.#addColumn(seq, "audit_entry.entry_hash");
    const isLinked = hex(row.prev_hash) === entry.prev &&
      (previous === null || equalBytes(row.prev_hash, previous));
    if (!isLinked) this.#addColumn(seq, "audit_entry.prev_hash");
  }

  async #noteCut(seq: number): Promise<void> {
    const { chain: { chain } } = this.#whole;
    const stored = await readEntry(this.#dependencies.database, { chain, seq });
    const text = stored?.parts.get("detail")?.text;
    const detail = retentionPrunedSchema.safeParse(orNull(() => JSON.parse(text ?? "null"))).data;
    if (detail) this.#cuts.push({ origin: detail.origin, to: detail.to, lastTimestamp: detail.last_ts });
  }

  async #checkCheckpoint(row: CheckpointRow, { size, peaks }: Frontier, last: Entry | null): Promise<void> {
    const { crypto, signing } = this.#dependencies;
    const { chain: { chain } } = this.#whole;
    const origin = originOf(this.#dependencies, chain);
    const seq = size - 1;
    if (size % CHECKPOINTS_IN_SLICE === 0) await this.#rest();
    const checkpoint: KnownCheckpoint | null = knownCheckpointOrNull(row.note);
    if (checkpoint === null || checkpoint.origin !== origin) {
      return this.#add("WRONG_ORIGIN", { seq, detail: "audit_checkpoint.note" });
    }
    if (await signing.openOwn(row.note, origin) === null) {
      return this.#add("BAD_SIGNATURE", { seq, detail: "audit_checkpoint.note" });
    }
    if (checkpoint.size !== size) this.#addColumn(seq, "audit_checkpoint.size");
    else if (!equalBytes(checkpoint.root, rootOf(crypto, peaks))) {
      this.#add("ROOT_MISMATCH", { seq, detail: "audit_checkpoint.note" });
    }
    if (last !== null && row.ts !== last.timestamp) this.#addColumn(seq, "audit_checkpoint.ts");
  }

  #checkStep({ size, ts, has_checkpoint }: LadderRow & { has_checkpoint: number }, last: Entry | null): void {
    if (has_checkpoint === 0) this.#addColumn(size - 1, "audit_ladder.size");
    if (last !== null && ts !== last.timestamp) this.#addColumn(size - 1, "audit_ladder.ts");
  }

  /** Looks for rows beyond the chain's end, and for rows that would be in the way of its next entry. */
  async #checkBounds(): Promise<void> {
    const { chain: { chain } } = this.#whole;
    const bounds = await readRowBounds(this.#dependencies.database, chain);
    const { size } = bounds;
    const isBelow = (least: number | null) => least !== null && least < 0;
    if (isBelow(bounds.least_node) || (bounds.last_node ?? 0) >= storedNodeIndex(0, size)) {
      this.#add("NODE_MISMATCH", { seq: null, detail: "audit_node holds more than the tree" });
    }
    if (isBelow(bounds.least_entry) || (bounds.last_entry ?? -1) >= size) {
      this.#add("UNSIGNED_TAIL", { seq: size, detail: "audit_entry" });
    }
    const ladder = await readLadderRows(this.#dependencies.database, chain);
    if (ladder.some((step) => step.size > size || step.has_checkpoint === 0)) {
      this.#addColumn(null, "audit_ladder.size");
    }
  }

  /** Checks the columns of the chain's row that follow from its name. */
  #checkOwnRow(): void {
    const { chain } = this.#whole;
    const name = parseChain(chain.chain);
    if (name?.family !== chain.family) this.#addColumn(null, "audit_chain.family");
    if (name?.epoch !== chain.epoch) this.#addColumn(null, "audit_chain.epoch");
    if (chain.origin !== originOf(this.#dependencies, chain.chain)) {
      this.#addColumn(null, "audit_chain.origin");
    }
  }

  /**
   * @param note newest checkpoint when the chain's row was read: the row names the newest key that signed.
   */
  checkKeyOrdinal(note: string): void {
    const { chain, keys } = this.#whole;
    const { crypto } = this.#dependencies;
    const { signatures } = parseNote(note);
    const ordinals = keys.filter(({ public_key: publicKey }) => {
      const id = keyId(crypto, { name: chain.origin, publicKey });
      return signatures.some((line) => equalBytes(line.keyId, id));
    }).map(({ ordinal }) => ordinal);
    if (Math.max(...ordinals) !== chain.keyOrdinal) this.#addColumn(null, "audit_chain.key_ordinal");
  }

  /** Checks that the chain begins at the position after the last one of the chain before it. */
  async #checkFirstPosition(): Promise<void> {
    const { chain, before } = this.#whole;
    const ends = [0];
    if (before !== null) {
      const { last_entry } = await readRowBounds(this.#dependencies.database, before.chain);
      // Earlier programs also counted entries that nobody signed.
      ends[0] = Math.max(before.frontier.size, (last_entry ?? -1) + 1);
      const signed = await restoredSize(this.#dependencies, chain.chain);
      if (signed !== null) ends.push(signed);
    }
    if (!ends.some((end) => chain.firstPosition === (before?.firstPosition ?? 0) + end)) {
      this.#addColumn(null, "audit_chain.first_position");
    }
  }
}

/** Entries that are checked before other work gets its turn: about half a millisecond. */
const ENTRIES_IN_SLICE = 24;
/** Signatures that are verified before other work gets its turn, if each entry was committed alone. */
const CHECKPOINTS_IN_SLICE = 6;

/** Rows in their order, which a caller takes one after another when it reaches their place. */
class Rows<Row> {
  readonly #rows: AsyncIterator<Row> | Iterator<Row>;
  #next: Row | null | undefined;

  constructor(rows: AsyncGenerator<Row> | readonly Row[]) {
    this.#rows = Array.isArray(rows) ? rows[Symbol.iterator]() : (rows as AsyncGenerator<Row>);
  }

  async peek(): Promise<Row | null> {
    if (this.#next === undefined) {
      const { done, value } = await this.#rows.next();
      this.#next = done ? null : value;
    }
    return this.#next ?? null;
  }

  /** Takes the next row if `accepts` accepts it; else leaves it and returns null. */
  async take(accepts: (row: Row) => boolean): Promise<Row | null> {
    const next = await this.peek();
    if (next === null || !accepts(next)) return null;
    this.#next = undefined;
    return next;
  }

  async skip(isPassed: (row: Row) => boolean): Promise<void> {
    while (await this.take(isPassed) !== null);
  }
}
