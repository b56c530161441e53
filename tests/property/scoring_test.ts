/**
 * The laws of the scoring model over random reachable states: properties P1 to P16 of section 12, and those
 * of late labels, of lite mode and of the model document. Each holds for every released model, or its name says
 * for which formulas; further laws of `jis-3` are in `verdict_test.ts`.
 *
 * They are in one file as all of them share one population: histories of eight behaviours, each prefix of
 * which, 0 to 160 events long, is a reachable state. Seeds are fixed; a counterexample names its history and
 * its length.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type Decision,
  DECISIONS,
  type Dimension,
  DIMENSIONS,
  type Domain,
  DOMAINS,
  MODES,
  SCENARIO_TYPES,
} from "../../src/domain/enums.ts";
import { type Interaction, recordedInteractionSchema } from "../../src/domain/interaction.ts";
import { roundTo } from "../../src/scoring/arithmetic.ts";
import { currentTrend, type DecayCurve, projectDecay, projectedJis } from "../../src/scoring/decay.ts";
import { dimensionsOf, dimensionWeight, type FullDimensions, jisOf } from "../../src/scoring/dimensions.ts";
import { scoreDecision } from "../../src/scoring/drs.ts";
import { applyLabel } from "../../src/scoring/label.ts";
import { type BucketName, BUCKETS, type ModelDocument } from "../../src/scoring/model.ts";
import { processEvidence } from "../../src/scoring/process.ts";
import { readState } from "../../src/scoring/reading.ts";
import { asOf, retain } from "../../src/scoring/reducer.ts";
import { score, type Scored } from "../../src/scoring/score.ts";
import {
  breakEven,
  type Bucket,
  bucketMeans,
  domainBucket,
  initialState,
  mean,
  type OperatorState,
  put,
  stateSchema,
} from "../../src/scoring/state.ts";
import { DAY_MS } from "../../src/domain/time.ts";
import { JIS_1_0_0, JIS_1_1_0, JIS_2_0_0 } from "../models.ts";
import { mulberry32, weighted } from "../random_numbers.ts";

/** Models of which the buckets of evidence make every dimension. */
const EARLIER = [JIS_1_1_0, JIS_1_0_0];
const MODELS = [...EARLIER, JIS_2_0_0];
const VERSIONS = MODELS.map((model) => model.version);
const EARLIER_VERSIONS = EARLIER.map((model) => model.version);
const SEED = 20_261_120;
/** About a thousand states of each model. */
const RUNS = 1_000 * MODELS.length;
const EPOCH = 1_780_304_400_000;
const LONGEST_HISTORY = 160;
const HISTORIES_OF_EACH_STYLE = 8;
const IDLE_MS = 180_000;
const FULL = { mode: "full", modeOverride: "normal" } as const;
const LITE = { mode: "lite", modeOverride: "normal" } as const;
const OVERSIGHT = ["deferral_resistance", "error_detection", "decision_autonomy"] as const;

// ---- the population ---------------------------------------------------------------------------------------

/** How one kind of operator behaves; shares are 0..1, times in seconds. */
interface Style {
  /** Relative frequency of each decision, in the order of DECISIONS. */
  readonly decisions: readonly number[];
  readonly seconds: readonly [from: number, to: number];
  /** How much activity is seen, from 0 (none) to 1; null if nothing is measured, "mixed" if some is. */
  readonly activity: number | null | "mixed";
  readonly labelled: number;
  readonly right: number;
}

const STYLES: readonly Style[] = [
  { decisions: [6, 2, 1, 1, 0.3, 0.3], seconds: [5, 90], activity: 0.8, labelled: 0.7, right: 0.92 },
  { decisions: [40, 1, 0, 0, 0, 0], seconds: [0.3, 2.5], activity: 0, labelled: 0.5, right: 0.8 },
  { decisions: [20, 1, 1, 0, 0, 1], seconds: [60, 5000], activity: 0, labelled: 0.3, right: 0.8 },
  { decisions: [12, 1, 0, 1, 0, 0], seconds: [2, 15], activity: 1, labelled: 0.6, right: 0.75 },
  { decisions: [2, 2, 6, 6, 0, 0], seconds: [1, 30], activity: null, labelled: 0.6, right: 0.3 },
  { decisions: [1, 0, 1, 0, 6, 6], seconds: [1, 60], activity: "mixed", labelled: 0.2, right: 0.5 },
  { decisions: [3, 12, 1, 1, 0, 0], seconds: [3, 120], activity: 0.5, labelled: 0.4, right: 0.6 },
  { decisions: [1, 1, 1, 1, 1, 1], seconds: [0.05, 9000], activity: "mixed", labelled: 0.5, right: 0.5 },
];

