/**
 * Why a rule applied: what happened in an interaction, as a clause with its figures, and what a person would contest
 * in how it was counted. Source: scoring model, sections 2.3 and 4.1 to 4.7.
 */
import type { ScenarioType } from "../domain/enums.ts";
import { exp } from "./arithmetic.ts";
import { isLabelled } from "./classify.ts";
import type { ModelDocument } from "./model.ts";
import { type Advanced, gapDays, type ScoringEvent, type Step } from "./reducer.ts";
import { breakEven, type OperatorState } from "./state.ts";
import { apart, enumeration, figure, listed, nameOf, percent, quantity, seconds } from "./wording.ts";

/** All that a sentence may draw on. */
export interface Facts extends Advanced {
  readonly model: ModelDocument;
  readonly stored: OperatorState;
  readonly event: ScoringEvent;
}

/** What happened that made a rule apply, as a clause with its figures. */
export function causeOf(facts: Facts, step: Step): string {
  const { model, stored, event } = facts;
  switch (step.rule) {
    case "retention":
      return fading(model, { stored, now: event.now, step });
    case "process":
      return listed([timeSpent(facts), ...conditions(facts, step)]);
    case "hit":
      return `${hit(facts)}${hitAside(facts, step)}`;
    case "miss":
      return `${miss(facts)}${aside(step)}`;
    case "false_alarm":
      return `${falseAlarm(facts)}${aside(step)}`;
    case "correct_acceptance":
      return step.bucket === "C" ? correctAcceptance(facts) : creditedAcceptance(facts, step);
    case "unreflexive_acceptance":
      return listed([`${acceptance(facts)}, and ${scrutiny(facts)}`, ...conditions(facts, step)]);
    case "unlabelled_acceptance":
      return listed([
        `${acceptance(facts)}, whether that was right is not known, and ${scrutiny(facts)}`,
        ...conditions(facts, step),
      ]);
    case "wrong_acceptance":
      return listed([wrongAcceptance(facts), ...conditions(facts, step)]);
    case "warranted_departure":
      return decided(facts, `The operator ${verbOf(facts)} a wrong recommendation`, {
        share: facts.weights.s,
        as: "departing from it",
      });
    case "departure":
      return listed([departure(facts), ...conditions(facts, step)]);
    case "referral":
      return `The operator ${
        verbOf(facts)
      }, and whether that was needed is not known, which counts as at most ${
        figure(model.updates.ownership.referral_value, 2)
      } and never raises this`;
    case "restraint":
      return `The operator ${verbOf(facts)}${
        isReferred(facts) ? "" : " the recommendation"
      }, and whether that was right is not known`;
    case "unaided_right":
      return "The operator decided without the AI and was right";
    case "unaided_wrong":
      return "The operator decided without the AI and was wrong";
    case "recalibration_hit":
      return `${hit(facts)}, ${watched(facts)}`;
    case "recalibration_miss":
      return `${miss(facts)}, ${watched(facts)}`;
    case "recalibration_false_alarm":
      return `${falseAlarm(facts)}, ${watched(facts)}`;
    case "recalibration_unaided_right":
      return `The operator decided without the AI and was right, ${watched(facts)}`;
    case "recalibration_unaided_wrong":
      return `The operator decided without the AI and was wrong, ${watched(facts)}`;
    case "recalibration_right_acceptance":
      return listed([
        `${correctAcceptance(facts)}, ${watched(facts)}, and ${scrutiny(facts)}`,
        ...conditions(facts, step),
      ]);
    case "recalibration_conduct":
      return listed([conduct(facts), ...conditions(facts, step)]);
  }
}

/** Rules that put a degree and not a plain right or wrong. */
const GRADED: ReadonlySet<Step["rule"]> = new Set<Step["rule"]>([
  "process",
  "unreflexive_acceptance",
  "wrong_acceptance",
  "unlabelled_acceptance",
  "departure",
  "referral",
  "recalibration_right_acceptance",
  "recalibration_conduct",
]);

const SCENARIOS: Readonly<Record<ScenarioType, string>> = {
  standard: "a standard case",
  high_stakes: "a high-stakes case",
  critical: "a critical case",
  error_injected: "an injected error",
  calibration: "a calibration case",
  ai_withheld: "a case with the AI withheld",
};

/** The figures of a put: what it counted as, where that is a degree, and its weight with the scenario's part in it. */
export function detailsOf(
  { weights: { omega }, event }: Facts,
  { rule, bucket, value, weight }: Step,
): string | null {
  if (rule === "retention") return null;
  const graded = GRADED.has(rule) || (rule === "correct_acceptance" && bucket === "A");
  const scenario = SCENARIOS[event.interaction.scenario_type];
  const [shown] = apart(weight, 0, 2);
  return [
    ...(graded ? [`counted as ${figure(value, 2)} out of 1`] : []),
    omega === 1
      ? `weight ${shown}`
      : weight === omega
      ? `weight ${shown} for ${scenario}`
      : `weight ${shown} with the factor ${figure(omega, 2)} for ${scenario}`,
  ].join(", ");
}

