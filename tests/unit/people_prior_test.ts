/** The prior of `jis-3` fitted to an organization's people: what counts, and whether it finds known people again. */
import assert from "node:assert/strict";
import type { Interaction } from "../../src/domain/interaction.ts";
import { calibrate, calibratePeople } from "../../src/scoring/calibration/calibrate.ts";
import { LabelledCases } from "../../src/scoring/calibration/labelled_cases.ts";
import { fitDiscrimination } from "../../src/scoring/calibration/people_prior.ts";
import { seeded } from "../../src/simulation/random.ts";
import { casesOf, type Reviews, reviewsOf } from "../labelled_reviews.ts";
import { JIS_1_1_0, JIS_2_0_0 as model } from "../models.ts";

const TIMES = [60_000];
/** The fewest cases with which a person counts as one with enough of them. */
const ENOUGH: Reviews = { hits: 2, misses: 3, correct: 5, times: TIMES };

function priorOf(people: readonly Reviews[]) {
  return fitDiscrimination(model, casesOf(people.map(reviewsOf), model)).prior;
}

const times = (count: number, reviews: Reviews) => Array.from({ length: count }, () => reviews);

/** People whose logits are drawn from a leaning and a sensitivity, with 40 cases of wrong and 120 of right advice. */
function drawn(count: number, leaning: [number, number], sensitivity: [number, number]): readonly Reviews[] {
  const random = seeded("people");
  const normal = ([mean, sd]: readonly [number, number]) => mean + sd * Math.log(random.lognormal(1, 1));
  return Array.from({ length: count }, () => {
    const [at, difference] = [normal(leaning), normal(sensitivity)];
    const departures = (logit: number, cases: number) =>
      Array.from({ length: cases }, () => random.uniform()).filter((draw) =>
        draw < 1 / (1 + Math.exp(-logit))
      ).length;
    const hits = departures(at + difference / 2, 40);
    const alarms = departures(at - difference / 2, 120);
    return { hits, misses: 40 - hits, correct: 120 - alarms, alarms, times: TIMES };
  });
}

Deno.test("five people with enough cases are fitted; with fewer people or cases the model keeps its prior", () => {
  assert.notEqual(priorOf(times(5, ENOUGH)).result, "kept");
  for (
    const people of [
      times(4, ENOUGH),
      [...times(4, ENOUGH), { ...ENOUGH, misses: 2 }],
      [...times(4, ENOUGH), { ...ENOUGH, correct: 4 }],
      times(40, { hits: 0, misses: 0, correct: 500, times: TIMES }),
      [],
    ]
  ) {
    const { before, after, result } = priorOf(people);
    assert.deepEqual([result, after], ["kept", before]);
  }
  // Acceptances alone fit no error rate either: 0 % wrong may mean that nobody looked.
  const stampers = casesOf(
    times(40, { hits: 0, misses: 0, correct: 500, times: TIMES }).map(reviewsOf),
    model,
  );
  const { document, isFitted } = calibratePeople(model, stampers);
  assert.deepEqual([document, isFitted], [null, false]);
});

Deno.test("the fit finds again how 200 people lean and how well they tell wrong from right advice", () => {
  const { after, result, wrong_cases, right_cases } = priorOf(drawn(200, [-1.2, 0.9], [1, 0.8]));
  assert.deepEqual([result, wrong_cases, right_cases], ["fitted", 8_000, 24_000]);
  const [fitted] = after.sensitivity;
  for (
    const [found, known] of [
      [after.leaning.mean, -1.2],
      [after.leaning.sd, 0.9],
      [fitted!.mean, 1],
      [fitted!.correlation, 0],
    ]
  ) assert.ok(Math.abs(found! - known!) < 0.25, JSON.stringify(after));
});

Deno.test("people who all err in the same way leave the prior wide, and people far apart make it wider", () => {
  const alike = priorOf(times(60, { hits: 8, misses: 32, correct: 108, alarms: 12, times: TIMES }));
  assert.deepEqual([alike.result, alike.after.leaning.sd], ["bounded", 0.5]);
  const apart = priorOf(drawn(60, [-1, 1.8], [0.5, 0.5]));
  assert.ok(apart.after.leaning.sd > 1.4, JSON.stringify(apart.after.leaning));
});

