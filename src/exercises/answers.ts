/** The answers about exercises that the service holds: to an organization, and to the reviewer's page. */
import * as z from "zod";
import { hash32 } from "../domain/hash.ts";
import { DECISIONS } from "../domain/enums.ts";
import { PRESENTATIONS } from "../evidence/exercises.ts";
import { adviceSchema, CASE_SET_LANGUAGES, factSchema, viewSchema } from "./case_set.ts";
import { DIFFICULTIES } from "./form.ts";
import { isoTimestamp } from "../domain/instant.ts";
import { domainNameSchema, operatorIdSchema, sessionIdSchema } from "../domain/interaction.ts";
import { dimensionSchema, envelopeFields } from "../domain/score.ts";

const count = z.int().min(0);
const share = z.number().min(0).max(1);

/** Live interactions after a run that its effect is read from. Source: oversight loop, section 2. */
export const EFFECT_INTERACTIONS = 30;

export const languageSchema = z.enum(CASE_SET_LANGUAGES).meta({
  description: "The language of the cases and of the page.",
});
export const difficultySchema = z.enum(DIFFICULTIES).meta({
  description: "Sets how many cases there are, how many have wrong advice, and when the reviewer is told.",
});

/** A case set as a list shows it: nothing of its cases. */
export const listedCaseSetSchema = z.object({
  name: z.string(),
  sha256: hash32.meta({ description: "Names this version of the set." }),
  domain: domainNameSchema,
  language: languageSchema,
  title: z.string(),
  cases: count,
  wrong: count.meta({ description: "Cases whose advice is wrong." }),
  built_in: z.boolean(),
  added_at: isoTimestamp.nullable().meta({
    description: "Null for a set of the program that no exercise used yet.",
  }),
}).meta({ id: "ListedCaseSet" });
export type ListedCaseSet = z.infer<typeof listedCaseSetSchema>;

/** An exercise that `POST /v1/exercises` takes. */
export const heldExerciseSchema = z.object({
  exercise_id: z.string(),
  title: z.string(),
  dimension: dimensionSchema,
  difficulties: z.array(z.enum(DIFFICULTIES)),
}).meta({ id: "HeldExercise" });

export const EXERCISE_STATES = ["open", "started", "done", "expired"] as const;
export type ExerciseState = (typeof EXERCISE_STATES)[number];

const counted = (what: string) =>
  z.object({
    of: count,
    count: count.meta({ description: what }),
    share: share.nullable(),
    low: share.nullable(),
    high: share.nullable(),
  });

/** Counts over the decided cases of a run. Intervals are exact (Clopper and Pearson), of 95 %; null without a case. */
export const exerciseFiguresSchema = z.object({
  correct: counted("Right decisions."),
  wrong: counted("Cases with wrong advice that were decided rightly: errors found."),
  right: counted("Cases with right advice that were decided wrongly: false alarms."),
}).meta({
  id: "ExerciseFigures",
  description:
    "Counts over the decided cases, each with its exact interval of 95 %. `wrong` and `right` count cases whose advice the reviewer saw.",
});
export type ExerciseFigures = z.infer<typeof exerciseFiguresSchema>;

/** A run as a list shows it. The link is in none of these: who has it can decide the cases. */
export const exerciseRunSchema = z.object({
  run_id: z.string().meta({ description: "The id of its entry EXERCISE_SET." }),
  operator_id: operatorIdSchema,
  exercise_id: z.string(),
  title: z.string(),
  domain: domainNameSchema,
  language: languageSchema,
  case_set: z.object({ name: z.string(), sha256: hash32, chain: z.string(), seq: count }).meta({
    description: "The case set, and its entry on the chain.",
  }),
  presentation: z.enum(PRESENTATIONS).meta({ description: "How the advice is shown." }),
  feedback: z.enum(["immediate", "delayed"]),
  case_count: count,
  decided: count,
  state: z.enum(EXERCISE_STATES),
  set_at: isoTimestamp,
  expires_at: isoTimestamp,
  figures: exerciseFiguresSchema,
}).meta({ id: "ExerciseRun" });
export type ExerciseRun = z.infer<typeof exerciseRunSchema>;

export const exerciseCaseResultSchema = z.object({
  number: z.int().min(1),
  case_id: z.string(),
  session_id: sessionIdSchema.meta({
    description: "Its score; GET /v1/score/{session_id}/replay proves it.",
  }),
  choice: count.meta({ description: "The number of the choice in the case set, from 0." }),
  first_choice: count.nullable().meta({
    description: "The choice before the advice was shown; null unless it comes after a first decision.",
  }),
  decision: z.enum(DECISIONS).meta({ description: "`accepted` if the advice was not on the screen." }),
  advised: z.boolean().meta({ description: "Whether the advice was on the screen." }),
  ai_correct: z.boolean().nullable().meta({ description: "Null if the advice was not on the screen." }),
  correct: z.boolean(),
  time_to_decision_ms: z.number().min(0),
  decided_at: isoTimestamp,
  chain: z.string(),
  seq: count,
  entry_hash: hash32,
}).meta({ id: "ExerciseCaseResult" });
export type ExerciseCaseResult = z.infer<typeof exerciseCaseResultSchema>;

