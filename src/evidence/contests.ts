/** The entry by which a reviewer contests a score, a decision or the record as a whole. Source: evidence-format.md. */
import * as z from "zod";
import { operatorIdSchema } from "../domain/interaction.ts";

/** The `input` of SCORE_CONTESTED, which names an operator and is destroyed with the operator's data. */
export const scoreContestedSchema = z.strictObject({
  operator_id: operatorIdSchema,
  /** A session_id or a decision_id; null if the whole record is contested. */
  record_id: z.string().nullable(),
  statement: z.string(),
});
export type ScoreContested = z.infer<typeof scoreContestedSchema>;
