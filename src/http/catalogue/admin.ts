/** Master-key administration. */
import * as z from "zod";
import {
  acknowledgementBodySchema,
  alertAcknowledgedSchema,
  alertPathSchema,
  alreadyProvisionedSchema,
  billingSuspendedSchema,
  confirmedBodySchema,
  emptyBodySchema,
  keyRevokedSchema,
  organizationReactivatedSchema,
  organizationRotatedSchema,
  organizationSuspendedSchema,
} from "../../domain/administration.ts";
import { isoTimestamp } from "../../domain/instant.ts";
import { BODY_LIMIT_BYTES } from "../../domain/limits.ts";
import { createOrganizationSchema, organizationPathSchema, orgIdSchema } from "../../domain/organization.ts";
import { envelopeFields } from "../../domain/score.ts";
import { usageResponseSchema } from "../../domain/usage.ts";
import type { Route } from "../exchange.ts";
import {
  getUsage,
  postAcknowledgement,
  postBillingRotation,
  postBillingSuspension,
  postForcedRevocation,
  postForcedRotation,
  postOrganization,
  postReactivation,
  postSuspension,
} from "../handlers/organizations.ts";

const organizationCreatedSchema = z.object({
  org_id: orgIdSchema,
  api_key: z.string().meta({ description: "Shown once, never again." }),
  prefix: z.string().length(8),
  created_at: isoTimestamp,
  warning: z.string(),
  ...envelopeFields,
}).meta({ id: "OrganizationCreated" });

const MASTER_POST = {
  method: "POST",
  layer1: true,
  parameters: null,
  idempotent: true,
} as const;

const ANOTHER_CALL = "d6b1f0a2-5a37-4b0e-9f4e-2f1f5f6d7c11";

/** Fields that the payment component's routes share: the body has no fields and may be left out. */
const BILLING = {
  ...MASTER_POST,
  pathParameters: organizationPathSchema,
  body: { schema: emptyBodySchema, limitBytes: BODY_LIMIT_BYTES, optional: true },
  examples: [{ summary: "A bank", path: { org_id: "caller" } }],
} as const;

/** Fields that the admin-dashboard component's routes share. */
const DASHBOARD = {
  ...MASTER_POST,
  pathParameters: organizationPathSchema,
  body: { schema: confirmedBodySchema, limitBytes: BODY_LIMIT_BYTES },
  examples: [{
    summary: "A bank",
    path: { org_id: "caller" },
    body: { confirm_org_id: "caller", idempotency_key: ANOTHER_CALL },
  }],
  dashboard: true,
} as const;

