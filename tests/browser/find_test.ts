/** Finding from anywhere in the console: operators, views and replays, by keyboard, by finger, and under pseudonyms. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { assertAccessible, assertFits, browserTests, focused, THEMES } from "./browser.ts";
import { go, openMenu, shown, signIn, signInByLink } from "./console.ts";
import { type DemoService, sharedDemo, withDemo } from "./demo_service.ts";

const demoTest = browserTests<DemoService>(sharedDemo(), ({ service }) => service.url);
const pseudonymsTest = browserTests<DemoService>(
  (use) => withDemo(use, { JISS_PRIVACY: "pseudonymous" }),
  ({ service }) => service.url,
);

const NAME = "Find an operator, a decision or a view";
const fieldOf = (page: Page) => page.getByRole("combobox", { name: NAME });
const options = (page: Page) => page.getByRole("listbox", { name: "Found" }).getByRole("option");

async function begin(page: Page, key: string): Promise<void> {
  await page.goto("/console");
  await signIn(page, key);
  await shown(page);
}

/** The text of what the field points at. */
async function active(page: Page): Promise<string> {
  const id = await fieldOf(page).getAttribute("aria-activedescendant");
  return id === null ? "" : await page.locator(`#${id}`).innerText();
}

async function isAt(page: Page, heading: string): Promise<void> {
  await page.waitForFunction(
    (text) => document.activeElement?.tagName === "H1" && document.activeElement.textContent === text,
    heading,
  );
}

demoTest("an operator, a view and a replay are found by keyboard alone", async (visit, { key }) => {
  const { page, requests, idle } = await visit();
  await begin(page, key);
  await idle();
  const asked = () => requests.filter(({ path }) => path.includes("/organization/operators?q="));
  await page.keyboard.press("/");
  assert.ok(await fieldOf(page).evaluate((field) => field === document.activeElement));
  assert.equal(await fieldOf(page).getAttribute("aria-expanded"), "false");
  await page.keyboard.type("GORAN", { delay: 20 });
  await page.getByRole("option", { name: "reviewer-goran" }).waitFor();
  await idle();
  assert.deepEqual(asked().map(({ path }) => path), ["/v1/organization/operators?q=GORAN&limit=8"]);
  assert.match(
    await page.getByRole("option", { name: "reviewer-goran" }).innerText(),
    /Meets the threshold|Below the threshold|Undetermined/,
  );
  assert.equal(await fieldOf(page).getAttribute("aria-expanded"), "true");
  assert.equal(await page.locator(".find [role=status]").innerText(), "2 hits.");
  await page.keyboard.press("ArrowDown");
  assert.match(await active(page), /^reviewer-goran/);
  await page.keyboard.press("ArrowDown");
  assert.equal(await active(page), "Replay GORAN");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/console/operators/reviewer-goran");
  await isAt(page, "reviewer-goran");
  assert.equal(await fieldOf(page).inputValue(), "");

  // Enter takes the first hit, and waits for it.
  await page.keyboard.press("Control+k");
  await page.keyboard.type("emil");
  await page.keyboard.press("Enter");
  await isAt(page, "reviewer-emil");

  await page.keyboard.press("Meta+k");
  await page.keyboard.type("audit");
  await page.getByRole("option", { name: "Audit log" }).waitFor();
  await page.keyboard.press("ArrowDown");
  assert.equal(await active(page), "Audit log");
  await page.keyboard.press("Enter");
  await isAt(page, "Audit log");

  await page.keyboard.press("/");
  await page.keyboard.type("demo-01-0100");
  await page.getByText("No operator has a name with “demo-01-0100” in it.", { exact: true }).waitFor();
  await page.keyboard.press("ArrowUp");
  assert.equal(await active(page), "Replay demo-01-0100");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/console/decisions/demo-01-0100");
  await shown(page);
});

