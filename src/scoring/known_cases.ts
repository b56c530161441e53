/**
 * The cases whose truth is known, as `jis-3` counts them: of the whole work and of its parts, and cases that the
 * reviewer knew to be tests apart.
 *
 * Counts fade with each further case of the same part and with time, so that a verdict is about the present. With
 * time all four fade alike: what is old says less for and against the operator (power prior: Ibrahim and Chen 2000,
 * Statistical Science 15). Time fades as an exponential does, so that it is the same in one gap or in many. The whole
 * fades to the latest live interaction, and each part to its own, because somebody who is given no such cases any more
 * gets neither better nor worse at them. How many cases there ever were does not fade.
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
  /** Live cases whose truth came up by itself, and sealed probes. */
  n: partSchema,
  /** Live cases with an error that was planted without the reviewer's knowledge. */
  p: partSchema,
  /** Cases of `n` with high stakes, critical ones among them. */
  s: partSchema,
  /** Critical cases of `n`. */
  c: partSchema,
  /** Cases of `n` in each domain that occurred. */
  d: z.partialRecord(z.string(), partSchema),
  /** Cases of `p` in each domain that occurred. */
  q: z.partialRecord(z.string(), partSchema),
  /**
   * The sealed probes among the cases of `n`, `s`, `c` and each domain of `d`, under the names `all`,
   * `high_stakes`, `critical` and the domain; absent until one occurs. They fade as those do.
   */
  e: z.partialRecord(z.string(), partSchema).optional(),
  /** UTC day to which `s`, `c` and the two parts of each domain have faded, by name; absent if they never did. */
  u: z.partialRecord(z.string(), count),
  /** Cases that the reviewer knew to be tests. */
  a: partSchema,
  /** UTC day, counted from 1 January 1970, of the latest live interaction: `n` and `p` have faded to it. Null before one. */
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
  /** Whether it was a sealed probe. */
  readonly isProbe: boolean;
  /** Whether it is a decision that was not counted yet; false for a late label. */
  readonly isNew: boolean;
  /** Its evidence; null if its truth is not known. */
  readonly evidence: KnownCases | null;
  /** Whether a hit in it is unclear: see `isUnclear`. */
  readonly isUnclear: boolean;
}

/** The live cases of some of the work. */
export interface Work {
  /** Cases that nobody announced and that no reviewer could tell apart: live ones, and sealed probes. */
  readonly natural: Part;
  /** The sealed probes among `natural`: they say nothing of how often the AI is wrong. */
  readonly sealed: Part;
  /** Cases with a planted error. */
  readonly planted: Part;
}

/** Some of the work without any case. */
export const NO_WORK: Work = { natural: NO_PART, sealed: NO_PART, planted: NO_PART };

/** The natural cases without the sealed probes. */
export function unsealed({ natural, sealed }: Pick<Work, "natural" | "sealed">): Part {
  return natural.map((value, index) => Math.max(0, q9(value - sealed[index]!))) as Part;
}

/** The work of several parts together. */
export function workOf(works: readonly Work[]): Work {
  return {
    natural: sumOf(works.map(({ natural }) => natural)),
    sealed: sumOf(works.map(({ sealed }) => sealed)),
    planted: sumOf(works.map(({ planted }) => planted)),
  };
}

