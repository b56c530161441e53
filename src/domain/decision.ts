/**
 * A decision that is scored for its risk.
 * Source: specification, POST /v1/decision/score; contract, section 4; scoring model, section 11.
 */
import type { Domain, Stakes } from "./enums.ts";
import type { Interaction } from "./interaction.ts";

/** A decision request with its defaults explicit. */
export interface DecisionRequest {
  readonly decision_id: string;
  readonly operator_id: string;
  readonly domain: Domain;
  readonly interaction: Interaction;
  readonly ai_confidence: number | null;
  readonly stakes: Stakes | null;
}
