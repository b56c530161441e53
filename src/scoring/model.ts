/**
 * The model document: every constant of the scoring model as data, validated, with a version and one hash.
 *
 * The code holds only the shape of the formulas; `jis-2.0.0.json` holds the numbers, the exercises and the
 * dated rules of law. `JISS_SCORING_MODEL_FILE` can replace that file, never the formulas. Numbers in square
 * brackets below are the sources of scoring model section 16, spelt out in `docs/understand/scoring-model.md`.
 */
import * as z from "zod";
import {
  DIMENSIONS,
  type Domain,
  DOMAINS,
  FIRST_DOMAINS,
  FORMULAS,
  LATER_DOMAINS,
  SCENARIO_TYPES,
  URGENCIES,
} from "../domain/enums.ts";
import defaultDocument from "./jis-2.0.0.json" with { type: "json" };

/** Largest exponent of a modification's share in its departure share. */
export const DEPARTURE_EXPONENT_MAX = 16;

/** Beyond these bounds the formulas are not defined: a score would be an error, not a number. */
const LEAST = 1e-9;
const MOST = 1e9;
const COUNT_MOST = 1_000_000;
/** Most projected days: every score has a line for each of them. */
const PROJECTIONS_MOST = 366;
/** Bounds of a catalogue and of a law: nobody reads a longer one. */
const ROWS_MOST = 1_000;
const TEXTS_MOST = 100;
const TEXT_MOST = 10_000;
/** Each score goes through the square of the grid, for each part of the work. */
const GRID_MOST = 97;
const COMPONENTS_MOST = 8;
/** The longest name that every score repeats, in characters. */
const NAME_MOST = 128;

const share = z.number().min(0).max(1);
const fraction = z.number().min(LEAST).max(1);
const positive = z.number().min(LEAST).max(MOST);
const nonNegative = z.number().min(0).max(MOST);
const count = z.number().int().positive().max(COUNT_MOST);
const points = z.number().min(0).max(100);
const isoDate = z.iso.date().nullable();
const dimension = z.enum(DIMENSIONS);

const record = <const Keys extends readonly string[], Value extends z.ZodType>(keys: Keys, value: Value) =>
  z.strictObject(
    Object.fromEntries(keys.map((key) => [key, value])) as { [K in Keys[number]]: Value },
  );

/** The two-number buckets of evidence that a state holds besides one `K` for each domain. */
export const BUCKETS = ["H", "C", "P", "X", "A", "U", "R", "Q"] as const;
export type BucketName = (typeof BUCKETS)[number] | "K";

/** Bucket capacity N, prior strength n₀ and prior mean π: Beta-Binomial shrinkage toward a prior [7]. */
const bucket = z.strictObject({
  capacity: positive,
  prior_strength: positive,
  prior_mean: z.number().min(LEAST).max(1 - LEAST),
});

/** Tolerance in the comparison of sums, because 0.1 + 0.2 is not 0.3. */
const SUM_TOLERANCE = 1e-9;

/**
 * Adds a check that reports the message of `complaint`, if any. It runs even if the rest of the document is
 * wrong.
 */
function checked<Schema extends z.ZodType>(
  schema: Schema,
  complaint: (value: z.output<Schema>) => string | null,
): Schema {
  return schema.superRefine((value, context) => {
    const message = complaint(value as z.output<Schema>);
    if (message !== null) context.addIssue({ code: "custom", message });
  });
}

function sumComplaint(values: readonly number[]): string | null {
  const sum = values.reduce((total, value) => total + value, 0);
  return Math.abs(sum - 1) > SUM_TOLERANCE ? `must add up to 1, they add up to ${sum}` : null;
}

/**
 * The posterior of `jis-3`: what published people do with wrong and right advice, what both errors cost, and
 * how much evidence a verdict needs. Derivation: docs/verify/formulas.md.
 */
