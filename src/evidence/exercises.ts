/**
 * The entries about exercises that the service itself holds: a case set was added, an exercise was set, a case was
 * decided. The decisions are ordinary scores of announced tests. Source: evidence-format.md, section 12.
 */
import * as z from "zod";
import { hash32 } from "../domain/hash.ts";
import { DOMAINS } from "../domain/enums.ts";
import { operatorIdSchema } from "../domain/interaction.ts";
import { canonicalJson } from "./canonical.ts";
import { type Crypto, hex, utf8 } from "./crypto.ts";
import { timestampSchema } from "./entry.ts";

/** How the advice of a case is shown. */
export const PRESENTATIONS = [
  /** With the case. */
  "shown",
  /** Some seconds after the case. */
  "delayed",
  /** After a first decision, which can then be changed. */
  "after_decision",
  /** If the reviewer asks for it, in a limited number of cases. */
  "on_request",
  /** Never. */
  "withheld",
  /** In every second case, beginning with the first. */
  "alternating",
] as const;
export type Presentation = (typeof PRESENTATIONS)[number];

/** The `detail` of CASE_SET_ADDED: a case set, with the hash by which exercises name it. */
export const caseSetAddedSchema = z.strictObject({
  sha256: hash32,
  /** The document; its own schema is that of the version of the program that took it. */
  case_set: z.record(z.string(), z.unknown()),
});
export type CaseSetAdded = z.infer<typeof caseSetAddedSchema>;

/** The `input` of EXERCISE_SET, which names an operator and is destroyed with the operator's data. */
export const exerciseSetSchema = z.strictObject({
  operator_id: operatorIdSchema,
  /** Id in the catalogue of the model, and what the page shows of it. */
  exercise: z.strictObject({
    id: z.string(),
    title: z.string(),
    instructions: z.array(z.string()),
    debrief: z.array(z.string()),
    metric: z.string(),
    success_threshold: z.number().min(0).max(1),
  }),
  domain: z.enum(DOMAINS),
  language: z.string(),
  /** The case set, and its entry CASE_SET_ADDED. */
  case_set: z.strictObject({
    name: z.string(),
    sha256: hash32,
    chain: z.string(),
    seq: z.int().min(0),
  }),
  /** Ids of the cases, in their order. */
  cases: z.array(z.string()).min(1),
  presentation: z.enum(PRESENTATIONS),
  /** Milliseconds before the advice is shown; null unless it is delayed. */
  delay_ms: z.int().min(0).nullable(),
  /** Cases in which the advice may be asked for; null unless it is shown on request. */
  requests: z.int().min(0).nullable(),
  /** Whether the reviewer is told after each case what was right, or after the last. */
  feedback: z.enum(["immediate", "delayed"]),
  expires_at: timestampSchema,
});
export type ExerciseSet = z.infer<typeof exerciseSetSchema>;

/** The `input` of EXERCISE_DECIDED, which follows the score of the case. */
export const exerciseDecidedSchema = z.strictObject({
  operator_id: operatorIdSchema,
  /** The id of the entry EXERCISE_SET. */
  run_id: z.string(),
  /** The number of the case, from 1, and its id. */
  number: z.int().min(1),
  case_id: z.string(),
  /** The number of the choice in the case set, from 0. */
  choice: z.int().min(0),
  /** The choice before the advice was shown; null unless the advice comes after a first decision. */
  first_choice: z.int().min(0).nullable(),
});
export type ExerciseDecided = z.infer<typeof exerciseDecidedSchema>;

/** SHA-256(`jis.case-set/1\n` ‖ JCS of the document), in hexadecimal. */
export function caseSetSha256(crypto: Crypto, document: unknown): string {
  return hex(crypto.sha256(utf8(`jis.case-set/1\n${canonicalJson(document)}`)));
}