demoTest("Escape gives the focus back, and a click opens a hit", async (visit, { key }) => {
  const { page } = await visit();
  await begin(page, key);
  await page.getByRole("link", { name: "Trends", exact: true }).focus();
  await page.keyboard.press("/");
  await page.keyboard.type("re");
  await options(page).first().waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await focused(page), "Trends");
  assert.equal(await fieldOf(page).inputValue(), "");
  assert.equal(await options(page).count(), 0);
  await page.keyboard.press("Control+k");
  await page.keyboard.press("Escape");
  assert.equal(await focused(page), "Trends");
  // In the field the second one is text.
  await page.keyboard.press("/");
  await page.keyboard.press("/");
  assert.equal(await fieldOf(page).inputValue(), "/");
  await fieldOf(page).fill("alert");
  await page.getByRole("option", { name: "Alerts" }).click();
  await isAt(page, "Alerts");
});

demoTest(
  "the list has at most eight hits, says if there are more, and axe finds nothing",
  async (visit, demo) => {
    for (const [width, height] of [[1200, 900], [390, 844]] as const) {
      const { page } = await visit({ width, height });
      await begin(page, demo.key);
      await page.keyboard.press("Control+k");
      await fieldOf(page).fill("r");
      await page.getByText("More operators have it: type more of the name.", { exact: true }).waitFor();
      assert.equal(await options(page).count(), 8);
      for (const theme of THEMES) {
        await page.emulateMedia({ colorScheme: theme });
        await assertAccessible(page, `${width}, ${theme}`);
      }
      await page.keyboard.press("ArrowDown");
      for (const theme of THEMES) {
        await page.emulateMedia({ colorScheme: theme });
        await assertAccessible(page, `${width}, ${theme}, one is chosen`);
        await assertFits(page, `${width}, ${theme}`);
      }
    }
  },
);

demoTest("on a phone a button opens the field, and everything is 44 pixels high", async (visit, { key }) => {
  const { page } = await visit({ isTouched: true, width: 390, height: 844 });
  await begin(page, key);
  assert.equal(await fieldOf(page).isVisible(), false);
  const button = page.getByRole("button", { name: "Find", exact: true });
  await button.tap();
  assert.equal(await button.getAttribute("aria-expanded"), "true");
  await page.waitForFunction(() => document.activeElement?.id === "find");
  await fieldOf(page).fill("ca");
  await page.getByRole("option", { name: "Cases" }).waitFor();
  await page.getByText("Searching the operators…").waitFor({ state: "detached" });
  for (const one of [button, fieldOf(page), ...await options(page).all()]) {
    const { height, width } = (await one.boundingBox())!;
    assert.ok(height >= 43.5 && width >= 43.5, `${await one.innerText()}: ${width} × ${height}`);
  }
  await assertFits(page, "the open field");
  await page.getByRole("option", { name: "Cases" }).tap();
  await page.waitForURL("**/console/cases");
  await shown(page);
  assert.equal(await fieldOf(page).isVisible(), false);
  await button.tap();
  await fieldOf(page).waitFor();
  await button.tap();
  assert.equal(await fieldOf(page).isVisible(), false);
});

demoTest("a viewer finds no view that the role may not use", async (visit, { service, key }) => {
  const body = { email: "finder@demo.example", name: "Finder", role: "viewer" };
  const { link } = (await service.send("/v1/users", { key, method: "POST", body })).body;
  const { page } = await visit();
  await page.goto(link);
  await page.getByLabel(/^Password/).fill("correct horse battery");
  await page.getByRole("button", { name: "Set the password" }).click();
  await page.getByRole("navigation", { name: "Console" }).waitFor();
  await shown(page);
  await page.keyboard.press("/");
  await page.keyboard.type("cases");
  await page.getByText("No operator has a name with “cases” in it.", { exact: true }).waitFor();
  assert.deepEqual(await options(page).allInnerTexts(), ["Replay cases"]);
  await fieldOf(page).fill("decis");
  await page.getByRole("option", { name: "Decisions" }).waitFor();
});

