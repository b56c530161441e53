/**
 * POST /v1/decision/score: the risk of one decision, its route and policies, its record, and that it changes
 * no state.
 */
import assert from "node:assert/strict";
import { recordedInteractionSchema } from "../../src/domain/interaction.ts";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { verifyDocument } from "../../src/evidence/document.ts";
import { parseProof, resultPart } from "../../src/evidence/envelope.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { parseCheckpoint, parseNote } from "../../src/evidence/note.ts";
import { scoreDecision } from "../../src/scoring/drs.ts";
import { query } from "../../src/store/database.ts";
import { JIS_1_0_0 as model } from "../models.ts";
import { type Answer, EPOCH, type Harness, scoreRequest, withAlterations, withHarness } from "../harness.ts";
import { resealed } from "../resealed.ts";
import { refuses, type Scenario } from "../scenario.ts";
import examples from "../vectors/scoring/examples.json" with { type: "json" };

const PATH = "/v1/decision/score";
const BATCH = "/v1/score/batch";
const FROZEN = "/v1/score?mode_override=incident_frozen";
const DAY_MS = 86_400_000;
const USAGE_KEY = "usage-key-of-the-tests-0123456789-0123";

const POLICIES = [
  "P1_CRITICAL_REFLEXIVE_ACCEPT",
  "P2_OPERATOR_BELOW_CRITICAL",
  "P3_OPERATOR_BELOW_MINIMUM",
  "P4_REFLEXIVE_ACCEPT_HIGH_RISK",
  "P5_LOW_CREDIBILITY_DEPARTURE",
  "P6_UNPROVEN_OPERATOR_CRITICAL",
  "P7_IMPLAUSIBLE_TELEMETRY",
] as const;

// deno-lint-ignore no-explicit-any
type Json = any;

/** A valid decision: a careful acceptance. */
function decisionRequest(fields: Record<string, unknown> = {}) {
  return {
    decision_id: "decision-1",
    operator_id: "operator-1",
    domain: "general",
    time_to_decision_ms: 14200,
    decision: "accepted",
    hover_events: 5,
    scroll_depth: 0.8,
    alternative_views_checked: 1,
    ...fields,
  };
}

/** Scores `count` equal interactions of the operator. */
async function history(
  { send }: Harness,
  key: string,
  { count, interaction }: { readonly count: number; readonly interaction: Record<string, unknown> },
): Promise<void> {
  const interactions = Array.from({ length: count }, (_, index) => ({
    session_id: `history-${index}`,
    interaction: scoreRequest({}, interaction).interaction,
  }));
  const body = { operator_id: "operator-1", domain: "general", interactions };
  assert.equal((await send(BATCH, { key, body })).status, 200);
}

const firedIn = ({ policy_triggers }: Json): readonly string[] =>
  policy_triggers.filter(({ triggered }: Json) => triggered).map(({ policy }: Json) => policy.slice(0, 2));

/** The numbers of an answer, without the ids of this one decision. */
function riskOf({ body }: Answer) {
  const { decision_risk_score, routing_decision, policy_triggers, factors, operator_uncertainty } = body;
  return { decision_risk_score, routing_decision, policy_triggers, factors, operator_uncertainty };
}

function faultOf({ verifierKey }: Harness, { body }: Answer) {
  const { origin } = parseCheckpoint(parseNote(parseProof(body.evidence.proof).note).text);
  return verifyDocument(nodeCrypto, body, { keysFor: () => [verifierKey(origin)] }).fault;
}

/** The recorded input of an answer's entry. */
async function inputOf({ database }: Harness, { body }: Answer): Promise<Json> {
  const { chain, seq } = body.evidence.entry;
  const [part] = await database.read(
    query.selectFrom("audit_part").select("data").where("chain", "=", chain).where("seq", "=", seq)
      .where("name", "=", "input").compile(),
  );
  return JSON.parse(part!.data!);
}

