/**
 * A decision that is scored for its risk, and the Decision Risk Score's response.
 * Source: specification, POST /v1/decision/score; contract, section 4; scoring model, section 11.
 */
import * as z from "zod";
import { type Domain, ROUTES, type Stakes } from "./enums.ts";
import { domainSchema, type Interaction, operatorIdSchema, sessionIdSchema } from "./interaction.ts";
import { envelopeFields, modelReferenceSchema, uncertaintySchema } from "./score.ts";

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
