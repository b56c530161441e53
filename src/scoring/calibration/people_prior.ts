/**
 * The prior of `jis-3` fitted to an organization's own people: how they lean, how well they tell wrong advice from right
 * advice, and how often their AI is wrong.
 *
 * The fit is empirical Bayes (Robbins 1956; maximum marginal likelihood, Efron 2014): each person's known cases are
 * marginalised over the grid of the posterior, and the parameters are those under which the cases of all people are
 * most probable. They are found by expectation and maximisation (Dempster, Laird and Rubin 1977), in which each step
 * has a closed form: the leaning has the moments of all people, the sensitivity a regression on it. The fit is made
 * without the built-in prior's share, or it would go farther to make up for it.
 *
 * Only what people are like is fitted. What an error costs, and where 40, 60 and 75 points lie, is a judgement of the
 * model: people who let errors pass would lower the bar for themselves. The bounds below keep every person's own
 * cases stronger than the prior: tests/property/people_prior_test.ts holds that no prior within them gives anybody
 * a certain verdict without evidence, or saves anybody who accepts wrong advice.
 */
import { clamp, exp, ln, roundTo } from "../arithmetic.ts";
import { type KnownCases, Posterior, requireDiscrimination } from "../discrimination.ts";
import { type Estimate, estimateOf } from "../estimates.ts";
import { DEFAULT_MODEL_DOCUMENT, type ModelDocument } from "../model.ts";
import type { LabelledCases, LiveCases } from "./labelled_cases.ts";
import type { FitResult } from "./times.ts";

export const PEOPLE_RULES = {
  /** Fewest people with enough cases, for the prior to be fitted. */
  people: 5,
  /** Enough cases of a person: as much wrong advice as a verdict needs, and as much right advice. */
  wrongAdvice: 5,
  rightAdvice: 5,
  /**
   * The built-in prior counts as so many people more, a tenth of the fewest with whom a fit is made. Five people alone
   * say little of how far people are apart. It cannot be more: the built-in prior lies so far from some people, and is
   * so wide, that with the weight of five people it doubled the spread of 28 pathologists.
   */
  builtInPeople: 0.5,
  /**
   * The built-in sensitivity keeps this share, whatever the history is: the organization's history says who its people
   * were so far, the published studies say who people can be. A history without a single expert must not rule out the
   * first one.
   */
  builtInShare: 0.5,
  /** Fewest natural cases with a known truth of a person whose share of wrong advice counts. */
  naturalCases: 10,
} as const;

/**
 * How far the mean of the leaning may lie from the built-in one, logits: one and a half times the spread between
 * published people. Beyond that an organization would not lean in another way, but have labels of another kind.
 */
const LEANING_REACH = 1.9;

/** Bounds of the fitted values; logits but for the correlation. */
export const PEOPLE_BOUNDS = {
  /**
   * A person's own cases must be able to tell the person from others. With 0.4 somebody who lets five errors of five
   * pass, and accepts much right advice, could be certified; with 0.7 people who are alike are foretold badly.
   */
  leaningSd: [0.5, 2.8],
  /** From people who tell nothing apart to good ones: nobody is presumed to be an expert, or contrary. */
  sensitivityMean: [0, 2],
  /** About the built-in spread of usual people at least: alike as a history may be, the next person can differ. */
  sensitivitySd: [0.5, 1.4],
  /** With a closer tie one of the two rates would settle the other. */
  correlation: [-0.5, 0.5],
  /**
   * Twice the built-in rate at most. The more often the AI is wrong, the fewer errors a review must find to be worth
   * its cost, and labels can be chosen: a person's own natural cases must show a higher rate.
   */
  errorRateMost: 0.3,
} as const satisfies Record<string, number | readonly [number, number]>;

