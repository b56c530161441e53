/**
 * GET /v1/compliance/report, …/report/{report_id} and …/article14: their figures and findings, how reports
 * are kept, and their evidence.
 * Source: specification, Compliance report; contract, section 4; scoring model, section 10.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { signedReportIn } from "../../src/pages/signed_report.ts";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { fromHex, hex } from "../../src/evidence/crypto.ts";
import { parseProof } from "../../src/evidence/envelope.ts";
import { entryHash, partCommitment } from "../../src/evidence/hashes.ts";
import { rootFromInclusion } from "../../src/evidence/merkle.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { parseCheckpoint, parseNote, verifyNote } from "../../src/evidence/note.ts";
import { IS_SERVER } from "../database.ts";
import { rowsOf } from "../earlier_schema.ts";
import {
  type Answer,
  EPOCH,
  type Harness,
  MASTER_KEY,
  openHarness,
  scoreRequest,
  withAlterations,
  withHarness,
  writingAfterReads,
} from "../harness.ts";
import { keptPage } from "../kept_pages/kept.ts";
import { verifyDatabase } from "../oracle.ts";
import { resealed } from "../resealed.ts";
import { refuses } from "../scenario.ts";

const DAY = 86_400_000;
const PATH = "/v1/compliance/report";
/** The quarter of the harness's clock and of the ten days after it. */
const QUARTER = { start: "2026-10-01", end: "2027-01-01" };

const CARELESS = {
  outcome_correct: false,
  time_to_decision_ms: 1400,
  hover_events: 0,
  scroll_depth: 0,
  alternative_views_checked: 0,
};

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

// ---- fixtures ---------------------------------------------------------------------------------------------

let sessions = 0;

/** Scores a careful, right acceptance with the given fields changed. */
async function score(
  { send }: Harness,
  key: string,
  { operator = "operator-1", domain = "financial", query = "", ...interaction }: Record<string, unknown> = {},
): Promise<Json> {
  sessions += 1;
  const answer = await send(`/v1/score${query}`, {
    key,
    body: scoreRequest({ session_id: `s-${sessions}`, operator_id: operator, domain }, interaction),
  });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** Makes records long enough for a verdict: two scores ten days apart, the second with the given fields. */
async function scoreTenDays(
  harness: Harness,
  key: string,
  { operators, ...interaction }: Record<string, unknown> & { readonly operators: readonly string[] },
): Promise<void> {
  for (const operator of operators) await score(harness, key, { operator });
  harness.clock.advance(10 * DAY);
  for (const operator of operators) await score(harness, key, { operator, ...interaction });
}

interface Asked {
  readonly start: string;
  readonly end: string;
  readonly format?: string;
}

const pathOf = ({ start, end, format }: Asked) =>
  `${PATH}?${new URLSearchParams({
    period_start: start,
    period_end: end,
    ...(format === undefined ? {} : { format }),
  })}`;

async function reportOf({ send }: Harness, key: string, asked: Asked = QUARTER): Promise<Answer> {
  const answer = await send(pathOf(asked), { key });
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

/** The members of an answer that hold its report, byte for byte. */
function issued({ body, text }: Answer) {
  const { report_id } = body.report;
  return { report_id, report: memberText(text, "report"), sha: body.report_sha256, evidence: body.evidence };
}

/** A member of the outermost object, byte for byte as it was sent. */
function memberText(text: string, name: string): string {
  let depth = 0;
  let quoted = false;
  let start = -1;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (quoted) {
      if (character === "\\") at += 1;
      else quoted = character !== '"';
      continue;
    }
    if (character === '"') {
      if (depth === 1 && start < 0 && text.startsWith(`"${name}":`, at)) {
        at += name.length + 2;
        start = at + 1;
      } else quoted = true;
      continue;
    }
    if (character === "{" || character === "[") depth += 1;
    if (character !== "}" && character !== "]") continue;
    depth -= 1;
    if (depth === 1 && start >= 0) return text.slice(start, at + 1);
  }
  throw new Error(`no member ${name}`);
}

const sha256 = (text: string) => createHash("sha256").update(text, "utf8").digest("hex");

/** The entries of the organization's evidence chain, verified by the oracle. */
async function eventsOf({ database, verifierKey }: Harness, orgId: string) {
  const chains = await verifyDatabase(database, { publicKey: verifierKey("any").publicKey });
  const { entries, parts } = chains.find(({ chain }) => chain === `org/${orgId}`)!;
  return entries.map((entry) => ({ ...entry, detail: parts.get(`${entry.seq}/detail`) }));
}

const findingsBy = (report: Json, regulation: string): readonly Json[] =>
  report.findings.filter((finding: Json) => finding.regulation === regulation);

const findingOf = (report: Json, provision: string): Json =>
  report.findings.find((finding: Json) => finding.provision === provision);

// ---- the content of a report ------------------------------------------------------------------------------

Deno.test(
  "a report has the specification's members, and one finding for each provision of the four frameworks",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreTenDays(harness, key, { operators: ["a"] });
    const { body } = await reportOf(harness, key);
    assert.deepEqual(Object.keys(body).sort(), [
      "evidence",
      "report",
      "report_sha256",
      "request_id",
      "timestamp",
    ]);
    const { report } = body;
    assert.deepEqual(Object.keys(report), [
      "caveats",
      "figures",
      "findings",
      "model",
      "organization",
      "organization_rule",
      "overall_status",
      "overall_verdict",
      "period",
      "population",
      "report_id",
      "rules_version",
      "statement",
      "status_certain",
      "thresholds",
      "verdict",
    ]);
    assert.deepEqual(report.period, { end: "2027-01-01T00:00:00.000Z", start: "2026-10-01T00:00:00.000Z" });
    assert.deepEqual(report.organization, {
      domain: "financial",
      name: "Organization acme",
      org_id: "acme",
    });
    assert.deepEqual(report.findings.map(({ regulation, provision }: Json) => [regulation, provision]), [
      ["EU AI Act Article 14", "14(4)(a)"],
      ["EU AI Act Article 14", "14(4)(b)"],
      ["EU AI Act Article 14", "14(4)(c)"],
      ["EU AI Act Article 14", "14(4)(d)"],
      ["EU AI Act Article 14", "14(4)(e)"],
      ["Colorado SB 205", "6-1-1703"],
      ["NYC Local Law 144", "20-870"],
      ["SR 11-7", "effective challenge"],
    ]);
    for (const finding of report.findings) {
      for (const name of ["regulation", "status", "citation", "provision", "requirement", "metric"]) {
        assert.ok(typeof finding[name] === "string" && finding[name] !== "", name);
      }
      for (const name of ["observed", "threshold", "in_force"]) assert.ok(name in finding, name);
    }
    assert.equal(findingOf(report, "14(4)(a)").citation, "Regulation (EU) 2024/1689, Art. 14(4)(a)");
    assert.deepEqual(report.thresholds, { critical_jis: 40, min_jis: 60, target_jis: 75 });
    assert.equal(report.model.version, "jis-1.0.0");
    assert.match(report.model.sha256, /^[0-9a-f]{64}$/);
    assert.match(report.rules_version, /^\d{4}-\d\d-\d\d$/);
    assert.match(report.statement, /evidence for a deployer's own assessment/);
  }),
);

