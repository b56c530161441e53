/**
 * The reducer: one interaction moves an operator's state by fixed, bounded steps.
 *
 * Pure: `advance(model, state, event)` returns a new state and leaves its arguments alone. The order of the
 * steps is part of the model; a replay recomputes the same bytes from the same arguments. Every step names its
 * rule, and an observer can watch it without changing a number: explanations are made from these steps.
 * Source: scoring model, sections 4.1 to 4.10.
 */
import type { Domain } from "../domain/enums.ts";
import type { Interaction } from "../domain/interaction.ts";
import { clamp, ln, power, q9 } from "./arithmetic.ts";
import {
  classify,
  departureShare,
  type Evidence,
  isLabelled,
  isPresented,
  isReferral,
  isUnclear,
  type LabelledDecision,
} from "./classify.ts";
import { fadedTo, NO_PARTS, type PartsOfWork, withDecision } from "./known_cases.ts";
import { type BucketName, BUCKETS, domainRules, type ModelDocument } from "./model.ts";
import { type ProcessEvidence, processEvidence, scrutiny, validatedSpeedRelief } from "./process.ts";
import {
  breakEven,
  type Bucket,
  domainBucket,
  initialState,
  mean,
  type OperatorState,
  put,
} from "./state.ts";
import { DAY_MS } from "../domain/time.ts";

/**
 * The weights that a recorded score keeps of its interaction, so that a late label is applied with the same
 * ones.
 */
export interface EventWeights {
  /** ω, the scenario weight, above 0. */
  readonly omega: number;
  /** Departure share, 0..1: the operator's own share of the decision. */
  readonly s: number;
  /** Scrutiny of the review, 0..1. */
  readonly r: number;
  /** κ, 0..1: how far the operator's departures proved right ({@link departureCredibility}). */
  readonly kappa: number;
  /** Weight of the process evidence, 0..1: how much of the telemetry was measured. */
  readonly wP: number;
  /** True if the measured activity was next to nothing: the interaction may lower a score, never raise it. */
  readonly inert: boolean;
  readonly domain: Domain;
  /** Whether the AI's recommendation was presented. */
  readonly presented: boolean;
}

export interface ScoringEvent {
  readonly interaction: Interaction;
  readonly domain: Domain;
  /** Epoch milliseconds at which the server received the request. */
  readonly now: number;
}

/** The rules that change a bucket: retention (section 4.1), the lines of section 4.6 and the cases of section 4.7. */
export type Rule =
  | "retention"
  | "process"
  | "hit"
  | "miss"
  | "correct_acceptance"
  | "false_alarm"
  | "unreflexive_acceptance"
  | "wrong_acceptance"
  | "warranted_departure"
  | "departure"
  | "unlabelled_acceptance"
  | "referral"
  | "restraint"
  | "unaided_right"
  | "unaided_wrong"
  | RecalibrationRule;

type RecalibrationRule =
  | "recalibration_miss"
  | "recalibration_false_alarm"
  | "recalibration_hit"
  | "recalibration_unaided_right"
  | "recalibration_unaided_wrong"
  | "recalibration_right_acceptance"
  | "recalibration_conduct";

/** The change that one rule made to one bucket; `K` is that of the event's domain. */
export interface Step {
  readonly rule: Rule;
  readonly bucket: BucketName;
  /** The value that was put, 0..1; for retention, the share of the positive evidence that is kept. */
  readonly value: number;
  /** The weight, scenario weight included; 1 for retention. */
  readonly weight: number;
  readonly before: Bucket;
  readonly after: Bucket;
}

/** Receives every step in order; it cannot change one. */
export type Observer = (step: Step) => void;

function bucketOf(state: OperatorState, name: BucketName, domain: Domain): Bucket {
  return name === "K" ? domainBucket(state, domain) : state.b[name];
}

/**
 * A state whose members may be replaced, and those of `b` and `K`. Deeper values are shared with the state
 * before, and are never changed.
 */
type DraftState = {
  [Member in keyof OperatorState]: Member extends "b" | "K" ? OperatorState[Member]
    : Readonly<OperatorState[Member]>;
};

/** The state while one event is applied: the only mutable value of the engine, never handed out. */
export class Draft {
  readonly state: DraftState;

