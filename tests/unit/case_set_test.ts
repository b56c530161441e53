/** The case sets of the program: their form, their balance, and that both languages are the same exercise. */
import assert from "node:assert/strict";
import { builtInCaseSet } from "../../src/exercises/built_in.ts";
import { DOMAINS } from "../../src/domain/enums.ts";
import {
  CASE_SET_LANGUAGES,
  type CaseSet,
  caseSetSchema,
  isChoiceRight,
  shownCase,
} from "../../src/exercises/case_set.ts";

for (const domain of DOMAINS) {
  Deno.test(`the case sets of ${domain} have ten cases, half of them with wrong advice, alike in each language`, async () => {
    const sets = await Promise.all(CASE_SET_LANGUAGES.map((language) => builtInCaseSet(domain, language)));
    for (const [index, { name, language, cases, ...set }] of sets.entries()) {
      assert.deepEqual([name, set.domain, language], [domain, domain, CASE_SET_LANGUAGES[index]]);
      assert.ok(cases.length >= 10);
      assert.equal(cases.filter(({ ai_correct }) => !ai_correct).length, cases.length / 2);
      for (const one of cases) assert.ok(one.choices.some((choice) => isChoiceRight(one, choice)), one.id);
    }
    const shapes = sets.map(({ cases }) =>
      cases.map(({ id, ai_correct, advice, facts, views, choices }) => ({
        id,
        ai_correct,
        confidence: advice.confidence,
        facts: facts.length,
        views: views.map(({ name }) => name),
        choices: choices.map(({ label: _, ...choice }) => choice),
      }))
    );
    for (const shape of shapes.slice(1)) assert.deepEqual(shape, shapes[0]);
  });
}

type Case = CaseSet["cases"][number];
type Pieces = Case["facts"] | Case["views"];

const lengthOf = (pieces: Pieces) =>
  pieces.reduce((sum, { rows = [], text = [] }) => sum + [...rows.flat(), ...text].join("").length, 0);

function acceptLead({ choices }: Case): number {
  const mean = choices.reduce((sum, { label }) => sum + label.length, 0) / choices.length;
  return choices.find(({ decision }) => decision === "accepted")!.label.length - mean;
}

/** What somebody could see of a case without reading it. */
const CUES: readonly (readonly [name: string, of: (one: Case) => number])[] = [
  ["the confidence of the advice", ({ advice }) => advice.confidence],
  ["the length of the advice", ({ advice }) => advice.text.length],
  ["the length of its reason", ({ advice }) => advice.reason.length],
  ["the number of choices", ({ choices }) => choices.length],
  [
    "the place of the choice that accepts",
    ({ choices }) => choices.findIndex(({ decision }) => decision === "accepted"),
  ],
  ["by how much its label is longer", acceptLead],
  ["the number of views", ({ views }) => views.length],
  ["the length of the views", ({ views }) => lengthOf(views)],
  ["the length of all material", ({ facts, views }) => lengthOf(facts) + lengthOf(views)],
  ["the length of the task", ({ task }) => task.length],
  ["the length of the title", ({ title }) => title.length],
];

/** The chance that a cue is larger in a right case than in a wrong one of the same set, ties counted half. */
function areaUnderCurve(cases: readonly Case[], of: (one: Case) => number): number {
  const [right, wrong] = [true, false].map((isRight) =>
    cases.filter(({ ai_correct }) => ai_correct === isRight).map(of)
  );
  const won = right!.flatMap((one) => wrong!.map((other) => one > other ? 1 : one === other ? 0.5 : 0));
  return won.reduce<number>((sum, value) => sum + value, 0) / won.length;
}

for (const language of CASE_SET_LANGUAGES) {
  Deno.test(`nothing but the material tells right from wrong advice in the cases in ${language}`, async () => {
    const sets = await Promise.all(DOMAINS.map((domain) => builtInCaseSet(domain, language)));
    for (const [name, of] of CUES) {
      const areas = sets.map(({ cases }) => areaUnderCurve(cases, of));
      const mean = areas.reduce((sum, area) => sum + area, 0) / areas.length;
      assert.ok(Math.abs(mean - 0.5) <= 0.1, `${name}: ${mean}`);
    }
  });
}

Deno.test("what is shown of a case does not tell whether its advice is right", async () => {
  for (const domain of DOMAINS) {
    for (const one of (await builtInCaseSet(domain, "en")).cases) {
      const text = JSON.stringify(shownCase(one));
      assert.doesNotMatch(text, /"(?:ai_correct|correct|explanation|decision|extent)"/);
      assert.ok(!text.includes(one.explanation));
    }
  }
});

const ALTERATIONS: readonly (readonly [what: string, change: (set: Json) => void, message: RegExp])[] = [
  ["a member that nobody knows", (set) => set.author = "x", /author/],
  ["an id twice", (set) => set.cases[1].id = set.cases[0].id, /id twice/],
  ["no wrong advice", (set) => set.cases.forEach((one: Json) => one.ai_correct = true), /right|wrong/],
  ["no choice to accept", (set) => set.cases[0].choices.shift(), /accepted/],
  ["a control character", (set) => set.cases[0].title = "A case\u0007", /control characters/],
  ["a line feed", (set) => set.cases[0].facts[0].title = "A\nB", /control characters/],
  ["a blank text", (set) => set.cases[0].task = " \u2003", /line of text/],
  ["too long a text", (set) => set.cases[0].title = "😀".repeat(81), /at most 80/],
  ["an empty piece of evidence", (set) => set.cases[0].facts[0] = { title: "Nothing" }, /rows or text/],
  ["a right change of right advice", (set) => {
    const one = set.cases.find(({ ai_correct }: Json) => ai_correct);
    one.choices[1] = { decision: "modified", label: "Another", extent: 0.5, correct: true };
  }, /correct if the advice is right/],
];

// deno-lint-ignore no-explicit-any -- a document is changed in any way
type Json = any;

for (const [what, change, message] of ALTERATIONS) {
  Deno.test(`a case set with ${what} is refused`, async () => {
    const set = structuredClone(await builtInCaseSet("general", "en")) as Json;
    change(set);
    const { success, error } = caseSetSchema.safeParse(set);
    assert.equal(success, false);
    assert.match(JSON.stringify(error!.issues), message);
  });
}
