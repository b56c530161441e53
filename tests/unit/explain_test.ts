/**
 * Explanations: the sentences of the worked examples and of cases that a person would contest, word for word.
 */
import assert from "node:assert/strict";
import { type Dimension, DIMENSIONS, type Domain } from "../../src/domain/enums.ts";
import { recordedInteractionSchema } from "../../src/domain/interaction.ts";
import {
  type DimensionExplanation,
  explainDecision,
  explainLabel,
  explainScore,
} from "../../src/scoring/explain.ts";
import type { LateLabel } from "../../src/scoring/label.ts";
import { initialState, type OperatorState } from "../../src/scoring/state.ts";
import { JIS_1_0_0 as model } from "../models.ts";
import examples from "../vectors/scoring/examples.json" with { type: "json" };

// deno-lint-ignore no-explicit-any
const cases = examples.examples as any[];
const exampleOf = (name: string) => cases.find((example) => example.name === name);

const NOW = 1_780_304_400_000;
const DAY = 86_400_000;
const NOTHING = ["Nothing in this interaction bears on it."];
const UNCHANGED = ["A decision score reads the operator's record and does not change it."];

/** An operator after 60 interactions in the financial domain, in an error window after an accepted error. */
const EXPERT: OperatorState = exampleOf("independent_expert_after_60").state_before;
/**
 * An operator who accepts nearly everything at once, in an error window for one more interaction after a
 * false alarm.
 */
const RUBBER_STAMPER: OperatorState = exampleOf("rubber_stamper_after_60").state_before;

function explainExample(name: string): readonly DimensionExplanation[] {
  const example = exampleOf(name);
  const { domain, ...fields } = example.interaction;
  const event = {
    interaction: recordedInteractionSchema.parse(fields),
    domain,
    now: Date.parse(example.now),
  };
  return explainScore(model, example.state_before ?? null, event);
}

function explainFields(
  fields: Record<string, unknown>,
  { domain = "general", state = null }: { domain?: Domain; state?: OperatorState | null } = {},
): readonly DimensionExplanation[] {
  const interaction = recordedInteractionSchema.parse(fields);
  return explainScore(model, state, { interaction, domain, now: state?.t1 ?? NOW });
}

function rulesOf(explained: readonly DimensionExplanation[], dimension: Dimension): readonly string[] {
  return explained.find((row) => row.dimension === dimension)!.rules;
}

const valuesOf = (explained: readonly DimensionExplanation[], side: "before" | "after") =>
  explained.map((row) => row[side]);

// The weighted dimensions before agree with the examples' JIS before: 79.65, 37 and 43.55.
for (
  const [name, before] of [
    ["first_interaction_careful_correct_accept", [65, 65, 65, 65, 65, 65, 65]],
    ["fast_accept_of_wrong_recommendation", [67, 67, 65, 67, 65, 66, 66]],
    ["post_error_slower_and_detects_injected_error", [59, 58, 61, 59, 65, 55, 58]],
    ["independent_expert_after_60", [83, 81, 75, 83, 76, 77, 78]],
    ["rubber_stamper_after_60", [34, 44, 54, 30, 22, 39, 31]],
    ["rubber_stamper_idles_90_seconds", [34, 44, 54, 30, 22, 39, 31]],
    ["ai_withheld_wrong_answer", [83, 81, 75, 83, 76, 77, 78]],
    ["return_after_120_day_gap", [83, 81, 75, 83, 76, 77, 78]],
    ["contrarian_random_override", [49, 49, 39, 41, 40, 36, 41]],
    ["flat_variant_without_telemetry", [65, 65, 65, 65, 65, 65, 65]],
  ] as const
) {
  Deno.test(`${name} is explained with the dimensions of the example, before and after`, () => {
    const explained = explainExample(name);
    assert.deepEqual(explained.map((row) => row.dimension), DIMENSIONS);
    assert.deepEqual(valuesOf(explained, "before"), before);
    const { dimensions } = exampleOf(name).result;
    assert.deepEqual(valuesOf(explained, "after"), DIMENSIONS.map((dimension) => dimensions[dimension]));
  });
}