const operatorRows = ({ database }: Harness) =>
  database.read(query.selectFrom("operator").selectAll().orderBy("operator_id").compile());

// ---- 200: the answer --------------------------------------------------------------------------------------

Deno.test(
  "a decision answers with its risk, its route, all seven policies in order, four factors and its entry's id",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const answer = await harness.send(PATH, { key, body: decisionRequest() });
    assert.equal(answer.status, 200);
    const { evidence, model, request_id, timestamp, ...body } = answer.body;
    const raised = ["escalation", "must_review", "review", "must_review", "review", "must_review", "review"];
    assert.deepEqual(body, {
      decision_id: "decision-1",
      operator_id: "operator-1",
      domain: "general",
      decision_risk_score: 0.32,
      routing_decision: "review",
      policy_triggers: POLICIES.map((policy, index) => ({
        policy,
        triggered: false,
        minimum_route: raised[index],
        evidence: null,
      })),
      factors: [
        { name: "likelihood", value: 0.28, weight: 0.6 },
        { name: "severity", value: 0.4, weight: 0.4 },
        { name: "process_evidence", value: 1, weight: null },
        { name: "operator_jis", value: 65, weight: null },
      ],
      operator_uncertainty: { level: 0.9, low: 50.4, high: 79.6, effective_n: 0 },
      audit_id: evidence.entry.id,
    });
    assert.deepEqual(Object.keys(model).sort(), ["sha256", "version"]);
    assert.equal(request_id, answer.headers.get("X-Request-Id"));
    assert.equal(timestamp, new Date(EPOCH).toISOString());
    assert.equal(answer.headers.get("Idempotency-Replayed"), null);
  }),
);

Deno.test(
  "the evidence of a decision verifies offline, and no longer after its route is changed",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const answer = await harness.send(PATH, { key, body: decisionRequest() });
    const { entry } = answer.body.evidence;
    assert.deepEqual([entry.event_type, entry.actor], ["DRS_COMPUTED", "api"]);
    assert.equal(faultOf(harness, answer), null);
    const changed = { ...answer, body: { ...answer.body, routing_decision: "auto" } };
    assert.equal(faultOf(harness, changed), "RESULT_MISMATCH");
    for (const id of ["operator-1", "decision-1"]) assert.ok(!canonicalJson(entry).includes(id));
  }),
);

/** The vectors use the routes' older names (scoring model, Read first, point 5). */
const ROUTE_NAMES: Readonly<Record<string, string>> = {
  auto_proceed: "auto",
  standard_review: "review",
  must_review: "must_review",
  escalate: "escalation",
};

for (const example of (examples.examples as Json[]).filter(({ kind }) => kind === "drs")) {
  Deno.test(
    `the answer over HTTP to worked example ${example.name} is the one that the model computes`,
    withAlterations(async (harness) => {
      // The state of the example is written into the database, so no entry leads to it.
      const { send, clock, database } = harness;
      clock.advance(Date.parse(example.now) - clock.now());
      const key = await harness.organization("acme");
      if (example.state_before !== undefined && example.state_before !== null) {
        await send("/v1/score", { key, body: scoreRequest() });
        const state = canonicalJson(example.state_before);
        await database.batch([query.updateTable("operator").set({ state }).compile()]);
        await resealed(harness.dependencies);
      }
      const answer = await send(PATH, { key, body: { operator_id: "operator-1", ...example.decision } });
      assert.equal(answer.status, 200, answer.text);
      const { decision_risk_score, routing_decision, policy_triggers, factors } = answer.body;
      const { result } = example;
      assert.equal(decision_risk_score, result.decision_risk_score / 100);
      assert.equal(routing_decision, ROUTE_NAMES[result.routing_decision]);
      assert.deepEqual(
        policy_triggers.filter(({ triggered }: Json) => triggered)
          .map(({ policy, minimum_route }: Json) => ({ policy, minimum_route })),
        result.policy_triggers.map(({ policy, minimum_route }: Json) => ({
          policy,
          minimum_route: ROUTE_NAMES[minimum_route],
        })),
      );
      assert.deepEqual(
        Object.fromEntries(factors.map(({ name, value }: Json) => [name, value])),
        result.components,
      );
    }),
  );
}

