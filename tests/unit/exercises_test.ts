/**
 * The exercise catalogue: the required content of every row, documents that leave something out, and the
 * payload that a caller gets.
 */
import assert from "node:assert/strict";
import { type Dimension, DIMENSIONS, type Domain } from "../../src/domain/enums.ts";
import type { FullDimensions } from "../../src/scoring/dimensions.ts";
import document from "../../src/scoring/jis-2.0.0.json" with { type: "json" };
import { type ExercisePlan, recommendExercises } from "../../src/scoring/maintenance.ts";
import { DEFAULT_MODEL_DOCUMENT as model, modelSchema } from "../../src/scoring/model.ts";

const DIFFICULTIES = ["easy", "moderate", "hard"] as const;
const NOW = 1_780_304_400_000;

const exercises = model.maintenance.exercises;
const sampleCases = exercises.flatMap(({ id, scenario_type, cases }) =>
  DIFFICULTIES.map((difficulty) => ({ place: `${id} ${difficulty}`, scenario_type, ...cases[difficulty] }))
);

/** The recommendation if only this dimension is below the target. */
function planFor(target: Dimension, value: number, domain: Domain = "general"): ExercisePlan {
  const dimensions = Object.fromEntries(
    DIMENSIONS.map((name) => [name, name === target ? value : 90]),
  ) as FullDimensions;
  const decay = {
    current_jis: 80,
    current_trend: 0,
    domain,
    decay_rate: 0.0025,
    decay_acceleration: 0.00001,
    floor: 35,
    recovery_rate: 0.05,
    days_to_non_compliance: null,
    projections: [],
  };
  return recommendExercises(model, {
    jis: 80,
    dimensions,
    mode: "full",
    decay,
    minimumDataMet: true,
    groundTruth: 5,
    now: NOW,
    domain,
  });
}

// deno-lint-ignore no-explicit-any
type Mutation = (rows: any) => void;

/** Every problem of the built-in document after its exercises were changed, as "path: message". */
function problemsAfter(mutate: Mutation): readonly string[] {
  const changed = structuredClone(document);
  mutate(changed.maintenance.exercises);
  const parsed = modelSchema.safeParse(changed);
  return parsed.success
    ? []
    : parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

// ---- the built-in catalogue -------------------------------------------------------------------------------

Deno.test("every dimension has three exercises", () => {
  assert.equal(exercises.length, 21);
  for (const name of DIMENSIONS) {
    assert.equal(exercises.filter(({ dimension }) => dimension === name).length, 3, name);
  }
});

Deno.test("every exercise has two to four setup sentences, three to five instructions and two or three questions", () => {
  for (const { id, setup, instructions, debrief } of exercises) {
    assert.ok(setup.length >= 2 && setup.length <= 4, id);
    assert.ok(instructions.length >= 3 && instructions.length <= 5, id);
    assert.ok(debrief.length >= 2 && debrief.length <= 3, id);
    for (const question of debrief) assert.match(question, /\?$/, id);
    for (const sentence of [...setup, ...instructions]) assert.match(sentence, /\.$/, id);
  }
});

Deno.test("the near-miss debrief has the three questions that its parameters announce", () => {
  const debriefed = exercises.find(({ id }) => id === "ex_post_error_recalibration_3");
  assert.deepEqual(debriefed?.params.hard, { questions: 3 });
  assert.equal(debriefed?.debrief.length, 3);
});

Deno.test("every setup names the scenario type under which the exercise is posted", () => {
  for (const { id, scenario_type, setup } of exercises) {
    assert.ok(setup.join(" ").includes(`scenario_type ${scenario_type}`), id);
  }
});

Deno.test("no purpose, case, recommendation or solution occurs in the catalogue twice, and none is blank", () => {
  assert.equal(sampleCases.length, 63);
  const texts = [
    ...exercises.map(({ purpose }) => purpose),
    ...sampleCases.flatMap((row) => [row.case, row.look_for]),
    ...sampleCases.flatMap(({ ai_recommendation }) => ai_recommendation ?? []),
  ];
  assert.equal(texts.length, 201);
  assert.equal(new Set(texts).size, texts.length);
  const all = [...texts, ...exercises.flatMap((row) => [...row.setup, ...row.instructions, ...row.debrief])];
  for (const text of all) assert.ok(text.trim() === text && text !== "", text);
});

Deno.test("the advice of the sample cases is right in half of them, at every difficulty", () => {
  const advised = sampleCases.filter((row) => row.ai_recommendation !== null);
  assert.equal(advised.length, 54);
  const shareRight = (rows: typeof advised) => rows.filter((row) => row.ai_is_right).length / rows.length;
  assert.ok(shareRight(advised) >= 0.4 && shareRight(advised) <= 0.6);
  for (const difficulty of DIFFICULTIES) {
    const share = shareRight(advised.filter((row) => row.place.endsWith(difficulty)));
    assert.ok(share >= 0.4 && share <= 0.6, difficulty);
  }
});

Deno.test("every exercise with advice has a sample case where it is right and one where it is wrong", () => {
  for (const { id, scenario_type, cases } of exercises) {
    if (scenario_type === "ai_withheld") continue;
    const verdicts = new Set(DIFFICULTIES.map((difficulty) => cases[difficulty].ai_is_right));
    assert.deepEqual(verdicts, new Set([true, false]), id);
  }
});

Deno.test("a sample case without advice says the right decision instead", () => {
  const unaided = sampleCases.filter(({ scenario_type }) => scenario_type === "ai_withheld");
  assert.equal(unaided.length, 9);
  for (const row of unaided) {
    assert.equal(row.ai_recommendation, null, row.place);
    assert.equal(row.ai_is_right, null, row.place);
    assert.match(row.look_for, /The right decision is /, row.place);
  }
});

Deno.test("every source that a purpose names is in the list of sources", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/understand/scoring-model.md", import.meta.url));
  for (const { id, purpose } of exercises) {
    for (const [, number] of purpose.matchAll(/\[(\d+)\]/g)) {
      assert.match(page, new RegExp(`^${number}\\. `, "m"), `${id}: [${number}]`);
    }
  }
});