/** What a gap did to earlier evidence. */
export function fading(
  model: ModelDocument,
  { stored, now, step }: { readonly stored: OperatorState; readonly now: number; readonly step: Step },
): string {
  const [days, free] = apart(gapDays(stored, now), model.retention.grace_days, 1);
  const [kept] = apart(100 * step.value, 100, 1);
  return `Over a gap of ${days} days, ${free} of them without loss, earlier evidence in the operator's favour ` +
    `faded to ${kept} % while evidence against kept its full weight`;
}

// ---- the decision -----------------------------------------------------------------------------------------

const VERBS = {
  accepted: "accepted",
  modified: "changed",
  rejected: "rejected",
  overridden: "overrode",
  deferred: "put off the case",
  escalated: "handed on the case",
} as const;

function verbOf({ event: { interaction } }: Facts): string {
  const verb = VERBS[interaction.decision];
  return interaction.decision === "modified"
    ? `${verb} ${percent(interaction.modification_extent)} of`
    : verb;
}

function isReferred({ event: { interaction: { decision } } }: Facts): boolean {
  return decision === "deferred" || decision === "escalated";
}

/** A decision that is one thing in full (`plain`), or one that counts as it to a share. */
function decided(
  facts: Facts,
  plain: string,
  { share, as }: { readonly share: number; readonly as: string },
): string {
  const { decision, outcome_correct: outcome, scenario_type } = facts.event.interaction;
  const referred = isReferred(facts);
  if (decision !== "modified" && !referred) return plain;
  const injected = scenario_type === "error_injected" ? " with an injected error" : "";
  const advice = referred
    ? injected
    : injected === ""
    ? " the recommendation"
    : ` a recommendation${injected}`;
  const proved = outcome === null ? "" : ` and the decision proved ${outcome ? "right" : "wrong"}`;
  const extent = share === 1 ? "in full" : `for ${percent(share)}`;
  return `The operator ${verbOf(facts)}${advice}${proved}, which counts ${extent} as ${as}`;
}

function hit(facts: Facts): string {
  return decided(facts, "The AI was wrong and the operator did not let it pass", {
    share: facts.evidence.hit,
    as: "catching a wrong recommendation",
  });
}

function miss(facts: Facts): string {
  return decided(facts, "The AI was wrong and the operator accepted it", {
    share: facts.evidence.miss,
    as: "letting a wrong recommendation pass",
  });
}

function falseAlarm(facts: Facts): string {
  return decided(facts, `The AI was right and the operator ${verbOf(facts)} it`, {
    share: facts.evidence.falseAlarm,
    as: "departing from a right recommendation",
  });
}

function correctAcceptance(facts: Facts): string {
  return decided(facts, "The AI was right and the operator accepted it", {
    share: facts.evidence.correctAcceptance,
    as: "accepting a right recommendation",
  });
}

function acceptance(facts: Facts): string {
  return decided(facts, "The operator accepted the recommendation", {
    share: 1 - facts.weights.s,
    as: "accepting it",
  });
}

function creditedAcceptance(facts: Facts, step: Step): string {
  const credit = step.bucket === "K" ? ", which is mostly the AI's credit" : "";
  return listed([`${correctAcceptance(facts)}${credit}, and ${scrutiny(facts)}`, ...conditions(facts, step)]);
}

function wrongAcceptance(facts: Facts): string {
  const { model, event, process } = facts;
  const accepted = decided(facts, "The operator accepted a wrong recommendation", {
    share: 1 - facts.weights.s,
    as: "accepting it",
  });
  const fastMs = model.domains[event.domain].fast_ms;
  if (process.timeMs <= fastMs) {
    return `${accepted}, and took ${timeOf(facts)}, no more than the ${seconds(fastMs)} that the ${
      nameOf(event.domain)
    } domain counts as fast`;
  }
  const most = model.updates.non_reflexive.wrong_acceptance_cap;
  return `${accepted}, and ${scrutiny(facts)}, of which at most ${percent(most)} counts for a wrong one`;
}

function departure(facts: Facts): string {
  const departed = decided(facts, `The operator ${verbOf(facts)} the recommendation`, {
    share: facts.weights.s,
    as: "departing from it",
  });
  const unknown = isLabelled(facts.evidence) ? "" : ", and whether that was right is not known";
  const trusted = percent(facts.weights.kappa);
  return `${departed}${unknown}; departures of this operator are trusted ${trusted} so far, and ${
    scrutiny(facts)
  }`;
}

/** What a hit means for a bucket that asks for more than the catch. */
function hitAside({ event }: Facts, step: Step): string {
  return step.value === 0 && event.interaction.decision !== "modified"
    ? ", but the operator's own decision proved wrong"
    : aside(step);
}

function aside({ bucket }: Step): string {
  return bucket === "U" ? ", an indirect sign of how the operator would decide alone" : "";
}

// ---- the process ------------------------------------------------------------------------------------------

