/**
 * Worked cases of the default model: values at each of its limits and just beside it, in numbers that can be
 * followed by hand.
 */
import assert from "node:assert/strict";
import {
  type Decision,
  type Dimension,
  DIMENSIONS,
  type Domain,
  DOMAINS,
  type Stakes,
  type VerdictStatus,
} from "../src/domain/enums.ts";
import { type Interaction, recordedInteractionSchema } from "../src/domain/interaction.ts";
import { roundTo } from "../src/scoring/arithmetic.ts";
import { classify, departureShare } from "../src/scoring/classify.ts";
import { complianceOf } from "../src/scoring/compliance.ts";
import { currentTrend, projectDecay, sessionsToTarget } from "../src/scoring/decay.ts";
import { bandOf, computedDimensions, type FullDimensions, jisOf } from "../src/scoring/dimensions.ts";
import { scoreDecision } from "../src/scoring/drs.ts";
import { findingsOf } from "../src/scoring/findings.ts";
import {
  type MaintenanceInput,
  recommendExercises,
  recommendMaintenance,
} from "../src/scoring/maintenance.ts";
import type { ModelDocument } from "../src/scoring/model.ts";
import {
  isActive,
  isCriticalDecision,
  isHighRisk,
  type OperatorRow,
  organizationRule,
} from "../src/scoring/organization.ts";
import type { PeriodRecord } from "../src/scoring/period.ts";
import { processEvidence } from "../src/scoring/process.ts";
import { retain } from "../src/scoring/reducer.ts";
import { score } from "../src/scoring/score.ts";
import { initialState, minimumDataMet, type OperatorState } from "../src/scoring/state.ts";
import type { Verdict } from "../src/scoring/verdict.ts";
import { DAY_MS } from "../src/domain/time.ts";
import type { ModelCheck } from "./model_checks.ts";

const NOW = Date.UTC(2027, 0, 4, 9);
const FULL = { mode: "full", modeOverride: "normal" } as const;
const CAREFUL = { hover_events: 6, scroll_depth: 1, alternative_views_checked: 2 } as const;

const interactionOf = (fields: Partial<Interaction>): Interaction =>
  recordedInteractionSchema.parse({ decision: "accepted", time_to_decision_ms: 10_000, ...fields });

const stateOf = (model: ModelDocument, fields: Partial<OperatorState>): OperatorState => ({
  ...initialState(model),
  ...fields,
});

const every = (value: number): FullDimensions =>
  Object.fromEntries(DIMENSIONS.map((name) => [name, value])) as FullDimensions;

// ---- telemetry --------------------------------------------------------------------------------------------

/** Activity that is `scroll` alone, all three measured: its engagement is 0.4 of it. */
const process = (model: ModelDocument, scroll_depth: number, time_to_decision_ms: number) =>
  processEvidence(
    model,
    interactionOf({ time_to_decision_ms, hover_events: 0, scroll_depth, alternative_views_checked: 0 }),
    { domain: "general", relief: 0 },
  );

function activity(model: ModelDocument): void {
  assert.equal(process(model, 0.125, 10_000).engagement, 0.05);
  assert.equal(process(model, 0.125, 10_000).inert, false);
  assert.equal(process(model, 0.12, 10_000).inert, true);
}

function walkedAway(model: ModelDocument): void {
  assert.equal(process(model, 0.49, 180_000).time, 1);
  assert.equal(process(model, 0.49, 180_001).time, 0.5);
  assert.equal(process(model, 0.5, 180_001).time, 1, "an engagement of 0.2 is not idle");
}

/** Time on a log scale from the domain's fast to its reference time, milliseconds. */
const REVIEW_TIMES: Readonly<Record<Domain, readonly [fast: number, reference: number]>> = {
  general: [2_000, 12_000],
  financial: [2_000, 15_000],
  insurance: [2_000, 15_000],
  healthcare: [2_500, 20_000],
  legal: [2_500, 25_000],
  employment: [2_000, 15_000],
  education: [2_000, 15_000],
  public_sector: [2_000, 15_000],
  law_enforcement: [2_500, 20_000],
  critical_infrastructure: [2_500, 15_000],
  housing: [2_000, 15_000],
  aviation: [2_500, 15_000],
  pharmaceutical: [2_500, 20_000],
};

