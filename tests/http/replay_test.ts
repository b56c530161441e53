/**
 * GET /v1/decision/replay/{id}: every score and decision follows from its recorded input, whatever came after
 * it.
 */
import assert from "node:assert/strict";
import { DIMENSIONS } from "../../src/domain/enums.ts";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { verifyDocument } from "../../src/evidence/document.ts";
import { parseProof, resultPart } from "../../src/evidence/envelope.ts";
import { modelSha256 } from "../../src/evidence/hashes.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { parseCheckpoint, parseNote } from "../../src/evidence/note.ts";
import { createApp } from "../../src/http/app.ts";
import { parseNetworks } from "../../src/limits/networks.ts";
import { createLog } from "../../src/observability/log.ts";
import { BreachLog } from "../../src/operations/organizations/breaches.ts";
import { openInstallation } from "../../src/operations/installation/installation.ts";
import { DEFAULT_MODEL_DOCUMENT, type ModelDocument, modelSchema } from "../../src/scoring/model.ts";
import { query } from "../../src/store/database.ts";
import {
  type Answer,
  EPOCH,
  type Harness,
  memoryWindow,
  openHarness,
  scoreRequest,
  withHarness,
} from "../harness.ts";
import { refuses, type Scenario } from "../scenario.ts";

const SCORE = "/v1/score";
const BATCH = "/v1/score/batch";
const DECISION = "/v1/decision/score";
const DAY_MS = 86_400_000;
const NOTHING = "Nothing in this interaction bears on it.";
const UNCHANGED = "A decision score reads the operator's record and does not change it.";

// deno-lint-ignore no-explicit-any
type Json = any;

const replayPath = (id: string) => `/v1/decision/replay/${id}`;

function decisionRequest(decisionId: string, fields: Record<string, unknown> = {}) {
  return {
    decision_id: decisionId,
    operator_id: "operator-1",
    domain: "general",
    time_to_decision_ms: 1400,
    decision: "accepted",
    stakes: "high",
    ...fields,
  };
}

/** An organization `acme` with functions that score, decide, commit and replay. */
async function opened(harness: Harness) {
  const key = await harness.organization("acme");
  return {
    key,
    post: (path: string, body: unknown) => harness.send(path, { key, body }),
    commit: (sessionId: string, label?: boolean) =>
      harness.send(`/v1/score/${sessionId}/commit`, {
        key,
        body: label === undefined ? {} : { outcome_correct: label },
      }),
    replay: (id: string) => harness.send(replayPath(id), { key }),
  };
}

/** The checkpoint in the proof of an evidence block. */
function checkpointOf({ proof }: { proof: string }) {
  return parseCheckpoint(parseNote(parseProof(proof).note).text);
}

/** First check that a replay's recorded result with its evidence fails; null if it verifies. */
function faultOf({ verifierKey }: Harness, { recorded, evidence }: Json) {
  return verifyDocument(nodeCrypto, { ...recorded, evidence }, {
    keysFor: () => [verifierKey(checkpointOf(evidence).origin)],
  }).fault;
}

async function chainSize({ database }: Harness): Promise<number> {
  const [row] = await database.read(
    query.selectFrom("audit_chain").select("size").where("chain", "=", "org/acme").compile(),
  );
  return row!.size;
}

/** Asserts that a replay of an unaltered record matches and verifies. */
function assertWhole(harness: Harness, { status, body, text }: Answer, kind: "score" | "decision"): void {
  assert.equal(status, 200, text);
  assert.equal(body.kind, kind);
  assert.deepEqual([body.match, body.differences], [true, []]);
  assert.deepEqual(body.replayed, body.recorded);
  assert.deepEqual(body.explanation.map((row: Json) => row.dimension), DIMENSIONS);
  assert.equal(faultOf(harness, body), null);
}

// ---- 200: the answer --------------------------------------------------------------------------------------

