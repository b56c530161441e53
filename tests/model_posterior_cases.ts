/**
 * Worked cases of the posterior and the verdict of the default model. They say the model's numbers once more and
 * integrate without the engine's code; what a case says of a verdict rests on so many cases of one kind that no
 * prior of people could say otherwise.
 */
import assert from "node:assert/strict";
import { type Dimension, DIMENSIONS, type Mode } from "../src/domain/enums.ts";
import { type Interaction, recordedInteractionSchema } from "../src/domain/interaction.ts";
import { gridSize, Posterior, rateAt } from "../src/scoring/discrimination.ts";
import {
  fadedTo,
  NO_PART,
  NO_PARTS,
  type Part,
  type PartsOfWork,
  workToday,
} from "../src/scoring/known_cases.ts";
import { DAY_MS } from "../src/domain/time.ts";
import type { ModelDocument } from "../src/scoring/model.ts";
import { advance } from "../src/scoring/reducer.ts";
import { isProvisional, score } from "../src/scoring/score.ts";
import { initialState } from "../src/scoring/state.ts";
import { errorRate, pointsOf } from "../src/scoring/points.ts";
import { judge, type Judgment } from "../src/scoring/verdict.ts";
import type { ModelCheck } from "./model_checks.ts";

const NOW = Date.UTC(2027, 0, 4, 9);

/** The numbers of the model on which these cases rest. */
const GRID = { points: 49, reach: 6 };
const LEANING = { mean: -2, sd: 1.28 };
const SENSITIVITY = [
  { weight: 0.35, mean: 0.29, sd: 0.4, correlation: -0.31 },
  { weight: 0.46, mean: 1.62, sd: 0.52, correlation: -0.47 },
  { weight: 0.19, mean: 3.87, sd: 0.78, correlation: 0.45 },
];
const REVIEW_COST = 0.07;
const ERROR_RATE = { prior: 0.15, weight: 5, least: 0.15, most: 0.5, step: 0.01 };
const MEMORY_CASES = 400;
const WRONG_CASES = 5;
const RIGHT_CASES = 5;
const HALF_LIFE_DAYS = 195;
const UNMEASURED = { grave: 20, domain: 50 };
const LEVEL = 0.9;

/** A weighty dimension's share of the score in each mode, and what departing from right advice costs in it. */
const WEIGHTY: Readonly<
  Partial<Record<Dimension, { readonly full: number; readonly lite: number; readonly cost: number }>>
> = {
  deferral_resistance: { full: 0.25, lite: 0.5, cost: 0.75 },
  error_detection: { full: 0.5, lite: 0, cost: 1 },
  decision_autonomy: { full: 0.25, lite: 0.5, cost: 1.25 },
};

const isClose = (one: number, other: number, tolerance: number) => Math.abs(one - other) <= tolerance;

// ---- the grid and the prior -------------------------------------------------------------------------------

const LOGITS = Array.from(
  { length: GRID.points },
  (_, index) => GRID.reach * (2 * index / (GRID.points - 1) - 1),
);
const RATES = LOGITS.map((logit) => 1 / (1 + Math.exp(-logit)));

/** Rates of departing from wrong advice (h) and from right advice (f), with their probability. */
interface Cell {
  readonly h: number;
  readonly f: number;
  readonly probability: number;
}

interface Counts {
  readonly hit: number;
  readonly miss: number;
  readonly correctAcceptance: number;
  readonly falseAlarm: number;
}

const NOTHING: Counts = { hit: 0, miss: 0, correctAcceptance: 0, falseAlarm: 0 };

