/** POST /v1/score/{session_id}/commit. */
import { commitPathSchema, commitRequestSchema } from "../../domain/commit.ts";
import { commitScore } from "../../operations/scoring/commit.ts";
import type { HandlerInput, Reply, Services } from "../exchange.ts";
import { idempotentCall } from "../idempotency_key.ts";
import { parseWith } from "../parse.ts";

export async function postCommit(
  { dependencies }: Services,
  { context, exchange, json }: HandlerInput,
): Promise<Reply> {
  const { session_id } = parseWith(commitPathSchema, context.req.param());
  const { outcome_correct } = parseWith(commitRequestSchema, json === undefined ? {} : json);
  const { call } = exchange;
  const answer = await commitScore(dependencies, exchange.caller!, {
    request: { sessionId: session_id, outcomeCorrect: outcome_correct },
    call,
    idempotency: idempotentCall(context),
  });
  return { status: 200, ...answer };
}