const discrimination = z.strictObject({
  /** Logits of both rates, from −reach to reach in equal steps. */
  grid: z.strictObject({ points: z.number().int().min(9).max(GRID_MOST), reach: z.number().min(1).max(12) }),
  /** Mean of the logits of both departure rates, over people: the criterion. */
  leaning: z.strictObject({ mean: z.number().min(-12).max(12), sd: z.number().min(0.05).max(12) }),
  /** Difference of the two logits, over people, as a mixture of normal distributions: the sensitivity. */
  sensitivity: checked(
    z.array(z.strictObject({
      weight: fraction,
      mean: z.number().min(-12).max(12),
      sd: z.number().min(0.05).max(12),
      /** Correlation with the leaning. */
      correlation: z.number().min(-0.99).max(0.99),
    })).min(1).max(COMPONENTS_MOST),
    (rows) => sumComplaint(rows.map((row) => row.weight)),
  ),
  /** Cost of reviewing a case, as a share of the cost of letting an error pass. */
  review_cost: z.number().min(LEAST).lt(0.5),
  /** How often the AI is wrong: a prior with this weight in cases, and the bounds and step of the estimate. */
  error_rate: checked(
    z.strictObject({ prior: fraction, weight: positive, least: fraction, most: fraction, step: fraction }),
    (row) =>
      row.least <= row.prior && row.prior <= row.most ? null : "must rise from least over prior to most",
  ),
  /** Cases after which a known case counts 1/e. */
  memory_cases: count,
  /** Days after which a known case counts half. */
  half_life_days: positive,
  /** Cases of wrong advice without which no verdict is given. */
  wrong_cases: count,
  /** Cases of right advice without which nobody is compliant: somebody who rejects everything finds every error. */
  right_cases: count,
  /** Decisions from which on grave cases, or a domain, need known cases of their own. */
  unmeasured: z.strictObject({ grave_decisions: count, domain_decisions: count }),
});

const exerciseParams = z.record(z.string(), z.json());

const text = z.string().min(1).max(TEXT_MOST);
const texts = z.array(text).min(1).max(TEXTS_MOST);

/** One worked case; `ai_recommendation` and `ai_is_right` are null if the exercise withholds the AI. */
const sampleCase = z.strictObject({
  case: text,
  ai_recommendation: text.nullable(),
  ai_is_right: z.boolean().nullable(),
  look_for: text,
});

/** Exercises of section 8.2; the three of deferral_resistance are the published cognitive-forcing designs [21]. */
const exercise = checked(
  z.strictObject({
    id: text,
    dimension,
    title: text,
    purpose: text,
    scenario_type: z.enum(SCENARIO_TYPES),
    metric: text,
    /** Thresholds of a metric with a scale of its own; without them the difficulty's threshold counts. */
    success_thresholds: z.strictObject({ easy: share, moderate: share, hard: share }).optional(),
    params: z.strictObject({ easy: exerciseParams, moderate: exerciseParams, hard: exerciseParams }),
    /** Instructions for the person who prepares the exercise in the organization. */
    setup: texts,
    /** Instructions for the reviewer. */
    instructions: texts,
    debrief: texts,
    cases: z.strictObject({ easy: sampleCase, moderate: sampleCase, hard: sampleCase }),
  }),
  ({ scenario_type, cases }) => {
    const withheld = scenario_type === "ai_withheld";
    const fits = Object.values(cases).every((row) =>
      (row.ai_recommendation === null) === withheld && (row.ai_is_right === null) === withheld
    );
    if (fits) return null;
    return withheld
      ? "cases of ai_withheld must have null for ai_recommendation and ai_is_right"
      : "cases must say ai_recommendation and ai_is_right, except with ai_withheld";
  },
);

/** Fewest exercises of one dimension: the endpoint recommends all exercises of the target dimension. */
const EXERCISES_PER_DIMENSION = 3;

const difficulty = z.strictObject({
  items: count,
  ai_error_share: share,
  feedback: z.enum(["immediate", "delayed"]),
  success_threshold: share,
  estimated_minutes: positive,
});

/**
 * One dated rule of a framework (section 10): a changed date or a fifth framework is a change of data. An
 * operator passes if every value is at least as high as its condition. If `in_force_from` is null, the rule
 * never came to apply, or nobody knows since when: it is then the framework's rule up to its end, but not in
 * force.
 */
