/** An organization's webhook destinations. */
import {
  deliveriesParametersSchema,
  deliveryPathSchema,
  webhookPathSchema,
  webhookRequestSchema,
} from "../../domain/webhook.ts";
import { listDeliveries, redeliver, testWebhook } from "../../operations/webhooks/delivery_log.ts";
import { listWebhooks, registerWebhook, removeWebhook } from "../../operations/webhooks/webhooks.ts";
import type { HandlerInput, Reply, Services } from "../exchange.ts";
import { idempotentCall } from "../idempotency_key.ts";
import { type ParameterSource, parseWith, readParameters } from "../parse.ts";
import { selfServe } from "./self_serve.ts";

export const DELIVERIES_PARAMETERS: readonly ParameterSource[] = [{ name: "status" }, { name: "limit" }];

export async function postWebhook(
  { dependencies }: Services,
  { context, exchange, json }: HandlerInput,
): Promise<Reply> {
  const request = parseWith(webhookRequestSchema, json);
  const { call } = exchange;
  const idempotency = idempotentCall(context);
  return {
    status: 201,
    ...await registerWebhook(dependencies, selfServe(exchange), { request, call, idempotency }),
  };
}

export async function getWebhooks(
  { dependencies }: Services,
  { exchange }: HandlerInput,
): Promise<Reply> {
  return { status: 200, body: await listWebhooks(dependencies, selfServe(exchange), exchange.call) };
}

export async function deleteWebhook(
  { dependencies }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { id } = parseWith(webhookPathSchema, context.req.param());
  const { call } = exchange;
  return { status: 200, body: await removeWebhook(dependencies, selfServe(exchange), { id, call }) };
}

export async function postWebhookTest(
  { dependencies }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { id } = parseWith(webhookPathSchema, context.req.param());
  const { call } = exchange;
  const idempotency = idempotentCall(context);
  return {
    status: 200,
    ...await testWebhook(dependencies, selfServe(exchange), { id, call, idempotency }),
  };
}

export async function getDeliveries(
  { dependencies }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { id } = parseWith(webhookPathSchema, context.req.param());
  const parameters = parseWith(
    deliveriesParametersSchema,
    readParameters(context.req.raw, DELIVERIES_PARAMETERS),
  );
  const { call } = exchange;
  const asked = { id, parameters, call };
  return { status: 200, body: await listDeliveries(dependencies, selfServe(exchange), asked) };
}

export async function postRedelivery(
  { dependencies }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { id, delivery_id: deliveryId } = parseWith(deliveryPathSchema, context.req.param());
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
}
