/** The small pictures of weeks: each shows the figures of its weeks, and leaves out what a week does not have. */
import assert from "node:assert/strict";
import type { OperatorWeek, Week } from "../../src/domain/week.ts";
import { medianSpark, operatorsSpark, probesSpark, verdictsSpark } from "../../src/pages/week_sparks.ts";

const WEEK: Week = {
  week_start: "2026-09-07",
  as_of: "2026-09-14T00:00:00.000Z",
  operators: 10,
  median_jis: 62,
  median_interval: { low: 55, high: 70 },
  verdicts: { compliant: 5, undetermined: 3, non_compliant: 2 },
  probes: null,
};
const NOBODY: Week = {
  ...WEEK,
  week_start: "2026-09-14",
  operators: 0,
  median_jis: null,
  median_interval: null,
  verdicts: null,
};
const LATER: Week = { ...WEEK, week_start: "2026-09-21" };

/** The numbers of an attribute of all elements of a kind. */
function numbersOf(svg: string, element: string, attribute: string): readonly number[] {
  return [...svg.matchAll(new RegExp(`<${element} [^>]*?\\b${attribute}="([\\d.]+)"`, "g"))].map((
    [, found],
  ) => Number(found));
}

Deno.test("a week without a median parts the small line, and the minimum stands where it lies in the range", () => {
  const label = "The median";
  const whole = String(medianSpark([WEEK, LATER], { label, minimum: 60 }));
  assert.match(whole, /aria-label="The median"/);
  assert.equal(whole.match(/class="range"/g)!.length, 1);
  assert.match(whole, /<line class="grid"/);
  const parted = String(medianSpark([WEEK, NOBODY, LATER], { label, minimum: 30 }));
  assert.equal(parted.match(/class="range"/g)!.length, 2);
  assert.doesNotMatch(parted, /<line class="grid"/);
  assert.doesNotMatch(parted, /NaN/);
});

Deno.test("the parts of a small bar are the shares of the verdicts, and nobody has no bar", () => {
  const heights = numbersOf(String(verdictsSpark([WEEK, NOBODY], "Verdicts")), "rect", "height");
  assert.equal(heights.length, 3);
  const all = heights.reduce((sum, height) => sum + height, 0);
  for (const [index, share] of [0.2, 0.3, 0.5].entries()) {
    assert.ok(Math.abs(heights[index]! / all - share) < 0.01, `${heights}`);
  }
});

Deno.test("errors that probes found stand above the line, false alarms below it, each as long as its share", () => {
  const rates = { probes: 10, count: 8, share: 0.8, low: 0.4, high: 0.9 };
  const probes = {
    wrong: rates,
    right: { ...rates, count: 2, share: 0.2 },
    lost: 0,
    recalled: 0,
    recalled_after_draw: 0,
  };
  const svg = String(probesSpark([{ ...WEEK, probes }, LATER], "Probes"));
  const [found, alarms, ...others] = numbersOf(svg, "rect", "height");
  assert.deepEqual(others, []);
  assert.ok(Math.abs(found! / alarms! - 4) < 0.1, `${found} and ${alarms}`);
  const [top, bottom] = numbersOf(svg, "rect", "y");
  assert.ok(top! < bottom!);
});

Deno.test("a cell of the small map is the thicker the worse its verdict is, and an absent week has none", () => {
  const cell = (verdict: OperatorWeek["verdict"]): OperatorWeek => ({ jis: 50, verdict, interacted: true });
  const weeks = [cell("non_compliant"), cell("undetermined"), cell("compliant"), null, cell(null)];
  const heights = numbersOf(String(operatorsSpark([{ weeks }], "Operators")), "rect", "height");
  assert.equal(heights.length, 3);
  assert.deepEqual(heights, heights.toSorted((one, other) => other - one));
  assert.ok(heights[0]! > 2 * heights[2]!);
  assert.doesNotMatch(String(operatorsSpark([], "Nobody")), /NaN|Infinity/);
});
