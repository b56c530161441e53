/**
 * Why a rule applied: the facts of an interaction, or of a label, as a clause with the figures that a person
 * needs in order to understand or contest it. The rule `process` states in full how time and activity were
 * counted; the other rules state the result. Source: scoring model, sections 2.3, 4.1 to 4.7 and 15, point 6.
 */
import type { Decision, Dimension } from "../domain/enums.ts";
import { exp } from "./arithmetic.ts";
import { classify, type Evidence, isLabelled } from "./classify.ts";
import type { LateLabel } from "./label.ts";
import { domainRules, type ModelDocument } from "./model.ts";
import { type Advanced, type EventWeights, gapDays, type ScoringEvent, type Step } from "./reducer.ts";
import type { OperatorState } from "./state.ts";
import {
  distinctFigures,
  formatFigure,
  formatQuantity,
  inSeconds,
  joinWithAnd,
  nameOf,
  percent,
} from "./wording.ts";

/** Everything that a sentence about an interaction may use. */
export interface Facts extends Advanced {
  readonly model: ModelDocument;
  readonly stored: OperatorState;
  readonly event: ScoringEvent;
}

/**
 * The cause that made a rule apply. `steps` are the rule's steps that bear on one dimension, at least one.
 */
export function causeOf(facts: Facts, steps: readonly Step[]): string {
  const { rule, value } = steps[0]!;
  switch (rule) {
    case "retention":
      return fadingClause({ stored: facts.stored, now: facts.event.now, kept: value });
    case "process":
      return timeAndActivity(facts);
    case "hit":
      return `${knownDecisionClause(facts, "hit")}${provedWrong(facts, steps)}`;
    case "miss":
    case "false_alarm":
      return knownDecisionClause(facts, rule);
    case "correct_acceptance":
      return restsOnReview(steps)
        ? reviewed(facts, knownDecisionClause(facts, rule))
        : knownDecisionClause(facts, rule);
    case "unreflexive_acceptance":
      return reviewed(facts, acceptance(facts, "the"));
    case "unlabelled_acceptance":
      return reviewed(facts, `${acceptance(facts, "the")}, the outcome is not known`);
    case "wrong_acceptance":
      return wrongAcceptance(facts);
    case "warranted_departure":
      return departure(facts, "a wrong");
    case "departure":
      return unprovenDeparture(facts);
    case "referral":
    case "restraint":
      return `${unjudged(facts)} and the outcome is not known`;
    case "unaided_right":
    case "unaided_wrong":
      return unaided(rule === "unaided_right");
    case "recalibration_hit":
      return watched(facts, knownDecisionClause(facts, "hit"));
    case "recalibration_miss":
      return watched(facts, knownDecisionClause(facts, "miss"));
    case "recalibration_false_alarm":
      return watched(facts, knownDecisionClause(facts, "false_alarm"));
    case "recalibration_unaided_right":
    case "recalibration_unaided_wrong":
      return watched(facts, unaided(rule === "recalibration_unaided_right"));
    case "recalibration_right_acceptance":
      return watched(facts, reviewed(facts, knownDecisionClause(facts, "correct_acceptance")));
    case "recalibration_conduct":
      return watched(facts, conduct(facts));
  }
}

/** The fact in a late label that made a rule apply, in the form of {@link causeOf}. */
export function causeOfLabel(model: ModelDocument, label: LateLabel, steps: readonly Step[]): string {
  const { decision, outcome_correct, weights } = label;
  const proved = outcome_correct ? "right" : "wrong";
  if (!weights.presented) {
    return `It became known that the operator, who decided without the AI, was ${proved}`;
  }
  const cell = steps[0]!.rule as Cell;
  const review = restsOnReview(steps) ? `, in a review that counted as ${fullScrutiny(weights)}` : "";
  if (!isDivided(decision)) {
    return `It became known that the AI was ${
      CELLS[cell].ai
    } and that the operator had ${decision} it${review}`;
  }
  const done = isReferral(decision) ? VERBS[decision] : `${VERBS[decision]} the recommendation`;
  const share = CELLS[cell].share(classify(model, { ...label, departure: weights.s }));
  return `It became known that the decision was ${proved}, after the operator had ${done}, which ` +
    `${countsAs(share, CELLS[cell].as)}${review}`;
}

