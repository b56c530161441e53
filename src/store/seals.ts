/**
 * Seals tell a row that this installation wrote from one that somebody with access to the file altered.
 *
 * Each sealed row carries a MAC over its columns, under a key that is not in the database. A MAC alone cannot
 * detect an old row that was put back, or one that is missing. Therefore the head of a chain holds a hash of
 * the whole set of the rows that belong to it. The head itself is protected by the chain's signed checkpoint
 * and the installation's lock.
 *
 * One HMAC-SHA256 makes both: its first half is the row's seal, its second half the row's share in the hash
 * of the set.
 *
 * The hash of the set is the XOR of a pseudorandom value for each row, so that a change of one row updates it
 * without the others: MSet-XOR-Hash of Clarke, Devadas, van Dijk, Gassend and Suh, "Incremental Multiset Hash
 * Functions and Their Application to Memory Integrity Checking" (ASIACRYPT 2003). It is stored encrypted, as
 * in the synthetic-IV mode of RFC 5297: an attacker who could see it could choose old rows whose values
 * cancel out.
 */
import { AlteredError, ServiceError } from "../domain/errors.ts";
import { equalBytes } from "../evidence/crypto.ts";

export type SealedValue = string | number | null | Uint8Array;

/** Bytes of a seal, and of a row's share in the hash of its set: each is one half of a MAC. */
const HALF = 16;

/** The place of a chain's head to which its set is bound, with values that no entry of the chain holds. */
export interface SetPlace {
  readonly chain: string;
  readonly origin: string;
  readonly epoch: number;
  /** The position of the chain's first entry. */
  readonly firstPosition: number;
  /** Ordinal of the signing key in use for the chain. */
  readonly keyOrdinal: number;
  readonly size: number;
  /** The hash of the last entry. */
  readonly head: Uint8Array;
}

export interface Seals {
  /** A hash that stands for a long text among the values of a row, 32 bytes. */
  digestOf(text: string): Uint8Array;
  /**
   * The MAC of a row over its values in their order, 32 bytes: its seal, then its share, which is not stored.
   */
  macOf(kind: string, values: readonly SealedValue[]): Uint8Array;
  /** The hash of a set in the form that a head stores, 32 bytes. */
  closeSet(place: SetPlace, set: Uint8Array): Uint8Array;
  /**
   * The hash of a set, 16 bytes, from the form that a head stores; null if that was not made for this place.
   */
  openSet(place: SetPlace, held: Uint8Array): Uint8Array | null;
}

export interface SealHashes {
  /** HMAC-SHA256 under the key for seals, over the concatenation of the texts, 32 bytes. */
  mac(...texts: readonly string[]): Uint8Array;
  /** SHA-256, 32 bytes. */
  sha256(text: string): Uint8Array;
}

export function createSeals({ mac, sha256 }: SealHashes): Seals {
  const tagOf = (place: SetPlace, set: Uint8Array) => {
    const { chain, origin, epoch, firstPosition, keyOrdinal, size, head } = place;
    const values = [chain, origin, epoch, firstPosition, keyOrdinal, size, head.toHex(), set.toHex()];
    return mac("set\n", JSON.stringify(values)).subarray(0, HALF);
  };
  const maskOf = (tag: Uint8Array) => mac("mask\n", tag.toHex()).subarray(0, HALF);
  return {
    digestOf: sha256,
    macOf: (kind, values) => mac("row\n", textOf(kind, values)),
    closeSet(place, set) {
      const tag = tagOf(place, set);
      const held = new Uint8Array(2 * HALF);
      held.set(tag);
      held.set(xor(set, maskOf(tag)), HALF);
      return held;
    },
    openSet(place, held) {
      if (held.length !== 2 * HALF) return null;
      const tag = held.slice(0, HALF);
      const set = xor(held.subarray(HALF), maskOf(tag));
      return equalBytes(tag, tagOf(place, set)) ? set : null;
    },
  };
}

/** A text that is different for each row: each value is marked with its type, and a text with its length. */
function textOf(kind: string, values: readonly SealedValue[]): string {
  let text = kind;
  for (const value of values) {
    if (value === null) text += "\n-";
    else if (typeof value === "number") text += `\n#${value}`;
    else if (typeof value === "string") text += `\n${value.length}:${value}`;
    else text += `\n=${value.toHex()}`;
  }
  return text;
}

/** The hash of an empty set. */
export const EMPTY_SET: Uint8Array = new Uint8Array(HALF);

/** The XOR of two byte arrays of the same length. */
export function xor(first: Uint8Array, second: Uint8Array): Uint8Array {
  const result = new Uint8Array(first.length);
  for (let index = 0; index < first.length; index += 1) result[index] = first[index]! ^ second[index]!;
  return result;
}

/** The hash of a set of rows, from their shares. */
export function setOf(shares: Iterable<Uint8Array>): Uint8Array {
  const set = EMPTY_SET.slice();
  for (const share of shares) {
    for (let index = 0; index < HALF; index += 1) set[index]! ^= share[index]!;
  }
  return set;
}

/** How rows of a kind are sealed. */
export interface Sealing<Row> {
  /** All values that the seal covers, in the order of the table's columns. */
  values(row: Row, seals: Seals): readonly SealedValue[];
  /** The family of chains whose newest head holds the set of these rows; absent if none does. */
  heldBy?(row: Row): string;
  /** Columns that are derived from others when a row is saved. */
  derived?(row: Row, seals: Seals): Partial<Row>;
}

/** A kind of rows that are sealed. */
export interface SealedKind<Row> {
  readonly name: string;
  readonly sealing?: Sealing<Row>;
}

/** A row with a column for its seal. */
export interface Sealed {
  readonly seal?: Uint8Array | null;
}

/** A row in the form in which it is saved, and its share in the hash of its set. */
export interface SealedRow<Row> {
  readonly row: Row & { readonly seal: Uint8Array };
  readonly share: Uint8Array;
}

/**
 * SQLite stores a text whole and gives it back only up to its first NUL: the row would look altered for ever.
 * @throws {ServiceError} VALIDATION_FAILED.
 */
function requireWholeTexts(values: readonly SealedValue[]): void {
  if (!values.some((value) => typeof value === "string" && value.includes("\0"))) return;
  throw new ServiceError(
    "VALIDATION_FAILED",
    "A text of the request holds the character U+0000: leave it out.",
  );
}

export function sealed<Row>(seals: Seals, { name, sealing }: SealedKind<Row>, row: Row): SealedRow<Row> {
  const completed = sealing!.derived === undefined ? row : { ...row, ...sealing!.derived(row, seals) };
  const values = sealing!.values(completed, seals);
  requireWholeTexts(values);
  const mac = seals.macOf(name, values);
  return { row: { ...completed, seal: mac.slice(0, HALF) }, share: mac.subarray(HALF) };
}

/** A row's share in the hash of its set; null if this installation did not write the row. */
export function shareOf<Row>(
  seals: Seals,
  { name, sealing }: SealedKind<Row>,
  row: Row,
): Uint8Array | null {
  const { seal } = row as Sealed;
  if (seal == null) return null;
  const mac = seals.macOf(name, sealing!.values(row, seals));
  return equalBytes(mac.subarray(0, HALF), seal) ? mac.subarray(HALF) : null;
}

/** Rows are not what this installation wrote. Nothing is answered, signed or erased from them. */
export class AlteredRows extends AlteredError {
  /**
   * @param family Family of the chain that the rows belong to.
   * @param rows The rows, as the subject of a sentence.
   */
  constructor(family: string, rows: string) {
    super(family, `${rows} of ${family} is not what this installation wrote`);
  }
}