Deno.test(
  "a report counts the period's operators, interactions, departures, referrals and freezes",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreTenDays(harness, key, { operators: ["a", "b"] });
    await score(harness, key, { operator: "short", decision: "rejected", outcome_correct: null });
    await score(harness, key, { operator: "short", decision: "modified", modification_extent: 0.1 });
    await score(harness, key, { operator: "short", decision: "modified", modification_extent: 0 });
    await score(harness, key, { operator: "short", decision: "overridden", query: "?mode=lite" });
    await score(harness, key, { operator: "short", decision: "deferred" });
    await score(harness, key, { operator: "short", decision: "escalated" });
    await score(harness, key, { operator: "other", query: "?mode_override=incident_frozen" });
    const { report } = (await reportOf(harness, key)).body;
    assert.deepEqual(report.population, {
      departures: 3,
      incident_freezes: 1,
      insufficient_data: 1,
      interactions: 10,
      minimum_data_met: 2,
      operators: 3,
      referrals: 2,
      without_ground_truth: 2,
    });
  }),
);

Deno.test(
  "a report's figures are those of the last score in the period, of each operator with a record of sufficient length",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    for (const operator of ["a", "b"]) await score(harness, key, { operator });
    harness.clock.advance(10 * DAY);
    const a = await score(harness, key, { operator: "a", query: "?mode=lite" });
    const b = await score(harness, key, { operator: "b", ...CARELESS });
    await score(harness, key, { operator: "short" });
    const { profile } = (await harness.send("/v1/operator/a/profile", { key })).body;
    const { report } = (await reportOf(harness, key)).body;
    assert.notEqual(profile.jis, a.jis, "a lite call counts with its full-mode score");
    const hundredths = Math.round(profile.jis * 100) + Math.round(b.jis * 100);
    assert.deepEqual(report.figures.jis, {
      mean: Math.floor(hundredths / 2 + 0.5) / 100,
      median: Math.floor(hundredths / 2 + 0.5) / 100,
    });
    const passingD2 = [profile, b].filter(({ dimensions }) => dimensions.error_detection >= 60).length;
    const { operators, passing, observed, threshold } = findingOf(report, "14(4)(a)");
    assert.deepEqual([operators, passing, observed, threshold], [2, passingD2, passingD2 / 2, 0.9]);
    assert.ok(b.jis < 60);
    // One of two high-risk operators is below 60.
    const { status_certain: _certain, ...rule } = report.organization_rule;
    assert.deepEqual(rule, {
      critical_below_critical: 0,
      critical_operators: 0,
      high_risk_below_minimum: 1,
      high_risk_operators: 2,
      status: "non_compliant",
    });
    assert.equal(report.overall_status, "non_compliant");
  }),
);

Deno.test(
  "9 of 10 operators who pass are compliant, 8 of 10 partial, 7 of 10 non-compliant",
  withHarness(async (harness) => {
    const [nine, eight, seven] = [
      await harness.organization("nine"),
      await harness.organization("eight"),
      await harness.organization("seven"),
    ];
    const operators = Array.from({ length: 10 }, (_, index) => `o-${index}`);
    for (const key of [nine, eight, seven]) {
      for (const operator of operators) await score(harness, key, { operator, domain: "general" });
    }
    harness.clock.advance(10 * DAY);
    const injected = { scenario_type: "error_injected", outcome_correct: null, domain: "general" };
    for (const [key, passing] of [[nine, 9], [eight, 8], [seven, 7]] as const) {
      for (const [index, operator] of operators.entries()) {
        await score(harness, key, {
          operator,
          ...(index < passing ? { ...injected, decision: "rejected" } : { domain: "general", ...CARELESS }),
        });
      }
    }
    for (
      const [key, status, observed] of [
        [nine, "compliant", 0.9],
        [eight, "partial", 0.8],
        [seven, "non_compliant", 0.7],
      ] as const
    ) {
      const { report } = (await reportOf(harness, key)).body;
      for (const provision of ["14(4)(a)", "14(4)(b)", "14(4)(d)"]) {
        const finding = findingOf(report, provision);
        assert.deepEqual([finding.status, finding.observed], [status, observed], provision);
      }
    }
  }),
);

Deno.test(
  "without departure or referral 14(4)(d) is partial at best, without referral or freeze 14(4)(e) is",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreTenDays(harness, key, { operators: ["a"] });
    const statusesOf = async () => {
      const { report } = (await reportOf(harness, key)).body;
      return ["14(4)(a)", "14(4)(d)", "14(4)(e)"].map((provision) => findingOf(report, provision).status);
    };
    assert.deepEqual(await statusesOf(), ["compliant", "partial", "partial"]);
    await score(harness, key, { operator: "frozen", query: "?mode_override=incident_frozen" });
    assert.deepEqual(await statusesOf(), ["compliant", "partial", "compliant"]);
    await score(harness, key, { operator: "short", decision: "rejected" });
    assert.deepEqual(
      await statusesOf(),
      ["compliant", "partial", "compliant"],
      "an operator without a verdict",
    );
    await score(harness, key, { operator: "a", decision: "rejected" });
    assert.deepEqual(await statusesOf(), ["compliant", "compliant", "compliant"]);
  }),
);

Deno.test(
  "an organization without data gets a report with insufficient_data, and evidence of it",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const { body } = await reportOf(harness, key);
    const { report } = body;
    assert.equal(report.overall_status, "insufficient_data");
    assert.equal(report.organization_rule.status, "insufficient_data");
    assert.deepEqual(
      new Set(report.findings.map(({ status }: Json) => status)),
      new Set([
        "insufficient_data",
        "not_applicable",
      ]),
    );
    assert.ok(report.findings.every(({ observed, operators }: Json) => observed === null && operators === 0));
    assert.deepEqual(report.population, {
      departures: 0,
      incident_freezes: 0,
      insufficient_data: 0,
      interactions: 0,
      minimum_data_met: 0,
      operators: 0,
      referrals: 0,
      without_ground_truth: 0,
    });
    assert.deepEqual(report.figures.jis, { mean: null, median: null });
    assert.equal(body.evidence.entry.event_type, "REPORT_ISSUED");
  }),
);

Deno.test(
  "records too short for a verdict give insufficient_data, and a caveat that says so",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key, CARELESS);
    harness.clock.advance(10 * DAY);
    // Ten days later the operator's record is long enough, but the record in the period is not.
    const { report } = (await reportOf(harness, key)).body;
    assert.equal(report.overall_status, "insufficient_data");
    assert.deepEqual([report.population.operators, report.population.insufficient_data], [1, 1]);
    assert.ok(report.caveats.some((caveat: string) => /too short/.test(caveat)));
  }),
);

