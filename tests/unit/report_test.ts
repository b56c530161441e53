/** The compliance report and its Article 14 part, on hand-written records. */
import assert from "node:assert/strict";
import { DIMENSIONS } from "../../src/domain/enums.ts";
import type { Period } from "../../src/domain/period.ts";
import { article14Schema, type Finding, type FindingStatus, reportSchema } from "../../src/domain/report.ts";
import type { FullDimensions } from "../../src/scoring/dimensions.ts";
import { type ModelDocument, modelSchema } from "../../src/scoring/model.ts";
import { organizationRule } from "../../src/scoring/organization.ts";
import type { PeriodData, PeriodRecord } from "../../src/scoring/period.ts";
import { article14Of, reportOf } from "../../src/scoring/report.ts";
import { JIS_1_0_0, JIS_1_1_0, JIS_2_0_0 } from "../models.ts";

const DAY = 86_400_000;
const SHA256 = "0".repeat(64);
/** The third quarter of 2026. */
const QUARTER: Period = { start: Date.UTC(2026, 6, 1), end: Date.UTC(2026, 9, 1) };
const AT = Date.UTC(2026, 8, 15, 12);
const YEAR = (end: number): Period => ({ start: end - 365 * DAY, end });

const every = (value: number): FullDimensions =>
  Object.fromEntries(DIMENSIONS.map((name) => [name, value])) as FullDimensions;

/** An experienced operator of an ordinary domain who certainly passes everything. */
const GOOD: PeriodRecord = {
  at: AT,
  domain: "general",
  jis: 80,
  low: 76,
  high: 84,
  dimensions: every(80),
  meanCorrectAcceptance: 0.8,
  n: 60,
  t0: AT - 30 * DAY,
  groundTruth: 20,
  tcrit: null,
  critCount: 0,
  shareHs: 0,
  shareCrit: 0,
  verdict: null,
  interactions: 60,
  departures: 4,
  referrals: 1,
};

type Fields = Partial<Omit<PeriodRecord, "dimensions">> & { readonly dimensions?: Partial<FullDimensions> };

const record = ({ dimensions, ...fields }: Fields = {}): PeriodRecord => ({
  ...GOOD,
  ...fields,
  dimensions: { ...GOOD.dimensions, ...dimensions },
});
const records = (count: number, fields: Fields = {}) => Array.from({ length: count }, () => record(fields));

/** Operators who neither departed nor referred in the period. */
const QUIET: Fields = { departures: 0, referrals: 0 };

const data = (rows: readonly PeriodRecord[], fields: Partial<PeriodData> = {}): PeriodData => ({
  records: rows,
  incidentFreezes: 0,
  ...fields,
});

interface Setting {
  readonly period?: Period;
  readonly domain?: PeriodRecord["domain"];
  readonly document?: ModelDocument;
  readonly data?: Partial<PeriodData>;
}

const report = (rows: readonly PeriodRecord[], setting: Setting = {}) =>
  reportOf({ document: setting.document ?? JIS_1_1_0, sha256: SHA256 }, {
    organization: { org_id: "acme", name: "Acme", domain: setting.domain ?? "general" },
    period: setting.period ?? QUARTER,
    data: data(rows, setting.data),
  });

const article14 = (rows: readonly PeriodRecord[], setting: Setting = {}) =>
  article14Of({ document: setting.document ?? JIS_1_1_0, sha256: SHA256 }, {
    period: setting.period ?? QUARTER,
    data: data(rows, setting.data),
    organizationDomain: setting.domain ?? "general",
  });

const findingIn = (findings: readonly Finding[], provision: string): Finding =>
  findings.find((finding) => finding.provision === provision)!;
const finding = (provision: string, rows: readonly PeriodRecord[], setting: Setting = {}): Finding =>
  findingIn(report(rows, setting).findings, provision);

/** A valid document, changed from the built-in one. */
function changed(change: (law: ModelDocument["law"]) => void): ModelDocument {
  const document = structuredClone(JIS_1_1_0);
  change(document.law);
  return modelSchema.parse(document);
}

/** Fails error detection, which only 14(4)(a) requires. */
const BLIND: Fields = { dimensions: { error_detection: 59 } };

// ---- one finding ------------------------------------------------------------------------------------------

Deno.test("nine passing operators of ten are compliant, eight are partial, seven are non-compliant", () => {
  const statuses = [10, 9, 8, 7, 0].map((passing) =>
    finding("14(4)(a)", [...records(passing), ...records(10 - passing, BLIND)]).status
  );
  assert.deepEqual(statuses, ["compliant", "compliant", "partial", "non_compliant", "non_compliant"]);
});

Deno.test("exactly 90 percent is compliant and exactly 75 percent partial, with any number of operators", () => {
  for (const tens of [1, 3, 7, 11, 70]) {
    const rows = [...records(9 * tens), ...records(tens, BLIND)];
    assert.equal(finding("14(4)(a)", rows).status, "compliant", `${tens}`);
    assert.equal(finding("14(4)(a)", [...rows, record(BLIND)]).status, "partial", `${tens}`);
  }
  for (const fours of [1, 3, 7, 23]) {
    const rows = [...records(3 * fours), ...records(fours, BLIND)];
    assert.equal(finding("14(4)(a)", rows).status, "partial", `${fours}`);
    assert.equal(finding("14(4)(a)", [...rows, record(BLIND)]).status, "non_compliant", `${fours}`);
  }
});

