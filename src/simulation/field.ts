/**
 * The environment `field`: reviewers who decide with advice as people did in four published studies, each with rates of
 * their own. People of these studies are closer together, and follow wrong advice more often, than the archetypes.
 *
 * Both rates of a person are logit-normal and correlated. Given for a study: the mean of both rates, the share of
 * wrong advice, and the spread between people of h, how often they depart from wrong advice. Assumed: see
 * {@link SPREAD_OF_F} and {@link CORRELATION}. The studies have no injected errors, and all truth is known in them;
 * here it is known as often as in the default environment.
 */
import { requireDiscrimination } from "../scoring/discrimination.ts";
import type { ModelDocument } from "../scoring/model.ts";
import { DEFAULT_ENVIRONMENT, type Environment, type Operator } from "./archetypes.ts";
import type { Random } from "./random.ts";

export interface FieldStudy {
  /** The conduct of the study's people, with its size. */
  readonly about: string;
  /** How often the advice is wrong, 0..1. */
  readonly wrongShare: number;
  /** Means over people of h and f, how often they depart from wrong and from right advice, 0..1. */
  readonly departsWhenWrong: number;
  readonly departsWhenRight: number;
  /** Standard deviation of h between people. */
  readonly spread: number;
}

/** Each study as a population of reviewers. */
export const FIELD_STUDIES = {
  field_has: {
    about: "People as in HAS, a card game with a calibrated AI: 564 people with 24 decisions each",
    wrongShare: 0.27,
    departsWhenWrong: 0.19,
    departsWhenRight: 0.11,
    spread: 0.12,
  },
  field_dots: {
    about: "People as in dots, a perceptual task with advisers: 25 people with 288 decisions each",
    wrongShare: 0.3,
    departsWhenWrong: 0.55,
    departsWhenRight: 0.21,
    spread: 0.11,
  },
  field_logic: {
    about: "People as in a logic task of four answers: 249 people with 16 decisions each",
    wrongShare: 0.38,
    departsWhenWrong: 0.47,
    departsWhenRight: 0.29,
    spread: 0.14,
  },
  field_pathologists: {
    about:
      "Readers as the pathologists who estimate the share of tumour cells: 28 people with 20 decisions each",
    wrongShare: 0.35,
    departsWhenWrong: 0.46,
    departsWhenRight: 0.15,
    spread: 0.09,
  },
} as const satisfies Record<string, FieldStudy>;
export type FieldName = keyof typeof FIELD_STUDIES;
export const FIELD_NAMES = Object.keys(FIELD_STUDIES) as readonly FieldName[];

export function isField(name: string): name is FieldName {
  return name in FIELD_STUDIES;
}

/**
 * The spread of f as a share of that of h, both as logits. Measured in the people of HAS and dots that are
 * published with this project (0.76 and 0.69, less the spread of chance); assumed for the other two studies.
 */
export const SPREAD_OF_F = 0.73;
/** Correlation of both logits between people. Measured in HAS; assumed for the other studies. */
export const CORRELATION = 0.86;

/** In these studies a decision either follows the advice or takes another answer. */
const DEPARTURES = { rejected: 1, overridden: 1 } as const;
const ALWAYS = { from: 1, to: 1, over: 0 };

/** The environment of a study's reviewers; labels and injected errors are those of the default one. */
export function fieldEnvironment(name: FieldName): Environment {
  return {
    ...DEFAULT_ENVIRONMENT,
    aiErrorRate: FIELD_STUDIES[name].wrongShare,
    withheldShare: 0,
    domain: "general",
  };
}

/** Draws a reviewer of a study. Pace and telemetry vary between people, and say nothing about how they decide. */
export function drawFieldReviewer(name: FieldName, random: Random): Operator {
  const { ofWrong, ofRight } = logitsOf(name);
  const [one, other] = [random.normal(), random.normal()];
  const h = ofWrong.mean + ofWrong.sd * one;
  const f = ofRight.mean + ofRight.sd * (CORRELATION * one + Math.sqrt(1 - CORRELATION ** 2) * other);
  return {
    archetype: "independent",
    theta: ALWAYS,
    skill: ALWAYS,
    blindDeparture: 0,
    medianMs: Math.exp(random.uniform(Math.log(1_500), Math.log(40_000))),
    telemetry: random.pick(["engaged", "sparse", "minimal", "unmeasured"]),
    goesAlong: { whenRight: 1 - logistic(f), whenWrong: 1 - logistic(h) },
    departures: DEPARTURES,
  };
}