function reviewTimes(model: ModelDocument): void {
  for (const domain of DOMAINS) {
    const [fast, reference] = REVIEW_TIMES[domain];
    const time = (time_to_decision_ms: number) =>
      processEvidence(model, interactionOf({ time_to_decision_ms }), { domain, relief: 0 }).time;
    assert.deepEqual([time(fast - 1), time(fast), time(reference)], [0, 0, 1], domain);
    assert.ok(time(fast + 1) > 0 && time(reference - 1) < 1, domain);
    assert.equal(roundTo(time(Math.sqrt(fast * reference)), 9), 0.5, domain);
  }
}

/**
 * The worth of telemetry that was measured in whole, in part or not at all: evidence of a full review, and
 * weight.
 */
function measured(model: ModelDocument): void {
  const of = (fields: Partial<Interaction>) => {
    const interaction = interactionOf({ time_to_decision_ms: 60_000, ...fields });
    const { evidence, weight, engagement } = processEvidence(model, interaction, {
      domain: "general",
      relief: 0,
    });
    return [evidence, weight, engagement].map((value) => value === null ? null : roundTo(value, 9));
  };
  assert.deepEqual(of({}), [0.65, 0.5, null], "time alone brings no more than the neutral value");
  assert.deepEqual(of(CAREFUL), [1, 1, 1]);
  assert.deepEqual(of({ hover_events: 0, scroll_depth: 0, alternative_views_checked: 0 }), [0.3, 1, 0]);
  assert.deepEqual(of({ hover_events: 0, scroll_depth: 1, alternative_views_checked: 0 }), [
    0.766666667,
    1,
    0.4,
  ]);
  assert.deepEqual(of({ hover_events: 3 }), [0.883333333, 0.625, 0.5]);
  assert.deepEqual(of({ scroll_depth: 0.3 }), [0.65, 0.7, 0.3]);
  assert.deepEqual(of({ alternative_views_checked: 1 }), [0.883333333, 0.675, 0.5]);
}

function hovering(model: ModelDocument): void {
  const hovers = (hover_events: number) =>
    processEvidence(
      model,
      interactionOf({
        hover_events,
        scroll_depth: 0,
        alternative_views_checked: 0,
        time_to_decision_ms: 60_000,
      }),
      { domain: "general", relief: 0 },
    ).engagement;
  assert.deepEqual([3, 6, 40].map(hovers), [0.125, 0.25, 0.25]);
}

/** The four cells of a decision: hit, miss, correct acceptance, false alarm. */
function cells(model: ModelDocument): void {
  const of = (
    decision: Decision,
    fields: { readonly ai?: boolean; readonly outcome?: boolean; readonly isInjected?: true },
    departure = 0,
  ) => {
    const { hit, miss, correctAcceptance, falseAlarm } = classify(model, {
      decision,
      scenario_type: fields.isInjected ? "error_injected" : "standard",
      outcome_correct: fields.outcome ?? null,
      ai_correct: fields.ai,
      departure,
    });
    return [hit, miss, correctAcceptance, falseAlarm];
  };
  assert.deepEqual(of("escalated", { outcome: true }), [0.6, 0.4, 0, 0], "most of a hit, the rest a miss");
  assert.deepEqual(of("escalated", { isInjected: true }), [0.6, 0.4, 0, 0]);
  assert.deepEqual(of("deferred", { outcome: false }), [0, 0, 0.25, 0.75], "most of a false alarm");
  assert.deepEqual(of("deferred", { ai: true }), [0, 0, 0.25, 0.75]);
  assert.deepEqual(of("modified", { outcome: false }, 0.5), [0, 0.5, 0, 0.25], "half of it is forgiven");
  assert.deepEqual(of("modified", { ai: true, outcome: false }, 0.5), [0, 0, 0.75, 0.25]);
  assert.deepEqual(of("modified", { isInjected: true, outcome: false }, 0.5), [0.125, 0.875, 0, 0]);
  assert.deepEqual(of("modified", { ai: false, outcome: false }, 0.5), [0.125, 0.875, 0, 0]);
}

