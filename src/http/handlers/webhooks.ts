/** An organization's webhook destinations. */
import {
  deliveriesParametersSchema,
  deliveryPathSchema,
  webhookPathSchema,
  webhookRequestSchema,
} from "../../domain/webhook.ts";
import { listDeliveries, redeliver, testWebhook } from "../../operations/delivery_log.ts";
import { listWebhooks, registerWebhook, removeWebhook } from "../../operations/webhooks.ts";
import type { HandlerInput, Reply, Services } from "../exchange.ts";
import { type ParameterSource, parseWith, readParameters } from "../parse.ts";
import { selfServe } from "./self_serve.ts";

export const DELIVERIES_PARAMETERS: readonly ParameterSource[] = [{ name: "status" }, { name: "limit" }];

export async function postWebhook(
  { dependencies }: Services,
  { exchange, json }: HandlerInput,
): Promise<Reply> {
  const request = parseWith(webhookRequestSchema, json);
  const { call } = exchange;
  return { status: 201, body: await registerWebhook(dependencies, selfServe(exchange), { request, call }) };
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
  return { status: 200, body: await testWebhook(dependencies, selfServe(exchange), { id, call }) };
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
    body: await redeliver(dependencies, selfServe(exchange), { id, deliveryId, call }),
  };
}
