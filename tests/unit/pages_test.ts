/** The pages and pictures for people, as text: the sparkline and the printable report. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { type Report, reportSchema } from "../../src/domain/report.ts";
import { earlierReportPage, reportPage, reportPagePolicy } from "../../src/pages/report.ts";
import type { ReportPage } from "../../src/pages/report_sections.ts";
import type { Verdict } from "../../src/scoring/verdict.ts";
import { SPARKLINE_CSP, type SparklinePoint, sparklineSvg } from "../../src/pages/sparkline.ts";
import { ASSESSMENT_PAGE_CSP, assessmentPage } from "../../src/pages/assessment.ts";
import { REFUSAL_PAGE_CSP, refusalPage } from "../../src/pages/refusal.ts";
import { JIS_1_1_0, JIS_2_0_0 } from "../models.ts";
import { sampleAssessment } from "../sample_assessment.ts";
import { EMPTY_REPORT, JUDGED_REPORT, SAMPLE_PAGE, SAMPLE_REPORT, samplePageOf } from "../sample_report.ts";

const DAY = 86_400_000;
const FROM = Date.parse("2026-09-01T00:00:00.000Z");

const POINTS: readonly SparklinePoint[] = [
  { timestamp: "2026-09-02T09:30:00.000Z", jis: 58.25 },
  { timestamp: "2026-09-11T00:00:00.000Z", jis: 54 },
  { timestamp: "2026-09-16T12:00:00.000Z", jis: 71.5 },
  { timestamp: "2026-09-30T23:59:59.999Z", jis: 60 },
];

function sparkline(points: readonly SparklinePoint[], days = 30, verdict: Verdict | null = null): string {
  return sparklineSvg({
    operatorId: "reviewer-17",
    days,
    points,
    minJis: 60,
    uncertainty: { level: 0.9, low: 52.4, high: 67.6, effective_n: 34.5 },
    verdict,
    from: FROM,
    to: FROM + days * DAY,
  });
}

Deno.test("a sparkline says its verdict in words, in the picture and first in its description", () => {
  const verdict: Verdict = {
    status: "undetermined",
    part: "all",
    low: 52.4,
    high: 67.6,
    wrong_cases: 8,
    right_cases: 40,
    doubt: "interval_spans_minimum",
    wrong_cases_needed: 12,
    right_cases_needed: null,
  };
  for (const points of [POINTS, []]) {
    const picture = sparkline(points, 30, verdict);
    assert.match(picture, />Undetermined<\/text>/);
    assert.match(
      picture,
      /<desc>Undetermined: about 12 more known cases of wrong advice could settle it\. /,
    );
  }
  assert.match(
    sparkline(POINTS, 30, { ...verdict, status: "non_compliant", doubt: null, wrong_cases_needed: null }),
    />Below the threshold<\/text>/,
  );
  assert.doesNotMatch(sparkline(POINTS), /Undetermined|threshold/);
});

function pageOf(changes: Partial<Report>, page: Partial<ReportPage> = {}): string {
  return reportPage({ ...samplePageOf({ ...SAMPLE_REPORT, ...changes }), ...page });
}

/** The page without the data that it contains. */
function shownOf(page: string): string {
  const shown = page.replace(/<script type="application\/json" id="signed-report">[^<]*<\/script>/, "");
  assert.notEqual(shown, page);
  return shown;
}

