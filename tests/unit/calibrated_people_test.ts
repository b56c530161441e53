/**
 * Models that `jiss calibrate` fits to real people (tests/people/README.md), measured on other people of the same study:
 * each third of the people with a model fitted to the two other thirds. The figures are those of
 * docs/understand/scoring-model.md.
 */
import assert from "node:assert/strict";
import { calibratePeople } from "../../src/scoring/calibration/calibrate.ts";
import { LabelledCases } from "../../src/scoring/calibration/labelled_cases.ts";
import {
  Evaluation,
  type EvaluationResult,
  type Prediction,
} from "../../src/scoring/evaluation/evaluation.ts";
import {
  type BetaPrior,
  type Counts,
  fitBeta,
  type Foretold,
  logLoss,
  shrunkenRate,
} from "../../src/scoring/evaluation/rates.ts";
import type { ModelDocument } from "../../src/scoring/model.ts";
import { JIS_2_0_0 } from "../models.ts";
import { partOf, PARTS, peopleOf, type PersonDecision, rowOf, STUDIES, type Study } from "../people.ts";

type Kind = keyof Prediction;
const KINDS = ["departs_when_wrong", "follows_when_right"] as const satisfies readonly Kind[];
type FoldOf = (decision: PersonDecision) => "fit" | "test";
const isOdd = ({ trial }: PersonDecision) => trial % 2 === 1;
/** Both halves of a person's decisions take their turn in being foretold. */
const HALVES: readonly FoldOf[] = [
  (decision) => isOdd(decision) ? "fit" : "test",
  (decision) => isOdd(decision) ? "test" : "fit",
];

interface Third {
  readonly model: ModelDocument;
  readonly others: readonly PersonDecision[];
  readonly measured: readonly PersonDecision[];
}

const thirds = Object.fromEntries(STUDIES.map((study) => [study, lazily(() => thirdsOf(study))])) as Record<
  Study,
  () => readonly Third[]
>;

function lazily<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => made ??= make();
}

function thirdsOf(study: Study): readonly Third[] {
  const people = peopleOf(study);
  return PARTS.map((part) => {
    const [others, measured] = [
      people.filter(({ person }) => partOf(person) !== part),
      people.filter(({ person }) => partOf(person) === part),
    ];
    const cases = new LabelledCases(JIS_2_0_0);
    for (const decision of others) {
      const { operatorId, domain, interaction } = rowOf(decision, "fit");
      cases.add(operatorId, domain, interaction);
    }
    return { model: calibratePeople(JIS_2_0_0, cases).document!, others, measured };
  });
}

function evaluated({ model, measured }: Third, foldOf: FoldOf): EvaluationResult {
  const evaluation = new Evaluation(model);
  for (const decision of measured) evaluation.add(rowOf(decision, foldOf(decision)));
  return evaluation.result();
}

/** The mean of a figure of several results, each with its weight. */
function pooled(rows: readonly (readonly [value: number | null, weight: number])[]): number {
  const known = rows.filter(([, weight]) => weight > 0);
  return known.reduce((sum, [value, weight]) => sum + value! * weight, 0) /
    known.reduce((sum, [, weight]) => sum + weight, 0);
}

/** A person's decisions of one kind. */
function countsOf(decisions: readonly PersonDecision[], kind: Kind): Counts {
  const of = decisions.filter(({ aiCorrect }) => aiCorrect === (kind === "follows_when_right"));
  const yes = of.filter(({ followsAi }) => followsAi === (kind === "follows_when_right"));
  return { yes: yes.length, all: of.length };
}

const persons = (decisions: readonly PersonDecision[]) => [
  ...Map.groupBy(decisions, ({ person }) => person).values(),
];

/** The log loss of empirical Bayes, fitted to other people as the model was. */
function lossOfOthersPrior(study: Study, kind: Kind): number {
  const foretold = thirds[study]().flatMap(({ others, measured }): readonly Foretold[] => {
    const prior: BetaPrior = fitBeta(persons(others).map((own) => countsOf(own, kind)))!;
    return persons(measured).flatMap((own) =>
      HALVES.map((foldOf) => {
        const half = (fold: "fit" | "test") => countsOf(own.filter((row) => foldOf(row) === fold), kind);
        return { rate: shrunkenRate(prior, half("fit")), came: half("test") };
      })
    );
  });
  return logLoss(foretold)!;
}

