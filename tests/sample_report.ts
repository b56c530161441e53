/**
 * Compliance reports for tests of pages and pictures: a lender's quarter with a verdict of every kind, and a
 * period in which nobody's record is long enough. The counts of each add up.
 */
import { DIMENSIONS } from "../src/domain/enums.ts";
import type { Finding, Report } from "../src/domain/report.ts";
import type { ReportPage } from "../src/pages/report_sections.ts";

const ARTICLE_14_NOTE =
  "High-risk obligations apply from 2 December 2027 (Annex III) and 2 August 2028 (Annex I) under Regulation (EU) 2026/1744.";

/** Operators by JIS, 24 in all, in steps of 5 points from 0. */
const OPERATORS_BY_STEP = [0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 1, 2, 3, 4, 4, 4, 2, 1, 0, 0];

/** Mean, lower quartile, median, upper quartile, in the order of the dimensions. */
const DIMENSION_FIGURES = [
  [66.42, 58, 68, 76],
  [63.13, 54.5, 64, 73.25],
  [70.88, 65, 71, 79],
  [58.75, 47, 60.5, 70],
  [67.29, 61, 66, 74],
  [69.04, 62.75, 70, 77],
  [72.5, 66, 73, 81],
] as const;

function finding(changes: Partial<Finding>): Finding {
  return {
    regulation: "EU AI Act Article 14",
    provision: "14(4)(a)",
    citation: "Regulation (EU) 2024/1689, Art. 14(4)(a)",
    requirement: "Understand the capacities and limitations of the system, monitor it and detect anomalies",
    status: "partial",
    status_certain: true,
    metric: "error detection of at least 60",
    observed: 20 / 24,
    threshold: 0.9,
    operators: 24,
    passing: 20,
    undetermined: 3,
    capped: null,
    in_force: false,
    in_force_from: "2027-12-02",
    in_force_until: null,
    date_confidence: "secondary",
    status_note: ARTICLE_14_NOTE,
    source: "not read at the source",
    ...changes,
  };
}

const FINDINGS: readonly Finding[] = [
  finding({ status_certain: false }),
  finding({
    provision: "14(4)(b)",
    citation: "Regulation (EU) 2024/1689, Art. 14(4)(b)",
    requirement: "Remain aware of automation bias",
    metric: "deferral resistance of at least 60 and deliberation depth of at least 50",
    status: "compliant",
    observed: 22 / 24,
    passing: 22,
  }),
  finding({
    provision: "14(4)(c)",
    citation: "Regulation (EU) 2024/1689, Art. 14(4)(c)",
    requirement: "Correctly interpret the output",
    metric: "domain confidence of at least 60 and a mean correct acceptance of at least 0.6",
    observed: 19 / 24,
    passing: 19,
  }),
  finding({
    provision: "14(4)(d)",
    citation: "Regulation (EU) 2024/1689, Art. 14(4)(d)",
    requirement: "Decide not to use, disregard, override or reverse the output",
    metric: "decision autonomy of at least 60",
    status: "compliant",
    observed: 23 / 24,
    passing: 23,
  }),
  finding({
    provision: "14(4)(e)",
    citation: "Regulation (EU) 2024/1689, Art. 14(4)(e)",
    requirement: "Intervene in or interrupt the operation",
    metric: "post-error recalibration of at least 50",
    observed: 22 / 24,
    passing: 22,
    capped:
      "No operator deferred or escalated a case and no incident freeze was recorded in the period, so that nothing shows an intervention.",
  }),
  finding({
    regulation: "Colorado SB 205",
    provision: "6-1-1703",
    citation: "C.R.S. § 6-1-1703 (SB 24-205), repealed and reenacted by SB 26-189 eff. 2027-01-01",
    requirement: "Reasonable care, with human review of consequential decisions",
    metric: "JIS of at least 60 and decision autonomy of at least 60",
    status: "non_compliant",
    status_certain: false,
    observed: 17 / 24,
    passing: 17,
    in_force: true,
    in_force_from: null,
    in_force_until: "2026-12-31",
    status_note:
      "SB 24-205 was repealed and reenacted as SB 26-189, signed 14 May 2026, effective 1 January 2027.",
    source: "not read at the source",
  }),
  finding({
    regulation: "NYC Local Law 144",
    provision: "20-870",
    citation:
      "NYC Admin. Code § 20-870; 6 RCNY § 5-300 (output used to overrule conclusions derived from other factors including human decision-making)",
    requirement: "Human discretion over automated employment decision tools",
    metric: "deferral resistance of at least 60 and decision autonomy of at least 60",
    status: "not_applicable",
    observed: null,
    operators: 0,
    passing: 0,
    undetermined: 0,
    in_force: true,
    in_force_from: "2023-07-05",
    status_note: "Supporting evidence of human discretion, not a bias audit.",
    source: "not read at the source",
  }),
  finding({
    regulation: "SR 11-7",
    provision: "effective challenge",
    citation: "Federal Reserve SR 11-7 (2011-04-04), superseded by SR 26-2 (2026-04-17)",
    requirement: "Effective challenge of model output",
    metric: "deferral resistance of at least 60 and error detection of at least 60",
    observed: 18 / 24,
    passing: 18,
    in_force_from: "2011-04-04",
    in_force_until: "2026-04-16",
    status_note:
      "Superseded on 17 April 2026 by SR 26-2, which is principles-based, mainly for organisations above 30 billion dollars, and excludes generative and agentic AI.",
    source: "not read at the source",
  }),
];

