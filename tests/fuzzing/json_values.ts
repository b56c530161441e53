/** Values for a JSON Schema, as fast-check draws them, and values that are odd for any schema. */
import fc from "fast-check";
import type { Schema } from "./api_document.ts";

/** Written literally: JavaScript serializes no value like this. */
export const ODD_TOKENS: readonly string[] = [
  "-0",
  "1e999",
  "-1e999",
  "1e308",
  "5e-324",
  "1.0000000000000000000000001",
  "9007199254740993",
  "-9007199254740993",
  "123456789012345678901234567890",
  "0.1e1",
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u0000"',
  '"\\u202e\\ufeff"',
  '{"__proto__":{"x":1}}',
  '{"constructor":{"prototype":null}}',
  `${"[".repeat(15)}${"]".repeat(15)}`,
  `${"[".repeat(17)}${"]".repeat(17)}`,
  `"${"x".repeat(5000)}"`,
];

export const ODD_TEXTS: readonly string[] = [
  "",
  " ",
  "null",
  "undefined",
  "NaN",
  "0",
  "-0",
  "-1",
  "+1",
  "1e1",
  "1.5",
  "0x10",
  "9007199254740993",
  "99999999999999999999",
  "\u0000",
  "\ufeff",
  "\u202e",
  "e\u0301",
  "İ",
  "🙂",
  "a'b",
  'a"b',
  "' OR 1=1 --",
  "%",
  "%00",
  "..",
  "../..",
  "a/b",
  "a\\b",
  "__proto__",
  "constructor",
  "toString",
  "x".repeat(257),
  "x".repeat(4000),
];

/** At the edges of possible instants and dates. */
export const ODD_DATES: readonly string[] = [
  "0000-01-01",
  "0001-01-01",
  "1969-12-31",
  "1970-01-01",
  "2024-02-29",
  "2025-02-29",
  "2026-02-30",
  "2026-11-20T24:00:00Z",
  "2026-11-20T23:59:60Z",
  "2026-11-20T00:00:00+14:00",
  "2026-11-20T00:00:00-99:99",
  "2026-11-20T00:00",
  "2026-13-01",
  "9999-12-31",
  "9999-12-31T23:59:59.999-14:00",
  "+010000-01-01",
  "-271821-04-20T00:00:00.000Z",
  "+275760-09-13T00:00:00.000Z",
  "2026-W01-1",
  "20261120",
];

export interface ValuesOptions {
  readonly resolve: (schema: Schema) => Schema;
  /** Replaces members with these names, wherever they are. */
  readonly members?: Readonly<Record<string, fc.Arbitrary<unknown>>>;
}

const LONGEST_ARRAY = 3;

/** Values that fit a schema. */
export function valuesOf(schema: Schema, options: ValuesOptions): fc.Arbitrary<unknown> {
  const found = options.resolve(schema);
  if ("const" in found) return fc.constant(found.const);
  if (found.enum !== undefined) return fc.constantFrom(...found.enum);
  const either = found.anyOf ?? found.oneOf;
  if (either !== undefined) return fc.oneof(...either.map((one: Schema) => valuesOf(one, options)));
  if (Array.isArray(found.type)) {
    return fc.oneof(...found.type.map((type: string) => valuesOf({ ...found, type }, options)));
  }
  switch (found.type) {
    case "object":
      return objectsOf(found, options);
    case "array":
      return arraysOf(found, options);
    case "string":
      return textsOf(found);
    case "integer":
      return integersOf(found);
    case "number":
      return fc.oneof(...(hasInteger(found) ? [integersOf(found)] : []), fc.double(boundsOf(found)));
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function boundsOf({ minimum = -1e308, maximum = 1e308 }: Schema): fc.DoubleConstraints {
  return { min: minimum, max: maximum, noNaN: true };
}

function hasInteger(
  { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER }: Schema,
): boolean {
  return Math.ceil(minimum) <= Math.floor(maximum);
}

function integersOf({ minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER }: Schema) {
  return fc.integer({
    min: Math.ceil(Math.max(minimum, -(2 ** 31))),
    max: Math.floor(Math.min(maximum, 2 ** 31 - 1)),
  });
}

function textsOf({ not, ...schema }: Schema): fc.Arbitrary<string> {
  const forbidden = not?.pattern === undefined ? null : new RegExp(not.pattern, "u");
  return plainTextsOf(schema).filter((text) => forbidden?.test(text) !== true);
}

function plainTextsOf({ pattern, format, minLength = 0, maxLength = 300 }: Schema): fc.Arbitrary<string> {
  if (format === "uuid") return fc.uuid();
  if (format === "uri") return fc.webUrl({ validSchemes: ["https"] });
  if (pattern !== undefined) {
    // A pattern of any length beside bounds of the length.
    const length = `{${minLength},${Math.min(maxLength, minLength + 60)}}$`;
    return fc.stringMatching(new RegExp(minLength === 0 ? pattern : pattern.replace(/\*\$$/, length), "u"));
  }
  const free = fc.string({ unit: "grapheme", minLength, maxLength: Math.min(maxLength, minLength + 60) });
  const longest = fc.constant("x".repeat(maxLength));
  return fc.oneof({ weight: 8, arbitrary: free }, { weight: 1, arbitrary: longest });
}

function arraysOf({ items, minItems = 0, maxItems = 100 }: Schema, options: ValuesOptions) {
  const element = valuesOf(items ?? {}, options);
  const short = Math.max(minItems, Math.min(maxItems, LONGEST_ARRAY));
  return fc.oneof(
    { weight: 60, arbitrary: fc.array(element, { minLength: minItems, maxLength: short }) },
    { weight: 1, arbitrary: fc.array(element, { minLength: maxItems, maxLength: maxItems, size: "max" }) },
  );
}

/** Whether nothing fits it: a member that must be left out. */
function isNever({ not }: Schema): boolean {
  return not !== undefined && Object.keys(not).length === 0;
}

function objectsOf(schema: Schema, options: ValuesOptions): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const members = Object.fromEntries(
    Object.entries(properties).filter(([, member]) => !isNever(member)).map(([name, member]) => [
      name,
      options.members?.[name] ?? valuesOf(member, options),
    ]),
  );
  const known = fc.record(members, { requiredKeys: required, noNullPrototype: true });
  const values = additionalProperties === undefined || additionalProperties === true
    ? fc.jsonValue({ maxDepth: 1 })
    : additionalProperties === false
    ? null
    : valuesOf(additionalProperties, options);
  if (values === null) return known;
  // A name that is a member of the schema gets that member's value.
  const others = fc.dictionary(fc.string({ maxLength: 8 }), values, { maxKeys: 2, noNullPrototype: true });
  return fc.tuple(known, fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, others)).map((
    [one, more],
  ) => ({ ...more, ...one }));
}
