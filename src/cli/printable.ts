/** Text of unknown origin on a terminal: a file names what it likes, and none of it may be more than text. */

/** The text with every character that could move the cursor, hide something or turn it around written as `\u{…}`. */
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