  constructor(
    readonly model: ModelDocument,
    state: OperatorState,
    readonly domain: Domain,
    readonly observer?: Observer,
  ) {
    this.state = { ...state, b: { ...state.b }, K: { ...state.K } };
  }

  bucket(name: BucketName): Bucket {
    return bucketOf(this.state, name, this.domain);
  }

  /** Puts `value` with `weight` by `rule`; a weight of 0 is skipped. */
  put(rule: Rule, name: BucketName, value: number, weight: number): void {
    if (!(weight > 0)) return;
    const before = this.bucket(name);
    const after = put(before, value, weight, this.model.buckets[name].capacity);
    if (name === "K") this.state.K[this.domain] = after;
    else this.state.b[name] = after;
    this.observer?.({ rule, bucket: name, value, weight, before, after });
  }

  /** An inert interaction can lower a mean, never raise it. */
  cap(name: BucketName, value: number, inert: boolean): number {
    return inert ? Math.min(value, breakEven(this.model, name, this.bucket(name))) : value;
  }

  mean(name: BucketName): number {
    return mean(this.model, name, this.bucket(name));
  }
}

/** Days from the operator's last interaction to `now`; 0 before the first one and if the clock went back. */
export function gapDays(state: OperatorState, now: number): number {
  return state.t1 === null ? 0 : Math.max(0, (now - state.t1) / DAY_MS);
}

/**
 * Section 4.1: positive evidence fades over a gap; negative evidence is not forgiven by absence.
 * The observer in `watch` receives the change of every bucket; of the `K` buckets, only that of its domain.
 */
export function retain(
  model: ModelDocument,
  state: OperatorState,
  now: number,
  watch?: { readonly domain: Domain; readonly observer: Observer },
): OperatorState {
  const { grace_days, hyperbolic_rate_per_day, exponent } = model.retention;
  const beyondGrace = Math.max(0, gapDays(state, now) - grace_days);
  if (beyondGrace === 0) return state;
  // P = m(1 + ht)^(−f), the power form of the forgetting curve [20].
  const kept = power(1 + hyperbolic_rate_per_day * beyondGrace, -exponent);
  const fade = ([a, b]: Bucket): [number, number] => [q9(a * kept), b];
  const retained: OperatorState = {
    ...state,
    b: Object.fromEntries(BUCKETS.map((name) => [name, fade(state.b[name])])) as OperatorState["b"],
    K: Object.fromEntries(
      Object.entries(state.K).map(([name, bucket]) => [name, fade(bucket)]),
    ) as OperatorState["K"],
  };
  if (watch !== undefined) {
    for (const bucket of [...BUCKETS, "K"] as const) {
      const before = bucketOf(state, bucket, watch.domain);
      const after = bucketOf(retained, bucket, watch.domain);
      watch.observer({ rule: "retention", bucket, value: kept, weight: 1, before, after });
    }
  }
  return retained;
}

/** A state as it reads at an instant, epoch milliseconds, on which nothing happens: buckets and known cases faded. */
export function asOf(
  model: ModelDocument,
  state: OperatorState,
  now: number,
  watch?: { readonly domain: Domain; readonly observer: Observer },
): OperatorState {
  const retained = retain(model, state, now, watch);
  if (model.discrimination === undefined || retained.ev === undefined) return retained;
  return { ...retained, ev: fadedTo(model, retained.ev, now) };
}

/**
 * κ, 0..1: hits as a share of hits and false alarms, so how far the operator's departures proved right
 * (section 4.5).
 */
export function departureCredibility(model: ModelDocument, state: OperatorState): number {
  const { prior_hits, prior_total } = model.credibility;
  const hits = state.b.H[0];
  return (hits + prior_hits) / (hits + state.b.C[1] + prior_total);
}

export interface Advanced {
  /** `jis`, `ef`, `es` and `disp` are still those of the state before. */
  readonly state: OperatorState;
  /** The weights that are recorded with the score. */
  readonly weights: EventWeights;
  /** Whether a wrong recommendation was let pass. */
  readonly acceptedError: boolean;
  /** The evidence in the interaction. */
  readonly evidence: Evidence;
  readonly process: ProcessEvidence;
  /** q of section 4.3, 0..1. */
  readonly relief: number;
}

/** Everything that the bucket updates read of one interaction. */
interface Context extends LabelledDecision {
  readonly evidence: Evidence;
  readonly presented: boolean;
  readonly referral: boolean;
  readonly weights: EventWeights;
  readonly process: ProcessEvidence;
}

