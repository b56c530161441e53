/**
 * The findings of one bundle: at most 64 of them are kept, but what a verdict needs is kept of all.
 * Source: evidence design, section 8.
 */
import { type EntryRange, type Finding, type FindingCode, FINDINGS } from "./findings.ts";

/** Findings that are kept, and how many of them may be such as are not fatal. */
const FINDING_LIMIT = 64;
const INFO_LIMIT = 16;
/** Characters. */
const DETAIL_LIMIT = 200;

/** Where a finding is, and what an expert should look at. */
export type Place = Partial<Omit<Finding, "code" | "fatal">>;

/** The findings of one bundle, in the order in which they came; what a verdict needs is kept of all of them. */
export class FindingLog {
  readonly #kept: Finding[] = [];
  #infos = 0;
  #dropped = 0;
  #firstExact = Infinity;
  #firstRange: EntryRange | null = null;
  readonly #fatal = new Set<FindingCode>();

  add(code: FindingCode, place: Place = {}): void {
    const { fatal, exact } = FINDINGS[code];
    const { seq = null, range = null, line = null, detail = null } = place;
    if (fatal) {
      this.#fatal.add(code);
      const within = range ?? (seq === null ? null : [seq, seq] as const);
      if (exact && seq !== null) this.#firstExact = Math.min(this.#firstExact, seq);
      else if (within !== null && within[0] < (this.#firstRange?.[0] ?? Infinity)) this.#firstRange = within;
    }
    if (this.#kept.length >= FINDING_LIMIT || (!fatal && this.#infos >= INFO_LIMIT)) {
      this.#dropped += 1;
      return;
    }
    if (!fatal) this.#infos += 1;
    this.#kept.push({
      code,
      fatal,
      seq,
      range,
      line,
      ...(place.part === undefined ? {} : { part: place.part }),
      detail: detail === null ? null : detail.slice(0, DETAIL_LIMIT),
    });
  }

  get findings(): readonly Finding[] {
    return this.#kept;
  }

  /** Findings beyond those that are kept. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The codes of all fatal findings, of those too that are not kept. */
  get fatal(): ReadonlySet<FindingCode> {
    return this.#fatal;
  }

  /** The smallest entry that is known to be bad; where none is, the beginning of the first range that holds one. */
  get firstBadSeq(): number | null {
    if (this.#firstExact !== Infinity) return this.#firstExact;
    return this.#firstRange === null ? null : this.#firstRange[0];
  }

  /** The range that {@link firstBadSeq} is the beginning of; null where that is the bad entry itself. */
  get firstBadRange(): EntryRange | null {
    const range = this.#firstExact === Infinity ? this.#firstRange : null;
    return range === null || range[0] === range[1] ? null : range;
  }
}
