/** The console where users see pseudonyms: no view names a reviewer, and the look at who one is takes a reason. */
import assert from "node:assert/strict";
import { assertAccessible, assertFits, browserTests, THEMES } from "./browser.ts";
import { go, shown, signInByLink } from "./console.ts";
import { type DemoService, withDemo } from "./demo_service.ts";

const pseudonymsTest = browserTests<DemoService>(
  (use) => withDemo(use, { JISS_PRIVACY: "pseudonymous" }),
  ({ service }) => service.url,
);

/** The ids of the demo's operators, as a key sees them. */
async function operatorIds({ service, key }: DemoService): Promise<readonly string[]> {
  const answer = await fetch(`${service.url}/v1/organization/operators`, { headers: { "X-API-Key": key } });
  const { operators } = await answer.json();
  return operators.map(({ operator_id }: { operator_id: string }) => operator_id);
}

pseudonymsTest("no view names a reviewer, until somebody looks with a reason", async (visit, demo) => {
  const ids = await operatorIds(demo);
  const { page } = await visit();
  await signInByLink(page, demo);
  const assertUnnamed = async () => {
    await shown(page);
    // The demo's session ids name its operators: what a sender puts there is shown to everybody.
    const text = (await page.content()).replaceAll(/demo-[\w-]+/g, "");
    for (const id of ids) assert.ok(!text.includes(id), `${page.url()} names ${id}`);
  };
  for (const view of ["", "/operators", "/decisions", "/labels", "/reports", "/audit-log"]) {
    await go(page, `/console${view}`);
    await assertUnnamed();
  }
  await go(page, "/console/decisions");
  await shown(page);
  await page.locator("tbody th a").first().click();
  await assertUnnamed();
  await go(page, "/console/operators");
  await shown(page);
  const first = page.locator("tbody th a").first();
  assert.match(await first.textContent() ?? "", /^Operator [0-9a-f]{8}$/);
  const opened = (await first.getAttribute("href"))!.split("/").at(-1)!;
  await first.click();
  await assertUnnamed();
  await page.getByRole("button", { name: "Who is this?" }).click();
  for (const theme of THEMES) {
    await page.emulateMedia({ colorScheme: theme });
    await assertAccessible(page, `the reason, ${theme}`);
    await assertFits(page, "the reason");
  }
  await page.getByLabel("Reason").fill("a probe was missed");
  await page.getByRole("button", { name: "Show the name" }).click();
  const told = await page.locator("[role=status] strong").textContent();
  assert.ok(ids.includes(told!), told ?? "");

  await go(page, "/console/operators");
  await assertUnnamed();
  // A search finds pseudonyms, and no name.
  const search = page.getByRole("searchbox", { name: "Part of the pseudonym" });
  await search.fill("reviewer");
  await search.press("Enter");
  await page.getByText("No operator has a pseudonym with “reviewer” in it.").waitFor();
  const pseudonym = opened.slice(4, 16);
  await search.fill(pseudonym);
  await search.press("Enter");
  await page.waitForURL(`**q=${pseudonym}`);
  await shown(page);
  assert.deepEqual(
    await page.locator("tbody th a").evaluateAll((links) => links.map((link) => link.getAttribute("href"))),
    [`/console/operators/${opened}`],
  );
  await assertUnnamed();
  await page.getByText("Find an operator by name").click();
  await page.getByLabel("Name (operator_id)").fill(told!);
  await page.getByLabel("Reason").fill("asked for the records");
  await page.getByRole("button", { name: "Find", exact: true }).click();
  await page.getByRole("heading", { name: /^Operator [0-9a-f]{8}$/ }).waitFor();
  await assertUnnamed();
  await go(page, "/console/audit-log");
  await page.getByText("a probe was missed").waitFor();
  await page.getByText("asked for the records").waitFor();
});