/** The whole of the live cases. */
export function allWork({ n, p, e }: PartsOfWork): Work {
  return { natural: n, sealed: e?.all ?? NO_PART, planted: p };
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

/** How many more known cases of wrong and of right advice there must be for a verdict. */
export interface Lacking {
  readonly wrong: number;
  readonly right: number;
}

/**
 * Counts what a part lacks of so many known cases: there must have been as many, and at least half of their weight must
 * be left. So five of which more than half has faded are not enough.
 */
export function lacking(
  [hit, miss, accepted, falseAlarm, wrong, right]: Part,
  { wrong_cases, right_cases }: { readonly wrong_cases: number; readonly right_cases: number },
): Lacking {
  const of = (needed: number, known: number, weight: number) =>
    Math.max(0, needed - known, Math.ceil(needed / 2 - weight));
  return { wrong: of(wrong_cases, wrong, hit + miss), right: of(right_cases, right, accepted + falseAlarm) };
}

/** The part of natural and of planted cases together. */
export function allLive({ n, p }: PartsOfWork): Part {
  return sumOf([n, p]);
}

/** Several parts together, number by number. */
export function sumOf(parts: readonly Part[]): Part {
  return NO_PART.map((_, index) => parts.reduce((sum, part) => sum + part[index]!, 0)) as Part;
}

/** The name in `u` of a part of the work that fades to a day of its own. */
export type PartName = "high_stakes" | "critical" | Domain;

/** The live cases of a part as they were on the day of the latest one. */
export function workAsOfLatest({ s, c, d, q, e }: PartsOfWork, name: PartName): Work {
  const sealed = e?.[name] ?? NO_PART;
  if (name === "high_stakes") return { natural: s, sealed, planted: NO_PART };
  if (name === "critical") return { natural: c, sealed, planted: NO_PART };
  return { natural: d[name] ?? NO_PART, sealed, planted: q[name] ?? NO_PART };
}

/** Days from a part's latest case to that to which the whole has faded; 0 if one of them has no day. */
export function daysSinceCase({ t, u }: PartsOfWork, name: PartName): number {
  return t === null ? 0 : t - (u[name] ?? t);
}

/** The live cases of a part faded to the day to which the whole has faded. */
export function workToday(model: ModelDocument, parts: PartsOfWork, name: PartName): Work {
  const { natural, sealed, planted } = workAsOfLatest(parts, name);
  const kept = keptShare(model, daysSinceCase(parts, name));
  return { natural: faded(natural, kept), sealed: faded(sealed, kept), planted: faded(planted, kept) };
}

/** Counts a decision in every part to which it belongs. */
export function withDecision(model: ModelDocument, parts: PartsOfWork, decided: Decided): PartsOfWork {
  const { memory_cases } = requireDiscrimination(model);
  const counted = (part: Part) => counting(part, decided, 1 - 1 / memory_cases);
  const { domain, scenario_type } = decided;
  if (scenario_type === "calibration") return { ...parts, a: counted(parts.a) };
  const isPlanted = scenario_type === "error_injected";
  const isGrave = scenario_type === "high_stakes" || scenario_type === "critical";
  const names: readonly PartName[] = [
    domain,
    ...(isGrave ? ["high_stakes" as const] : []),
    ...(scenario_type === "critical" ? ["critical" as const] : []),
  ];
  const { natural, planted } = workToday(model, parts, domain);
  const grave = (name: "high_stakes" | "critical", part: Part) =>
    names.includes(name) ? counted(workToday(model, parts, name).natural) : part;
  return {
    ...parts,
    ...(isPlanted ? { p: counted(parts.p) } : { n: counted(parts.n) }),
    s: grave("high_stakes", parts.s),
    c: grave("critical", parts.c),
    d: { ...parts.d, [domain]: isPlanted ? natural : counted(natural) },
    q: { ...parts.q, [domain]: isPlanted ? counted(planted) : planted },
    ...sealedWith(model, parts, { decided, names }),
    u: parts.t === null
      ? parts.u
      : { ...parts.u, ...Object.fromEntries(names.map((name) => [name, parts.t!])) },
  };
}

/** The sealed probes of each part with a decision more: a probe counts in them, and every natural case lets them fade. */
function sealedWith(
  model: ModelDocument,
  parts: PartsOfWork,
  { decided, names }: { readonly decided: Decided; readonly names: readonly PartName[] },
): Pick<PartsOfWork, "e"> {
  if (parts.e === undefined && !decided.isProbe) return {};
  if (decided.scenario_type === "error_injected") {
    // It counts in none of them, but its domain fades to today.
    const { domain } = decided;
    const own = parts.e![domain];
    return {
      e: own === undefined ? parts.e : { ...parts.e, [domain]: workToday(model, parts, domain).sealed },
    };
  }
  const keep = 1 - 1 / requireDiscrimination(model).memory_cases;
  const next = (part: Part) => {
    if (decided.isProbe) return counting(part, decided, keep);
    return decided.evidence === null ? part : faded(part, keep);
  };
  const today = (name: PartName | "all") =>
    name === "all" ? parts.e?.all ?? NO_PART : workToday(model, parts, name).sealed;
  const changed = (["all", ...names] as const).filter((name) =>
    decided.isProbe || parts.e![name] !== undefined
  )
    .map((name) => [name, next(today(name))] as const);
  return { e: { ...parts.e, ...Object.fromEntries(changed) } };
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

/** A part of whose weights a share is kept; the counters stay. */
function faded(part: Part, kept: number): Part {
  if (kept === 1) return part;
  return part.map((value, index) => index < 4 || index === 7 ? q9(value * kept) : value) as Part;
}

/** The parts that have a case. */
function namesOf({ s, c, d }: PartsOfWork): readonly string[] {
  const hasCase = (part: Part) => part[4] + part[5] + part[6] > 0;
  return [
    ...(hasCase(s) ? ["high_stakes"] : []),
    ...(hasCase(c) ? ["critical"] : []),
    ...Object.keys(d),
  ];
}

/**
 * The whole of the live cases faded to an instant, epoch milliseconds; an earlier one changes nothing. The parts stay as
 * they are: each fades when there is a case in it, or when it is read, from the first live interaction on.
 */
export function fadedTo(model: ModelDocument, parts: PartsOfWork, now: number): PartsOfWork {
  const days = daysSinceLive(parts, now);
  const kept = keptShare(model, days);
  if (parts.t === null) {
    const t = dayOf(now);
    return { ...parts, t, u: Object.fromEntries(namesOf(parts).map((name) => [name, t])) };
  }
  return {
    ...parts,
    n: faded(parts.n, kept),
    p: faded(parts.p, kept),
    ...(parts.e?.all === undefined ? {} : { e: { ...parts.e, all: faded(parts.e.all, kept) } }),
    t: parts.t + days,
  };
}
