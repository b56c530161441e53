/**
 * Why a score is what it is: for each dimension its value before and after, and each rule of the model that was
 * applied to it as one plain sentence, so that the person scored can be told why.
 *
 * Owns no formula: the reducer is run again with an observer, and every sentence is told from a step that the reducer
 * reports, with that step's own figures. A rule that left its evidence where it was has its sentence too ("stayed
 * at"), since a cap or a missing measurement is what a person would contest.
 * Source: scoring model, sections 2.3, 4.1 to 4.7 and 5.
 */
import { type Dimension, DIMENSIONS, type Domain } from "../domain/enums.ts";
import { causeOf, detailsOf, type Facts, fading } from "./causes.ts";
import { dimensionsOf, type FullDimensions } from "./dimensions.ts";
import type { BucketName, ModelDocument } from "./model.ts";
import { advance, retain, type ScoringEvent, type Step } from "./reducer.ts";
import { type BucketMeans, bucketMeans, initialState, mean, type OperatorState, restraint } from "./state.ts";
import { apart, figure, nameOf } from "./wording.ts";

export interface DimensionExplanation {
  readonly dimension: Dimension;
  /** Integer, 0..100, of the state as it was stored. */
  readonly before: number;
  readonly after: number;
  /** One sentence for each rule, in the order of the model; never empty. */
  readonly rules: readonly string[];
}

/** Stored evidence is rounded to 1e-9: a mean that moved by no more than this was left where it was. */
const STORED_PRECISION = 1e-9;

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
  const facts: Facts = { ...advanced, model, stored, event };
  return explain(model, {
    stored,
    read: advanced.state,
    domain: event.domain,
    steps,
    tell: (step) => [causeOf(facts, step), detailsOf(facts, step)],
    nothing: "Nothing in this interaction bears on it.",
  });
}

/**
 * Explains what a decision score read of the operator's record at `now`, epoch milliseconds: it does not change the
 * record, and only the fading over a gap moves what it reads. All seven dimensions, in the order of DIMENSIONS.
 */
export function explainDecision(
  model: ModelDocument,
  state: OperatorState | null,
  { domain, now }: { readonly domain: Domain; readonly now: number },
): readonly DimensionExplanation[] {
  const stored = state ?? initialState(model);
  const steps: Step[] = [];
  const read = retain(model, stored, now, { domain, observer: (step) => steps.push(step) });
  return explain(model, {
    stored,
    read,
    domain,
    steps,
    tell: (step) => [fading(model, { stored, now, step }), null],
    nothing: "A decision score reads the operator's record and does not change it.",
  });
}

interface Explained {
  readonly stored: OperatorState;
  readonly read: OperatorState;
  readonly domain: Domain;
  readonly steps: readonly Step[];
  /** What happened, as a clause, and the figures that stand in brackets. */
  readonly tell: (step: Step) => readonly [cause: string, details: string | null];
  /** The sentence of a dimension that no step touched. */
  readonly nothing: string;
}

function explain(
  model: ModelDocument,
  { stored, read, domain, steps, tell, nothing }: Explained,
): readonly DimensionExplanation[] {
  const dimensionsIn = (state: OperatorState) =>
    dimensionsOf(model, bucketMeans(model, state, domain), "full") as FullDimensions;
  const before = dimensionsIn(stored);
  const means = bucketMeans(model, stored, domain);
  const after = dimensionsIn(read);
  // No rule puts into one bucket twice in one interaction, so that each step is a sentence of its own.
  const told = steps.flatMap((step) => {
    const moved = movementOf(model, step, { domain, means });
    if (moved === null) return [];
    const [cause, details] = tell(step);
    return [{ step, sentence: `${cause}: ${moved}${details === null ? "" : ` (${details})`}.` }];
  });
  return DIMENSIONS.map((dimension) => {
    const { exponents, restraint: restrained } = model.dimensions[dimension];
    const rules = told
      .filter(({ step: { bucket } }) => bucket === "Q" ? restrained : exponents[bucket] !== undefined)
      .map(({ sentence }) => sentence);
    return {
      dimension,
      before: before[dimension],
      after: after[dimension],
      rules: rules.length === 0 ? [nothing] : rules,
    };
  });
}

// ---- what a step did --------------------------------------------------------------------------------------

/** What a bucket is evidence of. */
const EVIDENCE_OF: Readonly<Record<Exclude<BucketName, "K">, string>> = {
  H: "catching errors",
  C: "accepting what is right",
  P: "deliberation",
  X: "considered rather than reflexive decisions",
  A: "the operator's own part in decisions",
  U: "sound decisions without the AI",
  R: "recovering from errors",
  Q: "following advice where nobody knows whether it is right",
};

/** The evidence, the direction and both values; null where a step has nothing to tell. */
function movementOf(
  model: ModelDocument,
  step: Step,
  { domain, means }: { readonly domain: Domain; readonly means: BucketMeans },
): string | null {
  const { rule, bucket } = step;
  const before = mean(model, bucket, step.before);
  const after = mean(model, bucket, step.after);
  const of = bucket === "K" ? `sound decisions in the ${nameOf(domain)} domain` : EVIDENCE_OF[bucket];
  const moved = `evidence of ${of} ${fromTo(before, after)}`;
  if (bucket === "Q") {
    const factorBefore = restraint(model, { ...means, Q: before });
    const factorAfter = restraint(model, { ...means, Q: after });
    if (isEven(before, after) || isEven(factorBefore, factorAfter)) return null;
    return `${moved}, and the factor that it puts on this dimension ${fromTo(factorBefore, factorAfter)}`;
  }
  return rule === "retention" && isEven(before, after) ? null : moved;
}

function isEven(before: number, after: number): boolean {
  return Math.abs(after - before) <= STORED_PRECISION;
}

function fromTo(before: number, after: number): string {
  if (isEven(before, after)) return `stayed at ${figure(after, 2)}`;
  const [from, to] = apart(before, after, 2);
  return `${after > before ? "rose" : "fell"} from ${from} to ${to}`;
}
