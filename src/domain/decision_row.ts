/** One row of a table of decisions: an interaction with its operator, its domain and its fold. */
import * as z from "zod";
import { domainSchema, interactionSchema, operatorIdSchema, sentInteraction } from "./interaction.ts";

/** `fit` is scored, `test` is only foretold. */
export const FOLDS = ["fit", "test"] as const;

export const decisionRowSchema = sentInteraction(interactionSchema.extend({
  operator_id: operatorIdSchema,
  domain: domainSchema.default("general"),
  time_to_decision_ms: interactionSchema.shape.time_to_decision_ms.nullable().default(null),
  fold: z.enum(FOLDS).default("fit"),
}));
