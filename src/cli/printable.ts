/**
 * Makes text of unknown origin safe for a terminal: a file may contain anything, but only text may be shown.
 */

/** The text, with `\u{…}` for each character that could move the cursor, hide text or reverse it. */
export function printable(text: string): string {
  return text.replace(
    /[^\P{C}\n]|[\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}

/** The same on one line. */
export function printableLine(text: string): string {
  return printable(text.replaceAll("\n", "\\n"));
}