/** The posterior from the two-dimensional normal density of leaning and sensitivity, row after row. */
function posteriorOf({ hit, miss, correctAcceptance, falseAlarm }: Counts): readonly Cell[] {
  const density = (leaning: number, sensitivity: number) => {
    const x = (leaning - LEANING.mean) / LEANING.sd;
    return SENSITIVITY.reduce((sum, { weight, mean, sd, correlation }) => {
      const y = (sensitivity - mean) / sd;
      const rest = 1 - correlation ** 2;
      const distance = (x ** 2 - 2 * correlation * x * y + y ** 2) / rest;
      return sum + weight * Math.exp(-distance / 2) / (2 * Math.PI * LEANING.sd * sd * Math.sqrt(rest));
    }, 0);
  };
  const cells = LOGITS.flatMap((wrong, row) =>
    LOGITS.map((right, column) => {
      const [h, f] = [RATES[row]!, RATES[column]!];
      const likelihood = h ** hit * (1 - h) ** miss * f ** falseAlarm * (1 - f) ** correctAcceptance;
      return { h, f, probability: density((wrong + right) / 2, wrong - right) * likelihood };
    })
  );
  const total = cells.reduce((sum, { probability }) => sum + probability, 0);
  return cells.map((cell) => ({ ...cell, probability: cell.probability / total }));
}

function grid(model: ModelDocument): void {
  assert.equal(gridSize(model), GRID.points);
  for (const [index, rate] of RATES.entries()) {
    assert.ok(isClose(rateAt(model, index), rate, 1e-12), `rate ${index}`);
  }
}

function prior(model: ModelDocument): void {
  for (const counts of [NOTHING, { hit: 3, miss: 1.5, correctAcceptance: 5, falseAlarm: 2 }]) {
    const { weights, total } = new Posterior(model, counts);
    const expected = posteriorOf(counts);
    assert.equal(weights.length, expected.length);
    const farthest = expected.reduce(
      (most, { probability }, cell) => Math.max(most, Math.abs(weights[cell]! / total - probability)),
      0,
    );
    assert.ok(farthest < 1e-12, `a cell is off by ${farthest}`);
  }
}

// ---- points -----------------------------------------------------------------------------------------------

/** A share of wrong advice: a review pays for itself if its gain is five times its cost. */
const FIFTH = 0.2;

function anchors(model: ModelDocument): void {
  for (const name of DIMENSIONS) {
    const { false_alarm_cost } = model.dimensions[name];
    const row = WEIGHTY[name];
    assert.equal(false_alarm_cost === undefined, row === undefined, name);
    if (row === undefined || false_alarm_cost === undefined) continue;
    const at = pointsOf(model, { falseAlarmCost: false_alarm_cost, errorRate: FIFTH });
    const points = (h: number, f: number) => Math.round(at(h, f) * 1e9) / 1e9;
    const paying = REVIEW_COST / FIFTH;
    assert.deepEqual([points(0, 1), points(1, 0)], [0, 100], `${name}: everything wrong, everything right`);
    assert.deepEqual([0.1, 0.4, 0.8].map((f) => points(row.cost * f, f)), [40, 40, 40], `${name}: no gain`);
    assert.deepEqual(
      [0, 0.2, 0.4].map((f) => points(paying + row.cost * f, f)),
      [60, 60, 60],
      `${name}: a gain that pays for the review`,
    );
    assert.equal(points(0, 0.5), 20, `${name}: half of all that can be lost`);
    assert.equal(points(paying / 2, 0), 50, `${name}: a gain that pays for half of the review`);
    assert.equal(points((1 + paying) / 2, 0), 80, `${name}: half of what is beyond`);
  }
}

const naturalCases = (
  wrong: number,
  right: number,
): Part => [wrong, 0, right, 0, wrong, right, wrong + right, 0];