export const ADMIN_ROUTES: readonly Route[] = [
  {
    ...MASTER_POST,
    path: "/v1/admin/org/create",
    operationId: "postOrganization",
    summary: "Create an organization",
    description:
      "Creates the organization, its key and its chains. The key is shown once; a repeated call answers with `prefix` and `already_provisioned` only.",
    auth: { kind: "master", scope: "ORG_CREATE" },
    pathParameters: null,
    body: { schema: createOrganizationSchema, limitBytes: BODY_LIMIT_BYTES },
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
  {
    ...BILLING,
    path: "/v1/admin/billing/org/{org_id}/suspend",
    operationId: "postBillingSuspension",
    summary: "Suspend for want of payment",
    description: "The organization's key is destroyed. A repeat changes nothing.",
    auth: { kind: "master", scope: "BILLING_SUSPEND" },
    success: { status: 200, description: "Suspended.", schema: billingSuspendedSchema },
    errors: ["NOT_FOUND", "IDEMPOTENCY_KEY_REUSED"],
    handler: postBillingSuspension,
  },
  {
    ...BILLING,
    path: "/v1/admin/billing/org/{org_id}/rotate",
    operationId: "postBillingRotation",
    summary: "Mint a new key after a payment",
    description:
      "Lifts a suspension for want of payment, and a revocation by the organization itself. What an administrator decided stands: 409.",
    auth: { kind: "master", scope: "BILLING_ROTATE" },
    success: {
      status: 200,
      description: "The new key; to a repeated call, that there is one.",
      schema: z.union([organizationRotatedSchema, alreadyProvisionedSchema]),
    },
    errors: ["NOT_FOUND", "CONFLICT", "IDEMPOTENCY_KEY_REUSED"],
    handler: postBillingRotation,
  },
  {
    ...DASHBOARD,
    path: "/v1/admin/org/{org_id}/suspend",
    operationId: "postSuspension",
    summary: "Suspend an organization",
    description: "Its key stops working until it is reactivated. A repeat changes nothing.",
    auth: { kind: "master", scope: "ORG_SUSPEND" },
    success: { status: 200, description: "Suspended.", schema: organizationSuspendedSchema },
    errors: ["NOT_FOUND", "IDEMPOTENCY_KEY_REUSED", "NOT_IMPLEMENTED"],
    handler: postSuspension,
  },
  {
    ...DASHBOARD,
    path: "/v1/admin/org/{org_id}/reactivate",
    operationId: "postReactivation",
    summary: "Lift an administrator's suspension",
    description: "The key from before it works again, unless there are other reasons, which are named.",
    auth: { kind: "master", scope: "ORG_REACTIVATE" },
    success: { status: 200, description: "Reactivated.", schema: organizationReactivatedSchema },
    errors: ["NOT_FOUND", "CONFLICT", "IDEMPOTENCY_KEY_REUSED", "NOT_IMPLEMENTED"],
    handler: postReactivation,
  },
  {
    ...DASHBOARD,
    path: "/v1/admin/org/{org_id}/force-rotate",
    operationId: "postForcedRotation",
    summary: "Replace an organization's key",
    description: "Mints a new key, shown once; the one before it is revoked for good.",
    auth: { kind: "master", scope: "ORG_FORCE_ROTATE" },
    success: {
      status: 200,
      description: "The new key; to a repeated call, that there is one.",
      schema: z.union([organizationRotatedSchema, alreadyProvisionedSchema]),
    },
    errors: [
      "NOT_FOUND",
      "CONFLICT",
      "IDEMPOTENCY_KEY_REUSED",
      "NOT_IMPLEMENTED",
      "upstream_protocol_violation",
    ],
    handler: postForcedRotation,
  },
  {
    ...DASHBOARD,
    path: "/v1/admin/org/{org_id}/force-revoke",
    operationId: "postForcedRevocation",
    summary: "Revoke an organization's key",
    description: "The key is destroyed and the organization inactive. A repeat changes nothing.",
    auth: { kind: "master", scope: "ORG_FORCE_REVOKE" },
    success: { status: 200, description: "Revoked.", schema: keyRevokedSchema },
    errors: ["NOT_FOUND", "IDEMPOTENCY_KEY_REUSED", "NOT_IMPLEMENTED"],
    handler: postForcedRevocation,
  },
  {
    ...DASHBOARD,
    path: "/v1/admin/alerts/{alert_id}/ack",
    operationId: "postAcknowledgement",
    summary: "Acknowledge an alert",
    description: "A repeat changes nothing. `jiss alerts list` shows the alerts that are open.",
    auth: { kind: "master", scope: "ALERT_ACK" },
    pathParameters: alertPathSchema,
    body: { schema: acknowledgementBodySchema, limitBytes: BODY_LIMIT_BYTES },
    examples: [{
      summary: "A rate that is out of the ordinary",
      path: { alert_id: "alert-of-the-example" },
      body: { idempotency_key: ANOTHER_CALL },
    }],
    success: { status: 200, description: "Acknowledged.", schema: alertAcknowledgedSchema },
    errors: ["NOT_FOUND", "IDEMPOTENCY_KEY_REUSED", "NOT_IMPLEMENTED"],
    handler: postAcknowledgement,
  },
];
