/** Scored samples of simulated reviewers, and the figures measured on them. */
import type { ModelDocument } from "../scoring/model.ts";
import type { VerdictStatus } from "../domain/enums.ts";
import type { Environment, Operator } from "./archetypes.ts";
import { type FieldName, fittedTo } from "./field.ts";
import { runHistory, type ScoreSnapshot } from "./histories.ts";
import { drawFrom, environmentOf, type PopulationName } from "./populations.ts";
import { seeded } from "./random.ts";
import { shareOf } from "./statistics.ts";

const LENGTHS = [10, 25, 50, 100, 200] as const;

/** The bounds that a figure must meet. */
export interface Target {
  readonly least?: number;
  readonly most?: number;
  /** Standard errors of the figure by which it may miss a bound; 0 if absent. */
  readonly errors?: number;
}

/** A figure of one seed. */
export interface Measured {
  readonly measure: string;
  /** The population, group or environment that was measured. */
  readonly of: string;
  /** Interactions before the measurement; null if their number says nothing. */
  readonly after: number | null;
  readonly value: number;
  /** Standard error of the value, if it is known. */
  readonly error?: number;
  /** Absent if the figure is only reported. */
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

/** Settings that a sample may have of its own. */
export interface SampleOptions {
  /** The population's own environment if absent. */
  readonly environment?: Environment;
  readonly change?: (operator: Operator) => Operator;
  readonly lengths?: readonly number[];
}

const samples = new WeakMap<Run, Map<PopulationName, readonly Scored[]>>();

/**
 * Operators of a population, each with a history of its own: the same for the same seed. A sample without options is
 * drawn once in a run, since several measures read it.
 */
export function scoredOf(
  run: Run,
  population: PopulationName,
  options?: SampleOptions,
): readonly Scored[] {
  if (options !== undefined) return draw(run, population, options);
  const ofRun = samples.get(run) ?? new Map<PopulationName, readonly Scored[]>();
  samples.set(run, ofRun);
  const scored = ofRun.get(population) ?? draw(run, population, {});
  ofRun.set(population, scored);
  return scored;
}

const fitted = new WeakMap<Run, Map<FieldName, Run>>();

/** The run with the model fitted to a study's people, made once, so that its samples are drawn once. */
export function fittedRun(run: Run, name: FieldName): Run {
  const ofRun = fitted.get(run) ?? new Map<FieldName, Run>();
  fitted.set(run, ofRun);
  const made = ofRun.get(name) ?? { ...run, model: fittedTo(run.model, name) };
  ofRun.set(name, made);
  return made;
}

/** How a figure names a population that is scored with the model fitted to it. */
export function fittedName(name: FieldName): string {
  return `${name}, fitted prior`;
}

function draw(
  { model, seed, operators }: Run,
  population: PopulationName,
  { environment = environmentOf(population), change = (operator) => operator, lengths = LENGTHS }:
    SampleOptions,
): readonly Scored[] {
  return Array.from({ length: operators }, (_, index) => {
    const name = `${seed}/${population}/${index}`;
    const operator = change(drawFrom(population, seeded(name)));
    const random = seeded(`${name}/history`);
    return { operator, snapshots: runHistory(operator, { model, environment, random, lengths }) };
  });
}

/** The snapshot after so many interactions. @throws {RangeError} if none was taken there. */
export function snapshotAfter({ snapshots }: Scored, after: number): ScoreSnapshot {
  const snapshot = snapshots.find((one) => one.after === after);
  if (snapshot === undefined) throw new RangeError(`no snapshot after ${after} interactions`);
  return snapshot;
}

export function jisAfter(scored: readonly Scored[], after: number): readonly number[] {
  return scored.map((one) => snapshotAfter(one, after).jis);
}

/** The share of operators, 0..1, whose verdict has this status. */
export function statusShare(scored: readonly Scored[], after: number, status: VerdictStatus): number {
  return shareOf(scored, (one) => snapshotAfter(one, after).status === status);
}
