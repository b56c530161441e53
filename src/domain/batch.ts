/**
 * A batch: 1 to 100 interactions of one operator, scored in the order of the array, all or none.
 * Source: specification, POST /v1/score/batch; contract, sections 4 and 8.8.
 */
import * as z from "zod";
import type { Domain } from "./enums.ts";
import {
  domainSchema,
  type Interaction,
  interactionSchema,
  operatorIdSchema,
  sessionIdSchema,
} from "./interaction.ts";
import { BATCH_MAX } from "./limits.ts";
import { envelopeFields, scoreParametersSchema } from "./score.ts";

export const flatBatchItemSchema = interactionSchema.extend({ session_id: sessionIdSchema }).meta({
  id: "BatchItem",
  description: "The interaction's fields with `session_id` beside them.",
});

export const nestedBatchItemSchema = z.object({
  session_id: sessionIdSchema,
  interaction: interactionSchema,
}).meta({ id: "NestedBatchItem", description: "The interaction in an object of its own." });

export const batchRequestSchema = z.object({
  operator_id: operatorIdSchema,
  domain: domainSchema,
  interactions: z.array(z.union([flatBatchItemSchema, nestedBatchItemSchema])).min(1).max(BATCH_MAX).meta({
    description: "Applied in this order; a session_id may stand in it once.",
  }),
}).meta({ id: "BatchRequest" });

/** The batch before its items are parsed; each item is then parsed by its own form. */
export const batchFrameSchema = batchRequestSchema.extend({
  interactions: z.array(z.unknown()).min(1).max(BATCH_MAX),
});

/** One interaction of a batch, with its defaults explicit. */
export interface BatchItem {
  readonly session_id: string;
  readonly interaction: Interaction;
}

export interface BatchRequest {
  readonly operator_id: string;
  readonly domain: Domain;
  readonly interactions: readonly BatchItem[];
}

/** A batch takes no parameters: every item is scored in full mode, the default. */
export const BATCH_PARAMETERS = scoreParametersSchema.parse({});

export function batchResponseSchema<Evidence extends z.ZodType>(evidence: Evidence) {
  return z.object({
    results: z.array(z.object({ session_id: sessionIdSchema, jis: z.number().min(0).max(100) })),
    count: z.int(),
    operator_id: operatorIdSchema,
    evidence,
    ...envelopeFields,
  }).meta({ id: "BatchResponse" });
}
