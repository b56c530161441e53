/** A report's page in a browser: on a telephone, in both themes, and on paper, where its first sheet is the summary alone. */
import assert from "node:assert/strict";
import type { Report } from "../../src/domain/report.ts";
import { signedReportIn } from "../../src/pages/signed_report.ts";
import { reportPage, reportPagePolicy } from "../../src/pages/report.ts";
import { keptPage } from "../kept_pages/kept.ts";
import { EMPTY_REPORT, JUDGED_REPORT, samplePageOf } from "../sample_report.ts";
import {
  assertAccessible,
  assertFits,
  chromiumIsMissing,
  NEEDS_CHROMIUM,
  THEMES,
  withBrowser,
} from "./browser.ts";

/** Width of A4 within the margins of the page's style, pixels of 1/96 inch. */
const A4_WIDTH = Math.floor((210 - 2 * 15) / 25.4 * 96);

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const UNSETTLED =
  "More cases of wrong advice whose truth is known, by outcome labels or by planted errors, would settle it.";

/** The longest first page that the service writes: the longest name, every remark, every figure of several digits. */
const LONGEST: Report = {
  ...JUDGED_REPORT,
  organization: {
    ...JUDGED_REPORT.organization,
    name: "Aufsichtsanstalt für Versicherungen ".repeat(6).slice(0, 200),
  },
  population: {
    operators: 10_431,
    minimum_data_met: 10_204,
    insufficient_data: 227,
    without_ground_truth: 3_017,
    interactions: 1_834_211,
    departures: 120_711,
    referrals: 20_001,
    incident_freezes: 1_004,
  },
  verdict: {
    status: "undetermined",
    reasons: [
      "Of 10204 operators with a record that is long enough, 1104 are certainly below 60 and 4006 are undetermined; at most 10 % may be below.",
      "Of 10104 high-risk operators, 1104 are certainly below 60 and 4006 are undetermined; at most 10 % may be below.",
      "Of 5011 operators who take critical decisions, 0 are certainly below 60 with a JIS below 40, and 2009 are below 60 with a higher JIS or undetermined; none may be below 40.",
      UNSETTLED,
    ],
  },
  findings: JUDGED_REPORT.findings.map((finding, index) =>
    index > 3 ? finding : { ...finding, operators: 4, passing: null, observed: null, undetermined: null }
  ),
  organization_rule: { ...JUDGED_REPORT.organization_rule, critical_below_critical: null },
  figures: {
    ...JUDGED_REPORT.figures,
    verdicts: { compliant: 5_094, undetermined: 4_006, non_compliant: 1_104, insufficient_data: 227 },
  },
  probes: {
    wrong: { probes: 40_012, count: 31_007, share: 0.77, low: 0.76, high: 0.78 },
    right: { probes: 60_004, count: 4_003, share: 0.07, low: 0.06, high: 0.08 },
    lost: 1_003,
    recalled: 202,
    recalled_after_draw: 101,
  },
  smallest_group: 5,
};

/** Nobody has a record long enough. */
const NOBODY: Report = {
  ...EMPTY_REPORT,
  overall_verdict: "undetermined",
  verdict: {
    status: "undetermined",
    reasons: [
      "No operator has a record that is long enough, or takes critical decisions: the rule judges nobody, so there is no verdict.",
    ],
  },
  findings: EMPTY_REPORT.findings.map((finding) => ({
    ...finding,
    verdict: finding.status === "not_applicable" ? null : "undetermined" as const,
  })),
  figures: {
    ...EMPTY_REPORT.figures,
    verdicts: { compliant: 0, undetermined: 0, non_compliant: 0, insufficient_data: 3 },
  },
};

