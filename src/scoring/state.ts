/**
 * An operator's state: a plain JSON value of fixed size, whatever the history; it is never mutated.
 * Source: scoring model, section 3.
 */
import { DAY_MS } from "../domain/time.ts";
import * as z from "zod";
import { type Domain, DOMAINS } from "../domain/enums.ts";
import { type BucketName, BUCKETS, type ModelDocument } from "./model.ts";
import { clamp, q9 } from "./arithmetic.ts";

/** Positive and negative evidence; their sum never exceeds the bucket's capacity. */
export type Bucket = readonly [positive: number, negative: number];

const bucketSchema = z.tuple([z.number(), z.number()]);

/**
 * The shape of a stored state. Only this program writes states; an auditor's copy is checked against the
 * shape.
 */
export const stateSchema = z.strictObject({
  v: z.string(),
  n: z.int(),
  t0: z.number().nullable(),
  t1: z.number().nullable(),
  b: z.strictObject(
    Object.fromEntries(BUCKETS.map((name) => [name, bucketSchema])) as Record<
      (typeof BUCKETS)[number],
      typeof bucketSchema
    >,
  ),
  K: z.strictObject(
    Object.fromEntries(DOMAINS.map((name) => [name, bucketSchema])) as Record<Domain, typeof bucketSchema>,
  ),
  rt: z.strictObject({ n: z.int(), mu: z.number(), s2: z.number() }),
  im: z.number(),
  err: z.strictObject({
    type: z.enum(["over", "under", "own"]),
    t: z.number(),
    k: z.int(),
    mu: z.number(),
    sd: z.number(),
    im: z.number(),
  }).nullable(),
  ef: z.number().nullable(),
  es: z.number().nullable(),
  disp: z.number().nullable(),
  jis: z.number().nullable(),
  cnt: z.strictObject({
    pres: z.int(),
    lab: z.int(),
    truth: z.int(),
    dep: z.int(),
    ref: z.int(),
    hs: z.int(),
    crit: z.int(),
    fastAcc: z.int(),
  }),
  tcrit: z.number().nullable(),
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
    K: Object.fromEntries(DOMAINS.map((name) => [name, [0, 0]])) as OperatorState["K"],
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

export interface BucketMeans extends Readonly<Record<BucketName, number>> {}

/** The nine means from which the dimensions are computed, with `K` of the given domain. */
export function bucketMeans(model: ModelDocument, state: OperatorState, domain: Domain): BucketMeans {
  const means = Object.fromEntries(BUCKETS.map((name) => [name, mean(model, name, state.b[name])]));
  return { ...means, K: mean(model, "K", state.K[domain]) } as BucketMeans;
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
