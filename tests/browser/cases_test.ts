/**
 * Cases in the console, as an officer meets them: who needs attention and why stands on the first view, a case is taken, noted and
 * ended with its effect, each within three clicks.
 */
import assert from "node:assert/strict";
import { conductOf, isSaidByVerdict, nextInWords, reasonInWords } from "../../src/web/console/case_words.ts";
import { waitInWords } from "../../src/pages/operator_cause.ts";
import { scoreInWords } from "../../src/pages/wording.ts";
import { VERDICT_WORDS } from "../../src/scoring/verdict_words.ts";
import type { Page } from "playwright-core";
import { assertAccessible, assertFits, browserTests, THEMES } from "./browser.ts";
import { go, shown, signInAsOfficer } from "./console.ts";
import { type DemoService, sharedDemo } from "./demo_service.ts";

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

const casesTest = browserTests<DemoService>(sharedDemo(), ({ service }) => service.url);

/** The cases that the rules have opened, without those that another test took. */
async function freeCases({ service, key }: DemoService): Promise<Json[]> {
  const { body }: Json = await service.send("/v1/cases", { key });
  return body.cases.filter(({ state, steps }: Json) => state === "open" && steps.length === 0);
}

/** Counts the clicks on a page. */
function clicksOn(page: Page) {
  let clicks = 0;
  return {
    async on(role: "button" | "link", name: string | RegExp) {
      clicks += 1;
      await page.getByRole(role, { name }).first().click();
    },
    get count() {
      return clicks;
    },
  };
}

casesTest(
  "an officer sees who needs attention and why, takes a case, and ends it with its effect",
  async (visit, demo) => {
    const [first] = await freeCases(demo);
    const { page } = await visit();
    await signInAsOfficer(page, demo);
    const attention = page.getByRole("region", { name: "What needs attention" });
    await attention.waitFor();
    const row = attention.getByRole("listitem").filter({ hasText: reasonInWords(first) }).filter({
      hasText: first.operator_id,
    });
    // The cause stands on the first view, in a sentence.
    await row.first().waitFor();

    const clicks = clicksOn(page);
    await page.locator(`a[href="/console/cases/${first.case_id}"]`).first().click();
    await page.getByRole("heading", { level: 1, name: `${first.operator_id}: ` }).waitFor();
    await shown(page);
    const { body: { present } }: Json = await demo.service.send(
      `/v1/cases/${first.case_id}?include=present`,
      { key: demo.key },
    );
    for (const [of, { jis }] of Object.entries({ figures: first.figures, present }) as Json) {
      const figure = page.locator(`[data-figure='${of}.jis']`);
      assert.equal(await figure.getAttribute("data-exact"), String(jis));
    }
    await page.getByText("Change since it was opened").waitFor();
    await clicks.on("button", "Take it");
    await page.getByText("In work").waitFor();
    assert.notEqual(await page.getByLabel("Owner").inputValue(), "", "the field follows the step");
    assert.equal(clicks.count + 1, 2, "one click to the case, one to take it");

    await page.getByLabel("Note").fill("We looked at the decisions together.");
    await clicks.on("button", "Add the note");
    await page.getByText("We looked at the decisions together.").waitFor();
    // A button waits for its owner or its day.
    const isOff = (name: string) => page.getByRole("button", { name, exact: true }).isDisabled();
    assert.deepEqual([await isOff("Assign"), await isOff("Wait")], [true, true]);
    await page.getByLabel("Due", { exact: true }).fill("2031-01-30");
    assert.deepEqual([await isOff("Assign"), await isOff("Wait")], [false, true]);
    await page.getByLabel("Due", { exact: true }).fill("");
    await page.getByLabel("Wait until").fill("2031-01-31");
    assert.deepEqual([await isOff("Assign"), await isOff("Wait")], [true, false]);
    await clicks.on("button", "Wait");
    await page.getByText("Waiting").first().waitFor();
    assert.equal(await page.getByLabel("Wait until").inputValue(), "2031-01-31");
    assert.equal(await page.getByLabel("Due", { exact: true }).inputValue(), "");
    await page.getByLabel("Note").fill("The score is as it was.");
    await clicks.on("button", "End it as done");
    await page.getByText("ended it as done").waitFor();
    await page.getByText("Effect").waitFor();
    assert.equal(
      await page.getByRole("button", { name: "Take it" }).count(),
      0,
      "an ended case offers no act",
    );

    const { body } = await demo.service.send(`/v1/cases/${first.case_id}`, { key: demo.key });
    const ended: Json = body;
    assert.equal(ended.state, "done");
    assert.deepEqual(ended.steps.map(({ step }: Json) => step), ["assign", "note", "wait", "done"]);
    for (const [of, { jis }] of Object.entries({ figures: ended.figures, effect: ended.effect }) as Json) {
      const figure = page.locator(`[data-figure='${of}.jis']`);
      assert.equal(await figure.getAttribute("data-exact"), String(jis));
      assert.equal(await figure.textContent(), scoreInWords(jis).replace("-", "−"));
    }

    await go(page, "/console/cases?state=all");
    await shown(page);
    await page.getByRole("row").filter({ hasText: "Done" }).first().waitFor();
    await page.getByLabel("Owner").selectOption("Mine");
    await shown(page);
    assert.equal(new URL(page.url()).searchParams.get("owner"), ended.owner, "the address keeps the filter");
    assert.equal(await page.locator("tbody tr").count(), 1);
  },
);