Deno.test(
  "a framework covers only its domains: Local Law 144 employment, SR 11-7 finance",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreTenDays(harness, key, { operators: ["a"] });
    const statusOf = (report: Json, framework: string) => findingsBy(report, framework)[0].status;
    const before = (await reportOf(harness, key)).body.report;
    assert.equal(statusOf(before, "NYC Local Law 144"), "not_applicable");
    assert.notEqual(statusOf(before, "SR 11-7"), "not_applicable");
    await score(harness, key, { operator: "a", domain: "employment" });
    const after = (await reportOf(harness, key)).body.report;
    assert.equal(statusOf(after, "NYC Local Law 144"), "compliant");
    assert.equal(findingsBy(after, "NYC Local Law 144")[0].operators, 1);
    // The organization's own domain still requires it, although it covers no record any more.
    assert.equal(statusOf(after, "SR 11-7"), "insufficient_data");
  }),
);

Deno.test(
  "in_force and the citation depend on the period's last day: Colorado on 2027-01-01, the EU on 2027-12-02",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const lawAt = async (end: string) => {
      const { report } = (await reportOf(harness, key, { start: "2026-10-01", end })).body;
      const [colorado, ...more] = findingsBy(report, "Colorado SB 205");
      assert.deepEqual(more, [], "one rule of a framework at a time");
      const eu = findingsBy(report, "EU AI Act Article 14");
      assert.equal(eu.length, 5);
      assert.equal(new Set(eu.map((finding) => finding.in_force)).size, 1);
      return [colorado.provision, colorado.in_force, eu[0].in_force];
    };
    const old = "6-1-1703";
    const reenacted = "6-1-1705(1)(a)(II)";
    assert.deepEqual(await lawAt("2027-01-01"), [old, false, false]);
    assert.deepEqual(await lawAt("2027-01-01T00:00:00.001Z"), [reenacted, true, false]);
    assert.deepEqual(await lawAt("2027-01-01T01:00:00+01:00"), [old, false, false]);
    assert.deepEqual(await lawAt("2027-12-02"), [reenacted, true, false]);
    assert.deepEqual(await lawAt("2027-12-02T00:00:00.001Z"), [reenacted, true, true]);
    assert.deepEqual(await lawAt("2027-12-03"), [reenacted, true, true]);
    const { report } = (await reportOf(harness, key)).body;
    const [sr] = findingsBy(report, "SR 11-7");
    assert.deepEqual([sr.in_force, sr.in_force_until], [false, "2026-04-16"]);
    const past = (await reportOf(harness, key, { start: "2026-01-01", end: "2026-04-17" })).body.report;
    assert.equal(findingsBy(past, "SR 11-7")[0].in_force, true);
  }),
);

// ---- repeated reports -------------------------------------------------------------------------------------

Deno.test(
  "report_sha256 is the SHA-256 of the report member's bytes as they were sent, which are canonical JSON",
  withHarness(async (harness) => {
    const { send } = harness;
    const names = ['Acme "{Bank}" \\ [é]', "\u2028 line, \u{1f984} and </script>", '}","report":{'];
    for (const [index, name] of names.entries()) {
      const created = await send("/v1/admin/org/create", {
        headers: { "X-API-Key": MASTER_KEY, "Idempotency-Key": `${index}` },
        body: {
          org_id: `o${index}`,
          name,
          domain: "employment",
          tier: "starter",
          allowed_origins: "",
        },
      });
      const key = created.body.api_key;
      await scoreTenDays(harness, key, { operators: ["a", "b"], decision: "rejected" });
      const answer = await reportOf(harness, key, { start: "2026-01-01", end: "2028-01-01" });
      const bytes = memberText(answer.text, "report");
      assert.equal(answer.body.report_sha256, sha256(bytes));
      assert.equal(bytes, canonicalJson(answer.body.report));
      assert.equal(answer.body.report.organization.name, name.trim());
      const stored = await send(`${PATH}/${answer.body.report.report_id}`, { key });
      assert.equal(memberText(stored.text, "report"), bytes);
      assert.equal(stored.body.report_sha256, answer.body.report_sha256);
    }
  }),
);

Deno.test(
  "the same period over the same records gives the same report, bytes, hash and evidence, and one entry",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreTenDays(harness, key, { operators: ["a", "b"] });
    const first = await reportOf(harness, key);
    const before = await harness.rowCounts();
    harness.clock.advance(3_600_000);
    const again = await reportOf(harness, key);
    assert.deepEqual(issued(again), issued(first));
    assert.notEqual(again.body.request_id, first.body.request_id);
    assert.notEqual(again.body.timestamp, first.body.timestamp);
    const byId = await harness.send(`${PATH}/${first.body.report.report_id}`, { key });
    assert.equal(byId.status, 200);
    assert.deepEqual(issued(byId), issued(first));
    assert.deepEqual(await harness.rowCounts(), before);
    const events = await eventsOf(harness, "acme");
    assert.deepEqual(
      events.filter(({ event_type }) => event_type === "REPORT_ISSUED").map(({ detail }) => detail),
      [{ report_id: first.body.report.report_id, report_sha256: first.body.report_sha256 }],
    );
  }),
);

Deno.test(
  "a period that is asked for eight times at once has one report and one entry",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreTenDays(harness, key, { operators: ["a"] });
    const answers = await Promise.all(Array.from({ length: 8 }, () => reportOf(harness, key)));
    for (const answer of answers) assert.deepEqual(issued(answer), issued(answers[0]!));
    const counts = await harness.rowCounts();
    assert.equal(counts.compliance_report, 1);
    const events = await eventsOf(harness, "acme");
    assert.equal(events.filter(({ event_type }) => event_type === "REPORT_ISSUED").length, 1);
  }),
);

Deno.test(
  "a period is the same however it is written: date, date-time in UTC, date-time with another offset",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key);
    const forms = [
      { start: "2026-11-20", end: "2026-11-21" },
      { start: "2026-11-20T00:00:00Z", end: "2026-11-21T00:00:00Z" },
      { start: "2026-11-20T00:00:00.000Z", end: "2026-11-21T00:00:00.000Z" },
      { start: "2026-11-20T02:00:00+02:00", end: "2026-11-20T18:30:00-05:30" },
      { start: "2026-11-20", end: "2026-11-21T05:45:00+05:45" },
    ];
    const answers = [];
    for (const form of forms) answers.push(await reportOf(harness, key, form));
    for (const answer of answers) assert.deepEqual(issued(answer), issued(answers[0]!));
    assert.deepEqual(answers[0]!.body.report.period, {
      end: "2026-11-21T00:00:00.000Z",
      start: "2026-11-20T00:00:00.000Z",
    });
    assert.equal((await harness.rowCounts()).compliance_report, 1);
  }),
);