/** Pages by path: of samples, and of the demo organization's report. */
async function reports(): Promise<ReadonlyMap<string, { readonly text: string; readonly policy: string }>> {
  const demo = JSON.parse(signedReportIn((await keptPage("the days before the page had a summary")).page)!);
  const drawn = [
    ["/sample", samplePageOf(JUDGED_REPORT)],
    ["/longest", samplePageOf(LONGEST)],
    ["/nobody", samplePageOf(NOBODY)],
    ["/demo", { signed: demo, partialShare: 0.75 }],
  ] as const;
  return new Map(
    drawn.map(([path, page]) => [path, {
      text: reportPage(page),
      policy: reportPagePolicy(page.signed.report),
    }]),
  );
}

/** Serves the pages as the service does. */
async function withPages(
  pages: Awaited<ReturnType<typeof reports>>,
  use: (origin: string) => Promise<void>,
): Promise<void> {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const page = pages.get(new URL(request.url).pathname);
    if (page === undefined) return new Response(null, { status: 404 });
    return new Response(page.text, {
      headers: { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": page.policy },
    });
  });
  try {
    await use(`http://127.0.0.1:${server.addr.port}`);
  } finally {
    await server.shutdown();
  }
}

/** The headings on each sheet of a printed document, by its outline. */
function headingsOfSheets(pdf: Uint8Array): readonly (readonly string[])[] {
  const text = new TextDecoder("latin1").decode(pdf);
  const [, kids] = /\/Type \/Pages[^>]*\/Kids \[([^\]]*)\]/s.exec(text) ??
    /\/Kids \[((?:\d+ 0 R ?)+)\]/.exec(text)!;
  const sheets = [...kids!.matchAll(/(\d+) 0 R/g)].map(([, id]) => id!);
  assert.equal(sheets.length, text.match(/\/Type\s*\/Page\b(?!s)/g)!.length);
  const outline = [...text.matchAll(/\/Title \(([^\n]*)\)\n\/Dest \[(\d+) 0 R /g)];
  return sheets.map((sheet) => outline.filter(([, , id]) => id === sheet).map(([, title]) => title!));
}

const SUMMARY = [
  "The verdict on the organization",
  "On whom",
  "What was measured, and how",
  "The verdicts on the operators",
  /^The laws and guidance that the findings name, on /,
  "What is not known",
  "What this report is not",
];

/** Fails unless the first sheet holds the summary and nothing else, and the second one begins with the findings. */
function assertFirstSheet(pdf: Uint8Array, what: string): void {
  const [first, second, ...others] = headingsOfSheets(pdf);
  const headings = first!.filter((title) => !title.startsWith("Compliance report"));
  assert.equal(headings.length, SUMMARY.length, `${what}: ${headings.join(", ")}`);
  for (const [index, expected] of SUMMARY.entries()) {
    if (typeof expected === "string") assert.equal(headings[index], expected, what);
    else assert.match(headings[index]!, expected, what);
  }
  // A summary that did not fit would push the findings to the third sheet.
  assert.equal(second![0], "Findings", what);
  assert.ok(others.length >= 1 && others.length <= 7, `${what}: ${others.length + 2} sheets`);
}

Deno.test({
  name:
    `a report's page is accessible in both themes, fits a window of 360 pixels, and prints black on white ${NEEDS_CHROMIUM}`,
  ignore: chromiumIsMissing(),
  async fn() {
    const pages = await reports();
    await withPages(pages, async (origin) => {
      await withBrowser(origin, async (visit) => {
        for (const theme of THEMES) {
          const { page } = await visit({ theme, width: 360 });
          for (const path of pages.keys()) {
            await page.emulateMedia({ media: "screen" });
            await page.setViewportSize({ width: 360, height: 800 });
            await page.goto(path);
            await assertAccessible(page, `${path} ${theme}`);
            await assertFits(page, `${path} on a telephone`);
            const hidden = await page.locator("table").evaluateAll((tables) =>
              tables.filter((table) => table.scrollWidth > document.documentElement.clientWidth).length
            );
            assert.equal(hidden, 0, `${path}: no table is wider than a telephone`);
            const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
            assert.equal(ground, theme === "light" ? "rgb(255, 255, 255)" : "rgb(16, 22, 29)");

            await page.emulateMedia({ media: "print" });
            await page.setViewportSize({ width: A4_WIDTH, height: 1000 });
            await assertFits(page, `${path} on paper`);
            const marks = await page.locator("h1, .status, td, dt").evaluateAll((found) => [
              ...new Set(found.map((one) => getComputedStyle(one).color)),
            ]);
            assert.deepEqual(marks, ["rgb(0, 0, 0)"], path);
          }
        }
      });
    });
  },
});

