/** A schema in words: its type, its limits, and whether it has deeper fields. */
import { nameOf, type OpenApi, resolved, type Schema } from "./document.ts";

/** A literal as JSON. */
function literal(value: unknown): string {
  return JSON.stringify(value);
}

/** The alternatives without null; null if the schema has none. */
export function alternativesOf(schema: Schema): readonly Schema[] | null {
  const alternatives = schema.anyOf ?? schema.oneOf;
  return alternatives?.filter(({ type }) => type !== "null") ?? null;
}

function allowsNull({ anyOf, oneOf, type }: Schema): boolean {
  return (anyOf ?? oneOf)?.some((one) => one.type === "null") === true ||
    (Array.isArray(type) && type.includes("null"));
}

/** For example "array of string", "Evidence or null". */
export function typeInWords(schema: Schema): string {
  const words = plainType(schema);
  return allowsNull(schema) ? `${words} or null` : words;
}

function plainType(schema: Schema): string {
  const name = nameOf(schema);
  if (name !== null) return name;
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(" | ");
  const alternatives = alternativesOf(schema);
  if (alternatives !== null) return [...new Set(alternatives.map(typeInWords))].join(" or ");
  if (schema.prefixItems !== undefined) return `[${schema.prefixItems.map(typeInWords).join(", ")}]`;
  if (typeof schema.items === "object") return `array of ${typeInWords(schema.items)}`;
  if (typeof schema.additionalProperties === "object" && schema.properties === undefined) {
    return `object of ${typeInWords(schema.additionalProperties)} by name`;
  }
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type ?? "any JSON"]) as readonly string[];
  const kind = types.filter((type) => type !== "null").join(" or ");
  return schema.format === undefined ? kind : `${kind}, ${schema.format}`;
}

/** The limits of a value besides its type; a pattern stands between backticks. */
export function limitsInWords(schema: Schema): readonly string[] {
  const words = [
    span(schema.minLength, schema.maxLength, "characters"),
    span(schema.minItems, schema.maxItems, "items"),
    span(schema.minimum, schema.maximum, ""),
    schema.exclusiveMinimum === undefined ? null : `more than ${schema.exclusiveMinimum}`,
    schema.exclusiveMaximum === undefined ? null : `less than ${schema.exclusiveMaximum}`,
    // A format is shorter than its pattern.
    schema.pattern === undefined || schema.format !== undefined ? null : `matches \`${schema.pattern}\``,
    schema.not?.pattern === undefined ? null : `does not match \`${schema.not.pattern}\``,
    schema.default === undefined ? null : `default \`${literal(schema.default)}\``,
  ];
  return words.filter((word) => word !== null);
}

function span(least: number | undefined, most: number | undefined, unit: string): string | null {
  const from = least === undefined || least <= -Number.MAX_SAFE_INTEGER ? null : least;
  const to = most === undefined || most >= Number.MAX_SAFE_INTEGER ? null : most;
  const of = unit === "" ? "" : ` ${unit}`;
  if (from === null && to === null) return null;
  if (from === to) return `exactly ${from}${of}`;
  if (to === null) return `at least ${from}${of}`;
  if (from === null) return `at most ${to}${of}`;
  return `${from} to ${to}${of}`;
}

/** Whether a schema holds fields somewhere inside. */
export function isDeep(document: OpenApi, schema: Schema): boolean {
  const { properties, items, additionalProperties, prefixItems, ...rest } = resolved(document, schema);
  const inside = [
    ...alternativesOf(rest) ?? [],
    ...prefixItems ?? [],
    ...(typeof items === "object" ? [items] : []),
    ...(typeof additionalProperties === "object" ? [additionalProperties] : []),
  ];
  return properties !== undefined || inside.some((one) => isDeep(document, one));
}
