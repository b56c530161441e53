/** The estimates of how an operator judges, in words. */
import assert from "node:assert/strict";
import { estimateRows } from "../../src/pages/estimates.ts";
import type { Estimates } from "../../src/scoring/estimates.ts";

const ESTIMATES: Estimates = {
  error_rate: 0.18,
  departs_when_wrong: { mean: 0.624, low: 0.48, high: 0.755, cases: 14 },
  departs_when_right: { mean: 0.081, low: 0.05, high: 0.12, cases: 1 },
  sensitivity: { mean: 2.9, low: 1.75, high: 4.1 },
  criterion: { mean: -0.3, low: -0.7, high: 0.1 },
  high_stakes: null,
  critical: null,
  announced: null,
  exam_effect: null,
  probes: null,
  probe_effect: null,
};

Deno.test("each estimate is said with its interval, its cases and its meaning", () => {
  assert.deepEqual(estimateRows(ESTIMATES).map((row) => Object.values(row)), [
    ["Departs from wrong advice", "62 %", "48 % to 76 %", "From 14 known cases of wrong advice."],
    ["Departs from right advice", "8 %", "5 % to 12 %", "From 1 known case of right advice."],
    ["Sensitivity", "2.90", "1.75 to 4.10", "The operator tells wrong advice from right advice."],
    ["Leaning", "-0.30", "-0.70 to 0.10", "No leaning to either side is certain."],
  ]);
});

Deno.test("the meaning follows the interval, not the mean", () => {
  const meaning = (change: Partial<Estimates>, name: string) =>
    estimateRows({ ...ESTIMATES, ...change }).find((row) => row.name === name)!.meaning;
  const around = (low: number, high: number) => ({ mean: (low + high) / 2, low, high });
  assert.match(meaning({ sensitivity: around(-0.1, 3) }, "Sensitivity"), /is not known yet\.$/);
  assert.match(meaning({ sensitivity: around(-2, -0.1) }, "Sensitivity"), /^The operator departs from right/);
  assert.match(meaning({ criterion: around(0.1, 2) }, "Leaning"), /leans to follow the AI/);
  assert.match(meaning({ criterion: around(-2, -0.1) }, "Leaning"), /leans to depart from the AI/);
  assert.match(
    meaning({ exam_effect: around(0.05, 0.5) }, "Exam effect"),
    /judges better in announced tests/,
  );
  assert.match(
    meaning({ exam_effect: around(-0.5, -0.05) }, "Exam effect"),
    /judges worse in announced tests/,
  );
  assert.match(meaning({ exam_effect: around(-0.1, 0.5) }, "Exam effect"), /^No difference .* is certain\.$/);
});

Deno.test("sealed probes have rows of their own, and a gap to other live work is said", () => {
  const probes = {
    departs_when_wrong: { mean: 0.9, low: 0.8, high: 0.97, cases: 12 },
    departs_when_right: { mean: 0.2, low: 0.02, high: 0.5, cases: 9 },
  };
  const probe_effect = { mean: 0.4, low: 0.1, high: 0.7 };
  const rows = estimateRows({ ...ESTIMATES, probes, probe_effect });
  assert.deepEqual(rows.slice(4).map(({ name, meaning }) => [name, meaning]), [
    ["Departs from wrong advice in sealed probes", "From 12 known cases of wrong advice."],
    ["Departs from right advice in sealed probes", "From 9 known cases of right advice."],
    [
      "Probe effect",
      "The operator judges better in probes than in other live work: probes may be recognised.",
    ],
  ]);
});

Deno.test("announced tests have rows of their own, and a rate without a case says so", () => {
  const announced = {
    departs_when_wrong: { mean: 0.9, low: 0.8, high: 0.97, cases: 12 },
    departs_when_right: { mean: 0.2, low: 0.02, high: 0.5, cases: 0 },
  };
  const rows = estimateRows({ ...ESTIMATES, announced });
  assert.deepEqual(rows.slice(4).map(({ name, meaning }) => [name, meaning]), [
    ["Departs from wrong advice in announced tests", "From 12 known cases of wrong advice."],
    [
      "Departs from right advice in announced tests",
      "No case of right advice is known: the numbers are what is usual.",
    ],
  ]);
});
