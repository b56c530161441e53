/** A compliance report that was saved as a page: the signed JSON that it carries, and whether it shows what that says. */
import { reportSchema } from "../domain/report.ts";
import { reportPage, SIGNED_REPORT_ID, type SignedReport } from "../pages/report.ts";
import { DEFAULT_MODEL_DOCUMENT } from "../scoring/model.ts";

const BLOCK = `id="${SIGNED_REPORT_ID}"`;
const PAGE_START = /^\ufeff?\s*</;

/** Whether a file's text is a page, or anything else that begins with a tag. */
export function isPage(text: string): boolean {
  return PAGE_START.test(text);
}

/** The JSON text that a page carries; null where it carries none, or two, of which another reader might take the other. */
export function signedReportIn(page: string): string | null {
  const at = page.indexOf(BLOCK);
  if (at < 0 || page.includes(BLOCK, at + 1)) return null;
  const start = page.indexOf(">", at) + 1;
  const end = page.indexOf("</script>", start);
  return start === 0 || end < 0 ? null : page.slice(start, end);
}

/** Whether a page is, to the letter, the one that this program draws of a signed answer; of none but a report. */
export function isDrawnFrom(page: string, answer: Readonly<Record<string, unknown>>): boolean {
  if (!reportSchema.safeParse(answer.report).success) return false;
  const signed = answer as unknown as SignedReport;
  // The service marks the share for `partial` where the report's model is its own.
  const shares = [{}, { partialShare: DEFAULT_MODEL_DOCUMENT.law.pass_share.partial }];
  return shares.some((share) => reportPage({ signed, ...share }) === page);
}
