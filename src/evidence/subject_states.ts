/**
 * A map from an operator's pseudonym (16 bytes) to 32 bytes and a few flags, for millions of operators: under
 * 100 bytes for each of them, including the room to grow.
 *
 * The map uses open addressing over typed arrays, and no object for an operator. It is cut into shards, so
 * that growing, which for a moment needs the old and the new room, copies only a small part of it. A keyed
 * hash gives the place of a pseudonym: the person who writes a file chooses its pseudonyms, and must not be
 * able to choose many that fall on one place.
 */
import { type HashSeed, keyedHash, NO_SEED } from "./keyed_hash.ts";

/** The bytes of a pseudonym's value. */
export const VALUE_BYTES = 32;

/** The lowest bits of a hash choose the shard, the others the place in it. */
const SHARD_BITS = 6;
const SHARDS = 1 << SHARD_BITS;
const KEY_WORDS = 4;
const FIRST_CAPACITY = 16;
const MAX_LOAD = 0.8;
const GROWTH = 1.25;

/** Flags of an empty slot: a stored value must have at least one flag. */
const EMPTY = 0;

/** A pseudonym's four words. */
type Key = Uint32Array;

function readKey(subject: string, key: Key): void {
  for (let word = 0; word < KEY_WORDS; word += 1) {
    key[word] = parseInt(subject.slice(8 * word, 8 * word + 8), 16);
  }
}

function writeKey(words: Key): string {
  return Array.from(words, (word) => word.toString(16).padStart(8, "0")).join("");
}

class Shard {
  readonly #seed: HashSeed;
  #capacity = FIRST_CAPACITY;
  #keys = new Uint32Array(KEY_WORDS * FIRST_CAPACITY);
  #values = new Uint8Array(VALUE_BYTES * FIRST_CAPACITY);
  #flags = new Uint8Array(FIRST_CAPACITY);
  #size = 0;

  constructor(seed: HashSeed) {
    this.#seed = seed;
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#keys.byteLength + this.#values.byteLength + this.#flags.byteLength;
  }

  /** The slot that holds a key, or the free one in which it belongs. */
  find(key: Key, hash: number): number {
    let slot = this.#homeOf(hash);
    while (this.#flags[slot] !== EMPTY && !this.#holds(slot, key)) slot = this.#after(slot);
    return slot;
  }

  flagsAt(slot: number): number {
    return this.#flags[slot]!;
  }

  valueAt(slot: number): Uint8Array {
    return this.#values.subarray(VALUE_BYTES * slot, VALUE_BYTES * (slot + 1));
  }

  keyAt(slot: number): Key {
    return this.#keys.subarray(KEY_WORDS * slot, KEY_WORDS * (slot + 1));
  }

  set({ key, hash }: { readonly key: Key; readonly hash: number }, flags: number, value: Uint8Array): void {
    let slot = this.find(key, hash);
    if (this.#flags[slot] === EMPTY) {
      if (this.#size + 1 > MAX_LOAD * this.#capacity) {
        this.#grow();
        slot = this.find(key, hash);
      }
      this.#size += 1;
      this.#keys.set(key, KEY_WORDS * slot);
    }
    this.#flags[slot] = flags;
    this.#values.set(value, VALUE_BYTES * slot);
  }

  /** Frees a slot, and moves up the items that are further on only because this slot was taken. */
  free(slot: number): void {
    let hole = slot;
    for (let next = this.#after(hole); this.#flags[next] !== EMPTY; next = this.#after(next)) {
      const home = this.#homeOf(keyedHash(this.#seed, this.#keys, KEY_WORDS * next));
      if (this.#distance(home, next) < this.#distance(hole, next)) continue;
      this.#move(next, hole);
      hole = next;
    }
    this.#flags[hole] = EMPTY;
    this.#size -= 1;
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** The slot where the search for a pseudonym begins. */
  #homeOf(hash: number): number {
    return (hash >>> SHARD_BITS) % this.#capacity;
  }

  #holds(slot: number, key: Key): boolean {
    const at = KEY_WORDS * slot;
    const keys = this.#keys;
    return keys[at] === key[0] && keys[at + 1] === key[1] && keys[at + 2] === key[2] &&
      keys[at + 3] === key[3];
  }

  #after(slot: number): number {
    return slot + 1 === this.#capacity ? 0 : slot + 1;
  }

