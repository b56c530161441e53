/**
 * The laws of explanations over random histories: they agree with the score, name every step that the reducer
 * takes, never state a false direction, and explaining changes no number.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  DECISIONS,
  type Dimension,
  DIMENSIONS,
  type Domain,
  DOMAINS,
  SCENARIO_TYPES,
} from "../../src/domain/enums.ts";
import type { Interaction } from "../../src/domain/interaction.ts";
import { dimensionsOf, type FullDimensions } from "../../src/scoring/dimensions.ts";
import {
  type DimensionExplanation,
  explainDecision,
  explainLabel,
  explainScore,
} from "../../src/scoring/explain.ts";
import { applyLabel, type LateLabel } from "../../src/scoring/label.ts";
import { BUCKETS, DEFAULT_MODEL_DOCUMENT as model } from "../../src/scoring/model.ts";
import { advance, retain, type Rule, type Step } from "../../src/scoring/reducer.ts";
import { score } from "../../src/scoring/score.ts";
import { bucketMeans, initialState, mean, type OperatorState } from "../../src/scoring/state.ts";
import { DAY_MS } from "../../src/domain/time.ts";

const SEED = 20_261_120;
const RUNS = 1_000;
const EPOCH = 1_780_304_400_000;
const FULL = { mode: "full", modeOverride: "normal" } as const;
const NOTHING = "Nothing in this interaction bears on it.";
/** The sentence of a dimension that no rule changed. */
const isIdle = (rule: string) => rule === NOTHING || rule.includes("which earns no credit here");
const UNTOUCHED = "Nothing in this label bears on it.";
const UNCHANGED = "A decision score reads the operator's record and does not change it.";

// ---- arbitraries ------------------------------------------------------------------------------------------

const unit = fc.double({ min: 0, max: 1, noNaN: true });

const interactions: fc.Arbitrary<Interaction> = fc.record({
  ai_recommendation_presented: fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, fc.boolean()),
  ai_available: fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, fc.boolean()),
  time_to_decision_ms: fc.oneof(
    fc.integer({ min: 0, max: 3_000 }),
    fc.integer({ min: 0, max: 60_000 }),
    fc.integer({ min: 0, max: 86_400_000 }),
  ),
  decision: fc.constantFrom(...DECISIONS),
  modification_extent: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 0.3, noNaN: true }), unit),
  scenario_type: fc.constantFrom(...SCENARIO_TYPES),
  outcome_correct: fc.constantFrom(true, false, null),
  hover_events: fc.option(fc.oneof(fc.constant(0), fc.nat(8), fc.nat(100_000))),
  scroll_depth: fc.option(fc.oneof(fc.constant(0), unit)),
  alternative_views_checked: fc.option(fc.oneof(fc.constant(0), fc.nat(3), fc.nat(100_000))),
});

const gaps = fc.oneof(fc.nat(DAY_MS / 24), fc.nat(3 * DAY_MS), fc.nat(120 * DAY_MS));
const happenings = fc.record({
  interaction: interactions,
  domain: fc.constantFrom<Domain>("general", "public_sector", "healthcare"),
  gapMs: gaps,
});

/** A state that a history leads to (null before the first interaction) and the next event. */
interface Case {
  readonly state: OperatorState | null;
  readonly event: { readonly interaction: Interaction; readonly domain: Domain; readonly now: number };
}

const anyCase: fc.Arbitrary<Case> = fc.record({
  history: fc.array(happenings, { maxLength: 12 }),
  // A history of one kind fills one bucket, for example if nothing is labelled and nothing is followed up.
  repeated: fc.option(fc.record({ times: fc.nat(40), what: happenings })),
  last: happenings,
  domain: fc.constantFrom(...DOMAINS),
}).map(({ history, repeated, last, domain }) => {
  const events = [...history, ...Array.from({ length: repeated?.times ?? 0 }, () => repeated!.what)];
  let now = EPOCH;
  let state: OperatorState | null = null;
  for (const { interaction, domain, gapMs } of events) {
    now += gapMs;
    ({ state } = score(model, state, { interaction, domain, now }, FULL));
  }
  const event = { interaction: last.interaction, domain, now: now + last.gapMs };
  return { state, event: history.length % 2 === 0 ? event : { ...event, domain: last.domain } };
});

