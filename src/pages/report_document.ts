/**
 * A compliance report in words: first a summary that fills a page, then findings, figures and hashes, the same as in its JSON.
 * Source: contract, section 4, Compliance report.
 */
import { type Block, drawn, name, paragraph, type Section, type Text } from "./document.ts";
import { forceInWords } from "./force_words.ts";
import { markup } from "./markup.ts";
import { nameOf, type PassWords } from "./plots.ts";
import { provisionsTable } from "./provisions_table.ts";
import {
  caveatsSection,
  evidenceSection,
  organizationRuleSection,
  overallBlock,
  plotsSection,
  populationSection,
  probesSection,
  type ReportPage,
} from "./report_sections.ts";
import { type JudgedReport, lastDayOfReport, summaryFacts, summarySections } from "./report_summary.ts";
import { periodInWords } from "./period_words.ts";
import { dayInWords, figureInWords, shareInWords } from "./wording.ts";

export interface ReportDocument {
  /** The title as plain text. */
  readonly title: string;
  readonly heading: Text;
  /** The first page. */
  readonly summary: { readonly header: readonly Block[]; readonly sections: readonly Section[] };
  /** The other pages. */
  readonly sections: readonly Section[];
}

/** The document of a report with verdicts, with its evidence. */
export function reportDocument(page: ReportPage, report: JudgedReport): ReportDocument {
  const { signed } = page;
  return {
    title: `Compliance report: ${report.organization.name}, ${periodInWords(report.period)}`,
    heading: ["Compliance report: ", name(report.organization.name)],
    summary: { header: [summaryFacts(signed)], sections: summarySections(report) },
    sections: [
      findings(report),
      ...(report.caveats.length === 0 ? [] : [caveatsSection(report)]),
      organizationRuleSection(report),
      populationSection(report, figureInWords),
      ...(report.probes === undefined ? [] : [probesSection(report.probes)]),
      plotsSection(page, passWords(lastDayOfReport(report))),
      evidenceSection(signed),
    ],
  };
}

function findings(report: JudgedReport): Section {
  const id = "findings";
  const day = lastDayOfReport(report);
  return {
    id,
    title: "Findings",
    blocks: [
      paragraph(
        markup`Each provision is held against the population: the operators with an interaction in the period whose record is long enough for a verdict. Observed is the share of them who show what is measured. The threshold is the share that the scoring model asks for; no law sets it. In force tells of ${
          dayInWords(day)
        }, the period's last day.`,
      ),
      overallBlock(report),
      drawn(provisionsTable(report.findings, { day, labelledBy: id })),
    ],
  };
}

/** The words of the plot of shares: it names laws too, so it says whether each is in force. */
function passWords(day: string): PassWords {
  return {
    points: figureInWords,
    nameOf: (finding) => `${nameOf(finding)}, ${forceInWords(finding, day).state.toLowerCase()}`,
    resultOf: () => "",
    threshold: "meets the threshold",
    share: shareInWords,
  };
}