  #distance(from: number, to: number): number {
    return from <= to ? to - from : to - from + this.#capacity;
  }

  #move(from: number, to: number): void {
    this.#keys.copyWithin(KEY_WORDS * to, KEY_WORDS * from, KEY_WORDS * (from + 1));
    this.#values.copyWithin(VALUE_BYTES * to, VALUE_BYTES * from, VALUE_BYTES * (from + 1));
    this.#flags[to] = this.#flags[from]!;
  }

  #grow(): void {
    const [keys, values, flags] = [this.#keys, this.#values, this.#flags];
    this.#capacity = Math.ceil(this.#capacity * GROWTH);
    this.#keys = new Uint32Array(KEY_WORDS * this.#capacity);
    this.#values = new Uint8Array(VALUE_BYTES * this.#capacity);
    this.#flags = new Uint8Array(this.#capacity);
    for (let old = 0; old < flags.length; old += 1) {
      if (flags[old] === EMPTY) continue;
      const key = keys.subarray(KEY_WORDS * old, KEY_WORDS * (old + 1));
      const slot = this.find(key, keyedHash(this.#seed, key, 0));
      this.#keys.set(key, KEY_WORDS * slot);
      this.#values.set(values.subarray(VALUE_BYTES * old, VALUE_BYTES * (old + 1)), VALUE_BYTES * slot);
      this.#flags[slot] = flags[old]!;
    }
  }
}

export class SubjectStates {
  readonly #seed: HashSeed;
  /** The key of the last look-up; `#hash` is its hash. */
  readonly #key: Key = new Uint32Array(KEY_WORDS);
  #hash = 0;
  readonly #shards: (Shard | null)[] = Array.from({ length: SHARDS }, () => null);

  /** `seed` must be unknown to anybody who chose pseudonyms. */
  constructor(seed: HashSeed = NO_SEED) {
    this.#seed = seed;
  }

  get size(): number {
    return this.#shards.reduce((sum, shard) => sum + (shard?.size ?? 0), 0);
  }

  /** The size of all arrays, in bytes. */
  get bytes(): number {
    return this.#shards.reduce((sum, shard) => sum + (shard?.bytes ?? 0), 0);
  }

  /** The flags of a pseudonym of 32 hexadecimal digits; 0 if it is not in the map. */
  flagsOf(subject: string): number {
    const shard = this.#shardOf(subject);
    return shard === null ? EMPTY : shard.flagsAt(shard.find(this.#key, this.#hash));
  }

  /** The 32 bytes of a pseudonym, valid until the map changes; null if it is not in the map. */
  valueOf(subject: string): Uint8Array | null {
    const shard = this.#shardOf(subject);
    if (shard === null) return null;
    const slot = shard.find(this.#key, this.#hash);
    return shard.flagsAt(slot) === EMPTY ? null : shard.valueAt(slot);
  }

  /**
   * Stores a pseudonym's value.
   * @throws {RangeError} unless `flags` is 1 to 255 and the value has 32 bytes.
   */
  set(subject: string, flags: number, value: Uint8Array): void {
    if (!(flags > EMPTY && flags < 256) || value.length !== VALUE_BYTES) {
      throw new RangeError("no such state");
    }
    const shard = this.#shardOf(subject) ?? (this.#shards[this.#hash % SHARDS] = new Shard(this.#seed));
    shard.set({ key: this.#key, hash: this.#hash }, flags, value);
  }

  /** Removes a pseudonym. True if it was in the map. */
  delete(subject: string): boolean {
    const shard = this.#shardOf(subject);
    if (shard === null) return false;
    const slot = shard.find(this.#key, this.#hash);
    if (shard.flagsAt(slot) === EMPTY) return false;
    shard.free(slot);
    return true;
  }

  /** Visits every pseudonym, in no order that means anything; the map must not change meanwhile. */
  forEach(visit: (subject: string, flags: number, value: Uint8Array) => void): void {
    for (const shard of this.#shards) {
      for (let slot = 0; shard !== null && slot < shard.capacity; slot += 1) {
        const flags = shard.flagsAt(slot);
        if (flags !== EMPTY) visit(writeKey(shard.keyAt(slot)), flags, shard.valueAt(slot));
      }
    }
  }

  /** Reads the key of a pseudonym and returns its shard; null if the shard holds nothing yet. */
  #shardOf(subject: string): Shard | null {
    readKey(subject, this.#key);
    this.#hash = keyedHash(this.#seed, this.#key, 0);
    return this.#shards[this.#hash % SHARDS]!;
  }
}
