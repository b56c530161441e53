/** A document as data: sections of paragraphs, lists, facts and tables. `document_markup.ts` draws it. */
import type { VerdictStatus } from "../domain/enums.ts";
import type { FindingStatus } from "../domain/report.ts";
import type { Markup } from "./markup.ts";
import { proseParts } from "./prose.ts";
import type { DataTable } from "./tables.ts";

/** A piece of text that is more than plain words. */
export type Span =
  | { readonly code: string }
  | { readonly strong: string }
  /** A name that somebody gave, in whatever direction its language is written. */
  | { readonly name: string }
  | { readonly status: FindingStatus }
  | { readonly judged: VerdictStatus }
  | { readonly link: string; readonly to: string };

/**
 * A piece of a text. Plain words are escaped, apostrophes too. Markup stands in the page as it is: it serves for
 * words of the program's own that have an apostrophe.
 */
export type Piece = string | number | Markup | Span;

export type Text = Piece | readonly Piece[];

/** A name and its value. */
export type Fact = readonly [name: string, value: Text];

/** A part of a document. null stands for a part that is left out, and leaves its line empty. */
export type Block =
  | { readonly kind: "heading"; readonly text: Text }
  | { readonly kind: "paragraph"; readonly text: Text; readonly style: ParagraphStyle | null }
  | { readonly kind: "list"; readonly items: readonly Text[]; readonly isNumbered: boolean }
  | { readonly kind: "facts"; readonly facts: readonly Fact[] }
  | { readonly kind: "table"; readonly table: DataTable }
  | { readonly kind: "columns"; readonly blocks: readonly Block[] }
  | { readonly kind: "verdict"; readonly text: Text; readonly remark: string | null }
  | { readonly kind: "folded"; readonly title: string; readonly block: Block }
  | { readonly kind: "data"; readonly data: unknown }
  | { readonly kind: "drawn"; readonly drawn: Markup }
  | null;

/** `statement`: in a frame; `small`: in small print; `note`: in small print and muted. */
export type ParagraphStyle = "statement" | "small" | "note";

export interface Section {
  /** Id of the section's heading. */
  readonly id: string;
  readonly title: string;
  readonly blocks: readonly Block[];
}

/** A sentence in which code stands between backticks. */
export function prose(sentence: string): Text {
  return proseParts(sentence).map(({ isCode, text }) => isCode ? code(text) : text);
}

/** A heading within a section. */
export function heading(text: Text): Block {
  return { kind: "heading", text };
}

/** A paragraph; without a style it is plain. */
export function paragraph(text: Text, style: ParagraphStyle | null = null): Block {
  return { kind: "paragraph", text, style };
}

/** A list with bullets. */
export function list(items: readonly Text[]): Block {
  return { kind: "list", items, isNumbered: false };
}

/** A list with numbers. */
export function numberedList(items: readonly Text[]): Block {
  return { kind: "list", items, isNumbered: true };
}

/** A list of names with their values. */
export function facts(...items: readonly Fact[]): Block {
  return { kind: "facts", facts: items };
}

/** A table; see `tables.ts`. */
export function table(content: DataTable): Block {
  return { kind: "table", table: content };
}

/** Blocks beside one another, if there is room. */
export function columns(...blocks: readonly Block[]): Block {
  return { kind: "columns", blocks };
}

/** A text with a status; `remark` is null if there is none. */
export function verdict(text: Text, remark: string | null): Block {
  return { kind: "verdict", text, remark };
}

/** A block under a title, folded away until the reader opens it. */
export function folded(title: string, block: Block): Block {
  return { kind: "folded", title, block };
}

/** Data as JSON. */
export function data(content: unknown): Block {
  return { kind: "data", data: content };
}

/** A part with a form of its own. */
export function drawn(markup: Markup): Block {
  return { kind: "drawn", drawn: markup };
}

/** Code within a text. */
export function code(text: string): Span {
  return { code: text };
}

/** Important words. */
export function strong(text: string): Span {
  return { strong: text };
}

/** A name that somebody gave. */
export function name(text: string): Span {
  return { name: text };
}

/** A status in its words. */
export function status(value: FindingStatus): Span {
  return { status: value };
}

/** A verdict in its words. */
export function judged(value: VerdictStatus): Span {
  return { judged: value };
}

/** A link; `to` is its address. */
export function link(text: string, to: string): Span {
  return { link: text, to };
}
