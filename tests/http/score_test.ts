/** POST /v1/score: its answer, its records, and the answer to a repeated call. */
import assert from "node:assert/strict";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { verifyDocument } from "../../src/evidence/document.ts";
import { parseProof } from "../../src/evidence/envelope.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { parseCheckpoint, parseNote } from "../../src/evidence/note.ts";
import { EPOCH, type Harness, scoreRequest, withHarness } from "../harness.ts";
import { verifyDatabase } from "../oracle.ts";

const RESPONSE_FIELDS = [
  "band",
  "committed",
  "compliance",
  "decay_projection",
  "dimensions",
  "dimensions_computed",
  "displayed_jis",
  "evidence",
  "jis",
  "maintenance_recommendation",
  "mode",
  "mode_override",
  "model",
  "operator_id",
  "provisional",
  "request_id",
  "role_tier",
  "session_id",
  "timestamp",
  "uncertainty",
];

/** The chains as the oracle reads them, by name. */
async function chainsOf({ database, verifierKey }: Harness) {
  const { publicKey } = verifierKey("any");
  const chains = await verifyDatabase(database, { publicKey });
  return Object.fromEntries(chains.map((chain) => [chain.chain, chain]));
}

Deno.test(
  "a score answers with every field of the specification and the model's first worked example",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    const { status, body, headers } = await send("/v1/score", { key, body: scoreRequest() });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body).sort(), RESPONSE_FIELDS);
    assert.equal(body.jis, 66.3);
    assert.equal(body.displayed_jis, 66);
    assert.equal(body.band, "adequate");
    assert.deepEqual(body.dimensions, {
      deferral_resistance: 67,
      error_detection: 67,
      independent_performance: 65,
      deliberation_depth: 67,
      post_error_recalibration: 65,
      domain_confidence: 66,
      decision_autonomy: 66,
    });
    assert.deepEqual(body.compliance, {
      band: "adequate",
      status: "compliant",
      jis: 66.3,
      article14_met: true,
      action_required: false,
      thresholds: { min_jis: 60, target_jis: 75 },
    });
    assert.equal(body.decay_projection.days_to_non_compliance, 78);
    assert.equal(body.maintenance_recommendation.urgency, "low");
    assert.equal(body.maintenance_recommendation.recommendation.next_assessment, "2026-12-04T09:00:00.000Z");
    assert.deepEqual(body.uncertainty, { level: 0.9, low: 51.7, high: 80.9, effective_n: 1 });
    assert.equal(body.mode, "standard");
    assert.equal(body.mode_override, "normal");
    assert.equal(body.role_tier, "tier_1");
    assert.equal(body.provisional, true);
    assert.equal(body.committed, false);
    assert.equal(body.dimensions_computed, 7);
    assert.equal(body.session_id, "session-1");
    assert.equal(body.operator_id, "operator-1");
    assert.equal(body.timestamp, new Date(EPOCH).toISOString());
    assert.equal(headers.get("Idempotency-Replayed"), null);
  }),
);

Deno.test(
  "the evidence of a score verifies offline, and no longer after a digit of the answer is changed",
  withHarness(async ({ send, organization, verifierKey }) => {
    const key = await organization("acme");
    for (const session of ["a", "b", "c", "d", "e"]) {
      const { body } = await send("/v1/score", { key, body: scoreRequest({ session_id: session }) });
      const { origin, size } = parseCheckpoint(parseNote(parseProof(body.evidence.proof).note).text);
      assert.ok(origin.startsWith("jiss.test/") && origin.endsWith("/org/acme"));
      assert.equal(size, body.evidence.entry.seq + 1);
      const keys = [verifierKey(origin)];
      assert.equal(verifyDocument(nodeCrypto, body, { keysFor: () => keys }).fault, null);
      assert.equal(
        verifyDocument(nodeCrypto, { ...body, jis: body.jis + 0.01 }, { keysFor: () => keys }).fault,
        "RESULT_MISMATCH",
      );
    }
  }),
);

