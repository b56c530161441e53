/**
 * A compliance report in words: its header and sections, with the same findings, figures and hashes as its
 * JSON. Source: contract, section 4, Compliance report.
 */
import type { ProbeFigures, ProbeRates } from "../domain/probe.ts";
import type { VerdictStatus } from "../domain/enums.ts";
import type { Finding, FindingStatus, Report } from "../domain/report.ts";
import {
  type Block,
  code,
  columns,
  drawn,
  facts,
  judged,
  list,
  name,
  numberedList,
  paragraph,
  prose,
  type Section,
  status,
  strong,
  table,
  type Text,
  verdict,
} from "./document.ts";
import { type FindingRow, findingsTable } from "./findings_table.ts";
import { markup } from "./markup.ts";
import { reportPlots } from "./plots.ts";
import {
  countInWords,
  instantInWords,
  nameInWords,
  percentInWords,
  pointsInWords,
  shareInWords,
  STATUS_WORDS,
} from "./wording.ts";
import type { TableRow } from "./tables.ts";

/** A report as it was issued, with the evidence for it. */
export interface SignedReport {
  readonly report: Report;
  /** SHA-256 of the report's canonical JSON, lower-case hexadecimal. */
  readonly report_sha256: string;
  readonly evidence: {
    /** The chain entry by which the report was issued. */
    readonly entry: {
      readonly id: string;
      readonly seq: number;
      readonly chain: string;
      /** ISO 8601. */
      readonly timestamp: string;
    };
    /** Lower-case hexadecimal. */
    readonly entry_hash: string;
  };
}

export interface ReportPage {
  readonly signed: SignedReport;
  /** Share from which a finding is partial, 0 to 1: drawn as a mark if it is known. */
  readonly partialShare?: number;
}

export interface ReportDocument {
  /** The title as plain text. */
  readonly title: string;
  readonly heading: Text;
  readonly header: readonly Block[];
  /** null stands for a section that is left out. */
  readonly sections: readonly (Section | null)[];
}

/** The document of a report, with its evidence. */
export function reportDocument(page: ReportPage): ReportDocument {
  const { signed } = page;
  const { report } = signed;
  const organization = report.organization.name;
  return {
    title: `Compliance report: ${organization}, ${periodInWords(report)}`,
    heading: ["Compliance report: ", name(organization)],
    header: header(signed),
    sections: [
      findings(report),
      organizationRule(report),
      population(report),
      // A section that is left out leaves an empty line, and pages of earlier reports have none here.
      ...(report.probes === undefined ? [] : [probes(report.probes)]),
      plots(page),
      caveats(report),
      evidence(signed),
    ],
  };
}

function header({ report, evidence: { entry: { timestamp: issuedAt } } }: SignedReport): readonly Block[] {
  const { organization, period, overall_status, population } = report;
  const [start, end] = [instantInWords(period.start), instantInWords(period.end)];
  const early = issuedAt < period.end ? ", before the period had ended" : "";
  return [
    paragraph(report.statement, "statement"),
    ...judgment(report),
    statusBlock(["Overall status: ", "Findings and rule overall: "], {
      held: overall_status,
      by: report.overall_verdict,
      remark: certainty(overall_status, {
        certain: report.status_certain,
        inDoubt: report.figures.against_minimum.undetermined,
        doubt: `${doubtful(report, "a threshold")} could turn it`,
      }),
    }),
    population.minimum_data_met > 0
      ? null
      : paragraph([strong("Insufficient data."), " ", nobodyInWords(report)], "statement"),
    facts(
      ["Organization", [name(organization.name), " (", code(organization.org_id), ")"]],
      ["Domain", nameInWords(organization.domain)],
      ["Period", `${start} (included) to ${end} (not included); days begin at midnight UTC`],
      ["Issued", `${instantInWords(issuedAt)}${early}`],
      ["Report", code(report.report_id)],
    ),
  ];
}