const EMPTY_PAGE = reportPage(samplePageOf(EMPTY_REPORT));
const FULL_PAGE = reportPage(SAMPLE_PAGE);
const JUDGED_PAGE = reportPage(samplePageOf(JUDGED_REPORT));
/** The same report as it was shown before the summary. */
const EARLIER_PAGE = earlierReportPage(samplePageOf(JUDGED_REPORT));
/** Every document that is served, with its policy. */
const DOCUMENTS: readonly (readonly [name: string, text: string, policy: string])[] = [
  ["report", FULL_PAGE, reportPagePolicy(SAMPLE_REPORT)],
  ["empty report", EMPTY_PAGE, reportPagePolicy(EMPTY_REPORT)],
  ["judged report", JUDGED_PAGE, reportPagePolicy(JUDGED_REPORT)],
  ["demo run", assessmentPage(sampleAssessment(6)), ASSESSMENT_PAGE_CSP],
  ["demo run of one case", assessmentPage(sampleAssessment(1)), ASSESSMENT_PAGE_CSP],
  ["demo run of a hundred", assessmentPage(sampleAssessment(100)), ASSESSMENT_PAGE_CSP],
  [
    "refusal",
    refusalPage({
      error: { code: "NOT_FOUND", status: 404, message: "There is no run x.", headers: {} },
      path: "/assessments/x",
      requestId: "01",
    }),
    REFUSAL_PAGE_CSP,
  ],
  ["sparkline", sparkline(POINTS), SPARKLINE_CSP],
  ["empty sparkline", sparkline([]), SPARKLINE_CSP],
];

/** Targets of links: the site's own pages, the page's own beginning, and no picture. */
const SITE_PATHS = new Set([
  "data:,",
  "#main",
  ...["/console", "/console/verify", "/docs", "/docs/errors", "/docs/verify-offline", "/demo"],
]);

function occurrences(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].length;
}

/** The text that a reader sees: without style and tags, one space between words. */
function readable(html: string): string {
  return html.replace(/<style>.*?<\/style>/s, "").replace(
    /<script type="application\/json".*?<\/script>/s,
    "",
  ).replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
}

Deno.test("the sample reports are reports", () => {
  assert.deepEqual(reportSchema.parse(SAMPLE_REPORT), SAMPLE_REPORT);
  assert.deepEqual(reportSchema.parse(EMPTY_REPORT), EMPTY_REPORT);
});

Deno.test("a document is a plain string, the same each time", () => {
  assert.equal(typeof FULL_PAGE, "string");
  assert.equal(typeof sparkline(POINTS), "string");
  assert.equal(reportPage(structuredClone(SAMPLE_PAGE)), FULL_PAGE);
  assert.equal(sparkline(structuredClone(POINTS)), sparkline(POINTS));
});

