/** Every released model: the one that the program carries, and those before it. */
import first from "../docs/understand/models/jis-1.0.0.json" with { type: "json" };
import second from "../docs/understand/models/jis-1.1.0.json" with { type: "json" };
import built from "../src/scoring/jis-2.0.0.json" with { type: "json" };
import type { ModelDocument } from "../src/scoring/model.ts";

/** The model of the worked examples in its own description. */
export const JIS_1_0_0 = first as unknown as ModelDocument;

/** The last model of the formulas before `jis-3`. */
export const JIS_1_1_0 = second as unknown as ModelDocument;

/** The model in use. */
export const JIS_2_0_0 = built as unknown as ModelDocument;
