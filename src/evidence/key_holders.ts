/**
 * Groups signing keys by holder. Keys have one holder if they stand in one key file of the auditor's, or if
 * rotation certificates join them, from any bundle of an input and for any log. Both keys sign a certificate,
 * so nobody can join a key that he does not hold.
 * Source: docs/verify/evidence-format.md, section 9, "What could not be compared".
 */
import { fromHex, hex } from "./crypto.ts";
import { JOIN_LIMIT } from "./limits.ts";
import type { Rotation } from "./rotation.ts";

/** All keys of one holder, in hexadecimal. The set may grow while an input is read. */
export type Holder = ReadonlySet<string>;

export class KeyHolders {
  readonly #byKey = new Map<string, Set<string>>();
  #certified = 0;

  /**
   * `together` are sets of raw public keys, each of one holder. The auditor states them, so no limit applies.
   */
  constructor(holderKeys: readonly (readonly Uint8Array[])[] = []) {
    for (const keys of holderKeys) {
      const [first, ...others] = keys.map(hex);
      for (const second of others) this.#join(first!, second);
    }
  }

  /** Adds a valid certificate. @returns false if it would join more pairs of keys than the limit. */
  certify({ oldKey, newKey }: Pick<Rotation, "oldKey" | "newKey">): boolean {
    const [old, next] = [hex(oldKey), hex(newKey)];
    if (this.#byKey.get(old)?.has(next)) return true;
    if (this.#certified >= JOIN_LIMIT) return false;
    this.#certified += 1;
    this.#join(old, next);
    return true;
  }

  /** One key for each different holder of these keys. */
  oneOfEach(publicKeys: readonly Uint8Array[]): readonly Uint8Array[] {
    return [...new Map(publicKeys.map((key) => [this.#byKey.get(hex(key)) ?? hex(key), key])).values()];
  }

  /**
   * The different holders of these keys. A holder is the same object each time, until more keys are joined.
   */
  of(publicKeys: readonly Uint8Array[]): readonly Holder[] {
    return [...new Set(publicKeys.map((key) => this.#holderOf(hex(key))))];
  }

  /** The raw public keys of each holder of these keys who has several keys. */
  severalOf(publicKeys: readonly Uint8Array[]): readonly (readonly Uint8Array[])[] {
    const several = this.of(publicKeys).filter(({ size }) => size > 1);
    return several.map((holder) => [...holder].map(fromHex));
  }

  #holderOf(key: string): Set<string> {
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const holder = new Set([key]);
    this.#byKey.set(key, holder);
    return holder;
  }

  #join(first: string, second: string): void {
    // The smaller set is added to the larger, so that a long row of certificates does not move all keys at
    // each step.
    const [more, fewer] = [this.#holderOf(first), this.#holderOf(second)].sort((a, b) => b.size - a.size);
    if (more === fewer) return;
    for (const key of fewer!) {
      more!.add(key);
      this.#byKey.set(key, more!);
    }
  }
}
