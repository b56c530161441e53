/**
 * The organization rule: the figures of a dashboard, the compliance status and the verdict, from the operators'
 * stored rows.
 *
 * It owns no threshold: every number comes from the model document. It reads each operator's last JIS, never
 * a projected or a displayed one, so that a status can be reproduced from stored state at an instant. Source:
 * scoring model, section 9.
 */
import { groupSentence } from "../domain/group_sentence.ts";
import { type Band, BANDS, type Domain, VERDICT_STATUSES, type VerdictStatus } from "../domain/enums.ts";
import { round, roundTo } from "./arithmetic.ts";
import { bandOf } from "./dimensions.ts";
import { formatQuantity, percent } from "./wording.ts";
import { domainRules, type ModelDocument } from "./model.ts";
import { minimumDataMet } from "./state.ts";
import { DAY_MS } from "../domain/time.ts";

/** The fields of one operator's state and row that the rule reads; times are epoch milliseconds. */
export interface OperatorRow {
  /** The last full-mode JIS, 0..100, two decimals. */
  readonly jis: number;
  /** Interactions scored. */
  readonly n: number;
  /** First interaction. */
  readonly t0: number;
  /** Latest interaction. */
  readonly t1: number;
  /** The last interaction's domain. */
  readonly domain: Domain;
  /** Latest critical interaction; null if there was none. */
  readonly tcrit: number | null;
  /** Recent share of high-stakes or critical interactions, 0..1. */
  readonly shareHs: number;
  /** Recent share of critical interactions, 0..1. */
  readonly shareCrit: number;
  /** Critical interactions ever. */
  readonly critCount: number;
  /** The full-mode verdict of the operator's state; null with the formulas before `jis-3`. */
  readonly verdict: VerdictStatus | null;
}

type OrganizationStatus = "compliant" | "non_compliant";

/** The dashboard's figures, in wire names. */
export interface OrganizationFigures {
  readonly total_operators: number;
  /** JIS points, two decimals; null if there is no operator. */
  readonly mean_jis: number | null;
  /**
   * JIS points, two decimals; with an even number of operators the mean of the middle two. Null if there is
   * no operator.
   */
  readonly median_jis: number | null;
  readonly at_risk_count: number;
  readonly band_distribution: Readonly<Record<Band, number>>;
  readonly compliance_status: OrganizationStatus;
  /** The counts, thresholds and reasons from which the status follows. */
  readonly organization_rule: {
    readonly high_risk_operators: number;
    readonly high_risk_below_minimum: number;
    readonly critical_operators: number;
    readonly critical_below_critical: number;
    readonly thresholds: { readonly min_jis: number; readonly critical_jis: number };
    readonly reasons: readonly string[];
  };
}

/** True if the operator decides cases in which harm is grave, and the record is long enough for a verdict. */
export function isHighRisk(model: ModelDocument, row: OperatorRow, now: number): boolean {
  if (!minimumDataMet(model, row, now)) return false;
  return domainRules(model, row.domain).high_risk || row.shareHs >= model.organization.high_risk_share;
}

/**
 * True if the operator takes critical decisions, lately or as a habit. It needs no minimum of data: a JIS
 * below the critical level already needs several independent failures.
 */
export function isCriticalDecision(model: ModelDocument, row: OperatorRow, now: number): boolean {
  const { critical_days, critical_share, critical_count } = model.organization;
  if (row.tcrit !== null && now - row.tcrit <= critical_days * DAY_MS) return true;
  return row.shareCrit >= critical_share && row.critCount >= critical_count;
}

/** Whether the operator has an interaction recent enough to be counted. */
export function isActive(model: ModelDocument, row: OperatorRow, now: number): boolean {
  return row.n > 0 && now - row.t1 <= model.organization.active_days * DAY_MS;
}

/** The counts of the rule over some operators, and the status that follows. */
export interface OrganizationRule {
  readonly status: OrganizationStatus;
  readonly highRisk: number;
  readonly highRiskBelowMinimum: number;
  readonly critical: number;
  readonly criticalBelowCritical: number;
}

/** Who fails each half of the rule. */
interface Failing {
  readonly isBelowMinimum: (row: OperatorRow) => boolean;
  readonly isBelowCritical: (row: OperatorRow) => boolean;
}