function errorRates(model: ModelDocument): void {
  const { prior, weight, least, most, step } = ERROR_RATE;
  for (let wrong = 0; wrong <= 60; wrong += 1) {
    for (let right = 0; right <= 60; right += 1) {
      const natural = right < RIGHT_CASES ? 0 : wrong;
      const steps = (prior * weight + natural) / (weight + natural + right) / step;
      if (isClose(steps % 1, 0.5, 1e-6)) continue;
      const expected = Math.min(most, Math.max(least, Math.round(steps) * step));
      const rate = errorRate(model, naturalCases(wrong, right));
      assert.ok(isClose(rate, expected, 1e-9), `${wrong} wrong and ${right} right: ${rate}, not ${expected}`);
    }
  }
  assert.equal(errorRate(model, naturalCases(0, 1_000)), least, "a rate below the least cannot be shown");
  assert.equal(errorRate(model, naturalCases(1_000, RIGHT_CASES)), most);
  assert.equal(errorRate(model, naturalCases(1_000, RIGHT_CASES - 1)), least, "errors alone say no rate");
}

// ---- the interval -----------------------------------------------------------------------------------------

/** Points by the three lines between the anchors 0, 40, 60 and 100. */
function pointsBetweenAnchors(gain: number, { cost, paying }: { cost: number; paying: number }): number {
  if (gain < 0) return 40 * (1 + gain / cost);
  return gain < paying ? 40 + 20 * gain / paying : 100 - 40 * (1 - gain) / (1 - paying);
}

/** An operator who finds most errors and seldom departs from right advice. */
const GOOD: Counts = { hit: 12, miss: 4, correctAcceptance: 40, falseAlarm: 5 };
const GOOD_WORK: PartsOfWork = { ...NO_PARTS, n: [12, 4, 40, 5, 16, 45, 61, 0] };
/** (0.15 × 5 + 16) / (5 + 61), in hundredths. */
const GOOD_ERROR_RATE = 0.25;

function interval(model: ModelDocument): void {
  const paying = REVIEW_COST / GOOD_ERROR_RATE;
  const cells = posteriorOf(GOOD);
  for (const mode of ["full", "lite"] as const) {
    const points = cells.map(({ h, f, probability }) => ({
      probability,
      points: Object.values(WEIGHTY).reduce(
        (sum, { cost, [mode]: weight }) =>
          sum + weight * pointsBetweenAnchors(h - cost * f, { cost, paying }),
        0,
      ),
    }));
    const below = (limit: number) =>
      points.reduce((sum, cell) => cell.points < limit ? sum + cell.probability : sum, 0);
    const { low, high, errorRate: rate } = judge(model, GOOD_WORK, mode);
    assert.equal(rate, GOOD_ERROR_RATE);
    const tail = (1 - LEVEL) / 2;
    const hair = 1e-9;
    assert.ok(below(low - hair) < tail && below(low + 0.1 + hair) >= tail, `${mode}: ${low} leaves ${tail}`);
    assert.ok(
      1 - below(high + hair) < tail && 1 - below(high - 0.1 - hair) >= tail,
      `${mode}: ${high} leaves ${tail}`,
    );
  }
}

function dimensionPoints(model: ModelDocument): void {
  const paying = REVIEW_COST / GOOD_ERROR_RATE;
  const cells = posteriorOf(GOOD);
  const { dimensions } = judge(model, GOOD_WORK, "full");
  for (const [name, { cost }] of Object.entries(WEIGHTY)) {
    const mean = cells.reduce(
      (sum, { h, f, probability }) =>
        sum + probability * pointsBetweenAnchors(h - cost * f, { cost, paying }),
      0,
    );
    assert.equal(dimensions[name as Dimension], Math.round(mean), name);
  }
}

function level(model: ModelDocument): void {
  const event = {
    interaction: interactionOf({ outcome_correct: true }),
    domain: "general",
    now: NOW,
  } as const;
  const { result } = score(model, null, event, { mode: "full", modeOverride: "normal" });
  assert.equal(result.uncertainty.level, LEVEL);
  assert.equal(result.uncertainty.effective_n, 1);
}

// ---- the known cases --------------------------------------------------------------------------------------

const interactionOf = (fields: Partial<Interaction>): Interaction =>
  recordedInteractionSchema.parse({ decision: "accepted", time_to_decision_ms: 20_000, ...fields });