const lawRule = checked(
  z.strictObject({
    framework: z.string().min(1),
    provision: z.string().min(1),
    citation: z.string().min(1),
    requirement: z.string().min(1),
    in_force_from: isoDate,
    in_force_until: isoDate,
    status_note: z.string(),
    /** The text that was read. A finding names it only if it is `primary`, the official text itself. */
    source: z.string().min(1),
    date_confidence: z.enum(["primary", "secondary"]),
    domains: z.array(z.enum(DOMAINS)).min(1).max(DOMAINS.length).nullable(),
    conditions: checked(
      z.partialRecord(z.enum([...DIMENSIONS, "jis", "mean_correct_acceptance"]), points),
      (row) => {
        if (Object.keys(row).length === 0) return "must hold at least one condition, or everybody would pass";
        return (row.mean_correct_acceptance ?? 0) > 1 ? "mean_correct_acceptance must be at most 1" : null;
      },
    ),
    cap: z.enum(["no_departure_or_referral", "no_referral_or_freeze"]).nullable(),
  }),
  ({ in_force_from: from, in_force_until: until }) =>
    from !== null && until !== null && until < from
      ? "in_force_until must not be before in_force_from"
      : null,
);
export type LawRule = z.infer<typeof lawRule>;

const domainRow = checked(
  z.strictObject({
    fast_ms: positive,
    reference_ms: positive,
    decay_rate: positive,
    decay_acceleration: nonNegative,
    floor: points,
    recovery_rate: positive,
    severity: fraction,
    high_risk: z.boolean(),
  }),
  (row) => (row.fast_ms < row.reference_ms ? null : "fast_ms must be below reference_ms"),
);

