/** Scoring: one interaction, a batch, a commit, a decision, and the replay of either. */
import * as z from "zod";
import { batchRequestSchema, batchResponseSchema } from "../../domain/batch.ts";
import { decisionRequestSchema, decisionResponseSchema } from "../../domain/decision.ts";
import { BATCH_BODY_LIMIT_BYTES, BODY_LIMIT_BYTES } from "../../domain/limits.ts";
import {
  scoreCallSchema,
  scoreParametersSchema,
  scoreResponseSchema,
  skippedResponseSchema,
} from "../../domain/score.ts";
import { commitPathSchema, commitRequestSchema } from "../../domain/commit.ts";
import { replayPathSchema, replayResponseSchema } from "../../domain/replay.ts";
import { batchEvidenceSchema, evidenceSchema } from "../../evidence/envelope.ts";
import type { Route } from "../exchange.ts";
import { postBatch } from "../handlers/batch.ts";
import { postCommit } from "../handlers/commit.ts";
import { getReplay, postDecision } from "../handlers/decisions.ts";
import { postScore, SCORE_PARAMETERS } from "../handlers/score.ts";
import { KEYED_POST, KEYED_READ } from "./defaults.ts";

const interactionExample = {
  time_to_decision_ms: 14200,
  decision: "modified",
  modification_extent: 0.4,
  outcome_correct: true,
  hover_events: 5,
  scroll_depth: 0.8,
  alternative_views_checked: 1,
} as const;

const scoreResponse = scoreResponseSchema(evidenceSchema);

export const SCORING_ROUTES: readonly Route[] = [
  {
    ...KEYED_POST,
    path: "/v1/score",
    operationId: "postScore",
    summary: "Score one interaction",
    description:
      "Moves the operator's state, answers with the score and leaves signed, chained evidence. Safe to repeat: the same request under its `session_id` gets the stored answer, with `Idempotency-Replayed: true`; a different one is 409.",
    body: { schema: scoreCallSchema, limitBytes: BODY_LIMIT_BYTES },
    parameters: { schema: scoreParametersSchema, sources: SCORE_PARAMETERS },
    success: {
      status: 200,
      description: "The score, or with `incident_frozen` a skipped envelope.",
      schema: z.union([scoreResponse, skippedResponseSchema(evidenceSchema)]),
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
            ...interactionExample,
            // The commit gives it.
            outcome_correct: null,
          },
        },
      },
      {
        summary: "The flat variant, in lite mode",
        query: { mode: "lite", role_tier: "tier_2" },
        body: { operator_id: "reviewer-bruno", domain: "healthcare", ...interactionExample },
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
    handler: postScore,
  },
  {
    ...KEYED_POST,
    path: "/v1/score/batch",
    operationId: "postBatch",
    summary: "Score a batch",
    description:
      "Scores 1 to 100 interactions of one operator in the order of the array, all or none. The same batch again gets the stored answer, with `Idempotency-Replayed: true`; a `session_id` that was used in any other way is 409, and nothing is written. It takes no parameters: every item is scored in full mode, whatever query or headers say.",
    body: { schema: batchRequestSchema, limitBytes: BATCH_BODY_LIMIT_BYTES },
    success: {
      status: 200,
      description:
        "The scores, and compact evidence for each entry; an item's full result comes from its replay.",
      schema: batchResponseSchema(batchEvidenceSchema),
    },
    errors: ["CONFLICT", "GONE"],
    examples: [{
      summary: "Two interactions",
      body: {
        operator_id: "reviewer-ada",
        domain: "financial",
        interactions: [
          { session_id: "case-2026-000125", ...interactionExample },
          { session_id: "case-2026-000126", time_to_decision_ms: 8200, decision: "accepted" },
        ],
      },
    }],
    handler: postBatch,
  },
  {
    ...KEYED_POST,
    path: "/v1/score/{session_id}/commit",
    operationId: "postCommit",
    summary: "Commit a score",
    description:
      "Finalizes a provisional score; again is the same answer. With `outcome_correct` the score gets its late label, once: the recorded numbers never change, the operator's record learns, and the next score shows it. A label that contradicts what is known is 409.",
    pathParameters: commitPathSchema,
    body: { schema: commitRequestSchema, limitBytes: BODY_LIMIT_BYTES, optional: true },
    success: {
      status: 200,
      description: "The recorded score, committed, with the evidence of its commit.",
      schema: scoreResponse,
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
    handler: postCommit,
  },
  {
    ...KEYED_POST,
    path: "/v1/decision/score",
    operationId: "postDecision",
    summary: "Score the risk of one decision",
    description:
      "The Decision Risk Score of one AI-assisted decision and where it should be routed, given the operator's record and the process behind it. Reads the record and changes nothing in it. Safe to repeat under its `decision_id`, which shares its name space with `session_id`.",
    body: { schema: decisionRequestSchema, limitBytes: BODY_LIMIT_BYTES },
    success: {
      status: 200,
      description: "The risk, the route, every policy with its evidence, and the factors.",
      schema: decisionResponseSchema(evidenceSchema),
    },
    errors: ["CONFLICT", "GONE"],
    examples: [{
      summary: "A quick acceptance where much is at stake",
      body: {
        decision_id: "decision-2026-000301",
        operator_id: "reviewer-ada",
        domain: "financial",
        time_to_decision_ms: 1400,
        decision: "accepted",
        stakes: "high",
        ai_confidence: 0.97,
      },
    }],
    handler: postDecision,
  },
  {
    ...KEYED_READ,
    path: "/v1/decision/replay/{id}",
    operationId: "getReplay",
    summary: "Replay a score or a decision",
    description:
      "Recomputes a score (by `session_id`) or a decision (by `decision_id`) from its recorded input and the model document of its time, and explains for each dimension what moved it.",
    pathParameters: replayPathSchema,
    success: {
      status: 200,
      description: "The recorded and the recomputed result, whether they match, and why it is what it is.",
      schema: replayResponseSchema(evidenceSchema),
    },
    errors: ["NOT_FOUND", "GONE"],
    examples: [
      { summary: "A score", path: { id: "case-2026-000123" } },
      { summary: "A decision", path: { id: "decision-2026-000301" } },
    ],
    handler: getReplay,
  },
];
