/**
 * GET /v1/organization/dashboard: its figures and its status, both computed at the instant of the request
 * without a write.
 * Source: specification, Organization dashboard; contract, section 4; scoring model, section 9.
 */
import assert from "node:assert/strict";
import { type Harness, MASTER_KEY, scoreRequest, withAlterations, withHarness } from "../harness.ts";
import { resealed } from "../resealed.ts";

const DAY = 86_400_000;
const PATH = "/v1/organization/dashboard";

/** Accepts a wrong advice quickly and without a look. After the careful acceptance it is worked example 2. */
const CARELESS = { outcome_correct: false, time_to_decision_ms: 1400 };

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

// ---- fixtures ---------------------------------------------------------------------------------------------

let sessions = 0;

interface Case {
  readonly operator: string;
  readonly domain?: string;
  readonly interaction?: Readonly<Record<string, unknown>>;
}

async function score(
  { send }: Harness,
  key: string,
  { operator, domain = "general", interaction = {} }: Case,
): Promise<Json> {
  sessions += 1;
  const answer = await send("/v1/score", {
    key,
    body: scoreRequest({ session_id: `s-${sessions}`, operator_id: operator, domain }, interaction),
  });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** Gives an operator a JIS of 66.3, by the model's first worked example. */
async function adequate(harness: Harness, key: string, { operator, domain }: Case): Promise<void> {
  const { jis } = await score(harness, key, { operator, ...(domain === undefined ? {} : { domain }) });
  assert.equal(jis, 66.3);
}

/** Gives an operator a JIS of 59.35, by the model's second worked example. */
async function atRisk(harness: Harness, key: string, { operator, domain = "general" }: Case): Promise<void> {
  await score(harness, key, { operator, domain });
  const { jis } = await score(harness, key, {
    operator,
    domain,
    interaction: { ...CARELESS, hover_events: 0, scroll_depth: 0, alternative_views_checked: 0 },
  });
  assert.equal(jis, 59.35);
}

/** The whole answer, without the members that differ in each call. */
async function dashboardOf({ send }: Harness, key: string): Promise<Json> {
  const { status, body, text } = await send(PATH, { key });
  assert.equal(status, 200, text);
  const { request_id: _id, timestamp: _at, dashboard, ...rest } = body;
  const { organization_rule: rule, verdict, conditions: _conditions, ...figures } = dashboard;
  // These operators are scored by formulas without a verdict.
  assert.equal(verdict.status, "undetermined");
  assert.ok(verdict.reasons.length >= 2);
  const { reasons, thresholds, ...counts } = rule;
  assert.deepEqual(thresholds, { min_jis: 60, critical_jis: 40 });
  assert.equal(reasons.length, 2);
  for (const count of Object.values(counts)) assert.ok(Number.isInteger(count));
  return { ...rest, dashboard: figures };
}

const figuresOf = async (harness: Harness, key: string) => (await dashboardOf(harness, key)).dashboard;
const statusOf = async (harness: Harness, key: string) => (await figuresOf(harness, key)).compliance_status;

/** Runs a test with scores that were written into the database; no chain verifies them at the end. */
function withStoredScores(
  test: (harness: Harness, store: (operator: string, jis: number) => Promise<void>) => Promise<void>,
): () => Promise<void> {
  return withAlterations((harness) =>
    test(harness, async (operator, jis) => {
      await harness.database.batch([{
        sql: `UPDATE operator SET state = json_set(state, '$.jis', ?) WHERE operator_id = ?`,
        parameters: [jis, operator],
        mustChange: 1,
      }]);
      await resealed(harness.dependencies);
    })
  );
}

// ---- figures ----------------------------------------------------------------------------------------------

Deno.test(
  "an organization without operators is compliant, with 0 operators and no mean",
  withHarness(async ({ send }) => {
    const created = await send("/v1/admin/org/create", {
      headers: { "X-API-Key": MASTER_KEY, "Idempotency-Key": "1" },
      body: {
        org_id: "empty",
        name: "Empty & Sons",
        domain: "legal",
        tier: "starter",
        allowed_origins: "",
      },
    });
    const { status, body } = await send(PATH, { key: created.body.api_key });
    assert.equal(status, 200);
    const { request_id, timestamp, ...rest } = body;
    assert.match(request_id, /^01TEST/);
    assert.equal(timestamp, "2026-11-20T09:00:00.000Z");
    assert.deepEqual(rest, {
      organization: { id: "empty", name: "Empty & Sons" },
      domain: "legal",
      tier: "starter",
      dashboard: {
        total_operators: 0,
        mean_jis: null,
        median_jis: null,
        at_risk_count: 0,
        band_distribution: { exemplary: 0, proficient: 0, adequate: 0, at_risk: 0 },
        verdict: {
          status: "undetermined",
          reasons: [
            "No operator counts as high-risk.",
            "No operator takes critical decisions.",
            "No operator works in a high-risk domain or takes critical decisions: the rule judges nobody, so there is no verdict.",
          ],
        },
        conditions: [],
        verdicts: { compliant: 0, undetermined: 0, non_compliant: 0 },
        probes: null,
        compliance_status: "compliant",
        organization_rule: {
          high_risk_operators: 0,
          high_risk_below_minimum: 0,
          critical_operators: 0,
          critical_below_critical: 0,
          thresholds: { min_jis: 60, critical_jis: 40 },
          reasons: ["No operator counts as high-risk.", "No operator takes critical decisions."],
        },
      },
    });
  }),
);

Deno.test(
  "mean and median of an odd and an even number of operators are those computed by hand",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await atRisk(harness, key, { operator: "a" });
    await adequate(harness, key, { operator: "b" });
    assert.deepEqual(await dashboardOf(harness, key), {
      organization: { id: "acme", name: "Organization acme" },
      domain: "financial",
      tier: "standard",
      dashboard: {
        total_operators: 2,
        // (59.35 + 66.3) / 2 = 62.825; only the mean is rounded to two decimals.
        mean_jis: 62.83,
        median_jis: 62.83,
        at_risk_count: 1,
        band_distribution: { exemplary: 0, proficient: 0, adequate: 1, at_risk: 1 },
        verdicts: { compliant: 0, undetermined: 2, non_compliant: 0 },
        probes: null,
        compliance_status: "compliant",
      },
    });
    await adequate(harness, key, { operator: "c" });
    // (59.35 + 66.3 + 66.3) / 3 = 63.983…
    const { total_operators, mean_jis, median_jis } = await figuresOf(harness, key);
    assert.deepEqual([total_operators, mean_jis, median_jis], [3, 63.98, 66.3]);
  }),
);