Deno.test({
  name:
    `on a telephone a verdict and its count share a line, and its meaning has the width of the page ${NEEDS_CHROMIUM}`,
  ignore: chromiumIsMissing(),
  async fn() {
    await withPages(await reports(), async (origin) => {
      await withBrowser(origin, async (visit) => {
        // The console frames the page, which is then narrower than the telephone.
        for (const width of [390, 324]) {
          const { page } = await visit({ width });
          await page.goto("/longest");
          const rows = await page.getByRole("table").filter({ hasText: "with all doubt counted" })
            .getByRole("row").filter({ has: page.locator("td") }).all();
          assert.equal(rows.length, 4);
          for (const row of rows) {
            const [mark, meaning, count] = [
              row.locator("strong"),
              row.getByRole("cell").nth(0),
              row.getByRole("cell").nth(1),
            ];
            const boxes = await Promise.all([mark, meaning, count].map((one) => one.boundingBox()));
            const [markBox, meaningBox, countBox] = boxes.map((box) => box!) as [Box, Box, Box];
            assert.ok(markBox.height < 36, `${await mark.innerText()} on one line at ${width}`);
            assert.ok(markBox.y < countBox.y + countBox.height && countBox.y < markBox.y + markBox.height);
            assert.ok(markBox.x + markBox.width < countBox.x, "the count is beside the verdict");
            assert.ok(meaningBox.y >= markBox.y + markBox.height, "the meaning is below");
            assert.ok(meaningBox.width >= width - 41, `${meaningBox.width} pixels wide at ${width}`);
            const sizes = await row.locator("th, td, strong").evaluateAll((found) => [
              ...new Set(found.map((one) => getComputedStyle(one).fontSize)),
            ]);
            assert.ok(sizes.length <= 2, sizes.join(", "));
          }
        }
      });
    });
  },
});

Deno.test({
  name:
    `verdicts differ on paper without colour: by their words and by the line around them ${NEEDS_CHROMIUM}`,
  ignore: chromiumIsMissing(),
  async fn() {
    await withPages(await reports(), async (origin) => {
      await withBrowser(origin, async (visit) => {
        const { page } = await visit();
        await page.goto("/sample");
        await page.emulateMedia({ media: "print" });
        const marks = await page.locator(".verdicts .status").evaluateAll((found) =>
          found.slice(0, 3).map((one) => [one.textContent, getComputedStyle(one).borderStyle])
        );
        assert.deepEqual(marks, [
          ["Meets the threshold", "solid"],
          ["Undetermined", "dotted"],
          ["Below the threshold", "double"],
        ]);
      });
    });
  },
});

Deno.test({
  name:
    `the first printed sheet is the summary alone, on A4 whatever the report says, and the findings begin the second ${NEEDS_CHROMIUM}`,
  ignore: chromiumIsMissing(),
  async fn() {
    const pages = await reports();
    await withPages(pages, async (origin) => {
      await withBrowser(origin, async (visit) => {
        const { page } = await visit();
        const print = async (format: "A4" | "Letter") =>
          await page.pdf({ preferCSSPageSize: true, format, outline: true, tagged: true });
        for (const path of pages.keys()) {
          await page.goto(path);
          assertFirstSheet(await print("A4"), `${path} on A4`);
        }
        await page.goto("/demo");
        assertFirstSheet(await print("Letter"), "/demo on Letter");
      });
    });
  },
});