/** Advances a state by one interaction, without its score. `observer` receives every step of a bucket. */
export function advance(
  model: ModelDocument,
  state: OperatorState | null,
  event: ScoringEvent,
  observer?: Observer,
): Advanced {
  const { domain, now } = event;
  const interaction = asMeasured(model, state, event.interaction);
  const watch = observer && { domain, observer };
  const before = retain(model, state ?? initialState(model), now, watch);
  const draft = new Draft(model, before, domain, observer);
  draft.state.v = model.version;
  draft.state.t0 = before.t0 ?? now;
  draft.state.t1 = Math.max(before.t1 ?? now, now);

  const presented = isPresented(interaction);
  const departure = departureShare(model, interaction);
  const decided: LabelledDecision = {
    decision: interaction.decision,
    scenario_type: interaction.scenario_type,
    outcome_correct: interaction.outcome_correct,
    ai_correct: interaction.ai_correct,
    departure,
  };
  const evidence = presented
    ? classify(model, decided)
    : { hit: 0, miss: 0, correctAcceptance: 0, falseAlarm: 0 };
  const relief = evidence.miss > 0 ? 0 : validatedSpeedRelief(model, draft.mean("H"), draft.mean("C"));
  const process = processEvidence(model, interaction, { domain, relief });
  const weights: EventWeights = {
    omega: model.scenario_weights[interaction.scenario_type],
    s: departure,
    r: scrutiny(model, process, relief),
    kappa: departureCredibility(model, before),
    wP: process.weight,
    inert: process.inert,
    domain,
    presented,
  };
  const context: Context = {
    ...decided,
    evidence,
    presented,
    referral: isReferral(interaction),
    weights,
    process,
  };

  if (!isAnnounced(model, interaction)) {
    updateProcess(draft, context);
    if (presented) updateAided(draft, context);
    else putUnaided(draft, interaction.outcome_correct, weights.omega);
    updateRecalibration(draft, context, now);
    const baseline = updateBaseline(draft, context);
    openErrorWindow(draft, context, { now, baseline });
  }
  count(draft, context, { interaction, now });
  if (model.discrimination === undefined) {
    delete draft.state.ev;
  } else {
    if (begins(model, before)) beginAnew(draft);
    draft.state.ev = withInteraction(model, draft.state.ev!, { context, interaction, now });
  }
  return { state: draft.state, weights, acceptedError: evidence.miss > 0, evidence, process, relief };
}

/**
 * True if the reviewer knows that the case is a test. With `jis-3` it then says nothing of live work: it moves no
 * bucket, and is counted among the announced cases alone.
 */
export function isAnnounced(
  model: ModelDocument,
  { scenario_type }: Pick<Interaction, "scenario_type">,
): boolean {
  return model.discrimination !== undefined && scenario_type === "calibration";
}

/** True if `jis-3` scores an operator for the first time, or takes a late label before that. */
export function begins(model: ModelDocument, before: OperatorState): boolean {
  return model.discrimination !== undefined && before.ev === undefined;
}

/**
 * Begins an operator with `jis-3`. Known cases count from here on, and the averages begin anew with the next score,
 * because scores of earlier formulas mean something else.
 */
export function beginAnew({ model, state }: Draft): void {
  Object.assign(state, { v: model.version, ef: null, es: null, disp: null, ev: NO_PARTS });
}

/** The bit of each telemetry field in the member `m` of the known cases. */
const TELEMETRY_BITS = { hover_events: 1, scroll_depth: 2, alternative_views_checked: 4 } as const;

/**
 * With `jis-3` a field that was zero in the operator's whole history is taken as unmeasured: nobody can tell a
 * page without a collector, or a screen reader, from a reviewer who never moves.
 */
export function asMeasured(
  model: ModelDocument,
  state: OperatorState | null,
  interaction: Interaction,
): Interaction {
  if (model.discrimination === undefined) return interaction;
  const seen = state?.ev?.m ?? 0;
  const isUnmeasured = (name: keyof typeof TELEMETRY_BITS) =>
    interaction[name] === 0 && (seen & TELEMETRY_BITS[name]) === 0;
  return {
    ...interaction,
    hover_events: isUnmeasured("hover_events") ? null : interaction.hover_events,
    scroll_depth: isUnmeasured("scroll_depth") ? null : interaction.scroll_depth,
    alternative_views_checked: isUnmeasured("alternative_views_checked")
      ? null
      : interaction.alternative_views_checked,
  };
}

