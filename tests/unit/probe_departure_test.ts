/** Decisions on a probe that depart from its advice: errors found, and false alarms. */
import assert from "node:assert/strict";
import type { Interaction } from "../../src/domain/interaction.ts";
import { departsFromAdvice } from "../../src/domain/probe.ts";

const CASES:
  readonly (readonly [Interaction["decision"], aiCorrect: boolean, outcome: boolean, departs: boolean])[] = [
    ["accepted", false, false, false],
    ["accepted", true, true, false],
    ["rejected", false, true, true],
    ["rejected", true, false, true],
    ["overridden", true, false, true],
    ["escalated", false, true, true],
    ["deferred", true, false, true],
    ["modified", false, true, true],
    ["modified", false, false, false],
    ["modified", true, true, false],
    ["modified", true, false, true],
  ];

for (const [decision, ai_correct, outcome_correct, departs] of CASES) {
  const outcome = outcome_correct ? "a right" : "a wrong";
  Deno.test(`${decision} with ${ai_correct ? "right" : "wrong"} advice and ${outcome} outcome ${departs ? "departs" : "does not depart"} from it`, () => {
    assert.equal(departsFromAdvice({ decision, ai_correct, outcome_correct }), departs);
  });
}
