/** Drawings of `src/pages` in a page that a script fills: the same pictures as on the printable pages. */
import type { Markup } from "../../pages/markup.ts";

/** An element with markup whose values were escaped when it was made. */
export function Drawing({ of, class: className }: { readonly of: Markup; readonly class?: string }) {
  return <div class={className} dangerouslySetInnerHTML={{ __html: String(of) }} />;
}
