/**
 * The value that a score of `jis-3` estimates, from the hidden qualities of a simulated reviewer: the points of the two
 * rates that the engine would count if it saw the truth of endless cases. It is a value of how the reviewer works
 * now, in all work together.
 */
import type { Decision } from "../domain/enums.ts";
import { classify, departureShare, type Evidence } from "../scoring/classify.ts";
import type { ModelDocument } from "../scoring/model.ts";
import { errorRate, pointsOf, weightyDimensions } from "../scoring/points.ts";
import {
  type Archetype,
  ARCHETYPES,
  CASE_NOISE,
  DEPART_ON_OWN_ERROR,
  departuresOf,
  driftAt,
  type Environment,
  MODIFICATION_EXTENT,
  type Operator,
  RETOUCH_EXTENT,
  SKILL_BOUNDS,
} from "./archetypes.ts";

/** How often an operator departs, 0..1. */
interface Departures {
  readonly whenWrong: number;
  readonly whenRight: number;
}

/** Points of the integrals over a case's noise and over the extents of a modification, and the former's reach. */
const POINTS = 60;
const NOISE_REACH = 5;
const CELLS = [
  "hit",
  "miss",
  "correctAcceptance",
  "falseAlarm",
] as const satisfies readonly (keyof Evidence)[];
/** As many cases as make a prior weigh nothing. */
const ENDLESS = 1e9;

/** How often an operator who judges every case departs, at interaction `index` from 0. */
export function departuresAt(operator: Operator, index: number): Departures {
  const { goesAlong, secondAi, blindDeparture } = operator;
  if (goesAlong !== undefined) {
    return { whenWrong: 1 - goesAlong.whenWrong, whenRight: 1 - goesAlong.whenRight };
  }
  if (secondAi !== undefined) return { whenWrong: secondAi, whenRight: 1 - secondAi };
  const theta = driftAt(operator.theta, index);
  const right = chanceOfRightView(driftAt(operator.skill, index));
  const blind = (1 - theta) * blindDeparture;
  return { whenWrong: theta * right + blind, whenRight: theta * (1 - right) * DEPART_ON_OWN_ERROR + blind };
}

/** The mean over cases of how often the operator's view of one is right; see `drawOwnView`. */
function chanceOfRightView(skill: number): number {
  const [least, most] = SKILL_BOUNDS;
  let [sum, total] = [0, 0];
  for (let point = 0; point <= POINTS; point += 1) {
    const z = NOISE_REACH * (2 * point / POINTS - 1);
    const density = Math.exp(-z * z / 2);
    sum += density * Math.max(least, Math.min(most, skill + CASE_NOISE * z));
    total += density;
  }
  return sum / total;
}

/** The rates h and f, 0..1, that the engine would count with endless known cases. */
export function countedRates(
  model: ModelDocument,
  operator: Operator,
  { environment, index }: { readonly environment: Environment; readonly index: number },
): { readonly h: number; readonly f: number } {
  const departs = departuresAt(operator, index);
  const departing = mixOf(departuresOf(operator), MODIFICATION_EXTENT);
  const { retouched = 0 }: Archetype = ARCHETYPES[operator.archetype];
  const following = mixOf({ accepted: 1 - retouched, modified: retouched }, RETOUCH_EXTENT);
  const { aiErrorRate, injectedShare, withheldShare } = environment;
  const natural = 1 - injectedShare - withheldShare;
  const kinds = [
    { weight: natural * aiErrorRate, isWrong: true, scenario: "standard", departs: departs.whenWrong },
    { weight: natural * (1 - aiErrorRate), isWrong: false, scenario: "standard", departs: departs.whenRight },
    { weight: injectedShare, isWrong: true, scenario: "error_injected", departs: departs.whenWrong },
  ] as const;
  const cases = kinds.flatMap(({ weight, isWrong, scenario, departs: chance }) =>
    [
      { mix: departing, share: weight * chance, isRight: isWrong },
      { mix: following, share: weight * (1 - chance), isRight: !isWrong },
    ].flatMap(({ mix, share, isRight }) =>
      mix.map(({ decision, extent, probability }) => ({
        weight: share * probability,
        evidence: classify(model, {
          decision,
          scenario_type: scenario,
          outcome_correct: isRight,
          departure: departureShare(model, { decision, modification_extent: extent }),
        }),
      }))
    )
  );
  const [hit, miss, correctAcceptance, falseAlarm] = CELLS.map((cell) =>
    cases.reduce((sum, { weight, evidence }) => sum + weight * evidence[cell], 0)
  ) as [number, number, number, number];
  return { h: hit / (hit + miss), f: falseAlarm / (falseAlarm + correctAcceptance) };
}

/** A kind of decision with its probability, 0..1. */
interface Likely {
  readonly decision: Decision;
  readonly extent: number;
  readonly probability: number;
}

/** The decisions by these weights; a modification's extents stand at equal distances in their range. */
function mixOf(
  weights: Readonly<Partial<Record<Decision, number>>>,
  [least, most]: readonly [number, number],
): readonly Likely[] {
  const entries = (Object.entries(weights) as [Decision, number][]).filter(([, weight]) => weight > 0);
  const total = entries.reduce((sum, [, weight]) => sum + weight, 0);
  return entries.flatMap(([decision, weight]): Likely[] => {
    if (decision !== "modified") return [{ decision, extent: 0, probability: weight / total }];
    return Array.from({ length: POINTS }, (_, point) => ({
      decision,
      extent: least + (most - least) * (point + 0.5) / POINTS,
      probability: weight / total / POINTS,
    }));
  });
}

/**
 * The true value, points: those of both rates at the environment's error rate, which the model bounds, weighted over
 * the dimensions as the JIS is. @throws {TypeError} if the model is not of `jis-3`.
 */
export function trueScore(
  model: ModelDocument,
  operator: Operator,
  at: { readonly environment: Environment; readonly index: number },
): number {
  const { h, f } = countedRates(model, operator, at);
  const { aiErrorRate } = at.environment;
  const wrong = ENDLESS * aiErrorRate;
  const rate = errorRate(model, [0, wrong, ENDLESS - wrong, 0, wrong, ENDLESS - wrong, ENDLESS, 0]);
  return weightyDimensions(model).reduce(
    (sum, { weight, falseAlarmCost }) =>
      sum + weight * pointsOf(model, { falseAlarmCost, errorRate: rate })(h, f),
    0,
  );
}