Deno.test(
  "two periods over the same records give two reports",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key);
    const day = await reportOf(harness, key, { start: "2026-11-20", end: "2026-11-21" });
    const month = await reportOf(harness, key, { start: "2026-11-01", end: "2026-12-01" });
    assert.notEqual(day.body.report.report_id, month.body.report.report_id);
    assert.equal(day.body.report.population.interactions, month.body.report.population.interactions);
  }),
);

Deno.test(
  "records before and after the period leave its report the same",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const { clock } = harness;
    await score(harness, key, { operator: "a" });
    clock.advance(10 * DAY);
    await score(harness, key, { operator: "a" });
    const period = { start: "2026-11-21", end: "2026-12-01" };
    const first = await reportOf(harness, key, period);
    assert.equal(first.body.report.population.interactions, 1);
    clock.advance(DAY);
    await score(harness, key, { operator: "a", ...CARELESS, domain: "employment" });
    await score(harness, key, { operator: "b", decision: "escalated" });
    await score(harness, key, { operator: "c", query: "?mode_override=incident_frozen" });
    clock.advance(-20 * DAY);
    await score(harness, key, { operator: "d", decision: "rejected" });
    assert.deepEqual(issued(await reportOf(harness, key, period)), issued(first));
  }),
);

Deno.test(
  "each kind of record inside the period gives a new report, and older ones can still be read, byte for byte",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreTenDays(harness, key, { operators: ["a"] });
    const reports = [await reportOf(harness, key)];
    for (
      const fields of [
        { operator: "a" },
        { operator: "b" },
        { operator: "a", decision: "rejected" },
        { operator: "a", query: "?mode=lite" },
        { operator: "z", query: "?mode_override=incident_frozen" },
      ]
    ) {
      await score(harness, key, fields);
      reports.push(await reportOf(harness, key));
    }
    const ids = reports.map(({ body }) => body.report.report_id);
    assert.equal(new Set(ids).size, 6);
    assert.equal(new Set(reports.map(({ body }) => body.report_sha256)).size, 6);
    for (const [index, id] of ids.entries()) {
      const { status, ...stored } = await harness.send(`${PATH}/${id}`, { key });
      assert.equal(status, 200);
      assert.deepEqual(issued({ status, ...stored }), issued(reports[index]!));
    }
    assert.deepEqual(
      reports.map(({ body }) => body.report.population.interactions),
      [2, 3, 4, 5, 6, 6],
    );
  }),
);

Deno.test(
  "a late label, a commit, a decision and a repeated call inside the period leave its report the same",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const { send } = harness;
    await scoreTenDays(harness, key, { operators: ["a"], decision: "rejected", outcome_correct: null });
    const session = `s-${sessions}`;
    const body = scoreRequest({ session_id: "repeated", operator_id: "a" }, { outcome_correct: null });
    await send("/v1/score", { key, body });
    const first = await reportOf(harness, key);
    for (
      const [path, sent] of [
        [`/v1/score/${session}/commit`, { outcome_correct: false }],
        ["/v1/score/repeated/commit", {}],
        ["/v1/score", body],
        ["/v1/decision/score", {
          operator_id: "a",
          domain: "financial",
          time_to_decision_ms: 900,
          decision: "accepted",
        }],
      ] as const
    ) {
      assert.equal((await send(path, { key, body: sent })).status, 200, path);
      assert.deepEqual(issued(await reportOf(harness, key)), issued(first), path);
    }
    // The label counts from the next score on.
    await score(harness, key, { operator: "a" });
    assert.notEqual((await reportOf(harness, key)).body.report.report_id, first.body.report.report_id);
  }),
);

Deno.test(
  "a period includes its first millisecond and excludes its last",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key, { decision: "rejected" });
    await score(harness, key, { decision: "escalated" });
    await score(harness, key, { operator: "frozen", query: "?mode_override=incident_frozen" });
    const at = (offset: number) => new Date(EPOCH + offset).toISOString();
    for (const [start, end, inside] of [[0, 1, 1], [-1, 0, 0], [1, 2, 0], [-1, 1, 1], [0, DAY, 1]] as const) {
      const { report } = (await reportOf(harness, key, { start: at(start), end: at(end) })).body;
      const { operators, interactions, departures, referrals, incident_freezes } = report.population;
      assert.deepEqual(
        [operators, interactions, departures, referrals, incident_freezes],
        [inside, 2 * inside, inside, inside, inside],
        `from ${start} to ${end}`,
      );
    }
  }),
);

Deno.test(
  "the report of a past period uses the operator's state at its last record, whatever came later",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreTenDays(harness, key, { operators: ["a"] });
    const period = { start: "2026-11-20", end: "2026-12-01" };
    const { body: before } = await harness.send("/v1/operator/a/profile", { key });
    harness.clock.advance(40 * DAY);
    for (let index = 0; index < 10; index += 1) {
      await score(harness, key, { operator: "a", ...CARELESS, scenario_type: "critical" });
    }
    const { report } = (await reportOf(harness, key, period)).body;
    assert.equal(report.figures.jis.mean, before.profile.jis);
    assert.equal(report.organization_rule.critical_operators, 0);
    assert.equal(report.population.interactions, 2);
    const later = (await reportOf(harness, key, { start: "2027-01-01", end: "2027-02-01" })).body.report;
    assert.deepEqual(
      [later.organization_rule.critical_operators, later.organization_rule.critical_below_critical],
      [1, 1],
    );
  }),
);

Deno.test("counts and records of a report are of one state, also if records are written between its reads", async () => {
  /**
   * Number of writes still to make: one after each read of the report, none between the reads of its commit.
   */
  let left = 0;
  let written = 0;
  const harness = await openHarness({
    wrap(database) {
      /** Writes one more operator, with one departure inside the period. */
      const write = async () => {
        if (left === 0) return;
        left -= 1;
        written += 1;
        const id = `written-${written}`;
        const columns =
          "request_digest, request_id, at, domain, decision, scenario_type, mode, departure, position, " +
          "committed, jis, low, high, d1, d2, d3, d4, d5, d6, d7, mean_c, n, t0, ground_truth, tcrit, " +
          "crit_count, share_hs, share_crit, t1, previous, departed, referred";
        const figures = "position, jis, n, t0, t1, tcrit, crit_count, share_hs, share_crit";
        await database.batch([
          {
            sql: `INSERT INTO subject VALUES ('acme', '${id}', '${id.padEnd(32, "-")}', NULL)`,
            parameters: [],
          },
          {
            sql: `INSERT INTO operator (org_id, operator_id, state, domain, prior_seq, prior_hash, ${figures})
              SELECT org_id, '${id}', state, domain, prior_seq, prior_hash, ${figures} FROM operator
              WHERE operator_id = 'a'`,
            parameters: [],
          },
          {
            sql: `INSERT INTO interaction (org_id, session_id, operator_id, ${columns})
              SELECT org_id, '${id}', '${id}', ${columns} FROM interaction WHERE operator_id = 'a'`,
            parameters: [],
          },
        ]);
        await resealed({ database, seals: harness.dependencies.seals });
      };
      return writingAfterReads(database, write);
    },
  });
  try {
    const key = await harness.organization("acme");
    await score(harness, key, { operator: "a", decision: "rejected" });
    const seen: number[] = [];
    for (let read = 0; read < 4; read += 1) {
      left = 3;
      const { report } = (await reportOf(harness, key)).body;
      const { operators, interactions, departures } = report.population;
      assert.deepEqual([interactions, departures], [operators, operators]);
      assert.equal(report.population.insufficient_data, operators);
      seen.push(operators);
    }
    assert.equal(new Set(seen).size, 4, "records are written between the reports");
    assert.equal(written, 12, "records are written within each report");
  } finally {
    await harness.abandon();
  }
});