const logits = new Map<FieldName, { readonly ofWrong: Logit; readonly ofRight: Logit }>();

/** The logits of h and f between the people of a study; they are sought once. */
function logitsOf(name: FieldName) {
  const { departsWhenWrong, departsWhenRight, spread } = FIELD_STUDIES[name];
  const known = logits.get(name);
  if (known !== undefined) return known;
  const ofWrong = logitNormal(departsWhenWrong, spread);
  const made = { ofWrong, ofRight: logitNormalOf(departsWhenRight, ofWrong.sd * SPREAD_OF_F) };
  logits.set(name, made);
  return made;
}

/** Cases that a fitted error rate weighs: an organization knows its AI from far more than one person's cases. */
const FITTED_RATE_WEIGHT = 100;

/**
 * The model with the prior of a study's people and the error rate of its advice, as an organization could fit them to
 * other people of the same work. @throws {TypeError} if the model is not of `jis-3`.
 */
export function fittedTo(model: ModelDocument, name: FieldName): ModelDocument {
  const { ofWrong, ofRight } = logitsOf(name);
  const discrimination = requireDiscrimination(model);
  const shared = CORRELATION * ofWrong.sd * ofRight.sd;
  const squares = ofWrong.sd ** 2 + ofRight.sd ** 2;
  const leaning = { mean: (ofWrong.mean + ofRight.mean) / 2, sd: Math.sqrt(squares + 2 * shared) / 2 };
  const sd = Math.sqrt(squares - 2 * shared);
  const correlation = (ofWrong.sd ** 2 - ofRight.sd ** 2) / 2 / (leaning.sd * sd);
  return {
    ...model,
    discrimination: {
      ...discrimination,
      leaning,
      sensitivity: [{ weight: 1, mean: ofWrong.mean - ofRight.mean, sd, correlation }],
      error_rate: {
        ...discrimination.error_rate,
        prior: FIELD_STUDIES[name].wrongShare,
        weight: FITTED_RATE_WEIGHT,
      },
    },
  };
}

// ---- rates that are normal as logits ------------------------------------------------------------------------

/** Mean and standard deviation of a logit. */
interface Logit {
  readonly mean: number;
  readonly sd: number;
}

/** Halvings of a range in which a parameter is sought: more change no digit that matters. */
const HALVINGS = 40;
const MEAN_RANGE = [-12, 12] as const;
const SD_RANGE = [0, 6] as const;
/** Standard deviations to each side that an integral over a normal density takes, and its steps. */
const REACH = 6;
const STEPS = 120;

/** The logit whose rate has this mean and standard deviation, 0..1. */
export function logitNormal(mean: number, spread: number): Logit {
  const sd = rootOf((sd) => momentsOf(logitNormalOf(mean, sd)).sd - spread, SD_RANGE);
  return logitNormalOf(mean, sd);
}

/** The logit with this standard deviation whose rate has this mean, 0..1. */
function logitNormalOf(mean: number, sd: number): Logit {
  return { mean: rootOf((middle) => momentsOf({ mean: middle, sd }).mean - mean, MEAN_RANGE), sd };
}

/** Mean and standard deviation of the rate. */
export function momentsOf(logit: Logit): { readonly mean: number; readonly sd: number } {
  const mean = expected(logit, (rate) => rate);
  return { mean, sd: Math.sqrt(expected(logit, (rate) => (rate - mean) ** 2)) };
}

function expected({ mean, sd }: Logit, quantity: (rate: number) => number): number {
  let [sum, total] = [0, 0];
  for (let step = 0; step <= STEPS; step += 1) {
    const z = REACH * (2 * step / STEPS - 1);
    const density = Math.exp(-z * z / 2);
    sum += density * quantity(logistic(mean + sd * z));
    total += density;
  }
  return sum / total;
}

/** The root of a rising function. */
function rootOf(rising: (at: number) => number, [from, to]: readonly [number, number]): number {
  let [low, high] = [from, to];
  for (let halving = 0; halving < HALVINGS; halving += 1) {
    const middle = (low + high) / 2;
    if (rising(middle) < 0) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

function logistic(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}
