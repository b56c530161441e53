/**
 * A decision to be scored for its risk, and the Decision Risk Score's response.
 * Source: specification, POST /v1/decision/score; contract, section 4; scoring model, section 11.
 */
import * as z from "zod";
import { type Domain, ROUTES, STAKES, type Stakes } from "./enums.ts";
import {
  domainSchema,
  type Interaction,
  interactionSchema,
  ofType,
  operatorIdSchema,
  sessionIdSchema,
} from "./interaction.ts";
import { envelopeFields, modelReferenceSchema, uncertaintySchema } from "./score.ts";

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

/** A decision request with its defaults explicit. */
export interface DecisionRequest {
  readonly decision_id: string;
  readonly operator_id: string;
  readonly domain: Domain;
  readonly interaction: Interaction;
  readonly ai_confidence: number | null;
  readonly stakes: Stakes | null;
}

export const policyTriggerSchema = z.object({
  policy: z.string(),
  triggered: z.boolean(),
  minimum_route: z.enum(ROUTES),
  evidence: z.string().nullable().meta({ description: "One sentence; null where not triggered." }),
}).meta({ id: "PolicyTrigger" });

export const drsFactorSchema = z.object({
  name: z.enum(["likelihood", "severity", "process_evidence", "operator_jis"]),
  value: z.number(),
  weight: z.number().nullable().meta({
    description: "Exponent in the score; null where it only feeds the likelihood.",
  }),
}).meta({ id: "DrsFactor" });

export function decisionResponseSchema<Evidence extends z.ZodType>(evidence: Evidence) {
  return z.object({
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
    evidence,
    ...envelopeFields,
  }).meta({ id: "DecisionResponse" });
}