Deno.test("a finding has its share to four decimals, its counts and the source of its rule", () => {
  assert.deepEqual(finding("14(4)(a)", [...records(2), record(BLIND)]), {
    regulation: "EU AI Act Article 14",
    provision: "14(4)(a)",
    citation: "Regulation (EU) 2024/1689, Art. 14(4)(a)",
    requirement: "Understand the capacities and limitations of the system, monitor it and detect anomalies",
    status: "non_compliant",
    status_certain: true,
    verdict: "non_compliant",
    metric: "share of operators with error_detection at least 60",
    observed: 0.6666,
    threshold: 0.9,
    operators: 3,
    passing: 2,
    undetermined: 0,
    capped: null,
    in_force: false,
    in_force_from: "2027-12-02",
    in_force_until: null,
    date_confidence: "secondary",
    status_note:
      "Applies from 2 December 2027 to high-risk systems of Annex III and from 2 August 2028 to those of Annex I, by Art. 113 as amended by Regulation (EU) 2026/1744 (Digital Omnibus). On the deployer's side, Art. 26(2) asks that oversight be assigned to persons with competence, training and authority.",
    source: "not read at the source",
  });
});

Deno.test("a finding names a source only if it was read, and not a text about the law in its place", () => {
  for (const document of [JIS_1_1_0, JIS_1_0_0]) {
    const findings = [2012, 2024, 2026, 2028].flatMap((year) =>
      report(records(1), { document, period: YEAR(Date.UTC(year, 0, 1)) }).findings
    );
    assert.equal(new Set(findings.map(({ provision }) => provision)).size, 9);
    for (const found of findings) {
      assert.deepEqual([found.date_confidence, found.source], ["secondary", "not read at the source"]);
      assert.doesNotMatch(JSON.stringify(found), /https?:|www\.|\w\.(?:com|gov|eu|nl|app|io|us|dev)\b/);
    }
  }
  const source = "Official Journal, https://eur-lex.europa.eu/eli/reg/2024/1689/oj";
  const document = changed(({ rules }) => {
    Object.assign(rules[0]!, { date_confidence: "primary", source });
  });
  const sources = ["14(4)(a)", "14(4)(b)"].map((provision) =>
    finding(provision, records(1), { document }).source
  );
  assert.deepEqual(sources, [source, "not read at the source"]);
});

Deno.test("every rule has its own conditions and states them in its metric", () => {
  const { findings } = report(records(1), { period: YEAR(Date.UTC(2028, 0, 1)) });
  assert.deepEqual(findings.map(({ provision, metric }) => [provision, metric]), [
    ["14(4)(a)", "share of operators with error_detection at least 60"],
    [
      "14(4)(b)",
      "share of operators with deferral_resistance at least 60 and deliberation_depth at least 50",
    ],
    [
      "14(4)(c)",
      "share of operators with domain_confidence at least 60 and mean_correct_acceptance at least 0.6",
    ],
    ["14(4)(d)", "share of operators with decision_autonomy at least 60"],
    ["14(4)(e)", "share of operators with post_error_recalibration at least 50"],
    ["6-1-1705(1)(a)(II)", "share of operators with decision_autonomy at least 60 and jis at least 60"],
    ["20-870", "share of operators with deferral_resistance at least 60 and decision_autonomy at least 60"],
    [
      "effective challenge",
      "share of operators with deferral_resistance at least 60 and error_detection at least 60",
    ],
  ]);
});

Deno.test("a value at its threshold passes and the next lower fails", () => {
  const cases: readonly (readonly [provision: string, at: Fields, below: Fields])[] = [
    ["14(4)(a)", { dimensions: { error_detection: 60 } }, { dimensions: { error_detection: 59 } }],
    ["14(4)(b)", { dimensions: { deferral_resistance: 60 } }, { dimensions: { deferral_resistance: 59 } }],
    ["14(4)(b)", { dimensions: { deliberation_depth: 50 } }, { dimensions: { deliberation_depth: 49 } }],
    ["14(4)(c)", { dimensions: { domain_confidence: 60 } }, { dimensions: { domain_confidence: 59 } }],
    ["14(4)(c)", { meanCorrectAcceptance: 0.6 }, { meanCorrectAcceptance: 0.599999999 }],
    ["14(4)(d)", { dimensions: { decision_autonomy: 60 } }, { dimensions: { decision_autonomy: 59 } }],
    [
      "14(4)(e)",
      { dimensions: { post_error_recalibration: 50 } },
      { dimensions: { post_error_recalibration: 49 } },
    ],
    ["6-1-1703", { domain: "legal", jis: 60 }, { domain: "legal", jis: 59.95 }],
  ];
  for (const [provision, at, below] of cases) {
    assert.equal(finding(provision, [record(at)]).passing, 1, provision);
    assert.equal(finding(provision, [record(below)]).passing, 0, provision);
  }
});

Deno.test("operators whose own record is too short at its instant are in no finding", () => {
  const short = record({ ...BLIND, n: 49, t0: AT - 10 * DAY + 1 });
  const byDays = record({ n: 1, t0: AT - 10 * DAY });
  const { status, operators, passing } = finding("14(4)(a)", [short, byDays]);
  assert.deepEqual({ status, operators, passing }, { status: "compliant", operators: 1, passing: 1 });
});

// ---- domains ----------------------------------------------------------------------------------------------

Deno.test("a rule does not concern an organization of another domain without a record in the rule's domains", () => {
  const statuses = report(records(3)).findings.map(({ provision, status }) => [provision, status]);
  assert.deepEqual(statuses.slice(5), [
    ["6-1-1703", "not_applicable"],
    ["20-870", "not_applicable"],
    ["effective challenge", "not_applicable"],
  ]);
});

Deno.test("Local Law 144 covers employment records alone and is no bias audit", () => {
  const meek = { dimensions: { deferral_resistance: 0 } };
  const rows = [...records(50, meek), ...records(3, { domain: "employment" })];
  const { status, operators, passing, observed, status_note, in_force } = finding("20-870", rows);
  assert.deepEqual({ status, operators, passing, observed, in_force }, {
    status: "compliant",
    operators: 3,
    passing: 3,
    observed: 1,
    in_force: true,
  });
  assert.match(status_note, /^Supporting evidence of human discretion, not a bias audit\./);
});

