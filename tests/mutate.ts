/**
 * `task mutate`: would a test notice, were a number of the model another? Each number of the default document is changed
 * (`model_mutations.ts`), and the checks that the tests of behaviour make (`model_checks.ts`) are made on the changed document,
 * the worked cases first, then the golden vectors. A mutation of which all of them hold is a survivor. Prints which tests
 * notice how many, and the survivors by name; exits 1 where there are any. `--list` prints every mutation with the check that
 * noticed it.
 */
import { AssertionError } from "node:assert/strict";
import { DEFAULT_MODEL_DOCUMENT } from "../src/scoring/model.ts";
import { MODEL_CASES, type ModelCheck, VECTOR_CHECKS } from "./model_checks.ts";
import { type Mutation, mutationsOf, numbersOf } from "./model_mutations.ts";

const CHECKS = [...MODEL_CASES, ...VECTOR_CHECKS];

/** The first check that does not hold of a mutation; null for a survivor. An error that is no assertion is thrown on. */
export function noticedBy({ document }: Mutation, checks: readonly ModelCheck[] = CHECKS): ModelCheck | null {
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

function run(args: readonly string[]): number {
  const mutations = mutationsOf(DEFAULT_MODEL_DOCUMENT);
  const judged = mutations.map((mutation) => ({ mutation, by: noticedBy(mutation) }));
  if (args.includes("--list")) {
    for (const { mutation, by } of judged) {
      console.log(`${mutation.path}: ${mutation.change}: ${by?.name ?? "SURVIVED"}`);
    }
  }
  const numbers = numbersOf(DEFAULT_MODEL_DOCUMENT);
  const mutated = new Set(mutations.map(({ path }) => path));
  const untouched = numbers.map(({ path }) => path.join(".")).filter((path) => !mutated.has(path));
  const survivors = judged.filter(({ by }) => by === null);
  const ofCases = judged.filter(({ by }) => by !== null && MODEL_CASES.includes(by)).length;
  const ofVectors = judged.length - survivors.length - ofCases;
  console.log(`${DEFAULT_MODEL_DOCUMENT.version}: ${numbers.length} numbers, ${mutations.length} mutations`);
  console.log(`noticed by a worked case: ${ofCases}; by a golden vector alone: ${ofVectors}`);
  for (const path of untouched) console.log(`no mutation that the schema takes: ${path}`);
  for (const { mutation } of survivors) console.log(`SURVIVED ${mutation.path}: ${mutation.change}`);
  console.log(`survivors: ${survivors.length}`);
  return survivors.length + untouched.length === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(run(Deno.args));
