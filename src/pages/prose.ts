/** Sentences in which code stands between backticks. */
import { type Markup, type MarkupValue, markup } from "./markup.ts";

/** A run of text, or of code. */
export interface ProsePart {
  readonly isCode: boolean;
  readonly text: string;
}

/** The runs of a sentence in their order; a backtick without its other stands as it is. */
export function proseParts(sentence: string): readonly ProsePart[] {
  return sentence.split(/(`[^`]+`)/).filter((text) => text !== "").map((text) =>
    /^`[^`]+`$/.test(text) ? { isCode: true, text: text.slice(1, -1) } : { isCode: false, text }
  );
}

export function proseMarkup(sentence: string): Markup {
  const parts: readonly MarkupValue[] = proseParts(sentence).map(({ isCode, text }) =>
    isCode ? markup`<code>${text}</code>` : text
  );
  return markup`${parts}`;
}