/** (extent / 0.25)^4, at most 1. */
function touchUps(model: ModelDocument): void {
  const share = (modification_extent: number) =>
    departureShare(model, interactionOf({ decision: "modified", modification_extent }));
  assert.deepEqual([0, 0.125, 0.25, 1].map(share), [0, 0.0625, 1, 1]);
  assert.ok(share(0.05) < 0.002, "a touch-up is hardly a departure");
}

// ---- the score --------------------------------------------------------------------------------------------

/** R after a slower, unlabelled decision of an operator whose times varied by `sd` before an error. */
function recalibrated(model: ModelDocument, sd: number): number {
  const err = { type: "over", t: NOW, k: 5, mu: Math.log(10), sd, im: 0.5 } as const;
  const event = {
    interaction: interactionOf({ time_to_decision_ms: 11_000 }),
    domain: "general",
    now: NOW,
  } as const;
  return score(model, stateOf(model, { err }), event, FULL).state.b.R[0];
}

function steadyPace(model: ModelDocument): void {
  assert.equal(recalibrated(model, 0), recalibrated(model, 0.35));
  assert.ok(recalibrated(model, 0.36) < recalibrated(model, 0.35));
}

function bands(model: ModelDocument): void {
  const of = (jis: number) => bandOf(model, jis);
  assert.deepEqual([85, 84.95, 75, 74.95, 60, 59.95].map(of), [
    "exemplary",
    "proficient",
    "proficient",
    "adequate",
    "adequate",
    "at_risk",
  ]);
}

const WEIGHTS: Readonly<Record<Dimension, readonly [full: number, lite: number | null]>> = {
  deferral_resistance: [25, 50],
  error_detection: [50, null],
  independent_performance: [0, null],
  deliberation_depth: [0, 0],
  post_error_recalibration: [0, null],
  domain_confidence: [0, null],
  decision_autonomy: [25, 50],
};

/** The lite mode computes a dimension only if it has a weight there, be it 0. */
function weights(model: ModelDocument): void {
  const lite = computedDimensions(model, "lite");
  for (const name of DIMENSIONS) {
    const alone = { ...every(0), [name]: 100 };
    const inLite = lite.includes(name) ? jisOf(model, alone, "lite") : null;
    assert.deepEqual([jisOf(model, alone, "full"), inLite], WEIGHTS[name], name);
  }
}

const VERDICT: Verdict = {
  status: "compliant",
  part: "all",
  low: 62,
  high: 91,
  wrong_cases: 30,
  right_cases: 40,
  doubt: null,
  wrong_cases_needed: null,
  right_cases_needed: null,
};

/** The verdict alone decides, whatever a score or a dimension is. */
function compliance(model: ModelDocument): void {
  const of = (status: VerdictStatus, daysToNonCompliance: number | null) => {
    const { status: said, article14_met, action_required, thresholds } = complianceOf(model, {
      jis: 12,
      band: "at_risk",
      dimensions: every(12),
      daysToNonCompliance,
      verdict: { ...VERDICT, status },
    });
    assert.deepEqual(thresholds, { min_jis: 60, target_jis: 75 });
    return [said, article14_met, action_required];
  };
  assert.deepEqual(of("compliant", null), ["compliant", true, false]);
  assert.deepEqual(of("undetermined", null), ["undetermined", false, true]);
  assert.deepEqual(of("non_compliant", null), ["non_compliant", false, true]);
  assert.deepEqual(of("compliant", 30), ["compliant", true, true]);
  assert.deepEqual(of("compliant", 31), ["compliant", true, false]);
}

function minimumData(model: ModelDocument): void {
  const met = (n: number, age: number) => minimumDataMet(model, { n, t0: NOW - age }, NOW);
  assert.deepEqual([met(50, 0), met(49, 0)], [true, false]);
  assert.deepEqual([met(1, 10 * DAY_MS), met(1, 10 * DAY_MS - 1)], [true, false]);
}

// ---- decay ------------------------------------------------------------------------------------------------

const trending = (model: ModelDocument, points: number) =>
  stateOf(model, { n: 200, ef: 50 + points, es: 50 });

