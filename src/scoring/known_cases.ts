/**
 * The cases whose truth is known, as `jis-3` counts them: of the whole work and of its parts, and cases that the
 * reviewer knew to be tests apart.
 *
 * Counts fade with each further case of the same part and with time, so that a verdict is about the present. With
 * time all four fade alike: what is old says less for and against the operator (power prior: Ibrahim and Chen 2000,
 * Statistical Science 15). Time fades as an exponential does, so that it is the same in one gap or in many, whatever
 * happened between. How many cases of wrong advice there ever were does not fade, because a verdict asks whether there
 * was anything to see.
 */
import type { Domain, ScenarioType } from "../domain/enums.ts";
import { DAY_MS } from "../domain/time.ts";
import { power, q9 } from "./arithmetic.ts";
import { type KnownCases, requireDiscrimination } from "./discrimination.ts";
import type { ModelDocument } from "./model.ts";
import * as z from "zod";

const weight = z.number().min(0);
const count = z.int().min(0);
/**
 * `[hit, miss, correct acceptance, false alarm, wrong, right, decisions, unclear]`: four weights that fade; the numbers
 * of cases of wrong and of right advice, and of decisions with a recommendation, which do not; and the weight of the
 * hits that are modifications of which both truths are not known, which fades as the hits do.
 */
const partSchema = z.tuple([weight, weight, weight, weight, count, count, count, weight]);
export type Part = z.infer<typeof partSchema>;

/** The member `ev` of a state. */
export const knownCasesSchema = z.strictObject({
  /** Live cases whose truth came up by itself. */
  n: partSchema,
  /** Live cases with an error that was planted without the reviewer's knowledge. */
  p: partSchema,
  /** Live cases of high stakes, critical ones among them. */
  s: partSchema,
  /** Live critical cases. */
  c: partSchema,
  /** Cases of `n` in each domain that occurred. */
  d: z.partialRecord(z.string(), partSchema),
  /** Cases of `p` in each domain that occurred. */
  q: z.partialRecord(z.string(), partSchema),
  /** UTC day of the latest live interaction in each domain, counted as `t`; absent before one. */
  u: z.partialRecord(z.string(), z.int()),
  /** Cases that the reviewer knew to be tests. */
  a: partSchema,
  /** UTC day, counted from 1 January 1970, of the latest live interaction: the cases have faded to it. Null before one. */
  t: z.int().nullable(),
  /** Telemetry that was ever above zero: 1 hover events, 2 scroll depth, 4 alternative views, added up. */
  m: z.int(),
});
export type PartsOfWork = z.infer<typeof knownCasesSchema>;

export const NO_PART: Part = [0, 0, 0, 0, 0, 0, 0, 0];
export const NO_PARTS: PartsOfWork = {
  n: NO_PART,
  p: NO_PART,
  s: NO_PART,
  c: NO_PART,
  d: {},
  q: {},
  u: {},
  a: NO_PART,
  t: null,
  m: 0,
};

/** One decision with a recommendation on screen. */
export interface Decided {
  readonly domain: Domain;
  readonly scenario_type: ScenarioType;
  /** Whether it is a decision that was not counted yet; false for a late label. */
  readonly isNew: boolean;
  /** Its evidence; null if its truth is not known. */
  readonly evidence: KnownCases | null;
  /** Whether a hit in it is unclear: see `isUnclear`. */
  readonly isUnclear: boolean;
}

/** The live cases of some of the work, those that came up by themselves and those with a planted error apart. */
export interface Work {
  readonly natural: Part;
  readonly planted: Part;
}

/** The known cases of a part, without its counters. */
export function casesOf([hit, miss, correctAcceptance, falseAlarm]: Part): KnownCases {
  return { hit, miss, correctAcceptance, falseAlarm };
}

/**
 * The known cases of a part as far as they are borne out: of the unclear hits at most as many as there are clear ones.
 * The others say nothing.
 */
export function borneOut(part: Part): KnownCases {
  const [hit, , , , , , , unclear] = part;
  return { ...casesOf(part), hit: Math.min(hit, Math.max(0, 2 * (hit - unclear))) };
}

/**
 * How many known cases of wrong and of right advice still count as such: as many as there ever were, but at most twice
 * their weight. So five of which more than half has faded are not five.
 */
export function casesThatCount(part: Part): { readonly wrong: number; readonly right: number } {
  const [hit, miss, accepted, falseAlarm, wrong, right] = part;
  return {
    wrong: Math.min(wrong, Math.floor(2 * (hit + miss))),
    right: Math.min(right, Math.floor(2 * (accepted + falseAlarm))),
  };
}

