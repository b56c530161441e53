/** The commit of a score, with its optional late label. Source: contract, section 4. */
import * as z from "zod";
import { sessionIdSchema } from "./interaction.ts";

export const commitPathSchema = z.object({ session_id: sessionIdSchema });

export const commitRequestSchema = z.object({
  outcome_correct: z.boolean("must be true, false or null").nullable().default(null).meta({
    description:
      "The late label: whether the human's decision proved right. Once for a score that came without an outcome; null is the same as leaving it out.",
  }),
}).meta({ id: "CommitRequest" });
