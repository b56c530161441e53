/**
 * Who is called at risk if a cut calls at most 5 % of those at risk whose true value reaches the minimum: the score
 * beside simple measures of the same histories, each with the best cut that it can have on these very people, and
 * beside the most that any test of the two rates could find.
 */
import { allLive, NO_PARTS } from "../scoring/known_cases.ts";
import { requireDiscrimination } from "../scoring/discrimination.ts";
import { BASELINE_NAMES, BASELINES } from "./baselines.ts";
import { FIELD_NAMES } from "./field.ts";
import { BAD, environmentOf, HONEST, type PopulationName } from "./populations.ts";
import { type Measured, type Run, scoredOf, snapshotAfter } from "./samples.ts";
import type { ScoreSnapshot } from "./histories.ts";
import { mean, shareOf } from "./statistics.ts";
import { countedRates, trueScore } from "./truth.ts";

const AFTER = 50;
/** Share, 0..1, of people above the minimum that a cut may call at risk in each group. */
const ERROR = 0.05;

/** People whose true values vary, or lie high: a cut must spare each group. */
const GROUPS: readonly (readonly PopulationName[])[] = [HONEST, ["spectrum", "mixed"], FIELD_NAMES];

/** Departures from wrong (h) and from right advice (f), 0..1. */
interface Rates {
  readonly h: number;
  readonly f: number;
}

interface Person {
  readonly snapshot: ScoreSnapshot;
  readonly rates: Rates;
  readonly isAbove: boolean;
}

/** A quantity that is lower for somebody who judges less. */
type Reading = (person: Person) => number;

const READINGS: Readonly<Record<string, Reading>> = {
  "JIS": ({ snapshot }) => snapshot.jis,
  ...Object.fromEntries(
    BASELINE_NAMES.map((name): [string, Reading] => [
      name,
      ({ snapshot }) => BASELINES[name](snapshot.tally),
    ]),
  ),
};

/**
 * Measures, after 50 interactions, the share of each kind that does not judge which lies below the cut. "Any test of
 * the two rates" is the test of most power at this error (Neyman and Pearson 1933) of a kind against a group, if both
 * populations are known exactly: no rule that reads the two rates alone finds more. A rule that also reads how often
 * the AI is wrong can, as far as that tells the groups apart. A verdict that waits for known wrong advice finds at most
 * those of whom enough is known.
 */
export function atEqualError(run: Run): readonly Measured[] {
  const people = (name: PopulationName) => peopleOf(run, name);
  const groups = GROUPS.map((names) => names.flatMap(people).filter(({ isAbove }) => isAbove));
  const { wrong_cases: least } = requireDiscrimination(run.model);
  return BAD.flatMap((of): readonly Measured[] => {
    const kind = people(of);
    const below = (reading: Reading, sparing: typeof groups) => {
      const cut = Math.min(...sparing.map((group) => cutOf(group.map(reading))));
      return shareOf(kind, (person) => reading(person) < cut);
    };
    const most = groups.map((group) => {
      const likelihoods = [group, kind].map((those) => likelihoodOver(those.map(({ rates }) => rates)));
      const [ofGroup, ofKind] = likelihoods as [Reading, Reading];
      return below((person) => ofGroup(person) / ofKind(person), [group]);
    });
    return [
      ...Object.entries(READINGS).map(([name, reading]) => ({
        measure: `at risk at equal error, ${name}`,
        of,
        after: AFTER,
        value: below(reading, groups),
      })),
      {
        measure: "at risk at equal error, any test of the two rates",
        of,
        after: AFTER,
        value: Math.min(...most),
      },
      {
        measure: "enough wrong advice is known for a verdict",
        of,
        after: AFTER,
        value: shareOf(kind, ({ snapshot: { state } }) => allLive(state.ev ?? NO_PARTS)[4] >= least),
      },
    ];
  });
}

function peopleOf(run: Run, name: PopulationName): readonly Person[] {
  const at = { environment: environmentOf(name), index: AFTER - 1 };
  return scoredOf(run, name).map((scored) => ({
    snapshot: snapshotAfter(scored, AFTER),
    rates: countedRates(run.model, scored.operator, at),
    isAbove: trueScore(run.model, scored.operator, at) >= run.model.thresholds.min_jis,
  }));
}

/** The highest cut below which lie at most 5 % of the values. */
function cutOf(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(ERROR * values.length)]!;
}

/** A rate of 0 or 1 would forbid what a referral half counts. */
const EXTREME = 0.001;

/** How probable the known cases of a person are for somebody drawn from a population. */
function likelihoodOver(population: readonly Rates[]): Reading {
  const logs = population.map(({ h, f }) =>
    [h, 1 - h, f, 1 - f].map((rate) => Math.log(Math.max(EXTREME, Math.min(1 - EXTREME, rate))))
  );
  return ({ snapshot: { tally: { evidence: { hit, miss, falseAlarm, correctAcceptance } } } }) => {
    const counts = [hit, miss, falseAlarm, correctAcceptance];
    return mean(logs.map((log) => Math.exp(log.reduce((sum, one, index) => sum + one * counts[index]!, 0))));
  };
}