Deno.test("a rule that applies but has no long record has insufficient data", () => {
  const short = { n: 3, t0: AT - DAY };
  const byOwnDomain = finding("20-870", records(3), { domain: "employment" });
  const byShortRecord = finding("20-870", [...records(3), record({ ...short, domain: "employment" })]);
  for (const { status, status_certain, observed, operators } of [byOwnDomain, byShortRecord]) {
    assert.deepEqual({ status, status_certain, observed, operators }, {
      status: "insufficient_data",
      status_certain: true,
      observed: null,
      operators: 0,
    });
  }
});

Deno.test("Colorado's rules cover seven domains", () => {
  const domains = JIS_1_1_0.law.rules.filter((rule) => rule.framework === "Colorado SB 205");
  for (const { domains: named } of domains) {
    assert.deepEqual(named, [
      "financial",
      "insurance",
      "healthcare",
      "legal",
      "employment",
      "education",
      "public_sector",
    ]);
  }
  assert.equal(finding("6-1-1703", records(1, { domain: "law_enforcement" })).status, "not_applicable");
});

// ---- caps -------------------------------------------------------------------------------------------------

Deno.test("without any departure or referral the right to disregard is partial at best", () => {
  const capped = finding("14(4)(d)", records(10, QUIET));
  assert.equal(capped.status, "partial");
  assert.equal(
    capped.capped,
    "These operators have no departure and no referral on record in the period, so the status is partial at best.",
  );
  for (const one of [{ departures: 1, referrals: 0 }, { departures: 0, referrals: 1 }]) {
    const free = finding("14(4)(d)", [...records(9, QUIET), record(one)]);
    assert.deepEqual([free.status, free.capped], ["compliant", null]);
  }
});

Deno.test("without any referral or incident freeze the power to intervene is partial at best", () => {
  const unreferred = { referrals: 0 };
  const capped = finding("14(4)(e)", records(10, unreferred));
  assert.equal(capped.status, "partial");
  assert.equal(
    capped.capped,
    "These operators have no referral, and the organization no incident freeze, on record in the period, so the status is partial at best.",
  );
  const referred = finding("14(4)(e)", [...records(9, unreferred), record({ referrals: 1 })]);
  const frozen = finding("14(4)(e)", records(10, unreferred), { data: { incidentFreezes: 1 } });
  for (const free of [referred, frozen]) {
    assert.deepEqual([free.status, free.capped], ["compliant", null]);
  }
});

Deno.test("actions of an operator outside the population lift no cap", () => {
  const outsider = record({ n: 1, t0: AT, departures: 1, referrals: 1 });
  for (const provision of ["14(4)(d)", "14(4)(e)"]) {
    assert.equal(finding(provision, [...records(10, QUIET), outsider]).status, "partial");
  }
});

Deno.test("a cap never improves a status, and is named whenever it applies to an operator", () => {
  const bad = finding("14(4)(d)", records(4, { ...QUIET, dimensions: { decision_autonomy: 0 } }));
  assert.equal(bad.status, "non_compliant");
  assert.notEqual(bad.capped, null);
  const empty = finding("14(4)(d)", []);
  assert.deepEqual([empty.status, empty.capped], ["insufficient_data", null]);
});

Deno.test("the observed share is rounded down, so that no value below the threshold seems to reach it", () => {
  const { observed, status } = finding("14(4)(a)", [...records(1808), ...records(201, BLIND)]);
  assert.deepEqual([observed, status], [0.8999, "partial"]);
  assert.equal(finding("14(4)(a)", [...records(29), ...records(71, BLIND)]).observed, 0.29);
});

Deno.test("a finding counts the operators of its own population whose interval straddles the minimum", () => {
  const straddling = { jis: 62, low: 55, high: 69 };
  const rows = [...records(3, straddling), record({ ...straddling, domain: "employment" })];
  assert.equal(finding("14(4)(a)", rows).undetermined, 4);
  assert.equal(finding("20-870", rows).undetermined, 1);
});

// ---- thresholds and law in force --------------------------------------------------------------------------

const COLORADO = (end: number) =>
  report(records(1, { domain: "legal" }), { period: YEAR(end) }).findings
    .filter((finding) => finding.regulation === "Colorado SB 205")
    .map(({ provision, citation, in_force }) => ({ provision, citation, in_force }));

Deno.test("Colorado's finding changes with the period's last day, and the end is excluded", () => {
  const old = [{
    provision: "6-1-1703",
    citation: "C.R.S. § 6-1-1703 (SB 24-205), repealed and reenacted by SB 26-189 eff. 2027-01-01",
    in_force: false,
  }];
  const present = [{
    provision: "6-1-1705(1)(a)(II)",
    citation: "C.R.S. § 6-1-1705(1)(a)(II) (SB 26-189): meaningful human review and reconsideration",
    in_force: true,
  }];
  assert.deepEqual(COLORADO(Date.UTC(2026, 11, 31)), old);
  assert.deepEqual(COLORADO(Date.UTC(2027, 0, 1)), old);
  assert.deepEqual(COLORADO(Date.UTC(2027, 0, 1) + 1), present);
  assert.deepEqual(COLORADO(Date.UTC(2027, 0, 2)), present);
});

Deno.test("a rule that never came to apply says so and is never in force", () => {
  const { in_force, in_force_from, in_force_until, status_note } = finding("6-1-1703", [
    record({ domain: "legal" }),
  ]);
  assert.deepEqual({ in_force, in_force_from, in_force_until }, {
    in_force: false,
    in_force_from: null,
    in_force_until: "2026-12-31",
  });
  assert.match(status_note, /never came to apply/);
});

Deno.test("the five measures of Article 14 are shown before they apply and are in force from 2 December 2027", () => {
  const inForce = (end: number) =>
    article14(records(1), { period: YEAR(end) }).measures.map((measure) => measure.in_force);
  assert.deepEqual(inForce(Date.UTC(2027, 11, 2)), [false, false, false, false, false]);
  assert.deepEqual(inForce(Date.UTC(2027, 11, 3)), [true, true, true, true, true]);
});