/**
 * A status with its remark; with a verdict, that comes first and the status beside it.
 * @param labels before a status alone, and before a verdict.
 */
function statusBlock(
  [ofStatus, ofVerdict]: readonly [string, string],
  { held, by, remark }: {
    readonly held: FindingStatus;
    /** Absent in a report that was issued before there were verdicts. */
    readonly by: VerdictStatus | null | undefined;
    readonly remark: string | null;
  },
): Block {
  if (by == null) return verdict([ofStatus, status(held)], remark);
  const words = `by the scores alone: ${STATUS_WORDS[held]}`;
  return verdict([ofVerdict, judged(by)], remark === null ? words : `${words}; ${remark}`);
}

/** The verdict, its threshold and its reasons; nothing for a report that was issued before there were verdicts. */
function judgment({ verdict: held, figures: { verdicts }, thresholds }: Report): readonly Block[] {
  if (held === undefined) return [];
  const { compliant = 0, undetermined = 0, non_compliant = 0 } = verdicts ?? {};
  const counts =
    `${compliant} of the population meet the threshold, ${non_compliant} are below it, ${undetermined} are undetermined`;
  return [
    verdict(
      ["Verdict: ", judged(held.status), ` (threshold: JIS ${pointsInWords(thresholds.min_jis)})`],
      counts,
    ),
    list(held.reasons),
  ];
}

/** The operators in doubt, as the subject of a sentence; `mark` is what an interval straddles. */
function doubtful({ verdict: held }: Report, mark: string): string {
  return held === undefined ? `operators whose interval straddles ${mark}` : "undetermined operators";
}

function nobodyInWords({ population }: Report): string {
  const { operators } = population;
  const seen = operators === 0
    ? "No operator had an interaction in this period"
    : `${
      countInWords(operators, "operator")
    } had an interaction in this period, but none has a record long enough for a verdict`;
  return `${seen}. There is no share, no score and no plot to show; that is neither a pass nor a failure.`;
}

function findings(report: Report): Section {
  const id = "findings";
  return {
    id,
    title: "Findings",
    blocks: [
      paragraph(
        markup`Each provision is held against the population: the operators with an interaction in the period whose record is long enough for a verdict. Observed is the share of them who show what is measured. In force tells of the period's last day.`,
      ),
      drawn(findingsTable(report.findings.map(findingRow), id)),
    ],
  };
}

/** Stands for the count of a small group. */
const WITHHELD_WORD = "withheld";

function findingRow(finding: Finding): FindingRow {
  const { observed, operators, undetermined, status_note } = finding;
  const counted = countInWords(operators, "operator");
  return {
    regulation: finding.regulation,
    provision: finding.provision,
    citation: finding.citation,
    requirement: finding.requirement,
    metric: finding.metric,
    observed: observed === null ? null : shareInWords(observed),
    threshold: shareInWords(finding.threshold),
    passing: finding.passing === null ? null : `${finding.passing} of ${counted}`,
    verdict: finding.verdict ?? null,
    status: finding.status,
    certainty: certainty(finding.status, {
      certain: finding.status_certain,
      inDoubt: undetermined ?? 0,
      doubt: undetermined === null
        ? "how many of these are undetermined is withheld"
        : finding.verdict === undefined
        ? `the interval of ${undetermined} of these ${counted} straddles the minimum`
        : `${undetermined} of these ${counted} ${undetermined === 1 ? "is" : "are"} undetermined`,
    }),
    force: finding.in_force ? "In force" : "Not in force",
    dates: datesInWords(finding),
    capped: finding.capped,
    note: status_note === "" ? null : status_note,
    source: finding.source,
  };
}

function datesInWords({ in_force_from, in_force_until, date_confidence }: Finding): string {
  const dates = [
    in_force_from === null ? null : `from ${in_force_from}`,
    in_force_until === null ? null : `until ${in_force_until}`,
  ].filter((date) => date !== null).join(" ");
  return dates === "" ? "no date recorded" : `${dates} (${date_confidence} source)`;
}

