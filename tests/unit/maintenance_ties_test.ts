/** Exact ties between the dimensions that maintenance could turn to. */
import assert from "node:assert/strict";
import { type Dimension, DIMENSIONS } from "../../src/domain/enums.ts";
import { recommendMaintenance } from "../../src/scoring/maintenance.ts";
import type { ModelDocument } from "../../src/scoring/model.ts";
import { JIS_1_0_0, JIS_2_0_0 } from "../models.ts";

/** The reason that names the weakest dimension, if two are below the target by 12 and by 18. */
function weakestOf(model: ModelDocument, below: Partial<Record<Dimension, number>>): readonly string[] {
  const dimensions = Object.fromEntries(
    DIMENSIONS.map((name) => [name, model.thresholds.target_jis - (below[name] ?? 0)]),
  );
  const { recommendation } = recommendMaintenance(model, {
    jis: model.thresholds.target_jis - 1,
    dimensions,
    mode: "full",
    decay: { current_trend: 0, days_to_non_compliance: null } as never,
    minimumDataMet: true,
    groundTruth: 100,
    now: 0,
  });
  return recommendation.reasons.filter((reason) => reason.startsWith("weakest_dimension_"));
}

function weighted(model: ModelDocument, weights: Partial<Record<Dimension, number>>): ModelDocument {
  const document = structuredClone(model) as unknown as {
    dimensions: Record<Dimension, { weight: number }>;
  };
  for (const name of DIMENSIONS) document.dimensions[name].weight = weights[name] ?? 0;
  return document as unknown as ModelDocument;
}

const [FIRST, SECOND] = [DIMENSIONS[0]!, DIMENSIONS[1]!];

Deno.test("products that are equal in decimals are a tie with jis-3, which goes to the first dimension", () => {
  assert.ok(0.15 * 12 < 0.1 * 18, "binary64 does not know this tie");
  const model = weighted(JIS_2_0_0, { [FIRST]: 0.15, [SECOND]: 0.1 });
  assert.deepEqual(weakestOf(model, { [FIRST]: 12, [SECOND]: 18 }), [`weakest_dimension_${FIRST}`]);
  assert.deepEqual(weakestOf(model, { [FIRST]: 12, [SECOND]: 19 }), [`weakest_dimension_${SECOND}`]);
});

Deno.test("the formulas before jis-3 compare products as binary64 has them, as their records replay", () => {
  const model = weighted(JIS_1_0_0, { [FIRST]: 0.15, [SECOND]: 0.1 });
  assert.deepEqual(weakestOf(model, { [FIRST]: 12, [SECOND]: 18 }), [`weakest_dimension_${SECOND}`]);
});
