/** The golden vectors of the default model and of the next one, to the last digit. */
import assert from "node:assert/strict";
import { modelSha256 } from "../../src/evidence/hashes.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { DEFAULT_MODEL_DOCUMENT, modelSchema } from "../../src/scoring/model.ts";
import next from "../../src/scoring/jis-2.0.0.json" with { type: "json" };
import { ANSWER } from "../golden.ts";
import { GOLDEN, VECTOR_CHECKS } from "../model_checks.ts";
import { kept, keptText } from "../vectors/scoring/keep.ts";
import nextVectors from "../vectors/scoring/jis-2.0.0.json" with { type: "json" };
import type { Golden } from "../golden.ts";

const NEXT = modelSchema.parse(next);
const NEXT_GOLDEN = nextVectors as unknown as Golden;

for (const { name, holds } of VECTOR_CHECKS) Deno.test(name, () => holds(DEFAULT_MODEL_DOCUMENT));

for (const history of NEXT_GOLDEN.histories) {
  Deno.test(`golden vectors of jis-2.0.0: ${history.name}`, () => {
    assert.deepEqual(ANSWER.histories(NEXT, history), history);
  });
}

for (const [document, golden] of [[DEFAULT_MODEL_DOCUMENT, GOLDEN], [NEXT, NEXT_GOLDEN]] as const) {
  const { version } = document;
  Deno.test(`the golden vectors of ${version} are those of the program's document, by its hash`, () => {
    assert.deepEqual(golden.model, { version, sha256: modelSha256(nodeCrypto, document) });
  });

  Deno.test(`the script that keeps the golden vectors of ${version} writes the kept bytes`, async () => {
    const path = `${import.meta.dirname}/../vectors/scoring/${version}.json`;
    assert.equal(await Deno.readTextFile(path), keptText(kept(document)));
  });
}
