/**
 * Frozen calls of an operator are linked to one another, as scores are: a deleted call leaves a gap, and the
 * number of calls between two of them is a difference of counts.
 */
import type { FrozenOperatorRow, SkippedInteractionRow } from "../../store/records.ts";

/** Position of an operator's last frozen call, with the count and the time range of all of them. */
export type LastFrozen = Pick<FrozenOperatorRow, "position" | "n" | "t0" | "t1">;

/** The link of a frozen call: the call before it, and the count and time range of the calls up to it. */
export type FrozenLink = LastFrozen & Pick<SkippedInteractionRow, "previous">;

/**
 * The link of an operator's next frozen call.
 * @param before the frozen call before it; null if there is none.
 * @param call instant of the next call, epoch milliseconds, and its position.
 */
export function frozenLink(
  before: LastFrozen | null,
  { at, position }: { readonly at: number; readonly position: number },
): FrozenLink {
  return {
    position,
    previous: before?.position ?? null,
    n: (before?.n ?? 0) + 1,
    t0: before?.t0 ?? at,
    // If the clock goes back, a later call still does not come before an earlier one.
    t1: Math.max(before?.t1 ?? at, at),
  };
}

/** The columns that a frozen call writes into its operator's row. */
export function lastFrozen({ position, n, t0, t1 }: LastFrozen): LastFrozen {
  return { position, n, t0, t1 };
}
