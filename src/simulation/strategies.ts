/**
 * Reviewers who try to pass without judging, and honest ones whom a score could wrong by how their work is
 * recorded: each as data, with what it does in one sentence, and the environment that it needs.
 */
import { DEFAULT_ENVIRONMENT, type Environment, type Operator } from "./archetypes.ts";
import { VERDICT_STATUSES } from "../domain/enums.ts";
import { BASELINE_NAMES, BASELINES } from "./baselines.ts";
import { runHistory, type ScoreSnapshot } from "./histories.ts";
import { drawFrom } from "./populations.ts";
import { seeded } from "./random.ts";
import {
  jisAfter,
  type Measured,
  type Run,
  type Scored,
  scoredOf,
  snapshotAfter,
  statusShare,
} from "./samples.ts";
import { auc, mean, shareOf } from "./statistics.ts";
import { statusName } from "./verdicts.ts";

export interface Strategy {
  /** The reviewer's conduct, or the kind of work, in one sentence. */
  readonly does: string;
  /** The archetype that the reviewer is where the strategy says nothing else. */
  readonly base: "independent" | "rubber_stamper" | "always_reject";
  readonly operator?: Partial<Operator>;
  /** The differences from the default environment. */
  readonly environment?: Partial<Environment>;
  /** Cases until the reviewer takes a new `operator_id`, if ever. */
  readonly newIdEvery?: number;
  /** True if the reviewer must not be certainly compliant. */
  readonly mustNotPass?: true;
}

/** Shares of cases of the kinds that some strategies look for. */
const GRAVE = { highStakesShare: 0.2, criticalShare: 0.05 } as const;
const TESTED = { calibrationShare: 0.1 } as const;
/** Shares, in two published studies, of departures from wrong advice that take another wrong answer. */
const OTHER_WRONG_SHARES = { fewer: 0.28, more: 0.47 } as const;

export const STRATEGIES = {
  tests_only: {
    does: "Judges only what is announced as a test, one case in ten, and waves the rest through.",
    base: "independent",
    operator: { judgesOnly: "announced_tests" },
    environment: TESTED,
    mustNotPass: true,
  },
  probes_only: {
    does: "Recognizes every planted error, judges only these, and waves the rest through.",
    base: "independent",
    operator: { judgesOnly: "planted_errors" },
    mustNotPass: true,
  },
  probes_only_more: {
    does: "Does as probes_only where one case in ten is a planted error.",
    base: "independent",
    operator: { judgesOnly: "planted_errors" },
    environment: { injectedShare: 0.1 },
    mustNotPass: true,
  },
  high_stakes_blind: {
    does: "Judges low stakes, and waves high stakes through, which are a quarter of the cases.",
    base: "independent",
    operator: { judgesOnly: "low_stakes" },
    environment: GRAVE,
    mustNotPass: true,
  },
  one_domain: {
    does: "Judges in one of three domains, and waves the others through.",
    base: "independent",
    operator: { judgesOnly: "first_domain" },
    environment: { domains: ["financial", "insurance", "employment"] },
    mustNotPass: true,
  },
  probes_in_one_domain: {
    does:
      "Judges in two of three domains, and in the third only the planted errors, each of which is recognized; one case in ten is one.",
    base: "independent",
    operator: { judgesOnly: "planted_in_first_domain" },
    environment: { domains: ["financial", "insurance", "employment"], injectedShare: 0.1 },
    mustNotPass: true,
  },
  mornings_only: {
    does: "Judges in the mornings, and waves the afternoons through.",
    base: "independent",
    operator: { judgesOnly: "mornings" },
    mustNotPass: true,
  },
  colluding_labels: {
    does:
      "Accepts nearly everything, and a friend labels every decision as right; planted errors keep their truth.",
    base: "rubber_stamper",
    operator: { isLabelledRight: true },
    mustNotPass: true,
  },
  colluding_labels_unprobed: {
    does:
      "Does as colluding_labels where no error is planted. It cannot be told: every truth is the friend's.",
    base: "rubber_stamper",
    operator: { isLabelledRight: true },
    environment: { injectedShare: 0 },
  },
  rejects_all: {
    does: "Rejects everything, where an outcome becomes known only if the AI was wrong.",
    base: "always_reject",
    environment: { onlyErrorsKnown: true },
    mustNotPass: true,
  },
  blind_modifier: {
    does: "Rewords half of the cases unread and accepts the rest; ai_correct is not sent.",
    base: "rubber_stamper",
    operator: { disguise: { as: "modified", share: 0.5 } },
    mustNotPass: true,
  },
  blind_modifier_told: {
    does: "Does as blind_modifier where ai_correct is sent.",
    base: "rubber_stamper",
    operator: { disguise: { as: "modified", share: 0.5 } },
    environment: { saysAiCorrect: true },
    mustNotPass: true,
  },
  blind_escalator: {
    does:
      "Escalates three cases in ten unread and accepts the rest; the outcome says how the case came out, and ai_correct is not sent.",
    base: "rubber_stamper",
    operator: { disguise: { as: "escalated", share: 0.3 } },
    mustNotPass: true,
  },
  rotating_ids: {
    does:
      "Accepts nearly everything, under a new operator_id after every 20 cases; each id is one operator here.",
    base: "rubber_stamper",
    newIdEvery: 20,
    mustNotPass: true,
  },
  second_ai: {
    does:
      "Follows a second AI that is right in 90 % of the cases. It cannot be told from a person who judges as well.",
    base: "independent",
    operator: { secondAi: 0.9 },
  },
  second_ai_weak: {
    does:
      "Follows a second AI that is right in 75 % of the cases. It cannot be told from a person who judges as well.",
    base: "independent",
    operator: { secondAi: 0.75 },
  },
  screen_reader: {
    does: "Judges nearly every case, on a page that measures every telemetry field as zero.",
    base: "independent",
    operator: { telemetry: "zeros" },
  },
  every_third_day: {
    does: "Judges well, and decides one case every third day.",
    base: "independent",
    environment: { daysBetween: 3 },
  },
  many_answers: {
    does:
      "Judges, and takes another wrong answer in 28 % of the departures from wrong advice; ai_correct is not sent.",
    base: "independent",
    environment: { otherWrongShare: OTHER_WRONG_SHARES.fewer },
  },
  many_answers_told: {
    does: "Does as many_answers where ai_correct is sent.",
    base: "independent",
    environment: { otherWrongShare: OTHER_WRONG_SHARES.fewer, saysAiCorrect: true },
  },
  more_answers: {
    does: "Does as many_answers in 47 % of the departures from wrong advice; ai_correct is not sent.",
    base: "independent",
    environment: { otherWrongShare: OTHER_WRONG_SHARES.more },
  },
  more_answers_told: {
    does: "Does as more_answers where ai_correct is sent.",
    base: "independent",
    environment: { otherWrongShare: OTHER_WRONG_SHARES.more, saysAiCorrect: true },
  },
  outcome_luck: {
    does: "Judges well where one outcome in five turns out against good judgment.",
    base: "independent",
    environment: { luck: 0.2 },
  },
} as const satisfies Record<string, Strategy>;
export type StrategyName = keyof typeof STRATEGIES;
export const STRATEGY_NAMES = Object.keys(STRATEGIES) as readonly StrategyName[];

