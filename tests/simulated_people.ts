/**
 * Simulated people with the means and spreads of the four published studies, two of which are not in the repository.
 * Measured is how well a model that was fitted to some of them foretells others, beside empirical Bayes fitted to the
 * same people. Run by itself, this file prints the table of docs/understand/scoring-model.md: `deno run -A tests/simulated_people.ts`.
 */
import { calibratePeople } from "../src/scoring/calibration/calibrate.ts";
import { LabelledCases } from "../src/scoring/calibration/labelled_cases.ts";
import { Posterior } from "../src/scoring/discrimination.ts";
import {
  type BetaPrior,
  type Counts,
  fitBeta,
  type Foretold,
  logLoss,
  shrunkenRate,
} from "../src/scoring/evaluation/rates.ts";
import { allLive, casesOf, NO_PARTS, withDecision } from "../src/scoring/known_cases.ts";
import type { ModelDocument } from "../src/scoring/model.ts";
import { FIELD_STUDIES, type FieldName, logitNormal } from "../src/simulation/field.ts";
import { type Random, seeded } from "../src/simulation/random.ts";
import { JIS_2_0_0 } from "./models.ts";
import { rowOf } from "./people.ts";

/** People of a study to whom a model is fitted. */
export interface Shape {
  readonly study: FieldName;
  readonly people: number;
  readonly decisions: number;
}

/** Each study with as many people and decisions as it has, or as are in the repository; the pathologists also as many people. */
export const SHAPES = {
  logic: { study: "field_logic", people: 249, decisions: 16 },
  pathologists: { study: "field_pathologists", people: 28, decisions: 20 },
  pathologists_200: { study: "field_pathologists", people: 200, decisions: 20 },
  has: { study: "field_has", people: 376, decisions: 24 },
  dots: { study: "field_dots", people: 16, decisions: 288 },
} as const satisfies Record<string, Shape>;

/** Both kinds of advice: on which a departure is a hit, and on which it is a false alarm. */
const KINDS = ["wrong", "right"] as const;
type Kind = (typeof KINDS)[number];

/** No study has published how its people's two rates go together; half of the draws have each correlation of the logits. */
const CORRELATIONS = [0.3, 0.8] as const;

interface Decision {
  readonly kind: Kind;
  readonly departs: boolean;
}
type Person = readonly Decision[];

/** What the calibrated model's log loss is above that of empirical Bayes, for each draw. */
export type Excess = Readonly<Record<Kind, readonly number[]>>;

/** Fits to people of the shape and foretells `measured` others, once for each draw; the seed is fixed. */
export function excessOf(
  shape: Shape,
  { draws, measured }: { readonly draws: number; readonly measured: number },
): Excess {
  const found = Array.from({ length: draws }, (_, draw) => {
    const random = seeded(`${shape.study}/${shape.people}/${draw}`);
    const correlation = CORRELATIONS[draw % CORRELATIONS.length]!;
    const people = (count: number) =>
      Array.from({ length: count }, () => drawPerson(shape, correlation, random));
    const fitted = people(shape.people);
    return excess(fitted, people(measured));
  });
  return { wrong: found.map(({ wrong }) => wrong), right: found.map(({ right }) => right) };
}

/** Both logits are as far apart between people; a rate's published mean is its median here. */
function drawPerson({ study, decisions }: Shape, correlation: number, random: Random): Person {
  const { wrongShare, departsWhenWrong, departsWhenRight, spread } = FIELD_STUDIES[study];
  const { sd } = logitOf(departsWhenWrong, spread);
  const [one, other] = [random.normal(), random.normal()];
  const rate = (median: number, z: number) => 1 / (1 + Math.exp(-(Math.log(median / (1 - median)) + sd * z)));
  const rates = {
    wrong: rate(departsWhenWrong, one),
    right: rate(departsWhenRight, correlation * one + Math.sqrt(1 - correlation ** 2) * other),
  };
  return Array.from({ length: decisions }, () => {
    const kind = random.bernoulli(wrongShare) ? "wrong" : "right";
    return { kind, departs: random.bernoulli(rates[kind]) };
  });
}

