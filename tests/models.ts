/** Models other than the one that the program carries. */
import document from "../docs/understand/models/jis-1.0.0.json" with { type: "json" };
import next from "../docs/understand/models/jis-2.0.0.json" with { type: "json" };
import type { ModelDocument } from "../src/scoring/model.ts";

/** The model of the worked examples in its own description. */
export const JIS_1_0_0 = document as unknown as ModelDocument;

/** The candidate that is to follow it. */
export const JIS_2_0_0 = next as unknown as ModelDocument;
