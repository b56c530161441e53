/**
 * Content-Security-Policies: a page may have its own style, and scripts of its own origin if it needs any; no
 * more.
 */
import { createHash } from "node:crypto";

const OWN = ["base-uri 'none'", "form-action 'none'"];
const FRAME = [...OWN, "frame-ancestors 'none'"];

/**
 * The policy of a page without script: it allows exactly the `<style>` element with this text and `data:`
 * images, nothing else (Content Security Policy 3, section 2.3.1).
 */
export function policyFor(style: string): string {
  return [...alone(style), ...FRAME].join("; ");
}

/** The same for a page that carries its policy itself: a page cannot say by whom it may be framed. */
export function ownPolicyFor(style: string): string {
  return [...alone(style), ...OWN].join("; ");
}

function alone(style: string): readonly string[] {
  return ["default-src 'none'", `style-src ${sourceOf(style)}`, "img-src data:"];
}

/**
 * The policy of a page with scripts: files of its own origin, no inline script. `framed` are the styles of a
 * page that it shows: one for each style that such a page may have.
 */
export function applicationPolicy(framed: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' ${framed.map(sourceOf).join(" ")}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self'",
    ...FRAME,
  ].join("; ");
}

function sourceOf(style: string): string {
  return `'sha256-${createHash("sha256").update(style, "utf8").digest("base64")}'`;
}
