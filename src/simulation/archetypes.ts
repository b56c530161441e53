/**
 * Simulated reviewers: the archetypes as data, an operator drawn from one, an interaction drawn from an operator.
 *
 * An operator truly evaluates a case with probability θ and is right with skill k; otherwise they depart from the
 * AI blindly with rate b. So P(depart | AI wrong) − P(depart | AI right) = θ(1.5k − 0.5), whatever b is.
 * If the source gives no figure (skills, spreads, telemetry, mixes of departures), the figure here was chosen
 * so that the mean scores come near its table 13.3. They describe no measured people. Half of the file is that
 * data; it stands with the two draws because neither means anything without the other.
 * Source: scoring model, sections 13.1 and 2.3.
 */
import type { Decision, Domain, ScenarioType } from "../domain/enums.ts";
import type { Interaction } from "../domain/interaction.ts";
import { isMorning } from "./clock.ts";
import type { Random } from "./random.ts";

/** A quantity that moves in a straight line from its first value to its last. */
export interface Drift {
  readonly from: number;
  readonly to: number;
  /** Interactions until `to` is reached; 0 if it is constant. */
  readonly over: number;
}

/**
 * The telemetry of an evaluated case on a review page; a case that is not evaluated may leave less (see
 * `skim`).
 */
interface TelemetryStyle {
  /** Mean of a Poisson count. */
  readonly hovers: number;
  /** Shapes of a Beta share, both at least 1; null if the page is never scrolled. */
  readonly scroll: readonly [a: number, b: number] | null;
  /** Mean of a Poisson count. */
  readonly views: number;
}

/**
 * `unmeasured` is a page without the collector: every field null, which is not the same as `idle`. `zeros` is a page
 * whose collector sees nothing, as with a screen reader; it takes no draw, so that a history is that of `unmeasured`.
 */
const TELEMETRY_STYLES = {
  engaged: { hovers: 5, scroll: [5, 2], views: 1.4 },
  sparse: { hovers: 1.5, scroll: [2, 3], views: 0.4 },
  minimal: { hovers: 0.5, scroll: [1, 8], views: 0.05 },
  idle: { hovers: 0, scroll: null, views: 0 },
  forged: { hovers: 14, scroll: [12, 1], views: 3 },
  unmeasured: null,
  zeros: null,
} as const satisfies Record<string, TelemetryStyle | null>;
export type TelemetryStyleName = keyof typeof TELEMETRY_STYLES;

type Range = readonly [low: number, high: number];

export interface Archetype {
  /**
   * θ, 0..1: probability that a case is evaluated on its merits; `thetaTo` is its last value if it drifts.
   */
  readonly theta: Range;
  readonly thetaTo?: number;
  /** k, 0..1: mean probability that the operator's own view of an evaluated case is right. */
  readonly skill: Range;
  readonly skillTo?: number;
  /** b, 0..1: probability of departing from the AI on a case that is not evaluated. */
  readonly blindDeparture: Range;
  /** Median time to a decision, milliseconds. */
  readonly medianMs: Range;
  /** Share, 0..1, of the usual time and activity that an unevaluated case gets. */
  readonly skim: number;
  readonly telemetry: TelemetryStyleName;
  /** Weights of the decisions by which the operator departs. */
  readonly departures: Readonly<Partial<Record<Decision, number>>>;
  /** Share, 0..1, of the cases followed with a cosmetic modification, too small to be a departure. */
  readonly retouched?: number;
}

/** Interactions over which a novice learns and a tired reviewer tires. */
const DRIFT_INTERACTIONS = 200;

const CONSIDERED_DEPARTURES = {
  rejected: 35,
  overridden: 30,
  modified: 25,
  deferred: 4,
  escalated: 6,
} as const;
const BLUNT_DEPARTURES = { rejected: 60, overridden: 40 } as const;

