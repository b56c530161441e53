/**
 * The model document and the documents that are refused; then values of its formulas that were computed by
 * hand.
 */
import assert from "node:assert/strict";
import { type Domain, DOMAINS, FIRST_DOMAINS, LATER_DOMAINS } from "../../src/domain/enums.ts";
import { recordedInteractionSchema } from "../../src/domain/interaction.ts";
import { roundTo } from "../../src/scoring/arithmetic.ts";
import { complianceOf } from "../../src/scoring/compliance.ts";
import {
  daysToNonCompliance,
  projectDecay,
  projectedJis,
  sessionsToTarget,
} from "../../src/scoring/decay.ts";
import { bandOf, dimensionsOf, jisOf } from "../../src/scoring/dimensions.ts";
import { scoreDecision } from "../../src/scoring/drs.ts";
import {
  DEFAULT_MODEL_DOCUMENT,
  domainRules,
  type ModelDocument,
  modelSchema,
} from "../../src/scoring/model.ts";
import { processEvidence, scrutiny, validatedSpeedRelief } from "../../src/scoring/process.ts";
import { advance, departureCredibility, retain } from "../../src/scoring/reducer.ts";
import { score } from "../../src/scoring/score.ts";
import {
  breakEven,
  bucketMeans,
  initialState,
  type OperatorState,
  restraint,
} from "../../src/scoring/state.ts";
import { JIS_1_0_0 as model, JIS_1_1_0, JIS_2_0_0 } from "../models.ts";

const DAY = 86_400_000;
const NOW = 1_780_304_400_000;
const BLANK = initialState(model);

// ---- the document -----------------------------------------------------------------------------------------

// deno-lint-ignore no-explicit-any
type Mutation = (changed: any) => void;

