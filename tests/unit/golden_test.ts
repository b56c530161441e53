/** The golden vectors of the default model, to the last digit. */
import assert from "node:assert/strict";
import { modelSha256 } from "../../src/evidence/hashes.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { DEFAULT_MODEL_DOCUMENT } from "../../src/scoring/model.ts";
import { GOLDEN, VECTOR_CHECKS } from "../model_checks.ts";
import { kept, keptText } from "../vectors/scoring/keep.ts";

for (const { name, holds } of VECTOR_CHECKS) Deno.test(name, () => holds(DEFAULT_MODEL_DOCUMENT));

Deno.test("the golden vectors are those of the program's document, by its hash", () => {
  const { version } = DEFAULT_MODEL_DOCUMENT;
  assert.deepEqual(GOLDEN.model, { version, sha256: modelSha256(nodeCrypto, DEFAULT_MODEL_DOCUMENT) });
});

Deno.test("the script that keeps the golden vectors writes the kept bytes", async () => {
  const path = `${import.meta.dirname}/../vectors/scoring/${DEFAULT_MODEL_DOCUMENT.version}.json`;
  assert.equal(await Deno.readTextFile(path), keptText(kept()));
});
