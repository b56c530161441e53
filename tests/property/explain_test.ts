/**
 * The laws of explanations over random histories: they agree with the score, name every step that the reducer
 * takes, never state a false direction, and explaining changes no number. Each law is asked of the last model whose
 * dimensions are all made of buckets, and of the model of `jis-3`, which makes some of them from known cases.
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
import { contradictionOf } from "../../src/domain/truth.ts";
import type { FullDimensions } from "../../src/scoring/dimensions.ts";
import { Posterior } from "../../src/scoring/discrimination.ts";
import {
  type DimensionExplanation,
  explainDecision,
  explainLabel,
  explainScore,
} from "../../src/scoring/explain.ts";
import { allLive, casesOf, daysSinceLive, NO_PARTS } from "../../src/scoring/known_cases.ts";
import { applyLabel, type LateLabel } from "../../src/scoring/label.ts";
import { BUCKETS, type ModelDocument } from "../../src/scoring/model.ts";
import { readState } from "../../src/scoring/reading.ts";
import { advance, asOf, type Rule, type Step } from "../../src/scoring/reducer.ts";
import { score } from "../../src/scoring/score.ts";
import {
  type Bucket,
  domainBucket,
  initialState,
  mean,
  type OperatorState,
} from "../../src/scoring/state.ts";
import { DAY_MS } from "../../src/domain/time.ts";
import { errorRate } from "../../src/scoring/points.ts";
import { JIS_1_1_0, JIS_2_0_0 } from "../models.ts";

const SEED = 20_261_120;
const RUNS = 1_000;
/** The posterior makes each reading slower. */
const RUNS_OF_JIS_3 = 250;
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
  ai_correct: fc.constantFrom(undefined, undefined, true, false),
  hover_events: fc.option(fc.oneof(fc.constant(0), fc.nat(8), fc.nat(100_000))),
  scroll_depth: fc.option(fc.oneof(fc.constant(0), unit)),
  alternative_views_checked: fc.option(fc.oneof(fc.constant(0), fc.nat(3), fc.nat(100_000))),
}).map(({ ai_correct, ...fields }) => {
  const isPossible = contradictionOf({ ...fields, ai_correct }) === null;
  return ai_correct !== undefined && isPossible ? { ...fields, ai_correct } : fields;
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

const caseBy = (model: ModelDocument): fc.Arbitrary<Case> =>
  fc.record({
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

function stepsOf(model: ModelDocument, { state, event }: Case): readonly Step[] {
  const steps: Step[] = [];
  advance(model, state, event, (step) => steps.push(step));
  return steps;
}

function dimensionsIn(model: ModelDocument, state: OperatorState | null, domain: Domain): FullDimensions {
  const read = readState(model, state ?? initialState(model), { domain, mode: "full" });
  return read.dimensions as FullDimensions;
}

const valuesOf = (explained: readonly DimensionExplanation[], side: "before" | "after") =>
  Object.fromEntries(explained.map((row) => [row.dimension, row[side]]));

/** The rows of the dimensions that buckets make, and of those that known cases make. */
function rowsOf(model: ModelDocument, explained: readonly DimensionExplanation[]) {
  const isOfBuckets = ({ dimension }: DimensionExplanation) =>
    model.dimensions[dimension].exponents !== undefined;
  return {
    ofBuckets: explained.filter(isOfBuckets),
    ofKnownCases: explained.filter((row) => !isOfBuckets(row)),
  };
}

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

const wordOf = (from: number, to: number) =>
  Math.abs(to - from) <= 1e-9 ? "stayed" : to > from ? "rose" : "fell";

/** True if a sentence shows a value: figures are rounded, to two decimals at least. */
const isNear = (shown: number, value: number) => Math.abs(shown - value) <= 0.005 + 1e-9;

/** The rules that affect each dimension, according to the model document. */
function rulesThatBear(
  model: ModelDocument,
  steps: readonly Step[],
  dimension: Dimension,
): readonly Rule[] {
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
  model: ModelDocument,
  of: Case,
  outcome_correct: boolean,
): Labelled | null {
  const { decision, scenario_type } = of.event.interaction;
  if (scenario_type === "error_injected") return null;
  const { ai_correct: _, ...fields } = of.event.interaction;
  const event = { ...of.event, interaction: { ...fields, outcome_correct: null } };
  const { state, weights } = score(model, of.state, event, FULL);
  return { state, label: { weights, decision, scenario_type, outcome_correct } };
}

interface Labelled {
  readonly state: OperatorState;
  readonly label: LateLabel;
}

/** A law of late labels, for both outcomes. */
function labelLaw(name: string, holds: (of: Labelled, model: ModelDocument) => void): void {
  law(name, (of, model) => {
    for (const outcome of [true, false]) {
      const labelled = labelledLater(model, of, outcome);
      if (labelled !== null) holds(labelled, model);
    }
  });
}

const MODELS = [JIS_1_1_0, JIS_2_0_0];
const runsOf = (model: ModelDocument) => model === JIS_2_0_0 ? RUNS_OF_JIS_3 : RUNS;

/** A test named by its law, with the file's seed, of each model. */
function law(
  name: string,
  holds: (of: Case, model: ModelDocument) => void,
  models: readonly ModelDocument[] = MODELS,
): void {
  for (const model of models) {
    Deno.test(`${name}, ${model.version}`, () =>
      fc.assert(fc.property(caseBy(model), (of) => holds(of, model)), {
        seed: SEED,
        numRuns: runsOf(model),
      }));
  }
}

function assertWhole(rules: readonly string[]): void {
  assert.ok(rules.length > 0);
  for (const rule of rules) {
    assert.match(rule, /^[A-Z].*[^.,;: ]\.$/);
    const text = rule.replaceAll(/jis-\d\.\d\.\d/g, "a model");
    assert.doesNotMatch(text, /undefined|null|NaN|Infinity|\[object|_|;| {2}|[,:] ?[,:]|\de|-\d|\(\)/);
  }
}

// ---- the laws ---------------------------------------------------------------------------------------------

law(
  "an explanation has the dimensions of the stored state before and those of the score after",
  (of, model) => {
    const { state, event } = of;
    const explained = explainScore(model, state, event);
    assert.deepEqual(explained.map((row) => row.dimension), DIMENSIONS);
    assert.deepEqual(valuesOf(explained, "before"), dimensionsIn(model, state, event.domain));
    assert.deepEqual(valuesOf(explained, "after"), score(model, state, event, FULL).fullDimensions);
  },
);

law("a dimension that moved has a sentence that moved it the same way", ({ state, event }, model) => {
  const { ofBuckets } = rowsOf(model, explainScore(model, state, event));
  for (const { dimension, before, after, rules } of ofBuckets) {
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
  ({ state, event }, model) => {
    for (const { rules } of [...explainScore(model, state, event), ...explainDecision(model, state, event)]) {
      assertWhole(rules);
      assert.ok(!rules.some(isIdle) || rules.length === 1);
    }
  },
);

law("a dimension has one sentence for each rule that affects it and has something to say", (of, model) => {
  const steps = stepsOf(model, of);
  const maySayNothing = (rule: Rule) => rule === "retention" || rule === "restraint";
  const { ofBuckets } = rowsOf(model, explainScore(model, of.state, of.event));
  for (const { dimension, rules } of ofBuckets) {
    const bearing = rulesThatBear(model, steps, dimension);
    const said = rules.filter((rule) => !isIdle(rule));
    assert.ok(said.length <= bearing.length, rules.join(" "));
    assert.ok(said.length >= bearing.filter((rule) => !maySayNothing(rule)).length, rules.join(" "));
    assert.ok(said.filter((rule) => rule.startsWith("After ")).length <= 1);
    assert.equal(new Set(said).size, said.length);
  }
});

for (const model of MODELS) {
  Deno.test(`sentences are short: half of them under 200 characters, none over 460, ${model.version}`, () => {
    const lengths: number[] = [];
    const measure = (of: Case) => {
      const labelled = labelledLater(model, of, true);
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
    fc.assert(fc.property(caseBy(model), measure), { seed: SEED, numRuns: runsOf(model) });
    const median = lengths.sort((one, other) => one - other)[Math.floor(lengths.length / 2)]!;
    assert.ok(median < 200, `median ${median}`);
  });
}

law("every direction word agrees with its figures, and these with a step of the reducer", (of, model) => {
  const steps = stepsOf(model, of).map(({ bucket, before, after }) => ({
    before: mean(model, bucket, before),
    after: mean(model, bucket, after),
  }));
  for (const { rules } of rowsOf(model, explainScore(model, of.state, of.event)).ofBuckets) {
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
          return wordOf(before, after) === word && isNear(from, before) && isNear(to, after);
        });
        assert.ok(isCaused, rule);
      }
    }
  }
});

law("the observed steps lead from the stored state to the next, each rule once for a bucket", (of, model) => {
  const { state, event } = of;
  const steps = stepsOf(model, of);
  const next = advance(model, state, event).state;
  const names = steps.map(({ rule, bucket }) => `${rule} ${bucket}`);
  assert.equal(new Set(names).size, names.length, names.join(", "));
  for (const name of [...BUCKETS, "K"] as const) {
    const bucketOf = (of: OperatorState): Bucket =>
      name === "K" ? domainBucket(of, event.domain) : of.b[name];
    let bucket = bucketOf(state ?? initialState(model));
    for (const { before, after } of steps.filter((step) => step.bucket === name)) {
      assert.deepEqual(before, bucket);
      bucket = [after[0], after[1]];
    }
    assert.deepEqual(bucket, bucketOf(next));
  }
});

law("watching changes no number", ({ state, event }, model) => {
  const bytes = JSON.stringify(advance(model, state, event));
  assert.equal(JSON.stringify(advance(model, state, event, () => {})), bytes);
});

law(
  "an explanation is pure: the same inputs give the same sentences and are left as they were",
  (of, model) => {
    const frozen = deepFreeze(structuredClone(of));
    const bytes = JSON.stringify(of);
    const explain = ({ state, event }: Case) =>
      JSON.stringify([explainScore(model, state, event), explainDecision(model, state, event)]);
    const first = explain(frozen);
    assert.equal(explain(frozen), first);
    assert.equal(explain(JSON.parse(bytes)), first);
    assert.equal(JSON.stringify(frozen), bytes);
  },
);

law("a decision is explained by retention alone, which raises nothing", ({ state, event }, model) => {
  const { domain, now } = event;
  const explained = explainDecision(model, state, { domain, now });
  assert.deepEqual(explained.map((row) => row.dimension), DIMENSIONS);
  assert.deepEqual(valuesOf(explained, "before"), dimensionsIn(model, state, domain));
  const read = asOf(model, state ?? initialState(model), now);
  assert.deepEqual(valuesOf(explained, "after"), dimensionsIn(model, read, domain));
  for (const { before, after, rules } of rowsOf(model, explained).ofBuckets) {
    assert.ok(after <= before);
    if (after < before) assert.ok(!rules.includes(UNCHANGED));
    for (const rule of rules.filter((rule) => rule !== UNCHANGED)) {
      assert.match(rule, /^After [\d.]+ days? without a scored case, /);
      assert.ok(movementsOf(rule).every(({ word }) => word === "fell"), rule);
    }
  }
});

labelLaw("a label is explained by the dimensions of the state that it leaves", ({ state, label }, model) => {
  const { domain } = label.weights;
  const explained = explainLabel(model, state, label);
  assert.deepEqual(explained.map((row) => row.dimension), DIMENSIONS);
  assert.deepEqual(valuesOf(explained, "before"), dimensionsIn(model, state, domain));
  assert.deepEqual(
    valuesOf(explained, "after"),
    dimensionsIn(model, applyLabel(model, state, label), domain),
  );
});

labelLaw(
  "a label has one whole sentence for each rule and dimension, true to its steps",
  ({ state, label }, model) => {
    const steps: Step[] = [];
    const left = applyLabel(model, state, label, (step) => steps.push(step));
    assert.deepEqual(left, applyLabel(model, state, label));
    const explained = explainLabel(model, state, label);
    for (const { rules } of explained) assertWhole(rules);
    for (const { dimension, before, after, rules } of rowsOf(model, explained).ofBuckets) {
      const bearing = rulesThatBear(model, steps, dimension);
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

labelLaw("explaining a label leaves it and the state as they were", (of, model) => {
  const bytes = JSON.stringify(of);
  const { state, label } = deepFreeze(of);
  const first = JSON.stringify(explainLabel(model, state, label));
  assert.equal(JSON.stringify(explainLabel(model, state, label)), first);
  assert.equal(JSON.stringify({ state, label }), bytes);
});

// ---- dimensions that known cases make ------------------------------------------------------------------------

/** A law of `jis-3` alone. */
const knownCaseLaw = (name: string, holds: (of: Case) => void) => law(name, holds, [JIS_2_0_0]);

/** The quantities from which the sentences about known cases are made. */
function estimatesIn({ ev = NO_PARTS }: Pick<OperatorState, "ev">) {
  const live = allLive(ev);
  const posterior = new Posterior(JIS_2_0_0, casesOf(live));
  return {
    wrong: posterior.mean((h) => h),
    right: posterior.mean((_, f) => f),
    rate: errorRate(JIS_2_0_0, ev.n),
    cases: { wrong: live[4], right: live[5] },
  };
}

/** Asserts that the rows about known cases say alike, and truly, what the estimates did. */
function assertEstimates(
  explained: readonly DimensionExplanation[],
  { stored, read }: { readonly stored: Pick<OperatorState, "ev">; readonly read: Pick<OperatorState, "ev"> },
): void {
  const [before, after] = [estimatesIn(stored), estimatesIn(read)];
  const { ofKnownCases } = rowsOf(JIS_2_0_0, explained);
  assert.deepEqual(ofKnownCases.map(({ dimension }) => dimension), [
    "deferral_resistance",
    "error_detection",
    "decision_autonomy",
  ]);
  const [{ rules }] = ofKnownCases as [DimensionExplanation];
  for (const row of ofKnownCases) assert.deepEqual(row.rules, rules);
  assertWhole(rules);
  assert.equal(new Set(rules).size, rules.length);
  for (const advice of ["wrong", "right"] as const) {
    const count = after.cases[advice];
    const begin = `Departing from ${advice} advice, by ${count} known case${
      count === 1 ? "" : "s"
    }: the estimate `;
    const [sentence, ...others] = rules.filter((rule) => rule.startsWith(begin));
    assert.deepEqual(others, []);
    assertMovement(sentence!, before[advice], after[advice]);
  }
  const sentence = rules.find((rule) => rule.startsWith("The AI is wrong "));
  if (before.rate === after.rate) return assert.equal(sentence, undefined);
  assert.match(sentence!, after.rate > before.rate ? /more often than before/ : /less often than before/);
  assertMovement(sentence!, before.rate, after.rate);
}

function assertMovement(sentence: string, before: number, after: number): void {
  const [movement, ...others] = movementsOf(sentence);
  assert.deepEqual(others, []);
  const { word, from, to } = movement!;
  assert.equal(word, wordOf(before, after), sentence);
  assert.ok(isNear(from, before) && isNear(to, after), sentence);
}

knownCaseLaw(
  "dimensions of known cases are explained by both estimates, truly and alike",
  ({ state, event }) => {
    assertEstimates(explainScore(JIS_2_0_0, state, event), {
      stored: state ?? {},
      read: advance(JIS_2_0_0, state, event).state,
    });
  },
);

knownCaseLaw(
  "a dimension of known cases that moved has an estimate that moved it the same way",
  ({ state, event }) => {
    for (
      const { before, after, rules } of rowsOf(JIS_2_0_0, explainScore(JIS_2_0_0, state, event)).ofKnownCases
    ) {
      if (before === after) continue;
      const wordAfter = (begin: string) =>
        rules.filter((rule) => rule.startsWith(begin)).flatMap(movementsOf).at(-1)?.word;
      const [wrong, right, rate] = ["Departing from wrong ", "Departing from right ", "The AI is wrong "].map(
        wordAfter,
      );
      const isRaised = wrong === "rose" || right === "fell" || rate === "rose";
      const isLowered = wrong === "fell" || right === "rose" || rate === "fell";
      assert.ok(after > before ? isRaised : isLowered, `${before} to ${after}: ${rules.join(" ")}`);
    }
  },
);

const ANNOUNCED =
  "The operator knew that this was a test: it counts among announced tests alone, and moves no score.";
const UNKNOWN =
  "It is not known whether the recommendation was right: the case moves nothing until a label says so.";
const UNAIDED = "No recommendation was on screen, so that the case says nothing of the use of advice.";

knownCaseLaw(
  "an announced, an unlabelled and an unaided case say why they move no score",
  ({ state, event }) => {
    const { evidence, weights } = advance(JIS_2_0_0, state, event);
    const isKnown = Object.values(evidence).some((weight) => weight > 0);
    const remark = !weights.presented
      ? UNAIDED
      : event.interaction.scenario_type === "calibration"
      ? ANNOUNCED
      : isKnown
      ? null
      : UNKNOWN;
    const { ofKnownCases } = rowsOf(JIS_2_0_0, explainScore(JIS_2_0_0, state, event));
    for (const { rules } of ofKnownCases) {
      assert.deepEqual(
        rules.filter((rule) => [ANNOUNCED, UNKNOWN, UNAIDED].includes(rule)),
        remark === null ? [] : [remark],
      );
    }
    if (remark === null || daysSinceLive(state?.ev ?? NO_PARTS, event.now) > 0) return;
    for (const { before, after } of ofKnownCases) assert.equal(after, before);
  },
);

knownCaseLaw("fading is told first of all if it faded known cases, and not otherwise", ({ state, event }) => {
  const stored = state ?? initialState(JIS_2_0_0);
  const isLive = event.interaction.scenario_type !== "calibration";
  const days = daysSinceLive(stored.ev ?? NO_PARTS, event.now);
  for (
    const [explained, isFaded] of [
      [explainScore(JIS_2_0_0, state, event), isLive && days > 0],
      [explainDecision(JIS_2_0_0, state, event), days > 0],
    ] as const
  ) {
    for (const { rules } of rowsOf(JIS_2_0_0, explained).ofKnownCases) {
      const told = rules.filter((rule) =>
        /^After \d+ days? without a live case, known cases count /.test(rule)
      );
      assert.equal(told.length, isFaded ? 1 : 0);
    }
  }
});

knownCaseLaw("a decision score explains known cases by their fading", ({ state, event: { domain, now } }) => {
  const stored = state ?? initialState(JIS_2_0_0);
  assertEstimates(explainDecision(JIS_2_0_0, state, { domain, now }), {
    stored,
    read: asOf(JIS_2_0_0, stored, now),
  });
});

knownCaseLaw("a label explains both estimates, or why it moves neither", (of) => {
  for (const outcome of [true, false]) {
    const labelled = labelledLater(JIS_2_0_0, of, outcome);
    if (labelled === null) continue;
    const { state, label } = labelled;
    const explained = explainLabel(JIS_2_0_0, state, label);
    assertEstimates(explained, { stored: state, read: applyLabel(JIS_2_0_0, state, label) });
    const { presented } = label.weights;
    const isAnnounced = label.scenario_type === "calibration" && presented;
    for (const { rules, before, after } of rowsOf(JIS_2_0_0, explained).ofKnownCases) {
      assert.equal(rules.includes(ANNOUNCED), isAnnounced, rules.join(" "));
      assert.equal(rules.includes(UNAIDED), !presented, rules.join(" "));
      if (isAnnounced || !presented) assert.equal(after, before);
    }
  }
});

knownCaseLaw("a label of a case whose truth was counted moves nothing, and says so", (of) => {
  const labelled = labelledLater(JIS_2_0_0, of, true);
  if (labelled === null || !labelled.label.weights.presented) return;
  const explained = explainLabel(JIS_2_0_0, labelled.state, { ...labelled.label, isAdviceCounted: true });
  for (const { dimension, before, after, rules } of explained) {
    assert.equal(after, before);
    if (JIS_2_0_0.dimensions[dimension].exponents !== undefined) assert.deepEqual(rules, [UNTOUCHED]);
    else assert.equal(rules[0], "The score counted the truth of this case when it was made.");
  }
});