// ---- evidence ---------------------------------------------------------------------------------------------

/** First check of a report's evidence that fails, by the steps on its page; null if it verifies. */
function faultOf({ verifierKey }: Harness, body: Json, bytes: string): string | null {
  const { evidence } = body;
  if (sha256(bytes) !== body.report_sha256) return "the report";
  const text = canonicalJson({ report_id: body.report.report_id, report_sha256: body.report_sha256 });
  const commitment = hex(partCommitment(nodeCrypto, { name: "detail", salt: fromHex(evidence.salt), text }));
  if (commitment !== evidence.sha256 || commitment !== evidence.entry.commit.detail) return "the commitment";
  const leafHash = entryHash(nodeCrypto, canonicalJson(evidence.entry));
  if (hex(leafHash) !== evidence.entry_hash) return "the entry hash";
  const { index, path, note } = parseProof(evidence.proof);
  const { origin, size, root } = parseCheckpoint(parseNote(note).text);
  const computed = rootFromInclusion(nodeCrypto, { leaf: index, size, leafHash, path });
  if (index !== evidence.entry.seq || computed === null || hex(computed) !== hex(root)) {
    return "the inclusion";
  }
  const verdict = verifyNote(nodeCrypto, parseNote(note), [verifierKey(origin)]);
  if (verdict !== "verified") return verdict;
  return origin.endsWith("/org/acme") ? null : "the origin";
}

Deno.test(
  "a report's evidence verifies offline over its id and hash, and no longer after any change",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreTenDays(harness, key, { operators: ["a"] });
    const first = await reportOf(harness, key);
    // The evidence is for the checkpoint of its commit, however far the chain has grown since.
    for (let more = 0; more < 3; more += 1) await score(harness, key);
    const stored = await harness.send(`${PATH}/${first.body.report.report_id}`, { key });
    for (const { body, text } of [first, stored]) {
      const bytes = memberText(text, "report");
      assert.equal(body.evidence.v, "jis.evidence/1");
      assert.equal(body.evidence.covers, "detail");
      assert.equal(faultOf(harness, body, bytes), null);
      assert.equal(faultOf(harness, body, bytes.replace("acme", "acmf")), "the report");
      const flipped = body.report_sha256.startsWith("0") ? "1" : "0";
      const other = { ...body, report_sha256: flipped + body.report_sha256.slice(1) };
      assert.equal(faultOf(harness, other, bytes), "the report");
      const renamed = { ...body, report: { ...body.report, report_id: "another" } };
      assert.equal(faultOf(harness, renamed, bytes), "the commitment");
      const moved = {
        ...body.evidence,
        entry: { ...body.evidence.entry, timestamp: "2026-01-01T00:00:00.000Z" },
      };
      assert.equal(faultOf(harness, { ...body, evidence: moved }, bytes), "the entry hash");
    }
  }),
);

Deno.test(
  "a report is a REPORT_ISSUED entry of the organization's evidence chain, which names no operator",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreTenDays(harness, key, { operators: ["OPERATOR-ID"] });
    const { body } = await reportOf(harness, key);
    const events = await eventsOf(harness, "acme");
    const { detail, ...entry } = events.at(-1)!;
    assert.deepEqual(entry, body.evidence.entry);
    assert.deepEqual(
      [entry.event_type, entry.actor, entry.org_id, entry.prefix, entry.subject],
      ["REPORT_ISSUED", "api", "acme", key.slice(0, 8), null],
    );
    assert.deepEqual(Object.keys(entry.commit), ["detail"]);
    assert.equal(entry.timestamp, "2026-11-30T09:00:00.000Z");
    assert.deepEqual(detail, { report_id: body.report.report_id, report_sha256: body.report_sha256 });
    assert.ok(!JSON.stringify(body).includes("OPERATOR-ID"));
  }),
);

// ---- as a page --------------------------------------------------------------------------------------------

Deno.test(
  "format=html is a page with the report's id, hash, findings and citations, under a policy without script",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreTenDays(harness, key, { operators: ["a"] });
    const json = await reportOf(harness, key);
    const before = await harness.rowCounts();
    const { report, report_sha256, evidence } = json.body;
    const pages = [
      await reportOf(harness, key, { ...QUARTER, format: "html" }),
      await harness.send(`${PATH}/${report.report_id}?format=html`, { key }),
    ];
    for (const { status, headers, text } of pages) {
      assert.equal(status, 200);
      assert.equal(headers.get("Content-Type"), "text/html; charset=utf-8");
      assert.match(headers.get("Content-Security-Policy")!, /^default-src 'none'; style-src 'sha256-[^']+';/);
      assert.doesNotMatch(headers.get("Content-Security-Policy")!, /unsafe|script-src/);
      assert.match(headers.get("X-Request-Id")!, /^01TEST/);
      assert.equal(headers.get("Cache-Control"), "no-store");
      assert.match(text, /^<!doctype html>/i);
      for (const said of [report.report_id, report_sha256, evidence.entry_hash, "Organization acme"]) {
        assert.ok(text.includes(said), said);
      }
      for (const { citation, regulation, provision } of report.findings) {
        for (const said of [citation, regulation, provision]) assert.ok(text.includes(said), said);
      }
      const signed = signedReportIn(text)!;
      assert.deepEqual(JSON.parse(signed), { report, report_sha256, evidence });
      assert.doesNotMatch(
        text.replace(`<script type="application/json" id="signed-report">${signed}</script>`, ""),
        /<script|javascript:|\bundefined\b|\bNaN\b|\[object/,
      );
    }
    assert.equal(pages[0]!.text, pages[1]!.text);
    assert.deepEqual(await harness.rowCounts(), before);
  }),
);

/** The text that a reader of a page sees, one space between words. */
function readable(html: string): string {
  return html.replace(/<style>.*?<\/style>|<script.*?<\/script>/gs, "").replace(/<[^>]*>/g, " ")
    .replaceAll("&#39;", "'").replace(/\s+/g, " ");
}

