/**
 * One score: `score(model, state, event, options)` → the new state, the result and the weights to record.
 *
 * Pure: no clock, no randomness, no I/O; the same arguments give the same bytes, which is what a replay checks.
 * Source: scoring model, sections 0, 4.11 and 6.
 */
import type { Band, Mode, ModeOverride } from "../domain/enums.ts";
import { clamp, q9, round } from "./arithmetic.ts";
import { type Compliance, complianceOf } from "./compliance.ts";
import { type DecayProjection, projectDecay } from "./decay.ts";
import { bandOf, type Dimensions, type FullDimensions } from "./dimensions.ts";
import { type MaintenanceRecommendation, recommendMaintenance } from "./maintenance.ts";
import type { ModelDocument } from "./model.ts";
import { readState, type StateReading } from "./reading.ts";
import { advance, type EventWeights, type ScoringEvent } from "./reducer.ts";
import { minimumDataMet, type OperatorState } from "./state.ts";
import type { Uncertainty } from "./uncertainty.ts";
import type { Verdict } from "./verdict.ts";

export interface ScoreOptions {
  readonly mode: Mode;
  readonly modeOverride: ModeOverride;
}

/** The scored part of a response, in wire names. */
export interface ScoreResult {
  readonly jis: number;
  readonly displayed_jis: number;
  readonly band: Band;
  readonly dimensions: Dimensions;
  readonly decay_projection: DecayProjection;
  readonly compliance: Compliance;
  readonly maintenance_recommendation: MaintenanceRecommendation;
  readonly mode: "standard" | "lite";
  readonly provisional: boolean;
  readonly committed: boolean;
  readonly dimensions_computed: number;
  readonly uncertainty: Uncertainty;
}

interface SkippedResult {
  readonly skipped: true;
  readonly reason: "incident_frozen";
}

export interface Scored {
  readonly state: OperatorState;
  readonly result: ScoreResult;
  readonly weights: EventWeights;
  /** Full-mode dimensions after the interaction, in lite mode too. */
  readonly fullDimensions: FullDimensions;
  /** Interval of the full-mode JIS, in lite mode too. */
  readonly fullUncertainty: Uncertainty;
  /** Full-mode verdict after the interaction, in lite mode too; null with the formulas before `jis-3`. */
  readonly fullVerdict: Verdict | null;
  /** Mean of C after the interaction, 0..1. */
  readonly meanCorrectAcceptance: number;
}

export interface Skipped {
  readonly state: OperatorState | null;
  readonly result: SkippedResult;
}

/** Whether a score is still provisional: thin data, or hardly any case whose truth is known. */
export function isProvisional(model: ModelDocument, state: OperatorState, now: number): boolean {
  return !(minimumDataMet(model, state, now) && state.cnt.truth >= model.minimum_data.ground_truth);
}

/** The name of a mode in a response: `standard` is the specification's word for full. */
export function modeName(mode: Mode): "standard" | "lite" {
  return mode === "lite" ? "lite" : "standard";
}

/**
 * Section 4.11: the full-mode JIS, its two moving averages and the damped score for people.
 *
 * Decision: the displayed score does not rise after a fall of the JIS, nor after an accepted error. Without
 * the second rule it could still catch up with an unchanged JIS, or with that of another domain, against
 * property P1.
 */
function recordScore(
  model: ModelDocument,
  state: OperatorState,
  { jis, acceptedError }: { readonly jis: number; readonly acceptedError: boolean },
): OperatorState {
  const { fast_span, slow_span, display } = model.score;
  const average = (previous: number | null, span: number) =>
    previous === null ? jis : q9(previous + (jis - previous) / span);
  let shown = jis;
  if (state.disp !== null) {
    const step = clamp(display.rate * (jis - state.disp), -display.max_fall, display.max_rise);
    const held = acceptedError || (state.jis !== null && jis < state.jis);
    shown = q9(state.disp + (held ? Math.min(0, step) : step));
  }
  return { ...state, jis, ef: average(state.ef, fast_span), es: average(state.es, slow_span), disp: shown };
}

/**
 * Scores one interaction. `lite` changes only what is reported: the state advances as in full mode. With
 * `incident_frozen` nothing is computed and the state is returned as it came.
 */
export function score(
  model: ModelDocument,
  state: OperatorState | null,
  event: ScoringEvent,
  options: ScoreOptions & { readonly modeOverride: "normal" },
): Scored;
export function score(
  model: ModelDocument,
  state: OperatorState | null,
  event: ScoringEvent,
  options: ScoreOptions,
): Scored | Skipped;
export function score(
  model: ModelDocument,
  state: OperatorState | null,
  event: ScoringEvent,
  options: ScoreOptions,
): Scored | Skipped {
  if (options.modeOverride === "incident_frozen") {
    return { state, result: { skipped: true, reason: "incident_frozen" } };
  }
  const advanced = advance(model, state, event);
  const { domain } = event;
  const full = readState(model, advanced.state, { domain, mode: "full" });
  const next = recordScore(model, advanced.state, { jis: full.jis, acceptedError: advanced.acceptedError });
  const reading = options.mode === "full" ? full : readState(model, next, { domain, mode: options.mode });
  const result = resultOf(model, next, { event, mode: options.mode, reading });
  return {
    state: next,
    result,
    weights: advanced.weights,
    fullDimensions: full.dimensions as FullDimensions,
    fullUncertainty: full.uncertainty,
    fullVerdict: full.judgment?.verdict ?? null,
    meanCorrectAcceptance: full.means.C,
  };
}

function resultOf(
  model: ModelDocument,
  state: OperatorState,
  { event, mode, reading }: {
    readonly event: ScoringEvent;
    readonly mode: Mode;
    readonly reading: StateReading;
  },
): ScoreResult {
  const { domain, now } = event;
  const { jis, dimensions, judgment } = reading;
  const band = bandOf(model, jis);
  const decay = projectDecay(model, state, { jis, domain });
  const provisional = isProvisional(model, state, now);
  return {
    jis,
    displayed_jis: round(mode === "full" ? state.disp! : jis),
    band,
    dimensions,
    decay_projection: decay,
    compliance: complianceOf(model, {
      jis,
      band,
      dimensions,
      daysToNonCompliance: decay.days_to_non_compliance,
      verdict: judgment?.verdict ?? null,
    }),
    maintenance_recommendation: recommendMaintenance(model, {
      jis,
      dimensions,
      mode,
      decay,
      minimumDataMet: minimumDataMet(model, state, now),
      groundTruth: state.cnt.truth,
      now,
    }),
    mode: modeName(mode),
    provisional,
    committed: !provisional,
    dimensions_computed: Object.keys(dimensions).length,
    uncertainty: reading.uncertainty,
  };
}
