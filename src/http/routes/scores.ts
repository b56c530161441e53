/**
 * Scores: one interaction, a batch, and the commit of a score.
 * Source: specification, Scoring and reads; contract, sections 4 and 8.
 */
import * as z from "zod";
import type { BatchItem, BatchRequest } from "../../domain/batch.ts";
import { BANDS, ROLE_TIERS, URGENCIES } from "../../domain/enums.ts";
import { isoTimestamp } from "../../domain/instant.ts";
import {
  domainSchema,
  INTERACTION_EXAMPLE,
  interactionSchema,
  operatorIdSchema,
  sentInteraction,
  sessionIdSchema,
  ticketedInteractionSchema,
} from "../../domain/interaction.ts";
import { BATCH_BODY_LIMIT_BYTES, BATCH_MAX, BODY_LIMIT_BYTES } from "../../domain/limits.ts";
import {
  complianceSchema,
  decayProjectionSchema,
  dimensionsSchema,
  envelopeFields,
  modelReferenceSchema,
  points,
  priorDimensionsSchema,
  scoreParametersSchema,
  uncertaintySchema,
} from "../../domain/score.ts";
import { batchEvidenceSchema, evidenceSchema } from "../../evidence/envelope.ts";
import { scoreBatch } from "../../operations/scoring/batch.ts";
import { commitScore, OwnDecisionError } from "../../operations/scoring/commit.ts";
import { scoreInteraction, type SentScore } from "../../operations/scoring/score.ts";
import type { Route } from "../exchange.ts";
import { idempotentCall } from "../idempotency_key.ts";
import { recordDenied } from "../middleware/authentication.ts";
import { isNested, parseEach, parseParameters, parseWith, validationFailed } from "../parse.ts";
import { KEYED_POST, keyFor } from "./shared.ts";

const SCORE_HEADERS = {
  mode: "X-Service-Mode",
  role_tier: "X-Service-Role-Tier",
  mode_override: "X-Service-Mode-Override",
} as const;

/** The form of the specification: the interaction in an object of its own. */
export const nestedScoreRequestSchema = z.object({
  session_id: sessionIdSchema,
  operator_id: operatorIdSchema,
  domain: domainSchema,
  interaction: sentInteraction(ticketedInteractionSchema),
}).meta({ id: "ScoreRequest" });

/** The flat variant: the interaction's fields at top level, `session_id` optional. */
const flatScoreRequestSchema = sentInteraction(ticketedInteractionSchema.extend({
  session_id: sessionIdSchema.optional(),
  operator_id: operatorIdSchema,
  domain: domainSchema,
})).meta({
  id: "FlatScoreRequest",
  description: "The flat variant. If session_id is left out, one is generated.",
});

/**
 * Either form, for the OpenAPI document. The form of a request is determined before the request is validated.
 */
const scoreCallSchema = z.union([nestedScoreRequestSchema, flatScoreRequestSchema]).meta({
  id: "ScoreCall",
});

const maintenanceSchema = z.object({
  urgency: z.enum(URGENCIES),
  trigger_intervention: z.boolean(),
  recommendation: z.object({
    intervention_type: z.string(),
    intervention_frequency: z.number(),
    recommend_withhold: z.boolean(),
    reasons: z.array(z.string()),
    next_assessment: isoTimestamp,
  }),
}).meta({ id: "MaintenanceRecommendation" });

const responseMode = z.enum(["standard", "lite"]).meta({ description: "`standard` is full mode." });

/** The response with a computed score. */
export const scoreResponseSchema = z.object({
  jis: points,
  displayed_jis: z.int().min(0).max(100).meta({
    description: "A smoothed integer for display; decisions use jis.",
  }),
  band: z.enum(BANDS),
  dimensions: dimensionsSchema,
  decay_projection: decayProjectionSchema,
  compliance: complianceSchema,
  maintenance_recommendation: maintenanceSchema,
  mode: responseMode,
  provisional: z.boolean(),
  committed: z.boolean(),
  dimensions_computed: z.int(),
  uncertainty: uncertaintySchema,
  prior_dimensions: priorDimensionsSchema.optional(),
  session_id: sessionIdSchema,
  operator_id: operatorIdSchema,
  role_tier: z.enum(ROLE_TIERS),
  mode_override: z.literal("normal"),
  model: modelReferenceSchema,
  evidence: evidenceSchema,
  ...envelopeFields,
}).meta({ id: "ScoreResponse" });

/** The response to a frozen call. */
const skippedResponseSchema = z.object({
  skipped: z.literal(true),
  reason: z.literal("incident_frozen"),
  jis: z.null(),
  mode: responseMode,
  mode_override: z.literal("incident_frozen"),
  role_tier: z.enum(ROLE_TIERS),
  session_id: sessionIdSchema,
  operator_id: operatorIdSchema,
  model: modelReferenceSchema,
  evidence: evidenceSchema,
  ...envelopeFields,
}).meta({ id: "SkippedResponse" });

