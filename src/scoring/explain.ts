/**
 * The explanation of a score or a late label, for the person scored: for each dimension its value before and
 * after, and one plain sentence for each rule of the model that was applied to it.
 *
 * It owns no formula: it runs the reducer again with an observer, and makes every sentence from the steps and
 * figures that the reducer reports. A rule that left its evidence unchanged has its sentence too ("stayed
 * at"), because a person may contest a cap or a missing measurement. Source: scoring model, sections 2.3, 4.1
 * to 4.7, 5 and 15, point 6.
 */
import { type Dimension, DIMENSIONS, type Domain, type ScenarioType } from "../domain/enums.ts";
import { saidOfAdvice } from "../domain/truth.ts";
import { causeOf, causeOfLabel, type Facts, fadingClause, withheld } from "./causes.ts";
import type { FullDimensions } from "./dimensions.ts";
import { Posterior } from "./discrimination.ts";
import { isLabelled } from "./classify.ts";
import { allLive, allWork, casesOf, keptShare, NO_PARTS, type Part, unsealed } from "./known_cases.ts";
import { applyLabel, isCountedBefore, type LateLabel } from "./label.ts";
import type { BucketName, ModelDocument } from "./model.ts";
import { readState } from "./reading.ts";
import {
  advance,
  type Advanced,
  asMeasured,
  asOf,
  begins,
  type EventWeights,
  type ScoringEvent,
  type Step,
} from "./reducer.ts";
import { breakEven, type BucketMeans, initialState, mean, type OperatorState, restraint } from "./state.ts";
import { errorRate } from "./points.ts";
import {
  distinctFigures,
  formatFigure,
  formatQuantity,
  isUnchanged,
  type Movement,
  movementList,
  nameOf,
} from "./wording.ts";

export interface DimensionExplanation {
  readonly dimension: Dimension;
  /** Integer, 0..100, of the state as it was stored. */
  readonly before: number;
  readonly after: number;
  /** One sentence for each rule, in the order in which each was first applied; never empty. */
  readonly rules: readonly string[];
}

/**
 * Explains the score of one interaction: all seven dimensions, full-mode, in the order of DIMENSIONS, with the
 * domain confidence of the event's domain. A null state is that of a new operator.
 */
export function explainScore(
  model: ModelDocument,
  state: OperatorState | null,
  event: ScoringEvent,
): readonly DimensionExplanation[] {
  const stored = state ?? initialState(model);
  const steps: Step[] = [];
  const advanced = advance(model, state, event, (step) => steps.push(step));
  // A reader is told of the telemetry as it was counted.
  const interaction = asMeasured(model, state, event.interaction);
  const facts: Facts = { ...advanced, model, stored, event: { ...event, interaction } };
  return explain(model, {
    stored,
    read: advanced.state,
    domain: event.domain,
    steps,
    cause: (applied) => causeOf(facts, applied),
    weighing: { weights: advanced.weights, scenario_type: event.interaction.scenario_type },
    nothing: (dimension) => withheld(facts, dimension) ?? "Nothing in this interaction bears on it.",
    remarks: [...modelRemarks(model, stored, "score"), ...knownCaseRemarks(advanced, event)],
  });
}

/**
 * Explains the operator's record as a decision score read it at `now`, epoch milliseconds. The score does not
 * change the record; only the fading over a gap moves the values read. All seven dimensions, in the order of
 * DIMENSIONS.
 */
export function explainDecision(
  model: ModelDocument,
  state: OperatorState | null,
  { domain, now }: { readonly domain: Domain; readonly now: number },
): readonly DimensionExplanation[] {
  const stored = state ?? initialState(model);
  const steps: Step[] = [];
  const read = asOf(model, stored, now, { domain, observer: (step) => steps.push(step) });
  return explain(model, {
    stored,
    read,
    domain,
    steps,
    cause: (applied) => fadingClause({ stored, now, kept: applied[0]!.value }),
    weighing: null,
    nothing: () => "A decision score reads the operator's record and does not change it.",
    remarks: [],
  });
}

