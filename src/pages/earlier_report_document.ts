/**
 * A report's page as it was before it had a summary. Pages of it are saved and filed, so that it must never change. Reports
 * that were issued before there were verdicts have no other page.
 */
import type { Finding, Report } from "../domain/report.ts";
import {
  type Block,
  code,
  drawn,
  facts,
  judged,
  list,
  name,
  paragraph,
  type Section,
  strong,
  type Text,
  verdict,
} from "./document.ts";
import { type FindingRow, findingsTable } from "./findings_table.ts";
import { markup } from "./markup.ts";
import { EARLIER_PASS_WORDS, earlierShare } from "./plots.ts";
import {
  caveatsSection,
  evidenceSection,
  findingCertainty,
  nobodyInWords,
  organizationRuleSection,
  overallBlock,
  plotsSection,
  populationSection,
  probesSection,
  type ReportPage,
  type SignedReport,
} from "./report_sections.ts";
import { countInWords, instantInWords, nameInWords, pointsInWords } from "./wording.ts";

interface EarlierReportDocument {
  /** The title as plain text. */
  readonly title: string;
  readonly heading: Text;
  readonly header: readonly Block[];
  /** null stands for a section that is left out. */
  readonly sections: readonly (Section | null)[];
}

/** The document of a report, with its evidence. */
export function earlierReportDocument(page: ReportPage): EarlierReportDocument {
  const { signed } = page;
  const { report } = signed;
  const organization = report.organization.name;
  return {
    title: `Compliance report: ${organization}, ${periodInWords(report)}`,
    heading: ["Compliance report: ", name(organization)],
    header: header(signed),
    sections: [
      findings(report),
      organizationRuleSection(report),
      populationSection(report, pointsInWords),
      // A section that is left out leaves an empty line, and pages of earlier reports have none here.
      ...(report.probes === undefined ? [] : [probesSection(report.probes)]),
      plotsSection(page, EARLIER_PASS_WORDS),
      report.caveats.length === 0 ? null : caveatsSection(report),
      evidenceSection(signed),
    ],
  };
}

function header({ report, evidence: { entry: { timestamp: issuedAt } } }: SignedReport): readonly Block[] {
  const { organization, period, population } = report;
  const [start, end] = [instantInWords(period.start), instantInWords(period.end)];
  const early = issuedAt < period.end ? ", before the period had ended" : "";
  return [
    paragraph(report.statement, "statement"),
    ...judgment(report),
    overallBlock(report),
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

function findingRow(finding: Finding): FindingRow {
  const { observed, operators, status_note } = finding;
  const counted = countInWords(operators, "operator");
  return {
    regulation: finding.regulation,
    provision: finding.provision,
    citation: finding.citation,
    requirement: finding.requirement,
    metric: finding.metric,
    observed: observed === null ? null : earlierShare(observed),
    threshold: earlierShare(finding.threshold),
    passing: finding.passing === null ? null : `${finding.passing} of ${counted}`,
    verdict: finding.verdict ?? null,
    status: finding.status,
    certainty: findingCertainty(finding),
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

function periodInWords({ period }: Report): string {
  return `${instantInWords(period.start)} to ${instantInWords(period.end)}`;
}
