/** The laws of the compliance report over random periods. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { DIMENSIONS, DOMAINS, VERDICT_STATUSES } from "../../src/domain/enums.ts";
import { FINDING_STATUSES, type FindingStatus, reportSchema } from "../../src/domain/report.ts";
import type { FullDimensions } from "../../src/scoring/dimensions.ts";
import type { PeriodData, PeriodRecord } from "../../src/scoring/period.ts";
import { article14Of, reportOf } from "../../src/scoring/report.ts";
import { JIS_1_1_0 } from "../models.ts";

const SEED = 20_261_121;
const RUNS = 1_000;
const DAY = 86_400_000;
const MODEL = { document: JIS_1_1_0, sha256: "0".repeat(64) };
const END = Date.UTC(2027, 11, 20);
const MIN_JIS = 60;

const every = (value: number): FullDimensions =>
  Object.fromEntries(DIMENSIONS.map((name) => [name, value])) as FullDimensions;

const tenths = fc.integer({ min: 0, max: 120 }).map((value) => value / 10);

/** Scores near the thresholds, so that status and certainty often change; low ≤ jis ≤ high. */
const record: fc.Arbitrary<PeriodRecord> = fc.record({
  at: fc.integer({ min: END - 90 * DAY, max: END - 1 }),
  domain: fc.constantFrom(...DOMAINS),
  jis: fc.integer({ min: 600, max: 1_600 }).map((value) => value / 20),
  below: tenths,
  above: tenths,
  dimensions: fc.record(
    Object.fromEntries(DIMENSIONS.map((name) => [name, fc.integer({ min: 48, max: 100 })])),
  ).map((row) => row as FullDimensions),
  meanCorrectAcceptance: fc.integer({ min: 55, max: 100 }).map((value) => value / 100),
  n: fc.integer({ min: 40, max: 200 }),
  age: fc.integer({ min: 5, max: 40 }),
  groundTruth: fc.nat({ max: 10 }),
  sinceCritical: fc.option(fc.integer({ min: 0, max: 200 })),
  critCount: fc.nat({ max: 5 }),
  shareHs: fc.constantFrom(0, 0.05, 0.1, 0.5),
  shareCrit: fc.constantFrom(0, 0.02, 0.1),
  verdict: fc.constantFrom(null, ...VERDICT_STATUSES),
  interactions: fc.integer({ min: 1, max: 10_000 }),
  departures: fc.constantFrom(0, 0, 0, 1),
  referrals: fc.constantFrom(0, 0, 0, 0, 1),
}).map(({ below, above, age, sinceCritical, ...rest }) => ({
  ...rest,
  low: Math.max(0, Math.floor((rest.jis - below) * 10) / 10),
  high: Math.min(100, Math.ceil((rest.jis + above) * 10) / 10),
  // The interval of a compliant operator, and so the score, is not below the minimum.
  verdict: rest.verdict === "compliant" && rest.jis < MIN_JIS ? "undetermined" as const : rest.verdict,
  t0: rest.at - age * DAY,
  tcrit: sinceCritical === null ? null : rest.at - sinceCritical * DAY,
}));

const data: fc.Arbitrary<PeriodData> = fc.record({
  records: fc.array(record, { maxLength: 25 }),
  incidentFreezes: fc.nat({ max: 1 }),
});

const domain = fc.constantFrom(...DOMAINS);
const day = fc.integer({ min: -600, max: 600 }).map((days) => END + days * DAY);

const reportFor = (
  content: PeriodData,
  { own, end = END }: { readonly own: (typeof DOMAINS)[number]; readonly end?: number },
) =>
  reportOf(MODEL, {
    organization: { org_id: "acme", name: "Acme", domain: own },
    period: { start: end - 90 * DAY, end },
    data: content,
  });

function frozen<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) Object.values(value).forEach(frozen);
  return Object.freeze(value);
}

function check<Values extends [unknown, ...unknown[]]>(property: fc.IProperty<Values>): void {
  fc.assert(property, { seed: SEED, numRuns: RUNS });
}

