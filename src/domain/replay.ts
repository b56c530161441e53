/** The replay of a score or a decision. Source: contract, section 4. */
import * as z from "zod";
import { DECISIONS } from "./enums.ts";
import { isoTimestamp } from "./instant.ts";
import { dimensionSchema, envelopeFields, modelReferenceSchema } from "./score.ts";

/** The rules that moved each dimension. */
export const explanationSchema = z.array(
  z.object({
    dimension: dimensionSchema,
    before: z.int().min(0).max(100),
    after: z.int().min(0).max(100),
    rules: z.array(z.string()).meta({
      description: "The causes that moved the dimension, one sentence for each rule.",
    }),
  }).meta({ id: "DimensionExplanation" }),
);

const part = z.record(z.string(), z.unknown());

export function replayResponseSchema<Evidence extends z.ZodType>(evidence: Evidence) {
  return z.object({
    id: z.string(),
    kind: z.enum(["score", "decision"]),
    recorded: part.meta({ description: "The recorded result, which the evidence covers." }),
    replayed: part.meta({
      description: "Recomputed from the recorded input and the operator's state before it.",
    }),
    match: z.boolean(),
    differences: z.array(z.object({ path: z.string(), recorded: z.unknown(), replayed: z.unknown() })),
    explanation: explanationSchema.meta({
      description: "Empty if the recorded input was altered: nothing that follows from it is an explanation.",
    }),
    case: z.object({
      decision: z.enum(DECISIONS),
      time_to_decision_ms: z.number().min(0),
      ai_recommendation_presented: z.boolean(),
      ai_correct: z.boolean().nullable().meta({
        description:
          "Whether the AI was right, as far as the recorded input says it; null if it does not. A late label is not part of it.",
      }),
    }).nullable().meta({
      description: "The case, from the recorded input; null if the input was altered.",
    }),
    label: z.object({
      outcome_correct: z.boolean(),
      labelled_at: isoTimestamp,
      explanation: explanationSchema,
    }).nullable().meta({
      description:
        "The late label of a score, and the dimensions that it moved. With the formulas `jis-3` the operator's JIS shows them at once, with earlier formulas from the next score on.",
    }),
    model: modelReferenceSchema,
    evidence,
    ...envelopeFields,
  }).meta({ id: "Replay" });
}
