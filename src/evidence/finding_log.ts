/**
 * The findings of one bundle: at most 64 of them are kept, but what a verdict needs is kept of all.
 * Source: evidence design, section 8.
 */
import type { FindingCounts } from "./finding_groups.ts";
import { type EntryRange, type Finding, type FindingCode, FINDINGS } from "./findings.ts";
import { INPUT_FINDING_LIMIT } from "./limits.ts";

/** Findings that are kept, and how many of them may be such as are not fatal. */
const FINDING_LIMIT = 64;
const INFO_LIMIT = 16;
/** Characters. */
const DETAIL_LIMIT = 200;

/** How many more findings are kept of a whole input, whose bundles share it. */
export interface FindingBudget {
  left: number;
}

/** The budget of one input. */
export function findingBudget(): FindingBudget {
  return { left: INPUT_FINDING_LIMIT };
}

/** Where a finding is, and what an expert should look at. */
export type Place = Partial<Omit<Finding, "code" | "fatal">>;

/** The findings of one bundle, in the order in which they came; what a verdict needs is kept of all of them. */
export class FindingLog {
  readonly #budget: FindingBudget;
  readonly #kept: Finding[] = [];
  #infos = 0;
  #dropped = 0;
  readonly #counts: Partial<Record<FindingCode, number>> = {};
  #firstExact = Infinity;
  #firstRange: EntryRange | null = null;
  readonly #fatal = new Set<FindingCode>();

  constructor(budget = findingBudget()) {
    this.#budget = budget;
  }

  add(code: FindingCode, place: Place = {}): void {
    const { fatal, exact } = FINDINGS[code];
    const { seq = null, range = null, line = null, detail = null } = place;
    const isFirstFatal = fatal && this.#fatal.size === 0;
    this.#count(code, 1);
    if (fatal) {
      this.#fatal.add(code);
      const within = range ?? (seq === null ? null : [seq, seq] as const);
      if (exact && seq !== null) this.#firstExact = Math.min(this.#firstExact, seq);
      else if (within !== null && within[0] < (this.#firstRange?.[0] ?? Infinity)) this.#firstRange = within;
    }
    const isFull = this.#kept.length >= FINDING_LIMIT || (!fatal && this.#infos >= INFO_LIMIT);
    if (isFull || (this.#budget.left <= 0 && !isFirstFatal)) {
      this.#dropped += 1;
      return;
    }
    this.#budget.left -= 1;
    if (!fatal) this.#infos += 1;
    this.#kept.push({
      code,
      fatal,
      seq,
      range,
      line,
      ...(place.part === undefined ? {} : { part: place.part }),
      detail: detail === null ? null : ownCopy(detail.slice(0, DETAIL_LIMIT)),
    });
  }

  /** Counts findings that are not kept, of a code of which there is one that is, at a smaller entry. */
  drop(code: FindingCode, count: number): void {
    this.#count(code, count);
    this.#dropped += count;
  }

  get findings(): readonly Finding[] {
    return this.#kept;
  }

  /** Of each code how many there are, kept or not. */
  get counts(): FindingCounts {
    return this.#counts;
  }

  #count(code: FindingCode, count: number): void {
    this.#counts[code] = (this.#counts[code] ?? 0) + count;
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

/** The same text in memory of its own: a piece of a text keeps all of it, which may be a whole line of the file. */
function ownCopy(text: string): string {
  return JSON.parse(JSON.stringify(text));
}
