/**
 * Checks whether a text is the canonical JSON of the value that was parsed from it. The answer is the same as
 * writing the value again with {@link canonicalJson} and comparing, but it comes several times faster for the
 * texts in bundles.
 *
 * `JSON.stringify` differs from canonical JSON in four things only: it keeps the order of members, it moves
 * integer-like names to the front, it escapes lone surrogates, which canonical JSON refuses, and it has no
 * limit of depth. A text that it reproduces and that shows none of the four is canonical; in doubt the slow
 * way decides.
 */
import { canonicalJson } from "./canonical.ts";

/** Deepest nesting that canonical JSON allows. */
const DEPTH_LIMIT = 64;

/** Whether a text is canonical JSON. `value` must be the result of `JSON.parse(text)`. */
export function isCanonicalText(text: string, value: unknown): boolean {
  const isPlain = !isContainer(value) || isOrdered(value, 1);
  if (isPlain && !text.includes("\\ud") && JSON.stringify(value) === text) return true;
  return canonicalTextOf(value) === text;
}

/**
 * The canonical text of a parsed value; null if it has none: it has a lone surrogate or too deep a nesting.
 */
export function canonicalTextOf(value: unknown): string | null {
  try {
    return canonicalJson(value);
  } catch {
    return null;
  }
}

/** Whether the members of every object stand in order, and no nesting is too deep. */
function isOrdered(value: object, depth: number): boolean {
  if (depth > DEPTH_LIMIT) return false;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      if (isContainer(value[index]) && !isOrdered(value[index], depth + 1)) return false;
    }
    return true;
  }
  let previous = "";
  let previousFirst = -1;
  // A parsed object has only enumerable members of its own, and `for … in` makes no list of them.
  for (const name in value) {
    // Comparing the first code units nearly always suffices, and comparing two numbers is much cheaper.
    const first = name === "" ? -1 : name.charCodeAt(0);
    if (first <= previousFirst && name < previous) return false;
    previous = name;
    previousFirst = first;
    const member = (value as Record<string, unknown>)[name];
    if (isContainer(member) && !isOrdered(member, depth + 1)) return false;
  }
  return true;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