Deno.test(
  "a decision reads the operator's state after the decay of a gap, with the domain of the decision",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await history(harness, key, { count: 60, interaction: { decision: "rejected" } });
    harness.clock.advance(120 * DAY_MS);
    const request = decisionRequest({ domain: "legal" });
    const answer = await harness.send(PATH, { key, body: request });
    const [row] = await operatorRows(harness);
    const { decision_id: _id, operator_id: _operator, domain: _domain, ...interaction } = request;
    const expected = (now: number) =>
      scoreDecision(model, JSON.parse(row!.state), {
        interaction: recordedInteractionSchema.parse(interaction),
        domain: "legal",
        stakes: null,
        now,
      });
    assert.deepEqual(riskOf(answer), expected(harness.clock.now()));
    assert.notDeepEqual(riskOf(answer), expected(EPOCH), "the gap counts");
  }),
);

Deno.test(
  "decisions leave the operator's state, profile and next score as they were",
  withHarness(async (harness) => {
    const { send, organization, clock } = harness;
    const key = await organization("acme");
    const undisturbed = await organization("undisturbed");
    for (const apiKey of [key, undisturbed]) await history(harness, apiKey, { count: 5, interaction: {} });
    const before = await operatorRows(harness);
    const profile = await send("/v1/operator/operator-1/profile", { key });
    for (
      const [index, fields] of [
        {},
        { decision: "overridden", outcome_correct: false },
        { scenario_type: "critical", time_to_decision_ms: 100 },
        { decision: "deferred", domain: "healthcare", stakes: "critical" },
      ].entries()
    ) {
      const { status } = await send(PATH, {
        key,
        body: decisionRequest({ decision_id: `d-${index}`, ...fields }),
      });
      assert.equal(status, 200);
    }
    assert.deepEqual(await operatorRows(harness), before);
    const { profile: after, jis_history } = (await send("/v1/operator/operator-1/profile", { key })).body;
    assert.deepEqual([after, jis_history], [profile.body.profile, profile.body.jis_history]);
    clock.advance(3 * DAY_MS);
    const [next, same] = [
      await send("/v1/score", { key, body: scoreRequest() }),
      await send("/v1/score", { key: undisturbed, body: scoreRequest() }),
    ];
    assert.deepEqual(resultPart(next.body), resultPart(same.body));
  }),
);

Deno.test(
  "a decision does not count as usage",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    await send("/v1/score", { key, body: scoreRequest() });
    await send(PATH, { key, body: decisionRequest() });
    const usage = await send("/v1/admin/org/acme/usage", { headers: { "X-API-Key": USAGE_KEY } });
    assert.equal(usage.body.interaction_count_current_period, 1);
  }, { masterSecrets: { ORG_USAGE_READ: [USAGE_KEY] } }),
);

Deno.test(
  "a decision of an unknown operator is scored, and the operator stays unknown",
  withHarness(async (harness) => {
    const { send, organization } = harness;
    const key = await organization("acme");
    assert.equal((await send(PATH, { key, body: decisionRequest() })).status, 200);
    const path = "/v1/operator/operator-1/profile";
    await refuses(harness, {
      name: "profile",
      path,
      request: { key },
      status: 404,
      code: "NOT_FOUND",
      names: "operator-1",
    });
    assert.equal((await harness.rowCounts()).operator, 0);
    const { body } = await send("/v1/score", { key, body: scoreRequest() });
    assert.equal(body.jis, 66.3, "the first score is that of a new operator");
    assert.equal((await send(path, { key })).body.profile.total_interactions, 1);
  }),
);

