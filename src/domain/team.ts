/** Teams: a name by which an organization groups its operators, and the call that sets it. */
import * as z from "zod";
import { operatorIdSchema } from "./interaction.ts";
import { TEAM_NAME_MAX_LENGTH, TEAMS_SET_MAX } from "./limits.ts";
import { lineSchema } from "./organization.ts";
import { envelopeFields } from "./score.ts";

/** One spelling for names that look alike. */
export const teamNameSchema = lineSchema(TEAM_NAME_MAX_LENGTH, { mayTurn: false, mayHide: false })
  .transform((name) => name.normalize("NFC"));

const assignmentSchema = z.object({
  operator_id: operatorIdSchema,
  team: teamNameSchema.nullable().meta({ description: "The name of the team; null takes it away." }),
});

export const teamsRequestSchema = z.object({
  assignments: z.array(assignmentSchema).min(1).max(TEAMS_SET_MAX)
    .refine(
      (all) => new Set(all.map(({ operator_id }) => operator_id)).size === all.length,
      "must name each operator_id once",
    ),
}).meta({ id: "TeamsRequest" });
export type TeamAssignment = z.output<typeof assignmentSchema>;

export const teamsResponseSchema = z.object({
  assignments: z.array(z.object({ operator_id: operatorIdSchema, team: z.string().nullable() })),
  changed: z.int().min(0).meta({ description: "How many of them had another team before." }),
  ...envelopeFields,
}).meta({ id: "TeamsResponse" });
