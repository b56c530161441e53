/** The bar's counts of open cases and alerts and of contests: from the views' own answers, without a request. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { assertAccessible, browserTests } from "./browser.ts";
import { choose, go, shown, signIn } from "./console.ts";
import { withDemo } from "./demo_service.ts";

const countsTest = browserTests<Parameters<Parameters<typeof withDemo>[0]>[0]>(
  (use) => withDemo(use, { JISS_RATE_LIMIT_IP: "1000000", JISS_RATE_LIMIT_KEY: "1000000" }),
  ({ service }) => service.url,
);

/** Names of the bar's links that begin with a word. */
async function named(page: Page, word: string): Promise<readonly (string | null)[]> {
  const links = page.getByRole("navigation", { name: "Console" }).getByRole("link", { name: word });
  return await links.evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));
}

countsTest(
  "the bar counts what is open, from what the views ask for anyway",
  async (visit, { service, key }) => {
    const { page, requests, idle } = await visit();
    const send = async (path: string, body?: unknown) =>
      (await service.send(path, { key, ...(body === undefined ? {} : { method: "POST", body }) })).body;
    const { cases } = await send("/v1/cases");
    await page.goto("/console");
    await signIn(page, key);
    await shown(page);
    await idle();
    assert.deepEqual(await named(page, "Cases"), [`Cases, ${cases.length} open`]);
    assert.equal(await page.locator("[data-count]").first().getAttribute("data-count"), String(cases.length));
    // Nothing is asked for the counts, and nothing is said of what no view has asked for.
    assert.ok(!requests.some(({ path }) => /alerts|contests/.test(path)));
    assert.deepEqual(await named(page, "Contests"), [null]);

    const link = new URL((await send("/v1/operator/reviewer-ada/page-link", {})).link).pathname;
    const sent = await service.send(`${link}/contests`, {
      method: "POST",
      body: { statement: "I was called away." },
    });
    assert.ok(sent.status < 300, JSON.stringify(sent.body));
    await go(page, "/console/contests");
    await shown(page);
    assert.deepEqual(await named(page, "Contests"), ["Contests, 1 recorded"]);
    // A part of a list is no count of it.
    await go(page, "/console/contests?operator_id=reviewer-chen");
    await shown(page);
    assert.deepEqual(await named(page, "Contests"), ["Contests, 1 recorded"]);
    await go(page, "/console/cases");
    await shown(page);
    const { alerts } = await send("/v1/organization/alerts");
    assert.deepEqual(await named(page, "Alerts"), [
      alerts.length === 0 ? null : `Alerts, ${alerts.length} open`,
    ]);
    await assertAccessible(page, "the bar with its counts");
    // A view of one thing keeps them, and another session begins without them.
    await go(page, "/console/trends");
    await shown(page);
    assert.deepEqual(await named(page, "Contests"), ["Contests, 1 recorded"]);
    await choose(page, "Sign out");
    await signIn(page, key);
    await shown(page);
    assert.deepEqual(await named(page, "Contests"), [null]);
  },
);