const shape = z.strictObject({
  version: z.string().regex(/^[a-z0-9][a-z0-9.+-]{0,63}$/),
  /** `jis-2` is `jis-1` with `classification.departure_exponent`; `jis-3` has `discrimination` besides. */
  formulas: z.enum(FORMULAS),
  /** Section 3.1: the buckets of evidence. */
  buckets: record([...BUCKETS, "K"] as const, bucket),
  /** Section 2.1: event weight ω. */
  scenario_weights: record(SCENARIO_TYPES, positive),
  /** Section 2.3: how a decision and its label become hits, misses, correct acceptances and false alarms [6]. */
  classification: z.strictObject({
    full_departure_extent: fraction,
    /** Exponent that makes a small modification a smaller departure; not in `jis-1`. */
    departure_exponent: z.number().int().min(1).max(DEPARTURE_EXPONENT_MAX).optional(),
    injected_modified_wrong_share: share,
    modified_false_alarm_share: share,
    referral_hit: share,
    referral_false_alarm: share,
  }),
  /** Section 4.1: half of the gain in accuracy lost after about 6.5 months of non-use [18][19][20]. */
  retention: z.strictObject({
    grace_days: nonNegative,
    hyperbolic_rate_per_day: positive,
    exponent: positive,
  }),
  /** Section 4.3: relief from time demands for operators whose outcomes validate their speed [10]. */
  relief: z.strictObject({
    hit_exponent: share,
    acceptance_exponent: share,
    from_discrimination: share,
    over_span: positive,
    time_shrink: z.number().min(0).lt(1),
  }),
  /** Section 4.4: response-time effort on a log scale, soft ramp [8][9][10]; time is necessary, never sufficient [11]. */
  process: checked(
    z.strictObject({
      min_ms: positive,
      max_ms: positive,
      unmeasured: z.strictObject({ time_credit: share, weight: share }),
      measured_weight_span: share,
      engagement: checked(
        z.strictObject({
          hover_weight: positive,
          hover_full: positive,
          scroll_weight: positive,
          views_weight: positive,
          views_full: positive,
        }),
        (row) => sumComplaint([row.hover_weight, row.scroll_weight, row.views_weight]),
      ),
      plausibility: z.strictObject({
        ms_per_hover: nonNegative,
        max_hovers: nonNegative,
        ms_per_view: nonNegative,
        max_views: nonNegative,
        ms_full_scroll: nonNegative,
      }),
      modification_bonus: share,
      inert_below: share,
      idle: z.strictObject({ after_ms: positive, engagement_below: share, time_factor: share }),
      time_share: share,
      engagement_share: share,
      full_engagement: fraction,
      full_scrutiny: fraction,
      relief_share: share,
      relief_time: fraction,
    }),
    (row) => (row.min_ms < row.max_ms ? null : "min_ms must be below max_ms"),
  ),
  /** Section 4.5: Beta(1,1) over hits and false alarms. */
  credibility: checked(
    z.strictObject({ prior_hits: positive, prior_total: positive }),
    (row) => (row.prior_hits < row.prior_total ? null : "prior_hits must be below prior_total"),
  ),
  /** Section 4.6; modification as weight on one's own judgement: judge–advisor system [15]. */
  updates: z.strictObject({
    non_reflexive: z.strictObject({
      wrong_acceptance_cap: share,
      departure_weight: nonNegative,
      departure_base: share,
      departure_scrutiny: share,
    }),
    ownership: z.strictObject({
      miss_weight: nonNegative,
      false_alarm_weight: nonNegative,
      hit_weight: nonNegative,
      acceptance_value: share,
      acceptance_weight: nonNegative,
      departure_weight: nonNegative,
      departure_base: share,
      departure_scrutiny: share,
      referral_value: share,
      referral_weight: nonNegative,
    }),
    unaided: z.strictObject({ proxy_weight: nonNegative }),
    domain: z.strictObject({ right_acceptance_weight: nonNegative }),
  }),
  /** Section 4.7: the score rests on the operator's next decisions, less on slowing [12][13][14]. */
  recalibration: z.strictObject({
    window_days: positive,
    window_events: count,
    opens_at: share,
    sd_floor: positive,
    slowing_base: share,
    slowing_slope: share,
    engagement_base: share,
    slowing_share: share,
    engagement_share: share,
    miss_weight: nonNegative,
    false_alarm_weight: nonNegative,
    repeated_false_alarm_weight: nonNegative,
    hit_weight: nonNegative,
    unaided_weight: nonNegative,
    right_acceptance_base: share,
    right_acceptance_scrutiny: share,
    right_acceptance_weight: nonNegative,
    scrutiny_share: share,
    process_share: share,
    other_weight: nonNegative,
  }),
  /** Section 4.8: exponentially weighted mean and variance of log time [22], outliers bounded (Huber). */
  baseline: z.strictObject({
    slowest_rate_events: count,
    huber_after: count,
    huber_width: positive,
    variance_floor: positive,
  }),
  /** Section 4.10: recent shares of grave cases. */
  shares: z.strictObject({ span: count }),
  /** Section 4.11: moving averages and the displayed score. */
  score: z.strictObject({
    fast_span: count,
    slow_span: count,
    display: z.strictObject({ rate: share, max_fall: nonNegative, max_rise: nonNegative }),
  }),
  /** Section 5: ρ_Q. */
  restraint: z.strictObject({ full_at: fraction, floor: fraction }),
  /** Section 5: weighted geometric means over bucket means; discrimination weighs as much as resisting deference [1][2][4]. */
  dimensions: record(
    DIMENSIONS,
    z.strictObject({
      weight: share,
      /** In `jis-3` absent if the lite mode does not compute the dimension. */
      lite_weight: share.optional(),
      restraint: z.boolean(),
      exponents: checked(
        z.partialRecord(z.enum(["H", "C", "P", "X", "A", "U", "R", "K"]), positive),
        (row) => sumComplaint(Object.values(row)),
      ).optional(),
      /** In `jis-3` in place of the exponents: cost of departing from right advice, against accepting wrong one. */
      false_alarm_cost: z.number().min(0.01).max(100).optional(),
    }),
  ).superRefine((rows, context) => {
    for (const field of ["weight", "lite_weight"] as const) {
      const message = sumComplaint(Object.values(rows).map((row) => row[field] ?? 0));
      if (message !== null) {
        context.addIssue({ code: "custom", message: `every ${field} together ${message}` });
      }
    }
  }),
  /** Only in `jis-3`. */
  discrimination: discrimination.optional(),
  /** Section 5: lowest JIS of each band; below the last is `at_risk`. */
  bands: checked(
    z.strictObject({ exemplary: points, proficient: points, adequate: points }),
    (row) =>
      row.exemplary > row.proficient && row.proficient > row.adequate
        ? null
        : "must fall from exemplary over proficient to adequate",
  ),
  /** Section 6: non-compensatory floors beside the weighted sum. */
  thresholds: checked(
    z.strictObject({
      min_jis: points,
      target_jis: points,
      critical_jis: points,
      dimension_floor: points,
      floor_dimensions: z.array(dimension).min(1).max(DIMENSIONS.length),
      action_required_days: nonNegative,
    }),
    (row) =>
      row.target_jis > row.min_jis && row.min_jis > row.critical_jis
        ? null
        : "must fall from target_jis over min_jis to critical_jis",
  ),
  /** Section 6: the provisional rule. */
  minimum_data: z.strictObject({ interactions: count, days: positive, ground_truth: count }),
  /** Read first, point 4: Beta variance, normal interval, calibrated by validation. */
  uncertainty: z.strictObject({ level: z.number().gt(0).lt(1), z: positive, calibration_factor: positive }),
  /** Section 7.1: `general` is anchored to data [19]; the other rows are policy parameters, not measurements. */
  domains: z.strictObject({
    ...record(FIRST_DOMAINS, domainRow).shape,
    ...record(LATER_DOMAINS, domainRow.optional()).shape,
  }),
  /** Section 7.2: the decay projection. */
  decay: z.strictObject({
    trend_limit: positive,
    trend_from_interactions: nonNegative,
    trend_ramp_interactions: positive,
    decline_slope: nonNegative,
    decline_max: z.number().min(1).max(MOST),
    improve_slope: nonNegative,
    improve_min: fraction,
    horizon_days: count,
    projection_days: z.array(count).min(1).max(PROJECTIONS_MOST),
    recovery_ceiling: points,
  }),
  /** Section 8: urgency, interventions and the exercise catalogue; injected errors as the vigilance instrument [16][17]. */
  maintenance: z.strictObject({
    levels: record(URGENCIES, z.strictObject({ frequency: share, next_days: count })),
    projected_days: checked(
      z.strictObject({ medium: nonNegative, low: nonNegative }),
      (row) => (row.medium <= row.low ? null : "medium must not be above low"),
    ),
    trend: checked(
      z.strictObject({ medium: z.number().min(-MOST).max(0), low: z.number().min(-MOST).max(0) }),
      (row) => (row.medium <= row.low ? null : "medium must not be above low"),
    ),
    provisional_cap: z.enum(URGENCIES),
    triggers_at: z.enum(URGENCIES),
    truth_target: dimension,
    withhold: z.strictObject({ below: points, dimensions: z.array(dimension).max(DIMENSIONS.length) }),
    interventions: record(DIMENSIONS, z.string().min(1).max(NAME_MOST)),
    difficulty: checked(
      z.strictObject({ easy_below: points, moderate_below: points }),
      (row) => (row.easy_below <= row.moderate_below ? null : "easy_below must not be above moderate_below"),
    ),
    difficulties: z.strictObject({ easy: difficulty, moderate: difficulty, hard: difficulty }),
    exercises: z.array(exercise).min(1).max(ROWS_MOST).superRefine((rows, context) => {
      if (new Set(rows.map((row) => row.id)).size !== rows.length) {
        context.addIssue({ code: "custom", message: "ids must be unique" });
      }
      for (const name of DIMENSIONS) {
        if (rows.filter((row) => row.dimension === name).length >= EXERCISES_PER_DIMENSION) continue;
        context.addIssue({ code: "custom", message: `must have at least three for ${name}` });
      }
    }),
  }),
  /** Section 9: the organization rule. */
  organization: z.strictObject({
    active_days: positive,
    high_risk_share: share,
    critical_days: positive,
    critical_share: share,
    critical_count: count,
    non_compliant_share: share,
  }),
  /** Section 11: the Decision Risk Score. */
  drs: z.strictObject({
    acceptance: z.strictObject({ process_weight: share, hit_weight: share }),
    departure: z.strictObject({ process_weight: share, credibility_weight: share }),
    referral_likelihood: share,
    novelty: z.strictObject({ weight: share, interactions: count }),
    likelihood_min: fraction,
    likelihood_exponent: positive,
    severity_exponent: positive,
    severity_bonus: z.strictObject({ high_stakes: share, critical: share }),
    stakes_scenario: record(["low", "medium", "high", "critical"] as const, z.enum(SCENARIO_TYPES)),
    routes: checked(
      z.strictObject({ review: points, must_review: points, escalation: points }),
      (row) =>
        row.review < row.must_review && row.must_review < row.escalation
          ? null
          : "must rise from review over must_review to escalation",
    ),
    low_credibility: z.strictObject({ departure: share, credibility: share }),
    implausible_below: nonNegative,
  }),
  /** Section 10: the dated rules of law. */
  law: z.strictObject({
    version: z.string().min(1),
    pass_share: checked(
      z.strictObject({ compliant: share, partial: share }),
      (row) => (row.partial <= row.compliant ? null : "partial must not be above compliant"),
    ),
    rules: z.array(lawRule).min(1).max(ROWS_MOST),
  }),
});