Deno.test(
  "the page begins with a summary whose figures are those of the JSON; each law says whether it is in force",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreTenDays(harness, key, { operators: ["a", "b", "c"] });
    await score(harness, key, { operator: "newcomer" });
    const { report } = (await reportOf(harness, key)).body;
    const { text } = await reportOf(harness, key, { ...QUARTER, format: "html" });
    const [summary] = readable(text.slice(text.indexOf("<main>"))).split(" Findings Each provision ");
    const { population, verdict, figures: { verdicts }, thresholds, statement } = report;
    assert.deepEqual([population.operators, population.minimum_data_met], [4, 3]);
    for (
      const said of [
        "Period 1 October 2026 to 31 December 2026;",
        `report ${report.report_id}`,
        `(threshold: a score, the JIS, of ${thresholds.min_jis} of 100)`,
        ...verdict.reasons,
        `4 operators had ${population.interactions} cases in the period.`,
        `long enough to be judged: 3. With too short a record, and in no figure below: ${population.insufficient_data}.`,
        `Meets the threshold JIS of at least ${thresholds.min_jis}, even with all doubt counted against the operator ${verdicts.compliant} `,
        `the records do not say which ${verdicts.undetermined} `,
        `Below the threshold JIS below ${thresholds.min_jis}, even with all doubt counted for the operator ${verdicts.non_compliant} `,
        `the record is too short ${verdicts.insufficient_data} `,
        "EU AI Act Article 14: Not yet in force : applies from 2 December 2027.",
        "NYC Local Law 144: In force since 5 July 2023.",
        "SR 11-7: No longer in force : ended on 16 April 2026, applied from 4 April 2011.",
        `Whether ${verdicts.undetermined} of 3 operators meet the threshold.`,
        statement,
      ]
    ) {
      assert.ok(summary!.includes(said), `${said}\n${summary}`);
    }
    assert.ok(
      summary!.includes("Colorado SB 205: Not in force : no day is known from which it applies"),
      summary,
    );
    // In a quarter of 2028 the first law has begun to apply. What is said is of the period's last day.
    const later = await reportOf(harness, key, { start: "2028-01-01", end: "2028-04-01", format: "html" });
    assert.match(readable(later.text), /EU AI Act Article 14: In force since 2 December 2027\. /);
    assert.match(readable(later.text), /Insufficient data\. No operator had an interaction in this period\./);
  }),
);

Deno.test(
  "the console may show the page of a report, and of one from before there were verdicts: its policy has both styles",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const { text } = await reportOf(harness, key, { ...QUARTER, format: "html" });
    const { page } = await keptPage("0.2.0, whose reports have no verdicts");
    const { headers } = await harness.send("/console");
    const styles = [text, page].map((drawn) => /<style>(.*?)<\/style>/s.exec(drawn)![1]!);
    assert.notEqual(styles[0], styles[1]);
    for (const style of styles) {
      const digest = createHash("sha256").update(style).digest("base64");
      assert.ok(headers.get("Content-Security-Policy")!.includes(`'sha256-${digest}'`));
    }
  }),
);

Deno.test(
  "an organization's name cannot become markup of the page",
  withHarness(async (harness) => {
    const created = await harness.send("/v1/admin/org/create", {
      headers: { "X-API-Key": MASTER_KEY, "Idempotency-Key": "1" },
      body: {
        org_id: "x",
        name: `<img src=x onerror="alert(1)"> & 'Sons'`,
        domain: "legal",
        tier: "starter",
        allowed_origins: "",
      },
    });
    const { text } = await reportOf(harness, created.body.api_key, { ...QUARTER, format: "html" });
    assert.doesNotMatch(text, /<img/);
    assert.match(text, /&lt;img src=x onerror=/);
  }),
);

Deno.test(
  "a page that is asked for first issues the report that the JSON then has",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const { text } = await reportOf(harness, key, { ...QUARTER, format: "html" });
    const { body } = await reportOf(harness, key, { ...QUARTER, format: "json" });
    assert.ok(text.includes(body.report.report_id) && text.includes(body.report_sha256));
    assert.equal((await harness.rowCounts()).compliance_report, 1);
  }),
);

// ---- refusals ---------------------------------------------------------------------------------------------

/** Instants around a quarter's end, and the quarters before them. */
const BEFORE: readonly (readonly [now: string, start: string, end: string])[] = [
  ["2026-11-20T09:00:00.000Z", "2026-07-01", "2026-10-01"],
  ["2026-12-31T23:59:59.999Z", "2026-07-01", "2026-10-01"],
  ["2027-01-01T00:00:00.000Z", "2026-10-01", "2027-01-01"],
  ["2027-03-31T23:59:59.999Z", "2026-10-01", "2027-01-01"],
  ["2028-04-01T00:00:00.000Z", "2028-01-01", "2028-04-01"],
  ["2028-09-30T23:59:59.999Z", "2028-04-01", "2028-07-01"],
];

for (const [now, start, end] of BEFORE) {
  Deno.test(
    `without a period the report at ${now} covers the last full quarter, from ${start} to ${end}`,
    withHarness(async (harness) => {
      const key = await harness.organization("acme");
      const { status, body, text } = await harness.send(PATH, { key });
      assert.equal(status, 200, text);
      assert.deepEqual(body.report.period, {
        start: `${start}T00:00:00.000Z`,
        end: `${end}T00:00:00.000Z`,
      });
      const named = await reportOf(harness, key, { start, end });
      assert.equal(named.body.report.report_id, body.report.report_id);
      const page = await harness.send(`${PATH}?format=html`, { key });
      assert.equal(page.status, 200);
      assert.match(page.headers.get("Content-Type")!, /^text\/html/);
      assert.equal((await harness.rowCounts()).compliance_report, 1);
    }, { startsAt: Date.parse(now) }),
  );
}

