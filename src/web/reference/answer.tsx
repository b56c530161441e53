/** The answer of the service: status, headers, body. */
import type { ApiAnswer } from "../shared/api.ts";
import { save } from "../shared/save.ts";
import { CopyButton } from "../shared/copy_button.tsx";
import { ErrorLink } from "./prose.tsx";

export interface Answered extends ApiAnswer {
  readonly milliseconds: number;
  /** The request's method and path. */
  readonly method: string;
  readonly path: string;
}

/** Most characters of a body that are shown. */
const SHOWN_CHARACTERS = 20_000;

const HEADERS = [
  "Content-Type",
  "X-Request-Id",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "Retry-After",
  "Idempotency-Replayed",
  "Allow",
  "Link",
] as const;

export function Answer({ answer }: { readonly answer: Answered }) {
  const { status, headers, text, milliseconds, method, path } = answer;
  const body = prettyBody(answer);
  const code = errorCode(answer);
  const present = HEADERS.filter((name) => headers.has(name));
  return (
    <section class="answer" aria-label={`Answer of ${method} ${path}`}>
      <p class="outcome">
        <span class={`status ${status < 400 ? "good" : "bad"}`}>{status}</span>{" "}
        {code !== null && <ErrorLink code={code} />}{" "}
        <span class="muted">
          in {Math.max(1, Math.round(milliseconds))} ms, to <code>{method} {path}</code>
        </span>
      </p>
      <dl class="headers">
        {present.map((name) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <code>{headers.get(name)}</code>
            </dd>
          </div>
        ))}
      </dl>
      {body === "" ? <p class="muted">The answer has no body.</p> : (
        <>
          <pre
            tabIndex={0}
            aria-label="Body of the answer"
          ><code>{body.slice(0, SHOWN_CHARACTERS)}</code></pre>
          {body.length > SHOWN_CHARACTERS && (
            <p class="note">
              The first {SHOWN_CHARACTERS.toLocaleString("en")} of {body.length.toLocaleString("en")}{" "}
              characters. Copied or saved are all of them.
            </p>
          )}
          <div class="actions">
            <CopyButton of="the body" text={() => text} />
            <button type="button" onClick={() => saveBody(answer)}>Save the body</button>
          </div>
        </>
      )}
    </section>
  );
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  "application/json": "json",
  "application/x-ndjson": "ndjson",
  "image/svg+xml": "svg",
  "text/html": "html",
};

/** Saves the body under a name made from the path: `v1-audit-chain-export.ndjson`. */
function saveBody({ headers, text, path }: Answered): void {
  const type = headers.get("Content-Type") ?? "text/plain";
  const stem = path.split("?", 1)[0]!.replace(/[^\w.]+/g, "-").replace(/^[-.]+|-$/g, "");
  save(`${stem || "answer"}.${EXTENSIONS[type.split(";", 1)[0]!] ?? "txt"}`, type, text);
}

function isJson({ headers }: Pick<ApiAnswer, "headers">): boolean {
  return headers.get("Content-Type")?.startsWith("application/json") === true;
}

function prettyBody(answer: ApiAnswer): string {
  if (!isJson(answer) || answer.text === "") return answer.text;
  try {
    return JSON.stringify(JSON.parse(answer.text), null, 2);
  } catch {
    return answer.text;
  }
}

function errorCode({ status, text }: ApiAnswer): string | null {
  if (status < 400) return null;
  try {
    return JSON.parse(text).error.code;
  } catch {
    return null;
  }
}