Deno.test(
  "a decision and a later score of one operator have one pseudonym",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    const decision = await send(PATH, { key, body: decisionRequest() });
    const score = await send("/v1/score", { key, body: scoreRequest() });
    const other = await send(PATH, {
      key,
      body: decisionRequest({ decision_id: "2", operator_id: "other" }),
    });
    const subjectOf = ({ body }: Answer) => body.evidence.entry.subject;
    assert.match(subjectOf(decision), /^[0-9a-f]{32}$/);
    assert.equal(subjectOf(score), subjectOf(decision));
    assert.notEqual(subjectOf(other), subjectOf(decision));
  }),
);

// ---- 200: stakes, confidence and ids ----------------------------------------------------------------------

Deno.test(
  "low and medium stakes weigh like a standard scenario, high ones like high_stakes, critical ones like critical",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    let count = 0;
    const ask = async (fields: Record<string, unknown>) => {
      count += 1;
      return riskOf(
        await send(PATH, { key, body: decisionRequest({ decision_id: `d-${count}`, ...fields }) }),
      );
    };
    const standard = await ask({});
    const high = await ask({ scenario_type: "high_stakes" });
    const critical = await ask({ scenario_type: "critical" });
    const severityOf = ({ factors }: ReturnType<typeof riskOf>) => factors[1].value;
    assert.deepEqual([standard, high, critical].map(severityOf), [0.4, 0.55, 0.7]);
    assert.ok(standard.decision_risk_score < high.decision_risk_score);
    assert.ok(high.decision_risk_score < critical.decision_risk_score);
    for (
      const [fields, expected] of [
        [{ stakes: null }, standard],
        [{ stakes: "low" }, standard],
        [{ stakes: "medium" }, standard],
        [{ stakes: "high" }, high],
        [{ stakes: "critical" }, critical],
        [{ stakes: "low", scenario_type: "standard" }, standard],
        // Both are given: the graver one counts.
        [{ stakes: "low", scenario_type: "high_stakes" }, high],
        [{ stakes: "medium", scenario_type: "critical" }, critical],
        [{ stakes: "high", scenario_type: "standard" }, high],
        [{ stakes: "high", scenario_type: "critical" }, critical],
        [{ stakes: "critical", scenario_type: "standard" }, critical],
        [{ stakes: "critical", scenario_type: "high_stakes" }, critical],
        [{ stakes: "critical", scenario_type: "calibration" }, critical],
        [{ stakes: "critical", scenario_type: "error_injected" }, critical],
      ] as const
    ) assert.deepEqual(await ask(fields), expected, JSON.stringify(fields));
  }),
);

Deno.test(
  "ai_confidence and stakes are recorded as sent, and the confidence has no effect",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const answers = [];
    for (const [index, ai_confidence] of [undefined, null, 0, 0.97, 1].entries()) {
      const body = decisionRequest({ decision_id: `d-${index}`, stakes: "high", ai_confidence });
      const answer = await harness.send(PATH, { key, body });
      const input = await inputOf(harness, answer);
      assert.deepEqual([input.ai_confidence, input.stakes], [ai_confidence ?? null, "high"]);
      answers.push(riskOf(answer));
    }
    for (const answer of answers) assert.deepEqual(answer, answers[0]);
  }),
);

Deno.test(
  "the recorded input holds the normalised request and the operator's state, and no unknown field",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const fields = { session_id: "x", unknown: 1 };
    const answer = await harness.send(PATH, { key, body: decisionRequest(fields) });
    const input = await inputOf(harness, answer);
    assert.deepEqual(Object.keys(input).sort(), [
      "ai_confidence",
      "algo",
      "as_of",
      "decision_id",
      "domain",
      "interaction",
      "operator_id",
      "prior",
      "stakes",
      "state",
      "v",
    ]);
    assert.deepEqual(input.interaction, {
      ai_recommendation_presented: true,
      time_to_decision_ms: 14200,
      decision: "accepted",
      modification_extent: 0,
      ai_available: true,
      scenario_type: "standard",
      outcome_correct: null,
      hover_events: 5,
      scroll_depth: 0.8,
      alternative_views_checked: 1,
    });
    assert.deepEqual([input.prior, input.state], [null, null]);
  }),
);

