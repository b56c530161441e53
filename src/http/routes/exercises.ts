/**
 * Exercises that the service holds: setting one, its results; and the calls of the reviewer's page, which need the link
 * and no key. Source: oversight loop, section 2.
 */
import * as z from "zod";
import {
  difficultySchema,
  exerciseDecisionSchema,
  exercisePageSchema,
  exerciseResponseSchema,
  exercisesResponseSchema,
  languageSchema,
} from "../../exercises/answers.ts";
import { domainSchema, operatorIdSchema } from "../../domain/interaction.ts";
import {
  BODY_LIMIT_BYTES,
  EXERCISE_LINK_HOURS_DEFAULT,
  EXERCISE_LINK_HOURS_MAX,
  EXERCISES_PAGE_DEFAULT,
  EXERCISES_PAGE_MAX,
} from "../../domain/limits.ts";
import { envelopeFields } from "../../domain/score.ts";
import { isoTimestamp } from "../../domain/instant.ts";
import { evidenceSchema } from "../../evidence/envelope.ts";
import { heldExercises } from "../../exercises/form.ts";
import { exerciseSetSchema } from "../../evidence/exercises.ts";
import { listExercises, readExercise } from "../../operations/exercises/list.ts";
import { decideExercise, readExercisePage } from "../../operations/exercises/page.ts";
import { setExercise } from "../../operations/exercises/set.ts";
import type { Route } from "../exchange.ts";
import { idempotentCall } from "../idempotency_key.ts";
import { parseParameters, parseWith } from "../parse.ts";
import { integerParameter, linkPath } from "./parameters.ts";
import { KEYED_POST, KEYED_READ, keyFor, OPEN } from "./shared.ts";

/** Names in the examples, of the form of those that a service gives. */
const RUN_OF_THE_EXAMPLE = "01RUNOFTHEEXAMPLE000000000";
const TOKEN_OF_THE_EXAMPLE = `${RUN_OF_THE_EXAMPLE}.TOKENOFTHEEXAMPLE00000`;

const exerciseRequestSchema = z.object({
  operator_id: operatorIdSchema,
  exercise_id: z.string().min(1).max(100).meta({
    description: "An exercise of the catalogue that the service can hold.",
    examples: ["ex_error_detection_1"],
  }),
  case_set: z.string().min(1).max(64).nullable().default(null).meta({
    description:
      "The name of a case set, of which the newest version is used, or the hash of one version. Null = the program's own set of the domain.",
  }),
  domain: domainSchema.nullable().default(null).meta({
    description: "Null = that of the case set, or else that of the operator's latest live work.",
  }),
  language: languageSchema.nullable().default(null).meta({
    description:
      "The language of the cases and of the page. Null = English, or that of the case set if a hash names it.",
  }),
  difficulty: difficultySchema.default("moderate"),
  expires_hours: z.int().min(1).max(EXERCISE_LINK_HOURS_MAX).default(EXERCISE_LINK_HOURS_DEFAULT).meta({
    description: "Hours for which the link can be used, and not beyond the retention of evidence.",
  }),
}).meta({ id: "ExerciseRequest" });

const inputSchema = exerciseSetSchema.meta({
  id: "ExerciseSet",
  description: "What the entry EXERCISE_SET records, which the evidence covers.",
});

const exerciseSetResponseSchema = z.object({
  run_id: z.string().meta({ description: "The id of the entry EXERCISE_SET." }),
  set_at: isoTimestamp,
  case_count: z.int().min(1),
  link: z.url().meta({
    description:
      "For the reviewer. Who has it can decide the cases, each once, until it expires; no other answer shows it again. The evidence does not cover it.",
  }),
  input: inputSchema,
  evidence: evidenceSchema,
  ...envelopeFields,
}).meta({ id: "ExerciseSetResponse" });

const postExercise: Route = {
  ...KEYED_POST,
  ...keyFor("act"),
  headerKeyOnly: true,
  path: "/v1/exercises",
  operationId: "postExercise",
  summary: "Set an exercise",
  description:
    "Sets an operator an exercise that the service holds itself, and returns a link for the operator. The cases are chosen at random from a case set, those first that the operator was set least often. Each decision is scored as an announced test: it moves no score and no verdict.",
  body: { schema: exerciseRequestSchema, limitBytes: BODY_LIMIT_BYTES },
  success: {
    status: 201,
    description: "The exercise, its link, and the evidence that it was set.",
    schema: exerciseSetResponseSchema,
  },
  errors: ["GONE"],
  examples: [
    {
      summary: "Decide first, with financial cases, in German",
      body: {
        operator_id: "reviewer-ada",
        exercise_id: "ex_deferral_resistance_1",
        domain: "financial",
        language: "de",
      },
    },
    {
      summary: "The domain of the latest work",
      body: { operator_id: "reviewer-ada", exercise_id: "ex_domain_confidence_3" },
    },
  ],
  async handler({ dependencies, description }, { context, exchange, json }) {
    const { body: { token, ...run }, ...answer } = await setExercise(dependencies, exchange.caller!, {
      request: parseWith(exerciseRequestSchema, json),
      call: exchange.call,
      idempotency: idempotentCall(context),
    });
    return { status: 201, body: { ...run, link: `${description.baseUrl()}/exercise/${token}` }, ...answer };
  },
};

