/** Draws that must not change with a version of fast-check: populations and kept vectors are made of them. */

/** A small generator of numbers in [0, 1). */
export function mulberry32(seed: number): () => number {
  let word = seed >>> 0;
  return () => {
    word = (word + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(word ^ (word >>> 15), word | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** One of `values`, each as often as its relative weight says. */
export function weighted<Value>(
  random: () => number,
  values: readonly Value[],
  weights: readonly number[],
): Value {
  let left = random() * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [index, value] of values.entries()) {
    left -= weights[index] ?? 0;
    if (left < 0) return value;
  }
  return values[values.length - 1]!;
}
