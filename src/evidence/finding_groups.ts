/** Groups findings for a reader: the first of each kind, and how many more there are. */
import { type Finding, type FindingCode, FINDINGS } from "./findings.ts";

/** The number of findings of each code, including those that are not kept. */
export type FindingCounts = Readonly<Partial<Record<FindingCode, number>>>;

export interface FindingGroup<Found extends Finding> {
  readonly code: FindingCode;
  readonly fatal: boolean;
  /** null if none of the kind is kept. */
  readonly first: Found | null;
  /** Text about the others, such as `and 8 more of this kind: entries 4, 5, 6`; null if there are none. */
  readonly others: string | null;
}

/** The most places that are named for the other findings of one kind. */
const NAMED_PLACES = 8;

/**
 * Groups findings by kind, in the order in which each was first found; kinds with no kept finding come last.
 */
export function groupFindings<Found extends Finding & { readonly file?: string | null }>(
  { findings, counts }: { readonly findings: readonly Found[]; readonly counts: FindingCounts },
): readonly FindingGroup<Found>[] {
  const kept = Map.groupBy(findings, ({ code }) => code);
  const codes = new Set([...kept.keys(), ...Object.keys(counts) as FindingCode[]]);
  return [...codes].map((code) => {
    const [first = null, ...others] = kept.get(code) ?? [];
    const more = (counts[code] ?? others.length + 1) - 1;
    const { fatal } = FINDINGS[code];
    if (first === null) {
      const others = `${more + 1} of this kind; the list of findings was full before the first of them`;
      return { code, fatal, first, others };
    }
    return {
      code,
      fatal,
      first,
      others: more === 0 ? null : `and ${more} more of this kind${placesOf(others, more)}`,
    };
  });
}

/**
 * Text that names the places of the others: entries, or lines of one file; empty if neither fits them all.
 */
function placesOf(others: readonly (Finding & { readonly file?: string | null })[], more: number): string {
  const named = others.slice(0, NAMED_PLACES);
  const rest = more > named.length ? " and others" : "";
  const list = (what: string, numbers: readonly (number | null)[]) =>
    named.length === 0 || numbers.includes(null) ? null : `: ${what} ${numbers.join(", ")}${rest}`;
  const isOneFile = new Set(named.map(({ file = null }) => file)).size === 1;
  return list("entries", named.map(({ seq, range }) => range === null ? seq : null)) ??
    (isOneFile ? list("lines", named.map(({ line }) => line)) : null) ?? "";
}
