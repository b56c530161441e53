/** JSON whose parsed value takes far more memory than its text, or less: shapes that attackers send. */

const EMPTY_FRAME = ["[", "]"] as const;

const encoder = new TextEncoder();

function bytesOf(text: string): number {
  return /^[\0-\x7f]*$/.test(text) ? text.length : encoder.encode(text).length;
}

/** Joins as many pieces by commas as fit into `bytes`; a text is repeated. */
function filled(
  bytes: number,
  piece: string | ((index: number) => string),
  [start, end]: readonly [string, string] = EMPTY_FRAME,
): string {
  const room = bytes - start.length - end.length;
  if (typeof piece === "string") {
    const count = Math.floor(room / (bytesOf(piece) + 1));
    return start + `${piece},`.repeat(count).slice(0, -1) + end;
  }
  const pieces: string[] = [];
  for (let index = 0, length = 0;; index += 1) {
    const next = piece(index);
    length += bytesOf(next) + 1;
    if (length > room) return start + pieces.join(",") + end;
    pieces.push(next);
  }
}

const name = (index: number) => index.toString(36);
const AN_OBJECT = ["{", "}"] as const;

/** Name of a shape → a JSON value of that shape, of at most this many bytes. */
export const SHAPES: Readonly<Record<string, (bytes: number) => string>> = {
  "empty objects": (bytes) => filled(bytes, "{}"),
  "empty arrays": (bytes) => filled(bytes, "[]"),
  "arrays of one object": (bytes) => filled(bytes, "[{}]"),
  "arrays of one number": (bytes) => filled(bytes, "[0]"),
  "deep arrays": (bytes) => filled(bytes, "[".repeat(12) + "]".repeat(12)),
  "objects, each with a name of its own": (bytes) => filled(bytes, (index) => `{"${name(index)}":0}`),
  "objects with three names each": (bytes) =>
    filled(bytes, (index) => `{"${name(index)}":0,"${name(index + 1)}":0,"${name(index + 2)}":0}`),
  "objects of one name": (bytes) => filled(bytes, '{"":{}}'),
  "one object of many names": (bytes) => filled(bytes, (index) => `"${name(index)}":0`, AN_OBJECT),
  "one object of many objects": (bytes) => filled(bytes, (index) => `"${name(index)}":{}`, AN_OBJECT),
  "one object of many numbers as names": (bytes) =>
    filled(bytes, (index) => `"${(index * 9_973) % 99_999_999}":0`, AN_OBJECT),
  "whole numbers": (bytes) => filled(bytes, "1"),
  "broken numbers": (bytes) => filled(bytes, (index) => index === 0 ? '""' : "0.5"),
  "large numbers": (bytes) => filled(bytes, (index) => index === 0 ? '""' : String(5e9 + index)),
  "short strings": (bytes) => filled(bytes, (index) => `"${name(index)}"`),
  "strings of 13 letters": (bytes) => filled(bytes, (index) => `"${name(index).padStart(13, "x")}"`),
  "short strings of Greek letters": (bytes) => filled(bytes, (index) => `"${name(index)}λ"`),
  "short strings with escapes": (bytes) => filled(bytes, (index) => `"\\u03bb${name(index)}"`),
  "one long string": (bytes) => `["${"x".repeat(bytes - 4)}"]`,
  "one long string with a Greek letter": (bytes) => `["λ${"x".repeat(bytes - 6)}"]`,
  "one long string with an escape": (bytes) => `["\\u03bb${"x".repeat(bytes - 10)}"]`,
  "spaces": (bytes) => `${" ".repeat(bytes - 2)}[]`,
};
