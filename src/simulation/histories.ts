/** A simulated reviewer's history through the real engine. */
import { score, type Scored } from "../scoring/score.ts";
import { type OperatorState } from "../scoring/state.ts";
import { DAY_MS } from "../domain/time.ts";
import type { ModelDocument } from "../scoring/model.ts";
import { drawInteraction, driftAt, type Environment, type Operator } from "./archetypes.ts";
import type { Random } from "./random.ts";

/**
 * A history begins at 2026-01-05, a Monday, and has this many cases a day, evenly spread. Weekends and
 * working hours are not simulated.
 */
const START_AT = Date.UTC(2026, 0, 5);
const CASES_PER_DAY = 8;

/** The score and state of an operator after some interactions. */
export interface ScoreSnapshot {
  /** Interactions so far. */
  readonly after: number;
  readonly jis: number;
  /** Bounds of the interval. */
  readonly low: number;
  readonly high: number;
  readonly provisional: boolean;
  readonly state: OperatorState;
}

export interface HistoryOptions {
  readonly model: ModelDocument;
  readonly environment: Environment;
  /** Source of the draws for the cases. */
  readonly random: Random;
  /** Numbers of interactions after which a snapshot is taken, in rising order; the last ends the history. */
  readonly lengths: readonly number[];
}

/** One snapshot for each length. */
export function runHistory(operator: Operator, options: HistoryOptions): readonly ScoreSnapshot[] {
  const { lengths } = options;
  const snapshots: ScoreSnapshot[] = [];
  const steps = snapshotsAfterEach(() => operator, options);
  for (let after = 1; after <= lengths.at(-1)!; after += 1) {
    const snapshot = steps.next().value;
    if (lengths.includes(after)) snapshots.push(snapshot);
  }
  return snapshots;
}

/**
 * An endless sequence of snapshots, one after each interaction; `operatorAt` gives the operator at an interaction, counted
 * from 0.
 */
export function* snapshotsAfterEach(
  operatorAt: (index: number) => Operator,
  { model, environment, random }: Omit<HistoryOptions, "lengths">,
): Generator<ScoreSnapshot, never> {
  let state: OperatorState | null = null;
  for (let index = 0;; index += 1) {
    const event = {
      interaction: drawInteraction(operatorAt(index), index, environment, random),
      domain: environment.domain,
      now: START_AT + Math.floor(index * DAY_MS / CASES_PER_DAY),
    };
    const scored: Scored = score(model, state, event, { mode: "full", modeOverride: "normal" });
    state = scored.state;
    const { jis, provisional, uncertainty: { low, high } } = scored.result;
    yield { after: index + 1, jis, low, high, provisional, state };
  }
}

/**
 * J*, -0.5..1: how much better than chance an operator tells wrong advice from right at an interaction, from
 * 0.
 */
export function discrimination({ theta, skill }: Operator, index: number): number {
  return driftAt(theta, index) * (1.5 * driftAt(skill, index) - 0.5);
}
