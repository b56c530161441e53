/**
 * The times at which each subject was admitted, in typed arrays. A million subjects with one time each take
 * 60 bytes per subject, and none of them is an object that the garbage collector has to visit.
 *
 * All times are in one ring, oldest first, each with its subject and the index of the subject's next time. A
 * subject is in a hash table for as long as it has a time. Its name is stored in 24 bytes, which is enough
 * for every address and every key prefix. Only the first 24 bytes of a longer name count, so two names with
 * the same beginning share one limit.
 */

/** 32-bit words of a subject's name. */
const NAME_WORDS = 6;
const NONE = -1;
const LEAST_CAPACITY = 1_024;
/**
 * Large, because both old and new arrays are in memory while one grows, and pages that are not written yet
 * take no memory.
 */
const GROWTH = 4;

export interface SubjectTimesOptions {
  readonly subjectsMax: number;
  readonly timesMax: number;
  /** Two random words. They keep anyone from choosing names that collide in the table. */
  readonly hashKey: readonly [number, number];
}

export class SubjectTimes {
  readonly #options: SubjectTimesOptions;
  readonly #name = new Uint32Array(NAME_WORDS);
  #arrays = arraysFor({ subjects: LEAST_CAPACITY, times: LEAST_CAPACITY });
  #subjects = 0;
  /**
   * Slots below this index were in use at some time; those that are free again form a list that begins at
   * `#free`.
   */
  #unused = 0;
  #free = NONE;
  #first = 0;
  #length = 0;

  constructor(options: SubjectTimesOptions) {
    this.#options = options;
  }

  /** Subjects with at least one time. */
  get subjects(): number {
    return this.#subjects;
  }

