/**
 * A run of the public demo: interactions of one visitor, scored as those of one new reviewer.
 * Source: specification, Public demo; contract, section 5.
 */
import * as z from "zod";
import { BANDS, type Domain } from "./enums.ts";
import { isoTimestamp } from "./instant.ts";
import { type Interaction, recordedInteractionSchema, sessionIdSchema } from "./interaction.ts";
import { explanationSchema } from "./replay.ts";
import { dimensionsSchema, envelopeFields, points, priorDimensionsSchema, verdictSchema } from "./score.ts";

/** The domain whose baselines apply to a visitor. */
export const ASSESSMENT_DOMAIN: Domain = "general";

export const assessmentIdSchema = sessionIdSchema.meta({
  description: "Name of the run. Anybody who knows it can read the run: choose one that nobody can guess.",
  examples: ["01KAHY8Q3T5S7V9W1X3Z5B7D9F"],
});

export interface AssessmentRequest {
  readonly sessionId: string;
  /** The records with their defaults explicit. */
  readonly records: readonly Interaction[];
}

const shareUrl = z.string().meta({
  description: "Address of the run's page. Anybody who has the address can read it.",
});

export const assessmentSubmittedSchema = z.object({
  ok: z.literal(true),
  sessionId: assessmentIdSchema,
  shareUrl,
  ...envelopeFields,
}).meta({ id: "AssessmentSubmitted" });

export const assessmentSchema = z.object({
  ok: z.literal(true),
  sessionId: assessmentIdSchema,
  created_at: isoTimestamp,
  records: z.array(recordedInteractionSchema).meta({
    description: "The records as they were scored, with explicit defaults.",
  }),
  summary: z.object({
    jis: points,
    band: z.enum(BANDS),
    dimensions: dimensionsSchema,
    verdict: verdictSchema.optional().meta({
      description: "Absent if the formulas of the model that scored the run have none.",
    }),
    prior_dimensions: priorDimensionsSchema.optional(),
  }).meta({
    description: "After the last record.",
  }),
  initial_jis: points.nullable().meta({
    description:
      "JIS of a new operator, from which the run starts; null if no model in use by then gives these scores.",
  }),
  results: z.array(
    z.object({
      jis: points,
      band: z.enum(BANDS),
      explanation: explanationSchema.nullable().meta({
        description:
          "The dimensions that the record moved, as in a replay; null if no model in use by then gives these scores.",
      }),
    }),
  ).meta({ description: "After each record, in their order." }),
  thresholds: z.object({ min_jis: points, target_jis: points }).meta({
    description: "The least JIS and the target JIS of the model in use.",
  }),
  shareUrl,
  ...envelopeFields,
}).meta({ id: "Assessment" });
