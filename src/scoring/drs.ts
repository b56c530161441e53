/**
 * The Decision Risk Score: how risky one AI-assisted decision is, given the operator's record and the process
 * behind it, and where it should be routed. It reads a state and never changes it.
 * Source: scoring model, section 11.
 */
import { type Domain, type Route, ROUTES, type ScenarioType, type Stakes } from "../domain/enums.ts";
import type { Interaction } from "../domain/interaction.ts";
import { clamp, power, round, roundTo } from "./arithmetic.ts";
import { departureShare, isReferral } from "./classify.ts";
import { dimensionsOf, jisOf } from "./dimensions.ts";
import type { ModelDocument } from "./model.ts";
import { processEvidence, validatedSpeedRelief } from "./process.ts";
import { departureCredibility, retain } from "./reducer.ts";
import { bucketMeans, initialState, minimumDataMet, type OperatorState } from "./state.ts";
import { type Uncertainty, uncertaintyOf } from "./uncertainty.ts";
import { percent } from "./wording.ts";

export interface PolicyTrigger {
  readonly policy: string;
  readonly triggered: boolean;
  readonly minimum_route: Route;
  /** One sentence; null if the policy was not triggered. */
  readonly evidence: string | null;
}

export interface DrsFactor {
  readonly name: "likelihood" | "severity" | "process_evidence" | "operator_jis";
  readonly value: number;
  /** The factor's exponent in the score; null if it only feeds the likelihood. */
  readonly weight: number | null;
}

export interface DrsResult {
  /** 0..1, two decimals. */
  readonly decision_risk_score: number;
  readonly routing_decision: Route;
  /** All seven policies, in the model's order. */
  readonly policy_triggers: readonly PolicyTrigger[];
  readonly factors: readonly DrsFactor[];
  /** Interval of the operator's JIS among the factors. */
  readonly operator_uncertainty: Uncertainty;
}

