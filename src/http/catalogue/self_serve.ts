/** The routes for an organization's own key: the key itself, the audit log, webhooks. */
import * as z from "zod";
import { alreadyProvisionedSchema, keyRevokedSchema, keyRotatedSchema } from "../../domain/administration.ts";
import {
  auditLogExportParametersSchema,
  auditLogParametersSchema,
  auditLogResponseSchema,
} from "../../domain/audit_log.ts";
import { BODY_LIMIT_BYTES } from "../../domain/limits.ts";
import {
  deliveriesParametersSchema,
  deliveriesSchema,
  deliveryPathSchema,
  redeliveredSchema,
  webhookAlreadyRegisteredSchema,
  webhookListSchema,
  webhookPathSchema,
  webhookRegisteredSchema,
  webhookRemovedSchema,
  webhookRequestSchema,
  webhookTestedSchema,
} from "../../domain/webhook.ts";
import { entrySchema } from "../../evidence/entry.ts";
import type { Route } from "../exchange.ts";
import {
  AUDIT_LOG_FILTERS,
  AUDIT_LOG_PARAMETERS,
  getAuditLog,
  getAuditLogExport,
  postKeyRevocation,
  postKeyRotation,
} from "../handlers/self_serve.ts";
import {
  deleteWebhook,
  DELIVERIES_PARAMETERS,
  getDeliveries,
  getWebhooks,
  postRedelivery,
  postWebhook,
  postWebhookTest,
} from "../handlers/webhooks.ts";
import { KEYED_DELETE, KEYED_POST, KEYED_READ } from "./defaults.ts";

const ROTATIONS = { since: "2026-11-01", event_type: "KEY_ROTATED" };

