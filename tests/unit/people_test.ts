/**
 * The model in use on the decisions of real people (tests/people/README.md). The figures are those of
 * docs/understand/scoring-model.md.
 */
import assert from "node:assert/strict";
import { VERDICT_STATUSES } from "../../src/domain/enums.ts";
import { Evaluation, type EvaluationResult } from "../../src/scoring/evaluation/evaluation.ts";
import { initialState } from "../../src/scoring/state.ts";
import { readState } from "../../src/scoring/reading.ts";
import { COSTS, withCosts } from "../../src/simulation/costs.ts";
import { JIS_2_0_0 } from "../models.ts";
import { peopleOf, type PersonDecision, rowOf, STUDIES, type Study } from "../people.ts";

type FoldOf = (decision: PersonDecision) => "fit" | "test" | null;
const isOdd = ({ trial }: PersonDecision) => trial % 2 === 1;

function evaluated(study: Study, foldOf: FoldOf, model = JIS_2_0_0): EvaluationResult {
  const evaluation = new Evaluation(model);
  for (const decision of peopleOf(study)) {
    const fold = foldOf(decision);
    if (fold !== null) evaluation.add(rowOf(decision, fold));
  }
  return evaluation.result();
}

const halves = (study: Study) => [
  evaluated(study, (decision) => isOdd(decision) ? "fit" : "test"),
  evaluated(study, (decision) => isOdd(decision) ? "test" : "fit"),
];

/** Log losses as the page gives them, of even decisions from odd ones: model, everybody's, own, empirical Bayes. */
const LOG_LOSSES = {
  has: {
    departs_when_wrong: [0.5109, 0.5126, 0.5783, 0.5117],
    follows_when_right: [0.3575, 0.3490, 0.3722, 0.3466],
  },
  dots: {
    departs_when_wrong: [0.6768, 0.6926, 0.6780, 0.6829],
    follows_when_right: [0.5179, 0.5199, 0.5184, 0.5173],
  },
} as const satisfies Record<Study, unknown>;

/** Those who are certainly at risk among those who beat both the AI and their own first answers. The aim is 5 %. */
const AT_RISK_OF_BETTER = { has: [0, 29], dots: [0, 6] } as const satisfies Record<Study, unknown>;

for (const study of STUDIES) {
  Deno.test(`${study}: the model foretells the next decisions better than a person's own rate, as documented`, () => {
    const [{ log_loss }] = halves(study) as [EvaluationResult];
    for (const kind of ["departs_when_wrong", "follows_when_right"] as const) {
      const { model, everybody, own_rate, empirical_bayes } = log_loss[kind];
      const losses = [model, everybody, own_rate, empirical_bayes].map((loss) => Number(loss!.toFixed(4)));
      assert.deepEqual(losses, LOG_LOSSES[study][kind]);
      assert.ok(model! <= own_rate!, kind);
    }
  });

  Deno.test(`${study}: two halves of one person's decisions never get verdicts that contradict each other`, () => {
    const [odd, even] = halves(study) as [EvaluationResult, EvaluationResult];
    const statusOfEven = new Map(even.operators.map(({ operator_id, status }) => [operator_id, status]));
    const contradictions = odd.operators.filter(({ operator_id, status }) =>
      [status, statusOfEven.get(operator_id)].sort().join() === "compliant,non_compliant"
    );
    assert.deepEqual(contradictions, []);
  });

  Deno.test(`${study}: as many of those who beat the AI and their own first answers are certainly at risk as documented`, () => {
    const right = new Map<string, { ai: number; first: number; final: number }>();
    for (const { person, aiCorrect, ownFirstCorrect, finalCorrect } of peopleOf(study)) {
      const counts = right.get(person) ?? { ai: 0, first: 0, final: 0 };
      counts.ai += Number(aiCorrect);
      counts.first += Number(ownFirstCorrect);
      counts.final += Number(finalCorrect);
      right.set(person, counts);
    }
    const better = evaluated(study, () => "fit").operators.filter(({ operator_id }) => {
      const { ai, first, final } = right.get(operator_id)!;
      return final > ai && final > first;
    });
    const atRisk = better.filter(({ status }) => status === "non_compliant");
    assert.deepEqual([atRisk.length, better.length], AT_RISK_OF_BETTER[study]);
  });

  Deno.test(`${study}: without truth everybody is undetermined and stays within a point of the prior`, () => {
    const prior = readState(JIS_2_0_0, initialState(JIS_2_0_0), { domain: "general", mode: "full" }).jis;
    const evaluation = new Evaluation(JIS_2_0_0);
    for (const decision of peopleOf(study)) {
      const row = rowOf(decision, "fit");
      const { ai_correct: _, ...interaction } = row.interaction;
      evaluation.add({ ...row, interaction: { ...interaction, outcome_correct: null } });
    }
    for (const { operator_id, jis, status } of evaluation.result().operators) {
      assert.equal(status, "undetermined", operator_id);
      assert.ok(Math.abs(jis - prior) <= 1, `${operator_id}: ${jis}`);
    }
  });
}

Deno.test("the verdicts on these people move with the costs as documented", async () => {
  const page = await Deno.readTextFile(
    `${import.meta.dirname}/../../docs/understand/scoring-model.md`,
  );
  const documented = COSTS.map((costs) =>
    new RegExp(`^\\| ${RegExp.escape(costs)} +\\| (\\d+ / \\d+ / \\d+) +\\| (\\d+ / \\d+ / \\d+) +\\|$`, "m")
      .exec(page)?.slice(1)
  );
  const counted = COSTS.map((costs) =>
    STUDIES.map((study) => {
      const { operators } = evaluated(study, () => "fit", withCosts(JIS_2_0_0, costs)!);
      return VERDICT_STATUSES.map((status) => operators.filter((one) => one.status === status).length)
        .join(" / ");
    })
  );
  assert.deepEqual(counted, documented);
});
