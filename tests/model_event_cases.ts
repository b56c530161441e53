/**
 * Worked cases of one event in the default model: which values it puts into which buckets with which weight,
 * how it changes an operator's baselines and averages, and which buckets give the dimensions of conduct.
 */
import assert from "node:assert/strict";
import { type Dimension, DIMENSIONS, type Domain, DOMAINS, SCENARIO_TYPES } from "../src/domain/enums.ts";
import { type Interaction, recordedInteractionSchema } from "../src/domain/interaction.ts";
import { ln, q9 } from "../src/scoring/arithmetic.ts";
import { dimensionValue } from "../src/scoring/dimensions.ts";
import { scoreDecision } from "../src/scoring/drs.ts";
import type { BucketName, ModelDocument } from "../src/scoring/model.ts";
import { NO_PARTS } from "../src/scoring/known_cases.ts";
import { type ProcessEvidence, processEvidence, scrutiny } from "../src/scoring/process.ts";
import { advance, Draft, type Step } from "../src/scoring/reducer.ts";
import { score } from "../src/scoring/score.ts";
import { breakEven, type BucketMeans, initialState, mean, type OperatorState } from "../src/scoring/state.ts";
import { DAY_MS } from "../src/domain/time.ts";
import type { ModelCheck } from "./model_checks.ts";

const NOW = Date.UTC(2027, 0, 4, 9);
const MINUTE_MS = 60_000;

/** A minute of full review, all three measured, unless given otherwise: its scrutiny is 1. */
const interactionOf = (fields: Partial<Interaction>): Interaction =>
  recordedInteractionSchema.parse({
    decision: "accepted",
    time_to_decision_ms: MINUTE_MS,
    hover_events: 6,
    scroll_depth: 1,
    alternative_views_checked: 2,
    ...fields,
  });

const UNMEASURED = { hover_events: null, scroll_depth: null, alternative_views_checked: null } as const;

type Puts = Readonly<Record<string, readonly [value: number, weight: number]>>;

/** The figures that an interaction puts, by rule and bucket; without P, which is the same for all. */
function puts(
  model: ModelDocument,
  fields: Partial<Interaction>,
  { state = {}, now = NOW }: { readonly state?: Partial<OperatorState>; readonly now?: number } = {},
): Puts {
  const steps: Step[] = [];
  const event = { interaction: interactionOf(fields), domain: "general", now } as const;
  advance(model, { ...initialState(model), ...state }, event, (step) => steps.push(step));
  return Object.fromEntries(
    steps.filter(({ rule }) => rule !== "process").map(({ rule, bucket, value, weight }) => [
      `${rule} ${bucket}`,
      [q9(value), q9(weight)],
    ]),
  );
}

// ---- one event --------------------------------------------------------------------------------------------

function labelled(model: ModelDocument): void {
  assert.deepEqual(puts(model, { decision: "rejected", outcome_correct: true }), {
    "hit H": [1, 1],
    "warranted_departure X": [1, 0.5],
    "hit A": [1, 1.25],
    "hit U": [1, 0.35],
    "hit K": [1, 1],
  });
  assert.deepEqual(puts(model, { outcome_correct: false }), {
    "miss H": [0, 1],
    "wrong_acceptance X": [0.5, 1],
    "miss A": [0, 1.5],
    "miss U": [0, 0.35],
    "miss K": [0, 1],
  });
  assert.deepEqual(puts(model, { decision: "overridden", outcome_correct: false }), {
    "false_alarm C": [0, 1],
    "false_alarm A": [0, 1.25],
    "false_alarm U": [0, 0.35],
    "false_alarm K": [0, 1],
  });
  assert.deepEqual(puts(model, { outcome_correct: true }), {
    "correct_acceptance C": [1, 1],
    "unreflexive_acceptance X": [1, 1],
    "correct_acceptance A": [0.85, 0.5],
    "correct_acceptance K": [1, 0.15],
  });
}

function unlabelled(model: ModelDocument): void {
  assert.deepEqual(puts(model, {}), {
    "unreflexive_acceptance X": [1, 1],
    "restraint Q": [1, 1],
    "unlabelled_acceptance A": [0.85, 0.5],
  });
  // For an unknown operator one departure in two is believed: 0.5 × (0.5 + 0.5 × scrutiny).
  const departed = (value: number) => ({
    "departure X": [value, 0.5],
    "restraint Q": [0, 1],
    "departure A": [value, 0.75],
  });
  assert.deepEqual(puts(model, { decision: "rejected" }), departed(0.5));
  assert.deepEqual(puts(model, { decision: "rejected", time_to_decision_ms: 1_000 }), departed(0.25));
  const blank = initialState(model);
  assert.deepEqual(puts(model, { decision: "escalated" }, { state: { b: { ...blank.b, A: [20, 0] } } }), {
    "restraint Q": [0, 1],
    "referral A": [0.65, 0.25],
  });
}