export const ARCHETYPES = {
  /** Evaluates nearly every case. */
  independent: {
    theta: [0.85, 0.98],
    skill: [0.8, 0.95],
    blindDeparture: [0, 0.05],
    medianMs: [9_000, 25_000],
    skim: 0.5,
    telemetry: "engaged",
    departures: CONSIDERED_DEPARTURES,
  },
  /** Is right in seconds, with few signs of review. */
  fast_expert: {
    theta: [0.88, 0.99],
    skill: [0.84, 0.97],
    blindDeparture: [0, 0.03],
    medianMs: [2_000, 4_000],
    skim: 0.8,
    telemetry: "sparse",
    departures: CONSIDERED_DEPARTURES,
  },
  /** Evaluates, and learns to be right. */
  novice_learning: {
    theta: [0.75, 0.9],
    skill: [0.6, 0.6],
    skillTo: 0.86,
    blindDeparture: [0, 0.05],
    medianMs: [12_000, 30_000],
    skim: 0.5,
    telemetry: "engaged",
    departures: CONSIDERED_DEPARTURES,
  },
  /** Accepts in about a second. */
  rubber_stamper: {
    theta: [0.02, 0.12],
    skill: [0.6, 0.85],
    blindDeparture: [0, 0.03],
    medianMs: [800, 1_800],
    skim: 1,
    telemetry: "minimal",
    departures: CONSIDERED_DEPARTURES,
  },
  /** Accepts after a decent interval. */
  slow_rubber: {
    theta: [0.02, 0.12],
    skill: [0.6, 0.85],
    blindDeparture: [0, 0.03],
    medianMs: [8_000, 25_000],
    skim: 1,
    telemetry: "minimal",
    departures: CONSIDERED_DEPARTURES,
  },
  /** Leaves the case open, does something else, accepts. */
  idle_clicker: {
    theta: [0.02, 0.12],
    skill: [0.6, 0.85],
    blindDeparture: [0, 0.03],
    medianMs: [40_000, 240_000],
    skim: 1,
    telemetry: "idle",
    departures: CONSIDERED_DEPARTURES,
  },
  /** Accepts while forging the signs of a review. */
  hover_gamer: {
    theta: [0.02, 0.12],
    skill: [0.6, 0.85],
    blindDeparture: [0, 0.03],
    medianMs: [6_000, 18_000],
    skim: 1,
    telemetry: "forged",
    departures: CONSIDERED_DEPARTURES,
  },
  /** Departs for the sake of departing. */
  contrarian: {
    theta: [0.02, 0.12],
    skill: [0.6, 0.85],
    blindDeparture: [0.45, 0.8],
    medianMs: [3_000, 9_000],
    skim: 1,
    telemetry: "sparse",
    departures: BLUNT_DEPARTURES,
  },
  /** Departs blindly about as often as the AI is wrong, so that the rate of departures looks right. */
  token_departer: {
    theta: [0.02, 0.12],
    skill: [0.6, 0.85],
    blindDeparture: [0.1, 0.2],
    medianMs: [6_000, 18_000],
    skim: 1,
    telemetry: "sparse",
    departures: CONSIDERED_DEPARTURES,
  },
  /** Accepts, with a touch-up that changes nothing. */
  retoucher: {
    theta: [0.02, 0.12],
    skill: [0.6, 0.85],
    blindDeparture: [0, 0.03],
    medianMs: [4_000, 12_000],
    skim: 1,
    telemetry: "sparse",
    departures: CONSIDERED_DEPARTURES,
    retouched: 0.8,
  },
  /** Hands a good part of the cases on unread, so that others are to blame. */
  blind_referrer: {
    theta: [0.02, 0.12],
    skill: [0.6, 0.85],
    blindDeparture: [0.3, 0.6],
    medianMs: [3_000, 9_000],
    skim: 1,
    telemetry: "sparse",
    departures: { deferred: 1, escalated: 2 },
  },
  always_reject: {
    theta: [0, 0],
    skill: [0.5, 0.5],
    blindDeparture: [1, 1],
    medianMs: [1_000, 4_000],
    skim: 1,
    telemetry: "minimal",
    departures: { rejected: 1 },
  },
  always_escalate: {
    theta: [0, 0],
    skill: [0.5, 0.5],
    blindDeparture: [1, 1],
    medianMs: [1_500, 6_000],
    skim: 1,
    telemetry: "minimal",
    departures: { escalated: 1 },
  },
  /** Begins as an independent reviewer and ends as a rubber-stamper. */
  fatigued: {
    theta: [0.9, 0.9],
    thetaTo: 0.1,
    skill: [0.82, 0.95],
    blindDeparture: [0, 0.03],
    medianMs: [9_000, 20_000],
    skim: 0.25,
    telemetry: "engaged",
    departures: CONSIDERED_DEPARTURES,
  },
} as const satisfies Record<string, Archetype>;
export type ArchetypeName = keyof typeof ARCHETYPES;

