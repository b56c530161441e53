/**
 * The error catalogue: every code with its statuses, its meaning, its remedy, and the operations that answer
 * it.
 */
import { ERROR_MEANINGS, type ErrorRetry } from "../domain/error_meanings.ts";
import { ERROR_STATUSES, type ErrorCode } from "../domain/errors.ts";
import { type Markup, markup } from "./markup.ts";
import { proseMarkup } from "./prose.ts";

/** An operation as the reference names it. */
interface NamedOperation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
}

/** The operations that can answer with each code. */
export type ErrorOperations = Readonly<Record<ErrorCode, readonly NamedOperation[]>>;

const RETRY_WORDS: Readonly<Record<ErrorRetry, readonly [short: string, long: string]>> = {
  no: ["no", "No: the same request gets the same answer until something changes."],
  wait: ["after a wait", "Yes, unchanged, after the seconds that `Retry-After` says."],
  yes: ["yes", "Yes, unchanged."],
};

/** Most operations in a list that is not folded. */
const OPERATIONS_SHOWN = 8;

/** Other calls that answer with a code, besides the catalogue's operations. */
const ELSEWHERE: Readonly<Partial<Record<ErrorCode, string>>> = {
  NOT_FOUND: "Every path that does not exist, and:",
  METHOD_NOT_ALLOWED: "Every path, asked with a method that it does not take.",
  ORIGIN_NOT_ALLOWED: "Every preflight, which browsers send as `OPTIONS`.",
};

export function errorsContent(operations: ErrorOperations): Markup {
  const codes = Object.keys(ERROR_STATUSES) as ErrorCode[];
  return markup`<main id="main" class="prose catalogue" tabindex="-1">
<h1>Errors</h1>
<p>Whatever goes wrong, the answer is an envelope of one shape: <code>code</code> is for programs and never changes its meaning, <code>message</code> is for people and says what to change, <code>request_id</code> is what to tell an administrator, and is repeated in <code>X-Request-Id</code>. This list is complete.</p>
<div class="scroll" tabindex="0" role="region" aria-label="All codes">
<table class="rows"><thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Send again?</th></tr></thead>
<tbody>${codes.map(rowOf)}</tbody></table>
</div>
${codes.map((code) => sectionOf(code, operations[code]))}
</main>`;
}

/** The statuses of a code, in ascending order. */
function statusesOf(code: ErrorCode): string {
  return [...ERROR_STATUSES[code]].sort((one, other) => one - other).join(", ");
}

function rowOf(code: ErrorCode): Markup {
  return markup`<tr><td>${
    statusesOf(code)
  }</td><th scope="row"><a href="#${code}"><code>${code}</code></a></th><td>${
    RETRY_WORDS[ERROR_MEANINGS[code].retry][0]
  }</td></tr>
`;
}

function sectionOf(code: ErrorCode, operations: readonly NamedOperation[]): Markup {
  const { meaning, remedy, retry } = ERROR_MEANINGS[code];
  return markup`<section aria-labelledby="${code}">
<h2 id="${code}" tabindex="-1"><a class="anchor" href="#${code}"><code>${code}</code></a> <span class="muted">${
    statusesOf(code)
  }</span></h2>
<p>${proseMarkup(meaning)}</p>
<dl>
<div><dt>What to do</dt><dd>${proseMarkup(remedy)}</dd></div>
<div><dt>Send again?</dt><dd>${proseMarkup(RETRY_WORDS[retry][1])}</dd></div>
<div><dt>Answered by</dt><dd>${operationsMarkup(code, operations)}</dd></div>
</dl>
<pre tabindex="0" aria-label="Example of ${code}"><code>${envelopeOf(code)}</code></pre>
</section>
`;
}

function operationsMarkup(code: ErrorCode, operations: readonly NamedOperation[]): Markup {
  const elsewhere = ELSEWHERE[code];
  const besides = elsewhere === undefined ? null : markup`<p>${proseMarkup(elsewhere)}</p>`;
  if (operations.length === 0) return besides ?? markup`No operation by itself.`;
  const list = markup`<ul>${
    operations.map(({ operationId, method, path }) =>
      markup`<li><a href="/docs#${operationId}"><code>${method} ${path}</code></a></li>`
    )
  }</ul>`;
  return operations.length <= OPERATIONS_SHOWN
    ? markup`${besides}${list}`
    : markup`${besides}<details><summary>${operations.length} operations</summary>${list}</details>`;
}

function envelopeOf(code: ErrorCode): string {
  const { message, details } = ERROR_MEANINGS[code].example;
  const envelope = {
    code,
    message,
    request_id: "01KA3V7J5M8Q2X4Z6B9C0D1E2F",
    timestamp: "2026-11-20T09:30:00.000Z",
    ...(details === undefined ? {} : { details }),
  };
  return JSON.stringify({ error: envelope }, null, 2);
}
