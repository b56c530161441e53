/**
 * The decay projection: where a score goes if nothing renews it, and when it falls below the minimum.
 *
 * The forward curve accelerates a little on purpose: it also has to cover the complacency that grows while an
 * operator goes on working with a reliable AI, where pure forgetting would decelerate [20]. Only the row
 * `general` is anchored to data (half of the gain gone after about 6.5 months [19]); the others are policy.
 * Source: scoring model, section 7.
 */
import type { Domain } from "../domain/enums.ts";
import { DAY_MS } from "../domain/time.ts";
import { clamp, exp, ln, roundTo } from "./arithmetic.ts";
import { domainRules, type ModelDocument } from "./model.ts";
import type { OperatorState } from "./state.ts";
import type { Verdict } from "./verdict.ts";
import { partInWords } from "./verdict_words.ts";
import { formatQuantity } from "./wording.ts";

/** The curve of section 7.2. */
export interface DecayCurve {
  /** J₀, JIS points. */
  readonly start: number;
  /** JIS points that the curve falls towards. */
  readonly floor: number;
  /** Per day. */
  readonly rate: number;
  /** Per day². */
  readonly acceleration: number;
}

export interface DecayProjection {
  readonly current_jis: number;
  readonly current_trend: number;
  readonly domain: Domain;
  readonly decay_rate: number;
  readonly decay_acceleration: number;
  readonly floor: number;
  readonly recovery_rate: number;
  readonly days_to_non_compliance: number | null;
  readonly projections: readonly { readonly day: number; readonly jis: number }[];
}

/** S(t), JIS points, `day` days ahead; a score at or below its floor stays where it is. */
export function projectedJis(curve: DecayCurve, day: number): number {
  const { start, floor, rate, acceleration } = curve;
  if (start <= floor) return start;
  return floor + (start - floor) * exp(-(rate * day + 0.5 * acceleration * day * day));
}

/**
 * The first whole day on which the curve is below `minimum`: 0 if it already is, null if it never is
 * within `horizonDays`. Solves rate·t + ½·acceleration·t² = ln((J₀ − F)/(minimum − F)).
 */
export function daysToNonCompliance(
  curve: DecayCurve,
  { minimum, horizonDays }: { readonly minimum: number; readonly horizonDays: number },
): number | null {
  const { start, floor, rate, acceleration } = curve;
  if (start < minimum) return 0;
  if (floor >= minimum || (rate === 0 && acceleration === 0)) return null;
  const target = ln((start - floor) / (minimum - floor));
  const crossing = acceleration === 0
    ? target / rate
    : (-rate + Math.sqrt(rate * rate + 2 * acceleration * target)) / acceleration;
  const days = Math.floor(crossing) + 1;
  return days > horizonDays ? null : days;
}

/**
 * Exercise sessions until a JIS reaches the target; 0 if it already has. Section 7.2, use of `recovery_rate`.
 */
export function sessionsToTarget(
  model: ModelDocument,
  { jis, domain }: { jis: number; domain: Domain },
): number {
  const { target_jis } = model.thresholds;
  const { recovery_ceiling } = model.decay;
  if (jis >= target_jis) return 0;
  const gap = (recovery_ceiling - jis) / (recovery_ceiling - target_jis);
  return Math.ceil(ln(gap) / domainRules(model, domain).recovery_rate);
}

/**
 * Recent minus longer-run JIS, points; ramped in, so that the fading of the prior does not look like a trend.
 */
export function currentTrend(model: ModelDocument, state: OperatorState): number {
  const { trend_limit, trend_from_interactions, trend_ramp_interactions } = model.decay;
  const difference = clamp((state.ef ?? 0) - (state.es ?? 0), -trend_limit, trend_limit);
  return roundTo(difference * clamp((state.n - trend_from_interactions) / trend_ramp_interactions, 0, 1), 2);
}

/** The projection of a score, in its domain, from the rounded rates that the response shows. */
export function projectDecay(
  model: ModelDocument,
  state: OperatorState,
  { jis, domain }: { readonly jis: number; readonly domain: Domain },
): DecayProjection {
  const rules = model.decay;
  const row = domainRules(model, domain);
  const trend = currentTrend(model, state);
  const multiplier = trend < 0
    ? Math.min(rules.decline_max, 1 + rules.decline_slope * -trend)
    : Math.max(rules.improve_min, 1 - rules.improve_slope * trend);
  const rate = roundTo(row.decay_rate * multiplier, 6);
  const acceleration = roundTo(row.decay_acceleration * multiplier, 8);
  const curve = { start: jis, floor: row.floor, rate, acceleration };
  return {
    current_jis: jis,
    current_trend: trend,
    domain,
    decay_rate: rate,
    decay_acceleration: acceleration,
    floor: row.floor,
    recovery_rate: row.recovery_rate,
    days_to_non_compliance: daysToNonCompliance(curve, {
      minimum: model.thresholds.min_jis,
      horizonDays: rules.horizon_days,
    }),
    projections: rules.projection_days.map((day) => ({ day, jis: roundTo(projectedJis(curve, day), 1) })),
  };
}

