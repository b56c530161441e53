/**
 * The cases whose truth is known, as `jis-3` counts them: of the whole work and of its parts, and cases that the
 * reviewer knew to be tests apart.
 *
 * Counts fade with each further case of the same part, so that a verdict is about the present; over a gap only
 * what speaks for the operator fades (section 4.1). How many cases of wrong advice there ever were does not fade,
 * because a verdict asks whether there was anything to see.
 */
import type { Domain, ScenarioType } from "../domain/enums.ts";
import { q9 } from "./arithmetic.ts";
import { type KnownCases, requireDiscrimination } from "./discrimination.ts";
import type { ModelDocument } from "./model.ts";
import * as z from "zod";

/**
 * `[hit, miss, correct acceptance, false alarm, wrong, right, decisions]`: four weights that fade, then the
 * numbers of cases of wrong and of right advice and of decisions with a recommendation, which do not.
 */
const partSchema = z.tuple([
  z.number(),
  z.number(),
  z.number(),
  z.number(),
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
  /** Telemetry that was ever above zero: 1 hover events, 2 scroll depth, 4 alternative views, added up. */
  m: z.int(),
});
export type PartsOfWork = z.infer<typeof knownCasesSchema>;

export const NO_PART: Part = [0, 0, 0, 0, 0, 0, 0];
export const NO_PARTS: PartsOfWork = {
  n: NO_PART,
  p: NO_PART,
  s: NO_PART,
  c: NO_PART,
  d: {},
  a: NO_PART,
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
  return n.map((value, index) => value + p[index]!) as Part;
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

function counting(part: Part, { isNew, evidence }: Decided, keep: number): Part {
  const decisions = part[6] + (isNew ? 1 : 0);
  if (evidence === null) return [part[0], part[1], part[2], part[3], part[4], part[5], decisions];
  const { hit, miss, correctAcceptance, falseAlarm } = evidence;
  return [
    q9(part[0] * keep + hit),
    q9(part[1] * keep + miss),
    q9(part[2] * keep + correctAcceptance),
    q9(part[3] * keep + falseAlarm),
    part[4] + (hit + miss > correctAcceptance + falseAlarm ? 1 : 0),
    part[5] + (correctAcceptance + falseAlarm >= hit + miss ? 1 : 0),
    decisions,
  ];
}

/** Over a gap positive evidence fades to this share, 0..1; negative evidence is not forgiven by absence. */
export function faded(parts: PartsOfWork, kept: number): PartsOfWork {
  const fade = (part: Part): Part => [
    q9(part[0] * kept),
    part[1],
    q9(part[2] * kept),
    ...part.slice(3) as [number, number, number, number],
  ];
  const domains = Object.entries(parts.d).map(([name, part]) => [name, fade(part!)]);
  return {
    n: fade(parts.n),
    p: fade(parts.p),
    s: fade(parts.s),
    c: fade(parts.c),
    d: Object.fromEntries(domains),
    a: fade(parts.a),
    m: parts.m,
  };
}
