/** Edges of the projection that no recorded vector reaches, and its reading on a later day. Source: scoring model, section 7. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { VerdictStatus } from "../../src/domain/enums.ts";
import { DAY_MS } from "../../src/domain/time.ts";
import { roundTo } from "../../src/scoring/arithmetic.ts";
import {
  curveOf,
  daysToNonCompliance,
  type DecayProjection,
  projectedJis,
  readProjection,
} from "../../src/scoring/decay.ts";
import { DEFAULT_MODEL_DOCUMENT } from "../../src/scoring/model.ts";

Deno.test("a score that does not decay never falls below the minimum, also if it is exactly at it", () => {
  for (const start of [60, 75]) {
    const curve = { start, floor: 40, rate: 0, acceleration: 0 };
    assert.equal(daysToNonCompliance(curve, { minimum: 60, horizonDays: 3650 }), null);
  }
});

/** J₀ = 80 in the financial domain: below 60 on day 141 (scoring model, section 7.2). */
const PROJECTION: DecayProjection = {
  current_jis: 80,
  current_trend: 0,
  domain: "financial",
  decay_rate: 0.003,
  decay_acceleration: 0.000012,
  floor: 32,
  recovery_rate: 0.045,
  days_to_non_compliance: 141,
  projections: [],
};
const LAST = Date.parse("2026-01-10T22:00:00Z");
const read = (now: string, change: Partial<DecayProjection> = {}, verdict: VerdictStatus | null = null) =>
  readProjection(DEFAULT_MODEL_DOCUMENT, { ...PROJECTION, ...change }, {
    lastAt: LAST,
    now: Date.parse(now),
    verdict: verdict && { status: verdict, part: "high_stakes" },
  });

Deno.test("a projection is read from today: days shrink, and the day of the fall keeps its date", () => {
  const atOnce = read("2026-01-10T23:00:00Z");
  assert.deepEqual(
    [atOnce.days_since_last_interaction, atOnce.projected_today, atOnce.days_to_non_compliance],
    [0, 80, 141],
  );
  // Two hours later it is another day.
  const nextDay = read("2026-01-11T00:00:00Z");
  assert.deepEqual([nextDay.days_since_last_interaction, nextDay.days_to_non_compliance], [1, 140]);
  const later = read("2026-05-01T12:00:00Z");
  assert.equal(later.as_of, "2026-05-01T12:00:00.000Z");
  assert.deepEqual([later.days_since_last_interaction, later.days_to_non_compliance], [111, 30]);
  for (const reading of [atOnce, nextDay, later]) assert.equal(reading.non_compliant_on, "2026-05-31");
  assert.deepEqual(
    later.projections.slice(0, 2).map(({ day, date }) => [day, date]),
    [[7, "2026-05-08"], [14, "2026-05-15"]],
  );
  const past = read("2026-06-10T12:00:00Z");
  assert.deepEqual([past.days_to_non_compliance, past.non_compliant_on], [0, "2026-05-31"]);
  assert.ok(past.projected_today < 60);
});

Deno.test("a score below the minimum is below it today, since its own day; one at its floor never falls", () => {
  const low = read("2026-02-01T00:00:00Z", { current_jis: 45 });
  assert.deepEqual([low.days_to_non_compliance, low.non_compliant_on], [0, "2026-01-10"]);
  const still = read("2026-02-01T00:00:00Z", { decay_rate: 0, decay_acceleration: 0 });
  assert.deepEqual([still.days_to_non_compliance, still.non_compliant_on, still.projected_today], [
    null,
    null,
    80,
  ]);
});

Deno.test("after 30 days without an interaction a projection says that the operator was not heard of", () => {
  const day29 = read("2026-02-08T23:59:59Z");
  assert.deepEqual([day29.not_heard_of, day29.remarks], [false, []]);
  const day30 = read("2026-02-09T00:00:00Z");
  assert.equal(day30.not_heard_of, true);
  assert.deepEqual(day30.remarks, [
    "The operator has not been heard of for 30 days: the last interaction was on 2026-01-10.",
  ]);
});

