/**
 * An operator's state: a plain JSON value of fixed size, whatever the history; it is never mutated.
 * Source: scoring model, section 3.
 */
import { DAY_MS } from "../domain/time.ts";
import * as z from "zod";
import { type Domain, FIRST_DOMAINS, LATER_DOMAINS } from "../domain/enums.ts";
import { type BucketName, BUCKETS, type ModelDocument } from "./model.ts";
import { clamp, q9 } from "./arithmetic.ts";
import { allLive, knownCasesSchema, lacking, NO_PARTS } from "./known_cases.ts";

/** Positive and negative evidence; their sum never exceeds the bucket's capacity. */
export type Bucket = readonly [positive: number, negative: number];

const bucketSchema = z.tuple([z.number(), z.number()]);

function each<Name extends string, Schema extends z.ZodType>(names: readonly Name[], schema: Schema) {
  return Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>;
}

/**
 * The shape of a stored state. Only this program writes states; an auditor's copy is checked against the
 * shape. The keys are short, and fixed: entries and rows hash them. Instants are epoch milliseconds.
 */
export const stateSchema = z.strictObject({
  /** Version of the model document that scored the newest interaction, or began the state anew with a label since. */
  v: z.string(),
  /** Number of scored interactions. */
  n: z.int(),
  /** Instant of the first interaction; null before it. */
  t0: z.number().nullable(),
  /** Latest instant of an interaction; it never decreases. Null before the first one. */
  t1: z.number().nullable(),
  /**
   * The evidence in eight buckets, each `[positive, negative]`; both are at least 0. `H`: catching wrong
   * advice. `C`: accepting right advice. `P`: deliberation. `X`: decisions that are not reflexive. `A`: the
   * operator's own part in decisions. `U`: sound decisions without the AI. `R`: recovering from errors. `Q`:
   * following advice that nobody knows to be right or wrong.
   */
  b: z.strictObject(
    each(BUCKETS, bucketSchema),
  ),
  /** For each domain, a bucket of right and wrong decisions in it; a later domain is absent until it occurs. */
  K: z.strictObject({
    ...each(FIRST_DOMAINS, bucketSchema),
    ...each(LATER_DOMAINS, bucketSchema.optional()),
  }),
  /**
   * The operator's usual decision time, in ln(seconds): `n` times were counted, `mu` is their moving mean,
   * `s2` their moving variance (0 or more).
   */
  rt: z.strictObject({ n: z.int(), mu: z.number(), s2: z.number() }),
  /** Moving mean of the measured engagement, 0..1. */
  im: z.number(),
  /** The open error window, in which recalibration is watched (section 4.9); null if none is open. */
  err: z.strictObject({
    /** `over`: wrong advice was let pass. `under`: right advice was rejected. `own`: wrong without the AI. */
    type: z.enum(["over", "under", "own"]),
    /** Instant of the error. */
    t: z.number(),
    /** Number of interactions that the window still takes, at least 1. */
    k: z.int(),
    /** Mean and standard deviation of the decision time, and mean engagement, before the error; see `rt`, `im`. */
    mu: z.number(),
    sd: z.number(),
    im: z.number(),
  }).nullable(),
  /** Fast and slow moving average of the full-mode JIS, 0..100; null before the first score. */
  ef: z.number().nullable(),
  es: z.number().nullable(),
  /** The displayed score: the full-mode JIS with damped changes, 0..100; null before the first score. */
  disp: z.number().nullable(),
  /** Full-mode JIS of the newest interaction, 0..100; null before the first score. */
  jis: z.number().nullable(),
  /** Numbers of interactions since the first one. */
  cnt: z.strictObject({
    /** Interactions in which the AI's recommendation was presented. */
    pres: z.int(),
    /** Interactions whose presented recommendation is known to be right or wrong. */
    lab: z.int(),
    /** Interactions of known truth: `lab`, and decisions without the AI whose outcome is known. */
    truth: z.int(),
    /** Interactions that departed from the recommendation in whole or in part, or were referred. */
    dep: z.int(),
    /** Interactions that were deferred or escalated. */
    ref: z.int(),
    /** Interactions of scenario type `high_stakes`. */
    hs: z.int(),
    /** Interactions of scenario type `critical`. */
    crit: z.int(),
    /** Acceptances in less time than the domain's `fast_ms`. */
    fastAcc: z.int(),
  }),
  /** Instant of the newest critical interaction; null if there was none. */
  tcrit: z.number().nullable(),
  /** The cases whose truth is known, for `jis-3` alone; absent until it scores the operator or takes a label. */
  ev: knownCasesSchema.optional(),
  /** Moving shares of recent interactions, 0..1: `hs` are high-stakes or critical, `crit` are critical. */
  share: z.strictObject({ hs: z.number(), crit: z.number() }),
});