function trend(model: ModelDocument): void {
  assert.deepEqual([-40, -24.9, 24.9, 40].map((points) => currentTrend(model, trending(model, points))), [
    -25,
    -24.9,
    24.9,
    25,
  ]);
  const early = (n: number) => currentTrend(model, { ...trending(model, 10), n });
  assert.deepEqual([20, 50, 80, 110].map(early), [0, 5, 10, 10], "ramped in from 20 to 80 interactions");
}

function rates(model: ModelDocument): void {
  const rate = (points: number) =>
    projectDecay(model, trending(model, points), { jis: 80, domain: "general" }).decay_rate;
  assert.deepEqual([-20, -12, -5, 0, 5, 7, 20].map(rate), [
    0.005,
    0.0049,
    0.0035,
    0.0025,
    0.002,
    0.0018,
    0.00175,
  ]);
}

/** The positive evidence of an absent operator: nothing is lost in a day, half of it in about half a year. */
function retention(model: ModelDocument): void {
  const state = stateOf(model, { t1: NOW });
  state.b.H = [10, 5];
  const kept = (days: number) => retain(model, state, NOW + days * DAY_MS).b.H;
  assert.deepEqual(kept(1), [10, 5]);
  assert.deepEqual([3, 7, 30, 90, 180, 365].map((days) => roundTo(kept(days)[0] / 10, 3)), [
    0.972,
    0.924,
    0.764,
    0.601,
    0.502,
    0.412,
  ]);
  assert.equal(kept(365)[1], 5, "absence forgives nothing");
}

/** A JIS of 80 without a trend: after 7, 14, 30, 60, 90, 180 and 365 days, and its last day. */
const PROJECTIONS: Readonly<Partial<Record<Domain, readonly [days: number, curve: readonly number[]]>>> = {
  general: [175, [79.2, 78.4, 76.6, 73, 69.5, 59.4, 44.3]],
  financial: [141, [79, 78, 75.6, 71.2, 66.9, 55, 39.2]],
};

const DECAY: Readonly<
  Record<Domain, readonly [rate: number, acceleration: number, floor: number, recovery: number]>
> = {
  general: [0.0025, 0.00001, 35, 0.05],
  financial: [0.003, 0.000012, 32, 0.045],
  insurance: [0.0028, 0.000011, 33, 0.045],
  healthcare: [0.0035, 0.000015, 30, 0.04],
  legal: [0.0027, 0.00001, 33, 0.04],
  employment: [0.003, 0.000012, 32, 0.045],
  education: [0.0025, 0.00001, 35, 0.05],
  public_sector: [0.0028, 0.000011, 33, 0.045],
  law_enforcement: [0.0035, 0.000015, 30, 0.04],
  critical_infrastructure: [0.004, 0.00002, 28, 0.035],
  housing: [0.0028, 0.000011, 33, 0.045],
  aviation: [0.004, 0.00002, 28, 0.035],
  pharmaceutical: [0.0035, 0.000015, 30, 0.04],
};

function projections(model: ModelDocument): void {
  for (const domain of DOMAINS) {
    const shown = projectDecay(model, initialState(model), { jis: 80, domain });
    const { decay_rate, decay_acceleration, floor, recovery_rate } = shown;
    assert.deepEqual([decay_rate, decay_acceleration, floor, recovery_rate], DECAY[domain], domain);
    const [days, curve] = PROJECTIONS[domain] ?? [];
    if (curve === undefined) continue;
    assert.equal(shown.days_to_non_compliance, days);
    assert.deepEqual(shown.projections.map(({ day }) => day), [7, 14, 30, 60, 90, 180, 365]);
    assert.deepEqual(shown.projections.map(({ jis }) => jis), curve);
  }
}

/** In a domain with hardly any decay: the 3650th day is named, a later one is not. */
function horizon(model: ModelDocument): void {
  const general = { ...model.domains.general, decay_rate: 0.000161, decay_acceleration: 0 };
  const slow = { ...model, domains: { ...model.domains, general } };
  const days = (jis: number) =>
    projectDecay(slow, initialState(slow), { jis, domain: "general" }).days_to_non_compliance;
  assert.equal(days(79.99), 3650, "ln(44.99 / 25) / 0.000161 is 3649.5");
  assert.equal(days(80), null, "ln(45 / 25) / 0.000161 is 3650.8");
}

