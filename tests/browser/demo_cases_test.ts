/** The cases of the demo: what they contain, and the outcome of each decision on them. */
import assert from "node:assert/strict";
import { recordedInteractionSchema } from "../../src/domain/interaction.ts";
import { DEFAULT_MODEL_DOCUMENT } from "../../src/scoring/model.ts";
import { score, type Scored } from "../../src/scoring/score.ts";
import type { OperatorState } from "../../src/scoring/state.ts";
import { CASES, type Choice, type DemoCase, FIRST_CASES, outcomeOf } from "../../src/web/demo/cases.ts";
import type { JissMeasurement } from "../../src/web/collector/main.ts";
import { type Judgment, newSessionId, recordOf } from "../../src/web/demo/run.ts";

const MEASURED = {
  time_to_decision_ms: 14_200,
  hover_events: 5,
  scroll_depth: 0.8,
  alternative_views_checked: 1,
};

Deno.test("there are twelve cases; four have wrong advice, one of them planted, and one has none", () => {
  assert.equal(CASES.length, 12);
  assert.equal(new Set(CASES.map(({ id }) => id)).size, 12);
  assert.equal(new Set(CASES.map(({ title }) => title)).size, 12);
  const idsOf = (is: (demoCase: DemoCase) => boolean) => CASES.filter(is).map(({ id }) => id);
  assert.deepEqual(idsOf(({ advice }) => advice?.isRight === false), [
    "loan",
    "application",
    "customs",
    "lift",
  ]);
  assert.deepEqual(idsOf(({ advice }) => advice === null), ["essay"]);
  assert.deepEqual(idsOf(({ scenario }) => scenario !== "standard"), ["essay", "customs"]);
  assert.deepEqual(idsOf(({ scenario }) => scenario === "error_injected"), ["customs"]);
  assert.deepEqual(idsOf(({ scenario }) => scenario === "ai_withheld"), ["essay"]);
});

Deno.test("the first four cases have as much wrong advice as right, and neither they nor the others alternate", () => {
  assert.equal(FIRST_CASES, 4);
  const isRight = CASES.map(({ advice }) => advice?.isRight ?? null);
  assert.deepEqual(isRight.slice(0, FIRST_CASES), [true, false, false, true]);
  assert.deepEqual(isRight.slice(FIRST_CASES), [true, true, null, false, true, false, true, true]);
});

/** The first cases, the others, and all: each is a list that a visitor may look through for a sign. */
const LISTS = [CASES.slice(0, FIRST_CASES), CASES.slice(FIRST_CASES), CASES];

/**
 * How well a number tells wrong advice from right: the share of pairs in which the wrong one has the higher number.
 * A half tells nothing, 0 and 1 tell all.
 */
function telling(cases: readonly DemoCase[], numberOf: (demoCase: DemoCase) => number): number {
  const numbers = (isRight: boolean) =>
    cases.filter(({ advice }) => advice?.isRight === isRight).map(numberOf);
  const pairs = numbers(false).flatMap((wrong) => numbers(true).map((right) => Math.sign(wrong - right)));
  return pairs.reduce((sum, sign) => sum + (sign + 1) / 2, 0) / pairs.length;
}

Deno.test("the AI's confidence does not tell wrong advice from right, nor is it lower on average", () => {
  const mean = (numbers: readonly number[]) => numbers.reduce((sum, next) => sum + next, 0) / numbers.length;
  for (const cases of LISTS) {
    const told = telling(cases, ({ advice }) => advice!.confidence);
    assert.ok(told >= 0.45 && told <= 0.55, `${told}`);
  }
  const sureness = (isRight: boolean) =>
    CASES.flatMap(({ advice }) => advice?.isRight === isRight ? [advice.confidence] : []);
  assert.ok(mean(sureness(false)) >= mean(sureness(true)));
});

Deno.test("neither the number of choices nor that of folded pieces tells wrong advice from right", () => {
  for (const numberOf of [({ choices }: DemoCase) => choices.length, ({ views }: DemoCase) => views.length]) {
    for (const cases of LISTS) {
      const told = telling(cases, numberOf);
      assert.ok(told >= 0.25 && told <= 0.75, `${told}`);
    }
  }
  for (const { id, views } of LISTS[0]!) assert.equal(views.length, 2, id);
});

/** Case → the outcome of each of its choices: + right, - wrong, ? nobody knows. */
const TRUTH = {
  invoice: "accepted + modified - rejected - deferred - escalated -",
  loan: "accepted - modified + modified - overridden + deferred + escalated +",
  application: "accepted - modified - rejected + overridden + escalated +",
  post: "accepted + modified - overridden - deferred - escalated -",
  claim: "accepted + modified - modified - overridden - deferred - escalated -",
  appointment: "accepted + modified - modified - deferred - escalated -",
  essay: "accepted - accepted + accepted - escalated ?",
  customs: "accepted - modified + modified - rejected + escalated +",
  translation: "accepted + modified - modified - rejected - deferred -",
  lift: "accepted - modified - overridden + deferred + escalated +",
  refund: "accepted + modified - modified - overridden - deferred -",
  permit: "accepted + modified - overridden - deferred - escalated -",
};

