/** What `src/pages` draws, in a page that a script fills: the same pictures as on the printable pages. */
import type { Markup } from "../../pages/markup.ts";

/** Markup whose every value was escaped where it was made. */
export function Drawing({ of, class: className }: { readonly of: Markup; readonly class?: string }) {
  return <div class={className} dangerouslySetInnerHTML={{ __html: String(of) }} />;
}