/** The known cases with one interaction more. */
function withInteraction(
  model: ModelDocument,
  parts: PartsOfWork,
  { context, interaction, now }: {
    readonly context: Context;
    readonly interaction: Interaction;
    readonly now: number;
  },
): PartsOfWork {
  const m = (Object.keys(TELEMETRY_BITS) as (keyof typeof TELEMETRY_BITS)[]).reduce(
    (bits, name) => (interaction[name] ?? 0) > 0 ? bits | TELEMETRY_BITS[name] : bits,
    parts.m,
  );
  const measured = isAnnounced(model, interaction) ? { ...parts, m } : { ...fadedTo(model, parts, now), m };
  if (!context.presented) return measured;
  return withDecision(model, measured, {
    domain: context.weights.domain,
    scenario_type: context.scenario_type,
    isProbe: interaction.sealed_probe === true,
    isNew: true,
    evidence: isLabelled(context.evidence) ? context.evidence : null,
    isUnclear: isUnclear(context),
  });
}

function updateProcess(draft: Draft, { process, weights }: Context): void {
  const value = draft.cap("P", process.evidence, process.inert);
  draft.put("process", "P", value, process.weight * weights.omega);
}

function updateAided(draft: Draft, context: Context): void {
  const { evidence, weights } = context;
  putDiscrimination(draft, evidence, weights.omega);
  updateNonReflexive(draft, context);
  putLabelledOwnership(draft, evidence, weights);
  if (!isLabelled(evidence)) updateUnlabelledOwnership(draft, context);
  putDomainAndUnaidedProxies(draft, { evidence, weights, outcome: context.outcome_correct });
}

/** Updates H and C (section 4.6). */
export function putDiscrimination(draft: Draft, evidence: Evidence, omega: number): void {
  draft.put("hit", "H", 1, evidence.hit * omega);
  draft.put("miss", "H", 0, evidence.miss * omega);
  draft.put("correct_acceptance", "C", 1, evidence.correctAcceptance * omega);
  draft.put("false_alarm", "C", 0, evidence.falseAlarm * omega);
}

/** Updates X (section 4.6): acceptances that were not reflexive, and departures that were meant. */
function updateNonReflexive(
  draft: Draft,
  { evidence, weights, departure, referral, process }: Context,
): void {
  const rules = draft.model.updates.non_reflexive;
  const { omega, r, kappa, wP, inert } = weights;
  const acceptance = referral ? 0 : 1 - departure;
  if (acceptance > 0) {
    const value = evidence.miss > 0
      ? (process.time > 0 ? Math.min(r, rules.wrong_acceptance_cap) : 0)
      : draft.cap("X", r, inert);
    const rule = evidence.miss > 0 ? "wrong_acceptance" : "unreflexive_acceptance";
    draft.put(rule, "X", value, acceptance * wP * omega);
  }
  if (departure > 0 && evidence.falseAlarm === 0) {
    const value = evidence.hit > 0 ? 1 : kappa * (rules.departure_base + rules.departure_scrutiny * r);
    const rule = evidence.hit > 0 ? "warranted_departure" : "departure";
    draft.put(rule, "X", value, rules.departure_weight * departure * omega);
  }
}

/** Updates A by the labelled line of section 4.6. */
export function putLabelledOwnership(draft: Draft, evidence: Evidence, weights: EventWeights): void {
  const rules = draft.model.updates.ownership;
  const { omega, r, wP, inert } = weights;
  draft.put("miss", "A", 0, rules.miss_weight * evidence.miss * omega);
  draft.put("false_alarm", "A", 0, rules.false_alarm_weight * evidence.falseAlarm * omega);
  draft.put("hit", "A", 1, rules.hit_weight * evidence.hit * omega);
  draft.put(
    "correct_acceptance",
    "A",
    draft.cap("A", rules.acceptance_value * r, inert),
    rules.acceptance_weight * evidence.correctAcceptance * omega * wP,
  );
}

