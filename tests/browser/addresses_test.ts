/** Addresses that were made by hand: the console says which choice it does not know, and leads onwards. */
import assert from "node:assert/strict";
import { assertAccessible, browserTests } from "./browser.ts";
import { go, shown, signIn } from "./console.ts";
import { sharedDemo } from "./demo_service.ts";

const addressesTest = browserTests(sharedDemo(), ({ service }) => service.url);

const WITHOUT = /^Show the view without (?:it|them)$/;

/** Addresses with what the view says of them, and the address to which its link leads. */
const UNKNOWN: readonly (readonly [address: string, said: string, without: string])[] = [
  ["/operators?sort=evil", "the order “evil”", "/operators"],
  ["/cases?sort=constructor&state=all", "the order “constructor”", "/cases?state=all"],
  ["/cases?sort=__proto__", "the order “__proto__”", "/cases"],
  ["/decisions?sort=--operator_id", "the order “--operator_id”", "/decisions"],
  ["/operators?band=nope&q=ada", "the band “nope”", "/operators?q=ada"],
  ["/operators?verdict=nope", "the verdict “nope”", "/operators"],
  ["/operators?cursor=nope", "the page “nope”", "/operators"],
  ["/cases?cause=toString", "the cause “toString”", "/cases"],
  ["/alerts?state=nope", "the choice of what is shown “nope”", "/alerts"],
  ["/decisions?since=yesterday", "the first day “yesterday”", "/decisions"],
  ["/audit-log?kind=constructor", "the kind “constructor”", "/audit-log"],
  ["/audit-log?event_type=nope", "the event “nope”", "/audit-log"],
  ["/trends?team=nope", "the team “nope”", "/trends"],
  ["/trends?compare=1&team2=nope", "the team “nope”", "/trends?compare=1"],
  ["/trends?compare=1&from2=never", "the first week “never”", "/trends?compare=1"],
];

addressesTest("a choice of the address that a view does not know is named", async (visit, { key }) => {
  const { page, expectErrors } = await visit();
  expectErrors(/422/);
  await page.goto("/console");
  await signIn(page, key);
  for (const [address, said, without] of UNKNOWN) {
    await go(page, `/console${address}`);
    await shown(page);
    await page.getByText(`This view does not know ${said}.`, { exact: true }).waitFor();
    assert.equal(await page.getByRole("alert").count(), 1, address);
    assert.doesNotMatch(await page.locator("main#main").innerText(), /must be|GET \/v1|Change /, address);
    assert.equal(await page.getByRole("option", { name: "nope" }).count(), 0, address);
    await assertAccessible(page, address);
    await page.getByRole("link", { name: WITHOUT }).click();
    await page.waitForURL(`**/console${without}`);
    await shown(page);
    assert.equal(await page.getByRole("alert").count(), 0, without);
  }
});

addressesTest("a thing that is not there leads to the list of its kind", async (visit, { key }) => {
  const { page, expectErrors } = await visit();
  expectErrors(/404/);
  await page.goto("/console");
  await signIn(page, key);
  for (
    const [address, list, label] of [
      ["/webhooks/nothing", "/webhooks", "Webhooks"],
      ["/operators/nobody", "/operators", "Operators"],
      ["/decisions/nothing", "/decisions", "Decisions"],
    ] as const
  ) {
    await go(page, `/console${address}`);
    await shown(page);
    const refusal = page.getByRole("alert").filter({ hasText: "There is nothing here" });
    await refusal.waitFor();
    assert.doesNotMatch(await refusal.innerText(), /GET \/v1/, address);
    await refusal.getByRole("link", { name: label, exact: true }).click();
    await page.waitForURL(`**/console${list}`);
  }
});
