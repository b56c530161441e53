/**
 * The findings of a compliance report: each dated rule of law, applied to a period's records.
 *
 * The code knows no framework by name: the model document holds the rules, their dates, the conditions for an
 * operator and the caps of a status, so that a fifth framework or a changed date is a change of data. Source:
 * scoring model, section 10.
 */
import { DIMENSIONS, type Domain, type VerdictStatus } from "../domain/enums.ts";
import type { Period } from "../domain/period.ts";
import { type Finding, FINDING_STATUSES, type FindingStatus } from "../domain/report.ts";
import type { LawRule, ModelDocument } from "./model.ts";
import { countedVerdict } from "./organization.ts";
import {
  againstMinimum,
  lastDayOf,
  type PeriodData,
  type PeriodRecord,
  populationOf,
  totalOf,
} from "./period.ts";

/** Replaces the source if only a secondary account of the law was read; the citation names the law itself. */
const NOT_READ = "not read at the source";

/** The input of the findings. */
export interface FindingsInput {
  readonly period: Period;
  readonly data: PeriodData;
  readonly organizationDomain: Domain;
}

/**
 * A status as reported, and as it would be if every undetermined operator passed (best) or failed (worst).
 */
export interface Verdicts<Status> {
  readonly reported: Status;
  readonly best: Status;
  readonly worst: Status;
}

export interface JudgedFinding {
  readonly finding: Finding;
  readonly verdicts: Verdicts<FindingStatus>;
}

/** True if the status stays the same whether the undetermined operators pass or fail. */
export function isCertain<Status>({ reported, best, worst }: Verdicts<Status>): boolean {
  return best === reported && worst === reported;
}

/**
 * The verdict of a finding: certainly below if even the best status is not `compliant`, certainly met if even the
 * worst is. `partial` is below. Null if the rule does not apply.
 * @param best the status without its cap: a cap says that evidence is missing, not that the duty is not met.
 */
function verdictOf({ best, worst }: Pick<Verdicts<FindingStatus>, "best" | "worst">): VerdictStatus | null {
  if (best === "not_applicable") return null;
  if (best === "insufficient_data") return "undetermined";
  if (best !== "compliant") return "non_compliant";
  return worst === "compliant" ? "compliant" : "undetermined";
}

/**
 * The verdict on findings together: `non_compliant` if one of them is, else `undetermined` if one of them is. A
 * rule that does not apply says nothing; without one that applies the verdict is `undetermined`.
 */
export function overallVerdict(judged: readonly JudgedFinding[]): VerdictStatus {
  const verdicts = judged.map(({ finding }) => finding.verdict);
  if (verdicts.includes("non_compliant")) return "non_compliant";
  return verdicts.includes("undetermined") || !verdicts.includes("compliant") ? "undetermined" : "compliant";
}

/** The worst of the applicable statuses; insufficient_data if none applies. */
export function worstOf(statuses: readonly FindingStatus[]): FindingStatus {
  const worst = FINDING_STATUSES.find((status) => status !== "not_applicable" && statuses.includes(status));
  return worst ?? "insufficient_data";
}

/**
 * One finding for each rule that is reported for the period's last day, frameworks in the order of the
 * document.
 */
export function findingsOf(model: ModelDocument, input: FindingsInput): readonly JudgedFinding[] {
  const day = lastDayOf(input.period);
  const population = populationOf(model, input.data.records);
  return reportedRules(model.law.rules, day).map((rule) => judge(model, rule, { ...input, day, population }));
}

/**
 * A framework's rules of that day, or all its rules if it has none then, so that no framework is left out.
 */
function reportedRules(rules: readonly LawRule[], day: string): readonly LawRule[] {
  const frameworks = new Set(rules.map((rule) => rule.framework));
  return [...frameworks].flatMap((framework) => {
    const own = rules.filter((rule) => rule.framework === framework);
    const current = own.filter((rule) => covers(rule, day));
    return current.length > 0 ? current : own;
  });
}

/** Whether a rule is in force on a day, and its dates. */
type Force = Pick<Finding, "in_force" | "in_force_from" | "in_force_until">;

function forceOfRule(rule: LawRule, day: string): Force {
  return {
    in_force: rule.in_force_from !== null && covers(rule, day),
    in_force_from: rule.in_force_from,
    in_force_until: rule.in_force_until,
  };
}

/** Whether a framework is in force on a day, as the first of its findings says it; null if the model does not have it. */
export function forceOf(
  model: ModelDocument,
  { framework, day }: { readonly framework: string; readonly day: string },
): Force | null {
  const rule = reportedRules(model.law.rules, day).find((one) => one.framework === framework);
  return rule === undefined ? null : forceOfRule(rule, day);
}

/** True if that day lies within the rule's dates. ISO dates compare as text. */
function covers({ in_force_from: from, in_force_until: until }: LawRule, day: string): boolean {
  return (from === null || from <= day) && (until === null || day <= until);
}

