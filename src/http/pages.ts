/**
 * The pages for browsers: the console, the documentation, the demo, exercises, a reviewer's own page, and their assets. They contain nobody's
 * data and are outside Layer 1. Source: contract, sections 2 and 7.
 */
import { type Asset, ASSETS, COLLECTOR, DOCUMENTS } from "./assets.ts";
import { ERROR_STATUSES, type ErrorCode } from "../domain/errors.ts";
import { type ErrorOperations, errorsContent } from "../pages/errors.ts";
import { applicationPolicy } from "../pages/policy.ts";
import { documentContent, scriptPlaceholder, type Shell, shellPage } from "../pages/shell.ts";
import { REPORT_PAGE_STYLES } from "../pages/report.ts";
import { errorCodesOf } from "./openapi.ts";
import { ROUTES } from "./routes.ts";

/** A text that is served unchanged. */
export interface Page {
  /** The path in the router's syntax. */
  readonly path: string;
  readonly contentType: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

const POLICY = applicationPolicy(REPORT_PAGE_STYLES);

function page(
  path: string,
  shell: Omit<Shell, "style" | "theme" | "script"> & { readonly script?: Asset },
): Page {
  return {
    path,
    contentType: "text/html; charset=utf-8",
    text: shellPage({
      ...shell,
      style: ASSETS.style.path,
      theme: ASSETS.theme.path,
      script: shell.script?.path,
    }),
    headers: { "Content-Security-Policy": POLICY, "Cache-Control": "no-cache" },
  };
}

/** An asset may be cached for ever: its name changes with its content. */
function assetPage({ path, contentType, text }: Asset): Page {
  return { path, contentType, text, headers: { "Cache-Control": "public, max-age=31536000, immutable" } };
}

function errorOperations(): ErrorOperations {
  const codes = Object.keys(ERROR_STATUSES) as ErrorCode[];
  return Object.fromEntries(
    codes.map((code) => [code, ROUTES.filter((route) => errorCodesOf(route).includes(code))]),
  ) as unknown as ErrorOperations;
}

/** The console and its views. It offers to sign in at the identity provider if there is one. */
function consolePages({ hasProvider }: { readonly hasProvider: boolean }): readonly Page[] {
  return ["/console", "/console/*"].map((path) =>
    page(path, {
      title: "Console",
      place: "console",
      script: ASSETS.console,
      data: { verifier: ASSETS.verifier.path, ...(hasProvider ? { provider: "/sign-in/oidc" } : {}) },
      content: scriptPlaceholder("Console"),
    })
  );
}

/** Every page and asset but the demo's page. */
export function pagesFor(options: { readonly hasProvider: boolean }): readonly Page[] {
  return [...consolePages(options), ...PAGES];
}

export const PAGES: readonly Page[] = [
  page("/docs", {
    title: "API reference",
    place: "docs",
    script: ASSETS.reference,
    content: scriptPlaceholder("API reference"),
  }),
  page("/docs/errors", { title: "Errors", place: "errors", content: errorsContent(errorOperations()) }),
  page("/docs/verify-offline", {
    title: "Verify evidence offline",
    place: "verify",
    content: documentContent(DOCUMENTS["verify-offline"]),
  }),
  page("/docs/evidence-format", {
    title: "Evidence format",
    place: "document",
    content: documentContent(DOCUMENTS["evidence-format"]),
  }),
  page("/docs/formulas", {
    title: "Formulas",
    place: "document",
    content: documentContent(DOCUMENTS.formulas),
  }),
  // The script reads which exercise it is from the path, so that the page itself tells nothing of it.
  page("/exercise/:token", {
    title: "Exercise",
    place: "exercise",
    script: ASSETS.exercise,
    data: { collector: COLLECTOR.path },
    content: scriptPlaceholder("Exercise"),
  }),
  // As with an exercise.
  page("/me/:token", {
    title: "Your record",
    place: "own",
    script: ASSETS.me,
    content: scriptPlaceholder("Your record"),
  }),
  ...Object.values(ASSETS).map(assetPage),
  {
    ...assetPage(COLLECTOR),
    // Its name never changes. Customers' pages on other origins load it, and may pin it with `integrity`.
    headers: { "Cache-Control": "public, max-age=300", "Access-Control-Allow-Origin": "*" },
  },
];

/** The demo page. It says how many days a run is kept, which each deployment sets. */
export function demoPage({ keptDays }: { readonly keptDays: number }): Page {
  return page("/demo", {
    title: "Judge an AI's advice",
    place: "demo",
    script: ASSETS.demo,
    data: { collector: COLLECTOR.path, "kept-days": String(keptDays) },
    content: scriptPlaceholder("Judge an AI's advice"),
  });
}
