/** The estimates of how an operator judges, in words. */
import assert from "node:assert/strict";
import {
  casesInWords,
  ENOUGH_CASES,
  estimateRows,
  ownRatesInWords,
  rateInWords,
  ratesByWork,
  saysLittle,
} from "../../src/pages/estimates.ts";
import { rateBar } from "../../src/pages/rate_bar.ts";
import type { Estimates } from "../../src/scoring/estimates.ts";
import { requireDiscrimination } from "../../src/scoring/discrimination.ts";
import { JIS_2_0_0 as model } from "../models.ts";

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

const KNOWN: Estimates = {
  ...ESTIMATES,
  departs_when_right: { ...ESTIMATES.departs_when_right, cases: ENOUGH_CASES },
};

Deno.test("each quantity is said with its interval and its meaning", () => {
  assert.deepEqual(estimateRows(KNOWN).map((row) => Object.values(row)), [
    ["Sensitivity", "2.90", "1.75 to 4.10", "The operator tells wrong advice from right advice."],
    ["Leaning", "-0.30", "-0.70 to 0.10", "No leaning to either side is certain."],
  ]);
});

Deno.test("rates stand side by side for each kind of work, and a kind of which nothing is known has none", () => {
  const rate = (mean: number) => ({ mean, low: mean - 0.1, high: mean + 0.1, cases: 9 });
  const pair = { departs_when_wrong: rate(0.9), departs_when_right: rate(0.2) };
  const shown = ratesByWork({ ...ESTIMATES, high_stakes: pair, announced: pair });
  assert.deepEqual(shown.map(({ kind, rates }) => [kind, rates?.departs_when_wrong.mean ?? null]), [
    ["live", 0.624],
    ["high_stakes", 0.9],
    ["critical", null],
    ["probes", null],
    ["announced", 0.9],
  ]);
  assert.deepEqual([0, 0.0049, 0.624, 0.755, 1].map(rateInWords), ["0 %", "0 %", "62 %", "76 %", "100 %"]);
});

Deno.test("both rates are said to whom they are about, and a rate without a known case is none", () => {
  const kinds =
    "To depart from wrong advice is to find an error; to depart from right advice is a false alarm.";
  assert.equal(
    ownRatesInWords(ESTIMATES),
    `In live work you depart from wrong advice in about 62 % of the cases (48 % to 76 %, from 14 known cases), and you depart from right advice in about 8 % of the cases (5 % to 12 %, from 1 known case: says little). ${kinds}`,
  );
  const { departs_when_wrong, departs_when_right } = ESTIMATES;
  assert.equal(
    ownRatesInWords({ departs_when_right, departs_when_wrong: { ...departs_when_wrong, cases: 0 } }),
    `In live work how often you depart from wrong advice is not known yet, and you depart from right advice in about 8 % of the cases (5 % to 12 %, from 1 known case: says little). ${kinds}`,
  );
});

Deno.test("a rate from few known cases, or with an interval of more than half the scale, says little", () => {
  const rate = (cases: number, width: number) => ({ mean: 0.3, low: 0.1, high: 0.1 + width, cases });
  const firm = rate(5, 0.4);
  assert.equal(saysLittle(firm), false);
  for (const [cases, width] of [[0, 0.3], [1, 0.3], [4, 0.3], [40, 0.51]] as const) {
    assert.equal(saysLittle(rate(cases, width)), true, `${cases} cases, ${width} wide`);
  }
  assert.deepEqual([0, 1, 4, 5].map((cases) => casesInWords(rate(cases, 0.3))), [
    "no known case: what is usual, says little",
    "1 known case: says little",
    "4 known cases: says little",
    "5 known cases",
  ]);
  assert.match(rateBar(firm).toString(), /aria-label="30 %, interval 10 % to 50 %, [^]*class="mark"/);
  const little = rateBar(rate(1, 0.3)).toString();
  assert.match(little, /aria-label="interval 10 % to 40 %, of 0 to 100 %: says little"[^]*stroke-dasharray/);
  assert.doesNotMatch(little, /class="mark"/, "the interval alone is drawn");
});

Deno.test("a rate is firm from as many known cases on as the model needs for a verdict", () => {
  const { wrong_cases, right_cases } = requireDiscrimination(model);
  assert.deepEqual([wrong_cases, right_cases], [ENOUGH_CASES, ENOUGH_CASES]);
});

Deno.test("the meaning follows the interval, not the mean", () => {
  const meaning = (change: Partial<Estimates>, name: string) =>
    estimateRows({ ...KNOWN, ...change }).find((row) => row.name === name)!.meaning;
  const around = (low: number, high: number) => ({ mean: (low + high) / 2, low, high });
  assert.equal(
    meaning({ sensitivity: around(-0.1, 3) }, "Sensitivity"),
    "The rates on wrong and right advice (62 % and 8 %) do not differ measurably.",
  );
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

Deno.test("what is usual among people is said of nobody: with few known cases nothing is certain", () => {
  for (const [wrong, right] of [[1, 9], [9, 1], [0, 0]] as const) {
    const rows = estimateRows({
      ...ESTIMATES,
      departs_when_wrong: { ...ESTIMATES.departs_when_wrong, cases: wrong },
      departs_when_right: { ...ESTIMATES.departs_when_right, cases: right },
      criterion: { mean: 1, low: 0.5, high: 1.5 },
    });
    assert.deepEqual(rows.map(({ meaning }) => meaning), [
      "Whether the operator tells wrong advice from right advice is not known yet.",
      "No leaning to either side is certain.",
    ]);
  }
});

Deno.test("a gap between probes and other live work is said", () => {
  const probe_effect = { mean: 0.4, low: 0.1, high: 0.7 };
  const rows = estimateRows({ ...ESTIMATES, probe_effect });
  assert.deepEqual(rows.slice(2).map(({ name, meaning }) => [name, meaning]), [[
    "Probe effect",
    "The operator judges better in probes than in other live work: probes may be recognised.",
  ]]);
});