Deno.test(
  "a replay answers with the recorded and the recomputed result, their differences, the explanation and the evidence",
  withHarness(async (harness) => {
    const { post, replay } = await opened(harness);
    const scored = await post(SCORE, scoreRequest());
    harness.clock.advance(DAY_MS);
    const answer = await replay("session-1");
    assertWhole(harness, answer, "score");
    const { body, headers } = answer;
    assert.deepEqual(Object.keys(body).sort(), [
      "case",
      "differences",
      "evidence",
      "explanation",
      "id",
      "kind",
      "label",
      "match",
      "model",
      "recorded",
      "replayed",
      "request_id",
      "timestamp",
    ]);
    assert.equal(body.id, "session-1");
    assert.equal(body.label, null);
    const { decision, time_to_decision_ms, outcome_correct } = scoreRequest().interaction;
    assert.equal(decision, "accepted");
    assert.deepEqual(body.case, {
      decision,
      time_to_decision_ms,
      ai_recommendation_presented: true,
      ai_correct: outcome_correct ?? null,
    });
    assert.deepEqual(body.recorded, resultPart(scored.body));
    assert.deepEqual(body.model, scored.body.model);
    assert.equal(body.evidence.entry_hash, scored.body.evidence.entry_hash);
    assert.equal(body.evidence.covers, "result");
    assert.equal(body.request_id, headers.get("X-Request-Id"));
    assert.notEqual(body.request_id, scored.body.request_id);
    assert.equal(body.timestamp, new Date(EPOCH + DAY_MS).toISOString());
  }),
);

Deno.test(
  "every kind of score and decision replays to its recorded result",
  withHarness(async (harness) => {
    const { post, replay } = await opened(harness);
    const { interaction } = scoreRequest();
    const answers: Record<string, Answer> = {
      full: await post(SCORE, scoreRequest({ session_id: "full" })),
      lite: await post(`${SCORE}?mode=lite&role_tier=tier_3`, scoreRequest({ session_id: "lite" })),
      flat: await post(SCORE, {
        ...scoreRequest({ session_id: "flat", interaction: undefined }),
        ...interaction,
      }),
      sparse: await post(SCORE, {
        session_id: "sparse",
        operator_id: "operator-1",
        domain: "legal",
        time_to_decision_ms: 9_000.5,
        decision: "deferred",
      }),
      injected: await post(
        SCORE,
        scoreRequest({ session_id: "injected" }, { scenario_type: "error_injected", decision: "modified" }),
      ),
      decision: await post(DECISION, decisionRequest("decision", { ai_confidence: 0.9 })),
      stranger: await post(DECISION, decisionRequest("stranger", { operator_id: "unknown" })),
    };
    harness.clock.advance(200 * DAY_MS);
    answers.gap = await post(SCORE, scoreRequest({ session_id: "gap" }, { decision: "rejected" }));
    answers["decision-gap"] = await post(DECISION, decisionRequest("decision-gap", { domain: "insurance" }));
    for (const [id, answer] of Object.entries(answers)) {
      assert.equal(answer.status, 200, id);
      const replayed = await replay(id);
      assertWhole(harness, replayed, "decision_id" in answer.body ? "decision" : "score");
      assert.deepEqual(replayed.body.recorded, resultPart(answer.body), id);
    }
    const batched = ["a", "b", "c"].map((session_id) => ({ session_id, ...interaction }));
    await post(BATCH, { operator_id: "operator-1", domain: "general", interactions: batched });
    for (const { session_id } of batched) assertWhole(harness, await replay(session_id), "score");
  }),
);

Deno.test(
  "a replay answers the same after the commit and the label of its score, and after labels of others",
  withHarness(async (harness) => {
    const { post, commit, replay } = await opened(harness);
    const unlabelled = { outcome_correct: null };
    const ids = ["before", "labelled", "between", "last"];
    for (const session_id of ids.slice(0, 3)) await post(SCORE, scoreRequest({ session_id }, unlabelled));
    await post(DECISION, decisionRequest("decision-before"));
    const recorded = async () => {
      const bodies = [];
      for (const id of [...ids.slice(0, 3), "decision-before"]) bodies.push((await replay(id)).body);
      return bodies.map(({ recorded, replayed, match, explanation }) => ({
        recorded,
        replayed,
        match,
        explanation,
      }));
    };
    const first = await recorded();
    await commit("labelled", false);
    await commit("before");
    await commit("before", true);
    await post(SCORE, scoreRequest({ session_id: "last" }, unlabelled));
    await post(DECISION, decisionRequest("decision-after"));
    assert.deepEqual(await recorded(), first);
    for (const id of ids) assertWhole(harness, await replay(id), "score");
    for (const id of ["decision-before", "decision-after"]) {
      assertWhole(harness, await replay(id), "decision");
    }
    const { recorded: committed } = (await replay("before")).body;
    assert.deepEqual(
      [committed.provisional, committed.committed],
      [true, false],
      "the result is the one of the scoring",
    );
  }),
);

