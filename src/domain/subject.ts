/**
 * Subject access: everything that is kept about one reviewer, and the notice that the law requires with it.
 * Source: contract, section 4; Regulation (EU) 2016/679 (GDPR), Articles 13 to 15 and 22.
 */
import * as z from "zod";
import { DIMENSIONS, VERDICT_STATUSES } from "./enums.ts";
import { operatorIdSchema } from "./interaction.ts";
import { isoTimestamp } from "./instant.ts";
import { profileResponseSchema } from "./operator.ts";
import { lineSchema } from "./organization.ts";
import { explanationSchema } from "./replay.ts";
import { envelopeFields, points } from "./score.ts";

/** A pseudonym in entries, and where people see it in the place of a reviewer's id. */
const pseudonymSchema = z.string().regex(/^[0-9a-f]{32}$/, "must be a pseudonym: 32 hexadecimal digits");

/** A reason that the audit log keeps. Blanks of no width alone are none. */
export const reasonSchema = lineSchema(300).refine(
  (reason) => /[\p{L}\p{N}]/u.test(reason),
  "must have a letter or a digit",
);

export const unmaskRequestSchema = z.object({
  reviewer: operatorIdSchema.meta({
    description:
      "The pseudonym of a reviewer whose name is asked for, or the operator_id of one whose pseudonym is.",
    examples: ["reviewer-ada"],
  }),
  reason: reasonSchema.meta({
    description:
      "The reason, with a letter or a digit, which the audit log keeps and the reviewer's own copy shows. Name nobody in it.",
    examples: ["A probe was missed: talk to the reviewer"],
  }),
}).meta({ id: "UnmaskRequest" });
export type UnmaskRequest = z.output<typeof unmaskRequestSchema>;

const unmasked = { pseudonym: pseudonymSchema, name: operatorIdSchema };
export const unmaskedSchema = z.object({ ...unmasked, ...envelopeFields }).meta({ id: "Unmasked" });
/** A reviewer under both names. */
export interface Unmasked extends z.output<z.ZodObject<typeof unmasked>> {}

export const SUBJECT_FORMATS = ["json", "html"] as const;
export type SubjectFormat = (typeof SUBJECT_FORMATS)[number];

const sentences = z.array(z.string());

/** The notice that goes with the data, in plain words. */
export const subjectNoticeSchema = z.object({
  law: z.string(),
  purpose: z.string().meta({ description: "The purpose of the score." }),
  recorded: z.string().meta({ description: "The data that are recorded, and those that are not." }),
  source: z.string().meta({ description: "The source of the data." }),
  logic: sentences.meta({ description: "How the score is made." }),
  limits: sentences.meta({ description: "The limits of the score, and the uses that are forbidden." }),
  automated_decisions: z.string(),
  recipients: z.object({
    list: sentences.meta({
      description: "Hosts to which the installation passes any of this on: the organization's webhooks.",
    }),
    statement: z.string(),
  }),
  retention: z.object({
    evidence_days: z.int().nullable().meta({
      description:
        "Days for which a record is kept; null if it is kept until the organization sets a retention, or until the person is erased.",
    }),
    access_days: z.int().meta({
      description: "Days for which the record that a copy was requested is kept.",
    }),
    statement: z.string(),
  }),
  contest: z.object({
    steps: sentences,
    quote: z.object({ operator_id: z.string(), pseudonym: z.string(), request_id: z.string() }),
  }),
}).meta({ id: "SubjectNotice" });
export type SubjectNotice = z.infer<typeof subjectNoticeSchema>;

const part = z.union([z.record(z.string(), z.unknown()), z.string()]).nullable();

/** One entry of a chain, with everything that is kept about it. */
const subjectRecordSchema = z.object({
  seq: z.int().min(0),
  chain: z.string(),
  event_id: z.string(),
  entry_hash: z.string(),
  event_type: z.string(),
  timestamp: isoTimestamp,
  session_id: z.string().nullable(),
  decision_id: z.string().nullable(),
  request_id: z.string().nullable().meta({ description: "`request_id` of the call that made the record." }),
  input: part.meta({ description: "The data that were sent, and the operator's state before." }),
  result: part.meta({ description: "The result that was computed." }),
  detail: part.meta({ description: "Other data of the entry." }),
  explanation: explanationSchema.nullable().meta({
    description: "The causes that moved each dimension; null if the record moves none, or was altered.",
  }),
  full_mode: z.object({
    jis: points,
    low: points,
    high: points,
    verdict: z.enum(VERDICT_STATUSES).nullable().meta({
      description: "Null if the formulas of the score have no verdict.",
    }),
    dimensions: z.object(
      Object.fromEntries(DIMENSIONS.map((name) => [name, z.int().min(0).max(100)])) as Record<
        (typeof DIMENSIONS)[number],
        z.ZodInt
      >,
    ),
  }).nullable().meta({
    description:
      "Figures of a score for histories and reports, always in full mode; null if the record is no score.",
  }),
  altered: z.boolean().meta({
    description: "True if the stored record is not what was recorded: then nothing in it can be relied on.",
  }),
}).meta({ id: "SubjectRecord" });
export type SubjectRecord = z.infer<typeof subjectRecordSchema>;

const { profile, jis_history } = profileResponseSchema.shape;

const head = {
  operator_id: z.string(),
  organization: z.object({ id: z.string(), name: z.string() }),
  pseudonym: z.string().regex(/^[0-9a-f]{32}$/).meta({
    description: "Name of the reviewer in the entries; only here is it tied to the operator_id.",
  }),
  notice: subjectNoticeSchema,
  profile: profile.nullable().meta({
    description: "The profile as its own call shows it; null if the operator was never scored.",
  }),
  jis_history,
  state: z.record(z.string(), z.unknown()).nullable().meta({
    description: "State from which the next score starts; null if the operator was never scored.",
  }),
  record_count: z.int().min(0),
};

/** The response without its records and its envelope. */
export type SubjectHead = z.infer<z.ZodObject<typeof head>>;

/** A copy of everything that is kept about one reviewer; its records are read while it is sent. */
export interface SubjectCopy {
  readonly head: SubjectHead;
  /**
   * Oldest first.
   * @throws {ServiceError} if the operator is erased meanwhile: the part sent until then is no copy.
   */
  readonly records: AsyncIterable<SubjectRecord>;
  readonly requestId: string;
  /** ISO 8601. */
  readonly madeAt: string;
}

export const subjectResponseSchema = z.object({
  ...head,
  records: z.array(subjectRecordSchema).meta({
    description: "Every entry about the reviewer, oldest first: the evidence chain, then the audit log.",
  }),
  ...envelopeFields,
}).meta({ id: "SubjectAccess" });
