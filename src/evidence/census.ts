/**
 * The census of a bundle: the time that its entries span, and the number of operators that they name.
 *
 * It is for an auditor's file and decides nothing: the numbers are those of the entries as they were read. An
 * operator is known by a few bytes of a keyed hash (`record_names.ts`).
 */
import type { Crypto } from "./crypto.ts";
import type { Entry } from "./entry.ts";
import { PART_NAMES } from "./hashes.ts";
import type { HashSeed } from "./keyed_hash.ts";
import type { PartCheck } from "./part_check.ts";
import { RecordNames } from "./record_names.ts";

export interface Census {
  /** Timestamps of the first and the last entry that were read, ISO 8601 in UTC; null if none was read. */
  readonly first: string | null;
  readonly last: string | null;
  /** The number of operators that the entries name by a pseudonym. */
  readonly operators: number;
  /** The number of these with an erased content, or with a record of their erasure. */
  readonly erasedOperators: number;
  /** By the size of a kept checkpoint of the chain: the timestamp of the last entry that it covers. */
  readonly keptAt: ReadonlyMap<number, string>;
}

/** Flags of an operator's pseudonym. */
const NAMED = 1;
const ERASED = 2;

export class CensusCount {
  readonly #parts: PartCheck;
  readonly #subjects: RecordNames;
  readonly #keptSizes: ReadonlySet<number>;
  readonly #keptAt = new Map<number, string>();
  #first: string | null = null;
  #last: string | null = null;
  #operators = 0;
  #erasedOperators = 0;

  /**
   * @param options.seed - random, so that nobody who wrote the file can choose pseudonyms that are taken for one.
   * @param options.keptSizes - sizes of the kept checkpoints of the chain.
   */
  constructor(
    crypto: Crypto,
    { parts, seed, keptSizes }: {
      readonly parts: PartCheck;
      readonly seed: HashSeed | undefined;
      readonly keptSizes: readonly number[];
    },
  ) {
    this.#parts = parts;
    this.#subjects = new RecordNames(crypto, seed);
    this.#keptSizes = new Set(keptSizes);
  }

  /** Counts an entry whose parts are all read. */
  takeEntry({ seq, timestamp, subject, actor, event_type }: Entry): void {
    this.#first ??= timestamp;
    this.#last = timestamp;
    if (this.#keptSizes.has(seq + 1)) this.#keptAt.set(seq + 1, timestamp);
    if (subject === null) return;
    if (this.#subjects.add(subject, NAMED)) this.#operators += 1;
    const isErased = (actor === "system" && event_type === "SUBJECT_ERASED") ||
      PART_NAMES.some((name) => this.#parts.stateOf(name) === "erased");
    if (isErased && this.#subjects.add(subject, ERASED)) this.#erasedOperators += 1;
  }

  get census(): Census {
    return {
      first: this.#first,
      last: this.#last,
      operators: this.#operators,
      erasedOperators: this.#erasedOperators,
      keptAt: this.#keptAt,
    };
  }
}
