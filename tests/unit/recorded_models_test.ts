/** Model documents in a stranger's file: nothing is computed from a document that the schema refuses. */
import assert from "node:assert/strict";
import { readRecordedModel } from "../../src/evidence/recorded_model.ts";
import { DEFAULT_MODEL_DOCUMENT, modelSchema } from "../../src/scoring/model.ts";
import type { Json } from "../bundle_tampering.ts";
import { MODEL_ROWS } from "../model_rows.ts";
import { JIS_1_0_0 } from "../models.ts";
import { run } from "../verification.ts";

run(MODEL_ROWS);

Deno.test("every released document can be used for computing, without the members that no record needs", () => {
  for (const document of [JIS_1_0_0, DEFAULT_MODEL_DOCUMENT] as Json[]) {
    const read = readRecordedModel(document);
    assert.ok("document" in read, JSON.stringify(read));
    assert.equal(read.document.law, undefined);
    assert.deepEqual(read.document.decay, document.decay);
  }
});

Deno.test("a list that is read for each score has a greatest length, which is checked before anything is scored", () => {
  const lists: readonly (readonly [string, (document: Json, items: unknown[]) => void, unknown])[] = [
    ["decay.projection_days", ({ decay }, items) => decay.projection_days = items, 7],
    [
      "thresholds.floor_dimensions",
      ({ thresholds }, items) => thresholds.floor_dimensions = items,
      "domain_confidence",
    ],
    [
      "maintenance.withhold.dimensions",
      (document, items) => document.maintenance.withhold.dimensions = items,
      "domain_confidence",
    ],
  ];
  for (const [path, put, item] of lists) {
    const document = structuredClone(DEFAULT_MODEL_DOCUMENT) as Json;
    put(document, Array(2_000).fill(item));
    const { error } = modelSchema.safeParse(document);
    assert.deepEqual(error!.issues.map((issue) => [issue.path.join("."), issue.code]), [[path, "too_big"]]);
    const read = readRecordedModel(document);
    assert.ok("fault" in read && read.fault === "too large" && read.detail.startsWith(path), path);
  }
});
