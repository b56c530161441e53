/** The bit width of numbers: typed clients must know it, but JSON Schema does not state it. */

const INT32 = { least: -(2 ** 31), most: 2 ** 31 - 1 };

/** The fields of a published schema that are used here. */
interface Published {
  type?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
}

/**
 * Sets the format of numbers, and leaves out bounds of answers that say nothing. Without it generators use 32 bits for any number, too few for a score's
 * decimals and for milliseconds.
 */
export function withFormat(
  { jsonSchema, io }: { readonly jsonSchema: unknown; readonly io: "input" | "output" },
): void {
  const schema = jsonSchema as Published;
  const types = [schema.type].flat();
  if (types.includes("number")) schema.format = "double";
  if (!types.includes("integer")) return;
  const { minimum = -Infinity, maximum = Infinity } = schema;
  schema.format = minimum >= INT32.least && maximum <= INT32.most ? "int32" : "int64";
  // A client must not send what lies beyond. No answer does, and saying so of each number helps nobody.
  if (io === "input") return;
  if (maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
}
