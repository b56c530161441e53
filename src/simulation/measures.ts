/**
 * The measures that every model has in the default environment and in the field: separation of the archetypes, and
 * the order of the scores beside that of simple measures.
 */
import { BASELINE_NAMES, BASELINES } from "./baselines.ts";
import { discrimination } from "./histories.ts";
import { FIELD_NAMES } from "./field.ts";
import { ALL_ARCHETYPES, BAD, GAMING, HONEST, type PopulationName } from "./populations.ts";
import {
  jisAfter,
  type Measured,
  type Run,
  type Scored,
  scoredOf,
  snapshotAfter,
  type Target,
} from "./samples.ts";
import { auc, jackknifeError, mean, shareOf, spearman } from "./statistics.ts";

/**
 * A target of the formulas before `jis-3`. With `jis-3` the verdict decides who is at risk, and has targets of its
 * own: the score alone is only reported.
 */
function targetBefore3({ model }: Run, target: Target): { readonly target?: Target } {
  return model.discrimination === undefined ? { target } : {};
}

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
        ...(name === "fast_expert" ? targetBefore3(run, { most: after === 50 ? 0.05 : 0.02 }) : {}),
      })),
      { measure: "at risk", of: "novice_learning", after, value: atRisk("novice_learning", after) },
      { measure: "at risk, rightly", of: "rubber_stamper", after, value: atRisk("rubber_stamper", after) },
      ...GAMING.flatMap((name): Measured[] => [
        {
          measure: "at risk, rightly",
          of: name,
          after,
          value: atRisk(name, after),
          ...targetBefore3(run, { least: after === 50 ? 0.9 : 0.99 }),
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

/** Populations in which the hidden qualities vary from one operator to the next. */
const VARIED = ["spectrum", "mixed", ...FIELD_NAMES] as const satisfies readonly PopulationName[];

/**
 * Measures whether the scores have the order of the hidden qualities, beside simple measures of the same histories.
 * The score may be worse than a simple measure by two standard errors of the difference: more is no noise.
 */
export function ordered(run: Run): readonly Measured[] {
  return VARIED.flatMap((population) => {
    const scored = scoredOf(run, population);
    return [50, 200].flatMap((after) => orderedAfter(run, { population, scored, after }));
  });
}

function orderedAfter(
  run: Run,
  { population, scored, after }: {
    readonly population: (typeof VARIED)[number];
    readonly scored: readonly Scored[];
    readonly after: number;
  },
): readonly Measured[] {
  const latent = scored.map(({ operator }) => discrimination(operator, 0));
  const jis = jisAfter(scored, after);
  const at = { of: population, after };
  const isOld = population === "spectrum" || population === "mixed";
  const target = { target: { least: 0.9 } };
  const thetas = scored.map(({ operator }) => operator.theta.to);
  const isCompared = run.model.discrimination !== undefined && after === 200;
  return [
    {
      measure: "Spearman with J*",
      ...at,
      value: spearman(jis, latent),
      ...(population === "spectrum" && after === 200 ? target : {}),
    },
    ...simpleSpearmans(scored, { after, latent }).map(({ name, value }) => ({
      measure: `Spearman with J*, ${name}`,
      ...at,
      value,
    })),
    ...BASELINE_NAMES.map((name): Measured => {
      const simple = scored.map((one) => BASELINES[name](snapshotAfter(one, after).tally));
      const difference = (indices: readonly number[]) => {
        const pick = (values: readonly number[]) => indices.map((index) => values[index]!);
        return orNone(spearman(pick(jis), pick(latent))) - orNone(spearman(pick(simple), pick(latent)));
      };
      return {
        measure: `Spearman with J*, JIS less ${name}`,
        ...at,
        value: difference(scored.map((_, index) => index)),
        error: jackknifeError(scored.length, difference),
        ...(isCompared ? { target: { least: 0, errors: 2 } } : {}),
      };
    }),
    ...(isOld
      ? [{
        measure: "Spearman with theta",
        ...at,
        value: spearman(jis, thetas),
        ...(population === "mixed" && after === 200 ? target : {}),
      }]
      : []),
  ];
}

/** The correlation of each simple measure with the hidden quality. */
export function simpleSpearmans(
  scored: readonly Scored[],
  { after, latent }: { readonly after: number; readonly latent: readonly number[] },
): readonly { readonly name: string; readonly value: number }[] {
  return BASELINE_NAMES.map((name) => ({
    name,
    value: orNone(spearman(scored.map((one) => BASELINES[name](snapshotAfter(one, after).tally)), latent)),
  }));
}

/** A measure that is the same for everybody orders nobody. */
function orNone(correlation: number): number {
  return Number.isNaN(correlation) ? 0 : correlation;
}
