/**
 * The points of known cases in `jis-3`: what a pair of rates is worth, and what a posterior says of it, as a mean and as
 * an interval.
 *
 * The anchors: a review that departs from wrong advice with rate h and from right advice with rate f adds
 * ε·h − ε·ρ·f for each case, in costs of an error that passes (net benefit: Vickers and Elkin 2006), and costs κ.
 * ε is how often the AI is wrong, ρ the cost of a false alarm at the odds of right advice. So h − ρ·f is 0 where
 * nothing is added, and κ/ε where what is added pays for the review: 40 and 60 points. 1 is perfect: 100.
 */
import { type Dimension, DIMENSIONS, type Mode } from "../domain/enums.ts";
import { clamp, roundTo, toDimension } from "./arithmetic.ts";
import { gridSize, type KnownCases, Posterior, rateAt, requireDiscrimination } from "./discrimination.ts";
import { borneOut, casesOf, lacking, type Part, sumOf, unsealed, type Work } from "./known_cases.ts";
import type { ModelDocument } from "./model.ts";

/** Tenths of a point from 0 to 100: the steps in which an interval is read. */
const STEPS = 1_000;

/**
 * ε of natural cases, 0..1: how often the AI is wrong in them. Where hardly any right advice is known, errors alone are
 * looked for, and say nothing of how often they come. Hits that nothing bears out can be left out.
 */
export function errorRate(model: ModelDocument, natural: Part, { hit, miss } = casesOf(natural)): number {
  const section = requireDiscrimination(model);
  const { prior, weight, least, most, step } = section.error_rate;
  const wrong = lacking(natural, section).right > 0 ? 0 : hit + miss;
  const rate = (prior * weight + wrong) / (weight + wrong + natural[2] + natural[3]);
  return clamp(roundTo(roundTo(rate / step, 0) * step, 9), least, most);
}

/** The points of a pair of rates by a dimension's cost of false alarms, 0..100. */
export function pointsOf(
  model: ModelDocument,
  { falseAlarmCost, errorRate: rate }: { readonly falseAlarmCost: number; readonly errorRate: number },
): (h: number, f: number) => number {
  const { critical_jis, min_jis } = model.thresholds;
  const worthwhile = requireDiscrimination(model).review_cost / rate;
  return (h, f) => {
    const gain = h - falseAlarmCost * f;
    if (gain < 0) return critical_jis + critical_jis * (gain / falseAlarmCost);
    if (gain < worthwhile) return critical_jis + (min_jis - critical_jis) * (gain / worthwhile);
    return min_jis + (100 - min_jis) * ((gain - worthwhile) / (1 - worthwhile));
  };
}

/** Points of each cell of the grid, and the step of an interval in which they lie. */
interface PointTable {
  readonly points: Float64Array;
  readonly steps: Uint16Array;
}

/** The tables of one error rate: points of each weighty dimension, and their weighted sums. */
interface PointTables {
  readonly dimensions: readonly { readonly name: Dimension; readonly points: Float64Array }[];
  readonly full: PointTable;
  readonly lite: PointTable;
}

const tables = new WeakMap<ModelDocument, Map<number, PointTables>>();

/** The tables of an error rate. There are as many rates as steps between the model's bounds: each is kept. */
function tablesOf(model: ModelDocument, rate: number): PointTables {
  const known = tables.get(model) ?? new Map<number, PointTables>();
  tables.set(model, known);
  const made = known.get(rate) ?? makeTables(model, rate);
  known.set(rate, made);
  return made;
}

function makeTables(model: ModelDocument, rate: number): PointTables {
  const size = gridSize(model);
  const weighty = weightyDimensions(model);
  const dimensions = weighty.map(({ name, falseAlarmCost }) => {
    const pointsAt = pointsOf(model, { falseAlarmCost, errorRate: rate });
    const points = new Float64Array(size * size);
    for (let cell = 0; cell < points.length; cell += 1) {
      points[cell] = pointsAt(rateAt(model, Math.floor(cell / size)), rateAt(model, cell % size));
    }
    return { name, points };
  });
  const sumOf = (weightOf: (row: (typeof weighty)[number]) => number): PointTable => {
    const points = new Float64Array(size * size);
    for (const [index, row] of weighty.entries()) {
      const own = dimensions[index]!.points;
      for (let cell = 0; cell < points.length; cell += 1) {
        points[cell] = points[cell]! + weightOf(row) * own[cell]!;
      }
    }
    const steps = new Uint16Array(points.length);
    for (const [cell, value] of points.entries()) {
      steps[cell] = clamp(Math.floor(value * (STEPS / 100)), 0, STEPS);
    }
    return { points, steps };
  };
  return { dimensions, full: sumOf((row) => row.weight), lite: sumOf((row) => row.liteWeight) };
}

/** The dimensions that have a weight in `jis-3`, in their fixed order. */
export function weightyDimensions(model: ModelDocument) {
  return DIMENSIONS.flatMap((name) => {
    const { weight, lite_weight, false_alarm_cost } = model.dimensions[name];
    if (false_alarm_cost === undefined) return [];
    return [{ name, weight, liteWeight: lite_weight ?? 0, falseAlarmCost: false_alarm_cost }];
  });
}

