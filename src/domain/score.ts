/**
 * A score request with its parameters, and the fields of a score that several answers share.
 * Source: specification, Scoring and reads; contract, sections 4 and 8.
 */
import * as z from "zod";
import { hash32 } from "./hash.ts";
import {
  BANDS,
  COMPLIANCE_STATUSES,
  DIMENSIONS,
  type Domain,
  DOMAINS,
  DOUBTS,
  type Mode,
  MODE_OVERRIDES,
  type ModeOverride,
  MODES,
  ROLE_TIERS,
  type RoleTier,
  VERDICT_STATUSES,
  WORK_PARTS,
} from "./enums.ts";
import { isoTimestamp } from "./instant.ts";
import { domainNameSchema, type Interaction } from "./interaction.ts";

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

/** A JIS or a figure on its scale, 0 to 100. */
export const points = z.number().min(0).max(100).meta({ id: "Points" });

const ulid = z.string().regex(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);

export const envelopeFields = {
  request_id: ulid.meta({ id: "RequestId", description: "ULID of this call; `X-Request-Id` repeats it." }),
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
  sha256: hash32,
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
  domain: domainNameSchema,
  decay_rate: z.number(),
  decay_acceleration: z.number(),
  floor: points,
  recovery_rate: z.number(),
  days_to_non_compliance: z.int().min(0).nullable(),
  projections: z.array(z.object({ day: z.int(), jis: points })),
}).meta({ id: "DecayProjection" });

export const verdictSchema = z.object({
  status: z.enum(VERDICT_STATUSES),
  part: z.enum([...WORK_PARTS, ...DOMAINS]).meta({
    description: "The part of the operator's work that the verdict rests on: the worst one.",
  }),
  low: points,
  high: points,
  wrong_cases: z.int().min(0).meta({
    description: "Cases of wrong advice in that part whose truth is known.",
  }),
  right_cases: z.int().min(0).meta({
    description: "Cases of right advice in that part whose truth is known.",
  }),
  doubt: z.enum(DOUBTS).nullable().meta({ description: "Why there is no verdict; null if there is one." }),
  wrong_cases_needed: z.int().min(0).nullable().meta({
    description:
      "About how many more cases of wrong advice would settle it; null if there is a verdict, if right advice would, or if nobody can say.",
  }),
  right_cases_needed: z.int().min(0).nullable().meta({
    description:
      "About how many more cases of right advice would settle it; null if there is a verdict, if wrong advice would, or if nobody can say.",
  }),
}).meta({ id: "Verdict" });

/** The name of a dimension. */
export const dimensionSchema = z.enum(DIMENSIONS).meta({ id: "Dimension" });

export const priorDimensionsSchema = z.array(dimensionSchema).meta({
  id: "PriorDimensions",
  description:
    "Dimensions whose number is the prior's, because too few cases of wrong advice are known; only with a model of the formulas `jis-3`.",
});

export const complianceSchema = z.object({
  band: z.enum(BANDS),
  status: z.enum(COMPLIANCE_STATUSES),
  jis: points,
  article14_met: z.boolean(),
  action_required: z.boolean(),
  thresholds: z.object({ min_jis: points, target_jis: points }),
  verdict: verdictSchema.optional().meta({
    description: "What the status rests on; only with a model of the formulas `jis-3`.",
  }),
}).meta({ id: "Compliance" });
