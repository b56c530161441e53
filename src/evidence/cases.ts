/** The entries of follow-up cases: one that opens a case, and one for each step. Source: evidence-format.md, section 13. */
import * as z from "zod";
import { caseFiguresSchema, daySchema } from "../domain/case.ts";
import { CASE_CAUSES, CASE_STEPS } from "../domain/case_states.ts";
import { operatorIdSchema } from "../domain/interaction.ts";

/** The `input` of CASE_OPENED, which names an operator and is destroyed with the operator's data. */
export const caseOpenedSchema = z.strictObject({
  operator_id: operatorIdSchema,
  cause: z.enum(CASE_CAUSES),
  statement: z.string(),
  about: z.string().nullable(),
  figures: caseFiguresSchema.nullable(),
});
export type CaseOpened = z.infer<typeof caseOpenedSchema>;

/** The `input` of CASE_CHANGED, destroyed likewise. */
export const caseChangedSchema = z.strictObject({
  operator_id: operatorIdSchema,
  /** The id of the entry CASE_OPENED. */
  case_id: z.string(),
  /** The number of the step, from 1. */
  number: z.int().min(1),
  step: z.enum(CASE_STEPS),
  owner: z.string().nullable(),
  due_on: daySchema.nullable(),
  note: z.string().nullable(),
  run_id: z.string().nullable(),
  figures: caseFiguresSchema.nullable(),
});
export type CaseChanged = z.infer<typeof caseChangedSchema>;
