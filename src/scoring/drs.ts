/**
 * The Decision Risk Score: how risky one AI-assisted decision is, given the operator's record and the process
 * behind it, and where it should be routed. It reads a state and never changes it.
 * Source: scoring model, section 11.
 */
import { type Domain, type Route, ROUTES, type ScenarioType, type Stakes } from "../domain/enums.ts";
import type { Interaction } from "../domain/interaction.ts";
import { clamp, power, round, roundTo } from "./arithmetic.ts";
import { departureShare, isReferral } from "./classify.ts";
import { type PolicyTrigger, policyTriggers } from "./drs_policies.ts";
import { domainRules, type ModelDocument } from "./model.ts";
import { processEvidence, validatedSpeedRelief } from "./process.ts";
import { readState } from "./reading.ts";
import { asMeasured, asOf, departureCredibility } from "./reducer.ts";
import { initialState, minimumDataMet, type OperatorState } from "./state.ts";
import type { Uncertainty } from "./uncertainty.ts";
import type { Verdict } from "./verdict.ts";

interface DrsFactor {
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
  /** The verdict on the operator as of the decision; absent before `jis-3`. */
  readonly operator_verdict?: Verdict;
}

/** Scores one decision made by the operator of `state` (null: unknown) at `now`, epoch milliseconds. */
export function scoreDecision(
  model: ModelDocument,
  state: OperatorState | null,
  { interaction: given, domain, stakes, now }: {
    readonly interaction: Interaction;
    readonly domain: Domain;
    /** null if the caller does not state them. */
    readonly stakes: Stakes | null;
    readonly now: number;
  },
): DrsResult {
  const rules = model.drs;
  const current = asOf(model, state ?? initialState(model), now);
  const interaction = asMeasured(model, state, given);
  const { means, jis, uncertainty, judgment } = readState(model, current, { domain, mode: "full" });
  const verdict = judgment?.verdict ?? null;
  const relief = validatedSpeedRelief(model, means.H, means.C);
  const process = processEvidence(model, interaction, { domain, relief });
  const credibility = departureCredibility(model, current);
  const departure = departureShare(model, interaction);
  const scenario = graverScenario(model, { scenario: interaction.scenario_type, stakes });

  const likelihood = likelihoodOf(model, {
    referral: isReferral(interaction),
    departure,
    acceptanceRisk: rules.acceptance.process_weight * (1 - process.evidence) +
      rules.acceptance.hit_weight * (1 - means.H),
    departureRisk: rules.departure.process_weight * (1 - process.evidence) +
      rules.departure.credibility_weight * (1 - credibility),
    interactions: current.n,
  });
  const severity = Math.min(1, domainRules(model, domain).severity + severityBonus(model, scenario));
  const risk = round(
    100 * power(likelihood, rules.likelihood_exponent) * power(severity, rules.severity_exponent),
  );
  const triggers = policyTriggers(model, {
    interaction,
    domain,
    isCritical: scenario === "critical",
    jis,
    departure,
    credibility,
    plausibility: process.plausibility,
    interactions: current.n,
    isProven: minimumDataMet(model, current, now) && verdict?.status !== "undetermined",
    status: verdict?.status ?? null,
  });
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
    operator_uncertainty: uncertainty,
    ...(verdict === null ? {} : { operator_verdict: verdict }),
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