function randomInteraction(random: () => number, style: Style): Interaction {
  const [from, to] = style.seconds;
  const measure = (value: () => number): number | null => {
    if (style.activity === null || (style.activity === "mixed" && random() < 0.5)) return null;
    return value() * (style.activity === "mixed" ? random() : style.activity);
  };
  const hovers = measure(() => random() * 16);
  const views = measure(() => random() * 5);
  return recordedInteractionSchema.parse({
    ai_recommendation_presented: random() < 0.95,
    ai_available: random() < 0.98,
    time_to_decision_ms: Math.floor(Math.exp(Math.log(from) + random() * Math.log(to / from)) * 1000),
    decision: weighted(random, DECISIONS, style.decisions),
    modification_extent: random() < 0.5 ? random() * 0.4 : random(),
    scenario_type: weighted(random, SCENARIO_TYPES, [60, 10, 8, 10, 5, 7]),
    outcome_correct: random() < style.labelled ? random() < style.right : null,
    hover_events: hovers === null ? null : Math.floor(hovers),
    scroll_depth: measure(random),
    alternative_views_checked: views === null ? null : Math.floor(views),
  });
}

/** A state that a history leads to; `domain` and `now` are its last event's. */
interface Reached {
  /** The model that scored the history, by its version: a counterexample need not print a document. */
  readonly version: string;
  readonly history: number;
  readonly length: number;
  readonly state: OperatorState | null;
  readonly domain: Domain;
  readonly now: number;
}

/** Every prefix of one history, from no event to 160. */
function historyOf(model: ModelDocument, history: number): readonly Reached[] {
  const { version } = model;
  const random = mulberry32(history + 1);
  const style = STYLES[history % STYLES.length]!;
  const home = DOMAINS[Math.floor(random() * DOMAINS.length)]!;
  const reached: Reached[] = [{ version, history, length: 0, state: null, domain: home, now: EPOCH }];
  for (let length = 1; length <= LONGEST_HISTORY; length += 1) {
    const last = reached[length - 1]!;
    const domain = random() < 0.8 ? home : DOMAINS[Math.floor(random() * DOMAINS.length)]!;
    const longestGap = weighted(random, [DAY_MS / 24, DAY_MS, 7 * DAY_MS, 60 * DAY_MS], [60, 20, 15, 5]);
    const now = last.now + Math.floor(random() * longestGap);
    const interaction = randomInteraction(random, style);
    const { state } = score(model, last.state, { interaction, domain, now }, FULL);
    reached.push({ version, history, length, state, domain, now });
  }
  return reached;
}

const populationOf = (models: readonly ModelDocument[]) =>
  models.flatMap((model) =>
    Array.from(
      { length: STYLES.length * HISTORIES_OF_EACH_STYLE },
      (_, index) => historyOf(model, index),
    )
  );

const EARLIER_POPULATION = populationOf(EARLIER);
const NEXT_POPULATION = populationOf([JIS_2_0_0]);

function modelOf({ version }: Pick<Reached, "version">): ModelDocument {
  return MODELS.find((model) => model.version === version)!;
}

// ---- arbitraries ------------------------------------------------------------------------------------------

function reachedIn(population: readonly (readonly Reached[])[]): fc.Arbitrary<Reached> {
  return fc.record({ history: fc.nat(population.length - 1), length: fc.nat(LONGEST_HISTORY) })
    .map(({ history, length }) => population[history]![length]!);
}

/** The states from which a law is asked. */
const BY_ANY_MODEL = reachedIn([...EARLIER_POPULATION, ...NEXT_POPULATION]);
const BY_EARLIER_MODELS = reachedIn(EARLIER_POPULATION);
const BY_JIS_3 = reachedIn(NEXT_POPULATION);

type Fields = { readonly [Key in keyof Interaction]: fc.Arbitrary<Interaction[Key]> };

const FIELDS: Fields = {
  ai_recommendation_presented: fc.boolean(),
  time_to_decision_ms: fc.oneof(
    fc.integer({ min: 0, max: 3_000 }),
    fc.integer({ min: 0, max: 60_000 }),
    fc.integer({ min: 0, max: 86_400_000 }),
  ),
  decision: fc.constantFrom(...DECISIONS),
  modification_extent: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1, noNaN: true })),
  ai_available: fc.boolean(),
  scenario_type: fc.constantFrom(...SCENARIO_TYPES),
  outcome_correct: fc.constantFrom(true, false, null),
  hover_events: fc.option(fc.oneof(fc.nat(8), fc.nat(100_000))),
  scroll_depth: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  alternative_views_checked: fc.option(fc.oneof(fc.nat(3), fc.nat(100_000))),
};

/** A recommendation on screen; with it, only the scenario can make a case unaided. */
const PRESENTED = { ai_available: fc.constant(true), ai_recommendation_presented: fc.constant(true) };
/** Scenarios with a recommendation that only a label can call right or wrong. */
const ORDINARY = fc.constantFrom("standard", "high_stakes", "critical", "calibration");
const INJECTED = fc.constant("error_injected" as const);

function interactionOf(fields: Partial<Fields> = {}): fc.Arbitrary<Interaction> {
  return fc.record({ ...FIELDS, ...fields }) as fc.Arbitrary<Interaction>;
}

const unaided = (outcome: boolean | null) =>
  fc.oneof(
    interactionOf({ scenario_type: fc.constant("ai_withheld"), outcome_correct: fc.constant(outcome) }),
    interactionOf({ ai_available: fc.constant(false), outcome_correct: fc.constant(outcome) }),
    interactionOf({ ai_recommendation_presented: fc.constant(false), outcome_correct: fc.constant(outcome) }),
  );

