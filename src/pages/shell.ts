/**
 * Pages that load the one style sheet, and those that a script fills: the console, the reference, the demo and exercises.
 * Source: contract, section 7.
 */
import { raw } from "hono/html";
import { headWith } from "./head.ts";
import { type Markup, markup } from "./markup.ts";

/** A page with the site's header, from which the other pages are one click away. */
export interface Shell {
  readonly title: string;
  /**
   * The page's place among {@link PLACES}; a document to which one of them links; or an exercise or a reviewer's own page,
   * whose reader has no business at the other pages.
   */
  readonly place: Place | "document" | "exercise" | "own";
  /** Paths of the files that the page loads. */
  readonly style: string;
  /** The script that shows the chosen theme before the page is painted. */
  readonly theme: string;
  readonly script?: string;
  /** Data for the script, as `data-` attributes. */
  readonly data?: Readonly<Record<string, string>>;
  /** The content without the script, or before it runs. */
  readonly content: Markup;
}

const PLACES = {
  console: ["Console", "/console"],
  bundle: ["Verify", "/console/verify"],
  docs: ["API reference", "/docs"],
  errors: ["Errors", "/docs/errors"],
  verify: ["Verify offline", "/docs/verify-offline"],
  demo: ["Demo", "/demo"],
} as const;
export type Place = keyof typeof PLACES;

/** The choice of a theme, which the script shows. */
const THEME_FIELD =
  markup`<div class="theme" hidden><label for="theme">Theme</label><select id="theme"><option value="system">System</option><option value="light">Light</option><option value="dark">Dark</option></select></div>`;

/** Leaving the console forgets the key, so links there open in a new tab. */
const ELSEWHERE = markup` target="_blank" rel="noopener"`;
const NEW_TAB = markup`<span class="hidden"> (new tab)</span>`;

/** The whole HTML document. */
export function shellPage({ title, place, style, theme, script, data = {}, content }: Shell): string {
  const attributes = Object.entries(data).map(([name, value]) => markup` data-${name}="${value}"`);
  const document = markup`${
    headWith({
      title: `${title} · JISS`,
      more: markup`<link rel="icon" href="data:,">
<script src="${theme}"></script>
<link rel="stylesheet" href="${style}">${
        script === undefined ? null : markup`
<script type="module" src="${script}"></script>`
      }`,
    })
  }
<body class="${place}">
${
    place === "exercise" || place === "own"
      ? null
      : siteHeader(place === "document" ? null : place, { hasThemes: true })
  }
<div id="app"${attributes}>${content}</div>
</body>
</html>
`;
  return String(document);
}

/**
 * The header of every page: a link to skip it, the brand, the other places. `place` is null if it is none of
 * these. `hasThemes`: whether the page has the script of the choice of a theme.
 */
export function siteHeader(place: Place | null, { hasThemes = false } = {}): Markup {
  const links = Object.entries(PLACES).map(([name, [label, path]]) => {
    const isElsewhere = place === "console" && name !== "console" && name !== "bundle";
    return markup`<li><a href="${path}"${
      name === place ? markup` aria-current="page"` : isElsewhere ? ELSEWHERE : null
    }>${label}${isElsewhere ? NEW_TAB : null}</a></li>`;
  });
  return markup`<a class="skip" href="#main">Skip to the content</a>
<header class="site"><a class="brand" href="/console">JISS</a><nav aria-label="Site"><ul>${links}</ul></nav>${
    hasThemes ? THEME_FIELD : null
  }</header>`;
}

/** The content until a script draws the page. */
export function scriptPlaceholder(title: string): Markup {
  return markup`<main id="main" tabindex="-1"><h1>${title}</h1><p>One moment…</p>
<noscript><p class="notice bad">This page is drawn by a script, and scripts are off in this browser. The API works without it.</p></noscript></main>`;
}

/** A document that was made from Markdown when the program was built. */
export function documentContent(html: string): Markup {
  return markup`<main id="main" class="prose" tabindex="-1">${raw(html)}</main>`;
}
