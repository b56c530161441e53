/**
 * Computes the memory that a JSON text takes once it is parsed, from its bytes, before any parser reads them.
 *
 * The costs are upper bounds, measured on V8 14 (`tests/real/json_cost_test.ts` measures them again). A body
 * of 5 MB takes at most 133 MB, as a million nested arrays; ordinary ones take two or three times their size.
 */

/** Bytes of an array or object, and of its slot in its parent. */
const CONTAINER_COST = 64;
/** Bytes of a member's name and slot; it takes most if each object has a name that no other object has. */
const MEMBER_COST = 128;
/** Bytes of one more element or member: its slot, and the number in it. */
const ITEM_COST = 24;
/** Bytes of a string beyond its characters. */
const STRING_COST = 32;

export interface JsonSize {
  /** Nesting depth of objects and arrays; the outermost counts as 1. */
  readonly depth: number;
  /** The most bytes that the parsed value takes. */
  readonly cost: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
/** Begins a Unicode escape after a backslash. */
const UNICODE_ESCAPE = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const LAST_ASCII = 0x7f;

/** Surveys the bytes of a text, which may be no JSON at all. */
export function measureJson(bytes: Uint8Array): JsonSize {
  let depth = 0;
  let deepest = 0;
  let structure = 0;
  let isInString = false;
  let isWide = false;
  for (let index = 0; index < bytes.length; index += 1) {
    const code = bytes[index]!;
    if (isInString) {
      if (code === BACKSLASH) {
        index += 1;
        isWide ||= bytes[index] === UNICODE_ESCAPE;
      } else if (code === QUOTE) isInString = false;
      else if (code > LAST_ASCII) isWide = true;
      continue;
    }
    switch (code) {
      case QUOTE:
        isInString = true;
        structure += STRING_COST;
        break;
      case COMMA:
        structure += ITEM_COST;
        break;
      case COLON:
        structure += MEMBER_COST;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        structure += CONTAINER_COST;
        depth += 1;
        if (depth > deepest) deepest = depth;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
    }
  }
  // A character beyond Latin-1 takes two bytes, and so do all other characters of its string.
  return { depth: deepest, cost: structure + bytes.length * (isWide ? 2 : 1) };
}
