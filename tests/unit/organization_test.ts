/** The organization rule and the dashboard's figures, on rows written by hand. */
import assert from "node:assert/strict";
import {
  activeVerdicts,
  isActive,
  isCriticalDecision,
  isHighRisk,
  type OperatorRow,
  organizationFigures,
  organizationRule,
  organizationVerdict,
  verdictCounts,
} from "../../src/scoring/organization.ts";
import { JIS_1_0_0 as model, JIS_2_0_0 } from "../models.ts";

const DAY = 86_400_000;
const NOW = 1_780_304_400_000;

function organizationStatus(document: typeof model, all: readonly OperatorRow[], now: number) {
  return organizationRule(document, all, { instantOf: () => now }).status;
}

/** The figures without those from which the status follows. */
function withoutRule(all: readonly OperatorRow[]) {
  const { organization_rule: _, ...figures } = organizationFigures(model, all, NOW);
  return figures;
}

/** An experienced operator of an ordinary domain without special flags. */
const ORDINARY: OperatorRow = {
  jis: 80,
  n: 60,
  t0: NOW - 30 * DAY,
  t1: NOW - DAY,
  domain: "general",
  tcrit: null,
  shareHs: 0,
  shareCrit: 0,
  verdict: null,
  critCount: 0,
};

const row = (fields: Partial<OperatorRow> = {}): OperatorRow => ({ ...ORDINARY, ...fields });
const rows = (count: number, fields: Partial<OperatorRow>) =>
  Array.from({ length: count }, () => row(fields));

Deno.test("an operator whose last domain is high-risk is a high-risk operator", () => {
  assert.equal(isHighRisk(model, row({ domain: "financial" }), NOW), true);
  assert.equal(isHighRisk(model, row({ domain: "general" }), NOW), false);
});

Deno.test("an operator of an ordinary domain is high-risk from a tenth of high-stakes cases on", () => {
  assert.equal(isHighRisk(model, row({ shareHs: 0.1 }), NOW), true);
  assert.equal(isHighRisk(model, row({ shareHs: 0.099999999 }), NOW), false);
});

Deno.test("no operator is high-risk before 50 interactions or 10 days", () => {
  const early = { domain: "healthcare", shareHs: 1, t0: NOW - 10 * DAY + 1 } as const;
  assert.equal(isHighRisk(model, row({ ...early, n: 49 }), NOW), false);
  assert.equal(isHighRisk(model, row({ ...early, n: 50 }), NOW), true);
  assert.equal(isHighRisk(model, row({ ...early, n: 1, t0: NOW - 10 * DAY }), NOW), true);
});

Deno.test("one critical case makes a critical-decision operator for 90 days", () => {
  assert.equal(isCriticalDecision(model, row({ tcrit: NOW }), NOW), true);
  assert.equal(isCriticalDecision(model, row({ tcrit: NOW - 90 * DAY }), NOW), true);
  assert.equal(isCriticalDecision(model, row({ tcrit: NOW - 90 * DAY - 1 }), NOW), false);
});

Deno.test("frequent critical cases make a critical-decision operator, from three cases and 2 % on", () => {
  const old = { tcrit: NOW - 91 * DAY };
  assert.equal(isCriticalDecision(model, row({ ...old, shareCrit: 0.02, critCount: 3 }), NOW), true);
  assert.equal(isCriticalDecision(model, row({ ...old, shareCrit: 0.02, critCount: 2 }), NOW), false);
  assert.equal(isCriticalDecision(model, row({ ...old, shareCrit: 0.019999999, critCount: 3 }), NOW), false);
});

Deno.test("a critical-decision operator needs no minimum of data", () => {
  assert.equal(isCriticalDecision(model, row({ n: 1, t0: NOW, t1: NOW, tcrit: NOW }), NOW), true);
});

Deno.test("an operator counts as active for 90 days after an interaction", () => {
  assert.equal(isActive(model, row({ t1: NOW - 90 * DAY }), NOW), true);
  assert.equal(isActive(model, row({ t1: NOW - 90 * DAY - 1 }), NOW), false);
  assert.equal(isActive(model, row({ n: 0 }), NOW), false);
});

Deno.test("exactly 10 % of high-risk operators below 60 is compliant, more is not", () => {
  const good = { domain: "legal", jis: 60 } as const;
  const bad = { domain: "legal", jis: 59.95 } as const;
  assert.equal(organizationStatus(model, [...rows(9, good), ...rows(1, bad)], NOW), "compliant");
  assert.equal(organizationStatus(model, [...rows(27, good), ...rows(3, bad)], NOW), "compliant");
  assert.equal(organizationStatus(model, [...rows(8, good), ...rows(1, bad)], NOW), "non_compliant");
});

