/** A simulated reviewer's history through the real engine. */
import type { VerdictStatus } from "../domain/enums.ts";
import type { ModelDocument } from "../scoring/model.ts";
import { readState } from "../scoring/reading.ts";
import { advance } from "../scoring/reducer.ts";
import type { OperatorState } from "../scoring/state.ts";
import { drawCase, driftAt, type Environment, type Operator } from "./archetypes.ts";
import { counted, NO_TALLY, type Tally } from "./baselines.ts";
import { instantOf } from "./clock.ts";
import type { Random } from "./random.ts";

/** The score and state of an operator after some interactions. */
export interface ScoreSnapshot {
  /** Interactions so far. */
  readonly after: number;
  readonly jis: number;
  /** Bounds of the interval. */
  readonly low: number;
  readonly high: number;
  /** Null with the formulas before `jis-3`, which give no verdict. */
  readonly status: VerdictStatus | null;
  /** The moving averages and the displayed score are not kept: nothing that is measured reads them. */
  readonly state: OperatorState;
  /** Counts from which simple measures are computed. */
  readonly tally: Tally;
}

/** An operator after some interactions, not read yet: reading costs far more than an interaction. */
export interface Step {
  /** Interactions so far. */
  readonly after: number;
  read(): ScoreSnapshot;
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
  const steps = stepsOf(() => operator, options);
  for (let after = 1; after <= lengths.at(-1)!; after += 1) {
    const step = steps.next().value;
    if (lengths.includes(after)) snapshots.push(step.read());
  }
  return snapshots;
}

/** An endless history, one step for each interaction; `operatorAt` gives the operator at an interaction, counted from 0. */
export function* stepsOf(
  operatorAt: (index: number) => Operator,
  { model, environment, random }: Omit<HistoryOptions, "lengths">,
): Generator<Step, never> {
  let state: OperatorState | null = null;
  let tally = NO_TALLY;
  for (let index = 0;; index += 1) {
    const { interaction, domain } = drawCase(operatorAt(index), index, environment, random);
    const advanced = advance(model, state, {
      interaction,
      domain,
      now: instantOf(index, environment.daysBetween),
    });
    const now = advanced.state;
    state = now;
    tally = counted(tally, interaction, advanced.evidence);
    const own = tally;
    yield {
      after: index + 1,
      read() {
        const { jis, uncertainty: { low, high }, judgment } = readState(model, now, { domain, mode: "full" });
        const status = judgment?.verdict.status ?? null;
        return { after: index + 1, jis, low, high, status, state: now, tally: own };
      },
    };
  }
}

/**
 * J*, -1..1: how much better than chance an operator tells wrong advice from right at an interaction, from
 * 0, on a case that the operator judges.
 */
export function discrimination({ theta, skill, goesAlong }: Operator, index: number): number {
  if (goesAlong !== undefined) return goesAlong.whenRight - goesAlong.whenWrong;
  return driftAt(theta, index) * (1.5 * driftAt(skill, index) - 0.5);
}
