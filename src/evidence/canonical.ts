/**
 * Canonical JSON (RFC 8785) over a restricted value set: one text for one value, hashed and stored as it is.
 *
 * Stricter than the RFC's reference: what JSON cannot say exactly is refused, never dropped or converted, and
 * `toJSON` is never called. -0 is written as 0.
 */

/** Deepest nesting that is canonicalised. */
const DEPTH_LIMIT = 64;

/**
 * The canonical text of a JSON value.
 * @throws {TypeError} on undefined, bigint, functions, symbols, class instances (Date, Map …), array holes,
 *   lone surrogates, NaN and infinities; {RangeError} on nesting deeper than 64.
 */
export function canonicalJson(value: unknown): string {
  return write(value, 1);
}

function write(value: unknown, depth: number): string {
  if (value === null || value === true || value === false) return String(value);
  switch (typeof value) {
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`not a JSON number: ${value}`);
      // ECMAScript's own number text is the RFC's (section 3.2.2.3).
      return Object.is(value, -0) ? "0" : String(value);
    case "string":
      return writeString(value);
    case "object":
      if (depth > DEPTH_LIMIT) throw new RangeError(`nested deeper than ${DEPTH_LIMIT}`);
      return Array.isArray(value) ? writeArray(value, depth) : writeObject(value as object, depth);
    default:
      throw new TypeError(`not a JSON value: ${typeof value}`);
  }
}

function writeString(text: string): string {
  if (!text.isWellFormed()) throw new TypeError("a string with a lone surrogate");
  return JSON.stringify(text);
}

function writeArray(items: readonly unknown[], depth: number): string {
  const parts: string[] = [];
  for (let index = 0; index < items.length; index += 1) {
    if (!(index in items)) throw new TypeError("an array with a hole");
    parts.push(write(items[index], depth + 1));
  }
  return `[${parts.join(",")}]`;
}

function writeObject(value: object, depth: number): string {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new TypeError(`not a plain object: ${prototype?.constructor?.name}`);
  }
  // Array.prototype.sort without a comparison orders by UTF-16 code units, as the RFC asks (section 3.2.3).
  const members = Object.keys(value).sort().map((key) =>
    `${writeString(key)}:${write((value as Record<string, unknown>)[key], depth + 1)}`
  );
  return `{${members.join(",")}}`;
}