/** A remark on whether the operators in doubt could turn a status; null if no operator is in doubt. */
function certainty(
  held: FindingStatus,
  { certain, inDoubt, doubt }: {
    readonly certain: boolean;
    /** Operators whose interval straddles the minimum. */
    readonly inDoubt: number;
    readonly doubt: string;
  },
): string | null {
  if (!certain) return `uncertain: ${doubt}`;
  const isVerdict = held !== "insufficient_data" && held !== "not_applicable";
  return isVerdict && inDoubt > 0 ? "certain: the operators in doubt could not turn it" : null;
}

function organizationRule(report: Report): Section {
  const { organization_rule: rule, thresholds } = report;
  const [minimum, critical] = [pointsInWords(thresholds.min_jis), pointsInWords(thresholds.critical_jis)];
  return {
    id: "organization-rule",
    title: "Organization rule",
    blocks: [
      paragraph(markup`The rule of the dashboard, over the period's last records.`),
      statusBlock(["", "Verdict: "], {
        held: rule.status,
        by: report.verdict?.status,
        remark: certainty(rule.status, {
          certain: rule.status_certain,
          inDoubt: report.figures.against_minimum.undetermined,
          doubt: `${doubtful(report, "their mark")} could turn it`,
        }),
      }),
      table({
        columns: ["Operators", "All", "Below their mark"],
        rows: [
          [
            `High-risk, by domain or by share of grave cases; mark: minimum JIS ${minimum}`,
            rule.high_risk_operators,
            rule.high_risk_below_minimum ?? WITHHELD_WORD,
          ],
          [
            `With critical decisions; mark: critical JIS ${critical}`,
            rule.critical_operators,
            rule.critical_below_critical ?? WITHHELD_WORD,
          ],
        ],
      }),
    ],
  };
}

/** The operators on each side of the minimum, certainly; with their verdicts if the report has them. */
function sideRows({ verdict: held, figures, thresholds }: Report): readonly (readonly [string, number])[] {
  const minimum = pointsInWords(thresholds.min_jis);
  const { above, below, undetermined } = figures.against_minimum;
  if (held === undefined || figures.verdicts === undefined) {
    return [
      [`Operators with their whole interval at or above ${minimum}`, above],
      [`Operators with their whole interval below ${minimum}`, below],
      [`Operators whose interval straddles ${minimum}`, undetermined],
    ];
  }
  const { verdicts } = figures;
  const isSame = above === verdicts.compliant && below === verdicts.non_compliant;
  const rows: readonly (readonly [string, number])[] = [
    [`Operators whose verdict is that they meet ${minimum}`, verdicts.compliant],
    [`Operators whose verdict is that they are below ${minimum}`, verdicts.non_compliant],
    ["Operators whose verdict is undetermined", verdicts.undetermined],
  ];
  // Operators without a verdict count as undetermined above, but their intervals may say more.
  return isSame ? rows : [
    ...rows,
    [`Operators certainly at or above ${minimum}, by verdict or interval`, above],
    [`Operators certainly below ${minimum}, by verdict or interval`, below],
    ["Operators of whom neither is certain", undetermined],
  ];
}

