/** POST /v1/score. */
import {
  flatScoreRequestSchema,
  nestedScoreRequestSchema,
  scoreParametersSchema,
} from "../../domain/score.ts";
import { scoreInteraction, type SentScore } from "../../operations/scoring/score.ts";
import type { HandlerInput, Reply, Services } from "../exchange.ts";
import { idempotentCall } from "../idempotency_key.ts";
import { isNested, type ParameterSource, parseWith, readParameters } from "../parse.ts";

/** The query wins over the header. */
export const SCORE_PARAMETERS: readonly ParameterSource[] = [
  { name: "mode", header: "X-Service-Mode" },
  { name: "role_tier", header: "X-Service-Role-Tier" },
  { name: "mode_override", header: "X-Service-Mode-Override" },
];

export async function postScore(
  { dependencies }: Services,
  { context, exchange, json }: HandlerInput,
): Promise<Reply> {
  const parameters = parseWith(scoreParametersSchema, readParameters(context.req.raw, SCORE_PARAMETERS));
  const { call } = exchange;
  const answer = await scoreInteraction(dependencies, exchange.caller!, {
    request: { ...parseScoreBody(json), ...parameters },
    call,
    idempotency: idempotentCall(context),
  });
  return { status: 200, ...answer };
}

function parseScoreBody(
  json: unknown,
): Pick<SentScore, "session_id" | "operator_id" | "domain" | "interaction"> {
  if (isNested(json)) return parseWith(nestedScoreRequestSchema, json);
  const { session_id, operator_id, domain, ...interaction } = parseWith(flatScoreRequestSchema, json);
  return { session_id: session_id ?? null, operator_id, domain, interaction };
}