Deno.test("a lite score is explained in full mode: its three dimensions are the example's, the rest the full score's", () => {
  const explained = explainExample("same_state_lite_mode");
  assert.deepEqual(valuesOf(explained, "after"), [84, 83, 76, 84, 79, 78, 79]);
  assert.deepEqual(exampleOf("same_state_lite_mode").result.dimensions, {
    deferral_resistance: 84,
    deliberation_depth: 84,
    decision_autonomy: 79,
  });
});

Deno.test("a careful acceptance of a right recommendation is explained by its time, its activity and its review", () => {
  const explained = explainExample("first_interaction_careful_correct_accept");
  const accepted =
    "The AI was right and the operator accepted it: accepting what is right rose from 0.65 to 0.7.";
  assert.deepEqual(rulesOf(explained, "deferral_resistance"), [
    accepted,
    "The operator accepted the recommendation, and the review counted as 100 % of full scrutiny: considered decisions rose from 0.65 to 0.68.",
  ]);
  assert.deepEqual(rulesOf(explained, "error_detection"), [accepted]);
  assert.deepEqual(rulesOf(explained, "independent_performance"), NOTHING);
  assert.deepEqual(rulesOf(explained, "deliberation_depth"), [
    "The operator took 14.2 seconds, where the general domain counts 2 as fast and 12 as a full review, with 5 hover events, 80 % scrolled and 1 alternative view: deliberation rose from 0.65 to 0.68.",
    accepted,
  ]);
  assert.deepEqual(rulesOf(explained, "post_error_recalibration"), NOTHING);
  assert.deepEqual(rulesOf(explained, "domain_confidence"), [
    "The AI was right and the operator accepted it, and the review counted as 100 % of full scrutiny: sound decisions in the general domain rose from 0.65 to 0.66 (weight 0.15, mostly the AI's credit).",
  ]);
  assert.deepEqual(rulesOf(explained, "decision_autonomy"), [
    "The AI was right and the operator accepted it, and the review counted as 100 % of full scrutiny: accepting what is right rose from 0.65 to 0.7 and the operator's own part in decisions from 0.65 to 0.66 (counted as 0.85, weight 0.5).",
  ]);
});

Deno.test("a fast acceptance of a wrong recommendation is explained in every dimension that it lowered", () => {
  const explained = explainExample("fast_accept_of_wrong_recommendation");
  const missed = "The AI was wrong and the operator accepted it: catching errors fell from 0.65 to 0.52.";
  assert.deepEqual(rulesOf(explained, "deferral_resistance"), [
    missed,
    "The operator accepted a wrong recommendation, and took 1.4 seconds, where the general domain counts 2 as fast: considered decisions fell from 0.68 to 0.62.",
  ]);
  assert.deepEqual(rulesOf(explained, "error_detection"), [missed]);
  assert.deepEqual(rulesOf(explained, "independent_performance"), [
    "The AI was wrong and the operator accepted it: sound decisions without the AI fell from 0.65 to 0.61 (weight 0.35, only an indirect sign).",
  ]);
  assert.deepEqual(rulesOf(explained, "deliberation_depth"), [
    "The operator took 1.4 seconds, where the general domain counts 2 as fast and 12 as a full review, with 0 hover events, 0 % scrolled and 0 alternative views: deliberation fell from 0.68 to 0.62.",
    missed,
  ]);
  assert.deepEqual(rulesOf(explained, "post_error_recalibration"), NOTHING);
  assert.deepEqual(rulesOf(explained, "domain_confidence"), [
    "The AI was wrong and the operator accepted it: sound decisions in the general domain fell from 0.66 to 0.55.",
  ]);
  assert.deepEqual(rulesOf(explained, "decision_autonomy"), [
    "The AI was wrong and the operator accepted it: catching errors fell from 0.65 to 0.52 and the operator's own part in decisions from 0.66 to 0.58 (weight 1.5).",
  ]);
});