casesTest(
  "the list of cases begins with the lowest score below the threshold, in short rows, with every order and column",
  async (visit, demo) => {
    const { body }: Json = await demo.service.send("/v1/cases?include=present&limit=50", { key: demo.key });
    const served: Json[] = body.cases;
    const isBelow = ({ present }: Json) => present.verdict === "non_compliant";
    const byNeed = [
      ...served.filter(isBelow).toSorted((one, other) => one.present.jis - other.present.jis),
      ...served.filter((one) => !isBelow(one)),
    ];
    assert.notDeepEqual(served, byNeed);
    const { page } = await visit({ width: 1200 });
    await signInAsOfficer(page, demo);
    await go(page, "/console/cases");
    await shown(page);
    const rows = page.locator("main tbody > tr");
    const ids = () =>
      page.locator("main tbody .cause a[href^='/console/cases/']").evaluateAll((links) =>
        links.map((link) => link.getAttribute("href")!.split("/").at(-1)!)
      );
    assert.deepEqual(await ids(), byNeed.map(({ case_id }) => case_id));
    for (const [index, one] of byNeed.entries()) {
      const row = rows.nth(index);
      const said = await row.innerText();
      assert.ok(said.includes(VERDICT_WORDS[one.present.verdict as keyof typeof VERDICT_WORDS]), said);
      // The mark says some causes already; a sentence that says more stands in the row.
      assert.equal(said.includes(reasonInWords(one)), !isSaidByVerdict(one), said);
      if (isSaidByVerdict(one)) {
        const link = await row.locator("a[href^='/console/cases/']").first().innerText();
        assert.equal(link, conductOf(one)!.habit, "the cause does not repeat the mark");
      }
      for (const name of ["jis", "low", "high"]) {
        const figure = row.locator(`[data-figure$='.present.${name}']`);
        assert.equal(await figure.getAttribute("data-exact"), String(one.present[name]));
        assert.equal(await figure.textContent(), scoreInWords(one.present[name]));
      }
      if (one.owner === null) {
        assert.ok(said.includes("Unassigned") && said.includes("Open, no day set"), said);
      }
    }
    const changed = byNeed.findIndex(({ present }) => Math.abs(present.change_30_days ?? 0) >= 1);
    assert.match(await rows.nth(changed).innerText(), /[↗↘] [+−]\d/);
    // A row can be acted on: the case opens, and whoever may own it takes it.
    const last = byNeed.findLast(({ owner }) => owner === null);
    const row = rows.filter({ hasText: last.operator_id });
    const take = row.getByRole("button", { name: `Take it: case of ${last.operator_id}` });
    assert.notEqual(
      await take.evaluate((button) => getComputedStyle(button).borderTopWidth),
      "0px",
      "it looks like a button",
    );
    await take.click();
    await row.getByText("In work, no day set").waitFor();
    await shown(page);
    assert.equal(await row.getByRole("button").count(), 0);
    assert.equal(await row.getByRole("link", { name: `Open case of ${last.operator_id}` }).count(), 1);
    assert.ok(byNeed.some(isSaidByVerdict) && !byNeed.every(isSaidByVerdict));
    const lines = await rows.evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height));
    assert.ok(Math.max(...lines) <= 96, `four lines at most: ${lines}`);
    // No step is cut: its end may be the answer, such as how many cases are decided.
    for (const width of [1400, 1200, 1040]) {
      await page.setViewportSize({ width, height: 900 });
      await assertFits(page, `the cases at ${width}`);
      const cut = await page.locator("[data-label='Next step'] > *").evaluateAll((all) =>
        all.filter(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight)
          .map(({ textContent }) => textContent)
      );
      assert.deepEqual(cut, [], `steps that are cut at ${width}`);
      const { scrollWidth, clientWidth } = await page.locator(".scroll").first().evaluate((scroll) => ({
        scrollWidth: scroll.scrollWidth,
        clientWidth: scroll.clientWidth,
      }));
      assert.ok(scrollWidth <= clientWidth, `${scrollWidth} of ${clientWidth} pixels at ${width}`);
    }
    await page.setViewportSize({ width: 1400, height: 900 });
    const tops = await page.locator("thead").getByRole("link", { name: /^(Owner|State|Due)$/ }).evaluateAll((
      all,
    ) => all.map((link) => Math.round(link.getBoundingClientRect().top)));
    assert.deepEqual(
      [tops.length, new Set(tops).size],
      [3, 1],
      "the heads of owner, state and day are one line",
    );

    await page.getByRole("link", { name: "Opened", exact: true }).click();
    await page.waitForURL("**sort=opened_at");
    await page.getByRole("link", { name: "Opened", exact: true }).click();
    await page.waitForURL("**sort=-opened_at");
    assert.deepEqual(await ids(), served.map(({ case_id }) => case_id));
    for (const head of ["Operator", "Verdict", "Cause", "Owner", "State", "Due"]) {
      await page.locator("thead").getByRole("link", { name: head, exact: true }).waitFor();
    }
  },
);