function scenarios(model: ModelDocument): void {
  const omega = SCENARIO_TYPES.map((scenario_type) => {
    const event = { interaction: interactionOf({ scenario_type }), domain: "general", now: NOW } as const;
    return advance(model, null, event).weights.omega;
  });
  assert.deepEqual(omega, [1, 1.25, 1.5, 1.25, 1.25, 1]);
}

// ---- after an error ---------------------------------------------------------------------------------------

type Window = NonNullable<OperatorState["err"]>;

/** An open window of an operator who usually took a minute, give or take half a log second. */
const windowOf = (fields: Partial<Window> = {}): Window => ({
  type: "over",
  t: NOW,
  k: 5,
  mu: ln(60),
  sd: 0.5,
  im: 1,
  ...fields,
});

function afterError(model: ModelDocument): void {
  const of = (fields: Partial<Interaction>, window: Partial<Window> = {}) => {
    const put = puts(model, fields, { state: { err: windowOf(window) } });
    return Object.entries(put).filter(([name]) => name.endsWith(" R")).map(([, put]) => put)[0];
  };
  assert.deepEqual(of({ outcome_correct: false }), [0, 1.5]);
  assert.deepEqual(of({ decision: "rejected", outcome_correct: false }), [0, 1]);
  assert.deepEqual(of({ decision: "rejected", outcome_correct: false }, { type: "under" }), [0, 1.5]);
  assert.deepEqual(of({ decision: "rejected", outcome_correct: true }), [1, 1.5]);
  assert.deepEqual(of({ ai_available: false, outcome_correct: true }), [1, 1]);
  const under = { type: "under" } as const;
  assert.deepEqual(of({ outcome_correct: true }, under), [1, 0.75]);
  assert.deepEqual(of({ outcome_correct: true, time_to_decision_ms: 1_000 }, under), [0.5, 0.75]);
  // 0.6 of scrutiny, 0.4 of slowing (0.4) and engagement (0.6); each is 0.5 if both are as before the error.
  assert.deepEqual(of({}), [0.8, 0.1]);
  assert.deepEqual(of({}, { mu: ln(60) - 0.1 }), [0.816, 0.1], "slower by a fifth of the spread: 0.6");
  assert.deepEqual(of({}, { mu: ln(60) - 1 }), [0.88, 0.1], "slower by twice the spread: 1");
  assert.deepEqual(of({}, { im: 0.5 }), [0.92, 0.1], "half more engaged: 1");
  assert.deepEqual(of(UNMEASURED), [0.8, 0.05]);
}

function windows(model: ModelDocument): void {
  const watched = (ms: number) =>
    "recalibration_hit R" in puts(model, { decision: "rejected", outcome_correct: true }, {
      state: { err: windowOf() },
      now: NOW + ms,
    });
  assert.deepEqual([watched(14 * DAY_MS), watched(14 * DAY_MS + 1)], [true, false]);
  const opened = (modification_extent: number) => {
    const interaction = interactionOf({ decision: "modified", modification_extent, outcome_correct: false });
    const { state } = advance(model, null, { interaction, domain: "general", now: NOW });
    return state.err && [state.err.type, state.err.k];
  };
  assert.deepEqual(opened(0.25), ["under", 5], "half of a false alarm opens one, for five events");
  assert.equal(opened(0.2475), null, "less does not");
}

// ---- process ----------------------------------------------------------------------------------------------

function scrutinies(model: ModelDocument): void {
  const of = (evidence: number, time: number, relief: number) =>
    q9(scrutiny(model, { evidence, time } as ProcessEvidence, relief));
  assert.deepEqual([of(0.3, 1, 0), of(0.6, 1, 0), of(0.9, 1, 0)], [0.5, 1, 1]);
  assert.deepEqual([of(0, 0.25, 1), of(0, 0.125, 1), of(0, 1, 0.5)], [0.7, 0.35, 0.35]);
}

function process(model: ModelDocument, fields: Partial<Interaction>): ProcessEvidence {
  return processEvidence(model, interactionOf({ ...UNMEASURED, ...fields }), {
    domain: "general",
    relief: 0,
  });
}

/** A hover takes 150 ms, up to 40; a view 600 ms, up to 10; a whole page 1.5 s. */
function plausibility(model: ModelDocument): void {
  const of = (time_to_decision_ms: number, fields: Partial<Interaction>) =>
    process(model, { time_to_decision_ms, ...fields }).plausibility;
  assert.deepEqual([40, 41].map((hover_events) => of(3_000, { hover_events })), [0.5, 0.5]);
  assert.deepEqual([10, 11].map((alternative_views_checked) => of(3_000, { alternative_views_checked })), [
    0.5,
    0.5,
  ]);
  assert.equal(of(750, { scroll_depth: 1 }), 0.5);
}

