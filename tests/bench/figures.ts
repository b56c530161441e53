/** The results of a bench: ratios with their goals, or why there is none; and shared arithmetic. */

/** A quantity that was measured. */
export interface Figure {
  /** The measured quantity, in words. */
  readonly of: string;
  readonly value: number;
  readonly unit: Unit;
}

export type Unit = "µs" | "ms" | "per second" | "MiB";

export type Goal = { readonly atLeast: number } | { readonly atMost: number };

/** `measured` divided by `baseline`, both of the same run. */
export interface Ratio {
  readonly name: string;
  readonly baseline: Figure;
  readonly measured: Figure;
  readonly goal: Goal;
}

/** A measurement that could not be made here, and the reason. */
export interface Skipped {
  readonly name: string;
  readonly skipped: string;
  /** Whether that is a failure, rather than something that this machine lacks. */
  readonly isFault?: true;
}

export type Row = Ratio | Skipped;

export interface BenchOptions {
  /** Few and short rounds, for working on the bench itself; the figures mean little. */
  readonly quick: boolean;
}

export function isRatio(row: Row): row is Ratio {
  return "goal" in row;
}

export function ratioOf({ measured, baseline }: Ratio): number {
  return measured.value / baseline.value;
}

/** By what factor the goal is missed; 1 or less if it is met. */
export function missOf(row: Ratio): number {
  const ratio = ratioOf(row);
  return "atLeast" in row.goal ? row.goal.atLeast / ratio : ratio / row.goal.atMost;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** `share` is 0..1; the lower of two values if the place falls between them. */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new RangeError("no values");
  return values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))]!;
}

/** Milliseconds. */
export async function timed(run: () => unknown): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}