Deno.test(
  "a decision without an id gets a new one each time",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    const { decision_id: _absent, ...request } = decisionRequest();
    const [first, second] = [
      await send(PATH, { key, body: request }),
      await send(PATH, { key, body: request }),
    ];
    assert.match(first.body.decision_id, /^[0-9A-Z]{26}$/);
    assert.notEqual(second.body.decision_id, first.body.decision_id);
    assert.equal(second.headers.get("Idempotency-Replayed"), null);
    assert.deepEqual(riskOf(second), riskOf(first));
    const again = await send(PATH, { key, body: { ...request, decision_id: first.body.decision_id } });
    assert.equal(again.headers.get("Idempotency-Replayed"), "true");
  }),
);

Deno.test(
  "a session_id in a decision is ignored, whatever it is",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    await send("/v1/score", { key, body: scoreRequest({ session_id: "used" }) });
    for (const [index, session_id] of ["used", "free", "a b", "", 7, null, { deep: [] }].entries()) {
      const body = decisionRequest({ decision_id: `d-${index}`, session_id });
      const answer = await send(PATH, { key, body });
      assert.equal(answer.status, 200, answer.text);
      assert.equal("session_id" in answer.body, false);
    }
    const { status, headers } = await send("/v1/score", { key, body: scoreRequest({ session_id: "free" }) });
    assert.deepEqual([status, headers.get("Idempotency-Replayed")], [200, null]);
  }),
);

// ---- 200: the policies ------------------------------------------------------------------------------------

/**
 * For each policy: a decision that triggers it, all policies that this triggers, and the least route of the
 * result.
 */
const TRIGGERS: readonly {
  readonly policy: string;
  readonly history?: { readonly count: number; readonly interaction: Record<string, unknown> };
  readonly fields: Record<string, unknown>;
  readonly fired: readonly string[];
  readonly minimum: string;
  /** Words that the policy's sentence must contain. */
  readonly names: readonly string[];
}[] = [
  {
    policy: "P1",
    history: { count: 50, interaction: {} },
    fields: { scenario_type: "critical", time_to_decision_ms: 1_999 },
    fired: ["P1"],
    minimum: "escalation",
    names: ["1999 ms", "2000 ms", "general"],
  },
  {
    policy: "P2",
    history: {
      count: 30,
      interaction: { time_to_decision_ms: 900, outcome_correct: false, hover_events: 0 },
    },
    fields: {},
    fired: ["P2"],
    minimum: "must_review",
    names: ["40"],
  },
  {
    policy: "P3",
    history: { count: 1, interaction: { time_to_decision_ms: 900, outcome_correct: false } },
    fields: {},
    fired: ["P3"],
    minimum: "review",
    names: ["60"],
  },
  {
    policy: "P4",
    fields: { domain: "healthcare", time_to_decision_ms: 2_499, hover_events: null },
    fired: ["P4"],
    minimum: "must_review",
    names: ["2499 ms", "2500 ms", "healthcare"],
  },
  {
    policy: "P5",
    // Six departures that were all wrong: the credibility becomes 1/(b_C + 2).
    history: { count: 6, interaction: { decision: "rejected", outcome_correct: false } },
    fields: { decision: "modified", modification_extent: 0.125 },
    fired: ["P3", "P5"],
    minimum: "review",
    names: ["%"],
  },
  {
    policy: "P6",
    history: { count: 49, interaction: {} },
    fields: { scenario_type: "critical" },
    fired: ["P6"],
    minimum: "must_review",
    names: ["49"],
  },
  {
    policy: "P7",
    fields: { decision: "rejected", time_to_decision_ms: 1_700, hover_events: 40, scroll_depth: 0 },
    fired: ["P7"],
    minimum: "review",
    names: ["1700 ms"],
  },
];

