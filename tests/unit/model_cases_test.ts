/** The worked cases of the default model, which `task mutate` also runs on changed documents. */
import { DEFAULT_MODEL_DOCUMENT } from "../../src/scoring/model.ts";
import { MODEL_CASES } from "../model_checks.ts";

for (const { name, holds } of MODEL_CASES) {
  Deno.test(`the default model: ${name}`, () => holds(DEFAULT_MODEL_DOCUMENT));
}
