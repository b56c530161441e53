/**
 * Usage that counts as an anomaly.
 * Source: specification, Limits (quota breach); contract, section 5.
 */
import assert from "node:assert/strict";
import { p95, usageAnomaly } from "../../src/domain/alert.ts";

/** Scores of 30 days: `days` days with a count each, the rest without scores. */
const days = (count: number, ofDays: number) =>
  Array.from({ length: 30 }, (_, index) => index < ofDays ? count : 0);

Deno.test("p95 is the value at the nearest rank, in any order of the days", () => {
  assert.equal(p95([7]), 7);
  assert.equal(p95([3, 1, 2]), 3);
  const twenty = Array.from({ length: 20 }, (_, index) => 20 - index);
  assert.equal(p95(twenty), 19, "rank 19 of 20 exactly");
  assert.equal(p95([...twenty, 21]), 20, "rank 19.95 is rank 20 of 21");
  const thirty = Array.from({ length: 30 }, (_, index) => (index * 7) % 30 + 1);
  assert.equal(p95(thirty), 29, "the second largest of 30");
  assert.equal(p95([100, 20, 3]), 100, "by size, not by spelling");
});

Deno.test("exactly ten times the p95 is no anomaly, one score more is", () => {
  const before = days(20, 12);
  assert.equal(usageAnomaly({ last: 200, before }), null);
  assert.deepEqual(usageAnomaly({ last: 201, before }), {
    count_24h: 201,
    p95: 20,
    threshold: 200,
    days_with_data: 12,
  });
});

Deno.test("with 6 days of data nothing is an anomaly, with 7 it is", () => {
  assert.equal(usageAnomaly({ last: 1_000_000, before: days(1, 6) }), null);
  assert.deepEqual(usageAnomaly({ last: 11, before: days(1, 7) }), {
    count_24h: 11,
    p95: 1,
    threshold: 10,
    days_with_data: 7,
  });
});

Deno.test("one unusual day does not hide the next one, two do", () => {
  const steady = days(10, 30);
  assert.equal(usageAnomaly({ last: 500, before: steady.with(4, 500) })?.threshold, 100);
  assert.equal(usageAnomaly({ last: 500, before: steady.with(4, 500).with(5, 500) }), null);
});