/** One simulated reviewer: the qualities that are hidden from the score, and the way of working. */
export interface Operator {
  readonly archetype: ArchetypeName;
  /** θ, 0..1. */
  readonly theta: Drift;
  /** k, 0..1. */
  readonly skill: Drift;
  /** b, 0..1. */
  readonly blindDeparture: number;
  /** Median time to a decision, milliseconds. */
  readonly medianMs: number;
  readonly telemetry: TelemetryStyleName;
  /**
   * Measured rates that replace θ, k and b if there is advice: how often, 0..1, the operator goes along with
   * right advice and with wrong advice. θ then decides if a case gets the time and telemetry of an evaluated
   * one.
   */
  readonly goesAlong?: { readonly whenRight: number; readonly whenWrong: number };
  /** Cases that the operator judges, if not all: every other one is decided as one that is not evaluated. */
  readonly judgesOnly?: JudgedCases;
  /** How often a second AI is right, 0..1, if the operator follows it in place of judging. */
  readonly secondAi?: number;
  /** True if whoever labels the outcomes calls every decision right; an injected error keeps its truth. */
  readonly isLabelledRight?: true;
  /**
   * How often, 0..1, advice that is followed is made to look like a departure, and by which decision: the outcome is then as
   * right as the advice. Never if absent.
   */
  readonly disguise?: { readonly as: "modified" | "escalated"; readonly share: number };
  /** Weights of the decisions by which the operator departs, if not those of the archetype. */
  readonly departures?: Archetype["departures"];
}

/** A case as a reviewer sees it before the decision. */
interface SeenCase {
  readonly scenario: ScenarioType;
  readonly domain: Domain;
  readonly environment: Environment;
  /** Interactions of the operator before it. */
  readonly index: number;
}

function isInFirstDomain({ domain, environment }: SeenCase): boolean {
  return domain === (environment.domains ?? [environment.domain])[0];
}

/** Cases that a reviewer picks out to judge, by what can be seen of them. */
const JUDGED_CASES = {
  /** Tests that were announced as such. */
  announced_tests: ({ scenario }) => scenario === "calibration",
  /** Planted errors, by a reviewer who recognizes them. */
  planted_errors: ({ scenario }) => scenario === "error_injected",
  low_stakes: ({ scenario }) => scenario !== "high_stakes" && scenario !== "critical",
  first_domain: isInFirstDomain,
  /** Everything but the natural cases of the first domain. */
  planted_in_first_domain: (seen) => seen.scenario === "error_injected" || !isInFirstDomain(seen),
  mornings: ({ index }) => isMorning(index),
} as const satisfies Record<string, (seen: SeenCase) => boolean>;
export type JudgedCases = keyof typeof JUDGED_CASES;

/** The properties of the cases; shares and rates are 0..1. */
export interface Environment {
  /** ε: how often the AI is wrong by itself. */
  readonly aiErrorRate: number;
  /** Shares of the cases of each scenario type; the rest are `standard`. */
  readonly injectedShare: number;
  readonly withheldShare: number;
  readonly highStakesShare: number;
  readonly criticalShare: number;
  /** How often the outcome becomes known. */
  readonly labelledShare: number;
  /** The field whose review times the cases are scored against; an operator's pace does not follow it. */
  readonly domain: Domain;
  /** Domains of the cases, each equally often, if there are several; `domain` is then not used. */
  readonly domains?: readonly Domain[];
  /** Share of tests that are announced as such (`calibration`); 0 if absent. Their truth is always known. */
  readonly calibrationShare?: number;
  /**
   * How often a decision that departs from wrong advice is another wrong one: 0 if there are two answers, and if
   * absent.
   */
  readonly otherWrongShare?: number;
  /** True if each known outcome comes with `ai_correct`. */
  readonly saysAiCorrect?: true;
  /** True if an outcome becomes known only where the AI was wrong. */
  readonly onlyErrorsKnown?: true;
  /** Days from one case to the next; eight cases a day if absent. */
  readonly daysBetween?: number;
  /** How often the outcome is the opposite of what good judgment foretells; 0 if absent. */
  readonly luck?: number;
}

/** The default environment of section 13.1. */
export const DEFAULT_ENVIRONMENT: Environment = {
  aiErrorRate: 0.15,
  injectedShare: 0.05,
  withheldShare: 0.05,
  highStakesShare: 0,
  criticalShare: 0,
  labelledShare: 0.7,
  domain: "financial",
};

/**
 * Standard deviation of the skill between cases (section 13.1), and the least and most chance of being right.
 */
export const CASE_NOISE = 0.06;
export const SKILL_BOUNDS: Range = [0.01, 0.99];
/** How often the operator departs from a right AI if the operator's own view is wrong (section 13.1). */
export const DEPART_ON_OWN_ERROR = 0.5;
/** How often a case decided without the AI and without evaluation comes out right. */
const GUESS = 0.5;
/** Standard deviation of the logarithm of an operator's times: about 0.6 to 1.6 times the median, two times in three. */
const TIME_SIGMA = 0.45;
const TIME_BOUNDS_MS: Range = [200, 3_600_000];
/** Extent of a departure by modification: a quarter is a full departure (section 2.3). */
export const MODIFICATION_EXTENT: Range = [0.25, 0.9];
export const RETOUCH_EXTENT: Range = [0.02, 0.15];

