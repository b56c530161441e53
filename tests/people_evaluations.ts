/**
 * The decisions of real people (tests/people.ts) under the model in use, and under models that `jiss calibrate` fits to
 * other people of the same study. Each evaluation is made once.
 */
import { calibratePeople } from "../src/scoring/calibration/calibrate.ts";
import { LabelledCases } from "../src/scoring/calibration/labelled_cases.ts";
import { Posterior } from "../src/scoring/discrimination.ts";
import { Evaluation, type EvaluationResult, type Prediction } from "../src/scoring/evaluation/evaluation.ts";
import { LONG_HISTORY } from "../src/scoring/evaluation/coverage.ts";
import type { Counts } from "../src/scoring/evaluation/rates.ts";
import { allLive, casesOf } from "../src/scoring/known_cases.ts";
import type { ModelDocument } from "../src/scoring/model.ts";
import { score } from "../src/scoring/score.ts";
import type { OperatorState } from "../src/scoring/state.ts";
import { JIS_2_0_0 } from "./models.ts";
import { partOf, PARTS, peopleOf, type PersonDecision, rowOf, type Study } from "./people.ts";

export type Kind = keyof Prediction;
export const KINDS = ["departs_when_wrong", "follows_when_right"] as const satisfies readonly Kind[];

/** Says whether a decision is scored (`fit`) or foretold (`test`). */
export type FoldOf = (decision: PersonDecision) => "fit" | "test";
const isOdd = ({ trial }: PersonDecision) => trial % 2 === 1;
export const ODD_SCORED: FoldOf = (decision) => isOdd(decision) ? "fit" : "test";
export const EVEN_SCORED: FoldOf = (decision) => isOdd(decision) ? "test" : "fit";
/** Both halves of a person's decisions take their turn in being foretold. */
export const HALVES = [ODD_SCORED, EVEN_SCORED] as const;
export const ALL_SCORED: FoldOf = () => "fit";

export function evaluated(
  decisions: readonly PersonDecision[],
  foldOf: FoldOf,
  model: ModelDocument = JIS_2_0_0,
): EvaluationResult {
  const evaluation = new Evaluation(model);
  for (const decision of decisions) evaluation.add(rowOf(decision, foldOf(decision)));
  return evaluation.result();
}

/** Some people, and a model that was fitted to the others. */
export interface Third {
  readonly model: ModelDocument;
  readonly others: readonly PersonDecision[];
  readonly measured: readonly PersonDecision[];
  /** The measured people under that model, by {@link HALVES}. */
  readonly halves: readonly EvaluationResult[];
}

function thirdsOf(study: Study): readonly Third[] {
  const people = peopleOf(study);
  return PARTS.map((part) => {
    const others = people.filter(({ person }) => partOf(person) !== part);
    const measured = people.filter(({ person }) => partOf(person) === part);
    const cases = new LabelledCases(JIS_2_0_0);
    for (const decision of others) {
      const { operatorId, domain, interaction } = rowOf(decision, "fit");
      cases.add(operatorId, domain, interaction);
    }
    const model = calibratePeople(JIS_2_0_0, cases).document!;
    return { model, others, measured, halves: HALVES.map((foldOf) => evaluated(measured, foldOf, model)) };
  });
}

function lazily<Value>(make: (study: Study) => Value): (study: Study) => Value {
  const made = new Map<Study, Value>();
  return (study) => {
    if (!made.has(study)) made.set(study, make(study));
    return made.get(study)!;
  };
}

/** The model in use, with all decisions scored. */
export const wholeOf = lazily((study) => evaluated(peopleOf(study), ALL_SCORED));
/** The model in use, by {@link HALVES}. */
export const halvesOf = lazily((study) => HALVES.map((foldOf) => evaluated(peopleOf(study), foldOf)));
/** Each third of the people, with a model fitted to the two other thirds. */
export const calibratedOf = lazily(thirdsOf);

/** The model in use, with all decisions scored as if nobody ever learned what was right. */
export const withoutTruth = lazily((study) => {
  const evaluation = new Evaluation(JIS_2_0_0);
  for (const decision of peopleOf(study)) {
    const row = rowOf(decision, "fit");
    const { ai_correct: _, ...interaction } = row.interaction;
    evaluation.add({ ...row, interaction: { ...interaction, outcome_correct: null } });
  }
  return evaluation.result();
});

/** The mean of a figure of several results, each with its weight. */
export function pooled(rows: readonly (readonly [value: number | null, weight: number])[]): number {
  const known = rows.filter(([, weight]) => weight > 0);
  return known.reduce((sum, [value, weight]) => sum + value! * weight, 0) /
    known.reduce((sum, [, weight]) => sum + weight, 0);
}

/** A figure of the log losses of several results, for each decision. */
export function pooledLoss(
  results: readonly EvaluationResult[],
  kind: Kind,
  of: "model" | "own_rate" | "empirical_bayes",
): number {
  return pooled(results.map(({ log_loss }) => [log_loss[kind][of], log_loss[kind].decisions]));
}

/** A figure of the intervals of counts of several results, for each person. */
export function pooledCoverage(
  results: readonly EvaluationResult[],
  kind: Kind,
  of: "came" | "foretold",
): number {
  const found = results.map(({ coverage }) => coverage[kind]!.next_counts);
  return pooled(found.map((row) => [row[of], row.people]));
}