/** ⌈ln((95 − J) / 20) / rec⌉ */
function sessions(model: ModelDocument): void {
  const of = (jis: number, domain: Domain) => sessionsToTarget(model, { jis, domain });
  assert.deepEqual([of(45, "general"), of(74.95, "general"), of(75, "general")], [19, 1, 0]);
  assert.equal(of(45, "critical_infrastructure"), 27);
}

// ---- maintenance ------------------------------------------------------------------------------------------

function maintenanceInput(fields: {
  readonly jis?: number;
  readonly days?: number | null;
  readonly trend?: number;
  readonly dimensions?: Partial<FullDimensions>;
  readonly verdict?: Partial<Verdict>;
}): MaintenanceInput & { readonly dimensions: FullDimensions; readonly domain: Domain } {
  const { jis = 90, days = null, trend = 0, dimensions = {}, verdict = {} } = fields;
  return {
    jis,
    dimensions: { ...every(90), ...dimensions },
    mode: "full",
    decay: {
      current_jis: jis,
      current_trend: trend,
      domain: "general",
      decay_rate: 0.0025,
      decay_acceleration: 0.00001,
      floor: 35,
      recovery_rate: 0.05,
      days_to_non_compliance: days,
      projections: [],
    },
    minimumDataMet: true,
    groundTruth: 5,
    verdict: { ...VERDICT, ...verdict },
    now: NOW,
    domain: "general",
  };
}

function urgency(model: ModelDocument): void {
  const recommended = (fields: Parameters<typeof maintenanceInput>[0]) =>
    recommendMaintenance(model, maintenanceInput(fields));
  const of = (fields: Parameters<typeof maintenanceInput>[0]) => recommended(fields).urgency;
  const scores = [39.95, 40, 59.95, 60, 74.95, 75].map((jis) => of({ jis }));
  assert.deepEqual(scores, ["critical", "high", "high", "low", "low", "none"]);
  assert.deepEqual([14, 15, 45, 46].map((days) => of({ days })), ["medium", "low", "low", "none"]);
  assert.deepEqual(recommended({ days: 14 }).recommendation.reasons, [
    "non_compliance_projected_within_14_days",
  ]);
  assert.deepEqual([-5, -4.99, -2, -1.99].map((trend) => of({ trend })), ["medium", "low", "low", "none"]);
  const doubted = recommended({
    jis: 30,
    verdict: { status: "undetermined", doubt: "part_not_measured" },
  });
  assert.equal(doubted.urgency, "medium", "a doubt is no fault");
  assert.deepEqual(doubted.recommendation.reasons, ["undetermined_part_not_measured"]);
  const failing = (jis: number) => recommended({ jis, verdict: { status: "non_compliant", part: "legal" } });
  assert.deepEqual([39.95, 59.95, 60].map((jis) => failing(jis).urgency), ["critical", "high", "high"]);
  assert.deepEqual(failing(60).recommendation.reasons, ["legal_below_minimum_60"]);
  assert.equal(
    failing(60).recommendation.intervention_type,
    "error_injection",
    "the dimensions are of all work",
  );
}

function byUrgency(model: ModelDocument): void {
  const cases = [{}, { jis: 70 }, { trend: -5 }, { jis: 59 }, { jis: 39 }].map((fields) => {
    const { urgency, recommendation } = recommendMaintenance(model, maintenanceInput(fields));
    const days = (Date.parse(recommendation.next_assessment) - NOW) / DAY_MS;
    return [urgency, recommendation.intervention_frequency, days];
  });
  assert.deepEqual(cases, [
    ["none", 0.02, 30],
    ["low", 0.05, 14],
    ["medium", 0.1, 7],
    ["high", 0.2, 3],
    ["critical", 0.3, 1],
  ]);
}

function withheld(model: ModelDocument): void {
  const of = (independent_performance: number) =>
    recommendMaintenance(model, maintenanceInput({ jis: 70, dimensions: { independent_performance } }))
      .recommendation.recommend_withhold;
  assert.deepEqual([of(49), of(50)], [true, false]);
}