Deno.test("the policy allows exactly the one style element, and images of data: URLs", () => {
  for (const [name, text, policy] of DOCUMENTS) {
    const styles = [...text.matchAll(/<style>(.*?)<\/style>/gs)];
    assert.equal(styles.length, 1, name);
    const digest = createHash("sha256").update(styles[0]![1]!).digest("base64");
    assert.equal(
      policy,
      `default-src 'none'; style-src 'sha256-${digest}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      name,
    );
  }
});

Deno.test("no document has a script, a style attribute, an event handler or an address to load from", () => {
  for (const [name, text] of DOCUMENTS) {
    assert.doesNotMatch(name.endsWith("report") ? shownOf(text) : text, /<script/i, name);
    assert.doesNotMatch(text, /\sstyle=/i, name);
    assert.doesNotMatch(text, /\son\w+=/i, name);
    assert.doesNotMatch(text, /\ssrc=|url\(|@import/i, name);
    const links = [...text.matchAll(/href="([^"]*)"/g)].map(([, target]) => target);
    assert.ok(links.every((target) => SITE_PATHS.has(target!)), name);
  }
});

Deno.test("a run and its refusal have the header of the site, except on paper; a report has none", () => {
  for (const [name, text] of DOCUMENTS) {
    const isOfDemo = name.startsWith("demo run") || name === "refusal";
    assert.equal(occurrences(text, /<header class="site">/g), isOfDemo ? 1 : 0, name);
    assert.equal(occurrences(text, /<main id="main"/g), isOfDemo ? 1 : 0, name);
    if (isOfDemo) assert.match(text, /@media print\{\.site,\.skip\{display:none\}\}/, name);
  }
});

Deno.test("the first case of a run's page says from which score it began, unless nobody can tell", () => {
  const first = (page: ReturnType<typeof sampleAssessment>) =>
    /Case 1: JIS ((?:from )?[\d.]+)/.exec(readable(assessmentPage(page)))![1]!;
  assert.equal(first(sampleAssessment(6, JIS_1_1_0)), "from 65.0");
  const run = sampleAssessment(6, JIS_2_0_0);
  assert.ok(run.initialJis !== null && run.initialJis > 0);
  assert.equal(first(run), `from ${run.initialJis!.toFixed(1)}`);
  assert.match(first({ ...run, initialJis: null }), /^\d/);
});

Deno.test("a run's page says its verdict before the score, in words that fit so few cases", () => {
  const run = sampleAssessment(6, JIS_2_0_0);
  const text = readable(assessmentPage(run));
  assert.match(
    text,
    /Verdict: Undetermined That is usual after 6 cases, and no fault of yours: (?:about )?\d+ more known case/,
  );
  assert.ok(text.indexOf("Verdict: ") < text.indexOf("Judgment Independence Score"));
  const settled = {
    ...run.summary.verdict!,
    status: "compliant",
    doubt: null,
    wrong_cases_needed: null,
    right_cases_needed: null,
  } as const;
  assert.match(
    readable(assessmentPage({ ...run, summary: { ...run.summary, verdict: settled } })),
    /Verdict: Meets the threshold .* It rests on \d known cases of wrong advice and \d of right advice\. A run of 6 cases shows how a verdict is made/,
  );
  assert.doesNotMatch(readable(assessmentPage(sampleAssessment(6, JIS_1_1_0))), /Verdict|from the prior/);
});

Deno.test("a run's page writes percent as the model's sentences do, and its columns alike", () => {
  const text = readable(assessmentPage(sampleAssessment(6)));
  assert.doesNotMatch(text, /\d%/);
  assert.match(text, /12\.5 %/);
  const table = /<h2 id="cases">.*?<tbody>(.*?)<\/tbody>/s.exec(assessmentPage(sampleAssessment(6)))![1]!;
  const rows = [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row]) =>
    [...row!.matchAll(/<td>(.*?)<\/td>/g)].map(([, cell]) => cell!)
  );
  assert.equal(rows.length, 6);
  for (const column of [0, 2, 5, 7]) {
    const figures = rows.map((row) => row[column]!).filter((cell) => /\d/.test(cell));
    const decimals = figures.map((cell) => /(?<=\.)\d+/.exec(cell)?.[0].length ?? 0);
    assert.equal(new Set(decimals).size, 1, figures.join());
  }
});

Deno.test("an organization's name with markup is shown as text", () => {
  const name = `<script>alert("x")</script> & 'co' </title><img src=x onerror=y>`;
  const page = pageOf({ organization: { ...SAMPLE_REPORT.organization, name } });
  const escaped =
    "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;co&#39; &lt;/title&gt;&lt;img src=x onerror=y&gt;";
  assert.ok(page.includes(`<title>Compliance report: ${escaped}, 2026-07-01 to 2026-10-01</title>`));
  assert.ok(page.includes(`<h1>Compliance report: <bdi>${escaped}</bdi></h1>`));
  assert.doesNotMatch(shownOf(page), /<script|<img/);
});

Deno.test("no text of a report adds a tag or an attribute to its page", () => {
  fc.assert(
    fc.property(
      fc.boolean(),
      fc.string({ unit: fc.constantFrom("<", ">", '"', "'", "&", "a", " ", "`", "$", "{", "/") }),
      (isJudged, text) => {
        const finding = {
          ...SAMPLE_REPORT.findings[0]!,
          regulation: text,
          provision: text,
          citation: text,
          requirement: text,
          metric: text,
          capped: text,
          status_note: `x${text}`,
          source: text,
        };
        const page = (said: string) =>
          pageOf({
            ...(isJudged ? JUDGED_REPORT : {}),
            report_id: said,
            organization: { ...SAMPLE_REPORT.organization, name: said },
            findings: [said === text ? finding : { ...SAMPLE_REPORT.findings[4]! }],
            rules_version: said,
            statement: said,
            caveats: [said],
          });
        const [plain, odd] = [shownOf(page("plain")), shownOf(page(text))];
        assert.equal(occurrences(odd, /[<>]/g), occurrences(plain, /[<>]/g));
        assert.equal(occurrences(odd, /"/g), occurrences(plain, /"/g));
      },
    ),
    { numRuns: 100 },
  );
});

Deno.test("every picture has a name and a description, every table its heads, and every id is unique", () => {
  for (const [name, text] of DOCUMENTS) {
    const pictures = [...text.matchAll(/<svg [^>]*>.*?<\/svg>/gs)].map(([svg]) => svg);
    for (const svg of pictures) {
      assert.match(svg, /^<svg [^>]*role="img"/, name);
      assert.match(svg, /<title[^>]*>[^<]+<\/title>\s*<desc[^>]*>[^<]+<\/desc>/, name);
      assert.match(svg, /width="\d+" height="\d+" viewBox="0 0 \d+ \d+"/, name);
    }
    const ids = [...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id!);
    assert.equal(new Set(ids).size, ids.length, name);
    for (const [, references] of text.matchAll(/aria-labelledby="([^"]+)"/g)) {
      for (const reference of references!.split(" ")) assert.ok(ids.includes(reference), reference);
    }
    assert.equal(
      occurrences(text, /<th(?=[ >])/g),
      occurrences(text, /<th scope="(?:col|row|rowgroup)"/g),
      name,
    );
    assert.equal(
      occurrences(text, /<figure[ >]/g),
      occurrences(text, /<figcaption>[^<]+<\/figcaption>/g),
      name,
    );
  }
  assert.match(FULL_PAGE, /^<!DOCTYPE html>\n<html lang="en">/);
  assert.equal(occurrences(FULL_PAGE, /<svg /g), 4);
});

