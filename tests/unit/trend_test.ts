/** Changes of a score in words. */
import assert from "node:assert/strict";
import { changeInWords } from "../../src/web/console/trend.ts";

Deno.test("a change has its sign and one decimal, and below a point a score is steady", () => {
  for (
    const [points, words] of [
      ...[[2, "+2.0"], [-1.25, "−1.2"], [1, "+1.0"], [-1, "−1.0"], [36.04, "+36.0"]],
      ...[[0, "steady"], [0.99, "steady"], [-0.99, "steady"]],
    ] as const
  ) assert.equal(changeInWords(Number(points)), words);
});