/**
 * Explains how a late label changed the state: all seven dimensions, full-mode, in the order of DIMENSIONS,
 * with the domain confidence of the labelled case's domain.
 * @throws {RangeError} for an injected error, which takes no late label.
 */
export function explainLabel(
  model: ModelDocument,
  state: OperatorState,
  label: LateLabel,
): readonly DimensionExplanation[] {
  const steps: Step[] = [];
  const read = applyLabel(model, state, label, (step) => steps.push(step));
  return explain(model, {
    stored: state,
    read,
    domain: label.weights.domain,
    steps,
    cause: (applied) => causeOfLabel(model, label, applied),
    weighing: label,
    nothing: () => "Nothing in this label bears on it.",
    remarks: labelRemarks(model, state, label),
  });
}

/** The weights of an interaction's steps. */
interface Weighing {
  readonly weights: EventWeights;
  readonly scenario_type: ScenarioType;
}

interface Explained {
  readonly stored: OperatorState;
  readonly read: OperatorState;
  readonly domain: Domain;
  readonly steps: readonly Step[];
  /**
   * The cause that made a rule apply, as a clause. `applied`: its steps that bear on one dimension, at least
   * one.
   */
  readonly cause: (applied: readonly Step[]) => string;
  /** null if only retention applied, which has no weight. */
  readonly weighing: Weighing | null;
  /** The sentence of a dimension that no rule touched. */
  readonly nothing: (dimension: Dimension) => string;
  /** Sentences of `jis-3` that belong to every dimension with a weight. */
  readonly remarks: readonly string[];
}

function explain(
  model: ModelDocument,
  { stored, read, domain, steps, cause, weighing, nothing, remarks }: Explained,
): readonly DimensionExplanation[] {
  const { means, ...earlier } = readState(model, stored, { domain, mode: "full" });
  const before = earlier.dimensions as FullDimensions;
  const after = readState(model, read, { domain, mode: "full" }).dimensions as FullDimensions;
  const ofKnownCases = [...remarks, ...knownCaseRules(model, { stored, read, steps, cause })];
  return DIMENSIONS.map((dimension) => {
    const { exponents, restraint: restrained } = model.dimensions[dimension];
    if (exponents === undefined) {
      return { dimension, before: before[dimension], after: after[dimension], rules: ofKnownCases };
    }
    const bearing = steps.filter(({ bucket }) =>
      bucket === "Q" ? restrained : exponents[bucket] !== undefined
    );
    const rules = [...Map.groupBy(bearing, ({ rule }) => rule).values()].flatMap((applied) => {
      const movements = applied.flatMap((step, index) =>
        movementsOf(model, step, {
          domain,
          means,
          details: weighing === null ? [] : detailsOf(model, step, { ...weighing, isFirst: index === 0 }),
        })
      );
      return movements.length === 0 ? [] : [`${cause(applied)}: ${movementList(movements)}.`];
    });
    return {
      dimension,
      before: before[dimension],
      after: after[dimension],
      rules: rules.length === 0 ? [nothing(dimension)] : rules,
    };
  });
}

/** A score or a label by another model than the score before it: the reason why the number can jump. */
function modelRemarks(
  model: ModelDocument,
  stored: OperatorState,
  event: "score" | "label",
): readonly string[] {
  if (stored.n === 0 || stored.v === model.version) return [];
  const changed = `The model changed from ${stored.v} to ${model.version} before this ${event}`;
  return [
    begins(model, stored)
      ? `${changed}: cases that are known count from here on, and the score begins anew.`
      : `${changed}: both values are those of the new one.`,
  ];
}

const UNAIDED = "No recommendation was on screen, so that the case says nothing of the use of advice.";
const ANNOUNCED =
  "The operator knew that this was a test: it counts among announced tests alone, and moves no score.";

const INFERRED =
  "Whether the recommendation was right was not sent: it is inferred from the decision and its outcome.";

const PROBE = "The case was a sealed probe: whether the recommendation was right comes from its seal.";