function memory(model: ModelDocument): void {
  const event = {
    interaction: interactionOf({ outcome_correct: true, scenario_type: "high_stakes" }),
    domain: "legal",
    now: NOW,
  } as const;
  const first = advance(model, null, event).state;
  const { ev } = advance(model, first, event).state;
  const twice: Part = [0, 0, 1 - 1 / MEMORY_CASES + 1, 0, 0, 2, 2, 0];
  assert.deepEqual([ev?.n, ev?.s, ev?.d.legal], [twice, twice, twice]);
}

/** Half of each weight is left after the half-life, and a label makes nothing older. */
function halfLife(model: ModelDocument): void {
  const cases: PartsOfWork = { ...NO_PARTS, n: FINDS, s: ACCEPTS, d: { legal: FINDS }, a: FINDS, t: 20_000 };
  const { n, s, d, a, t } = fadedTo(model, cases, (20_000 + HALF_LIFE_DAYS) * DAY_MS);
  const half = (part: Part) => part.map((value, index) => index < 4 ? value / 2 : value);
  assert.deepEqual([n, s, d.legal], [half(FINDS), ACCEPTS, FINDS], "a part fades when it is read");
  const later = { ...cases, t: 20_000 + HALF_LIFE_DAYS, u: { legal: 20_000, high_stakes: 20_000 } };
  assert.deepEqual(workToday(model, later, "legal").natural, half(FINDS));
  assert.deepEqual(workToday(model, later, "high_stakes").natural, half(ACCEPTS));
  assert.deepEqual([a, t], [FINDS, 20_000 + HALF_LIFE_DAYS]);
}

/** So many errors found, and so much right advice accepted, that no prior doubts it. */
const FINDS: Part = [60, 0, 300, 0, 60, 300, 360, 0];
/** So many errors accepted that no prior doubts it. */
const ACCEPTS: Part = [0, 60, 300, 0, 60, 300, 360, 0];

function said({ verdict: { status, part, doubt, wrong_cases_needed } }: Judgment) {
  return [status, part, doubt, wrong_cases_needed];
}

const COMPLIANT = ["compliant", "all", null, null];

function fewCases(model: ModelDocument): void {
  const counting = (wrong: number, part: Part = FINDS): Part =>
    [...part.slice(0, 4), wrong, 300, 360, 0] as Part;
  const of = (parts: Partial<PartsOfWork>) => judge(model, { ...NO_PARTS, ...parts }, "full");
  assert.deepEqual(said(of({ n: counting(WRONG_CASES) })), COMPLIANT);
  assert.deepEqual(said(of({ n: counting(WRONG_CASES - 1) })), [
    "undetermined",
    "all",
    "too_few_wrong_cases",
    1,
  ]);
  assert.deepEqual(of({ n: counting(WRONG_CASES) }).priorDimensions, []);
  assert.deepEqual(of({ n: counting(WRONG_CASES - 1) }).priorDimensions, Object.keys(WEIGHTY));
  const rightly = (right: number) => of({ n: [...FINDS.slice(0, 5), right, 360, 0] as Part });
  assert.deepEqual(said(rightly(RIGHT_CASES)), COMPLIANT);
  assert.deepEqual(said(rightly(RIGHT_CASES - 1)), ["undetermined", "all", "too_few_right_cases", null]);
  assert.equal(rightly(RIGHT_CASES - 1).verdict.right_cases_needed, 1);
  const planted = (natural: number) => of({ n: counting(natural), p: counting(40) });
  assert.deepEqual(said(planted(WRONG_CASES)), COMPLIANT);
  assert.deepEqual(said(planted(WRONG_CASES - 2)), ["undetermined", "all", "too_few_natural_wrong_cases", 2]);
  assert.deepEqual(said(of({ n: ACCEPTS })), ["non_compliant", "all", null, null]);

  const provisional = (wrong: number) =>
    isProvisional(
      model,
      { ...initialState(model), n: 1_000, ev: { ...NO_PARTS, n: counting(wrong) } },
      NOW,
    );
  assert.deepEqual([provisional(WRONG_CASES), provisional(WRONG_CASES - 1)], [false, true]);
}

