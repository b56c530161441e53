/** Why an operator's verdict is what it is, and what to do next, in sentences. */
import assert from "node:assert/strict";
import { conductInShort, conductInWords, type NextStep, nextStep } from "../../src/pages/operator_cause.ts";
import type { Estimates } from "../../src/scoring/estimates.ts";
import type { Verdict } from "../../src/scoring/verdict.ts";

const rate = (mean: number) => ({ mean, low: mean - 0.05, high: mean + 0.05, cases: 9 });
const ESTIMATES: Estimates = {
  error_rate: 0.2,
  departs_when_wrong: rate(0.6),
  departs_when_right: rate(0.1),
  sensitivity: { mean: 2, low: 1, high: 3 },
  criterion: { mean: 0, low: -1, high: 1 },
  high_stakes: null,
  critical: { departs_when_wrong: rate(0.3), departs_when_right: rate(0.2) },
  announced: null,
  exam_effect: null,
  probes: null,
  probe_effect: null,
};

const VERDICT: Verdict = {
  status: "compliant",
  part: "all",
  low: 61,
  high: 74,
  wrong_cases: 20,
  right_cases: 60,
  doubt: null,
  wrong_cases_needed: null,
  right_cases_needed: null,
};
const UNDETERMINED: Verdict = {
  ...VERDICT,
  status: "undetermined",
  doubt: "interval_spans_minimum",
  wrong_cases_needed: 12,
};
const BELOW: Verdict = { ...VERDICT, status: "non_compliant" };

Deno.test("the conduct is that on the part on which the verdict rests, if it has rates of its own", () => {
  assert.equal(
    conductInWords({ part: "critical" }, ESTIMATES),
    "On the critical cases the operator follows most advice, right or wrong. The operator departs from wrong advice in 30 % (25 % to 35 %) of the cases and from right advice in 20 % (15 % to 25 %); each range holds its figure with 90 %.",
  );
  for (const part of ["all", "high_stakes", "financial"] as const) {
    assert.match(conductInWords({ part }, ESTIMATES), /^In live work .* in 60 % \(55 % to 65 %\)/);
  }
});

Deno.test("a habit is said only as far as the intervals settle it", () => {
  const said = (wrong: number, right: number) =>
    conductInWords({ part: "all" }, {
      ...ESTIMATES,
      departs_when_wrong: rate(wrong),
      departs_when_right: rate(right),
    }).split(" from wrong advice")[0];
  const habit = (words: string) => `In live work the operator ${words}. The operator departs`;
  assert.equal(said(0.9, 0.8), habit("turns down or changes most advice, right or wrong"));
  assert.equal(
    said(0.9, 0.1),
    habit("turns down or changes most wrong advice and follows most right advice"),
  );
  assert.equal(
    said(0.1, 0.9),
    habit("follows most wrong advice and turns down or changes most right advice"),
  );
  assert.equal(said(0.5, 0.1), habit("follows most right advice"));
  assert.equal(said(0.9, 0.47), habit("turns down or changes most wrong advice"));
  assert.equal(said(0.5, 0.52), "In live work the operator departs");
});

Deno.test("a habit is said only of a rate that known cases bear out: what is usual among people claims none", () => {
  const rates = (wrong: number, right: number) => ({
    departs_when_wrong: { ...rate(0.1), cases: wrong },
    departs_when_right: { ...rate(0.1), cases: right },
  });
  const said = (wrong: number, right: number) =>
    conductInWords({ part: "all" }, { ...ESTIMATES, ...rates(wrong, right) });
  const short = (wrong: number, right: number) => conductInShort({ work: "live", ...rates(wrong, right) });
  assert.match(said(5, 5), /^In live work the operator follows most advice, right or wrong\./);
  assert.match(said(5, 4), /^In live work the operator follows most wrong advice\. The operator departs/);
  assert.match(said(4, 4), /^In live work the operator departs/);
  assert.equal(short(4, 5).habit, "Follows most right advice");
  assert.equal(short(4, 4).habit, "Departs from wrong advice in 10 %");
  // Not one known case of wrong advice, or of either.
  assert.equal(short(0, 4).habit, "Not known yet: no known case of wrong advice");
  assert.equal(
    short(0, 4).sentence,
    "How wrong advice is treated is not known yet: there is no known case of it. Departs from right advice in 10 %.",
  );
  assert.equal(
    short(0, 0).sentence,
    "How advice is treated is not known yet: there is no known case of wrong or right advice.",
  );
  assert.equal(
    said(0, 0),
    "In live work it is not known yet how the operator judges: there is no known case of wrong or right advice.",
  );
});

