/** The page of a report with verdicts: its first page for a lawyer, its findings, and its words about laws. */
import assert from "node:assert/strict";
import type { Finding, Report } from "../../src/domain/report.ts";
import { forceInWords } from "../../src/pages/force_words.ts";
import { earlierReportPage, reportPage } from "../../src/pages/report.ts";
import { dayInWords } from "../../src/pages/wording.ts";
import { JIS_1_1_0, JIS_2_0_0 } from "../models.ts";
import { JUDGED_REPORT, samplePageOf } from "../sample_report.ts";

/** The text that a reader sees: without style, tags and the signed JSON, one space between words. */
function readable(html: string): string {
  return html.replace(/<style>.*?<\/style>/s, "").replace(/<script.*?<\/script>/s, "")
    .replace(/<[^>]*>/g, " ").replaceAll("&#39;", "'").replace(/\s+/g, " ").trim();
}

function pageOf(changes: Partial<Report> = {}): string {
  return reportPage(samplePageOf({ ...JUDGED_REPORT, ...changes }));
}

/** The first page in words. */
function summaryOf(changes: Partial<Report> = {}): string {
  const [, summary] = /<div class="summary">\n(.*?)\n<\/div>\n<section aria-labelledby="findings">/s.exec(
    pageOf(changes),
  )!;
  return readable(summary!);
}

/** The words of one section of the first page, without its heading. */
function sectionOf(title: string, changes: Partial<Report> = {}): string {
  const titles = [
    "The verdict on the organization",
    "On whom",
    "What was measured, and how",
    "The verdicts on the operators",
    "The laws and guidance that the findings name, on 30 September 2026",
    "What is not known",
    "What this report is not",
  ];
  const summary = summaryOf(changes);
  const next = titles[titles.indexOf(title) + 1];
  const start = summary.indexOf(`${title} `);
  assert.notEqual(start, -1, summary);
  return summary.slice(start + title.length + 1, next === undefined ? undefined : summary.indexOf(next))
    .trim();
}

const { population } = JUDGED_REPORT;

const RATES = { share: 0.5, low: 0.4, high: 0.6 };
const PROBES = {
  wrong: { probes: 40, count: 31, ...RATES },
  right: { probes: 60, count: 1, ...RATES },
  lost: 3,
  recalled: 2,
  recalled_after_draw: 1,
};

Deno.test("the first page has organization, period by its first and last day, instant of issue and report id", () => {
  assert.ok(
    summaryOf().startsWith(
      "Compliance report: Meridian Credit &amp; Savings Organization meridian-credit , domain financial " +
        "Period 1 July 2026 to 30 September 2026; days begin at midnight UTC " +
        "Issued 2026-10-02 08:15:42 UTC; report rpt_01K9QZ6T3M8V5W2X4Y7B0C1D9E ",
    ),
    summaryOf(),
  );
  const day = { start: "2026-09-30T00:00:00.000Z", end: "2026-10-01T00:00:00.000Z" };
  assert.match(summaryOf({ period: day }), /Period 30 September 2026;/);
  const hours = { start: "2026-09-30T08:00:00.000Z", end: "2026-10-03T00:00:00.000Z" };
  assert.match(
    summaryOf({ period: hours }),
    /Period 2026-09-30 08:00:00 UTC \(included\) to 2026-10-03 \(not included\);.* before the period had ended; report/,
  );
});

Deno.test("the organization's verdict is a mark with the threshold beside it, one sentence, and the report's own reasons", () => {
  const sentences = {
    compliant: [
      "Meets the threshold",
      "the organization meets the chosen threshold, even if every undetermined",
    ],
    undetermined: [
      "Undetermined",
      "These records do not settle whether the organization meets the chosen threshold.",
    ],
    non_compliant: [
      "Below the threshold",
      "the organization is below the chosen threshold, even if every undetermined",
    ],
  } as const;
  for (const [status, [mark, sentence]] of Object.entries(sentences)) {
    const said = sectionOf("The verdict on the organization", {
      verdict: { status: status as keyof typeof sentences, reasons: ["A first reason.", "A second reason."] },
      thresholds: { ...JUDGED_REPORT.thresholds, min_jis: 62 },
    });
    assert.ok(said.startsWith(`${mark} (threshold: a score, the JIS, of 62 of 100) `), said);
    assert.ok(said.includes(sentence), said);
    assert.match(
      said,
      /no law sets it, and no authority has approved it\. A first reason\. A second reason\.$/,
    );
  }
});

