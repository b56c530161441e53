/**
 * Which signing keys are of one holder: those that stand in one key file of the auditor's, and those that rotation
 * certificates join, whatever bundle of an input brings them and whatever log they are for. Both keys sign a certificate,
 * so nobody joins a key that he does not hold. Source: docs/verify/evidence-format.md, section 9, "What could not be compared".
 */
import { fromHex, hex } from "./crypto.ts";
import { JOIN_LIMIT } from "./limits.ts";
import type { Rotation } from "./rotation.ts";

/** All keys of one holder, in hexadecimal; it may grow while an input is read. */
export type Holder = ReadonlySet<string>;

export class KeyHolders {
  readonly #byKey = new Map<string, Set<string>>();
  #certified = 0;

  /** `together` are sets of raw public keys, each of one holder: the auditor's own word, of which none is too much. */
  constructor(together: readonly (readonly Uint8Array[])[] = []) {
    for (const keys of together) {
      const [first, ...others] = keys.map(hex);
      for (const other of others) this.#join(first!, other);
    }
  }

  /** Takes a valid certificate into account. @returns false where it joins one pair of keys too many. */
  certify({ oldKey, newKey }: Pick<Rotation, "oldKey" | "newKey">): boolean {
    const [old, next] = [hex(oldKey), hex(newKey)];
    if (this.#byKey.get(old)?.has(next)) return true;
    if (this.#certified >= JOIN_LIMIT) return false;
    this.#certified += 1;
    this.#join(old, next);
    return true;
  }

  /** One key of each different holder of these. */
  oneOfEach(publicKeys: readonly Uint8Array[]): readonly Uint8Array[] {
    return [...new Map(publicKeys.map((key) => [this.#byKey.get(hex(key)) ?? hex(key), key])).values()];
  }

  /** The different holders of these keys; the same object for the same one, as long as nothing more is joined. */
  of(publicKeys: readonly Uint8Array[]): readonly Holder[] {
    return [...new Set(publicKeys.map((key) => this.#holderOf(hex(key))))];
  }

  /** The raw public keys of each holder of several keys of whom one of these is. */
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

  #join(one: string, other: string): void {
    // The fewer go to the more, so that a long row of certificates does not move all of them at each of its steps.
    const [more, fewer] = [this.#holderOf(one), this.#holderOf(other)].sort((a, b) => b.size - a.size);
    if (more === fewer) return;
    for (const key of fewer!) {
      more!.add(key);
      this.#byKey.set(key, more!);
    }
  }
}