/** Draws a reviewer of an archetype. */
export function drawOperator(archetype: ArchetypeName, random: Random): Operator {
  const kind: Archetype = ARCHETYPES[archetype];
  return {
    archetype,
    theta: drawDrift(kind.theta, kind.thetaTo, random),
    skill: drawDrift(kind.skill, kind.skillTo, random),
    blindDeparture: random.uniform(...kind.blindDeparture),
    medianMs: random.uniform(...kind.medianMs),
    telemetry: kind.telemetry,
  };
}

function drawDrift(range: Range, to: number | undefined, random: Random): Drift {
  const from = random.uniform(...range);
  return to === undefined ? { from, to: from, over: 0 } : { from, to, over: DRIFT_INTERACTIONS };
}

/** The value of a drifting quantity at an interaction, counted from 0. */
export function driftAt(drift: Drift, index: number): number {
  if (drift.over === 0) return drift.to;
  return drift.from + (drift.to - drift.from) * clamp(index / drift.over, [0, 1]);
}

/** Share of wrong advice among announced tests. */
const ANNOUNCED_WRONG_SHARE = 0.5;

/** A case of a domain with its decision. */
export interface DecidedCase {
  readonly domain: Domain;
  readonly interaction: Interaction;
}

/** Draws an operator's interaction `index` (from 0) in an environment of one domain; see {@link drawCase}. */
export function drawInteraction(
  operator: Operator,
  index: number,
  environment: Environment,
  random: Random,
): Interaction {
  return drawCase(operator, index, environment, random).interaction;
}

/**
 * Draws an operator's case `index` (from 0), with every default explicit, as `interactionSchema` gives
 * it. `outcome_correct`, if it is known, labels the operator's final decision, not the AI: an acceptance is
 * right if the AI was right, a departure or referral if the AI was wrong. Nothing is drawn for a property that
 * the environment and the operator do not have, so that the streams without it stay the same.
 */
export function drawCase(
  operator: Operator,
  index: number,
  environment: Environment,
  random: Random,
): DecidedCase {
  const domain = environment.domains === undefined ? environment.domain : random.pick(environment.domains);
  const scenario = drawScenario(environment, random);
  const evaluated = random.bernoulli(
    isJudged(operator, { scenario, domain, environment, index }) ? driftAt(operator.theta, index) : 0,
  );
  const unaided = scenario === "ai_withheld";
  const aiWrong = scenario === "error_injected" ||
    random.bernoulli(scenario === "calibration" ? ANNOUNCED_WRONG_SHARE : environment.aiErrorRate);
  const ownViewRight = operator.secondAi === undefined
    ? drawOwnView(driftAt(operator.skill, index), evaluated, random)
    : random.bernoulli(operator.secondAi);
  const departs = drawDeparture({ operator, evaluated, unaided, aiWrong, ownViewRight }, random);
  const decision = departs ? drawDepartureDecision(operator, random) : drawFollowing(operator, random);
  const pace = evaluated ? 1 : ARCHETYPES[operator.archetype].skim;
  return {
    domain,
    interaction: {
      ai_recommendation_presented: !unaided,
      time_to_decision_ms: Math.round(
        clamp(random.lognormal(operator.medianMs * pace, TIME_SIGMA), TIME_BOUNDS_MS),
      ),
      decision,
      modification_extent: decision === "modified"
        ? hundredths(random.uniform(...(departs || operator.disguise ? MODIFICATION_EXTENT : RETOUCH_EXTENT)))
        : 0,
      ai_available: true,
      scenario_type: scenario,
      ...drawTruth({ operator, environment, scenario, decision, departs, aiWrong, ownViewRight }, random),
      ...drawTelemetry(operator.telemetry, pace, random),
    },
  };
}

function isJudged({ judgesOnly }: Operator, seen: SeenCase): boolean {
  return judgesOnly === undefined || JUDGED_CASES[judgesOnly](seen);
}

