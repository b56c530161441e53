/**
 * The posterior of `jis-3`: how probable it is that an operator departs from wrong advice (h) and from right
 * advice (f) at each pair of rates, given the cases whose truth is known.
 *
 * Both rates are logits on one grid. The prior has the leaning (the mean of both logits: the criterion) and the
 * sensitivity (their difference) as two quantities, because people differ in both and rejecting more is not
 * judging better (Green and Swets 1966; hierarchical form: Rouder and Lu 2005). The likelihood is binomial in
 * each rate. Sums run over the grid in one fixed order, with the model's own exp and ln, so that every
 * implementation agrees to the last bit.
 */
import { exp, ln } from "./arithmetic.ts";
import type { ModelDocument } from "./model.ts";

/** Weights of known cases, each at least 0. */
export interface KnownCases {
  /** Wrong advice that the operator departed from. */
  readonly hit: number;
  /** Wrong advice that the operator accepted. */
  readonly miss: number;
  /** Right advice that the operator accepted. */
  readonly correctAcceptance: number;
  /** Right advice that the operator departed from. */
  readonly falseAlarm: number;
}

/** The grid of a model and the prior on it. */
interface Grid {
  /** Equally spaced, rising. */
  readonly logits: readonly number[];
  /** The rates at the grid's points, rising, between 0 and 1. */
  readonly rates: readonly number[];
  /** ln of each rate, and of 1 minus it. */
  readonly logs: readonly number[];
  readonly logsOfRest: readonly number[];
  /** Probability of each cell, row after row; rows are h, columns f. They sum to 1. */
  readonly prior: Float64Array;
}

const grids = new WeakMap<Discrimination, Grid>();

type Discrimination = NonNullable<ModelDocument["discrimination"]>;

/** The section of `jis-3`. @throws {TypeError} if the model has other formulas. */
export function requireDiscrimination(model: ModelDocument): Discrimination {
  if (model.discrimination === undefined) throw new TypeError(`${model.version} has no discrimination`);
  return model.discrimination;
}

/** The grid of a model; a document is never changed, so that it is computed once. */
function gridOf(section: Discrimination): Grid {
  const known = grids.get(section);
  if (known !== undefined) return known;
  const { points, reach } = section.grid;
  const logits = Array.from({ length: points }, (_, index) => -reach + index * (2 * reach / (points - 1)));
  const rates = logits.map((logit) => 1 / (1 + exp(-logit)));
  const grid = {
    logits,
    rates,
    logs: rates.map(ln),
    logsOfRest: rates.map((rate) => ln(1 - rate)),
    prior: priorOn(logits, section),
  };
  grids.set(section, grid);
  return grid;
}

/** Number of rates on the grid of a model, for wrong and for right advice. */
export function gridSize(model: ModelDocument): number {
  return requireDiscrimination(model).grid.points;
}

/** The rate at a row or column of the grid, 0..1. */
export function rateAt(model: ModelDocument, index: number): number {
  return gridOf(requireDiscrimination(model)).rates[index]!;
}

/** Density of the leaning times the mixture's density of the sensitivity, given the leaning. */
function priorOn(logits: readonly number[], { leaning, sensitivity }: Discrimination): Float64Array {
  const size = logits.length;
  const prior = new Float64Array(size * size);
  let sum = 0;
  for (let row = 0; row < size; row += 1) {
    for (let column = 0; column < size; column += 1) {
      const c = ((logits[row]! + logits[column]!) / 2 - leaning.mean) / leaning.sd;
      const difference = logits[row]! - logits[column]!;
      let density = 0;
      for (const { weight, mean, sd, correlation } of sensitivity) {
        const spread = sd * Math.sqrt(1 - correlation * correlation);
        const z = (difference - mean - correlation * sd * c) / spread;
        density = density + weight / spread * exp(-(z * z) / 2);
      }
      const value = exp(-(c * c) / 2) * density;
      prior[row * size + column] = value;
      sum = sum + value;
    }
  }
  for (let cell = 0; cell < prior.length; cell += 1) prior[cell] = prior[cell]! / sum;
  return prior;
}

/** exp of each log-likelihood, relative to the largest. */
function likelihoods(
  { logs, logsOfRest }: Pick<Grid, "logs" | "logsOfRest">,
  departed: number,
  followed: number,
): readonly number[] {
  const values = logs.map((log, index) => departed * log + followed * logsOfRest[index]!);
  const most = values.reduce((one, other) => Math.max(one, other));
  return values.map((value) => exp(value - most));
}

/**
 * How probable each pair of rates is. The weights are relative: a share of the whole is a weight divided by
 * their total, so that a reader divides once and not once for each cell.
 */
export class Posterior {
  /** The logits of rows and columns, equally spaced and rising, and their rates. */
  readonly logits: readonly number[];
  readonly rates: readonly number[];
  /** Row after row; rows are h, columns f. */
  readonly weights: Float64Array;
  /** The sum of the weights, above 0. */
  readonly total: number;

  constructor(model: ModelDocument, cases: KnownCases) {
    const { logits, rates, logs, logsOfRest, prior } = gridOf(requireDiscrimination(model));
    const ofWrong = likelihoods({ logs, logsOfRest }, cases.hit, cases.miss);
    const ofRight = likelihoods({ logs, logsOfRest }, cases.falseAlarm, cases.correctAcceptance);
    const size = rates.length;
    const weights = new Float64Array(size * size);
    let total = 0;
    for (let row = 0, cell = 0; row < size; row += 1) {
      const likelihood = ofWrong[row]!;
      for (let column = 0; column < size; column += 1, cell += 1) {
        const weight = prior[cell]! * (likelihood * ofRight[column]!);
        weights[cell] = weight;
        total = total + weight;
      }
    }
    this.logits = logits;
    this.rates = rates;
    this.weights = weights;
    this.total = total;
  }

  /** The mean of a quantity over the posterior. */
  mean(quantity: (h: number, f: number) => number): number {
    const size = this.rates.length;
    let sum = 0;
    for (let row = 0, cell = 0; row < size; row += 1) {
      for (let column = 0; column < size; column += 1, cell += 1) {
        sum = sum + this.weights[cell]! * quantity(this.rates[row]!, this.rates[column]!);
      }
    }
    return sum / this.total;
  }

  /** The probability of each rate of departing from wrong advice; they sum to 1 but for rounding. */
  ofWrongAdvice(): readonly number[] {
    const size = this.rates.length;
    return this.rates.map((_, row) => {
      let sum = 0;
      for (let column = 0; column < size; column += 1) sum = sum + this.weights[row * size + column]!;
      return sum / this.total;
    });
  }

  /** The probability of each rate of departing from right advice; they sum to 1 but for rounding. */
  ofRightAdvice(): readonly number[] {
    const size = this.rates.length;
    return this.rates.map((_, column) => {
      let sum = 0;
      for (let row = 0; row < size; row += 1) sum = sum + this.weights[row * size + column]!;
      return sum / this.total;
    });
  }
}
