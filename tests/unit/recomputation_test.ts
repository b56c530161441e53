/** Recorded histories under another model: as the engine would have scored them with it. */
import assert from "node:assert/strict";
import { compareScores, Recomputation } from "../../src/scoring/calibration/recomputation.ts";
import { bandOf } from "../../src/scoring/dimensions.ts";
import { applyLabel, type LateLabel } from "../../src/scoring/label.ts";
import type { ModelDocument } from "../../src/scoring/model.ts";
import type { ScoringEvent } from "../../src/scoring/reducer.ts";
import { score, type Scored } from "../../src/scoring/score.ts";
import type { OperatorState } from "../../src/scoring/state.ts";
import {
  type ArchetypeName,
  DEFAULT_ENVIRONMENT,
  drawInteraction,
  drawOperator,
} from "../../src/simulation/archetypes.ts";
import { seeded } from "../../src/simulation/random.ts";
import { JIS_1_1_0, JIS_2_0_0 } from "../models.ts";

const BEGIN = 1_780_304_400_000;
const HOUR_MS = 3_600_000;
const UNLABELLED = 20;
const LABELLED_AFTER = 40;

/** Two models with the same formulas, of which the second one gives lower scores. */
interface Pair {
  readonly builtIn: ModelDocument;
  readonly stricter: ModelDocument;
}

/** Reviews take four times as long. */
const BY_TIME: Pair = {
  builtIn: JIS_1_1_0,
  stricter: {
    ...JIS_1_1_0,
    domains: {
      ...JIS_1_1_0.domains,
      financial: { ...JIS_1_1_0.domains.financial!, fast_ms: 8_000, reference_ms: 60_000 },
    },
  },
};

/** A review costs more, so that its gain must be larger. */
const BY_COST: Pair = {
  builtIn: JIS_2_0_0,
  stricter: { ...JIS_2_0_0, discrimination: { ...JIS_2_0_0.discrimination!, review_cost: 0.12 } },
};

const PAIRS = [BY_TIME, BY_COST];

function forEachPair(name: string, holds: (pair: Pair) => void): void {
  for (const pair of PAIRS) Deno.test(`${name}, ${pair.builtIn.version}`, () => holds(pair));
}

/** Sixty cases of an operator. The truth of one of them is not known at first. */
function historyOf(archetype: ArchetypeName, name: string): readonly ScoringEvent[] {
  const random = seeded(name);
  const operator = drawOperator(archetype, random);
  return Array.from({ length: 60 }, (_, index): ScoringEvent => {
    const drawn = drawInteraction(operator, index, DEFAULT_ENVIRONMENT, random);
    const interaction = index !== UNLABELLED
      ? drawn
      : { ...drawn, scenario_type: "standard", decision: "accepted", outcome_correct: null } as const;
    return { interaction, domain: "financial", now: BEGIN + index * HOUR_MS };
  });
}

interface Step {
  readonly sessionId: string;
  readonly before: OperatorState | null;
  readonly event: ScoringEvent;
  /** The label that comes after this case, and the state to which it is applied. */
  readonly label: { readonly late: LateLabel; readonly before: OperatorState } | null;
}

/** The history with one late label as a model scores it, and its last JIS. */
function recordedUnder(model: ModelDocument, history: readonly ScoringEvent[]) {
  let state: OperatorState | null = null;
  let late: LateLabel | null = null;
  const steps: Step[] = [];
  for (const [index, event] of history.entries()) {
    const before: OperatorState | null = state;
    const scored: Scored = score(model, before, event, { mode: "full", modeOverride: "normal" });
    const { decision, scenario_type } = event.interaction;
    if (index === UNLABELLED) {
      late = { weights: scored.weights, decision, scenario_type, outcome_correct: true };
    }
    const label = index === LABELLED_AFTER ? { late: late!, before: scored.state } : null;
    state = label === null ? scored.state : applyLabel(model, scored.state, label.late);
    steps.push({ sessionId: String(index), before, event, label });
  }
  return { steps, jis: state!.jis! };
}

function take(recomputation: Recomputation, operatorId: string, steps: readonly Step[]): void {
  for (const { sessionId, before, event, label } of steps) {
    recomputation.score({ operatorId, sessionId, state: before }, event);
    if (label === null) continue;
    recomputation.label({ operatorId, sessionId: String(UNLABELLED), state: label.before }, label.late);
  }
}

