/**
 * The verifier's memory of each operator of a chain's family, from one entry to the next: a hash of the state
 * that the operator's last entry left, or the first erased part for which no SUBJECT_ERASED has come yet.
 *
 * An operator with erased parts needs no state, so each operator is in one of two maps. When a bundle
 * continues no other, all states are forgotten at once, and the erased parts without a record are kept.
 */
import { type HashSeed, NO_SEED } from "./keyed_hash.ts";
import { SubjectStates, VALUE_BYTES } from "./subject_states.ts";

/** The value is the hash of the state after the operator's last entry. */
const STATE = 1;
/** The operator's state changed, but the new state is not in the file. */
const LOST = 2;
/** The value is the place of the first erased part that awaits its record. */
const AWAITS_RECORD = 4;
/** It was noted that the operator's state depends on entries that are not in the file. */
const NOTED = 8;

const NO_VALUE = new Uint8Array(VALUE_BYTES);

/** The place of an entry in the input. */
export interface EntryPlace {
  /** Place of the bundle in the input, from 0. */
  readonly bundle: number;
  readonly seq: number;
}

/** Erased parts of one bundle without a record: the first entries, ascending, and the number of operators. */
export interface UnrecordedErasures {
  readonly firstSeqs: readonly number[];
  readonly count: number;
}

/** The most entries that are named for each bundle: no more of its findings are kept. */
const NAMED = 64;

export class SubjectMemory {
  readonly #seed: HashSeed;
  #states: SubjectStates;
  readonly #awaiting: SubjectStates;
  #awaitsAny = false;
  /**
   * The number of times all states were forgotten. An owed operator's older flags, except OWED, do not count.
   */
  #generation = 0;

  /** `seed` must be unknown to anybody who wrote the file. */
  constructor(seed: HashSeed = NO_SEED) {
    this.#seed = seed;
    this.#states = new SubjectStates(seed);
    this.#awaiting = new SubjectStates(seed);
  }

  /** Hash of the state after the operator's last entry, valid until the memory changes; null if unknown. */
  stateOf(subject: string): Uint8Array | null {
    return (this.#states.flagsOf(subject) & STATE) === 0 ? null : this.#states.valueOf(subject);
  }

  /** Whether the operator's state is known to have changed, even if the new state is not known. */
  hasChanged(subject: string): boolean {
    return (this.#flagsOf(subject) & (STATE | LOST)) !== 0;
  }

  /** Whether the operator's state changed to one that is not known. */
  isLost(subject: string): boolean {
    return (this.#flagsOf(subject) & LOST) !== 0;
  }

  /** Notes that the operator's state changed to one with this hash. */
  remember(subject: string, stateHash: Uint8Array): void {
    const flags = this.#flagsOf(subject);
    if ((flags & AWAITS_RECORD) !== 0) this.markLost(subject);
    else this.#states.set(subject, (flags & NOTED) | STATE, stateHash);
  }

  /** Notes that the operator's state changed, but the new state is not in the file. */
  markLost(subject: string): void {
    this.#setFlags(subject, (this.#flagsOf(subject) & ~STATE) | LOST);
  }

  /** Notes that the operator's state, not known here, changed before. True if this is the first time. */
  noteUnanchoredOnce(subject: string): boolean {
    const flags = this.#flagsOf(subject);
    if ((flags & NOTED) !== 0) return false;
    this.#setFlags(subject, flags | NOTED | LOST);
    return true;
  }

  /** Notes that a part of the operator is marked as erased; the record of that must follow. */
  awaitErasureRecord(subject: string, place: EntryPlace): void {
    const flags = this.#flagsOf(subject);
    if ((flags & AWAITS_RECORD) !== 0) return;
    this.#awaitsAny = true;
    this.#states.delete(subject);
    const lostFlag = (flags & (STATE | LOST)) === 0 ? 0 : LOST;
    this.#awaiting.set(subject, (flags & NOTED) | lostFlag | AWAITS_RECORD, valueOf(place, this.#generation));
  }

  /**
   * Takes the record of the operator's erasure: nothing of the operator is awaited or remembered any more.
   */
  takeErasureRecord(subject: string): void {
    this.#states.delete(subject);
    this.#awaiting.delete(subject);
  }

  /** The erased parts of operators without a record, by the bundle of each operator's first erased part. */
  unrecordedErasures(): ReadonlyMap<number, UnrecordedErasures> {
    const byBundle = new Map<number, { firstSeqs: number[]; count: number }>();
    this.#awaiting.forEach((_subject, _flags, value) => {
      const { bundle, seq } = placeIn(value);
      let unrecorded = byBundle.get(bundle);
      if (unrecorded === undefined) {
        byBundle.set(bundle, unrecorded = { firstSeqs: [], count: 0 });
      }
      unrecorded.count += 1;
      insertSmallest(unrecorded.firstSeqs, seq);
    });
    return byBundle;
  }

  /** Forgets all states, but not the awaited records: the next bundle does not go on from here. */
  forgetStates(): void {
    this.#generation += 1;
    if (this.#states.size > 0) this.#states = new SubjectStates(this.#seed);
  }

  #flagsOf(subject: string): number {
    const unrecorded = this.#awaitsAny ? this.#awaiting.flagsOf(subject) : 0;
    if (unrecorded === 0) return this.#states.flagsOf(subject);
    return generationIn(this.#awaiting.valueOf(subject)!) === this.#generation ? unrecorded : AWAITS_RECORD;
  }

  #setFlags(subject: string, flags: number): void {
    if ((flags & AWAITS_RECORD) === 0) {
      const value = (flags & STATE) === 0 ? null : this.#states.valueOf(subject);
      return this.#states.set(subject, flags, value ?? NO_VALUE);
    }
    const place = placeIn(this.#awaiting.valueOf(subject)!);
    this.#awaiting.set(subject, flags, valueOf(place, this.#generation));
  }
}

function valueOf({ bundle, seq }: EntryPlace, generation: number): Uint8Array {
  const value = new Uint8Array(VALUE_BYTES);
  const view = new DataView(value.buffer);
  view.setUint32(0, bundle);
  view.setFloat64(4, seq);
  view.setUint32(12, generation);
  return value;
}

function viewOf(value: Uint8Array): DataView {
  return new DataView(value.buffer, value.byteOffset, VALUE_BYTES);
}

function placeIn(value: Uint8Array): EntryPlace {
  const view = viewOf(value);
  return { bundle: view.getUint32(0), seq: view.getFloat64(4) };
}

function generationIn(value: Uint8Array): number {
  return viewOf(value).getUint32(12);
}

/** Keeps the smallest numbers, in their order, at most {@link NAMED} of them. */
function insertSmallest(smallest: number[], seq: number): void {
  if (smallest.length >= NAMED && seq >= smallest.at(-1)!) return;
  const at = smallest.findIndex((seqInList) => seqInList > seq);
  smallest.splice(at < 0 ? smallest.length : at, 0, seq);
  if (smallest.length > NAMED) smallest.pop();
}
