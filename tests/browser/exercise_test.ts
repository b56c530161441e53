/**
 * `/exercise/{token}` from the link to the result: by mouse and by keyboard, on a phone, in German, without the
 * collector, after a reload, in two windows; each way in which an exercise shows its advice.
 */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { Domain } from "../../src/domain/enums.ts";
import { builtInCaseSet } from "../../src/exercises/built_in.ts";
import type { CaseSet, CaseSetLanguage } from "../../src/exercises/case_set.ts";
import { choiceOf, EXERCISE } from "../exercising.ts";
import {
  assertAccessible,
  assertFits,
  browserTests,
  focused,
  tabTo,
  tabToChoices,
  THEMES,
} from "./browser.ts";
import { type DemoService, sharedWithEmpty } from "./demo_service.ts";

const browserTest = browserTests<DemoService>(sharedWithEmpty(), ({ service }) => service.url);

/** Sets an exercise. @returns its id and the path of its page. */
async function set({ service, key }: DemoService, fields: Readonly<Record<string, unknown>> = {}) {
  const { status, body } = await service.send("/v1/exercises", { key, body: { ...EXERCISE, ...fields } });
  assert.equal(status, 201, JSON.stringify(body));
  assert.ok(body.link.startsWith(`${service.url}/exercise/`), body.link);
  return { id: body.run_id as string, path: new URL(body.link).pathname };
}

async function results({ service, key }: DemoService, id: string) {
  const { body } = await service.send(`/v1/exercises/${id}`, { key });
  return body;
}

/** The case on the page, by its title. */
async function caseOn(page: Page, cases: CaseSet): Promise<string> {
  const heading = await page.locator("h1").innerText();
  const found = cases.cases.filter(({ title }) => heading.endsWith(`: ${title}`));
  const task = await page.locator(".lead").innerText();
  const one = found.length === 1 ? found[0]! : found.find((each) => each.task === task)!;
  assert.ok(one, heading);
  return one.id;
}

const setOf = (language: CaseSetLanguage, domain: Domain = EXERCISE.domain) =>
  builtInCaseSet(domain, language);

async function decide(page: Page, choice: number, button = "Decide"): Promise<void> {
  await page.getByRole("radio").nth(choice).check();
  await page.getByRole("button", { name: button, exact: true }).click();
}

browserTest(
  "by mouse: each case is told after its decision, the result counts them, and no answer tells a truth too early",
  async (visit, demo) => {
    const cases = await setOf("en");
    const { id, path } = await set(demo);
    const { page, requests } = await visit();
    const received: string[] = [];
    page.on("response", async (response) => {
      if (response.url().endsWith("/state") || response.url().endsWith("/decisions")) {
        received.push(await response.text());
      }
    });
    await page.goto(path);
    await page.getByRole("heading", { level: 1, name: "Find the Planted Error" }).waitFor();
    await page.getByText(/^An exercise of \S/).waitFor();
    await page.getByText(/The link works until \d{1,2} \w{3,4} \d{4}, \d\d:\d\d (?:UTC|GMT\S*|\w+)\./)
      .waitFor();
    await page.getByRole("button", { name: "Begin with case 1" }).click();
    const told: string[] = [];
    for (let number = 1; number <= 6; number += 1) {
      await page.getByRole("heading", { level: 1, name: `Case ${number} of 6` }).waitFor();
      const one = await caseOn(page, cases);
      const { explanation } = cases.cases.find((each) => each.id === one)!;
      assert.ok(!received.join().includes(explanation), `${one} is told before it is decided`);
      await page.locator("summary").first().click();
      await decide(page, choiceOf(cases, one, number !== 3));
      await page.getByRole("heading", { level: 1, name: number === 3 ? "Not right" : "Right" }).waitFor();
      await page.getByText(explanation).waitFor();
      told.push(explanation);
      await page.getByRole("button", { name: number === 6 ? "To the result" : "Next case" }).click();
    }
    await page.getByRole("heading", { level: 1, name: "Your result" }).waitFor();
    await page.getByText("5 of 6 decisions were right.").waitFor();
    for (const explanation of told) await page.getByText(explanation).waitFor();
    const { state, figures, results: rows } = await results(demo, id);
    assert.deepEqual([state, figures.correct.count], ["done", 5]);
    assert.ok(
      rows.every(({ time_to_decision_ms }: { time_to_decision_ms: number }) => time_to_decision_ms > 0),
    );
    assert.deepEqual(await page.context().cookies(), []);
    assert.deepEqual(
      await page.evaluate(() => [localStorage.length, sessionStorage.length]),
      [0, 0],
    );
    const kinds = new Set(
      requests.map(({ method, path: asked }) =>
        `${method} ${asked.replace(path, "…").replace(/-[0-9a-f]{16}\./, ".")}`
      ),
    );
    assert.deepEqual([...kinds], [
      "GET …",
      "GET /assets/theme.js",
      "GET /assets/style.css",
      "GET /assets/exercise.js",
      "GET …/state",
      "GET /collector.js",
      "POST …/decisions",
    ]);
  },
);

