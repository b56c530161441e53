/**
 * What the verifier remembers of each operator of a chain's family, from one entry to the next: the state that the
 * operator's last entry left, as one hash, and the first erased part for which no SUBJECT_ERASED has come yet.
 *
 * An operator whose parts were erased needs no state, so both share the same 32 bytes.
 */
import { SubjectStates, VALUE_BYTES } from "./subject_states.ts";

/** The value is the hash of the state after the operator's last entry. */
const STATE = 1;
/** The operator's state moved, but what to is not in the file. */
const LOST = 2;
/** The value is the place of the first erased part that awaits its record. */
const OWED = 4;
/** That the operator's state begins in the open was noted. */
const NOTED = 8;

const NO_VALUE = new Uint8Array(VALUE_BYTES);

/** An entry of one of the bundles of the input. */
export interface EntryPlace {
  /** Counted from 0. */
  readonly bundle: number;
  readonly seq: number;
}

export class SubjectMemory {
  #states = new SubjectStates();

  /** The hash that the operator's last entry left, lent until the memory changes; null where it is not known. */
  stateOf(subject: string): Uint8Array | null {
    return (this.#states.flagsOf(subject) & STATE) === 0 ? null : this.#states.valueOf(subject);
  }

  /** Whether an entry that moved the operator's state was seen, known or not what to. */
  hasMoved(subject: string): boolean {
    return (this.#states.flagsOf(subject) & (STATE | LOST)) !== 0;
  }

  /** Whether the operator's state, though it moved, is not known. */
  isLost(subject: string): boolean {
    return (this.#states.flagsOf(subject) & LOST) !== 0;
  }

  /** The operator's state moved, to what has this hash. */
  remember(subject: string, stateHash: Uint8Array): void {
    const flags = this.#states.flagsOf(subject);
    if ((flags & OWED) !== 0) this.lose(subject);
    else this.#states.set(subject, (flags & NOTED) | STATE, stateHash);
  }

  /** The operator's state moved, but what to is not in the file. */
  lose(subject: string): void {
    const flags = this.#states.flagsOf(subject);
    const value = (flags & OWED) === 0 ? NO_VALUE : this.#states.valueOf(subject)!;
    this.#states.set(subject, (flags & ~STATE) | LOST, value);
  }

  /** Whether this is the first time that the operator's state, not known here, is found to have moved before. */
  noteOnce(subject: string): boolean {
    const flags = this.#states.flagsOf(subject);
    if ((flags & NOTED) !== 0) return false;
    this.#states.set(subject, flags | NOTED | LOST, this.#states.valueOf(subject) ?? NO_VALUE);
    return true;
  }

  /** A part of the operator's is said to be erased; the record of that must follow. */
  owe(subject: string, { bundle, seq }: EntryPlace): void {
    const flags = this.#states.flagsOf(subject);
    if ((flags & OWED) !== 0) return;
    const value = new Uint8Array(VALUE_BYTES);
    const view = new DataView(value.buffer);
    view.setUint32(0, bundle);
    view.setFloat64(4, seq);
    const moved = (flags & (STATE | LOST)) === 0 ? 0 : LOST;
    this.#states.set(subject, (flags & NOTED) | moved | OWED, value);
  }

  /** The record of the operator's erasure: nothing of the operator is awaited or known any more. */
  settle(subject: string): void {
    this.#states.delete(subject);
  }

  /** Where parts were said to be erased for which no record came: the first of each operator. */
  owed(): readonly EntryPlace[] {
    const places: EntryPlace[] = [];
    this.#states.forEach((_subject, flags, value) => {
      if ((flags & OWED) !== 0) places.push(placeIn(value));
    });
    return places.sort((a, b) => a.bundle - b.bundle || a.seq - b.seq);
  }

  /** Forgets all states, and keeps what is owed: the next bundle does not go on from here. */
  forgetStates(): void {
    const kept = new SubjectStates();
    this.#states.forEach((subject, flags, value) => {
      if ((flags & OWED) !== 0) kept.set(subject, OWED, value);
    });
    this.#states = kept;
  }
}

function placeIn(value: Uint8Array): EntryPlace {
  const view = new DataView(value.buffer, value.byteOffset, VALUE_BYTES);
  return { bundle: view.getUint32(0), seq: view.getFloat64(4) };
}
