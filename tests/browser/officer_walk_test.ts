/**
 * An officer who has never seen the console does each of the daily tasks by visible names alone. The clicks from home to the act are
 * counted, and are those that docs/integrate/console.md tells.
 */
import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import type { CaseCause } from "../../src/domain/case_states.ts";
import { CAUSE_WORDS, reasonInWords } from "../../src/web/console/case_words.ts";
import { browserTests, focused } from "./browser.ts";
import { shown, signInAsOfficer } from "./console.ts";
import { type DemoService, withDemo } from "./demo_service.ts";

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

const walkTest = browserTests<DemoService>((use) => withDemo(use), ({ service }) => service.url);

/** The most that a task may take. */
const MOST_CLICKS = 3;
/** The tasks as the table of the guide names them. */
const TASKS = {
  attention: "find who needs attention, and why",
  case: "open the case",
  exercise: "set an exercise for that person",
  labels: "label five decisions",
  close: "end a case with its effect",
} as const;

/** The clicks that the guide tells of a task. */
async function toldClicks(task: string): Promise<number> {
  const guide = await Deno.readTextFile(`${import.meta.dirname}/../../docs/integrate/console.md`);
  const row = guide.split("\n").find((line) => line.startsWith(`| ${task} `));
  assert.ok(row !== undefined, `the guide does not tell how to ${task}`);
  return Number(row.split("|")[2]);
}

class Officer {
  #clicks = 0;

  constructor(readonly page: Page) {}

  /** Goes to the first view, from which clicks are counted. */
  async goHome(): Promise<void> {
    await this.page.goto("/console");
    await this.page.getByRole("heading", { name: "What needs attention" }).waitFor();
    await shown(this.page);
    this.#clicks = 0;
  }

  /** Clicks what a person sees: something that is off the screen is scrolled to, and something that is hidden fails. */
  async click(what: Locator): Promise<void> {
    this.#clicks += 1;
    await what.first().click();
  }

  async took(task: string): Promise<void> {
    assert.ok(this.#clicks <= MOST_CLICKS, `${task}: ${this.#clicks} clicks`);
    assert.equal(this.#clicks, await toldClicks(task), task);
  }
}

/** The open case of a cause that home shows first. */
async function firstCase({ service, key }: DemoService, cause: CaseCause): Promise<Json> {
  const { body }: Json = await service.send("/v1/cases?include=present&limit=50", { key });
  const need = ({ present }: Json) => present.verdict === "non_compliant" ? present.jis : Infinity;
  const found = body.cases.toSorted((one: Json, other: Json) => need(one) - need(other) || 0)
    .find((one: Json) => one.cause === cause && one.steps.length === 0);
  assert.ok(found !== undefined, `the demo has no open case of the cause ${cause}`);
  return found;
}

walkTest(
  "a new officer finds who needs attention, sets an exercise, labels, and ends a case, each within three clicks",
  async (visit, demo) => {
    const { page } = await visit();
    const button = (name: string) => page.getByRole("button", { name, exact: true });
    const link = (name: string) => page.getByRole("link", { name, exact: true });
    await signInAsOfficer(page, demo);
    const officer = new Officer(page);

    const first = await firstCase(demo, "at_risk");
    await officer.goHome();
    assert.ok(
      await page.getByText(first.operator_id).first().isVisible(),
      "the name stands on the first view",
    );
    assert.ok(
      await page.getByText(reasonInWords(first)).first().isVisible(),
      "so does the cause, in a sentence",
    );
    assert.ok(await page.getByText(CAUSE_WORDS.at_risk).first().isVisible());
    await officer.took(TASKS.attention);

    const toCase = link(`Open case of ${first.operator_id}`);
    await officer.click(toCase);
    await page.getByRole("heading", { level: 1, name: `${first.operator_id}: below the threshold` })
      .waitFor();
    await page.getByText(reasonInWords(first)).waitFor();
    await officer.took(TASKS.case);

    await officer.click(link("Open the operator, set an exercise"));
    await page.getByRole("heading", { level: 1, name: first.operator_id }).waitFor();
    const question = page.getByRole("heading", { name: `Set an exercise for ${first.operator_id}` });
    await question.waitFor();
    assert.equal(await focused(page), await question.innerText(), "the question has the focus");
    await officer.click(button("Set this exercise"));
    await page.getByRole("heading", { name: `A link to an exercise for ${first.operator_id}` }).waitFor();
    await officer.took(TASKS.exercise);
    const { body: set }: Json = await demo.service.send(
      `/v1/exercises?operator_id=${encodeURIComponent(first.operator_id)}`,
      { key: demo.key },
    );
    assert.equal(set.exercises.length, 1);
    await shown(page);
    assert.equal(await button("Set this exercise").count(), 0, "what is done is not asked again");
    await button("I have kept it").click();

    await officer.goHome();
    await officer.click(link("Labels"));
    for (let labelled = 0; labelled < 5; labelled += 1) {
      await page.getByText(`${labelled} labelled, `).waitFor();
      for (const key of ["1", "1", "Enter"]) await page.keyboard.press(key);
    }
    await page.getByText("5 labelled, ").waitFor();
    await officer.took(TASKS.labels);

    await officer.goHome();
    await officer.click(toCase);
    await page.getByRole("heading", { level: 1, name: `${first.operator_id}: below the threshold` })
      .waitFor();
    await officer.click(page.getByLabel("Note"));
    await page.keyboard.type("We talked, and an exercise is set.");
    await officer.click(button("End it as done"));
    await page.getByText("ended it as done").waitFor();
    await page.getByText("Effect", { exact: true }).waitFor();
    await officer.took(TASKS.close);
    const { body: ended }: Json = await demo.service.send(`/v1/cases/${first.case_id}`, { key: demo.key });
    assert.equal(ended.state, "done");
    assert.equal(
      await page.locator("[data-figure='effect.jis']").getAttribute("data-exact"),
      String(ended.effect.jis),
    );
  },
);

walkTest(
  "the link of a case asks for the exercise whatever the cause is, and nobody who may not set one is asked",
  async (visit, demo) => {
    const { page } = await visit();
    await signInAsOfficer(page, demo);
    const { body }: Json = await demo.service.send("/v1/cases", { key: demo.key });
    const causes = new Map<string, Json>(body.cases.map((one: Json) => [one.cause, one]));
    assert.ok(causes.size >= 2, `causes: ${[...causes.keys()]}`);
    for (const one of causes.values()) {
      await page.goto(`/console/cases/${one.case_id}`);
      await page.getByRole("link", { name: "Open the operator, set an exercise" }).click();
      const heading = `Set an exercise for ${one.operator_id}`;
      await page.getByRole("heading", { name: heading }).waitFor();
      assert.equal(await page.getByRole("heading", { name: heading }).count(), 1);
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("heading", { name: heading }).waitFor({ state: "hidden" });
    }
    const invitation = { email: "viewer@demo.example", name: "Viewer", role: "viewer" };
    const invited: Json = (await demo.service.send("/v1/users", { key: demo.key, body: invitation })).body;
    const { page: viewer } = await visit();
    await viewer.goto(invited.link);
    await viewer.getByLabel(/^Password/).fill("correct horse battery");
    await viewer.getByRole("button", { name: "Set the password" }).click();
    await viewer.getByRole("navigation", { name: "Console" }).waitFor();
    await viewer.goto("/console/operators/reviewer-ada?ask=exercise");
    await viewer.getByRole("heading", { name: "Next step" }).waitFor();
    await shown(viewer);
    assert.equal(await viewer.getByRole("button", { name: "Set this exercise" }).count(), 0);
  },
);