/** Draws what becomes known of the outcome. Planted and announced tests have no luck: we made their truth. */
function drawTruth(
  { operator, environment, scenario, decision, departs, aiWrong, ownViewRight }: {
    readonly operator: Operator;
    readonly environment: Environment;
    readonly scenario: ScenarioType;
    readonly decision: Decision;
    readonly departs: boolean;
    readonly aiWrong: boolean;
    readonly ownViewRight: boolean;
  },
  random: Random,
): Pick<Interaction, "outcome_correct" | "ai_correct"> {
  const { luck = 0, otherWrongShare = 0, labelledShare, saysAiCorrect } = environment;
  const isKnown = random.bernoulli(scenario === "calibration" ? 1 : labelledShare);
  const isMade = scenario === "error_injected" || scenario === "calibration";
  const isTurned = luck > 0 && !isMade && random.bernoulli(luck);
  const wrong = aiWrong !== isTurned;
  const answers = decision !== "deferred" && decision !== "escalated";
  const isOtherWrong = otherWrongShare > 0 && departs && wrong && answers &&
    random.bernoulli(otherWrongShare);
  if (!isKnown || (environment.onlyErrorsKnown && !aiWrong)) return { outcome_correct: null };
  const unaided = scenario === "ai_withheld";
  const correct = unaided ? ownViewRight !== isTurned : departs === wrong && !isOtherWrong;
  const isCalledRight = operator.isLabelledRight === true && !isMade;
  return {
    outcome_correct: isCalledRight || correct,
    ...(saysAiCorrect && !unaided ? { ai_correct: !wrong } : {}),
  };
}

function drawScenario(environment: Environment, random: Random): ScenarioType {
  const { injectedShare, withheldShare, highStakesShare, criticalShare, calibrationShare = 0 } = environment;
  const standardShare = 1 - injectedShare - withheldShare - highStakesShare - criticalShare -
    calibrationShare;
  return random.pick(
    ["standard", "error_injected", "ai_withheld", "high_stakes", "calibration", "critical"],
    [standardShare, injectedShare, withheldShare, highStakesShare, calibrationShare, criticalShare],
  );
}

/** Draws whether the operator's own view of the case is right; without evaluation it is only a guess. */
function drawOwnView(skill: number, evaluated: boolean, random: Random): boolean {
  const chance = clamp(random.normal(skill, CASE_NOISE), SKILL_BOUNDS);
  return random.bernoulli(evaluated ? chance : GUESS);
}

/** Draws whether the operator departs; with the AI withheld, whether the operator turns down the case itself. */
function drawDeparture(
  { operator, evaluated, unaided, aiWrong, ownViewRight }: {
    readonly operator: Operator;
    readonly evaluated: boolean;
    readonly unaided: boolean;
    readonly aiWrong: boolean;
    readonly ownViewRight: boolean;
  },
  random: Random,
): boolean {
  if (operator.goesAlong !== undefined && !unaided) {
    return !random.bernoulli(aiWrong ? operator.goesAlong.whenWrong : operator.goesAlong.whenRight);
  }
  if (operator.secondAi !== undefined) return unaided ? random.bernoulli(0.5) : ownViewRight === aiWrong;
  if (!evaluated) return random.bernoulli(operator.blindDeparture);
  if (unaided) return random.bernoulli(0.5);
  if (aiWrong) return ownViewRight;
  return !ownViewRight && random.bernoulli(DEPART_ON_OWN_ERROR);
}

function drawDepartureDecision(operator: Operator, random: Random): Decision {
  const departures = departuresOf(operator);
  return random.pick(Object.keys(departures) as Decision[], Object.values(departures));
}

/** Weights of the decisions by which an operator departs. */
export function departuresOf({ archetype, departures = ARCHETYPES[archetype].departures }: Operator) {
  return departures;
}

/** Takes no draw from the stream of a reviewer who never touches up, so that its stream stays the same. */
function drawFollowing({ archetype, disguise }: Operator, random: Random): Decision {
  const { retouched = 0 }: Archetype = ARCHETYPES[archetype];
  const { as, share } = disguise ?? { as: "modified", share: retouched };
  return share > 0 && random.bernoulli(share) ? as : "accepted";
}

function drawTelemetry(
  name: TelemetryStyleName,
  pace: number,
  random: Random,
): Pick<Interaction, "hover_events" | "scroll_depth" | "alternative_views_checked"> {
  const style: TelemetryStyle | null = TELEMETRY_STYLES[name];
  if (style === null) {
    const nothing = name === "zeros" ? 0 : null;
    return { hover_events: nothing, scroll_depth: nothing, alternative_views_checked: nothing };
  }
  return {
    hover_events: random.poisson(style.hovers * pace),
    scroll_depth: style.scroll === null ? 0 : hundredths(random.beta(...style.scroll) * pace),
    alternative_views_checked: random.poisson(style.views * pace),
  };
}

function clamp(value: number, [low, high]: Range): number {
  return Math.max(low, Math.min(high, value));
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
