/** Exercises of the catalogue, their runs and their effect in words. */
import assert from "node:assert/strict";
import {
  countInterval,
  effectInWords,
  exerciseSheet,
  passedInWords,
  type RunEffect,
  stateInWords,
  successInWords,
} from "../../src/pages/exercise_words.ts";
import { DIFFICULTIES } from "../../src/exercises/form.ts";
import { DEFAULT_MODEL_DOCUMENT as model } from "../../src/scoring/model.ts";

const { exercises: CATALOGUE, difficulties } = model.maintenance;

/** Every exercise at every difficulty, as the recommendation has it. */
const RECOMMENDED = CATALOGUE.flatMap((row) =>
  DIFFICULTIES.map((difficulty) => ({
    id: row.id,
    title: row.title,
    payload: {
      ...row,
      ...difficulties[difficulty],
      difficulty,
      params: row.params[difficulty],
      success: {
        metric: row.metric,
        threshold: row.success_thresholds?.[difficulty] ?? difficulties[difficulty].success_threshold,
      },
      sample_case: row.cases[difficulty],
    } as Readonly<Record<string, unknown>>,
  }))
);

function sheetOf(id: string, difficulty: string) {
  return exerciseSheet(
    RECOMMENDED.find((row) => row.id === id && row.payload.difficulty === difficulty)!,
  );
}

Deno.test("each exercise at each difficulty is said in sentences, without names of the API and without JSON", () => {
  assert.equal(RECOMMENDED.length, 63);
  for (const exercise of RECOMMENDED) {
    const sheet = exerciseSheet(exercise);
    const { setup, conditions, instructions, debrief, passed, purpose, sample, sending } = sheet;
    for (const steps of [setup, conditions, instructions, debrief, sending]) assert.ok(steps.length > 0);
    assert.equal(setup.length + sending.length, (exercise.payload.setup as string[]).length);
    for (const sentence of [...setup, ...conditions, ...instructions, ...debrief, passed, purpose]) {
      assert.doesNotMatch(sentence, /[{}[\]"]|\w_\w|undefined|NaN|\bparams\b/, exercise.id);
      assert.match(sentence, /^[A-Z].*[.?]$/, exercise.id);
    }
    assert.ok(sheet.cases > 0 && sheet.minutes > 0 && sample !== null && sample.lookFor !== "");
    assert.equal(sample.isAdviceRight === null, sample.advice === "");
    const metric = String(exercise.payload.metric).replaceAll("_", " ");
    assert.ok(!passed.includes(metric), `${metric} has words of its own`);
  }
});

Deno.test("the conditions count the cases with wrong advice, rounded up, and none of live cases", () => {
  const [easy, hard] = [sheetOf("ex_error_detection_1", "easy"), sheetOf("ex_error_detection_1", "hard")];
  assert.deepEqual(easy.conditions, [
    "Let the advice be wrong in 3 of the 6 cases.",
    "Tell the reviewer after each case whether the decision was right.",
    "Plant errors of these kinds: factual, arithmetic and omission.",
  ]);
  assert.match(hard.conditions[1]!, /after the last case/);
  const rare = sheetOf("ex_error_detection_2", "moderate");
  assert.deepEqual([rare.cases, rare.conditions[0]], [30, "Let the advice be wrong in 3 of the 30 cases."]);
  assert.match(rare.setup[0]!, /^Build a long run of closed cases, with errors planted in as many cases as/);
  assert.match(sheetOf("ex_deliberation_depth_1", "easy").conditions[0]!, /live cases: plant no error/);
  assert.match(sheetOf("ex_deferral_resistance_2", "hard").conditions[2]!, /15 seconds after the case/);
});

Deno.test("a Brier score is passed below its threshold, and a metric that nobody knows is named", () => {
  assert.match(successInWords("brier_score_max", 0.2), /is at most 0\.2\.$/);
  assert.match(successInWords("hit_rate", 0.75), /at least 75 % of the planted errors/);
  assert.match(successInWords("accuracy_gap", 0.8), /at most 20 % below/);
  assert.equal(successInWords("some_metric", 0.5), "It is passed if some metric is at least 50 %.");
});

Deno.test("a payload of another form is said as far as it can be, and nothing of it as JSON", () => {
  const sheet = exerciseSheet({
    id: "own",
    title: "Own",
    payload: {
      items: "many",
      params: { own_number: 3, own_list: ["a"], own_object: { a: 1 } },
      setup: ["Look.", 4, { a: 1 }],
      success: null,
      sample_case: [],
    },
  });
  assert.deepEqual([sheet.cases, sheet.setup, sheet.sample], [0, ["Look."], null]);
  assert.ok(sheet.conditions.includes("Own number: 3."));
  assert.doesNotMatch(sheet.conditions.join(), /object|own list|\[/i);
});

const RUN = { decided: 2, case_count: 6, expires_at: "2027-01-14T12:00:00.000Z" };

Deno.test("a run's state says how far it is and when its link ends", () => {
  assert.deepEqual(
    (["open", "started", "done", "expired"] as const).map((state) => stateInWords({ ...RUN, state })),
    [
      "not begun; the link works until 14 January 2027",
      "begun, with 2 of 6 cases decided; the link works until 14 January 2027",
      "done",
      "over since 14 January 2027, with 2 of 6 cases decided",
    ],
  );
  assert.equal(countInterval({ low: null, high: null }), "");
  assert.equal(countInterval({ low: 0.4, high: 0.9 }), " (40 % to 90 %)");
  assert.equal(countInterval({ low: 0.359, high: 0.996 }), " (35.9 % to 99.6 %: says little)");
  assert.equal(passedInWords({ metric: "hit_rate", threshold: 0.7, met: null }), null);
  assert.match(
    passedInWords({ metric: "hit_rate", threshold: 0.7, met: false })!,
    /^Not passed\. It is passed if/,
  );
});

Deno.test("an effect is a change with both intervals, and a cause of nothing", () => {
  const none = {
    live_interactions: 0,
    live_interactions_needed: 30,
    before: null,
    after: null,
    difference: null,
    clear: null,
  };
  const said = (effect: Partial<RunEffect> & Pick<RunEffect, "status">) =>
    effectInWords({ ...none, ...effect });
  assert.match(said({ status: "not_done" }), /cases are still open/);
  assert.match(said({ status: "no_live_work_before" }), /no live work before/);
  assert.match(said({ status: "too_early", live_interactions: 12 }), /12 of 30 live interactions have come/);
  const [before, after] = [{ jis: 61.2, low: 52.1, high: 70.3 }, { jis: 66, low: 58, high: 73 }];
  assert.equal(
    said({ status: "measured", live_interactions: 30, before, after, difference: 4.8, clear: false }),
    "The score of live work was 61.2 (52.1 to 70.3) before it and 66.0 (58.0 to 73.0) after 30 more cases: up by 4.8. The intervals overlap, so that chance may be the reason. It shows a change, not its cause.",
  );
  assert.match(
    said({ status: "measured", before: after, after: before, difference: -4.8, clear: true }),
    /down by 4\.8\. The intervals have no value in common\./,
  );
  assert.match(
    said({ status: "measured", before, after: before, difference: 0, clear: false }),
    /: no change\./,
  );
});