/** Steps after which the search ends, and the change of every parameter below which it ends earlier. */
const STEPS_MOST = 500;
const SETTLED = 1e-6;
/** Likelihoods below this share of a person's largest are left out of the sums. */
const NEGLIGIBLE = 1e-12;
const DECIMALS = 3;
const WEIGHT_DECIMALS = 9;

type Section = NonNullable<ModelDocument["discrimination"]>;

/** The part of a section that describes people. */
export type PeoplePrior = Pick<Section, "leaning" | "sensitivity">;

/** A prior's expectation of somebody of whom nothing is known; rates 0..1, each with its 90 % interval. */
export interface NewPerson {
  readonly departs_when_wrong: Estimate;
  readonly departs_when_right: Estimate;
}

export interface PeopleFit {
  /** People with a known case, and those with enough of them. */
  readonly people: number;
  readonly enough_cases: number;
  /** Known cases of all people: of wrong advice, and of right advice. */
  readonly wrong_cases: number;
  readonly right_cases: number;
  readonly before: PeoplePrior & { readonly new_person: NewPerson };
  readonly after: PeoplePrior & { readonly new_person: NewPerson };
  readonly result: FitResult;
}

export interface ErrorRateFit {
  /** People with enough natural cases, and these cases. */
  readonly people: number;
  readonly cases: number;
  /** The mean of these people's shares of wrong advice, 0..1; null if nothing was fitted. */
  readonly rate: number | null;
  readonly before: number;
  readonly after: number;
  readonly result: FitResult;
}

/** Both fits of a section, in wire names. */
export interface DiscriminationFit {
  readonly prior: PeopleFit;
  readonly error_rate: ErrorRateFit;
}

/** The fitted values, unrounded. */
interface Values {
  readonly leaning: Section["leaning"];
  readonly sensitivity: Omit<Section["sensitivity"][number], "weight">;
}

/**
 * Fits the prior and the error rate of a model.
 * @param watch - is told the number of steps so far.
 * @throws {TypeError} if the model has formulas before `jis-3`.
 */
export function fitDiscrimination(
  model: ModelDocument,
  cases: LabelledCases,
  watch: (step: number) => void = () => {},
): DiscriminationFit {
  const people = cases.live();
  const prior = fitPeople(model, people, watch);
  return { prior, error_rate: fitErrorRate(model, { people, isEnough: prior.result !== "kept" }) };
}

/** Whether anything was fitted. */
export function isFitted({ prior }: DiscriminationFit): boolean {
  return prior.result !== "kept";
}

/** Whether the fitted values differ from those of the model. */
export function isChanged({ prior, error_rate }: DiscriminationFit): boolean {
  return error_rate.before !== error_rate.after || numbersOf(prior.before) !== numbersOf(prior.after);
}

/** A stored document has its members in another order than a parsed one. */
function numbersOf({ leaning, sensitivity }: PeoplePrior): string {
  const rows = sensitivity.flatMap(({ weight, mean, sd, correlation }) => [weight, mean, sd, correlation]);
  return [leaning.mean, leaning.sd, ...rows].join(" ");
}

/** The section with the fitted values. */
export function withFit(model: ModelDocument, { prior, error_rate }: DiscriminationFit): Section {
  const section = requireDiscrimination(model);
  const { leaning, sensitivity } = prior.after;
  return { ...section, leaning, sensitivity, error_rate: { ...section.error_rate, prior: error_rate.after } };
}