Deno.test("the first page counts who was judged, who was not, and what is withheld", () => {
  assert.match(
    sectionOf("On whom"),
    /31 operators had 18342 cases in the period\. With a record long enough to be judged: 24\. With too short a record, and in no figure below: 7\. No figure is withheld\. The report names nobody\. People whose records were erased are in no figure/,
  );
  assert.match(sectionOf("On whom"), /erased are in no figure; how many they are, it does not say\.$/);
  assert.match(
    sectionOf("On whom", { probes: PROBES }),
    /erased are in no figure but those of sealed probes; how many they are, it does not say\.$/,
  );
  const all = { ...population, operators: 24, insufficient_data: 0 };
  assert.match(
    sectionOf("On whom", { population: all }),
    /Each of them has a record long enough to be judged\./,
  );
  const [first, second, ...others] = JUDGED_REPORT.findings;
  const hidden = (finding: Finding) => ({ ...finding, passing: null, observed: null, undetermined: null });
  assert.match(
    sectionOf("On whom", {
      smallest_group: 5,
      findings: [hidden(first!), hidden(second!), ...others],
      organization_rule: { ...JUDGED_REPORT.organization_rule, critical_below_critical: null },
    }),
    /Figures about fewer than 5 people are withheld: those of 2 provisions and 1 count of the organization rule\./,
  );
  assert.match(
    sectionOf("On whom", { smallest_group: 5 }),
    /fewer than 5 people are withheld: here none of the provisions'\./,
  );
  assert.match(
    sectionOf("On whom", {
      population: { ...population, operators: 3, minimum_data_met: 0, insufficient_data: 3 },
    }),
    /^Insufficient data\. 3 operators had an interaction in this period, but none has a record long enough for a verdict\./,
  );
});

Deno.test("the first page says in plain words what a JIS is and what was seen, probes and freezes if there were any", () => {
  const said = sectionOf("What was measured, and how");
  assert.match(
    said,
    /^The Judgment Independence Score \(JIS\), 0 to 100, says how independently a person judges while an AI advises/,
  );
  assert.match(
    said,
    /1207 decisions departed from the advice, and 0 cases were passed on to somebody else\.$/,
  );
  assert.match(
    sectionOf("What was measured, and how", {
      probes: PROBES,
      population: { ...population, referrals: 1, incident_freezes: 4 },
    }),
    /and 1 case was passed on to somebody else\. 4 cases came during an incident and have no score\. Of 40 sealed probes with wrong advice 31 were found; of 60 with right advice 1 was turned down\.$/,
  );
});

Deno.test("the three verdicts are counted with the threshold beside each, and who was not judged", () => {
  assert.equal(
    sectionOf("The verdicts on the operators"),
    "Verdict Against the threshold Operators " +
      "Meets the threshold JIS of at least 60, even with all doubt counted against the operator 15 " +
      "Undetermined JIS of at least 60 or below 60: the records do not say which 7 " +
      "Below the threshold JIS below 60, even with all doubt counted for the operator 2 " +
      "Insufficient data not judged: the record is too short 7",
  );
});

Deno.test("each law on the first page says whether it is in force, by the dates of its own findings", () => {
  const said = sectionOf("The laws and guidance that the findings name, on 30 September 2026");
  for (
    const sentence of [
      "EU AI Act Article 14: Not yet in force : applies from 2 December 2027. Findings: 2 at or above the threshold, 2 below the threshold, 1 undetermined.",
      "NYC Local Law 144: In force since 5 July 2023. Findings: 1 not applicable.",
      "SR 11-7: No longer in force : ended on 16 April 2026, applied from 4 April 2011. Findings: 1 below the threshold.",
      "The threshold of a finding is 90 % of the operators.",
      "The dates are those of the rules 2026-11, from secondary sources. Legislators move such dates: let counsel check them",
    ]
  ) {
    assert.ok(said.includes(sentence), `${sentence}\n${said}`);
  }
  const [first, ...others] = JUDGED_REPORT.findings;
  const earlier: Finding = {
    ...first!,
    in_force: true,
    in_force_from: "2025-02-02",
    date_confidence: "primary",
  };
  const split = sectionOf("The laws and guidance that the findings name, on 30 September 2026", {
    findings: [earlier, ...others],
  });
  assert.match(
    split,
    /EU AI Act Article 14, 14\(4\)\(a\): In force since 2 February 2025\. Findings: 1 undetermined\./,
  );
  assert.match(
    split,
    /EU AI Act Article 14, 14\(4\)\(b\), 14\(4\)\(c\), 14\(4\)\(d\) and 14\(4\)\(e\): Not yet in force/,
  );
  assert.match(split, /in part from secondary sources/);
});

