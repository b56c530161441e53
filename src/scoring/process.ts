/**
 * Process evidence: how much of a review the time spent and the measured activity make plausible.
 *
 * Time counts on a log scale between the domain's fast threshold and its reference review time, a soft ramp and
 * never a hard cut [8][9][10]; it is necessary and never sufficient [11]. Absent telemetry is never read as zero.
 * Source: scoring model, sections 4.3 and 4.4.
 */
import type { Domain } from "../domain/enums.ts";
import type { Interaction } from "../domain/interaction.ts";
import { clamp, ln, power } from "./arithmetic.ts";
import { departureShare } from "./classify.ts";
import { domainRules, type ModelDocument } from "./model.ts";

export interface ProcessEvidence {
  /** t, milliseconds, clamped to the model's bounds. */
  readonly timeMs: number;
  /** T, 0..1, after the walk-away rule. */
  readonly time: number;
  /** I, 0..1; null if nothing was measured. */
  readonly engagement: number | null;
  /** e, 0..1. */
  readonly evidence: number;
  /** wP, 0..1: how much of the telemetry was measured. */
  readonly weight: number;
  /** True if measured activity was next to nothing: the interaction may lower a score, never raise it. */
  readonly inert: boolean;
  /**
   * t / need: the time spent over the time that the claimed activity takes; null if none that takes time is
   * claimed.
   */
  readonly plausibility: number | null;
}

/** q of section 4.3, 0..1, from the means of H and C: operators who prove discrimination may be fast. */
export function validatedSpeedRelief(model: ModelDocument, hitMean: number, acceptanceMean: number): number {
  const { hit_exponent, acceptance_exponent, from_discrimination, over_span } = model.relief;
  const discrimination = power(hitMean, hit_exponent) * power(acceptanceMean, acceptance_exponent);
  return clamp((discrimination - from_discrimination) / over_span, 0, 1);
}

interface Measured {
  /** I₀ over the present terms, 0..1. */
  readonly engagement: number;
  /** Sum of the present weights, 0..1. */
  readonly weight: number;
  /** Milliseconds that the claimed activity takes. */
  readonly needMs: number;
}

/** Engagement over the measured fields; null if none was measured. */
function measure(model: ModelDocument, interaction: Interaction): Measured | null {
  const { engagement: weights, plausibility: cost } = model.process;
  const { hover_events: hovers, scroll_depth: scroll, alternative_views_checked: views } = interaction;
  let sum = 0;
  let weight = 0;
  let needMs = 0;
  if (hovers !== null) {
    sum += weights.hover_weight * Math.min(1, hovers / weights.hover_full);
    weight += weights.hover_weight;
    needMs += cost.ms_per_hover * Math.min(hovers, cost.max_hovers);
  }
  if (scroll !== null) {
    sum += weights.scroll_weight * scroll;
    weight += weights.scroll_weight;
  }
  if (views !== null) {
    sum += weights.views_weight * Math.min(1, views / weights.views_full);
    weight += weights.views_weight;
    needMs += cost.ms_per_view * Math.min(views, cost.max_views);
  }
  if (scroll !== null) needMs += cost.ms_full_scroll * scroll;
  if (weight === 0) return null;
  const all = hovers !== null && scroll !== null && views !== null;
  return { engagement: all ? sum : sum / weight, weight: all ? 1 : weight, needMs };
}

/** Process evidence of an interaction, given the relief q (0..1) that its operator has earned. */
export function processEvidence(
  model: ModelDocument,
  interaction: Interaction,
  { domain, relief }: { readonly domain: Domain; readonly relief: number },
): ProcessEvidence {
  const rules = model.process;
  const timeMs = clamp(interaction.time_to_decision_ms, rules.min_ms, rules.max_ms);
  const shrink = 1 - model.relief.time_shrink * relief;
  const lnFast = ln(domainRules(model, domain).fast_ms * shrink);
  const lnReference = ln(domainRules(model, domain).reference_ms * shrink);
  let time = clamp((ln(timeMs) - lnFast) / (lnReference - lnFast), 0, 1);

  const measured = measure(model, interaction);
  if (measured === null) {
    const { time_credit, weight } = rules.unmeasured;
    return {
      timeMs,
      time,
      engagement: null,
      evidence: time_credit * time,
      weight,
      inert: false,
      plausibility: null,
    };
  }

  const { needMs } = measured;
  const plausibility = needMs === 0 ? null : timeMs / needMs;
  let engagement = measured.engagement * (plausibility === null ? 1 : Math.min(1, plausibility));
  if (interaction.decision === "modified" && time > 0) {
    engagement = Math.min(1, engagement + rules.modification_bonus * departureShare(model, interaction));
  }
  const inert = engagement < rules.inert_below;
  if (timeMs > rules.idle.after_ms && engagement < rules.idle.engagement_below) {
    time = rules.idle.time_factor * time;
  }
  const engaged = Math.min(1, engagement / rules.full_engagement);
  return {
    timeMs,
    time,
    engagement,
    evidence: time * (rules.time_share + rules.engagement_share * engaged),
    weight: rules.unmeasured.weight + rules.measured_weight_span * measured.weight,
    inert,
    plausibility,
  };
}

/**
 * Scrutiny r, 0..1: process evidence as it counts for one interaction, raised by the relief of a proven
 * operator.
 */
export function scrutiny(model: ModelDocument, process: ProcessEvidence, relief: number): number {
  const { full_scrutiny, relief_share, relief_time } = model.process;
  const r = clamp(process.evidence / full_scrutiny, 0, 1);
  return r + (1 - r) * relief_share * relief * Math.min(1, process.time / relief_time);
}