function fitPeople(
  model: ModelDocument,
  people: readonly LiveCases[],
  watch: (step: number) => void,
): PeopleFit {
  const { leaning, sensitivity } = requireDiscrimination(model);
  const before = { leaning, sensitivity, new_person: newPerson(model) };
  const enough = people.filter(({ hit, miss, correctAcceptance, falseAlarm }) =>
    hit + miss >= PEOPLE_RULES.wrongAdvice && correctAcceptance + falseAlarm >= PEOPLE_RULES.rightAdvice
  );
  const shared = {
    people: people.length,
    enough_cases: enough.length,
    wrong_cases: roundTo(people.reduce((sum, { hit, miss }) => sum + hit + miss, 0), 1),
    right_cases: roundTo(
      people.reduce((sum, { correctAcceptance, falseAlarm }) => sum + correctAcceptance + falseAlarm, 0),
      1,
    ),
    before,
  };
  if (enough.length < PEOPLE_RULES.people) return { ...shared, after: before, result: "kept" };
  const { values, isBounded } = mostProbable(model, people, watch);
  const after = rounded(values);
  return {
    ...shared,
    after: { ...after, new_person: newPerson(withPrior(model, after)) },
    result: isBounded ? "bounded" : "fitted",
  };
}

function newPerson(model: ModelDocument): NewPerson {
  const prior = new Posterior(model, NO_CASES);
  const estimate = (probabilities: readonly number[]): Estimate => {
    const { mean, low, high } = estimateOf(prior.rates, probabilities, { least: 0, most: 1 });
    return { mean: roundTo(mean, DECIMALS), low: roundTo(low, DECIMALS), high: roundTo(high, DECIMALS) };
  };
  return {
    departs_when_wrong: estimate(prior.ofWrongAdvice()),
    departs_when_right: estimate(prior.ofRightAdvice()),
  };
}

const NO_CASES: KnownCases = { hit: 0, miss: 0, correctAcceptance: 0, falseAlarm: 0 };

/** The prior of which the fit is made: what the history says alone. */
function onlyFitted({ leaning, sensitivity }: Values): PeoplePrior {
  return { leaning, sensitivity: [{ weight: 1, ...sensitivity }] };
}

/** The fitted component, and the built-in ones with their share. */
function priorOf({ leaning, sensitivity }: Values): PeoplePrior {
  const { builtInShare } = PEOPLE_RULES;
  // 0.35 * 0.5 and its like must not leave their last bits in a document for people.
  const kept = builtIn().sensitivity.map((row) => ({
    ...row,
    weight: roundTo(row.weight * builtInShare, WEIGHT_DECIMALS),
  }));
  return { leaning, sensitivity: [{ weight: 1 - builtInShare, ...sensitivity }, ...kept] };
}

function rounded({ leaning, sensitivity }: Values): PeoplePrior {
  const value = (number: number) => roundTo(number, DECIMALS);
  return priorOf({
    leaning: { mean: value(leaning.mean), sd: value(leaning.sd) },
    sensitivity: {
      mean: value(sensitivity.mean),
      sd: value(sensitivity.sd),
      correlation: value(sensitivity.correlation),
    },
  });
}

/** Fits are bounded by the built-in section, so that a series of calibrations goes no farther than one. */
function builtIn(): Section {
  return requireDiscrimination(DEFAULT_MODEL_DOCUMENT);
}

function withPrior(model: ModelDocument, prior: PeoplePrior): ModelDocument {
  return { ...model, discrimination: { ...requireDiscrimination(model), ...prior } };
}

/** A person's relative likelihood of each rate; outside of both spans it is negligible. */
interface Likelihood {
  readonly ofWrong: Float64Array;
  readonly ofRight: Float64Array;
  readonly rows: readonly [from: number, to: number];
  readonly columns: readonly [from: number, to: number];
}

function likelihoodOf(rates: readonly number[], cases: KnownCases): Likelihood {
  const of = (departed: number, followed: number) => {
    const logs = rates.map((rate) => departed * ln(rate) + followed * ln(1 - rate));
    const most = logs.reduce((one, other) => Math.max(one, other));
    return Float64Array.from(logs, (log) => exp(log - most));
  };
  const span = (values: Float64Array) =>
    [
      values.findIndex((value) => value >= NEGLIGIBLE),
      values.findLastIndex((value) => value >= NEGLIGIBLE) + 1,
    ] as const;
  const ofWrong = of(cases.hit, cases.miss);
  const ofRight = of(cases.falseAlarm, cases.correctAcceptance);
  return { ofWrong, ofRight, rows: span(ofWrong), columns: span(ofRight) };
}

