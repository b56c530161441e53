/** The list of reports: the bar and who passes stand above the measures, and each report is printed and saved from its row. */
import assert from "node:assert/strict";
import { assertAccessible, assertFits, browserTests, THEMES } from "./browser.ts";
import { go, shown, signIn } from "./console.ts";
import { type DemoService, sharedDemo } from "./demo_service.ts";

const reportsTest = browserTests<DemoService>(sharedDemo(), ({ service }) => service.url);

reportsTest(
  "the list of reports says its bar once, and leads from who passes to those who do not",
  async (visit, { service, key }) => {
    const { body: { measures } } = await service.send("/v1/compliance/article14", { key });
    const [{ operators, threshold }] = measures;
    const needed = Array.from({ length: operators + 1 }, (_, count) => count)
      .find((count) => count / operators >= threshold);
    const counts: number[] = measures.map(({ passing }: { passing: number }) => passing);
    const [least, most] = [Math.min(...counts), Math.max(...counts)];
    const { page } = await visit();
    await page.goto("/console");
    await signIn(page, key);
    await go(page, "/console/reports");
    await shown(page);
    await page.getByText(
      `Passing needs ${threshold * 100} % of the operators: ${needed} of ${operators}. Passing now: ${
        least === most ? least : `${least} to ${most}, by measure`
      }.`,
    ).waitFor();
    const headings = await page.locator("main h2").allInnerTexts();
    assert.equal(headings[0], "Issued reports");
    assert.match(headings[1]!, /^Article 14/);
    const first = page.getByRole("region", { name: /^Measures/ }).getByRole("link").first();
    assert.equal(await first.innerText(), `${counts[0]} of ${operators}`);
    await first.click();
    await page.getByRole("heading", { level: 1, name: "Operators" }).waitFor();
    await shown(page);
    // Those below the threshold come first.
    assert.match(await page.locator("main tbody > tr").first().innerText(), /Below the threshold/);
  },
);

reportsTest("a report is printed and saved from its row", async (visit, { service, key }) => {
  const { body: { report } } = await service.send("/v1/compliance/report", { key });
  for (const [theme, width] of [[THEMES[0], 1200], [THEMES[1], 390]] as const) {
    const { page } = await visit({ theme, width });
    await page.goto("/console");
    await signIn(page, key);
    await go(page, "/console/reports");
    await shown(page);
    const row = page.getByRole("row").filter({ hasText: report.report_id });
    assert.equal(await row.getByRole("rowheader").locator(".second").innerText(), report.report_id);
    const saving = page.waitForEvent("download");
    await row.getByRole("button", { name: /^Save / }).click();
    const file = await saving;
    assert.equal(file.suggestedFilename(), `${report.report_id}.html`);
    const asked = await service.send(`/v1/compliance/report/${report.report_id}`, { key });
    assert.ok((await Deno.readTextFile((await file.path())!)).includes(asked.body.report_sha256));
    // The page prints a frame, whose print is heard here.
    await page.evaluate(() => {
      const { get } = Object.getOwnPropertyDescriptor(HTMLIFrameElement.prototype, "contentWindow")!;
      Object.defineProperty(HTMLIFrameElement.prototype, "contentWindow", {
        get(this: HTMLIFrameElement) {
          const inner = get!.call(this) as Window;
          inner.print = () => document.documentElement.dataset.printed = inner.document.title;
          return inner;
        },
      });
    });
    await row.getByRole("button", { name: /^Print / }).click();
    const printed = page.locator("html[data-printed]");
    await printed.waitFor();
    assert.match((await printed.getAttribute("data-printed"))!, /^Compliance report: Demo organization/);
    await assertFits(page, "the list of reports");
    await assertAccessible(page, "the list of reports");
  }
});