function judge(
  model: ModelDocument,
  rule: LawRule,
  { day, data, population, organizationDomain }: FindingsInput & {
    readonly day: string;
    readonly population: readonly PeriodRecord[];
  },
): JudgedFinding {
  const isMeant = (domain: Domain) => rule.domains === null || rule.domains.includes(domain);
  const applies = isMeant(organizationDomain) || data.records.some((record) => isMeant(record.domain));
  const records = population.filter((record) => isMeant(record.domain));
  const capped = records.length > 0 ? capOf(rule, records, data) : null;
  const uncapped = (passing: number): FindingStatus => {
    if (!applies) return "not_applicable";
    return records.length === 0 ? "insufficient_data" : shareStatus(model, passing / records.length);
  };
  const statusWith = (passing: number): FindingStatus => {
    const status = uncapped(passing);
    return status === "compliant" && capped !== null ? "partial" : status;
  };
  const undetermined = (record: PeriodRecord) => againstMinimum(model, record) === "undetermined";
  const passes = (record: PeriodRecord) => isPassing(model, rule, record);
  const passing = records.filter(passes).length;
  const passingAtBest = records.filter((record) => passes(record) || undetermined(record)).length;
  const verdicts = {
    reported: statusWith(passing),
    best: statusWith(passingAtBest),
    worst: statusWith(records.filter((record) => passes(record) && !undetermined(record)).length),
  };
  const finding = {
    regulation: rule.framework,
    provision: rule.provision,
    citation: rule.citation,
    requirement: rule.requirement,
    status: verdicts.reported,
    status_certain: isCertain(verdicts),
    verdict: verdictOf({ best: uncapped(passingAtBest), worst: verdicts.worst }),
    metric: metricOf(rule, {
      byVerdict: model.discrimination !== undefined || records.some(({ verdict }) => verdict !== null),
    }),
    // Four decimals, rounded down, so that a share below the threshold is never shown as the threshold.
    observed: records.length === 0 ? null : Math.floor(passing * 10_000 / records.length) / 10_000,
    threshold: model.law.pass_share.compliant,
    operators: records.length,
    passing,
    undetermined: records.filter(undetermined).length,
    capped,
    ...forceOfRule(rule, day),
    date_confidence: rule.date_confidence,
    status_note: rule.status_note,
    source: rule.date_confidence === "primary" ? rule.source : NOT_READ,
  };
  return { finding, verdicts };
}

/**
 * The reason why the status is partial at best; null if nothing caps it. Only departures and referrals of the
 * judged operators count, because another operator's case shows nothing about them. Incident freezes are the
 * organization's.
 */
function capOf(
  { cap }: LawRule,
  records: readonly PeriodRecord[],
  { incidentFreezes }: PeriodData,
): string | null {
  const referrals = totalOf(records, "referrals");
  if (cap === "no_departure_or_referral" && totalOf(records, "departures") + referrals === 0) {
    return "These operators have no departure and no referral on record in the period, so the status is partial at best.";
  }
  if (cap === "no_referral_or_freeze" && referrals + incidentFreezes === 0) {
    return "These operators have no referral, and the organization no incident freeze, on record in the period, so the status is partial at best.";
  }
  return null;
}

/** Division is correctly rounded: 9 / 10 is exactly the number 0.9. */
function shareStatus(model: ModelDocument, share: number): FindingStatus {
  const { compliant, partial } = model.law.pass_share;
  if (share >= compliant) return "compliant";
  return share >= partial ? "partial" : "non_compliant";
}

/** The fixed order of the conditions, whatever the order of the document's keys. */
const CONDITION_ORDER = [...DIMENSIONS, "jis", "mean_correct_acceptance"] as const;

function conditionsOf({ conditions }: LawRule) {
  return CONDITION_ORDER.flatMap((name) => {
    const least = conditions[name];
    return least === undefined ? [] : [{ name, least }];
  });
}

/** A record with a verdict to count by passes only if that is `compliant`, too. */
function isPassing(model: ModelDocument, rule: LawRule, record: PeriodRecord): boolean {
  const verdict = countedVerdict(model, record);
  if (verdict !== null && verdict !== "compliant") return false;
  const values = {
    ...record.dimensions,
    jis: record.jis,
    mean_correct_acceptance: record.meanCorrectAcceptance,
  };
  return conditionsOf(rule).every(({ name, least }) => values[name] >= least);
}

function metricOf(rule: LawRule, { byVerdict }: { readonly byVerdict: boolean }): string {
  const conditions = [
    ...byVerdict ? ["the verdict compliant"] : [],
    ...conditionsOf(rule).map(({ name, least }) => `${name} at least ${least}`),
  ];
  return `share of operators with ${conditions.join(" and ")}`;
}