  /** Bytes of all arrays. */
  get bytes(): number {
    return Object.values(this.#arrays).reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** The oldest time of all; undefined if there is none. */
  get oldest(): number | undefined {
    return this.#length === 0 ? undefined : this.#arrays.times[this.#first];
  }

  /** The number of times of a subject, and its oldest time, which is meaningless if it has none. */
  timesOf(subject: string): { readonly count: number; readonly oldest: number } {
    this.#setName(subject);
    const slot = this.#find();
    if (slot === NONE) return { count: 0, oldest: 0 };
    const { counts, oldest, times } = this.#arrays;
    return { count: counts[slot]!, oldest: times[oldest[slot]!]! };
  }

  /**
   * Adds a time, which must not be older than any before it. Returns false and adds nothing if there is no
   * room.
   */
  push(subject: string, time: number): boolean {
    const { subjectsMax, timesMax } = this.#options;
    this.#setName(subject);
    let slot = this.#find();
    if (this.#length === timesMax || (slot === NONE && this.#subjects === subjectsMax)) return false;
    const { times, counts } = this.#arrays;
    if (this.#length === times.length || (slot === NONE && this.#subjects === counts.length)) {
      this.#rebuild(this.#first);
      this.#setName(subject);
      slot = this.#find();
    }
    this.#append(slot === NONE ? this.#insert() : slot, time);
    return true;
  }

  /** Forgets every time at or before `until`, and each subject that has no times left. */
  forget(until: number): void {
    const expired = this.#countUntil(until);
    if (expired === 0) return;
    // If most times go, copying the rest is less work than removing each; it also gives memory back.
    if (expired > LEAST_CAPACITY && expired * 2 > this.#length) {
      return this.#rebuild(this.#indexAt(expired), expired);
    }
    for (let step = 0; step < expired; step += 1) this.#shift();
    const { counts, times } = this.#arrays;
    const fitting = this.#capacity(this.#subjects, this.#length);
    if ((fitting.subjects + fitting.times) * 4 < counts.length + times.length) this.#rebuild(this.#first);
  }

  /** The index in the ring of the time `offset` after the first. */
  #indexAt(offset: number): number {
    return (this.#first + offset) & (this.#arrays.times.length - 1);
  }

  #capacity(subjects: number, times: number): Capacity {
    const { subjectsMax, timesMax } = this.#options;
    return { subjects: capacityFor(subjects, subjectsMax), times: capacityFor(times, timesMax) };
  }

  #countUntil(until: number): number {
    const { times } = this.#arrays;
    if (this.#length === 0 || times[this.#first]! > until) return 0;
    let [low, high] = [1, this.#length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[this.#indexAt(middle)]! <= until) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #append(slot: number, time: number): void {
    const { times, owners, nexts, counts, oldest, newest } = this.#arrays;
    const index = this.#indexAt(this.#length);
    times[index] = time;
    owners[index] = slot;
    nexts[index] = NONE;
    if (counts[slot] === 0) oldest[slot] = index;
    else nexts[newest[slot]!] = index;
    newest[slot] = index;
    counts[slot]! += 1;
    this.#length += 1;
  }

  /** Removes the oldest time of all. */
  #shift(): void {
    const { owners, nexts, counts, oldest } = this.#arrays;
    const slot = owners[this.#first]!;
    oldest[slot] = nexts[this.#first]!;
    counts[slot]! -= 1;
    this.#first = this.#indexAt(1);
    this.#length -= 1;
    if (counts[slot] === 0) this.#remove(slot);
  }

  /** Moves the times from the index `from` on, and their subjects, into arrays of a fitting size. */
  #rebuild(from: number, skipped = 0): void {
    const old = this.#arrays;
    const remaining = this.#length - skipped;
    const mask = old.times.length - 1;
    const subjects = skipped === 0 ? this.#subjects : Math.min(this.#subjects, remaining);
    this.#arrays = arraysFor(this.#capacity(subjects, remaining));
    [this.#subjects, this.#unused, this.#free, this.#first, this.#length] = [0, 0, NONE, 0, 0];
    const moved = new Int32Array(old.counts.length).fill(NONE);
    for (let offset = 0; offset < remaining; offset += 1) {
      const index = (from + offset) & mask;
      const owner = old.owners[index]!;
      if (moved[owner] === NONE) {
        for (let word = 0; word < NAME_WORDS; word += 1) {
          this.#name[word] = old.names[owner * NAME_WORDS + word]!;
        }
        moved[owner] = this.#insert();
      }
      this.#append(moved[owner]!, old.times[index]!);
    }
  }

  // ---- the hash table -------------------------------------------------------------------------------------

  #setName(subject: string): void {
    const length = Math.min(subject.length, 4 * NAME_WORDS);
    this.#name.fill(0);
    for (let index = 0; index < length; index += 1) {
      this.#name[index >> 2]! |= (subject.charCodeAt(index) & 0xff) << ((index & 3) << 3);
    }
  }

  /** The slot of the subject whose name was written; `NONE` if it has none. */
  #find(): number {
    const { buckets, chained } = this.#arrays;
    let slot = buckets[this.#bucket(this.#name, 0)]!;
    while (slot !== NONE && !this.#isNamed(slot)) slot = chained[slot]!;
    return slot;
  }

  #isNamed(slot: number): boolean {
    const { names } = this.#arrays;
    for (let word = 0; word < NAME_WORDS; word += 1) {
      if (names[slot * NAME_WORDS + word] !== this.#name[word]) return false;
    }
    return true;
  }

  /** Adds the subject whose name was written. */
  #insert(): number {
    const { buckets, chained, names, counts } = this.#arrays;
    const slot = this.#free === NONE ? this.#unused : this.#free;
    if (slot === this.#unused) this.#unused += 1;
    else this.#free = chained[slot]!;
    names.set(this.#name, slot * NAME_WORDS);
    const bucket = this.#bucket(names, slot * NAME_WORDS);
    chained[slot] = buckets[bucket]!;
    buckets[bucket] = slot;
    counts[slot] = 0;
    this.#subjects += 1;
    return slot;
  }

  #remove(slot: number): void {
    const { buckets, chained, names } = this.#arrays;
    const bucket = this.#bucket(names, slot * NAME_WORDS);
    if (buckets[bucket] === slot) {
      buckets[bucket] = chained[slot]!;
    } else {
      let before = buckets[bucket]!;
      while (chained[before] !== slot) before = chained[before]!;
      chained[before] = chained[slot]!;
    }
    chained[slot] = this.#free;
    this.#free = slot;
    this.#subjects -= 1;
  }

  #bucket(names: Uint32Array, from: number): number {
    return keyedHash(names, from, this.#options.hashKey) & (this.#arrays.buckets.length - 1);
  }
}

interface Capacity {
  readonly subjects: number;
  readonly times: number;
}

interface Arrays {
  // By index in the ring.
  readonly times: Float64Array;
  readonly owners: Int32Array;
  readonly nexts: Int32Array;
  // By slot of a subject.
  readonly names: Uint32Array;
  readonly counts: Int32Array;
  readonly oldest: Int32Array;
  readonly newest: Int32Array;
  readonly chained: Int32Array;
  /** Hash → the first slot of its chain. */
  readonly buckets: Int32Array;
}

function arraysFor({ subjects, times }: Capacity): Arrays {
  return {
    times: new Float64Array(times),
    owners: new Int32Array(times),
    nexts: new Int32Array(times),
    names: new Uint32Array(NAME_WORDS * subjects),
    counts: new Int32Array(subjects),
    oldest: new Int32Array(subjects),
    newest: new Int32Array(subjects),
    chained: new Int32Array(subjects),
    buckets: new Int32Array(subjects).fill(NONE),
  };
}

/** A power of two that leaves room for one more, unless `most` is reached. */
function capacityFor(count: number, most: number): number {
  let capacity = LEAST_CAPACITY;
  while (capacity <= count && capacity < most) capacity *= GROWTH;
  return Math.min(capacity, 2 ** Math.ceil(Math.log2(Math.max(most, LEAST_CAPACITY))));
}

/** HalfSipHash-1-3, the function that the Linux kernel uses for its hash tables. */
function keyedHash(words: Uint32Array, from: number, [low, high]: readonly [number, number]): number {
  let a = low | 0;
  let b = high | 0;
  let c = 0x6c796765 ^ low;
  let d = 0x74656462 ^ high;
  for (let step = 0; step < NAME_WORDS + 4; step += 1) {
    // The words, then their length in bytes, then three finalisation rounds.
    const word = step < NAME_WORDS ? words[from + step]! : step === NAME_WORDS ? NAME_WORDS << 26 : 0;
    if (step === NAME_WORDS + 1) c ^= 0xff;
    d ^= word;
    a = (a + b) | 0;
    b = ((b << 5) | (b >>> 27)) ^ a;
    a = (a << 16) | (a >>> 16);
    c = (c + d) | 0;
    d = ((d << 8) | (d >>> 24)) ^ c;
    a = (a + d) | 0;
    d = ((d << 7) | (d >>> 25)) ^ a;
    c = (c + b) | 0;
    b = ((b << 13) | (b >>> 19)) ^ c;
    c = (c << 16) | (c >>> 16);
    a ^= word;
  }
  return b ^ d;
}