/** Log losses as the page gives them: the calibrated model's, and empirical Bayes fitted to the same other people. */
const LOG_LOSSES = {
  has: { departs_when_wrong: [0.4832, 0.4876], follows_when_right: [0.3409, 0.3412] },
  dots: { departs_when_wrong: [0.6742, 0.6872], follows_when_right: [0.5132, 0.5168] },
} as const satisfies Record<Study, Record<Kind, readonly number[]>>;

/** The aim: at most this much above empirical Bayes. */
const ALLOWED = 0.005;

for (const study of STUDIES) {
  Deno.test(`${study}: a model fitted to other people foretells the next decisions as well as empirical Bayes, as documented`, () => {
    for (const kind of KINDS) {
      const losses = thirds[study]().flatMap((third) =>
        HALVES.map((foldOf) => evaluated(third, foldOf).log_loss[kind])
      );
      const model = pooled(losses.map((row) => [row.model, row.decisions]));
      const others = lossOfOthersPrior(study, kind);
      const ofMeasured = pooled(losses.map((row) => [row.empirical_bayes, row.decisions]));
      assert.deepEqual([model, others].map((loss) => Number(loss.toFixed(4))), LOG_LOSSES[study][kind]);
      // The second baseline was fitted to the measured people themselves.
      for (const baseline of [others, ofMeasured]) {
        assert.ok(model <= baseline + ALLOWED, `${model} ${baseline}`);
      }
    }
  });

  Deno.test(`${study}: with such a model the counts of the other half lie in their intervals at least as often as foretold`, () => {
    for (const kind of KINDS) {
      const found = thirds[study]().flatMap((third) =>
        HALVES.map((foldOf) => evaluated(third, foldOf).coverage[kind]!.next_counts)
      );
      const came = pooled(found.map((row) => [row.came, row.people]));
      const foretold = pooled(found.map((row) => [row.foretold, row.people]));
      assert.ok(foretold >= 0.9 && came >= foretold - 0.02, `${kind}: ${foretold} ${came}`);
    }
  });

  Deno.test(`${study}: with such a model no two halves contradict each other, and nobody who did better is certainly at risk`, () => {
    for (const third of thirds[study]()) {
      const [odd, even] = HALVES.map((foldOf) => evaluated(third, foldOf)) as [
        EvaluationResult,
        EvaluationResult,
      ];
      const statusOfEven = new Map(even.operators.map(({ operator_id, status }) => [operator_id, status]));
      const contradictions = odd.operators.filter(({ operator_id, status }) =>
        [status, statusOfEven.get(operator_id)].sort().join() === "compliant,non_compliant"
      );
      assert.deepEqual(contradictions, []);
      const whole = evaluated(third, () => "fit").operators;
      const statusOf = new Map(whole.map(({ operator_id, status }) => [operator_id, status]));
      const atRisk = persons(third.measured).filter((own) => {
        const right = (name: "aiCorrect" | "ownFirstCorrect" | "finalCorrect") =>
          own.filter((row) => row[name]).length;
        const isBetter = right("finalCorrect") > Math.max(right("aiCorrect"), right("ownFirstCorrect"));
        return isBetter && statusOf.get(own[0]!.person) === "non_compliant";
      });
      assert.deepEqual(atRisk, []);
    }
  });
}

/** Decisions that are scored before a long row of others is held back. */
const SHORT = 48;
/** People of dots whose share of that row lay in the 90 % interval of their rate, and all with so long a row. */
const LONG_RUN = { departs_when_wrong: [11, 13], follows_when_right: [11, 13] } as const;

Deno.test("dots: after 48 decisions the intervals of the rates hold as many long-run rates as documented", () => {
  for (const kind of KINDS) {
    const found = thirds.dots().map((third) =>
      evaluated(third, ({ trial }) => trial <= SHORT ? "fit" : "test").coverage[kind]!.long_run_rates
    );
    const people = found.reduce((sum, row) => sum + row.people, 0);
    const inside = found.reduce((sum, row) => sum + (row.came ?? 0) * row.people, 0);
    assert.deepEqual([Math.round(inside), people], LONG_RUN[kind]);
  }
});