/** The part of natural and of planted cases together. */
export function allLive({ n, p }: PartsOfWork): Part {
  return sumOf([n, p]);
}

/**
 * Whether a domain is a part of the present work: not if the latest live interaction in it came more than the model's
 * half-life before the latest one in any domain. A domain that is known by labels alone is one.
 */
export function isPresent(model: ModelDocument, { u }: PartsOfWork, domain: Domain): boolean {
  const latest = Object.values(u).reduce<number>((one, other) => Math.max(one, other ?? 0), 0);
  return latest - (u[domain] ?? latest) <= requireDiscrimination(model).half_life_days;
}

/** The work in a domain. */
export function workIn({ d, q }: PartsOfWork, domain: Domain): Work {
  return { natural: d[domain] ?? NO_PART, planted: q[domain] ?? NO_PART };
}

/** Several parts together, number by number. */
export function sumOf(parts: readonly Part[]): Part {
  return NO_PART.map((_, index) => parts.reduce((sum, part) => sum + part[index]!, 0)) as Part;
}

/** Counts a decision in every part to which it belongs. */
export function withDecision(model: ModelDocument, parts: PartsOfWork, decided: Decided): PartsOfWork {
  const { memory_cases } = requireDiscrimination(model);
  const counted = (part: Part) => counting(part, decided, 1 - 1 / memory_cases);
  const { domain, scenario_type } = decided;
  if (scenario_type === "calibration") return { ...parts, a: counted(parts.a) };
  const inDomain = (of: PartsOfWork["d"]) => ({ ...of, [domain]: counted(of[domain] ?? NO_PART) });
  const live = decided.isNew && parts.t !== null ? { ...parts, u: { ...parts.u, [domain]: parts.t } } : parts;
  if (scenario_type === "error_injected") return { ...live, p: counted(parts.p), q: inDomain(parts.q) };
  const isGrave = scenario_type === "high_stakes" || scenario_type === "critical";
  return {
    ...live,
    n: counted(parts.n),
    d: inDomain(parts.d),
    ...(isGrave ? { s: counted(parts.s) } : {}),
    ...(scenario_type === "critical" ? { c: counted(parts.c) } : {}),
  };
}

function counting(part: Part, { isNew, isUnclear, evidence }: Decided, keep: number): Part {
  const decisions = part[6] + (isNew ? 1 : 0);
  if (evidence === null) return part.with(6, decisions) as Part;
  const { hit, miss, correctAcceptance, falseAlarm } = evidence;
  return [
    q9(part[0] * keep + hit),
    q9(part[1] * keep + miss),
    q9(part[2] * keep + correctAcceptance),
    q9(part[3] * keep + falseAlarm),
    part[4] + (hit + miss > correctAcceptance + falseAlarm ? 1 : 0),
    part[5] + (correctAcceptance + falseAlarm >= hit + miss ? 1 : 0),
    decisions,
    q9(part[7] * keep + (isUnclear ? hit : 0)),
  ];
}

/** UTC days, whole, from the latest live interaction to an instant in epoch milliseconds; 0 if there was none. */
export function daysSinceLive({ t }: PartsOfWork, now: number): number {
  return t === null ? 0 : Math.max(0, dayOf(now) - t);
}

function dayOf(now: number): number {
  return Math.floor(now / DAY_MS);
}

/** The share, 0..1, that known cases count after so many days: half of it after the model's half-life. */
export function keptShare(model: ModelDocument, days: number): number {
  return power(0.5, days / requireDiscrimination(model).half_life_days);
}

/** Whether a number of a part is a weight, which fades, and not a counter. */
function isWeight(index: number): boolean {
  return index < 4 || index === 7;
}

/** The live cases faded to an instant, epoch milliseconds; an earlier one changes nothing. */
export function fadedTo(model: ModelDocument, parts: PartsOfWork, now: number): PartsOfWork {
  const days = daysSinceLive(parts, now);
  const t = parts.t === null ? dayOf(now) : parts.t + days;
  if (days === 0) return { ...parts, t };
  const kept = keptShare(model, days);
  const fade = (part: Part) => part.map((value, at) => isWeight(at) ? q9(value * kept) : value) as Part;
  const fadeAll = (of: PartsOfWork["d"]) =>
    Object.fromEntries(Object.entries(of).map(([name, part]) => [name, fade(part!)]));
  return {
    ...parts,
    n: fade(parts.n),
    p: fade(parts.p),
    s: fade(parts.s),
    c: fade(parts.c),
    d: fadeAll(parts.d),
    q: fadeAll(parts.q),
    t,
  };
}