/** Relative luminance and contrast as WCAG 2.2 defines them. */
function contrast(one: string, other: string): number {
  const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high! + 0.05) / (low! + 0.05);
}

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

Deno.test("text contrasts with its ground by 4.5 to 1 and lines by 3 to 1: light, dark and on paper", () => {
  const palettes = [...FULL_PAGE.matchAll(/:root\{[^}]*?(--[^}]*)\}/g)].map(([, text]) =>
    Object.fromEntries(text!.split(";").map((pair) => pair.split(":") as [string, string]))
  );
  assert.equal(palettes.length, 3);
  for (const palette of palettes) {
    for (const ground of ["--paper", "--soft"]) {
      for (const text of ["--ink", "--muted", "--good", "--fair", "--bad", "--mark"]) {
        assert.ok(contrast(palette[text]!, palette[ground]!) >= 4.5, `${text} on ${ground}`);
      }
    }
    for (const line of ["--rule", "--bar"]) {
      assert.ok(contrast(palette[line]!, palette["--paper"]!) >= 3, line);
    }
  }
  assert.equal(palettes[2]!["--paper"], "#ffffff");
  assert.equal(palettes[2]!["--ink"], "#000000");
});

Deno.test("the header has the organization, the period, the status in words and its certainty, under the statement", () => {
  const text = readable(FULL_PAGE);
  const order = [
    "Compliance report: Meridian Credit &amp; Savings",
    "This report is evidence for a deployer&#39;s own assessment of human oversight.",
    "Overall status: Not compliant",
    "uncertain: operators whose interval straddles a threshold could turn it",
    "2026-07-01 (included) to 2026-10-01 (not included)",
    "Findings",
  ].map((part) => text.indexOf(part, "Compliance report: Meridian Credit &amp; Savings, ".length));
  assert.ok(order.every((at) => at > 0));
  assert.deepEqual(order, [...order].sort((a, b) => a - b));
});

Deno.test("the pages of earlier programs stay the same to the letter: saved pages are verified by them", () => {
  const digestOf = (page: string) => createHash("sha256").update(page).digest("hex");
  assert.deepEqual([FULL_PAGE, EMPTY_PAGE, EARLIER_PAGE].map(digestOf), [
    "8092f53ca82801a488cdb807f4f17f55f38a2f03ee34ce3725853963103b1908",
    "ec2299002440d5020e6a502dcbb1973ae7aa4a91511bf4db6a79c6e1f153df5a",
    "29f1512cd5e295a57ccd89242635bcf4e79612ebed7a0729a39af82089de7a91",
  ]);
  for (const report of [SAMPLE_REPORT, EMPTY_REPORT]) {
    assert.equal(earlierReportPage(samplePageOf(report)), reportPage(samplePageOf(report)));
  }
});