function difficulty(model: ModelDocument): void {
  const of = (error_detection: number) => {
    const plan = recommendExercises(model, maintenanceInput({ jis: 70, dimensions: { error_detection } }));
    const { items, ai_error_share, success, estimated_minutes } = plan.exercises[0]!.payload;
    const { threshold } = success as { readonly threshold: number };
    return [plan.difficulty, items, ai_error_share, threshold, estimated_minutes];
  };
  assert.deepEqual([39, 40, 69, 70].map(of), [
    ["easy", 6, 0.4, 0.7, 8],
    ["moderate", 10, 0.25, 0.75, 12],
    ["moderate", 10, 0.25, 0.75, 12],
    ["hard", 16, 0.1, 0.8, 20],
  ]);
}

// ---- the organization -------------------------------------------------------------------------------------

const ROW: OperatorRow = {
  jis: 80,
  n: 60,
  t0: NOW - 40 * DAY_MS,
  t1: NOW,
  domain: "general",
  tcrit: null,
  shareHs: 0,
  shareCrit: 0,
  verdict: null,
  critCount: 0,
};

function operators(model: ModelDocument): void {
  const active = (ms: number) => isActive(model, { ...ROW, t1: NOW - ms }, NOW);
  assert.deepEqual([active(90 * DAY_MS), active(90 * DAY_MS + 1)], [true, false]);
  const highRisk = (fields: Partial<OperatorRow>) => isHighRisk(model, { ...ROW, ...fields }, NOW);
  assert.deepEqual([highRisk({ shareHs: 0.1 }), highRisk({ shareHs: 0.099 })], [true, false]);
  const critical = (fields: Partial<OperatorRow>) => isCriticalDecision(model, { ...ROW, ...fields }, NOW);
  assert.equal(critical({ tcrit: NOW - 90 * DAY_MS }), true);
  assert.equal(critical({ tcrit: NOW - 90 * DAY_MS - 1 }), false);
  assert.equal(critical({ shareCrit: 0.02, critCount: 3 }), true);
  assert.equal(critical({ shareCrit: 0.0199, critCount: 3 }), false);
  assert.equal(critical({ shareCrit: 0.02, critCount: 2 }), false);
}

function organization(model: ModelDocument): void {
  const status = (below: number, total: number) => {
    const rows = Array.from({ length: total }, (_, index) => ({
      ...ROW,
      domain: "financial" as const,
      jis: index < below ? 59.95 : 60,
    }));
    return organizationRule(model, rows, { instantOf: () => NOW }).status;
  };
  assert.equal(status(1, 10), "compliant", "a tenth may be below the minimum");
  assert.equal(status(11, 105), "non_compliant");
  const grave = (jis: number) =>
    organizationRule(model, [{ ...ROW, jis, tcrit: NOW }], { instantOf: () => NOW }).status;
  assert.deepEqual([grave(40), grave(39.95)], ["compliant", "non_compliant"]);
}

// ---- the law ----------------------------------------------------------------------------------------------

const RECORD: PeriodRecord = {
  at: NOW,
  domain: "financial",
  jis: 100,
  low: 100,
  high: 100,
  dimensions: every(100),
  meanCorrectAcceptance: 1,
  n: 60,
  t0: NOW - 40 * DAY_MS,
  groundTruth: 9,
  tcrit: null,
  critCount: 0,
  shareHs: 0,
  shareCrit: 0,
  verdict: "compliant",
  interactions: 60,
  departures: 5,
  referrals: 5,
};

/** The finding of a provision for records of its period. */
function findingOf(
  model: ModelDocument,
  provision: string,
  { records, end = Date.UTC(2027, 11, 31) }: {
    readonly records: readonly PeriodRecord[];
    readonly end?: number;
  },
) {
  const data = { records, incidentFreezes: 1 };
  const period = { start: end - 90 * DAY_MS, end };
  const judged = findingsOf(model, { period, data, organizationDomain: "financial" });
  const found = judged.find(({ finding }) => finding.provision === provision);
  assert.ok(found !== undefined, `no finding of ${provision}`);
  return found.finding;
}

