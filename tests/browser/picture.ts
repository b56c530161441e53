/**
 * `task picture`: takes docs/integrate/console.png, the README's picture, of the console with the seeded
 * demo. `task picture --all FOLDER` takes pictures of every view and page in four forms instead. Needs Chromium.
 */
import { closeBrowser, withBrowser } from "./browser.ts";
import { shown, signIn } from "./console.ts";
import { withDemo } from "./demo_service.ts";
import { drawPictures, PICTURED } from "./pictures.ts";

const OUTPUT = `${import.meta.dirname}/../../docs/integrate/console.png`;

async function drawOne(): Promise<void> {
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
  });
  console.log(`docs/integrate/console.png: ${(await Deno.stat(OUTPUT)).size} bytes`);
}

async function drawAll(folder: string): Promise<void> {
  const { files, isAtFixedTime } = await drawPictures(folder);
  console.log(`${folder}/index.html: ${PICTURED.length} views, ${files.length} pictures`);
  if (!isAtFixedTime) console.log("The days are today's: libfaketime is missing here.");
}

const [option, folder, ...rest] = Deno.args;
if (option === undefined) await drawOne();
else if (option === "--all" && folder !== undefined && rest.length === 0) await drawAll(folder);
else {
  console.error("Usage: task picture [--all FOLDER]");
  Deno.exitCode = 2;
}
await closeBrowser();