/** The decisions of each person. */
export function persons(decisions: readonly PersonDecision[]): readonly (readonly PersonDecision[])[] {
  return [...Map.groupBy(decisions, ({ person }) => person).values()];
}

/** A person's decisions of one kind. */
export function countsOf(decisions: readonly PersonDecision[], kind: Kind): Counts {
  const of = decisions.filter(({ aiCorrect }) => aiCorrect === (kind === "follows_when_right"));
  const yes = of.filter(({ followsAi }) => followsAi === (kind === "follows_when_right"));
  return { yes: yes.length, all: of.length };
}

/** The people who have `compliant` by one half of their decisions, and `non_compliant` by the other. */
export function contradictionsOf(halves: readonly EvaluationResult[]): readonly string[] {
  const [odd, even] = halves;
  const statusOfEven = new Map(even!.operators.map(({ operator_id, status }) => [operator_id, status]));
  return odd!.operators.map(({ operator_id }) => operator_id).filter((person, index) =>
    [odd!.operators[index]!.status, statusOfEven.get(person)].sort().join() === "compliant,non_compliant"
  );
}

/** The people whose final answers were right more often than the AI, and more often than their own first answers. */
export function betterOf(decisions: readonly PersonDecision[]): readonly string[] {
  return persons(decisions).filter((own) => {
    const right = (name: "aiCorrect" | "ownFirstCorrect" | "finalCorrect") =>
      own.filter((row) => row[name]).length;
    return right("finalCorrect") > Math.max(right("aiCorrect"), right("ownFirstCorrect"));
  }).map((own) => own[0]!.person);
}

/** Those of these people who are certainly at risk. */
export function atRiskOf({ operators }: EvaluationResult, people: readonly string[]): readonly string[] {
  return operators.filter(({ operator_id, status }) =>
    status === "non_compliant" && people.includes(operator_id)
  )
    .map(({ operator_id }) => operator_id);
}

/** Intervals of rates, held against the shares of long rows of later decisions. */
export interface LongRun {
  /** Number of such shares: one for each person and kind. */
  readonly shares: number;
  readonly inside: number;
}

/** The decisions up to a trial are scored, and those after it are held back. */
const upTo = (lastScored: number): FoldOf => ({ trial }) => trial <= lastScored ? "fit" : "test";

export function longRunOf({ coverage }: EvaluationResult): LongRun {
  const found = KINDS.map((kind) => coverage[kind]!.long_run_rates);
  return {
    shares: found.reduce((sum, { people }) => sum + people, 0),
    inside: Math.round(found.reduce((sum, { people, came }) => sum + people * (came ?? 0), 0)),
  };
}

/** The people of a study after their first decisions, under the model in use. */
export function earlyOf(study: Study, lastScored: number): EvaluationResult {
  return evaluated(peopleOf(study), upTo(lastScored));
}

/** The same under models fitted to other people: one result for each third. */
export function calibratedEarlyOf(study: Study, lastScored: number): readonly EvaluationResult[] {
  return calibratedOf(study).map(({ measured, model }) => evaluated(measured, upTo(lastScored), model));
}

/**
 * How many shares of {@link earlyOf} the model itself expects inside. It is below 90 % of them, because a share has the
 * chance of the draws in it, and the interval of a rate has not.
 */
export function expectedInside(study: Study, lastScored: number, { operators }: EvaluationResult): number {
  const predictedOf = new Map(operators.map(({ operator_id, predicted }) => [operator_id, predicted!]));
  let expected = 0;
  for (const own of persons(peopleOf(study))) {
    const posterior = posteriorAfter(own.filter(({ trial }) => trial <= lastScored));
    for (const kind of KINDS) {
      const { all } = countsOf(own.filter(({ trial }) => trial > lastScored), kind);
      if (all < LONG_HISTORY) continue;
      const isFollowing = kind === "follows_when_right";
      const probabilities = isFollowing ? posterior.ofRightAdvice() : posterior.ofWrongAdvice();
      for (const [index, departing] of posterior.rates.entries()) {
        const rate = isFollowing ? 1 - departing : departing;
        expected += probabilities[index]! * shareWithin(rate, all, predictedOf.get(own[0]!.person)![kind]);
      }
    }
  }
  return expected;
}

function posteriorAfter(decisions: readonly PersonDecision[]): Posterior {
  let state: OperatorState | null = null;
  for (const decision of decisions) {
    const { domain, interaction } = rowOf(decision, "fit");
    const options = { mode: "full", modeOverride: "normal" } as const;
    state = score(JIS_2_0_0, state, { interaction, domain, now: 0 }, options).state;
  }
  return new Posterior(JIS_2_0_0, casesOf(allLive(state!.ev!)));
}

/** The probability that the share of so many draws lies in an interval. */
function shareWithin(rate: number, draws: number, { low, high }: { low: number; high: number }): number {
  let [logOfWays, sum] = [0, 0];
  for (let count = 0; count <= draws; count += 1) {
    if (count > 0) logOfWays += Math.log(draws - count + 1) - Math.log(count);
    if (count / draws < low || count / draws > high) continue;
    sum += Math.exp(logOfWays + count * Math.log(rate) + (draws - count) * Math.log(1 - rate));
  }
  return sum;
}