Deno.test("a report is the same whatever the order of the records, mutates nothing and fits its schema", () => {
  const content = reportSchema.omit({ report_id: true }).strict();
  check(fc.property(data, domain, day, (period, own, end) => {
    const report = reportFor(frozen(period), { own, end });
    assert.deepEqual(content.parse(report), report);
    const sorted = period.records.toSorted((a, b) => a.jis - b.jis || a.at - b.at);
    for (const records of [period.records.toReversed(), sorted]) {
      assert.deepEqual(reportFor({ ...period, records }, { own, end }), report);
    }
    const input = { period: { start: end - 90 * DAY, end }, organizationDomain: own };
    const article14 = article14Of(MODEL, { ...input, data: period });
    const reversed = { ...period, records: period.records.toReversed() };
    assert.deepEqual(article14Of(MODEL, { ...input, data: reversed }), article14);
  }));
});

Deno.test("one more operator who passes everything lowers no finding's share", () => {
  check(fc.property(data, domain, record, (period, own, other) => {
    const passing = { ...other, n: 200, jis: 100, low: 95, high: 100, dimensions: every(100) };
    const best = { ...passing, meanCorrectAcceptance: 1, verdict: "compliant" as const };
    const before = reportFor(period, { own }).findings;
    const after = reportFor({ ...period, records: [...period.records, best] }, { own }).findings;
    before.forEach(({ observed, status }, index) => {
      assert.ok(after[index]!.observed === null || after[index]!.observed >= (observed ?? 0));
      if (observed === null) return;
      const rank = (value: FindingStatus) => FINDING_STATUSES.indexOf(value);
      assert.ok(rank(after[index]!.status) >= rank(status));
    });
  }));
});

Deno.test("a report is as bad as its worst applicable finding, and worse only by the organization rule", () => {
  check(fc.property(data, domain, day, (period, own, end) => {
    const { findings, organization_rule, overall_status } = reportFor(period, { own, end });
    const statuses = [...findings.map(({ status }) => status), organization_rule.status];
    if (statuses.includes("non_compliant")) return assert.equal(overall_status, "non_compliant");
    const applicable = findings.map(({ status }) => status).filter((status) => status !== "not_applicable");
    const ranks = applicable.map((status) => FINDING_STATUSES.indexOf(status));
    assert.equal(FINDING_STATUSES.indexOf(overall_status), Math.min(...ranks));
  }));
});

Deno.test("a status is certain if and only if no undetermined operator, passing or failing, would change it", () => {
  const undetermined = ({ low, high, verdict }: PeriodRecord) =>
    verdict === null ? low < MIN_JIS && MIN_JIS <= high : verdict === "undetermined";
  const ALL_WELL = { dimensions: every(100), meanCorrectAcceptance: 1 };
  const NOTHING_WELL = { dimensions: every(0), meanCorrectAcceptance: 0 };
  const bestOf = (row: PeriodRecord): PeriodRecord => {
    if (row.verdict === null) return { ...row, jis: row.high, ...undetermined(row) ? ALL_WELL : {} };
    if (row.verdict === "non_compliant") return { ...row, jis: Math.min(row.jis, MIN_JIS - 0.01) };
    return undetermined(row) ? { ...row, jis: 100, verdict: "compliant", ...ALL_WELL } : row;
  };
  const worstOf = (row: PeriodRecord): PeriodRecord => {
    if (row.verdict === null) return { ...row, jis: row.low, ...undetermined(row) ? NOTHING_WELL : {} };
    return row.verdict === "compliant" ? row : { ...row, jis: 0, verdict: "non_compliant" };
  };
  check(fc.property(data, domain, (period, own) => {
    const report = reportFor(period, { own });
    const best = reportFor({ ...period, records: period.records.map(bestOf) }, { own });
    const worst = reportFor({ ...period, records: period.records.map(worstOf) }, { own });
    report.findings.forEach(({ status, status_certain }, index) => {
      const same = [best, worst].every(({ findings }) => findings[index]!.status === status);
      assert.equal(status_certain, same);
    });
    const rule = report.organization_rule;
    const ruleSame = [best, worst].every((other) => other.organization_rule.status === rule.status);
    assert.equal(rule.status_certain, ruleSame);
    const same = [best, worst].every((other) => other.overall_status === report.overall_status);
    assert.equal(report.status_certain, same);
  }));
});