Deno.test(
  "the proof of a replay is for the current checkpoint, which grows with every entry",
  withHarness(async (harness) => {
    const { post, commit, replay } = await opened(harness);
    const scored = await post(SCORE, scoreRequest({}, { outcome_correct: null }));
    assert.equal(checkpointOf(scored.body.evidence).size, 2);
    const sizes = [];
    const grow = [
      () => Promise.resolve(),
      () => post(SCORE, scoreRequest({ session_id: "later" })),
      () => commit("later"),
      () => commit("session-1", true),
      () => post(DECISION, decisionRequest("decision")),
    ];
    for (const step of grow) {
      await step();
      const { body } = await replay("session-1");
      assert.equal(faultOf(harness, body), null);
      assert.deepEqual(body.evidence.entry, scored.body.evidence.entry);
      assert.equal(checkpointOf(body.evidence).size, await chainSize(harness));
      sizes.push(checkpointOf(body.evidence).size);
    }
    assert.deepEqual(sizes, [2, 3, 4, 6, 7]);
  }),
);

Deno.test(
  "a replay writes nothing, and a second one differs only in its own id",
  withHarness(async (harness) => {
    const { post, replay } = await opened(harness);
    await post(SCORE, scoreRequest());
    await post(DECISION, decisionRequest("decision"));
    const before = await harness.rowCounts();
    for (const id of ["session-1", "decision"]) {
      const { request_id: first, ...one } = (await replay(id)).body;
      const { request_id: second, ...two } = (await replay(id)).body;
      assert.deepEqual(two, one);
      assert.notEqual(second, first);
    }
    assert.deepEqual(await harness.rowCounts(), before);
  }),
);

Deno.test(
  "a session that was frozen first and scored later replays its score",
  withHarness(async (harness) => {
    const { post, replay } = await opened(harness);
    await post(`${SCORE}?mode_override=incident_frozen`, scoreRequest());
    const scored = await post(SCORE, scoreRequest());
    const answer = await replay("session-1");
    assertWhole(harness, answer, "score");
    assert.equal(answer.body.evidence.entry_hash, scored.body.evidence.entry_hash);
  }),
);

Deno.test(
  "after many entries sent at once every one of them replays",
  withHarness(async (harness) => {
    const { post, replay } = await opened(harness);
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => [
        post(SCORE, scoreRequest({ session_id: `s-${index}` }, { outcome_correct: index % 3 === 0 })),
        post(DECISION, decisionRequest(`d-${index}`)),
      ]).flat(),
    );
    for (let index = 0; index < 20; index += 1) {
      assertWhole(harness, await replay(`s-${index}`), "score");
      assertWhole(harness, await replay(`d-${index}`), "decision");
    }
  }),
);

Deno.test(
  "ids of the full 256 characters can be scored, committed, decided and replayed",
  withHarness(async (harness) => {
    const { post, commit, replay } = await opened(harness);
    const [session, decision] = ["s".repeat(256), "_-9Z".repeat(64)];
    const operator_id = "o".repeat(256);
    await post(SCORE, scoreRequest({ session_id: session, operator_id }, { outcome_correct: null }));
    assert.equal((await commit(session, true)).status, 200);
    await post(DECISION, decisionRequest(decision, { operator_id }));
    assertWhole(harness, await replay(session), "score");
    assertWhole(harness, await replay(decision), "decision");
  }),
);

Deno.test(
  "scores, labels and decisions made after the clock went back replay too",
  withHarness(async (harness) => {
    const { post, commit, replay } = await opened(harness);
    const { interaction } = scoreRequest({}, { outcome_correct: null });
    const batch = (ids: readonly string[]) => ({
      operator_id: "operator-1",
      domain: "general",
      interactions: ids.map((session_id) => ({ session_id, interaction })),
    });
    await post(BATCH, batch(["a", "b"]));
    harness.clock.advance(-3 * DAY_MS);
    await post(BATCH, batch(["c", "d"]));
    assert.equal((await commit("a", true)).status, 200);
    await post(DECISION, decisionRequest("decision"));
    for (const id of ["a", "b", "c", "d"]) assertWhole(harness, await replay(id), "score");
    assertWhole(harness, await replay("decision"), "decision");
    assert.equal((await replay("c")).body.timestamp, new Date(EPOCH - 3 * DAY_MS).toISOString());
  }),
);