/** The specification's own reading: a score below the threshold fails. */
function failingByScore({ thresholds }: ModelDocument): Failing {
  return {
    isBelowMinimum: ({ jis }) => jis < thresholds.min_jis,
    isBelowCritical: ({ jis }) => jis < thresholds.critical_jis,
  };
}

/**
 * The verdict that an operator counts by. With `jis-3` an operator whom formulas without a verdict scored last is
 * undetermined, since nothing is known that these formulas ask for. Null if there is none to count by: the interval
 * decides then.
 */
export function countedVerdict(
  { discrimination }: ModelDocument,
  { verdict }: Pick<OperatorRow, "verdict">,
): VerdictStatus | null {
  return verdict ?? (discrimination === undefined ? null : "undetermined");
}

/**
 * Who fails if every undetermined operator turns out well (best) or badly (worst). Only a verdict
 * `non_compliant` fails for certain, only `compliant` passes for certain. That a verdict is `non_compliant` does
 * not put the score below the critical level, so at best that half asks for both. A row without a verdict to count
 * by is taken by its score.
 */
function failingByVerdict(model: ModelDocument, end: "best" | "worst"): Failing {
  const { isBelowMinimum, isBelowCritical } = failingByScore(model);
  const fails = (verdict: VerdictStatus) =>
    end === "best" ? verdict === "non_compliant" : verdict !== "compliant";
  return {
    isBelowMinimum: (row) => {
      const verdict = countedVerdict(model, row);
      return verdict === null ? isBelowMinimum(row) : fails(verdict);
    },
    isBelowCritical: (row) => {
      const verdict = countedVerdict(model, row);
      if (verdict === null) return isBelowCritical(row);
      return fails(verdict) && (end === "worst" || isBelowCritical(row));
    },
  };
}

/**
 * The rule over exactly these operators, each judged at its own instant, epoch milliseconds. It is broken if
 * too large a share of the high-risk operators is below the minimum, or if any operator with critical
 * decisions is below the critical level. Without high-risk operators there is no share to exceed.
 *
 * Scores decide, or with `end` the verdicts: at best only operators who certainly fail do, at worst all who do
 * not certainly pass.
 */
export function organizationRule(
  model: ModelDocument,
  rows: readonly OperatorRow[],
  { instantOf, end }: {
    readonly instantOf: (row: OperatorRow) => number;
    readonly end?: "best" | "worst";
  },
): OrganizationRule {
  const { isBelowMinimum, isBelowCritical } = end === undefined
    ? failingByScore(model)
    : failingByVerdict(model, end);
  const highRisk = rows.filter((row) => isHighRisk(model, row, instantOf(row)));
  const below = highRisk.filter(isBelowMinimum);
  const critical = rows.filter((row) => isCriticalDecision(model, row, instantOf(row)));
  const grave = critical.filter(isBelowCritical);
  const counts = {
    highRisk: highRisk.length,
    highRiskBelowMinimum: below.length,
    critical: critical.length,
    criticalBelowCritical: grave.length,
  };
  const isBroken = breaksHighRiskHalf(model, counts) || breaksCriticalHalf(counts);
  return { status: isBroken ? "non_compliant" : "compliant", ...counts };
}

function breaksHighRiskHalf(
  model: ModelDocument,
  { highRisk, highRiskBelowMinimum: below }: Pick<OrganizationRule, "highRisk" | "highRiskBelowMinimum">,
): boolean {
  return highRisk > 0 && below / highRisk > model.organization.non_compliant_share;
}

function breaksCriticalHalf(
  { criticalBelowCritical }: Pick<OrganizationRule, "criticalBelowCritical">,
): boolean {
  return criticalBelowCritical > 0;
}

function decidingCritically(count: number): string {
  return `${formatQuantity(String(count), "operator")} who ${
    count === 1 ? "takes" : "take"
  } critical decisions`;
}