/** The least that an operator must show. */
const LAW: readonly (readonly [
  provision: string,
  least: Readonly<Partial<Record<Dimension | "jis", number>>>,
  where?: { readonly domain?: Domain; readonly end?: number },
])[] = [
  ["14(4)(a)", { error_detection: 60 }],
  ["14(4)(b)", { deferral_resistance: 60 }],
  ["14(4)(c)", { jis: 60 }],
  ["14(4)(d)", { decision_autonomy: 60 }],
  ["14(4)(e)", { deferral_resistance: 60 }],
  ["6-1-1703", { jis: 60, decision_autonomy: 60 }, { end: Date.UTC(2026, 11, 31) }],
  ["6-1-1705(1)(a)(II)", { jis: 60, decision_autonomy: 60 }],
  ["20-870", { deferral_resistance: 60, decision_autonomy: 60 }, { domain: "employment" }],
  ["effective challenge", { deferral_resistance: 60, error_detection: 60 }],
];

function conditions(model: ModelDocument): void {
  for (const [provision, least, { domain = "financial", end } = {}] of LAW) {
    const passing = (shown: Readonly<Record<string, number>>) => {
      const { jis = 100, ...dimensions } = shown;
      const record = {
        ...RECORD,
        domain,
        jis,
        dimensions: { ...RECORD.dimensions, ...dimensions },
      };
      return findingOf(model, provision, { records: [record], ...(end === undefined ? {} : { end }) })
        .passing;
    };
    assert.equal(passing(least), 1, `${provision}: everything at its least passes`);
    for (const [name, value] of Object.entries(least)) {
      assert.equal(passing({ ...least, [name]: value - 1 }), 0, `${provision}: ${name} one below fails`);
    }
  }
}

function shares(model: ModelDocument): void {
  const status = (passing: number, total: number) => {
    const records = Array.from({ length: total }, (_, index) => ({
      ...RECORD,
      dimensions: { ...RECORD.dimensions, error_detection: index < passing ? 80 : 20 },
    }));
    return findingOf(model, "14(4)(a)", { records }).status;
  };
  assert.deepEqual([status(9, 10), status(7, 8)], ["compliant", "partial"]);
  assert.deepEqual([status(3, 4), status(8, 11)], ["partial", "non_compliant"]);
}

// ---- decision risk ----------------------------------------------------------------------------------------

interface Decided {
  readonly interaction?: Partial<Interaction>;
  readonly domain?: Domain;
  readonly stakes?: Stakes;
  readonly n?: number;
  readonly hits?: number;
  readonly falseAlarms?: number;
}

function decide(model: ModelDocument, of: Decided) {
  const { interaction = {}, domain = "general", stakes = "low", n = 0, hits = 0, falseAlarms = 0 } = of;
  const blank = initialState(model);
  const state = {
    ...blank,
    n,
    b: { ...blank.b, H: [hits, 0] as [number, number], C: [0, falseAlarms] as [number, number] },
  };
  return scoreDecision(model, state, { interaction: interactionOf(interaction), domain, stakes, now: NOW });
}

function routes(model: ModelDocument): void {
  const of = (fields: Decided) => {
    const { decision_risk_score, routing_decision, policy_triggers } = decide(model, fields);
    assert.ok(policy_triggers.every(({ triggered }) => !triggered), "the route is the score's own");
    return [decision_risk_score, routing_decision];
  };
  const accepted = (domain: Domain, stakes: Stakes, time_to_decision_ms: number) =>
    of({ domain, stakes, interaction: { time_to_decision_ms } });
  const deferred = { decision: "deferred" } as const;
  assert.deepEqual(of({ n: 5, interaction: deferred }), [0.29, "auto"]);
  assert.deepEqual(of({ interaction: deferred }), [0.3, "review"]);
  assert.deepEqual(accepted("financial", "low", 8_500), [0.54, "review"]);
  assert.deepEqual(accepted("financial", "low", 8_000), [0.55, "must_review"]);
  assert.deepEqual(accepted("critical_infrastructure", "low", 4_000), [0.74, "must_review"]);
  assert.deepEqual(accepted("critical_infrastructure", "low", 3_500), [0.75, "escalation"]);
}