Deno.test(
  "a period that is half given, empty, repeated, not a date, without offset, reversed or empty is 422",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const start = "period_start=2026-10-01";
    const end = "period_end=2027-01-01";
    const both = (from: string, to: string) => `period_start=${from}&period_end=${to}`;
    const queries: readonly (readonly [string, string])[] = [
      [start, "period_end"],
      [end, "period_start"],
      [`${start}&format=html`, "leave both out"],
      [`period_start=&${end}`, "period_start"],
      [`${start}&period_end=`, "period_end"],
      [`${start}&${start}&${end}`, "period_start"],
      [`${start}&${end}&period_end=2027-02-01`, "period_end"],
      [both("2026-10-01T00:00:00", "2027-01-01"), "period_start"],
      [both("2026-10-01", "2027-01-01T00:00:00.000"), "period_end"],
      [both("2026-02-30", "2027-01-01"), "period_start"],
      [both("2026-10-01", "2027-02-29"), "period_end"],
      [both("2026-13-01", "2027-01-01"), "period_start"],
      [both("2026-00-10", "2027-01-01"), "period_start"],
      [both("2026-02-30T00:00:00Z", "2027-01-01"), "period_start"],
      [both("2026-10-01T24:00:00Z", "2027-01-01"), "period_start"],
      [both("2026-10-01T00:60:00Z", "2027-01-01"), "period_start"],
      [both("2026-10-01T00:00:00%2B24:00", "2027-01-01"), "period_start"],
      [both("2026-10-01T00:00:00%2B0200", "2027-01-01"), "period_start"],
      // A plus that is not encoded means a space.
      [both("2026-10-01T00:00:00+02:00", "2027-01-01"), "period_start"],
      [both("2026-10-01%2000:00:00Z", "2027-01-01"), "period_start"],
      [both("2026-10-1", "2027-01-01"), "period_start"],
      [both("20261001", "2027-01-01"), "period_start"],
      [both("2026-10", "2027-01-01"), "period_start"],
      [both("2026-W40", "2027-01-01"), "period_start"],
      [both("1790812800000", "2027-01-01"), "period_start"],
      [both("today", "2027-01-01"), "period_start"],
      [both("%202026-10-01", "2027-01-01"), "period_start"],
      [both("%2B012026-10-01", "2027-01-01"), "period_start"],
      [both("2027-01-01", "2026-10-01"), "period_end"],
      [both("2026-10-01", "2026-10-01"), "period_end"],
      [both("2026-10-01", "2026-10-01T02:00:00%2B02:00"), "period_end"],
      [both("2026-10-01T00:00:00.001Z", "2026-10-01"), "period_end"],
      [`${start}&${end}&format=pdf`, "format"],
      [`${start}&${end}&format=`, "format"],
      [`${start}&${end}&format=html&format=html`, "format"],
    ];
    for (const [query, names] of queries) {
      await refuses(harness, {
        name: query,
        path: `${PATH}?${query}`,
        request: { key },
        status: 422,
        code: "VALIDATION_FAILED",
        names,
      });
    }
    const { status } = await harness.send(
      `${PATH}?${both("2028-02-29", "2028-03-01T00:00:00%2B02:00")}&unknown=&unknown=`,
      { key },
    );
    assert.equal(status, 200);
  }),
);

Deno.test(
  "a date-time whose offset moves it out of the years 0000 to 9999 is 422: ISO could not express it",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    for (
      const [start, end, names] of [
        ["2026-10-01", "9999-12-31T23:59:59-01:00", "period_end"],
        ["0000-01-01T00:00:00+02:00", "2027-01-01", "period_start"],
      ] as const
    ) {
      await refuses(harness, {
        name: names,
        path: pathOf({ start, end }),
        request: { key },
        status: 422,
        code: "VALIDATION_FAILED",
        names,
      });
    }
  }),
);

Deno.test(
  "a report_id that is unknown or another organization's is 404 in both formats, a malformed one is 422",
  withHarness(async (harness) => {
    const [key, other] = [await harness.organization("acme"), await harness.organization("other")];
    const theirs = (await reportOf(harness, other)).body.report.report_id;
    for (const id of [theirs, "01ARZ3NDEKTSV4RRFFQ69G5FAV", theirs.toLowerCase()]) {
      for (const format of ["json", "html"]) {
        await refuses(harness, {
          name: `${id}, ${format}`,
          path: `${PATH}/${id}?format=${format}`,
          request: { key },
          status: 404,
          code: "NOT_FOUND",
          names: "report_id",
        });
      }
    }
    for (const id of ["a%20b", "a%2Fb", "a".repeat(65), "%00"]) {
      await refuses(harness, {
        name: id,
        path: `${PATH}/${id}`,
        request: { key },
        status: 422,
        code: "VALIDATION_FAILED",
        names: "report_id",
      });
    }
    assert.equal((await harness.send(`${PATH}/${theirs}`, { key: other })).status, 200);
  }),
);

Deno.test(
  "two organizations have separate reports, and neither counts records of the other",
  withHarness(async (harness) => {
    const [one, two] = [await harness.organization("one"), await harness.organization("two")];
    const empty = await reportOf(harness, two);
    await scoreTenDays(harness, one, { operators: ["a"], decision: "rejected" });
    await score(harness, one, { operator: "b", decision: "escalated" });
    await score(harness, one, { operator: "c", query: "?mode_override=incident_frozen" });
    assert.deepEqual(issued(await reportOf(harness, two)), issued(empty));
    await score(harness, two, { operator: "a" });
    const [first, second] = [await reportOf(harness, one), await reportOf(harness, two)];
    const countsOf = ({ body: { report: { population } } }: Answer) => [
      population.operators,
      population.interactions,
      population.departures,
      population.referrals,
      population.incident_freezes,
    ];
    assert.deepEqual(countsOf(first), [2, 3, 1, 1, 1]);
    assert.deepEqual(countsOf(second), [1, 1, 0, 0, 0]);
    assert.equal(second.body.evidence.entry.chain, "org/two");
  }),
);

Deno.test(
  "lite calls are reported like full ones, their intervals too",
  withHarness(async (harness) => {
    const [lite, full] = [await harness.organization("lite"), await harness.organization("full")];
    for (const [key, query] of [[lite, "?mode=lite"], [full, ""]] as const) {
      for (const operator of ["a", "b", "c"]) await score(harness, key, { operator, query });
    }
    harness.clock.advance(10 * DAY);
    const last = [{}, { decision: "rejected", outcome_correct: false }, CARELESS];
    for (const [key, query] of [[lite, "?mode=lite"], [full, ""]] as const) {
      for (const [index, fields] of last.entries()) {
        await score(harness, key, { operator: "abc"[index], query, ...fields });
      }
    }
    const [ofLite, ofFull] = [await reportOf(harness, lite), await reportOf(harness, full)].map(
      ({ body }) => {
        const { report_id: _id, organization: _organization, ...rest } = body.report;
        return rest;
      },
    );
    assert.deepEqual(ofLite, ofFull);
    const intervals = (orgId: string) =>
      harness.database.read({
        sql: "SELECT low, high FROM interaction WHERE org_id = ? ORDER BY position",
        parameters: [orgId],
        query: {} as never,
        queryId: {} as never,
      });
    assert.deepEqual(await intervals("lite"), await intervals("full"));
  }),
);

Deno.test(
  "reports and Article 14 need an organization's key before the query is read",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const { report_id } = (await reportOf(harness, key)).body.report;
    for (const path of [PATH, pathOf(QUARTER), `${PATH}/${report_id}`, "/v1/compliance/article14"]) {
      for (const request of [{}, { key: `${key}x` }, { key: MASTER_KEY }]) {
        const { status, body } = await harness.send(path, request);
        assert.deepEqual([status, body.error.code], [401, "UNAUTHORIZED"], path);
      }
    }
  }),
);

// ---- Article 14 -------------------------------------------------------------------------------------------

const article14 = async ({ send }: Harness, key: string): Promise<Json> => {
  const { status, body, text } = await send("/v1/compliance/article14", { key });
  assert.equal(status, 200, text);
  return body;
};

