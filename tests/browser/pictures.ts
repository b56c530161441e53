/** Pictures of every view of the console and of every other page, in four forms, with a page that shows them all. */
import type { Page } from "playwright-core";
import { markup } from "../../src/pages/markup.ts";
import { clockLibrary } from "../clock_library.ts";
import { startDesk } from "../review_desk.ts";
import { type Theme, withBrowser } from "./browser.ts";
import { go, shown, signInByLink } from "./console.ts";
import { type DemoService, withDemo } from "./demo_service.ts";
import { CONSOLE_VIEWS, fillDemo, FILLED, OPEN_PAGES } from "./views.ts";

interface Form {
  readonly name: string;
  readonly media: "screen" | "print";
  readonly theme: Theme;
  readonly width: number;
  readonly height: number;
}

/** A sheet of A4 within margins of 15 mm, in pixels of 1/96 inch; its picture is the first sheet alone. */
const SHEET = { width: 680, height: 1009 };
export const FORMS: readonly Form[] = [
  { name: "desktop-light", media: "screen", theme: "light", width: 1200, height: 900 },
  { name: "desktop-dark", media: "screen", theme: "dark", width: 1200, height: 900 },
  { name: "phone-light", media: "screen", theme: "light", width: 390, height: 844 },
  { name: "print", media: "print", theme: "light", ...SHEET },
];

/** A longer page is cut off: the reference would be a hundred screens. */
const MOST_HEIGHT = 4_000;

/** The names of all pictures' rows. */
export const PICTURED: readonly string[] = [
  ...OPEN_PAGES.map(({ name }) => name),
  "collector",
  ...CONSOLE_VIEWS.map(({ name }) => name),
];

/** The service's clock begins here, and the pages' clock stands here: figures and days are the same on any day. */
const CLOCK = new Date("2027-03-15T09:00:00Z");

export interface Drawn {
  /** Files, without the contact sheet. */
  readonly files: readonly string[];
  /** Whether days and figures are those of `CLOCK`. It needs libfaketime. */
  readonly isAtFixedTime: boolean;
}

/**
 * Draws them into a folder, which is made if it is missing. Ids and links that the service draws by lot differ from run to run.
 * @param names the rows to draw; all by default.
 */
export async function drawPictures(
  folder: string,
  names: readonly string[] = PICTURED,
): Promise<Drawn> {
  await Deno.mkdir(folder, { recursive: true });
  const library = clockLibrary();
  const clock: Readonly<Record<string, string>> = library === null ? {} : {
    LD_PRELOAD: library,
    // With an “@” the clock goes on from there.
    FAKETIME: `@${CLOCK.toISOString().slice(0, 19).replace("T", " ")}`,
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    DONT_FAKE_MONOTONIC: "1",
    TZ: "UTC",
  };
  const files: string[] = [];
  const draw = async (page: Page, name: string, { name: form, media, width, height }: Form) => {
    const file = `${name}-${form}.png`;
    const whole = await page.evaluate(() => {
      // Without the focus ring around the heading.
      (document.activeElement as HTMLElement | null)?.blur();
      return document.documentElement.scrollHeight;
    });
    const high = media === "print" ? height : Math.min(Math.max(whole, height), MOST_HEIGHT);
    await page.screenshot({
      path: `${folder}/${file}`,
      fullPage: true,
      clip: { x: 0, y: 0, width, height: high },
      animations: "disabled",
    });
    files.push(file);
  };
  const take = async (page: Page, { media, theme, width, height }: Form) => {
    await page.emulateMedia({ media, colorScheme: theme });
    await page.setViewportSize({ width, height });
  };
  const isWanted = ({ name }: { readonly name: string }) => names.includes(name);
  await withDemo(async (demo) => {
    const single = await fillDemo(demo);
    await withBrowser(demo.service.url, async (visit) => {
      const open = async () => {
        const { page, idle, expectErrors } = await visit();
        if (library !== null) await page.clock.setFixedTime(CLOCK);
        return { page, idle, expectErrors };
      };
      const outside = await open();
      for (const form of FORMS) {
        await take(outside.page, form);
        for (const { name, at, drawn } of OPEN_PAGES.filter(isWanted)) {
          await outside.page.goto(at(single.links));
          await outside.page.locator(drawn).first().waitFor({ state: "attached" });
          await outside.idle();
          await draw(outside.page, name, form);
        }
      }
      if (names.includes("collector")) {
        const customer = await open();
        customer.expectErrors(/^asked http:\/\/127\.0\.0\.1:/);
        await withDesk(demo, async (origin) => {
          await customer.page.goto(origin);
          await customer.page.getByLabel("Reviewer").fill("reviewer-ada");
          await customer.page.getByRole("button", { name: "Begin" }).click();
          await customer.page.getByRole("button", { name: "Accept" }).waitFor();
          for (const form of FORMS) {
            await take(customer.page, form);
            await draw(customer.page, "collector", form);
          }
        });
      }
      const inside = await open();
      // The clock's own script, in the frame of a report, which runs nothing.
      inside.expectErrors(/^wrote Blocked script execution in 'about:srcdoc'/);
      await signInByLink(inside.page, demo);
      for (const form of FORMS) {
        await take(inside.page, form);
        for (const { name, at } of CONSOLE_VIEWS.filter(isWanted)) {
          await go(inside.page, `/console${at(single)}`);
          await shown(inside.page);
          await inside.idle();
          await draw(inside.page, name, form);
        }
      }
    });
  }, { ...FILLED, ...clock, JISS_RATE_LIMIT_IP: "1000000", JISS_RATE_LIMIT_KEY: "1000000" });
  await Deno.writeTextFile(
    `${folder}/index.html`,
    contactSheet(PICTURED.filter((name) => names.includes(name))),
  );
  return { files, isAtFixedTime: library !== null };
}

/** Runs a customer's page with the collector: the desk of the examples. */
async function withDesk(
  { service, key }: DemoService,
  use: (origin: string) => Promise<void>,
): Promise<void> {
  const desk = await startDesk("TypeScript", { jiss: service.url, key });
  try {
    await use(desk.origin);
  } finally {
    await desk.stop();
  }
}

/** A table with a row for each view and a column for each form. */
function contactSheet(names: readonly string[]): string {
  return markup`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Views of JISS</title>
<style>
table { border-collapse: collapse; font: 14px system-ui; }
th, td { border: 1px solid #999; padding: 8px; vertical-align: top; text-align: left; }
img { width: 320px; max-height: 480px; object-fit: cover; object-position: top; }
</style>
<h1>Views of JISS</h1>
<table>
<thead><tr><th scope="col">View</th>${
    FORMS.map(({ name }) => markup`<th scope="col">${name}</th>`)
  }</tr></thead>
<tbody>
${
    names.map((name) =>
      markup`<tr><th scope="row">${name}</th>${
        FORMS.map((form) => {
          const file = `${name}-${form.name}.png`;
          return markup`<td><a href="${file}"><img src="${file}" alt="${name}, ${form.name}" loading="lazy"></a></td>`;
        })
      }</tr>
`
    )
  }</tbody>
</table>
</html>
`.toString();
}