Deno.test("what is not known: the undetermined and what settles it, provisional scores, unlabelled decisions, lost probes", () => {
  const said = sectionOf("What is not known");
  assert.match(
    said,
    /^Whether 7 of 24 operators meet the threshold\. .*the range of their score spans 60\. .*labels of outcomes, planted errors, or sealed probes\./,
  );
  assert.match(
    said,
    /Whether the score of 4 of 24 operators shows care or a good imitation of it: .*provisional\./,
  );
  assert.match(
    said,
    /How decisions without a label turned out: nobody recorded whether the advice was right/,
  );
  assert.match(said, /What sealed probes would show: none was opened in the period\.$/);
  assert.match(
    sectionOf("What is not known", { probes: PROBES }),
    /How 3 sealed probes would have ended that nobody decided in time \(lost\), and 1 of 2 withdrawn ones that had been shown\.$/,
  );
  assert.match(
    sectionOf("What is not known", { smallest_group: 5 }),
    /none was opened in the period, or fewer than 5 people had one\.$/,
  );
  const settled = {
    population: { ...population, without_ground_truth: 0 },
    figures: {
      ...JUDGED_REPORT.figures,
      verdicts: { compliant: 24, undetermined: 0, non_compliant: 0, insufficient_data: 7 },
    },
  };
  assert.match(sectionOf("What is not known", settled), /^How decisions without a label turned out/);
});

Deno.test("the first page ends with what the report is not, in the words that were signed", () => {
  assert.ok(
    sectionOf("What this report is not").startsWith(
      `${JUDGED_REPORT.statement} By itself a verdict is no ground`,
    ),
  );
});

Deno.test("each finding says whether its law is in force, its verdict, and its threshold beside it", () => {
  const rows = [...pageOf().matchAll(/<tbody>\n<tr>\n<th scope="rowgroup".*?<\/tbody>/gs)].map(([row]) =>
    readable(row)
  );
  assert.equal(rows.length, JUDGED_REPORT.findings.length);
  assert.match(
    rows[4]!,
    /^EU AI Act Article 14, 14\(4\)\(e\) Regulation .* Not yet in force applies from 2 December 2027 \(secondary source\) Below the threshold 90 % of the operators observed: 91\.6 % , 22 of 24 operators Asks: Intervene in or interrupt the operation\. Measured: .* By the scores alone: partial; .* Not better than partial: .* Note and source: as for 14\(4\)\(a\)\.$/,
  );
  assert.match(rows[0]!, /Source: not read at the source$/);
  assert.match(
    rows[6]!,
    /In force since 5 July 2023 \(secondary source\) Not applicable 90 % of the operators observed: nothing/,
  );
  for (const [index, { verdict }] of JUDGED_REPORT.findings.entries()) {
    const mark = verdict == null ? "Not applicable" : {
      compliant: "Meets the threshold",
      undetermined: "Undetermined",
      non_compliant: "Below the threshold",
    }[verdict];
    assert.ok(rows[index]!.includes(`source) ${mark} 90 % of the operators`), rows[index]);
  }
  const [first] = JUDGED_REPORT.findings;
  assert.match(
    readable(pageOf({ findings: [{ ...first!, passing: null, observed: null, undetermined: null }] })),
    /90 % of the operators observed: withheld, fewer than five reviewers/,
  );
});

Deno.test("every place that names a law as a finding says whether it is in force: the plot, its table, its description", () => {
  const [, plot] = /<figure id="pass-shares">(.*?)<\/figure>/s.exec(pageOf())!;
  const named = plot!.match(/(?:EU AI Act Article 14|Colorado SB 205|NYC Local Law 144|SR 11-7), [^:<]*/g)!;
  assert.equal(named.length, 3 * JUDGED_REPORT.findings.filter(({ observed }) => observed !== null).length);
  for (const name of named) assert.match(name, /, (?:not yet |no longer )?in force$/);
  assert.match(plot!, />meets the threshold from 90 %</);
  assert.doesNotMatch(plot!, /compliant/i);
});

Deno.test("the caveats follow the findings, and are left out if there are none", () => {
  const page = pageOf();
  const at = (id: string) => page.indexOf(`<h2 id="${id}">`);
  assert.ok(at("findings") < at("caveats") && at("caveats") < at("organization-rule"));
  for (const caveat of JUDGED_REPORT.caveats) assert.ok(readable(page).includes(caveat), caveat);
  assert.doesNotMatch(pageOf({ caveats: [] }), /id="caveats"/);
});

Deno.test("a date is written with its month's name", () => {
  assert.equal(dayInWords("2026-01-05"), "5 January 2026");
  assert.equal(dayInWords("2028-12-31"), "31 December 2028");
});

