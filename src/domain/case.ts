/**
 * Cases: an organization follows up on one reviewer, from the cause to the effect. A case is opened by a rule, by a contest or by
 * hand, and ends done or dismissed. Source: oversight-loop design, section 4.
 */
import * as z from "zod";
import { CASE_CAUSES, CASE_STATES, CASE_STEPS } from "./case_states.ts";
import { VERDICT_STATUSES } from "./enums.ts";
import { hash32 } from "./hash.ts";
import { isoTimestamp } from "./instant.ts";
import { operatorIdSchema } from "./interaction.ts";
import { change30Days, ratesBehindSchema } from "./operator.ts";
import { envelopeFields, points } from "./score.ts";
import { userIdSchema } from "./user.ts";

/** Characters of a note. */
const NOTE_MAX_LENGTH = 4_000;
/** Steps that one case takes, so that its history can always be read at once. */
export const CASE_STEPS_MAX = 200;
/** Page sizes of the list of cases. */
export const CASES_PAGE_MAX = 100;
export const CASES_PAGE_DEFAULT = 25;

/** Control characters but tab and line breaks, and those that turn the direction of a text. */
// deno-lint-ignore no-control-regex -- they are what is refused
const REFUSED_IN_NOTES = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/;

const noteSchema = z.string().min(1).max(NOTE_MAX_LENGTH).regex(/\S/, "must say something")
  .refine((text) => text.isWellFormed(), "must be well-formed Unicode")
  .refine((text) => !REFUSED_IN_NOTES.test(text), "must hold no control characters but tabs and line breaks")
  .meta({
    description:
      `1 to ${NOTE_MAX_LENGTH} characters, not only white space. It is part of the evidence, and erased with it.`,
    examples: ["Talked to the reviewer: the queue was doubled that week."],
  });

/** A day of the calendar, without a time. */
export const daySchema = z.iso.date("must be a day, such as 2026-10-01");

const ownerSchema = userIdSchema.nullable().meta({
  description: "The user_id of an officer or admin who is active. Null: nobody.",
});

export const caseRequestSchema = z.object({
  operator_id: operatorIdSchema,
  statement: noteSchema.meta({
    description: `Why the case is opened: 1 to ${NOTE_MAX_LENGTH} characters. It is part of the evidence.`,
    examples: ["Three complaints about decisions of last week."],
  }),
}).meta({ id: "CaseRequest" });
export type CaseRequest = z.output<typeof caseRequestSchema>;

const seenField = {
  seen: z.int().min(0).nullable().default(null).meta({
    description:
      "The number of steps that you have seen. If the case has another number by now, the call is refused and changes nothing. Null: not compared.",
  }),
};

export const caseStepRequestSchema = z.discriminatedUnion("step", [
  z.object({
    step: z.literal("assign"),
    owner: ownerSchema,
    due_on: daySchema.nullable().default(null).meta({
      description: "The day by which the case is to be done.",
    }),
    note: noteSchema.nullable().default(null),
    ...seenField,
  }),
  z.object({ step: z.literal("note"), note: noteSchema, ...seenField }),
  z.object({
    step: z.literal("exercise"),
    run_id: z.string().regex(/^[0-9A-Z]{26}$/, "must be the run_id of an exercise").meta({
      description: "An exercise that this operator was set.",
    }),
    note: noteSchema.nullable().default(null),
    ...seenField,
  }),
  z.object({
    step: z.literal("wait"),
    due_on: daySchema.nullable().default(null).meta({ description: "The day on which to look again." }),
    note: noteSchema.nullable().default(null),
    ...seenField,
  }),
  z.object({ step: z.literal("done"), note: noteSchema, ...seenField }),
  z.object({ step: z.literal("dismiss"), note: noteSchema, ...seenField }),
]).meta({ id: "CaseStepRequest" });
export type CaseStepRequest = z.output<typeof caseStepRequestSchema>;

/** The operator's figures at the moment of an entry. */
export const caseFiguresSchema = z.strictObject({
  jis: points,
  low: points,
  high: points,
  verdict: z.enum(VERDICT_STATUSES).nullable(),
}).meta({ id: "CaseFigures" });
export type CaseFigures = z.output<typeof caseFiguresSchema>;

const placeFields = { chain: z.string(), seq: z.int().min(0), entry_hash: hash32 };

/** Who made an entry: a user by id, a key, or the service itself. */
const byFields = {
  actor: z.string().meta({ description: "`user`, `api`, or `system` for the service's own rules." }),
  user_id: z.string().nullable(),
  user_name: z.string().nullable().meta({
    description: "The user's name now; null if there is none, or the user was erased.",
  }),
};

