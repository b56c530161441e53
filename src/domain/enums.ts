/**
 * The closed vocabularies of the service: every value that a request may name and that the model knows.
 * Order is part of the meaning if a list is ranked (urgency, routes, bands from best to worst).
 */

/** Domains that every model document and every operator's state has. */
export const FIRST_DOMAINS = [
  "general",
  "financial",
  "insurance",
  "healthcare",
  "legal",
  "employment",
  "education",
  "public_sector",
  "law_enforcement",
  "critical_infrastructure",
] as const;
/** Domains that came with `jis-3`. A document of earlier formulas may lack them; a state has those that occurred. */
export const LATER_DOMAINS = ["housing", "aviation", "pharmaceutical"] as const;
export const DOMAINS = [...FIRST_DOMAINS, ...LATER_DOMAINS] as const;
export type Domain = (typeof DOMAINS)[number];

/** `rejected` and `overridden` are departures, `deferred` and `escalated` referrals (scoring model, section 2.1). */
export const DECISIONS = ["accepted", "modified", "rejected", "overridden", "deferred", "escalated"] as const;
export type Decision = (typeof DECISIONS)[number];

/**
 * Other spellings that callers may send, each with our word for it. Answers and evidence use our words. The
 * reason for each pair is in docs/understand/decisions.md.
 */
export const DOMAIN_SPELLINGS = { government: "public_sector" } as const satisfies Record<string, Domain>;
export const DECISION_SPELLINGS = {
  accept: "accepted",
  modify: "modified",
  reject: "rejected",
  override: "overridden",
  defer: "deferred",
  escalate: "escalated",
} as const satisfies Record<string, Decision>;

export const SCENARIO_TYPES = [
  "standard",
  "high_stakes",
  "critical",
  "error_injected",
  "calibration",
  "ai_withheld",
] as const;
export type ScenarioType = (typeof SCENARIO_TYPES)[number];

export const DIMENSIONS = [
  "deferral_resistance",
  "error_detection",
  "independent_performance",
  "deliberation_depth",
  "post_error_recalibration",
  "domain_confidence",
  "decision_autonomy",
] as const;
export type Dimension = (typeof DIMENSIONS)[number];

export const BANDS = ["exemplary", "proficient", "adequate", "at_risk"] as const;
export type Band = (typeof BANDS)[number];

/** The statuses of a score from best to worst; `conditional` is of `jis-1` and `jis-2` alone, `undetermined` of `jis-3`. */
export const COMPLIANCE_STATUSES = ["compliant", "conditional", "undetermined", "non_compliant"] as const;
export type ComplianceStatus = (typeof COMPLIANCE_STATUSES)[number];

/** The statuses of a verdict of `jis-3`, from best to worst. */
export const VERDICT_STATUSES = ["compliant", "undetermined", "non_compliant"] as const;
export type VerdictStatus = (typeof VERDICT_STATUSES)[number];

/** Why `jis-3` gives no verdict. */
export const DOUBTS = [
  "too_few_wrong_cases",
  "too_few_right_cases",
  "too_few_natural_wrong_cases",
  "natural_cases_below_minimum",
  "part_not_measured",
  "interval_spans_minimum",
  "modifications_unclear",
] as const;
export type Doubt = (typeof DOUBTS)[number];

/** The parts of an operator's work on which a verdict can rest, besides each domain. */
export const WORK_PARTS = ["all", "natural", "high_stakes", "critical", "other_domains"] as const;

/** How users see operators: by their ids, or by pseudonyms. */
export const PRIVACIES = ["named", "pseudonymous"] as const;
export type Privacy = (typeof PRIVACIES)[number];

export const URGENCIES = ["none", "low", "medium", "high", "critical"] as const;
export type Urgency = (typeof URGENCIES)[number];

export const ROUTES = ["auto", "review", "must_review", "escalation"] as const;
export type Route = (typeof ROUTES)[number];

/** How much depends on a decision, as the caller states it. */
export const STAKES = ["low", "medium", "high", "critical"] as const;
export type Stakes = (typeof STAKES)[number];

/** How much depends on a probe: the scenario type of the live cases among which it is shown. */
export const PROBE_STAKES = ["standard", "high_stakes", "critical"] as const;
export type ProbeStakes = (typeof PROBE_STAKES)[number];

/** The states of a probe; in the last three it is opened. */
export const PROBE_STATES = ["sealed", "drawn", "decided", "recalled", "lost"] as const;
export type ProbeState = (typeof PROBE_STATES)[number];

export const MODES = ["full", "lite"] as const;
export type Mode = (typeof MODES)[number];

export const ROLE_TIERS = ["tier_1", "tier_2", "tier_3"] as const;
export type RoleTier = (typeof ROLE_TIERS)[number];

export const MODE_OVERRIDES = ["normal", "incident_frozen"] as const;
export type ModeOverride = (typeof MODE_OVERRIDES)[number];

/** Every set of scoring formulas. A released set is kept and never changed. */
export const FORMULAS = ["jis-1", "jis-2", "jis-3"] as const;
export type Formulas = (typeof FORMULAS)[number];

export const TIERS = ["starter", "standard", "enterprise"] as const;
export type Tier = (typeof TIERS)[number];

/** The events of a webhook whose registration names none. */
export const DEFAULT_WEBHOOK_EVENTS = ["score.committed", "drs.must_review", "drs.escalation"] as const;
/** Events that a webhook may receive; those that are no default are sent only to a webhook that names them. */
export const WEBHOOK_EVENTS = [...DEFAULT_WEBHOOK_EVENTS, "case.opened"] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** The states of a delivery. */
export const DELIVERY_STATUSES = ["queued", "delivered", "dead", "cancelled"] as const;

/** The orders of the list of operators; a leading `-` reverses one. */
export const OPERATOR_SORTS = [
  "operator_id",
  "-operator_id",
  "jis",
  "-jis",
  "last_interaction_at",
  "-last_interaction_at",
  "verdict",
  "-verdict",
] as const;
export type OperatorSort = (typeof OPERATOR_SORTS)[number];
