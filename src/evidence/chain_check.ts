/**
 * Checks the entries in their order: each names the one before it, time goes forward, and all of them
 * together form the tree whose roots were signed.
 *
 * It keeps only the last hash and the tree's peaks, for a chain of any length. If entries are missing or
 * displaced, the tree is no longer evaluated: every root after that would differ, and would say nothing new.
 */
import { type Crypto, equalBytes, hex } from "./crypto.ts";
import type { Entry } from "./entry.ts";
import type { FindingLog } from "./finding_log.ts";
import { appendLeaf, type Frontier, rootOf } from "./merkle.ts";
import type { Checkpoint } from "./note.ts";

/** The most gaps that are kept open for entries that come later; any others are reported at once. */
const GAP_LIMIT = 64;

/** Entries `first` to `last`, which did not come in their place. */
interface Gap {
  readonly first: number;
  readonly last: number;
}

export interface ChainStart {
  /** The seq of the first entry. */
  readonly size: number;
  /** The hash that the first entry must name. */
  readonly previous: Uint8Array;
  /** null if the tree before the first entry is not known. */
  readonly frontier: Frontier | null;
}

export class ChainCheck {
  readonly #crypto: Crypto;
  readonly #log: FindingLog;
  readonly #base: number;
  #next: number;
  #previous: Uint8Array | null;
  #lastTimestamp = "";
  #frontier: Frontier | null;
  #gaps: readonly Gap[] = [];
  #unreadable = 0;
  #isInOrder = true;
  #isLinked = true;
  #hasRootMismatch = false;
  #provenSize = 0;

  constructor(crypto: Crypto, log: FindingLog, start: ChainStart) {
    this.#crypto = crypto;
    this.#log = log;
    this.#base = start.size;
    this.#next = start.size;
    this.#previous = start.previous;
    this.#frontier = start.frontier;
  }

  /** The seq of the next entry: the chain's size as far as the bundle was read. */
  get next(): number {
    return this.#next;
  }

  /** The largest size at which these entries have a root that was signed or kept. */
  get provenSize(): number {
    return this.#provenSize;
  }

  /** Whether every entry is in its place and names the one before it, and no signed root contradicts them. */
  get isUnbroken(): boolean {
    return this.#isInOrder && this.#isLinked && !this.#hasRootMismatch;
  }

  /** Whether lines were skipped since the last entry: one of them may have been the next entry. */
  get isUncertain(): boolean {
    return this.#unreadable > 0;
  }