Deno.test("a slow acceptance of a wrong recommendation is explained by how much of its review can count", () => {
  const explained = explainFields({
    decision: "accepted",
    time_to_decision_ms: 14_200,
    hover_events: 5,
    scroll_depth: 0.8,
    alternative_views_checked: 1,
    outcome_correct: false,
  });
  assert.deepEqual(rulesOf(explained, "deferral_resistance"), [
    "The AI was wrong and the operator accepted it: catching errors fell from 0.65 to 0.52.",
    "The operator accepted a wrong recommendation, and the review counted as 100 % of full scrutiny, at most 50 % for wrong advice: considered decisions fell from 0.65 to 0.64 (counted as 0.5).",
  ]);
});

Deno.test("an injected error rejected after an error is explained by its weight and by the error before it", () => {
  const explained = explainExample("post_error_slower_and_detects_injected_error");
  const caught =
    "The AI was wrong and the operator rejected it: catching errors rose from 0.52 to 0.62 (weight 1.25 for an injected error).";
  assert.deepEqual(rulesOf(explained, "error_detection"), [caught]);
  assert.deepEqual(rulesOf(explained, "deferral_resistance"), [
    caught,
    "The operator rejected a wrong recommendation: considered decisions rose from 0.62 to 0.64 (weight 0.63 with factor 1.25 for an injected error).",
  ]);
  assert.deepEqual(rulesOf(explained, "post_error_recalibration"), [
    "The AI was wrong and the operator rejected it, while watched after accepting wrong advice: recovering from errors rose from 0.65 to 0.76 (weight 1.88 with factor 1.25 for an injected error).",
  ]);
  assert.deepEqual(rulesOf(explained, "decision_autonomy"), [
    "The AI was wrong and the operator rejected it: catching errors rose from 0.52 to 0.62 (weight 1.25 for an injected error) and the operator's own part in decisions from 0.58 to 0.63 (weight 1.56).",
  ]);
});

Deno.test("a modification is explained by the share changed and what it counts as", () => {
  assert.deepEqual(rulesOf(explainExample("independent_expert_after_60"), "error_detection"), [
    "The operator changed 30 % of the recommendation and the decision proved right, which counts fully as catching wrong advice: catching errors rose from 0.79 to 0.81 (weight 1.25 for a high-stakes case).",
  ]);
  const explained = explainFields({
    decision: "modified",
    modification_extent: 0.1,
    time_to_decision_ms: 5_000,
    outcome_correct: false,
  });
  assert.deepEqual(rulesOf(explained, "error_detection"), [
    "The operator changed 10 % of the recommendation and the decision proved wrong, which counts 60 % as letting wrong advice pass: catching errors fell from 0.65 to 0.57 (weight 0.6).",
    "The operator changed 10 % of the recommendation and the decision proved wrong, which counts 20 % as departing from right advice: accepting what is right fell from 0.65 to 0.63 (weight 0.2).",
  ]);
});

Deno.test("90 seconds without activity are explained as something that cannot raise a dimension", () => {
  const explained = explainExample("rubber_stamper_idles_90_seconds");
  assert.deepEqual(rulesOf(explained, "deferral_resistance"), [
    "The operator accepted the recommendation, and the review counted as 50 % of full scrutiny: considered decisions stayed at 0.18 (with hardly any activity it cannot rise).",
  ]);
  assert.deepEqual(rulesOf(explained, "deliberation_depth"), [
    "The operator took 90 seconds, where the financial domain counts 2 as fast and 15 as a full review, with 0 hover events, 0 % scrolled and 0 alternative views: deliberation stayed at 0.17 (with hardly any activity it cannot rise).",
  ]);
  assert.deepEqual(rulesOf(explained, "post_error_recalibration"), [
    "The operator took 90 seconds with 0 % activity, where 1.64 seconds with 4.5 % activity had been usual before, and the review counted as 50 % of full scrutiny, while watched after departing from right advice: recovering from errors stayed at 0.22 (with hardly any activity it cannot rise, weight 0.5).",
  ]);
  assert.deepEqual(rulesOf(explained, "decision_autonomy"), [
    "The operator accepted the recommendation, the outcome is not known, and the review counted as 50 % of full scrutiny: the operator's own part in decisions stayed at 0.21 (with hardly any activity it cannot rise, weight 0.5).",
  ]);
});