/** The effect of a gap on earlier evidence, of which the share `kept`, 0..1, remains. */
export function fadingClause(
  { stored, now, kept }: { readonly stored: OperatorState; readonly now: number; readonly kept: number },
): string {
  const days = formatQuantity(formatFigure(gapDays(stored, now), 1), "day");
  const [share] = distinctFigures(100 * kept, 100, 1);
  return `After ${days} without a scored case, earlier evidence in the operator's favour counts ${share} % of what it did`;
}

/**
 * Why a dimension that this interaction could have raised was left as it was; null if there is no such
 * reason.
 */
export function withheld(
  { evidence, weights, event: { interaction } }: Facts,
  dimension: Dimension,
): string | null {
  if (!weights.presented) return null;
  if (dimension === "domain_confidence" && evidence.correctAcceptance > 0) {
    return weights.r > 0 && !weights.inert
      ? null
      : "The AI was right and the operator accepted it, which earns no credit here without a sign of review.";
  }
  if (dimension === "independent_performance" && evidence.hit > 0 && interaction.outcome_correct === false) {
    return "The operator did not let wrong advice pass, which earns no credit here as the decision itself proved wrong.";
  }
  return null;
}

// ---- the decision -----------------------------------------------------------------------------------------

const VERBS: Readonly<Record<Decision, string>> = {
  accepted: "accepted",
  modified: "changed",
  rejected: "rejected",
  overridden: "overrode",
  deferred: "put off the case",
  escalated: "passed on the case",
};

function verbOf({ event: { interaction } }: Facts): string {
  const verb = VERBS[interaction.decision];
  return interaction.decision === "modified"
    ? `${verb} ${percent(interaction.modification_extent)} of`
    : verb;
}

function isReferral(decision: Decision): boolean {
  return decision === "deferred" || decision === "escalated";
}

/** True if a decision counts as one thing only to a share: a modification or a referral. */
function isDivided(decision: Decision): boolean {
  return decision === "modified" || isReferral(decision);
}

function countsAs(share: number, what: string): string {
  return `counts ${share === 1 ? "fully" : percent(share)} as ${what}`;
}

/** A clause for a decision that counts to a share as `what`. */
function sharedDecisionClause(facts: Facts, share: number, what: string): string {
  const { interaction } = facts.event;
  const { outcome_correct: outcome } = interaction;
  const injected = interaction.scenario_type === "error_injected" ? " with an injected error" : "";
  const advice = isReferral(interaction.decision)
    ? injected
    : injected === ""
    ? " the recommendation"
    : ` a recommendation${injected}`;
  const proved = outcome === null ? "" : ` and the decision proved ${outcome ? "right" : "wrong"}`;
  return `The operator ${verbOf(facts)}${advice}${proved}, which ${countsAs(share, what)}`;
}

/** The four cells of section 2.3. */
const CELLS = {
  hit: { ai: "wrong", as: "catching wrong advice", share: (evidence: Evidence) => evidence.hit },
  miss: { ai: "wrong", as: "letting wrong advice pass", share: (evidence: Evidence) => evidence.miss },
  correct_acceptance: {
    ai: "right",
    as: "accepting right advice",
    share: (evidence: Evidence) => evidence.correctAcceptance,
  },
  false_alarm: {
    ai: "right",
    as: "departing from right advice",
    share: (evidence: Evidence) => evidence.falseAlarm,
  },
} as const;

type Cell = keyof typeof CELLS;

