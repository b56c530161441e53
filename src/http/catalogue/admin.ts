/** Master-key administration. */
import { z } from "zod";
import { BODY_LIMIT_BYTES } from "../../domain/limits.ts";
import { createOrganizationSchema, organizationPathSchema } from "../../domain/organization.ts";
import { envelopeFields } from "../../domain/score.ts";
import { usageResponseSchema } from "../../domain/usage.ts";
import type { Route } from "../exchange.ts";
import { getUsage, postOrganization } from "../handlers/organizations.ts";

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

export const ADMIN_ROUTES: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/admin/org/create",
    operationId: "postOrganization",
    summary: "Create an organization",
    description:
      "Creates the organization, its key and its chains. The key is shown once; a repeated call answers with `prefix` and `already_provisioned` only.",
    auth: { kind: "master", scope: "ORG_CREATE" },
    layer1: true,
    pathParameters: null,
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
  {
    method: "GET",
    path: "/v1/admin/org/{org_id}/usage",
    operationId: "getUsage",
    summary: "Usage of an organization",
    description:
      "Scores of the last 30 days, counted exactly at each call. Crossing the limit never throttles.",
    auth: { kind: "master", scope: "ORG_USAGE_READ" },
    layer1: true,
    pathParameters: organizationPathSchema,
    body: null,
    parameters: null,
    idempotent: false,
    success: { status: 200, description: "The usage record.", schema: usageResponseSchema },
    errors: ["NOT_FOUND"],
    examples: [{ summary: "A bank", path: { org_id: "caller" } }],
    handler: getUsage,
  },
];