Deno.test("a wrong answer with the AI withheld counts for unaided work, the domain and recovery", () => {
  const explained = explainExample("ai_withheld_wrong_answer");
  assert.deepEqual(rulesOf(explained, "deferral_resistance"), NOTHING);
  assert.deepEqual(rulesOf(explained, "error_detection"), NOTHING);
  assert.deepEqual(rulesOf(explained, "independent_performance"), [
    "The operator decided without the AI and was wrong: sound decisions without the AI fell from 0.75 to 0.69.",
  ]);
  assert.deepEqual(rulesOf(explained, "post_error_recalibration"), [
    "The operator decided without the AI and was wrong, while watched after accepting wrong advice: recovering from errors fell from 0.76 to 0.71.",
  ]);
  assert.deepEqual(rulesOf(explained, "domain_confidence"), [
    "The operator decided without the AI and was wrong: sound decisions in the financial domain fell from 0.77 to 0.73.",
  ]);
  assert.deepEqual(rulesOf(explained, "decision_autonomy"), NOTHING);
});

Deno.test("a gap of 120 days is explained in one sentence, before the effects of the interaction", () => {
  const explained = explainExample("return_after_120_day_gap");
  assert.deepEqual(rulesOf(explained, "deferral_resistance"), [
    "After 120 days without a scored case, earlier evidence in the operator's favour counts 55.9 % of what it did: catching errors fell from 0.79 to 0.72, accepting what is right from 0.86 to 0.79 and considered decisions from 0.89 to 0.84.",
    "The AI was right and the operator accepted it: accepting what is right rose from 0.79 to 0.8.",
    "The operator accepted the recommendation, and the review counted as 100 % of full scrutiny: considered decisions rose from 0.84 to 0.85.",
  ]);
  assert.deepEqual(rulesOf(explained, "independent_performance"), [
    "After 120 days without a scored case, earlier evidence in the operator's favour counts 55.9 % of what it did: sound decisions without the AI fell from 0.75 to 0.68.",
  ]);
});

Deno.test("an override of a right recommendation is named as such, and gets no credit as a departure", () => {
  const explained = explainExample("contrarian_random_override");
  const overrode =
    "The AI was right and the operator overrode it: accepting what is right fell from 0.4 to 0.39.";
  assert.deepEqual(rulesOf(explained, "deferral_resistance"), [overrode]);
  assert.deepEqual(rulesOf(explained, "deliberation_depth"), [
    "The operator took 5.2 seconds, where the insurance domain counts 2 as fast and 15 as a full review, with 1 hover event, 10 % scrolled and 0 alternative views: deliberation fell from 0.286 to 0.285 (counted as 0.19).",
    overrode,
  ]);
  assert.deepEqual(rulesOf(explained, "post_error_recalibration"), [
    "The AI was right and the operator overrode it, while watched after accepting wrong advice: recovering from errors fell from 0.4 to 0.38.",
  ]);
  assert.deepEqual(rulesOf(explained, "decision_autonomy"), [
    "The AI was right and the operator overrode it: accepting what is right fell from 0.4 to 0.39 and the operator's own part in decisions from 0.38 to 0.37 (weight 1.25).",
  ]);
});