/** Why the case of a score moves no score, if it moves none; or that the truth of the advice is inferred. */
function knownCaseRemarks(
  { evidence, weights }: Advanced,
  { interaction }: ScoringEvent,
): readonly string[] {
  if (!weights.presented) return [UNAIDED];
  if (interaction.scenario_type === "calibration") return [ANNOUNCED];
  if (interaction.sealed_probe === true) return [PROBE];
  if (!isLabelled(evidence)) {
    return [
      "It is not known whether the recommendation was right: the case moves nothing until a label says so.",
    ];
  }
  return saidOfAdvice(interaction) === null ? [INFERRED] : [];
}

/** Why a label moves no score, if it moves none; or that the truth of the advice is inferred. */
function labelRemarks(model: ModelDocument, stored: OperatorState, label: LateLabel): readonly string[] {
  if (isCountedBefore(model, label)) return ["The score counted the truth of this case when it was made."];
  return [...modelRemarks(model, stored, "label"), ...labelledCaseRemarks(label)];
}

function labelledCaseRemarks({ weights, scenario_type, ai_correct }: LateLabel): readonly string[] {
  if (!weights.presented) return [UNAIDED];
  if (scenario_type === "calibration") return [ANNOUNCED];
  return ai_correct === undefined ? [INFERRED] : [];
}

/** Sentences on the truth that became known or faded, and on how both estimates moved; empty before `jis-3`. */
function knownCaseRules(
  model: ModelDocument,
  { stored, read, steps, cause }: Pick<Explained, "stored" | "read" | "steps" | "cause">,
): readonly string[] {
  if (model.discrimination === undefined) return [];
  const bearing = steps.filter(({ bucket, rule }) =>
    rule !== "retention" && (bucket === "H" || bucket === "C")
  );
  const causes = [...Map.groupBy(bearing, ({ rule }) => rule).values()].map((applied) =>
    `${cause(applied)}.`
  );
  return [...fadedCases(model, stored, read), ...causes, ...movedEstimates(model, stored, read)];
}

/** A sentence on known cases that time made older; empty if it did not. */
function fadedCases(model: ModelDocument, stored: OperatorState, read: OperatorState): readonly string[] {
  const [before, after] = [stored.ev?.t ?? null, read.ev?.t ?? null];
  if (before === null || after === null || after === before) return [];
  const days = after - before;
  const [share] = distinctFigures(100 * keptShare(model, days), 100, 1);
  return [
    `After ${
      formatQuantity(String(days), "day")
    } without a live case, known cases count ${share} % of what they did, for and against the operator.`,
  ];
}

/** Sentences on the estimates of both kinds of advice, before and after. */
function movedEstimates(
  model: ModelDocument,
  stored: OperatorState,
  read: OperatorState,
): readonly string[] {
  const [before, after] = [stored, read].map(({ ev = NO_PARTS }) => {
    const live = allLive(ev);
    const posterior = new Posterior(model, casesOf(live));
    return {
      live,
      wrong: posterior.mean((h) => h),
      right: posterior.mean((_, f) => f),
      errorRate: errorRate(model, unsealed(allWork(ev))),
    };
  }) as [KnownRates, KnownRates];
  const sentence = (advice: "wrong" | "right", count: number) =>
    `Departing from ${advice} advice, by ${formatQuantity(String(count), "known case")}: ${
      movementList([{ of: "the estimate", before: before[advice], after: after[advice], details: [] }])
    }.`;
  return [
    sentence("wrong", after.live[4]),
    sentence("right", after.live[5]),
    ...movedErrorRate(before.errorRate, after.errorRate),
  ];
}

/** The points depend on how often the AI is wrong, too: the more often, the sooner a review pays. */
function movedErrorRate(before: number, after: number): readonly string[] {
  if (before === after) return [];
  const [often, pays] = after > before ? ["more", "sooner"] : ["less", "later"];
  const movement = movementList([{ of: "the estimate", before, after, details: [] }]);
  return [
    `The AI is wrong ${often} often than before in this operator's work, so that a review pays ${pays}: ${movement}.`,
  ];
}

