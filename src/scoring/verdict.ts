/**
 * What the posterior of `jis-3` says: the score with its interval for a part of the work, and one verdict over
 * all parts.
 *
 * The anchors: a review that departs from wrong advice with rate h and from right advice with rate f adds
 * ε·h − ε·ρ·f for each case, in costs of an error that passes (net benefit: Vickers and Elkin 2006), and costs κ.
 * ε is how often the AI is wrong, ρ the cost of a false alarm at the odds of right advice. So h − ρ·f is 0 where
 * nothing is added, and κ/ε where what is added pays for the review: 40 and 60 points. 1 is perfect: 100.
 */
import {
  type Dimension,
  DIMENSIONS,
  type Domain,
  DOMAINS,
  type Doubt,
  type Mode,
  VERDICT_STATUSES,
  type VerdictStatus,
  type WORK_PARTS,
} from "../domain/enums.ts";
import { clamp, roundTo, toDimension } from "./arithmetic.ts";
import { computedDimensions } from "./dimensions.ts";
import { gridSize, type KnownCases, Posterior, rateAt, requireDiscrimination } from "./discrimination.ts";
import {
  borneOut,
  casesOf,
  daysSinceCase,
  lacking,
  NO_PART,
  type Part,
  type PartName,
  type PartsOfWork,
  sumOf,
  type Work,
  workAsOfLatest,
  workToday,
} from "./known_cases.ts";
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
class Reading {
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
    const read = (cases: KnownCases, natural: KnownCases) => {
      const rate = errorRate(model, work.natural, natural);
      const tables = tablesOf(model, rate);
      const posterior = new Posterior(model, cases);
      const { low, high } = intervalOf(model, tables[mode], posterior);
      return { rate, tables, posterior, low, high, mean: meanOf(tables[mode].points, posterior) };
    };
    const [cases, least] = [casesOf(this.part), borneOut(this.part)];
    const asCounted = read(cases, casesOf(work.natural));
    const asBorneOut = least.hit < cases.hit ? read(least, borneOut(work.natural)) : asCounted;
    const isRateKnown = lacking(work.natural, section).right === 0;
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

/** The verdict over all parts, in wire names. */
export interface Verdict {
  readonly status: VerdictStatus;
  /** The part of the work that the verdict rests on. */
  readonly part: (typeof WORK_PARTS)[number] | Domain;
  /** The interval of that part's score, points. */
  readonly low: number;
  readonly high: number;
  /** Cases of wrong and of right advice in that part whose truth is known. */
  readonly wrong_cases: number;
  readonly right_cases: number;
  /** Null if there is a verdict. */
  readonly doubt: Doubt | null;
  /**
   * About how many more cases of wrong or of right advice would settle it, whichever says more; null if there is a
   * verdict or nobody can say.
   */
  readonly wrong_cases_needed: number | null;
  readonly right_cases_needed: number | null;
}

/** The cases that could settle a doubt. */
type Needed = Pick<Verdict, "wrong_cases_needed" | "right_cases_needed">;

const NOBODY_CAN_SAY: Needed = { wrong_cases_needed: null, right_cases_needed: null };
const wrongNeeded = (count: number): Needed => ({ ...NOBODY_CAN_SAY, wrong_cases_needed: count });
const rightNeeded = (count: number): Needed => ({ ...NOBODY_CAN_SAY, right_cases_needed: count });

/** What `jis-3` reads from a state's known cases. */
export interface Judgment extends Interval {
  /** Integer points of the weighty dimensions. */
  readonly dimensions: Readonly<Partial<Record<Dimension, number>>>;
  /** The weighty dimensions if too little wrong advice is known: then their numbers are the prior's. */
  readonly priorDimensions: readonly Dimension[];
  readonly errorRate: number;
  readonly verdict: Verdict;
}

/** Reads the posterior of all live cases, and the verdict of the worst part. */
export function judge(model: ModelDocument, parts: PartsOfWork, mode: Mode): Judgment {
  const all = new Reading(model, { natural: parts.n, planted: parts.p }, mode);
  return {
    ...all.interval,
    dimensions: all.dimensions(),
    priorDimensions: lacking(all.part, requireDiscrimination(model)).wrong > 0
      ? computedDimensions(model, mode).filter((name) =>
        model.dimensions[name].false_alarm_cost !== undefined
      )
      : [],
    errorRate: all.errorRate,
    verdict: verdictOf(model, parts, all),
  };
}

const rankOf = (verdict: Verdict | null) => verdict === null ? 0 : VERDICT_STATUSES.indexOf(verdict.status);

/** The worst of what each part says: not compliant, then undetermined, then compliant. */
function verdictOf(model: ModelDocument, parts: PartsOfWork, all: Reading): Verdict {
  return [verdictOnNatural(model, all), ...verdictsOnParts(model, parts, all.mode)].reduce<Verdict>(
    (worst, verdict) => verdict !== null && rankOf(verdict) > rankOf(worst) ? verdict : worst,
    verdictOnAll(model, all),
  );
}

/**
 * What each part says today, or what it said on the day of its latest case if that is better: good work does not become
 * worse because somebody is given no more of it. Bad work does not become better by it either, until what is known of it
 * has faded. Domains together are read today alone, since each has a latest day of its own: those of which too little is
 * known; and all that are not good by themselves, which together can be certainly below where each is not.
 */
function verdictsOnParts(model: ModelDocument, parts: PartsOfWork, mode: Mode): readonly (Verdict | null)[] {
  const verdictOn = (part: PartToJudge | null) => part && verdictOnPart(model, part, mode);
  const apart = partNames(parts).map((name) => {
    const work = workToday(model, parts, name);
    return { name, work, today: verdictOn(partToJudge(model, { name, work })) };
  });
  const better = apart.map(({ name, today }) => {
    if (today === null || parts.u[name] === parts.t) return today;
    const latest = verdictOn(partToJudge(model, { name, work: workAsOfLatest(parts, name) }));
    return rankOf(latest) < rankOf(today) ? latest : today;
  });
  const isSmall = ({ work }: (typeof apart)[number]) =>
    lacking(sumOf([work.natural, work.planted]), requireDiscrimination(model)).wrong > 0;
  const domains = apart.filter(({ name }) => !isGrave(name));
  const small = verdictOn(togetherToJudge(model, parts, domains.filter(isSmall)));
  const doubtful = domains.filter((one) => isSmall(one) || one.today !== null);
  const together = verdictOn(togetherToJudge(model, parts, doubtful));
  return [...better, small, together?.status === "non_compliant" ? together : null];
}

const isGrave = (name: PartName) => name === "high_stakes" || name === "critical";

interface PartToJudge {
  readonly name: Verdict["part"];
  readonly work: Work;
  /** Whether it has so many decisions that it needs known cases of its own. */
  readonly isOften: boolean;
}

/** The parts of the work that are judged apart: one domain alone is the whole. */
function partNames(parts: PartsOfWork): readonly PartName[] {
  const domains = DOMAINS.filter((name) => name in parts.d);
  return ["high_stakes", "critical", ...(domains.length > 1 ? domains : [])];
}

/**
 * A part, null if it has neither known cases nor decisions enough. Grave cases need some from fewer decisions on, and
 * each of their known errors is looked at.
 */
function partToJudge(
  model: ModelDocument,
  { name, work }: { readonly name: PartName; readonly work: Work },
): PartToJudge | null {
  const section = requireDiscrimination(model);
  const { grave_decisions, domain_decisions } = section.unmeasured;
  const part = sumOf([work.natural, work.planted]);
  const isOften = part[6] >= (isGrave(name) ? grave_decisions : domain_decisions);
  const isJudged = isGrave(name)
    ? part[4] + part[5] + part[6] > 0
    : isOften || lacking(part, section).wrong === 0 || turnsDownMost(part);
  return isJudged ? { name, work, isOften } : null;
}

/**
 * Several domains together, since many small ones can be most of the work. Null if they are too small together, too.
 * Decisions count in a domain that had a case in the last half-life.
 */
function togetherToJudge(
  model: ModelDocument,
  parts: PartsOfWork,
  domains: readonly { readonly name: PartName; readonly work: Work }[],
): PartToJudge | null {
  const section = requireDiscrimination(model);
  const work = {
    natural: sumOf(domains.map(({ work }) => work.natural)),
    planted: sumOf(domains.map(({ work }) => work.planted)),
  };
  const part = sumOf([work.natural, work.planted]);
  const present = domains.filter(({ name }) => daysSinceCase(parts, name) <= section.half_life_days);
  const decisions = present.reduce((sum, { work }) => sum + work.natural[6] + work.planted[6], 0);
  const isOften = decisions >= section.unmeasured.domain_decisions;
  const isJudged = isOften || lacking(part, section).wrong === 0 || turnsDownMost(part);
  return isJudged ? { name: "other_domains", work, isOften } : null;
}

/** Whether more right advice is turned down than followed, which can be below the minimum without any wrong advice. */
function turnsDownMost([, , accepted, falseAlarm]: Part): boolean {
  return falseAlarm > accepted;
}

const SETTLED = { doubt: null, ...NOBODY_CAN_SAY } as const;

function doubted(doubt: Doubt, needed: Needed = NOBODY_CAN_SAY) {
  return { status: "undetermined" as const, doubt, ...needed };
}

/** Names the part of a verdict with its interval and its known cases. */
function basisOf(name: Verdict["part"], { interval, part: [, , , , wrong, right] }: Reading) {
  return { part: name, ...interval, wrong_cases: wrong, right_cases: right };
}

function verdictOnAll(model: ModelDocument, all: Reading): Verdict {
  const basis = basisOf("all", all);
  const said = (rest: Pick<Verdict, "status" | "doubt" | keyof Needed>): Verdict => ({ ...basis, ...rest });
  const { wrong, right } = lacking(all.part, requireDiscrimination(model));
  if (isBelow(model, all)) return said({ status: "non_compliant", ...SETTLED });
  if (wrong > 0) return said(doubted("too_few_wrong_cases", wrongNeeded(wrong)));
  if (right > 0) return said(doubted("too_few_right_cases", rightNeeded(right)));
  return said(doubtOf(model, all) ?? { status: "compliant", ...SETTLED });
}

/** Whether known cases are certainly below the minimum: with too little wrong advice, even if every error were found. */
function isBelow(model: ModelDocument, reading: Reading): boolean {
  const { min_jis } = model.thresholds;
  if (reading.interval.high >= min_jis) return false;
  return lacking(reading.part, requireDiscrimination(model)).wrong === 0 ||
    reading.highestWithEveryErrorFound() < min_jis;
}

/** By so much more weight of errors let pass than of errors found, a part of which little is known keeps a verdict open. */
const FEW_ERRORS = 0.5;

/**
 * The verdict on a part, if it has any objection: null if the part is as good as a compliant whole, or too small to be
 * judged.
 */
function verdictOnPart(
  model: ModelDocument,
  { name, work, isOften }: PartToJudge,
  mode: Mode,
): Verdict | null {
  const reading = new Reading(model, work, mode);
  const basis = basisOf(name, reading);
  const { wrong, right } = lacking(reading.part, requireDiscrimination(model));
  if (isBelow(model, reading)) return { ...basis, status: "non_compliant", ...SETTLED };
  if (wrong > 0) {
    const [hit, miss] = reading.part;
    if (!isOften && miss - hit < FEW_ERRORS) return null;
    return { ...basis, ...doubted("part_not_measured", wrongNeeded(wrong)) };
  }
  if (right > 0) return { ...basis, ...doubted("part_not_measured", rightNeeded(right)) };
  const doubt = doubtOf(model, reading);
  if (doubt !== null) return { ...basis, ...doubt };
  const natural = naturalOf(model, reading);
  return natural !== null && natural.leastMean < model.thresholds.min_jis
    ? { ...basis, ...doubted("natural_cases_below_minimum") }
    : null;
}

/** What keeps enough known cases from being as good as a compliant whole; null if nothing does. */
function doubtOf(model: ModelDocument, reading: Reading): ReturnType<typeof doubted> | null {
  const { min_jis } = model.thresholds;
  if (reading.lowIfClear < min_jis) return doubted("interval_spans_minimum", neededCases(model, reading));
  if (reading.interval.low < min_jis) return doubted("modifications_unclear");
  const { wrong } = lacking(reading.work.natural, requireDiscrimination(model));
  return wrong > 0 ? doubted("too_few_natural_wrong_cases", wrongNeeded(wrong)) : null;
}

/** The natural cases of work with planted ones, if there are enough; null if not, or if they are the whole. */
function naturalOf(model: ModelDocument, { work, mode }: Reading): Reading | null {
  return work.planted[4] > 0 && lacking(work.natural, requireDiscrimination(model)).wrong === 0
    ? new Reading(model, { ...work, planted: NO_PART }, mode)
    : null;
}

/**
 * The verdict on natural cases, which are most of the whole: judged once more they can keep somebody from being
 * certified, and condemn nobody, since two looks at the same cases would find twice as many wrongly. So their score is
 * asked alone, and not its interval.
 */
function verdictOnNatural(model: ModelDocument, all: Reading): Verdict | null {
  const { min_jis } = model.thresholds;
  const reading = naturalOf(model, all);
  if (reading === null || reading.leastMean >= min_jis) return null;
  const basis = basisOf("natural", reading);
  if (reading.mean >= min_jis) return { ...basis, ...doubted("modifications_unclear") };
  return reading.interval.high < min_jis
    ? { ...basis, ...doubted("natural_cases_below_minimum") }
    : { ...basis, ...doubted("interval_spans_minimum", neededCases(model, reading)) };
}

/** More cases than this are no advice: the operator's score is too near the minimum. */
const NEEDED_MOST = 400;

/**
 * About how many more cases would bring the minimum out of the interval, if the score stays there: an interval
 * narrows with the root of the cases. They are of wrong advice if at least half of the variance is that of the rate on
 * wrong advice, and of right advice otherwise.
 */
function neededCases(model: ModelDocument, reading: Reading): Needed {
  const { interval: { high }, lowIfClear: low, mean, part } = reading;
  const reach = (high - low) / 2;
  const away = Math.abs(mean - model.thresholds.min_jis);
  if (away === 0) return NOBODY_CAN_SAY;
  const ratio = reach / away;
  const isWrong = reading.isMostlyOfWrongAdvice();
  const [hit, miss, accepted, falseAlarm] = part;
  // A case that has faded does not narrow the interval any more.
  const known = isWrong ? hit + miss : accepted + falseAlarm;
  const needed = Math.ceil(Math.max(1, known * (ratio * ratio - 1)));
  if (needed > NEEDED_MOST) return NOBODY_CAN_SAY;
  return isWrong ? wrongNeeded(needed) : rightNeeded(needed);
}