export const SELF_SERVE_ROUTES: readonly Route[] = [
  {
    ...KEYED_POST,
    headerKeyOnly: true,
    path: "/v1/admin/key/rotate",
    operationId: "postKeyRotation",
    summary: "Replace your key",
    description: "Mints a new key, shown once. The key that this call was made with stops working at once.",
    body: null,
    success: {
      status: 200,
      description: "The new key; to a repeated call, that there is one.",
      schema: z.union([keyRotatedSchema, alreadyProvisionedSchema]),
    },
    examples: [{ summary: "Replace it" }],
    handler: postKeyRotation,
  },
  {
    ...KEYED_POST,
    headerKeyOnly: true,
    path: "/v1/admin/key/revoke",
    operationId: "postKeyRevocation",
    summary: "Revoke your key",
    description: "Ends the organization's access. Only support, or a new payment, brings it back.",
    body: null,
    success: { status: 200, description: "The key is destroyed.", schema: keyRevokedSchema },
    examples: [{ summary: "End it" }],
    handler: postKeyRevocation,
  },
  {
    ...KEYED_READ,
    path: "/v1/admin/audit-log",
    operationId: "getAuditLog",
    summary: "Read your audit log",
    description:
      "What was done to the organization and its keys, newest first. That it was read is itself in the log.",
    parameters: { schema: auditLogParametersSchema, sources: AUDIT_LOG_PARAMETERS },
    success: {
      status: 200,
      description: "The newest events.",
      schema: auditLogResponseSchema(entrySchema.shape.actor),
    },
    examples: [{ summary: "The newest" }, { summary: "Rotations of the key", query: ROTATIONS }],
    handler: getAuditLog,
  },
  {
    ...KEYED_READ,
    path: "/v1/admin/audit-log/export",
    operationId: "getAuditLogExport",
    summary: "Carry your audit log away",
    description:
      "Exactly the events of the audit log, all of them, one JSON object a line, newest first. The provable form is `jiss export --chain admin`.",
    parameters: { schema: auditLogExportParametersSchema, sources: AUDIT_LOG_FILTERS },
    success: {
      status: 200,
      description: "The events.",
      schema: null,
      otherTypes: ["application/x-ndjson"],
      onlyOtherTypes: true,
    },
    examples: [{ summary: "Everything" }],
    handler: getAuditLogExport,
  },
  {
    ...KEYED_POST,
    headerKeyOnly: true,
    path: "/v1/admin/webhook/register",
    operationId: "postWebhook",
    summary: "Register a webhook",
    description:
      "A destination for events, over https. The secret that deliveries are signed with is derived from the one that is sent, and shown once. At most 10. A host that does not resolve, as those of the examples, is 422: name one of yours.",
    body: { schema: webhookRequestSchema, limitBytes: BODY_LIMIT_BYTES },
    success: {
      status: 201,
      description: "The destination and its secret; to a repeated call, the destination.",
      schema: z.union([webhookRegisteredSchema, webhookAlreadyRegisteredSchema]),
    },
    errors: ["CONFLICT"],
    examples: [{
      summary: "All events",
      body: { url: "https://review.acme.example/jiss", secret: "a-secret-of-the-receiver-2026" },
    }, {
      summary: "Decisions that need somebody",
      body: {
        url: "https://review.acme.example/risk",
        secret: "a-secret-of-the-receiver-2026",
        events: ["drs.must_review", "drs.escalation"],
      },
    }],
    handler: postWebhook,
  },
  {
    ...KEYED_READ,
    path: "/v1/admin/webhook/list",
    operationId: "getWebhooks",
    summary: "Your webhooks",
    description: "The oldest first, never with a secret.",
    success: { status: 200, description: "The destinations.", schema: webhookListSchema },
    examples: [{ summary: "All" }],
    handler: getWebhooks,
  },
  {
    ...KEYED_DELETE,
    path: "/v1/admin/webhook/{id}",
    operationId: "deleteWebhook",
    summary: "Remove a webhook",
    description: "Nothing more is sent there.",
    pathParameters: webhookPathSchema,
    success: { status: 200, description: "It is gone.", schema: webhookRemovedSchema },
    errors: ["NOT_FOUND"],
    examples: [{ summary: "One", path: { id: "webhook-of-the-example" } }],
    handler: deleteWebhook,
  },
  {
    ...KEYED_POST,
    headerKeyOnly: true,
    path: "/v1/admin/webhook/{id}/test",
    operationId: "postWebhookTest",
    summary: "Test a webhook",
    description:
      "Sends a signed `ping`, once, and answers how that went. A paused destination that takes it is paused no more.",
    body: null,
    pathParameters: webhookPathSchema,
    success: { status: 200, description: "How it went.", schema: webhookTestedSchema },
    errors: ["NOT_FOUND", "CONFLICT", "GONE"],
    examples: [{ summary: "One", path: { id: "webhook-of-the-example" } }],
    handler: postWebhookTest,
  },
  {
    ...KEYED_READ,
    path: "/v1/admin/webhook/{id}/deliveries",
    operationId: "getDeliveries",
    summary: "A webhook's deliveries",
    description:
      "The newest first, each with its attempts: when, with which status or class of error. Delivered ones are kept 7 days (1,000 at most), dead ones 30 days (100,000 at most).",
    pathParameters: webhookPathSchema,
    parameters: { schema: deliveriesParametersSchema, sources: DELIVERIES_PARAMETERS },
    success: { status: 200, description: "The deliveries.", schema: deliveriesSchema },
    errors: ["NOT_FOUND"],
    examples: [
      { summary: "The newest", path: { id: "webhook-of-the-example" } },
      {
        summary: "Dead ones",
        path: { id: "webhook-of-the-example" },
        query: { status: "dead", limit: "10" },
      },
    ],
    handler: getDeliveries,
  },
  {
    ...KEYED_POST,
    headerKeyOnly: true,
    path: "/v1/admin/webhook/{id}/deliveries/{delivery_id}/redeliver",
    operationId: "postRedelivery",
    summary: "Send a delivery again",
    description:
      "Queues what a delivered or dead delivery told for a new one, with an id and an idempotency key of its own.",
    body: null,
    pathParameters: deliveryPathSchema,
    success: { status: 200, description: "It is queued.", schema: redeliveredSchema },
    errors: ["NOT_FOUND", "CONFLICT", "GONE"],
    examples: [{
      summary: "One",
      path: { id: "webhook-of-the-example", delivery_id: "delivery-of-the-example" },
    }],
    handler: postRedelivery,
  },
];
