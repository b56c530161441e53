/** The beginning of every page. */
import { raw } from "hono/html";
import { type Markup, markup } from "./markup.ts";

/**
 * The page from the document type to the end of the head; `style` is the style text that its policy allows.
 */
export function headOf({ title, style, more = null }: {
  readonly title: string;
  readonly style: string;
  readonly more?: Markup | null;
}): Markup {
  return headWith({
    title,
    more: markup`${more}<link rel="icon" href="data:,">
<style>${raw(style)}</style>`,
  });
}

/** The same with `more`: the elements that load the page's files. */
export function headWith({ title, more }: { readonly title: string; readonly more: Markup }): Markup {
  return markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${more}
</head>`;
}
