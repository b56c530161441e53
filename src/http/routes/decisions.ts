/** Decisions: the risk of one decision, and the replay of a score or of a decision. */
import * as z from "zod";
import { ROUTES, STAKES } from "../../domain/enums.ts";
import {
  domainNameSchema,
  domainSchema,
  interactionSchema,
  ofType,
  operatorIdSchema,
  sentInteraction,
  sessionIdSchema,
} from "../../domain/interaction.ts";
import { BODY_LIMIT_BYTES } from "../../domain/limits.ts";
import { replayResponseSchema } from "../../domain/replay.ts";
import {
  envelopeFields,
  modelReferenceSchema,
  uncertaintySchema,
  verdictSchema,
} from "../../domain/score.ts";
import { evidenceSchema } from "../../evidence/envelope.ts";
import { scoreDecisionRisk } from "../../operations/scoring/decisions.ts";
import { replay } from "../../operations/scoring/replay.ts";
import type { Route } from "../exchange.ts";
import { idempotentCall } from "../idempotency_key.ts";
import { parseWith } from "../parse.ts";
import { KEYED_POST, KEYED_READ, keyFor } from "./shared.ts";

/** Always flat. Other fields of the body are ignored, a `session_id` too. */
export const decisionRequestSchema = sentInteraction(interactionSchema.extend({
  decision_id: sessionIdSchema.optional().meta({
    description:
      "Identifies the decision within the organization. A decision_id must not equal any session_id. If it is left out, one is generated.",
  }),
  operator_id: operatorIdSchema,
  domain: domainSchema,
  ai_confidence: z.number(ofType("must be a number or null")).min(0).max(1).nullable().default(null).meta({
    description: "The confidence that the AI reported. It is recorded but does not affect the score.",
  }),
  stakes: z.enum(STAKES).meta({ id: "Stakes" }).nullable().default(null).meta({
    description:
      "The stakes of the decision. If a scenario_type is given too, the more severe of the two determines the severity.",
  }),
  interaction: z.undefined({ error: "must be left out: send a decision's fields at top level" }).optional()
    .meta({ override: { not: {} }, description: "Not allowed: send a decision's fields at top level." }),
})).meta({ id: "DecisionRequest" });

const policyTriggerSchema = z.object({
  policy: z.string(),
  triggered: z.boolean(),
  minimum_route: z.enum(ROUTES),
  evidence: z.string().nullable().meta({
    description: "One sentence about why the policy triggered; null if it did not.",
  }),
}).meta({ id: "PolicyTrigger" });

const drsFactorSchema = z.object({
  name: z.enum(["likelihood", "severity", "process_evidence", "operator_jis"]),
  value: z.number(),
  weight: z.number().nullable().meta({
    description: "Exponent of the factor in the score; null if the factor affects only the likelihood.",
  }),
}).meta({ id: "DrsFactor" });

export const decisionResponseSchema = z.object({
  decision_id: sessionIdSchema.meta({ description: "The id that was sent, or the generated one." }),
  operator_id: operatorIdSchema,
  domain: domainNameSchema,
  decision_risk_score: z.number().min(0).max(1).meta({
    description: "Risk of the decision, 0 to 1, with two decimals.",
  }),
  routing_decision: z.enum(ROUTES),
  policy_triggers: z.array(policyTriggerSchema).length(7),
  factors: z.array(drsFactorSchema),
  operator_uncertainty: uncertaintySchema.meta({
    description: "The uncertainty of the operator's JIS that is among the factors.",
  }),
  operator_verdict: verdictSchema.optional().meta({
    description: "The verdict on the operator as of the decision; only with a model of the formulas `jis-3`.",
  }),
  audit_id: z.string().meta({ description: "Id of the entry in the organization's evidence chain." }),
  model: modelReferenceSchema,
  evidence: evidenceSchema,
  ...envelopeFields,
}).meta({ id: "DecisionResponse" });

const postDecision: Route = {
  ...KEYED_POST,
  ...keyFor("score"),
  path: "/v1/decision/score",
  operationId: "postDecision",
  summary: "Score the risk of one decision",
  description:
    "Computes the Decision Risk Score of one AI-assisted decision and its route, from the operator's record and the decision process. The operator's record does not change. The call can be repeated safely under the same `decision_id`, which must not equal any `session_id`.",
  body: { schema: decisionRequestSchema, limitBytes: BODY_LIMIT_BYTES },
  success: {
    status: 200,
    description: "The risk, the route, each policy with its evidence, and the factors.",
    schema: decisionResponseSchema,
  },
  errors: ["CONFLICT", "GONE"],
  examples: [{
    summary: "A quick acceptance with high stakes",
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
  async handler({ dependencies }, { context, exchange, json }) {
    const { call } = exchange;
    const { interaction: _absent, decision_id, operator_id, domain, ai_confidence, stakes, ...interaction } =
      parseWith(decisionRequestSchema, json);
    const request = {
      decision_id: decision_id ?? null,
      operator_id,
      domain,
      interaction,
      ai_confidence,
      stakes,
    };
    const answer = await scoreDecisionRisk(dependencies, exchange.caller!, {
      request,
      call,
      idempotency: idempotentCall(context),
    });
    return { status: 200, ...answer };
  },
};

const replayPathSchema = z.object({
  id: sessionIdSchema.meta({ description: "A session_id of a score, or a decision_id." }),
});

const getReplay: Route = {
  ...KEYED_READ,
  path: "/v1/decision/replay/{id}",
  operationId: "getReplay",
  summary: "Replay a score or a decision",
  description:
    "Recomputes a score (by `session_id`) or a decision (by `decision_id`) from its recorded input with the model document that was in use then, and explains for each dimension why it changed.",
  pathParameters: replayPathSchema,
  success: {
    status: 200,
    description:
      "The recorded result, the recomputed result, whether they match, and the explanation of the result.",
    schema: replayResponseSchema(evidenceSchema),
  },
  errors: ["NOT_FOUND", "GONE"],
  examples: [
    { summary: "A score", path: { id: "case-2026-000123" } },
    { summary: "A decision", path: { id: "decision-2026-000301" } },
  ],
  async handler({ dependencies }, { exchange, path }) {
    const { id } = parseWith(replayPathSchema, path);
    const { now } = exchange.call;
    return { status: 200, body: { ...await replay(dependencies, exchange.caller!, { id, now }) } };
  },
};

export const DECISION_ROUTES: readonly Route[] = [postDecision, getReplay];