Deno.test(
  "the chain holds commitments and a pseudonym, never the operator's or the session's id",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await harness.send("/v1/score", {
      key,
      body: scoreRequest({ session_id: "SESSION-ID", operator_id: "OPERATOR-ID" }),
    });
    const { entries, parts } = (await chainsOf(harness))["org/acme"]!;
    const entry = entries.at(-1);
    assert.equal(entry.event_type, "SCORE_COMPUTED");
    assert.equal(entry.actor, "api");
    assert.equal(entry.org_id, "acme");
    assert.equal(entry.prefix, key.slice(0, 8));
    assert.match(entry.subject, /^[0-9a-f]{32}$/);
    for (const id of ["SESSION-ID", "OPERATOR-ID"]) assert.ok(!JSON.stringify(entries).includes(id));
    const input = parts.get("1/input");
    assert.deepEqual(Object.keys(input).sort(), [
      "algo",
      "as_of",
      "domain",
      "interaction",
      "mode",
      "mode_override",
      "operator_id",
      "prior",
      "role_tier",
      "session_id",
      "state",
      "v",
      "weights",
    ]);
    assert.equal(input.v, "jis.input/1");
    assert.deepEqual(Object.keys(input.weights).sort(), [
      "domain",
      "inert",
      "kappa",
      "omega",
      "presented",
      "r",
      "s",
      "wP",
    ]);
  }),
);

Deno.test(
  "lite mode reports D1, D4 and D7 renormalised, and changes the state as full mode does",
  withHarness(async (harness) => {
    const { send, organization } = harness;
    const [lite, full] = [await organization("lite"), await organization("full")];
    const answer = await send("/v1/score?mode=lite", { key: lite, body: scoreRequest() });
    await send("/v1/score", { key: full, body: scoreRequest() });
    assert.deepEqual(answer.body.dimensions, {
      deferral_resistance: 67,
      deliberation_depth: 67,
      decision_autonomy: 66,
    });
    assert.equal(answer.body.jis, 66.7);
    assert.equal(answer.body.displayed_jis, 67);
    assert.equal(answer.body.mode, "lite");
    assert.equal(answer.body.dimensions_computed, 3);
    const next = scoreRequest({ session_id: "next" });
    const [afterLite, afterFull] = [
      await send("/v1/score", { key: lite, body: next }),
      await send("/v1/score", { key: full, body: next }),
    ];
    assert.equal(afterLite.body.jis, afterFull.body.jis);
    assert.deepEqual(afterLite.body.dimensions, afterFull.body.dimensions);
  }),
);

Deno.test(
  "parameters come from the query or from headers, and the query wins",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    const headers = {
      "X-Service-Mode": "lite",
      "X-Service-Role-Tier": "tier_3",
      "X-Service-Mode-Override": "incident_frozen",
    };
    const byHeader = await send("/v1/score", { key, headers, body: scoreRequest({ session_id: "h" }) });
    assert.deepEqual([byHeader.body.skipped, byHeader.body.mode, byHeader.body.role_tier], [
      true,
      "lite",
      "tier_3",
    ]);
    const byQuery = await send("/v1/score?mode=full&role_tier=tier_2&mode_override=normal", {
      key,
      headers,
      body: scoreRequest({ session_id: "q" }),
    });
    assert.deepEqual([byQuery.body.mode, byQuery.body.role_tier, byQuery.body.jis], [
      "standard",
      "tier_2",
      66.3,
    ]);
    const overruled = await send("/v1/score?mode=full", {
      key,
      headers: { "X-Service-Mode": "no such mode" },
      body: scoreRequest({ session_id: "o" }),
    });
    assert.equal(overruled.status, 200);
  }),
);

