/**
 * A compliance report as a page to read, print and file. The hash covers the JSON, and the page carries the
 * JSON, so that a saved page can be verified. The page is one document that runs no script and fetches
 * nothing. A saved page is verified to the letter, so the page of one report must never change.
 */
import { blocksMarkup, lines, sectionMarkup, textMarkup } from "./document_markup.ts";
import { headOf } from "./head.ts";
import { dataBlock, markup } from "./markup.ts";
import { policyFor } from "./policy.ts";
import { reportDocument, type ReportPage } from "./report_document.ts";
import { PAGE_STYLE } from "./style.ts";

/** The id of the element in which a page carries its signed JSON. */
export const SIGNED_REPORT_ID = "signed-report";

/** The policy to serve {@link reportPage} with. */
export const REPORT_PAGE_CSP: string = policyFor(PAGE_STYLE);

/** The whole HTML document. */
export function reportPage(page: ReportPage): string {
  const { report, report_sha256, evidence } = page.signed;
  const { title, heading, header, sections } = reportDocument(page);
  const document = markup`${headOf({ title, style: PAGE_STYLE })}
<body>
<main>
<header>
<h1>${textMarkup(heading)}</h1>
${blocksMarkup(header)}
</header>
${lines(sections.map((section) => section && sectionMarkup(section)))}
</main>
${dataBlock(SIGNED_REPORT_ID, { report, report_sha256, evidence })}
</body>
</html>
`;
  return document.toString();
}
