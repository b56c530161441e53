/** Scored samples of simulated reviewers, and the figures measured on them. */
import type { ModelDocument } from "../scoring/model.ts";
import { DEFAULT_ENVIRONMENT, type Environment, type Operator } from "./archetypes.ts";
import { runHistory, type ScoreSnapshot } from "./histories.ts";
import { drawFrom, type PopulationName } from "./populations.ts";
import { seeded } from "./random.ts";

const LENGTHS = [10, 25, 50, 100, 200] as const;

/** The bounds that a figure must meet; without either bound the figure is only reported. */
export interface Target {
  readonly least?: number;
  readonly most?: number;
}

/** A figure of one seed. */
export interface Measured {
  readonly measure: string;
  /** The population, group or environment that was measured. */
  readonly of: string;
  /** Interactions before the measurement; null if their number says nothing. */
  readonly after: number | null;
  readonly value: number;
  readonly target?: Target;
}

export interface Run {
  readonly model: ModelDocument;
  readonly seed: number;
  readonly operators: number;
}

/** One operator with the snapshots of its history. */
export interface Scored {
  readonly operator: Operator;
  readonly snapshots: readonly ScoreSnapshot[];
}

/** Operators of a population, each with a history of its own: the same for the same seed. */
export function scoredOf(
  { model, seed, operators }: Run,
  population: PopulationName,
  { environment = DEFAULT_ENVIRONMENT, change = (operator: Operator) => operator, lengths = LENGTHS }: {
    readonly environment?: Environment;
    readonly change?: (operator: Operator) => Operator;
    readonly lengths?: readonly number[];
  } = {},
): readonly Scored[] {
  return Array.from({ length: operators }, (_, index) => {
    const name = `${seed}/${population}/${index}`;
    const operator = change(drawFrom(population, seeded(name)));
    const random = seeded(`${name}/history`);
    return { operator, snapshots: runHistory(operator, { model, environment, random, lengths }) };
  });
}

export function jisAfter(scored: readonly Scored[], after: number): readonly number[] {
  return scored.map(({ snapshots }) => snapshots.find((snapshot) => snapshot.after === after)!.jis);
}
