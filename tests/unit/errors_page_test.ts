/**
 * The error catalogue: it is complete, uses the words of one table, and links to the operations with each
 * code.
 */
import assert from "node:assert/strict";
import { ERROR_MEANINGS } from "../../src/domain/error_meanings.ts";
import { ERROR_STATUSES, type ErrorCode } from "../../src/domain/errors.ts";
import { PAGES } from "../../src/http/pages.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { proseParts } from "../../src/pages/prose.ts";

/** The codes and statuses of the interface. */
const CODES = {
  INVALID_JSON: "400",
  VALIDATION_FAILED: "400, 422",
  UNAUTHORIZED: "401",
  ORIGIN_NOT_ALLOWED: "403",
  FORBIDDEN: "403",
  NOT_FOUND: "404",
  METHOD_NOT_ALLOWED: "405",
  CONFLICT: "409",
  GONE: "410",
  PAYLOAD_TOO_LARGE: "413",
  UNSUPPORTED_MEDIA_TYPE: "415",
  INSUFFICIENT_DATA: "422",
  IDEMPOTENCY_KEY_REUSED: "422",
  RATE_LIMITED: "429",
  INTERNAL_ERROR: "500",
  NOT_IMPLEMENTED: "501",
  upstream_protocol_violation: "502",
  SERVICE_UNAVAILABLE: "503",
};

const { text } = PAGES.find(({ path }) => path === "/docs/errors")!;

/** Each code with its section of the page. */
const SECTIONS = new Map(
  [...text.matchAll(/<section aria-labelledby="(\w+)">(.*?)<\/section>/gs)].map((
    [, code, section],
  ) => [code!, section!]),
);

Deno.test("the catalogue has exactly the codes of the interface, each with its statuses", () => {
  assert.deepEqual(Object.keys(ERROR_STATUSES).sort(), Object.keys(CODES).sort());
  assert.deepEqual([...SECTIONS.keys()], Object.keys(CODES));
  for (const [code, statuses] of Object.entries(CODES)) {
    assert.match(
      SECTIONS.get(code)!,
      new RegExp(
        `<h2 id="${code}" tabindex="-1"><a class="anchor" href="#${code}"><code>${code}</code></a> <span class="muted">${statuses}</span>`,
      ),
    );
    assert.ok(text.includes(`<a href="#${code}">`), code);
  }
});

Deno.test("each code has its meaning, what to do, whether to send again, and its envelope", () => {
  for (const code of Object.keys(CODES) as ErrorCode[]) {
    const section = SECTIONS.get(code)!;
    assert.match(section, /<dt>What to do<\/dt><dd>[^/]{20}/, code);
    assert.match(section, /<dt>Send again\?<\/dt><dd>(?:Yes|No)/, code);
    const [, shown] = /<pre [^>]*><code>(.*?)<\/code><\/pre>/s.exec(section)!;
    const { error } = JSON.parse(shown!.replaceAll("&quot;", '"').replaceAll("&#39;", "'"));
    assert.equal(error.code, code);
    assert.ok(error.message.length > 10, code);
    assert.match(error.request_id, /^[0-9A-HJKMNP-TV-Z]{26}$/);
  }
});

Deno.test("only errors with Retry-After say to wait, and only faults of the service to send again at once", () => {
  const retries = Object.entries(ERROR_MEANINGS).filter(([, { retry }]) => retry !== "no");
  assert.deepEqual(retries.map(([code, { retry }]) => [code, retry]), [
    ["RATE_LIMITED", "wait"],
    ["INTERNAL_ERROR", "yes"],
    ["upstream_protocol_violation", "yes"],
    ["SERVICE_UNAVAILABLE", "wait"],
  ]);
});

Deno.test("a code links to the operations that can answer with it, and to no other", () => {
  const linked = (code: ErrorCode) =>
    [...SECTIONS.get(code)!.matchAll(/href="\/docs#(\w+)"/g)].map(([, operationId]) => operationId);
  assert.deepEqual(linked("upstream_protocol_violation"), ["postForcedRotation"]);
  assert.deepEqual(linked("INSUFFICIENT_DATA"), [
    "getProbeSummary",
    "getDashboard",
    "getShadow",
    "postMaintenance",
    "getReport",
    "getArticle14",
  ]);
  assert.deepEqual(linked("ORIGIN_NOT_ALLOWED"), []);
  assert.deepEqual(
    linked("UNAUTHORIZED"),
    ROUTES.filter(({ auth, operationId }) =>
      auth.kind !== "none" || /^post(?:Passkey)?SignIn$/.test(operationId)
    ).map(({ operationId }) => operationId),
  );
});

Deno.test("code is between backticks, and a single backtick stands for itself", () => {
  assert.deepEqual(proseParts("Send `a` or `b`."), [
    { isCode: false, text: "Send " },
    { isCode: true, text: "a" },
    { isCode: false, text: " or " },
    { isCode: true, text: "b" },
    { isCode: false, text: "." },
  ]);
  assert.deepEqual(proseParts("a ` b"), [{ isCode: false, text: "a ` b" }]);
});
