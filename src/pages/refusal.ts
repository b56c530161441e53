/** The page in place of one that cannot be shown: in words, with the same status and message as the JSON. */
import type { ErrorCode, ServiceError } from "../domain/errors.ts";
import { headOf } from "./head.ts";
import { type Markup, markup } from "./markup.ts";
import { policyFor } from "./policy.ts";
import { siteHeader } from "./shell.ts";
import { LINK_STYLE, PAGE_STYLE, SITE_STYLE } from "./style.ts";
import { countInWords } from "./wording.ts";

export interface RefusalPage {
  readonly error: Pick<ServiceError, "code" | "status" | "message" | "headers">;
  /** The path of the request. */
  readonly path: string;
  readonly requestId: string;
}

const STYLE = `${PAGE_STYLE}${LINK_STYLE}${SITE_STYLE}
main{max-width:42rem;padding-top:4rem}
.foot{margin-top:2.5rem;padding-top:.75rem;border-top:1px solid var(--grid)}
`;

/** The policy to serve {@link refusalPage} with. */
export const REFUSAL_PAGE_CSP: string = policyFor(STYLE);

const TITLES: Readonly<Partial<Record<ErrorCode, string>>> = {
  NOT_FOUND: "This run is not here",
  VALIDATION_FAILED: "This is not the address of a run",
  RATE_LIMITED: "Too many requests",
  SERVICE_UNAVAILABLE: "The service is busy",
};

const ABOUT_RUNS =
  markup`<p>A run of the demo can be looked at by whoever has its address, until it is deleted. <a href="/demo">Judge four short cases yourself</a></p>`;
const SIGN_IN_AGAIN = markup`<p><a href="/console">Back to the console</a></p>`;

/** The whole HTML document. */
export function refusalPage({ error, path, requestId }: RefusalPage): string {
  const isSigningIn = path.startsWith("/sign-in");
  const title = isSigningIn ? "You were not signed in" : TITLES[error.code] ?? "This page cannot be shown";
  const wait = error.headers["Retry-After"];
  const document = markup`${
    headOf({
      title,
      style: STYLE,
      more: markup`<meta name="robots" content="noindex">
`,
    })
  }
<body>
${siteHeader(null)}
<main id="main" tabindex="-1">
<h1>${title}</h1>
<p class="statement">${error.message}</p>
${wait === undefined ? null : again(path, Number(wait))}
${isSigningIn ? SIGN_IN_AGAIN : ABOUT_RUNS}
<p class="note foot">${String(error.status)} ${error.code}, request <code>${requestId}</code></p>
</main>
</body>
</html>
`;
  return document.toString();
}

function again(path: string, seconds: number): Markup {
  return markup`<p><a href="${path}">Try again</a> in ${countInWords(seconds, "second")}.</p>`;
}