function engaged(model: ModelDocument): void {
  const looked = { hover_events: 0, scroll_depth: 1, alternative_views_checked: 0 };
  const modified = { ...looked, decision: "modified", modification_extent: 1 } as const;
  assert.deepEqual([looked, modified].map((fields) => q9(process(model, fields).engagement!)), [
    0.4,
    0.7,
  ]);
  const times = [0, 200, 600_000, 700_000].map((time_to_decision_ms) =>
    process(model, { time_to_decision_ms }).timeMs
  );
  assert.deepEqual(times, [200, 200, 600_000, 600_000]);
}

// ---- baselines --------------------------------------------------------------------------------------------

/** The operator's usual ln(seconds), of one second, after a minute; events before it and their variance. */
function baselines(model: ModelDocument): void {
  const usual = (n: number, s2: number) => {
    const state = { ...initialState(model), rt: { n, mu: 0, s2 } };
    return advance(model, state, { interaction: interactionOf({}), domain: "general", now: NOW }).state.rt.mu;
  };
  assert.equal(usual(9, 0.09), q9(ln(60) / 10));
  assert.equal(usual(10, 0.09), q9(2.5 * 0.3 / 11), "from ten on no outlier moves it far");
  assert.equal(usual(100, 0.09), q9(2.5 * 0.3 / 60));
  assert.equal(usual(100, 0.01), q9(2.5 * 0.2 / 60));
}

function averages(model: ModelDocument): void {
  const interaction = interactionOf({ scenario_type: "high_stakes", outcome_correct: true });
  const event = { interaction, domain: "general", now: NOW } as const;
  const after = (before: Partial<OperatorState>) => {
    const state = { ...initialState(model), ev: NO_PARTS, n: 199, ...before };
    return score(model, state, event, { mode: "full", modeOverride: "normal" }).state;
  };
  const jis = after({}).jis!;
  const state = after({ jis, ef: jis - 20, es: jis - 20, disp: jis + 10 });
  assert.equal(state.jis, jis, "averages are no evidence");
  assert.equal(state.ef, q9(jis - 20 + 20 / 10));
  assert.equal(state.es, q9(jis - 20 + 20 / 40));
  assert.equal(state.disp, q9(jis + 10 - 0.35 * 10));
  assert.equal(state.share.hs, 0.01);
  assert.equal(after({ jis, disp: jis + 18 }).disp, q9(jis + 12), "a fall of 6.3 is held at 6");
  assert.equal(after({ jis, disp: jis - 9 }).disp, q9(jis - 6), "a rise of 3.15 is held at 3");
  assert.equal(after({ jis: jis + 1, disp: jis - 9 }).disp, q9(jis - 9), "no rise after a fall");
}

// ---- buckets and dimensions -------------------------------------------------------------------------------

/** Q has no prior: nothing reads its mean. */
const BUCKETS: Readonly<Record<BucketName, readonly [capacity: number, strength?: number, prior?: number]>> =
  {
    H: [40, 4, 0.65],
    C: [100, 6, 0.65],
    P: [60, 10, 0.65],
    X: [60, 10, 0.65],
    A: [60, 10, 0.65],
    U: [50, 5, 0.65],
    R: [25, 10, 0.65],
    K: [70, 5, 0.65],
    Q: [60],
  };

function buckets(model: ModelDocument): void {
  for (const [key, [capacity, strength, prior]] of Object.entries(BUCKETS)) {
    const name = key as BucketName;
    const same = (value: number, expected: number, what: string) =>
      assert.equal(q9(value), q9(expected), `${name}: ${what}`);
    const draft = new Draft(model, { ...initialState(model), ...full(name) }, "general");
    draft.put("hit", name, 1, 1);
    same(draft.bucket(name)[0], 10 - 10 / capacity + 1, "what was known makes room");
    if (strength === undefined || prior === undefined) continue;
    same(mean(model, name, [0, 0]), prior, "nothing is known");
    same(mean(model, name, [strength, 0]), (1 + prior) / 2, "as much is known as was assumed");
    const half = (capacity / 2 + prior * strength) / (capacity / 2 + strength);
    same(breakEven(model, name, [capacity / 2, 0]), 0.5 + 0.5 * half, "half full");
  }

  /** Ten in a bucket; K is that of the domain `general`. */
  function full(name: BucketName): Partial<OperatorState> {
    const { b, K } = initialState(model);
    return name === "K" ? { K: { ...K, general: [10, 0] } } : { b: { ...b, [name]: [10, 0] } };
  }
}

