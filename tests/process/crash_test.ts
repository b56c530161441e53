/** kill -9 in the middle of a stream of posts; the long form is `task soak crashes`. */
import assert from "node:assert/strict";
import { crashCycles } from "../soak/crashes.ts";

Deno.test("kill -9 under load loses no acknowledged score, doubles none, and leaves every chain whole", async () => {
  const figures = await crashCycles({ cycles: 4 });
  assert.ok(figures.acknowledged > 100, `only ${figures.acknowledged} were acknowledged before the kills`);
  assert.deepEqual([figures.lost, figures.doubled, figures.chains_verified], [0, 0, true]);
});
