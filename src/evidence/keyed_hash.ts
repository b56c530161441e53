/**
 * HalfSipHash-1-3 over 16 bytes: the hash function for hash tables whose keys an attacker may choose. Without
 * the seed nobody can find many keys that fall on one place. Source: Aumasson and Bernstein, "SipHash: a fast
 * short-input PRF"; the 32-bit form of its reference implementation.
 */

/** Two random words. */
export type HashSeed = readonly [number, number];

/** The seed for keys that no attacker chose. */
export const NO_SEED: HashSeed = [0, 0];

/** A seed made of the first eight of some random bytes. */
export function seedOf(random: Uint8Array): HashSeed {
  const view = new DataView(random.buffer, random.byteOffset, 8);
  return [view.getUint32(0), view.getUint32(4)];
}

const WORDS = 4;
/** The message's length in bytes, in the highest byte of its last word. */
const LENGTH_WORD = 16 << 24;
const FINAL_ROUNDS = 3;

/** The hash of the four words that begin at `at`: 0 to 2^32 − 1. */
export function keyedHash([first, second]: HashSeed, words: Uint32Array, at: number): number {
  let [a, b, c, d] = [first, second, 0x6c796765 ^ first, 0x74656462 ^ second];
  for (let index = 0; index <= WORDS + FINAL_ROUNDS; index += 1) {
    const word = index < WORDS ? words[at + index]! : index === WORDS ? LENGTH_WORD : 0;
    if (index === WORDS + 1) c ^= 0xff;
    d ^= word;
    a = (a + b) | 0;
    b = rotated(b, 5) ^ a;
    a = rotated(a, 16);
    c = (c + d) | 0;
    d = rotated(d, 8) ^ c;
    a = (a + d) | 0;
    d = rotated(d, 7) ^ a;
    c = (c + b) | 0;
    b = rotated(b, 13) ^ c;
    c = rotated(c, 16);
    a ^= word;
  }
  return (b ^ d) >>> 0;
}

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