Deno.test("a projection of an undetermined operator says that first", () => {
  const { remarks } = read("2026-03-01T00:00:00Z", {}, "undetermined");
  assert.equal(remarks.length, 2);
  assert.match(remarks[0]!, /^The verdict is undetermined: the projection shows what the number would do/);
  assert.deepEqual(read("2026-01-11T00:00:00Z", {}, "compliant").remarks, []);
  assert.deepEqual(read("2026-01-11T00:00:00Z", { current_jis: 59 }, "non_compliant").remarks, []);
  assert.deepEqual(read("2026-01-11T00:00:00Z", {}, "non_compliant").remarks, [
    "The verdict is below 60 already, by the score on the cases with high stakes: the projection is of the score on all cases, which does not show it.",
  ]);
});

Deno.test("a clock that was set back gives no days before the last interaction", () => {
  const { days_since_last_interaction, projected_today } = read("2025-12-01T00:00:00Z");
  assert.deepEqual([days_since_last_interaction, projected_today], [0, 80]);
});

const anyProjection = fc.record({
  current_jis: fc.integer({ min: 0, max: 2000 }).map((twentieths) => twentieths / 20),
  floor: fc.integer({ min: 0, max: 70 }),
  decay_rate: fc.integer({ min: 0, max: 20_000 }).map((millionths) => millionths / 1e6),
  decay_acceleration: fc.integer({ min: 0, max: 10_000 }).map((parts) => parts / 1e8),
}).map((shown): DecayProjection => ({ ...PROJECTION, ...shown }));
const instant = fc.integer({ min: 0, max: 4e12 });

Deno.test("read on any day, a projection is the tail of the curve from the last interaction", () => {
  fc.assert(
    fc.property(anyProjection, instant, fc.integer({ min: 0, max: 5000 }), (projection, lastAt, days) => {
      const now = lastAt + days * DAY_MS;
      const found = readProjection(DEFAULT_MODEL_DOCUMENT, projection, { lastAt, now, verdict: null });
      const curve = curveOf(projection);
      assert.equal(found.days_since_last_interaction, days);
      assert.equal(found.projected_today, roundTo(projectedJis(curve, days), 2));
      let previous = roundTo(projection.current_jis, 2);
      for (
        const { day, date, jis } of [{ day: 0, date: "", jis: found.projected_today }, ...found.projections]
      ) {
        const there = projectedJis(curve, days + day);
        if (date !== "") {
          assert.equal(jis, roundTo(there, 1));
          assert.equal(date, new Date(now + day * DAY_MS).toISOString().slice(0, 10));
        }
        assert.ok(jis <= previous, `${jis} after ${previous}`);
        // The later ones are shown with one decimal.
        previous = roundTo(jis, 1);
      }
    }),
  );
});

Deno.test("the days to the fall are never negative, shrink with each day, and lead to one date", () => {
  const { min_jis } = DEFAULT_MODEL_DOCUMENT.thresholds;
  fc.assert(
    fc.property(anyProjection, instant, fc.integer({ min: 0, max: 2000 }), (projection, lastAt, days) => {
      const at = (passed: number) =>
        readProjection(DEFAULT_MODEL_DOCUMENT, projection, {
          lastAt,
          now: lastAt + passed * DAY_MS,
          verdict: null,
        });
      const [today, tomorrow] = [at(days), at(days + 1)];
      const left = today.days_to_non_compliance;
      if (left === null) {
        assert.equal(today.non_compliant_on, null);
        assert.ok(projectedJis(curveOf(projection), days) >= min_jis);
        return;
      }
      assert.ok(left >= 0 && Number.isInteger(left));
      assert.equal(left === 0, projectedJis(curveOf(projection), days) < min_jis);
      assert.equal(tomorrow.days_to_non_compliance, Math.max(0, left - 1));
      assert.equal(tomorrow.non_compliant_on, today.non_compliant_on);
      if (left > 0) {
        const date = new Date(lastAt + (days + left) * DAY_MS).toISOString().slice(0, 10);
        assert.equal(today.non_compliant_on, date);
      }
    }),
  );
});