/** Who can be given a case. */
const ownerFields = {
  owner: z.string().nullable().meta({ description: "A user_id." }),
  owner_name: z.string().nullable(),
};

const stepSchema = z.object({
  number: z.int().min(1),
  step: z.enum(CASE_STEPS),
  at: isoTimestamp,
  ...byFields,
  ...ownerFields,
  due_on: daySchema.nullable(),
  note: z.string().nullable(),
  run_id: z.string().nullable(),
  figures: caseFiguresSchema.nullable().meta({ description: "At the end of the case; else null." }),
  ...placeFields,
}).meta({ id: "CaseStep" });
/** A step without the names of users, which its entry does not hold. */
export type RecordedStep = Omit<z.output<typeof stepSchema>, "user_name" | "owner_name">;

const caseFields = {
  case_id: z.string().meta({ description: "The id of the entry CASE_OPENED." }),
  operator_id: operatorIdSchema,
  cause: z.enum(CASE_CAUSES),
  statement: z.string().meta({ description: "The cause in one sentence." }),
  about: z.string().nullable().meta({
    description: "The session_id, probe_id or contest_id that the cause names; null if it names none.",
  }),
  state: z.enum(CASE_STATES),
  ...ownerFields,
  due_on: daySchema.nullable(),
  opened_at: isoTimestamp,
  changed_at: isoTimestamp,
  ...byFields,
  figures: caseFiguresSchema.nullable().meta({
    description: "The operator's figures when the case was opened; null if there were none.",
  }),
  effect: z.object({
    jis: z.number().meta({
      description: "Points that the score rose since the opening; negative if it fell.",
    }),
    clear: z.boolean().meta({ description: "Whether the two intervals do not overlap." }),
  }).nullable().meta({ description: "Null until the case is done, and if there are no figures to compare." }),
  steps: z.array(stepSchema).meta({ description: "Oldest first." }),
  ...placeFields,
};

const presentSchema = caseFiguresSchema.extend({
  trend: z.number().meta({
    description: "Recent JIS minus long-term JIS, in points; negative if the JIS declines.",
  }),
  change_30_days: change30Days,
  rates: ratesBehindSchema.nullable().meta({
    description:
      "How the operator judges in the work on which the verdict rests, as `estimates` of the profile says it; it enters no verdict. Null if the formulas of the model have none.",
  }),
  exercise: z.object({
    run_id: z.string(),
    exercise_id: z.string(),
    title: z.string(),
    state: z.enum(["open", "started"]).meta({ description: "`started` once a case is decided." }),
    decided: z.int().min(0),
    case_count: z.int().min(1),
    expires_at: isoTimestamp.meta({ description: "The end of its link." }),
  }).nullable().meta({
    description:
      "The newest exercise that the operator is set and that is neither done nor over; null if there is none. GET /v1/exercises/{run_id} has it whole.",
  }),
}).meta({ id: "PresentState" });
export type PresentState = z.output<typeof presentSchema>;

const presentField = {
  present: presentSchema.nullable().optional().meta({
    description:
      "With include=present: the operator's figures and the exercise that is open now; null if there are no figures.",
  }),
};

const shownCaseSchema = z.object(caseFields).meta({ id: "Case" });
export type ShownCase = z.output<typeof shownCaseSchema>;
/** A case as its entries have it, without the names of users. */
export interface RecordedCase extends Omit<ShownCase, "user_name" | "owner_name" | "steps"> {
  readonly steps: readonly RecordedStep[];
}
export const caseResponseSchema = z.object({
  ...caseFields,
  owners: z.array(z.object({ user_id: z.string(), name: z.string().nullable() })).meta({
    description: "The users to whom the case can be given now: active officers and admins.",
  }),
  ...presentField,
  ...envelopeFields,
}).meta({ id: "CaseResponse" });

/** The content of the event about a case that was opened. */
export const openedCaseSchema = z.object({
  case_id: caseFields.case_id,
  operator_id: caseFields.operator_id,
  cause: caseFields.cause,
  opened_at: caseFields.opened_at,
  ...placeFields,
});
export type OpenedCase = z.output<typeof openedCaseSchema>;

export const casesResponseSchema = z.object({
  cases: z.array(shownCaseSchema.extend(presentField)).meta({
    description: "The last opened first, without those of erased operators.",
  }),
  count: z.int().min(0),
  next_cursor: z.string().nullable(),
  ...envelopeFields,
}).meta({ id: "Cases" });