Deno.test("SR 11-7 is in force until 16 April 2026 and shown after it", () => {
  const inForce = (end: number) => finding("effective challenge", records(1), { period: YEAR(end) }).in_force;
  assert.equal(inForce(Date.UTC(2026, 3, 17)), true);
  assert.equal(inForce(Date.UTC(2026, 3, 18)), false);
});

Deno.test("a fifth framework is a change of data", () => {
  const document = changed((law) => {
    law.rules.push({
      ...law.rules[0]!,
      framework: "House rules",
      provision: "7",
      citation: "House rules, 7",
      in_force_from: "2020-01-01",
      domains: ["education"],
      conditions: { jis: 75, independent_performance: 70 },
    });
  });
  const { findings } = report([record({ domain: "education" })], { document });
  assert.deepEqual([...new Set(findings.map(({ regulation }) => regulation))], [
    "EU AI Act Article 14",
    "Colorado SB 205",
    "NYC Local Law 144",
    "SR 11-7",
    "House rules",
  ]);
  const { status, metric, in_force } = findingIn(findings, "7");
  assert.deepEqual({ status, metric, in_force }, {
    status: "compliant",
    metric: "share of operators with independent_performance at least 70 and jis at least 75",
    in_force: true,
  });
});

Deno.test("a rule that is replaced within the period is reported up to its last day, its successor from the next", () => {
  const document = changed((law) => {
    const [rule] = law.rules;
    rule!.in_force_until = "2028-06-30";
    law.rules.push({
      ...rule!,
      provision: "14(4)(a) new",
      in_force_from: "2028-07-01",
      in_force_until: null,
    });
  });
  const paragraphs = (end: number) =>
    article14(records(1), { document, period: YEAR(end) }).measures.map(({ paragraph }) => paragraph);
  const others = ["14(4)(b)", "14(4)(c)", "14(4)(d)", "14(4)(e)"];
  assert.deepEqual(paragraphs(Date.UTC(2028, 6, 1)), ["14(4)(a)", ...others]);
  assert.deepEqual(paragraphs(Date.UTC(2028, 6, 2)), [...others, "14(4)(a) new"]);
  assert.deepEqual(paragraphs(Date.UTC(2026, 6, 1)), ["14(4)(a)", ...others, "14(4)(a) new"]);
});

Deno.test("a changed date is a change of data", () => {
  const document = changed((law) =>
    law.rules.find((rule) => rule.provision === "20-870")!.in_force_until = "2026-09-29"
  );
  assert.equal(finding("20-870", records(1), { document }).in_force, false);
});

Deno.test("a law rule that everybody passes, nobody can pass or that ends before it begins is refused", () => {
  const document = structuredClone(JIS_1_1_0);
  document.law.rules[0]!.conditions = {};
  document.law.rules[1]!.conditions = { error_detection: 101 };
  document.law.rules[2]!.conditions = { mean_correct_acceptance: 60 };
  document.law.rules[8]!.in_force_until = "2011-04-03";
  document.law.pass_share.partial = 0.95;
  const problems = modelSchema.safeParse(document).error!.issues.map(({ path, message }) =>
    `${path.join(".")}: ${message}`
  );
  assert.deepEqual(problems, [
    "law.pass_share: partial must not be above compliant",
    "law.rules.0.conditions: must hold at least one condition, or everybody would pass",
    "law.rules.1.conditions.error_detection: Too big: expected number to be <=100",
    "law.rules.2.conditions: mean_correct_acceptance must be at most 1",
    "law.rules.8: in_force_until must not be before in_force_from",
  ]);
});

// ---- certainty --------------------------------------------------------------------------------------------

Deno.test("an operator is undetermined if the minimum is above the interval's low end and not above its high end", () => {
  const certain = (low: number, high: number) =>
    finding("14(4)(a)", [record({ jis: high, low, high })]).status_certain;
  assert.deepEqual([certain(60, 80), certain(59.9, 80), certain(50, 60), certain(50, 59.9)], [
    true,
    false,
    false,
    true,
  ]);
});

Deno.test("a status that undetermined operators could lower or raise is uncertain", () => {
  const straddling = { jis: 62, low: 55, high: 69 };
  const lowered = finding("14(4)(a)", [...records(9), record(straddling), record(BLIND)]);
  assert.deepEqual([lowered.status, lowered.status_certain], ["compliant", false]);
  const raised = finding("14(4)(a)", [...records(9), record({ ...straddling, ...BLIND }), record(BLIND)]);
  assert.deepEqual([raised.status, raised.status_certain], ["partial", false]);
});

Deno.test("a status that undetermined operators cannot change is certain", () => {
  const straddling = { jis: 62, low: 55, high: 69 };
  const { status, status_certain } = finding("14(4)(a)", [...records(19), record(straddling)]);
  assert.deepEqual([status, status_certain], ["compliant", true]);
});

Deno.test("a cap also applies to the statuses to which undetermined operators could lead", () => {
  const straddling = { jis: 62, low: 55, high: 69, dimensions: { decision_autonomy: 50 } };
  const quiet = [...records(8, QUIET), ...records(2, { ...QUIET, ...straddling })];
  const capped = finding("14(4)(d)", quiet);
  assert.deepEqual([capped.status, capped.status_certain], ["partial", true]);
  const free = finding("14(4)(d)", [...records(8), ...records(2, straddling)]);
  assert.deepEqual([free.status, free.status_certain], ["partial", false]);
});