function population(report: Report): Section {
  const { population, figures, thresholds } = report;
  const minimum = pointsInWords(thresholds.min_jis);
  return {
    id: "population",
    title: "Population and figures",
    blocks: [columns(
      table({
        columns: ["In the period", "Count"],
        rows: [
          ["Operators with an interaction", population.operators],
          ["of these, record long enough for a verdict", population.minimum_data_met],
          ["of these, insufficient data", population.insufficient_data],
          ["Operators without ground truth", population.without_ground_truth],
          ["Interactions", population.interactions],
          ["Departures (rejected, overridden, modified)", population.departures],
          ["Referrals (deferred, escalated)", population.referrals],
          ["Incident freezes", population.incident_freezes],
        ],
        note:
          "Without ground truth: hardly any case's truth is known, so the score cannot tell careful review from a good imitation of it.",
      }),
      table({
        columns: ["Of the population", "JIS or count"],
        rows: [
          ["Mean JIS", pointsInWords(figures.jis.mean)],
          ["Median JIS", pointsInWords(figures.jis.median)],
          ...sideRows(report),
          ["Minimum JIS", minimum],
          ["Target JIS", pointsInWords(thresholds.target_jis)],
          ["Critical JIS", pointsInWords(thresholds.critical_jis)],
        ],
        note: "JIS: Judgment Independence Score, 0 to 100.",
      }),
    )],
  };
}

function probes(probes: ProbeFigures): Section {
  const row = (what: string, { probes, count, share, low, high }: ProbeRates["wrong"]): TableRow => [
    what,
    probes,
    count,
    share === null ? "–" : percentInWords(share),
    low === null || high === null ? "–" : `${percentInWords(low)} to ${percentInWords(high)}`,
  ];
  return {
    id: "probes",
    title: "Sealed probes",
    blocks: [
      table({
        columns: ["Opened in the period", "Probes", "Departures", "Share", "Exact interval, 95 %"],
        rows: [
          row("Wrong advice: errors found", probes.wrong),
          row("Right advice: false alarms", probes.right),
        ],
        note:
          `Probes are cases whose truth was sealed before anybody saw them, shown among live ones. Lost: ${probes.lost}. Recalled: ${probes.recalled}, of which after they were shown: ${probes.recalled_after_draw}.`,
      }),
    ],
  };
}

function plots({ signed: { report }, partialShare }: ReportPage): Section {
  const figures = reportPlots(report, partialShare);
  return {
    id: "plots",
    title: "Plots",
    blocks: [
      figures.length === 0
        ? paragraph("Nothing is drawn: there is no population to draw.")
        : drawn(markup`${figures}`),
    ],
  };
}

function caveats({ caveats }: Report): Section | null {
  return caveats.length === 0 ? null : { id: "caveats", title: "Caveats", blocks: [list(caveats)] };
}

function evidence(
  { report, report_sha256: reportSha256, evidence: { entry, entry_hash } }: SignedReport,
): Section {
  const request = code(`GET /v1/compliance/report/${report.report_id}`);
  return {
    id: "evidence",
    title: "Evidence, and how to verify it",
    blocks: [
      facts(
        ["Report id", code(report.report_id)],
        ["Report SHA-256", code(reportSha256)],
        ["Chain", code(entry.chain)],
        ["Chain entry", [`number ${entry.seq}, id `, code(entry.id)]],
        ["Entry hash", code(entry_hash)],
        ["Entry written", instantInWords(entry.timestamp)],
        ["Rules", code(report.rules_version)],
        ["Model", code(report.model.version)],
        ["Model SHA-256", code(report.model.sha256)],
      ),
      paragraph(
        prose(
          "Save this page: it carries the signed JSON from which it is drawn. `jiss verify report.html --key jwks.json` verifies that, and tells whether the page shows what it says. By hand:",
        ),
      ),
      numberedList([
        ["Ask for the JSON: ", request, ". This page is drawn from its ", code("report"), " member."],
        prose(
          "Write that member as canonical JSON (RFC 8785) in UTF-8. Its `sha256` is the report SHA-256 above.",
        ),
        prose(
          "The `evidence` beside it covers `report_id` and `report_sha256`: they are the `detail` part to which the chain entry above commits.",
        ),
        markup`SHA-256 of a zero byte and the entry's canonical JSON is the entry hash. The inclusion proof leads from it to a checkpoint that the service signed; check the signature with a public key that you had before.`,
      ]),
    ],
  };
}

function periodInWords({ period }: Report): string {
  return `${instantInWords(period.start)} to ${instantInWords(period.end)}`;
}