Deno.test("an uncertain finding counts the undetermined of its own operators, and a certain status says so", () => {
  const [doubtful] = SAMPLE_REPORT.findings;
  const one = { ...doubtful!, status_certain: false, operators: 2, undetermined: 1 };
  assert.match(
    pageOf({ findings: [one] }),
    /uncertain: the interval of 1 of these 2 operators straddles the minimum</,
  );
  const [header] = pageOf({ status_certain: true }).split("</header>");
  assert.match(header!, /certain: the operators in doubt could not turn it/);
  assert.doesNotMatch(header!, /uncertain/);
});

Deno.test("a finding shows everything: law, requirement, metric, observed against threshold, status, dates, cap, note", () => {
  const rows = [...FULL_PAGE.matchAll(/<tbody>\n<tr>\n<th scope="rowgroup".*?<\/tbody>/gs)].map(([row]) =>
    readable(row).trim()
  );
  assert.equal(rows.length, 8);
  assert.equal(
    rows[4],
    "EU AI Act Article 14 14(4)(e) Regulation (EU) 2024/1689, Art. 14(4)(e) " +
      "Intervene in or interrupt the operation Measured: post-error recalibration of at least 50 " +
      "91.6% against 90% passing: 22 of 24 operators " +
      "Partial certain: the operators in doubt could not turn it " +
      "Not in force from 2027-12-02 (secondary source) " +
      "Not better than partial: No operator deferred or escalated a case and no incident freeze was recorded in the period, so that nothing shows an intervention. " +
      "High-risk obligations apply from 2 December 2027 (Annex III) and 2 August 2028 (Annex I) under Regulation (EU) 2026/1744. " +
      "Source: not read at the source",
  );
  assert.match(
    rows[5]!,
    /70\.8% against 90% passing: 17 of 24 operators Not compliant uncertain: .* In force until 2026-12-31/,
  );
  assert.match(rows[6]!, /No population threshold 90% Not applicable In force from 2023-07-05/);
  assert.match(rows[7]!, /Not in force from 2011-04-04 until 2026-04-16 \(secondary source\)/);
});

Deno.test("a share just under its threshold is never rounded up to it", () => {
  const nearly = { ...SAMPLE_REPORT.findings[0]!, observed: 0.89999, operators: 100_000, passing: 89_999 };
  assert.match(pageOf({ findings: [nearly] }), /<strong>89\.9%<\/strong><br>against 90%/);
  const whole = { ...nearly, observed: 0.58, operators: 50, passing: 29 };
  assert.match(pageOf({ findings: [whole] }), /<strong>58%<\/strong>/);
});

Deno.test("every figure of the report is in a table", () => {
  const text = readable(FULL_PAGE);
  for (
    const row of [
      "High-risk, by domain or by share of grave cases; mark: minimum JIS 60 24 6",
      "With critical decisions; mark: critical JIS 40 5 1",
      "Operators with an interaction 31",
      "of these, record long enough for a verdict 24",
      "of these, insufficient data 7",
      "Operators without ground truth 4",
      "Interactions 18342",
      "Departures (rejected, overridden, modified) 1207",
      "Referrals (deferred, escalated) 0",
      "Incident freezes 0",
      "Mean JIS 66.87",
      "Median JIS 69.4",
      "Operators with their whole interval at or above 60 15",
      "Operators with their whole interval below 60 4",
      "Operators whose interval straddles 60 5",
      "Minimum JIS 60",
      "Target JIS 75",
      "Critical JIS 40",
      "25 to under 30 1 35 to under 40 1 45 to under 50 1 50 to under 55 1 55 to under 60 2 60 to under 65 3",
      "Exemplary 1 Proficient 4 Adequate 6 At risk 4 Undetermined 9",
      "Colorado SB 205, 6-1-1703 17 of 24 70.8% 90%",
      "Deliberation depth 58.75 47 60.5 70",
    ]
  ) assert.ok(text.includes(row), row);
});