Deno.test("the outcome of every decision on every case is the one in the table", () => {
  const signOf = (outcome: boolean | null) => outcome === null ? "?" : outcome ? "+" : "-";
  const truth = CASES.map((demoCase) => [
    demoCase.id,
    demoCase.choices.map((choice) => `${choice.decision} ${signOf(outcomeOf(demoCase, choice))}`).join(" "),
  ]);
  assert.deepEqual(Object.fromEntries(truth), TRUTH);
});

Deno.test("the outcome follows from the advice; for a change, or a case without advice, from the decision's own truth", () => {
  const advice = (isRight: boolean) => ({ advice: { text: "", reason: "", confidence: 90, isRight } });
  const choice = (decision: Choice["decision"], isRight?: boolean): Choice => ({
    decision,
    label: "",
    ...(isRight === undefined ? {} : { isRight }),
  });
  for (const isRight of [true, false]) {
    assert.equal(outcomeOf(advice(isRight), choice("accepted")), isRight);
    for (const decision of ["rejected", "overridden", "deferred", "escalated"] as const) {
      assert.equal(outcomeOf(advice(isRight), choice(decision)), !isRight);
    }
    for (const borneOut of [true, false]) {
      assert.equal(outcomeOf(advice(isRight), choice("modified", borneOut)), borneOut);
      assert.equal(outcomeOf({ advice: null }, choice("accepted", borneOut)), borneOut);
    }
  }
  assert.equal(outcomeOf({ advice: null }, choice("deferred")), null);
  assert.equal(outcomeOf({ advice: null }, choice("escalated")), null);
});

Deno.test("every case offers a right decision, has folded material, and states the extent of each change", () => {
  for (const demoCase of CASES) {
    const { id, advice, choices, views, truth } = demoCase;
    assert.ok(choices.some((choice) => outcomeOf(demoCase, choice) === true), id);
    assert.equal(new Set(choices.map(({ label }) => label)).size, choices.length, id);
    assert.ok(views.length > 0, id);
    assert.equal(new Set(views.map(({ name }) => name)).size, views.length, id);
    assert.ok(truth.length > 20, id);
    const accepting = choices.filter(({ decision }) => decision === "accepted");
    assert.ok(advice === null || accepting.length === 1, id);
    for (const { decision, extent, isRight, label } of choices) {
      assert.equal(extent !== undefined, decision === "modified", label);
      if (extent !== undefined) assert.ok([0.05, 0.1, 0.25, 0.3, 0.5, 1].includes(extent), label);
      const isOwn = decision === "modified" || (advice === null && decision === "accepted");
      assert.equal(isRight !== undefined, isOwn, label);
      // No change improves right advice.
      if (advice?.isRight && decision === "modified") assert.equal(isRight, false, label);
    }
  }
});

Deno.test("a decision without advice is sent as docs/integrate/send-reviews.md tells customers to: accepted, nothing presented", () => {
  const essay = CASES.find(({ advice }) => advice === null)!;
  const own = essay.choices.filter(({ isRight }) => isRight !== undefined);
  assert.equal(own.length, 3);
  for (const choice of own) {
    const { ai_recommendation_presented, decision } = recordOf(essay, { choice, measured: MEASURED });
    assert.deepEqual({ ai_recommendation_presented, decision }, {
      ai_recommendation_presented: false,
      decision: "accepted",
    });
  }
});

Deno.test("a change of an amount states its extent as a share of the amount", () => {
  const amountIn = (text: string) =>
    Number(/\d[\d,]*\.\d\d|\d+,\d{3}/.exec(text)?.[0].replace(",", "") ?? NaN);
  let checked = 0;
  for (const { advice, choices } of CASES) {
    for (const { extent, label } of choices) {
      const [advised, decided] = [amountIn(advice?.text ?? ""), amountIn(label)];
      if (extent === undefined || Number.isNaN(advised + decided) || advised === decided) continue;
      assert.equal(extent, Math.round(Math.abs(decided - advised) / advised * 1000) / 1000, label);
      checked += 1;
    }
  }
  assert.equal(checked, 8);
});

Deno.test("every case with a date states once what day it is", () => {
  for (const { id, facts, views, advice } of CASES) {
    const material = JSON.stringify([facts, views, advice]);
    const days = facts.flatMap(({ rows }) => rows ?? []).filter(([name]) => name === "Today");
    assert.equal(days.length, /\b20\d\d\b/.test(material) ? 1 : 0, id);
  }
});

