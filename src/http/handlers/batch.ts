/** POST /v1/score/batch. */
import {
  batchFrameSchema,
  type BatchItem,
  type BatchRequest,
  flatBatchItemSchema,
  nestedBatchItemSchema,
} from "../../domain/batch.ts";
import { scoreBatch } from "../../operations/scoring/batch.ts";
import type { HandlerInput, Reply, Services } from "../exchange.ts";
import { idempotentCall } from "../idempotency_key.ts";
import { isNested, parseEach, parseWith, validationFailed } from "../parse.ts";

export async function postBatch(
  { dependencies }: Services,
  { context, exchange, json }: HandlerInput,
): Promise<Reply> {
  const request = parseBatch(json);
  const { call } = exchange;
  const answer = await scoreBatch(dependencies, exchange.caller!, {
    request,
    call,
    idempotency: idempotentCall(context),
  });
  return { status: 200, ...answer };
}

function parseBatch(json: unknown): BatchRequest {
  const { interactions, ...frame } = parseWith(batchFrameSchema, json);
  const items = parseEach<BatchItem>(interactions, {
    path: "interactions",
    schemaOf: (value) => isNested(value) ? nestedBatchItemSchema : flatItemSchema,
  });
  refuseRepeated(items);
  return { ...frame, interactions: items };
}

const flatItemSchema = flatBatchItemSchema.transform(({ session_id, ...interaction }): BatchItem => ({
  session_id,
  interaction,
}));

function refuseRepeated(items: readonly BatchItem[]): void {
  const seen = new Set<string>();
  const details = items.flatMap(({ session_id }, index) => {
    if (!seen.has(session_id)) {
      seen.add(session_id);
      return [];
    }
    return [{ path: `interactions.${index}.session_id`, message: "must stand once in the batch" }];
  });
  if (details.length > 0) throw validationFailed(details);
}