// ---- 200: the explanation ---------------------------------------------------------------------------------

Deno.test(
  "a score is explained in seven dimensions, from those recorded before it to its own",
  withHarness(async (harness) => {
    const { post, replay } = await opened(harness);
    let before: Json = Object.fromEntries(DIMENSIONS.map((dimension) => [dimension, 65]));
    for (
      const [session_id, interaction] of [
        ["first", {}],
        ["missed", { time_to_decision_ms: 1_400, hover_events: 0, outcome_correct: false }],
        ["caught", { scenario_type: "error_injected", decision: "rejected", outcome_correct: null }],
        ["handed-on", { decision: "escalated", outcome_correct: null }],
      ] as const
    ) {
      const { body } = await post(SCORE, scoreRequest({ session_id }, interaction));
      const { explanation } = (await replay(session_id)).body;
      assert.deepEqual(explanation.map((row: Json) => row.dimension), DIMENSIONS);
      for (const row of explanation) {
        assert.deepEqual(Object.keys(row).sort(), ["after", "before", "dimension", "rules"]);
        assert.equal(row.before, before[row.dimension], `${session_id} ${row.dimension} before`);
        assert.equal(row.after, body.dimensions[row.dimension], `${session_id} ${row.dimension} after`);
        assert.ok(row.rules.length > 0);
        for (const rule of row.rules) assert.match(rule, /^[A-Z].*\.$/);
        if (row.before !== row.after) assert.notDeepEqual(row.rules, [NOTHING]);
      }
      before = body.dimensions;
    }
  }),
);

Deno.test(
  "a lite score is explained in all seven dimensions, its three as they were recorded",
  withHarness(async (harness) => {
    const { post, replay } = await opened(harness);
    const { body } = await post(`${SCORE}?mode=lite`, scoreRequest());
    const { explanation, recorded } = (await replay("session-1")).body;
    assert.equal(explanation.length, 7);
    for (const [dimension, value] of Object.entries(body.dimensions)) {
      assert.equal(explanation.find((row: Json) => row.dimension === dimension).after, value);
    }
    assert.equal(Object.keys(recorded.dimensions).length, 3);
  }),
);

Deno.test(
  "the explanation of the next score after a label starts from the state after the label",
  withHarness(async (harness) => {
    const { post, commit, replay } = await opened(harness);
    const unlabelled = { outcome_correct: null };
    const first = await post(SCORE, scoreRequest({ session_id: "first" }, unlabelled));
    await commit("first", false);
    await post(SCORE, scoreRequest({ session_id: "next" }, unlabelled));
    const { explanation } = (await replay("next")).body;
    const detection = explanation.find((row: Json) => row.dimension === "error_detection");
    assert.equal(first.body.dimensions.error_detection, 65);
    // H = 2.6/5 and C = 0.65: the label is in the state, and this interaction adds nothing to either.
    assert.deepEqual(detection, {
      dimension: "error_detection",
      before: 56,
      after: 56,
      rules: [NOTHING],
    });
  }),
);

Deno.test(
  "a decision is explained in seven dimensions, which it does not change and a gap may decay",
  withHarness(async (harness) => {
    const { post, replay } = await opened(harness);
    const { body } = await post(SCORE, scoreRequest());
    await post(DECISION, decisionRequest("at-once"));
    harness.clock.advance(120 * DAY_MS);
    await post(DECISION, decisionRequest("later"));
    const atOnce: Json[] = (await replay("at-once")).body.explanation;
    assert.deepEqual(
      atOnce,
      DIMENSIONS.map((dimension) => ({
        dimension,
        before: body.dimensions[dimension],
        after: body.dimensions[dimension],
        rules: [UNCHANGED],
      })),
    );
    const later: Json[] = (await replay("later")).body.explanation;
    assert.deepEqual(later.map((row: Json) => row.dimension), DIMENSIONS);
    for (const [index, row] of later.entries()) {
      assert.equal(row.before, atOnce[index]!.before);
      assert.ok(row.after <= row.before);
    }
    assert.ok(later.some((row: Json) => row.after < row.before), "120 days decay something");
  }),
);