/** Every problem of a released document, the built-in one by default, after `mutate`, as "path: message". */
function problemsAfter(mutate: Mutation, document: ModelDocument = JIS_2_0_0): readonly string[] {
  const changed = structuredClone(document);
  mutate(changed);
  const parsed = modelSchema.safeParse(changed);
  return parsed.success
    ? []
    : parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

Deno.test("the built-in document parses to itself", () => {
  assert.deepEqual(modelSchema.parse(DEFAULT_MODEL_DOCUMENT), DEFAULT_MODEL_DOCUMENT);
  assert.deepEqual(DEFAULT_MODEL_DOCUMENT, JIS_2_0_0);
  assert.equal(JIS_2_0_0.version, "jis-2.0.0");
  assert.equal(JIS_2_0_0.formulas, "jis-3");
});

Deno.test("the models before it are accepted as they were", () => {
  for (const document of [model, JIS_1_1_0]) assert.deepEqual(modelSchema.parse(document), document);
  assert.deepEqual([model.version, model.formulas], ["jis-1.0.0", "jis-1"]);
  assert.deepEqual([JIS_1_1_0.version, JIS_1_1_0.formulas], ["jis-1.1.0", "jis-2"]);
});

Deno.test("a domain that is younger than a model has the numbers of general in it", () => {
  for (const domain of LATER_DOMAINS) {
    for (const document of [model, JIS_1_1_0]) {
      assert.equal(document.domains[domain], undefined);
      assert.equal(domainRules(document, domain), document.domains.general);
    }
    assert.notDeepEqual(domainRules(JIS_2_0_0, domain), JIS_2_0_0.domains.general);
  }
});

Deno.test("the built-in thresholds are those of the specification", () => {
  const model = DEFAULT_MODEL_DOCUMENT;
  assert.deepEqual(model.bands, { exemplary: 85, proficient: 75, adequate: 60 });
  assert.deepEqual(model.thresholds, {
    min_jis: 60,
    target_jis: 75,
    critical_jis: 40,
    dimension_floor: 30,
    floor_dimensions: ["deferral_resistance", "error_detection", "decision_autonomy"],
    action_required_days: 30,
  });
  assert.deepEqual(model.minimum_data, { interactions: 50, days: 10, ground_truth: 5 });
});

Deno.test("every projection floor is below the minimum, so that every passing score has a last day", () => {
  const floors = FIRST_DOMAINS.map((domain) => model.domains[domain].floor);
  assert.deepEqual(floors, [35, 32, 33, 30, 33, 32, 35, 33, 30, 28]);
  for (const domain of DOMAINS) {
    assert.ok(domainRules(JIS_2_0_0, domain).floor < JIS_2_0_0.thresholds.min_jis, domain);
  }
});

Deno.test("wrong fields anywhere are all named at once", () => {
  assert.deepEqual(
    problemsAfter((changed) => {
      changed.buckets.H.capacity = -1;
      changed.buckets.Q.prior_mean = 1;
      delete changed.retention.exponent;
      changed.dimensions.error_detection.weight = "0.2";
      changed.domains.legal.high_risk = 1;
      delete changed.domains.financial;
      changed.surprise = true;
    }),
    [
      "buckets.H.capacity: Too small: expected number to be >=1e-9",
      "buckets.Q.prior_mean: Too big: expected number to be <=0.999999999",
      "retention.exponent: Invalid input: expected number, received undefined",
      "dimensions.error_detection.weight: Invalid input: expected number, received string",
      "domains.financial: Invalid input: expected object, received undefined",
      "domains.legal.high_risk: Invalid input: expected boolean, received number",
      ': Unrecognized key: "surprise"',
    ],
  );
});

Deno.test("broken sums and orders are all named at once, beside a missing field", () => {
  assert.deepEqual(
    problemsAfter((changed) => {
      delete changed.classification.referral_hit;
      changed.dimensions.error_detection.weight = 0.5;
      changed.dimensions.deferral_resistance.lite_weight = 0.25;
      changed.dimensions.decision_autonomy.exponents.H = 0.25;
      changed.bands.adequate = 75;
      changed.thresholds.critical_jis = 60;
      changed.process.min_ms = 600_000;
      changed.domains.legal.fast_ms = 25_000;
      changed.drs.routes.must_review = 30;
      changed.maintenance.exercises = changed.maintenance.exercises
        .filter((row: { dimension: string }) => row.dimension !== "domain_confidence");
      changed.maintenance.exercises[1].id = changed.maintenance.exercises[0].id;
    }, JIS_1_1_0),
    [
      "classification.referral_hit: Invalid input: expected number, received undefined",
      "process: min_ms must be below max_ms",
      "dimensions.decision_autonomy.exponents: must add up to 1, they add up to 0.8500000000000001",
      "dimensions: every weight together must add up to 1, they add up to 1.3",
      "dimensions: every lite_weight together must add up to 1, they add up to 0.8500000000000001",
      "bands: must fall from exemplary over proficient to adequate",
      "thresholds: must fall from target_jis over min_jis to critical_jis",
      "domains.legal: fast_ms must be below reference_ms",
      "maintenance.exercises: ids must be unique",
      "maintenance.exercises: must have at least three for domain_confidence",
      "drs.routes: must rise from review over must_review to escalation",
    ],
  );
});

Deno.test("a document whose numbers would break the model's laws is refused", () => {
  assert.deepEqual(
    problemsAfter((changed) => {
      changed.buckets.H.capacity = 2;
      changed.buckets.Q.prior_mean = 0.4;
    }),
    [
      "buckets.H.capacity: must be at least 2.25, the largest weight of one event",
      "buckets.Q.prior_mean: must not be below restraint.full_at, or an unknown operator would start restrained",
    ],
  );
  assert.deepEqual(
    problemsAfter((changed) => {
      changed.process.engagement.hover_weight = 0.5;
      changed.credibility.prior_hits = 2;
      changed.maintenance.trend.medium = -1;
    }),
    [
      "process.engagement: must add up to 1, they add up to 1.25",
      "credibility: prior_hits must be below prior_total",
      "maintenance.trend: medium must not be above low",
    ],
  );
});

Deno.test("a general reviewer at 45 needs 19 exercise sessions to reach 75, one at 75 none", () => {
  assert.equal(sessionsToTarget(model, { jis: 45, domain: "general" }), 19);
  assert.equal(sessionsToTarget(model, { jis: 75, domain: "general" }), 0);
});

Deno.test("a document with other formulas is refused, because this program does not have them", () => {
  assert.deepEqual(problemsAfter((changed) => changed.formulas = "jis-4"), [
    'formulas: Invalid option: expected one of "jis-1"|"jis-2"|"jis-3"',
  ]);
});

Deno.test("the exponent of small modifications belongs to the formulas that use it, and only to them", () => {
  const complaint =
    "classification.departure_exponent: must be there unless the formulas are jis-1, and not with them";
  assert.deepEqual(problemsAfter((changed) => changed.formulas = "jis-1", JIS_1_1_0), [complaint]);
  assert.deepEqual(problemsAfter((changed) => delete changed.classification.departure_exponent), [complaint]);
  assert.deepEqual(
    problemsAfter((changed) => {
      changed.formulas = "jis-1";
      delete changed.classification.departure_exponent;
    }, JIS_1_1_0),
    [],
  );
});

Deno.test("the members of jis-3 must be there with these formulas, and only with them", () => {
  assert.deepEqual(problemsAfter((changed) => delete changed.discrimination), [
    "discrimination: must be there with the formulas jis-3, and only with them",
  ]);
  assert.deepEqual(
    problemsAfter((changed) => changed.discrimination = structuredClone(JIS_2_0_0.discrimination), JIS_1_1_0),
    ["discrimination: must be there with the formulas jis-3, and only with them"],
  );
  assert.deepEqual(problemsAfter((changed) => delete changed.domains.aviation), [
    "domains.aviation: is missing",
  ]);
  assert.deepEqual(
    problemsAfter((changed) => {
      delete changed.dimensions.error_detection.false_alarm_cost;
      changed.dimensions.domain_confidence.false_alarm_cost = 1;
      changed.dimensions.independent_performance = {
        weight: 0,
        restraint: false,
        false_alarm_cost: 1,
      };
    }),
    [
      "dimensions.error_detection: must have either exponents or a false_alarm_cost",
      "dimensions.error_detection.false_alarm_cost: must be there if the dimension has a weight, and only then",
      "dimensions.independent_performance.false_alarm_cost: must be there if the dimension has a weight, and only then",
      "dimensions.domain_confidence: must have either exponents or a false_alarm_cost",
      "dimensions.domain_confidence.false_alarm_cost: must be there if the dimension has a weight, and only then",
    ],
  );
  assert.deepEqual(
    problemsAfter((changed) => {
      delete changed.dimensions.error_detection.exponents;
      changed.dimensions.error_detection.false_alarm_cost = 1;
      delete changed.dimensions.deferral_resistance.lite_weight;
    }, JIS_1_1_0).filter((problem) => !problem.startsWith("dimensions: ")),
    [
      "dimensions.deferral_resistance.lite_weight: is missing",
      "dimensions.error_detection.false_alarm_cost: is only for jis-3",
    ],
  );
});

Deno.test("a prior that is no distribution, and an error rate out of its bounds, are refused", () => {
  assert.deepEqual(
    problemsAfter(({ discrimination }) => {
      discrimination.sensitivity = [{ ...discrimination.sensitivity[0], weight: 0.5 }];
      discrimination.error_rate.least = 0.4;
      discrimination.review_cost = 0.5;
      discrimination.grid.points = 8;
      discrimination.leaning.sd = 0;
    }),
    [
      "discrimination.grid.points: Too small: expected number to be >=9",
      "discrimination.leaning.sd: Too small: expected number to be >=0.05",
      "discrimination.sensitivity: must add up to 1, they add up to 0.5",
      "discrimination.review_cost: Too big: expected number to be <0.5",
      "discrimination.error_rate: must rise from least over prior to most",
    ],
  );
});

Deno.test("a version that a file name or a header could not hold is refused", () => {
  for (const version of ["", "JIS", "-1", "jis 1", "x".repeat(65)]) {
    assert.equal(problemsAfter((changed) => changed.version = version).length, 1, version);
  }
  assert.deepEqual(problemsAfter((changed) => changed.version = "acme-2026.11+eu"), []);
});

Deno.test("a dimension, a domain or a bucket that the formulas do not know is refused", () => {
  assert.deepEqual(
    problemsAfter((changed) => {
      changed.dimensions.courage = changed.dimensions.error_detection;
      changed.domains.space = changed.domains.general;
      changed.buckets.Z = changed.buckets.H;
      changed.dimensions.error_detection.exponents.Q = 0.1;
    }, JIS_1_1_0),
    [
      'buckets: Unrecognized key: "Z"',
      'dimensions.error_detection.exponents: Unrecognized key: "Q"',
      'dimensions: Unrecognized key: "courage"',
      'domains: Unrecognized key: "space"',
    ],
  );
});

Deno.test("numbers that are not numbers are refused", () => {
  for (const value of [NaN, Infinity, null, "1", [1]]) {
    assert.equal(problemsAfter((changed) => changed.retention.exponent = value).length, 1, String(value));
  }
});

Deno.test("a law rule needs a citation, a source and real dates", () => {
  assert.deepEqual(
    problemsAfter((changed) => {
      changed.law.rules[0].citation = "";
      changed.law.rules[0].in_force_from = "2027-02-30";
      changed.law.rules[1].domains = [];
      delete changed.law.rules[2].source;
    }),
    [
      "law.rules.0.citation: Too small: expected string to have >=1 characters",
      "law.rules.0.in_force_from: Invalid ISO date",
      "law.rules.1.domains: Too small: expected array to have >=1 items",
      "law.rules.2.source: Invalid input: expected string, received undefined",
    ],
  );
});

// ---- bands and floors, sections 5 and 6 -------------------------------------------------------------------

Deno.test("a band begins at its lowest JIS", () => {
  assert.deepEqual([100, 85, 84.95, 75, 74.95, 60, 59.95, 0].map((jis) => bandOf(model, jis)), [
    "exemplary",
    "exemplary",
    "proficient",
    "proficient",
    "adequate",
    "adequate",
    "at_risk",
    "at_risk",
  ]);
});

const SEVENTY = {
  deferral_resistance: 70,
  error_detection: 70,
  independent_performance: 70,
  deliberation_depth: 70,
  post_error_recalibration: 70,
  domain_confidence: 70,
  decision_autonomy: 70,
};

/** The compliance status of a JIS of 70 with these dimensions. */
const statusOf = (dimensions: Partial<typeof SEVENTY>, jis = 70) =>
  complianceOf(model, { jis, band: bandOf(model, jis), dimensions, daysToNonCompliance: 80 }).status;

Deno.test("a floor dimension below 30 makes a passing score conditional, any other dimension does not", () => {
  for (const name of ["deferral_resistance", "error_detection", "decision_autonomy"] as const) {
    assert.equal(statusOf({ ...SEVENTY, [name]: 29 }), "conditional", name);
    assert.equal(statusOf({ ...SEVENTY, [name]: 30 }), "compliant", name);
  }
  for (const name of ["independent_performance", "deliberation_depth", "domain_confidence"] as const) {
    assert.equal(statusOf({ ...SEVENTY, [name]: 0 }), "compliant", name);
  }
});

Deno.test("a lite score must reach the floors of its own dimensions", () => {
  const lite = { deferral_resistance: 70, deliberation_depth: 70 };
  assert.equal(statusOf({ ...lite, decision_autonomy: 29 }), "conditional");
  assert.equal(statusOf({ ...lite, decision_autonomy: 30 }), "compliant");
});

Deno.test("a score below the minimum is non-compliant whatever its dimensions", () => {
  assert.equal(statusOf(SEVENTY, 59.95), "non_compliant");
  assert.equal(statusOf(SEVENTY, 60), "compliant");
});

Deno.test("action is required of a passing score from 30 days before it no longer passes", () => {
  const actionAt = (daysToNonCompliance: number | null) =>
    complianceOf(model, { jis: 70, band: "adequate", dimensions: SEVENTY, daysToNonCompliance })
      .action_required;
  assert.deepEqual([actionAt(31), actionAt(30), actionAt(null)], [false, true, false]);
});

Deno.test("a blank state is 65 in every dimension, domain and mode", () => {
  for (const domain of DOMAINS) {
    const means = bucketMeans(model, BLANK, domain);
    const full = dimensionsOf(model, means, "full");
    assert.deepEqual(Object.values(full), [65, 65, 65, 65, 65, 65, 65]);
    assert.equal(jisOf(model, full, "full"), 65);
    const lite = dimensionsOf(model, means, "lite");
    assert.deepEqual(lite, { deferral_resistance: 65, deliberation_depth: 65, decision_autonomy: 65 });
    assert.equal(jisOf(model, lite, "lite"), 65);
  }
});

// ---- decay, section 7 -------------------------------------------------------------------------------------

const steady = (jis: number, domain: Domain) => projectDecay(model, BLANK, { jis, domain });

Deno.test("a steady 80 decays as the check values of section 7.2 say", () => {
  assert.deepEqual(steady(80, "general").projections, [
    { day: 7, jis: 79.2 },
    { day: 14, jis: 78.4 },
    { day: 30, jis: 76.6 },
    { day: 60, jis: 73 },
    { day: 90, jis: 69.5 },
    { day: 180, jis: 59.4 },
    { day: 365, jis: 44.3 },
  ]);
  assert.deepEqual(
    steady(80, "financial").projections.map(({ jis }) => jis),
    [79, 78, 75.6, 71.2, 66.9, 55, 39.2],
  );
});

Deno.test("a steady 80 falls below 60 on the day that section 7.2 says", () => {
  const days = (domain: Domain) => steady(80, domain).days_to_non_compliance;
  assert.deepEqual(
    [days("general"), days("financial"), days("healthcare"), days("critical_infrastructure")],
    [175, 141, 117, 98],
  );
});

Deno.test("a 60 is below the minimum tomorrow, and less than 60 already is", () => {
  assert.equal(steady(60, "general").days_to_non_compliance, 1);
  assert.equal(steady(59.95, "general").days_to_non_compliance, 0);
});

Deno.test("a floor at the minimum or a horizon too near leaves no day of non-compliance", () => {
  const curve = { start: 80, floor: 60, rate: 0.0025, acceleration: 0.00001 };
  assert.equal(daysToNonCompliance(curve, { minimum: 60, horizonDays: 3_650 }), null);
  assert.equal(daysToNonCompliance({ ...curve, floor: 35 }, { minimum: 60, horizonDays: 174 }), null);
  assert.equal(daysToNonCompliance({ ...curve, floor: 35 }, { minimum: 60, horizonDays: 175 }), 175);
});

Deno.test("without acceleration the crossing is L/r: ln(45/25)/0.0025 = 235.1 days", () => {
  const curve = { start: 80, floor: 35, rate: 0.0025, acceleration: 0 };
  assert.equal(daysToNonCompliance(curve, { minimum: 60, horizonDays: 3_650 }), 236);
});

Deno.test("a score at or below its floor is projected to stay where it is", () => {
  assert.deepEqual([...new Set(steady(30, "general").projections.map(({ jis }) => jis))], [30]);
});

Deno.test("half of the gain above the floor is lost on the days that the table of section 7.1 names", () => {
  const halfDays = [198, 172, 182, 150, 190, 172, 198, 182, 150, 131];
  for (const [index, domain] of FIRST_DOMAINS.entries()) {
    const { floor, decay_rate: rate, decay_acceleration: acceleration } = model.domains[domain];
    const gain = (day: number) => projectedJis({ start: 80, floor, rate, acceleration }, day) - floor;
    const half = (80 - floor) / 2;
    assert.ok(gain(halfDays[index]! - 0.5) >= half && gain(halfDays[index]! + 0.5) < half, domain);
  }
});

Deno.test("a trend of −5 after 80 interactions multiplies the decay by 1.4, one of +5 by 0.8", () => {
  const at = (ef: number, es: number, n = 80) =>
    projectDecay(model, { ...BLANK, n, ef, es }, { jis: 80, domain: "general" });
  const declining = at(70, 75);
  assert.equal(declining.current_trend, -5);
  assert.equal(declining.decay_rate, 0.0035);
  assert.equal(declining.decay_acceleration, 0.000014);
  const improving = at(75, 70);
  assert.equal(improving.decay_rate, 0.002);
  assert.equal(improving.decay_acceleration, 0.000008);
  assert.equal(at(70, 75, 50).current_trend, -2.5);
  assert.equal(at(70, 75, 20).current_trend, 0);
  assert.equal(at(40, 80).decay_rate, 0.005);
  assert.equal(at(80, 40).decay_rate, 0.00175);
});

// ---- retention, section 4.1 -------------------------------------------------------------------------------

Deno.test("after a gap as much positive evidence is kept as the checkpoints of section 4.1 say", () => {
  const before: OperatorState = { ...BLANK, n: 1, t0: NOW, t1: NOW, b: { ...BLANK.b, H: [1, 1] } };
  const kept = [3, 7, 30, 90, 180, 198, 365].map((days) => retain(model, before, NOW + days * DAY).b.H[0]);
  assert.deepEqual(kept.map((share) => roundTo(share, 3)), [0.972, 0.924, 0.764, 0.601, 0.502, 0.489, 0.412]);
});

Deno.test("absence forgives no negative evidence, decays every K, and counts from one day on", () => {
  const before: OperatorState = {
    ...BLANK,
    n: 1,
    t0: NOW,
    t1: NOW,
    b: { ...BLANK.b, Q: [10, 4] },
    K: { ...BLANK.K, legal: [20, 3] },
  };
  assert.deepEqual(retain(model, before, NOW + DAY), before);
  assert.deepEqual(retain(model, before, NOW - 5 * DAY), before);
  // 1 + 0.05·20 = 2, and 2^(−0.3) = 0.812252396…
  const after = retain(model, before, NOW + 21 * DAY);
  assert.deepEqual(after.b.Q, [8.122523964, 4]);
  assert.deepEqual(after.K.legal, [16.245047927, 3]);
  assert.deepEqual(after.b.H, [0, 0]);
});

// ---- process evidence and relief, sections 4.3 to 4.5 -----------------------------------------------------

const GENERAL = { domain: "general", relief: 0 } as const;

const interactionAt = (timeMs: number, fields: Record<string, unknown> = {}) =>
  recordedInteractionSchema.parse({ time_to_decision_ms: timeMs, decision: "accepted", ...fields });

Deno.test("the reference time without telemetry is worth 0.65 at half the weight", () => {
  const process = processEvidence(model, interactionAt(12_000), GENERAL);
  assert.deepEqual(process, {
    timeMs: 12_000,
    time: 1,
    engagement: null,
    evidence: 0.65,
    weight: 0.5,
    inert: false,
    plausibility: null,
  });
});

Deno.test("time counts on a log scale: the geometric mean of both thresholds is worth one half", () => {
  const { time } = processEvidence(model, interactionAt(Math.sqrt(2_000 * 12_000)), GENERAL);
  assert.equal(roundTo(time, 9), 0.5);
});

Deno.test("telemetry that was not measured is left out of engagement and of its weight", () => {
  const process = processEvidence(
    model,
    interactionAt(12_000, { hover_events: 3, scroll_depth: 0.5 }),
    GENERAL,
  );
  // (0.25·0.5 + 0.4·0.5)/0.65 = 0.5; 0.5 + 0.5·0.65; 0.3 + 0.7·0.5/0.6
  assert.equal(roundTo(process.engagement!, 9), 0.5);
  assert.equal(process.weight, 0.825);
  assert.equal(roundTo(process.evidence, 9), 0.883333333);
  // 150·3 + 1500·0.5 = 1200 ms
  assert.equal(process.plausibility, 10);
});

Deno.test("activity that could not have happened in the time is scaled down", () => {
  const seen = { hover_events: 40, scroll_depth: 1, alternative_views_checked: 10 };
  const process = processEvidence(model, interactionAt(2_700, seen), GENERAL);
  assert.equal(process.plausibility, 0.2);
  assert.equal(roundTo(process.engagement!, 9), 0.2);
});

Deno.test("an absence of more than three minutes halves the time", () => {
  const nothing = { hover_events: 0, scroll_depth: 0, alternative_views_checked: 0 };
  assert.equal(processEvidence(model, interactionAt(180_000, nothing), GENERAL).evidence, 0.3);
  const away = processEvidence(model, interactionAt(180_001, nothing), GENERAL);
  assert.equal(away.evidence, 0.15);
  assert.equal(away.inert, true);
});

Deno.test("proven operators get relief between a discrimination of 0.55 and 0.80", () => {
  assert.equal(validatedSpeedRelief(model, 0.55, 0.55), 0);
  assert.equal(roundTo(validatedSpeedRelief(model, 0.675, 0.675), 9), 0.5);
  assert.equal(validatedSpeedRelief(model, 0.81, 0.81), 1);
  // Full relief reduces 12 s to 2.4 s, and fills 70 % of the missing scrutiny.
  const relieved = processEvidence(model, interactionAt(2_400), { domain: "general", relief: 1 });
  assert.equal(relieved.time, 1);
  const unmeasured = { ...relieved, evidence: 0.3 };
  assert.equal(roundTo(scrutiny(model, unmeasured, 1), 9), 0.85);
  assert.equal(scrutiny(model, unmeasured, 0), 0.5);
});

Deno.test("three hits and one false alarm make a credibility of (3+1)/(3+1+2)", () => {
  const before: OperatorState = { ...BLANK, b: { ...BLANK.b, H: [3, 9], C: [50, 1] } };
  assert.equal(roundTo(departureCredibility(model, before), 9), 0.666666667);
  assert.equal(departureCredibility(model, BLANK), 0.5);
});

Deno.test("the break-even value of a half-full bucket is midway between its raw and its shrunk mean", () => {
  // P = [30, 0]: raw 1, mean 36.5/40 = 0.9125
  assert.equal(breakEven(model, "P", [30, 0]), 0.95625);
  assert.equal(breakEven(model, "P", [0, 0]), 0.65);
});

// ---- restraint, section 5 ---------------------------------------------------------------------------------

Deno.test("restraint is full from a following rate of one half on and never less than a quarter", () => {
  const means = bucketMeans(model, BLANK, "general");
  const at = (Q: number) => restraint(model, { ...means, Q });
  assert.deepEqual([1, 0.85, 0.5, 0.4, 0.25, 0.125, 0.05, 0].map(at), [1, 1, 1, 0.8, 0.5, 0.25, 0.25, 0.25]);
});

Deno.test("an operator who never follows unlabelled advice loses D1, D2 and D7 to restraint", () => {
  // Q = [0, 10]: mean 8.5/20 = 0.425, ρ = 0.85, and 0.85·65 = 55.25
  const means = bucketMeans(model, { ...BLANK, b: { ...BLANK.b, Q: [0, 10] } }, "general");
  const dimensions = dimensionsOf(model, means, "full");
  assert.deepEqual(Object.values(dimensions), [55, 55, 65, 65, 65, 65, 55]);
  assert.equal(jisOf(model, dimensions, "full"), 59.5);
});

// ---- recalibration, section 4.7 ---------------------------------------------------------------------------

const LN_12 = 2.48490665;
const THOROUGH = { hover_events: 6, scroll_depth: 1, alternative_views_checked: 2 };

/** R and the error window after one thorough 12 s interaction, an hour into a window of this kind. */
function recalibrate(
  window: Partial<NonNullable<OperatorState["err"]>>,
  fields: Record<string, unknown>,
  laterMs: number = DAY / 24,
) {
  const err = { type: "over" as const, t: NOW, k: 5, mu: LN_12, sd: 0, im: 0.5, ...window };
  const before: OperatorState = { ...BLANK, n: 1, t0: NOW, t1: NOW, err };
  const interaction = interactionAt(12_000, { ...THOROUGH, ...fields });
  const { state } = advance(model, before, { interaction, domain: "general", now: NOW + laterMs });
  return { R: state.b.R, left: state.err?.k ?? null };
}

Deno.test("after an error a thorough review at the usual pace recalibrates to 0.92", () => {
  // r = 1, slow 0.5, eng 1: proc = 0.4·0.5 + 0.6·1 = 0.8, v = 0.6 + 0.4·0.8 = 0.92, w = 0.5
  assert.deepEqual(recalibrate({}, {}), { R: [0.46, 0.04], left: 4 });
});

Deno.test("slowing by one deviation completes the recalibration, a lower engagement reduces it", () => {
  // slow = 0.5 + 0.5·0.35/0.35 = 1, so that proc = v = 1
  assert.deepEqual(recalibrate({ mu: LN_12 - 0.35 }, {}).R, [0.5, 0]);
  // eng = 0.5 + (1 − 1) = 0.5: proc = 0.4·0.5 + 0.6·0.5 = 0.5, v = 0.8
  assert.deepEqual(recalibrate({ im: 1 }, {}).R, [0.4, 0.1]);
});

Deno.test("in an error window the next error counts 1.5 and opens a new window", () => {
  assert.deepEqual(recalibrate({ k: 2 }, { outcome_correct: false }), { R: [0, 1.5], left: 5 });
});

Deno.test("a false alarm counts 1.5 after a false alarm and 1 after any other error", () => {
  const falseAlarm = { decision: "rejected", outcome_correct: false };
  assert.deepEqual(recalibrate({ type: "under" }, falseAlarm).R, [0, 1.5]);
  assert.deepEqual(recalibrate({ type: "over" }, falseAlarm).R, [0, 1]);
});

Deno.test("a hit counts 1.5, and a right acceptance counts 0.75 after a false alarm only", () => {
  assert.deepEqual(recalibrate({}, { decision: "rejected", outcome_correct: true }).R, [1.5, 0]);
  assert.deepEqual(recalibrate({ type: "under" }, { outcome_correct: true }).R, [0.75, 0]);
  assert.deepEqual(recalibrate({ type: "over" }, { outcome_correct: true }).R, [0.46, 0.04]);
});

Deno.test("an unaided decision in an error window counts 1 by its outcome", () => {
  assert.deepEqual(recalibrate({}, { scenario_type: "ai_withheld", outcome_correct: true }).R, [1, 0]);
  assert.deepEqual(recalibrate({}, { scenario_type: "ai_withheld", outcome_correct: false }), {
    R: [0, 1],
    left: 5,
  });
});

Deno.test("an error window closes after its fifth event and expires after 14 days", () => {
  assert.equal(recalibrate({ k: 1 }, {}).left, null);
  assert.equal(recalibrate({}, {}, 14 * DAY).left, 4);
  assert.deepEqual(recalibrate({}, {}, 14 * DAY + 1), { R: [0, 0], left: null });
});

// ---- other steps of the reducer, sections 4.6 to 4.11 -----------------------------------------------------

/** The state of an operator with this record after one thorough 12 s acceptance, changed by `fields`. */
function after(record: Partial<OperatorState>, fields: Record<string, unknown>): OperatorState {
  const interaction = interactionAt(12_000, { ...THOROUGH, ...fields });
  return advance(model, { ...BLANK, ...record }, { interaction, domain: "general", now: NOW }).state;
}

Deno.test("accepting an error counts half as non-reflexive if it was scrutinised, and not at all otherwise", () => {
  assert.deepEqual(after({}, { outcome_correct: false }).b.X, [0.5, 0.5]);
  assert.deepEqual(after({}, { outcome_correct: false, time_to_decision_ms: 1_000 }).b.X, [0, 1]);
});

Deno.test("an unlabelled referral never raises ownership", () => {
  // A = [0, 10]: the break-even value is (5/6)·6.5/20 = 0.270833…, below 0.65; w = 0.25
  const low: OperatorState["b"] = { ...BLANK.b, A: [0, 10] };
  assert.deepEqual(after({ b: low }, { decision: "escalated" }).b.A, [0.067708333, 10.140625]);
  assert.deepEqual(after({}, { decision: "escalated" }).b.A, [0.1625, 0.0875]);
  assert.deepEqual(after({}, { decision: "escalated" }).b.Q, [0, 1]);
});

Deno.test("an unlabelled departure counts with its credibility, and a labelled false alarm adds nothing to X", () => {
  // κ = 1/2, r = 1: v = 0.5·(0.5 + 0.5·1) = 0.5
  const departed = after({}, { decision: "rejected" });
  assert.deepEqual(departed.b.A, [0.375, 0.375]);
  assert.deepEqual(departed.b.X, [0.25, 0.25]);
  assert.deepEqual(after({}, { decision: "rejected", outcome_correct: false }).b.X, [0, 0]);
});

Deno.test("an injected error that was rejected for a wrong decision is a hit without domain credit", () => {
  const { b, K } = after({}, {
    decision: "rejected",
    scenario_type: "error_injected",
    outcome_correct: false,
  });
  assert.deepEqual(b.H, [1.25, 0]);
  assert.deepEqual(b.U, [0, 0]);
  assert.deepEqual(K.general, [0, 1.25]);
});

Deno.test("the time baseline bounds an outlier from its eleventh event on", () => {
  // ln 12 = 2.48490665; from ten events on the step is at most 2.5·√0.04 = 0.5
  assert.deepEqual(after({ rt: { n: 9, mu: 0, s2: 0.01 } }, {}).rt, {
    n: 10,
    mu: 0.248490665,
    s2: 0.564728495,
  });
  assert.deepEqual(after({ rt: { n: 10, mu: 0, s2: 0.01 } }, {}).rt, {
    n: 11,
    mu: 0.045454545,
    s2: 0.029752066,
  });
});

Deno.test("half a miss or half a false alarm opens an error window, less does not", () => {
  const modified = (modification_extent: number) =>
    after({}, { decision: "modified", outcome_correct: false, modification_extent }).err?.type;
  // s = 0.5: miss 0.5 · s = 1: false alarm 0.5 · s = 0.6: miss 0.4, false alarm 0.3
  assert.deepEqual([modified(0.125), modified(0.25), modified(0.15)], ["over", "under", undefined]);
});

Deno.test("the displayed score moves by 35 % of the difference, at most +3 and −6, and never up on a fall", () => {
  const shown = (disp: number, jis: number) => {
    const before: OperatorState = { ...BLANK, n: 1, t0: NOW, t1: NOW, jis, disp, ef: jis, es: jis };
    // An unlabelled unaided case of 200 ms changes P alone, and the JIS from 65 to 64.85 (D4 to 64).
    const interaction = interactionAt(200, { scenario_type: "ai_withheld" });
    const event = { interaction, domain: "general" as const, now: NOW };
    const { state, result } = score(model, before, event, { mode: "full", modeOverride: "normal" });
    assert.equal(result.jis, 64.85);
    return state.disp;
  };
  assert.deepEqual(
    [
      shown(62.85, 60),
      shown(50, 60),
      shown(66.85, 60),
      shown(90, 60),
      shown(62.85, 64.9),
      shown(62.85, 64.85),
    ],
    [63.55, 53, 66.15, 84, 62.85, 63.55],
  );
});

Deno.test("a decision is scored against the decayed state, and the stored state stays as it was", () => {
  // U = [50, 0] is 97; 21 days later 40.6126 of 50 are left, which is 96: JIS 55.25 + 0.15·96
  const record: OperatorState = { ...BLANK, n: 60, t0: NOW, t1: NOW, b: { ...BLANK.b, U: [50, 0] } };
  const jisAt = (now: number) =>
    scoreDecision(model, record, { interaction: interactionAt(12_000), domain: "general", stakes: null, now })
      .factors.find(({ name }) => name === "operator_jis")?.value;
  assert.deepEqual([jisAt(NOW), jisAt(NOW + 21 * DAY), jisAt(NOW)], [69.8, 69.65, 69.8]);
});
