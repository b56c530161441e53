/**
 * Published figures on how people go along with an AI's advice when it is right and when it is wrong, as simulated
 * operators. They test if the score puts the groups of a study in the study's order.
 *
 * The assumptions are the same for all groups, so that only decisions can order them: every member has the
 * group's rates, and the pace, the telemetry and the kinds of departure of one archetype. Advice is wrong as
 * often as in the study, by itself and not as an injected error; it is shown with every case; outcomes become
 * known as often as in the default environment.
 */
import { DEFAULT_ENVIRONMENT, type Environment, type Operator } from "./archetypes.ts";
import { runHistory } from "./histories.ts";
import { seeded } from "./random.ts";
import { jisAfter, type Measured, type Run, type Scored } from "./samples.ts";
import { auc, mean, shareOf } from "./statistics.ts";

export interface PublishedGroup {
  readonly name: string;
  /** How often the group goes along with advice, 0..1. */
  readonly goesAlong: NonNullable<Operator["goesAlong"]>;
}

export interface PublishedStudy {
  readonly name: string;
  /** Citation of the source of the figures. */
  readonly source: string;
  /** How often the advice is wrong, 0..1. */
  readonly wrongShare: number;
  readonly groups: readonly PublishedGroup[];
  /** True if the source gives no rate for right advice: then we assume one, the same for all groups. */
  readonly assumesWhenRight: boolean;
  /** Pairs of groups that the study tells apart: the one that judges more independently, and the other. */
  readonly order: readonly (readonly [better: string, worse: string])[];
}

/**
 * A group from its accuracy in percent under right and wrong advice. Advice is either followed or departed
 * from, so a wrong answer under wrong advice follows it.
 */
function byAccuracy(name: string, { right, wrong }: { right: number; wrong: number }): PublishedGroup {
  return { name, goesAlong: { whenRight: right / 100, whenWrong: 1 - wrong / 100 } };
}

/** It is the same for all conditions, so it cannot order them. */
const UNREPORTED_WHEN_RIGHT = 0.9;
/** The kinds of the 12 altered cases of Bernstein et al. */
const FALSE_POSITIVES = 8;
const FALSE_NEGATIVES = 4;

/** A group from the percentages of altered cases in which its answer, yes or no, was the AI's wrong one. */
function byErrors(name: string, { falsePositive, falseNegative }: {
  falsePositive: number;
  falseNegative: number;
}): PublishedGroup {
  const followed = FALSE_POSITIVES * falsePositive + FALSE_NEGATIVES * falseNegative;
  return {
    name,
    goesAlong: {
      whenRight: UNREPORTED_WHEN_RIGHT,
      whenWrong: followed / (FALSE_POSITIVES + FALSE_NEGATIVES) / 100,
    },
  };
}

export const PUBLISHED_STUDIES: readonly PublishedStudy[] = [
  {
    name: "Dratsch 2023",
    source: "Dratsch, Chen, Rezazade Mehrizi et al. (2023), Automation Bias in Mammography: The Impact of " +
      "Artificial Intelligence BI-RADS Suggestions on Reader Performance, Radiology 307(4) e222176, " +
      "doi 10.1148/radiol.222176",
    // 12 of the 40 mammograms of the second set. All figures come from reports that repeat the figures of the
    // abstract.
    wrongShare: 12 / 40,
    assumesWhenRight: false,
    groups: [
      byAccuracy("inexperienced", { right: 79.7, wrong: 19.8 }),
      byAccuracy("moderately experienced", { right: 81.3, wrong: 24.8 }),
      byAccuracy("very experienced", { right: 82.3, wrong: 45.5 }),
    ],
    order: [
      ["very experienced", "moderately experienced"],
      ["very experienced", "inexperienced"],
      ["moderately experienced", "inexperienced"],
    ],
  },
  {
    name: "Bernstein 2023",
    source:
      "Bernstein, Atalay, Dibble et al. (2023), Can incorrect artificial intelligence (AI) results impact " +
      "radiologists, and if so, what can we do about it?, European Radiology 33(11) 8263-8269, " +
      "doi 10.1007/s00330-023-09747-1, PMC10235827, abstract",
    // 12 of 90 radiographs.
    wrongShare: (FALSE_POSITIVES + FALSE_NEGATIVES) / 90,
    assumesWhenRight: true,
    groups: [
      byErrors("kept on record, no box", { falsePositive: 86.0, falseNegative: 33.0 }),
      byErrors("not kept, no box", { falsePositive: 80.5, falseNegative: 26.7 }),
      byErrors("kept on record, box", { falsePositive: 80.5, falseNegative: 20.7 }),
    ],
    // The study tells the first condition from each of the others, but not the others from each other.
    order: [
      ["not kept, no box", "kept on record, no box"],
      ["kept on record, box", "kept on record, no box"],
    ],
  },
];

const LENGTHS = [50, 200] as const;
const ALWAYS = { from: 1, to: 1, over: 0 };

/** A member of the group. All members are alike; only their histories differ. */
export function memberOf({ goesAlong }: PublishedGroup): Operator {
  return {
    archetype: "independent",
    theta: ALWAYS,
    skill: ALWAYS,
    blindDeparture: 0,
    medianMs: 15_000,
    telemetry: "engaged",
    goesAlong,
  };
}

export function environmentOf({ wrongShare }: PublishedStudy): Environment {
  return {
    ...DEFAULT_ENVIRONMENT,
    aiErrorRate: wrongShare,
    injectedShare: 0,
    withheldShare: 0,
    domain: "healthcare",
  };
}

/** Measures whether the mean scores have each study's order. */
export function published(
  run: Run,
  studies: readonly PublishedStudy[] = PUBLISHED_STUDIES,
): readonly Measured[] {
  return studies.flatMap((study) => {
    const scored = new Map(study.groups.map((group) => [group.name, scoredMembers(run, study, group)]));
    const jis = (name: string, after: number) => jisAfter(scored.get(name)!, after);
    return LENGTHS.flatMap((after): Measured[] => [
      ...study.groups.flatMap(({ name }): Measured[] => {
        const scores = jis(name, after);
        const atRisk = shareOf(scores, (score) => score < run.model.thresholds.min_jis);
        const of = `${study.name}, ${name}`;
        return [
          { measure: "published: mean JIS", of, after, value: mean(scores) },
          { measure: "published: at risk", of, after, value: atRisk },
        ];
      }),
      ...study.order.map(([better, worse]): Measured => ({
        measure: "published: AUC",
        of: `${study.name}, ${better} above ${worse}`,
        after,
        value: auc(jis(better, after), jis(worse, after)),
      })),
      {
        measure: "published: pairs in the study's order",
        of: study.name,
        after,
        value: shareOf(
          study.order,
          ([better, worse]) => mean(jis(better, after)) > mean(jis(worse, after)),
        ),
        ...(after === 200 ? { target: { least: 1 } } : {}),
      },
    ]);
  });
}

function scoredMembers(
  { model, seed, operators }: Run,
  study: PublishedStudy,
  group: PublishedGroup,
): readonly Scored[] {
  const operator = memberOf(group);
  const environment = environmentOf(study);
  return Array.from({ length: operators }, (_, index) => {
    const random = seeded(`${seed}/published/${study.name}/${group.name}/${index}`);
    return { operator, snapshots: runHistory(operator, { model, environment, random, lengths: LENGTHS }) };
  });
}
