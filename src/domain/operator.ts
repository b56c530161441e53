/**
 * Answers about operators: profile, list, maintenance recommendation and dashboard.
 * Source: specification, Operator profile, Organization dashboard, Maintenance recommendation; contract, section 4.
 */
import * as z from "zod";
import { BANDS, DIMENSIONS, TIERS, VERDICT_STATUSES } from "./enums.ts";
import { isoTimestamp as instant } from "./instant.ts";
import { domainNameSchema, operatorIdSchema } from "./interaction.ts";
import { LIST_SPARKLINE_DAYS } from "./limits.ts";
import { probeFiguresSchema } from "./probe.ts";
import { forceSchema, organizationVerdictSchema, verdictCountsSchema, WITHHELD_COUNT } from "./report.ts";
import {
  complianceSchema,
  decayProjectionSchema,
  dimensionSchema,
  envelopeFields,
  points,
  priorDimensionsSchema,
  uncertaintySchema,
  verdictSchema,
} from "./score.ts";

const count = z.int().min(0);

/** The team of an operator. */
const team = z.string().nullable().meta({
  description: "The operator's team; null without one, and where reviewers are pseudonyms.",
});

/** The verdict of an operator's stored state, as `compliance.verdict` of a score has it. */
const verdict = verdictSchema.nullable().meta({
  description:
    "The full-mode verdict of the stored state, by the model in use; late labels count at once. Null if the formulas of the model have none.",
});

const share = z.number().min(0).max(1);
const rate = z.object({
  mean: share,
  low: share,
  high: share,
  cases: z.number().min(0).meta({ description: "Known cases behind the rate." }),
}).meta({ id: "EstimatedRate" });
const ESTIMATE = { mean: z.number(), low: z.number(), high: z.number() };
const quantityShape = z.object(ESTIMATE).meta({ id: "EstimatedQuantity" });
const quantity = (description: string) => quantityShape.meta({ description });
const ratePair = {
  departs_when_wrong: rate.meta({ description: "How often the operator departs from wrong advice." }),
  departs_when_right: rate.meta({ description: "How often the operator departs from right advice." }),
};
const ratesOf = z.object(ratePair).meta({ id: "EstimatedRates" });
const rates = (description: string) => ratesOf.nullable().meta({ description });

/** The rates of the work on which a verdict rests. */
export const ratesBehindSchema = z.object({
  work: z.enum(["live", "high_stakes", "critical"]).meta({
    description:
      "The work that the rates are of: the part on which the verdict rests, or `live`, all live work, if that part has none of its own.",
  }),
  ...ratePair,
}).meta({ id: "RatesBehind" });

/** How the operator judges, beside the score; intervals hold the quantity with 90 %. */
const estimatesSchema = z.object({
  error_rate: share.meta({
    description: "How often the AI is wrong in the operator's work, as the verdict takes it.",
  }),
  ...ratePair,
  sensitivity: quantity(
    "How well the operator tells wrong from right advice: logit of departing from wrong advice minus that of departing from right advice. 0 is not at all.",
  ),
  criterion: quantity(
    "The leaning: above 0 to follow the AI, below 0 to depart from it, whatever it advises.",
  ),
  high_stakes: rates("Both rates in live cases of high stakes, critical ones too; null if none is known."),
  critical: rates("Both rates in critical live cases; null if none is known."),
  announced: rates("Both rates in tests that the operator knew of; null if no such case is known."),
  exam_effect: quantity(
    "How much better the operator tells wrong from right advice in announced tests than in live work; null if either has too few known cases of wrong advice.",
  ).nullable(),
  probes: rates("Both rates in sealed probes; null if none was decided."),
  probe_effect: quantity(
    "How much better the operator tells wrong from right advice in sealed probes than in other live work: above 0, probes are recognised. Null if either has too few known cases of wrong advice.",
  ).nullable(),
}).meta({ id: "Estimates" });

export const PROFILE_BANDS = ["Exemplary", "Proficient", "Adequate", "At Risk"] as const;