Deno.test("operators who are not high-risk do not dilute the share of those who are", () => {
  const mixed = [...rows(100, { jis: 90 }), row({ domain: "legal", jis: 59.95 })];
  assert.equal(organizationStatus(model, mixed, NOW), "non_compliant");
});

Deno.test("without high-risk operators no share is exceeded, however low the scores", () => {
  assert.equal(organizationStatus(model, rows(5, { jis: 20 }), NOW), "compliant");
});

Deno.test("one critical-decision operator below 40 makes the organization non-compliant", () => {
  const others = rows(99, { jis: 95 });
  const critical = { n: 3, t0: NOW - DAY, tcrit: NOW - DAY };
  assert.equal(
    organizationStatus(model, [...others, row({ ...critical, jis: 39.95 })], NOW),
    "non_compliant",
  );
  assert.equal(organizationStatus(model, [...others, row({ ...critical, jis: 40 })], NOW), "compliant");
});

Deno.test("the figures count bands, mean and median of an odd number of operators", () => {
  const scores = [85, 84.95, 75, 74.95, 60, 59.95, 0].map((jis) => row({ jis }));
  assert.deepEqual(withoutRule(scores), {
    total_operators: 7,
    mean_jis: 62.84,
    median_jis: 74.95,
    at_risk_count: 2,
    band_distribution: { exemplary: 1, proficient: 2, adequate: 2, at_risk: 2 },
    compliance_status: "compliant",
  });
});

Deno.test("the median of an even number of operators is the mean of the middle two", () => {
  const figures = organizationFigures(model, [66.35, 90, 20, 66.3].map((jis) => row({ jis })), NOW);
  assert.equal(figures.median_jis, 66.33);
  assert.equal(figures.mean_jis, 60.66);
});

Deno.test("a mean that ends in half a hundredth is rounded up", () => {
  assert.equal(organizationFigures(model, [60.05, 60.1].map((jis) => row({ jis })), NOW).mean_jis, 60.08);
});

Deno.test("the order of the operators changes no figure", () => {
  const scores = [61.35, 74.95, 33.05, 88.8, 59.95, 66.3, 70.15].map((jis) =>
    row({ jis, domain: "education" })
  );
  const figures = organizationFigures(model, scores, NOW);
  assert.deepEqual(organizationFigures(model, scores.toReversed(), NOW), figures);
  assert.equal(figures.mean_jis, 64.94);
  assert.equal(figures.compliance_status, "non_compliant");
});

Deno.test("operators with no interaction in the last 90 days are left out of every figure and of the status", () => {
  const gone = row({
    jis: 10,
    domain: "law_enforcement",
    t0: NOW - 300 * DAY,
    t1: NOW - 91 * DAY,
    shareCrit: 1,
    verdict: null,
    critCount: 60,
  });
  assert.deepEqual(withoutRule([gone, row({ jis: 88.85 })]), {
    total_operators: 1,
    mean_jis: 88.85,
    median_jis: 88.85,
    at_risk_count: 0,
    band_distribution: { exemplary: 1, proficient: 0, adequate: 0, at_risk: 0 },
    compliance_status: "compliant",
  });
});

Deno.test("an organization without operators is compliant and has no mean", () => {
  assert.deepEqual(withoutRule([]), {
    total_operators: 0,
    mean_jis: null,
    median_jis: null,
    at_risk_count: 0,
    band_distribution: { exemplary: 0, proficient: 0, adequate: 0, at_risk: 0 },
    compliance_status: "compliant",
  });
});

Deno.test("every threshold of the rule is taken from the model document", () => {
  const organization = {
    active_days: 10,
    high_risk_share: 0.5,
    critical_days: 5,
    critical_share: 0.3,
    critical_count: 7,
    non_compliant_share: 0.25,
  };
  const other = { ...model, organization };
  assert.equal(isActive(other, row({ t1: NOW - 11 * DAY }), NOW), false);
  assert.equal(isHighRisk(other, row({ shareHs: 0.4 }), NOW), false);
  assert.equal(isCriticalDecision(other, row({ tcrit: NOW - 6 * DAY }), NOW), false);
  assert.equal(isCriticalDecision(other, row({ shareCrit: 0.3, critCount: 7 }), NOW), true);
  assert.equal(isCriticalDecision(other, row({ shareCrit: 0.3, critCount: 6 }), NOW), false);
  const quarter = [...rows(3, { domain: "legal" }), row({ domain: "legal", jis: 50 })];
  assert.equal(organizationStatus(other, quarter, NOW), "compliant");
});

