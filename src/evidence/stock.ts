/**
 * The probes of one stratum that can be drawn, in the order in which they were sealed: their number, and the place of one,
 * in logarithmic time. It is a binary indexed tree; source: P. M. Fenwick, A New Data Structure for Cumulative Frequency
 * Tables, Software: Practice and Experience 24 (1994).
 */
export class Stock<Item> {
  /** By item, its number from 1 in the order of the seals; only those that can be drawn. */
  readonly #numbers = new Map<Item, number>();
  /** At each number, how many of those in its range can be drawn. */
  readonly #sums: number[] = [0];

  get size(): number {
    return this.#numbers.size;
  }

  add(item: Item): void {
    const number = this.#sums.length;
    let sum = 1;
    const below = number - lowestBit(number);
    for (let at = number - 1; at > below; at -= lowestBit(at)) sum += this.#sums[at]!;
    this.#sums.push(sum);
    this.#numbers.set(item, number);
  }

  /** The place of an item among those that can be drawn, from 0; null if it cannot be drawn. */
  placeOf(item: Item): number | null {
    const number = this.#numbers.get(item);
    if (number === undefined) return null;
    let place = -1;
    for (let at = number; at > 0; at -= lowestBit(at)) place += this.#sums[at]!;
    return place;
  }

  /** Takes an item out, if it is there. */
  take(item: Item): void {
    const number = this.#numbers.get(item);
    if (number === undefined) return;
    this.#numbers.delete(item);
    for (let at = number; at < this.#sums.length; at += lowestBit(at)) this.#sums[at]! -= 1;
  }
}

function lowestBit(number: number): number {
  return number & -number;
}
