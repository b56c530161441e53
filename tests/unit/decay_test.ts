/** Edges of the projection that no recorded vector reaches. Source: scoring model, section 7. */
import assert from "node:assert/strict";
import { daysToNonCompliance } from "../../src/scoring/decay.ts";

Deno.test("a score that does not decay never falls below the minimum, also if it is exactly at it", () => {
  for (const start of [60, 75]) {
    const curve = { start, floor: 40, rate: 0, acceleration: 0 };
    assert.equal(daysToNonCompliance(curve, { minimum: 60, horizonDays: 3650 }), null);
  }
});