/** A lender's quarter: 31 operators, 24 of them with a record long enough for a verdict. */
export const SAMPLE_REPORT: Report = {
  report_id: "rpt_01K9QZ6T3M8V5W2X4Y7B0C1D9E",
  organization: { org_id: "meridian-credit", name: "Meridian Credit & Savings", domain: "financial" },
  overall_status: "non_compliant",
  status_certain: false,
  period: { start: "2026-07-01T00:00:00.000Z", end: "2026-10-01T00:00:00.000Z" },
  findings: [...FINDINGS],
  organization_rule: {
    status: "non_compliant",
    status_certain: true,
    high_risk_operators: 24,
    high_risk_below_minimum: 6,
    critical_operators: 5,
    critical_below_critical: 1,
  },
  population: {
    operators: 31,
    minimum_data_met: 24,
    insufficient_data: 7,
    without_ground_truth: 4,
    interactions: 18_342,
    departures: 1_207,
    referrals: 0,
    incident_freezes: 0,
  },
  figures: {
    jis: { mean: 66.87, median: 69.4 },
    histogram: OPERATORS_BY_STEP.map((operators, step) => ({ from: step * 5, to: step * 5 + 5, operators })),
    bands: { exemplary: 1, proficient: 4, adequate: 6, at_risk: 4, undetermined: 9 },
    against_minimum: { above: 15, below: 4, undetermined: 5 },
    dimensions: DIMENSIONS.map((dimension, index) => {
      const [mean, lower_quartile, median, upper_quartile] = DIMENSION_FIGURES[index]!;
      return { dimension, mean, lower_quartile, median, upper_quartile };
    }),
  },
  thresholds: { min_jis: 60, target_jis: 75, critical_jis: 40 },
  rules_version: "2026-11",
  model: {
    version: "jis-1.0.0",
    sha256: "5d1c8a40f7b29e6310ac4d58e97b2f6081d3c5a7e4b6920f1a8d7c3e5b40962f",
  },
  statement:
    "This report is evidence for a deployer's own assessment of human oversight. It is no legal advice and no certification, and declares nobody compliant with a law.",
  caveats: [
    "4 operators have hardly any case whose truth is known: for them the score cannot tell careful review from a good imitation of it.",
    "7 operators have too short a record for a verdict and are in no share, mean or plot.",
    "Dates of force are from secondary sources where a finding says so; verify them before relying on them.",
  ],
};

/** The same quarter with verdicts; {@link SAMPLE_REPORT} is as reports were before there were any. */
export const JUDGED_REPORT: Report = {
  ...SAMPLE_REPORT,
  overall_verdict: "undetermined",
  verdict: {
    status: "undetermined",
    reasons: [
      "Of 24 high-risk operators, 2 are certainly below 60 and 7 are undetermined; at most 10 % may be below.",
      "More cases of wrong advice whose truth is known, by outcome labels or by planted errors, would settle it.",
    ],
  },
  findings: FINDINGS.map((one) => ({
    ...one,
    verdict: one.status === "not_applicable"
      ? null
      : !one.status_certain
      ? "undetermined"
      : one.status === "compliant"
      ? one.status
      : "non_compliant",
  })),
  figures: {
    ...SAMPLE_REPORT.figures,
    verdicts: { compliant: 15, undetermined: 7, non_compliant: 2, insufficient_data: 7 },
    against_minimum: { above: 15, below: 2, undetermined: 7 },
  },
};

/** Three operators had cases, none of them for long enough. */
export const EMPTY_REPORT: Report = {
  ...SAMPLE_REPORT,
  overall_status: "insufficient_data",
  status_certain: true,
  findings: FINDINGS.map((one) => ({
    ...one,
    status: one.status === "not_applicable" ? one.status : "insufficient_data",
    status_certain: true,
    observed: null,
    operators: 0,
    passing: 0,
    undetermined: 0,
    capped: null,
  })),
  organization_rule: {
    status: "insufficient_data",
    status_certain: true,
    high_risk_operators: 0,
    high_risk_below_minimum: 0,
    critical_operators: 0,
    critical_below_critical: 0,
  },
  population: {
    operators: 3,
    minimum_data_met: 0,
    insufficient_data: 3,
    without_ground_truth: 3,
    interactions: 41,
    departures: 2,
    referrals: 1,
    incident_freezes: 0,
  },
  figures: {
    jis: { mean: null, median: null },
    histogram: SAMPLE_REPORT.figures.histogram.map((bin) => ({ ...bin, operators: 0 })),
    bands: { exemplary: 0, proficient: 0, adequate: 0, at_risk: 0, undetermined: 0 },
    against_minimum: { above: 0, below: 0, undetermined: 0 },
    dimensions: DIMENSIONS.map((dimension) => ({
      dimension,
      mean: null,
      lower_quartile: null,
      median: null,
      upper_quartile: null,
    })),
  },
  caveats: [],
};

/** The page of another report with the same evidence. */
export function samplePageOf(report: Report): ReportPage {
  return { ...SAMPLE_PAGE, signed: { ...SAMPLE_PAGE.signed, report } };
}

/** The page of {@link SAMPLE_REPORT} with its evidence. */
export const SAMPLE_PAGE: ReportPage = {
  signed: {
    report: SAMPLE_REPORT,
    report_sha256: "9f2c61d07be84a35d1f06c92a7e3b85840cd97f1362eab5470918dce3f64b2a1",
    evidence: {
      entry: {
        id: "01K9QZ6T3M8V5W2X4Y7B0C1D9F",
        seq: 18_391,
        chain: "org/meridian-credit",
        timestamp: "2026-10-02T08:15:42.118Z",
      },
      entry_hash: "03a7e51c9bd248f6607fd1c3a92e58b4f61d07c8e3a54b92d10f7c68ae35b947",
    },
  },
  partialShare: 0.75,
};