Deno.test("every date that is named with a day of the week has the right one", () => {
  const text = JSON.stringify(CASES);
  const named = [...text.matchAll(/\b(\w+day) (\d+ \w+ 20\d\d)/g)];
  assert.ok(named.length >= 5);
  for (const [, day, date] of named) {
    const weekday = new Date(`${date} 00:00 UTC`).toLocaleDateString("en", {
      weekday: "long",
      timeZone: "UTC",
    });
    assert.equal(day, weekday, date!);
  }
});

Deno.test("each inspection of the lift came within twelve months, except the one due now", () => {
  const log = CASES.find(({ id }) => id === "lift")!.facts[1]!.rows!;
  const inspections = log.filter(([, what]) => what.startsWith("inspection")).map(([day]) => day);
  const times = [...inspections, "3 June 2026"].map((day) => new Date(`${day} 00:00 UTC`));
  const isOverdue = times.slice(1).map((time, index) => {
    const due = new Date(times[index]!);
    due.setUTCFullYear(due.getUTCFullYear() + 1);
    return time > due;
  });
  assert.deepEqual(isOverdue, [false, false, true]);
});

Deno.test("the record of every decision is an interaction with all of its fields", () => {
  for (const demoCase of CASES) {
    for (const choice of demoCase.choices) {
      const record = recordOf(demoCase, { choice, measured: MEASURED });
      assert.deepEqual(recordedInteractionSchema.parse(record), record);
      assert.deepEqual(record, {
        ai_recommendation_presented: demoCase.id !== "essay",
        ai_available: true,
        decision: choice.decision,
        modification_extent: choice.extent ?? 0,
        scenario_type: demoCase.scenario,
        outcome_correct: outcomeOf(demoCase, choice),
        ...MEASURED,
      });
    }
  }
});

type Decide = (demoCase: DemoCase) => Choice;

function scoreNext(
  state: OperatorState | null,
  demoCase: DemoCase,
  { choice, measured }: Judgment,
): Scored {
  const interaction = recordOf(demoCase, { choice, measured });
  return score(DEFAULT_MODEL_DOCUMENT, state, { interaction, domain: "general", now: 0 }, {
    mode: "full",
    modeOverride: "normal",
  });
}

function jisOf(cases: readonly DemoCase[], decide: Decide, measured: JissMeasurement): number {
  let last: Scored | null = null;
  for (const demoCase of cases) {
    last = scoreNext(last?.state ?? null, demoCase, { choice: decide(demoCase), measured });
  }
  return last!.result.jis;
}

const HASTY = { ...MEASURED, time_to_decision_ms: 700, hover_events: 0, alternative_views_checked: 0 };
const right: Decide = (demoCase) => demoCase.choices.find((choice) => outcomeOf(demoCase, choice) === true)!;
const first: Decide = ({ choices }) => choices[0]!;
const against: Decide = ({ choices }) =>
  choices.find(({ decision }) => decision === "overridden" || decision === "rejected") ?? choices.at(-1)!;

for (const [count, good] of [[FIRST_CASES, 60], [CASES.length, 75]] as const) {
  Deno.test(`in ${count} cases care pays; haste and contradiction for its own sake do not`, () => {
    const cases = CASES.slice(0, count);
    const careful = jisOf(cases, right, MEASURED);
    assert.ok(careful > good, `${careful}`);
    for (
      const jis of [
        jisOf(cases, first, HASTY),
        jisOf(cases, first, MEASURED),
        jisOf(cases, against, MEASURED),
      ]
    ) assert.ok(jis < 60 && jis < careful - 10, `${jis}`);
  });
}

Deno.test("whatever is decided, four cases leave the verdict undetermined: too little wrong advice is known", () => {
  let runs: readonly (Scored | null)[] = [null];
  for (const demoCase of CASES.slice(0, FIRST_CASES)) {
    runs = runs.flatMap((run) =>
      demoCase.choices.map((choice) =>
        scoreNext(run?.state ?? null, demoCase, { choice, measured: MEASURED })
      )
    );
  }
  assert.equal(runs.length, 5 * 6 * 5 * 5);
  for (const run of runs) {
    const { status, doubt } = run!.result.compliance.verdict!;
    assert.deepEqual([status, doubt], ["undetermined", "too_few_wrong_cases"]);
  }
});

Deno.test("session ids of runs fit the interface and are all different", () => {
  const names = Array.from({ length: 100 }, newSessionId);
  assert.equal(new Set(names).size, 100);
  for (const name of names) assert.match(name, /^[0-9a-f]{32}$/);
});