// ---- 200: a model of another time -------------------------------------------------------------------------

/** The built-in document with another prior, so that every score differs. */
function changedModel(): ModelDocument {
  const document = structuredClone(DEFAULT_MODEL_DOCUMENT) as Json;
  document.version = "jis-1.0.0-calibrated";
  for (const bucket of ["H", "C", "P"]) document.buckets[bucket].prior_mean = 0.7;
  document.drs.novelty.weight = 0.2;
  return modelSchema.parse(document);
}

/**
 * Starts the application with another model on the same database; returns a function that sends requests to
 * it.
 */
async function restartWith(
  { dependencies, clock }: Harness,
  document: ModelDocument,
): Promise<(path: string, options: { key: string; body?: unknown }) => Promise<Answer>> {
  const model = { document, sha256: modelSha256(nodeCrypto, document) };
  const secretsKeys = [new Uint8Array(32).fill(7)];
  const { installation } = await openInstallation({ ...dependencies, model, secretsKeys, now: clock.now() });
  const changed = { ...dependencies, model, installation };
  const log = createLog({ format: "json", clock: clock.now, write: () => {} });
  const app = createApp({
    dependencies: changed,
    masterSecrets: {},
    clock,
    log,
    breaches: new BreachLog(changed),
    addressWindow: memoryWindow(),
    keyWindow: memoryWindow(),
    identifying: null,
    sessionWindow: memoryWindow(),
    signInWindows: { address: memoryWindow(), user: memoryWindow() },
    trustedProxies: parseNetworks([]),
    description: {
      version: "0.0.0-test",
      patent: { status: "none", filed: null, confirmation: null, claims: 0 },
      baseUrl: () => "http://jiss.test",
    },
    adminDashboard: false,
    servesTls: false,
    isDraining: () => false,
  });
  return async (path, { key, body }) => {
    const headers = { "Content-Type": "application/json", "X-API-Key": key };
    const request = body === undefined
      ? { headers }
      : { method: "POST", headers, body: JSON.stringify(body) };
    const response = await app.request(path, request, { peer: "203.0.113.7" });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: JSON.parse(text), text };
  };
}

Deno.test(
  "scores, labels and decisions of two models replay each with the model of its time",
  withHarness(async (harness) => {
    const { key, post, replay } = await opened(harness);
    const unlabelled = { outcome_correct: null };
    const old = await post(SCORE, scoreRequest({ session_id: "old" }, unlabelled));
    const oldDecision = await post(DECISION, decisionRequest("old-decision"));
    await post(SCORE, scoreRequest({ session_id: "old-labelled" }, unlabelled));

    const send = await restartWith(harness, changedModel());
    const current = await send(SCORE, { key, body: scoreRequest({ session_id: "new" }, unlabelled) });
    const newDecision = await send(DECISION, { key, body: decisionRequest("new-decision") });
    // A case that the old model scored is labelled under the new one.
    const commit = await send("/v1/score/old-labelled/commit", { key, body: { outcome_correct: false } });
    const afterLabel = await send(SCORE, { key, body: scoreRequest({ session_id: "after" }, unlabelled) });
    for (const { status, text } of [current, newDecision, commit, afterLabel]) {
      assert.equal(status, 200, text);
    }
    assert.notEqual(current.body.model.sha256, old.body.model.sha256);
    assert.equal(current.body.model.version, "jis-1.0.0-calibrated");
    assert.equal(commit.body.model.sha256, old.body.model.sha256, "a commit names the model that scored");

    for (const ask of [replay, (id: string) => send(replayPath(id), { key })]) {
      for (
        const [id, answer] of [["old", old], ["new", current], ["after", afterLabel]] as const
      ) {
        const replayed = await ask(id);
        assertWhole(harness, replayed, "score");
        assert.deepEqual(replayed.body.model, answer.body.model);
        assert.deepEqual(replayed.body.recorded, resultPart(answer.body));
      }
      for (const [id, answer] of [["old-decision", oldDecision], ["new-decision", newDecision]] as const) {
        const replayed = await ask(id);
        assertWhole(harness, replayed, "decision");
        assert.deepEqual(replayed.body.model, answer.body.model);
      }
      assertWhole(harness, await ask("old-labelled"), "score");
    }
    const { body: explained } = await replay("old");
    const { body: alike } = await send(replayPath("old"), { key });
    assert.deepEqual(
      alike.explanation,
      explained.explanation,
      "the explanation uses the model of its time too",
    );
  }),
);