browserTest(
  "by keyboard alone, in German, on a phone: every stage can be reached, read and used in both themes",
  async (visit, demo) => {
    const cases = await setOf("de");
    const { id, path } = await set(demo, { language: "de", exercise_id: "ex_decision_autonomy_2" });
    const { page } = await visit({ width: 390, height: 800 });
    const look = async (what: string) => {
      for (const theme of THEMES) {
        await page.emulateMedia({ colorScheme: theme });
        await assertAccessible(page, `${what}, ${theme}`);
      }
      await assertFits(page, what);
      assert.equal(await page.locator("html").getAttribute("lang"), "de");
      const text = await page.locator("#app").innerText();
      assert.doesNotMatch(text, /\b(?:the|and|your|advice|decision|right|wrong|case)\b/i, what);
    };
    await page.goto(path);
    await page.getByRole("heading", { level: 1, name: "Anders entscheiden üben" }).waitFor();
    await look("introduction");
    await tabTo(page, "Mit Fall 1 beginnen");
    await page.keyboard.press("Enter");
    for (let number = 1; number <= 6; number += 1) {
      const heading = page.getByRole("heading", { level: 1, name: `Fall ${number} von 6` });
      await heading.waitFor();
      assert.equal(await focused(page), await heading.innerText(), "the focus is on the case's heading");
      if (number === 1) await look("case");
      const choice = choiceOf(cases, await caseOn(page, cases), number !== 2);
      await tabToChoices(page);
      await page.keyboard.press("Space");
      for (let step = 0; step < choice; step += 1) await page.keyboard.press("ArrowDown");
      await tabTo(page, "Entscheiden");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: number === 2 ? "Nicht richtig" : "Richtig" })
        .waitFor();
      if (number === 2) await look("feedback");
      await tabTo(page, number === 6 ? "Zum Ergebnis" : "Nächster Fall");
      await page.keyboard.press("Enter");
    }
    await page.getByRole("heading", { level: 1, name: "Ihr Ergebnis" }).waitFor();
    assert.equal(await focused(page), "Ihr Ergebnis");
    await look("result");
    assert.equal((await results(demo, id)).figures.correct.count, 5);
  },
);

browserTest(
  "without the collector the exercise works: the time is measured, the rest is not",
  async (visit, demo) => {
    const { id, path } = await set(demo);
    const { page, expectErrors } = await visit();
    expectErrors(/collector\.js|ERR_FAILED/);
    const posts: Record<string, unknown>[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST") posts.push(request.postDataJSON());
    });
    await page.route("**/collector.js", (route) => route.abort());
    await page.goto(path);
    await page.getByRole("button", { name: "Begin with case 1" }).click();
    await page.getByText("The script that measures reading cannot be loaded.").waitFor();
    await decide(page, 0);
    await page.getByRole("button", { name: "Next case" }).waitFor();
    const { time_to_decision_ms, ...rest } = posts[0]!;
    assert.ok(time_to_decision_ms as number > 0);
    assert.deepEqual(rest, {
      number: 1,
      choice: 0,
      first_choice: null,
      advised: true,
      hover_events: null,
      scroll_depth: null,
      alternative_views_checked: null,
    });
    assert.equal((await results(demo, id)).decided, 1);
  },
);

browserTest(
  "a link goes on where it was left; a second window cannot decide a case again; a finished one shows its result",
  async (visit, demo) => {
    const { id, path } = await set(demo);
    const [one, other] = [await visit(), await visit()];
    other.expectErrors(/409/);
    for (const { page } of [one, other]) {
      await page.goto(path);
      await page.getByRole("button", { name: "Begin with case 1" }).click();
      await page.getByRole("heading", { level: 1, name: "Case 1 of 6" }).waitFor();
    }
    await decide(one.page, 0);
    await one.page.getByRole("button", { name: "Next case" }).waitFor();
    await decide(other.page, 1);
    await other.page.getByText("This case was decided before").waitFor();
    await other.page.getByRole("button", { name: "Next case" }).click();
    await other.page.getByRole("button", { name: "Go on with case 2" }).click();
    await other.page.getByRole("heading", { level: 1, name: "Case 2 of 6" }).waitFor();
    for (let number = 2; number <= 6; number += 1) {
      await decide(other.page, 0);
      await other.page.getByRole("button", { name: number === 6 ? "To the result" : "Next case" }).click();
    }
    await one.page.reload();
    await one.page.getByRole("heading", { level: 1, name: "Your result" }).waitFor();
    assert.equal((await results(demo, id)).state, "done");
  },
);

