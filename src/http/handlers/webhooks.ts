/** An organization's webhook destinations. */
import { webhookPathSchema, webhookRequestSchema } from "../../domain/webhook.ts";
import { listWebhooks, registerWebhook, removeWebhook } from "../../operations/webhooks.ts";
import type { HandlerInput, Reply, Services } from "../exchange.ts";
import { parseWith } from "../parse.ts";
import { selfServe } from "./self_serve.ts";

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
