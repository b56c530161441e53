/**
 * The worked cases of the default model, which `task mutate` also runs on changed documents, and those of the model
 * before it.
 */
import { DEFAULT_MODEL_DOCUMENT } from "../../src/scoring/model.ts";
import { EARLIER_CASES } from "../earlier_model_cases.ts";
import { MODEL_CASES } from "../model_checks.ts";
import { JIS_1_1_0 } from "../models.ts";

for (
  const [document, cases] of [[DEFAULT_MODEL_DOCUMENT, MODEL_CASES], [JIS_1_1_0, EARLIER_CASES]] as const
) {
  for (const { name, holds } of cases) Deno.test(`${document.version}: ${name}`, () => holds(document));
}
