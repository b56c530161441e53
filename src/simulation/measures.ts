/**
 * The measures of the validation in the default environment: separation, order, intervals, and delay of a
 * change.
 */
import { DEFAULT_ENVIRONMENT } from "./archetypes.ts";
import { discrimination, runHistory, snapshotsAfterEach } from "./histories.ts";
import { ALL_ARCHETYPES, BAD, drawFrom, GAMING, HONEST } from "./populations.ts";
import { seeded } from "./random.ts";
import { jisAfter, type Measured, type Run, scoredOf } from "./samples.ts";
import { auc, correlation, mean, quantile, shareOf, spearman } from "./statistics.ts";

/** Number of histories whose mean is an operator's expected JIS. */
const FRESH_HISTORIES = 50;
/** Interactions before behaviour changes, and most interactions after the change. */
const INTERACTIONS_BEFORE = 100;
const INTERACTIONS_AFTER = 300;

/** Measures whether honest and other archetypes are told apart, and who is called at risk. */
export function separation(run: Run): readonly Measured[] {
  const { min_jis: bound } = run.model.thresholds;
  const scores = new Map(ALL_ARCHETYPES.map((name) => [name, scoredOf(run, name)]));
  const jisOf = (name: typeof ALL_ARCHETYPES[number], after: number) => jisAfter(scores.get(name)!, after);
  const atRisk = (name: typeof ALL_ARCHETYPES[number], after: number) =>
    shareOf(jisOf(name, after), (jis) => jis < bound);
  const pooled = (after: number) => BAD.flatMap((name) => jisOf(name, after));
  return [
    ...[50, 200].flatMap((after) =>
      ALL_ARCHETYPES.map((name) => ({
        measure: "mean JIS",
        of: name,
        after,
        value: mean(jisOf(name, after)),
      }))
    ),
    ...[10, 25, 50, 100].flatMap((after) => [
      ...BAD.map((name): Measured => ({
        measure: "AUC, independent above",
        of: name,
        after,
        value: auc(jisOf("independent", after), jisOf(name, after)),
        ...(after === 50 ? { target: { least: 0.98 } } : {}),
      })),
      {
        measure: "AUC, fast_expert above",
        of: "all of these",
        after,
        value: auc(jisOf("fast_expert", after), pooled(after)),
      },
    ]),
    ...[50, 200].flatMap((after) => [
      ...HONEST.map((name): Measured => ({
        measure: "at risk, wrongly",
        of: name,
        after,
        value: atRisk(name, after),
        ...(name === "fast_expert" ? { target: { most: after === 50 ? 0.05 : 0.02 } } : {}),
      })),
      { measure: "at risk", of: "novice_learning", after, value: atRisk("novice_learning", after) },
      { measure: "at risk, rightly", of: "rubber_stamper", after, value: atRisk("rubber_stamper", after) },
      ...GAMING.flatMap((name): Measured[] => [
        {
          measure: "at risk, rightly",
          of: name,
          after,
          value: atRisk(name, after),
          target: { least: after === 50 ? 0.9 : 0.99 },
        },
        {
          measure: "gain over rubber_stamper",
          of: name,
          after,
          value: mean(jisOf(name, after)) - mean(jisOf("rubber_stamper", after)),
        },
      ]),
    ]),
  ];
}

/** Measures whether the scores have the order of the hidden qualities, in a population in which these vary. */
export function ordered(run: Run, population: "spectrum" | "mixed"): readonly Measured[] {
  const scored = scoredOf(run, population);
  return [50, 200].flatMap((after) => {
    const jis = jisAfter(scored, after);
    const withLatent = (latent: "J*" | "theta", isTarget: boolean): Measured => ({
      measure: `Spearman with ${latent}`,
      of: population,
      after,
      value: spearman(
        jis,
        scored.map(({ operator }) => latent === "J*" ? discrimination(operator, 0) : operator.theta.to),
      ),
      ...(isTarget && after === 200 ? { target: { least: 0.9 } } : {}),
    });
    return [withLatent("J*", population === "spectrum"), withLatent("theta", population === "mixed")];
  });
}

