/**
 * `task picture`: takes docs/integrate/console.png, the README's picture, of the console with the seeded
 * demo. Needs Chromium.
 */
import { closeBrowser, withBrowser } from "./browser.ts";
import { shown, signIn } from "./console.ts";
import { withDemo } from "./demo_service.ts";

const OUTPUT = `${import.meta.dirname}/../../docs/integrate/console.png`;

await withDemo(async ({ service, key }) => {
  await withBrowser(service.url, async (visit) => {
    const { page, idle } = await visit({ width: 1120, height: 1060 });
    await page.goto("/console");
    await signIn(page, key);
    await shown(page);
    await idle();
    // Without the focus ring around the heading.
    await page.mouse.click(1110, 1050);
    await page.screenshot({ path: OUTPUT });
  });
  await closeBrowser();
});
console.log(`docs/integrate/console.png: ${(await Deno.stat(OUTPUT)).size} bytes`);