/** A part of the work without known cases, beside 360 decisions of which enough is known. */
function unmeasuredParts(model: ModelDocument): void {
  const part = (decisions: number): Part => [0, 0, 0, 0, 0, 0, decisions, 0];
  const of = (beside: Partial<PartsOfWork>) =>
    said(judge(model, { ...NO_PARTS, n: FINDS, ...beside }, "full"));
  const needed = (name: string) => ["undetermined", name, "part_not_measured", WRONG_CASES];
  const { grave, domain } = UNMEASURED;
  assert.deepEqual(of({ s: part(grave) }), needed("high_stakes"), "as many decisions as need truth");
  assert.deepEqual(of({ s: part(grave - 1) }), COMPLIANT, "one less");
  const domains = (decisions: number) => ({ d: { legal: part(decisions), education: FINDS } });
  assert.deepEqual(of(domains(domain)), needed("legal"));
  assert.deepEqual(of(domains(domain - 1)), COMPLIANT);
}

/** The floor: good work in one part buys nothing in another one. */
function worstPart(model: ModelDocument): void {
  const of = (parts: Partial<PartsOfWork>, mode: Mode = "full") =>
    said(judge(model, { ...NO_PARTS, n: FINDS, ...parts }, mode));
  assert.deepEqual(of({ s: ACCEPTS }), ["non_compliant", "high_stakes", null, null]);
  assert.deepEqual(of({ s: ACCEPTS }, "lite"), ["non_compliant", "high_stakes", null, null]);
  assert.deepEqual(of({ s: FINDS, c: ACCEPTS }), ["non_compliant", "critical", null, null]);
  const missed = (count: number): Part => [0, count, 0, 0, count, 0, count, 0];
  assert.deepEqual(
    of({ s: FINDS, c: missed(1) }),
    ["undetermined", "critical", "part_not_measured", WRONG_CASES - 1],
    "one critical error that passed keeps the verdict open",
  );
  assert.deepEqual(of({ s: FINDS, c: [1, 0, 0, 0, 1, 0, 1, 0] }), COMPLIANT);
  assert.deepEqual(of({ d: { legal: FINDS, education: ACCEPTS } }), [
    "non_compliant",
    "education",
    null,
    null,
  ]);
  assert.deepEqual(of({ d: { legal: FINDS, education: FINDS }, a: ACCEPTS }), COMPLIANT);
  assert.deepEqual(of({ d: { legal: NO_PART } }), COMPLIANT);
  const planted: Part = [400, 0, 0, 0, 400, 0, 400, 0];
  assert.deepEqual(
    of({ n: ACCEPTS, p: planted }).slice(0, 3),
    ["undetermined", "natural", "natural_cases_below_minimum"],
    "errors that were planted certify nobody",
  );
}

/** Each case, named by what it requires of the model. */
export const POSTERIOR_CASES: readonly ModelCheck[] = [
  { name: "the grid: equal steps of the logit from −6 to 6", holds: grid },
  { name: "the prior of leaning and sensitivity, and what known cases make of it", holds: prior },
  { name: "40 points are no gain, 60 a gain that pays for the review, 100 perfect", holds: anchors },
  {
    name: "how often the AI is wrong: a prior and natural cases, within bounds, in steps",
    holds: errorRates,
  },
  { name: "the interval leaves a twentieth of the posterior on each side", holds: interval },
  { name: "a weighty dimension is the mean of its points", holds: dimensionPoints },
  { name: "the level of an interval", holds: level },
  { name: "a known case counts a four-hundredth less with each one after it", holds: memory },
  { name: "a known case counts half after 195 days", holds: halfLife },
  { name: "no verdict before five cases of wrong advice", holds: fewCases },
  { name: "20 grave decisions, or 50 in a domain, need truth of their own", holds: unmeasuredParts },
  { name: "the verdict is that of the worst part", holds: worstPart },
];
