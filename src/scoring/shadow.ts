/**
 * The changes that a candidate model would make, in figures: the same interactions scored by the model in use
 * and by the candidate, summed up. A difference is always candidate minus model in use.
 */
import { type Band, BANDS, COMPLIANCE_STATUSES, type ComplianceStatus } from "../domain/enums.ts";
import { roundTo } from "./arithmetic.ts";
import type { ScoreResult } from "./score.ts";

/** The figures of an answer that are compared. */
export interface Figures {
  /** JIS of the requested mode, 0..100. */
  readonly jis: number;
  readonly band: Band;
  readonly status: ComplianceStatus;
}

/** One interaction, as both models score it. */
export interface Comparison {
  readonly inUse: Figures;
  readonly candidate: Figures;
}

export function figuresOf(
  { jis, band, compliance }: Pick<ScoreResult, "jis" | "band"> & {
    readonly compliance: Pick<ScoreResult["compliance"], "status">;
  },
): Figures {
  return { jis, band, status: compliance.status };
}

/** The difference in JIS points, -100..100, exact to two decimals as a JIS is. */
export function differenceOf({ inUse, candidate }: Comparison): number {
  return roundTo(candidate.jis - inUse.jis, 2);
}

export type Direction = "higher" | "lower" | "same";

/**
 * The candidate's placing of an operator relative to the model in use. Both lists of names begin with the
 * best.
 */
export function directionsOf(
  { inUse, candidate }: Comparison,
): { readonly band: Direction; readonly status: Direction } {
  const direction = <Name>(names: readonly Name[], from: Name, to: Name): Direction => {
    const steps = names.indexOf(from) - names.indexOf(to);
    return steps === 0 ? "same" : steps > 0 ? "higher" : "lower";
  };
  return {
    band: direction(BANDS, inUse.band, candidate.band),
    status: direction(COMPLIANCE_STATUSES, inUse.status, candidate.status),
  };
}

/** How many comparisons point in each direction. */
export function countDirections(directions: readonly Direction[]): Readonly<Record<Direction, number>> {
  const count = (wanted: Direction) => directions.filter((direction) => direction === wanted).length;
  return { higher: count("higher"), lower: count("lower"), same: count("same") };
}

/** The differences of some interactions; its size is bounded, however many there are. */
export interface Tally {
  readonly count: number;
  /** Sum of the differences, JIS points. */
  readonly sum: number;
  /** Number of differences of each size. The key is the size in tenths of a point, rounded. */
  readonly tenths: ReadonlyMap<number, number>;
}

export const EMPTY_TALLY: Tally = { count: 0, sum: 0, tenths: new Map() };

/** The tally with one more difference. */
export function tallied({ count, sum, tenths }: Tally, difference: number): Tally {
  const size = roundTo(difference * 10, 0);
  return {
    count: count + 1,
    sum: sum + difference,
    tenths: new Map(tenths).set(size, (tenths.get(size) ?? 0) + 1),
  };
}

/** Figures in JIS points. The mean is exact to two decimals, everything else to one. */
export interface DifferenceFigures {
  readonly mean: number;
  readonly min: number;
  readonly p05: number;
  readonly p25: number;
  readonly median: number;
  readonly p75: number;
  readonly p95: number;
  readonly max: number;
}

/**
 * Mean and quantiles over all interactions of some tallies; null if there is none. A quantile is the smallest
 * difference that at least that share of the differences does not exceed (Hyndman and Fan 1996, type 1).
 */
export function differenceFigures(tallies: readonly Tally[]): DifferenceFigures | null {
  const total = tallies.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return null;
  const counts = new Map<number, number>();
  for (const { tenths } of tallies) {
    for (const [size, count] of tenths) counts.set(size, (counts.get(size) ?? 0) + count);
  }
  const sizes = [...counts].sort(([one], [other]) => one - other);
  const quantile = (share: number): number => {
    let below = 0;
    const found = sizes.find(([, count]) => {
      below += count;
      return below >= share * total;
    });
    return found![0] / 10;
  };
  return {
    mean: roundTo(tallies.reduce((sum, tally) => sum + tally.sum, 0) / total, 2),
    min: sizes[0]![0] / 10,
    p05: quantile(0.05),
    p25: quantile(0.25),
    median: quantile(0.5),
    p75: quantile(0.75),
    p95: quantile(0.95),
    max: sizes.at(-1)![0] / 10,
  };
}