/** Both halves of the rule, each as a sentence with its figures. */
function ruleInWords(model: ModelDocument, rule: OrganizationRule): readonly string[] {
  const { min_jis, critical_jis } = model.thresholds;
  const below = (count: number, jis: number) => `${count} ${count === 1 ? "has" : "have"} a JIS below ${jis}`;
  return [
    rule.highRisk === 0 ? "No operator counts as high-risk." : groupSentence(
      formatQuantity(String(rule.highRisk), "high-risk operator"),
      `${below(rule.highRiskBelowMinimum, min_jis)}; at most ${
        percent(model.organization.non_compliant_share)
      } may.`,
    ),
    rule.critical === 0 ? "No operator takes critical decisions." : groupSentence(
      decidingCritically(rule.critical),
      `${below(rule.criticalBelowCritical, critical_jis)}; none may.`,
    ),
  ];
}

/** Number of operators by verdict. A row without a verdict counts as undetermined. */
export function verdictCounts(
  rows: readonly Pick<OperatorRow, "verdict">[],
): Readonly<Record<VerdictStatus, number>> {
  const verdicts = rows.map(({ verdict }) => verdict ?? "undetermined");
  return Object.fromEntries(
    VERDICT_STATUSES.map((status) => [status, verdicts.filter((verdict) => verdict === status).length]),
  ) as Record<VerdictStatus, number>;
}

/** The remark with the formulas before `jis-3`: no evidence settles what they do not say. */
export const NO_VERDICTS =
  "The formulas of the model in use give no verdict, so that no more known cases would settle it.";

/** The verdict on an organization, in wire names. */
export interface OrganizationVerdict {
  readonly status: VerdictStatus;
  /** Sentences with the counts from which the status follows, and what would settle it. */
  readonly reasons: readonly string[];
}

/** The share of the operators who pass: at best all who do not certainly fail, at worst those who certainly pass. */
interface PassShare {
  /** Operators whose record is long enough. */
  readonly operators: number;
  readonly failing: number;
  readonly undetermined: number;
  readonly status: VerdictStatus;
}

/**
 * The share of operators that a report's findings ask for, over all operators: the rule judges only high-risk ones, and
 * a dashboard says of the others what the report does. Null if no operator's record is long enough, and with
 * formulas before `jis-3`. Division is correctly rounded: 9 / 10 is exactly 0.9.
 */
function passShare(
  model: ModelDocument,
  rows: readonly (OperatorRow & { readonly verdict: VerdictStatus })[],
  instantOf: (row: OperatorRow) => number,
): PassShare | null {
  if (model.discrimination === undefined) return null;
  const { compliant, undetermined, non_compliant: failing } = verdictCounts(
    rows.filter((row) => minimumDataMet(model, row, instantOf(row))),
  );
  const operators = compliant + undetermined + failing;
  const isEnough = (passing: number) => passing / operators >= model.law.pass_share.compliant;
  const status = !isEnough(operators - failing)
    ? "non_compliant"
    : isEnough(compliant)
    ? "compliant"
    : "undetermined";
  return operators === 0 ? null : { operators, failing, undetermined, status };
}

/**
 * The verdict over exactly these operators, each judged at its own instant, epoch milliseconds:
 * `non_compliant` if the rule or the share of all operators is broken even at best, `compliant` if both hold even at
 * worst and judge somebody, else `undetermined`. A row without a verdict counts as undetermined.
 */
export function organizationVerdict(
  model: ModelDocument,
  rows: readonly OperatorRow[],
  { instantOf }: { readonly instantOf: (row: OperatorRow) => number },
): OrganizationVerdict {
  return verdictOf(model, endsOf(model, rows, instantOf));
}

/** The rule at its best and its worst end, and the share of all operators. */
interface RuleEnds {
  readonly best: OrganizationRule;
  readonly worst: OrganizationRule;
  readonly share: PassShare | null;
  readonly isSomebodyUndetermined: boolean;
}

function endsOf(
  model: ModelDocument,
  rows: readonly OperatorRow[],
  instantOf: (row: OperatorRow) => number,
): RuleEnds {
  const known = rows.map((row) => ({ ...row, verdict: row.verdict ?? "undetermined" as const }));
  return {
    best: organizationRule(model, known, { instantOf, end: "best" }),
    worst: organizationRule(model, known, { instantOf, end: "worst" }),
    share: passShare(model, known, instantOf),
    isSomebodyUndetermined: known.some(({ verdict }) => verdict === "undetermined"),
  };
}

