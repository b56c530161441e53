/** POST /v1/decision/score and GET /v1/decision/replay/{id}. */
import { decisionRequestSchema } from "../../domain/decision.ts";
import { replayPathSchema } from "../../domain/replay.ts";
import { scoreDecisionRisk } from "../../operations/scoring/decisions.ts";
import { replay } from "../../operations/scoring/replay.ts";
import type { HandlerInput, Reply, Services } from "../exchange.ts";
import { idempotentCall } from "../idempotency_key.ts";
import { parseWith } from "../parse.ts";

export async function postDecision(
  { dependencies }: Services,
  { context, exchange, json }: HandlerInput,
): Promise<Reply> {
  const { call } = exchange;
  const { interaction: _absent, decision_id, operator_id, domain, ai_confidence, stakes, ...interaction } =
    parseWith(decisionRequestSchema, json);
  const request = {
    decision_id: decision_id ?? null,
    operator_id,
    domain,
    interaction,
    ai_confidence,
    stakes,
  };
  const answer = await scoreDecisionRisk(dependencies, exchange.caller!, {
    request,
    call,
    idempotency: idempotentCall(context),
  });
  return { status: 200, ...answer };
}

export async function getReplay(
  { dependencies }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { id } = parseWith(replayPathSchema, context.req.param());
  const { now } = exchange.call;
  return { status: 200, body: { ...await replay(dependencies, exchange.caller!, { id, now }) } };
}