export type ModelDocument = z.infer<typeof shape>;

/** The numbers of a domain; those of `general` if the document is older than the domain. */
export function domainRules({ domains }: Pick<ModelDocument, "domains">, domain: Domain) {
  return domains[domain] ?? domains.general;
}

/** The largest weight with which one event can move any bucket. */
function largestWeight({ scenario_weights, updates, recalibration }: ModelDocument): number {
  const rules: readonly Readonly<Record<string, number>>[] = [...Object.values(updates), recalibration];
  const weights = rules.flatMap((row) =>
    Object.entries(row).filter(([name]) => name.endsWith("_weight")).map(([, weight]) => weight)
  );
  return Math.max(1, ...weights) * Math.max(...Object.values(scenario_weights));
}

/** Checks that the members are there that the formulas read, and no others. */
function requireFormulas(model: ModelDocument, context: z.RefinementCtx): void {
  const isThird = model.formulas === "jis-3";
  const complain = (path: readonly string[], message: string) =>
    context.addIssue({ code: "custom", path: [...path], message });
  if (isThird !== (model.discrimination !== undefined)) {
    complain(["discrimination"], "must be there with the formulas jis-3, and only with them");
  }
  for (const name of isThird ? LATER_DOMAINS : []) {
    if (model.domains[name] === undefined) complain(["domains", name], "is missing");
  }
  for (const [name, row] of Object.entries(model.dimensions)) {
    const path = ["dimensions", name];
    if ((row.exponents === undefined) === (row.false_alarm_cost === undefined)) {
      complain(path, "must have either exponents or a false_alarm_cost");
    }
    if (isThird) {
      const isWeighty = row.weight > 0 || (row.lite_weight ?? 0) > 0;
      if (isWeighty !== (row.false_alarm_cost !== undefined)) {
        complain([...path, "false_alarm_cost"], "must be there if the dimension has a weight, and only then");
      }
    } else {
      if (row.lite_weight === undefined) complain([...path, "lite_weight"], "is missing");
      if (row.false_alarm_cost !== undefined) complain([...path, "false_alarm_cost"], "is only for jis-3");
    }
  }
}