export type OperatorState = z.infer<typeof stateSchema>;

/** The state of an operator without any record. */
export function initialState(model: ModelDocument): OperatorState {
  return {
    v: model.version,
    n: 0,
    t0: null,
    t1: null,
    b: { H: [0, 0], C: [0, 0], P: [0, 0], X: [0, 0], A: [0, 0], U: [0, 0], R: [0, 0], Q: [0, 0] },
    K: Object.fromEntries(FIRST_DOMAINS.map((name) => [name, [0, 0]])) as unknown as OperatorState["K"],
    rt: { n: 0, mu: 0, s2: 0 },
    im: 0,
    err: null,
    ef: null,
    es: null,
    disp: null,
    jis: null,
    cnt: { pres: 0, lab: 0, truth: 0, dep: 0, ref: 0, hs: 0, crit: 0, fastAcc: 0 },
    tcrit: null,
    share: { hs: 0, crit: 0 },
  };
}

/** Puts value `v` (0..1) with weight `w` into a bucket of capacity N: a ← q9(a·(1−w/N) + w·v), b likewise. */
export function put(bucket: Bucket, v: number, w: number, capacity: number): [number, number] {
  const keep = 1 - w / capacity;
  return [q9(bucket[0] * keep + w * v), q9(bucket[1] * keep + w * (1 - v))];
}

/** Posterior mean (a + π·n₀)/(a + b + n₀): Beta-Binomial shrinkage [7]. */
export function mean(model: ModelDocument, name: BucketName, [a, b]: Bucket): number {
  const { prior_strength, prior_mean } = model.buckets[name];
  return (a + prior_mean * prior_strength) / (a + b + prior_strength);
}

/** The largest value that leaves the bucket's mean where it is: (n/N)·raw + (1−n/N)·mean. */
export function breakEven(model: ModelDocument, name: BucketName, bucket: Bucket): number {
  const { capacity, prior_mean } = model.buckets[name];
  const n = bucket[0] + bucket[1];
  const raw = n === 0 ? prior_mean : bucket[0] / n;
  return (n / capacity) * raw + (1 - n / capacity) * mean(model, name, bucket);
}

/** The bucket of a domain; empty if the domain never occurred. */
export function domainBucket({ K }: Pick<OperatorState, "K">, domain: Domain): Bucket {
  return K[domain] ?? [0, 0];
}

export interface BucketMeans extends Readonly<Record<BucketName, number>> {}

/** The nine means from which the dimensions are computed, with `K` of the given domain. */
export function bucketMeans(model: ModelDocument, state: OperatorState, domain: Domain): BucketMeans {
  const means = Object.fromEntries(BUCKETS.map((name) => [name, mean(model, name, state.b[name])]));
  return { ...means, K: mean(model, "K", domainBucket(state, domain)) } as BucketMeans;
}

/**
 * ρ_Q = clamp(mean(Q)/full_at, floor, 1): the share of a dimension that is left if unlabelled advice is
 * hardly ever followed.
 */
export function restraint(model: ModelDocument, means: BucketMeans): number {
  return clamp(means.Q / model.restraint.full_at, model.restraint.floor, 1);
}

/** Whether the operator's record is long enough for a verdict: enough interactions or enough days. */
export function minimumDataMet(
  model: ModelDocument,
  state: Pick<OperatorState, "n" | "t0">,
  now: number,
): boolean {
  const { interactions, days } = model.minimum_data;
  return state.n >= interactions || (state.t0 !== null && (now - state.t0) / DAY_MS >= days);
}

/**
 * Number of known cases that a verdict rests on: of any kind before `jis-3`; with `jis-3` of wrong advice, and as many as
 * are needed less what is lacking if too few of them still count.
 */
export function truthOf({ discrimination }: ModelDocument, { cnt, ev }: OperatorState): number {
  if (discrimination === undefined) return cnt.truth;
  const live = allLive(ev ?? NO_PARTS);
  const { wrong } = lacking(live, discrimination);
  return wrong > 0 ? discrimination.wrong_cases - wrong : live[4];
}

/** Number of known cases without which no score is final. */
export function truthNeeded({ discrimination, minimum_data }: ModelDocument): number {
  return discrimination?.wrong_cases ?? minimum_data.ground_truth;
}