// ---- intervals and reliability ----------------------------------------------------------------------------

const INTERVAL_LENGTHS = [25, 50, 200] as const;

/**
 * Scores each operator in many histories: compares the interval with the mean, and one score with another.
 */
export function intervals({ model, seed, operators }: Run): readonly Measured[] {
  const histories = Array.from({ length: operators }, (_, index) => {
    const name = `${seed}/spectrum/${index}`;
    const operator = drawFrom("spectrum", seeded(name));
    const history = (which: string) =>
      runHistory(operator, {
        model,
        environment: DEFAULT_ENVIRONMENT,
        random: seeded(`${name}/${which}`),
        lengths: INTERVAL_LENGTHS,
      });
    return {
      own: history("history"),
      fresh: Array.from({ length: FRESH_HISTORIES }, (_, fresh) => history(`fresh/${fresh}`)),
    };
  });
  const band = (jis: number) => Object.values(model.bands).filter((bound) => jis >= bound).length;
  return INTERVAL_LENGTHS.flatMap((after, lengthIndex): Measured[] => {
    const covered = shareOf(histories, ({ own, fresh }) => {
      const expected = mean(fresh.map((snapshots) => snapshots[lengthIndex]!.jis));
      return own[lengthIndex]!.low <= expected && expected <= own[lengthIndex]!.high;
    });
    const pairs = histories.map(({ own, fresh }) =>
      [own[lengthIndex]!.jis, fresh[0]![lengthIndex]!.jis] as const
    );
    return [
      {
        measure: "interval covers the expected JIS",
        of: "spectrum",
        after,
        value: covered,
        target: { least: 0.85, most: 0.95 },
      },
      {
        measure: "width of the interval",
        of: "spectrum",
        after,
        value: mean(histories.map(({ own }) => own[lengthIndex]!.high - own[lengthIndex]!.low)),
      },
      {
        measure: "reliability, two histories",
        of: "spectrum",
        after,
        value: correlation(pairs.map(([one]) => one), pairs.map(([, other]) => other)),
      },
      {
        measure: "other band in another history",
        of: "spectrum",
        after,
        value: shareOf(pairs, ([one, other]) => band(one) !== band(other)),
      },
    ];
  });
}

// ---- interactions until a change shows --------------------------------------------------------------------

/**
 * Measures an independent reviewer who from one interaction to the next begins to approve nearly everything.
 */
export function changes({ model, seed, operators }: Run): readonly Measured[] {
  const { min_jis: bound } = model.thresholds;
  const waits: number[] = [];
  const falseAlarms: boolean[] = [];
  for (let index = 0; index < operators; index += 1) {
    const name = `${seed}/change/${index}`;
    const before = drawFrom("independent", seeded(name));
    const after = { ...before, theta: { from: 0.05, to: 0.05, over: 0 } };
    const steps = snapshotsAfterEach((at) => at < INTERACTIONS_BEFORE ? before : after, {
      model,
      environment: DEFAULT_ENVIRONMENT,
      random: seeded(`${name}/history`),
    });
    let isFalseAlarm = false;
    let wait = INTERACTIONS_AFTER;
    for (let at = 1; at <= INTERACTIONS_BEFORE + INTERACTIONS_AFTER; at += 1) {
      const { jis } = steps.next().value;
      if (at > INTERACTIONS_BEFORE && jis < bound) {
        wait = at - INTERACTIONS_BEFORE;
        break;
      }
      if (at > INTERACTIONS_BEFORE / 2 && jis < bound) isFalseAlarm = true;
    }
    waits.push(wait);
    falseAlarms.push(isFalseAlarm);
  }
  const figure = (of: string, value: number) => ({
    measure: "interactions until a change shows",
    of,
    after: null,
    value,
  });
  return [
    figure("median", quantile(waits, 0.5)),
    figure("of nine in ten", quantile(waits, 0.9)),
    {
      measure: "at risk before the change",
      of: "independent",
      after: null,
      value: shareOf(falseAlarms, Boolean),
    },
  ];
}