Deno.test("the page about the exercises shows the catalogue as it is", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/integrate/exercises.md", import.meta.url));
  const rows = page.split("\n").filter((line) => line.startsWith("| `ex_"))
    .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
  assert.deepEqual(
    rows,
    exercises.map(({ id, title, dimension, purpose }) => [`\`${id}\``, title, dimension, purpose]),
  );
});

// ---- required exercises -----------------------------------------------------------------------------------

Deno.test("a dimension with fewer than three exercises is refused by name", () => {
  assert.deepEqual(problemsAfter((rows) => rows.pop()), [
    "maintenance.exercises: must have at least three for decision_autonomy",
  ]);
  assert.deepEqual(problemsAfter((rows) => rows[0].dimension = "error_detection"), [
    "maintenance.exercises: must have at least three for deferral_resistance",
  ]);
});

Deno.test("a fourth exercise for a dimension is accepted", () => {
  assert.deepEqual(problemsAfter((rows) => rows.push({ ...rows[0], id: "ex_acme_1" })), []);
});

Deno.test("empty texts, missing cases and unknown keys are refused, each with its path", () => {
  assert.deepEqual(
    problemsAfter((rows) => {
      rows[0].purpose = "";
      rows[0].setup = [];
      rows[1].instructions[0] = "";
      delete rows[1].cases.hard;
      rows[2].cases.easy.look_for = "";
      rows[2].cases.easy.hint = "none";
      rows[2].subtitle = "none";
    }),
    [
      "maintenance.exercises.0.purpose: Too small: expected string to have >=1 characters",
      "maintenance.exercises.0.setup: Too small: expected array to have >=1 items",
      "maintenance.exercises.1.instructions.0: Too small: expected string to have >=1 characters",
      "maintenance.exercises.1.cases.hard: Invalid input: expected object, received undefined",
      "maintenance.exercises.2.cases.easy.look_for: Too small: expected string to have >=1 characters",
      'maintenance.exercises.2.cases.easy: Unrecognized key: "hint"',
      'maintenance.exercises.2: Unrecognized key: "subtitle"',
    ],
  );
});

