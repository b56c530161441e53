/** Which exercises the service holds and how, which cases it chooses, what it counts, and that its texts are translated. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { CASE_SET_LANGUAGES } from "../../src/exercises/case_set.ts";
import { chooseCases } from "../../src/exercises/choosing.ts";
import { DIFFICULTIES, formOf, heldExercises, isAdvised } from "../../src/exercises/form.ts";
import { type DecidedCase, metricValue } from "../../src/exercises/measures.ts";
import { DEFAULT_MODEL_DOCUMENT } from "../../src/scoring/model.ts";
import { languageOf, TEXTS, translated } from "../../src/web/exercise/texts.ts";

const CATALOGUE = DEFAULT_MODEL_DOCUMENT.maintenance.exercises;
const HELD = CATALOGUE.filter((row) => formOf(row, "moderate") !== null);

Deno.test("nine exercises are held, as the page about them says, at each difficulty", async () => {
  const page = await Deno.readTextFile(`${import.meta.dirname}/../../docs/integrate/exercises.md`);
  const start = page.indexOf("| the advice comes");
  const rows = page.slice(start, page.indexOf("\n\n", start)).split("\n").slice(2);
  const PRESENTATIONS = ["shown", "after_decision", "delayed", "on_request", "withheld", "alternating"];
  const stated = new Map(
    rows.flatMap((row, index) =>
      [...row.matchAll(/`(ex_\w+)`/g)].map(([, id]) => [id!, PRESENTATIONS[index]!])
    ),
  );
  assert.equal(stated.size, 9);
  for (const difficulty of DIFFICULTIES) {
    const forms = CATALOGUE.flatMap((row) => {
      const form = formOf(row, difficulty);
      return form === null ? [] : [[row.id, form.presentation] as const];
    });
    assert.deepEqual(
      new Map(forms),
      new Map(CATALOGUE.flatMap(({ id }) => {
        const presentation = stated.get(id);
        return presentation === undefined ? [] : [[id, presentation] as const];
      })),
    );
  }
  const numbers = (id: string, name: "delay_ms" | "requests") =>
    DIFFICULTIES.map((difficulty) => formOf(CATALOGUE.find((row) => row.id === id)!, difficulty)![name]);
  assert.deepEqual(numbers("ex_deferral_resistance_2", "delay_ms"), [5_000, 10_000, 15_000]);
  assert.deepEqual(numbers("ex_deferral_resistance_3", "requests"), [4, 4, 3]);
});

Deno.test("the list of what can be set has the exercises that are held, and one that is held at some difficulties with these", () => {
  assert.deepEqual(heldExercises(CATALOGUE).map(({ exercise_id }) => exercise_id), HELD.map(({ id }) => id));
  for (const { difficulties } of heldExercises(CATALOGUE)) assert.deepEqual(difficulties, [...DIFFICULTIES]);
  const row = HELD[0]!;
  const params = { ...row.params, hard: { min_chars: 40 } };
  assert.deepEqual(heldExercises([{ ...row, params }]), [{
    exercise_id: row.id,
    title: row.title,
    dimension: row.dimension,
    difficulties: ["easy", "moderate"],
  }]);
});

Deno.test("an exercise with a parameter that the page does not know is not held", () => {
  const row = HELD[0]!;
  const unknown = [["min_chars", 40], ["confidence_rating", true], ["pattern", "ABAB"], [
    "reveal_delay_ms",
    -1,
  ]] as const;
  for (const [name, value] of unknown) {
    const easy = { ...row.params.easy, [name]: value };
    assert.equal(formOf({ ...row, params: { ...row.params, easy } }, "easy"), null, name);
  }
});

Deno.test("the advice of an alternating run comes with the first case and every second one after it", () => {
  assert.deepEqual([1, 2, 3, 4].map((number) => isAdvised("alternating", number)), [
    true,
    false,
    true,
    false,
  ]);
  assert.deepEqual([1, 2].map((number) => isAdvised("withheld", number)), [false, false]);
});

Deno.test("cases are of the set, each once, as many as asked for, of both kinds, the least seen first", () => {
  const sets = fc.tuple(fc.integer({ min: 2, max: 30 }), fc.integer({ min: 2, max: 30 })).map((
    [right, wrong],
  ) =>
    Array.from({ length: right + wrong }, (_, index) => ({ id: `case-${index}`, ai_correct: index < right }))
  );
  fc.assert(fc.property(
    sets,
    fc.record({
      items: fc.integer({ min: 1, max: 40 }),
      errorShare: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    fc.func(fc.nat(3)),
    fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
    (cases, { items, errorShare }, seenOf, numbers) => {
      const seen = new Map(cases.map(({ id }) => [id, seenOf(id)]));
      const chosen = chooseCases(cases, { items, errorShare, seen, random: () => numbers.next().value });
      const count = Math.min(cases.length, Math.max(items, 4));
      assert.equal(chosen.length, count);
      assert.equal(new Set(chosen).size, count);
      for (const isRight of [true, false]) {
        const own = cases.filter(({ ai_correct }) => ai_correct === isRight);
        const taken = own.filter(({ id }) => chosen.includes(id));
        assert.ok(taken.length >= 2);
        const most = Math.max(...taken.map(({ id }) => seen.get(id)!));
        for (const { id } of own) assert.ok(chosen.includes(id) || seen.get(id)! >= most);
      }
      const wrong = chosen.filter((id) => !cases.find((one) => one.id === id)!.ai_correct).length;
      const [right, all] = [cases.filter(({ ai_correct }) => ai_correct).length, cases.length];
      const wished = Math.max(2, Math.ceil(count * errorShare));
      assert.equal(wrong, Math.min(all - right, count - 2, Math.max(wished, count - right)));
    },
  ));
});

const decided = (decision: string, ai_correct: boolean | null, correct: boolean): DecidedCase => ({
  decision,
  ai_correct,
  correct,
});

Deno.test("each metric of a held exercise is the share that the page about exercises defines", () => {
  const run = [
    decided("accepted", true, true),
    decided("overridden", true, false),
    decided("accepted", false, false),
    decided("overridden", false, true),
    decided("rejected", false, true),
    decided("accepted", null, true),
    decided("accepted", null, false),
  ];
  assert.equal(metricValue("accuracy", run), 4 / 7);
  assert.equal(metricValue("accuracy_next_5", run), 3 / 5);
  assert.equal(metricValue("hit_rate", run), 2 / 3);
  assert.equal(metricValue("over_reliance_avoided", run), 2 / 3);
  assert.equal(metricValue("balanced_accuracy", run), (1 / 2 + 2 / 3) / 2);
  assert.equal(metricValue("accuracy_gap", run), 1 - (3 / 5 - 1 / 2));
  assert.equal(metricValue("justified_override_rate", run), 1 / 4);
  assert.equal(metricValue("brier_score_max", run), null);
  for (const { metric } of HELD) {
    assert.notEqual(metricValue(metric, run), null, metric);
    assert.equal(metricValue(metric, []), null, metric);
  }
});

Deno.test("every text of a held exercise is in each language, and none is translated that nobody shows", () => {
  const shown = HELD.flatMap(({ title, instructions, debrief }) => [title, ...instructions, ...debrief]);
  for (const language of CASE_SET_LANGUAGES.filter((one) => one !== "en")) {
    assert.deepEqual(
      Object.keys(TEXTS[language].translations).sort(),
      [...new Set(shown)].sort(),
      language,
    );
    for (const text of shown) assert.notEqual(translated(TEXTS[language], text), text);
  }
  assert.equal(translated(TEXTS.de, "A text of an organization's own."), "A text of an organization's own.");
});

Deno.test("the languages have the same texts, and the page begins in the browser's", () => {
  const shapeOf = (value: unknown): unknown =>
    typeof value === "object" && value !== null
      ? Object.fromEntries(
        Object.entries(value).filter(([name]) => name !== "translations").map((
          [name, one],
        ) => [name, shapeOf(one)]),
      )
      : typeof value;
  assert.deepEqual(shapeOf(TEXTS.de), shapeOf(TEXTS.en));
  assert.equal(languageOf(["fr-FR", "de-CH", "en"]), "de");
  assert.equal(languageOf(["fr"]), "en");
});
