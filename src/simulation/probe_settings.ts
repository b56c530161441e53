/**
 * The settings of a programme of sealed probes and their effect on its verdicts: how a probe counts, the stakes of the probes,
 * and a minimum for each operator. Each figure's `after` is a number of live cases.
 */
import type { Operator } from "./archetypes.ts";
import type { PopulationName } from "./populations.ts";
import { PLAIN_POLICY, type ProbePolicy, WINDOW_DAYS } from "./probe_policy.ts";
import {
  KIND_NAMES,
  KINDS,
  KNOWN_SHARES,
  LONGEST,
  looksAfter,
  percent,
  type Reviewer,
  reviewersOf,
  sharesAfter,
  statusShares,
  USUAL_RATE,
  USUAL_SHARE,
} from "./programme_samples.ts";
import { liveEnvironment } from "./programmes.ts";
import type { Measured, Run } from "./samples.ts";
import { mean } from "./statistics.ts";
import { trueScore } from "./truth.ts";

/**
 * Measures the verdicts by how a probe is counted: as the model does, and in two other ways (see `CountedAs`). The people
 * of `spectrum` are parted by their true value at the natural rate.
 */
export function countings(run: Run): readonly Measured[] {
  const environment = liveEnvironment(USUAL_RATE);
  const { min_jis: minimum } = run.model.thresholds;
  return ([0.15, 0.5] as const).flatMap((wrongShare) => {
    const policy = { ...PLAIN_POLICY, rate: USUAL_SHARE, wrongShare };
    const people = (name: PopulationName) => reviewersOf(run, name, { environment, policy });
    const isAbove = ({ operator }: Reviewer) =>
      trueScore(run.model, operator, { environment, index: 0 }) >= minimum;
    const spectrum = people("spectrum");
    const groups = {
      blind: people(KINDS.blind),
      careful: people(KINDS.careful),
      "spectrum, truly below the minimum": spectrum.filter((one) => !isAbove(one)),
      "spectrum, truly above the minimum": spectrum.filter(isAbove),
    };
    return (["probe", "live", "planted"] as const).flatMap((countedAs) =>
      KNOWN_SHARES.flatMap((known) =>
        Object.entries(groups).filter(([, members]) => members.length > 0).flatMap(([of, members]) => {
          const name = `counted as ${countedAs}, ${percent(wrongShare)} of probes wrong, outcomes known ${
            percent(known)
          }`;
          const setting = { policy, known, countedAs };
          return sharesAfter(run.model, members, { setting, name, of, after: LONGEST });
        })
      )
    );
  });
}

// ---- stakes and minimum -------------------------------------------------------------------------------------

const GRAVE_WORK = { highStakesShare: 0.08, criticalShare: 0.02 } as const;
const STAKES = {
  "no probe at high stakes": { standard: 1, high_stakes: 0, critical: 0 },
  "probes with the stakes of the work": { standard: 0.9, high_stakes: 0.08, critical: 0.02 },
  "a third of the probes of each stakes": { standard: 1, high_stakes: 1, critical: 1 },
} as const satisfies Record<string, ProbePolicy["stakes"]>;
const STAKES_KINDS: Readonly<Record<string, (operator: Operator) => Operator>> = {
  careful: (operator) => operator,
  "blind at high stakes": (operator) => ({ ...operator, judgesOnly: "low_stakes" }),
};

/** Measures the verdicts by the stakes of the probes, where 8 % of live cases have high stakes and 2 % are critical. */
export function stakesOfProbes(run: Run): readonly Measured[] {
  const environment = liveEnvironment(USUAL_RATE, GRAVE_WORK);
  return Object.entries(STAKES).flatMap(([mix, stakes]) => {
    const policy = { ...PLAIN_POLICY, rate: USUAL_SHARE, stakes };
    return Object.entries(STAKES_KINDS).flatMap(([of, change]) => {
      const reviewers = reviewersOf(run, KINDS.careful, { environment, policy, change });
      return KNOWN_SHARES.flatMap((known) => {
        const name = `${mix}, outcomes known ${percent(known)}`;
        return sharesAfter(run.model, reviewers, { setting: { policy, known }, name, of, after: LONGEST });
      });
    });
  });
}

/** Policies by their rate and their minimum in 90 days. */
const POLICIES = [[0.01, 0], [0.01, 12], [0.01, 30], [0.02, 12]] as const;
/** Live cases a day. */
const PACES = [8, 2, 0.5] as const;

/** Measures what a minimum adds in the first 90 days, by an operator's pace; one live outcome in ten becomes known. */
export function minimums(run: Run): readonly Measured[] {
  return PACES.flatMap((pace) => {
    const after = WINDOW_DAYS * pace;
    const environment = liveEnvironment(USUAL_RATE, { daysBetween: 1 / pace });
    return KIND_NAMES.flatMap((of) => {
      const reviewers = reviewersOf(run, KINDS[of], { environment, policy: PLAIN_POLICY });
      return POLICIES.flatMap(([rate, minimum]) => {
        const policy = { ...PLAIN_POLICY, rate, minimum };
        const looks = reviewers.map((one) => looksAfter(run.model, one, { policy, known: 0.1 }, [after])[0]!);
        const setting = `rate ${percent(rate)}, minimum ${minimum}, ${pace} cases a day`;
        return [
          {
            measure: `${setting}: probes in 90 days`,
            of,
            after,
            value: mean(looks.map(({ probes }) => probes)),
          },
          ...statusShares(looks.map(({ status }) => status), { setting, of, after }),
        ];
      });
    });
  });
}