Deno.test("the plots have their marks at the report's thresholds", () => {
  const figure = (id: string) => new RegExp(`<figure id="${id}">.*?</figure>`, "s").exec(FULL_PAGE)![0];
  // JIS 0 to 100 is drawn from 40 to 506, a share of 0 to 1 from 10 to 500.
  assert.match(figure("histogram"), /x1="319.6" x2="319.6" [^>]*stroke-dasharray/);
  assert.match(figure("histogram"), /x1="389.5" x2="389.5" [^>]*stroke-dasharray/);
  assert.match(figure("histogram"), />minimum 60<.*>target 75</s);
  assert.match(figure("pass-shares"), /x1="451" x2="451" [^>]*stroke-dasharray/);
  assert.match(figure("pass-shares"), /x1="377.5" x2="377.5" [^>]*stroke-dasharray/);
  assert.equal(occurrences(figure("pass-shares"), /class="mark" x1="451"[^>]*stroke-width="3"/g), 7);
  assert.match(figure("pass-shares"), />partial from 75%<.*>compliant from 90%</s);
  assert.equal(occurrences(figure("dimensions"), /<rect class="bar"/g), 7);
  assert.match(figure("bands"), /<rect [^>]*fill="none"[^>]*stroke-dasharray/);
});

Deno.test("a mark for partial is drawn only if it is known, and a threshold is the finding's own", () => {
  const page = pageOf({
    findings: SAMPLE_REPORT.findings.map((finding) => ({ ...finding, threshold: 0.8 })),
  }, { partialShare: undefined });
  assert.doesNotMatch(page, /partial from/);
  assert.doesNotMatch(page, /compliant from 90%/);
  assert.match(page, /compliant from 80%/);
});

Deno.test("the page says under which id it was issued and how to verify it", () => {
  const text = readable(FULL_PAGE);
  for (
    const part of [
      "Report id rpt_01K9QZ6T3M8V5W2X4Y7B0C1D9E",
      "Report SHA-256 9f2c61d07be84a35d1f06c92a7e3b85840cd97f1362eab5470918dce3f64b2a1",
      "Chain org/meridian-credit",
      "Chain entry number 18391, id 01K9QZ6T3M8V5W2X4Y7B0C1D9F",
      "Entry hash 03a7e51c9bd248f6607fd1c3a92e58b4f61d07c8e3a54b92d10f7c68ae35b947",
      "Entry written 2026-10-02 08:15:42 UTC",
      "Issued 2026-10-02 08:15:42 UTC",
      "Rules 2026-11",
      "Model jis-1.0.0",
      "Model SHA-256 5d1c8a40f7b29e6310ac4d58e97b2f6081d3c5a7e4b6920f1a8d7c3e5b40962f",
      "GET /v1/compliance/report/rpt_01K9QZ6T3M8V5W2X4Y7B0C1D9E",
      "canonical JSON (RFC 8785)",
      "7 operators have too short a record for a verdict and are in no share, mean or plot.",
    ]
  ) assert.ok(text.includes(part), part);
});

Deno.test("without a population the page says so, and draws nothing", () => {
  const text = readable(EMPTY_PAGE);
  assert.ok(text.includes(
    "Overall status: Insufficient data Insufficient data. 3 operators had an interaction in this period, but none has a record long enough for a verdict.",
  ));
  assert.ok(text.includes("Nothing is drawn: there is no population to draw."));
  assert.equal(occurrences(EMPTY_PAGE, /<svg/g), 0);
  assert.equal(occurrences(EMPTY_PAGE, /<figure/g), 0);
  assert.equal(occurrences(EMPTY_PAGE, /class="status insufficient_data">Insufficient data</g), 9);
  assert.ok(text.includes("Mean JIS no data"));
  assert.doesNotMatch(text, /NaN|undefined|null|Infinity|Caveats/);
  const nobody = pageOf({
    ...EMPTY_REPORT,
    population: { ...EMPTY_REPORT.population, operators: 0, insufficient_data: 0 },
  });
  assert.match(nobody, /No operator had an interaction in this period\./);
});

