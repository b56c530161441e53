/** Documents as HTML. */
import type { VerdictStatus } from "../domain/enums.ts";
import type { FindingStatus } from "../domain/report.ts";
import type { Block, ParagraphStyle, Piece, Section, Span, Text } from "./document.ts";
import { isMarkup, type Markup, markup } from "./markup.ts";
import { dataTable, definitionList } from "./tables.ts";
import { VERDICT_WORDS } from "../scoring/verdict_words.ts";
import { STATUS_WORDS } from "./wording.ts";

/** A section without its end, for a page that is made piece by piece. */
export function sectionStart({ id, title, blocks }: Section): Markup {
  return markup`<section aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
${blocksMarkup(blocks)}`;
}

/** A section under its heading, which names it. */
export function sectionMarkup(section: Section): Markup {
  return markup`${sectionStart(section)}
</section>`;
}

/** Blocks one below another. */
export function blocksMarkup(blocks: readonly Block[]): Markup {
  return lines(blocks.map(blockMarkup));
}

/** Items one below another, each on a line of its own. */
export function lines(items: readonly (Markup | null)[]): Markup {
  const [first = null, ...others] = items;
  return markup`${first}${
    others.map((item) =>
      markup`
${item}`
    )
  }`;
}

function blockMarkup(block: Block): Markup | null {
  switch (block?.kind) {
    case undefined:
      return null;
    case "heading":
      return markup`<h3>${textMarkup(block.text)}</h3>`;
    case "paragraph":
      return paragraphMarkup(block.text, block.style);
    case "list":
      return block.isNumbered
        ? markup`<ol>
${itemsMarkup(block.items)}</ol>`
        : markup`<ul>
${itemsMarkup(block.items)}</ul>`;
    case "facts":
      return definitionList(block.facts.map(([name, value]) => [name, textMarkup(value)]));
    case "table":
      return dataTable(block.table);
    case "columns":
      return markup`<div class="columns">
${blocksMarkup(block.blocks)}
</div>`;
    case "verdict":
      return markup`<div class="verdict"><p>${textMarkup(block.text)}</p>
${block.remark === null ? null : paragraphMarkup(block.remark, "small")}</div>`;
    case "folded":
      return markup`<details><summary>${block.title}</summary>
${blockMarkup(block.block)}
</details>`;
    case "data":
      return markup`<pre>${JSON.stringify(block.data, null, 1)}</pre>`;
    case "drawn":
      return block.drawn;
  }
}

function paragraphMarkup(text: Text, style: ParagraphStyle | null): Markup {
  return style === null
    ? markup`<p>${textMarkup(text)}</p>`
    : markup`<p class="${style}">${textMarkup(text)}</p>`;
}

function itemsMarkup(items: readonly Text[]): readonly Markup[] {
  return items.map((item) =>
    markup`<li>${textMarkup(item)}</li>
`
  );
}

/** A text with its spans drawn and all else escaped. */
export function textMarkup(text: Text): Markup {
  return Array.isArray(text) ? markup`${text.map(pieceMarkup)}` : pieceMarkup(text as Piece);
}

function pieceMarkup(piece: Piece): Markup {
  return isMarkup(piece) || typeof piece !== "object" ? markup`${piece}` : spanMarkup(piece);
}

/** A verdict looks like the status that says the same: the style of a page that was saved never changes. */
const VERDICT_CLASSES: Readonly<Record<VerdictStatus, FindingStatus>> = {
  compliant: "compliant",
  undetermined: "insufficient_data",
  non_compliant: "non_compliant",
};

function spanMarkup(span: Span): Markup {
  if ("code" in span) return markup`<code>${span.code}</code>`;
  if ("strong" in span) return markup`<strong>${span.strong}</strong>`;
  if ("name" in span) return markup`<bdi>${span.name}</bdi>`;
  if ("status" in span) {
    return markup`<strong class="status ${span.status}">${STATUS_WORDS[span.status]}</strong>`;
  }
  if ("judged" in span) {
    return markup`<strong class="status ${VERDICT_CLASSES[span.judged]}">${
      VERDICT_WORDS[span.judged]
    }</strong>`;
  }
  return markup`<a href="${span.to}">${span.link}</a>`;
}
