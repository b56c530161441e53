/**
 * The compliance report of a period and its Article 14 part, from each operator's last record inside it.
 *
 * It depends only on the organization, the model document, the period and its records, in any order, so that
 * a past period's report can be made again. Its statuses describe the records, never compliance with the law.
 * Source: scoring model, sections 9 and 10; contract, section 4.
 */
import type { Domain, VerdictStatus } from "../domain/enums.ts";
import type { Period } from "../domain/period.ts";
import type { Article14, Finding, FindingStatus, Report, ReportContent } from "../domain/report.ts";
import { figuresOf } from "./figures.ts";
import {
  type FindingsInput,
  findingsOf,
  forceOf,
  isCertain,
  type JudgedFinding,
  overallVerdict,
  type Verdicts,
  worstOf,
} from "./findings.ts";
import { truthNeeded } from "./state.ts";
import type { Model, ModelDocument } from "./model.ts";
import {
  countedVerdict,
  NO_VERDICTS,
  type OperatorRow,
  organizationRule,
  organizationVerdict,
  verdictCounts,
} from "./organization.ts";
import { type PeriodData, type PeriodRecord, populationOf, totalOf } from "./period.ts";

const ARTICLE_14_FRAMEWORK = "EU AI Act Article 14";

const STATEMENT =
  "This report is evidence for a deployer's own assessment of human oversight. It does not declare anyone compliant with any law, and it is not legal advice.";

/** The report of a period, without its id. */
export function reportOf(
  model: Model,
  { organization, period, data }: {
    readonly organization: { readonly org_id: string; readonly name: string; readonly domain: Domain };
    readonly period: Period;
    readonly data: PeriodData;
  },
): ReportContent {
  const { document, sha256 } = model;
  const population = populationOf(document, data.records);
  const judged = findingsOf(document, { period, data, organizationDomain: organization.domain });
  const findings = judged.map(({ finding }) => finding);
  const rule = judgeOrganization(document, data.records);
  const overall = overallOf(judged, rule.verdicts);
  const verdict = verdictOn(document, data.records);
  return {
    organization: { org_id: organization.org_id, name: organization.name, domain: organization.domain },
    overall_status: overall.reported,
    status_certain: isCertain(overall),
    overall_verdict: withOrganization(overallVerdict(judged), {
      verdict: verdict.status,
      worst: rule.verdicts.worst,
    }),
    verdict,
    period: { start: new Date(period.start).toISOString(), end: new Date(period.end).toISOString() },
    findings,
    organization_rule: rule.body,
    population: {
      operators: data.records.length,
      minimum_data_met: population.length,
      insufficient_data: data.records.length - population.length,
      without_ground_truth: withoutGroundTruth(document, population),
      interactions: totalOf(data.records, "interactions"),
      departures: totalOf(data.records, "departures"),
      referrals: totalOf(data.records, "referrals"),
      incident_freezes: data.incidentFreezes,
    },
    figures: figuresOf(document, population, data.records.length - population.length),
    ...(data.probes == null ? {} : { probes: data.probes }),
    thresholds: thresholdsOf(document),
    rules_version: document.law.version,
    model: { version: document.version, sha256 },
    statement: STATEMENT,
    caveats: caveatsOf(document, { data, population, findings }),
  };
}

/**
 * The measures of Article 14(4) alone. The overall status is the worst of them: the organization rule counts
 * only in the dashboard and the report.
 */
export function article14Of({ document: model, sha256 }: Model, input: FindingsInput): Article14 {
  const population = populationOf(model, input.data.records);
  const judged = findingsOf(model, input).filter(({ finding }) =>
    finding.regulation === ARTICLE_14_FRAMEWORK
  );
  const overall = overallOf(judged);
  const { records } = input.data;
  const { min_jis, critical_jis } = model.thresholds;
  return {
    article: "14",
    overall_status: overall.reported,
    status_certain: isCertain(overall),
    overall_verdict: withOrganization(overallVerdict(judged), {
      verdict: verdictOn(model, records).status,
      worst: judgeOrganization(model, records).verdicts.worst,
    }),
    measures: judged.map(({ finding }) => ({
      paragraph: finding.provision,
      requirement: finding.requirement,
      status: finding.status,
      status_certain: finding.status_certain,
      verdict: finding.verdict ?? null,
      metric: finding.metric,
      observed: finding.observed,
      threshold: finding.threshold,
      operators: finding.operators,
      passing: finding.passing,
      undetermined: finding.undetermined,
      capped: finding.capped,
      citation: finding.citation,
      in_force: finding.in_force,
      in_force_from: finding.in_force_from,
      in_force_until: finding.in_force_until,
    })),
    operators: {
      total: input.data.records.length,
      minimum_data_met: population.length,
      below_min: population.filter((record) => record.jis < min_jis).length,
      below_critical: population.filter((record) => record.jis < critical_jis).length,
      verdicts: verdictCounts(population),
    },
    probes: input.data.probes ?? null,
    thresholds: thresholdsOf(model),
    rules_version: model.law.version,
    model: { version: model.version, sha256 },
    statement: STATEMENT,
  };
}