Deno.test("half of the sensitivity stays as built in, experts among it", () => {
  const { after } = priorOf(drawn(20, [-1, 1], [1, 1]));
  const halves = model.discrimination!.sensitivity.map((row) => ({
    ...row,
    weight: Number((row.weight / 2).toFixed(9)),
  }));
  assert.deepEqual(after.sensitivity.slice(1), halves);
  assert.equal(after.sensitivity[0]!.weight, 0.5);
});

Deno.test("a calibration of a calibrated model on the same cases changes nothing more", () => {
  const cases = casesOf(drawn(20, [-1, 1], [1, 1]).map(reviewsOf), model);
  const first = calibratePeople(model, cases).document!;
  const { document, isFitted } = calibratePeople(first, cases);
  assert.deepEqual([document, isFitted], [null, true]);
  // A stored document has its members in another order.
  const stored = structuredClone(first);
  stored.discrimination!.sensitivity = stored.discrimination!.sensitivity.map(
    ({ weight, mean, sd, correlation }) => ({ correlation, mean, sd, weight }),
  );
  assert.equal(calibratePeople(stored, cases).document, null);
});

Deno.test("announced tests teach the prior nothing, and planted errors do not raise the error rate", () => {
  const cases = (scenario: Interaction["scenario_type"]) => {
    const all = casesOf(times(20, { hits: 5, misses: 5, correct: 40, times: TIMES }).map(reviewsOf), model);
    for (let person = 0; person < 20; person += 1) {
      for (const row of reviewsOf({ hits: 30, correct: 0, times: TIMES })) {
        all.add(`operator-${person}`, "financial", { ...row, scenario_type: scenario });
      }
    }
    return fitDiscrimination(model, all);
  };
  const announced = cases("calibration");
  assert.deepEqual(
    [announced.prior.wrong_cases, announced.error_rate.rate, announced.error_rate.after],
    [200, 0.2, 0.2],
  );
  const planted = cases("error_injected");
  assert.deepEqual([planted.prior.wrong_cases, planted.error_rate.rate], [800, 0.2]);
  const natural = cases("standard");
  assert.deepEqual([natural.error_rate.rate, natural.error_rate.result, natural.error_rate.after], [
    0.5,
    "bounded",
    0.3,
  ]);
});

Deno.test("each person counts the same in the error rate, however many cases there were", () => {
  const few = times(9, { hits: 2, misses: 3, correct: 20, times: TIMES });
  const many: Reviews = { hits: 900, misses: 100, correct: 1_000, times: TIMES };
  const { rate } = fitDiscrimination(model, casesOf([...few, many].map(reviewsOf), model)).error_rate;
  assert.equal(rate, 0.23);
});

Deno.test("ai_correct decides which cells a case counts in, and a modification counts by its share", () => {
  const [row] = reviewsOf(ENOUGH);
  const cases = new LabelledCases(model);
  // Wrong advice that gave way to another wrong answer: with two answers it would be a false alarm.
  cases.add("ada", "general", { ...row!, decision: "overridden", outcome_correct: false, ai_correct: false });
  cases.add("ada", "general", {
    ...row!,
    decision: "modified",
    modification_extent: 1,
    outcome_correct: true,
  });
  assert.deepEqual(cases.live(), [
    { hit: 2, miss: 0, correctAcceptance: 0, falseAlarm: 0, naturalWrong: 2, naturalRight: 0 },
  ]);
});

Deno.test("a model of jis-3 gets this fit in place of the priors H and C; an older one has neither", () => {
  const people = times(24, { hits: 13, misses: 7, correct: 17, alarms: 8, times: TIMES }).map(reviewsOf);
  const { priors, discrimination, document } = calibrate(model, casesOf(people, model));
  assert.deepEqual(priors.map(({ bucket }) => bucket), ["U"]);
  assert.notEqual(discrimination!.prior.result, "kept");
  assert.notDeepEqual(document!.discrimination!.leaning, model.discrimination!.leaning);
  const older = calibrate(JIS_1_1_0, casesOf(people));
  assert.deepEqual(older.priors.map(({ bucket }) => bucket), ["H", "C", "U"]);
  assert.equal(older.discrimination, null);
  assert.throws(() => calibratePeople(JIS_1_1_0, casesOf(people)), TypeError);
});
