/** POST /v1/score. */
import {
  flatScoreRequestSchema,
  nestedScoreRequestSchema,
  scoreParametersSchema,
  type ScoreRequest,
} from "../../domain/score.ts";
import { scoreInteraction } from "../../operations/score.ts";
import type { HandlerInput, Reply, Services } from "../exchange.ts";
import { isNested, type ParameterSource, parseWith, readParameters } from "../parse.ts";

/** The query wins over the header. */
export const SCORE_PARAMETERS: readonly ParameterSource[] = [
  { name: "mode", header: "X-Service-Mode" },
  { name: "role_tier", header: "X-Service-Role-Tier" },
  { name: "mode_override", header: "X-Service-Mode-Override" },
];

export async function postScore(
  services: Services,
  { context, exchange, json }: HandlerInput,
): Promise<Reply> {
  const parameters = parseWith(scoreParametersSchema, readParameters(context.req.raw, SCORE_PARAMETERS));
  const request: ScoreRequest = { ...parseScoreBody(services, { exchange, json }), ...parameters };
  const { call } = exchange;
  const answer = await scoreInteraction(services.dependencies, exchange.caller!, { request, call });
  return { status: 200, ...answer };
}

function parseScoreBody(
  { dependencies }: Services,
  { exchange, json }: Pick<HandlerInput, "exchange" | "json">,
): Pick<ScoreRequest, "session_id" | "operator_id" | "domain" | "interaction"> {
  if (isNested(json)) return parseWith(nestedScoreRequestSchema, json);
  const { session_id, operator_id, domain, ...interaction } = parseWith(flatScoreRequestSchema, json);
  return {
    session_id: session_id ?? dependencies.world.ulid(exchange.call.now),
    operator_id,
    domain,
    interaction,
  };
}
