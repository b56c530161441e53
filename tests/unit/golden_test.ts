/** The golden vectors of the default model and of the one before it, to the last digit. */
import assert from "node:assert/strict";
import { modelSha256 } from "../../src/evidence/hashes.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { DEFAULT_MODEL_DOCUMENT } from "../../src/scoring/model.ts";
import type { Golden } from "../golden.ts";
import { GOLDEN, VECTOR_CHECKS, vectorChecks } from "../model_checks.ts";
import { JIS_1_1_0 } from "../models.ts";
import { kept, keptText } from "../vectors/scoring/keep.ts";
import earlier from "../vectors/scoring/jis-1.1.0.json" with { type: "json" };

const EARLIER = earlier as unknown as Golden;

const RELEASED = [
  { document: DEFAULT_MODEL_DOCUMENT, golden: GOLDEN, checks: VECTOR_CHECKS },
  { document: JIS_1_1_0, golden: EARLIER, checks: vectorChecks(EARLIER) },
] as const;

for (const { document, golden, checks } of RELEASED) {
  const { version } = document;
  for (const { name, holds } of checks) Deno.test(`${version}: ${name}`, () => holds(document));

  Deno.test(`the golden vectors of ${version} are those of the program's document, by its hash`, () => {
    assert.deepEqual(golden.model, { version, sha256: modelSha256(nodeCrypto, document) });
  });

  Deno.test(`the script that keeps the golden vectors of ${version} writes the kept bytes`, async () => {
    const path = `${import.meta.dirname}/../vectors/scoring/${version}.json`;
    assert.equal(await Deno.readTextFile(path), keptText(kept(document)));
  });
}
