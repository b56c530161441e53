/**
 * HTML and SVG as text, made without waiting. An interpolated value is escaped, unless it is markup itself.
 * Escapes are numeric or among XML's five names, so that the same text is well-formed SVG.
 */
import { html, raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";

/** Text that is escaped already. */
export type Markup = HtmlEscapedString;

/** A value that may be interpolated; null becomes nothing, a list becomes its items one after another. */
export type MarkupValue = string | number | Markup | null | readonly MarkupValue[];

/**
 * A value as JSON that a page carries and no browser runs: a data block, which a policy without script
 * allows. Every `<` is escaped, so that nothing in it ends the element; the meaning of the JSON stays the
 * same.
 */
export function dataBlock(id: string, value: unknown): Markup {
  const text = JSON.stringify(value).replaceAll("<", "\\u003c");
  return markup`<script type="application/json" id="${id}">${raw(text)}</script>`;
}

/** Template tag: the template unchanged, the values escaped. */
export function markup(strings: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup {
  const text = html(strings, ...values);
  // The library returns a promise if a value is one; the type allows no such value.
  if (text instanceof Promise) throw new TypeError("markup of a promise");
  return text;
}

/** Whether a value is markup. The type of markup is that of a text, but it is an object. */
export function isMarkup(value: unknown): value is Markup {
  return value instanceof String;
}