/** Days without an interaction from which an operator counts as not heard of. */
const NOT_HEARD_OF_DAYS = 30;

/** A projection as it is read on a later day: it goes on from the last interaction to today, and then forward. */
export interface DecayReading extends Omit<DecayProjection, "projections"> {
  /** Instant of the reading, ISO 8601. */
  readonly as_of: string;
  /** UTC calendar days from the last interaction to the reading. */
  readonly days_since_last_interaction: number;
  /** JIS points, where the curve is on the day of the reading. */
  readonly projected_today: number;
  readonly not_heard_of: boolean;
  /** Calendar day, UTC, on which the curve is below the minimum for the first time; null if it never is. */
  readonly non_compliant_on: string | null;
  /** `day` counts from the day of the reading, and `date` is that calendar day, UTC. */
  readonly projections: readonly { readonly day: number; readonly date: string; readonly jis: number }[];
  /** Sentences that a reader must know beside the numbers; may be empty. */
  readonly remarks: readonly string[];
}

/**
 * A projection read at `now`; both instants are epoch milliseconds. Days are UTC calendar days, so that a day keeps
 * its date whatever the hour of the reading. `days_to_non_compliance` counts from `now`: 0 if the curve is below the
 * minimum by then, null if it does not get there within the horizon from `now`. If the score itself is below the
 * minimum, `non_compliant_on` is the day of the last interaction.
 */
export function readProjection(
  model: ModelDocument,
  projection: DecayProjection,
  { lastAt, now, verdict }: {
    readonly lastAt: number;
    readonly now: number;
    /** Null with the formulas before `jis-3`. */
    readonly verdict: Pick<Verdict, "status" | "part"> | null;
  },
): DecayReading {
  const lastDay = Math.floor(lastAt / DAY_MS);
  // A clock that was set back gives no days before the last interaction.
  const passed = Math.max(0, Math.floor(now / DAY_MS) - lastDay);
  const curve = curveOf(projection);
  const fall = daysToNonCompliance(curve, {
    minimum: model.thresholds.min_jis,
    horizonDays: model.decay.horizon_days + passed,
  });
  const dateOn = (day: number) => dateOf(lastDay + day);
  return {
    ...projection,
    as_of: new Date(now).toISOString(),
    days_since_last_interaction: passed,
    projected_today: roundTo(projectedJis(curve, passed), 2),
    not_heard_of: passed >= NOT_HEARD_OF_DAYS,
    days_to_non_compliance: fall === null ? null : Math.max(0, fall - passed),
    non_compliant_on: fall === null ? null : dateOn(fall),
    projections: model.decay.projection_days.map((day) => ({
      day,
      date: dateOn(passed + day),
      jis: roundTo(projectedJis(curve, passed + day), 1),
    })),
    remarks: [
      ...(verdict?.status === "non_compliant" && projection.current_jis >= model.thresholds.min_jis
        ? [
          `The verdict is below ${model.thresholds.min_jis} already, by the score on ${
            partInWords(verdict.part)
          }: the projection is of the score on all cases, which does not show it.`,
        ]
        : []),
      ...(verdict?.status === "undetermined"
        ? ["The verdict is undetermined: the projection shows what the number would do, and settles nothing."]
        : []),
      ...(passed >= NOT_HEARD_OF_DAYS
        ? [
          `The operator has not been heard of for ${
            formatQuantity(String(passed), "day")
          }: the last interaction was on ${dateOn(0)}.`,
        ]
        : []),
    ],
  };
}

/** The curve that a projection shows. */
export function curveOf(
  { current_jis: start, floor, decay_rate: rate, decay_acceleration: acceleration }: Pick<
    DecayProjection,
    "current_jis" | "floor" | "decay_rate" | "decay_acceleration"
  >,
): DecayCurve {
  return { start, floor, rate, acceleration };
}

/** A day since 1 January 1970 as a date, YYYY-MM-DD. */
function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
