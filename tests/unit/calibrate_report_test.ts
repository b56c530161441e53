/** The printed report of `jiss calibrate`. */
import assert from "node:assert/strict";
import { type HistoryReport, historyText, type Report, textOf } from "../../src/cli/calibrate_report.ts";

const REPORT: Report = {
  org_id: "acme",
  from: { version: "jis-1.0.0", sha256: "0".repeat(64) },
  to: { version: "jis-1.0.0+cal.aaaaaaaaaaaa", sha256: "a".repeat(64) },
  times: [{
    domain: "financial",
    operators: 9,
    enough_cases: 8,
    judging: 7,
    counted: 6,
    reviews: 500,
    before: { fast_ms: 2_000, reference_ms: 15_000 },
    medians_ms: [40_000, 60_000, 80_000],
    result: "fitted",
    after: { fast_ms: 8_000, reference_ms: 60_000 },
  }],
  priors: [{
    bucket: "H",
    operators: 20,
    cases: 300,
    before: 0.65,
    rate: 0.425,
    strength: 1.692,
    result: "bounded",
    after: 0.61,
  }, {
    bucket: "U",
    operators: 3,
    cases: 40,
    before: 0.65,
    rate: null,
    strength: null,
    result: "kept",
    after: 0.65,
  }],
  discrimination: null,
  scores: {
    operators: 9,
    mean_change: -1.25,
    bands: [
      { from: "adequate", to: "at_risk", operators: 2 },
      { from: "at_risk", to: "adequate", operators: 1 },
    ],
    largest: [
      {
        operator_id: "ada",
        interactions: 60,
        before: 61,
        after: 55.5,
        band_before: "adequate",
        band_after: "at_risk",
      },
      {
        operator_id: "bea",
        interactions: 8,
        before: 80,
        after: 81,
        band_before: "proficient",
        band_after: "proficient",
      },
    ],
  },
};

Deno.test("the report shows who counted, what was fitted, and how it changes scores", () => {
  assert.equal(
    textOf(REPORT),
    `\
organization  acme
model in use  jis-1.0.0, SHA-256 ${"0".repeat(64)}
new document  jis-1.0.0+cal.aaaaaaaaaaaa, SHA-256 ${"a".repeat(64)}

DOMAIN     OPERATORS  ENOUGH CASES  JUDGING  COUNTED  REVIEWS  MEDIANS ms         FAST ms       REFERENCE ms    RESULT
financial  9          8             7        6        500      40000 60000 80000  2000 -> 8000  15000 -> 60000  fitted

PRIOR  OPERATORS  CASES  RATE   ESTIMATED STRENGTH  MEAN          RESULT
H      20         300    0.425  1.692               0.65 -> 0.61  bounded
U      3          40                                0.65          kept

9 operators scored anew from their recorded interactions, under the model in use and the new one:
mean change -1.25 points; another band: 3, adequate to at_risk 2, at_risk to adequate 1

OPERATOR  INTERACTIONS  BEFORE  AFTER  CHANGE  BAND
ada       60            61      55.5   -5.50   adequate -> at_risk
bea       8             80      81     +1.00   proficient`,
  );
});

Deno.test("a report without fitted values has no scores", () => {
  const text = textOf({ ...REPORT, to: null, times: [], scores: null });
  assert.match(text, /^new document {2}none\n\nNo case whose truth is known\.\n\nPRIOR/m);
  assert.ok(!text.includes("OPERATOR "));
});

const RATE = { mean: 0.4, low: 0.05, high: 0.885 };
const DISCRIMINATION: HistoryReport["discrimination"] = {
  prior: {
    people: 30,
    enough_cases: 24,
    wrong_cases: 300,
    right_cases: 900,
    before: {
      leaning: { mean: -1.1, sd: 1.4 },
      sensitivity: [{ weight: 1, mean: 0.5, sd: 1, correlation: 0 }],
      new_person: { departs_when_wrong: RATE, departs_when_right: { mean: 0.2, low: 0.01, high: 0.7 } },
    },
    after: {
      leaning: { mean: -1.9, sd: 0.8 },
      sensitivity: [
        { weight: 0.5, mean: 0.7, sd: 0.75, correlation: 0.25 },
        { weight: 0.5, mean: 0.5, sd: 1, correlation: 0 },
      ],
      new_person: {
        departs_when_wrong: { mean: 0.22, low: 0.04, high: 0.56 },
        departs_when_right: { mean: 0.11, low: 0.02, high: 0.28 },
      },
    },
    result: "fitted",
  },
  error_rate: { people: 20, cases: 1_000, rate: 0.35, before: 0.15, after: 0.3, result: "bounded" },
};
const PEOPLE_TEXT = `\
30 people with 300 cases of wrong and 900 of right advice; 24 of them have enough of both.

PRIOR OVER PEOPLE           BEFORE               AFTER                                       RESULT
departs if wrong            40 % (5 % to 89 %)   22 % (4 % to 56 %)                          fitted
departs if right            20 % (1 % to 70 %)   11 % (2 % to 28 %)                          fitted
leaning, logits             mean -1.1, sd 1.4    mean -1.9, sd 0.8                           fitted
sensitivity, share: logits  1: mean 0.5, sd 1    0.5: mean 0.7, sd 0.75, correlation 0.25    fitted
                                                 0.5: mean 0.5, sd 1
how often the AI is wrong   0.15                 0.3                                         bounded`;

Deno.test("the report shows what the prior over people says of somebody new, before and after", () => {
  const squeezed = (text: string) => text.replaceAll(/ {2,}/g, "  ");
  const { from, to } = REPORT;
  assert.equal(
    squeezed(historyText({
      history: "history.csv",
      decisions: { fit: 1_300, test: 200 },
      ignored_columns: ["note"],
      from,
      to,
      discrimination: DISCRIMINATION,
    })),
    squeezed(`\
table             history.csv
decisions         1300 used, 200 held back
columns not read  note
model             jis-1.0.0, SHA-256 ${"0".repeat(64)}
new document      jis-1.0.0+cal.aaaaaaaaaaaa, SHA-256 ${"a".repeat(64)}

${PEOPLE_TEXT}`),
  );
  assert.ok(squeezed(textOf({ ...REPORT, discrimination: DISCRIMINATION })).includes(squeezed(PEOPLE_TEXT)));
});