/** Scores one decision made by the operator of `state` (null: unknown) at `now`, epoch milliseconds. */
export function scoreDecision(
  model: ModelDocument,
  state: OperatorState | null,
  { interaction, domain, stakes, now }: {
    readonly interaction: Interaction;
    readonly domain: Domain;
    /** null if the caller does not state them. */
    readonly stakes: Stakes | null;
    readonly now: number;
  },
): DrsResult {
  const rules = model.drs;
  const row = model.domains[domain];
  const current = retain(model, state ?? initialState(model), now);
  const means = bucketMeans(model, current, domain);
  const jis = jisOf(model, dimensionsOf(model, means, "full"), "full");
  const relief = validatedSpeedRelief(model, means.H, means.C);
  const process = processEvidence(model, interaction, { domain, relief });
  const credibility = departureCredibility(model, current);
  const departure = departureShare(model, interaction);

  const likelihood = likelihoodOf(model, {
    referral: isReferral(interaction),
    departure,
    acceptanceRisk: rules.acceptance.process_weight * (1 - process.evidence) +
      rules.acceptance.hit_weight * (1 - means.H),
    departureRisk: rules.departure.process_weight * (1 - process.evidence) +
      rules.departure.credibility_weight * (1 - credibility),
    interactions: current.n,
  });
  const scenario = graverScenario(model, { scenario: interaction.scenario_type, stakes });
  const severity = Math.min(1, row.severity + severityBonus(model, scenario));
  const risk = round(
    100 * power(likelihood, rules.likelihood_exponent) * power(severity, rules.severity_exponent),
  );

  const critical = scenario === "critical";
  const known = current.n > 0;
  const time = interaction.time_to_decision_ms;
  const reflexive = interaction.decision === "accepted" && time < row.fast_ms;
  const { critical_jis, min_jis } = model.thresholds;
  const trigger = (
    policy: string,
    { triggered, route, evidence }: { triggered: boolean; route: Route; evidence: string },
  ): PolicyTrigger => ({
    policy,
    triggered,
    minimum_route: route,
    evidence: triggered ? evidence : null,
  });
  const triggers: readonly PolicyTrigger[] = [
    trigger("P1_CRITICAL_REFLEXIVE_ACCEPT", {
      triggered: critical && reflexive,
      route: "escalation",
      evidence:
        `A critical case was accepted in ${time} ms, below the ${row.fast_ms} ms that ${domain} counts as reflexive.`,
    }),
    trigger("P2_OPERATOR_BELOW_CRITICAL", {
      triggered: known && jis < critical_jis,
      route: row.high_risk || critical ? "escalation" : "must_review",
      evidence:
        `The operator's JIS of ${jis}, reckoned for ${domain} as of this decision, is below the critical level of ${critical_jis}.`,
    }),
    trigger("P3_OPERATOR_BELOW_MINIMUM", {
      triggered: known && jis >= critical_jis && jis < min_jis,
      route: row.high_risk ? "must_review" : "review",
      evidence:
        `The operator's JIS of ${jis}, reckoned for ${domain} as of this decision, is below the minimum of ${min_jis}.`,
    }),
    trigger("P4_REFLEXIVE_ACCEPT_HIGH_RISK", {
      triggered: row.high_risk && reflexive,
      route: "must_review",
      evidence:
        `A recommendation in ${domain}, a high-risk domain, was accepted in ${time} ms, below ${row.fast_ms} ms.`,
    }),
    trigger("P5_LOW_CREDIBILITY_DEPARTURE", {
      triggered: departure >= rules.low_credibility.departure &&
        credibility < rules.low_credibility.credibility,
      route: "review",
      evidence: `The recommendation was departed from, and departures of this operator are trusted ${
        percent(credibility)
      }, below ${percent(rules.low_credibility.credibility)}.`,
    }),
    trigger("P6_UNPROVEN_OPERATOR_CRITICAL", {
      triggered: critical && !minimumDataMet(model, current, now),
      route: "must_review",
      evidence: `A critical case was decided by an operator with only ${current.n} ${
        current.n === 1 ? "interaction" : "interactions"
      } on record.`,
    }),
    trigger("P7_IMPLAUSIBLE_TELEMETRY", {
      triggered: process.plausibility !== null && process.plausibility < rules.implausible_below,
      route: "review",
      evidence: `The activity reported takes far longer than the ${time} ms spent.`,
    }),
  ];

  return {
    decision_risk_score: risk / 100,
    routing_decision: triggers.reduce<Route>(
      (route, { triggered, minimum_route }) => (triggered ? graver(route, minimum_route) : route),
      routeOf(model, risk),
    ),
    policy_triggers: triggers,
    factors: [
      { name: "likelihood", value: roundTo(likelihood, 2), weight: rules.likelihood_exponent },
      { name: "severity", value: roundTo(severity, 2), weight: rules.severity_exponent },
      { name: "process_evidence", value: roundTo(process.evidence, 2), weight: null },
      { name: "operator_jis", value: jis, weight: null },
    ],
    operator_uncertainty: uncertaintyOf(model, current, { jis, domain, mode: "full" }),
  };
}

function severityBonus(model: ModelDocument, scenario: ScenarioType): number {
  const { severity_bonus: bonus } = model.drs;
  return scenario === "high_stakes" || scenario === "critical" ? bonus[scenario] : 0;
}

/** The scenario that counts for severity: the graver of the given one and the one that the stakes imply. */
function graverScenario(
  model: ModelDocument,
  { scenario, stakes }: { readonly scenario: ScenarioType; readonly stakes: Stakes | null },
): ScenarioType {
  if (stakes === null) return scenario;
  const implied = model.drs.stakes_scenario[stakes];
  return severityBonus(model, implied) > severityBonus(model, scenario) ? implied : scenario;
}

/** λ, the likelihood that the decision is wrong in a way nobody noticed. */
function likelihoodOf(
  model: ModelDocument,
  { referral, departure, acceptanceRisk, departureRisk, interactions }: {
    readonly referral: boolean;
    readonly departure: number;
    readonly acceptanceRisk: number;
    readonly departureRisk: number;
    readonly interactions: number;
  },
): number {
  const { referral_likelihood, novelty, likelihood_min } = model.drs;
  const base = referral ? referral_likelihood : (1 - departure) * acceptanceRisk + departure * departureRisk;
  const unknown = 1 - Math.min(1, interactions / novelty.interactions);
  return clamp(base + novelty.weight * unknown, likelihood_min, 1);
}

function routeOf(model: ModelDocument, risk: number): Route {
  const { review, must_review, escalation } = model.drs.routes;
  if (risk < review) return "auto";
  if (risk < must_review) return "review";
  if (risk < escalation) return "must_review";
  return "escalation";
}

function graver(a: Route, b: Route): Route {
  return ROUTES.indexOf(a) >= ROUTES.indexOf(b) ? a : b;
}
