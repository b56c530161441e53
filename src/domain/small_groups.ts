/**
 * Withholds the figures of small groups, in which a figure tells about single people although nobody is named. The size of a
 * group is not withheld, nor is the status of a whole organization. Source: oversight-loop design, section 6.
 */
import type { VerdictStatus } from "./enums.ts";
import { ServiceError } from "./errors.ts";
import { groupSizeIn } from "./group_sentence.ts";
import type { ProbeFigures, ProbeSummary } from "./probe.ts";
import type { OrganizationWeeks, ProbedFigures } from "./week.ts";
import type { Article14, Finding, ReportContent } from "./report.ts";

/** The fewest people of whom a group's figures are shown. */
export const SMALLEST_GROUP = 5;

const WITHHELD = `The figures of a group of fewer than ${SMALLEST_GROUP} reviewers are withheld.`;

/** Whether a group has people, and so few that its figures are withheld. */
export function isSmallGroup(people: number): boolean {
  return people > 0 && people < SMALLEST_GROUP;
}

/** @throws {ServiceError} INSUFFICIENT_DATA if figures would be about a small group. */
export function requireGroup(people: number): void {
  if (!isSmallGroup(people)) return;
  throw new ServiceError(
    "INSUFFICIENT_DATA",
    `These figures are about ${
      people === 1 ? "one reviewer" : `${people} reviewers`
    }: where reviewers are pseudonyms, none are shown of fewer than ${SMALLEST_GROUP}.`,
  );
}

/** The sentences, without those about a small group. */
function withoutSmallGroups(sentences: readonly string[]): string[] {
  const shown = sentences.map((sentence) => isSmallGroup(groupSizeIn(sentence) ?? 0) ? WITHHELD : sentence);
  return [...new Set(shown)];
}

/** The counts of the organization rule's halves. */
interface RuleCounts {
  readonly high_risk_operators: number;
  readonly high_risk_below_minimum: number | null;
  readonly critical_operators: number;
  readonly critical_below_critical: number | null;
}

function ruleWithheld<Rule extends RuleCounts>(rule: Rule): Rule {
  return {
    ...rule,
    ...(isSmallGroup(rule.high_risk_operators) ? { high_risk_below_minimum: null } : {}),
    ...(isSmallGroup(rule.critical_operators) ? { critical_below_critical: null } : {}),
  };
}

/** The members of a finding that tell about its population. */
interface Judged
  extends Pick<Finding, "operators" | "observed" | "passing" | "undetermined" | "capped" | "status"> {
  readonly status_certain: boolean;
  readonly verdict?: Finding["verdict"];
}

/** The finding without what tells about a small population. The status of one reviewer is that reviewer's verdict: it goes, too. */
function findingWithheld<Shown extends Judged>(finding: Shown): Shown {
  if (!isSmallGroup(finding.operators) || finding.status === "not_applicable") return finding;
  return {
    ...finding,
    status: "insufficient_data",
    status_certain: false,
    ...(finding.verdict === undefined ? {} : { verdict: "undetermined" }),
    observed: null,
    passing: null,
    undetermined: null,
    capped: WITHHELD,
  };
}

/** The members of a dashboard that may be about small groups. */
interface Dashboard {
  readonly total_operators: number;
  readonly verdict: { readonly status: VerdictStatus; readonly reasons: readonly string[] };
  readonly conditions: readonly {
    readonly status: VerdictStatus | null;
    readonly operators: number;
    readonly below: number | null;
    readonly open: number | null;
  }[];
  readonly organization_rule: RuleCounts & { readonly reasons: readonly string[] };
  readonly probes: ProbeFigures | null;
}

/**
 * A dashboard without the figures of small groups.
 * @param probed the number of people behind the figures of probes.
 * @throws {ServiceError} INSUFFICIENT_DATA if all its operators are a small group.
 */
export function dashboardOfGroups<Shown extends Dashboard>(dashboard: Shown, probed: number): Shown {
  requireGroup(dashboard.total_operators);
  const { verdict, conditions, organization_rule: rule, probes } = dashboard;
  return {
    ...dashboard,
    verdict: { ...verdict, reasons: withoutSmallGroups(verdict.reasons) },
    conditions: conditions.map((one) =>
      isSmallGroup(one.operators) ? { ...one, status: null, below: null, open: null } : one
    ),
    organization_rule: { ...ruleWithheld(rule), reasons: withoutSmallGroups(rule.reasons) },
    probes: probed < SMALLEST_GROUP ? null : probes,
  };
}

/** Weeks without the figures of small groups, and without what tells who is in a team. */
export function weeksOfGroups(found: OrganizationWeeks): OrganizationWeeks {
  const probesOfGroup = <Shown extends ProbedFigures>(shown: Shown): Shown =>
    shown.probed < SMALLEST_GROUP ? { ...shown, probes: null } : shown;
  return {
    teams: [],
    weeks: found.weeks.map((week) =>
      probesOfGroup(
        isSmallGroup(week.operators)
          ? { ...week, median_jis: null, median_interval: null, verdicts: null }
          : week,
      )
    ),
    total: probesOfGroup(found.total),
    operators: found.operators.map((operator) => ({ ...operator, team: null })),
  };
}

/** The measures of Article 14 without the figures of small groups. As {@link dashboardOfGroups}. */
export function article14OfGroups(body: Article14, probed: number): Article14 {
  requireGroup(body.operators.total);
  requireGroup(body.operators.minimum_data_met);
  return {
    ...body,
    measures: body.measures.map(findingWithheld),
    probes: probed < SMALLEST_GROUP ? null : body.probes,
  };
}

/** A report without the figures of small groups, which says so. As {@link dashboardOfGroups}. */
export function reportOfGroups(report: ReportContent, probed: number): ReportContent {
  requireGroup(report.population.operators);
  requireGroup(report.population.minimum_data_met);
  const { probes, ...rest } = report;
  const shown: ReportContent = {
    ...rest,
    ...(report.verdict === undefined
      ? {}
      : { verdict: { ...report.verdict, reasons: withoutSmallGroups(report.verdict.reasons) } }),
    findings: report.findings.map(findingWithheld),
    organization_rule: ruleWithheld(report.organization_rule),
    ...(probes === undefined || probed < SMALLEST_GROUP ? {} : { probes }),
    smallest_group: SMALLEST_GROUP,
  };
  return { ...shown, caveats: [...report.caveats, WITHHELD] };
}

/**
 * Whether a report may hold figures of small groups, because names were shown when it was issued. How many people are behind its
 * probes, it does not say.
 */
export function mayShowSmallGroups(report: ReportContent): boolean {
  const { population, findings, organization_rule: rule, probes, smallest_group } = report;
  if (smallest_group !== undefined) return false;
  return isSmallGroup(population.operators) || isSmallGroup(population.minimum_data_met) ||
    findings.some(({ operators }) => isSmallGroup(operators)) ||
    isSmallGroup(rule.high_risk_operators) || isSmallGroup(rule.critical_operators) || probes !== undefined;
}

/** A summary of probes without the groups of few people. @throws {ServiceError} INSUFFICIENT_DATA as above. */
export function probeSummaryOfGroups<Summary extends ProbeSummary>(summary: Summary): Summary {
  requireGroup(summary.by_operator.length);
  const isShown = ({ reviewers }: { readonly reviewers: number }) => reviewers >= SMALLEST_GROUP;
  return {
    ...summary,
    by_stakes: summary.by_stakes.filter(isShown),
    by_domain: summary.by_domain.filter(isShown),
  };
}