Deno.test("the overall status is certain if the uncertain finding does not decide it", () => {
  const straddling = { jis: 62, low: 55, high: 69 };
  const uncertain = report([...records(9), record(straddling), record(BLIND)]);
  assert.deepEqual([uncertain.overall_status, uncertain.status_certain], ["compliant", false]);
  const bad = { dimensions: { post_error_recalibration: 0 } };
  const blind = { dimensions: { ...BLIND.dimensions, ...bad.dimensions } };
  const decided = report([
    ...records(9, bad),
    record({ ...bad, ...straddling }),
    record(blind),
  ]);
  assert.equal(findingIn(decided.findings, "14(4)(a)").status_certain, false);
  assert.deepEqual([decided.overall_status, decided.status_certain], ["non_compliant", true]);
});

// ---- the organization rule and the overall status ---------------------------------------------------------

Deno.test("too many high-risk operators below the minimum outweigh every finding", () => {
  const low = { domain: "critical_infrastructure", jis: 59, low: 55, high: 59.9 } as const;
  const nine = records(9, { domain: "critical_infrastructure" });
  const held = report([...nine, record(low)]);
  assert.deepEqual(held.organization_rule, {
    status: "compliant",
    status_certain: true,
    high_risk_operators: 10,
    high_risk_below_minimum: 1,
    critical_operators: 0,
    critical_below_critical: 0,
  });
  assert.equal(held.overall_status, "compliant");
  const broken = report([...nine, ...records(2, low)]);
  assert.equal(broken.organization_rule.status, "non_compliant");
  assert.deepEqual(
    new Set(broken.findings.map(({ status }) => status)),
    new Set(["compliant", "not_applicable"]),
  );
  assert.equal(broken.overall_status, "non_compliant");
});

Deno.test("the organization rule is uncertain if intervals straddle the minimum", () => {
  const low = { domain: "critical_infrastructure", jis: 61, low: 55, high: 67 } as const;
  const { organization_rule, overall_status, status_certain } = report([
    ...records(8, { domain: "critical_infrastructure" }),
    ...records(2, low),
  ]);
  assert.deepEqual([organization_rule.status, organization_rule.status_certain], ["compliant", false]);
  assert.deepEqual([overall_status, status_certain], ["compliant", false]);
});

Deno.test("the organization rule is uncertain if a critical-decision operator's interval straddles 40", () => {
  const rule = (jis: number, low: number, high: number) => {
    const { status, status_certain } = report([
      ...records(20),
      record({ jis, low, high, tcrit: AT - DAY }),
    ]).organization_rule;
    return [status, status_certain];
  };
  assert.deepEqual(rule(42, 38, 46), ["compliant", false]);
  assert.deepEqual(rule(39, 35, 43), ["non_compliant", false]);
  assert.deepEqual(rule(36, 33, 39.9), ["non_compliant", true]);
  assert.deepEqual(rule(44, 40, 48), ["compliant", true]);
});

Deno.test("each operator is judged at the instant of the last record, not at the period's end", () => {
  const early = { at: QUARTER.start, t0: QUARTER.start - 30 * DAY, jis: 20, low: 15, high: 25 };
  const within = report([record({ ...early, tcrit: QUARTER.start - 90 * DAY })]);
  assert.equal(within.organization_rule.critical_below_critical, 1);
  const past = report([record({ ...early, tcrit: QUARTER.start - 90 * DAY - 1 })]);
  assert.equal(past.organization_rule.critical_operators, 0);
});

Deno.test("one rule serves the dashboard's one instant and a report's many", () => {
  const row = {
    jis: 30,
    n: 60,
    t0: AT - 200 * DAY,
    t1: AT - 100 * DAY,
    domain: "general",
    tcrit: AT - 110 * DAY,
    shareHs: 0,
    shareCrit: 0,
    verdict: null,
    critCount: 1,
  } as const;
  const at = (instantOf: (row: { t1: number }) => number) =>
    organizationRule(JIS_1_1_0, [row], { instantOf });
  assert.deepEqual(at(({ t1 }) => t1), {
    status: "non_compliant",
    highRisk: 0,
    highRiskBelowMinimum: 0,
    critical: 1,
    criticalBelowCritical: 1,
  });
  assert.equal(at(() => AT).status, "compliant");
});

Deno.test("short records are left out of the organization rule", () => {
  const short = { n: 3, t0: AT - DAY, jis: 20, low: 10, high: 30, tcrit: AT };
  assert.equal(report([...records(5), record(short)]).organization_rule.status, "compliant");
});

Deno.test("the worst applicable finding is the overall status", () => {
  const overall = (rows: readonly PeriodRecord[], setting: Setting = {}): FindingStatus =>
    report(rows, setting).overall_status;
  assert.equal(overall(records(10)), "compliant");
  assert.equal(overall(records(10), { domain: "employment" }), "insufficient_data");
  assert.equal(overall(records(10, QUIET), { domain: "employment" }), "partial");
  assert.equal(overall(records(10, { ...QUIET, ...BLIND })), "non_compliant");
});

Deno.test("if no finding applies the overall status has insufficient data", () => {
  const document = changed((law) => {
    for (const rule of law.rules) rule.domains = ["education"];
  });
  const content = report(records(10), { document });
  assert.deepEqual(new Set(content.findings.map(({ status }) => status)), new Set(["not_applicable"]));
  assert.deepEqual([content.overall_status, content.status_certain], ["insufficient_data", true]);
});

// ---- figures, population, words ---------------------------------------------------------------------------

Deno.test("an empty period gives a complete report that says it has no data", () => {
  const content = report([], { domain: "legal" });
  assert.deepEqual(reportSchema.omit({ report_id: true }).strict().parse(content), content);
  assert.deepEqual(content.findings.map(({ status }) => status), [
    "insufficient_data",
    "insufficient_data",
    "insufficient_data",
    "insufficient_data",
    "insufficient_data",
    "insufficient_data",
    "not_applicable",
    "not_applicable",
  ]);
  assert.deepEqual([content.overall_status, content.status_certain], ["insufficient_data", true]);
  assert.equal(content.organization_rule.status, "insufficient_data");
  assert.equal(content.organization_rule.status_certain, true);
  assert.deepEqual(content.figures.jis, { mean: null, median: null });
  assert.deepEqual(content.figures.dimensions[0], {
    dimension: "deferral_resistance",
    mean: null,
    lower_quartile: null,
    median: null,
    upper_quartile: null,
  });
  assert.deepEqual(content.caveats, [
    "No operator's record is long enough for a verdict, so nothing is said for or against the organization.",
    "Dates marked secondary come from secondary sources: verify them before relying on them.",
  ]);
});

