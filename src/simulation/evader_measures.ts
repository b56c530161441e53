/**
 * Reviewers who defeat sealed probes, measured: what the verdict says against their true work on live cases, and which
 * comparison of two kinds of their cases reveals them.
 */
import { VERDICT_STATUSES } from "../domain/enums.ts";
import { NO_PARTS, type PartsOfWork } from "../scoring/known_cases.ts";
import { instantOf } from "./clock.ts";
import { type ContentUses, EVADER_NAMES, type EvaderName, evaderWork, WARY_CASES } from "./evaders.ts";
import { fisherAbove } from "./fisher.ts";
import { KNOWN_SHARES, percent } from "./programme_samples.ts";
import { PLAIN_POLICY } from "./probe_policy.ts";
import {
  type CountedAs,
  liveEnvironment,
  programme,
  recorded,
  statusAt,
  type Step,
  type Terms,
} from "./programmes.ts";
import { seeded } from "./random.ts";
import type { Measured, Run } from "./samples.ts";
import { shareOf } from "./statistics.ts";
import { statusName } from "./verdicts.ts";

export const EVADED_SHARES = [0.01, 0.02, 0.05] as const;
/** Natural error rate of the AI, live cases of each reviewer, reviewers of a team, and a run's operators for one team. */
const AI_ERROR_RATE = 0.05;
const CASES = 1_000;
/** The instant of the last live case. */
const LAST = instantOf(CASES - 1);
const TEAM = 10;
const OPERATORS_PER_TEAM = 40;
/** A comparison reveals somebody if chance would make so large a difference in less than this share of cases. */
const SIGNIFICANCE = 0.05;

/** A case of wrong advice, with what a comparison may look at. */
interface Seen {
  readonly isProbe: boolean;
  readonly isFresh: boolean;
  /** Live cases of the reviewer since the latest probe; Infinity before the first. */
  readonly sinceProbe: number;
}

/** Two kinds of cases whose shares of errors found are compared. */
interface Comparison {
  /** True if the truth of live cases must be known. */
  readonly needsOutcomes: boolean;
  /** True for the side that an evader makes look better, false for the other, null for a case that is not compared. */
  readonly sideOf: (seen: Seen) => boolean | null;
}

export const COMPARISONS = {
  "probes against live cases": { needsOutcomes: true, sideOf: ({ isProbe }) => isProbe },
  "repeated contents against fresh ones": {
    needsOutcomes: false,
    sideOf: ({ isProbe, isFresh }) => isProbe ? !isFresh : null,
  },
  "live cases soon after a probe against later ones": {
    needsOutcomes: true,
    sideOf: ({ isProbe, sinceProbe }) => isProbe ? null : sinceProbe < WARY_CASES,
  },
} as const satisfies Record<string, Comparison>;
export type ComparisonName = keyof typeof COMPARISONS;
const COMPARISON_NAMES = Object.keys(COMPARISONS) as readonly ComparisonName[];

/** Shares of live outcomes known with which comparisons are made that need any. */
const SOME_KNOWN = KNOWN_SHARES.filter((known) => known > 0);
/** The records that are kept of each reviewer. */
const RECORDS: readonly Required<Terms>[] = (["probe", "planted"] as const satisfies CountedAs[]).flatMap(
  (countedAs) => KNOWN_SHARES.map((known) => ({ known, countedAs })),
);

/** Numbers of cases of wrong advice. */
interface Tally {
  well: number;
  badly: number;
}
const noTally = (): Tally => ({ well: 0, badly: 0 });

/** A comparison at a share of outcomes known, with the figures' words for it. */
interface Compared {
  readonly name: string;
  readonly comparison: Comparison;
  readonly known: number;
}

const COMPARED: readonly Compared[] = COMPARISON_NAMES.flatMap((name): readonly Compared[] => {
  const comparison: Comparison = COMPARISONS[name];
  return comparison.needsOutcomes
    ? SOME_KNOWN.map((known) => ({ name: `outcomes known ${percent(known)}, ${name}`, comparison, known }))
    : [{ name, comparison, known: 0 }];
});

/** The counts of one reviewer. `probes` and `live` have every case of wrong advice, known or not. */
interface Member {
  /** In the order of `RECORDS`. */
  readonly parts: PartsOfWork[];
  /** In the order of `COMPARED`. */
  readonly sides: readonly { readonly better: Tally; readonly other: Tally }[];
  readonly probes: Tally;
  readonly live: Tally;
  sinceProbe: number;
}

