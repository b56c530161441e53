/** An operator id as long as the API allows: no view gets wider than its window or its paper, and the whole id can be read. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { pastOf } from "../delivering.ts";
import { assertAccessible, assertFits, browserTests } from "./browser.ts";
import { go, shown, signIn } from "./console.ts";
import { type DemoService, sharedWithEmpty } from "./demo_service.ts";
import { CONSOLE_VIEWS, FILLED, fillOrganization } from "./views.ts";

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

const LONG = "x".repeat(256);
/** The width of A4 between the margins that a browser sets, in pixels. */
const PAPER = 718;

const longTest = browserTests<DemoService>(sharedWithEmpty(FILLED), ({ service }) => service.url);

async function send({ service, key }: DemoService, path: string, body: unknown): Promise<Json> {
  const answer = await service.send(path, { key, method: "POST", body });
  assert.ok(answer.status < 300, `${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Fails if a table is wider than its place: its last columns would be out of sight. */
async function assertTablesFit(page: Page, what: string): Promise<void> {
  const wide = await page.locator(".scroll:has(> .rows)").evaluateAll((all) =>
    all.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
      .map((one) => `${one.getAttribute("aria-label")}: ${one.scrollWidth} of ${one.clientWidth}`)
  );
  assert.deepEqual(wide, [], what);
}

longTest(
  "an operator id of 256 characters leaves every view in its window and on paper",
  async (visit, demo) => {
    const past = pastOf("operator");
    await send(demo, "/v1/score/batch", { ...past, operator_id: LONG });
    await send(demo, "/v1/score/batch", pastOf("operator-2"));
    await send(demo, "/v1/cases", { operator_id: LONG, statement: "Somebody asked for a look." });
    const { link: me } = await send(demo, `/v1/operator/${LONG}/page-link`, {});
    const single = await fillOrganization(demo, LONG);
    const views = [...CONSOLE_VIEWS.map(({ at }) => at(single)), `/decisions?operator_id=${LONG}`];
    const { page } = await visit();
    await page.goto("/console");
    await signIn(page, demo.key);
    const wide: string[] = [];
    const look = async (what: string) => {
      for (const assertion of [assertFits, assertTablesFit]) {
        await assertion(page, what).catch(({ message }) => wide.push(message));
      }
    };
    for (const view of views) {
      await go(page, `/console${view}`);
      await shown(page);
      for (const width of [1200, 1040, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await look(`${view.replace(LONG, "LONG")} at ${width}`);
      }
      await page.setViewportSize({ width: PAPER, height: 900 });
      await page.emulateMedia({ media: "print" });
      await look(`${view.replace(LONG, "LONG")} on paper`);
      await page.emulateMedia({ media: "screen" });
    }
    assert.deepEqual(wide, []);
    await page.setViewportSize({ width: 1200, height: 900 });
    await go(page, "/console/operators");
    await shown(page);
    const link = page.locator("main tbody").getByRole("link", { name: LONG });
    assert.equal(await link.getAttribute("title"), LONG, "the whole id on hover");
    const { height: cut } = (await link.boundingBox())!;
    assert.ok(cut < 30, `one line, not ${cut} pixels`);
    await link.focus();
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Tab");
    const isCut = (element: HTMLElement) =>
      element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight;
    assert.equal(await link.evaluate(isCut), false, "the whole id with the focus");
    assert.ok((await link.boundingBox())!.height > cut);
    await assertAccessible(page, "a long id");
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.emulateMedia({ media: "print" });
    assert.equal(await link.evaluate(isCut), false, "the whole id on paper");
    await page.emulateMedia({ media: "screen" });
    await page.goto(me);
    await page.locator("h2").first().waitFor();
    for (const width of [1200, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await look(`me at ${width}`);
    }
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: PAPER, height: 900 });
    await look("me on paper");
    assert.deepEqual(wide, []);
  },
);
