/** What holds for every page: its own origin, its policy, both themes, a narrow window. */
import {
  assertAccessible,
  assertFits,
  chromiumIsMissing,
  NEEDS_CHROMIUM,
  THEMES,
  withBrowser,
} from "./browser.ts";
import { withDemo } from "./demo_service.ts";

const PAGES = ["/console", "/docs", "/docs/errors", "/docs/verify-offline", "/demo"];

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
    }, { JISS_RATE_LIMIT_IP: "1000" });
  },
});