Deno.test("the figures from which a status follows are beside it, in numbers and in words", () => {
  const scores = [
    ...rows(8, { domain: "financial" }),
    ...rows(1, { domain: "financial", jis: 59.99 }),
    row({ tcrit: NOW - DAY, jis: 40 }),
    row({ tcrit: NOW - DAY, jis: 39.99 }),
  ];
  const { compliance_status, organization_rule } = organizationFigures(model, scores, NOW);
  assert.equal(compliance_status, "non_compliant");
  assert.deepEqual(organization_rule, {
    high_risk_operators: 9,
    high_risk_below_minimum: 1,
    critical_operators: 2,
    critical_below_critical: 1,
    thresholds: { min_jis: 60, critical_jis: 40 },
    reasons: [
      "Of 9 high-risk operators, 1 has a JIS below 60; at most 10 % may.",
      "Of 2 operators who take critical decisions, 1 has a JIS below 40; none may.",
    ],
  });
  assert.deepEqual(organizationFigures(model, [], NOW).organization_rule.reasons, [
    "No operator counts as high-risk.",
    "No operator takes critical decisions.",
  ]);
});

// ---- the verdict ------------------------------------------------------------------------------------------

const HIGH_RISK = { domain: "financial" } as const;
const CRITICAL = { tcrit: NOW - DAY } as const;
const verdictOn = (all: readonly OperatorRow[]) => organizationVerdict(model, all, { instantOf: () => NOW });
const statusOn = (all: readonly OperatorRow[]) => verdictOn(all).status;

Deno.test("an organization of ten high-risk operators is compliant with one that certainly fails, not with two", () => {
  const good = (count: number) => rows(count, { ...HIGH_RISK, verdict: "compliant" });
  const bad = (count: number) => rows(count, { ...HIGH_RISK, jis: 50, verdict: "non_compliant" });
  assert.equal(statusOn(good(10)), "compliant");
  assert.equal(statusOn([...good(9), ...bad(1)]), "compliant");
  assert.equal(statusOn([...good(8), ...bad(2)]), "non_compliant");
});

Deno.test("undetermined operators leave an organization undetermined exactly if they could turn the rule", () => {
  const of = (compliant: number, undetermined: number, failing: number) =>
    statusOn([
      ...rows(compliant, { ...HIGH_RISK, verdict: "compliant" }),
      ...rows(undetermined, { ...HIGH_RISK, verdict: "undetermined" }),
      ...rows(failing, { ...HIGH_RISK, jis: 50, verdict: "non_compliant" }),
    ]);
  assert.equal(of(9, 1, 0), "compliant", "a tenth may fail");
  assert.equal(of(8, 2, 0), "undetermined");
  assert.equal(of(9, 1, 1), "undetermined");
  assert.equal(of(0, 10, 0), "undetermined");
  assert.equal(of(7, 1, 2), "non_compliant", "two of ten fail whatever the other does");
  assert.equal(of(17, 1, 2), "undetermined", "two of twenty may, three may not");
});

Deno.test("scores decide the specification's status and verdicts the verdict: neither follows from the other", () => {
  const low = rows(5, { ...HIGH_RISK, jis: 55, verdict: "undetermined" });
  assert.equal(organizationStatus(model, low, NOW), "non_compliant");
  assert.equal(statusOn(low), "undetermined");
  // The score is high, but the verdict rests on a part of the work in which the operator fails.
  const inPart = rows(5, { ...HIGH_RISK, jis: 70, verdict: "non_compliant" });
  assert.equal(organizationStatus(model, inPart, NOW), "compliant");
  assert.equal(statusOn(inPart), "non_compliant");
});

Deno.test("an operator with critical decisions fails for certain only with a score below the critical level, and passes only with the verdict", () => {
  const critical = (fields: Partial<OperatorRow>) => statusOn([row({ ...CRITICAL, ...fields })]);
  assert.equal(critical({ verdict: "compliant" }), "compliant");
  assert.equal(critical({ jis: 39.99, verdict: "non_compliant" }), "non_compliant");
  assert.equal(critical({ jis: 40, verdict: "non_compliant" }), "undetermined");
  assert.equal(critical({ jis: 20, verdict: "undetermined" }), "undetermined");
  assert.equal(critical({ jis: 80, verdict: "undetermined" }), "undetermined");
});

Deno.test("without an operator whom the rule judges there is no verdict, however many are compliant", () => {
  assert.equal(statusOn([]), "undetermined");
  const ordinary = verdictOn(rows(20, { verdict: "compliant" }));
  assert.deepEqual(ordinary, {
    status: "undetermined",
    reasons: [
      "No operator counts as high-risk.",
      "No operator takes critical decisions.",
      "No operator works in a high-risk domain or takes critical decisions: the rule judges nobody, so there is no verdict.",
    ],
  });
});

