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

/**
 * `[hit, miss, correct acceptance, false alarm, wrong, right, decisions, planted]`: four weights that fade, then the
 * numbers of cases of wrong and of right advice, of decisions with a recommendation, and of wrong advice that was
 * planted, which do not.
 */
const partSchema = z.tuple([
  z.number(),
  z.number(),
  z.number(),
  z.number(),
  z.int(),
  z.int(),
  z.int(),
  z.int(),
]);
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
  /** Live cases of each domain that occurred. */
  d: z.partialRecord(z.string(), partSchema),
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
}

/** The known cases of a part, without its counters. */
export function casesOf([hit, miss, correctAcceptance, falseAlarm]: Part): KnownCases {
  return { hit, miss, correctAcceptance, falseAlarm };
}

/** The part of natural and of planted cases together. */
export function allLive({ n, p }: PartsOfWork): Part {
  return sumOf([n, p]);
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
  const isGrave = scenario_type === "high_stakes" || scenario_type === "critical";
  const d = { ...parts.d, [domain]: counted(parts.d[domain] ?? NO_PART) };
  const live = {
    ...parts,
    d,
    ...(isGrave ? { s: counted(parts.s) } : {}),
    ...(scenario_type === "critical" ? { c: counted(parts.c) } : {}),
  };
  return scenario_type === "error_injected"
    ? { ...live, p: counted(parts.p) }
    : { ...live, n: counted(parts.n) };
}

function counting(part: Part, { isNew, scenario_type, evidence }: Decided, keep: number): Part {
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
    part[7] + (scenario_type === "error_injected" ? 1 : 0),
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

/** The live cases faded to an instant, epoch milliseconds; an earlier one changes nothing. */
export function fadedTo(model: ModelDocument, parts: PartsOfWork, now: number): PartsOfWork {
  const days = daysSinceLive(parts, now);
  const t = parts.t === null ? dayOf(now) : parts.t + days;
  if (days === 0) return { ...parts, t };
  const kept = keptShare(model, days);
  const fade = (part: Part): Part => part.map((value, index) => index < 4 ? q9(value * kept) : value) as Part;
  const domains = Object.entries(parts.d).map(([name, part]) => [name, fade(part!)]);
  return {
    ...parts,
    n: fade(parts.n),
    p: fade(parts.p),
    s: fade(parts.s),
    c: fade(parts.c),
    d: Object.fromEntries(domains),
    t,
  };
}