  /** The root of all entries up to here; null if it is not the root of {@link next} entries, at least 1. */
  get root(): Uint8Array | null {
    return this.#isInOrder && this.#frontier !== null && this.#next > 0
      ? rootOf(this.#crypto, this.#frontier.peaks)
      : null;
  }

  /** Counts a line that could not be read and may have been an entry. */
  skipUnreadable(): void {
    this.#unreadable += 1;
  }

  takeEntry(entry: Entry, { hash, line }: { readonly hash: Uint8Array; readonly line: number }): void {
    const { seq, timestamp } = entry;
    if (seq < this.#next) return this.#takeLate(entry, { hash, line });
    if (seq > this.#next) this.#skipTo(seq);
    this.#checkLink(entry);
    if (timestamp < this.#lastTimestamp) {
      this.#log.add("CLOCK_ROLLBACK", { seq, line, detail: `${timestamp} < ${this.#lastTimestamp}` });
    }
    this.#next = seq + 1;
    this.#lastTimestamp = timestamp;
    this.#previous = hash;
    this.#unreadable = 0;
    this.#appendLeaf(hash);
  }

  /** Notes that the entries up to this size have the root that was signed, kept or anchored. */
  prove(size: number): void {
    this.#provenSize = Math.max(this.#provenSize, size);
  }

  /** Goes on at the size of a signed checkpoint that covers more entries than came. */
  reach(size: number): void {
    if (size > this.#next) this.#skipTo(size);
    this.#unreadable = 0;
  }

  /**
   * Compares the tree with a checkpoint in its place, signed by a trusted key. True if the roots are equal.
   */
  compareRoot({ size, root }: Checkpoint, line: number): boolean {
    if (this.#frontier === null || this.#frontier.peaks.length === 0) return false;
    if (equalBytes(rootOf(this.#crypto, this.#frontier.peaks), root)) {
      this.prove(size);
      return true;
    }
    // One changed entry changes all roots after it, so only the first mismatch is reported.
    if (this.#hasRootMismatch) return false;
    this.#hasRootMismatch = true;
    this.#log.add("ROOT_MISMATCH", {
      seq: this.#provenSize,
      range: [this.#provenSize, size - 1],
      line,
      detail: `history differs from what was signed at size ${size}`,
    });
    return false;
  }

  /** Whether a signed size counts more entries than came, even if every unreadable line was an entry. */
  lacks(size: number): boolean {
    return size > this.#next + this.#unreadable;
  }

  /** Reports the gaps that nothing filled. */
  finish(): void {
    for (const { first, last } of this.#gaps) this.#reportMissing(first, last);
    this.#gaps = [];
  }

  #checkLink({ seq, prev }: Entry): void {
    if (this.#previous === null || prev === hex(this.#previous)) return;
    this.#isLinked = false;
    const named = `entry ${seq} commits to ${prev.slice(0, 12)}…`;
    if (seq === 0) {
      this.#log.add("GENESIS_MISMATCH", { seq, detail: `${named}, not to this origin` });
      return;
    }
    // A chain alone cannot say which of the two was changed; if a root proves the earlier one, it is the
    // later one.
    const badSeq = this.#provenSize === seq ? seq : seq - 1;
    const actual = `entry ${seq - 1} hashes to ${hex(this.#previous).slice(0, 12)}…`;
    this.#log.add("LINK_BROKEN", { seq: badSeq, detail: `${named}, ${actual}` });
  }

  #appendLeaf(hash: Uint8Array): void {
    if (this.#frontier !== null) this.#frontier = appendLeaf(this.#crypto, this.#frontier, hash).frontier;
  }

  /** Skips the missing entries before `seq`. If as many lines could not be read, they may have been those. */
  #skipTo(seq: number): void {
    if (seq - this.#next > this.#unreadable) this.#openGap({ first: this.#next, last: seq - 1 });
    this.#next = seq;
    this.#previous = null;
    this.#frontier = null;
    this.#isInOrder = false;
  }

  #openGap(gap: Gap): void {
    if (this.#gaps.length < GAP_LIMIT) this.#gaps = [...this.#gaps, gap];
    else this.#reportMissing(gap.first, gap.last);
  }

  /** Takes an entry out of a gap; the rest stays open. The last gap is reported if there are too many. */
  #fill(gap: Gap | undefined, seq: number): void {
    const gaps = this.#gaps.flatMap((open) => open === gap ? splitGap(open, seq) : [open]);
    this.#gaps = gaps.slice(0, GAP_LIMIT);
    for (const { first, last } of gaps.slice(GAP_LIMIT)) this.#reportMissing(first, last);
  }

  #reportMissing(first: number, last: number): void {
    this.#log.add("MISSING", { seq: first, range: [first, last] });
  }

  /** Takes an entry whose seq is smaller than {@link next}. */
  #takeLate(entry: Entry, { hash, line }: { readonly hash: Uint8Array; readonly line: number }): void {
    const { seq } = entry;
    const gap = this.#gaps.find(({ first, last }) => first <= seq && seq <= last);
    this.#isInOrder = false;
    if (gap !== undefined || seq < this.#base) {
      this.#fill(gap, seq);
      this.#log.add("REORDERED", {
        seq,
        range: [seq, seq],
        line,
        detail: `found after seq ${this.#next - 1}`,
      });
      return;
    }
    this.#log.add("DUPLICATE_SEQ", { seq, line });
    // It replaces the entry before it, and takes a place of its own in the tree, whose roots are wrong from
    // here.
    if (seq === this.#next - 1) this.#previous = hash;
    this.#appendLeaf(hash);
  }
}

function splitGap({ first, last }: Gap, seq: number): readonly Gap[] {
  return [{ first, last: seq - 1 }, { first: seq + 1, last }].filter((gap) => gap.first <= gap.last);
}