const listParametersSchema = z.object({
  operator_id: operatorIdSchema.optional(),
  limit: integerParameter({ min: 1, max: EXERCISES_PAGE_MAX, fallback: EXERCISES_PAGE_DEFAULT }),
  cursor: z.string().regex(/^[0-9]{1,15}$/, "must be the next_cursor of a page, unchanged").optional(),
});

const getExercises: Route = {
  ...KEYED_READ,
  path: "/v1/exercises",
  operationId: "getExercises",
  summary: "The exercises that were set",
  description:
    "Returns a page of the exercises, the last set first, with what the decided cases show. `next_cursor` gets the next page; it is null on the last page. Exercises of erased operators are left out.",
  parameters: listParametersSchema,
  success: {
    status: 200,
    description: "A page of exercises.",
    schema: exercisesResponseSchema,
  },
  examples: [{ summary: "The newest" }, { summary: "Of a reviewer", query: { operator_id: "reviewer-ada" } }],
  async handler({ dependencies }, { exchange, request }) {
    const { operator_id = null, limit, cursor } = parseParameters(request, listParametersSchema);
    const { runs, next } = await listExercises(dependencies, exchange.caller!, {
      operatorId: operator_id,
      limit,
      below: cursor === undefined ? null : Number(cursor),
      now: exchange.call.now,
    });
    return {
      status: 200,
      body: {
        exercises: runs,
        count: runs.length,
        next_cursor: next === null ? null : String(next),
        can_be_set: heldExercises(dependencies.model.document.maintenance.exercises),
      },
    };
  },
};

const runPathSchema = z.object({
  run_id: z.string().regex(/^[0-9A-Z]{26}$/, "must be the run_id of an exercise").meta({
    examples: [RUN_OF_THE_EXAMPLE],
  }),
});

const getExercise: Route = {
  ...KEYED_READ,
  path: "/v1/exercises/{run_id}",
  operationId: "getExercise",
  summary: "An exercise with its results",
  description:
    "Returns each decided case with its score's place on the chain, the metric of the exercise, and its effect: the score of live work before it and after the next 30 live interactions.",
  pathParameters: runPathSchema,
  success: {
    status: 200,
    description: "The exercise.",
    schema: exerciseResponseSchema,
  },
  errors: ["NOT_FOUND", "GONE"],
  examples: [{ summary: "One exercise", path: { run_id: RUN_OF_THE_EXAMPLE } }],
  async handler({ dependencies }, { exchange, path }) {
    const { run_id } = parseWith(runPathSchema, path);
    const body = await readExercise(dependencies, exchange.caller!, {
      runId: run_id,
      now: exchange.call.now,
    });
    return { status: 200, body };
  },
};

const tokenPathSchema = linkPath(TOKEN_OF_THE_EXAMPLE);

const pageResponseSchema = exercisePageSchema.extend(envelopeFields).meta({ id: "ExercisePageResponse" });

const getExercisePage: Route = {
  ...OPEN,
  method: "GET",
  path: "/exercise/{token}/state",
  operationId: "getExercisePage",
  summary: "What the page of an exercise shows",
  description:
    "Returns the next case of an exercise, without its truth, and the decided cases that the reviewer has been told about. The token of the link is needed, and no key.",
  layer1: true,
  pathParameters: tokenPathSchema,
  success: { status: 200, description: "The state of the page.", schema: pageResponseSchema },
  errors: ["NOT_FOUND", "GONE"],
  examples: [{
    summary: "A link",
    path: { token: TOKEN_OF_THE_EXAMPLE },
  }],
  async handler({ dependencies }, { exchange, path }) {
    const { token } = parseWith(tokenPathSchema, path);
    exchange.headers.set("Cache-Control", "no-store");
    return { status: 200, body: await readExercisePage(dependencies, token, exchange.call) };
  },
};

const postExerciseDecision: Route = {
  ...OPEN,
  method: "POST",
  path: "/exercise/{token}/decisions",
  operationId: "postExerciseDecision",
  summary: "Decide the next case of an exercise",
  description:
    "Scores the decision as an announced test and returns what the page shows then. Each case is decided once; the same decision again changes nothing. The token of the link is needed, and no key.",
  layer1: true,
  pathParameters: tokenPathSchema,
  body: { schema: exerciseDecisionSchema, limitBytes: BODY_LIMIT_BYTES },
  success: { status: 200, description: "The state of the page.", schema: pageResponseSchema },
  errors: ["NOT_FOUND", "GONE", "CONFLICT", "SERVICE_UNAVAILABLE"],
  examples: [{
    summary: "The first case",
    path: { token: TOKEN_OF_THE_EXAMPLE },
    body: {
      number: 1,
      choice: 0,
      first_choice: 1,
      advised: true,
      time_to_decision_ms: 41000,
      hover_events: null,
      scroll_depth: 1,
      alternative_views_checked: 1,
    },
  }],
  async handler({ dependencies }, { exchange, json, path }) {
    const { token } = parseWith(tokenPathSchema, path);
    exchange.headers.set("Cache-Control", "no-store");
    const body = await decideExercise(dependencies, {
      token,
      decision: parseWith(exerciseDecisionSchema, json),
      call: exchange.call,
    });
    return { status: 200, body };
  },
};

export const EXERCISE_ROUTES: readonly Route[] = [
  postExercise,
  getExercises,
  getExercise,
  getExercisePage,
  postExerciseDecision,
];