Deno.test("a row without a verdict counts as undetermined", () => {
  assert.equal(statusOn(rows(10, HIGH_RISK)), "undetermined");
  assert.equal(statusOn([...rows(9, { ...HIGH_RISK, verdict: "compliant" }), row(HIGH_RISK)]), "compliant");
  assert.deepEqual(
    verdictCounts([row(), row({ verdict: "undetermined" }), row({ verdict: "compliant" })]),
    { compliant: 1, undetermined: 2, non_compliant: 0 },
  );
});

Deno.test("the reasons speak of one operator in the singular, in both rules", () => {
  const one = [row({ ...CRITICAL, jis: 70, verdict: "compliant" })];
  const said = [...organizationFigures(model, one, NOW).organization_rule.reasons, ...verdictOn(one).reasons];
  assert.equal(
    said.filter((text) => text.startsWith("Of 1 operator who takes critical decisions, 0 ")).length,
    2,
  );
});

Deno.test("the reasons count the operators who fail for certain and those who may, in both halves", () => {
  const { reasons } = verdictOn([
    ...rows(7, { ...HIGH_RISK, verdict: "compliant" }),
    ...rows(2, { ...HIGH_RISK, verdict: "undetermined" }),
    row({ ...HIGH_RISK, jis: 30, verdict: "non_compliant" }),
    row({ ...CRITICAL, jis: 30, verdict: "non_compliant" }),
    row({ ...CRITICAL, verdict: "undetermined" }),
  ]);
  assert.deepEqual(reasons, [
    "Of 10 high-risk operators, 1 is certainly below 60 and 2 are undetermined; at most 10 % may be below.",
    "Of 2 operators who take critical decisions, 1 is certainly below 60 with a JIS below 40, and 1 is below 60 with a higher JIS or undetermined; none may be below 40.",
  ]);
});

Deno.test("with jis-3 all operators count as a report's findings count them, those of ordinary domains, too", () => {
  const of = (all: readonly OperatorRow[]) => organizationVerdict(JIS_2_0_0, all, { instantOf: () => NOW });
  const good = rows(10, { ...HIGH_RISK, verdict: "compliant" });
  const [bad, open] = (["non_compliant", "undetermined"] as const).map((verdict) =>
    row({ domain: "general", jis: 45, verdict })
  ) as [OperatorRow, OperatorRow];
  assert.equal(of(good).status, "compliant");
  assert.equal(of([...good, bad]).status, "compliant", "one of eleven");
  assert.deepEqual(of([...good, bad, bad]), {
    status: "non_compliant",
    reasons: [
      "Of 12 operators with a record that is long enough, 2 are certainly below 60 and 0 are undetermined; at most 10 % may be below.",
      "Of 10 high-risk operators, 0 are certainly below 60 and 0 are undetermined; at most 10 % may be below.",
      "No operator takes critical decisions.",
    ],
  });
  assert.equal(of([...good, bad, open]).status, "undetermined");
  assert.equal(
    of(rows(10, { domain: "general", jis: 45, verdict: "non_compliant" })).status,
    "non_compliant",
  );
  assert.equal(of(rows(10, { domain: "general", verdict: "compliant" })).status, "compliant");
  const short = row({ ...CRITICAL, n: 3, t0: NOW - DAY, jis: 42, verdict: "non_compliant" });
  const verdict = of([...good, short]);
  assert.equal(verdict.status, "undetermined");
  assert.equal(
    verdict.reasons.at(-1),
    "Who takes critical decisions fails for certain only with a JIS below 40.",
  );
  assert.deepEqual(of([]).status, "undetermined");
});

Deno.test("with jis-3 a dashboard judges each record at its latest interaction, as a report does", () => {
  const good = rows(8, { domain: "general", verdict: "compliant" });
  const short = rows(2, { domain: "general", n: 45, t0: NOW - 12 * DAY, jis: 45, verdict: "non_compliant" });
  const statusAt = (t1: number) =>
    activeVerdicts(JIS_2_0_0, [...good, ...short.map((row) => ({ ...row, t1 }))], NOW).verdict.status;
  assert.equal(
    statusAt(NOW - 12 * DAY),
    "compliant",
    "45 cases in a day are a short record, also 12 days later",
  );
  assert.equal(statusAt(NOW), "non_compliant");
});

Deno.test("only active operators count for the verdict of a dashboard", () => {
  const left = row({ ...HIGH_RISK, t1: NOW - 90 * DAY - 1, jis: 10, verdict: "non_compliant" });
  const { verdict, verdicts } = activeVerdicts(
    model,
    [left, row({ ...HIGH_RISK, verdict: "compliant" })],
    NOW,
  );
  assert.equal(verdict.status, "compliant");
  assert.deepEqual(verdicts, { compliant: 1, undetermined: 0, non_compliant: 0 });
});
