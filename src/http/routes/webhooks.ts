/** An organization's webhook destinations, and their deliveries. */
import * as z from "zod";
import { DELIVERY_STATUSES } from "../../domain/enums.ts";
import { BODY_LIMIT_BYTES, DELIVERIES_PAGE_DEFAULT, DELIVERIES_PAGE_MAX } from "../../domain/limits.ts";
import { envelopeFields } from "../../domain/score.ts";
import {
  deliveriesSchema,
  redeliveredSchema,
  webhookAlreadyRegisteredSchema,
  webhookListSchema,
  webhookRegisteredSchema,
  webhookRequestSchema,
  webhookTestedSchema,
} from "../../domain/webhook.ts";
import { listDeliveries, redeliver, testWebhook } from "../../operations/webhooks/delivery_log.ts";
import { listWebhooks, registerWebhook, removeWebhook } from "../../operations/webhooks/webhooks.ts";
import type { Route } from "../exchange.ts";
import { idempotentCall } from "../idempotency_key.ts";
import { parseParameters, parseWith } from "../parse.ts";
import { integerParameter } from "./parameters.ts";
import { KEYED_DELETE, KEYED_POST, KEYED_READ, keyFor, selfServe } from "./shared.ts";

const postWebhook: Route = {
  ...KEYED_POST,
  ...keyFor("administer"),
  headerKeyOnly: true,
  path: "/v1/admin/webhook/register",
  operationId: "postWebhook",
  summary: "Register a webhook",
  description:
    "Registers an https destination for events, at most 10 for each organization. The secret that signs deliveries is derived from the secret in the request, and is shown once. A host that does not resolve gets 422: replace the hosts of the examples with your own.",
  body: { schema: webhookRequestSchema, limitBytes: BODY_LIMIT_BYTES },
  success: {
    status: 201,
    description: "The destination and its secret. The answer to a repeated call does not contain the secret.",
    schema: z.union([webhookRegisteredSchema, webhookAlreadyRegisteredSchema]),
  },
  errors: ["CONFLICT"],
  examples: [{
    summary: "The default events",
    body: { url: "https://review.acme.example/jiss", secret: "a-secret-of-the-receiver-2026" },
  }, {
    summary: "Decisions that a person must review",
    body: {
      url: "https://review.acme.example/risk",
      secret: "a-secret-of-the-receiver-2026",
      events: ["drs.must_review", "drs.escalation"],
    },
  }],
  async handler({ dependencies }, { context, exchange, json }) {
    const request = parseWith(webhookRequestSchema, json);
    const { call } = exchange;
    const idempotency = idempotentCall(context);
    return {
      status: 201,
      ...await registerWebhook(dependencies, selfServe(exchange), { request, call, idempotency }),
    };
  },
};

const getWebhooks: Route = {
  ...KEYED_READ,
  ...keyFor("administer"),
  path: "/v1/admin/webhook/list",
  operationId: "getWebhooks",
  summary: "Your webhooks",
  description: "Returns the registered destinations, oldest first, without their secrets.",
  success: { status: 200, description: "The destinations.", schema: webhookListSchema },
  examples: [{ summary: "All" }],
  async handler({ dependencies }, { exchange }) {
    return { status: 200, body: await listWebhooks(dependencies, selfServe(exchange), exchange.call) };
  },
};

const webhookPathSchema = z.object({
  id: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/, "must be 1 to 128 letters, digits, hyphens or underscores"),
});

const webhookRemovedSchema = z.object({
  deleted: z.literal(true),
  id: z.string(),
  ...envelopeFields,
}).meta({ id: "WebhookRemoved" });

const deleteWebhook: Route = {
  ...KEYED_DELETE,
  ...keyFor("administer"),
  path: "/v1/admin/webhook/{id}",
  operationId: "deleteWebhook",
  summary: "Remove a webhook",
  description: "Removes the destination. Nothing more is sent to it.",
  pathParameters: webhookPathSchema,
  success: { status: 200, description: "Removed.", schema: webhookRemovedSchema },
  errors: ["NOT_FOUND"],
  examples: [{ summary: "One", path: { id: "webhook-of-the-example" } }],
  async handler({ dependencies }, { exchange, path }) {
    const { id } = parseWith(webhookPathSchema, path);
    const { call } = exchange;
    return { status: 200, body: await removeWebhook(dependencies, selfServe(exchange), { id, call }) };
  },
};

