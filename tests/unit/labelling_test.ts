/** Labelling after the fact: the order of cases, the labels that a decision may get, and who is known to be an operator. */
import assert from "node:assert/strict";
import { DECISIONS, SCENARIO_TYPES } from "../../src/domain/enums.ts";
import { contradictionOf } from "../../src/domain/truth.ts";
import { isKnownAsOperator, possibleLabels, teachingRank } from "../../src/domain/labelling.ts";

Deno.test("a case teaches more if its decision is no plain acceptance, and if its stakes are high", () => {
  for (const decision of DECISIONS) {
    for (const scenario_type of SCENARIO_TYPES) {
      const isHigh = ["high_stakes", "critical"].includes(scenario_type);
      const expected = decision === "accepted" ? (isHigh ? 1 : 0) : (isHigh ? 2 : 1);
      assert.equal(teachingRank({ decision, scenario_type }), expected, `${decision} ${scenario_type}`);
    }
  }
});

Deno.test("a decision may get each label that contradicts nothing, and no other", () => {
  const shown = { scenario_type: "standard", ai_recommendation_presented: true } as const;
  for (const decision of DECISIONS) {
    for (const ai_correct of [true, false, null]) {
      const labels = possibleLabels({ decision, ...shown }, ai_correct);
      for (const outcome_correct of [true, false]) {
        const contradicts = contradictionOf({
          ...{ decision, ...shown, outcome_correct },
          ai_correct: ai_correct ?? undefined,
        }) !== null;
        const isOneQuestion = decision === "accepted" && ai_correct === null;
        assert.equal(
          labels.some((label) =>
            label.outcome_correct === outcome_correct && label.ai_correct === ai_correct
          ),
          !contradicts && !isOneQuestion,
          `${decision} ${ai_correct} ${outcome_correct}`,
        );
      }
    }
  }
  assert.deepEqual(possibleLabels({ decision: "accepted", ...shown }, true), [
    { ai_correct: true, outcome_correct: true },
  ]);
  assert.deepEqual(possibleLabels({ decision: "rejected", ...shown }, true), [
    { ai_correct: true, outcome_correct: false },
  ]);
  assert.equal(possibleLabels({ decision: "modified", ...shown }, true).length, 2);
  // Without advice only the decision is judged.
  const withheld = { scenario_type: "ai_withheld", ai_recommendation_presented: false } as const;
  assert.equal(possibleLabels({ decision: "accepted", ...withheld }, null).length, 2);
});

const ADA = {
  user_id: "usr_01J00000000000000000000ADA",
  email: "ada.ruiz@acme.example",
  name: "Ada Ruíz",
  issuer_subject: "00u-4711",
};

Deno.test("a user is known as an operator by address, its first part, name, user_id and the provider's subject", () => {
  for (
    const id of [
      "ada-ruiz",
      "ADA_RUIZ",
      "adaruiz",
      "ada_ruiz_acme_example",
      "usr_01J00000000000000000000ADA",
      "00U-4711",
    ]
  ) assert.ok(isKnownAsOperator(ADA, id), id);
  for (const id of ["ada", "ruiz", "ada-ruiz-2", "acme", "reviewer-ada-ruiz", "-", "__"]) {
    assert.ok(!isKnownAsOperator(ADA, id), id);
  }
});

Deno.test("a user without a name is no operator, nor is one whose name has no letter of an id", () => {
  const nobody = { user_id: "usr_1", email: null, name: null, issuer_subject: null };
  assert.ok(!isKnownAsOperator(nobody, "ada"));
  for (const id of ["-", "_", "ada"]) assert.ok(!isKnownAsOperator({ ...nobody, name: "李" }, id), id);
});
