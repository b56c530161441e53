/**
 * The verdict of `jis-3`: what the points of all cases and of each part of the work say, and which of it is the worst.
 */
import {
  type Dimension,
  type Domain,
  DOMAINS,
  type Doubt,
  type Mode,
  VERDICT_STATUSES,
  type VerdictStatus,
  type WORK_PARTS,
} from "../domain/enums.ts";
import { computedDimensions } from "./dimensions.ts";
import { requireDiscrimination } from "./discrimination.ts";
import {
  allWork,
  daysSinceCase,
  lacking,
  NO_WORK,
  type Part,
  type PartName,
  type PartsOfWork,
  sumOf,
  unsealed,
  type Work,
  workAsOfLatest,
  workOf,
  workToday,
} from "./known_cases.ts";
import type { ModelDocument } from "./model.ts";
import { type Interval, Reading } from "./points.ts";

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
  const all = new Reading(model, allWork(parts), mode);
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
 * Judges each part by what it says today, or by what it said on the day of its latest case if that is better: good work does not become
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
  if (doubtful.every(isSmall)) return [...better, small];
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
  const work = workOf(domains.map(({ work }) => work));
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

/** A part of which little is known keeps a verdict open if the errors let pass outweigh those found by so much. */
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

/** Says what keeps enough known cases from being as good as a compliant whole; null if nothing does. */
function doubtOf(model: ModelDocument, reading: Reading): ReturnType<typeof doubted> | null {
  const { min_jis } = model.thresholds;
  if (reading.lowIfClear < min_jis) return doubted("interval_spans_minimum", neededCases(model, reading));
  if (reading.interval.low < min_jis) return doubted("modifications_unclear");
  const { wrong } = lacking(reading.work.natural, requireDiscrimination(model));
  return wrong > 0 ? doubted("too_few_natural_wrong_cases", wrongNeeded(wrong)) : null;
}

/** The live cases of work with planted ones or probes, if there are enough; null if not, or if they are the whole. */
function naturalOf(model: ModelDocument, { work, mode }: Reading): Reading | null {
  const live = unsealed(work);
  return work.planted[4] + work.sealed[4] > 0 && lacking(live, requireDiscrimination(model)).wrong === 0
    ? new Reading(model, { ...NO_WORK, natural: live }, mode)
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