/** A decision on a recommendation that is known to be right or wrong. */
function knownDecisionClause(facts: Facts, cell: Cell): string {
  const { ai, as, share } = CELLS[cell];
  return isDivided(facts.event.interaction.decision)
    ? sharedDecisionClause(facts, share(facts.evidence), as)
    : `The AI was ${ai} and the operator ${verbOf(facts)} it`;
}

/** Departing from a wrong recommendation is a catch, even if the operator's own decision was wrong too. */
function provedWrong({ event: { interaction } }: Facts, steps: readonly Step[]): string {
  const told = isDivided(interaction.decision) || steps.every(({ value }) => value > 0);
  return told ? "" : ", but the operator's own decision proved wrong";
}

function acceptance(facts: Facts, which: "the" | "a wrong"): string {
  return isDivided(facts.event.interaction.decision)
    ? sharedDecisionClause(facts, 1 - facts.weights.s, "accepting it")
    : `The operator accepted ${which} recommendation`;
}

function departure(facts: Facts, which: "the" | "a wrong"): string {
  return isDivided(facts.event.interaction.decision)
    ? sharedDecisionClause(facts, facts.weights.s, "departing from it")
    : `The operator ${verbOf(facts)} ${which} recommendation`;
}

/** A decision that nobody knows to be right or wrong. */
function unjudged(facts: Facts): string {
  const evidence = isReferral(facts.event.interaction.decision) ? "" : " the recommendation";
  return `The operator ${verbOf(facts)}${evidence}`;
}

function wrongAcceptance(facts: Facts): string {
  const { model, event, process, weights } = facts;
  const accepted = acceptance(facts, "a wrong");
  const { fast_ms } = domainRules(model, event.domain);
  if (process.timeMs <= fast_ms) {
    return `${accepted}, and took ${timeOf(facts)}, where the ${nameOf(event.domain)} domain counts ${
      inSeconds(fast_ms)
    } as fast`;
  }
  const most = model.updates.non_reflexive.wrong_acceptance_cap;
  return `${reviewed(facts, accepted)}${
    weights.r > most ? `, at most ${percent(most)} for wrong advice` : ""
  }`;
}

function unprovenDeparture(facts: Facts): string {
  const unknown = isLabelled(facts.evidence) ? "" : ", the outcome is not known";
  const trust = `departures of this operator are trusted ${percent(facts.weights.kappa)} so far`;
  return reviewed(facts, `${departure(facts, "the")}${unknown}, ${trust}`);
}

function unaided(isRight: boolean): string {
  return `The operator decided without the AI and was ${isRight ? "right" : "wrong"}`;
}

// ---- the review -------------------------------------------------------------------------------------------

/**
 * True if a step depends on the review: accepting right advice counts in full for C, else as the review
 * counts.
 */
function restsOnReview(steps: readonly Step[]): boolean {
  return steps.some(({ rule, bucket }) => rule === "correct_acceptance" && bucket !== "C");
}

/** The decision, and how much of a full review its time and activity counted as. */
function reviewed(facts: Facts, decision: string): string {
  const counted = countedActivity(facts);
  const doubted = counted === null ? "" : `, with only ${counted} of the reported activity believed`;
  return `${decision}, and the review counted as ${fullScrutiny(facts.weights)}${doubted}`;
}

function fullScrutiny({ r }: EventWeights): string {
  return `${percent(r)} of full scrutiny`;
}

function timeAndActivity(facts: Facts): string {
  const { model, event } = facts;
  const { fast_ms, reference_ms } = domainRules(model, event.domain);
  return `The operator took ${timeOf(facts)}, where the ${nameOf(event.domain)} domain counts ${
    inSeconds(fast_ms)
  } as fast and ${inSeconds(reference_ms)} as a full review${relieved(facts)}, with ${activity(facts)}${
    idle(facts)
  }`;
}

