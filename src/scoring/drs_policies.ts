/**
 * The policies of the Decision Risk Score: each one, if it is triggered, sets the least route of the decision.
 * Source: scoring model, section 11.
 */
import type { Domain, Route, VerdictStatus } from "../domain/enums.ts";
import type { Interaction } from "../domain/interaction.ts";
import { domainRules, type ModelDocument } from "./model.ts";
import { formatQuantity, percent } from "./wording.ts";

export interface PolicyTrigger {
  readonly policy: string;
  readonly triggered: boolean;
  readonly minimum_route: Route;
  /** One sentence; null if the policy was not triggered. */
  readonly evidence: string | null;
}

/** Facts about one decision, by which the policies judge it. */
export interface DecisionFacts {
  readonly interaction: Interaction;
  readonly domain: Domain;
  /** Whether the case or its stakes are critical. */
  readonly isCritical: boolean;
  /** JIS of the operator in the domain, as of the decision. */
  readonly jis: number;
  /** Share of the recommendation that the operator departed from, 0 to 1. */
  readonly departure: number;
  /** Credibility of the operator's departures, 0 to 1. */
  readonly credibility: number;
  /** Plausibility of the telemetry, 0 to 1; null if there is none. */
  readonly plausibility: number | null;
  /** Number of interactions on the operator's record. */
  readonly interactions: number;
  /** Whether the operator's record is long enough for a verdict; with `jis-3`, whether there is one. */
  readonly isProven: boolean;
  /** Null with the formulas before `jis-3`: then a low JIS is held against the operator without a verdict. */
  readonly status: VerdictStatus | null;
}

/** All seven policies, in the model's order, each with whether the decision triggered it. */
export function policyTriggers(model: ModelDocument, facts: DecisionFacts): readonly PolicyTrigger[] {
  const { interaction, domain, isCritical, jis, departure, credibility, plausibility, interactions } = facts;
  const { critical_jis, min_jis } = model.thresholds;
  const { low_credibility, implausible_below } = model.drs;
  const { high_risk, fast_ms } = domainRules(model, domain);
  const time = interaction.time_to_decision_ms;
  const isHeld = facts.status === null ? interactions > 0 : facts.status === "non_compliant";
  const isReflexive = interaction.decision === "accepted" && time < fast_ms;
  const isDistrusted = departure >= low_credibility.departure && credibility < low_credibility.credibility;
  return [
    trigger("P1_CRITICAL_REFLEXIVE_ACCEPT", {
      isTriggered: isCritical && isReflexive,
      route: "escalation",
      evidence:
        `A critical case was accepted in ${time} ms, below the ${fast_ms} ms that ${domain} counts as reflexive.`,
    }),
    trigger("P2_OPERATOR_BELOW_CRITICAL", {
      isTriggered: isHeld && jis < critical_jis,
      route: high_risk || isCritical ? "escalation" : "must_review",
      evidence:
        `The operator's JIS of ${jis}, reckoned for ${domain} as of this decision, is below the critical level of ${critical_jis}.`,
    }),
    trigger("P3_OPERATOR_BELOW_MINIMUM", {
      isTriggered: isHeld && jis >= critical_jis && jis < min_jis,
      route: high_risk ? "must_review" : "review",
      evidence:
        `The operator's JIS of ${jis}, reckoned for ${domain} as of this decision, is below the minimum of ${min_jis}.`,
    }),
    trigger("P4_REFLEXIVE_ACCEPT_HIGH_RISK", {
      isTriggered: high_risk && isReflexive,
      route: "must_review",
      evidence:
        `A recommendation in ${domain}, a high-risk domain, was accepted in ${time} ms, below ${fast_ms} ms.`,
    }),
    trigger("P5_LOW_CREDIBILITY_DEPARTURE", {
      isTriggered: isDistrusted,
      route: "review",
      evidence: `The recommendation was departed from, and departures of this operator are trusted ${
        percent(credibility)
      }, below ${percent(low_credibility.credibility)}.`,
    }),
    trigger("P6_UNPROVEN_OPERATOR_CRITICAL", {
      isTriggered: isCritical && !facts.isProven,
      route: "must_review",
      evidence: facts.status === null
        ? `A critical case was decided by an operator with only ${
          formatQuantity(String(interactions), "interaction")
        } on record.`
        : `A critical case was decided by an operator of whom the record, ${
          formatQuantity(String(interactions), "interaction")
        } long, allows no verdict yet.`,
    }),
    trigger("P7_IMPLAUSIBLE_TELEMETRY", {
      isTriggered: plausibility !== null && plausibility < implausible_below,
      route: "review",
      evidence: `The activity reported takes far longer than the ${time} ms spent.`,
    }),
  ];
}

function trigger(
  policy: string,
  { isTriggered, route, evidence }: {
    readonly isTriggered: boolean;
    readonly route: Route;
    readonly evidence: string;
  },
): PolicyTrigger {
  return {
    policy,
    triggered: isTriggered,
    minimum_route: route,
    evidence: isTriggered ? evidence : null,
  };
}