/** Provisions by their dates, and their words on a day. */
const FORCES: readonly (readonly [
  what: string,
  dates: Pick<Finding, "in_force" | "in_force_from" | "in_force_until">,
  phrase: string,
])[] = [
  [
    "began",
    { in_force: true, in_force_from: "2023-07-05", in_force_until: null },
    "In force since 5 July 2023",
  ],
  [
    "began and will end",
    { in_force: true, in_force_from: "2026-09-30", in_force_until: "2026-09-30" },
    "In force since 30 September 2026, until 30 September 2026",
  ],
  [
    "began nobody knows when",
    { in_force: true, in_force_from: null, in_force_until: null },
    "In force since a day that is not known",
  ],
  [
    "begins on the next day",
    { in_force: false, in_force_from: "2026-10-01", in_force_until: null },
    "Not yet in force: applies from 1 October 2026",
  ],
  [
    "ended on the day before",
    { in_force: false, in_force_from: "2011-04-04", in_force_until: "2026-09-29" },
    "No longer in force: ended on 29 September 2026, applied from 4 April 2011",
  ],
  [
    "ended, and began nobody knows when",
    { in_force: false, in_force_from: null, in_force_until: "2026-09-29" },
    "No longer in force: ended on 29 September 2026",
  ],
  [
    "never applied so far",
    { in_force: false, in_force_from: null, in_force_until: "2026-12-31" },
    "Not in force: no day is known from which it applies; ends on 31 December 2026",
  ],
  [
    "is not in force although its dates say so",
    { in_force: false, in_force_from: "2026-01-01", in_force_until: null },
    "Not in force: its dates begin on 1 January 2026",
  ],
];

for (const [what, dates, phrase] of FORCES) {
  Deno.test(`on 30 September 2026 a provision that ${what} is said to be: ${phrase}`, () => {
    assert.equal(forceInWords(dates, "2026-09-30").phrase, phrase);
  });
}

Deno.test("the model's table of rules is the one place of a law's dates: each date is real, in a source's words, and the same for the provisions of one text", () => {
  for (const { law } of [JIS_1_1_0, JIS_2_0_0]) {
    for (const rule of law.rules) {
      const where = `${rule.framework}, ${rule.provision}`;
      for (const date of [rule.in_force_from, rule.in_force_until].filter((one) => one !== null)) {
        assert.equal(new Date(date).toISOString().slice(0, 10), date, where);
      }
      assert.ok(rule.in_force_from !== null || rule.in_force_until !== null, where);
      assert.match(rule.source, /\w+\.\w+/, `${where} names where its dates were read`);
    }
    const datesOf = (framework: string) =>
      new Set(
        law.rules.filter((rule) => rule.framework === framework)
          .map(({ in_force_from, in_force_until }) => `${in_force_from} ${in_force_until}`),
      );
    assert.deepEqual([...datesOf("EU AI Act Article 14")], ["2027-12-02 null"]);
    assert.deepEqual([...datesOf("NYC Local Law 144")], ["2023-07-05 null"]);
    assert.deepEqual([...datesOf("SR 11-7")], ["2011-04-04 2026-04-16"]);
    assert.deepEqual([...datesOf("Colorado SB 205")], ["null 2026-12-31", "2027-01-01 null"]);
  }
});

Deno.test("every score of the page has one decimal, cut towards zero; a released page keeps its own two", () => {
  const { figures } = JUDGED_REPORT;
  const [first, ...others] = figures.dimensions;
  const changed = {
    ...JUDGED_REPORT,
    figures: {
      ...figures,
      jis: { mean: 65.18, median: 74.25 },
      dimensions: [
        { ...first!, mean: 66.42, lower_quartile: 58, median: 59.99, upper_quartile: 76.05 },
        ...others,
      ],
    },
  };
  const words = readable(reportPage(samplePageOf(changed)));
  for (
    const text of [
      "Mean JIS 65.1 ",
      "Median JIS 74.2 ",
      "Mean 65.1, median 74.2.",
      "Deferral resistance: median 59.9",
      "Deferral resistance: 58.0 to 76.0, median 59.9",
      "Deferral resistance 66.4 58.0 59.9 76.0",
      "minimum 60 ",
    ]
  ) assert.ok(words.includes(text), `${text} in ${words}`);
  const earlier = readable(earlierReportPage(samplePageOf(changed)));
  for (const text of ["Mean JIS 65.18", "Mean 65.18, median 74.25.", "median 59.99"]) {
    assert.ok(earlier.includes(text), text);
  }
});

Deno.test("a finding is in words for people; a released page keeps the names of fields", () => {
  const metric = "share of operators with the verdict compliant and error_detection at least 60";
  const [first, ...others] = JUDGED_REPORT.findings;
  const report = { ...JUDGED_REPORT, findings: [{ ...first!, metric }, ...others] };
  const words = readable(reportPage(samplePageOf(report)));
  assert.ok(!/the verdict compliant|error_detection/.test(words));
  assert.ok(
    words.includes(
      "Measured: the share of the operators who meet the threshold, and have error detection of at least 60. ",
    ),
  );
  assert.ok(readable(earlierReportPage(samplePageOf(report))).includes(`Measured: ${metric} `));
});