Deno.test("a report names its period, its rules, its model and what it does not declare", () => {
  const content = report(records(2));
  assert.deepEqual(content.period, { start: "2026-07-01T00:00:00.000Z", end: "2026-10-01T00:00:00.000Z" });
  assert.deepEqual(content.organization, { org_id: "acme", name: "Acme", domain: "general" });
  assert.equal(content.rules_version, "2026-11-21");
  assert.deepEqual(content.model, { version: "jis-1.1.0", sha256: SHA256 });
  assert.deepEqual(content.thresholds, { min_jis: 60, target_jis: 75, critical_jis: 40 });
  assert.equal(
    content.statement,
    "This report is evidence for a deployer's own assessment of human oversight. It does not declare anyone compliant with any law, and it is not legal advice.",
  );
});

Deno.test("mean and median are the dashboard's, over long records alone", () => {
  const scores = [66.35, 90, 20, 66.3].map((jis) => record({ jis, low: jis, high: jis }));
  const short = record({ jis: 5, low: 0, high: 10, n: 1, t0: AT });
  assert.deepEqual(report([...scores, short]).figures.jis, { mean: 60.66, median: 66.33 });
});

Deno.test("the histogram counts each operator in one step of five points, 100 in the last", () => {
  const scores = [0, 4.95, 5, 59.95, 60, 64.95, 94.95, 95, 100].map((jis) => record({ jis }));
  const { histogram } = report(scores).figures;
  assert.equal(histogram.length, 20);
  assert.deepEqual(histogram.filter(({ operators }) => operators > 0), [
    { from: 0, to: 5, operators: 2 },
    { from: 5, to: 10, operators: 1 },
    { from: 55, to: 60, operators: 1 },
    { from: 60, to: 65, operators: 2 },
    { from: 90, to: 95, operators: 1 },
    { from: 95, to: 100, operators: 2 },
  ]);
});

Deno.test("an operator counts in a band, and on a side of the minimum, only with the whole interval", () => {
  const intervals = [
    [85, 100],
    [84.9, 100],
    [75, 84.9],
    [60, 74.9],
    [60, 75],
    [59.9, 74],
    [50, 60],
    [0, 59.9],
  ] as const;
  const { bands, against_minimum } = report(intervals.map(([low, high]) => record({ low, high }))).figures;
  assert.deepEqual(bands, { exemplary: 1, proficient: 1, adequate: 1, at_risk: 1, undetermined: 4 });
  assert.deepEqual(against_minimum, { above: 5, below: 1, undetermined: 2 });
});

Deno.test("quartiles are values that occur, by nearest rank, and the mean has one decimal", () => {
  const spread = (values: readonly number[]) => {
    const rows = values.map((error_detection) => record({ dimensions: { error_detection } }));
    return report(rows).figures.dimensions.find(({ dimension }) => dimension === "error_detection");
  };
  assert.deepEqual(spread([40, 10, 30, 20]), {
    dimension: "error_detection",
    mean: 25,
    lower_quartile: 10,
    median: 20,
    upper_quartile: 30,
  });
  assert.deepEqual(spread([7, 6, 5, 4, 3, 2, 1]), {
    dimension: "error_detection",
    mean: 4,
    lower_quartile: 2,
    median: 4,
    upper_quartile: 6,
  });
  assert.equal(spread([...Array(19).fill(1), 2])!.mean, 1.1);
});

Deno.test("the population states who was left out, for whom no truth is known, and what happened", () => {
  const content = report([
    ...records(3),
    record({ groundTruth: 4 }),
    record({ groundTruth: 5, domain: "legal" }),
    record({ groundTruth: 0, n: 1, t0: AT }),
  ], { data: { incidentFreezes: 2 } });
  assert.deepEqual(content.population, {
    operators: 6,
    minimum_data_met: 5,
    insufficient_data: 1,
    without_ground_truth: 1,
    interactions: 360,
    departures: 24,
    referrals: 6,
    incident_freezes: 2,
  });
  assert.deepEqual(content.caveats, [
    "Operators with fewer than 5 cases whose truth is known: 1 of 5. Without outcome labels or injected errors the score cannot tell careful review from a good imitation of it.",
    "Operators left out because their record is too short (below 50 interactions and 10 days): 1 of 6.",
    "An operator is judged by the last record in the period, under the domain of that record.",
    "Dates marked secondary come from secondary sources: verify them before relying on them.",
  ]);
});

Deno.test("a caveat that does not apply is not given", () => {
  const document = changed((law) => {
    for (const rule of law.rules) rule.date_confidence = "primary";
  });
  assert.deepEqual(report(records(3), { document }).caveats, []);
});

// ---- Article 14 -------------------------------------------------------------------------------------------

