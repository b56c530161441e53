/** `task mutate` on a sample of the model's numbers, and that it recognises a survivor. */
import assert from "node:assert/strict";
import { DEFAULT_MODEL_DOCUMENT, modelSchema } from "../../src/scoring/model.ts";
import { GOLDEN, MODEL_CASES, VECTOR_CHECKS } from "../model_checks.ts";
import { mutationsOf, numbersOf, withNumber } from "../model_mutations.ts";
import { explanationChecks, readBy, UNREAD } from "../model_unread.ts";
import { brokenCheck, noticedBy } from "../mutate.ts";

const MUTATIONS = mutationsOf(DEFAULT_MODEL_DOCUMENT);
const EVERY = 10;

Deno.test("the unchanged model passes every check, or its mutations would show nothing", () => {
  assert.equal(brokenCheck(DEFAULT_MODEL_DOCUMENT), null);
});

Deno.test("every tenth mutation of a number that is read is noticed by a test of behaviour", () => {
  const sample = MUTATIONS.filter(({ path }) => !(path in UNREAD)).filter((_, index) => index % EVERY === 0);
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
      "discrimination.sensitivity.0.sd",
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
  assert.deepEqual(changes("dimensions.decision_autonomy.lite_weight"), [
    "0.5 → 0.525, dimensions.deferral_resistance.lite_weight → 0.475",
    "0.5 → 0.475, dimensions.deferral_resistance.lite_weight → 0.525",
  ]);
  assert.deepEqual(changes("discrimination.wrong_cases"), ["5 → 6", "5 → 4"]);
});

Deno.test("the weights of the kinds of people in the prior still add up to 1", () => {
  const mutations = MUTATIONS.filter(({ path }) => /^discrimination\.sensitivity\.\d+\.weight$/.test(path));
  const kinds = DEFAULT_MODEL_DOCUMENT.discrimination!.sensitivity;
  assert.equal(mutations.length, 2 * kinds.length);
  for (const { path, document } of mutations) {
    const weights = document.discrimination!.sensitivity.map(({ weight }) => weight);
    assert.equal(weights.filter((weight, index) => weight !== kinds[index]!.weight).length, 2, path);
    assert.equal(Math.round(weights.reduce((sum, weight) => sum + weight, 0) * 1e9), 1e9, path);
  }
});

Deno.test("a dimension that gets a weight gets a cost of false alarms in place of its buckets", () => {
  const changes = MUTATIONS.filter(({ path }) => path === "dimensions.domain_confidence.weight");
  assert.deepEqual(changes.map(({ change }) => change), [
    "0 → 0.05, dimensions.error_detection.weight → 0.45, dimensions.domain_confidence.exponents → false_alarm_cost 1",
  ]);
  assert.deepEqual(changes[0]!.document.dimensions.domain_confidence, {
    weight: 0.05,
    restraint: false,
    false_alarm_cost: 1,
  });
});

Deno.test("without the numbers that are said to be unread no case, no vector and no explanation changes", () => {
  const numbers = numbersOf(DEFAULT_MODEL_DOCUMENT);
  const unread = Object.keys(UNREAD).map((name) => {
    const number = numbers.find(({ path }) => path.join(".") === name);
    assert.ok(number !== undefined, `there is no ${name}`);
    return number.path;
  });
  const without = unread.reduce((model, path) => withNumber(model, path, NaN), DEFAULT_MODEL_DOCUMENT);
  assert.equal(brokenCheck(without)?.name, undefined);
  assert.equal(brokenCheck(without, explanationChecks(DEFAULT_MODEL_DOCUMENT, GOLDEN))?.name, undefined);
});

Deno.test("a number that is read cannot be said to be unread", () => {
  for (
    const path of [["buckets", "Q", "capacity"], ["credibility", "prior_hits"], ["uncertainty", "level"]]
  ) {
    assert.notEqual(readBy(DEFAULT_MODEL_DOCUMENT, path, VECTOR_CHECKS), null, path.join("."));
  }
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
