/**
 * Organizations, by master keys: create one, read its usage, change its state and its key.
 * Source: specification, Master-key admin and Usage record; contract, sections 5 and 8.
 */
import * as z from "zod";
import { TIERS } from "../../domain/enums.ts";
import { isoTimestamp } from "../../domain/instant.ts";
import { BODY_LIMIT_BYTES, USAGE_WINDOW_DAYS } from "../../domain/limits.ts";
import { createOrganizationSchema, orgIdSchema } from "../../domain/organization.ts";
import { envelopeFields } from "../../domain/score.ts";
import type { MasterScope } from "../../keys/master_keys.ts";
import {
  forceRevoke,
  forceRotate,
  reactivateOrganization,
  rotateBilling,
  type StateOperation,
  suspendBilling,
  suspendOrganization,
} from "../../operations/organizations/organization_states.ts";
import { createOrganization } from "../../operations/organizations/organizations.ts";
import { organizationUsage } from "../../operations/organizations/usage.ts";
import type { Route } from "../exchange.ts";
import { idempotentCall, requireSameKey } from "../idempotency_key.ts";
import { parseWith, validationFailed } from "../parse.ts";
import { alreadyProvisionedSchema, keyPrefixSchema, keyRevokedSchema, newKeySchema } from "./key_answers.ts";
import { EXAMPLE_IDEMPOTENCY_KEY, idempotencyKeySchema, MASTER_POST } from "./shared.ts";

const organizationCreatedSchema = z.object({
  org_id: orgIdSchema,
  api_key: newKeySchema,
  prefix: keyPrefixSchema,
  created_at: isoTimestamp,
  warning: z.string(),
  ...envelopeFields,
}).meta({ id: "OrganizationCreated" });

const postOrganization: Route = {
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
  async handler({ dependencies }, { context, exchange, json }) {
    const organization = parseWith(createOrganizationSchema, json);
    return await createOrganization(dependencies, { actor: "payment-worker", orgId: null, prefix: null }, {
      organization,
      call: exchange.call,
      scope: "ORG_CREATE",
      idempotency: idempotentCall(context),
      apiKey: null,
    });
  },
};

const organizationPathSchema = z.object({ org_id: orgIdSchema });

const usageResponseSchema = z.object({
  org_id: orgIdSchema,
  tier: z.enum(TIERS),
  active: z.boolean(),
  interaction_count_current_period: z.int().min(0).meta({
    description: "Number of scores in the period, including batch items; counted exactly at each call.",
  }),
  period_start: isoTimestamp,
  period_end: isoTimestamp.meta({
    description: `The time of the call, ${USAGE_WINDOW_DAYS} days after period_start.`,
  }),
  tier_limit: z.int(),
  utilization_ratio: z.number().min(0),
  threshold_crossed: z.boolean(),
  ...envelopeFields,
}).meta({ id: "Usage" });

const getUsage: Route = {
  method: "GET",
  path: "/v1/admin/org/{org_id}/usage",
  operationId: "getUsage",
  summary: "Usage of an organization",
  description:
    "Number of scores in the last 30 days, counted exactly at each call. An organization over its limit is not throttled.",
  auth: { kind: "master", scope: "ORG_USAGE_READ" },
  layer1: true,
  pathParameters: organizationPathSchema,
  body: null,
  parameters: null,
  idempotent: false,
  success: { status: 200, description: "The usage record.", schema: usageResponseSchema },
  errors: ["NOT_FOUND"],
  examples: [{ summary: "A bank", path: { org_id: "caller" } }],
  async handler({ dependencies }, { exchange, path }) {
    const { org_id } = parseWith(organizationPathSchema, path);
    const body = await organizationUsage(dependencies, { orgId: org_id, now: exchange.call.now });
    return { status: 200, body };
  },
};

/** No field is required, and any field is ignored. */
const emptyBodySchema = z.object({}).meta({ id: "EmptyBody" });

/** Fields of a route of the payment component: the body has no fields and may be left out. */
function billingRoute(scope: MasterScope, operation: StateOperation) {
  return {
    ...MASTER_POST,
    auth: { kind: "master", scope },
    pathParameters: organizationPathSchema,
    body: { schema: emptyBodySchema, limitBytes: BODY_LIMIT_BYTES, optional: true },
    examples: [{ summary: "A bank", path: { org_id: "caller" } }],
    async handler({ dependencies }, { context, exchange, json, path }) {
      const { org_id } = parseWith(organizationPathSchema, path);
      parseWith(emptyBodySchema, json === undefined ? {} : json);
      return await operation(dependencies, { actor: "payment-worker" }, {
        orgId: org_id,
        call: exchange.call,
        scope,
        idempotency: idempotentCall(context),
        request: {},
      });
    },
  } satisfies Partial<Route>;
}

const billingSuspendedSchema = z.object({
  suspended: z.literal(true),
  org_id: orgIdSchema,
  suspended_at: isoTimestamp,
  note: z.string(),
  ...envelopeFields,
}).meta({ id: "BillingSuspended" });

const postBillingSuspension: Route = {
  ...billingRoute("BILLING_SUSPEND", suspendBilling),
  path: "/v1/admin/billing/org/{org_id}/suspend",
  operationId: "postBillingSuspension",
  summary: "Suspend for non-payment",
  description: "Destroys the organization's key. A repeated call changes nothing.",
  success: { status: 200, description: "Suspended.", schema: billingSuspendedSchema },
  errors: ["NOT_FOUND", "IDEMPOTENCY_KEY_REUSED"],
};

const organizationRotatedSchema = z.object({
  rotated: z.literal(true),
  org_id: orgIdSchema,
  new_api_key: newKeySchema,
  prefix: keyPrefixSchema,
  rotated_at: isoTimestamp,
  warning: z.string(),
  ...envelopeFields,
}).meta({ id: "OrganizationRotated" });

