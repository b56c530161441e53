/**
 * Reads a model document from a stranger's file. It takes only the members that scoring uses, and only if the
 * formulas are known and the document is small enough to compute many scores with it.
 */
import { FORMULAS } from "../domain/enums.ts";
import { type ModelDocument, recordedModelSchema } from "../scoring/model.ts";
import { isMembers } from "./line_shapes.ts";

/** The most values in the members that scoring uses. A document has some 400. */
const VALUE_LIMIT = 10_000;
const LATER_FORMULAS = /^jis-\d+$/;

/** A document that can be used for scoring, or the reason why there is none. */
export type RecordedModel =
  | { readonly document: ModelDocument }
  /** `detail` is for an expert. */
  | { readonly fault: "malformed" | "too large" | "of later formulas"; readonly detail: string };

/** Reads a document with any content, in time that grows with its text. */
export function readRecordedModel(document: Readonly<Record<string, unknown>>): RecordedModel {
  const { formulas } = document;
  if (typeof formulas === "string" && !isKnown(formulas) && LATER_FORMULAS.test(formulas)) {
    return { fault: "of later formulas", detail: formulas.slice(0, 64) };
  }
  const read = sectionsOf(document);
  if (!hasFewValues(read)) return { fault: "too large", detail: `more than ${VALUE_LIMIT} values` };
  const { error } = recordedModelSchema.safeParse(read);
  // No code reads a member that these formulas do not know.
  const issues = (error?.issues ?? []).filter(({ code }) => code !== "unrecognized_keys");
  if (issues.length === 0) return { document: read as unknown as ModelDocument };
  const tooLarge = issues.find(({ code, path }) =>
    code === "too_big" && typeof valueAt(read, path) !== "number"
  );
  const first = tooLarge ?? issues[0]!;
  const detail = `${first.path.join(".")}: ${first.message}`;
  return { fault: tooLarge === undefined ? "malformed" : "too large", detail };
}

function isKnown(formulas: string): boolean {
  return (FORMULAS as readonly string[]).includes(formulas);
}

/** The members of a document that the formulas read. */
function sectionsOf(document: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { maintenance } = document;
  const { maintenance: rules, ...others } = recordedModelSchema.shape;
  return {
    ...pickMembers(document, Object.keys(others)),
    ...(isMembers(maintenance) ? { maintenance: pickMembers(maintenance, Object.keys(rules.shape)) } : {}),
  };
}

function pickMembers(
  members: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(
    names.flatMap((name) => Object.hasOwn(members, name) ? [[name, members[name]]] : []),
  );
}

/** Whether a value holds at most the allowed number of values. It stops counting at the limit. */
function hasFewValues(root: unknown): boolean {
  const open: unknown[] = [root];
  for (let count = 0; open.length > 0;) {
    const value = open.pop();
    if (typeof value !== "object" || value === null) continue;
    const values: readonly unknown[] = isList(value) ? value : Object.keys(value);
    count += values.length;
    if (count > VALUE_LIMIT) return false;
    for (const item of isList(value) ? value : Object.values(value)) open.push(item);
  }
  return true;
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  // deno-lint-ignore no-explicit-any -- walked by names that the schema found there
  return path.reduce((inner: any, name) => inner?.[name], root);
}
