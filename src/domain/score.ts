/**
 * A score request with its parameters, and the response.
 * Source: specification, Scoring and reads; contract, sections 4 and 8.
 */
import * as z from "zod";
import {
  BANDS,
  DIMENSIONS,
  type Domain,
  type Mode,
  MODE_OVERRIDES,
  type ModeOverride,
  MODES,
  ROLE_TIERS,
  type RoleTier,
  URGENCIES,
} from "./enums.ts";
import { isoTimestamp } from "./instant.ts";
import { domainSchema, type Interaction, operatorIdSchema, sessionIdSchema } from "./interaction.ts";

/** The effective parameters of a score call. */
export const scoreParametersSchema = z.object({
  mode: z.enum(MODES).default("full").meta({ description: "`lite` computes D1, D4 and D7 only." }),
  role_tier: z.enum(ROLE_TIERS).default("tier_1").meta({
    description: "Operator skill tier, carried in the response; it changes no number.",
  }),
  mode_override: z.enum(MODE_OVERRIDES).default("normal").meta({
    description: "`incident_frozen` records the call and computes no JIS.",
  }),
});

/** A score request of either form, with its defaults explicit. */
export interface ScoreRequest {
  readonly session_id: string;
  readonly operator_id: string;
  readonly domain: Domain;
  readonly interaction: Interaction;
  readonly mode: Mode;
  readonly role_tier: RoleTier;
  readonly mode_override: ModeOverride;
}

export const points = z.number().min(0).max(100);

const ulid = z.string().regex(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);

export const envelopeFields = {
  request_id: ulid.meta({ description: "ULID of this call; `X-Request-Id` repeats it." }),
  timestamp: isoTimestamp,
};

export const uncertaintySchema = z.object({
  level: z.number(),
  low: points,
  high: points,
  effective_n: z.number().min(0),
}).meta({
  id: "Uncertainty",
  description: "The interval around the score and the weight of evidence behind it.",
});

export const modelReferenceSchema = z.object({
  version: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
}).meta({ id: "ModelReference" });

export const dimensionsSchema = z.object(
  Object.fromEntries(DIMENSIONS.map((name) => [name, z.int().min(0).max(100).optional()])) as Record<
    (typeof DIMENSIONS)[number],
    z.ZodOptional<z.ZodInt>
  >,
).meta({
  id: "Dimensions",
  description:
    "Seven in full mode; deferral_resistance, deliberation_depth and decision_autonomy in lite mode.",
});

export const decayProjectionSchema = z.object({
  current_jis: points,
  current_trend: z.number(),
  domain: domainSchema,
  decay_rate: z.number(),
  decay_acceleration: z.number(),
  floor: points,
  recovery_rate: z.number(),
  days_to_non_compliance: z.int().min(0).nullable(),
  projections: z.array(z.object({ day: z.int(), jis: points })),
}).meta({ id: "DecayProjection" });

export const complianceSchema = z.object({
  band: z.enum(BANDS),
  status: z.enum(["compliant", "conditional", "non_compliant"]),
  jis: points,
  article14_met: z.boolean(),
  action_required: z.boolean(),
  thresholds: z.object({ min_jis: points, target_jis: points }),
}).meta({ id: "Compliance" });

const maintenanceSchema = z.object({
  urgency: z.enum(URGENCIES),
  trigger_intervention: z.boolean(),
  recommendation: z.object({
    intervention_type: z.string(),
    intervention_frequency: z.number(),
    recommend_withhold: z.boolean(),
    reasons: z.array(z.string()),
    next_assessment: isoTimestamp,
  }),
}).meta({ id: "MaintenanceRecommendation" });

const responseMode = z.enum(["standard", "lite"]).meta({ description: "`standard` is full mode." });

/** The response with a computed score; `evidence` is the schema of the evidence format. */
export function scoreResponseSchema<Evidence extends z.ZodType>(evidence: Evidence) {
  return z.object({
    jis: points,
    displayed_jis: z.int().min(0).max(100).meta({
      description: "A damped integer for people; decisions use jis.",
    }),
    band: z.enum(BANDS),
    dimensions: dimensionsSchema,
    decay_projection: decayProjectionSchema,
    compliance: complianceSchema,
    maintenance_recommendation: maintenanceSchema,
    mode: responseMode,
    provisional: z.boolean(),
    committed: z.boolean(),
    dimensions_computed: z.int(),
    uncertainty: uncertaintySchema,
    session_id: sessionIdSchema,
    operator_id: operatorIdSchema,
    role_tier: z.enum(ROLE_TIERS),
    mode_override: z.literal("normal"),
    model: modelReferenceSchema,
    evidence,
    ...envelopeFields,
  }).meta({ id: "ScoreResponse" });
}

/** The response to a frozen call. */
export function skippedResponseSchema<Evidence extends z.ZodType>(evidence: Evidence) {
  return z.object({
    skipped: z.literal(true),
    reason: z.literal("incident_frozen"),
    jis: z.null(),
    mode: responseMode,
    mode_override: z.literal("incident_frozen"),
    role_tier: z.enum(ROLE_TIERS),
    session_id: sessionIdSchema,
    operator_id: operatorIdSchema,
    model: modelReferenceSchema,
    evidence,
    ...envelopeFields,
  }).meta({ id: "SkippedResponse" });
}
