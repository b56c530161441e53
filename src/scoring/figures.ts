/**
 * The figures of a compliance report: the distribution of the population's scores and of its dimensions.
 * Source: scoring model, section 10.
 */
import { BANDS, DIMENSIONS } from "../domain/enums.ts";
import type { Report } from "../domain/report.ts";
import { round } from "./arithmetic.ts";
import { bandOf } from "./dimensions.ts";
import type { ModelDocument } from "./model.ts";
import { countedVerdict, jisAverages, verdictCounts } from "./organization.ts";
import { againstMinimum, type PeriodRecord } from "./period.ts";

/** Width of a histogram step, JIS points, and the number of steps from 0 to 100. */
const STEP_POINTS = 5;
const STEPS = 20;

/**
 * Counts, averages and spreads over exactly these records; averages and spreads are null if there is no
 * record. `insufficientData` is the number of operators whose record is too short to be one of them.
 */
export function figuresOf(
  model: ModelDocument,
  population: readonly PeriodRecord[],
  insufficientData: number,
): Report["figures"] {
  const sides = population.map((record) => againstMinimum(model, record));
  const sideCount = (side: (typeof sides)[number]) => sides.filter((other) => other === side).length;
  return {
    jis: jisAverages(population),
    verdicts: { ...verdictCounts(population), insufficient_data: insufficientData },
    histogram: histogramOf(population),
    bands: bandCountsOf(model, population),
    against_minimum: {
      above: sideCount("above"),
      below: sideCount("below"),
      undetermined: sideCount("undetermined"),
    },
    dimensions: DIMENSIONS.map((dimension) => ({
      dimension,
      ...spreadOf(population.map((record) => record.dimensions[dimension])),
    })),
  };
}

function histogramOf(population: readonly PeriodRecord[]): Report["figures"]["histogram"] {
  // The division uses whole hundredths, so that no quotient can fall short of its step's edge.
  const steps = population.map((record) =>
    Math.min(Math.floor(round(record.jis * 100) / (STEP_POINTS * 100)), STEPS - 1)
  );
  return Array.from({ length: STEPS }, (_, step) => ({
    from: step * STEP_POINTS,
    to: (step + 1) * STEP_POINTS,
    operators: steps.filter((other) => other === step).length,
  }));
}

/**
 * An operator with a verdict counts in the band of the score, and as undetermined if the verdict is. Without
 * one to count by the operator counts in a band only if the whole interval lies in it, and as undetermined otherwise.
 */
function bandCountsOf(model: ModelDocument, population: readonly PeriodRecord[]): Report["figures"]["bands"] {
  const bands = population.map((record) => {
    const { jis, low, high } = record;
    const verdict = countedVerdict(model, record);
    if (verdict !== null) return verdict === "undetermined" ? verdict : bandOf(model, jis);
    const band = bandOf(model, low);
    return band === bandOf(model, high) ? band : "undetermined";
  });
  return Object.fromEntries(
    [...BANDS, "undetermined"].map((band) => [band, bands.filter((other) => other === band).length]),
  ) as Report["figures"]["bands"];
}

/** Mean to one decimal; quartiles by nearest rank, the ⌈q·n⌉-th smallest, which is always a value that occurs. */
function spreadOf(values: readonly number[]): Omit<Report["figures"]["dimensions"][number], "dimension"> {
  if (values.length === 0) return { mean: null, lower_quartile: null, median: null, upper_quartile: null };
  const sorted = values.toSorted((a, b) => a - b);
  const quartile = (quarters: number) => sorted[Math.ceil(quarters * sorted.length / 4) - 1]!;
  const sum = sorted.reduce((total, value) => total + value, 0);
  return {
    mean: round(sum * 10 / sorted.length) / 10,
    lower_quartile: quartile(1),
    median: quartile(2),
    upper_quartile: quartile(3),
  };
}
