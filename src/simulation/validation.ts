/**
 * The validation of the score on simulated reviewers whose hidden qualities are known: the output of `jiss
 * simulate`. It shows that the score follows the assumptions on which it is built, not that it holds in the
 * field. Source: scoring model, section 13.
 */
import type { ModelDocument } from "../scoring/model.ts";
import { type Distributions, distributions } from "./distributions.ts";
import { changes, intervals, ordered, separation } from "./measures.ts";
import { published } from "./published.ts";
import type { Measured, Run, Target } from "./samples.ts";
import { environments, weights } from "./sensitivity.ts";
import { mean } from "./statistics.ts";

/** Seeds on which no number of a model was tuned. */
export const CHECK_SEEDS: readonly number[] = [777, 31_337, 90_210, 424_242];
export const CHECK_OPERATORS = 200;

export interface Figure extends Omit<Measured, "target"> {
  /** The values of the single seeds; `value` is their mean. */
  readonly by_seed: readonly number[];
  /** null if the figure is only reported. */
  readonly target: Target | null;
}

export interface Validation {
  readonly model: string;
  readonly seeds: readonly number[];
  readonly operators: number;
  readonly figures: readonly Figure[];
  /** Distributions of the first seed, for pictures. */
  readonly distributions: Distributions;
}

/** Yields the share that is done, 0..1, and returns all figures. The same arguments give the same figures. */
export function* validate(
  { model, seeds, operators }: {
    readonly model: ModelDocument;
    readonly seeds: readonly number[];
    readonly operators: number;
  },
): Generator<number, Validation> {
  const drawn = distributions({ model, seed: seeds[0]!, operators });
  const bySeed: (readonly Measured[])[] = [];
  for (const [index, seed] of seeds.entries()) {
    const measured: Measured[] = [];
    const parts = PARTS.filter(({ firstSeedOnly }) => !firstSeedOnly || index === 0);
    const total = parts.reduce((sum, { cost }) => sum + cost, 0);
    let done = 0;
    for (const { cost, measure } of parts) {
      measured.push(...measure({ model, seed, operators }));
      done += cost;
      yield (index + done / total) / seeds.length;
    }
    bySeed.push(measured);
  }
  return { model: model.version, seeds, operators, figures: joined(bySeed), distributions: drawn };
}

/** The figures that miss their target, each with the difference. */
export function missesOf(
  { figures }: Validation,
): readonly { readonly figure: Figure; readonly by: number }[] {
  return figures.flatMap((figure) => {
    const { least = -Infinity, most = Infinity } = figure.target ?? {};
    // NaN is a miss: a correlation with a constant gives it.
    if (figure.target === null || (figure.value >= least && figure.value <= most)) return [];
    return [{ figure, by: figure.value < least ? least - figure.value : figure.value - most }];
  });
}

function joined(bySeed: readonly (readonly Measured[])[]): readonly Figure[] {
  const nameOf = ({ measure, of, after }: Measured) => JSON.stringify([measure, of, after]);
  return [...Map.groupBy(bySeed.flat(), nameOf).values()].map((same) => {
    const [{ measure, of, after, target = null }] = same as [Measured];
    const values = same.map(({ value }) => value);
    return { measure, of, after, value: mean(values), by_seed: values, target };
  });
}

interface Part {
  /** Duration relative to the other parts. */
  readonly cost: number;
  readonly firstSeedOnly?: true;
  readonly measure: (run: Run) => readonly Measured[];
}

const PARTS: readonly Part[] = [
  { cost: 14, measure: separation },
  { cost: 2, measure: (run) => [...ordered(run, "spectrum"), ...ordered(run, "mixed")] },
  { cost: 50, measure: intervals },
  { cost: 3, measure: changes },
  { cost: 2, measure: weights },
  { cost: 6, measure: (run) => published(run) },
  { cost: 90, firstSeedOnly: true, measure: environments },
];