Deno.test(
  "Article 14 has its five measures, the operators' counts and the thresholds",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    for (const operator of ["good", "low"]) await score(harness, key, { operator });
    harness.clock.advance(10 * DAY);
    await score(harness, key, { operator: "good" });
    const low = await score(harness, key, { operator: "low", ...CARELESS });
    const interactions = Array.from({ length: 50 }, (_, index) => ({
      session_id: `lowest-${index}`,
      decision: "accepted",
      ...CARELESS,
    }));
    const batch = await harness.send("/v1/score/batch", {
      key,
      body: { operator_id: "lowest", domain: "financial", interactions },
    });
    await score(harness, key, { operator: "short", ...CARELESS });
    assert.ok(low.jis < 60 && low.jis >= 40, `${low.jis}`);
    assert.ok(batch.body.results.at(-1).jis < 40);
    const before = await harness.rowCounts();
    const body = await article14(harness, key);
    assert.deepEqual(Object.keys(body).sort(), [
      "article",
      "measures",
      "model",
      "operators",
      "overall_status",
      "overall_verdict",
      "probes",
      "request_id",
      "rules_version",
      "statement",
      "status_certain",
      "thresholds",
      "timestamp",
    ]);
    assert.equal(body.article, "14");
    assert.deepEqual(body.measures.map(({ paragraph }: Json) => paragraph), [
      "14(4)(a)",
      "14(4)(b)",
      "14(4)(c)",
      "14(4)(d)",
      "14(4)(e)",
    ]);
    assert.deepEqual(body.operators, {
      ...{ total: 4, minimum_data_met: 3, below_min: 2, below_critical: 1 },
      verdicts: { compliant: 0, undetermined: 3, non_compliant: 0 },
    });
    assert.deepEqual(body.thresholds, { min_jis: 60, target_jis: 75, critical_jis: 40 });
    // Two of three do not detect errors.
    assert.deepEqual(
      [body.measures[0].status, body.measures[0].operators, body.measures[0].passing],
      ["non_compliant", 3, 1],
    );
    assert.equal(body.measures[0].observed, 0.3333);
    assert.equal(body.overall_status, "non_compliant");
    assert.deepEqual(await harness.rowCounts(), before);
  }),
);

Deno.test(
  "Article 14's measures are those that a report of the same 90 days finds",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreTenDays(harness, key, { operators: ["a", "b"], decision: "rejected" });
    await score(harness, key, { operator: "b", decision: "escalated" });
    const now = harness.clock.now();
    const { measures } = await article14(harness, key);
    const { report } = (await reportOf(harness, key, {
      start: new Date(now - 90 * DAY).toISOString(),
      end: new Date(now + 1).toISOString(),
    })).body;
    for (const { paragraph, ...measure } of measures) {
      const finding = findingOf(report, paragraph);
      for (const [name, value] of Object.entries(measure)) assert.deepEqual(finding[name], value, name);
    }
  }),
);

Deno.test(
  "Article 14 covers the last 90 days before the request: an operator leaves it without a write",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreTenDays(harness, key, { operators: ["a"], decision: "escalated" });
    const before = await harness.rowCounts();
    const operatorsOf = async () => (await article14(harness, key)).operators;
    const present = {
      ...{ total: 1, minimum_data_met: 1, below_min: 0, below_critical: 0 },
      verdicts: { compliant: 0, undetermined: 1, non_compliant: 0 },
    };
    assert.deepEqual(await operatorsOf(), present, "a score of this very millisecond counts");
    harness.clock.advance(90 * DAY);
    assert.deepEqual(await operatorsOf(), present);
    harness.clock.advance(1);
    const body = await article14(harness, key);
    assert.deepEqual(body.operators, {
      ...{ total: 0, minimum_data_met: 0, below_min: 0, below_critical: 0 },
      verdicts: { compliant: 0, undetermined: 0, non_compliant: 0 },
    });
    assert.equal(body.overall_status, "insufficient_data");
    assert.ok(
      body.measures.every((measure: Json) =>
        measure.status === "insufficient_data" && measure.observed === null
      ),
    );
    assert.deepEqual(await harness.rowCounts(), before);
  }),
);

Deno.test(
  "a referral older than 90 days no longer raises 14(4)(d) and 14(4)(e) above partial",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key, { operator: "a", decision: "escalated" });
    harness.clock.advance(80 * DAY);
    for (let index = 0; index < 5; index += 1) await score(harness, key, { operator: "a" });
    const statuses = async () => {
      const { measures } = await article14(harness, key);
      return [measures[3], measures[4]].map(({ status, capped }: Json) => [status, capped === null]);
    };
    harness.clock.advance(10 * DAY);
    assert.deepEqual(await statuses(), [["compliant", true], ["compliant", true]]);
    harness.clock.advance(1);
    assert.deepEqual(await statuses(), [["partial", false], ["partial", false]]);
  }),
);

Deno.test(
  "Article 14 of an organization without data is insufficient_data, and never another organization's",
  withHarness(async (harness) => {
    const [key, other] = [await harness.organization("acme"), await harness.organization("other")];
    await scoreTenDays(harness, other, { operators: ["a"] });
    const body = await article14(harness, key);
    assert.equal(body.overall_status, "insufficient_data");
    assert.equal(body.operators.total, 0);
    assert.equal((await article14(harness, other)).operators.total, 1);
  }),
);

/** Gives a scored operator `count` other operators with the same rows. */
async function multiply({ database, dependencies }: Harness, count: number): Promise<void> {
  for (const table of ["subject", "operator", "interaction"]) {
    const columns = (await rowsOf(database, `SELECT name FROM pragma_table_info('${table}')`)).map((
      { name },
    ) => String(name));
    const values = columns.map((name) => {
      if (name === "operator_id") return "'operator-' || printf('%06d', value)";
      if (name === "session_id") return "'session-' || value";
      if (name === "pseudonym") return "printf('%032d', value)";
      return name;
    });
    await database.batch([{
      sql: `INSERT INTO ${table} (${columns}) SELECT ${values} FROM (SELECT * FROM ${table} LIMIT 1) JOIN
        (WITH RECURSIVE r (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM r WHERE value < ${count})
          SELECT value FROM r)`,
      parameters: [],
    }]);
  }
  await resealed(dependencies);
}

/** Exceeds the limit that a database server's answer has. The embedded database has none. */
const MANY = IS_SERVER ? 40_000 : 2_000;

Deno.test(
  `a report and the dashboard count all of ${MANY} operators`,
  withAlterations(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key);
    await multiply(harness, MANY - 1);
    const { body: { report } } = await reportOf(harness, key);
    assert.ok(report.caveats.join().includes(`: ${MANY} of ${MANY}.`));
    const { status, body } = await harness.send("/v1/organization/dashboard", { key });
    assert.equal(status, 200);
    assert.equal(body.dashboard.total_operators, MANY);
  }),
);