/** Checks the rules that hold between the sections of a document. */
function requireTogether(model: ModelDocument, context: z.RefinementCtx): void {
  if ((model.formulas === "jis-1") === (model.classification.departure_exponent !== undefined)) {
    const message = "must be there unless the formulas are jis-1, and not with them";
    context.addIssue({ code: "custom", path: ["classification", "departure_exponent"], message });
  }
  requireFormulas(model, context);
  const weight = largestWeight(model);
  for (const [name, { capacity }] of Object.entries(model.buckets)) {
    if (capacity >= weight) continue;
    const message = `must be at least ${weight}, the largest weight of one event`;
    context.addIssue({ code: "custom", path: ["buckets", name, "capacity"], message });
  }
  if (model.buckets.Q.prior_mean < model.restraint.full_at) {
    const message = "must not be below restraint.full_at, or an unknown operator would start restrained";
    context.addIssue({ code: "custom", path: ["buckets", "Q", "prior_mean"], message });
  }
}

/** Validates a model document: every field, sum and order, all problems at once. */
export const modelSchema = shape.superRefine(requireTogether);

/**
 * Validates only the parts from which a record is computed. Exercises, law and the figures of organizations
 * affect no number in a record, and earlier programs wrote them in other shapes. A document that was ever
 * accepted here must always be accepted.
 */
export const recordedModelSchema = z.object({
  ...shape.omit({ law: true, organization: true, maintenance: true }).shape,
  maintenance: z.object(
    shape.shape.maintenance.omit({ difficulty: true, difficulties: true, exercises: true }).shape,
  ),
}).superRefine((model, context) => requireTogether(model as ModelDocument, context));

/** A model in use: its document and the one hash that names it in responses and evidence. */
export interface Model {
  readonly document: ModelDocument;
  /** SHA-256(`jis.params/1\n` ‖ JCS(document)), lower-case hex. */
  readonly sha256: string;
}

/** The built-in document. */
export const DEFAULT_MODEL_DOCUMENT = defaultDocument as unknown as ModelDocument;
