/**
 * The catalogue: every operation as data, from which the router, `GET /v1` and the OpenAPI document are made.
 * Source: specification, Endpoints.
 */
import { z } from "zod";
import { BODY_LIMIT_BYTES } from "../domain/limits.ts";
import { createOrganizationSchema } from "../domain/organization.ts";
import {
  envelopeFields,
  flatScoreRequestSchema,
  nestedScoreRequestSchema,
  scoreParametersSchema,
  scoreResponseSchema,
  skippedResponseSchema,
} from "../domain/score.ts";
import { evidenceSchema } from "../evidence/envelope.ts";
import type { Route } from "./exchange.ts";
import { postOrganization } from "./handlers/organizations.ts";
import { postScore, SCORE_PARAMETERS } from "./handlers/score.ts";
import { getHealth, getOpenApi, getSelfDescription } from "./handlers/service.ts";

const healthSchema = z.object({
  status: z.literal("ok"),
  service: z.string(),
  version: z.string(),
  ...envelopeFields,
}).meta({ id: "Health" });

const selfDescriptionSchema = z.object({
  service: z.string(),
  version: z.string().meta({ description: "Of the program." }),
  api_version: z.string().meta({ description: "Of the interface." }),
  endpoints: z.array(
    z.object({ method: z.string(), path: z.string(), auth: z.string(), summary: z.string() }),
  ),
  compliance: z.array(z.string()).meta({ description: "Names of the frameworks that reports speak to." }),
  patent: z.object({
    status: z.string(),
    filed: z.string().nullable(),
    confirmation: z.string().nullable(),
    claims: z.int(),
  }).meta({ description: "As the administrator states it." }),
  ...envelopeFields,
}).meta({ id: "SelfDescription" });

const organizationCreatedSchema = z.object({
  org_id: z.string(),
  api_key: z.string().meta({ description: "Shown once, never again." }),
  prefix: z.string().length(8),
  created_at: z.iso.datetime(),
  warning: z.string(),
  ...envelopeFields,
}).meta({ id: "OrganizationCreated" });

const alreadyProvisionedSchema = z.object({
  prefix: z.string().length(8),
  already_provisioned: z.literal(true),
  ...envelopeFields,
}).meta({ id: "AlreadyProvisioned", description: "The answer to a repeated call: without the key." });

const open = { auth: { kind: "none" }, body: null, parameters: null, idempotent: false, errors: [] } as const;

const health = {
  ...open,
  path: "/",
  layer1: false,
  success: { status: 200, description: "The service answers.", schema: healthSchema },
  handler: getHealth,
} as const;

const interactionExample = {
  time_to_decision_ms: 14200,
  decision: "modified",
  modification_extent: 0.4,
  outcome_correct: true,
  hover_events: 5,
  scroll_depth: 0.8,
  alternative_views_checked: 1,
} as const;

export const ROUTES: readonly Route[] = [
  {
    ...health,
    method: "GET",
    operationId: "getHealth",
    summary: "Health check",
    description: "Answers `ok` while the service runs. Never rate limited.",
    examples: [{ summary: "Ask" }],
  },
  {
    ...health,
    method: "HEAD",
    operationId: "headHealth",
    summary: "Health check without body",
    description: "Same status and content type as `GET /`.",
    success: { ...health.success, schema: null },
    examples: [{ summary: "Ask" }],
  },
  {
    ...open,
    method: "GET",
    path: "/v1",
    operationId: "getSelfDescription",
    summary: "Self-description",
    description: "What the service is, its endpoints, and the frameworks that it speaks to.",
    layer1: true,
    success: { status: 200, description: "The catalogue.", schema: selfDescriptionSchema },
    errors: ["RATE_LIMITED"],
    examples: [{ summary: "Ask" }],
    handler: getSelfDescription,
  },
  {
    ...open,
    method: "GET",
    path: "/openapi.json",
    operationId: "getOpenApi",
    summary: "This document",
    description: "The OpenAPI 3.1 document of the service.",
    layer1: true,
    success: { status: 200, description: "An OpenAPI 3.1 document.", schema: null },
    errors: ["RATE_LIMITED"],
    examples: [{ summary: "Ask" }],
    handler: getOpenApi,
  },
  {
    method: "POST",
    path: "/v1/score",
    operationId: "postScore",
    summary: "Score one interaction",
    description:
      "Moves the operator's state, answers with the score and leaves signed, chained evidence. Safe to repeat: the same request under its `session_id` gets the stored answer, with `Idempotency-Replayed: true`; a different one is 409.",
    auth: { kind: "key" },
    layer1: true,
    body: {
      schema: z.union([nestedScoreRequestSchema, flatScoreRequestSchema]),
      limitBytes: BODY_LIMIT_BYTES,
    },
    parameters: { schema: scoreParametersSchema, sources: SCORE_PARAMETERS },
    idempotent: false,
    success: {
      status: 200,
      description: "The score, or with `incident_frozen` a skipped envelope.",
      schema: z.union([scoreResponseSchema(evidenceSchema), skippedResponseSchema(evidenceSchema)]),
    },
    errors: ["CONFLICT"],
    examples: [
      {
        summary: "A modified recommendation",
        body: {
          session_id: "case-2026-000123",
          operator_id: "reviewer-17",
          domain: "financial",
          interaction: {
            ai_recommendation_presented: true,
            ai_available: true,
            scenario_type: "standard",
            ...interactionExample,
          },
        },
      },
      {
        summary: "The flat variant, in lite mode",
        query: { mode: "lite", role_tier: "tier_2" },
        body: { operator_id: "reviewer-17", domain: "financial", ...interactionExample },
      },
      {
        summary: "Frozen during an incident",
        query: { mode_override: "incident_frozen" },
        body: {
          session_id: "case-2026-000124",
          operator_id: "reviewer-17",
          domain: "financial",
          interaction: { time_to_decision_ms: 900, decision: "accepted" },
        },
      },
    ],
    handler: postScore,
  },
  {
    method: "POST",
    path: "/v1/admin/org/create",
    operationId: "postOrganization",
    summary: "Create an organization",
    description:
      "Creates the organization, its key and its chains. The key is shown once; a repeated call answers with `prefix` and `already_provisioned` only.",
    auth: { kind: "master", scope: "ORG_CREATE" },
    layer1: true,
    body: { schema: createOrganizationSchema, limitBytes: BODY_LIMIT_BYTES },
    parameters: null,
    idempotent: true,
    success: {
      status: 201,
      description: "Created, or already provisioned by an earlier call with this Idempotency-Key.",
      schema: z.union([organizationCreatedSchema, alreadyProvisionedSchema]),
    },
    errors: ["CONFLICT", "IDEMPOTENCY_KEY_REUSED"],
    examples: [{
      summary: "A bank",
      body: {
        org_id: "acme-bank",
        name: "Acme Bank",
        domain: "financial",
        tier: "standard",
        allowed_origins: "https://review.acme.example",
      },
    }],
    handler: postOrganization,
  },
];

/** The methods of a path; HEAD is answered wherever GET is. */
export function methodsOf(path: string): readonly string[] {
  const methods = ROUTES.filter((route) => route.path === path).map((route) => route.method);
  return [...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])))];
}
