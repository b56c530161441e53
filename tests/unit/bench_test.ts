/** Benches are not part of the gate: what a change elsewhere may break in them is held here. */
import assert from "node:assert/strict";
import { requireComplete } from "../bench/reads.ts";

Deno.test("the bench of reads asks every GET of the interface, or says that it reads no database", () => {
  assert.doesNotThrow(requireComplete);
});