Deno.test(
  "every operator is in one band, which begin at 85, 75 and 60, and at_risk_count is the count of the last",
  withStoredScores(async (harness, store) => {
    const key = await harness.organization("acme");
    const scores = [99.5, 85, 84.99, 75, 74.99, 60, 59.99, 12.25];
    for (const [index, jis] of scores.entries()) {
      await score(harness, key, { operator: `o-${index}` });
      await store(`o-${index}`, jis);
    }
    const figures = await figuresOf(harness, key);
    assert.deepEqual(figures.band_distribution, { exemplary: 2, proficient: 2, adequate: 2, at_risk: 2 });
    assert.equal(figures.at_risk_count, 2);
    // 551.72 / 8 = 68.965; (74.99 + 75) / 2 = 74.995.
    assert.deepEqual([figures.mean_jis, figures.median_jis], [68.97, 75]);
  }),
);

Deno.test(
  "the dashboard uses an operator's full-mode score, also for lite calls, and a frozen call adds no operator",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const { send } = harness;
    await send("/v1/score?mode=lite", { key, body: scoreRequest({ session_id: "lite" }) });
    const frozen = scoreRequest({ session_id: "frozen", operator_id: "frozen" });
    await send("/v1/score?mode_override=incident_frozen", { key, body: frozen });
    const { total_operators, mean_jis } = await figuresOf(harness, key);
    assert.deepEqual([total_operators, mean_jis], [1, 66.3]);
  }),
);

