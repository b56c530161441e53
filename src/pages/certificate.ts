/**
 * An auditor's certificate as a page to print, sign and file: one document that runs no script and fetches
 * nothing. It carries its policy itself, since it is opened from a disk.
 */
import type { Fact, Section } from "./document.ts";
import { facts as factsBlock } from "./document.ts";
import { blocksMarkup, lines, sectionMarkup } from "./document_markup.ts";
import { headOf } from "./head.ts";
import { type Markup, markup } from "./markup.ts";
import { ownPolicyFor } from "./policy.ts";
import { PAGE_STYLE } from "./style.ts";

/** The look of a verdict, beside its words. */
export type CertificateLook = "good" | "bad" | "unsure";

export interface CertificatePage {
  readonly title: string;
  readonly verdict: {
    /** The verdict in capitals. */
    readonly word: string;
    readonly look: CertificateLook;
    /** Paragraphs: what it means. */
    readonly meaning: readonly string[];
  };
  /** The facts at the head. */
  readonly facts: readonly Fact[];
  readonly sections: readonly Section[];
  /** Sections after the lines to sign on. */
  readonly appendix: readonly Section[];
}

const STYLE = `${PAGE_STYLE}
h3{font-size:1rem;line-height:1.35;margin:1.75rem 0 .5rem}
h1,h3,p,li{overflow-wrap:anywhere}
h3+p{margin-top:0}
pre{margin:.75rem 0;padding:.6rem .8rem;white-space:pre-wrap;overflow-wrap:anywhere;font:.8125rem/1.4 ui-monospace,monospace;border:1px solid var(--rule)}
.sign{display:grid;grid-template-columns:1fr 1fr;gap:3rem 2rem;margin-top:4rem}
.sign p{margin:0;padding-top:.25rem;border-top:1px solid var(--ink)}
@media screen and (max-width:48rem){.sign{grid-template-columns:1fr}}
@media print{
h3{break-after:avoid}
pre,.sign{break-inside:avoid}
}
`;

/** The status classes of `style.ts`, whose borders tell them apart on paper too. */
const LOOKS: Readonly<Record<CertificateLook, string>> = {
  good: "compliant",
  bad: "non_compliant",
  unsure: "partial",
};

const SIGNED_WITH = ["Place", "Date", "Name", "Signature"];

/** The whole HTML document. */
export function certificatePage({ title, verdict, facts, sections, appendix }: CertificatePage): string {
  const policy = markup`<meta http-equiv="Content-Security-Policy" content="${ownPolicyFor(STYLE)}">
`;
  return String(markup`${headOf({ title, style: STYLE, more: policy })}
<body>
<main>
<header>
<h1>${title}</h1>
<div class="verdict"><p><strong class="status ${LOOKS[verdict.look]}">${verdict.word}</strong></p></div>
${lines(verdict.meaning.map((sentence) => markup`<p class="statement">${sentence}</p>`))}
${blocksMarkup([factsBlock(...facts)])}
</header>
${lines(sections.map(sectionMarkup))}
${signatureLines()}
${lines(appendix.map(sectionMarkup))}
</main>
</body>
</html>
`);
}

function signatureLines(): Markup {
  return markup`<section aria-labelledby="signature">
<h2 id="signature">Signed</h2>
<div class="sign">${SIGNED_WITH.map((what) => markup`<p>${what}</p>`)}</div>
</section>`;
}
