/**
 * Compares each commit with the score that it makes final: it must have the same numbers, and name the
 * score's entry.
 *
 * One hash is kept for each provisional score, and only for the newest scores, however long the chain is. A
 * commit of a score that lies further back, before the bundle's beginning or in an earlier epoch cannot be
 * compared, and is counted. Source: evidence design, section 5.
 */
import { canonicalJson } from "./canonical.ts";
import { type Crypto, equalBytes, fromHex, utf8 } from "./crypto.ts";
import type { Entry } from "./entry.ts";
import type { FindingLog } from "./finding_log.ts";

/** The number of provisional scores that are remembered: the newest of each seq modulo this number. */
const REMEMBERED = 65_536;
/** The number of slots that are allocated together: a bundle with few scores takes little memory. */
const PAGE_SLOTS = 256;
const HASH_BYTES = 32;
const LOST = { absent: 1, reported: 2 } as const;

/** The reference of a commit to its score. */
export interface CommitReference {
  readonly ref_id: string;
  readonly ref_seq: number;
  readonly ref_entry_hash: string;
}

/** The remembered scores of a run of slots. */
class Page {
  readonly #hashes = new Uint8Array(PAGE_SLOTS * HASH_BYTES);
  /** The seq of the score in each slot, plus 1; 0 if the slot is empty. */
  readonly places = new Float64Array(PAGE_SLOTS);
  /**
   * Why the score of a slot cannot be compared: absent parts, or a fault that was reported; 0 if it can be.
   */
  readonly lost = new Uint8Array(PAGE_SLOTS);

  hashAt(slot: number): Uint8Array {
    return this.#hashes.subarray(slot * HASH_BYTES, (slot + 1) * HASH_BYTES);
  }
}

type Result = Readonly<Record<string, unknown>>;

export interface CommitCheckOptions {
  /** Whether commits in this chain may refer to scores of an earlier chain. */
  readonly isLaterEpoch: boolean;
  /** The seq of the bundle's first entry. */
  readonly first: number;
}

export class CommitCheck {
  readonly #crypto: Crypto;
  readonly #log: FindingLog;
  readonly #options: CommitCheckOptions;
  readonly #pages = new Map<number, Page>();
  #isFollowing = true;
  #uncompared = 0;
  #firstUncompared = 0;

  constructor(crypto: Crypto, log: FindingLog, options: CommitCheckOptions) {
    this.#crypto = crypto;
    this.#log = log;
    this.#options = options;
  }

  /** Remembers a provisional score whose parts are given and could be computed anew. */
  remember(
    { seq, id }: Pick<Entry, "seq" | "id">,
    { hash, result }: { hash: Uint8Array; result: Result },
  ): void {
    const { page, slot } = this.#assignSlot(seq, 0);
    page.hashAt(slot).set(this.#hash({ hash, id, result }));
  }

  /** Notes a score that could not be computed anew, or whose parts are not given. */
  markLost(seq: number, { isReported }: { readonly isReported: boolean }): void {
    this.#assignSlot(seq, isReported ? LOST.reported : LOST.absent);
  }

  /** Stops comparing: the chain is broken, so a score that a commit refers to may be missing. */
  stopFollowing(): void {
    this.#isFollowing = false;
  }

  /** Compares a commit with the score that it refers to. `reference` is null if it is not in the file. */
  compare(seq: number, { reference, result }: { reference: CommitReference | null; result: Result }): void {
    if (!this.#isFollowing) return;
    if (reference === null) return this.#countUncompared(seq);
    const { ref_seq, ref_id, ref_entry_hash } = reference;
    const { number, slot } = placeOf(ref_seq);
    const page = this.#pages.get(number);
    const rememberedSeq = (page?.places[slot] ?? 0) - 1;
    const isHere = ref_seq >= this.#options.first && !this.#options.isLaterEpoch;
    if (page !== undefined && rememberedSeq === ref_seq) {
      if (page.lost[slot] === LOST.reported) return;
      if (page.lost[slot] === LOST.absent) return this.#countUncompared(seq);
      if (equalBytes(page.hashAt(slot), this.#hash({ hash: fromHex(ref_entry_hash), id: ref_id, result }))) {
        return;
      }
      if (this.#options.isLaterEpoch) return this.#countUncompared(seq);
    } else if (!isHere || rememberedSeq > ref_seq) return this.#countUncompared(seq);
    const detail = `not the score that entry ${ref_seq} recorded`;
    this.#log.add("SCORE_MISMATCH", { seq, part: "result", detail });
  }

  finish(): void {
    if (this.#uncompared === 0) return;
    const detail = `${this.#uncompared} ${this.#uncompared === 1 ? "commit" : "commits"}`;
    this.#log.add("COMMIT_UNCOMPARED", { seq: this.#firstUncompared, detail });
  }

  /** Gives a score its slot. */
  #assignSlot(seq: number, lost: number): { readonly page: Page; readonly slot: number } {
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

  /**
   * The hash of a score's result as a commit has it: a commit changes two members of the result, and no more.
   */
  #hash({ hash, id, result }: { hash: Uint8Array; id: string; result: Result }): Uint8Array {
    const numbers = canonicalJson({ ...result, provisional: false, committed: true });
    return this.#crypto.sha256(hash, utf8(`${id}\n${numbers}`));
  }
}

/** The page and the slot in which a score is remembered. */
function placeOf(seq: number): { readonly number: number; readonly slot: number } {
  const at = seq % REMEMBERED;
  return { number: Math.floor(at / PAGE_SLOTS), slot: at % PAGE_SLOTS };
}
