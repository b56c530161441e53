/** The audit log: its parts, one user's events, and the two files that it gives. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { assertAccessible, assertFits, browserTests, THEMES } from "./browser.ts";
import { go, shown, signInAsOfficer, signInByLink } from "./console.ts";
import { type DemoService, withDemo } from "./demo_service.ts";

const logTest = browserTests<DemoService>(
  (use) => withDemo(use, { JISS_RATE_LIMIT_IP: "1000000" }),
  ({ service }) => service.url,
);

/** The names of the events in the rows. */
const events = (page: Page) => page.locator("main tbody td[data-label='Event'] code").allInnerTexts();

logTest("the audit log shows changes or reading alone, and one user's events", async (visit, demo) => {
  const { page: officer } = await visit();
  await signInAsOfficer(officer, demo);
  const { page } = await visit({ theme: THEMES[1] });
  await signInByLink(page, demo);
  for (let reads = 0; reads < 2; reads += 1) {
    await demo.service.send("/v1/admin/audit-log", { key: demo.key });
  }
  await go(page, "/console/audit-log");
  await shown(page);
  assert.equal(await page.getByLabel("Show", { exact: true }).inputValue(), "", "all is shown at first");
  const all = await events(page);
  assert.ok(all.includes("AUDIT_LOG_READ") && all.includes("USER_INVITED") && all.includes("USER_SIGNED_IN"));

  await page.getByLabel("Show", { exact: true }).selectOption("Changes");
  await page.waitForURL("**kind=changes*");
  await page.getByText(/^Changes alone: \d+ of the \d+ events of this page\.$/).waitFor();
  await shown(page);
  const changes = await events(page);
  assert.ok(changes.includes("USER_INVITED"));
  assert.ok(!changes.includes("AUDIT_LOG_READ") && !changes.includes("USER_SIGNED_IN"));
  await page.reload();
  await page.getByText(/^Changes alone/).waitFor();
  await page.getByLabel("Show", { exact: true }).selectOption("Reading");
  await page.getByText(/^Reading alone/).waitFor();
  await shown(page);
  assert.deepEqual(new Set(await events(page)), new Set(["AUDIT_LOG_READ"]));

  await page.getByLabel("Show", { exact: true }).selectOption("All");
  await page.waitForURL((url) => !url.searchParams.has("kind"));
  await shown(page);
  const user = page.getByLabel("User", { exact: true });
  await user.selectOption({ label: "Demo admin" });
  await page.waitForURL("**user_id=*");
  await page.getByText("Only what Demo admin did.").waitFor();
  await shown(page);
  const makers = await page.locator("main tbody td[data-label='By'] a").allInnerTexts();
  assert.deepEqual(new Set(makers), new Set(["Demo admin"]));
  // The others can still be chosen.
  const [other] = (await user.locator("option").allInnerTexts()).filter((name) => /^officer /.test(name));
  await user.selectOption({ label: other! });
  await page.getByText(`Only what ${other} did.`).waitFor();
  await assertAccessible(page, "one user's events");
  await assertFits(page, "one user's events");
});

logTest("the file of the rows and that of the whole log have names of their own", async (visit, demo) => {
  const { page } = await visit();
  await signInByLink(page, demo);
  await go(page, "/console/audit-log");
  await shown(page);
  for (
    const [button, file] of [
      ["CSV of these rows: Events", /\.csv$/],
      ["Export the whole log", /-audit-log\.ndjson$/],
    ] as const
  ) {
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: button, exact: true }).click();
    assert.match((await saving).suggestedFilename(), file);
  }
});
