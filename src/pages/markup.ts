/**
 * HTML and SVG as text. Whatever is interpolated is escaped, unless it is markup itself; nothing waits for anything.
 * Escapes of both kinds are numeric or among XML's five names, so that the same text is well-formed SVG.
 */
import { html, raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";

/** Text that is escaped already. */
export type Markup = HtmlEscapedString;

/** What may be interpolated; null is nothing, a list is its items one after another. */
export type MarkupValue = string | number | Markup | null | readonly MarkupValue[];

/**
 * A value as JSON that a page carries and no browser runs: a data block, which a policy without script lets stand. Every
 * `<` is escaped, so that nothing in it ends the element; the JSON says the same.
 */
export function dataBlock(id: string, value: unknown): Markup {
  const text = JSON.stringify(value).replaceAll("<", "\\u003c");
  return markup`<script type="application/json" id="${id}">${raw(text)}</script>`;
}

/** Template tag: the template as it stands, the values escaped. */
export function markup(strings: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup {
  const text = html(strings, ...values);
  // The library waits where a value does; the type lets none in that could.
  if (text instanceof Promise) throw new TypeError("markup of a promise");
  return text;
}
