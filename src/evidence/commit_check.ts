/**
 * Holds each commit against the score that it makes final: the same numbers, of the entry that it names.
 *
 * What is kept of a provisional score is one hash, and of so many of them at most, whatever the length of the chain: a
 * commit of one that lies further back, before the bundle's beginning or in an earlier epoch cannot be compared, and is
 * counted. Source: evidence design, section 5.
 */
import { canonicalJson } from "./canonical.ts";
import { type Crypto, equalBytes, fromHex, utf8 } from "./crypto.ts";
import type { Entry } from "./entry.ts";
import type { FindingLog } from "./finding_log.ts";

/** Provisional scores that are remembered: the newest of each seq modulo this. */
const REMEMBERED = 65_536;
/** Slots that get their room together: a bundle of few scores needs little. */
const PAGE_SLOTS = 256;
const HASH_BYTES = 32;
const LOST = { absent: 1, reported: 2 } as const;

/** What a commit says of its score. */
export interface CommitReference {
  readonly ref_id: string;
  readonly ref_seq: number;
  readonly ref_entry_hash: string;
}

/** What is kept of the scores of some slots. */
class Page {
  readonly #hashes = new Uint8Array(PAGE_SLOTS * HASH_BYTES);
  /** The seq of the score in each slot, from 1; 0 is none. */
  readonly places = new Float64Array(PAGE_SLOTS);
  /** Slots whose score is there, and cannot be compared with: for want of its parts, or for what is reported of it. */
  readonly lost = new Uint8Array(PAGE_SLOTS);

  hashAt(slot: number): Uint8Array {
    return this.#hashes.subarray(slot * HASH_BYTES, (slot + 1) * HASH_BYTES);
  }
}

type Result = Readonly<Record<string, unknown>>;

export interface CommitCheckOptions {
  /** Whether scores that are committed here may lie in a chain before this one. */
  readonly isLaterEpoch: boolean;
  /** The first index that the bundle holds. */
  readonly first: number;
}

export class CommitCheck {
  readonly #crypto: Crypto;
  readonly #log: FindingLog;
  readonly #options: CommitCheckOptions;
  readonly #pages = new Map<number, Page>();
  #follows = true;
  #uncompared = 0;
  #firstUncompared = 0;

  constructor(crypto: Crypto, log: FindingLog, options: CommitCheckOptions) {
    this.#crypto = crypto;
    this.#log = log;
    this.#options = options;
  }

  /** A provisional score whose result is recorded rightly. */
  remember(
    { seq, id }: Pick<Entry, "seq" | "id">,
    { hash, result }: { hash: Uint8Array; result: Result },
  ): void {
    const { page, slot } = this.#take(seq, 0);
    page.hashAt(slot).set(this.#hash({ hash, id, result }));
  }

  /** A score that could not be computed anew, or whose parts are not given. */
  lose(seq: number, { isReported }: { readonly isReported: boolean }): void {
    this.#take(seq, isReported ? LOST.reported : LOST.absent);
  }

  /** The chain is broken: from here on a score that is referred to may be gone. */
  stopFollowing(): void {
    this.#follows = false;
  }

  /** A commit, with what it refers to; null where that is not in the file. */
  compare(seq: number, { reference, result }: { reference: CommitReference | null; result: Result }): void {
    if (!this.#follows) return;
    if (reference === null) return this.#countUncompared(seq);
    const { ref_seq, ref_id, ref_entry_hash } = reference;
    const { number, slot } = placeOf(ref_seq);
    const page = this.#pages.get(number);
    const held = (page?.places[slot] ?? 0) - 1;
    const isHere = ref_seq >= this.#options.first && !this.#options.isLaterEpoch;
    if (page !== undefined && held === ref_seq) {
      if (page.lost[slot] === LOST.reported) return;
      if (page.lost[slot] === LOST.absent) return this.#countUncompared(seq);
      if (equalBytes(page.hashAt(slot), this.#hash({ hash: fromHex(ref_entry_hash), id: ref_id, result }))) {
        return;
      }
      if (this.#options.isLaterEpoch) return this.#countUncompared(seq);
    } else if (!isHere || held > ref_seq) return this.#countUncompared(seq);
    const detail = `not the score that entry ${ref_seq} recorded`;
    this.#log.add("SCORE_MISMATCH", { seq, part: "result", detail });
  }

  finish(): void {
    if (this.#uncompared === 0) return;
    const detail = `${this.#uncompared} ${this.#uncompared === 1 ? "commit" : "commits"}`;
    this.#log.add("COMMIT_UNCOMPARED", { seq: this.#firstUncompared, detail });
  }

  /** Gives a score its slot. */
  #take(seq: number, lost: number): { readonly page: Page; readonly slot: number } {
    const { number, slot } = placeOf(seq);
    let page = this.#pages.get(number);
    if (page === undefined) this.#pages.set(number, page = new Page());
    page.places[slot] = seq + 1;
    page.lost[slot] = lost;
    return { page, slot };
  }

  #countUncompared(seq: number): void {
    if (this.#uncompared === 0) this.#firstUncompared = seq;
    this.#uncompared += 1;
  }

  /** A commit changes two members of the result, and no more. */
  #hash({ hash, id, result }: { hash: Uint8Array; id: string; result: Result }): Uint8Array {
    const numbers = canonicalJson({ ...result, provisional: false, committed: true });
    return this.#crypto.sha256(hash, utf8(`${id}\n${numbers}`));
  }
}

/** Where a score is remembered. */
function placeOf(seq: number): { readonly number: number; readonly slot: number } {
  const at = seq % REMEMBERED;
  return { number: Math.floor(at / PAGE_SLOTS), slot: at % PAGE_SLOTS };
}
