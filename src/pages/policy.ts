/** The Content-Security-Policy of a page that draws itself: its one `<style>` element, and nothing else at all. */
import { createHash } from "node:crypto";

/** The policy that lets in exactly the `<style>` element with this text (Content Security Policy 3, section 2.3.1). */
export function policyFor(style: string): string {
  const digest = createHash("sha256").update(style, "utf8").digest("base64");
  return [
    "default-src 'none'",
    `style-src 'sha256-${digest}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