const estimateSchema = z.object({
  jis: z.number().min(0).max(100),
  low: z.number().min(0).max(100),
  high: z.number().min(0).max(100),
  at: isoTimestamp,
});

export const exerciseEffectSchema = z.object({
  status: z.enum(["not_done", "no_live_work_before", "too_early", "measured"]),
  live_interactions: count.meta({ description: "Live interactions since the last case of the run." }),
  live_interactions_needed: count,
  before: estimateSchema.nullable(),
  after: estimateSchema.nullable(),
  difference: z.number().nullable().meta({ description: "`after` less `before`, in points." }),
  clear: z.boolean().nullable().meta({
    description: "Whether the two intervals have no value in common; null until it is measured.",
  }),
}).meta({
  id: "ExerciseEffect",
  description:
    "The score of live work before the run, and after the next 30 live interactions, each with its interval. It shows a change, not its cause: nobody without the exercise is compared.",
});
export type ExerciseEffect = z.infer<typeof exerciseEffectSchema>;

export const exerciseSuccessSchema = z.object({
  metric: z.string(),
  threshold: share,
  value: share.nullable(),
  met: z.boolean().nullable(),
}).meta({
  id: "ExerciseSuccess",
  description: "The metric of the exercise; `value` and `met` are null until the run is done.",
});

export const exercisesResponseSchema = z.object({
  exercises: z.array(exerciseRunSchema),
  count: z.int(),
  next_cursor: z.string().nullable(),
  can_be_set: z.array(heldExerciseSchema).meta({ description: "Exercises that the service can hold." }),
  ...envelopeFields,
}).meta({ id: "ExercisesResponse" });

export const exerciseResponseSchema = exerciseRunSchema.extend({
  results: z.array(exerciseCaseResultSchema),
  success: exerciseSuccessSchema,
  effect: exerciseEffectSchema,
  chain: z.string(),
  seq: z.int().min(0),
  entry_hash: z.string(),
  ...envelopeFields,
}).meta({ id: "ExerciseResponse" });

/** A case as the reviewer sees it. */
export const shownCaseSchema = z.object({
  number: z.int().min(1),
  id: z.string(),
  title: z.string(),
  task: z.string(),
  facts: z.array(factSchema),
  views: z.array(viewSchema),
  advice: adviceSchema.nullable().meta({ description: "Null if the case is decided without advice." }),
  choices: z.array(z.object({ number: count, label: z.string() })),
}).meta({ id: "ShownCase" });

/** A decided case whose truth the reviewer may know. */
export const solvedCaseSchema = z.object({
  number: z.int().min(1),
  title: z.string(),
  correct: z.boolean(),
  ai_correct: z.boolean(),
  advice: z.string().nullable().meta({ description: "Null if the case was decided without advice." }),
  explanation: z.string(),
}).meta({ id: "SolvedCase" });

/** The answer that the reviewer's page shows. */
export const exercisePageSchema = z.object({
  organization: z.string().meta({ description: "The name of the organization that set the exercise." }),
  title: z.string(),
  instructions: z.array(z.string()),
  debrief: z.array(z.string()),
  language: languageSchema,
  cases: count,
  decided: count,
  presentation: z.enum(PRESENTATIONS),
  delay_ms: count.nullable(),
  requests_left: count.nullable().meta({ description: "Null unless the advice is shown on request." }),
  feedback: z.enum(["immediate", "delayed"]),
  expires_at: isoTimestamp,
  next: shownCaseSchema.nullable().meta({ description: "The next case; null once all are decided." }),
  solved: z.array(solvedCaseSchema).meta({
    description:
      "Decided cases that the reviewer has been told about: with delayed feedback, none before the last.",
  }),
}).meta({ id: "ExercisePage" });
export type ExercisePage = z.infer<typeof exercisePageSchema>;

/** A decision on the page. */
export const exerciseDecisionSchema = z.object({
  number: z.int().min(1).meta({ description: "The number of the case: that of `next`." }),
  choice: count.meta({ description: "The number of the choice." }),
  first_choice: count.nullable().default(null).meta({
    description: "The choice before the advice was shown; only if the advice comes after a first decision.",
  }),
  advised: z.boolean().meta({ description: "Whether the advice was on the screen at the decision." }),
  time_to_decision_ms: z.number().min(0).max(86_400_000),
  hover_events: z.int().min(0).max(100_000).nullable(),
  scroll_depth: share.nullable(),
  alternative_views_checked: z.int().min(0).max(100_000).nullable(),
}).meta({ id: "ExerciseDecision" });
export type ExerciseDecision = z.infer<typeof exerciseDecisionSchema>;
