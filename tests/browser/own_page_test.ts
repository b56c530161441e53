/** A reviewer's own page: an officer issues the link in the console, the reviewer reads, takes the copy and contests. */
import assert from "node:assert/strict";
import { ownRatesInWords } from "../../src/pages/estimates.ts";
import { knownCasesInWords } from "../../src/pages/known_cases_words.ts";
import { scoreInWords } from "../../src/pages/wording.ts";
import { assertAccessible, assertFits, browserTests, THEMES } from "./browser.ts";
import { go, shown, signInByLink } from "./console.ts";
import { type DemoService, withDemo } from "./demo_service.ts";

const ownPageTest = browserTests<DemoService>((use) => withDemo(use), ({ service }) => service.url);

ownPageTest(
  "a reviewer reads the own record by a link, contests a score, and the console shows it",
  async (visit, demo) => {
    const { page: officer } = await visit();
    await signInByLink(officer, demo);
    await go(officer, "/console/operators/reviewer-ada");
    await shown(officer);
    await officer.getByRole("button", { name: "Link to the operator's own page" }).click();
    await officer.getByText("Earlier links of the operator end.").waitFor();
    await officer.getByRole("button", { name: "Issue the link" }).click();
    const link = await officer.locator(".once code.secret").textContent();
    await officer.getByText("Pass it on to reviewer-ada alone").waitFor();
    await officer.getByRole("button", { name: "I have kept it" }).click();

    const { page } = await visit();
    await page.goto(link!);
    await page.getByRole("heading", { name: "Your score" }).waitFor();
    const { body } = await demo.service.send("/v1/operator/reviewer-ada/profile", { key: demo.key });
    await page.getByText(`Your score is ${scoreInWords(body.profile.jis)} of 100`).waitFor();
    const { total_interactions: decided } = body.profile;
    const said = await page.locator("main").innerText();
    assert.ok(said.includes(`You decided ${decided} cases, the last of`), said);
    assert.ok(said.includes(knownCasesInWords(body.profile)), said);
    assert.ok(!said.includes(`rests on ${decided}`), "the score rests on the known cases alone");
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      await assertAccessible(page, `the page, ${theme}`);
    }
    await page.setViewportSize({ width: 360, height: 800 });
    await assertFits(page, "the page on a phone");
    await page.getByRole("row").locator("details summary").first().click();
    const { body: own } = await demo.service.send(`${new URL(link!).pathname}/state`);
    assert.ok(said.includes(ownRatesInWords(own.profile.estimates)), said);
    assert.equal(await page.getByRole("columnheader", { name: "Verdict" }).count(), 0);
    const fold = page.locator("summary").filter({ hasText: /^\d+ (case|record)s? changed nothing$/ });
    const still = await fold.count() === 0 ? 0 : Number.parseInt(await fold.innerText());
    assert.equal(await page.getByRole("rowheader").count(), own.records.length - still);
    if (still > 0) await fold.click();
    assert.equal(await page.getByRole("rowheader").count(), own.records.length, "none is left out");
    assert.equal(await page.getByRole("button", { name: /^Contest this/ }).count(), own.records.length);
    const record = await page.getByRole("rowheader").locator("code").first().textContent();
    await page.getByRole("button", { name: `Contest this case: ${record}` }).click();
    assert.equal(await page.getByLabel(/^Case or decision/).inputValue(), record);
    assert.equal(await page.evaluate(() => document.activeElement?.id), "statement");
    await page.keyboard.type("I was called away.");
    await page.getByRole("button", { name: "Contest", exact: true }).click();
    await page.getByText("It is recorded, as entry").waitFor();
    await page.getByRole("heading", { name: "What you have contested" }).waitFor();
    await page.getByText("I was called away.").waitFor();

    const copy = page.waitForEvent("popup");
    await page.getByRole("link", { name: "as a page" }).click();
    const copied = await copy;
    await copied.getByText("A link to your own page was issued").waitFor();
    await copied.getByText(knownCasesInWords(body.profile)).waitFor();

    await go(officer, "/console/contests");
    await shown(officer);
    await officer.getByRole("cell", { name: "I was called away." }).waitFor();
    await assertAccessible(officer, "the contests");
    await officer.locator("tbody").getByRole("link", { name: record! }).click();
    await officer.getByRole("heading", { name: `Replay of ${record}` }).waitFor();
  },
);

ownPageTest(
  "the own page folds what changed nothing, says a verdict where it changed, and how to begin an exercise",
  async (visit, demo) => {
    const { link } =
      (await demo.service.send("/v1/operator/reviewer-ada/page-link", { key: demo.key, body: {} })).body;
    const { page } = await visit({ width: 390 });
    await page.route("**/state", async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      const [first] = body.records;
      const moved = [{ dimension: "error_detection", before: 40, after: 41, rules: ["A rule."] }];
      body.records = [
        { id: "d", jis: 61, verdict: "undetermined", explanation: [] },
        { id: "c", jis: 61, verdict: "undetermined", explanation: moved },
        { id: "b", jis: 40.04, verdict: "non_compliant", explanation: [] },
        { id: "a", jis: 40, verdict: "non_compliant", explanation: moved },
      ].map((record) => ({ ...first, kind: "score", ...record }));
      body.exercises = [
        { title: "Hunt", state: "open", set_at: first.timestamp, case_count: 8, decided: 0 },
        { title: "Blind", state: "done", set_at: first.timestamp, case_count: 8, decided: 8 },
      ];
      body.organization.name = "Acme";
      await route.fulfill({ response, json: body });
    });
    await page.goto(link);
    await page.getByText("2 cases changed nothing", { exact: true }).waitFor();
    const rows = page.getByRole("table", { name: "What moved the score lately" }).getByRole("row");
    assert.deepEqual(await rows.getByRole("rowheader").locator("code").allInnerTexts(), ["c", "a"]);
    const scores = page.locator("[data-label=Score]:visible");
    assert.deepEqual(await scores.allInnerTexts(), ["61.0\nsince then: Undetermined", "40.0"]);
    const exercises = await page.getByRole("listitem").filter({ hasText: /^(Hunt|Blind)/ }).allInnerTexts();
    assert.match(exercises[0]!, /not begun, 0 of 8 cases decided\. Ask Acme for the link\.$/);
    assert.match(exercises[1]!, /8 of 8 cases decided\.$/);
    await page.getByText("2 cases changed nothing", { exact: true }).click();
    await assertAccessible(page, "the page on a phone, unfolded");
    await assertFits(page, "the page on a phone, unfolded");
  },
);

ownPageTest("a page whose link is over says so, and nothing else", async (visit, demo) => {
  const issue = async () =>
    (await demo.service.send("/v1/operator/reviewer-ada/page-link", { key: demo.key, body: {} })).body.link;
  const first = await issue();
  await issue();
  const { page, expectErrors } = await visit();
  expectErrors(/410/);
  await page.goto(first);
  await page.getByText("This link is over: ask for a new one.").waitFor();
  assert.equal(await page.getByRole("button").count(), 0);
});