const ROUTES = ["auto", "review", "must_review", "escalation"];

Deno.test("each policy is triggered by its own condition, explains itself, and raises the route", async (t) => {
  for (const { policy, history: before, fields, fired, minimum, names } of TRIGGERS) {
    await t.step(
      policy,
      withHarness(async (harness) => {
        const key = await harness.organization("acme");
        if (before !== undefined) await history(harness, key, before);
        const { body } = await harness.send(PATH, { key, body: decisionRequest(fields) });
        assert.deepEqual(firedIn(body), fired);
        assert.deepEqual(body.policy_triggers.map((row: Json) => row.policy), POLICIES);
        const trigger = body.policy_triggers.find((row: Json) => row.policy.startsWith(policy));
        assert.equal(trigger.minimum_route, minimum);
        assert.match(trigger.evidence, /^[A-Z].*\.$/);
        for (const name of names) assert.ok(trigger.evidence.includes(name), trigger.evidence);
        assert.ok(ROUTES.indexOf(body.routing_decision) >= ROUTES.indexOf(minimum), body.routing_decision);
        for (const row of body.policy_triggers) assert.equal(row.evidence === null, !row.triggered);
      }),
    );
  }
});

Deno.test("at the edge of its condition no policy is triggered", async (t) => {
  const edges:
    readonly (readonly [name: string, fields: Record<string, unknown>, fired: readonly string[]])[] = [
      ["P1 and P4 at the fast threshold", {
        domain: "financial",
        scenario_type: "critical",
        time_to_decision_ms: 2_000,
        hover_events: null,
        scroll_depth: null,
        alternative_views_checked: null,
      }, ["P6"]],
      ["P4 outside high-risk domains", { time_to_decision_ms: 1_000, hover_events: 0, scroll_depth: 0 }, []],
      ["P4 of a rejection", { domain: "financial", decision: "rejected", time_to_decision_ms: 1_999 }, []],
      ["P5 of an unknown operator", { decision: "rejected" }, []],
      // 0.3 of the 6600 ms that 40 hovers and one view need.
      ["P7 at three tenths of the time needed", {
        decision: "rejected",
        time_to_decision_ms: 1_980,
        hover_events: 40,
        scroll_depth: 0,
      }, []],
    ];
  for (const [name, fields, fired] of edges) {
    await t.step(
      name,
      withHarness(async ({ send, organization }) => {
        const key = await organization("acme");
        const { body } = await send(PATH, { key, body: decisionRequest(fields) });
        assert.deepEqual(firedIn(body), fired);
      }),
    );
  }
});

Deno.test(
  "an operator is proven for critical cases after exactly ten days, to the millisecond",
  withHarness(async (harness) => {
    const { send, organization, clock } = harness;
    const key = await organization("acme");
    await history(harness, key, { count: 1, interaction: {} });
    const critical = async (decision_id: string) => {
      const { body } = await send(PATH, { key, body: decisionRequest({ decision_id, stakes: "critical" }) });
      return firedIn(body);
    };
    clock.advance(10 * DAY_MS - 1);
    assert.deepEqual(await critical("before"), ["P6"]);
    clock.advance(1);
    assert.deepEqual(await critical("after"), []);
  }),
);

Deno.test(
  "a low record raises the route further in a high-risk domain and in a critical case",
  withHarness(async (harness) => {
    const { send, organization } = harness;
    const key = await organization("acme");
    const interaction = { time_to_decision_ms: 900, outcome_correct: false, hover_events: 0 };
    await history(harness, key, { count: 30, interaction });
    const below = async (id: string, fields: Record<string, unknown>) => {
      const { body } = await send(PATH, { key, body: decisionRequest({ decision_id: id, ...fields }) });
      const [, p2] = body.policy_triggers;
      assert.equal(p2.triggered, true);
      return p2.minimum_route;
    };
    assert.equal(await below("plain", {}), "must_review");
    assert.equal(await below("high-risk", { domain: "healthcare" }), "escalation");
    assert.equal(await below("critical", { scenario_type: "critical" }), "escalation");
    assert.equal(await below("stakes", { stakes: "critical" }), "escalation");
  }),
);