browserTest(
  "a decision that cannot be sent is kept, and sent again",
  async (visit, demo) => {
    const { id, path } = await set(demo);
    const { page, expectErrors } = await visit();
    expectErrors(/ERR_FAILED/);
    await page.goto(path);
    await page.getByRole("button", { name: "Begin with case 1" }).click();
    await page.route("**/decisions", (route) => route.abort());
    await decide(page, 0);
    await page.getByText("The service cannot be reached.").waitFor();
    await page.unroute("**/decisions");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("button", { name: "Next case" }).waitFor();
    assert.equal((await results(demo, id)).decided, 1);
  },
);

browserTest("a link that nobody gave says so, in the browser's language", async (visit) => {
  const { page, expectErrors } = await visit();
  expectErrors(/404/);
  await page.goto(`/exercise/01JZZZZZZZZZZZZZZZZZZZZZZZ.${"A".repeat(22)}`);
  await page.getByText("There is no exercise at this link.").waitFor();
  await assertAccessible(page, "an unknown link");
  assert.equal(await page.getByRole("button").count(), 0, "no button that cannot help");
});

browserTest(
  "advice after a first decision: it is hidden until then, and the decision can be changed",
  async (visit, demo) => {
    const cases = await setOf("en");
    const { id, path } = await set(demo, { exercise_id: "ex_deferral_resistance_1" });
    const { page } = await visit();
    await page.goto(path);
    await page.getByRole("button", { name: "Begin with case 1" }).click();
    await page.getByRole("heading", { level: 2, name: "Decide first" }).waitFor();
    const shown = await caseOn(page, cases);
    const { advice } = cases.cases.find((each) => each.id === shown)!;
    assert.equal(await page.getByText(advice.reason).count(), 0);
    await decide(page, choiceOf(cases, shown, false), "Save and see the advice");
    await page.getByText(advice.reason).waitFor();
    await page.waitForTimeout(450);
    await decide(page, choiceOf(cases, shown, true));
    await page.getByRole("heading", { level: 1, name: "Right" }).waitFor();
    const { results: [first] } = await results(demo, id);
    assert.deepEqual([first.advised, first.correct], [true, true]);
    assert.deepEqual(
      [first.first_choice, first.choice],
      [false, true].map((isRight) => choiceOf(cases, shown, isRight)),
    );
  },
);

browserTest("delayed advice: the decision waits for it", async (visit, demo) => {
  const { path } = await set(demo, { exercise_id: "ex_deferral_resistance_2" });
  const { page } = await visit();
  await page.goto(path);
  await page.getByRole("button", { name: "Begin with case 1" }).click();
  await page.getByText("The advice appears 5 seconds after it.").waitFor();
  assert.equal(await page.getByRole("radio").count(), 0);
  await page.getByRole("heading", { level: 2, name: "The AI's advice" }).waitFor();
  await decide(page, 0);
  await page.getByRole("button", { name: "Next case" }).waitFor();
});

browserTest(
  "advice on request: it is shown if asked for, as often as the exercise allows",
  async (visit, demo) => {
    const { id, path } = await set(demo, { exercise_id: "ex_deferral_resistance_3" });
    const { page } = await visit();
    await page.goto(path);
    await page.getByRole("button", { name: "Begin with case 1" }).click();
    for (let number = 1; number <= 5; number += 1) {
      await page.getByRole("heading", { level: 1, name: `Case ${number} of 6` }).waitFor();
      if (number <= 4) {
        await page.getByText(`You can ask in ${5 - number} more`).waitFor();
        await page.getByRole("button", { name: "Show the advice" }).click();
        await page.getByRole("heading", { level: 2, name: "The AI's advice" }).waitFor();
      } else await page.getByText("You have asked as often as you can").waitFor();
      await decide(page, 0);
      await page.getByRole("button", { name: "Next case" }).click();
    }
    const { results: rows } = await results(demo, id);
    assert.deepEqual(rows.map(({ advised }: { advised: boolean }) => advised), [
      true,
      true,
      true,
      true,
      false,
    ]);
  },
);

browserTest("an exercise without advice says so", async (visit, demo) => {
  const { path } = await set(demo, { exercise_id: "ex_independent_performance_1" });
  const { page } = await visit();
  await page.goto(path);
  await page.getByRole("button", { name: "Begin with case 1" }).click();
  await page.getByRole("heading", { level: 2, name: "No advice this time" }).waitFor();
  await decide(page, 0);
  await page.getByText("Decided without advice.").waitFor();
});