Deno.test("the conduct says of a rate from few known cases that it says little", () => {
  const said = (wrong: number, right: number) =>
    conductInWords({ part: "all" }, {
      ...ESTIMATES,
      departs_when_wrong: { ...rate(0.6), cases: wrong },
      departs_when_right: { ...rate(0.1), cases: right },
    }).split("with 90 %.")[1];
  assert.equal(said(5, 5), "");
  assert.equal(said(1, 40), " The rate for wrong advice says little: it rests on 1 known case.");
  assert.equal(said(9, 0), " The rate for right advice says little: it rests on no known case.");
  assert.equal(
    said(2, 1),
    " Both rates say little: they rest on 2 known cases of wrong advice and 1 of right advice.",
  );
});

Deno.test("in a list the habit comes first, with the work that it is of, and without one the rate of wrong advice", () => {
  const short = (wrong: number, right: number, work: "live" | "critical" = "live") =>
    conductInShort({ work, departs_when_wrong: rate(wrong), departs_when_right: rate(right) });
  assert.deepEqual(short(0.07, 0.06), {
    habit: "Follows most advice, right or wrong",
    sentence:
      "Follows most advice, right or wrong: departs from wrong advice in 7 % (2 % to 12 %, 9 known cases), from right advice in 6 %.",
  });
  assert.deepEqual(short(0.5, 0.52, "critical"), {
    habit: "Departs from wrong advice in 50 % on the critical cases",
    sentence:
      "Departs on the critical cases from wrong advice in 50 % (45 % to 55 %, 9 known cases), from right advice in 52 %.",
  });
  assert.equal(
    short(0.1, 0.2, "critical").habit,
    "Follows most advice, right or wrong, on the critical cases",
  );
  assert.equal(short(0.5, 0.1, "critical").habit, "Follows most right advice on the critical cases");
});

const NOTHING = {
  verdict: VERDICT,
  open: null,
  isNotHeardOf: false,
  daysAway: 0,
  aim: null,
  fallsOn: null,
};
const step = (change: Partial<Parameters<typeof nextStep>[0]>): NextStep =>
  nextStep({ ...NOTHING, ...change });

Deno.test("who waits for an exercise that is set is told so, whatever the verdict", () => {
  const open = { title: "Slow Reveal", decided: 1, case_count: 6, expires_at: "2027-01-14T00:00:00.000Z" };
  for (const verdict of [VERDICT, BELOW, UNDETERMINED, null]) {
    const { act, sentence } = step({ open, verdict });
    assert.equal(act, "wait");
    assert.equal(
      sentence,
      "Wait for “Slow Reveal”: 1 of 6 cases decided, until 14 January 2027.",
    );
  }
});

Deno.test("an open verdict asks for labels and says what would settle it; one below the threshold for an exercise", () => {
  const open = step({ verdict: UNDETERMINED, aim: "error detection" });
  assert.equal(open.act, "label");
  assert.match(open.sentence, /about 12 more known cases of wrong advice could settle it\.$/);
  const below = step({ verdict: BELOW, aim: "error detection" });
  assert.deepEqual([below.act, below.sentence.slice(0, 43)], [
    "exercise",
    "Set an exercise that trains error detection",
  ]);
  assert.equal(step({ verdict: BELOW, aim: null }).act, "exercise");
  assert.equal(step({ verdict: null, aim: "error detection" }).act, "exercise");
});

Deno.test("who is well is left alone, with the day of the fall; who was not heard of is asked for", () => {
  assert.deepEqual(step({}), { act: "nothing", sentence: "Nothing needs to be done now." });
  assert.match(step({ fallsOn: "2027-01-14" }).sentence, /below the minimum around 14 January 2027\.$/);
  const gone = step({ isNotHeardOf: true, daysAway: 41, fallsOn: "2027-01-14" });
  assert.equal(gone.act, "nothing");
  assert.match(gone.sentence, /no interaction for 41 days/);
});
