/** How an answer of the service deviates from its document, and from what holds for every answer. */
import type { ApiDocument, Received } from "./api_document.ts";
import { pathnameOf, type Sent } from "./api_lane.ts";

const INTERNALS =
  /\bat (?:async )?[\w.<>]+ \(|file:\/\/\/|\.ts:\d|SQLITE_|constraint failed|no such (?:table|column)/;
/** Paths that the document does not have: pages for people. */
const PAGE_TYPES = /^(?:text\/html|text\/css|text\/javascript|application\/javascript)/;

/** @returns a line for each deviation. */
export function lookAt(document: ApiDocument, sent: Sent, received: Received): readonly string[] {
  const { status, headers, text } = received;
  return [
    ...(status >= 500 && status !== 501 && status !== 503 ? [`status ${status}`] : []),
    ...(INTERNALS.test(text) && status >= 400 ? ["an error tells of the inside"] : []),
    ...everywhereProblems(sent, received),
    ...documentedProblems(document, sent, received),
    ...(status < 300 && !sent.isWellFormed ? [`${status} to what the document does not allow`] : []),
    ...(sent.isTidy && isRefusal(received) ? ["refused, though the document allows it"] : []),
    ...(status < 300 && sent.operation !== null ? (MEANINGS[sent.operation.id]?.(received) ?? []) : []),
    ...(status >= 400 && !/^text\/html/.test(headers.get("Content-Type") ?? "")
      ? envelopeProblems(sent, received)
      : []),
  ];
}

/** A missing record, or one in another state than needed, is no mistake of the client. */
function isRefusal({ status, text }: Received): boolean {
  return [400, 401, 403, 405, 413, 415].includes(status) ||
    (status === 422 && JSON.parse(text).error.code === "VALIDATION_FAILED");
}

function everywhereProblems({ target }: Sent, { headers }: Received): readonly string[] {
  const pathname = pathnameOf(target);
  const wanted: Record<string, string> = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    ...(pathname === "/v1" || pathname.startsWith("/v1/") ? { "Cache-Control": "no-store" } : {}),
  };
  const wrong = Object.entries(wanted).filter(([name, value]) => headers.get(name) !== value);
  return [
    ...wrong.map(([name]) => `header ${name} is ${headers.get(name)}`),
    ...(/^[0-9A-Z]{26}$/.test(headers.get("X-Request-Id") ?? "") ? [] : ["no X-Request-Id"]),
  ];
}

function documentedProblems(document: ApiDocument, sent: Sent, received: Received): readonly string[] {
  const { operation, method, target } = sent;
  const { status, headers } = received;
  if (operation !== null) return document.problemsOf(operation, received);
  const pathname = pathnameOf(target);
  if (!document.hasPath(pathname)) {
    const isPage = PAGE_TYPES.test(headers.get("Content-Type") ?? "");
    return isPage || status === 404 || status === 405 || status === 308
      ? []
      : [`${status} at a path that is none`];
  }
  const get = method === "HEAD" ? document.operationAt("GET", pathname) : null;
  if (get !== null) return document.problemsOf(get, received, true);
  const allowed = headers.get("Allow") ?? "";
  return status === 405 && allowed !== "" ? [] : [`${status} to a method that the path does not have`];
}

/** Errors carry the envelope; their id is the header's. */
function envelopeProblems({ method }: Sent, { headers, text }: Received): readonly string[] {
  if (method === "HEAD") return [];
  try {
    const { code, message, request_id, timestamp } = JSON.parse(text).error;
    const isWhole = [code, message, request_id, timestamp].every((one) => typeof one === "string");
    return isWhole && request_id === headers.get("X-Request-Id") ? [] : [`no whole envelope: ${text}`];
  } catch {
    return [`no envelope: ${text.slice(0, 200)}`];
  }
}

const isTrueOf = (member: string) => ({ text }: Received): readonly string[] =>
  JSON.parse(text)[member] === true ? [] : [`${member} is not true: ${text.slice(0, 500)}`];

/** Checks of answers that must say that nothing was altered, as nobody altered anything. */
const MEANINGS: Readonly<Record<string, (received: Received) => readonly string[]>> = {
  getReplay: isTrueOf("match"),
  getChainVerification: isTrueOf("valid"),
  getAdminChainVerification: isTrueOf("valid"),
};