casesTest(
  "an exercise that is set is the next step on home, in the cases, in the case and on the reviewer's page",
  async (visit, demo) => {
    const one = (await freeCases(demo)).find(({ cause }) => cause === "at_risk");
    const path = `/v1/exercises?operator_id=${encodeURIComponent(one.operator_id)}`;
    const { body: { can_be_set: [held] } }: Json = await demo.service.send(path, { key: demo.key });
    const { exercise_id, difficulties: [difficulty] } = held;
    const body = { operator_id: one.operator_id, exercise_id, difficulty };
    const usual = nextInWords({ cause: one.cause, present: null });
    const { page, requests, idle } = await visit();
    await signInAsOfficer(page, demo);
    const views = [
      ["", page.getByRole("listitem").filter({ hasText: one.operator_id })],
      ["/cases", page.getByRole("row").filter({ hasText: one.operator_id })],
      [`/cases/${one.case_id}`, page.locator(".notice")],
    ] as const;
    const look = async (view: string) => {
      await idle();
      const before = requests.length;
      await go(page, `/console${view}`);
      await shown(page);
      await idle();
      assert.ok(requests.length - before <= 3, `${view}: ${requests.length - before} requests`);
    };
    for (const [view, place] of views) {
      await look(view);
      await place.getByText(usual, { exact: true }).waitFor();
    }
    const set = await demo.service.send("/v1/exercises", { key: demo.key, body });
    assert.equal(set.status, 201, JSON.stringify(set.body));
    const { body: { exercises: [run] } }: Json = await demo.service.send(path, { key: demo.key });
    const wait = waitInWords(run);
    assert.match(
      wait,
      /^Wait for “.+”: 0 of \d+ cases decided, until \d+ \w+ \d+\.$/,
    );
    for (const [view, place] of views) {
      await look(view);
      await place.getByText(wait, { exact: true }).waitFor();
      assert.equal(await place.getByText(usual, { exact: true }).count(), 0, view);
    }
    const toExercise = page.getByRole("link", { name: "See the exercise" });
    assert.equal(
      await toExercise.getAttribute("href"),
      `/console/operators/${encodeURIComponent(one.operator_id)}#exercises`,
    );
    assert.equal(await page.getByRole("link", { name: "Open the operator, set an exercise" }).count(), 0);
    assert.equal(await page.locator(".notice a.button.main").textContent(), "See the exercise");
    assert.equal(await page.locator("main .main").count(), 1, "the next step has the one primary button");
    await page.getByRole("listitem").filter({ hasText: `0 of ${run.case_count} cases` }).waitFor();
    assert.equal(await page.locator(".notice.bad").count(), 1);
    // A step changes the case, and not what is set.
    await page.getByRole("button", { name: "Take it" }).click();
    await page.getByText("In work").waitFor();
    await page.getByText(wait, { exact: true }).waitFor();
    await toExercise.click();
    await page.waitForFunction(() => {
      const heading = document.querySelector("#exercises");
      return heading !== null && Math.abs(heading.getBoundingClientRect().top) < innerHeight / 2;
    });
    await page.locator("section.next").getByText(wait, { exact: true }).waitFor();
    const runs = page.locator(".run");
    assert.equal(await runs.count(), 1);
    await runs.getByRole("heading", { name: run.title }).waitFor();
    await page.getByRole("heading", { name: "Set now" }).waitFor();
    assert.equal(await page.getByRole("heading", { name: "Set before" }).count(), 0);
  },
);