Deno.test(
  "an operator leaves the figures 90 days after the last interaction, without a write",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const { clock } = harness;
    await adequate(harness, key, { operator: "leaves" });
    clock.advance(1);
    await atRisk(harness, key, { operator: "stays" });
    const before = await harness.rowCounts();
    clock.advance(90 * DAY - 1);
    assert.equal((await figuresOf(harness, key)).total_operators, 2, "90 days to the millisecond");
    clock.advance(1);
    const figures = await figuresOf(harness, key);
    assert.deepEqual([figures.total_operators, figures.mean_jis, figures.median_jis], [1, 59.35, 59.35]);
    assert.deepEqual(figures.band_distribution, { exemplary: 0, proficient: 0, adequate: 0, at_risk: 1 });
    clock.advance(1);
    assert.equal((await figuresOf(harness, key)).total_operators, 0);
    assert.deepEqual(await harness.rowCounts(), before);
    await score(harness, key, { operator: "leaves" });
    assert.equal(
      (await figuresOf(harness, key)).total_operators,
      1,
      "the operator returns with the next interaction",
    );
  }),
);

// ---- compliance_status ------------------------------------------------------------------------------------

/** Ten operators of a high-risk domain, `below` of them below 60, on records of 10 days. */
async function tenHighRisk(harness: Harness, key: string, below: number): Promise<void> {
  for (let index = 0; index < 10; index += 1) {
    const operator = { operator: `o-${index}`, domain: "financial" };
    await (index < below ? atRisk(harness, key, operator) : adequate(harness, key, operator));
  }
  harness.clock.advance(10 * DAY);
}

Deno.test(
  "1 of 10 high-risk operators below 60 is compliant, 2 of 10 are not: the limit is more than 10 percent",
  withHarness(async (harness) => {
    const [one, two] = [await harness.organization("one"), await harness.organization("two")];
    await tenHighRisk(harness, one, 1);
    await tenHighRisk(harness, two, 2);
    assert.equal(await statusOf(harness, one), "compliant");
    assert.equal(await statusOf(harness, two), "non_compliant");
    assert.equal((await figuresOf(harness, one)).at_risk_count, 1);
  }),
);

Deno.test(
  "an operator counts as high-risk from the tenth day on, which changes the status without a write",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await atRisk(harness, key, { operator: "a", domain: "employment" });
    const before = await harness.rowCounts();
    harness.clock.advance(10 * DAY - 1);
    assert.equal(await statusOf(harness, key), "compliant");
    harness.clock.advance(1);
    assert.equal(await statusOf(harness, key), "non_compliant");
    // When the operator leaves the figures, the status changes back.
    harness.clock.advance(80 * DAY);
    assert.equal(await statusOf(harness, key), "non_compliant");
    harness.clock.advance(1);
    assert.equal(await statusOf(harness, key), "compliant");
    assert.deepEqual(await harness.rowCounts(), before);
  }),
);

Deno.test(
  "operators below 60 who are not high-risk leave the organization compliant",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    for (const operator of ["a", "b", "c"]) await atRisk(harness, key, { operator, domain: "general" });
    harness.clock.advance(10 * DAY);
    const figures = await figuresOf(harness, key);
    assert.deepEqual([figures.at_risk_count, figures.compliance_status], [3, "compliant"]);
  }),
);

Deno.test(
  "an operator of a domain that is not high-risk counts as high-risk if a tenth of the cases are grave",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key, { operator: "a", interaction: { ...CARELESS, scenario_type: "high_stakes" } });
    harness.clock.advance(10 * DAY);
    assert.equal(await statusOf(harness, key), "non_compliant");
  }),
);