Deno.test(
  "the flat variant is scored like the nested one, and gets a session_id if it has none",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    const { interaction, ...rest } = scoreRequest();
    const nested = await send("/v1/score", {
      key,
      body: scoreRequest({ operator_id: "nested", session_id: "n" }),
    });
    const flat = await send("/v1/score", { key, body: { ...rest, ...interaction, operator_id: "flat" } });
    assert.equal(flat.body.session_id, "session-1");
    assert.deepEqual(flat.body.dimensions, nested.body.dimensions);
    const minimal = {
      operator_id: "minimal",
      domain: "general",
      time_to_decision_ms: 9000,
      decision: "accepted",
    };
    const [first, second] = [
      await send("/v1/score", { key, body: minimal }),
      await send("/v1/score", { key, body: minimal }),
    ];
    assert.equal(first.status, 200);
    assert.equal(first.body.jis, 65);
    assert.notEqual(first.body.session_id, second.body.session_id);
    assert.equal(second.headers.get("Idempotency-Replayed"), null);
  }),
);

Deno.test(
  "a repeated request gets the stored answer and counts nothing twice",
  withHarness(async ({ send, organization, clock, rowCounts }) => {
    const key = await organization("acme");
    const first = await send("/v1/score", { key, body: scoreRequest() });
    await send("/v1/score", { key, body: scoreRequest({ session_id: "another" }) });
    const before = await rowCounts();
    clock.advance(86_400_000);
    const { interaction, ...rest } = scoreRequest();
    // Explicit or omitted defaults, unknown fields and the flat form are the same request.
    const { modification_extent: _extent, ai_available: _available, ...sparse } = interaction;
    for (
      const body of [
        scoreRequest(),
        { ...scoreRequest(), unknown: [1, 2], api_key: "x" },
        { ...rest, interaction: sparse },
        { ...rest, ...interaction },
      ]
    ) {
      const again = await send("/v1/score", { key, body });
      assert.equal(again.status, 200);
      assert.equal(again.headers.get("Idempotency-Replayed"), "true");
      assert.equal(again.headers.get("X-Request-Id"), first.body.request_id);
      assert.equal(again.text, first.text, "byte for byte");
    }
    assert.deepEqual(await rowCounts(), before);
  }),
);

Deno.test(
  "a different request under a used session_id is 409 and writes nothing",
  withHarness(async ({ send, organization, rowCounts }) => {
    const key = await organization("acme");
    await send("/v1/score", { key, body: scoreRequest() });
    const before = await rowCounts();
    for (
      const [path, body] of [
        ["/v1/score", scoreRequest({ operator_id: "operator-2" })],
        ["/v1/score", scoreRequest({}, { time_to_decision_ms: 14201 })],
        ["/v1/score", scoreRequest({}, { hover_events: null })],
        ["/v1/score?mode=lite", scoreRequest()],
        ["/v1/score?role_tier=tier_2", scoreRequest()],
        ["/v1/score?mode_override=incident_frozen", scoreRequest()],
      ] as const
    ) {
      const { status, body: answer } = await send(path, { key, body });
      assert.deepEqual([status, answer.error.code], [409, "CONFLICT"]);
    }
    assert.deepEqual(await rowCounts(), before);
  }),
);

Deno.test(
  "two organizations can use the same session_id",
  withHarness(async ({ send, organization }) => {
    const [one, two] = [await organization("one"), await organization("two")];
    assert.equal((await send("/v1/score", { key: one, body: scoreRequest() })).status, 200);
    const other = await send("/v1/score", { key: two, body: scoreRequest({}, { decision: "rejected" }) });
    assert.equal(other.status, 200);
    assert.equal(other.headers.get("Idempotency-Replayed"), null);
  }),
);