/** The values under which the cases of all people are most probable, within the bounds. */
function mostProbable(
  model: ModelDocument,
  people: readonly LiveCases[],
  watch: (step: number) => void,
): { readonly values: Values; readonly isBounded: boolean } {
  const builtInPrior = new Posterior(withPrior(model, builtIn()), NO_CASES);
  const { logits, rates } = builtInPrior;
  const likelihoods = people.map((cases) => likelihoodOf(rates, cases));
  let values: Values = { leaning: builtIn().leaning, sensitivity: START };
  let isBounded = false;
  for (let step = 1; step <= STEPS_MOST; step += 1) {
    const prior = new Posterior(withPrior(model, onlyFitted(values)), NO_CASES).weights;
    const mass = peopleOnGrid(prior, likelihoods);
    for (let cell = 0; cell < mass.length; cell += 1) {
      mass[cell] = mass[cell]! + PEOPLE_RULES.builtInPeople * builtInPrior.weights[cell]!;
    }
    const next = withinBounds(bestValues(logits, mass));
    const moved = distance(values, next.values);
    ({ values, isBounded } = next);
    watch(step);
    if (moved < SETTLED) break;
  }
  return { values, isBounded };
}

/** The search begins at the built-in leaning, with people of middling sensitivity. */
const START: Values["sensitivity"] = { mean: 1, sd: 1, correlation: 0 };

/** How many people each cell of the grid holds, if each is spread over it by their own posterior. */
function peopleOnGrid(prior: Float64Array, likelihoods: readonly Likelihood[]): Float64Array {
  const size = Math.sqrt(prior.length);
  const mass = new Float64Array(prior.length);
  for (const { ofWrong, ofRight, rows, columns } of likelihoods) {
    let total = 0;
    for (let row = rows[0]; row < rows[1]; row += 1) {
      let sum = 0;
      for (let column = columns[0]; column < columns[1]; column += 1) {
        sum = sum + prior[row * size + column]! * ofRight[column]!;
      }
      total = total + ofWrong[row]! * sum;
    }
    for (let row = rows[0]; row < rows[1]; row += 1) {
      const share = ofWrong[row]! / total;
      for (let column = columns[0]; column < columns[1]; column += 1) {
        const cell = row * size + column;
        mass[cell] = mass[cell]! + prior[cell]! * (share * ofRight[column]!);
      }
    }
  }
  return mass;
}

/** The values under which people who lie on the grid in this way are most probable. */
function bestValues(logits: readonly number[], mass: Float64Array): Values {
  const all = new Moments();
  forEachCell(logits, (cell, leaning) => all.add(mass[cell]!, leaning, 0));
  const leaning = { mean: all.mean, sd: Math.sqrt(all.variance) };
  const own = new Moments();
  forEachCell(logits, (cell, at, difference) => {
    own.add(mass[cell]!, (at - leaning.mean) / leaning.sd, difference);
  });
  const slope = own.covariance / own.variance;
  const residual = Math.max(0, own.otherVariance - slope * own.covariance);
  const sd = Math.sqrt(residual + slope * slope);
  return {
    leaning,
    sensitivity: { mean: own.otherMean - slope * own.mean, sd, correlation: sd === 0 ? 0 : slope / sd },
  };
}

/** Calls with each cell, its leaning (the mean of both logits) and its difference. */
function forEachCell(
  logits: readonly number[],
  handle: (cell: number, leaning: number, difference: number) => void,
): void {
  for (let row = 0, cell = 0; row < logits.length; row += 1) {
    for (let column = 0; column < logits.length; column += 1, cell += 1) {
      handle(cell, (logits[row]! + logits[column]!) / 2, logits[row]! - logits[column]!);
    }
  }
}