Deno.test(
  "a high-risk operator at exactly 60 is not below it, a hundredth less is",
  withStoredScores(async (harness, store) => {
    const key = await harness.organization("acme");
    await score(harness, key, { operator: "a", domain: "legal" });
    harness.clock.advance(10 * DAY);
    await store("a", 60);
    assert.equal(await statusOf(harness, key), "compliant");
    await store("a", 59.99);
    assert.equal(await statusOf(harness, key), "non_compliant");
  }),
);

Deno.test(
  "a critical-decision operator at 40 is not below the limit, at 39.99 is, with any amount of data",
  withStoredScores(async (harness, store) => {
    const key = await harness.organization("acme");
    await score(harness, key, { operator: "a", interaction: { scenario_type: "critical" } });
    await store("a", 40);
    assert.equal(await statusOf(harness, key), "compliant");
    await store("a", 39.99);
    assert.equal(await statusOf(harness, key), "non_compliant");
  }),
);

Deno.test(
  "one critical-decision operator below 40 makes the organization non-compliant until 90 days after the critical case",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const { clock } = harness;
    const blind = { ...CARELESS, hover_events: 0, scroll_depth: 0, alternative_views_checked: 0 };
    for (const operator of ["good-1", "good-2"]) await adequate(harness, key, { operator });
    await score(harness, key, { operator: "a", interaction: { ...blind, scenario_type: "critical" } });
    // Enough other cases that the critical one is less than a tenth: the operator is not high-risk.
    clock.advance(30 * DAY);
    let last: Json;
    for (let index = 0; index < 14; index += 1) {
      last = await score(harness, key, { operator: "a", interaction: blind });
    }
    assert.ok(last.jis < 40, `${last.jis}`);
    const before = await harness.rowCounts();
    assert.equal(await statusOf(harness, key), "non_compliant");
    clock.advance(60 * DAY);
    assert.equal(await statusOf(harness, key), "non_compliant", "90 days to the millisecond");
    clock.advance(1);
    const figures = await figuresOf(harness, key);
    assert.deepEqual(
      [figures.total_operators, figures.at_risk_count, figures.compliance_status],
      [1, 1, "compliant"],
    );
    assert.deepEqual(await harness.rowCounts(), before);
  }),
);

// ---- isolation and authentication -------------------------------------------------------------------------

Deno.test(
  "other organizations' operators change nothing in a dashboard",
  withHarness(async (harness) => {
    const [own, other] = [await harness.organization("own"), await harness.organization("other")];
    await adequate(harness, own, { operator: "shared-name", domain: "financial" });
    const before = await dashboardOf(harness, own);
    await tenHighRisk(harness, other, 2);
    await atRisk(harness, other, { operator: "shared-name", domain: "financial" });
    assert.deepEqual(await dashboardOf(harness, own), before);
    assert.deepEqual((await dashboardOf(harness, other)).organization, {
      id: "other",
      name: "Organization other",
    });
    assert.equal((await figuresOf(harness, other)).total_operators, 11);
  }),
);

Deno.test(
  "a dashboard needs an organization's key and writes nothing",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await adequate(harness, key, { operator: "a" });
    const before = await harness.rowCounts();
    for (const refused of [undefined, `${key}x`, MASTER_KEY]) {
      const { status, body } = await harness.send(PATH, refused === undefined ? {} : { key: refused });
      assert.deepEqual([status, body.error.code], [401, "UNAUTHORIZED"]);
    }
    const { status, headers } = await harness.send(`${PATH}?unknown=&unknown=2`, { key });
    assert.equal(status, 200);
    assert.match(headers.get("X-RateLimit-Remaining")!, /^\d+$/);
    assert.deepEqual(await harness.rowCounts(), before);
  }),
);
