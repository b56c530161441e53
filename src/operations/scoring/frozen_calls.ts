/** Frozen calls of an operator follow one another, as scores do: a deleted one leaves a gap, and a count is a difference. */
import type { FrozenOperatorRow, SkippedInteractionRow } from "../../store/records.ts";

/** What the last frozen call of an operator says of all of them. */
export type LastFrozen = Pick<FrozenOperatorRow, "position" | "n" | "t0" | "t1">;

/** What a frozen call says of those up to it. */
export type FrozenLink = LastFrozen & Pick<SkippedInteractionRow, "previous">;

/**
 * What an operator's next frozen call says of those up to it.
 * @param before the frozen call before it; null if there is none.
 * @param call its instant, epoch milliseconds, and its position.
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
    // A clock that goes back moves no call in front of one that came before it.
    t1: Math.max(before?.t1 ?? at, at),
  };
}

/** What a frozen call leaves in the row of its operator. */
export function lastFrozen({ position, n, t0, t1 }: LastFrozen): LastFrozen {
  return { position, n, t0, t1 };
}