// ---- 200: repeated ----------------------------------------------------------------------------------------

Deno.test(
  "a repeated decision gets the stored answer, whatever was scored meanwhile, and writes nothing",
  withHarness(async (harness) => {
    const { send, organization, clock, rowCounts } = harness;
    const key = await organization("acme");
    const first = await send(PATH, { key, body: decisionRequest({ stakes: "high" }) });
    await history(harness, key, { count: 3, interaction: { outcome_correct: false } });
    clock.advance(30 * DAY_MS);
    const before = await rowCounts();
    for (
      const body of [
        decisionRequest({ stakes: "high" }),
        decisionRequest({ stakes: "high", ai_confidence: null, ai_available: true, modification_extent: 0 }),
        decisionRequest({ stakes: "high", session_id: "any", unknown: [1], api_key: "x" }),
      ]
    ) {
      const again = await send(PATH, { key, body });
      assert.equal(again.status, 200);
      assert.deepEqual(again.body, first.body);
      assert.equal(again.headers.get("Idempotency-Replayed"), "true");
      assert.equal(again.headers.get("X-Request-Id"), first.body.request_id);
    }
    assert.deepEqual(await rowCounts(), before);
  }),
);

Deno.test(
  "equal decisions sent at once are one decision",
  withHarness(async ({ send, organization, rowCounts }) => {
    const key = await organization("acme");
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => send(PATH, { key, body: decisionRequest() })),
    );
    assert.equal(new Set(answers.map(({ body }) => canonicalJson(body))).size, 1);
    assert.equal((await rowCounts()).decision, 1);
  }),
);

Deno.test(
  "two organizations can use the same decision_id",
  withHarness(async ({ send, organization }) => {
    const [one, two] = [await organization("one"), await organization("two")];
    await send(PATH, { key: one, body: decisionRequest() });
    const { status, headers } = await send(PATH, { key: two, body: decisionRequest({ stakes: "low" }) });
    assert.deepEqual([status, headers.get("Idempotency-Replayed")], [200, null]);
  }),
);

// ---- 409 --------------------------------------------------------------------------------------------------

function conflict(name: string, path: string, request: Scenario["request"], names: string): Scenario {
  return { name, path, request, status: 409, code: "CONFLICT", names };
}

Deno.test("a different decision under a used decision_id is 409 and writes nothing", async (t) => {
  await withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await harness.send(PATH, { key, body: decisionRequest() });
    for (
      const fields of [
        { operator_id: "operator-2" },
        { domain: "legal" },
        { time_to_decision_ms: 14201 },
        { decision: "rejected" },
        { hover_events: null },
        { outcome_correct: true },
        { scenario_type: "critical" },
        { stakes: "low" },
        { ai_confidence: 0.5 },
      ]
    ) {
      const name = JSON.stringify(fields);
      const request = { key, body: decisionRequest(fields) };
      await t.step(name, () => refuses(harness, conflict(name, PATH, request, "decision-1")));
    }
  })();
});