const postScore: Route = {
  ...KEYED_POST,
  ...keyFor("score"),
  path: "/v1/score",
  operationId: "postScore",
  summary: "Score one interaction",
  description:
    "Updates the operator's state, returns the score and records signed, chained evidence. The call can be repeated safely: the same request under the same `session_id` gets the stored answer, with `Idempotency-Replayed: true`; a different request gets 409.",
  body: { schema: scoreCallSchema, limitBytes: BODY_LIMIT_BYTES },
  parameters: scoreParametersSchema,
  parameterHeaders: SCORE_HEADERS,
  success: {
    status: 200,
    description: "The score. With `incident_frozen` the answer says that scoring was skipped.",
    schema: z.union([scoreResponseSchema, skippedResponseSchema]),
  },
  errors: ["CONFLICT", "GONE"],
  examples: [
    {
      summary: "A modified recommendation",
      body: {
        session_id: "case-2026-000123",
        operator_id: "reviewer-ada",
        domain: "financial",
        interaction: {
          ai_recommendation_presented: true,
          ai_available: true,
          scenario_type: "standard",
          ...INTERACTION_EXAMPLE,
          // The commit gives it.
          outcome_correct: null,
        },
      },
    },
    {
      summary: "The flat variant, in lite mode",
      query: { mode: "lite", role_tier: "tier_2" },
      body: { operator_id: "reviewer-bruno", domain: "healthcare", ...INTERACTION_EXAMPLE },
    },
    {
      summary: "Frozen during an incident",
      query: { mode_override: "incident_frozen" },
      body: {
        session_id: "case-2026-000124",
        operator_id: "reviewer-ada",
        domain: "financial",
        interaction: { time_to_decision_ms: 900, decision: "accepted" },
      },
    },
  ],
  async handler({ dependencies }, { context, exchange, json, request }) {
    const parameters = parseParameters(request, scoreParametersSchema, SCORE_HEADERS);
    const { call } = exchange;
    const { ticket, ...body } = parseScoreBody(json);
    const answer = await scoreInteraction(dependencies, exchange.caller!, {
      request: { ...body, ...parameters },
      ticket,
      call,
      idempotency: idempotentCall(context),
    });
    return { status: 200, ...answer };
  },
};

function parseScoreBody(
  json: unknown,
): Pick<SentScore, "session_id" | "operator_id" | "domain" | "interaction"> & { ticket: string | null } {
  if (isNested(json)) {
    const { interaction: sent, ...rest } = parseWith(nestedScoreRequestSchema, json);
    const { probe_ticket: ticket = null, ...interaction } = sent;
    return { ...rest, interaction, ticket };
  }
  const { session_id, operator_id, domain, probe_ticket: ticket = null, ...interaction } = parseWith(
    flatScoreRequestSchema,
    json,
  );
  return { session_id: session_id ?? null, operator_id, domain, interaction, ticket };
}

/** The interaction of a batch, which must not be a probe's. */
const batchInteractionSchema = interactionSchema.extend({
  probe_ticket: z.undefined({
    error: "must be left out: probes cannot be in a batch, send them to POST /v1/score",
  })
    .optional().meta({ override: { not: {} }, description: "Not allowed: probes cannot be in a batch." }),
}).meta({ id: "BatchInteraction" });

const flatBatchItemSchema = sentInteraction(batchInteractionSchema.extend({ session_id: sessionIdSchema }))
  .meta({
    id: "BatchItem",
    description: "The interaction's fields with `session_id` beside them.",
  });

const nestedBatchItemSchema = z.object({
  session_id: sessionIdSchema,
  interaction: sentInteraction(batchInteractionSchema),
}).meta({ id: "NestedBatchItem", description: "The interaction in an object of its own." });

const batchRequestSchema = z.object({
  operator_id: operatorIdSchema,
  domain: domainSchema,
  interactions: z.array(z.union([flatBatchItemSchema, nestedBatchItemSchema])).min(1).max(BATCH_MAX).meta({
    description: "Scored in this order. Each session_id may occur only once.",
  }),
}).meta({ id: "BatchRequest" });

/** The batch before its items are parsed; each item is then parsed by its own form. */
const batchFrameSchema = batchRequestSchema.extend({
  interactions: z.array(z.unknown()).min(1).max(BATCH_MAX),
});

const batchResponseSchema = z.object({
  results: z.array(z.object({ session_id: sessionIdSchema, jis: z.number().min(0).max(100) })),
  count: z.int(),
  operator_id: operatorIdSchema,
  evidence: batchEvidenceSchema,
  ...envelopeFields,
}).meta({ id: "BatchResponse" });