/** The lowered times that were demanded instead, if they made a difference for the time taken. */
function relieved({ model, event, process: { timeMs }, relief }: Facts): string {
  const { fast_ms, reference_ms } = domainRules(model, event.domain);
  const left = 1 - model.relief.time_shrink * relief;
  if (relief === 0 || timeMs <= fast_ms * left || timeMs >= reference_ms) return "";
  const [fast, full] = [fast_ms, reference_ms].map((ms) => formatFigure(ms * left / 1000, 2));
  return `, lowered to ${fast} and ${full} for this operator's record`;
}

function timeOf({ event: { interaction }, process }: Facts): string {
  const spent = interaction.time_to_decision_ms;
  const counted = spent === process.timeMs ? "" : ` (counted as ${inSeconds(process.timeMs)})`;
  return `${formatQuantity(inSeconds(spent), "second")}${counted}`;
}

/** The measured activity, the fields that were not measured, and how much of the activity counts. */
function activity(facts: Facts): string {
  const { hover_events: hovers, scroll_depth: scroll, alternative_views_checked: views } =
    facts.event.interaction;
  const measured = [
    ...(hovers === null ? [] : [formatQuantity(String(hovers), "hover event")]),
    ...(scroll === null ? [] : [`${percent(scroll)} scrolled`]),
    ...(views === null ? [] : [formatQuantity(String(views), "alternative view")]),
  ];
  if (measured.length === 0) {
    const most = percent(facts.model.process.unmeasured.time_credit);
    return `no activity measured, lowering the weight and letting time alone count up to ${most}`;
  }
  const missing = [
    ...(hovers === null ? ["hover events"] : []),
    ...(scroll === null ? ["scroll depth"] : []),
    ...(views === null ? ["alternative views"] : []),
  ];
  const unmeasured = missing.length === 0 ? "" : `, ${joinWithAnd(missing)} unmeasured, lowering the weight`;
  const counted = countedActivity(facts);
  const doubted = counted === null ? "" : `, and only ${counted} of the activity fits the time`;
  return `${joinWithAnd(measured)}${unmeasured}${doubted}${editing(facts)}`;
}

/** A change of the recommendation is activity too. */
function editing({ event: { interaction }, process, weights }: Facts): string {
  const counts = interaction.decision === "modified" && process.time > 0 && weights.s > 0;
  return counts ? ", and the change counted as activity" : "";
}

/** The share of the reported activity that fits the time; null if all of it fits or none takes time. */
function countedActivity({ process: { plausibility } }: Facts): string | null {
  if (plausibility === null || plausibility >= 1) return null;
  return `${distinctFigures(100 * plausibility, 100, 1)[0]} %`;
}

function idle({ model, process: { timeMs, engagement } }: Facts): string {
  const { after_ms, engagement_below, time_factor } = model.process.idle;
  if (engagement === null || timeMs <= after_ms || engagement >= engagement_below) return "";
  return `, and the time counts ${percent(time_factor)} for little activity in over ${
    inSeconds(after_ms)
  } seconds`;
}

// ---- after an error ---------------------------------------------------------------------------------------

const ERRORS = {
  over: "accepting wrong advice",
  under: "departing from right advice",
  own: "a wrong decision without the AI",
} as const;

/** A clause for an event in the window after an error; only the rules of recalibration use it. */
function watched({ stored }: Facts, what: string): string {
  return `${what}, while watched after ${ERRORS[stored.err!.type]}`;
}

function conduct(facts: Facts): string {
  const { mu, im } = facts.stored.err!;
  const { engagement } = facts.process;
  const [now, usual] = engagement === null
    ? ["", ""]
    : [engagement, im].map((evidence) => ` with ${percent(evidence)} activity`);
  return reviewed(
    facts,
    `The operator took ${timeOf(facts)}${now}, where ${
      formatQuantity(formatFigure(exp(mu), 2), "second")
    }${usual} had been usual before`,
  );
}
