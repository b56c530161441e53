/** `task mutate` on a sample of the model's numbers, and that it recognises a survivor. */
import assert from "node:assert/strict";
import { DEFAULT_MODEL_DOCUMENT, modelSchema } from "../../src/scoring/model.ts";
import { MODEL_CASES } from "../model_checks.ts";
import { mutationsOf, numbersOf } from "../model_mutations.ts";
import { brokenCheck, noticedBy } from "../mutate.ts";

const MUTATIONS = mutationsOf(DEFAULT_MODEL_DOCUMENT);
const EVERY = 10;

Deno.test("the unchanged model passes every check, or its mutations would show nothing", () => {
  assert.equal(brokenCheck(DEFAULT_MODEL_DOCUMENT), null);
});

Deno.test("every tenth mutation of the model is noticed by a test of behaviour", () => {
  const sample = MUTATIONS.filter((_, index) => index % EVERY === 0);
  const survivors = sample.filter((mutation) => noticedBy(mutation) === null);
  assert.deepEqual(survivors.map(({ path, change }) => `${path}: ${change}`), []);
});

Deno.test("every number of the model except those of exercises has a mutation that the schema accepts", () => {
  const numbers = numbersOf(DEFAULT_MODEL_DOCUMENT).map(({ path }) => path.join("."));
  assert.equal(new Set(numbers).size, numbers.length);
  assert.deepEqual([...new Set(MUTATIONS.map(({ path }) => path))], numbers);
  assert.ok(numbers.every((path) => !path.startsWith("maintenance.exercises")));
  for (
    const path of [
      "buckets.H.capacity",
      "dimensions.domain_confidence.exponents.K",
      "decay.projection_days.0",
    ]
  ) {
    assert.ok(numbers.includes(path), path);
  }
});

Deno.test("a mutation is another valid document, and the original stays as it was", () => {
  const before = JSON.stringify(DEFAULT_MODEL_DOCUMENT);
  for (const { path, document } of mutationsOf(DEFAULT_MODEL_DOCUMENT)) {
    assert.notEqual(JSON.stringify(document), before, path);
    assert.deepEqual(modelSchema.parse(document), document, path);
  }
  assert.equal(JSON.stringify(DEFAULT_MODEL_DOCUMENT), before);
});

Deno.test("in a sum of 1 another number compensates a mutation", () => {
  const changes = (path: string) => MUTATIONS.filter((row) => row.path === path).map(({ change }) => change);
  assert.deepEqual(changes("process.engagement.hover_weight"), [
    "0.25 → 0.2625, process.engagement.scroll_weight → 0.3875",
    "0.25 → 0.2375, process.engagement.scroll_weight → 0.4125",
  ]);
  assert.deepEqual(changes("dimensions.independent_performance.exponents.U"), [
    "1 → 0.95, dimensions.independent_performance.exponents.C → 0.05",
  ]);
  assert.deepEqual(changes("minimum_data.ground_truth"), ["5 → 6", "5 → 4"]);
});

Deno.test("a mutation that no check notices is a survivor", () => {
  const capacity = MUTATIONS.find(({ path }) => path === "buckets.H.capacity")!;
  const band = MUTATIONS.find(({ path }) => path === "bands.exemplary")!;
  const [bands] = MODEL_CASES.filter(({ name }) => name.includes("bands"));
  assert.equal(noticedBy(capacity, [bands!]), null);
  assert.equal(noticedBy(band, [bands!]), bands);
  const broken = { name: "broken", holds: () => JSON.parse("{") };
  assert.throws(() => noticedBy(band, [broken]), SyntaxError);
});
