/** The entry by which an operator's team is set. Source: evidence-format.md, section 13. */
import * as z from "zod";
import { operatorIdSchema } from "../domain/interaction.ts";

/** The `input` of TEAM_SET, which names an operator and is destroyed with the operator's data. */
export const teamSetSchema = z.strictObject({
  operator_id: operatorIdSchema,
  /** The name of the team; null if the operator is in none from then on. */
  team: z.string().nullable(),
});