/** Whether Article 14 is in force on a day, and its dates, as the measures say it; null if the model does not have it. */
export function article14Force(model: ModelDocument, day: string): ReturnType<typeof forceOf> {
  return forceOf(model, { framework: ARTICLE_14_FRAMEWORK, day });
}

function thresholdsOf({ thresholds }: ModelDocument): Report["thresholds"] {
  return {
    min_jis: thresholds.min_jis,
    target_jis: thresholds.target_jis,
    critical_jis: thresholds.critical_jis,
  };
}

type RuleStatus = Report["organization_rule"]["status"];

/**
 * The worst of the findings, as reported and at both extremes; a broken organization rule outweighs them all.
 */
function overallOf(
  judged: readonly JudgedFinding[],
  rule: Verdicts<RuleStatus> | null = null,
): Verdicts<FindingStatus> {
  const overall = (which: keyof Verdicts<FindingStatus>): FindingStatus =>
    rule?.[which] === "non_compliant"
      ? "non_compliant"
      : worstOf(judged.map(({ verdicts }) => verdicts[which]));
  return { reported: overall("reported"), best: overall("best"), worst: overall("worst") };
}

/**
 * The overall verdict of a report: a certainly broken organization rule outweighs the findings, and one that the
 * undetermined operators could break leaves no more than `undetermined`. A rule that judges nobody says nothing.
 */
function withOrganization(
  findings: VerdictStatus,
  { verdict, worst }: { readonly verdict: VerdictStatus; readonly worst: RuleStatus },
): VerdictStatus {
  if (findings === "non_compliant" || verdict === "non_compliant") return "non_compliant";
  return worst === "non_compliant" ? "undetermined" : findings;
}

/**
 * The records that the organization rule reads. Before `jis-3` only those that are long enough; with it all, as the
 * dashboard does, because who takes critical decisions counts from the first one on.
 */
function ruledOf(model: ModelDocument, records: readonly PeriodRecord[]): readonly PeriodRecord[] {
  return model.discrimination === undefined ? populationOf(model, records) : records;
}

/** The organization's verdict by the dashboard's function, each operator judged at its record's instant. */
function verdictOn(
  model: ModelDocument,
  records: readonly PeriodRecord[],
): NonNullable<Report["verdict"]> {
  const rows = ruledOf(model, records).map((record) => rowOf(record, record.jis));
  const { status, reasons } = organizationVerdict(model, rows, { instantOf: (row) => row.t1 });
  return { status, reasons: [...reasons] };
}

/**
 * The organization rule over the records, each operator judged at its record's instant. At the extremes
 * an operator's verdict decides. Without one to count by each JIS is replaced by an end of its interval, which changes only
 * operators whose interval straddles a threshold.
 */
function judgeOrganization(
  model: ModelDocument,
  records: readonly PeriodRecord[],
): { readonly body: Report["organization_rule"]; readonly verdicts: Verdicts<RuleStatus> } {
  const instantOf = (row: OperatorRow) => row.t1;
  const ruled = ruledOf(model, records);
  const ruleAt = (end: "best" | "worst") => {
    const side = end === "best" ? "high" : "low";
    const rows = ruled.map((record) =>
      rowOf(record, countedVerdict(model, record) === null ? record[side] : record.jis)
    );
    return organizationRule(model, rows, { instantOf, end });
  };
  const rule = organizationRule(model, ruled.map((record) => rowOf(record, record.jis)), { instantOf });
  const verdicts: Verdicts<RuleStatus> = populationOf(model, records).length === 0 && rule.critical === 0
    ? { reported: "insufficient_data", best: "insufficient_data", worst: "insufficient_data" }
    : { reported: rule.status, best: ruleAt("best").status, worst: ruleAt("worst").status };
  const body = {
    status: verdicts.reported,
    status_certain: isCertain(verdicts),
    high_risk_operators: rule.highRisk,
    high_risk_below_minimum: rule.highRiskBelowMinimum,
    critical_operators: rule.critical,
    critical_below_critical: rule.criticalBelowCritical,
  };
  return { body, verdicts };
}

