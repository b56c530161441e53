/** The scores of recorded histories under a model other than the one with which they were recorded. */
import type { Band } from "../../domain/enums.ts";
import { roundTo } from "../arithmetic.ts";
import { bandOf } from "../dimensions.ts";
import { applyLabel, type LateLabel } from "../label.ts";
import type { ModelDocument } from "../model.ts";
import type { EventWeights, ScoringEvent } from "../reducer.ts";
import { score } from "../score.ts";
import type { OperatorState } from "../state.ts";

/** An event of an operator as it was recorded, with the state that it started from. */
interface Recorded {
  readonly operatorId: string;
  readonly sessionId: string;
  readonly state: OperatorState | null;
}

export class Recomputation {
  readonly #model: ModelDocument;
  readonly #isLabelledLate: (sessionId: string) => boolean;
  readonly #states = new Map<string, OperatorState>();
  readonly #weights = new Map<string, EventWeights>();

  /** `isLabelledLate` is true for the sessions whose weights are needed again. */
  constructor(model: ModelDocument, isLabelledLate: (sessionId: string) => boolean) {
    this.#model = model;
    this.#isLabelledLate = isLabelledLate;
  }

  /** Scores an interaction. The operator's earlier interactions must have been scored before it. */
  score(recorded: Recorded, event: ScoringEvent): void {
    const options = { mode: "full", modeOverride: "normal" } as const;
    const { state, weights } = score(this.#model, this.#stateBefore(recorded), event, options);
    this.#states.set(recorded.operatorId, state);
    if (this.#isLabelledLate(recorded.sessionId)) this.#weights.set(recorded.sessionId, weights);
  }

  /**
   * Applies a late label with this model's weights of its case, or the recorded ones if it did not score the
   * case.
   */
  label(recorded: Recorded, label: LateLabel): void {
    const state = this.#stateBefore(recorded);
    if (state === null) return;
    const weights = this.#weights.get(recorded.sessionId) ?? label.weights;
    this.#states.set(recorded.operatorId, applyLabel(this.#model, state, { ...label, weights }));
  }

  /** The last full-mode JIS of each operator. */
  *scores(): Generator<
    { readonly operatorId: string; readonly interactions: number; readonly jis: number; readonly band: Band }
  > {
    for (const [operatorId, { n, jis }] of this.#states) {
      if (jis !== null) yield { operatorId, interactions: n, jis, band: bandOf(this.#model, jis) };
    }
  }

  /**
   * The state before a record: that of the records scored so far, or else the recorded one. null for a new
   * operator.
   */
  #stateBefore({ operatorId, state }: Recorded): OperatorState | null {
    return state === null ? null : this.#states.get(operatorId) ?? state;
  }
}

interface ScoreChange {
  readonly operator_id: string;
  readonly interactions: number;
  readonly before: number;
  readonly after: number;
  readonly band_before: Band;
  readonly band_after: Band;
}

export interface Comparison {
  readonly operators: number;
  /** Mean of after − before, points, to two decimals; null without operators. */
  readonly mean_change: number | null;
  /** Operators whose band changes, by direction. */
  readonly bands: readonly { readonly from: Band; readonly to: Band; readonly operators: number }[];
  /** The operators whose score changes most, the largest change first. */
  readonly largest: readonly ScoreChange[];
}

/** Compares the scores of the same operators under two models. */
export function compareScores(before: Recomputation, after: Recomputation, largest: number): Comparison {
  const old = new Map([...before.scores()].map((row) => [row.operatorId, row]));
  const changes = [...after.scores()].map(({ operatorId, interactions, jis, band }): ScoreChange => {
    const was = old.get(operatorId)!;
    return {
      operator_id: operatorId,
      interactions,
      before: was.jis,
      after: jis,
      band_before: was.band,
      band_after: band,
    };
  });
  changes.sort((one, other) =>
    Math.abs(other.after - other.before) - Math.abs(one.after - one.before) ||
    (one.operator_id < other.operator_id ? -1 : 1)
  );
  const moves = Map.groupBy(
    changes.filter(({ band_before, band_after }) => band_before !== band_after),
    ({ band_before, band_after }) => `${band_before} ${band_after}`,
  );
  const sum = changes.reduce((total, row) => total + row.after - row.before, 0);
  return {
    operators: changes.length,
    mean_change: changes.length === 0 ? null : roundTo(sum / changes.length, 2),
    bands: [...moves.keys()].sort().map((key) => {
      const [{ band_before: from, band_after: to }] = moves.get(key)! as [ScoreChange];
      return { from, to, operators: moves.get(key)!.length };
    }),
    largest: changes.slice(0, largest),
  };
}