Deno.test("a period of parts of days shows its times", () => {
  const page = pageOf({ period: { start: "2026-07-01T10:30:00Z", end: "2026-07-02T00:00:00Z" } });
  assert.match(page, /2026-07-01 10:30:00 UTC \(included\) to 2026-07-02 \(not included\)/);
});

Deno.test("a sparkline states in words what it shows, and how it compares with the minimum", () => {
  const svg = sparkline(POINTS);
  assert.match(svg, /<title>JIS of operator reviewer-17, last 30 days<\/title>/);
  assert.match(
    svg,
    /<desc>First 58\.25 on 2026-09-02, last 60 on 2026-09-30, lowest 54 on 2026-09-11, highest 71\.5 on 2026-09-16\. The last value is at or above the minimum of 60; 2 of 4 values are below it\. The present score lies between 52\.4 and 67\.6 at a level of 90 %\. All known cases together count as 34\.5 today: older ones count less\.<\/desc>/,
  );
});

Deno.test("a sparkline joins its points over the window, with a dot each and the minimum as a dashed line", () => {
  const svg = sparkline(POINTS);
  // The window is drawn from 36 to 420, JIS 100 to 0 from 14 to 132.
  assert.match(svg, /<path d="M53\.87,63\.27L164,68\.28L234\.4,47\.63L420,61\.2" fill="none"/);
  assert.equal(occurrences(svg, /<circle /g), 4);
  assert.match(
    svg,
    /<line x1="36" x2="420" y1="61.2" y2="61.2" [^>]*stroke-dasharray="6 4"\/>\n<text [^>]*>minimum 60</,
  );
  assert.match(svg, />52\.4 to 67\.6</);
  assert.match(svg, />2026-09-01<.*>2026-09-30</s);
});

Deno.test("a single point is a dot without a line, and no points are a sentence without a plot", () => {
  const single = sparkline(POINTS.slice(0, 1));
  assert.equal(occurrences(single, /<circle /g), 1);
  assert.equal(occurrences(single, /<path d=/g), 0);
  assert.equal(occurrences(single, /<path class="interval"/g), 1);
  assert.match(single, /stroke-dasharray/);
  assert.match(
    single,
    /<desc>One value, 58\.25 on 2026-09-02; it is below the minimum of 60\. The present score lies between 52\.4 and 67\.6 at a level of 90 %\. All known cases together count as 34\.5 today: older ones count less\.<\/desc>/,
  );
  const none = sparkline([]);
  assert.match(
    none,
    /<desc>No interactions in the last 30 days\. The present score lies between 52\.4 and 67\.6 at a level of 90 %\. All known cases together count as 34\.5 today: older ones count less\.<\/desc>/,
  );
  assert.match(none, /<text [^>]*>No interactions in the last 30 days<\/text>/);
  assert.doesNotMatch(none, /<line|<circle|<path|NaN/);
  assert.match(sparkline([], 1), /No interactions in the last day</);
});

Deno.test("with any points a sparkline stays inside its picture", () => {
  const points = fc.array(
    fc.record({
      timestamp: fc.integer({ min: FROM - DAY, max: FROM + 31 * DAY }).map((at) =>
        new Date(at).toISOString()
      ),
      jis: fc.double({ min: 0, max: 100, noNaN: true }),
    }),
    { maxLength: 400 },
  );
  fc.assert(fc.property(points, (drawn) => {
    const svg = sparkline(drawn);
    assert.doesNotMatch(svg, /NaN|undefined|Infinity/);
    for (const [, x, y] of svg.matchAll(/<circle cx="([^"]*)" cy="([^"]*)"/g)) {
      assert.ok(Number(x) >= 36 && Number(x) <= 420 && Number(y) >= 14 && Number(y) <= 132, `${x}, ${y}`);
    }
  }));
});