const fullDimensions = z.object(
  Object.fromEntries(DIMENSIONS.map((name) => [name, z.int().min(0).max(100)])) as Record<
    (typeof DIMENSIONS)[number],
    z.ZodInt
  >,
).meta({ id: "FullDimensions" });

export const historyPointSchema = z.object({ timestamp: instant, jis: points });

const calendarDay = z.iso.date();

/** A decay projection as it is read on a later day than that of its score. */
const decayReadingSchema = decayProjectionSchema.extend({
  as_of: instant.meta({ description: "Instant of the reading. Days are UTC calendar days." }),
  days_since_last_interaction: count,
  projected_today: points.meta({
    description: "Where the curve that starts with current_jis at the last interaction is today.",
  }),
  not_heard_of: z.boolean().meta({ description: "True if there was no interaction for 30 days or more." }),
  days_to_non_compliance: z.int().min(0).nullable().meta({
    description:
      "Days from today until the curve is below the minimum JIS: 0 if it is below it today, null if it does not get there. In the answer to a score the days count from that score.",
  }),
  non_compliant_on: calendarDay.nullable().meta({
    description:
      "First day on which the curve is below the minimum JIS, which may be past; the day of the last interaction if the score itself is below it. Null if it never is.",
  }),
  projections: z.array(
    z.object({
      day: z.int().meta({ description: "Days from today." }),
      date: calendarDay,
      jis: points,
    }),
  ),
  remarks: z.array(z.string()).meta({
    description:
      "Sentences to show beside the projection: that the verdict is undetermined, that it is below the minimum already by a part of the work, and that the operator has not been heard of.",
  }),
}).meta({ id: "DecayReading" });

export const profileResponseSchema = z.object({
  profile: z.object({
    operator_id: operatorIdSchema,
    jis: points.meta({
      description:
        "Full-mode JIS of the latest interaction; with a model of the formulas `jis-3`, late labels count at once.",
    }),
    band: z.enum(PROFILE_BANDS),
    dimensions: fullDimensions.meta({
      description:
        "Dimensions of the stored state: a late label changes them at once, and so jis with the formulas `jis-3`; with earlier ones jis changes with the next score.",
    }),
    minimum_data_met: z.boolean(),
    total_interactions: count,
    uncertainty: uncertaintySchema,
    verdict,
    prior_dimensions: priorDimensionsSchema,
    estimates: estimatesSchema.nullable().meta({
      description:
        "What the known cases say beside the score, late labels included; nothing here enters a verdict. Null if the formulas of the model have none.",
    }),
    domain: domainNameSchema.meta({ description: "Domain of the latest interaction." }),
    team,
    last_interaction_at: instant,
    scored_by: z.string().meta({
      description:
        "Version of the model that made `jis`. If it is not the model in use, interval, dimensions, verdict and estimates are those that the model in use reads from the state, and `jis` follows with the next score or late label.",
    }),
  }).meta({ id: "ProfileFigures" }),
  jis_history: z.array(historyPointSchema).meta({ description: "The newest 100, oldest first." }),
  decay_projection: decayReadingSchema.optional().meta({
    description: "Projection from the latest interaction on, read today; only with include=projection.",
  }),
  compliance: complianceSchema.optional().meta({ description: "Only with include=projection." }),
  article14: forceSchema.nullable().optional().meta({
    description:
      "Whether Article 14 of the EU AI Act, for which `compliance` has a measure, is in force today, and its dates; null if the model does not have it. Only with include=projection.",
  }),
  ...envelopeFields,
}).meta({ id: "Profile" });

/** The change of a score over the days of the list's sparkline. */
export const change30Days = z.number().nullable().meta({
  description:
    `The last JIS minus the last one before these ${LIST_SPARKLINE_DAYS} days (UTC), in points; null without an interaction in them or before them.`,
});

