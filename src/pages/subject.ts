/**
 * A person's copy of everything that is kept about them, as a page for that person: the measurements, each
 * score, its causes and its use, the retention, and the way to contest it. The page is one document without
 * script that fetches nothing. It is made piece by piece, and its last line says that it is whole. Source:
 * contract, section 4; Regulation (EU) 2016/679 (GDPR), Articles 12 and 15.
 */
import type { SubjectCopy, SubjectHead, SubjectRecord } from "../domain/subject.ts";
import { paragraph } from "./document.ts";
import { blocksMarkup, lines, sectionMarkup, sectionStart } from "./document_markup.ts";
import { headOf } from "./head.ts";
import { type Markup, markup } from "./markup.ts";
import { policyFor } from "./policy.ts";
import { PAGE_STYLE } from "./style.ts";
import {
  recordBlocks,
  recordsSection,
  recordTitle,
  sectionsAfter,
  sectionsBefore,
  wholeInWords,
} from "./subject_document.ts";
import { instantInWords } from "./wording.ts";

const STYLE = `${PAGE_STYLE}
nav ul{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.25rem 1.5rem}
a{color:inherit}
a:focus-visible,summary:focus-visible,.scroll:focus-visible{outline:2px solid var(--bar);outline-offset:2px}
.record{margin:1.5rem 0 0;padding:0 0 1rem;border-bottom:1px solid var(--grid)}
.record h3{font-size:1.0625rem;line-height:1.3;margin:0 0 .25rem;overflow-wrap:anywhere}
.record dl{margin:.5rem 0}
details{margin:.5rem 0}
summary{cursor:pointer;color:var(--muted)}
pre{margin:.5rem 0;padding:.75rem 1rem;background:var(--soft);border:1px solid var(--grid);font:.8125rem/1.4 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}
.moves td:nth-child(2),.moves td:nth-child(3){white-space:nowrap}
@media print{h3{break-after:avoid}nav{display:none}}
`;

/** The policy to serve {@link subjectPage} with. */
export const SUBJECT_PAGE_CSP: string = policyFor(STYLE);

/** The HTML document: its head, a piece for each record, its foot. */
export async function* subjectPage({ head, records, madeAt }: SubjectCopy): AsyncGenerator<string> {
  yield beginning(head, madeAt).toString();
  let count = 0;
  for await (const record of records) {
    count += 1;
    yield recordArticle(record, count).toString();
  }
  yield ending(head, count).toString();
}

function beginning(head: SubjectHead, madeAt: string): Markup {
  const { organization, operator_id } = head;
  // The elements that stay open are closed by the ending.
  return markup`${headOf({ title: `What is kept about ${operator_id}: ${organization.name}`, style: STYLE })}
<body>
<main>
<header>
<h1>What is kept about you: <bdi>${operator_id}</bdi></h1>
<p class="statement">This is everything that the scoring service of <bdi>${organization.name}</bdi> keeps about you, as of ${
    instantInWords(madeAt)
  }, and what you can do about it.</p>
<nav aria-label="Contents"><ul>
<li><a href="#summary">In short</a></li>
<li><a href="#score">What the score is</a></li>
<li><a href="#records">Every record</a></li>
<li><a href="#keeping">How long, and for whom</a></li>
<li><a href="#contest">How to contest</a></li>
</ul></nav>
</header>
${lines(sectionsBefore(head).map(sectionMarkup))}
${sectionStart(recordsSection(head))}
`;
}

function recordArticle(record: SubjectRecord, number: number): Markup {
  return markup`<article class="record" aria-labelledby="record-${number}">
<h3 id="record-${number}">${recordTitle(record, number)}</h3>
${blocksMarkup(recordBlocks(record, number))}
</article>
`;
}

function ending(head: SubjectHead, count: number): Markup {
  return markup`</section>
${lines(sectionsAfter(head).map(sectionMarkup))}
${blocksMarkup([paragraph(wholeInWords(count), "statement")])}
</main>
</body>
</html>
`;
}
