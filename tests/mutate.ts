/**
 * `task mutate`: would a test notice if a number of the model were another? Changes each number of the
 * default document (`model_mutations.ts`), and runs the checks of the tests of behaviour (`model_checks.ts`)
 * on it: the worked cases and the golden vectors. A mutation that passes them all is a survivor. Prints how
 * many either kind notices, and the survivors by name; exits 1 if there are any. `--list` prints every
 * mutation with the check that noticed it. The numbers that the formulas do not read (`model_unread.ts`) are
 * not mutated: whatever they are, no check and no explanation may change.
 */
import { AssertionError } from "node:assert/strict";
import { DEFAULT_MODEL_DOCUMENT, type ModelDocument } from "../src/scoring/model.ts";
import { GOLDEN, MODEL_CASES, type ModelCheck, VECTOR_CHECKS } from "./model_checks.ts";
import { type Mutation, mutationsOf, numbersOf } from "./model_mutations.ts";
import { explanationChecks, readBy, UNREAD } from "./model_unread.ts";

const CHECKS = [...MODEL_CASES, ...VECTOR_CHECKS];

/** The first check that fails for a mutation; null for a survivor. */
export function noticedBy({ document }: Mutation, checks: readonly ModelCheck[] = CHECKS): ModelCheck | null {
  return brokenCheck(document, checks);
}

/** The first check that fails for a document, or null. An error that is no assertion is thrown on. */
export function brokenCheck(
  document: ModelDocument,
  checks: readonly ModelCheck[] = CHECKS,
): ModelCheck | null {
  return checks.find(({ holds }) => {
    try {
      holds(document);
      return false;
    } catch (error) {
      if (error instanceof AssertionError) return true;
      throw error;
    }
  }) ?? null;
}

/** The numbers that are said to be unread and are read, with the check that shows it. */
export function readAfterAll(): readonly string[] {
  const checks = [...CHECKS, ...explanationChecks(DEFAULT_MODEL_DOCUMENT, GOLDEN)];
  const numbers = numbersOf(DEFAULT_MODEL_DOCUMENT);
  return Object.keys(UNREAD).flatMap((name) => {
    const number = numbers.find(({ path }) => path.join(".") === name);
    if (number === undefined) return [`${name}: there is no such number`];
    const check = readBy(DEFAULT_MODEL_DOCUMENT, number.path, checks);
    return check === null ? [] : [`${name}: ${check.name}`];
  });
}

function run({ isListed }: { readonly isListed: boolean }): number {
  const { version } = DEFAULT_MODEL_DOCUMENT;
  const broken = brokenCheck(DEFAULT_MODEL_DOCUMENT);
  if (broken !== null) {
    console.log(`${version} itself does not hold, so that nothing is shown by its mutations: ${broken.name}`);
    return 1;
  }
  const read = readAfterAll();
  const numbers = numbersOf(DEFAULT_MODEL_DOCUMENT).map(({ path }) => path.join("."));
  const judged = mutationsOf(DEFAULT_MODEL_DOCUMENT).filter(({ path }) => !(path in UNREAD)).map((
    mutation,
  ) => ({
    mutation,
    byCase: noticedBy(mutation, MODEL_CASES),
    byVector: noticedBy(mutation, VECTOR_CHECKS),
  }));
  if (isListed) {
    for (const { mutation: { path, change }, byCase, byVector } of judged) {
      console.log(`${path}: ${change}: ${(byCase ?? byVector)?.name ?? "SURVIVED"}`);
    }
    for (const [path, reason] of Object.entries(UNREAD)) console.log(`${path}: not read: ${reason}`);
  }
  const mutated = new Set(judged.map(({ mutation }) => mutation.path));
  const untouched = numbers.filter((path) => !mutated.has(path) && !(path in UNREAD));
  const survivors = judged.filter(({ byCase, byVector }) => byCase === null && byVector === null);
  const noticed = (by: "byCase" | "byVector") => judged.filter((row) => row[by] !== null).length;
  console.log(`${version}: ${numbers.length} numbers, ${judged.length} mutations`);
  console.log(`noticed by a worked case: ${noticed("byCase")}, by a golden vector: ${noticed("byVector")}`);
  console.log(`numbers that these formulas do not read: ${Object.keys(UNREAD).length}`);
  for (const path of untouched) console.log(`no mutation that the schema takes: ${path}`);
  for (const { mutation: { path, change } } of survivors) console.log(`SURVIVED ${path}: ${change}`);
  for (const line of read) console.log(`said to be unread, but read: ${line}`);
  console.log(`survivors: ${survivors.length}`);
  return survivors.length + untouched.length + read.length === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(run({ isListed: Deno.args.includes("--list") }));
