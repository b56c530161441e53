/** Filters of the console: one form for the decisions, names that are offered, and a fold on a telephone. */
import assert from "node:assert/strict";
import { assertAccessible, browserTests } from "./browser.ts";
import { go, shown, signIn } from "./console.ts";
import { sharedDemo } from "./demo_service.ts";

const filtersTest = browserTests(sharedDemo(), ({ service }) => service.url);

filtersTest(
  "an operator is offered by a part of the name, once somebody has typed",
  async (visit, { key }) => {
    const { page, requests, idle } = await visit();
    await page.goto("/console");
    await signIn(page, key);
    const asked = () => requests.filter(({ path }) => path.startsWith("/v1/organization/operators")).length;
    for (const view of ["decisions", "labels"]) {
      await go(page, `/console/${view}`);
      await shown(page);
      await idle();
      const before = asked();
      await page.getByLabel("Operator id").pressSequentially("ad", { delay: 20 });
      const offered = page.locator("datalist option[value=reviewer-ada]");
      await offered.waitFor({ state: "attached" });
      await idle();
      assert.equal(asked() - before, 1, "one question for two letters");
      // A name that is chosen from the offered ones needs no search.
      await page.getByLabel("Operator id").fill("reviewer-ada");
      await page.waitForTimeout(400);
      await idle();
      assert.equal(asked() - before, 1);
      await page.getByRole("button", { name: /^Show( this operator)?$/ }).click();
      await page.waitForURL("**operator_id=reviewer-ada");
      await shown(page);
    }
  },
);

filtersTest("one button sends all filters of the decisions", async (visit, { key }) => {
  const { page } = await visit();
  await page.goto("/console");
  await signIn(page, key);
  await go(page, "/console/decisions");
  await shown(page);
  await page.getByLabel("Kind").selectOption("score");
  await page.getByLabel("Operator id").fill("reviewer-ada");
  await page.getByLabel("From (UTC)").fill("2020-01-06");
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await page.waitForURL("**/decisions?kind=score&operator_id=reviewer-ada&since=2020-01-06");
  await shown(page);
  assert.equal(await page.getByLabel("Kind").inputValue(), "score");
  await page.goBack();
  await shown(page);
  assert.equal(await page.getByLabel("Kind").inputValue(), "");
  assert.equal(await page.getByLabel("Operator id").inputValue(), "");
});

filtersTest("on a telephone the filters are folded, and say what is set", async (visit, { key }) => {
  const { page } = await visit({ width: 390, height: 844 });
  await page.goto("/console");
  await signIn(page, key);
  await go(page, "/console/decisions?operator_id=reviewer-ada");
  await shown(page);
  const fold = page.getByText("Filter · Operator: reviewer-ada", { exact: true });
  assert.equal(await page.getByLabel("Operator id").isVisible(), false);
  assert.ok((await page.locator("main tbody tr").first().boundingBox())!.y < 300);
  await fold.click();
  assert.equal(await page.getByLabel("Operator id").inputValue(), "reviewer-ada");
  await assertAccessible(page, "the filters on a telephone");
  await go(page, "/console/audit-log");
  await shown(page);
  await page.getByText("Filter or export", { exact: true }).click();
  await page.getByLabel("Event", { exact: true }).waitFor();
});
