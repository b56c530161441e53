/** Models that were released before the one that the program carries. */
import document from "../docs/understand/models/jis-1.0.0.json" with { type: "json" };
import type { ModelDocument } from "../src/scoring/model.ts";

/** The model of the worked examples in its own description. */
export const JIS_1_0_0 = document as unknown as ModelDocument;