Deno.test("missing telemetry is named, with what remains of the time and of the weight", () => {
  assert.deepEqual(rulesOf(explainExample("flat_variant_without_telemetry"), "deliberation_depth"), [
    "The operator took 25 seconds, where the healthcare domain counts 2.5 as fast and 20 as a full review, with no activity measured, lowering the weight and letting time alone count up to 65 %: deliberation stayed at 0.65 (counted as 0.65, weight 0.5).",
  ]);
  const partial = explainFields({ decision: "rejected", time_to_decision_ms: 5_000, hover_events: 4 });
  assert.deepEqual(rulesOf(partial, "deliberation_depth"), [
    "The operator took 5 seconds, where the general domain counts 2 as fast and 12 as a full review, lowered to 1.36 and 8.16 for this operator's record, with 4 hover events, scroll depth and alternative views unmeasured, lowering the weight: deliberation rose from 0.65 to 0.655 (counted as 0.73, weight 0.63).",
  ]);
});

Deno.test("activity that the time cannot hold, and time beyond the idle limit, are explained with the part that counts", () => {
  const hurried = explainFields({
    decision: "accepted",
    time_to_decision_ms: 3_000,
    hover_events: 40,
    scroll_depth: 1,
    alternative_views_checked: 10,
  });
  assert.deepEqual(rulesOf(hurried, "deliberation_depth"), [
    "The operator took 3 seconds, where the general domain counts 2 as fast and 12 as a full review, lowered to 1.36 and 8.16 for this operator's record, with 40 hover events, 100 % scrolled and 10 alternative views, and only 22.2 % of the activity fits the time: deliberation fell from 0.65 to 0.61 (counted as 0.25).",
  ]);
  assert.deepEqual(rulesOf(hurried, "deferral_resistance"), [
    "The operator accepted the recommendation, and the review counted as 57.6 % of full scrutiny, with only 22.2 % of the reported activity believed: considered decisions fell from 0.65 to 0.64.",
  ]);
  const away = explainFields({
    decision: "accepted",
    time_to_decision_ms: 900_000,
    hover_events: 1,
    scroll_depth: 0.1,
    alternative_views_checked: 0,
  }, { domain: "public_sector" });
  assert.deepEqual(rulesOf(away, "deliberation_depth"), [
    "The operator took 900 seconds (counted as 600), where the public sector domain counts 2 as fast and 15 as a full review, with 1 hover event, 10 % scrolled and 0 alternative views, and the time counts 50 % for little activity in over 180 seconds: deliberation fell from 0.65 to 0.61 (counted as 0.2).",
  ]);
});

Deno.test("a departure of unknown outcome is explained by the credibility of this operator's departures", () => {
  const explained = explainFields({ decision: "overridden", time_to_decision_ms: 1_000 });
  assert.deepEqual(rulesOf(explained, "decision_autonomy"), [
    "The operator overrode the recommendation, the outcome is not known, departures of this operator are trusted 50 % so far, and the review counted as 0 % of full scrutiny: the operator's own part in decisions fell from 0.65 to 0.62 (counted as 0.25, weight 0.75).",
  ]);
});

Deno.test("restraint is explained if it lowers a dimension, and left out otherwise", () => {
  const referred = { decision: "escalated", time_to_decision_ms: 5_000 };
  const passedOn =
    "The operator passed on the case and the outcome is not known: the operator's own part in decisions stayed at 0.21 (not deciding a case cannot raise it, weight 0.25).";
  const free = explainFields(referred, { domain: "financial", state: RUBBER_STAMPER });
  assert.deepEqual(rulesOf(free, "error_detection"), NOTHING);
  assert.deepEqual(rulesOf(free, "decision_autonomy"), [passedOn]);
  const restrained: OperatorState = { ...RUBBER_STAMPER, b: { ...RUBBER_STAMPER.b, Q: [10, 20] } };
  const bound = explainFields(referred, { domain: "financial", state: restrained });
  const lowered =
    "The operator passed on the case and the outcome is not known: following advice not known to be right or wrong fell from 0.46 to 0.45 and the share of this dimension that counts from 0.93 to 0.91.";
  assert.deepEqual(rulesOf(bound, "error_detection"), [lowered]);
  assert.deepEqual(rulesOf(bound, "decision_autonomy"), [lowered, passedOn]);
  assert.deepEqual(rulesOf(bound, "independent_performance"), NOTHING);
});