/** Weighted moments of two quantities. */
class Moments {
  #weight = 0;
  #sum = 0;
  #squares = 0;
  #otherSum = 0;
  #otherSquares = 0;
  #products = 0;

  add(weight: number, value: number, other: number): void {
    this.#weight += weight;
    this.#sum += weight * value;
    this.#squares += weight * value * value;
    this.#otherSum += weight * other;
    this.#otherSquares += weight * other * other;
    this.#products += weight * value * other;
  }

  get mean(): number {
    return this.#sum / this.#weight;
  }

  get variance(): number {
    return this.#squares / this.#weight - this.mean * this.mean;
  }

  get otherMean(): number {
    return this.#otherSum / this.#weight;
  }

  get otherVariance(): number {
    return this.#otherSquares / this.#weight - this.otherMean * this.otherMean;
  }

  get covariance(): number {
    return this.#products / this.#weight - this.mean * this.otherMean;
  }
}

function withinBounds(
  { leaning, sensitivity }: Values,
): { readonly values: Values; readonly isBounded: boolean } {
  const bounds = PEOPLE_BOUNDS;
  const values: Values = {
    leaning: {
      mean: within(leaning.mean, leaningMeanBounds()),
      sd: within(leaning.sd, bounds.leaningSd),
    },
    sensitivity: {
      mean: within(sensitivity.mean, bounds.sensitivityMean),
      sd: within(sensitivity.sd, bounds.sensitivitySd),
      correlation: within(sensitivity.correlation, bounds.correlation),
    },
  };
  return { values, isBounded: distance({ leaning, sensitivity }, values) > 0 };
}

/** Bounds of the mean of the leaning, logits. */
export function leaningMeanBounds(): readonly [low: number, high: number] {
  const { mean } = builtIn().leaning;
  return [roundTo(mean - LEANING_REACH, DECIMALS), roundTo(mean + LEANING_REACH, DECIMALS)];
}

function within(value: number, [low, high]: readonly [low: number, high: number]): number {
  return clamp(value, low, high);
}

/** The largest difference of any value. */
function distance(one: Values, other: Values): number {
  return Math.max(
    Math.abs(one.leaning.mean - other.leaning.mean),
    Math.abs(one.leaning.sd - other.leaning.sd),
    Math.abs(one.sensitivity.mean - other.sensitivity.mean),
    Math.abs(one.sensitivity.sd - other.sensitivity.sd),
    Math.abs(one.sensitivity.correlation - other.sensitivity.correlation),
  );
}

/**
 * Each person counts the same: somebody with ten thousand cases must not speak for all. With too few cases for the
 * prior the rate stays, too: it may come from acceptances alone.
 */
function fitErrorRate(
  model: ModelDocument,
  { people, isEnough }: { readonly people: readonly LiveCases[]; readonly isEnough: boolean },
): ErrorRateFit {
  const { prior: before, least, most, step } = requireDiscrimination(model).error_rate;
  const counted = people.filter(({ naturalWrong, naturalRight }) =>
    naturalWrong + naturalRight >= PEOPLE_RULES.naturalCases
  );
  const shared = {
    people: counted.length,
    cases: counted.reduce((sum, { naturalWrong, naturalRight }) => sum + naturalWrong + naturalRight, 0),
    before,
  };
  if (!isEnough || counted.length < PEOPLE_RULES.people) {
    return { ...shared, rate: null, after: before, result: "kept" };
  }
  const shares = counted.map(({ naturalWrong, naturalRight }) =>
    naturalWrong / (naturalWrong + naturalRight)
  );
  const rate = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  const highest = Math.max(least, Math.min(most, PEOPLE_BOUNDS.errorRateMost));
  const after = clamp(roundTo(roundTo(rate / step, 0) * step, 9), least, highest);
  return {
    ...shared,
    rate: roundTo(rate, DECIMALS),
    after,
    result: rate < least || rate > highest ? "bounded" : "fitted",
  };
}
