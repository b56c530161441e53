/**
 * The measures that every model has in the default environment and in the field: separation of the archetypes, and
 * the order of the scores beside that of simple measures.
 */
import { BASELINE_NAMES, BASELINES } from "./baselines.ts";
import { discrimination } from "./histories.ts";
import { FIELD_NAMES } from "./field.ts";
import { ALL_ARCHETYPES, BAD, GAMING, HONEST, type PopulationName } from "./populations.ts";
import {
  fittedName,
  fittedRun,
  jisAfter,
  type Measured,
  type Run,
  type Scored,
  scoredOf,
  snapshotAfter,
  type Target,
} from "./samples.ts";
import { auc, jackknifeError, mean, orNone, shareOf, spearman } from "./statistics.ts";

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
  const simpleOf = (
    simple: (typeof BASELINE_NAMES)[number],
    name: typeof ALL_ARCHETYPES[number],
    after: number,
  ) => scores.get(name)!.map((one) => BASELINES[simple](snapshotAfter(one, after).tally));
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
      ...BAD.flatMap((name) =>
        BASELINE_NAMES.map((simple): Measured => ({
          measure: `AUC, independent above, ${simple}`,
          of: name,
          after,
          value: auc(simpleOf(simple, "independent", after), simpleOf(simple, name, after)),
        }))
      ),
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
 * The score may be worse than a simple measure by two standard errors of the difference: more is no noise. With
 * `jis-3` the field is measured once more with priors fitted to its people, without a target: how much of a
 * difference is the prior's.
 */
export function ordered(run: Run): readonly Measured[] {
  const isFitted = run.model.discrimination !== undefined;
  const samples = [
    ...VARIED.map((name) => ({
      of: name,
      scored: scoredOf(run, name),
      hasTargets: true,
      hasTheta: name === "spectrum" || name === "mixed",
    })),
    ...(isFitted ? FIELD_NAMES : []).map((name) => ({
      of: fittedName(name),
      scored: scoredOf(fittedRun(run, name), name),
      hasTargets: false,
      hasTheta: false,
    })),
  ];
  return samples.flatMap(({ of, scored, hasTargets, hasTheta }) =>
    [50, 200].flatMap((after) => [
      ...withLatent(scored, { of, after, hasTheta }),
      ...beside(scored, { of, after, hasTargets: hasTargets && isFitted && after === 200 }),
    ])
  );
}

/** The correlation of the scores with the hidden qualities. */
function withLatent(
  scored: readonly Scored[],
  { of, after, hasTheta }: { readonly of: string; readonly after: number; readonly hasTheta: boolean },
): readonly Measured[] {
  const jis = jisAfter(scored, after);
  const figure = (latent: "J*" | "theta", target: string): Measured => ({
    measure: `Spearman with ${latent}`,
    of,
    after,
    value: spearman(
      jis,
      latent === "J*" ? latentOf(scored) : scored.map(({ operator }) => operator.theta.to),
    ),
    ...(of === target && after === 200 ? { target: { least: 0.9 } } : {}),
  });
  return [figure("J*", "spectrum"), ...(hasTheta ? [figure("theta", "mixed")] : [])];
}

function latentOf(scored: readonly Scored[]): readonly number[] {
  return scored.map(({ operator }) => discrimination(operator, 0));
}

/** The same correlation of each simple measure, and the score's less it. */
function beside(
  scored: readonly Scored[],
  { of, after, hasTargets }: { readonly of: string; readonly after: number; readonly hasTargets: boolean },
): readonly Measured[] {
  const [jis, latent] = [jisAfter(scored, after), latentOf(scored)];
  return [
    ...simpleSpearmans(scored, { after, latent }).map(({ name, value }) => ({
      measure: `Spearman with J*, ${name}`,
      of,
      after,
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
        of,
        after,
        value: difference(scored.map((_, index) => index)),
        error: jackknifeError(scored.length, difference),
        ...(hasTargets ? { target: { least: 0, errors: 2 } } : {}),
      };
    }),
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
