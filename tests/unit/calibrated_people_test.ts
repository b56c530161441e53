/**
 * What models that `jiss calibrate` fits to real people promise, besides the figures of the page (people_test.ts): each
 * third of the people has a model fitted to the two other thirds.
 */
import assert from "node:assert/strict";
import {
  ALL_SCORED,
  atRiskOf,
  betterOf,
  calibratedOf,
  contradictionsOf,
  evaluated,
  KINDS,
  pooledCoverage,
} from "../people_evaluations.ts";
import { STUDIES } from "../people.ts";

for (const study of STUDIES) {
  Deno.test(`${study}: with such a model the counts of the other half lie in their intervals at least as often as foretold`, () => {
    const halves = calibratedOf(study).flatMap(({ halves }) => halves);
    for (const kind of KINDS) {
      const [came, foretold] = [
        pooledCoverage(halves, kind, "came"),
        pooledCoverage(halves, kind, "foretold"),
      ];
      assert.ok(foretold >= 0.9 && came >= foretold - 0.02, `${kind}: ${foretold} ${came}`);
    }
  });

  Deno.test(`${study}: with such a model no two halves contradict each other, and nobody who did better is certainly at risk`, () => {
    for (const { model, measured, halves } of calibratedOf(study)) {
      assert.deepEqual(contradictionsOf(halves), []);
      assert.deepEqual(atRiskOf(evaluated(measured, ALL_SCORED, model), betterOf(measured)), []);
    }
  });
}
