/** Models that are fitted to simulated people of a study whose data is not in the repository. */
import assert from "node:assert/strict";
import { ALLOWED, excessOf, meanOf, SHAPES } from "../simulated_people.ts";

Deno.test("a model fitted to 28 people like pathologists foretells others as well as empirical Bayes", () => {
  const { wrong, right } = excessOf(SHAPES.pathologists, { draws: 20, measured: 100 });
  assert.ok(meanOf(wrong) <= ALLOWED, `AI wrong: ${meanOf(wrong)}`);
  assert.ok(meanOf(right) <= ALLOWED, `AI right: ${meanOf(right)}`);
});