const LENGTHS = [50, 200] as const;

/** Measures what is said of each strategy; a strategy that cannot be told is measured without a target. */
export function strategies(run: Run): readonly Measured[] {
  return STRATEGY_NAMES.flatMap((of) => {
    const strategy: Strategy = STRATEGIES[of];
    const { newIdEvery } = strategy;
    const scored = followers(run, of);
    const lengths = newIdEvery === undefined ? LENGTHS : [newIdEvery];
    return [
      ...lengths.flatMap((after) => measured(run, { of, strategy, scored, after })),
      ...(newIdEvery === undefined ? toldApart(run, of, scored) : []),
    ];
  });
}

/** How well the score and simple measures tell the followers from independent reviewers of the default environment. */
function toldApart(run: Run, of: StrategyName, scored: readonly Scored[]): readonly Measured[] {
  const after = LENGTHS.at(-1)!;
  const independent = scoredOf(run, "independent");
  const valuesOf = (those: readonly Scored[], read: (one: ScoreSnapshot) => number) =>
    those.map((one) => read(snapshotAfter(one, after)));
  const areaOf = (read: (one: ScoreSnapshot) => number) =>
    auc(valuesOf(independent, read), valuesOf(scored, read));
  return [
    { measure: "strategy: AUC, independent above, JIS", of, after, value: areaOf(({ jis }) => jis) },
    ...BASELINE_NAMES.map((name) => ({
      measure: `strategy: AUC, independent above, ${name}`,
      of,
      after,
      value: areaOf(({ tally }) => BASELINES[name](tally)),
    })),
  ];
}

function measured(
  { model }: Run,
  { of, strategy, scored, after }: {
    readonly of: StrategyName;
    readonly strategy: Strategy;
    readonly scored: readonly Scored[];
    readonly after: number;
  },
): readonly Measured[] {
  const jis = jisAfter(scored, after);
  const { min_jis: minimum } = model.thresholds;
  const scores: readonly Measured[] = [
    { measure: "strategy: mean JIS", of, after, value: mean(jis) },
    { measure: "strategy: JIS below the minimum", of, after, value: shareOf(jis, (one) => one < minimum) },
  ];
  if (model.discrimination === undefined) return scores;
  const isJudged = strategy.mustNotPass && after !== LENGTHS[0];
  return [
    ...scores,
    ...VERDICT_STATUSES.map((status): Measured => ({
      measure: `strategy: ${statusName(status)}`,
      of,
      after,
      value: statusShare(scored, after, status),
    })),
    {
      measure: "strategy: at risk or undetermined",
      of,
      after,
      value: 1 - statusShare(scored, after, "compliant"),
      ...(isJudged ? { target: { least: 0.9 } } : {}),
    },
  ];
}

/** The environment of a strategy. */
export function environmentOf(name: StrategyName): Environment {
  const { environment }: Strategy = STRATEGIES[name];
  return { ...DEFAULT_ENVIRONMENT, ...environment };
}

/** Draws a reviewer who follows a strategy. */
export function drawFollower(name: StrategyName, random: Parameters<typeof drawFrom>[1]): Operator {
  const { base, operator }: Strategy = STRATEGIES[name];
  return { ...drawFrom(base, random), ...operator };
}

/** The followers with their histories, one for each `operator_id`. */
function followers({ model, seed, operators }: Run, name: StrategyName): readonly Scored[] {
  const { newIdEvery }: Strategy = STRATEGIES[name];
  const environment = environmentOf(name);
  const ids = newIdEvery === undefined ? 1 : Math.ceil(LENGTHS.at(-1)! / newIdEvery);
  const lengths = newIdEvery === undefined ? LENGTHS : [newIdEvery];
  return Array.from({ length: operators }, (_, index) => {
    const of = `${seed}/strategy/${name}/${index}`;
    const operator = drawFollower(name, seeded(of));
    return Array.from({ length: ids }, (_, id) => {
      const random = seeded(`${of}/history/${id}`);
      return { operator, snapshots: runHistory(operator, { model, environment, random, lengths }) };
    });
  }).flat();
}