interface KnownRates {
  readonly live: Part;
  /** Means of the posterior, 0..1: how often the operator departs from wrong and from right advice. */
  readonly wrong: number;
  readonly right: number;
  /** How often the AI is wrong, 0..1, as the verdict takes it. */
  readonly errorRate: number;
}

// ---- movements of a step ----------------------------------------------------------------------------------

/** The conduct of an operator that the mean of each bucket measures. */
const MEANING: Readonly<Record<Exclude<BucketName, "K">, string>> = {
  H: "catching errors",
  C: "accepting what is right",
  P: "deliberation",
  X: "considered decisions",
  A: "the operator's own part in decisions",
  U: "sound decisions without the AI",
  R: "recovering from errors",
  Q: "following advice not known to be right or wrong",
};

/**
 * The values that a step moved; empty if fading met no evidence, or if a step of Q left the restraint as it
 * was.
 */
function movementsOf(
  model: ModelDocument,
  step: Step,
  { domain, means, details }: {
    readonly domain: Domain;
    readonly means: BucketMeans;
    readonly details: readonly string[];
  },
): readonly Movement[] {
  const { rule, bucket } = step;
  const before = mean(model, bucket, step.before);
  const after = mean(model, bucket, step.after);
  const of = bucket === "K" ? `sound decisions in the ${nameOf(domain)} domain` : MEANING[bucket];
  const moved: Movement = { of, before, after, details };
  if (bucket !== "Q") return rule === "retention" && isUnchanged(before, after) ? [] : [moved];
  const left: Movement = {
    of: "the share of this dimension that counts",
    before: restraint(model, { ...means, Q: before }),
    after: restraint(model, { ...means, Q: after }),
    details: [],
  };
  return isUnchanged(before, after) || isUnchanged(left.before, left.after) ? [] : [moved, left];
}

// ---- details in brackets ----------------------------------------------------------------------------------

const SCENARIOS: Readonly<Record<ScenarioType, string>> = {
  standard: "a standard case",
  high_stakes: "a high-stakes case",
  critical: "a critical case",
  error_injected: "an injected error",
  calibration: "a calibration case",
  ai_withheld: "a case with the AI withheld",
};

/**
 * The weighing, and whether the step is the first of its sentence: the first states the scenario's weight for
 * all.
 */
type Weighed = Weighing & { readonly isFirst: boolean };

/**
 * The degree to which a step counted if it is not stated yet, its weight if that is not 1, and the reason.
 */
function detailsOf(model: ModelDocument, step: Step, weighed: Weighed): readonly string[] {
  if (step.rule === "retention") return [];
  return [...degreeOf(model, step, weighed), ...weightOf(step, weighed), ...creditOf(step)];
}

function degreeOf(
  model: ModelDocument,
  { rule, bucket, value, before }: Step,
  { weights }: Weighed,
): readonly string[] {
  if (value === breakEven(model, bucket, before)) {
    if (rule === "referral") return ["not deciding a case cannot raise it"];
    if (weights.inert) return ["with hardly any activity it cannot rise"];
  }
  return value === 0 || value === 1 || value === weights.r ? [] : [`counted as ${formatFigure(value, 2)}`];
}

function weightOf(
  { weight }: Step,
  { weights: { omega }, scenario_type, isFirst }: Weighed,
): readonly string[] {
  const [shown] = distinctFigures(weight, 0, 2);
  if (!isFirst || omega === 1) return shown === "1" ? [] : [`weight ${shown}`];
  const factor = weight === omega ? "" : ` with factor ${formatFigure(omega, 2)}`;
  return [`weight ${shown}${factor} for ${SCENARIOS[scenario_type]}`];
}

function creditOf({ rule, bucket }: Step): readonly string[] {
  if (bucket === "K" && rule === "correct_acceptance") return ["mostly the AI's credit"];
  const isProxy = bucket === "U" && rule !== "unaided_right" && rule !== "unaided_wrong";
  return isProxy ? ["only an indirect sign"] : [];
}