const postBatch: Route = {
  ...KEYED_POST,
  ...keyFor("score"),
  path: "/v1/score/batch",
  operationId: "postBatch",
  summary: "Score a batch",
  description:
    "Scores 1 to 100 interactions of one operator in the order of the array: all of them or none. If the same batch is repeated, it gets the stored answer, with `Idempotency-Replayed: true`. If a `session_id` was used in any other way, the answer is 409 and nothing is written. The call takes no parameters: each item is scored in full mode, regardless of query and headers.",
  body: { schema: batchRequestSchema, limitBytes: BATCH_BODY_LIMIT_BYTES },
  success: {
    status: 200,
    description:
      "The scores, and compact evidence for each entry. The replay of an item returns its full result.",
    schema: batchResponseSchema,
  },
  errors: ["CONFLICT", "GONE"],
  examples: [{
    summary: "Two interactions",
    body: {
      operator_id: "reviewer-ada",
      domain: "financial",
      interactions: [
        { session_id: "case-2026-000125", ...INTERACTION_EXAMPLE },
        { session_id: "case-2026-000126", time_to_decision_ms: 8200, decision: "accepted" },
      ],
    },
  }],
  async handler({ dependencies }, { context, exchange, json }) {
    const request = parseBatch(json);
    const { call } = exchange;
    const answer = await scoreBatch(dependencies, exchange.caller!, {
      request,
      call,
      idempotency: idempotentCall(context),
    });
    return { status: 200, ...answer };
  },
};

function parseBatch(json: unknown): BatchRequest {
  const { interactions, ...frame } = parseWith(batchFrameSchema, json);
  const items = parseEach<BatchItem>(interactions, {
    path: "interactions",
    schemaOf: (value) => isNested(value) ? nestedBatchItemSchema : flatItemSchema,
  });
  refuseRepeated(items);
  return { ...frame, interactions: items };
}

const flatItemSchema = flatBatchItemSchema.transform(({ session_id, ...interaction }): BatchItem => ({
  session_id,
  interaction,
}));

function refuseRepeated(items: readonly BatchItem[]): void {
  const seen = new Set<string>();
  const details = items.flatMap(({ session_id }, index) => {
    if (!seen.has(session_id)) {
      seen.add(session_id);
      return [];
    }
    return [{ path: `interactions.${index}.session_id`, message: "must occur only once in the batch" }];
  });
  if (details.length > 0) throw validationFailed(details);
}

const commitPathSchema = z.object({ session_id: sessionIdSchema });

const commitRequestSchema = z.object({
  outcome_correct: z.boolean("must be true, false or null").nullable().default(null).meta({
    description:
      "The late label: whether the human's decision proved right. It can be given once, for a score without an outcome; null is the same as leaving it out.",
  }),
  ai_correct: z.boolean("must be true, false or null").nullable().default(null).meta({
    description:
      "Whether the AI's recommendation was right; only with outcome_correct. null is the same as leaving it out: it then follows from decision and outcome.",
  }),
}).refine(({ outcome_correct, ai_correct }) => ai_correct === null || outcome_correct !== null, {
  path: ["ai_correct"],
  message: "needs outcome_correct beside it",
}).meta({ id: "CommitRequest" });

const postCommit: Route = {
  ...KEYED_POST,
  ...keyFor("label"),
  path: "/v1/score/{session_id}/commit",
  operationId: "postCommit",
  summary: "Commit a score",
  description:
    "Finalizes a provisional score; a repeated call gets the same answer. `outcome_correct` gives the score its late label, once: the recorded numbers do not change, but the operator's state does. With a model of the formulas `jis-3` the operator's JIS and verdict in profile, list and dashboard reflect it at once; with earlier formulas the JIS does from the next score on. A label that contradicts the known outcome gets 409, one whose `ai_correct` cannot hold with decision and outcome 422. A user gets 403 for a label of an own decision: one whose `operator_id` is the user's email address, the part before its @, name or user_id.",
  pathParameters: commitPathSchema,
  body: { schema: commitRequestSchema, limitBytes: BODY_LIMIT_BYTES, optional: true },
  success: {
    status: 200,
    description: "The recorded score, now committed, with the evidence of its commit.",
    schema: scoreResponseSchema,
  },
  errors: ["NOT_FOUND", "CONFLICT", "GONE"],
  examples: [
    { summary: "Without a label", path: { session_id: "case-2026-000126" } },
    {
      summary: "The decision proved right",
      path: { session_id: "case-2026-000123" },
      body: { outcome_correct: true },
    },
  ],
  async handler(services, { context, exchange, json, path }) {
    const { session_id } = parseWith(commitPathSchema, path);
    const { outcome_correct, ai_correct } = parseWith(commitRequestSchema, json === undefined ? {} : json);
    const { call, session } = exchange;
    const answer = await commitScore(services.dependencies, exchange.caller!, {
      request: {
        sessionId: session_id,
        outcomeCorrect: outcome_correct,
        aiCorrect: ai_correct,
        labeller: session?.user ?? null,
      },
      call,
      idempotency: idempotentCall(context),
    }).catch((error) => {
      if (error instanceof OwnDecisionError) recordDenied(services, exchange);
      throw error;
    });
    return { status: 200, ...answer };
  },
};

export const SCORE_ROUTES: readonly Route[] = [postScore, postBatch, postCommit];