/** Updates Q, then A, for a decision that nobody knows to be right or wrong. */
function updateUnlabelledOwnership(draft: Draft, { weights, departure, referral }: Context): void {
  const rules = draft.model.updates.ownership;
  const { omega, r, kappa, wP, inert } = weights;
  if (referral || departure > 0 || (r > 0 && !inert)) {
    draft.put("restraint", "Q", referral ? 0 : 1 - departure, omega);
  }
  const acceptance = referral ? 0 : 1 - departure;
  if (acceptance > 0) {
    const value = draft.cap("A", rules.acceptance_value * r, inert);
    draft.put("unlabelled_acceptance", "A", value, rules.acceptance_weight * acceptance * omega * wP);
  }
  if (departure > 0) {
    const value = kappa * (rules.departure_base + rules.departure_scrutiny * r);
    draft.put("departure", "A", value, rules.departure_weight * departure * omega);
  }
  if (referral) {
    const value = Math.min(rules.referral_value, breakEven(draft.model, "A", draft.bucket("A")));
    draft.put("referral", "A", value, rules.referral_weight * omega);
  }
}

/** Updates U by weak proxies, and K of the domain: agreeing with a right AI is mostly the AI's credit. */
export function putDomainAndUnaidedProxies(
  draft: Draft,
  { evidence, weights, outcome }: {
    readonly evidence: Evidence;
    readonly weights: EventWeights;
    readonly outcome: boolean | null;
  },
): void {
  const { omega, r, inert } = weights;
  const proxy = draft.model.updates.unaided.proxy_weight;
  if (outcome !== false) draft.put("hit", "U", 1, proxy * evidence.hit * omega);
  draft.put("miss", "U", 0, proxy * evidence.miss * omega);
  draft.put("false_alarm", "U", 0, proxy * evidence.falseAlarm * omega);
  draft.put("hit", "K", outcome === false ? 0 : 1, evidence.hit * omega);
  draft.put("miss", "K", 0, evidence.miss * omega);
  draft.put("false_alarm", "K", 0, evidence.falseAlarm * omega);
  if (r > 0 && !inert) {
    draft.put(
      "correct_acceptance",
      "K",
      1,
      draft.model.updates.domain.right_acceptance_weight * r * evidence.correctAcceptance * omega,
    );
  }
}

/** Line 3 of section 4.6: the unaided decision was simply right or wrong. */
export function putUnaided(draft: Draft, outcome: boolean | null, omega: number): void {
  if (outcome === null) return;
  const rule = outcome ? "unaided_right" : "unaided_wrong";
  draft.put(rule, "U", outcome ? 1 : 0, omega);
  draft.put(rule, "K", outcome ? 1 : 0, omega);
}

/** Section 4.7: the operator's conduct in the events after an error [12][13][14]. */
function updateRecalibration(draft: Draft, context: Context, now: number): void {
  const rules = draft.model.recalibration;
  const window = draft.state.err;
  if (window === null || window.k <= 0 || now - window.t > rules.window_days * DAY_MS) {
    draft.state.err = null;
    return;
  }
  const [rule, value, weight] = recalibrationValue(draft, context, window);
  draft.put(rule, "R", value, weight * context.weights.omega);
  draft.state.err = window.k === 1 ? null : { ...window, k: window.k - 1 };
}

function recalibrationValue(
  draft: Draft,
  { evidence, presented, outcome_correct, process, weights }: Context,
  window: NonNullable<OperatorState["err"]>,
): readonly [rule: RecalibrationRule, value: number, weight: number] {
  const rules = draft.model.recalibration;
  const { r, wP, inert } = weights;
  if (evidence.miss > 0) return ["recalibration_miss", 0, rules.miss_weight * evidence.miss];
  if (evidence.falseAlarm > 0) {
    const weight = window.type === "under" ? rules.repeated_false_alarm_weight : rules.false_alarm_weight;
    return ["recalibration_false_alarm", 0, weight * evidence.falseAlarm];
  }
  if (evidence.hit > 0) return ["recalibration_hit", 1, rules.hit_weight * evidence.hit];
  if (!presented && outcome_correct !== null) {
    return outcome_correct
      ? ["recalibration_unaided_right", 1, rules.unaided_weight]
      : ["recalibration_unaided_wrong", 0, rules.unaided_weight];
  }
  if (evidence.correctAcceptance > 0 && window.type === "under") {
    return [
      "recalibration_right_acceptance",
      rules.right_acceptance_base + rules.right_acceptance_scrutiny * r,
      rules.right_acceptance_weight,
    ];
  }
  const lnSeconds = ln(process.timeMs / 1000);
  const slowing = clamp(
    rules.slowing_base + rules.slowing_slope * (lnSeconds - window.mu) / Math.max(window.sd, rules.sd_floor),
    0,
    1,
  );
  const engagement = process.engagement === null
    ? rules.engagement_base
    : clamp(rules.engagement_base + (process.engagement - window.im), 0, 1);
  const attention = Math.sqrt(r);
  const processGain = (rules.slowing_share * slowing + rules.engagement_share * engagement) * attention;
  const value = draft.cap("R", rules.scrutiny_share * attention + rules.process_share * processGain, inert);
  return ["recalibration_conduct", value, rules.other_weight * wP];
}

