/**
 * Canonical JSON (RFC 8785) over a restricted value set: one text for one value, hashed and stored as it is.
 *
 * It is stricter than the RFC's reference: a value that JSON cannot express exactly is refused, never dropped
 * or converted, and `toJSON` is never called. -0 is written as 0.
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
  switch (typeof value) {
    case "boolean":
      return value ? "true" : "false";
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`not a JSON number: ${value}`);
      // The RFC uses ECMAScript's own text of a number (section 3.2.2.3).
      return Object.is(value, -0) ? "0" : String(value);
    case "string":
      return writeString(value);
    case "object":
      if (value === null) return "null";
      if (depth > DEPTH_LIMIT) throw new RangeError(`nested deeper than ${DEPTH_LIMIT}`);
      return Array.isArray(value) ? writeArray(value, depth) : writeObject(value, depth);
    default:
      throw new TypeError(`not a JSON value: ${typeof value}`);
  }
}

function writeString(text: string): string {
  if (!text.isWellFormed()) throw new TypeError("a string with a lone surrogate");
  return JSON.stringify(text);
}

// Texts grow by concatenation: engines do that in place, while a list of parts would have to be made and
// joined.

function writeArray(items: readonly unknown[], depth: number): string {
  let text = "[";
  for (let index = 0; index < items.length; index += 1) {
    if (!(index in items)) throw new TypeError("an array with a hole");
    if (index > 0) text += ",";
    text += write(items[index], depth + 1);
  }
  return `${text}]`;
}

function writeObject(value: object, depth: number): string {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new TypeError(`not a plain object: ${Object.prototype.toString.call(value)}`);
  }
  let text = "{";
  for (const name of sortNames(Object.keys(value))) {
    if (text.length > 1) text += ",";
    text += writeName(name) + write((value as Record<string, unknown>)[name], depth + 1);
  }
  return `${text}}`;
}

/** Up to this number of names, an insertion sort takes a fraction of the time of `sort`. */
const FEW_NAMES = 32;

/** Orders names by UTF-16 code units, as the RFC asks (section 3.2.3), in place. */
function sortNames(names: string[]): readonly string[] {
  // Without a comparison, `sort` orders strings as `<` does.
  if (names.length > FEW_NAMES) return names.sort();
  for (let index = 1; index < names.length; index += 1) {
    const name = names[index]!;
    let place = index;
    for (; place > 0 && names[place - 1]! > name; place -= 1) names[place] = names[place - 1]!;
    names[place] = name;
  }
  return names;
}

/** Cache of written names, each with its colon: most texts use the same few names. */
const WRITTEN_NAMES = new Map<string, string>();
const WRITTEN_NAMES_MAX = 1_000;
const WRITTEN_NAME_LENGTH_MAX = 64;

function writeName(name: string): string {
  const known = WRITTEN_NAMES.get(name);
  if (known !== undefined) return known;
  const text = `${writeString(name)}:`;
  if (name.length > WRITTEN_NAME_LENGTH_MAX) return text;
  if (WRITTEN_NAMES.size >= WRITTEN_NAMES_MAX) WRITTEN_NAMES.clear();
  WRITTEN_NAMES.set(name, text);
  return text;
}
