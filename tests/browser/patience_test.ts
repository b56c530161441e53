/**
 * The console within its address's rate limit, with many operators, on a slow line, and by keyboard alone.
 */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { chromiumIsMissing, NEEDS_CHROMIUM, withBrowser } from "./browser.ts";
import { go, shown, signIn } from "./console.ts";
import { sharedWithEmpty, withDemo } from "./demo_service.ts";
import { lookAtManyOperators } from "./many_operators.ts";
import { FILLED } from "./views.ts";

const ignore = chromiumIsMissing();
const withEmpty = sharedWithEmpty(FILLED);

Deno.test({
  name:
    `showing every view once stays within 60 requests a minute; beyond that a countdown is shown, and the page continues by itself ${NEEDS_CHROMIUM}`,
  ignore,
  async fn() {
    await withDemo(async ({ service, key }) => {
      await withBrowser(service.url, async (visit) => {
        const { page, expectErrors, requests, idle } = await visit();
        expectErrors(/429/);
        await page.goto("/console");
        await signIn(page, key);
        const views = [
          ...["", "/operators", "/operators/reviewer-ada", "/decisions", "/decisions/demo-01-0100"],
          ...["/reports", "/audit-log", "/webhooks", "/key", "/verify"],
        ];
        const see = async (view: string) => {
          await go(page, `/console${view}`);
          await shown(page);
          await idle();
        };
        for (const view of views) await see(view);
        const calls = () => requests.filter(({ path }) => path.startsWith("/v1/"));
        assert.ok(calls().length <= 20, `${calls().length}`);
        assert.ok(calls().every(({ status }) => status === 200));
        // Until the address is refused.
        while (calls().every(({ status }) => status === 200)) {
          assert.ok(calls().length <= 60);
          await go(page, `/console/${calls().length % 2 === 0 ? "operators" : "decisions"}`);
          await page.waitForFunction(() =>
            document.querySelector(".loading") === null || document.querySelector("[data-waiting]") !== null
          );
        }
        const waiting = page.locator("[data-waiting]");
        await waiting.waitFor();
        const seconds = async () => Number(/ in (\d+) second/.exec((await waiting.textContent())!)![1]);
        const first = await seconds();
        assert.ok(first >= 1 && first <= 61, `${first}`);
        await page.waitForFunction((before) => {
          const text = document.querySelector("[data-waiting]")?.textContent;
          return text === undefined || Number(/ in (\d+) second/.exec(text)![1]) < before;
        }, first);
        // Nobody does anything meanwhile.
        await page.locator("tbody tr").first().waitFor({ timeout: 90_000 });
        await waiting.waitFor({ state: "detached" });
        assert.equal(calls().at(-1)!.status, 200);
      });
    });
  },
});

Deno.test({
  name:
    `with 2,000 operators and 50 ms added to every request, each view loads at most 500 KB and shows at most 200 rows ${NEEDS_CHROMIUM}`,
  ignore,
  async fn() {
    await withEmpty(async ({ service, key }) => {
      // All of them at once would be more than 500 KB and 200 rows.
      await lookAtManyOperators({ service, key }, 2_000);
    });
  },
});

/** Presses Tab until the element with this name has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < 200; presses += 1) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => {
      const element = document.activeElement as HTMLInputElement;
      const outline = getComputedStyle(element).outlineStyle;
      const label = element.labels?.[0]?.textContent.trim();
      return { text: element.ariaLabel ?? (element.textContent || label) ?? "", id: element.id, outline };
    });
    if (!name.test(focused.text) && !name.test(focused.id)) continue;
    assert.notEqual(focused.outline, "none", `${focused.text} has no visible focus`);
    return;
  }
  assert.fail(`nothing is called ${name}`);
}

Deno.test({
  name:
    `the console works by keyboard alone, and a new view moves the focus to its heading ${NEEDS_CHROMIUM}`,
  ignore,
  async fn() {
    await withDemo(async ({ service, key }) => {
      await withBrowser(service.url, async (visit) => {
        const { page } = await visit();
        await page.goto("/console");
        await page.getByLabel("API key").waitFor();
        await tabTo(page, /^key$/);
        await page.keyboard.insertText(key);
        await page.keyboard.press("Enter");
        const isAt = (heading: string) =>
          page.waitForFunction(
            (text) => document.activeElement?.tagName === "H1" && document.activeElement.textContent === text,
            heading,
          );
        await isAt("Demo organization");
        await page.keyboard.press("Shift+Tab");
        await page.evaluate(() => (document.activeElement as HTMLElement).blur());
        await tabTo(page, /^Operators$/);
        await page.keyboard.press("Enter");
        await isAt("Operators");
        await shown(page);
        await tabTo(page, /^JIS$/);
        await page.keyboard.press("Enter");
        await page.waitForURL("**/console/operators?sort=jis");
        await shown(page);
        await tabTo(page, /^reviewer-goran$/);
        await page.keyboard.press("Enter");
        await isAt("reviewer-goran");
        await shown(page);
        const exercise = await page.locator("details summary").first().textContent();
        await tabTo(page, new RegExp(`^${exercise}$`));
        await page.keyboard.press("Enter");
        assert.equal(await page.locator("details[open]").count(), 1);
        await page.evaluate(() => (document.activeElement as HTMLElement).blur());
        await tabTo(page, /^Keys$/);
        await page.keyboard.press("Enter");
        await isAt("Keys");
        await tabTo(page, /^I can put the new key into/);
        await page.keyboard.press("Space");
        await page.keyboard.press("Tab");
        await page.keyboard.press("Enter");
        await page.getByText("The key was rotated").waitFor();
        await page.evaluate(() => (document.activeElement as HTMLElement).blur());
        await tabTo(page, /^I have kept it$/);
        await page.keyboard.press("Enter");
        await tabTo(page, /API key$/);
        await page.keyboard.press("Enter");
        await tabTo(page, /^Sign out$/);
        await page.keyboard.press("Enter");
        await isAt("Sign in");
      });
    });
  },
});