Deno.test("advice in a withheld case, or none in another, is refused", () => {
  const index = exercises.findIndex(({ scenario_type }) => scenario_type === "ai_withheld");
  assert.equal(index, 6);
  assert.deepEqual(
    problemsAfter((rows) => {
      rows[0].cases.easy.ai_recommendation = null;
      rows[1].cases.hard.ai_is_right = null;
      rows[index].cases.easy.ai_is_right = true;
    }),
    [
      "maintenance.exercises.0: cases must say ai_recommendation and ai_is_right, except with ai_withheld",
      "maintenance.exercises.1: cases must say ai_recommendation and ai_is_right, except with ai_withheld",
      "maintenance.exercises.6: cases of ai_withheld must have null for ai_recommendation and ai_is_right",
    ],
  );
});

// ---- recommended exercises --------------------------------------------------------------------------------

Deno.test("every difficulty gives another sample case of the same three exercises", () => {
  for (const target of DIMENSIONS) {
    const plans = [planFor(target, 39), planFor(target, 69), planFor(target, 74)];
    assert.deepEqual(plans.map((plan) => [plan.target_dimension, plan.difficulty]), [
      [target, "easy"],
      [target, "moderate"],
      [target, "hard"],
    ]);
    const own = exercises.filter(({ dimension }) => dimension === target);
    plans.forEach((plan, index) => {
      assert.deepEqual(plan.exercises.map(({ id }) => id), own.map(({ id }) => id));
      assert.deepEqual(
        plan.exercises.map(({ payload }) => payload.sample_case),
        own.map(({ cases }) => cases[DIFFICULTIES[index]!]),
      );
    });
  }
});

Deno.test("an exercise about the domain has the operator's domain in its parameters", () => {
  const [, refresher, gallery] = planFor("domain_confidence", 50, "healthcare").exercises;
  assert.deepEqual(refresher?.payload.params, { domain: "healthcare" });
  assert.deepEqual(gallery?.payload.params, { domain: "healthcare", edge_case: true });
});

Deno.test("the payload of an exercise holds its scale, its parameters, its texts and one sample case", () => {
  assert.deepEqual(planFor("deferral_resistance", 30).exercises[1], {
    id: "ex_deferral_resistance_2",
    title: "Slow Reveal",
    payload: {
      dimension: "deferral_resistance",
      difficulty: "easy",
      items: 6,
      estimated_minutes: 8,
      scenario_type: "calibration",
      ai_error_share: 0.4,
      feedback: "immediate",
      success: { metric: "over_reliance_avoided", threshold: 0.7 },
      params: { reveal_delay_ms: 5000 },
      purpose:
        "Trains using the time before the advice to study the case; delaying the advice is one of three designs that reduced over-reliance in an experiment.",
      setup: [
        "Take closed cases whose right decision is known, and replace the recommendation by a wrong one in the share that ai_error_share gives.",
        "The screen shows the case at once and the recommendation only after reveal_delay_ms; the reviewer cannot skip the wait.",
        "During the wait the screen shows the evidence, not a progress bar that draws the eye away from it.",
        "Post each decision as scenario_type calibration, with time_to_decision_ms counted from the first sight of the case and with outcome_correct.",
      ],
      instructions: [
        "Read the case while the recommendation is still hidden.",
        "Form a view and say it to yourself in one sentence.",
        "When the recommendation appears, compare it with your view.",
        "Where the two differ, go back to the case before you decide.",
      ],
      debrief: [
        "What did you look at while you waited?",
        "In which case did the recommendation differ from your view, and which of the two did the case support?",
      ],
      sample_case: {
        case:
          "A driver appeals against a parking fine issued at 14:20. The appeal encloses a parking ticket for the same car, day and zone, paid from 12:30 to 14:30.",
        ai_recommendation: "Reject the appeal. The ticket had run out when the fine was issued.",
        ai_is_right: false,
        look_for:
          "The ticket ran until 14:30 and was valid at 14:20. The right decision is to cancel the fine.",
      },
    },
  });
});