function newMember(): Member {
  return {
    parts: RECORDS.map(() => NO_PARTS),
    sides: COMPARED.map(() => ({ better: noTally(), other: noTally() })),
    probes: noTally(),
    live: noTally(),
    sinceProbe: Infinity,
  };
}

/** Measures each kind of reviewer by share of probes, after 1,000 live cases in which the AI is wrong in one of twenty. */
export function evasion(run: Run): readonly Measured[] {
  return EVADER_NAMES.flatMap((of) => EVADED_SHARES.flatMap((rate) => measured(run, of, rate)));
}

function measured(run: Run, of: EvaderName, rate: number): readonly Measured[] {
  const teams = Array.from(
    { length: Math.ceil(run.operators / OPERATORS_PER_TEAM) },
    (_, index) => teamOf(run, of, { rate, name: `${run.seed}/evaders/${of}/${index}` }),
  );
  const members = teams.flat();
  const figure = (name: string, value: number) => ({
    measure: `probes ${percent(rate)}: ${name}`,
    of,
    after: CASES,
    value,
  });
  const rateOf = (count: "probes" | "live") => {
    const { well, badly } = sumOf(members.map((one) => one[count]));
    return well / (well + badly);
  };
  return [
    figure("errors found in live work", rateOf("live")),
    figure("errors found in probes", rateOf("probes")),
    ...RECORDS.flatMap(({ known, countedAs }, at) => {
      const statuses = members.map(({ parts }) => statusAt(run.model, parts[at]!, LAST));
      return VERDICT_STATUSES.map((status) =>
        figure(
          `counted as ${countedAs}, outcomes known ${percent(known)}, ${statusName(status)}`,
          shareOf(statuses, (one) => one === status),
        )
      );
    }),
    ...COMPARED.flatMap(({ name }, at) => {
      const isRevealed = (those: readonly Member[]) => {
        const sum = (side: "better" | "other") => sumOf(those.map(({ sides }) => sides[at]![side]));
        return fisherAbove(sum("better"), sum("other")) < SIGNIFICANCE;
      };
      return [
        figure(`${name} reveals one reviewer`, shareOf(members, (one) => isRevealed([one]))),
        figure(`${name} reveals a team of ${TEAM}`, shareOf(teams, isRevealed)),
      ];
    }),
  ];
}

function sumOf(tallies: readonly Tally[]): Tally {
  return tallies.reduce(
    (sum, { well, badly }) => ({ well: sum.well + well, badly: sum.badly + badly }),
    noTally(),
  );
}

/** A team whose members decide their live cases in turn. */
function teamOf(
  { model }: Run,
  evader: EvaderName,
  { rate, name }: { readonly rate: number; readonly name: string },
): readonly Member[] {
  const policy = { ...PLAIN_POLICY, rate };
  const uses: ContentUses = new Map();
  const team = Array.from({ length: TEAM }, (_, index) => {
    const own = `${name}/${index}`;
    const work = evaderWork(evader, { environment: liveEnvironment(AI_ERROR_RATE), policy, name: own, uses });
    return { member: newMember(), steps: programme(work, policy, { due: seeded(`${own}/due`) }) };
  });
  for (let index = 0; index < CASES; index += 1) {
    for (const { member, steps } of team) {
      let step: Step;
      do {
        step = steps.next().value;
        for (const [at, terms] of RECORDS.entries()) {
          member.parts[at] = recorded(model, member.parts[at]!, step, terms);
        }
        compare(member, step);
      } while (step.worked.isProbe);
    }
  }
  return team.map(({ member }) => member);
}

/** Counts a case of wrong advice in every comparison to which it belongs. */
function compare(
  member: Member,
  { worked: { isProbe, isWrong, isFresh, isDecidedWell, label } }: Step,
): void {
  const side = isDecidedWell ? "well" : "badly";
  if (isWrong) {
    member[isProbe ? "probes" : "live"][side] += 1;
    for (const [at, { comparison, known }] of COMPARED.entries()) {
      if (!isProbe && label >= known) continue;
      const isBetter = comparison.sideOf({ isProbe, isFresh, sinceProbe: member.sinceProbe });
      if (isBetter !== null) member.sides[at]![isBetter ? "better" : "other"][side] += 1;
    }
  }
  member.sinceProbe = isProbe ? 0 : member.sinceProbe + 1;
}
