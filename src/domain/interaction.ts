/**
 * One human-AI interaction as a caller describes it, and as the model reads it once defaults are explicit.
 * Source: specification, Interaction input; contract, section 4; scoring model, section 2.
 */
import * as z from "zod";
import { DECISION_SPELLINGS, DECISIONS, DOMAIN_SPELLINGS, DOMAINS, SCENARIO_TYPES } from "./enums.ts";
import { contradictionOf, type SaidTruth } from "./truth.ts";

/** 86 400 000 ms: one day. */
const TIME_TO_DECISION_MAX_MS = 86_400_000;
const TELEMETRY_COUNT_MAX = 100_000;

const ID = /^[A-Za-z0-9_-]{1,256}$/;
const idMessage = "must be 1 to 256 letters, digits, hyphens or underscores";

export const operatorIdSchema = z.string().regex(ID, idMessage).meta({
  id: "OperatorId",
  description: "The human reviewer who is scored: letters, digits, hyphen, underscore; 1 to 256 characters.",
  examples: ["reviewer-ada"],
});

export const sessionIdSchema = z.string().regex(ID, idMessage).meta({
  id: "SessionId",
  description:
    "One session_id is one score in an organization: the same request again gets the stored answer.",
  examples: ["case-2026-000123"],
});

/** Accepts our words and other spellings of them; the output is always our word. */
function spelledSchema<Ours extends string>(
  ours: readonly Ours[],
  spellings: Readonly<Record<string, Ours>>,
): z.ZodType<Ours, string> {
  const ourWord = new Map<string, Ours>([
    ...ours.map((word) => [word, word] as const),
    ...Object.entries(spellings),
  ]);
  return z.enum([...ourWord.keys()]).transform((word) => ourWord.get(word)!)
    .pipe(z.enum(ours) as unknown as z.ZodType<Ours, Awaited<Ours>>);
}

/** A domain in our word, as answers have it. */
export const domainNameSchema = z.enum(DOMAINS).meta({ id: "Domain" });

export const domainSchema = spelledSchema(DOMAINS, DOMAIN_SPELLINGS).meta({
  id: "DomainAsSent",
  description:
    "The field in which the decision is made; `government` is another spelling of `public_sector`.",
});

/**
 * The message for a value of the wrong type only: a number out of its range gets a message that names the
 * limit.
 */
export function ofType(message: string): { error(issue: { readonly code?: string }): string | undefined } {
  return { error: ({ code }) => code === "invalid_type" ? message : undefined };
}

/** A telemetry count: null or absent means not measured, which is never the same as 0. */
const telemetryCount = (what: string) =>
  z.int(ofType("must be an integer or null")).min(0).max(TELEMETRY_COUNT_MAX).nullable().default(null).meta({
    description: `${what}; null or absent = not measured, which is not 0.`,
  });

/** The interaction's fields with their defaults; wrong types are refused, never coerced. */
export const interactionSchema = z.object({
  ai_recommendation_presented: z.boolean().default(true).meta({
    description: "Whether the AI's recommendation was on the screen when the human decided.",
  }),
  time_to_decision_ms: z.number().min(0).max(TIME_TO_DECISION_MAX_MS).meta({
    description: "Milliseconds from the moment at which the case was shown to the decision.",
  }),
  decision: spelledSchema(DECISIONS, DECISION_SPELLINGS).meta({
    description:
      "The human's decision about the AI's recommendation; `accept`, `modify`, `reject`, `override`, `defer` and `escalate` are other spellings.",
  }),
  modification_extent: z.number().min(0).max(1).default(0).meta({
    description: "Share of the recommendation that was changed, 0.0 to 1.0; only with `modified`.",
  }),
  ai_available: z.boolean().default(true),
  scenario_type: z.enum(SCENARIO_TYPES).default("standard"),
  outcome_correct: z.boolean("must be true, false or null").nullable().default(null).meta({
    description:
      "Whether the human's decision proved correct; null if nobody knows. Accepted and correct: the AI was right; rejected and correct: it was wrong.",
  }),
  ai_correct: z.boolean("must be true, false or null").nullish().meta({
    description:
      "Whether the AI's recommendation was right; null or absent = it follows from decision and outcome, which holds only with two possible answers. A contradiction is refused. The formulas `jis-3` read it.",
  }),
  hover_events: telemetryCount("Hover events over the evidence"),
  scroll_depth: z.number(ofType("must be a number or null")).min(0).max(1).nullable().default(null).meta({
    description: "Share of the evidence scrolled through, 0 to 1; null or absent = not measured.",
  }),
  alternative_views_checked: telemetryCount("Alternative views opened"),
}).meta({ id: "Interaction" });