Deno.test(
  "after a change of the model a repeated score, batch, commit and decision get the stored answer",
  withHarness(async (harness) => {
    const { key, post, commit } = await opened(harness);
    const { interaction } = scoreRequest();
    const requests = [
      [SCORE, scoreRequest()],
      [DECISION, decisionRequest("decision")],
      [BATCH, {
        operator_id: "operator-1",
        domain: "general",
        interactions: [{ session_id: "batched", interaction }],
      }],
    ] as const;
    const firsts = [];
    for (const [path, body] of requests) firsts.push(await post(path, body));
    const committed = await commit("session-1");
    const send = await restartWith(harness, changedModel());
    for (const [index, [path, body]] of requests.entries()) {
      const again = await send(path, { key, body });
      assert.equal(again.headers.get("Idempotency-Replayed"), "true", path);
      assert.deepEqual(again.body, firsts[index]!.body);
    }
    const again = await send("/v1/score/session-1/commit", { key, body: {} });
    assert.equal(again.text, committed.text);
  }),
);

Deno.test(
  "the replay of a labelled score shows how the label changed the state, from which the next score starts",
  withHarness(async (harness) => {
    const { post, replay, commit } = await opened(harness);
    const unlabelled = { outcome_correct: null };
    await post(SCORE, scoreRequest({ session_id: "first" }, unlabelled));
    harness.clock.advance(3_600_000);
    await commit("first", false);
    await post(SCORE, scoreRequest({ session_id: "second" }, unlabelled));
    const { body: first } = await replay("first");
    const { body: second } = await replay("second");
    assert.deepEqual([first.match, first.label.outcome_correct], [true, false]);
    assert.equal(first.label.labelled_at, new Date(EPOCH + 3_600_000).toISOString());
    const { explanation } = first.label;
    assert.deepEqual(explanation.map((row: Json) => row.dimension), DIMENSIONS);
    assert.deepEqual(
      explanation.map((row: Json) => row.before),
      first.explanation.map((row: Json) => row.after),
      "from the state after the score",
    );
    assert.deepEqual(
      explanation.map((row: Json) => row.after),
      second.explanation.map((row: Json) => row.before),
      "to the state before the next score",
    );
    const moved = explanation.filter((row: Json) => row.before !== row.after);
    assert.ok(moved.length >= 4);
    for (const { rules } of moved) {
      assert.ok(rules.every((rule: string) => rule.startsWith("It became known")));
    }
    assert.deepEqual([second.label, (await replay("decision-of-nobody")).status], [null, 404]);
  }),
);

Deno.test(
  "a score is replayed with the model document of an earlier program, even if today's program refuses that document",
  withHarness(async (harness) => {
    const { key, replay } = await opened(harness);
    const earlier = structuredClone(changedModel()) as Json;
    for (const exercise of earlier.maintenance.exercises) delete exercise.purpose;
    assert.equal(modelSchema.safeParse(earlier).success, false);
    const send = await restartWith(harness, earlier);
    assert.equal((await send(SCORE, { key, body: scoreRequest({ session_id: "old" }) })).status, 200);
    assert.equal((await send(DECISION, { key, body: decisionRequest("old-decision") })).status, 200);
    for (const [id, kind] of [["old", "score"], ["old-decision", "decision"]] as const) {
      assertWhole(harness, await replay(id), kind);
    }
  }),
);

// ---- 200: tampered records --------------------------------------------------------------------------------

type Tamper = (part: Json) => void;

/**
 * Differences that a replay reports beside the part's broken commitment, after a part of a record was
 * changed.
 */