/** λ is at least 0.02: 100 × 0.02^0.6 × severity^0.4 is 9.4 for a severity of 0.95 and 7.5 for one of 0.55. */
function leastRisk(model: ModelDocument): void {
  const proven = { n: 60, hits: 40, interaction: { time_to_decision_ms: 60_000, ...CAREFUL } };
  const risk = (domain: Domain, stakes: Stakes) =>
    decide(model, { ...proven, domain, stakes }).decision_risk_score;
  assert.deepEqual([risk("financial", "critical"), risk("general", "high")], [0.09, 0.08]);
}

function triggers(model: ModelDocument): void {
  const fires = (policy: string, fields: Decided) =>
    decide(model, fields).policy_triggers.find((row) => row.policy.startsWith(policy))!.triggered;
  const departure = (modification_extent: number, falseAlarms: number) =>
    fires("P5", { falseAlarms, interaction: { decision: "modified", modification_extent } });
  // s is (extent / 0.25)^4, 0.51 and 0.49; κ is 1 / (2 + false alarms), 0.349 and 0.351.
  assert.deepEqual([departure(0.2113, 3), departure(0.209, 3)], [true, false]);
  assert.deepEqual([departure(1, 0.8653), departure(1, 0.849)], [true, false]);
  // Ten hovers take 1.5 s.
  const hurried = (time_to_decision_ms: number) =>
    fires("P7", { interaction: { time_to_decision_ms, hover_events: 10 } });
  assert.deepEqual([hurried(449), hurried(450)], [true, false]);
  const reflexive = (time_to_decision_ms: number) =>
    fires("P4", { domain: "financial", interaction: { time_to_decision_ms } });
  assert.deepEqual([reflexive(1_999), reflexive(2_000)], [true, false]);
}

/** Each case, named by what it requires of the model. */
export const LIMIT_CASES: readonly ModelCheck[] = [
  { name: "activity below 5 % counts as none", holds: activity },
  { name: "after 3 minutes with an engagement below 0.2 half of the time counts", holds: walkedAway },
  { name: "the time of a review counts on a log scale, in each domain", holds: reviewTimes },
  { name: "only measured telemetry counts; unmeasured is not zero", holds: measured },
  { name: "hovering counts up to six hovers", holds: hovering },
  { name: "referrals and modifications are parts of hits, misses and false alarms", holds: cells },
  { name: "a touch-up is hardly a departure", holds: touchUps },
  { name: "for a steady operator a small delay after an error is no slowing", holds: steadyPace },
  { name: "the bands begin at 85, 75 and 60", holds: bands },
  { name: "each dimension has its weight in the JIS of each mode", holds: weights },
  { name: "compliance follows from the verdict; action within 30 days", holds: compliance },
  { name: "50 interactions or 10 days are a record", holds: minimumData },
  { name: "a trend is at most 25 points, ramped in", holds: trend },
  { name: "a decline at most doubles decay, progress takes at most 30 % from it", holds: rates },
  { name: "half of the positive evidence is left after half a year", holds: retention },
  { name: "each domain's decay, and the projection of a JIS of 80", holds: projections },
  { name: "a last day more than ten years ahead is null", holds: horizon },
  { name: "exercise sessions until a score reaches its target", holds: sessions },
  { name: "urgency by verdict, score, days and trend", holds: urgency },
  { name: "frequency and deadline by urgency", holds: byUrgency },
  { name: "a dimension below 50 is reason to withhold the AI", holds: withheld },
  { name: "exercises are easy below 40 and moderate below 70", holds: difficulty },
  { name: "which operators are active, high-risk and critical", holds: operators },
  {
    name: "an organization may have a tenth of its high-risk operators below the minimum",
    holds: organization,
  },
  { name: "the conditions of each rule of law for an operator", holds: conditions },
  { name: "findings are compliant from 90 % and partial from 75 %", holds: shares },
  { name: "decision risk is routed from 30, 55 and 75 on", holds: routes },
  { name: "every decision has some risk", holds: leastRisk },
  { name: "policies at their limits", holds: triggers },
];