/** The mean of a table over a posterior. */
function meanOf(points: Float64Array, { weights, total }: Posterior): number {
  let sum = 0;
  for (let cell = 0; cell < points.length; cell += 1) sum = sum + weights[cell]! * points[cell]!;
  return sum / total;
}

/** An interval of points, each end rounded outward to a tenth. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The interval that leaves half of the rest of the model's level on each side. */
function intervalOf(model: ModelDocument, { steps }: PointTable, { weights, total }: Posterior): Interval {
  const mass = new Float64Array(STEPS + 1);
  for (let cell = 0; cell < steps.length; cell += 1) {
    const step = steps[cell]!;
    mass[step] = mass[step]! + weights[cell]!;
  }
  const tail = (1 - model.uncertainty.level) / 2 * total;
  let low = 0;
  for (let sum = mass[0]!; sum < tail && low < STEPS; sum = sum + mass[low]!) low += 1;
  let high = STEPS;
  for (let sum = mass[STEPS]!; sum < tail && high > 0; sum = sum + mass[high]!) high -= 1;
  return { low: low * 100 / STEPS, high: Math.min(100, (high + 1) * 100 / STEPS) };
}

/** The posterior of some of the work, read at the error rate of its natural cases in a mode. */
export class Reading {
  /** Both kinds of cases together. */
  readonly part: Part;
  /** Mean of the points. */
  readonly mean: number;
  /** The low end of the interval if every hit counts. */
  readonly lowIfClear: number;
  /**
   * Holds the points whether every hit counts or unclear ones only as far as they are borne out; and as long as nothing
   * shows how often the AI is wrong, whatever that rate is.
   */
  readonly interval: Interval;
  /** The lower mean of both cases. */
  readonly leastMean: number;
  readonly errorRate: number;
  readonly #posterior: Posterior;
  readonly #tables: PointTables;
  /** The tables of the highest score that may be true: those of the highest error rate as long as none is known. */
  readonly #tablesAtMost: PointTables;

  constructor(
    readonly model: ModelDocument,
    readonly work: Work,
    readonly mode: Mode,
  ) {
    this.part = sumOf([work.natural, work.planted]);
    const section = requireDiscrimination(model);
    const own = unsealed(work);
    const read = (cases: KnownCases, natural: KnownCases) => {
      const rate = errorRate(model, own, natural);
      const tables = tablesOf(model, rate);
      const posterior = new Posterior(model, cases);
      const { low, high } = intervalOf(model, tables[mode], posterior);
      return { rate, tables, posterior, low, high, mean: meanOf(tables[mode].points, posterior) };
    };
    const [cases, least] = [casesOf(this.part), borneOut(this.part)];
    const asCounted = read(cases, casesOf(own));
    const asBorneOut = least.hit < cases.hit ? read(least, borneOut(own)) : asCounted;
    const isRateKnown = lacking(own, section).right === 0;
    this.errorRate = asCounted.rate;
    this.#tables = asCounted.tables;
    this.#tablesAtMost = isRateKnown ? asCounted.tables : tablesOf(model, section.error_rate.most);
    this.#posterior = asCounted.posterior;
    this.mean = asCounted.mean;
    this.leastMean = Math.min(asCounted.mean, asBorneOut.mean);
    this.lowIfClear = asCounted.low;
    this.interval = {
      low: Math.min(asCounted.low, asBorneOut.low),
      high: isRateKnown
        ? asCounted.high
        : intervalOf(model, this.#tablesAtMost[mode], asCounted.posterior).high,
    };
  }

  /** Integer points of the weighty dimensions. */
  dimensions(): Readonly<Partial<Record<Dimension, number>>> {
    return Object.fromEntries(
      this.#tables.dimensions.map(({ name, points }) => [
        name,
        toDimension(meanOf(points, this.#posterior) / 100),
      ]),
    );
  }

  /** Whether at least half of the variance of the points is that of the rate on wrong advice (law of total variance). */
  isMostlyOfWrongAdvice(): boolean {
    const { weights, total } = this.#posterior;
    const { points } = this.#tables[this.mode];
    const size = gridSize(this.model);
    let between = 0;
    let squares = 0;
    for (let row = 0, cell = 0; row < size; row += 1) {
      let [weight, sum] = [0, 0];
      for (let column = 0; column < size; column += 1, cell += 1) {
        const [share, value] = [weights[cell]!, points[cell]!];
        weight = weight + share;
        sum = sum + share * value;
        squares = squares + share * (value * value);
      }
      if (weight > 0) between = between + sum * (sum / weight);
    }
    const square = this.mean * this.mean;
    return 2 * (between / total - square) >= squares / total - square;
  }

  /** The highest points, with the certainty of the interval, if no wrong advice were ever accepted. */
  highestWithEveryErrorFound(): number {
    const size = gridSize(this.model);
    const best = this.#tablesAtMost[this.mode].points.subarray((size - 1) * size);
    const tail = (1 - this.model.uncertainty.level) / 2;
    let sum = 0;
    for (const [column, probability] of this.#posterior.ofRightAdvice().entries()) {
      sum = sum + probability;
      if (sum >= tail) return best[column]!;
    }
    return best[size - 1]!;
  }
}