/** One condition of the verdict on an organization, in wire names: observed against allowed. */
export interface OrganizationCondition {
  readonly of: "all" | "high_risk" | "critical";
  /** `non_compliant` if it is broken even at best, `compliant` if it holds even at worst. */
  readonly status: VerdictStatus;
  readonly operators: number;
  /** Operators who are certainly below the threshold, and those who may be. */
  readonly below: number;
  readonly open: number;
  readonly threshold: number;
  /** The share of the operators who may be below, 0..1. */
  readonly allowed: number;
}

/** The conditions that judge somebody, each with what decides it. */
function conditionsOf(
  model: ModelDocument,
  { best, worst, share }: RuleEnds,
): readonly OrganizationCondition[] {
  const { min_jis, critical_jis } = model.thresholds;
  const statusOf = (isBroken: (rule: OrganizationRule) => boolean): VerdictStatus =>
    isBroken(best) ? "non_compliant" : isBroken(worst) ? "undetermined" : "compliant";
  const conditions: readonly OrganizationCondition[] = [
    ...(share === null ? [] : [{
      of: "all" as const,
      status: share.status,
      operators: share.operators,
      below: share.failing,
      open: share.undetermined,
      threshold: min_jis,
      allowed: roundTo(1 - model.law.pass_share.compliant, 4),
    }]),
    {
      of: "high_risk",
      status: statusOf((rule) => breaksHighRiskHalf(model, rule)),
      operators: best.highRisk,
      below: best.highRiskBelowMinimum,
      open: worst.highRiskBelowMinimum - best.highRiskBelowMinimum,
      threshold: min_jis,
      allowed: model.organization.non_compliant_share,
    },
    {
      of: "critical",
      status: statusOf(breaksCriticalHalf),
      operators: best.critical,
      below: best.criticalBelowCritical,
      open: worst.criticalBelowCritical - best.criticalBelowCritical,
      threshold: critical_jis,
      allowed: 0,
    },
  ];
  return conditions.filter(({ operators }) => operators > 0);
}

function verdictOf(
  model: ModelDocument,
  { best, worst, share, isSomebodyUndetermined }: RuleEnds,
): OrganizationVerdict {
  const judgesNobody = share === null && best.highRisk + best.critical === 0;
  const status = best.status === "non_compliant" || share?.status === "non_compliant"
    ? "non_compliant"
    : worst.status === "compliant" && !judgesNobody && share?.status !== "undetermined"
    ? "compliant"
    : "undetermined";
  const remark = judgesNobody
    ? [`${judgedInWords(model)}: the rule judges nobody, so there is no verdict.`]
    : status !== "undetermined"
    ? []
    : [remarkOnDoubt(model, isSomebodyUndetermined)];
  return { status, reasons: [...verdictInWords(model, { best, worst, share }), ...remark] };
}

function judgedInWords({ discrimination }: ModelDocument): string {
  return discrimination === undefined
    ? "No operator works in a high-risk domain or takes critical decisions"
    : "No operator has a record that is long enough, or takes critical decisions";
}

/** Says what would settle an undetermined verdict. */
function remarkOnDoubt(model: ModelDocument, isSomebodyUndetermined: boolean): string {
  if (model.discrimination === undefined) return NO_VERDICTS;
  return isSomebodyUndetermined
    ? "More cases of wrong advice whose truth is known, by outcome labels or by planted errors, would settle it."
    : `Who takes critical decisions fails for certain only with a JIS below ${model.thresholds.critical_jis}.`;
}

