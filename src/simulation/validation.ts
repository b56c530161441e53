/**
 * The validation of the score on simulated reviewers whose hidden qualities are known: the output of `jiss
 * simulate`. It shows that the score follows the assumptions on which it is built, not that it holds in the
 * field. Source: scoring model, section 13.
 */
import type { ModelDocument } from "../scoring/model.ts";
import { type Distributions, distributions } from "./distributions.ts";
import { certainty } from "./certainty.ts";
import { atOtherCosts } from "./costs.ts";
import { detection, probesToSettle } from "./detection.ts";
import { changes } from "./drift.ts";
import { atEqualError } from "./equal_error.ts";
import { evasion } from "./evader_measures.ts";
import { EVADERS } from "./evaders.ts";
import { FIELD_STUDIES } from "./field.ts";
import { ordered, separation } from "./measures.ts";
import { countings, minimums, stakesOfProbes } from "./probe_settings.ts";
import { expectedCoverage, reliability } from "./reliability.ts";
import type { Measured, Run, Target } from "./samples.ts";
import { environments, weights } from "./sensitivity.ts";
import { mean } from "./statistics.ts";
import { STRATEGIES, strategies } from "./strategies.ts";
import { coverage, measuredZeros, verdicts, withoutTruth } from "./verdicts.ts";

/** Seeds on which no number of a model was tuned. */
export const CHECK_SEEDS: readonly number[] = [777, 31_337, 90_210, 424_242];
export const CHECK_OPERATORS = 200;

export interface Figure extends Omit<Measured, "target" | "error"> {
  /** The heading under which people find it. */
  readonly section: string;
  /** The values of the single seeds; `value` is their mean. */
  readonly by_seed: readonly number[];
  /** Standard error of `value`; null if it is not known. */
  readonly error: number | null;
  /** null if the figure is only reported. */
  readonly target: Target | null;
}

export interface Validation {
  readonly model: string;
  readonly seeds: readonly number[];
  readonly operators: number;
  readonly figures: readonly Figure[];
  /** A sentence on the reviewers of each name that needs one. */
  readonly legend: Readonly<Record<string, string>>;
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
  const runs = seeds.map((seed): Run => ({ model, seed, operators }));
  const parts = PARTS.filter(({ formulas }) => formulas === undefined || formulas.includes(model.formulas));
  const steps = runs.flatMap((run, index) =>
    parts.filter(({ firstSeedOnly }) => !firstSeedOnly || index === 0).map((part) => ({ run, part }))
  );
  const total = steps.reduce((sum, { part: { cost } }) => sum + cost, 0);
  const measured: MeasuredIn[] = [];
  let done = 0;
  for (const { run, part: { section, cost, measure } } of steps) {
    measured.push(...measure(run).map((one) => ({ ...one, section })));
    done += cost;
    yield done / total;
  }
  const figures = parts.flatMap(({ section }) => joined(measured.filter((one) => one.section === section)));
  return {
    model: model.version,
    seeds,
    operators,
    figures,
    legend: LEGEND,
    distributions: distributions(runs[0]!),
  };
}

const LEGEND = Object.fromEntries([
  ...Object.entries(FIELD_STUDIES).map(([name, { about }]) => [name, `${about}.`]),
  ...Object.entries({ ...STRATEGIES, ...EVADERS }).map(([name, { does }]) => [name, does]),
]);

/** A figure of one seed with its heading. */
type MeasuredIn = Measured & Pick<Figure, "section">;

/**
 * The figures that miss their target, each with the difference. A target that allows standard errors is missed by what
 * lies beyond them.
 */
export function missesOf(
  { figures }: Pick<Validation, "figures">,
): readonly { readonly figure: Figure; readonly by: number }[] {
  return figures.flatMap((figure) => {
    if (figure.target === null) return [];
    const { least = -Infinity, most = Infinity, errors = 0 } = figure.target;
    const allowed = errors === 0 ? 0 : errors * (figure.error ?? 0);
    // NaN is a miss: a correlation with a constant gives it.
    if (figure.value + allowed >= least && figure.value - allowed <= most) return [];
    const by = figure.value < least ? least - figure.value : figure.value - most;
    return [{ figure, by: by - allowed }];
  });
}

/** The mean over the seeds; their errors are independent. */
function joined(measured: readonly MeasuredIn[]): readonly Figure[] {
  const nameOf = ({ measure, of, after }: Measured) => JSON.stringify([measure, of, after]);
  return [...Map.groupBy(measured, nameOf).values()].map((same) => {
    const [{ section, measure, of, after, target = null }] = same as [MeasuredIn];
    const values = same.map(({ value }) => value);
    const errors = same.map(({ error }) => error);
    const known = errors.filter((error) => error !== undefined);
    const error = known.length < errors.length
      ? null
      : Math.sqrt(known.reduce((sum, one) => sum + one * one, 0)) / errors.length;
    return { section, measure, of, after, value: mean(values), by_seed: values, error, target };
  });
}

interface Part {
  /** Unique among the parts. */
  readonly section: string;
  /** Duration relative to the other parts. */
  readonly cost: number;
  readonly firstSeedOnly?: true;
  /** The formulas that the part measures; all if absent. */
  readonly formulas?: readonly ModelDocument["formulas"][];
  readonly measure: (run: Run) => readonly Measured[];
}

const BEFORE_VERDICTS = ["jis-1", "jis-2"] as const;
const WITH_VERDICTS = ["jis-3"] as const;

const PARTS: readonly Part[] = [
  { section: "Separation of the archetypes", cost: 14, measure: separation },
  { section: "Order: the score and simple measures against J*", cost: 8, measure: ordered },
  { section: "Verdicts", cost: 12, formulas: WITH_VERDICTS, measure: verdicts },
  { section: "Verdicts beside simple measures", cost: 2, formulas: WITH_VERDICTS, measure: atEqualError },
  { section: "Verdicts at other costs", cost: 5, formulas: WITH_VERDICTS, measure: atOtherCosts },
  { section: "Intervals, by kind of reviewer", cost: 1, formulas: WITH_VERDICTS, measure: coverage },
  { section: "Intervals", cost: 50, formulas: BEFORE_VERDICTS, measure: expectedCoverage },
  { section: "Reliability and the smallest detectable change", cost: 10, measure: reliability },
  { section: "Strategies and records", cost: 12, measure: strategies },
  { section: "Telemetry that is measured as zero", cost: 6, formulas: WITH_VERDICTS, measure: measuredZeros },
  { section: "Without truth", cost: 10, formulas: WITH_VERDICTS, measure: withoutTruth },
  {
    section: "How much truth buys how much certainty",
    cost: 40,
    formulas: WITH_VERDICTS,
    measure: certainty,
  },
  ...([
    { section: "verdicts by share of probes", cost: 11, measure: detection },
    { section: "probes until a verdict", cost: 4, measure: probesToSettle },
    { section: "what a probe counts as", cost: 5, measure: countings },
    { section: "stakes of the probes", cost: 5, measure: stakesOfProbes },
    { section: "a minimum for each operator", cost: 2, measure: minimums },
    { section: "reviewers who defeat probes", cost: 10, measure: evasion },
  ] as const).map((part) => ({
    ...part,
    section: `Probe programmes: ${part.section}`,
    formulas: WITH_VERDICTS,
  })),
  { section: "Drift", cost: 15, measure: changes },
  { section: "Weights of the dimensions", cost: 2, measure: weights },
  { section: "Other environments", cost: 90, firstSeedOnly: true, measure: environments },
];
