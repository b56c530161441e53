/** Compliance reports that were saved as pages: reads the signed JSON, and checks that the page shows it. */
import { reportSchema } from "../domain/report.ts";
import { earlierReportPage, reportPage, SIGNED_REPORT_ID } from "../pages/report.ts";
import type { SignedReport } from "../pages/report_sections.ts";
import { DEFAULT_MODEL_DOCUMENT } from "../scoring/model.ts";

const BLOCK = `id="${SIGNED_REPORT_ID}"`;
const PAGE_START = /^\ufeff?\s*</;

/** Whether a file's text is a page: any text that begins with a tag. */
export function isPage(text: string): boolean {
  return PAGE_START.test(text);
}

/** The JSON text in a page; null if there is none, or two: another reader might take the other one. */
export function signedReportIn(page: string): string | null {
  const at = page.indexOf(BLOCK);
  if (at < 0 || page.includes(BLOCK, at + 1)) return null;
  const start = page.indexOf(">", at) + 1;
  const end = page.indexOf("</script>", start);
  return start === 0 || end < 0 ? null : page.slice(start, end);
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
