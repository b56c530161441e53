/**
 * A batch: 1 to 100 interactions of one operator, scored in the order of the array, all or none.
 * Source: specification, POST /v1/score/batch; contract, sections 4 and 8.8.
 */
import type { Domain } from "./enums.ts";
import type { Interaction } from "./interaction.ts";
import { scoreParametersSchema } from "./score.ts";

/** One interaction of a batch, with its defaults explicit. */
export interface BatchItem {
  readonly session_id: string;
  readonly interaction: Interaction;
}

export interface BatchRequest {
  readonly operator_id: string;
  readonly domain: Domain;
  readonly interactions: readonly BatchItem[];
}

/** A batch takes no parameters: every item is scored in full mode, the default. */
export const BATCH_PARAMETERS = scoreParametersSchema.parse({});