/** An interaction with a state before it; `gapMs` after the state's last event. */
interface Step {
  readonly from: Reached;
  readonly interaction: Interaction;
  readonly domain: Domain;
  readonly gapMs: number;
}

const WITHIN_GRACE = fc.integer({ min: 0, max: DAY_MS });
const gapUpTo = (days: number) => fc.oneof(WITHIN_GRACE, fc.integer({ min: 0, max: days * DAY_MS }));

function stepOf(
  interaction: fc.Arbitrary<Interaction>,
  gapMs: fc.Arbitrary<number>,
  from: fc.Arbitrary<Reached> = BY_ANY_MODEL,
): fc.Arbitrary<Step> {
  return fc.record({ from, interaction, other: fc.option(fc.constantFrom(...DOMAINS)), gapMs })
    .map(({ from, interaction, other, gapMs }) => ({
      from,
      interaction,
      domain: other ?? from.domain,
      gapMs,
    }));
}

const anyStep = stepOf(interactionOf(), gapUpTo(60));

// ---- readings ---------------------------------------------------------------------------------------------

const nowOf = ({ from, gapMs }: Step) => from.now + gapMs;

function scoreStep(step: Step): Scored {
  const { from, interaction, domain } = step;
  return score(modelOf(from), from.state, { interaction, domain, now: nowOf(step) }, FULL);
}

function dimensionsIn(
  model: ModelDocument,
  state: OperatorState | null,
  domain: Domain,
): FullDimensions {
  const read = readState(model, state ?? initialState(model), { domain, mode: "full" });
  return read.dimensions as FullDimensions;
}

/** True if `jis-3` reads the dimension from the cases of known truth, not from the buckets. */
const isOfPosterior = (model: ModelDocument, name: Dimension) =>
  model.dimensions[name].exponents === undefined;

/** The JIS before a step, with K of the step's domain. */
function jisBefore({ from, domain }: Step): number {
  const model = modelOf(from);
  return jisOf(model, dimensionsIn(model, from.state, domain), "full");
}

/** The dimensions before and after a step, both with K of the step's domain. */
function compare(step: Step): { before: FullDimensions; after: FullDimensions } {
  const model = modelOf(step.from);
  return {
    before: dimensionsIn(model, step.from.state, step.domain),
    after: dimensionsIn(model, scoreStep(step).state, step.domain),
  };
}

function neverRises(names: readonly Dimension[], step: Step): void {
  const { before, after } = compare(step);
  for (const name of names) {
    assert.ok(after[name] <= before[name], `${name} rose from ${before[name]} to ${after[name]}`);
  }
}

function neverFalls(names: readonly Dimension[], step: Step): void {
  const { before, after } = compare(step);
  for (const name of names) {
    assert.ok(after[name] >= before[name], `${name} fell from ${before[name]} to ${after[name]}`);
  }
}

/** Every bucket of a state with its name. */
function* bucketsOf(state: OperatorState): Generator<readonly [BucketName, Bucket]> {
  for (const name of BUCKETS) yield [name, state.b[name]];
  for (const domain of DOMAINS) yield ["K", domainBucket(state, domain)];
}