demoTest(
  "a slash that is typed stays text, and the switch of single keys turns it off",
  async (visit, { key }) => {
    const { page } = await visit();
    await begin(page, key);
    await go(page, "/console/operators");
    await shown(page);
    const search = page.getByRole("searchbox");
    await search.focus();
    await page.keyboard.type("a/b");
    assert.equal(await search.inputValue(), "a/b");
    await page.keyboard.press("Control+k");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "find");
    await page.keyboard.press("Escape");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "q");

    await openMenu(page);
    await page.getByLabel("Single-key shortcuts").uncheck();
    await page.keyboard.press("/");
    assert.notEqual(await page.evaluate(() => document.activeElement?.id), "find");
    await go(page, "/console/labels");
    await shown(page);
    await page.getByText("Keyboard shortcuts", { exact: true }).click();
    const own = page.getByRole("checkbox", { name: "The shortcuts are on" });
    assert.equal(await own.isChecked(), false);
    await page.keyboard.press("/");
    assert.notEqual(await page.evaluate(() => document.activeElement?.id), "find");
    await page.keyboard.press("Control+k");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "find");
    await page.keyboard.press("Escape");
    await own.check();
    await page.keyboard.press("/");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "find");
  },
);

demoTest("an open question keeps the keyboard", async (visit, { key }) => {
  const { page } = await visit();
  await begin(page, key);
  await go(page, "/console/operators/reviewer-goran");
  await shown(page);
  await page.locator(".act > button").first().click();
  await page.locator("form.asked h3").first().waitFor();
  for (const shortcut of ["/", "Control+k"]) {
    await page.keyboard.press(shortcut);
    assert.notEqual(await page.evaluate(() => document.activeElement?.id), "find", shortcut);
  }
});

demoTest("an error of the search is said in the list and stops nothing", async (visit, { key }) => {
  const { page, expectErrors } = await visit();
  expectErrors(/429/);
  await begin(page, key);
  const message = "The service is busy.";
  await page.route("**/v1/organization/operators?q=*", (route) =>
    route.fulfill({
      status: 429,
      headers: { "Retry-After": "60" },
      json: { error: { code: "RATE_LIMITED", message, request_id: "r1", details: [] } },
    }));
  await page.keyboard.press("/");
  await page.keyboard.type("trends");
  // It is pressed before the operators are there, so it opens nothing without them.
  await page.keyboard.press("Enter");
  await page.locator(".found").getByText(`The operators could not be searched. ${message}`).waitFor();
  assert.deepEqual(await options(page).allInnerTexts(), ["Trends", "Replay trends"]);
  await page.keyboard.press("Enter");
  await isAt(page, "Trends");
});

pseudonymsTest("under pseudonyms no id is found or shown", async (visit, demo) => {
  const answer = await demo.service.send("/v1/organization/operators", { key: demo.key });
  const ids = answer.body.operators.map(({ operator_id: id }: { operator_id: string }) => id);
  const { page } = await visit();
  await signInByLink(page, demo);
  await go(page, "/console/operators");
  await shown(page);
  const path = (await page.locator("tbody th a").first().getAttribute("href"))!;
  await page.keyboard.press("/");
  await page.keyboard.type(ids[0]);
  await page.getByText(`No operator has a pseudonym with “${ids[0]}” in it.`, { exact: true }).waitFor();
  assert.deepEqual(await options(page).allInnerTexts(), [`Replay ${ids[0]}`]);
  await fieldOf(page).fill(path.split("/").at(-1)!.slice(4, 16));
  const hit = page.getByRole("option", { name: /^Operator [0-9a-f]{8}/ });
  await hit.waitFor();
  const text = await page.locator(".find").innerHTML();
  for (const id of ids) assert.ok(!text.includes(id), id);
  await hit.click();
  await page.waitForURL(`**${path}`);
});
