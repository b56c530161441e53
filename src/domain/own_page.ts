/** The page on which a reviewer sees the own record by a link, and contests it. Source: oversight loop, section 6. */
import * as z from "zod";
import { hash32 } from "./hash.ts";
import { isoTimestamp } from "./instant.ts";
import { operatorIdSchema } from "./interaction.ts";
import { profileResponseSchema } from "./operator.ts";
import { decisionsResponseSchema } from "./record_list.ts";
import { explanationSchema } from "./replay.ts";
import { envelopeFields } from "./score.ts";
import { reasonSchema, subjectNoticeSchema } from "./subject.ts";

/** Hours for which a link can be used. */
const LINK_HOURS_DEFAULT = 168;
const LINK_HOURS_MAX = 720;

/** Characters of a statement by which a reviewer contests. */
const STATEMENT_MAX_LENGTH = 4_000;

/** Contests that one link takes. */
export const CONTESTS_OF_LINK_MAX = 20;

/** Scores and decisions that the page shows, the newest ones. */
export const OWN_PAGE_RECORDS = 10;

export const pageLinkRequestSchema = z.object({
  reason: reasonSchema.nullable().default(null).meta({
    description:
      "The reason, with a letter or a digit, which the audit log keeps. A user who sees pseudonyms must give it, because the answer tells the name.",
    examples: ["The reviewer asked for the record"],
  }),
  expires_hours: z.int().min(1).max(LINK_HOURS_MAX).default(LINK_HOURS_DEFAULT).meta({
    description: "Hours for which the link can be used.",
  }),
}).meta({ id: "PageLinkRequest" });

export const pageLinkSchema = z.object({
  name: operatorIdSchema.meta({
    description: "The operator_id of the reviewer, to whom to pass the link on.",
  }),
  link: z.url().meta({
    description:
      "For the reviewer alone. Who has it sees the reviewer's record. No other answer shows it again.",
  }),
  expires_at: isoTimestamp,
  ...envelopeFields,
}).meta({ id: "PageLink" });

export const contestRequestSchema = z.object({
  record_id: z.string().max(256).nullable().default(null).meta({
    description: "The session_id or decision_id that is contested. Null: the record as a whole.",
  }),
  statement: z.string().min(1).max(STATEMENT_MAX_LENGTH).regex(/\S/, "must say something")
    .refine((text) => text.isWellFormed(), "must be well-formed Unicode").meta({
      description:
        `What is wrong, and how the reviewer sees it: 1 to ${STATEMENT_MAX_LENGTH} characters, not only white space.`,
      examples: ["I was called away: the time is not that of the decision."],
    }),
}).meta({ id: "ContestRequest" });
export type ContestRequest = z.output<typeof contestRequestSchema>;

const contestFields = {
  contest_id: z.string().meta({ description: "The id of the entry SCORE_CONTESTED." }),
  contested_at: isoTimestamp,
  record_id: z.string().nullable(),
  statement: z.string(),
  chain: z.string(),
  seq: z.int().min(0),
  entry_hash: hash32,
};

const shownContest = z.object(contestFields).meta({ id: "OwnContest" });
export const contestSchema = shownContest.extend(envelopeFields).meta({ id: "ContestResponse" });
/** A contest as the reviewer sees it. */
export type OwnContest = z.output<typeof shownContest>;

const contestedSchema = z.object({ ...contestFields, operator_id: operatorIdSchema }).meta({ id: "Contest" });
export type Contest = z.output<typeof contestedSchema>;
export const contestsSchema = z.object({
  contests: z.array(contestedSchema).meta({
    description: "Newest first, without those of erased reviewers.",
  }),
  count: z.int().min(0),
  next_cursor: z.string().nullable(),
  ...envelopeFields,
}).meta({ id: "Contests" });

const { profile, jis_history } = profileResponseSchema.shape;

export const ownPageSchema = z.object({
  organization: z.object({ id: z.string(), name: z.string() }),
  operator_id: z.string(),
  pseudonym: z.string(),
  expires_at: isoTimestamp.meta({ description: "The end of the link." }),
  thresholds: z.object({ min_jis: z.number(), target_jis: z.number() }),
  profile: profile.nullable().meta({ description: "Null if the reviewer was never scored." }),
  jis_history,
  record_count: z.int().min(0).meta({ description: "Records in the reviewer's whole copy." }),
  records: z.array(
    decisionsResponseSchema.shape.decisions.element.extend({
      explanation: explanationSchema.meta({
        description: "The dimensions that it moved; of a decision, what had faded.",
      }),
    }),
  ).meta({ description: `The newest ${OWN_PAGE_RECORDS} scores and decisions, newest first.` }),
  exercises: z.array(z.object({
    title: z.string(),
    state: z.string(),
    set_at: isoTimestamp,
    case_count: z.int(),
    decided: z.int(),
  })).meta({ description: "The newest ones." }),
  contests: z.array(shownContest),
  notice: subjectNoticeSchema,
  ...envelopeFields,
}).meta({ id: "OwnPage" });
/** The page without its envelope. */
export type OwnPage = Omit<z.output<typeof ownPageSchema>, keyof typeof envelopeFields>;
