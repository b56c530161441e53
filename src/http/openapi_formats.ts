/** How many bits a number takes: what JSON Schema leaves open and typed clients must know. */

const INT32 = { least: -(2 ** 31), most: 2 ** 31 - 1 };

/** What is looked at of a schema as it is published. */
interface Published {
  type?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
}

/** Without it generators take 32 bits for any number: too few for a score's decimals, and for milliseconds. */
export function withFormat({ jsonSchema }: { readonly jsonSchema: unknown }): void {
  const schema = jsonSchema as Published;
  const types = [schema.type].flat();
  if (types.includes("number")) schema.format = "double";
  if (!types.includes("integer")) return;
  const { minimum = -Infinity, maximum = Infinity } = schema;
  schema.format = minimum >= INT32.least && maximum <= INT32.most ? "int32" : "int64";
}