const sought = new Map<string, ReturnType<typeof logitNormal>>();

/** The search for the logits takes longer than a person's decisions. */
function logitOf(mean: number, spread: number): ReturnType<typeof logitNormal> {
  const key = `${mean} ${spread}`;
  const known = sought.get(key) ?? logitNormal(mean, spread);
  sought.set(key, known);
  return known;
}

function excess(fitted: readonly Person[], others: readonly Person[]): Record<Kind, number> {
  const model = modelOf(fitted);
  const halves = others.flatMap((person) =>
    [0, 1].map((parity) => ({
      scored: person.filter((_, index) => index % 2 === parity),
      foretold: person.filter((_, index) => index % 2 !== parity),
    }))
  );
  const posteriors = halves.map(({ scored }) => posteriorOf(model, scored));
  const of = (kind: Kind): number => {
    const prior: BetaPrior = fitBeta(fitted.map((person) => countsOf(person, kind)))!;
    const loss = (rate: (index: number) => number) =>
      logLoss(halves.map(({ foretold }, index): Foretold => ({
        rate: rate(index),
        came: countsOf(foretold, kind),
      })))!;
    return loss((index) => posteriors[index]!.mean((h, f) => kind === "wrong" ? h : f)) -
      loss((index) => shrunkenRate(prior, countsOf(halves[index]!.scored, kind)));
  };
  return { wrong: of("wrong"), right: of("right") };
}

function modelOf(people: readonly Person[]): ModelDocument {
  const cases = new LabelledCases(JIS_2_0_0);
  people.forEach((person, at) =>
    person.forEach(({ kind, departs }, trial) => {
      const aiCorrect = kind === "right";
      const finalCorrect = aiCorrect !== departs;
      const decision = { person: `${at}`, trial, followsAi: !departs, aiCorrect, finalCorrect };
      const { operatorId, domain, interaction } = rowOf(
        { ...decision, ownFirstCorrect: finalCorrect, stated: { age_group: "", gender: "", degree: "" } },
        "fit",
      );
      cases.add(operatorId, domain, interaction);
    })
  );
  return calibratePeople(JIS_2_0_0, cases).document!;
}

/** The posterior after these decisions, earlier ones faded as in a score. */
function posteriorOf(model: ModelDocument, decisions: readonly Decision[]): Posterior {
  const parts = decisions.reduce((before, { kind, departs }) => {
    const cell = kind === "wrong" ? (departs ? "hit" : "miss") : departs ? "falseAlarm" : "correctAcceptance";
    const evidence = { hit: 0, miss: 0, correctAcceptance: 0, falseAlarm: 0, [cell]: 1 };
    const decided = {
      domain: "general",
      scenario_type: "standard",
      isProbe: false,
      isNew: true,
      evidence,
      isUnclear: false,
    } as const;
    return withDecision(model, before, decided);
  }, NO_PARTS);
  return new Posterior(model, casesOf(allLive(parts)));
}

function countsOf(decisions: readonly Decision[], kind: Kind): Counts {
  const of = decisions.filter((decision) => decision.kind === kind);
  return { yes: of.filter(({ departs }) => departs).length, all: of.length };
}

/** The mean of some excesses. */
export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** What the log loss may be above that of empirical Bayes, nats a decision. */
export const ALLOWED = 0.005;

if (import.meta.main) {
  for (const [name, shape] of Object.entries(SHAPES)) {
    const found = excessOf(shape, { draws: 40, measured: 200 });
    const text = KINDS.map((kind) => {
      const values = found[kind];
      const missed = values.filter((value) => value > ALLOWED).length;
      return `${kind} ${meanOf(values).toFixed(4)}, ${missed} of ${values.length} draws above ${ALLOWED}`;
    });
    console.log(`${name.padEnd(17)} ${text.join("; ")}`);
  }
}
