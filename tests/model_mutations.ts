/**
 * Changes each number of a model document in turn, to show whether any test would notice.
 *
 * A number is changed up and down by 5 %, an integer also by 1; an integer that the schema requires by 1
 * only; 0 by 0.05. If the schema requires a sum of 1, another number of the sum balances the difference; a
 * dimension with only one bucket gives it to another bucket. With `jis-3` a dimension that gets a weight gets a
 * cost of false alarms in place of its buckets. A change that the schema refuses in every form is no mutation.
 * Texts, dates, truth values and the exercises are left out.
 */
import { type ModelDocument, modelSchema } from "../src/scoring/model.ts";

export type Path = readonly (string | number)[];

export interface Mutation {
  /** The number's path, such as `buckets.H.capacity`. */
  readonly path: string;
  /** The change, in words. */
  readonly change: string;
  readonly document: ModelDocument;
}

/** Every number of a document, with its path, in the document's order. */
export function numbersOf(
  document: ModelDocument,
): readonly { readonly path: Path; readonly value: number }[] {
  return [...leaves(document, [])];
}

function* leaves(value: unknown, path: Path): Generator<{ readonly path: Path; readonly value: number }> {
  if (path.join(".") === "maintenance.exercises") return;
  if (typeof value === "number") yield { path, value };
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    yield* leaves(member, [...path, Array.isArray(value) ? Number(name) : name]);
  }
}

/** A plain object of the document; only this module writes to it. */
// deno-lint-ignore no-explicit-any
type Open = any;

/** The value at a path of a document; undefined if its last member is absent. */
export const at = (document: Open, path: Path): Open => path.reduce((value, name) => value[name], document);

/** A copy of the document with another number at a path, whether the schema takes it or not. */
export function withNumber(document: ModelDocument, path: Path, value: number): ModelDocument {
  const copy: Open = structuredClone(document);
  at(copy, path.slice(0, -1))[path.at(-1)!] = value;
  return copy;
}

/** Members of dimensions of which all together are 1. */
const WEIGHTS: readonly unknown[] = ["weight", "lite_weight"];

/**
 * The paths whose numbers add up to 1 with the one at `path`, without that one; null if no sum is required.
 */
function sharersOf(document: ModelDocument, path: Path): readonly Path[] | null {
  const [section, name, member] = path;
  const others = (names: readonly string[], own: unknown, pathOf: (other: string) => Path) =>
    names.filter((other) => other !== String(own)).map(pathOf).filter((other) =>
      at(document, other) !== undefined
    );
  if (section === "dimensions" && WEIGHTS.includes(member)) {
    return others(Object.keys(document.dimensions), name, (other) => [section, other, member!]);
  }
  if (path.length === 4 && name === "sensitivity" && path[3] === "weight") {
    const rows = Object.keys(document.discrimination!.sensitivity);
    return others(rows, member, (other) => [section!, name, Number(other), "weight"]);
  }
  const isEngagement = section === "process" && name === "engagement" && String(member).endsWith("_weight");
  if (!isEngagement && member !== "exponents") return null;
  const parent = path.slice(0, -1);
  const names = Object.keys(at(document, parent)).filter((other) =>
    !isEngagement || other.endsWith("_weight")
  );
  return others(names, path.at(-1), (other) => [...parent, other]);
}

/**
 * The document with `value` at `path`, and the other numbers that had to change; null if the schema refuses
 * it.
 */
function changed(document: ModelDocument, path: Path, value: number): Mutation | null {
  const copy: Open = withNumber(document, path, value);
  const before = at(document, path);
  let change = `${before} → ${value}`;
  const sharers = sharersOf(document, path);
  if (sharers !== null) {
    const size = (other: Path) => at(document, other);
    const largest = sharers.reduce<Path | null>(
      (best, other) => (best === null || size(other) > size(best) ? other : best),
      null,
    );
    // A dimension of one bucket has no other to share with: it gives to the mean of correct acceptances.
    const other = largest ?? [...path.slice(0, -1), "C"];
    const given = roundedOf((largest === null ? 0 : size(other)) + before - value);
    at(copy, other.slice(0, -1))[other.at(-1)!] = given;
    change += `, ${other.join(".")} → ${given}`;
  }
  const [section, name, member] = path;
  if (section === "dimensions" && WEIGHTS.includes(member) && document.formulas === "jis-3") {
    const row = at(copy, [section, name!]);
    if (row.exponents !== undefined && value > 0) {
      delete row.exponents;
      row.false_alarm_cost = 1;
      change += `, dimensions.${name}.exponents → false_alarm_cost 1`;
    }
  }
  return modelSchema.safeParse(copy).success ? { path: path.join("."), change, document: copy } : null;
}

/** Without rounding errors beyond the twelfth decimal. */
const roundedOf = (value: number) => Math.round(value * 1e12) / 1e12;

/** The mutations of every number of a document; each changes something. */
export function mutationsOf(document: ModelDocument): readonly Mutation[] {
  return numbersOf(document).flatMap(({ path, value }) => {
    const step = value === 0 ? 0.05 : Math.abs(value) * 0.05;
    const byShare = [value + step, value - step].map(roundedOf);
    const byOne = Number.isInteger(value) && value !== 0 ? [value + 1, value - 1] : [];
    const values = new Set([...byShare, ...byOne]);
    return [...values].flatMap((other) => changed(document, path, other) ?? []);
  });
}
