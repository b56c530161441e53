/**
 * The evidence in one interaction: hits, misses, correct acceptances and false alarms. The signal is "the AI
 * is wrong"; the yes-response is a departure from it (signal detection [6]). Source: scoring model, section
 * 2.3.
 */
import type { Interaction } from "../domain/interaction.ts";
import { saidOfAdvice } from "../domain/truth.ts";
import { DEPARTURE_EXPONENT_MAX, type ModelDocument } from "./model.ts";

/** The four cells, weights 0..1 before the scenario's weight. */
export interface Evidence {
  /** The AI was wrong and the operator did not let it pass. */
  readonly hit: number;
  /** The AI was wrong and was accepted: over-reliance. */
  readonly miss: number;
  /** The AI was right and was accepted. */
  readonly correctAcceptance: number;
  /** The AI was right and was departed from: under-reliance. */
  readonly falseAlarm: number;
}

const NONE: Evidence = { hit: 0, miss: 0, correctAcceptance: 0, falseAlarm: 0 };

/** Whether a recommendation was on screen; otherwise the case is unaided. */
export function isPresented(interaction: Interaction): boolean {
  return interaction.ai_available && interaction.ai_recommendation_presented &&
    interaction.scenario_type !== "ai_withheld";
}

/** True if the decision was handed on: deferred or escalated. */
export function isReferral({ decision }: Pick<Interaction, "decision">): boolean {
  return decision === "deferred" || decision === "escalated";
}

/** Departure share s, 0..1: the operator's own share of the decision. */
export function departureShare(
  model: ModelDocument,
  interaction: Pick<Interaction, "decision" | "modification_extent">,
): number {
  switch (interaction.decision) {
    case "rejected":
    case "overridden":
      return 1;
    case "modified":
      return modificationShare(model, interaction.modification_extent);
    default:
      return 0;
  }
}

/**
 * Departure share of a modification: in proportion to its extent (`jis-1`), or to a power of that (`jis-2`).
 * In `jis-1` a touch-up of accepted advice counts in proportion as a caught error, which rewards operators
 * who only look busy.
 */
function modificationShare({ classification }: ModelDocument, extent: number): number {
  const { full_departure_extent, departure_exponent } = classification;
  const share = Math.min(1, extent / full_departure_extent);
  const exponent = departure_exponent ?? 1;
  // A verified file brings its own document, which could have any exponent; the loop must end.
  if (exponent > DEPARTURE_EXPONENT_MAX) throw new RangeError(`a departure exponent of ${exponent}`);
  let power = share;
  for (let factors = exponent; factors > 1; factors -= 1) power = power * share;
  return power;
}

/** A decision with its label and its departure share, from which the cells follow. */
export interface LabelledDecision {
  readonly decision: Interaction["decision"];
  readonly scenario_type: Interaction["scenario_type"];
  readonly outcome_correct: Interaction["outcome_correct"];
  readonly ai_correct?: Interaction["ai_correct"];
  /** s, 0..1. */
  readonly departure: number;
}

/**
 * The evidence of a case with a recommendation on screen. With an injected error the AI is wrong, whatever
 * the label.
 */
export function classify(model: ModelDocument, of: LabelledDecision): Evidence {
  if (model.formulas === "jis-3") return classifyByAdvice(model, of);
  if (of.scenario_type === "error_injected") return classifyInjected(model, of);
  if (of.outcome_correct === null) return NONE;
  return of.outcome_correct ? classifyCorrect(model, of) : classifyWrong(model, of);
}

/**
 * The rule of `jis-3`: whether the advice was right decides which cells a case counts in. With an injected error
 * it was wrong, `ai_correct` says it, or else it follows from the decision and its outcome, which is only right
 * if there are two possible answers. Each case counts 1 in all, but for a modification that proved wrong.
 */
function classifyByAdvice(model: ModelDocument, of: LabelledDecision): Evidence {
  if (awaitsOutcome(of)) return NONE;
  const aiCorrect = saidOfAdvice(of);
  if (aiCorrect === true) return classifyRightAdvice(model, of);
  if (aiCorrect === false) return classifyWrongAdvice(model, of);
  if (of.outcome_correct === null) return NONE;
  const { departure, outcome_correct: outcome } = of;
  switch (of.decision) {
    case "accepted":
      return outcome ? { ...NONE, correctAcceptance: 1 } : { ...NONE, miss: 1 };
    case "modified":
      return outcome ? { ...NONE, hit: departure, correctAcceptance: 1 - departure } : {
        ...NONE,
        falseAlarm: model.classification.modified_false_alarm_share * departure,
        miss: 1 - departure,
      };
    default:
      return outcome ? classifyWrongAdvice(model, of) : classifyRightAdvice(model, of);
  }
}