const postWebhookTest: Route = {
  ...KEYED_POST,
  ...keyFor("administer"),
  headerKeyOnly: true,
  path: "/v1/admin/webhook/{id}/test",
  operationId: "postWebhookTest",
  summary: "Test a webhook",
  description:
    "Sends one signed `ping` and returns the result. If a paused destination accepts it, the destination is no longer paused.",
  body: null,
  pathParameters: webhookPathSchema,
  success: { status: 200, description: "The result of the test.", schema: webhookTestedSchema },
  errors: ["NOT_FOUND", "CONFLICT", "GONE"],
  examples: [{ summary: "One", path: { id: "webhook-of-the-example" } }],
  async handler({ dependencies }, { context, exchange, path }) {
    const { id } = parseWith(webhookPathSchema, path);
    const { call } = exchange;
    const idempotency = idempotentCall(context);
    return {
      status: 200,
      ...await testWebhook(dependencies, selfServe(exchange), { id, call, idempotency }),
    };
  },
};

const deliveriesParametersSchema = z.object({
  status: z.enum(DELIVERY_STATUSES, { error: `must be one of ${DELIVERY_STATUSES.join(", ")}` }).optional(),
  limit: integerParameter({ min: 1, max: DELIVERIES_PAGE_MAX, fallback: DELIVERIES_PAGE_DEFAULT }),
});

const getDeliveries: Route = {
  ...KEYED_READ,
  ...keyFor("administer"),
  path: "/v1/admin/webhook/{id}/deliveries",
  operationId: "getDeliveries",
  summary: "A webhook's deliveries",
  description:
    "Returns deliveries, newest first, each with the time and the status or class of error of its attempts. Delivered ones are kept for 7 days (at most 1,000), dead ones for 30 days (at most 100,000).",
  pathParameters: webhookPathSchema,
  parameters: deliveriesParametersSchema,
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
  async handler({ dependencies }, { exchange, path, request }) {
    const { id } = parseWith(webhookPathSchema, path);
    const parameters = parseParameters(request, deliveriesParametersSchema);
    const { call } = exchange;
    const query = { id, parameters, call };
    return { status: 200, body: await listDeliveries(dependencies, selfServe(exchange), query) };
  },
};

const deliveryPathSchema = webhookPathSchema.extend({
  delivery_id: z.uuid("must be the UUID of a delivery"),
});

const postRedelivery: Route = {
  ...KEYED_POST,
  ...keyFor("administer"),
  headerKeyOnly: true,
  path: "/v1/admin/webhook/{id}/deliveries/{delivery_id}/redeliver",
  operationId: "postRedelivery",
  summary: "Send a delivery again",
  description:
    "Queues the event of a delivered or dead delivery again, as a new delivery with its own id and idempotency key.",
  body: null,
  pathParameters: deliveryPathSchema,
  success: { status: 200, description: "Queued.", schema: redeliveredSchema },
  errors: ["NOT_FOUND", "CONFLICT", "GONE"],
  examples: [{
    summary: "One",
    path: { id: "webhook-of-the-example", delivery_id: "delivery-of-the-example" },
  }],
  async handler({ dependencies }, { context, exchange, path }) {
    const { id, delivery_id: deliveryId } = parseWith(deliveryPathSchema, path);
    const { call } = exchange;
    return {
      status: 200,
      ...await redeliver(dependencies, selfServe(exchange), {
        id,
        deliveryId,
        call,
        idempotency: idempotentCall(context),
      }),
    };
  },
};

export const WEBHOOK_ROUTES: readonly Route[] = [
  postWebhook,
  getWebhooks,
  deleteWebhook,
  postWebhookTest,
  getDeliveries,
  postRedelivery,
];
