/** The signed JSON that a report's page carries. */

/** The id of the element in which a page carries its signed JSON. */
export const SIGNED_REPORT_ID = "signed-report";

const BLOCK = `id="${SIGNED_REPORT_ID}"`;

/** The JSON text in a page; null if there is none, or two: another reader might take the other one. */
export function signedReportIn(page: string): string | null {
  const at = page.indexOf(BLOCK);
  if (at < 0 || page.includes(BLOCK, at + 1)) return null;
  const start = page.indexOf(">", at) + 1;
  const end = page.indexOf("</script>", start);
  return start === 0 || end < 0 ? null : page.slice(start, end);
}