function timeSpent(facts: Facts): string {
  const { model, event } = facts;
  const { fast_ms, reference_ms } = model.domains[event.domain];
  const activity = activityOf(facts);
  return `The operator took ${timeOf(facts)}, where the ${nameOf(event.domain)} domain counts ${
    seconds(fast_ms)
  } as fast and ${seconds(reference_ms)} as a full review${activity === "" ? "" : `, with ${activity}`}`;
}

function timeOf({ event: { interaction }, process }: Facts): string {
  const spent = interaction.time_to_decision_ms;
  return spent === process.timeMs
    ? seconds(spent)
    : `${seconds(spent)} (counted as ${seconds(process.timeMs)})`;
}

function activityOf({ event: { interaction } }: Facts): string {
  const { hover_events: hovers, scroll_depth: scroll, alternative_views_checked: views } = interaction;
  return enumeration([
    ...(hovers === null ? [] : [quantity(hovers, "hover event")]),
    ...(scroll === null ? [] : [`${percent(scroll)} scrolled`]),
    ...(views === null ? [] : [quantity(views, "alternative view")]),
  ]);
}

function scrutiny(facts: Facts): string {
  const seen = facts.process.engagement === null ? "" : " and the activity seen";
  return `${timeOf(facts)}${seen} came to ${percent(facts.weights.r)} of full scrutiny`;
}

/** Rules whose weight is that of the telemetry measured. */
const WEIGHED_BY_TELEMETRY: ReadonlySet<Step["rule"]> = new Set<Step["rule"]>([
  "process",
  "unreflexive_acceptance",
  "wrong_acceptance",
  "unlabelled_acceptance",
  "recalibration_conduct",
]);

/** What a person would contest in how time and activity were counted. */
function conditions(facts: Facts, step: Step): readonly string[] {
  return [
    ...relieved(facts),
    ...unmeasured(facts, step),
    ...implausible(facts),
    ...idle(facts),
    ...capped(facts, step),
  ];
}

function relieved({ model, event, relief }: Facts): readonly string[] {
  if (relief === 0) return [];
  const { fast_ms, reference_ms } = model.domains[event.domain];
  const shrink = 1 - model.relief.time_shrink * relief;
  return [
    "the operator's standing in telling right advice from wrong lowers the times demanded to " +
    `${figure(fast_ms * shrink / 1000, 3)} and ${seconds(reference_ms * shrink)}`,
  ];
}

function unmeasured({ model, event, process }: Facts, { rule, bucket }: Step): readonly string[] {
  const { hover_events, scroll_depth, alternative_views_checked } = event.interaction;
  const weighed = WEIGHED_BY_TELEMETRY.has(rule) || (rule === "correct_acceptance" && bucket === "A");
  const share = weighed ? `, at ${percent(process.weight)} of the weight` : "";
  if (process.engagement === null) {
    const most = rule === "process" ? ` for at most ${figure(model.process.unmeasured.time_credit, 2)}` : "";
    return [`no activity was measured, so that time alone counts${most}${share}`];
  }
  const missing = [
    ...(hover_events === null ? ["hover events"] : []),
    ...(scroll_depth === null ? ["scroll depth"] : []),
    ...(alternative_views_checked === null ? ["alternative views"] : []),
  ];
  if (missing.length === 0) return [];
  return [`without a measurement of ${enumeration(missing)} the rest of the activity stands for all${share}`];
}

function implausible({ process: { plausibility } }: Facts): readonly string[] {
  if (plausibility === null || plausibility >= 1) return [];
  const [counted] = apart(100 * plausibility, 100, 1);
  return [`the activity reported takes longer than the time spent, so that ${counted} % of it counts`];
}

function idle({ model, process }: Facts): readonly string[] {
  const { after_ms, engagement_below, time_factor } = model.process.idle;
  const { timeMs, engagement } = process;
  if (engagement === null || timeMs <= after_ms || engagement >= engagement_below) return [];
  return [`the time counts ${percent(time_factor)}, being over ${seconds(after_ms)} with little activity`];
}

function capped({ model, weights }: Facts, { bucket, before, value }: Step): readonly string[] {
  if (!weights.inert || value !== breakEven(model, bucket, before)) return [];
  return ["hardly any activity counts, so that this may lower the evidence and never raise it"];
}

// ---- after an error ---------------------------------------------------------------------------------------

const ERRORS = {
  over: "accepting a wrong recommendation",
  under: "departing from a right recommendation",
  own: "a wrong decision without the AI",
} as const;

/** The place of the interaction in the window that was open; only the rules of recalibration ask for it. */
function watched({ stored }: Facts): string {
  const { type, k } = stored.err!;
  const place = k === 1 ? "in the last interaction" : `in one of the ${k} interactions still`;
  return `${place} watched after ${ERRORS[type]}`;
}

function conduct(facts: Facts): string {
  const { mu, im } = facts.stored.err!;
  const { process: { engagement }, weights } = facts;
  const activity = engagement === null
    ? ""
    : `, with ${percent(engagement)} of full activity where ${percent(im)} had been usual`;
  return `The operator took ${timeOf(facts)} where ${
    seconds(exp(mu) * 1000)
  } had been usual before the error${activity}, ${watched(facts)}, and that came to ${
    percent(weights.r)
  } of full scrutiny`;
}