casesTest("a view of one thing has the way back to its list above its heading", async (visit, demo) => {
  const [first] = await freeCases(demo);
  const { page } = await visit();
  await signInAsOfficer(page, demo);
  const operator = `/operators/${encodeURIComponent(first.operator_id)}`;
  for (
    const [view, list, label] of [
      [`/cases/${first.case_id}`, "/cases", "Cases"],
      [operator, "/operators", "Operators"],
      [`${operator}/sheets/none`, operator, first.operator_id],
      ["/decisions/demo-01-0100", "/decisions", "Decisions"],
    ]
  ) {
    await go(page, `/console${view}`);
    await shown(page);
    const back = page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: label });
    assert.equal(await back.getAttribute("href"), `/console${list}`);
    await page.emulateMedia({ media: "print" });
    assert.equal(await back.isVisible(), false, "it is not on paper");
    await page.emulateMedia({ media: "screen" });
    await back.click();
    await page.waitForURL(`**/console${list}`);
  }
});

casesTest(
  "a step that somebody else was quicker with is refused, and the case is read again",
  async (visit, demo) => {
    const [first] = await freeCases(demo);
    const { page, expectErrors } = await visit();
    await signInAsOfficer(page, demo);
    await go(page, `/console/cases/${first.case_id}`);
    await shown(page);
    const path = `/v1/cases/${first.case_id}/events`;
    await demo.service.send(path, {
      key: demo.key,
      method: "POST",
      body: { step: "note", note: "Mine was first." },
    });
    expectErrors(/409/);
    await page.getByLabel("Note").fill("A long note of mine.");
    await page.getByRole("button", { name: "Take it" }).click();
    await page.getByText("The case has 1 step, and you have seen 0").waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("Mine was first.").waitFor();
    assert.equal(await page.getByLabel("Note").inputValue(), "A long note of mine.");
    await page.getByRole("button", { name: "Take it" }).click();
    await page.getByText("In work").waitFor();
  },
);

for (const theme of THEMES) {
  casesTest(
    `the views of cases are accessible and fit a phone, in the ${theme} theme`,
    async (visit, demo) => {
      const [first] = await freeCases(demo);
      const { page } = await visit({ theme, width: 390 });
      await signInAsOfficer(page, demo);
      await go(page, "/console/cases");
      await shown(page);
      await page.locator("th .second").filter({ hasText: /^Opened / }).first().waitFor();
      for (const view of ["", "/cases", "/cases?state=all&cause=contest", `/cases/${first.case_id}`]) {
        await go(page, `/console${view}`);
        await shown(page);
        await assertAccessible(page, `the view ${view} of cases`);
        await assertFits(page, `the view ${view} of cases`);
      }
    },
  );
}