Deno.test(
  "incident_frozen is recorded, computes nothing, changes no operator and leaves its session free",
  withHarness(async (harness) => {
    const { send, organization } = harness;
    const key = await organization("acme");
    const frozen = () => send("/v1/score?mode_override=incident_frozen", { key, body: scoreRequest() });
    const first = await frozen();
    assert.equal(first.status, 200);
    const { evidence, model, request_id: _id, timestamp: _at, ...envelope } = first.body;
    assert.deepEqual(envelope, {
      skipped: true,
      reason: "incident_frozen",
      jis: null,
      mode: "standard",
      mode_override: "incident_frozen",
      role_tier: "tier_1",
      session_id: "session-1",
      operator_id: "operator-1",
    });
    assert.equal(model.version, "jis-1.0.0");
    assert.equal(evidence.entry.event_type, "SCORE_SKIPPED");
    assert.equal((await harness.rowCounts()).operator, 0);

    const again = await frozen();
    assert.equal(again.headers.get("Idempotency-Replayed"), "true");
    assert.deepEqual(again.body, first.body);

    const scored = await send("/v1/score", { key, body: scoreRequest() });
    assert.equal(scored.status, 200);
    assert.equal(scored.body.jis, 66.3);
    assert.deepEqual((await frozen()).body, first.body, "a repeated frozen call still gets its answer");
    const other = await send("/v1/score?mode_override=incident_frozen", {
      key,
      body: scoreRequest({}, { decision: "rejected" }),
    });
    assert.deepEqual([other.status, other.body.error.code], [409, "CONFLICT"]);
    const types = (await chainsOf(harness))["org/acme"]!.entries.map(({ event_type }) => event_type);
    assert.deepEqual(types, ["CHAIN_GENESIS", "SCORE_SKIPPED", "SCORE_COMPUTED"]);
  }),
);

Deno.test(
  "scores sent at once are each applied to the state that the one before left, and each evidence verifies",
  withHarness(async ({ send, organization, verifierKey, rowCounts }) => {
    const key = await organization("acme");
    const sessions = Array.from({ length: 40 }, (_, index) => `s-${index}`);
    const answers = await Promise.all(sessions.map((session_id, index) =>
      send("/v1/score", {
        key,
        body: scoreRequest({ session_id, operator_id: `operator-${index % 3}` }, {
          outcome_correct: index % 5 !== 0,
        }),
      })
    ));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    for (const { body } of answers) {
      const { origin } = parseCheckpoint(parseNote(parseProof(body.evidence.proof).note).text);
      assert.equal(verifyDocument(nodeCrypto, body, { keysFor: () => [verifierKey(origin)] }).fault, null);
    }
    const counts = await rowCounts();
    assert.equal(counts.interaction, 40);
    assert.equal(counts.operator, 3);
  }),
);

Deno.test(
  "equal requests sent at once are scored once",
  withHarness(async ({ send, organization, rowCounts }) => {
    const key = await organization("acme");
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => send("/v1/score", { key, body: scoreRequest() })),
    );
    assert.equal(new Set(answers.map(({ body }) => canonicalJson(body))).size, 1);
    const replayed = answers.map(({ headers }) => headers.get("Idempotency-Replayed"));
    assert.equal(replayed.filter((value) => value === "true").length, 7);
    assert.equal((await rowCounts()).interaction, 1);
  }),
);

Deno.test(
  "after the clock went back the chain's time stands still, and the score still follows from its input",
  withHarness(async ({ send, organization, clock }) => {
    const key = await organization("acme");
    const first = await send("/v1/score", { key, body: scoreRequest() });
    clock.advance(-3_600_000);
    const second = await send("/v1/score", { key, body: scoreRequest({ session_id: "later" }) });
    assert.equal(second.status, 200);
    assert.equal(second.body.evidence.entry.timestamp, first.body.evidence.entry.timestamp);
    assert.equal(second.body.timestamp, new Date(EPOCH - 3_600_000).toISOString());
  }),
);

Deno.test(
  "a score is committed at once after enough interactions with known truth",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    let last;
    for (let index = 0; index < 50; index += 1) {
      last = await send("/v1/score", { key, body: scoreRequest({ session_id: `s-${index}` }) });
      if (index === 48) assert.equal(last.body.provisional, true);
    }
    assert.deepEqual([last!.body.provisional, last!.body.committed], [false, true]);
  }),
);