function rowOf(record: PeriodRecord, jis: number): OperatorRow {
  const { at: t1, n, t0, domain, tcrit, shareHs, shareCrit, critCount, verdict } = record;
  return { jis, n, t0, t1, domain, tcrit, shareHs, shareCrit, critCount, verdict };
}

/** With `jis-3` nothing is known of an operator whom earlier formulas scored last: they counted other cases. */
function withoutGroundTruth(model: ModelDocument, population: readonly PeriodRecord[]): number {
  const isUncounted = ({ verdict }: PeriodRecord) => model.discrimination !== undefined && verdict === null;
  return population.filter((record) => isUncounted(record) || record.groundTruth < truthNeeded(model)).length;
}

/**
 * The caveats that a reader must know before relying on the figures; only those that apply to this report.
 */
function caveatsOf(
  model: ModelDocument,
  { data, population, findings }: {
    readonly data: PeriodData;
    readonly population: readonly PeriodRecord[];
    readonly findings: readonly Finding[];
  },
): string[] {
  const { interactions, days } = model.minimum_data;
  const undetermined = population.filter(({ verdict }) => verdict === "undetermined").length;
  const unjudged = population.filter(({ verdict }) => verdict === null).length;
  const unproven = withoutGroundTruth(model, population);
  const scoredSince = population.filter(({ isScoredSince }) => isScoredSince).length;
  const short = data.records.length - population.length;
  const domains = new Set(data.records.map((record) => record.domain));
  const caveats: readonly (readonly [applies: boolean, sentence: string])[] = [
    [
      undetermined > 0,
      `Operators whose verdict is undetermined: ${undetermined} of ${population.length}. ` +
      `Too few of their cases of wrong advice have a known truth, or the interval of their score spans ${model.thresholds.min_jis}. ` +
      settlingOf(model),
    ],
    [
      unjudged > 0 && model.discrimination !== undefined,
      `Operators without a verdict, because earlier formulas scored them last: ${unjudged} of ${population.length}. ` +
      "They count as undetermined until their next score or late label.",
    ],
    [
      unproven > 0,
      `Operators with fewer than ${truthNeeded(model)} cases${
        model.discrimination === undefined
          ? " whose truth is known"
          : " of wrong advice whose truth counts here"
      }: ${unproven} of ${population.length}. ` +
      "Without outcome labels or injected errors the score cannot tell careful review from a good imitation of it.",
    ],
    [
      scoredSince > 0 && model.discrimination !== undefined,
      `Operators scored again after the period: ${scoredSince} of ${population.length}. ` +
      "Each is judged by what was known at the last score in the period. Labels that came later count in reports that end later.",
    ],
    [
      population.length === 0,
      "No operator's record is long enough for a verdict, so nothing is said for or against the organization.",
    ],
    [
      short > 0,
      `Operators left out because their record is too short (below ${interactions} interactions and ${days} days): ` +
      `${short} of ${data.records.length}.`,
    ],
    [
      domains.size > 1,
      "An operator is judged by the last record in the period, under the domain of that record.",
    ],
    [
      findings.some((finding) => finding.date_confidence === "secondary"),
      "Dates marked secondary come from secondary sources: verify them before relying on them.",
    ],
  ];
  return caveats.filter(([applies]) => applies).map(([, sentence]) => sentence);
}

/** The sentence that says which evidence settles an undetermined verdict, if any does. */
function settlingOf({ discrimination }: ModelDocument): string {
  return discrimination === undefined
    ? NO_VERDICTS
    : `Outcome labels of wrong advice, or planted errors, would settle it: no verdict is given before ${discrimination.wrong_cases} known cases of it.`;
}
