/** Decisions: the risk of one decision, and the replay of a score or of a decision. */
import * as z from "zod";
import { ROUTES, STAKES } from "../../domain/enums.ts";
import {
  domainSchema,
  interactionSchema,
  ofType,
  operatorIdSchema,
  sessionIdSchema,
} from "../../domain/interaction.ts";
import { BODY_LIMIT_BYTES } from "../../domain/limits.ts";
import { replayResponseSchema } from "../../domain/replay.ts";
import { envelopeFields, modelReferenceSchema, uncertaintySchema } from "../../domain/score.ts";
import { evidenceSchema } from "../../evidence/envelope.ts";
import { scoreDecisionRisk } from "../../operations/scoring/decisions.ts";
import { replay } from "../../operations/scoring/replay.ts";
import type { Route } from "../exchange.ts";
import { idempotentCall } from "../idempotency_key.ts";
import { parseWith } from "../parse.ts";
import { KEYED_POST, KEYED_READ } from "./shared.ts";

/** Always flat. Other fields of the body are ignored, a `session_id` too. */
export const decisionRequestSchema = interactionSchema.extend({
  decision_id: sessionIdSchema.optional().meta({
    description:
      "One decision_id is one decision in an organization, and shares its name space with session_id; without one, one is generated.",
  }),
  operator_id: operatorIdSchema,
  domain: domainSchema,
  ai_confidence: z.number(ofType("must be a number or null")).min(0).max(1).nullable().default(null).meta({
    description: "The AI's own confidence: recorded, not used.",
  }),
  stakes: z.enum(STAKES).meta({ id: "Stakes" }).nullable().default(null).meta({
    description:
      "How much hangs on the decision; beside a scenario_type the graver of the two counts for severity.",
  }),
  interaction: z.undefined({ error: "must be left out: a decision's fields stand at top level" }).optional()
    .meta({ override: { not: {} }, description: "Left out: a decision's fields stand at top level." }),
}).meta({ id: "DecisionRequest" });

const policyTriggerSchema = z.object({
  policy: z.string(),
  triggered: z.boolean(),
  minimum_route: z.enum(ROUTES),
  evidence: z.string().nullable().meta({ description: "One sentence; null where not triggered." }),
}).meta({ id: "PolicyTrigger" });

const drsFactorSchema = z.object({
  name: z.enum(["likelihood", "severity", "process_evidence", "operator_jis"]),
  value: z.number(),
  weight: z.number().nullable().meta({
    description: "Exponent in the score; null where it only feeds the likelihood.",
  }),
}).meta({ id: "DrsFactor" });

export const decisionResponseSchema = z.object({
  decision_id: sessionIdSchema.meta({ description: "The one that was sent, or that was generated." }),
  operator_id: operatorIdSchema,
  domain: domainSchema,
  decision_risk_score: z.number().min(0).max(1).meta({ description: "0 to 1, two decimals." }),
  routing_decision: z.enum(ROUTES),
  policy_triggers: z.array(policyTriggerSchema).length(7),
  factors: z.array(drsFactorSchema),
  operator_uncertainty: uncertaintySchema.meta({
    description: "The interval around the operator's JIS among the factors.",
  }),
  audit_id: z.string().meta({ description: "Id of the entry in the organization's chain." }),
  model: modelReferenceSchema,
  evidence: evidenceSchema,
  ...envelopeFields,
}).meta({ id: "DecisionResponse" });

const postDecision: Route = {
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
    schema: decisionResponseSchema,
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
  id: sessionIdSchema.meta({ description: "A scored session_id or a decision_id." }),
});

const getReplay: Route = {
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
  async handler({ dependencies }, { context, exchange }) {
    const { id } = parseWith(replayPathSchema, context.req.param());
    const { now } = exchange.call;
    return { status: 200, body: { ...await replay(dependencies, exchange.caller!, { id, now }) } };
  },
};

export const DECISION_ROUTES: readonly Route[] = [postDecision, getReplay];