/** The dimensions that conduct alone gives; the others follow from the posterior. */
const EXPONENTS: Readonly<Partial<Record<Dimension, Readonly<Partial<Record<BucketName, number>>>>>> = {
  independent_performance: { U: 1 },
  deliberation_depth: { P: 0.2, H: 0.5, C: 0.3 },
  post_error_recalibration: { R: 1 },
  domain_confidence: { K: 1 },
};

/** A quarter of one bucket's mean, all others full: 0.25 to the power of the bucket's exponent. */
function dimensions(model: ModelDocument): void {
  const full = Object.fromEntries(Object.keys(BUCKETS).map((name) => [name, 1]));
  for (const dimension of DIMENSIONS) {
    const exponents = EXPONENTS[dimension];
    assert.equal(model.dimensions[dimension].exponents === undefined, exponents === undefined, dimension);
    for (const name of Object.keys(BUCKETS) as BucketName[]) {
      const value = dimensionValue(model, dimension, { ...full, [name]: 0.25 } as BucketMeans);
      assert.equal(q9(value), q9(0.25 ** (exponents?.[name] ?? 0)), `${dimension} by ${name}`);
    }
  }
}

// ---- decision risk ----------------------------------------------------------------------------------------

const SEVERITIES: Readonly<Record<Domain, number>> = {
  general: 0.4,
  financial: 0.65,
  insurance: 0.6,
  healthcare: 0.85,
  legal: 0.75,
  employment: 0.7,
  education: 0.6,
  public_sector: 0.65,
  law_enforcement: 0.9,
  critical_infrastructure: 0.95,
  housing: 0.65,
  aviation: 0.95,
  pharmaceutical: 0.9,
};

function severities(model: ModelDocument): void {
  const of = (domain: Domain, stakes: "low" | "high" | "critical") =>
    scoreDecision(model, null, { interaction: interactionOf({}), domain, stakes, now: NOW })
      .factors.find(({ name }) => name === "severity")!.value;
  for (const domain of DOMAINS) assert.equal(of(domain, "low"), SEVERITIES[domain], domain);
  assert.deepEqual([of("general", "high"), of("general", "critical")], [0.55, 0.7]);
  assert.equal(of("critical_infrastructure", "high"), 1);
}

function likelihoods(model: ModelDocument): void {
  const of = (n: number, fields: Partial<Interaction>, hits = 0) => {
    const blank = initialState(model);
    const state = { ...blank, n, b: { ...blank.b, H: [hits, 0] as [number, number] } };
    const interaction = interactionOf(fields);
    const { factors } = scoreDecision(model, state, {
      interaction,
      domain: "general",
      stakes: "low",
      now: NOW,
    });
    return factors.find(({ name }) => name === "likelihood")!.value;
  };
  const hasty = { time_to_decision_ms: 1_000 };
  const departure = { decision: "rejected" } as const;
  assert.deepEqual([of(60, {}), of(60, hasty)], [0.18, 0.68], "0.5 × 0.35, and 0.5 more without a review");
  assert.deepEqual(
    [of(60, departure), of(60, { ...departure, ...hasty })],
    [0.38, 0.63],
    "0.75 × 0.5, and 0.25 more",
  );
  assert.deepEqual([0, 25, 50].map((n) => of(n, { decision: "escalated" })), [0.25, 0.2, 0.15]);
  // 0.75 / 4.84 is 0.155 less 0.00004: the 0.002 of the last newcomer's event decides.
  assert.deepEqual([of(49, departure, 2.84), of(50, departure, 2.84)], [0.16, 0.15]);
}

/** Each case, named by what it requires of the model. */
export const EVENT_CASES: readonly ModelCheck[] = [
  { name: "the puts of a decision with known truth", holds: labelled },
  { name: "the puts of a decision with unknown truth", holds: unlabelled },
  { name: "graver scenarios weigh more", holds: scenarios },
  { name: "the puts of the events after an error", holds: afterError },
  { name: "the window after an error is five events within 14 days", holds: windows },
  { name: "scrutiny is full at an evidence of 0.6, relief lends at most 0.7 of the rest", holds: scrutinies },
  { name: "activity needs a plausible time", holds: plausibility },
  { name: "a modification is engagement; times are read from 0.2 s to 10 minutes", holds: engaged },
  { name: "the usual pace moves by at least a sixtieth, and outliers are bounded", holds: baselines },
  {
    name:
      "averages over 10, 40 and 100 events; the displayed score falls by at most 6 points and rises by at most 3",
    holds: averages,
  },
  { name: "the prior and the capacity of each bucket", holds: buckets },
  { name: "the buckets of each dimension of conduct", holds: dimensions },
  { name: "the severity of a decision in each domain", holds: severities },
  { name: "the likelihood of an unnoticed wrong decision", holds: likelihoods },
];
