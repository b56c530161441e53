/** The pages that are drawn for people, in a real browser under their own policy: on screen and on paper. */
import assert from "node:assert/strict";
import { reportPage, reportPagePolicy } from "../../src/pages/report.ts";
import { signedReportIn } from "../../src/pages/signed_report.ts";
import { SPARKLINE_CSP, sparklineSvg } from "../../src/pages/sparkline.ts";
import { ASSESSMENT_PAGE_CSP, assessmentPage } from "../../src/pages/assessment.ts";
import { sampleAssessment } from "../sample_assessment.ts";
import { EMPTY_REPORT, JUDGED_REPORT, SAMPLE_PAGE, SAMPLE_REPORT, samplePageOf } from "../sample_report.ts";

const CHROMIUM = "/usr/bin/chromium";
const TIMEOUT_MS = 60_000;

const PAGE = reportPage(SAMPLE_PAGE);
const SPARKLINE = sparklineSvg({
  operatorId: "reviewer-17",
  days: 30,
  points: [58.25, 54, 71.5, 60].map((jis, index) => ({ timestamp: `2026-09-1${index}T09:30:00.000Z`, jis })),
  uncertainty: { level: 0.9, low: 55.1, high: 71.9, effective_n: 20 },
  verdict: {
    status: "undetermined",
    part: "all",
    low: 55.1,
    high: 71.9,
    wrong_cases: 8,
    right_cases: 40,
    doubt: "interval_spans_minimum",
    wrong_cases_needed: 12,
    right_cases_needed: null,
  },
  minJis: 60,
  from: Date.parse("2026-09-01"),
  to: Date.parse("2026-10-01"),
});

/** The documents that are served: text, type and policy. */
const DOCUMENTS: Readonly<Record<string, readonly [text: string, type: string, policy: string]>> = {
  "/report": [PAGE, "text/html; charset=utf-8", reportPagePolicy(SAMPLE_REPORT)],
  "/empty": [
    reportPage(samplePageOf(EMPTY_REPORT)),
    "text/html; charset=utf-8",
    reportPagePolicy(EMPTY_REPORT),
  ],
  "/judged": [
    reportPage(samplePageOf(JUDGED_REPORT)),
    "text/html; charset=utf-8",
    reportPagePolicy(JUDGED_REPORT),
  ],
  "/assessment": [
    assessmentPage(sampleAssessment(12)),
    "text/html; charset=utf-8",
    ASSESSMENT_PAGE_CSP,
  ],
  "/sparkline": [SPARKLINE, "image/svg+xml", SPARKLINE_CSP],
  // One letter of the style differs: shows what a browser reports if a policy does not fit.
  "/altered": [
    PAGE.replace("margin:0", "margin:1"),
    "text/html; charset=utf-8",
    reportPagePolicy(SAMPLE_REPORT),
  ],
};

function chromiumIsMissing(): boolean {
  try {
    return !Deno.statSync(CHROMIUM).isFile;
  } catch {
    return true;
  }
}

interface Browser {
  /** Opens a page with further arguments; resolves to the browser's output. */
  open(path: string, ...args: readonly string[]): Promise<{ readonly dom: string; readonly log: string }>;
  /** A file that the browser was told to write. */
  readonly file: (name: string) => string;
}

/** Runs `use` with the pages served on a free port and a temporary profile. */
async function withBrowser(use: (browser: Browser) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "jiss-chromium-" });
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const document = DOCUMENTS[new URL(request.url).pathname];
    if (document === undefined) return new Response(null, { status: 404 });
    const [text, type, policy] = document;
    return new Response(text, { headers: { "Content-Type": type, "Content-Security-Policy": policy } });
  });
  try {
    await use({
      file: (name) => `${directory}/${name}`,
      async open(path, ...args) {
        const { code, stdout, stderr } = await new Deno.Command(CHROMIUM, {
          args: [
            ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"],
            ...["--no-first-run", "--hide-scrollbars", "--virtual-time-budget=2000"],
            ...["--enable-logging=stderr", "--v=0", `--user-data-dir=${directory}/profile`],
            ...args,
            `http://127.0.0.1:${server.addr.port}${path}`,
          ],
          signal: AbortSignal.timeout(TIMEOUT_MS),
        }).output();
        const log = new TextDecoder().decode(stderr);
        assert.equal(code, 0, log);
        return { dom: new TextDecoder().decode(stdout), log };
      },
    });
  } finally {
    await server.shutdown();
    await Deno.remove(directory, { recursive: true });
  }
}

const NEEDS_CHROMIUM = `[needs ${CHROMIUM}]`;
/** Browsers of different years word a refusal differently; all of them name the policy. */
const VIOLATION = /Content Security Policy/i;

Deno.test({
  name: `a browser loads every page under its own policy without a complaint ${NEEDS_CHROMIUM}`,
  ignore: chromiumIsMissing(),
  async fn() {
    await withBrowser(async ({ open }) => {
      for (const path of ["/report", "/judged", "/empty", "/sparkline"]) {
        const { dom, log } = await open(path, "--dump-dom");
        assert.match(
          dom,
          path === "/sparkline"
            ? /<desc>Undetermined: about 12 more .* First 58\.25/
            : /Meridian Credit &amp; Savings/,
        );
        assert.doesNotMatch(log, VIOLATION, path);
        assert.doesNotMatch(log, /CONSOLE/, path);
        // The page that the browser saves still has the JSON that it carries.
        if (path === "/report") assert.equal(signedReportIn(dom), signedReportIn(PAGE));
      }
      const altered = await open("/altered", "--dump-dom");
      assert.match(altered.log, VIOLATION, "a style that the policy does not allow is reported");
    });
  },
});

Deno.test({
  name: `a browser shows a page in light and in dark mode ${NEEDS_CHROMIUM}`,
  ignore: chromiumIsMissing(),
  async fn() {
    await withBrowser(async ({ open, file }) => {
      for (const path of ["/report", "/judged", "/sparkline"]) {
        const shots: Uint8Array[] = [];
        for (const scheme of [1, 0]) {
          const shot = file(`shot-${scheme}.png`);
          await open(
            path,
            `--blink-settings=preferredColorScheme=${scheme}`,
            "--window-size=520,160",
            `--screenshot=${shot}`,
          );
          shots.push(await Deno.readFile(shot));
        }
        const [light, dark] = shots;
        assert.ok(light!.length > 1_000 && dark!.length > 1_000, path);
        assert.notDeepEqual(light, dark, path);
      }
    });
  },
});

Deno.test({
  name: `a browser prints the report on pages of paper ${NEEDS_CHROMIUM}`,
  ignore: chromiumIsMissing(),
  async fn() {
    await withBrowser(async ({ open, file }) => {
      await open("/report", "--no-pdf-header-footer", `--print-to-pdf=${file("report.pdf")}`);
      const pdf = new TextDecoder("latin1").decode(await Deno.readFile(file("report.pdf")));
      assert.ok(pdf.startsWith("%PDF-"));
      const pages = [...pdf.matchAll(/\/Type \/Page\b(?!s)/g)].length;
      assert.ok(pages >= 2 && pages <= 12, `${pages} pages`);
    });
  },
});