const postBillingRotation: Route = {
  ...billingRoute("BILLING_ROTATE", rotateBilling),
  path: "/v1/admin/billing/org/{org_id}/rotate",
  operationId: "postBillingRotation",
  summary: "Mint a new key after a payment",
  description:
    "Mints a new key, and lifts a suspension for non-payment or a revocation by the organization itself. It does not lift what an administrator decided: the answer is then 409.",
  success: {
    status: 200,
    description: "The new key. The answer to a repeated call contains only its prefix.",
    schema: z.union([organizationRotatedSchema, alreadyProvisionedSchema]),
  },
  errors: ["NOT_FOUND", "CONFLICT", "IDEMPOTENCY_KEY_REUSED"],
};

const confirmedBodySchema = z.object({
  confirm_org_id: orgIdSchema.meta({ description: "Repeats the org_id of the path." }),
  idempotency_key: idempotencyKeySchema,
}).meta({ id: "ConfirmedCall" });

/** Fields of a route of the admin dashboard: the body repeats the org_id and the idempotency key. */
function confirmedRoute(scope: MasterScope, operation: StateOperation) {
  return {
    ...MASTER_POST,
    auth: { kind: "master", scope },
    pathParameters: organizationPathSchema,
    body: { schema: confirmedBodySchema, limitBytes: BODY_LIMIT_BYTES },
    examples: [{
      summary: "A bank",
      path: { org_id: "caller" },
      body: { confirm_org_id: "caller", idempotency_key: EXAMPLE_IDEMPOTENCY_KEY },
    }],
    dashboard: true,
    async handler({ dependencies }, { context, exchange, json, path }) {
      const { org_id } = parseWith(organizationPathSchema, path);
      const { confirm_org_id, idempotency_key } = parseWith(confirmedBodySchema, json);
      if (confirm_org_id !== org_id) {
        throw validationFailed([{ path: "confirm_org_id", message: "must be the org_id of the path" }]);
      }
      requireSameKey(context, idempotency_key);
      return await operation(dependencies, { actor: "admin-worker" }, {
        orgId: org_id,
        call: exchange.call,
        scope,
        idempotency: idempotentCall(context),
        request: { confirm_org_id },
      });
    },
  } satisfies Partial<Route>;
}

const organizationSuspendedSchema = z.object({
  suspended: z.literal(true),
  org_id: orgIdSchema,
  suspended_at: isoTimestamp,
  ...envelopeFields,
}).meta({ id: "OrganizationSuspended" });

const postSuspension: Route = {
  ...confirmedRoute("ORG_SUSPEND", suspendOrganization),
  path: "/v1/admin/org/{org_id}/suspend",
  operationId: "postSuspension",
  summary: "Suspend an organization",
  description:
    "Its key stops working until the organization is reactivated. A repeated call changes nothing.",
  success: { status: 200, description: "Suspended.", schema: organizationSuspendedSchema },
  errors: ["NOT_FOUND", "IDEMPOTENCY_KEY_REUSED", "NOT_IMPLEMENTED"],
};

const organizationReactivatedSchema = z.object({
  reactivated: z.literal(true),
  org_id: orgIdSchema,
  reactivated_at: isoTimestamp,
  remaining: z.array(z.string()).optional().meta({
    description: "The other reasons for which the organization stays inactive; left out if there are none.",
  }),
  ...envelopeFields,
}).meta({ id: "OrganizationReactivated" });

const postReactivation: Route = {
  ...confirmedRoute("ORG_REACTIVATE", reactivateOrganization),
  path: "/v1/admin/org/{org_id}/reactivate",
  operationId: "postReactivation",
  summary: "Lift an administrator's suspension",
  description:
    "The earlier key works again. If the organization is inactive for other reasons, it stays inactive, and `remaining` names them.",
  success: { status: 200, description: "Reactivated.", schema: organizationReactivatedSchema },
  errors: ["NOT_FOUND", "CONFLICT", "IDEMPOTENCY_KEY_REUSED", "NOT_IMPLEMENTED"],
};

const postForcedRotation: Route = {
  ...confirmedRoute("ORG_FORCE_ROTATE", forceRotate),
  path: "/v1/admin/org/{org_id}/force-rotate",
  operationId: "postForcedRotation",
  summary: "Replace an organization's key",
  description: "Mints a new key, shown once, and revokes the earlier key for good.",
  success: {
    status: 200,
    description: "The new key. The answer to a repeated call contains only its prefix.",
    schema: z.union([organizationRotatedSchema, alreadyProvisionedSchema]),
  },
  errors: [
    "NOT_FOUND",
    "CONFLICT",
    "IDEMPOTENCY_KEY_REUSED",
    "NOT_IMPLEMENTED",
    "upstream_protocol_violation",
  ],
};

const postForcedRevocation: Route = {
  ...confirmedRoute("ORG_FORCE_REVOKE", forceRevoke),
  path: "/v1/admin/org/{org_id}/force-revoke",
  operationId: "postForcedRevocation",
  summary: "Revoke an organization's key",
  description: "Destroys the key and makes the organization inactive. A repeated call changes nothing.",
  success: { status: 200, description: "Revoked.", schema: keyRevokedSchema },
  errors: ["NOT_FOUND", "IDEMPOTENCY_KEY_REUSED", "NOT_IMPLEMENTED"],
};

export const ADMIN_ORGANIZATION_ROUTES: readonly Route[] = [
  postOrganization,
  getUsage,
  postBillingSuspension,
  postBillingRotation,
  postSuspension,
  postReactivation,
  postForcedRotation,
  postForcedRevocation,
];