async function differencesAfter(
  tamper: Tamper,
  { name = "result", kind = "score" }: { name?: "result" | "input"; kind?: "score" | "decision" } = {},
): Promise<{ readonly body: Json; readonly differences: readonly Json[]; readonly fault: string | null }> {
  // Abandoned at the end, because the oracle would find the tampering.
  const harness = await openHarness();
  const { database } = harness;
  try {
    const { post, replay } = await opened(harness);
    await post(SCORE, scoreRequest());
    await post(DECISION, decisionRequest("decision"));
    const seq = kind === "score" ? 1 : 2;
    const [row] = await database.read(
      query.selectFrom("audit_part").select("data").where("chain", "=", "org/acme").where("seq", "=", seq)
        .where("name", "=", name).compile(),
    );
    const part = JSON.parse(row!.data!);
    tamper(part);
    const update = query.updateTable("audit_part").set({ data: canonicalJson(part) })
      .where("chain", "=", "org/acme").where("seq", "=", seq).where("name", "=", name).compile();
    await database.batch([{ ...update, mustChange: 1 }]);
    const { status, body, text } = await replay(kind === "score" ? "session-1" : "decision");
    assert.equal(status, 200, text);
    const [altered, ...differences] = body.differences;
    assert.equal(altered.path, `commit.${name}`);
    assert.match(altered.recorded, /^[0-9a-f]{64}$/);
    assert.notEqual(altered.replayed, altered.recorded);
    return { body, differences, fault: faultOf(harness, body) };
  } finally {
    await harness.abandon();
  }
}

Deno.test("a replay of a tampered result reports the differences, and the evidence no longer verifies", async (t) => {
  const cases: readonly (readonly [name: string, tamper: Tamper, differences: readonly unknown[]])[] = [
    ["a number raised", (part) => part.jis = 96.3, [{ path: "jis", recorded: 96.3, replayed: 66.3 }]],
    ["a dimension lowered", (part) => part.dimensions.error_detection = 1, [
      { path: "dimensions.error_detection", recorded: 1, replayed: 67 },
    ]],
    ["an element of a list", (part) => part.decay_projection.projections[2].jis = 99, [
      { path: "decay_projection.projections.2.jis", recorded: 99, replayed: 63.9 },
    ]],
    ["a member removed", (part) => delete part.band, [
      { path: "band", recorded: null, replayed: "adequate" },
    ]],
    ["a member added", (part) => part.approved = true, [
      { path: "approved", recorded: true, replayed: null },
    ]],
    ["a member of null added", (part) => part.approved = null, [
      { path: "approved", recorded: null, replayed: null },
    ]],
    ["a list cut", (part) => part.decay_projection.projections.pop(), [
      { path: "decay_projection.projections.6", recorded: null, replayed: { day: 365, jis: 41.5 } },
    ]],
    ["a flag turned", (part) => part.provisional = false, [
      { path: "provisional", recorded: false, replayed: true },
    ]],
    ["the operator replaced", (part) => part.operator_id = "operator-2", [
      { path: "operator_id", recorded: "operator-2", replayed: "operator-1" },
    ]],
    ["a list replaced", (part) => part.maintenance_recommendation.recommendation.reasons = "none", [
      {
        path: "maintenance_recommendation.recommendation.reasons",
        recorded: "none",
        replayed: [
          "jis_below_target_75",
          "insufficient_data_provisional",
          "no_ground_truth_evidence",
          "weakest_dimension_deferral_resistance",
        ],
      },
    ]],
    ["two at once", (part) => {
      part.jis = 70;
      part.compliance.jis = 70;
    }, [
      { path: "compliance.jis", recorded: 70, replayed: 66.3 },
      { path: "jis", recorded: 70, replayed: 66.3 },
    ]],
  ];
  for (const [name, tamper, differences] of cases) {
    await t.step(name, async () => {
      const { body, fault, ...result } = await differencesAfter(tamper);
      assert.equal(body.match, false);
      assert.deepEqual(result.differences, differences);
      assert.equal(fault, "RESULT_MISMATCH");
    });
  }
});

Deno.test("a replay of a tampered decision reports the differences", async () => {
  const { body, differences, fault } = await differencesAfter((part) => {
    part.routing_decision = "auto";
    part.policy_triggers[6].triggered = true;
  }, { kind: "decision" });
  assert.equal(body.match, false);
  assert.deepEqual(differences.map(({ path, recorded }: Json) => [path, recorded]), [
    ["policy_triggers.6.triggered", true],
    ["routing_decision", "auto"],
  ]);
  assert.equal(fault, "RESULT_MISMATCH");
});

