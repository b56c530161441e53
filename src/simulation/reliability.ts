/** Measures how a score repeats itself: intervals, and two histories of the same reviewer. */
import type { ModelDocument } from "../scoring/model.ts";
import { BASELINE_NAMES, BASELINES } from "./baselines.ts";
import { runHistory, type ScoreSnapshot } from "./histories.ts";
import { FIELD_NAMES } from "./field.ts";
import { drawFrom, environmentOf, type PopulationName } from "./populations.ts";
import { seeded } from "./random.ts";
import type { Measured, Run } from "./samples.ts";
import { correlation, mean, orNone, shareOf } from "./statistics.ts";

const LENGTHS = [25, 50, 200] as const;
/** Number of histories whose mean is an operator's expected JIS. */
const FRESH_HISTORIES = 50;
/** Normal quantile of a two-sided test at 5 %. */
const NORMAL_QUANTILE = 1.96;

/** The snapshots of two histories of one operator. */
type Pair = readonly [own: ScoreSnapshot, other: ScoreSnapshot];

/**
 * Scores each operator in two histories and compares both. The standard error of measurement is the standard deviation
 * of the differences over √2, and the smallest detectable change 1.96·√2 of it (Weir 2005, Journal of Strength and
 * Conditioning Research 19, 231-240): a smaller change of one person is no change at 5 %.
 */
export function reliability(run: Run): readonly Measured[] {
  return (["spectrum", ...FIELD_NAMES] as const).flatMap((of) => {
    const pairs = Array.from({ length: run.operators }, (_, index) => {
      const history = historiesOf(run, of, index);
      return { own: history("history"), other: history("fresh/0") };
    });
    return LENGTHS.flatMap((after, at): Measured[] => {
      const both = pairs.map(({ own, other }): Pair => [own[at]!, other[at]!]);
      const differences = both.map(([own, other]) => own.jis - other.jis);
      const error = Math.sqrt(mean(differences.map((difference) => difference ** 2)) / 2);
      return [
        {
          measure: "reliability, two histories",
          of,
          after,
          value: correlation(both.map(([own]) => own.jis), both.map(([, other]) => other.jis)),
        },
        ...BASELINE_NAMES.map((name) => ({
          measure: `reliability, two histories, ${name}`,
          of,
          after,
          value: orNone(
            correlation(
              both.map(([own]) => BASELINES[name](own.tally)),
              both.map(([, other]) => BASELINES[name](other.tally)),
            ),
          ),
        })),
        { measure: "standard error of measurement, points", of, after, value: error },
        {
          measure: "smallest detectable change, points",
          of,
          after,
          value: NORMAL_QUANTILE * Math.SQRT2 * error,
        },
        {
          measure: "other band in another history",
          of,
          after,
          value: shareOf(both, ([own, other]) => bandOf(run.model, own.jis) !== bandOf(run.model, other.jis)),
        },
        ...(run.model.discrimination === undefined ? [] : [{
          measure: "certain verdicts that contradict each other",
          of,
          after,
          value: shareOf(both, isContradiction),
        }]),
      ];
    });
  });
}

function isContradiction([own, other]: Pair): boolean {
  const statuses = [own.status, other.status];
  return statuses.includes("compliant") && statuses.includes("non_compliant");
}

function bandOf(model: ModelDocument, jis: number): number {
  return Object.values(model.bands).filter((bound) => jis >= bound).length;
}

/** Gives the histories of an operator by name; the one named `history` is that of the samples. */
function historiesOf({ model, seed }: Run, population: PopulationName, index: number) {
  const name = `${seed}/${population}/${index}`;
  const operator = drawFrom(population, seeded(name));
  const environment = environmentOf(population);
  return (which: string) =>
    runHistory(operator, { model, environment, random: seeded(`${name}/${which}`), lengths: LENGTHS });
}

/**
 * With the formulas before `jis-3`: compares the interval with the mean over many histories of the operator. Those
 * formulas have no value that they estimate, but for their own expectation.
 */
export function expectedCoverage(run: Run): readonly Measured[] {
  const histories = Array.from({ length: run.operators }, (_, index) => {
    const history = historiesOf(run, "spectrum", index);
    return {
      own: history("history"),
      fresh: Array.from({ length: FRESH_HISTORIES }, (_, fresh) => history(`fresh/${fresh}`)),
    };
  });
  return LENGTHS.flatMap((after, at): Measured[] => [
    {
      measure: "interval covers the expected JIS",
      of: "spectrum",
      after,
      value: shareOf(histories, ({ own, fresh }) => {
        const expected = mean(fresh.map((snapshots) => snapshots[at]!.jis));
        return own[at]!.low <= expected && expected <= own[at]!.high;
      }),
      target: { least: 0.85, most: 0.95 },
    },
    {
      measure: "width of the interval",
      of: "spectrum",
      after,
      value: mean(histories.map(({ own }) => own[at]!.high - own[at]!.low)),
    },
  ]);
}
