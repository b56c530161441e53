/** What every page begins with. */
import { raw } from "hono/html";
import { type Markup, markup } from "./markup.ts";

/** From the document type to the end of the head; `style` is the text that the page's policy lets in. */
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

/** The head with what a page loads in `more`. */
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