Deno.test("the Article 14 part is the report's five findings, their worst status and the operators below each level", () => {
  const rows = [
    ...records(7),
    record({ ...BLIND, jis: 59.95, low: 55, high: 59.9 }),
    record({ ...BLIND, jis: 39.95, low: 35, high: 45, tcrit: AT }),
    record({ jis: 20, low: 10, high: 30, n: 1, t0: AT }),
  ];
  const body = article14(rows);
  assert.deepEqual(article14Schema.strict().parse(body), body);
  assert.equal(body.article, "14");
  assert.deepEqual(body.operators, {
    ...{ total: 10, minimum_data_met: 9, below_min: 2, below_critical: 1 },
    verdicts: { compliant: 0, undetermined: 9, non_compliant: 0 },
  });
  assert.deepEqual(body.thresholds, { min_jis: 60, target_jis: 75, critical_jis: 40 });
  assert.equal(body.rules_version, JIS_1_1_0.law.version);
  assert.deepEqual(body.model, { version: "jis-1.1.0", sha256: SHA256 });
  assert.match(body.statement, /does not declare anyone compliant with any law/);
  assert.deepEqual([body.overall_status, body.status_certain], ["partial", true]);
  assert.deepEqual(body.measures[0], {
    paragraph: "14(4)(a)",
    requirement: "Understand the capacities and limitations of the system, monitor it and detect anomalies",
    status: "partial",
    status_certain: true,
    verdict: "non_compliant",
    metric: "share of operators with error_detection at least 60",
    observed: 0.7777,
    threshold: 0.9,
    operators: 9,
    passing: 7,
    undetermined: 0,
    capped: null,
    citation: "Regulation (EU) 2024/1689, Art. 14(4)(a)",
    in_force: false,
    in_force_from: "2027-12-02",
    in_force_until: null,
  });
  const { findings, overall_status } = report(rows);
  assert.deepEqual(
    body.measures.map(({ paragraph, status }) => [paragraph, status]),
    findings.slice(0, 5).map(({ provision, status }) => [provision, status]),
  );
  assert.equal(overall_status, "non_compliant");
});

Deno.test("a document without Article 14 has no measures and insufficient data", () => {
  const document = changed((law) => law.rules.splice(0, 5));
  const { measures, overall_status, status_certain } = article14(records(3), { document });
  assert.deepEqual([measures, overall_status, status_certain], [[], "insufficient_data", true]);
});

// ---- verdicts ---------------------------------------------------------------------------------------------

/** Operators with verdicts, all of whose dimensions pass. */
const judged = (compliant: number, undetermined: number, failing: number): readonly PeriodRecord[] => [
  ...records(compliant, { verdict: "compliant" }),
  ...records(undetermined, { verdict: "undetermined" }),
  ...records(failing, { verdict: "non_compliant" }),
];

Deno.test("an operator with a verdict passes a finding only if that is compliant, and then only with its conditions", () => {
  const { passing, undetermined, metric } = finding("14(4)(a)", judged(3, 2, 1));
  assert.deepEqual([passing, undetermined], [3, 2]);
  assert.equal(metric, "share of operators with the verdict compliant and error_detection at least 60");
  assert.equal(finding("14(4)(a)", records(3, { verdict: "compliant", ...BLIND })).passing, 0);
});

Deno.test("a finding is certainly below if even at best it is not compliant, and certainly met if even at worst it is", () => {
  const of = (...counts: Parameters<typeof judged>) => {
    const { status, verdict } = finding("14(4)(a)", judged(...counts));
    return [status, verdict];
  };
  assert.deepEqual(of(10, 0, 0), ["compliant", "compliant"]);
  assert.deepEqual(of(19, 1, 0), ["compliant", "compliant"]);
  assert.deepEqual(of(8, 2, 0), ["partial", "undetermined"]);
  assert.deepEqual(of(8, 0, 2), ["partial", "non_compliant"]);
  assert.deepEqual(of(5, 0, 5), ["non_compliant", "non_compliant"]);
  assert.deepEqual(of(0, 10, 0), ["non_compliant", "undetermined"]);
  assert.deepEqual(of(9, 1, 2), ["partial", "non_compliant"], "ten of twelve are below the threshold");
  assert.deepEqual(of(1, 1, 1), ["non_compliant", "non_compliant"]);
  const uncertain = finding("14(4)(a)", judged(7, 1, 2));
  assert.deepEqual(
    [uncertain.status, uncertain.status_certain, uncertain.verdict],
    ["non_compliant", false, "non_compliant"],
    "at best it is partial, at worst non-compliant: below either way",
  );
  assert.equal(finding("14(4)(a)", []).verdict, "undetermined");
  assert.equal(finding("20-870", judged(10, 0, 0)).verdict, null);
});

Deno.test("a cap leaves the verdict undetermined where the share would be compliant, and changes no other verdict", () => {
  const of = (...counts: Parameters<typeof judged>) => {
    const quiet = judged(...counts).map((row) => ({ ...row, departures: 0, referrals: 0 }));
    return ["14(4)(d)", "14(4)(e)"].map((provision) => {
      const { status, verdict, capped } = finding(provision, quiet);
      assert.notEqual(capped, null);
      return [status, verdict];
    });
  };
  const both = (...one: readonly string[]) => [one, one];
  assert.deepEqual(of(10, 0, 0), both("partial", "undetermined"));
  assert.deepEqual(of(8, 2, 0), both("partial", "undetermined"));
  assert.deepEqual(of(8, 0, 2), both("partial", "non_compliant"));
  assert.deepEqual(of(5, 0, 5), both("non_compliant", "non_compliant"));
  const all = report(judged(10, 0, 0).map((row) => ({ ...row, departures: 0, referrals: 0 })));
  assert.deepEqual([all.overall_status, all.overall_verdict], ["partial", "undetermined"]);
});

Deno.test("verdicts decide the sides, the bands in doubt and the counts of a report, whatever the intervals say", () => {
  // Each interval lies wholly above the minimum and within a band.
  const content = report([...judged(3, 2, 1), record({ n: 3, t0: AT - DAY })]);
  assert.deepEqual(content.figures.against_minimum, { above: 3, undetermined: 2, below: 1 });
  assert.deepEqual(content.figures.bands, {
    exemplary: 0,
    proficient: 4,
    adequate: 0,
    at_risk: 0,
    undetermined: 2,
  });
  assert.deepEqual(content.figures.verdicts, {
    compliant: 3,
    undetermined: 2,
    non_compliant: 1,
    insufficient_data: 1,
  });
});