function recomputed(
  model: ModelDocument,
  histories: Readonly<Record<string, readonly Step[]>>,
): Recomputation {
  const recomputation = new Recomputation(model, (sessionId) => sessionId === String(UNLABELLED));
  for (const [operatorId, steps] of Object.entries(histories)) take(recomputation, operatorId, steps);
  return recomputation;
}

forEachPair(
  "a recorded history is scored as another model would have done, its late label with that model's weights",
  ({ builtIn, stricter }) => {
    const history = historyOf("independent", "ada");
    const { steps, jis } = recordedUnder(builtIn, history);
    const other = recordedUnder(stricter, history).jis;
    assert.notEqual(jis, other);
    const lastOf = (model: ModelDocument) => [...recomputed(model, { ada: steps }).scores()];
    assert.deepEqual(lastOf(builtIn), [{
      operatorId: "ada",
      interactions: 60,
      jis,
      band: bandOf(builtIn, jis),
    }]);
    assert.deepEqual(lastOf(stricter), [{
      operatorId: "ada",
      interactions: 60,
      jis: other,
      band: bandOf(stricter, other),
    }]);
  },
);

forEachPair(
  "a history without its beginning continues from its first recorded state, with a label of a missing case",
  ({ builtIn }) => {
    const { steps, jis } = recordedUnder(builtIn, historyOf("fast_expert", "bea"));
    const [only] = [...recomputed(builtIn, { bea: steps.slice(30) }).scores()];
    assert.deepEqual([only!.interactions, only!.jis], [60, jis]);
  },
);

forEachPair("an operator who returns after an erasure starts anew", ({ builtIn }) => {
  const { steps } = recordedUnder(builtIn, historyOf("independent", "cem"));
  const again = recordedUnder(builtIn, historyOf("independent", "cem again"));
  const [only] = [...recomputed(builtIn, { cem: [...steps, ...again.steps] }).scores()];
  assert.deepEqual([only!.interactions, only!.jis], [60, again.jis]);
});

forEachPair(
  "the comparison has every operator, the moves between bands by direction, and the largest moves",
  ({ builtIn, stricter }) => {
    const names: Readonly<Record<string, ArchetypeName>> = {
      ada: "independent",
      bea: "fast_expert",
      cem: "rubber_stamper",
      dan: "independent",
      eva: "slow_rubber",
    };
    const histories = Object.fromEntries(
      Object.entries(names).map(([name, archetype]) => [name, historyOf(archetype, name)]),
    );
    const steps = Object.fromEntries(
      Object.entries(histories).map(([name, history]) => [name, recordedUnder(builtIn, history).steps]),
    );
    const rows = Object.entries(histories).map(([operator_id, history]) => {
      const [before, after] = [builtIn, stricter].map((model) => recordedUnder(model, history).jis) as [
        number,
        number,
      ];
      return {
        operator_id,
        interactions: 60,
        before,
        after,
        band_before: bandOf(builtIn, before),
        band_after: bandOf(stricter, after),
      };
    }).sort((one, other) => Math.abs(other.after - other.before) - Math.abs(one.after - one.before));
    const comparison = compareScores(recomputed(builtIn, steps), recomputed(stricter, steps), 3);
    assert.deepEqual(comparison.largest, rows.slice(0, 3));
    assert.equal(comparison.operators, 5);
    const mean = rows.reduce((sum, { before, after }) => sum + after - before, 0) / 5;
    assert.ok(mean < 0 && Math.abs(comparison.mean_change! - mean) <= 0.005 + 1e-9);
    const moved = rows.filter(({ band_before, band_after }) => band_before !== band_after);
    assert.ok(moved.length > 0);
    for (const { from, to, operators } of comparison.bands) {
      const same = moved.filter(({ band_before, band_after }) => band_before === from && band_after === to);
      assert.equal(operators, same.length);
    }
    assert.equal(comparison.bands.reduce((sum, { operators }) => sum + operators, 0), moved.length);
  },
);

forEachPair("without operators there is nothing to compare", ({ builtIn, stricter }) => {
  const [none, neither] = [recomputed(builtIn, {}), recomputed(stricter, {})];
  assert.deepEqual(compareScores(none, neither, 3), {
    operators: 0,
    mean_change: null,
    bands: [],
    largest: [],
  });
});
