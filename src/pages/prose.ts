/** Sentences in which code stands between backticks. */
import { type Markup, markup, type MarkupValue } from "./markup.ts";

/** Most characters of code that is kept on one line: browsers would break it after any hyphen. */
export const UNBROKEN_CODE_LENGTH = 28;

/** A run of text or of code. */
export interface ProsePart {
  readonly isCode: boolean;
  readonly text: string;
}

/** The runs of a sentence in their order; an unpaired backtick stays as it is. */
export function proseParts(sentence: string): readonly ProsePart[] {
  return sentence.split(/(`[^`]+`)/).filter((text) => text !== "").map((text) =>
    /^`[^`]+`$/.test(text) ? { isCode: true, text: text.slice(1, -1) } : { isCode: false, text }
  );
}

export function proseMarkup(sentence: string): Markup {
  const parts: readonly MarkupValue[] = proseParts(sentence).map(({ isCode, text }) =>
    isCode ? markup`<code class="${codeClass(text)}">${text}</code>` : text
  );
  return markup`${parts}`;
}

/** The class of a code element: `whole` if it must not be broken. */
export function codeClass(text: string): string {
  return text.length <= UNBROKEN_CODE_LENGTH ? "whole" : "";
}
