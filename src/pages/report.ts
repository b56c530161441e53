/**
 * A compliance report as a page to read, print and file. The hash covers the JSON, and the page carries the
 * JSON, so that a saved page can be verified. The page is one document that runs no script and fetches
 * nothing. A saved page is verified to the letter, so the page of one report must never change: if the words change, the former
 * page is kept beside the new one, as {@link earlierReportPage} is.
 */
import type { Report } from "../domain/report.ts";
import type { Block, Text } from "./document.ts";
import { blocksMarkup, lines, sectionMarkup, textMarkup } from "./document_markup.ts";
import { earlierReportDocument } from "./earlier_report_document.ts";
import { headOf } from "./head.ts";
import { dataBlock, type Markup, markup } from "./markup.ts";
import { policyFor } from "./policy.ts";
import { reportDocument } from "./report_document.ts";
import type { ReportPage } from "./report_sections.ts";
import { REPORT_STYLE } from "./report_style.ts";
import { isJudged } from "./report_summary.ts";
import { SIGNED_REPORT_ID } from "./signed_report.ts";
import { PAGE_STYLE } from "./style.ts";

/** The styles of the pages: each is in a policy under which such a page is shown. */
export const REPORT_PAGE_STYLES: readonly string[] = [REPORT_STYLE, PAGE_STYLE];

/** The policy to serve a report's {@link reportPage} with. */
export function reportPagePolicy(report: Report): string {
  return policyFor(isJudged(report) ? REPORT_STYLE : PAGE_STYLE);
}

/** The whole HTML document. A report without verdicts has the page that it always had. */
export function reportPage(page: ReportPage): string {
  const { report } = page.signed;
  if (!isJudged(report)) return earlierReportPage(page);
  const { title, heading, summary, sections } = reportDocument(page, report);
  return wholePage(page, {
    title,
    style: REPORT_STYLE,
    main: markup`<div class="summary">
${headerMarkup(heading, summary.header)}
${lines(summary.sections.map(sectionMarkup))}
</div>
${lines(sections.map(sectionMarkup))}`,
  });
}

/** The whole HTML document as it was drawn before it had a summary. */
export function earlierReportPage(page: ReportPage): string {
  const { title, heading, header, sections } = earlierReportDocument(page);
  return wholePage(page, {
    title,
    style: PAGE_STYLE,
    main: markup`${headerMarkup(heading, header)}
${lines(sections.map((section) => section && sectionMarkup(section)))}`,
  });
}

function headerMarkup(heading: Text, blocks: readonly Block[]): Markup {
  return markup`<header>
<h1>${textMarkup(heading)}</h1>
${blocksMarkup(blocks)}
</header>`;
}

function wholePage(
  { signed: { report, report_sha256, evidence } }: ReportPage,
  { title, style, main }: { readonly title: string; readonly style: string; readonly main: Markup },
): string {
  const document = markup`${headOf({ title, style })}
<body>
<main>
${main}
</main>
${dataBlock(SIGNED_REPORT_ID, { report, report_sha256, evidence })}
</body>
</html>
`;
  return document.toString();
}