function withinCapacity(model: ModelDocument, state: OperatorState): void {
  for (const [name, [a, b]] of bucketsOf(state)) {
    assert.ok(a >= 0 && b >= 0, `${name} = [${a}, ${b}]`);
    assert.ok(a + b <= model.buckets[name].capacity, `${name} = [${a}, ${b}] is over its capacity`);
  }
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

/** A test named by its law, over `numRuns` examples with the file's seed. */
function law<Value>(
  name: string,
  arbitrary: fc.Arbitrary<Value>,
  holds: (value: Value) => void,
  numRuns: number = RUNS,
): void {
  Deno.test(name, () => fc.assert(fc.property(arbitrary, holds), { seed: SEED, numRuns }));
}

// ---- P1 to P16 --------------------------------------------------------------------------------------------

const UNDER_TWO_SECONDS = fc.integer({ min: 0, max: 1_999 });
const ACCEPTED = fc.constant("accepted" as const);

const wrongAcceptance = fc.oneof(
  interactionOf({
    ...PRESENTED,
    decision: ACCEPTED,
    time_to_decision_ms: UNDER_TWO_SECONDS,
    scenario_type: ORDINARY,
    outcome_correct: fc.constant(false),
  }),
  interactionOf({
    ...PRESENTED,
    decision: ACCEPTED,
    time_to_decision_ms: UNDER_TWO_SECONDS,
    scenario_type: INJECTED,
  }),
);

law(
  "P1: accepting a wrong recommendation in under 2 s never raises a dimension or the JIS, before jis-3",
  stepOf(wrongAcceptance, gapUpTo(30), BY_EARLIER_MODELS),
  (step) => {
    neverRises(DIMENSIONS, step);
    assert.ok(scoreStep(step).result.jis <= jisBefore(step), "the JIS rose");
  },
);

law(
  "P1: accepting a wrong recommendation in under 2 s never raises the displayed score",
  stepOf(wrongAcceptance, gapUpTo(30)),
  (step) => {
    const { state } = step.from;
    assert.ok(state === null || scoreStep(step).state.disp! <= state.disp!);
  },
);

law(
  "the displayed score never rises on an interaction that lowered the JIS, and moves by −6 to +3",
  anyStep,
  (step) => {
    const { state } = step.from;
    fc.pre(state !== null);
    const after = scoreStep(step).state;
    const moved = after.disp! - state!.disp!;
    assert.ok(moved >= -6 - 1e-9 && moved <= 3 + 1e-9, `moved by ${moved}`);
    if (after.jis! < state!.jis!) assert.ok(moved <= 0, `moved by ${moved}`);
  },
);

const detection = (decision: fc.Arbitrary<Decision>) =>
  interactionOf({ ...PRESENTED, decision, scenario_type: INJECTED });

law(
  "P2: detecting an injected error never lowers D2, nor D1 if it was rejected, overridden, deferred or escalated, before jis-3",
  stepOf(
    detection(fc.constantFrom("rejected", "overridden", "deferred", "escalated")),
    WITHIN_GRACE,
    BY_EARLIER_MODELS,
  ),
  (step) => neverFalls(["deferral_resistance", "error_detection"], step),
);

law(
  "P2: correcting an injected error by a modification that proved right never lowers D2",
  stepOf(
    interactionOf({
      ...PRESENTED,
      decision: fc.constant("modified"),
      scenario_type: INJECTED,
      outcome_correct: fc.constant(true),
    }),
    WITHIN_GRACE,
  ),
  (step) => neverFalls(["error_detection"], step),
);

const nothing = fc.option(fc.constant(0));
const inertAcceptance = interactionOf({
  decision: ACCEPTED,
  outcome_correct: fc.constant(null),
  scenario_type: fc.constantFrom(...SCENARIO_TYPES.filter((type) => type !== "error_injected")),
  hover_events: nothing,
  scroll_depth: nothing,
  alternative_views_checked: fc.constant(0),
});

law(
  "P3: an unlabelled acceptance with no activity never raises D1, D4 or D7, however long it took, before jis-3",
  stepOf(inertAcceptance, gapUpTo(60), BY_EARLIER_MODELS),
  (step) => neverRises(["deferral_resistance", "deliberation_depth", "decision_autonomy"], step),
);

law(
  "P3 of jis-3: an unlabelled acceptance with no activity never raises D4, if activity was ever seen, nor moves D1 or D7 but by the days that passed",
  stepOf(inertAcceptance, WITHIN_GRACE, BY_JIS_3),
  (step) => {
    const { from, domain, interaction } = step;
    const { after } = compare(step);
    const model = modelOf(from);
    const stored = from.state ?? initialState(model);
    const isLive = interaction.scenario_type !== "calibration";
    const before = dimensionsIn(model, isLive ? asOf(model, stored, nowOf(step)) : stored, domain);
    assert.equal(after.deferral_resistance, before.deferral_resistance);
    assert.equal(after.decision_autonomy, before.decision_autonomy);
    // Zeros of somebody whose views were never above zero read as not measured.
    const hasViewed = ((step.from.state?.ev?.m ?? 0) & 4) !== 0;
    if (hasViewed) neverRises(["deliberation_depth"], step);
  },
);

law(
  "P4: a rejection or override that is labelled wrong never raises D1, D2 or D7, before jis-3",
  stepOf(
    interactionOf({
      ...PRESENTED,
      decision: fc.constantFrom("rejected", "overridden"),
      scenario_type: ORDINARY,
      outcome_correct: fc.constant(false),
    }),
    gapUpTo(60),
    BY_EARLIER_MODELS,
  ),
  (step) => neverRises(OVERSIGHT, step),
);

law(
  "P5: process evidence never falls with time up to the idle limit and never rises with time beyond it",
  fc.record({
    version: fc.constantFrom(...VERSIONS),
    interaction: interactionOf(),
    domain: fc.constantFrom(...DOMAINS),
    relief: fc.double({ min: 0, max: 1, noNaN: true }),
    times: fc.oneof(
      fc.tuple(fc.integer({ min: 0, max: 30_000 }), fc.integer({ min: 0, max: IDLE_MS })),
      fc.tuple(fc.integer({ min: IDLE_MS, max: 700_000 }), fc.integer({ min: IDLE_MS, max: 86_400_000 })),
    ),
  }),
  ({ version, interaction, domain, relief, times }) => {
    const model = modelOf({ version });
    const shorter = Math.min(...times);
    const longer = Math.max(...times);
    const evidence = (timeMs: number) =>
      processEvidence(model, { ...interaction, time_to_decision_ms: timeMs }, { domain, relief }).evidence;
    if (longer <= IDLE_MS) assert.ok(evidence(longer) >= evidence(shorter));
    else assert.ok(evidence(longer) <= evidence(shorter));
  },
);

law(
  "P6: a longer gap before the same interaction never raises a dimension that buckets make, D5 excepted",
  fc.record({ step: anyStep, longerMs: fc.integer({ min: 0, max: 400 * DAY_MS }) }),
  ({ step, longerMs }) => {
    const model = modelOf(step.from);
    const sooner = dimensionsIn(model, scoreStep(step).state, step.domain);
    const later = dimensionsIn(
      model,
      scoreStep({ ...step, gapMs: step.gapMs + longerMs }).state,
      step.domain,
    );
    for (const name of DIMENSIONS) {
      if (name === "post_error_recalibration" || isOfPosterior(model, name)) continue;
      assert.ok(later[name] <= sooner[name], `${name}: ${sooner[name]} sooner, ${later[name]} later`);
    }
  },
);

law(
  "P7: dimensions are integers 0 to 100, the JIS lies in 0 to 100 and every bucket within its capacity",
  anyStep,
  (step) => {
    const { state, result } = scoreStep(step);
    assert.deepEqual(Object.keys(result.dimensions), DIMENSIONS);
    for (const value of Object.values(result.dimensions)) {
      assert.ok(Number.isInteger(value) && value >= 0 && value <= 100);
    }
    assert.ok(result.jis >= 0 && result.jis <= 100);
    assert.equal(result.jis, roundTo(result.jis, 2));
    const { low, high } = result.uncertainty;
    assert.ok(0 <= low && low <= result.jis && result.jis <= high && high <= 100);
    withinCapacity(modelOf(step.from), state);
    stateSchema.parse(state);
  },
);

const FILLING =
  "P7: after thousands of equal events no bucket is over its capacity by more than rounding adds";

for (const model of MODELS) {
  Deno.test(`${FILLING}, ${model.version}`, () => {
    const interaction = recordedInteractionSchema.parse({
      decision: "accepted",
      scenario_type: "critical",
      time_to_decision_ms: 5_000,
      outcome_correct: true,
      hover_events: 3,
      scroll_depth: 0.37,
      alternative_views_checked: 1,
    });
    let state: OperatorState | null = null;
    for (let index = 0; index < 2_500; index += 1) {
      state = score(model, state, { interaction, domain: "general", now: EPOCH + index * 1_000 }, FULL).state;
    }
    for (const [name, [a, b]] of bucketsOf(state!)) {
      assert.ok(a >= 0 && b >= 0 && a + b <= model.buckets[name].capacity + 2e-9, `${name} = [${a}, ${b}]`);
    }
    assert.ok(state!.b.X[0] > 59.9, "X is full");
  });
}

law("P8: the same inputs give the same bytes and are left as they were", anyStep, (step) => {
  const frozen = deepFreeze(structuredClone(step));
  const bytes = JSON.stringify(step);
  const first = JSON.stringify(scoreStep(frozen));
  assert.equal(JSON.stringify(scoreStep(frozen)), first);
  assert.equal(
    JSON.stringify(scoreStep(JSON.parse(bytes))),
    first,
    "nor does a copy read back from JSON differ",
  );
  scoreDecision(modelOf(frozen.from), frozen.from.state, { ...frozen, stakes: null, now: nowOf(frozen) });
  assert.equal(JSON.stringify(frozen), bytes);
});

law(
  "P9: a correct unaided decision never lowers D3 or D6",
  stepOf(unaided(true), WITHIN_GRACE),
  (step) => neverFalls(["independent_performance", "domain_confidence"], step),
);

law(
  "P9: a wrong unaided decision never raises D3 or D6",
  stepOf(unaided(false), gapUpTo(60)),
  (step) => neverRises(["independent_performance", "domain_confidence"], step),
);

law(
  "P10: hovering alone, all three measured, is an engagement of at most 0.25 however many the events",
  fc.record({
    version: fc.constantFrom(...VERSIONS),
    interaction: interactionOf({
      decision: fc.constantFrom(...DECISIONS.filter((decision) => decision !== "modified")),
      hover_events: fc.nat(100_000),
      scroll_depth: fc.constant(0),
      alternative_views_checked: fc.constant(0),
    }),
    domain: fc.constantFrom(...DOMAINS),
    relief: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  ({ version, interaction, domain, relief }) => {
    assert.ok(processEvidence(modelOf({ version }), interaction, { domain, relief }).engagement! <= 0.25);
  },
);

/** A JIS as the model can give one (a multiple of 0.05) with the trend of a reachable state. */
const projection = fc.record({
  from: BY_ANY_MODEL,
  twentieths: fc.nat(2_000),
  domain: fc.constantFrom(...DOMAINS),
})
  .map(({ from, twentieths, domain }) => {
    const model = modelOf(from);
    const state = from.state ?? initialState(model);
    return projectDecay(model, state, { jis: twentieths / 20, domain });
  });

function curveOf(shown: ReturnType<typeof projectDecay>): DecayCurve {
  const { current_jis: start, floor, decay_rate: rate, decay_acceleration: acceleration } = shown;
  return { start, floor, rate, acceleration };
}

law("P11: projections never exceed the current score and never rise from day to day", projection, (shown) => {
  const curve = curveOf(shown);
  let previous = curve.start;
  for (let day = 0; day <= 400; day += 1) {
    const value = projectedJis(curve, day);
    assert.ok(value <= previous, `day ${day}: ${value} after ${previous}`);
    previous = value;
  }
  // Shown values have one decimal: a current 34.35 that is at its floor stays there and is shown as 34.4.
  let previousShown = roundTo(shown.current_jis, 1);
  for (const { day, jis } of shown.projections) {
    assert.equal(jis, roundTo(projectedJis(curve, day), 1));
    assert.ok(jis <= previousShown);
    previousShown = jis;
  }
});

law("P11: days_to_non_compliance is the first whole day below the minimum", projection, (shown) => {
  const curve = curveOf(shown);
  const days = shown.days_to_non_compliance;
  const { min_jis } = JIS_2_0_0.thresholds;
  if (shown.current_jis < min_jis) return assert.equal(days, 0);
  assert.ok(days !== null && days >= 1, "every built-in floor is below the minimum");
  assert.ok(projectedJis(curve, days) < min_jis, `still compliant on day ${days}`);
  assert.ok(projectedJis(curve, days - 1) >= min_jis, `already below on day ${days - 1}`);
});

law(
  "P12: accepting a right recommendation never lowers D2, before jis-3",
  stepOf(
    interactionOf({
      ...PRESENTED,
      decision: ACCEPTED,
      scenario_type: ORDINARY,
      outcome_correct: fc.constant(true),
    }),
    WITHIN_GRACE,
    BY_EARLIER_MODELS,
  ),
  (step) => neverFalls(["error_detection"], step),
);

const unlabelled = (fields: Partial<Fields> = {}) =>
  interactionOf({
    scenario_type: fc.constantFrom(...SCENARIO_TYPES.filter((type) => type !== "error_injected")),
    outcome_correct: fc.constant(null),
    ...fields,
  });

law(
  "P13: a decision whose truth nobody knows leaves H, C, U and K as retention had them",
  stepOf(unlabelled(), gapUpTo(60)),
  (step) => {
    const model = modelOf(step.from);
    const before = retain(model, step.from.state ?? initialState(model), nowOf(step));
    const { state } = scoreStep(step);
    for (const name of ["H", "C", "U"] as const) assert.deepEqual(state.b[name], before.b[name]);
    assert.deepEqual(state.K, before.K);
    assert.equal(state.cnt.truth, before.cnt.truth);
  },
);

function riskOf(step: Step, timeMs: number): number {
  return scoreDecision(modelOf(step.from), step.from.state, {
    interaction: { ...step.interaction, time_to_decision_ms: timeMs },
    domain: step.domain,
    stakes: null,
    now: nowOf(step),
  }).decision_risk_score;
}

law("P14: a decision risk score lies in 0 to 1", anyStep, (step) => {
  const risk = riskOf(step, step.interaction.time_to_decision_ms);
  assert.ok(risk >= 0 && risk <= 1 && risk === roundTo(risk, 2));
});

law(
  "P14: shortening an acceptance never lowers its decision risk score",
  fc.record({
    step: stepOf(interactionOf({ decision: ACCEPTED }), gapUpTo(60)),
    times: fc.tuple(fc.integer({ min: 0, max: 30_000 }), fc.integer({ min: 0, max: IDLE_MS })),
  }),
  ({ step, times }) => assert.ok(riskOf(step, Math.min(...times)) >= riskOf(step, Math.max(...times))),
);

law(
  "P15: an unlabelled departure or referral never raises D2, before jis-3",
  stepOf(
    fc.oneof(
      unlabelled({ decision: fc.constantFrom("rejected", "overridden", "deferred", "escalated") }),
      unlabelled({
        decision: fc.constant("modified"),
        modification_extent: fc.double({ min: 0.25, max: 1, noNaN: true }),
      }),
    ),
    gapUpTo(60),
    BY_EARLIER_MODELS,
  ),
  (step) => neverRises(["error_detection"], step),
);

// This limit is for the population; a search for the worst case, instead of draws, has found 12.5.
law(
  "P16: one interaction moves the JIS by at most 12 points, before jis-3",
  stepOf(interactionOf(), WITHIN_GRACE, BY_EARLIER_MODELS),
  (step) => {
    const moved = scoreStep(step).result.jis - jisBefore(step);
    assert.ok(Math.abs(moved) <= 12, `moved by ${moved}`);
  },
);

// The search for the worst case has found 20.5, and `verdict_test.ts` says where.
law(
  "P16 of jis-3: one interaction moves the JIS by at most 25 points",
  stepOf(interactionOf(), WITHIN_GRACE, BY_JIS_3),
  (step) => {
    const moved = scoreStep(step).result.jis - jisBefore(step);
    assert.ok(Math.abs(moved) <= 25, `moved by ${moved}`);
  },
);

// ---- bucket algebra, section 3.1 --------------------------------------------------------------------------

/**
 * One bucket with contents that evidence could have left, and one put of any weight that an event can have.
 */
const bucketPut = fc.record({
  version: fc.constantFrom(...VERSIONS),
  name: fc.constantFrom<BucketName>(...BUCKETS, "K"),
  fill: fc.double({ min: 0, max: 1, noNaN: true }),
  positive: fc.double({ min: 0, max: 1, noNaN: true }),
  value: fc.double({ min: 0, max: 1, noNaN: true }),
  weight: fc.double({ min: 0.01, max: 2.25, noNaN: true }),
}).map(({ version, name, fill, positive, value, weight }) => {
  const model = modelOf({ version });
  const { capacity } = model.buckets[name];
  const bucket: Bucket = [fill * capacity * positive, fill * capacity * (1 - positive)];
  const meanAfter = (given: number) => mean(model, name, put(bucket, given, weight, capacity));
  const even = breakEven(model, name, bucket);
  return { even, value, meanBefore: mean(model, name, bucket), meanAfter };
});

/** Stored numbers are rounded to 1e-9, and a mean divides them by at least its prior strength of 4. */
const QUANTUM = 1e-9;

law("putting 0 never raises a mean and putting 1 never lowers it", bucketPut, ({ meanBefore, meanAfter }) => {
  assert.ok(meanAfter(0) <= meanBefore + QUANTUM);
  assert.ok(meanAfter(1) >= meanBefore - QUANTUM);
});

law(
  "the break-even value leaves a mean where it is, less lowers it, more raises it",
  bucketPut,
  ({ even, value, meanBefore, meanAfter }) => {
    assert.ok(Math.abs(meanAfter(even) - meanBefore) <= QUANTUM);
    if (value <= even) assert.ok(meanAfter(value) <= meanBefore + QUANTUM);
    else assert.ok(meanAfter(value) >= meanBefore - QUANTUM);
  },
);

// ---- late labels ------------------------------------------------------------------------------------------

/** A case scored without its truth, what the operator did after it, and the label that comes at last. */
const lateLabel = fc.record({
  step: stepOf(unlabelled(), gapUpTo(60)),
  later: fc.array(interactionOf(), { maxLength: 5 }),
  outcome: fc.boolean(),
}).map(({ step, later, outcome }) => {
  const { state, weights } = scoreStep(step);
  const { domain, interaction: { decision, scenario_type } } = step;
  const before = later.reduce((current, interaction, index) => {
    const event = { interaction, domain, now: nowOf(step) + (index + 1) * 60_000 };
    return score(modelOf(step.from), current, event, FULL).state;
  }, state);
  return {
    step,
    version: step.from.version,
    scored: state,
    before,
    label: { weights, decision, scenario_type, outcome_correct: outcome },
  };
});

law(
  "a late label changes only H, C, A, U, the domain's K and the truth counters, with jis-3 the known cases and the JIS too",
  lateLabel,
  (late) => {
    const { before, label } = late;
    const { presented, domain } = label.weights;
    const after = applyLabel(modelOf(late), before, label);
    const { H, C, A, U } = presented ? after.b : { ...before.b, U: after.b.U };
    assert.deepEqual(after, {
      ...before,
      b: { ...before.b, H, C, A, U },
      K: after.K[domain] === undefined ? before.K : { ...before.K, [domain]: after.K[domain] },
      ...(after.ev === undefined || !presented ? {} : { ev: after.ev, jis: after.jis }),
      cnt: { ...before.cnt, truth: before.cnt.truth + 1, lab: before.cnt.lab + (presented ? 1 : 0) },
    });
  },
);

law("a late label keeps every bucket within its capacity", lateLabel, (late) => {
  const { before, label } = late;
  const after = applyLabel(modelOf(late), before, label);
  withinCapacity(modelOf(late), after);
  stateSchema.parse(after);
});

law(
  "a late label is pure: the same inputs give the same bytes and are left as they were",
  lateLabel,
  (late) => {
    const bytes = JSON.stringify(late);
    const { before, label } = deepFreeze(structuredClone(late));
    const first = JSON.stringify(applyLabel(modelOf(late), before, label));
    assert.equal(JSON.stringify(applyLabel(modelOf(late), before, label)), first);
    const copy = JSON.parse(bytes);
    assert.equal(JSON.stringify(applyLabel(modelOf(late), copy.before, copy.label)), first);
    assert.equal(JSON.stringify({ ...late, before, label }), bytes);
  },
);

law(
  "a label right after its score leaves H, C, U, K, the known cases and the JIS of jis-3 as the same label in the request would",
  lateLabel,
  (late) => {
    const { step, scored, label } = late;
    const labelled = applyLabel(modelOf(late), scored, label);
    const interaction = { ...step.interaction, outcome_correct: label.outcome_correct };
    const atOnce = scoreStep({ ...step, interaction }).state;
    for (const name of ["H", "C", "U"] as const) assert.deepEqual(labelled.b[name], atOnce.b[name]);
    assert.deepEqual(labelled.K, atOnce.K);
    assert.deepEqual(labelled.cnt, atOnce.cnt);
    assert.deepEqual(labelled.ev, atOnce.ev);
    if (labelled.ev !== undefined) assert.equal(labelled.jis, atOnce.jis);
  },
);

/** With `jis-3` a referral counts in part as right and in part as wrong, whatever its truth. */
function isPartlyRight(
  { version, label: { decision } }: {
    readonly version: string;
    readonly label: { readonly decision: Decision };
  },
): boolean {
  return modelOf({ version }).formulas === "jis-3" && (decision === "deferred" || decision === "escalated");
}

law(
  "a late label that says wrong never raises a dimension that buckets make, but for a referral of jis-3",
  lateLabel,
  (late) => {
    const { version, before, label } = late;
    const model = modelOf({ version });
    const { domain } = label.weights;
    fc.pre(!isPartlyRight(late));
    const old = dimensionsIn(model, before, domain);
    const now = dimensionsIn(model, applyLabel(model, before, { ...label, outcome_correct: false }), domain);
    for (const name of DIMENSIONS.filter((name) => !isOfPosterior(model, name))) {
      assert.ok(now[name] <= old[name], `${name} rose`);
    }
  },
);

law(
  "a late label that says right never lowers a dimension that buckets make, but for a referral of jis-3, and D7 where the acceptance proves to have been careless",
  lateLabel,
  (late) => {
    const { version, before, label } = late;
    const model = modelOf({ version });
    const { domain } = label.weights;
    fc.pre(!isPartlyRight(late));
    const old = dimensionsIn(model, before, domain);
    const now = dimensionsIn(model, applyLabel(model, before, { ...label, outcome_correct: true }), domain);
    for (const name of DIMENSIONS.filter((name) => !isOfPosterior(model, name))) {
      if (name === "decision_autonomy" && ["accepted", "modified"].includes(label.decision)) continue;
      assert.ok(now[name] >= old[name], `${name} fell`);
    }
  },
);

// ---- lite mode --------------------------------------------------------------------------------------------

law("a lite score equals the full one over its three dimensions, renormalised", anyStep, (step) => {
  const { from, interaction, domain } = step;
  const full = scoreStep(step);
  const lite = score(modelOf(from), from.state, { interaction, domain, now: nowOf(step) }, LITE);
  const { deferral_resistance, deliberation_depth, decision_autonomy } = full.result.dimensions;
  assert.deepEqual(lite.result.dimensions, { deferral_resistance, deliberation_depth, decision_autonomy });
  assert.equal(lite.result.dimensions_computed, 3);
  const weighed = modelOf(from).formulas === "jis-3"
    ? 0.5 * deferral_resistance! + 0.5 * decision_autonomy!
    : (0.2 * deferral_resistance! + 0.15 * deliberation_depth! + 0.15 * decision_autonomy!) / 0.5;
  assert.equal(lite.result.jis, roundTo(weighed, 2));
});

law("the state after a lite score is the state after a full one", anyStep, (step) => {
  const { from, interaction, domain } = step;
  const full = scoreStep(step);
  const lite = score(modelOf(from), from.state, { interaction, domain, now: nowOf(step) }, LITE);
  assert.deepEqual(lite.state, full.state);
  assert.deepEqual(lite.weights, full.weights);
  assert.deepEqual(lite.result.decay_projection.current_trend, currentTrend(modelOf(from), full.state));
});

law("an incident-frozen interaction leaves the state as it was and has no score", anyStep, (step) => {
  const { from, interaction, domain } = step;
  const frozen = { mode: "full", modeOverride: "incident_frozen" } as const;
  const { state, result } = score(
    modelOf(from),
    from.state,
    { interaction, domain, now: nowOf(step) },
    frozen,
  );
  assert.equal(state, from.state);
  assert.deepEqual(result, { skipped: true, reason: "incident_frozen" });
});

// ---- the model document -----------------------------------------------------------------------------------

law(
  "a model whose priors are all p starts everyone at 100·p, in every dimension, domain and mode, before jis-3",
  fc.record({
    version: fc.constantFrom(...EARLIER_VERSIONS),
    percent: fc.oneof(fc.constant(65), fc.integer({ min: 1, max: 99 })),
    domain: fc.constantFrom(...DOMAINS),
  }),
  ({ version, percent, domain }) => {
    const model = modelOf({ version });
    const prior_mean = percent / 100;
    const buckets = Object.fromEntries(
      Object.entries(model.buckets).map(([name, row]) => [name, name === "Q" ? row : { ...row, prior_mean }]),
    ) as typeof model.buckets;
    const changed = { ...model, buckets };
    const means = bucketMeans(changed, initialState(changed), domain);
    for (const mode of MODES) {
      const dimensions = dimensionsOf(changed, means, mode);
      assert.deepEqual([...new Set(Object.values(dimensions))], [percent]);
      assert.equal(jisOf(changed, dimensions, mode), percent);
    }
  },
  200,
);

law(
  "a JIS lies between its lowest and its highest dimension, as the weights of a mode add up to 1",
  fc.record({
    version: fc.constantFrom(...VERSIONS),
    values: fc.array(fc.nat(100), { minLength: 7, maxLength: 7 }),
    mode: fc.constantFrom(...MODES),
  }),
  ({ version, values, mode }) => {
    const model = modelOf({ version });
    const dimensions = Object.fromEntries(DIMENSIONS.map((name, index) => [name, values[index]!]));
    const counted = DIMENSIONS.filter((name) => dimensionWeight(model, name, mode) > 0).map((name) =>
      dimensions[name]!
    );
    const jis = jisOf(model, dimensions, mode);
    assert.ok(jis >= Math.min(...counted) && jis <= Math.max(...counted));
    // Every built-in weight is a multiple of 1/20, so that a client can recompute the JIS exactly.
    assert.equal(jis, roundTo(jis * 20, 0) / 20);
  },
);