// ---- readings ---------------------------------------------------------------------------------------------

function stepsOf({ state, event }: Case): readonly Step[] {
  const steps: Step[] = [];
  advance(model, state, event, (step) => steps.push(step));
  return steps;
}

function dimensionsIn(state: OperatorState | null, domain: Domain): FullDimensions {
  const means = bucketMeans(model, state ?? initialState(model), domain);
  return dimensionsOf(model, means, "full") as FullDimensions;
}

const valuesOf = (explained: readonly DimensionExplanation[], side: "before" | "after") =>
  Object.fromEntries(explained.map((row) => [row.dimension, row[side]]));

/** The clauses that a sentence has about one value; a list in one direction says its verb only once. */
interface Movement {
  readonly word: string;
  readonly from: number;
  readonly to: number;
}

function movementsOf(sentence: string): readonly Movement[] {
  const movements: Movement[] = [];
  const clauses = sentence.slice(sentence.indexOf(": "));
  for (
    const [, said, from, to] of clauses.matchAll(
      /(?:(rose|fell|stayed) |)(?:from|at) ([\d.]*\d)(?: to ([\d.]*\d))?/g,
    )
  ) {
    const word = said ?? movements.at(-1)?.word ?? "";
    movements.push({ word, from: Number(from), to: Number(to ?? from) });
  }
  return movements;
}