export const operatorsResponseSchema = z.object({
  operators: z.array(z.object({
    operator_id: operatorIdSchema,
    team,
    domain: domainNameSchema,
    jis: points,
    band: z.enum(BANDS),
    minimum_data_met: z.boolean(),
    total_interactions: count,
    uncertainty: uncertaintySchema,
    verdict,
    high_risk: z.boolean(),
    critical_decision: z.boolean(),
    last_interaction_at: instant,
    sparkline: z.array(points).optional().meta({
      description:
        `With include=sparkline: the last JIS of each of the last ${LIST_SPARKLINE_DAYS} days that has one.`,
    }),
    change_30_days: change30Days.optional(),
  })),
  count: count.meta({ description: "Operators in this answer." }),
  next_cursor: z.string().nullable(),
  ...envelopeFields,
}).meta({ id: "Operators" });

export const dashboardResponseSchema = z.object({
  organization: z.object({ id: z.string(), name: z.string() }),
  domain: domainNameSchema,
  tier: z.enum(TIERS),
  dashboard: z.object({
    total_operators: count.meta({ description: "Operators with an interaction in the last 90 days." }),
    mean_jis: points.nullable(),
    median_jis: points.nullable(),
    at_risk_count: count,
    band_distribution: z.object(
      Object.fromEntries(BANDS.map((band) => [band, count])) as Record<(typeof BANDS)[number], z.ZodInt>,
    ),
    verdict: organizationVerdictSchema.meta({
      description: "The verdict by the organization rule, in three kinds, with its reasons.",
    }),
    conditions: z.array(z.object({
      of: z.enum(["all", "high_risk", "critical"]).meta({
        description:
          "`all`: operators with a record that is long enough; `high_risk` and `critical`: the halves of the organization rule.",
      }),
      status: z.enum(VERDICT_STATUSES).nullable().meta({
        description:
          "`non_compliant` if it is broken even if all undetermined operators pass, `compliant` if it holds even if they all fail. Null if withheld.",
      }),
      operators: count,
      below: count.nullable().meta({
        description: `Operators who are certainly below the threshold. ${WITHHELD_COUNT}`,
      }),
      open: count.nullable().meta({
        description: `Operators of whom it is not settled whether they are. ${WITHHELD_COUNT}`,
      }),
      threshold: points,
      allowed: share.meta({ description: "The share of the operators who may be below it." }),
    })).meta({
      description: "The conditions behind `verdict` that judge somebody, each as observed against allowed.",
    }),
    verdicts: verdictCountsSchema.meta({ description: "The same operators by their own verdict." }),
    probes: probeFiguresSchema.nullable().meta({
      description: "What sealed probes of the same days say; null if none was opened.",
    }),
    compliance_status: z.enum(["compliant", "non_compliant"]).meta({
      description:
        "The rule by the scores alone, as if each were exact; `verdict` says whether it is certain.",
    }),
    organization_rule: z.object({
      high_risk_operators: count,
      high_risk_below_minimum: count.nullable().meta({ description: WITHHELD_COUNT }),
      critical_operators: count,
      critical_below_critical: count.nullable().meta({ description: WITHHELD_COUNT }),
      thresholds: z.object({ min_jis: points, critical_jis: points }),
      reasons: z.array(z.string()).meta({
        description: "The reasons for the status: one sentence for each half of the rule.",
      }),
    }).meta({ description: "The figures from which the status follows." }),
  }),
  ...envelopeFields,
}).meta({ id: "Dashboard" });

export const maintenanceResponseSchema = z.object({
  recommendation: z.object({
    intervention_type: z.string(),
    target_dimension: dimensionSchema,
    difficulty: z.enum(["easy", "moderate", "hard"]),
    frequency_ratio: z.number().min(0).max(1).meta({ description: "Share of the operator's interactions." }),
  }).meta({ id: "PracticeRecommendation" }),
  exercises: z.array(
    z.object({ id: z.string(), title: z.string(), payload: z.record(z.string(), z.unknown()) }),
  ),
  ...envelopeFields,
}).meta({ id: "MaintenanceResponse" });