Deno.test("sessions and decisions share one name space: a name used by one kind is 409 for the other", async (t) => {
  await withHarness(async (harness) => {
    const { send, organization } = harness;
    const key = await organization("acme");
    const { session_id: _none, ...frame } = scoreRequest();
    const score = (name: string) => scoreRequest({ session_id: name });
    await send("/v1/score", { key, body: score("scored") });
    await send(FROZEN, { key, body: score("frozen") });
    const { interaction, ...operator } = frame;
    const batched = { operator_id: operator.operator_id, domain: operator.domain };
    await send(BATCH, { key, body: { ...batched, interactions: [{ session_id: "batched", interaction }] } });
    await send(PATH, { key, body: decisionRequest({ decision_id: "decided" }) });
    const scenarios = [
      ...["scored", "frozen", "batched"].map((name) =>
        conflict(`a decision under a ${name} session`, PATH, {
          key,
          body: decisionRequest({ decision_id: name }),
        }, name)
      ),
      conflict("a score under a decision", "/v1/score", { key, body: score("decided") }, "decided"),
      conflict("a frozen post under a decision", FROZEN, { key, body: score("decided") }, "decided"),
      conflict("a batch with a decision's name", BATCH, {
        key,
        body: { ...batched, interactions: [{ session_id: "decided", interaction }] },
      }, "decided"),
    ];
    for (const scenario of scenarios) await t.step(scenario.name, () => refuses(harness, scenario));
    const later = await send("/v1/score", { key, body: score("frozen") });
    assert.equal(later.status, 200, "a frozen session can still be scored");
  })();
});

Deno.test(
  "if a score or frozen call and a decision are sent at once under one name, one is stored, the other is 409",
  withHarness(async ({ send, organization, rowCounts }) => {
    const key = await organization("acme");
    for (const [name, path] of [["scored", "/v1/score"], ["frozen", FROZEN]] as const) {
      const score = () => send(path, { key, body: scoreRequest({ session_id: name }) });
      const decide = () => send(PATH, { key, body: decisionRequest({ decision_id: name }) });
      const answers = await Promise.all([score(), decide()]);
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409], name);
    }
    const counts = await rowCounts();
    assert.equal(
      Number(counts.decision) + Number(counts.interaction) + Number(counts.skipped_interaction),
      2,
    );
  }),
);

// ---- 422 --------------------------------------------------------------------------------------------------

const BAD_DECISIONS: readonly (readonly [name: string, fields: Record<string, unknown>, names: string])[] = [
  [
    "a nested interaction",
    { interaction: { time_to_decision_ms: 900, decision: "accepted" } },
    "interaction",
  ],
  ["an interaction that is null", { interaction: null }, "interaction"],
  ["an empty interaction", { interaction: {} }, "interaction"],
  ["decision_id with a space", { decision_id: "a b" }, "decision_id"],
  ["an empty decision_id", { decision_id: "" }, "decision_id"],
  ["decision_id too long", { decision_id: "x".repeat(257) }, "decision_id"],
  ["decision_id as number", { decision_id: 7 }, "decision_id"],
  ["no operator_id", { operator_id: undefined }, "operator_id"],
  ["no domain", { domain: undefined }, "domain"],
  ["unknown domain", { domain: "space" }, "domain"],
  ["no decision", { decision: undefined }, "decision"],
  ["no time", { time_to_decision_ms: undefined }, "time_to_decision_ms"],
  ["unknown stakes", { stakes: "enormous" }, "stakes"],
  ["stakes as number", { stakes: 3 }, "stakes"],
  ["confidence above 1", { ai_confidence: 1.01 }, "ai_confidence"],
  ["confidence below 0", { ai_confidence: -0.01 }, "ai_confidence"],
  ["confidence as text", { ai_confidence: "0.5" }, "ai_confidence"],
  ["unknown scenario", { scenario_type: "urgent" }, "scenario_type"],
  ["modification_extent above 1", { modification_extent: 1.01 }, "modification_extent"],
];

Deno.test("every bad decision is 422, names the field and writes nothing", async (t) => {
  await withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await harness.send(PATH, { key, body: decisionRequest({ decision_id: "good" }) });
    for (const [name, fields, names] of BAD_DECISIONS) {
      const request = { key, body: decisionRequest(fields) };
      const scenario = { name, path: PATH, request, names, status: 422, code: "VALIDATION_FAILED" };
      await t.step(name, () => refuses(harness, scenario));
    }
  })();
});