/**
 * Whether a hit in this case is unclear with `jis-3`. Advice that is only reworded looks like advice that was mended, and
 * a case that was handed on unread like one whose error was seen. So both are clear only if it is known that the advice
 * was wrong, and of a modification that its outcome is right, too.
 */
export function isUnclear(of: LabelledDecision): boolean {
  const isKnownWrong = saidOfAdvice(of) === false;
  if (of.decision === "modified") return !(isKnownWrong && of.outcome_correct === true);
  return isReferral(of) && !isKnownWrong;
}

/**
 * Whether `jis-3` waits for the outcome of a modification, although it is known whether the advice was right: without it
 * nobody can say what was made of the advice. No label can follow an injected error.
 */
function awaitsOutcome({ decision, scenario_type, outcome_correct }: LabelledDecision): boolean {
  return decision === "modified" && outcome_correct === null && scenario_type !== "error_injected";
}

function classifyWrongAdvice(model: ModelDocument, of: LabelledDecision): Evidence {
  const { referral_hit, injected_modified_wrong_share: wrongShare } = model.classification;
  const hits = (hit: number): Evidence => ({ ...NONE, hit, miss: 1 - hit });
  switch (of.decision) {
    case "accepted":
      return hits(0);
    case "rejected":
    case "overridden":
      return hits(1);
    case "modified":
      if (of.outcome_correct === true) return hits(1);
      return hits(of.outcome_correct === false ? wrongShare * of.departure : of.departure);
    case "deferred":
    case "escalated":
      return hits(referral_hit);
  }
}

function classifyRightAdvice(model: ModelDocument, of: LabelledDecision): Evidence {
  const { referral_false_alarm, modified_false_alarm_share } = model.classification;
  const falseAlarms = (falseAlarm: number): Evidence => ({
    ...NONE,
    falseAlarm,
    correctAcceptance: 1 - falseAlarm,
  });
  switch (of.decision) {
    case "accepted":
      return falseAlarms(0);
    case "rejected":
    case "overridden":
      return falseAlarms(1);
    case "modified":
      return falseAlarms(of.outcome_correct === true ? 0 : modified_false_alarm_share * of.departure);
    case "deferred":
    case "escalated":
      return falseAlarms(referral_false_alarm);
  }
}

function classifyInjected(model: ModelDocument, of: LabelledDecision): Evidence {
  switch (of.decision) {
    case "accepted":
      return { ...NONE, miss: 1 };
    case "rejected":
    case "overridden":
      return { ...NONE, hit: 1 };
    case "modified": {
      const caught = of.outcome_correct === true
        ? 1
        : of.outcome_correct === false
        ? model.classification.injected_modified_wrong_share * of.departure
        : of.departure;
      return { ...NONE, hit: caught, miss: 1 - caught };
    }
    case "deferred":
    case "escalated":
      return { ...NONE, hit: model.classification.referral_hit };
  }
}

function classifyCorrect(model: ModelDocument, of: LabelledDecision): Evidence {
  switch (of.decision) {
    case "accepted":
      return { ...NONE, correctAcceptance: 1 };
    case "rejected":
    case "overridden":
      return { ...NONE, hit: 1 };
    case "modified":
      return { ...NONE, hit: of.departure, correctAcceptance: 1 - of.departure };
    case "deferred":
    case "escalated":
      return { ...NONE, hit: model.classification.referral_hit };
  }
}

function classifyWrong(model: ModelDocument, of: LabelledDecision): Evidence {
  switch (of.decision) {
    case "accepted":
      return { ...NONE, miss: 1 };
    case "rejected":
    case "overridden":
      return { ...NONE, falseAlarm: 1 };
    case "modified":
      return {
        ...NONE,
        falseAlarm: model.classification.modified_false_alarm_share * of.departure,
        miss: 1 - of.departure,
      };
    case "deferred":
    case "escalated":
      return { ...NONE, falseAlarm: model.classification.referral_false_alarm };
  }
}

/** Whether the case says anything about the AI's correctness. */
export function isLabelled(evidence: Evidence): boolean {
  return evidence.hit + evidence.miss + evidence.correctAcceptance + evidence.falseAlarm > 0;
}
