/**
 * The findings of one bundle. At most 64 are kept, but the facts that a verdict needs are kept from all.
 * Source: evidence design, section 8.
 */
import type { FindingCounts } from "./finding_groups.ts";
import { type EntryRange, type Finding, type FindingCode, FINDINGS } from "./findings.ts";
import { INPUT_FINDING_LIMIT } from "./limits.ts";

/** The most findings that are kept, and the most of them that are not fatal. */
const FINDING_LIMIT = 64;
const INFO_LIMIT = 16;
/** The most characters of a detail. */
const DETAIL_LIMIT = 200;

/** The number of findings that can still be kept. All bundles of an input share it. */
export interface FindingBudget {
  left: number;
}

/** The budget of one input. */
export function findingBudget(): FindingBudget {
  return { left: INPUT_FINDING_LIMIT };
}

/** The place of a finding, and details for an expert. */
export type Place = Partial<Omit<Finding, "code" | "fatal">>;

/** The findings of one bundle, in the order in which they came. */
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

  /** Counts findings without keeping them. One of the same code and a smaller entry must have been added. */
  drop(code: FindingCode, count: number): void {
    this.#count(code, count);
    this.#dropped += count;
  }

  get findings(): readonly Finding[] {
    return this.#kept;
  }

  /** The number of findings of each code, kept or not. */
  get counts(): FindingCounts {
    return this.#counts;
  }

  #count(code: FindingCode, count: number): void {
    this.#counts[code] = (this.#counts[code] ?? 0) + count;
  }

  /** The number of findings that were not kept. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The codes of all fatal findings, kept or not. */
  get fatal(): ReadonlySet<FindingCode> {
    return this.#fatal;
  }

  /** The smallest entry known to be bad; if there is none, the beginning of the first bad range. */
  get firstBadSeq(): number | null {
    if (this.#firstExact !== Infinity) return this.#firstExact;
    return this.#firstRange === null ? null : this.#firstRange[0];
  }

  /** The range that begins at {@link firstBadSeq}; null if that is the bad entry itself. */
  get firstBadRange(): EntryRange | null {
    const range = this.#firstExact === Infinity ? this.#firstRange : null;
    return range === null || range[0] === range[1] ? null : range;
  }
}

/** Copies a text to memory of its own: a slice keeps its source, often a line of the file, in memory. */
function ownCopy(text: string): string {
  return JSON.parse(JSON.stringify(text));
}