Deno.test("a tampered input no longer leads to the recorded result", async () => {
  const { body, differences } = await differencesAfter((part) => part.interaction.outcome_correct = false, {
    name: "input",
  });
  assert.equal(body.match, false);
  assert.deepEqual(body.recorded.jis, 66.3);
  assert.ok(differences.some(({ path }) => path === "jis"));
  assert.deepEqual(body.explanation, [], "an altered input is not explained");
});

Deno.test("a replay reports an altered late label, although the score itself is unaltered", async () => {
  const harness = await openHarness();
  const { post, replay, commit } = await opened(harness);
  await post(SCORE, scoreRequest({}, { outcome_correct: null }));
  await commit("session-1", true);
  const flip =
    "UPDATE audit_part SET data = json_set(data, '$.label', json('false')) WHERE data ->> '$.label' IS NOT NULL";
  await harness.database.batch([{ sql: flip, parameters: [], mustChange: 1 }]);
  const { body } = await replay("session-1");
  assert.deepEqual([body.match, body.differences.map(({ path }: Json) => path)], [false, [
    "label.commit.input",
  ]]);
  await harness.abandon();
});

Deno.test("a part that is not a record any more is 503, of a score, a label and a decision", async (t) => {
  for (
    const [id, event] of [["session-1", "SCORE_COMPUTED"], ["session-1", "OUTCOME_LABELLED"], [
      "decision",
      "DRS_COMPUTED",
    ]]
  ) {
    for (const data of ["{}", "no JSON", '{"algo":{"model_sha256":"0"}}']) {
      await t.step(`${event}: ${data}`, async () => {
        const harness = await openHarness();
        const { post, replay, commit } = await opened(harness);
        await post(SCORE, scoreRequest({}, { outcome_correct: null }));
        await commit("session-1", true);
        await post(DECISION, decisionRequest("decision"));
        const update =
          `UPDATE audit_part SET data = '${data}' WHERE name = 'input' AND chain = 'org/acme' AND seq =
          (SELECT seq FROM audit_entry WHERE chain = 'org/acme' AND event_type = '${event}')`;
        await harness.database.batch([{ sql: update, parameters: [], mustChange: 1 }]);
        const { status, text } = await replay(id!);
        assert.equal(status, 503, text);
        assert.match(text, /The database was altered/);
        await harness.abandon();
      });
    }
  }
});

Deno.test("an altered member of the input that changes no number does not match either", async () => {
  const { body, differences } = await differencesAfter(
    (part) => part.prior = { seq: 7, entry_hash: "0".repeat(64) },
    {
      name: "input",
    },
  );
  assert.deepEqual([body.match, differences], [false, []]);
});

// ---- 404 and 422 ------------------------------------------------------------------------------------------

Deno.test("a replay of a session that this organization never scored is 404", async (t) => {
  await withHarness(async (harness) => {
    const { key, post } = await opened(harness);
    const other = await harness.organization("other");
    await harness.send(SCORE, { key: other, body: scoreRequest({ session_id: "theirs" }) });
    await harness.send(DECISION, { key: other, body: decisionRequest("their-decision") });
    await post(`${SCORE}?mode_override=incident_frozen`, scoreRequest({ session_id: "skipped" }));
    for (const id of ["nowhere", "skipped", "theirs", "their-decision", "operator-1"]) {
      const scenario: Scenario = {
        name: id,
        path: replayPath(id),
        request: { key },
        status: 404,
        code: "NOT_FOUND",
        names: id,
      };
      await t.step(id, () => refuses(harness, scenario));
    }
  })();
});

Deno.test("a malformed id is 422 and is named", async (t) => {
  await withHarness(async (harness) => {
    const key = await harness.organization("acme");
    for (const id of ["a.b", "a%20b", "a%2Fb", "%E2%82%AC", "x".repeat(257), "a~"]) {
      const scenario: Scenario = {
        name: id,
        path: replayPath(id),
        request: { key },
        status: 422,
        code: "VALIDATION_FAILED",
        names: "id",
      };
      await t.step(id, () => refuses(harness, scenario));
    }
  })();
});

Deno.test(
  "a replay needs the key of its organization",
  withHarness(async (harness) => {
    const { post } = await opened(harness);
    await post(SCORE, scoreRequest());
    const { status, body } = await harness.send(replayPath("session-1"));
    assert.deepEqual([status, body.error.code], [401, "UNAUTHORIZED"]);
  }),
);
