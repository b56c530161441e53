/** The answer about a candidate model that runs in shadow. Source: contract, section 1. */
import * as z from "zod";
import { BANDS } from "./enums.ts";
import { isoTimestamp } from "./instant.ts";
import { SHADOW_REPORTED_OPERATORS } from "./limits.ts";
import { complianceSchema, envelopeFields, modelReferenceSchema, points } from "./score.ts";

const count = z.int().min(0);
const difference = z.number().min(-100).max(100);

const directions = z.object({ higher: count, lower: count, same: count });

const figures = z.object({
  jis: points,
  band: z.enum(BANDS),
  compliance_status: complianceSchema.shape.status,
});

export const shadowResponseSchema = z.object({
  shadow: z.object({
    model: modelReferenceSchema,
    candidate: modelReferenceSchema,
    since: isoTimestamp.meta({ description: "Start of this process, with which the comparison began." }),
    interactions: z.object({
      compared: count,
      failed: count.meta({ description: "Scores and late labels on which the candidate failed." }),
      missed: count.meta({
        description: "Scores and late labels that there was no room for, or too many waited before.",
      }),
      restarts: count.meta({
        description:
          "How often an operator began anew from the stored state, after something was missed or another process recorded it.",
      }),
    }),
    difference: z.object({
      mean: difference,
      min: difference,
      p05: difference,
      p25: difference,
      median: difference,
      p75: difference,
      p95: difference,
      max: difference,
    }).nullable().meta({
      description:
        "JIS of the candidate minus that of the model in use, points, over all interactions compared; the mean exact to two decimals, the others to one.",
    }),
    operators: z.object({
      compared: count,
      band: directions,
      compliance_status: directions,
    }).meta({ description: "Operators by where the candidate places them, as of their newest interaction." }),
    most_different: z.array(z.object({
      operator_id: z.string(),
      interactions: count.meta({ description: "Compared since the start." }),
      difference,
      model: figures,
      candidate: figures,
    })).meta({
      description:
        `The ${SHADOW_REPORTED_OPERATORS} operators whose newest interaction differs most, the largest difference first.`,
    }),
  }).nullable().meta({ description: "null: no candidate runs." }),
  ...envelopeFields,
}).meta({ id: "Shadow" });