/** The rules that affect each dimension, according to the model document. */
function rulesThatBear(steps: readonly Step[], dimension: Dimension): readonly Rule[] {
  const { exponents, restraint } = model.dimensions[dimension];
  const bearing = steps.filter(({ bucket }) => bucket === "Q" ? restraint : exponents![bucket] !== undefined);
  return [...new Set(bearing.map(({ rule }) => rule))];
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

/** The score's case, to be labelled later; null if its truth was known by construction. */
function labelledLater(
  of: Case,
  outcome_correct: boolean,
): { state: OperatorState; label: LateLabel } | null {
  const { decision, scenario_type } = of.event.interaction;
  if (scenario_type === "error_injected") return null;
  const event = { ...of.event, interaction: { ...of.event.interaction, outcome_correct: null } };
  const { state, weights } = score(model, of.state, event, FULL);
  return { state, label: { weights, decision, scenario_type, outcome_correct } };
}

/** A law of late labels, for both outcomes. */
function labelLaw(name: string, holds: (of: { state: OperatorState; label: LateLabel }) => void): void {
  law(name, (of) => {
    for (const outcome of [true, false]) {
      const labelled = labelledLater(of, outcome);
      if (labelled !== null) holds(labelled);
    }
  });
}

/** A test named by its law, with the file's seed. */
function law(name: string, holds: (of: Case) => void): void {
  Deno.test(name, () => fc.assert(fc.property(anyCase, holds), { seed: SEED, numRuns: RUNS }));
}

function assertWhole(rules: readonly string[]): void {
  assert.ok(rules.length > 0);
  for (const rule of rules) {
    assert.match(rule, /^[A-Z].*[^.,;: ]\.$/);
    assert.doesNotMatch(rule, /undefined|null|NaN|Infinity|\[object|_|;| {2}|[,:] ?[,:]|\de|-\d|\(\)/);
  }
}

// ---- the laws ---------------------------------------------------------------------------------------------

law("an explanation has the dimensions of the stored state before and those of the score after", (of) => {
  const { state, event } = of;
  const explained = explainScore(model, state, event);
  assert.deepEqual(explained.map((row) => row.dimension), DIMENSIONS);
  assert.deepEqual(valuesOf(explained, "before"), dimensionsIn(state, event.domain));
  assert.deepEqual(valuesOf(explained, "after"), score(model, state, event, FULL).fullDimensions);
});

law("a dimension that moved has a sentence that moved it the same way", ({ state, event }) => {
  for (const { dimension, before, after, rules } of explainScore(model, state, event)) {
    if (before === after) continue;
    const word = after > before ? "rose" : "fell";
    assert.ok(
      rules.some((rule) => movementsOf(rule).some((movement) => movement.word === word)),
      `${dimension} ${word} from ${before} to ${after}: ${rules.join(" ")}`,
    );
  }
});

law(
  "every sentence is whole: it says something, ends in a full stop and has no gap in it",
  ({ state, event }) => {
    for (const { rules } of [...explainScore(model, state, event), ...explainDecision(model, state, event)]) {
      assertWhole(rules);
      assert.ok(!rules.some(isIdle) || rules.length === 1);
    }
  },
);

law("a dimension has one sentence for each rule that affects it and has something to say", (of) => {
  const steps = stepsOf(of);
  const maySayNothing = (rule: Rule) => rule === "retention" || rule === "restraint";
  for (const { dimension, rules } of explainScore(model, of.state, of.event)) {
    const bearing = rulesThatBear(steps, dimension);
    const said = rules.filter((rule) => !isIdle(rule));
    assert.ok(said.length <= bearing.length, rules.join(" "));
    assert.ok(said.length >= bearing.filter((rule) => !maySayNothing(rule)).length, rules.join(" "));
    assert.ok(said.filter((rule) => rule.startsWith("After ")).length <= 1);
    assert.equal(new Set(said).size, said.length);
  }
});

Deno.test("sentences are short: half of them under 200 characters, none over 460", () => {
  const lengths: number[] = [];
  const measure = (of: Case) => {
    const labelled = labelledLater(of, true);
    const rules = [
      ...explainScore(model, of.state, of.event),
      ...explainDecision(model, of.state, of.event),
      ...(labelled === null ? [] : explainLabel(model, labelled.state, labelled.label)),
    ].flatMap((row) => row.rules);
    for (const rule of rules) {
      assert.ok(rule.length <= 460, `${rule.length}: ${rule}`);
      if (rule.includes(": ")) lengths.push(rule.length);
    }
  };
  fc.assert(fc.property(anyCase, measure), { seed: SEED, numRuns: RUNS });
  const median = lengths.sort((one, other) => one - other)[Math.floor(lengths.length / 2)]!;
  assert.ok(median < 200, `median ${median}`);
});

law("every direction word agrees with its figures, and these with a step of the reducer", (of) => {
  const steps = stepsOf(of).map(({ bucket, before, after }) => ({
    before: mean(model, bucket, before),
    after: mean(model, bucket, after),
  }));
  const near = (shown: number, value: number) => Math.abs(shown - value) <= 0.005 + 1e-9;
  for (const { rules } of explainScore(model, of.state, of.event)) {
    for (const rule of rules.filter((rule) => !isIdle(rule))) {
      const movements = movementsOf(rule);
      assert.ok(movements.length > 0, rule);
      for (const { word, from, to } of movements) {
        assert.equal(word, to > from ? "rose" : to < from ? "fell" : "stayed", rule);
      }
      // The rest of a dimension is the mean of no bucket.
      const means = rule.includes("the share of this dimension that counts")
        ? movements.slice(0, -1)
        : movements;
      for (const { word, from, to } of means) {
        const isCaused = steps.some(({ before, after }) => {
          const direction = Math.abs(after - before) <= 1e-9 ? "stayed" : after > before ? "rose" : "fell";
          return direction === word && near(from, before) && near(to, after);
        });
        assert.ok(isCaused, rule);
      }
    }
  }
});

law("the observed steps lead from the stored state to the next, each rule once for a bucket", (of) => {
  const { state, event } = of;
  const steps = stepsOf(of);
  const next = advance(model, state, event).state;
  const names = steps.map(({ rule, bucket }) => `${rule} ${bucket}`);
  assert.equal(new Set(names).size, names.length, names.join(", "));
  for (const name of [...BUCKETS, "K"] as const) {
    const bucketOf = (of: OperatorState) => name === "K" ? of.K[event.domain] : of.b[name];
    let bucket = bucketOf(state ?? initialState(model));
    for (const { before, after } of steps.filter((step) => step.bucket === name)) {
      assert.deepEqual(before, bucket);
      bucket = [after[0], after[1]];
    }
    assert.deepEqual(bucket, bucketOf(next));
  }
});

law("watching changes no number", ({ state, event }) => {
  const bytes = JSON.stringify(advance(model, state, event));
  assert.equal(JSON.stringify(advance(model, state, event, () => {})), bytes);
});

law("an explanation is pure: the same inputs give the same sentences and are left as they were", (of) => {
  const frozen = deepFreeze(structuredClone(of));
  const bytes = JSON.stringify(of);
  const explain = ({ state, event }: Case) =>
    JSON.stringify([explainScore(model, state, event), explainDecision(model, state, event)]);
  const first = explain(frozen);
  assert.equal(explain(frozen), first);
  assert.equal(explain(JSON.parse(bytes)), first);
  assert.equal(JSON.stringify(frozen), bytes);
});

law("a decision is explained by retention alone, which raises nothing", ({ state, event }) => {
  const { domain, now } = event;
  const explained = explainDecision(model, state, { domain, now });
  assert.deepEqual(explained.map((row) => row.dimension), DIMENSIONS);
  assert.deepEqual(valuesOf(explained, "before"), dimensionsIn(state, domain));
  const retained = retain(model, state ?? initialState(model), now);
  assert.deepEqual(valuesOf(explained, "after"), dimensionsIn(retained, domain));
  for (const { before, after, rules } of explained) {
    assert.ok(after <= before);
    if (after < before) assert.ok(!rules.includes(UNCHANGED));
    for (const rule of rules.filter((rule) => rule !== UNCHANGED)) {
      assert.match(rule, /^After [\d.]+ days? without a scored case, /);
      assert.ok(movementsOf(rule).every(({ word }) => word === "fell"), rule);
    }
  }
});

labelLaw("a label is explained by the dimensions of the state that it leaves", ({ state, label }) => {
  const { domain } = label.weights;
  const explained = explainLabel(model, state, label);
  assert.deepEqual(explained.map((row) => row.dimension), DIMENSIONS);
  assert.deepEqual(valuesOf(explained, "before"), dimensionsIn(state, domain));
  assert.deepEqual(valuesOf(explained, "after"), dimensionsIn(applyLabel(model, state, label), domain));
});

labelLaw(
  "a label has one whole sentence for each rule and dimension, true to its steps",
  ({ state, label }) => {
    const steps: Step[] = [];
    const left = applyLabel(model, state, label, (step) => steps.push(step));
    assert.deepEqual(left, applyLabel(model, state, label));
    for (const { dimension, before, after, rules } of explainLabel(model, state, label)) {
      assertWhole(rules);
      const bearing = rulesThatBear(steps, dimension);
      if (bearing.length === 0) {
        assert.deepEqual(rules, [UNTOUCHED]);
        assert.equal(after, before);
        continue;
      }
      assert.equal(rules.length, bearing.length);
      const movements = rules.flatMap(movementsOf);
      for (const { word, from, to } of movements) {
        assert.equal(word, to > from ? "rose" : to < from ? "fell" : "stayed", rules.join(" "));
      }
      const word = after > before ? "rose" : "fell";
      assert.ok(after === before || movements.some((movement) => movement.word === word), rules.join(" "));
      for (const rule of rules) assert.match(rule, /^It became known that the /);
    }
  },
);

labelLaw("explaining a label leaves it and the state as they were", (of) => {
  const bytes = JSON.stringify(of);
  const { state, label } = deepFreeze(of);
  const first = JSON.stringify(explainLabel(model, state, label));
  assert.equal(JSON.stringify(explainLabel(model, state, label)), first);
  assert.equal(JSON.stringify({ state, label }), bytes);
});