/**
 * An interaction as evidence holds it: in our words only. Records made before there was an `ai_correct` have
 * none, so one that says nothing is left out.
 */
export const recordedInteractionSchema = interactionSchema.extend({
  decision: z.enum(DECISIONS),
  ai_correct: z.boolean().optional().meta({
    description: "Whether the AI's recommendation was right; absent if nobody said it.",
  }),
  sealed_probe: z.literal(true).optional().meta({
    description: "True if the case was a sealed probe; absent if it was not.",
  }),
}).meta({ id: "RecordedInteraction" });

/** An interaction with its defaults explicit, as it is scored and recorded. */
export type Interaction = z.output<typeof recordedInteractionSchema>;

/** The statements of a request about the truth of one case. */
type SentTruth = Omit<SaidTruth, "ai_correct"> & { readonly ai_correct?: boolean | null | undefined };

/** A score's interaction, which may be that of a probe. */
export const ticketedInteractionSchema = interactionSchema.extend({
  probe_ticket: z.string().min(1).max(128).optional().meta({
    description:
      "The ticket of a probe's draw. Its truth then comes from the seal: ai_correct is refused, and outcome_correct unless the decision is modified.",
  }),
}).meta({ id: "ScoreInteraction" });

/**
 * Refuses what a request says of a probe's truth, right or wrong: if only a contradiction were refused, the answer would
 * tell the truth of a probe that nobody decided yet. Whether a modification mended the case only the caller knows.
 */
function ticketIssue(
  { decision, outcome_correct, ai_correct }: SentTruth,
): { readonly path: keyof SaidTruth; readonly message: string } | null {
  if (typeof ai_correct === "boolean") {
    return {
      path: "ai_correct",
      message: "must be left out with a probe_ticket: the truth comes from the seal",
    };
  }
  const isModified = decision === "modified";
  if (isModified === (outcome_correct !== null)) return null;
  const message = isModified
    ? "is needed if a probe is modified: no label can follow"
    : "must be left out with a probe_ticket unless the decision is modified: the truth comes from the seal";
  return { path: "outcome_correct", message };
}

/** The part of a request that a person's or program's interaction is read from. */
type SentInteraction = z.ZodType<SentTruth & { probe_ticket?: string | undefined }>;

/**
 * A schema of requests that have the fields of an interaction: refuses an `ai_correct` that contradicts the
 * others, or any with a ticket, and leaves out one that says nothing.
 */
export function sentInteraction<Schema extends SentInteraction>(schema: Schema) {
  return schema.superRefine(({ ai_correct, probe_ticket, ...said }, context) => {
    if (probe_ticket !== undefined) {
      const issue = ticketIssue({ ...said, ai_correct });
      if (issue !== null) context.addIssue({ code: "custom", path: [issue.path], message: issue.message });
      return;
    }
    const message = contradictionOf({ ...said, ai_correct: ai_correct ?? undefined });
    if (message !== null) context.addIssue({ code: "custom", path: ["ai_correct"], message });
  }).transform(({ ai_correct, ...rest }) =>
    (typeof ai_correct === "boolean" ? { ...rest, ai_correct } : rest) as
      & Omit<z.output<Schema>, "ai_correct">
      & Pick<Interaction, "ai_correct">
  );
}

/** The interaction of examples: in the description of the API, and in what `jiss dev` prints. */
export const INTERACTION_EXAMPLE = {
  time_to_decision_ms: 14200,
  decision: "modified",
  modification_extent: 0.4,
  outcome_correct: true,
  hover_events: 5,
  scroll_depth: 0.8,
  alternative_views_checked: 1,
} as const;