Deno.test("every operator of the population is counted once in the histogram, the bands and the sides", () => {
  const total = (counts: readonly number[]) => counts.reduce((sum, value) => sum + value, 0);
  check(fc.property(data, domain, (period, own) => {
    const { figures, population } = reportFor(period, { own });
    const { histogram, bands, against_minimum, verdicts } = figures;
    const { insufficient_data, ...counts } = verdicts!;
    assert.equal(total(Object.values(counts)), population.minimum_data_met);
    assert.equal(insufficient_data, population.insufficient_data);
    assert.equal(total(histogram.map(({ operators }) => operators)), population.minimum_data_met);
    assert.equal(total(Object.values(bands)), population.minimum_data_met);
    assert.equal(total(Object.values(against_minimum)), population.minimum_data_met);
  }));
});

Deno.test("every framework is in every report, in the order of the document", () => {
  check(fc.property(day, domain, (end, own) => {
    const content = { records: [], incidentFreezes: 0 };
    const { findings } = reportFor(content, { own, end });
    assert.deepEqual([...new Set(findings.map(({ regulation }) => regulation))], [
      "EU AI Act Article 14",
      "Colorado SB 205",
      "NYC Local Law 144",
      "SR 11-7",
    ]);
  }));
});

Deno.test("a certain verdict of the organization is that of the rule, however the undetermined operators turn out", () => {
  const settled = (to: "compliant" | "non_compliant") => (row: PeriodRecord): PeriodRecord =>
    row.verdict === "compliant" || row.verdict === "non_compliant"
      ? row
      : to === "compliant"
      ? { ...row, jis: 90, verdict: to }
      : { ...row, jis: 10, verdict: to };
  check(fc.property(data, domain, (period, own) => {
    const { verdict } = reportFor(period, { own });
    const ends = (["compliant", "non_compliant"] as const).map((to) =>
      reportFor({ ...period, records: period.records.map(settled(to)) }, { own }).verdict!.status
    );
    if (verdict!.status !== "undetermined") assert.deepEqual(ends, [verdict!.status, verdict!.status]);
  }));
});

Deno.test("a finding's verdict is what it stays, whichever undetermined operators pass, and a cap decides nothing", () => {
  check(fc.property(data, domain, (period, own) => {
    const { findings, overall_verdict, verdict: organization } = reportFor(period, { own });
    for (const { verdict, status, operators, capped, threshold, ...counts } of findings) {
      const [passing, undetermined] = [counts.passing!, counts.undetermined!];
      if (verdict === null) assert.equal(status, "not_applicable");
      else if (status === "insufficient_data") assert.equal(verdict, "undetermined");
      else if (verdict === "compliant") assert.ok(capped === null && status === "compliant");
      else if (verdict === "non_compliant") assert.ok(passing / operators < threshold);
      else assert.ok(capped !== null || undetermined > 0);
      if (undetermined > 0 || operators === 0 || status === "not_applicable") continue;
      const isBelow = passing / operators < threshold;
      const expected = isBelow ? "non_compliant" : capped === null ? "compliant" : "undetermined";
      assert.equal(verdict, expected);
    }
    const verdicts = [...findings.map(({ verdict }) => verdict), organization!.status];
    assert.equal(overall_verdict === "non_compliant", verdicts.includes("non_compliant"));
    if (overall_verdict === "compliant") {
      assert.ok(findings.every(({ verdict }) => verdict === "compliant" || verdict === null));
    }
  }));
});