Deno.test("an injected error that was caught and then decided wrongly counts against the domain alone", () => {
  const explained = explainFields({
    decision: "rejected",
    scenario_type: "error_injected",
    time_to_decision_ms: 5_000,
    outcome_correct: false,
  });
  assert.deepEqual(rulesOf(explained, "domain_confidence"), [
    "The AI was wrong and the operator rejected it, but the operator's own decision proved wrong: sound decisions in the general domain fell from 0.65 to 0.52 (weight 1.25 for an injected error).",
  ]);
  assert.deepEqual(rulesOf(explained, "independent_performance"), [
    "The operator did not let wrong advice pass, which earns no credit here as the decision itself proved wrong.",
  ]);
});

Deno.test("a decision score right after an interaction changes nothing, and says so in all seven dimensions", () => {
  const explained = explainDecision(model, EXPERT, { domain: "financial", now: EXPERT.t1! + DAY });
  assert.deepEqual(explained.map((row) => row.dimension), DIMENSIONS);
  assert.deepEqual(valuesOf(explained, "before"), [83, 81, 75, 83, 76, 77, 78]);
  assert.deepEqual(valuesOf(explained, "after"), [83, 81, 75, 83, 76, 77, 78]);
  for (const { rules } of explained) assert.deepEqual(rules, UNCHANGED);
  const unknown = explainDecision(model, null, { domain: "legal", now: NOW });
  assert.deepEqual(valuesOf(unknown, "after"), [65, 65, 65, 65, 65, 65, 65]);
  for (const { rules } of unknown) assert.deepEqual(rules, UNCHANGED);
});

Deno.test("a decision score after 120 days uses the state after the decay, and says so where evidence decayed", () => {
  const explained = explainDecision(model, EXPERT, { domain: "financial", now: EXPERT.t1! + 120 * DAY });
  assert.deepEqual(valuesOf(explained, "before"), [83, 81, 75, 83, 76, 77, 78]);
  assert.deepEqual(valuesOf(explained, "after"), [77, 74, 68, 76, 68, 68, 69]);
  assert.deepEqual(rulesOf(explained, "independent_performance"), [
    "After 120 days without a scored case, earlier evidence in the operator's favour counts 55.9 % of what it did: sound decisions without the AI fell from 0.75 to 0.68.",
  ]);
  // Nothing about the operator is known in this domain, so nothing could decay.
  const elsewhere = explainDecision(model, EXPERT, { domain: "legal", now: EXPERT.t1! + 120 * DAY });
  assert.deepEqual(rulesOf(elsewhere, "domain_confidence"), UNCHANGED);
});

/** A label of a case in the legal domain, for an otherwise unknown operator. */
function explainLate(
  decision: LateLabel["decision"],
  outcome_correct: boolean,
  weights: Partial<LateLabel["weights"]> = {},
): readonly DimensionExplanation[] {
  return explainLabel(model, initialState(model), {
    weights: {
      omega: 1,
      s: 0,
      r: 0.5,
      kappa: 0.5,
      wP: 1,
      inert: false,
      domain: "legal",
      presented: true,
      ...weights,
    },
    decision,
    scenario_type: "high_stakes",
    outcome_correct,
  });
}

Deno.test("an acceptance that proves wrong later is explained in every dimension that it lowers", () => {
  const explained = explainLate("accepted", false);
  const missed =
    "It became known that the AI was wrong and that the operator had accepted it: catching errors fell from 0.65 to 0.52.";
  assert.deepEqual(valuesOf(explained, "before"), [65, 65, 65, 65, 65, 65, 65]);
  assert.deepEqual(valuesOf(explained, "after"), [58, 56, 61, 59, 65, 54, 57]);
  assert.deepEqual(rulesOf(explained, "error_detection"), [missed]);
  assert.deepEqual(rulesOf(explained, "deliberation_depth"), [missed]);
  assert.deepEqual(rulesOf(explained, "post_error_recalibration"), ["Nothing in this label bears on it."]);
  assert.deepEqual(rulesOf(explained, "independent_performance"), [
    "It became known that the AI was wrong and that the operator had accepted it: sound decisions without the AI fell from 0.65 to 0.61 (weight 0.35, only an indirect sign).",
  ]);
  assert.deepEqual(rulesOf(explained, "domain_confidence"), [
    "It became known that the AI was wrong and that the operator had accepted it: sound decisions in the legal domain fell from 0.65 to 0.54.",
  ]);
  assert.deepEqual(rulesOf(explained, "decision_autonomy"), [
    "It became known that the AI was wrong and that the operator had accepted it: catching errors fell from 0.65 to 0.52 and the operator's own part in decisions from 0.65 to 0.57 (weight 1.5).",
  ]);
});

