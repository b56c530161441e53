/** Rules that hold for every page: its own origin, its policy, both themes, a narrow window. */
import assert from "node:assert/strict";
import {
  assertAccessible,
  assertFits,
  chromiumIsMissing,
  NEEDS_CHROMIUM,
  THEMES,
  withBrowser,
} from "./browser.ts";
import { sharedDemo } from "./demo_service.ts";

const withDemo = sharedDemo();
const DOCUMENTS = ["/docs/verify-offline", "/docs/evidence-format", "/docs/formulas"];
const PAGES = ["/console", "/docs", "/docs/errors", ...DOCUMENTS, "/demo"];

Deno.test({
  name: `every page is accessible in both themes and fits a window of 360 pixels ${NEEDS_CHROMIUM}`,
  ignore: chromiumIsMissing(),
  async fn() {
    await withDemo(async ({ service }) => {
      await withBrowser(service.url, async (visit) => {
        for (const theme of THEMES) {
          const { page } = await visit({ theme, width: 360 });
          for (const path of PAGES) {
            await page.goto(path);
            await page.locator("h1").first().waitFor();
            await assertAccessible(page, `${path} ${theme}`);
            await assertFits(page, path);
          }
        }
      });
    });
  },
});

Deno.test({
  name:
    `the documents link to each other, and content wider than the window scrolls by keyboard ${NEEDS_CHROMIUM}`,
  ignore: chromiumIsMissing(),
  async fn() {
    await withDemo(async ({ service }) => {
      await withBrowser(service.url, async (visit) => {
        const { page } = await visit({ width: 360 });
        const headings: string[] = [];
        for (const path of DOCUMENTS) {
          await page.goto(path);
          const links = await page.locator("main a").evaluateAll((all) =>
            all.map((link) => link.getAttribute("href")!)
          );
          for (const link of new Set(links.filter((link) => link.startsWith("/docs/")))) {
            const [document, fragment] = link.split("#") as [string, string?];
            assert.ok(DOCUMENTS.includes(document), link);
            if (fragment !== undefined) headings.push(link);
          }
          for (const fragment of links.filter((link) => link.startsWith("#"))) {
            assert.equal(await page.locator(`[id="${fragment.slice(1)}"]`).count(), 1, `${path}${fragment}`);
          }
          const wide = page.locator("main .scroll, main pre");
          let scrolled = 0;
          for (const one of await wide.all()) {
            if (!await one.evaluate((element) => element.scrollWidth > element.clientWidth)) continue;
            scrolled += 1;
            if (scrolled > 3) break;
            await one.focus();
            const isScrolled = () => one.evaluate((element) => element.scrollLeft > 0);
            // A busy browser may not react to the first key yet.
            for (let presses = 0; presses < 50 && !await isScrolled(); presses += 1) {
              await page.keyboard.press("ArrowRight");
              await page.waitForTimeout(50);
            }
            assert.ok(await isScrolled(), path);
          }
          assert.ok(scrolled > 0, path);
        }
        for (const link of new Set(headings)) {
          await page.goto(link);
          assert.equal(await page.locator(`[id="${link.split("#")[1]}"]`).count(), 1, link);
        }
        await page.goto("/docs/verify-offline");
        await page.getByRole("link", { name: "evidence-format.md" }).first().click();
        await page.getByRole("link", { name: "formulas.md" }).first().click();
        assert.equal(new URL(page.url()).pathname, "/docs/formulas");
        for (const path of ["/demo", "/docs", "/console", ...DOCUMENTS]) {
          await page.goto(`${path}/?from=link#here`);
          assert.equal(page.url(), `${service.url}${path}?from=link#here`);
        }
      });
    });
  },
});
