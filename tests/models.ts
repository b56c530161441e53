/** Models that were released before the one that the program carries. */
import document from "../src/scoring/jis-1.0.0.json" with { type: "json" };
import type { ModelDocument } from "../src/scoring/model.ts";

/** Of the worked examples of the model's own description. */
export const JIS_1_0_0 = document as unknown as ModelDocument;
