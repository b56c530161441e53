/** Compliance reports that were saved as pages: checks that the page shows its signed JSON. */
import { reportSchema } from "../domain/report.ts";
import { earlierReportPage, reportPage } from "../pages/report.ts";
import type { SignedReport } from "../pages/report_sections.ts";
import { DEFAULT_MODEL_DOCUMENT } from "../scoring/model.ts";

const PAGE_START = /^\ufeff?\s*</;

/** Whether a file's text is a page: any text that begins with a tag. */
export function isPage(text: string): boolean {
  return PAGE_START.test(text);
}

/**
 * Whether a page is exactly the one that this program draws from a signed report, or that one which earlier programs drew;
 * false for any other answer.
 */
export function isDrawnFrom(page: string, answer: Readonly<Record<string, unknown>>): boolean {
  if (!reportSchema.safeParse(answer.report).success) return false;
  const signed = answer as unknown as SignedReport;
  // The service marks the share for `partial` if the report's model is its own.
  const shares = [{}, { partialShare: DEFAULT_MODEL_DOCUMENT.law.pass_share.partial }];
  return [reportPage, earlierReportPage].some((draw) =>
    shares.some((share) => draw({ signed, ...share }) === page)
  );
}
