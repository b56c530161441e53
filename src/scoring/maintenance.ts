/**
 * Adaptive calibration: how urgent an intervention is, at which dimension it aims, and which exercises serve it.
 *
 * Even at urgency `none` a small share of injected or withheld cases keeps error detection and unaided work
 * measurable and counters the low-prevalence effect [11]. Source: scoring model, section 8.
 */
import { type Dimension, type Domain, type Mode, URGENCIES, type Urgency } from "../domain/enums.ts";
import { q9 } from "./arithmetic.ts";
import { belowFloor } from "./compliance.ts";
import type { DecayProjection } from "./decay.ts";
import { computedDimensions, type Dimensions, dimensionWeight, type FullDimensions } from "./dimensions.ts";
import type { ModelDocument } from "./model.ts";
import { truthNeeded } from "./state.ts";
import { DAY_MS } from "../domain/time.ts";
import type { Verdict } from "./verdict.ts";

/** Everything that the urgency table of section 8.1 reads. */
export interface MaintenanceInput {
  readonly jis: number;
  readonly dimensions: Dimensions;
  readonly mode: Mode;
  readonly decay: DecayProjection;
  readonly minimumDataMet: boolean;
  /** Known cases that a verdict rests on. */
  readonly groundTruth: number;
  /** Absent or null with the formulas before `jis-3`. */
  readonly verdict?: Verdict | null;
  /** Epoch milliseconds. */
  readonly now: number;
}

export interface MaintenanceRecommendation {
  readonly urgency: Urgency;
  readonly trigger_intervention: boolean;
  readonly recommendation: {
    readonly intervention_type: string;
    readonly intervention_frequency: number;
    readonly recommend_withhold: boolean;
    readonly reasons: readonly string[];
    readonly next_assessment: string;
  };
}

interface Plan {
  readonly urgency: Urgency;
  readonly target: Dimension;
  readonly interventionType: string;
  /** Share of the operator's interactions, 0..1. */
  readonly frequency: number;
  readonly reasons: readonly string[];
}

const rank = (urgency: Urgency) => URGENCIES.indexOf(urgency);

/** The conditions of section 8.1 that apply, in their order, each with its level and its reason. */
function* conditions(model: ModelDocument, input: MaintenanceInput): Generator<readonly [Urgency, string]> {
  const { min_jis, target_jis, critical_jis, dimension_floor } = model.thresholds;
  const { projected_days, trend } = model.maintenance;
  const { jis, decay, verdict = null } = input;
  if (verdict?.status === "undetermined") yield ["medium", `undetermined_${verdict.doubt}`];
  else if (jis < critical_jis) yield ["critical", `jis_below_critical_${critical_jis}`];
  else if (jis < min_jis) yield ["high", `jis_below_minimum_${min_jis}`];
  else if (verdict?.status === "non_compliant") yield ["high", `${verdict.part}_below_minimum_${min_jis}`];
  else if (jis < target_jis) yield ["low", `jis_below_target_${target_jis}`];
  const days = decay.days_to_non_compliance;
  if (jis >= min_jis && days !== null) {
    for (const level of ["medium", "low"] as const) {
      if (days > projected_days[level]) continue;
      yield [level, `non_compliance_projected_within_${projected_days[level]}_days`];
      break;
    }
  }
  if (decay.current_trend <= trend.medium) yield ["medium", "steep_declining_trend"];
  else if (decay.current_trend <= trend.low) yield ["low", "declining_trend"];
  for (const name of verdict === null ? belowFloor(model, input.dimensions) : []) {
    yield ["high", `${name}_below_floor_${dimension_floor}`];
  }
}

/**
 * The dimension whose shortfall costs the score most; the lowest one if none is below the target. Of equals the
 * first. In binary64 0.15 · 12 is less than 0.1 · 18: `jis-3` compares the products to nine decimals, in which they
 * are equal; the formulas before it compare them as they are, because their records replay so.
 */
function weakestDimension(model: ModelDocument, { dimensions, mode }: MaintenanceInput): Dimension {
  const names = computedDimensions(model, mode);
  const rounded = model.formulas === "jis-3" ? q9 : (cost: number) => cost;
  const cost = (name: Dimension) =>
    rounded(
      dimensionWeight(model, name, mode) * Math.max(0, model.thresholds.target_jis - dimensions[name]!),
    );
  const first = (better: (a: Dimension, b: Dimension) => boolean) =>
    names.reduce((best, name) => (better(name, best) ? name : best));
  const costliest = first((a, b) => cost(a) > cost(b));
  return cost(costliest) > 0 ? costliest : first((a, b) => dimensions[a]! < dimensions[b]!);
}

