/**
 * Requirements of the tests of behaviour on the default model, each as a check of a document: `task test`
 * runs them on the document of the program, `task mutate` on each of its mutations. The only test that is no
 * such check is that of the document's hash, in `unit/golden_test.ts`: it would notice every change and say
 * nothing about behaviour.
 */
import assert from "node:assert/strict";
import type { ModelDocument } from "../src/scoring/model.ts";
import { ANSWER, type Golden, type Section } from "./golden.ts";
import { EVENT_CASES } from "./model_event_cases.ts";
import { LIMIT_CASES } from "./model_limit_cases.ts";
import { POSTERIOR_CASES } from "./model_posterior_cases.ts";
import document from "./vectors/scoring/jis-2.0.0.json" with { type: "json" };

export interface ModelCheck {
  readonly name: string;
  /** Throws if the check fails. */
  readonly holds: (model: ModelDocument) => void;
}

/** The worked cases of the default model. */
export const MODEL_CASES: readonly ModelCheck[] = [...EVENT_CASES, ...LIMIT_CASES, ...POSTERIOR_CASES];

/** The kept vectors of the default model. */
export const GOLDEN = document as unknown as Golden;

/** The cases of kept vectors, each history apart, to the last digit. */
export function vectorChecks(golden: Golden): readonly ModelCheck[] {
  const vector = <Name extends Section>(section: Name, name: string, only?: number): ModelCheck => ({
    name: `golden vectors: ${name}`,
    holds: (model) => {
      const kept = golden[section] as readonly Golden[Name][number][];
      const cases = only === undefined ? kept : [kept[only]!];
      assert.deepEqual(cases.map((one) => ANSWER[section](model, one)), cases);
    },
  });
  return [
    ...golden.histories.map(({ name }, index) => vector("histories", name, index)),
    vector("maintenance", "maintenance of every urgency and difficulty"),
    vector("organizations", "organizations"),
    vector("reports", "reports"),
  ];
}

/** The golden vectors of the default model. */
export const VECTOR_CHECKS: readonly ModelCheck[] = vectorChecks(GOLDEN);