/** The halves of the rule and the share, each as a sentence with the operators who fail for certain and those who may. */
function verdictInWords(
  model: ModelDocument,
  { best, worst, share }: {
    readonly best: OrganizationRule;
    readonly worst: OrganizationRule;
    readonly share: PassShare | null;
  },
): readonly string[] {
  const { min_jis, critical_jis } = model.thresholds;
  const are = (count: number) => `${count} ${count === 1 ? "is" : "are"}`;
  const belowOrOpen = (below: number, open: number) =>
    `${are(below)} certainly below ${min_jis} and ${are(open)} undetermined`;
  const [open, grave] = [
    worst.highRiskBelowMinimum - best.highRiskBelowMinimum,
    best.criticalBelowCritical,
  ];
  const other = worst.criticalBelowCritical - grave;
  return [
    ...(share === null ? [] : [
      groupSentence(
        `${formatQuantity(String(share.operators), "operator")} with a record that is long enough`,
        `${belowOrOpen(share.failing, share.undetermined)}; at most ${
          percent(1 - model.law.pass_share.compliant)
        } may be below.`,
      ),
    ]),
    best.highRisk === 0 ? "No operator counts as high-risk." : groupSentence(
      formatQuantity(String(best.highRisk), "high-risk operator"),
      `${belowOrOpen(best.highRiskBelowMinimum, open)}; at most ${
        percent(model.organization.non_compliant_share)
      } may be below.`,
    ),
    best.critical === 0 ? "No operator takes critical decisions." : groupSentence(
      decidingCritically(best.critical),
      `${are(grave)} certainly below ${min_jis} with a JIS below ${critical_jis}, and ${
        are(other)
      } below ${min_jis} with a higher JIS or undetermined; none may be below ${critical_jis}.`,
    ),
  ];
}

/**
 * The verdict and its counts over the operators that are active at `now`, epoch milliseconds. With `jis-3` each is judged
 * at the latest interaction, as in a report: a record grows no longer by the days that pass after it.
 */
export function activeVerdicts(
  model: ModelDocument,
  rows: readonly OperatorRow[],
  now: number,
): {
  readonly verdict: OrganizationVerdict;
  readonly conditions: readonly OrganizationCondition[];
  readonly verdicts: Readonly<Record<VerdictStatus, number>>;
} {
  const active = rows.filter((row) => isActive(model, row, now));
  const instantOf = ({ t1 }: OperatorRow) => model.discrimination === undefined ? now : t1;
  const ends = endsOf(model, active, instantOf);
  return {
    verdict: verdictOf(model, ends),
    conditions: conditionsOf(model, ends),
    verdicts: verdictCounts(active),
  };
}

/**
 * The figures over the operators that are active at `now`, epoch milliseconds; the others are left out of
 * every figure.
 */
export function organizationFigures(
  model: ModelDocument,
  rows: readonly OperatorRow[],
  now: number,
): OrganizationFigures {
  const active = rows.filter((row) => isActive(model, row, now));
  const bands = active.map((row) => bandOf(model, row.jis));
  const distribution = Object.fromEntries(
    BANDS.map((band) => [band, bands.filter((other) => other === band).length]),
  ) as Record<Band, number>;
  const { mean, median } = jisAverages(active);
  const rule = organizationRule(model, active, { instantOf: () => now });
  return {
    total_operators: active.length,
    mean_jis: mean,
    median_jis: median,
    at_risk_count: distribution.at_risk,
    band_distribution: distribution,
    compliance_status: rule.status,
    organization_rule: {
      high_risk_operators: rule.highRisk,
      high_risk_below_minimum: rule.highRiskBelowMinimum,
      critical_operators: rule.critical,
      critical_below_critical: rule.criticalBelowCritical,
      thresholds: { min_jis: model.thresholds.min_jis, critical_jis: model.thresholds.critical_jis },
      reasons: ruleInWords(model, rule),
    },
  };
}

/**
 * Mean and median JIS in points, two decimals; null if there is no operator. With an even number of operators
 * the median is the mean of the middle two. The order of the rows changes neither.
 */
export function jisAverages(
  rows: readonly Pick<OperatorRow, "jis">[],
): { readonly mean: number | null; readonly median: number | null } {
  // A JIS has two decimals: whole hundredths add up to the same sum whatever the order of the rows.
  const hundredths = rows.map((row) => round(row.jis * 100)).sort((a, b) => a - b);
  return { mean: meanOf(hundredths), median: medianOf(hundredths) };
}

/** Decision: the mean of no operators is null, because 0 would read as the worst possible score. */
function meanOf(hundredths: readonly number[]): number | null {
  if (hundredths.length === 0) return null;
  return round(hundredths.reduce((sum, value) => sum + value, 0) / hundredths.length) / 100;
}

function medianOf(sorted: readonly number[]): number | null {
  if (sorted.length === 0) return null;
  const upper = sorted[sorted.length >> 1]!;
  const lower = sorted[(sorted.length - 1) >> 1]!;
  return round((lower + upper) / 2) / 100;
}