function plan(model: ModelDocument, input: MaintenanceInput): Plan {
  const rules = model.maintenance;
  const found = [...conditions(model, input)];
  const reasons = found.map(([, reason]) => reason);
  let urgency = found.reduce<Urgency>((top, [level]) => (rank(level) > rank(top) ? level : top), "none");
  if (!input.minimumDataMet) {
    if (rank(urgency) > rank(rules.provisional_cap)) urgency = rules.provisional_cap;
    reasons.push("insufficient_data_provisional");
  }
  const isTruthMissing = input.groundTruth < truthNeeded(model);
  if (isTruthMissing) reasons.push("no_ground_truth_evidence");

  // Only injected known errors can supply missing ground truth.
  const needsTruth = input.mode === "full" && input.minimumDataMet && isTruthMissing && urgency !== "none";
  // The dimensions are those of all work, and say nothing of the part that is below.
  const isPartBelow = input.verdict?.status === "non_compliant" && input.jis >= model.thresholds.min_jis;
  const target = needsTruth || isPartBelow ? rules.truth_target : weakestDimension(model, input);
  if (input.dimensions[target]! < model.thresholds.target_jis) reasons.push(`weakest_dimension_${target}`);
  return {
    urgency,
    target,
    interventionType: urgency === "none" ? "none" : rules.interventions[target],
    frequency: rules.levels[urgency].frequency,
    reasons,
  };
}

/** The maintenance block of a score response. */
export function recommendMaintenance(
  model: ModelDocument,
  input: MaintenanceInput,
): MaintenanceRecommendation {
  const rules = model.maintenance;
  const { urgency, interventionType, frequency, reasons } = plan(model, input);
  const { below, dimensions } = rules.withhold;
  const weak = dimensions.some((name) => (input.dimensions[name] ?? below) < below);
  const days = input.decay.days_to_non_compliance;
  const usual = rules.levels[urgency].next_days;
  const nextDays = days !== null && days > 0 ? Math.min(usual, Math.max(1, Math.floor(days / 2))) : usual;
  return {
    urgency,
    trigger_intervention: rank(urgency) >= rank(rules.triggers_at),
    recommendation: {
      intervention_type: interventionType,
      intervention_frequency: frequency,
      recommend_withhold: urgency !== "none" && weak,
      reasons,
      next_assessment: new Date(input.now + nextDays * DAY_MS).toISOString(),
    },
  };
}

type Difficulty = "easy" | "moderate" | "hard";

/** One row of the catalogue at one difficulty. */
interface Exercise {
  readonly id: string;
  readonly title: string;
  /** Scale, parameters and texts; `sample_case` holds the solution, which is not for the reviewer's screen. */
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface ExercisePlan {
  readonly urgency: Urgency;
  readonly intervention_type: string;
  readonly target_dimension: Dimension;
  readonly difficulty: Difficulty;
  /** Share of the operator's interactions, 0..1. */
  readonly frequency_ratio: number;
  readonly exercises: readonly Exercise[];
}

/** The recommendation of the maintenance endpoint for a full-mode record: the target and its exercises. */
export function recommendExercises(
  model: ModelDocument,
  input: MaintenanceInput & { readonly dimensions: FullDimensions; readonly domain: Domain },
): ExercisePlan {
  const { urgency, target, interventionType, frequency } = plan(model, input);
  const { easy_below, moderate_below } = model.maintenance.difficulty;
  const value = input.dimensions[target];
  const difficulty = value < easy_below ? "easy" : value < moderate_below ? "moderate" : "hard";
  return {
    urgency,
    intervention_type: interventionType,
    target_dimension: target,
    difficulty,
    frequency_ratio: frequency,
    exercises: exercisesFor(model, { target, difficulty, domain: input.domain }),
  };
}

/** Stands for the operator's domain in the catalogue's parameters. */
const DOMAIN_VARIABLE = "$domain";

function exercisesFor(
  model: ModelDocument,
  { target, difficulty, domain }: {
    readonly target: Dimension;
    readonly difficulty: Difficulty;
    readonly domain: Domain;
  },
): readonly Exercise[] {
  const scale = model.maintenance.difficulties[difficulty];
  return model.maintenance.exercises.filter((row) => row.dimension === target).map((row) => ({
    id: row.id,
    title: row.title,
    payload: {
      dimension: target,
      difficulty,
      items: scale.items,
      estimated_minutes: scale.estimated_minutes,
      scenario_type: row.scenario_type,
      ai_error_share: scale.ai_error_share,
      feedback: scale.feedback,
      success: {
        metric: row.metric,
        threshold: row.success_thresholds?.[difficulty] ?? scale.success_threshold,
      },
      params: Object.fromEntries(
        Object.entries(row.params[difficulty]).map(([key, value]) => [
          key,
          value === DOMAIN_VARIABLE ? domain : value,
        ]),
      ),
      purpose: row.purpose,
      setup: row.setup,
      instructions: row.instructions,
      debrief: row.debrief,
      sample_case: row.cases[difficulty],
    },
  }));
}
