/** The model's worked examples, intervals and arithmetic, to the last digit. */
import assert from "node:assert/strict";
import { type Dimension, DIMENSIONS, type Domain, type Mode } from "../../src/domain/enums.ts";
import { recordedInteractionSchema } from "../../src/domain/interaction.ts";
import { exp, ln } from "../../src/scoring/arithmetic.ts";
import { projectDecay } from "../../src/scoring/decay.ts";
import { dimensionsOf, type FullDimensions, jisOf } from "../../src/scoring/dimensions.ts";
import { scoreDecision } from "../../src/scoring/drs.ts";
import { recommendExercises } from "../../src/scoring/maintenance.ts";
import { score } from "../../src/scoring/score.ts";
import { bucketMeans, minimumDataMet, type OperatorState, stateSchema } from "../../src/scoring/state.ts";
import { JIS_1_0_0 as model } from "../models.ts";
import examples from "../vectors/scoring/examples.json" with { type: "json" };
import patterns from "../vectors/scoring/exp-ln.json" with { type: "json" };
import intervals from "../vectors/scoring/uncertainty.json" with { type: "json" };

// deno-lint-ignore no-explicit-any
const cases = examples.examples as any[];
const ofKind = (kind: string) => cases.filter((example) => example.kind === kind);

for (const example of ofKind("score")) {
  Deno.test(`worked example ${example.name} is reproduced to the last digit`, () => {
    const { domain, ...fields } = example.interaction;
    const event = {
      interaction: recordedInteractionSchema.parse(fields),
      domain,
      now: Date.parse(example.now),
    };
    const options = {
      mode: (example.options.mode ?? "full") as Mode,
      modeOverride: example.options.mode_override ?? "normal",
    };
    const before = structuredClone(example.state_before ?? null);
    const scored = score(model, before, event, options);
    assert.deepEqual(before, example.state_before ?? null, "the given state is not changed");
    if (options.modeOverride === "incident_frozen") {
      assert.deepEqual(scored.result, example.result);
      return;
    }
    assert.deepEqual(scored.state, example.state_after);
    assert.ok("uncertainty" in scored.result);
    const { uncertainty, ...result } = scored.result;
    assert.deepEqual(result, example.result);
    const interval = intervals.cases.find((row) => row.name === example.name);
    assert.deepEqual(uncertainty, interval?.uncertainty);
    stateSchema.parse(scored.state);
  });
}

/** The vectors use the routes' older names (scoring model, Read first, point 5). */
const ROUTE_NAMES: Record<string, string> = {
  auto_proceed: "auto",
  standard_review: "review",
  must_review: "must_review",
  escalate: "escalation",
};

for (const example of ofKind("drs")) {
  Deno.test(`worked example ${example.name} is reproduced`, () => {
    const { domain, ...fields } = example.decision;
    const result = scoreDecision(model, example.state_before ?? null, {
      interaction: recordedInteractionSchema.parse(fields),
      domain,
      stakes: null,
      now: Date.parse(example.now),
    });
    assert.equal(result.decision_risk_score, example.result.decision_risk_score / 100);
    assert.equal(result.routing_decision, ROUTE_NAMES[example.result.routing_decision]);
    assert.equal(result.policy_triggers.length, 7);
    assert.deepEqual(
      result.policy_triggers.filter((row) => row.triggered).map((row) => [row.policy, row.minimum_route]),
      example.result.policy_triggers.map((
        row: { policy: string; minimum_route: string },
      ) => [row.policy, ROUTE_NAMES[row.minimum_route]]),
    );
    assert.deepEqual(
      Object.fromEntries(result.factors.map((factor) => [factor.name, factor.value])),
      example.result.components,
    );
  });
}

for (const example of ofKind("maintenance")) {
  Deno.test(`worked example ${example.name} is reproduced`, () => {
    const state = example.state_before as OperatorState;
    const domain: Domain = "financial";
    const now = Date.parse(example.now);
    const dimensions = dimensionsOf(model, bucketMeans(model, state, domain), "full") as FullDimensions;
    const jis = jisOf(model, dimensions, "full");
    assert.equal(jis, example.result.jis);
    assert.deepEqual(
      DIMENSIONS.map((name: Dimension) => dimensions[name]),
      Object.values(example.result.dims),
    );
    const plan = recommendExercises(model, {
      jis,
      dimensions,
      mode: "full",
      decay: projectDecay(model, state, { jis, domain }),
      minimumDataMet: minimumDataMet(model, state, now),
      groundTruth: state.cnt.truth,
      now,
      domain,
    });
    assert.equal(plan.intervention_type, example.result.intervention_type);
    assert.equal(plan.target_dimension, example.result.target_dimension);
    assert.equal(plan.difficulty, example.result.difficulty);
    assert.equal(plan.frequency_ratio, example.result.frequency_ratio);
    assert.equal(plan.urgency, example.result.urgency);
    assert.equal(plan.exercises.length, 3);
  });
}

function toBits(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0).toString(16).padStart(16, "0");
}

function fromBits(bits: string): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(`0x${bits}`));
  return view.getFloat64(0);
}

for (const [name, fn, rows] of [["ln", ln, patterns.ln], ["exp", exp, patterns.exp]] as const) {
  Deno.test(`${name} gives the bit pattern of all ${rows.length} vectors`, () => {
    assert.equal(rows.length >= 1000, true);
    const wrong = rows.filter(([input, output]) => toBits(fn(fromBits(input!))) !== output);
    assert.deepEqual(wrong, []);
  });
}

Deno.test("ln and exp refuse arguments outside of their domain", () => {
  for (const bad of [0, -1, NaN, Infinity, 5e-324]) assert.throws(() => ln(bad), RangeError);
  for (const bad of [700.1, NaN, Infinity]) assert.throws(() => exp(bad), RangeError);
  assert.equal(exp(-700.1), 0);
  assert.equal(exp(-Infinity), 0);
});