interface Baseline {
  readonly mu: number;
  readonly sd: number;
  readonly im: number;
}

/** Section 4.8: streaming mean and variance of log time [22]; returns the baseline as it was before this event. */
function updateBaseline(draft: Draft, { process }: Context): Baseline {
  const rules = draft.model.baseline;
  const { rt } = draft.state;
  const lnSeconds = ln(process.timeMs / 1000);
  const baseline = rt.n === 0
    ? { mu: q9(lnSeconds), sd: 0, im: q9(process.engagement ?? 0) }
    : { mu: rt.mu, sd: q9(Math.sqrt(Math.max(rt.s2, 0))), im: draft.state.im };
  const alpha = Math.max(1 / (rt.n + 1), 1 / rules.slowest_rate_events);
  let delta = lnSeconds - rt.mu;
  if (rt.n >= rules.huber_after) {
    const bound = rules.huber_width * Math.sqrt(Math.max(rt.s2, rules.variance_floor));
    delta = clamp(delta, -bound, bound);
  }
  const step = alpha * delta;
  draft.state.rt = {
    n: rt.n + 1,
    mu: q9(rt.mu + step),
    s2: q9((1 - alpha) * (rt.s2 + delta * step)),
  };
  if (process.engagement !== null) {
    draft.state.im = q9(draft.state.im + alpha * (process.engagement - draft.state.im));
  }
  return baseline;
}

/** Section 4.9: an error opens a window in which recalibration is watched; it replaces an open one. */
function openErrorWindow(
  draft: Draft,
  { evidence, presented, outcome_correct }: Context,
  { now, baseline }: { readonly now: number; readonly baseline: Baseline },
): void {
  const { opens_at, window_events } = draft.model.recalibration;
  const type = evidence.miss >= opens_at
    ? "over"
    : evidence.falseAlarm >= opens_at
    ? "under"
    : !presented && outcome_correct === false
    ? "own"
    : null;
  if (type !== null) draft.state.err = { type, t: now, k: window_events, ...baseline };
}

/** Counters and recent shares (section 4.10). */
function count(
  draft: Draft,
  { evidence, presented, outcome_correct, departure, referral }: Context,
  { interaction, now }: { readonly interaction: Interaction; readonly now: number },
): void {
  const { state, model, domain } = draft;
  const labelled = isLabelled(evidence);
  const critical = interaction.scenario_type === "critical";
  const highStakes = interaction.scenario_type === "high_stakes";
  const fast = presented && interaction.decision === "accepted" &&
    interaction.time_to_decision_ms < domainRules(model, domain).fast_ms;
  state.n += 1;
  state.cnt = {
    pres: state.cnt.pres + (presented ? 1 : 0),
    lab: state.cnt.lab + (labelled ? 1 : 0),
    truth: state.cnt.truth + (labelled || (!presented && outcome_correct !== null) ? 1 : 0),
    dep: state.cnt.dep + (departure > 0 || referral ? 1 : 0),
    ref: state.cnt.ref + (referral ? 1 : 0),
    hs: state.cnt.hs + (highStakes ? 1 : 0),
    crit: state.cnt.crit + (critical ? 1 : 0),
    fastAcc: state.cnt.fastAcc + (fast ? 1 : 0),
  };
  if (critical) state.tcrit = now;
  const rate = Math.max(1 / state.n, 1 / model.shares.span);
  state.share = {
    hs: q9(state.share.hs + rate * ((highStakes || critical ? 1 : 0) - state.share.hs)),
    crit: q9(state.share.crit + rate * ((critical ? 1 : 0) - state.share.crit)),
  };
}
