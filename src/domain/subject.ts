/**
 * Subject access: everything that is kept about one reviewer, and the notice that the law requires with it.
 * Source: contract, section 4; Regulation (EU) 2016/679 (GDPR), Articles 13 to 15 and 22.
 */
import * as z from "zod";
import { DIMENSIONS } from "./enums.ts";
import { isoTimestamp } from "./instant.ts";
import { profileResponseSchema } from "./operator.ts";
import { explanationSchema } from "./replay.ts";
import { envelopeFields } from "./score.ts";

export const SUBJECT_FORMATS = ["json", "html"] as const;
export type SubjectFormat = (typeof SUBJECT_FORMATS)[number];

const sentences = z.array(z.string());

/** The notice that goes with the data, in plain words. */
export const subjectNoticeSchema = z.object({
  law: z.string(),
  purpose: z.string().meta({ description: "What the score is for." }),
  recorded: z.string().meta({ description: "What is recorded, and what is not." }),
  source: z.string().meta({ description: "Where the data come from." }),
  logic: sentences.meta({ description: "How the score is made." }),
  limits: sentences.meta({ description: "What the score cannot say, and what it must not be used for." }),
  automated_decisions: z.string(),
  recipients: z.object({
    list: sentences.meta({
      description: "Hosts to which the installation passes any of this on: the organization's webhooks.",
    }),
    statement: z.string(),
  }),
  retention: z.object({
    evidence_days: z.int().nullable().meta({
      description: "null: kept until the organization sets a retention or the person is erased.",
    }),
    access_days: z.int().meta({ description: "How long it is known that a copy was asked for." }),
    statement: z.string(),
  }),
  contest: z.object({
    steps: sentences,
    quote: z.object({ operator_id: z.string(), pseudonym: z.string(), request_id: z.string() }),
  }),
}).meta({ id: "SubjectNotice" });
export type SubjectNotice = z.infer<typeof subjectNoticeSchema>;

const part = z.union([z.record(z.string(), z.unknown()), z.string()]).nullable();
const points = z.number().min(0).max(100);

/** One entry of a chain, with everything that is kept about it. */
export const subjectRecordSchema = z.object({
  seq: z.int().min(0),
  chain: z.string(),
  event_id: z.string(),
  entry_hash: z.string(),
  event_type: z.string(),
  timestamp: isoTimestamp,
  session_id: z.string().nullable(),
  decision_id: z.string().nullable(),
  request_id: z.string().nullable().meta({ description: "Of the call that the record came with." }),
  input: part.meta({ description: "What was sent, and the operator's state before it." }),
  result: part.meta({ description: "What came of it." }),
  detail: part.meta({ description: "What else the entry says." }),
  explanation: explanationSchema.nullable().meta({
    description: "What moved each dimension; null for a record that moves nothing, and for an altered one.",
  }),
  full_mode: z.object({
    jis: points,
    low: points,
    high: points,
    dimensions: z.object(
      Object.fromEntries(DIMENSIONS.map((name) => [name, z.int().min(0).max(100)])) as Record<
        (typeof DIMENSIONS)[number],
        z.ZodInt
      >,
    ),
  }).nullable().meta({
    description: "Of a score: what is kept for histories and reports, in full mode whatever was asked for.",
  }),
  altered: z.boolean().meta({
    description:
      "Whether what is stored is not what was recorded: then nothing that it says can be relied on.",
  }),
}).meta({ id: "SubjectRecord" });
export type SubjectRecord = z.infer<typeof subjectRecordSchema>;

const { profile, jis_history } = profileResponseSchema.shape;

const head = {
  operator_id: z.string(),
  organization: z.object({ id: z.string(), name: z.string() }),
  pseudonym: z.string().regex(/^[0-9a-f]{32}$/).meta({
    description: "What the entries call the reviewer; tied to the operator_id here and nowhere else.",
  }),
  notice: subjectNoticeSchema,
  profile: profile.nullable().meta({ description: "As the profile shows it; null where never scored." }),
  jis_history,
  state: z.record(z.string(), z.unknown()).nullable().meta({
    description: "What the next score starts from; null where never scored.",
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