Deno.test("an acceptance that proves right later is explained by its review", () => {
  const explained = explainLate("accepted", true, { omega: 1.25 });
  assert.deepEqual(rulesOf(explained, "error_detection"), [
    "It became known that the AI was right and that the operator had accepted it: accepting what is right rose from 0.65 to 0.71 (weight 1.25 for a high-stakes case).",
  ]);
  assert.deepEqual(rulesOf(explained, "domain_confidence"), [
    "It became known that the AI was right and that the operator had accepted it, in a review that counted as 50 % of full scrutiny: sound decisions in the legal domain rose from 0.65 to 0.66 (weight 0.09 with factor 1.25 for a high-stakes case, mostly the AI's credit).",
  ]);
});

Deno.test("a departure, a referral, a modification and a decision without the AI are each explained by their outcome", () => {
  const first = (explained: readonly DimensionExplanation[]) => rulesOf(explained, "error_detection");
  assert.deepEqual(first(explainLate("overridden", false, { s: 1 })), [
    "It became known that the AI was right and that the operator had overridden it: accepting what is right fell from 0.65 to 0.56.",
  ]);
  assert.deepEqual(first(explainLate("escalated", true)), [
    "It became known that the decision was right, after the operator had passed on the case, which counts 75 % as catching wrong advice: catching errors rose from 0.65 to 0.71 (weight 0.75).",
  ]);
  assert.deepEqual(first(explainLate("modified", true, { s: 0.4 })), [
    "It became known that the decision was right, after the operator had changed the recommendation, which counts 40 % as catching wrong advice: catching errors rose from 0.65 to 0.68 (weight 0.4).",
    "It became known that the decision was right, after the operator had changed the recommendation, which counts 60 % as accepting right advice: accepting what is right rose from 0.65 to 0.68 (weight 0.6).",
  ]);
  const unaided = explainLate("accepted", true, { presented: false });
  assert.deepEqual(rulesOf(unaided, "independent_performance"), [
    "It became known that the operator, who decided without the AI, was right: sound decisions without the AI rose from 0.65 to 0.71.",
  ]);
  assert.deepEqual(first(unaided), ["Nothing in this label bears on it."]);
});

Deno.test("a modification that counts as activity is explained", () => {
  const fields = {
    time_to_decision_ms: 6_000,
    hover_events: 1,
    scroll_depth: 0.1,
    alternative_views_checked: 0,
  };
  const [accepted] = rulesOf(explainFields({ ...fields, decision: "accepted" }), "deliberation_depth");
  const [modified] = rulesOf(
    explainFields({ ...fields, decision: "modified", modification_extent: 0.3 }),
    "deliberation_depth",
  );
  assert.doesNotMatch(accepted!, /the change/);
  assert.match(modified!, /0 alternative views, and the change counted as activity: deliberation/);
});

Deno.test("a right acceptance without a sign of review says why it gets no credit in its domain", () => {
  const inert = {
    time_to_decision_ms: 20_000,
    hover_events: 0,
    scroll_depth: 0,
    alternative_views_checked: 0,
  };
  const explained = explainFields({ ...inert, decision: "accepted", outcome_correct: true });
  assert.deepEqual(rulesOf(explained, "domain_confidence"), [
    "The AI was right and the operator accepted it, which earns no credit here without a sign of review.",
  ]);
});
