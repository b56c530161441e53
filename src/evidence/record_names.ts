/**
 * The kinds of records that each session and each decision has, as a few flags for a name: under 20 bytes for
 * each of millions of names, including the room to grow.
 *
 * A name is known by 92 bits of its SHA-256 under a random seed. The person who chooses names does not know
 * the seed, so nobody can find two names that are taken for one; by chance it happens in one of 10^14 bundles
 * of 10 million names. The table uses open addressing over typed arrays. It is cut into shards, so that
 * growing copies only a small part of it.
 */
import { type Crypto, utf8 } from "./crypto.ts";
import { type HashSeed, NO_SEED } from "./keyed_hash.ts";

const SHARD_BITS = 4;
const SHARDS = 1 << SHARD_BITS;
/** Words of a slot. The lowest bits of the last word are the flags. */
const WORDS = 3;
const FLAG_BITS = 4;
const FLAGS = (1 << FLAG_BITS) - 1;
const FIRST_CAPACITY = 8;
const MAX_LOAD = 0.8;
const GROWTH = 1.25;

/** The words of a name, without its flags. */
type Key = readonly [first: number, second: number, third: number];

class Shard {
  #capacity = FIRST_CAPACITY;
  #slots = new Uint32Array(WORDS * FIRST_CAPACITY);
  #size = 0;

  get bytes(): number {
    return this.#slots.byteLength;
  }

  /** Adds a flag to a name; false if the name had it already. */
  add(key: Key, flag: number): boolean {
    let at = this.#find(key);
    const flags = this.#slots[at + WORDS - 1]! & FLAGS;
    if ((flags & flag) !== 0) return false;
    if (flags === 0) {
      if (this.#size + 1 > MAX_LOAD * this.#capacity) {
        this.#grow();
        at = this.#find(key);
      }
      this.#size += 1;
    }
    this.#slots[at] = key[0];
    this.#slots[at + 1] = key[1];
    this.#slots[at + 2] = key[2] | flags | flag;
    return true;
  }

  /** The place of a name, or the free place where it belongs. */
  #find([first, second, third]: Key): number {
    const slots = this.#slots;
    const end = WORDS * this.#capacity;
    let at = WORDS * ((first >>> SHARD_BITS) % this.#capacity);
    for (;;) {
      const last = slots[at + 2]!;
      if ((last & FLAGS) === 0) return at;
      if (slots[at] === first && slots[at + 1] === second && ((last & ~FLAGS) >>> 0) === third) return at;
      at += WORDS;
      if (at === end) at = 0;
    }
  }

  #grow(): void {
    const old = this.#slots;
    this.#capacity = Math.ceil(this.#capacity * GROWTH);
    this.#slots = new Uint32Array(WORDS * this.#capacity);
    for (let at = 0; at < old.length; at += WORDS) {
      const last = old[at + 2]!;
      if ((last & FLAGS) === 0) continue;
      const key = [old[at]!, old[at + 1]!, (last & ~FLAGS) >>> 0] as const;
      this.#slots.set(old.subarray(at, at + WORDS), this.#find(key));
    }
  }
}

export class RecordNames {
  readonly #crypto: Crypto;
  readonly #seed: Uint8Array;
  #shards: (Shard | null)[] = [];

  /** `seed` must be unknown to anybody who chose names. */
  constructor(crypto: Crypto, seed: HashSeed = NO_SEED) {
    this.#crypto = crypto;
    this.#seed = new Uint8Array(Uint32Array.from(seed).buffer);
    this.forget();
  }

  /** The size of all arrays, in bytes. */
  get bytes(): number {
    return this.#shards.reduce((sum, shard) => sum + (shard?.bytes ?? 0), 0);
  }

  /**
   * Adds a flag to a name; false if the name had it already.
   * @throws {RangeError} unless `flag` is one of 1, 2, 4, 8.
   */
  add(name: string, flag: number): boolean {
    if (![1, 2, 4, 8].includes(flag)) throw new RangeError("no such flag");
    const { buffer, byteOffset } = this.#crypto.sha256(this.#seed, utf8(name));
    const hash = new DataView(buffer, byteOffset);
    const key = [hash.getUint32(0), hash.getUint32(4), (hash.getUint32(8) & ~FLAGS) >>> 0] as const;
    return (this.#shards[key[0] % SHARDS] ??= new Shard()).add(key, flag);
  }

  /** Forgets all names: the next bundle does not go on from here, and may hold the same records again. */
  forget(): void {
    this.#shards = Array.from({ length: SHARDS }, () => null);
  }
}