Deno.test("a report's verdict is that of the organization rule over its population", () => {
  const of = (rows: readonly PeriodRecord[]) =>
    report(rows.map((row) => ({ ...row, domain: "financial" }))).verdict!.status;
  assert.equal(of(judged(9, 1, 0)), "compliant");
  assert.equal(of(judged(8, 2, 0)), "undetermined");
  assert.equal(of(judged(8, 0, 2)), "non_compliant");
  assert.equal(
    of([...judged(9, 0, 0), ...records(3, { n: 3, t0: AT - DAY, verdict: "non_compliant" })]),
    "compliant",
  );
  assert.equal(of([]), "undetermined");
});

Deno.test("one finding certainly below decides the overall verdict, then one undetermined, in a report and in Article 14", () => {
  const of = (
    rows: readonly PeriodRecord[],
  ) => [report(rows).overall_verdict, article14(rows).overall_verdict];
  assert.deepEqual(of(judged(10, 0, 0)), ["compliant", "compliant"]);
  assert.deepEqual(of(judged(8, 2, 0)), ["undetermined", "undetermined"]);
  assert.deepEqual(of(judged(8, 0, 2)), ["non_compliant", "non_compliant"]);
  assert.deepEqual(of([]), ["undetermined", "undetermined"]);
  assert.deepEqual(of(judged(7, 1, 2)), ["non_compliant", "non_compliant"]);
  // One measure is certainly below, the others are undetermined.
  const mixed = [...judged(7, 1, 0), ...records(2, { verdict: "compliant", ...BLIND })];
  const quiet = mixed.map((row) => ({ ...row, departures: 0, referrals: 0 }));
  assert.deepEqual(article14(quiet).measures.map(({ verdict }) => verdict).sort(), [
    "compliant",
    "compliant",
    "non_compliant",
    "undetermined",
    "undetermined",
  ]);
  assert.deepEqual(of(quiet), ["non_compliant", "non_compliant"]);
});

Deno.test("the organization rule decides a report's overall verdict beside the findings", () => {
  const critical = (fields: Fields) => report([...judged(19, 0, 0), record({ tcrit: AT - DAY, ...fields })]);
  const [fails, open, passes] = [
    critical({ jis: 30, verdict: "non_compliant" }),
    critical({ jis: 50, verdict: "undetermined" }),
    critical({ verdict: "compliant" }),
  ];
  for (const { findings } of [fails, open, passes]) {
    assert.ok(findings.every(({ verdict }) => verdict === "compliant" || verdict === null));
  }
  assert.deepEqual([fails.overall_verdict, fails.verdict?.status], ["non_compliant", "non_compliant"]);
  assert.deepEqual([open.overall_verdict, open.verdict?.status], ["undetermined", "undetermined"]);
  assert.deepEqual([passes.overall_verdict, passes.verdict?.status], ["compliant", "compliant"]);
});

Deno.test("undetermined operators make the status of the organization rule uncertain, and are named in a caveat with what settles it", () => {
  const rows = judged(8, 2, 0).map((row) => ({ ...row, domain: "financial" as const }));
  const content = report(rows, { document: JIS_2_0_0 });
  assert.deepEqual(
    [content.organization_rule.status, content.organization_rule.status_certain],
    ["compliant", false],
  );
  const caveatOf = ({ caveats }: typeof content) =>
    caveats.find((text) => text.startsWith("Operators whose verdict is undetermined: 2 of 10.")) ?? "";
  assert.match(caveatOf(content), /interval of their score spans 60\. Outcome labels .* would settle it: /);
  // Formulas before jis-3 give no verdict, whatever is known.
  assert.match(
    caveatOf(report(rows)),
    /spans 60\. The formulas of the model in use give no verdict, so that no /,
  );
  assert.ok(!report(judged(8, 0, 2)).caveats.some((text) => text.includes("undetermined")));
});

Deno.test("with the formulas jis-3 a report says whose last score was by earlier ones, and after how many cases there is a verdict", () => {
  const { caveats } = report([...judged(1, 1, 0), record()], { document: JIS_2_0_0 });
  assert.ok(
    caveats.some((text) => text.startsWith("Operators without a verdict") && text.includes("1 of 3")),
  );
  assert.ok(caveats.some((text) => text.includes("no verdict is given before 5 known cases of it")));
});

Deno.test("with the formulas jis-3 an operator whom earlier ones scored last counts as undetermined in every figure, whatever the interval says", () => {
  const setting = { document: JIS_2_0_0, domain: "financial" } as const;
  const of = (verdict: PeriodRecord["verdict"]) => {
    const earlier = { verdict, domain: "financial", tcrit: AT - DAY } as const;
    const rows = [
      record({ verdict: "compliant", domain: "financial" }),
      // Whole intervals above the minimum, below it, and around it.
      ...records(3, earlier),
      ...records(2, { ...earlier, jis: 30, low: 25, high: 35 }),
      record({ ...earlier, jis: 61, low: 50, high: 70, groundTruth: 2 }),
    ];
    const { caveats: _, population, ...content } = report(rows, setting);
    const { without_ground_truth: __, ...counts } = population;
    return { ...content, population: counts, measures: article14(rows, setting) };
  };
  assert.deepEqual(of(null), of("undetermined"));
  const { figures, findings } = of(null);
  assert.deepEqual(figures.against_minimum, { above: 1, below: 0, undetermined: 6 });
  assert.deepEqual([figures.bands.undetermined, figures.verdicts?.undetermined], [6, 6]);
  const { passing, undetermined } = findingIn(findings, "14(4)(a)");
  assert.deepEqual([passing, undetermined], [1, 6]);
});

Deno.test("with the formulas jis-3 no truth is known of an operator whom earlier ones scored last: they counted other cases", () => {
  const content = report([...judged(2, 0, 0), ...records(3)], { document: JIS_2_0_0 });
  assert.equal(content.population.without_ground_truth, 3);
  assert.equal(report([...judged(2, 0, 0), ...records(3)]).population.without_ground_truth, 0);
});
