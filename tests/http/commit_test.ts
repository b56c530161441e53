/**
 * POST /v1/score/{session_id}/commit: committing a score, and the late label that updates its operator's
 * state.
 */
import assert from "node:assert/strict";
import { recordedInteractionSchema } from "../../src/domain/interaction.ts";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { verifyDocument } from "../../src/evidence/document.ts";
import { parseProof, resultPart } from "../../src/evidence/envelope.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { parseCheckpoint, parseNote } from "../../src/evidence/note.ts";
import { applyLabel } from "../../src/scoring/label.ts";
import { score } from "../../src/scoring/score.ts";
import { query } from "../../src/store/database.ts";
import { JIS_1_0_0 as model } from "../models.ts";
import {
  type Answer,
  EPOCH,
  type Harness,
  openHarness,
  type RequestOptions,
  scoreRequest,
  withHarness,
} from "../harness.ts";
import { verifyDatabase } from "../oracle.ts";
import { refuses, type Scenario } from "../scenario.ts";

const SCORE = "/v1/score";
const FROZEN = "/v1/score?mode_override=incident_frozen";
const FULL = { mode: "full", modeOverride: "normal" } as const;
const DAY_MS = 86_400_000;
const RIGHT = { outcome_correct: true };
const WRONG = { outcome_correct: false };

const commitPath = (sessionId: string) => `/v1/score/${sessionId}/commit`;

/** A score request without an outcome. */
function unlabelled(sessionId: string, interaction: Record<string, unknown> = {}) {
  return scoreRequest({ session_id: sessionId }, { outcome_correct: null, ...interaction });
}

/** An organization `acme` with functions that score and commit. */
async function opened(harness: Harness) {
  const key = await harness.organization("acme");
  return {
    key,
    post: (body: unknown, path = SCORE) => harness.send(path, { key, body }),
    /** Without `label` the request has no body. */
    commit: (sessionId: string, label?: unknown) =>
      harness.send(commitPath(sessionId), {
        key,
        method: "POST",
        ...(label === undefined ? {} : { body: label }),
      }),
  };
}

/** First check that the evidence of an answer fails; null if it verifies. */
function faultOf({ verifierKey }: Harness, { body }: Answer) {
  const { origin } = parseCheckpoint(parseNote(parseProof(body.evidence.proof).note).text);
  return verifyDocument(nodeCrypto, body, { keysFor: () => [verifierKey(origin)] }).fault;
}

/** Types of the evidence chain's entries, in order; verifies every entry on the way. */
async function eventsOf({ database, verifierKey }: Harness): Promise<readonly string[]> {
  const chains = await verifyDatabase(database, { publicKey: verifierKey("any").publicKey });
  const { entries } = chains.find(({ chain }) => chain === "org/acme")!;
  return entries.map(({ event_type }) => event_type);
}

/** Scores fifty interactions, five of them with known truth. From then on scores are committed at once. */
async function proveOperator({ send }: Harness, key: string): Promise<void> {
  const interactions = Array.from({ length: 50 }, (_, index) => ({
    session_id: `proof-${index}`,
    ...unlabelled("").interaction,
    outcome_correct: index < 5 ? true : null,
  }));
  const body = { operator_id: "operator-1", domain: "general", interactions };
  assert.equal((await send("/v1/score/batch", { key, body })).status, 200);
}

// ---- 200: the commit --------------------------------------------------------------------------------------

Deno.test(
  "a commit turns a provisional score into a committed one and changes no other value",
  withHarness(async (harness) => {
    const { post, commit } = await opened(harness);
    const scored = await post(scoreRequest());
    assert.deepEqual([scored.body.provisional, scored.body.committed], [true, false]);
    await post(scoreRequest({ session_id: "later" }, { decision: "rejected" }));
    harness.clock.advance(DAY_MS);
    const { status, body, headers } = await commit("session-1");
    assert.equal(status, 200);
    assert.deepEqual(resultPart(body), { ...resultPart(scored.body), provisional: false, committed: true });
    assert.deepEqual(Object.keys(body).sort(), Object.keys(scored.body).sort());
    assert.equal(body.request_id, headers.get("X-Request-Id"));
    assert.notEqual(body.request_id, scored.body.request_id);
    assert.equal(body.timestamp, new Date(EPOCH + DAY_MS).toISOString());
    assert.equal(headers.get("Idempotency-Replayed"), null);
  }),
);

Deno.test(
  "the evidence of a commit is that of its own entry and verifies offline",
  withHarness(async (harness) => {
    const { post, commit } = await opened(harness);
    await post(scoreRequest());
    const answer = await commit("session-1");
    const { entry } = answer.body.evidence;
    assert.equal(entry.event_type, "SCORE_COMMITTED");
    assert.deepEqual(Object.keys(entry.commit).sort(), ["detail", "result"]);
    assert.equal(entry.actor, "api");
    assert.equal(faultOf(harness, answer), null);
    const provisional = { ...answer, body: { ...answer.body, provisional: true } };
    assert.equal(faultOf(harness, provisional), "RESULT_MISMATCH");
  }),
);

Deno.test(
  "a lite score is committed with its three dimensions",
  withHarness(async (harness) => {
    const { post, commit } = await opened(harness);
    const scored = await post(scoreRequest(), "/v1/score?mode=lite&role_tier=tier_2");
    const { body } = await commit("session-1");
    assert.deepEqual([body.mode, body.role_tier, body.jis, body.dimensions_computed], [
      "lite",
      "tier_2",
      66.7,
      3,
    ]);
    assert.deepEqual(body.dimensions, scored.body.dimensions);
  }),
);

Deno.test(
  "an item of a batch is committed like a single score",
  withHarness(async (harness) => {
    const { post, commit } = await opened(harness);
    const { interaction } = scoreRequest();
    const interactions = ["a", "b"].map((session_id) => ({ session_id, interaction }));
    await post({ operator_id: "operator-1", domain: "general", interactions }, "/v1/score/batch");
    const answer = await commit("b");
    assert.deepEqual([answer.body.session_id, answer.body.committed], ["b", true]);
    assert.equal(faultOf(harness, answer), null);
  }),
);

Deno.test(
  "a commit changes nothing in the operator's state",
  withHarness(async (harness) => {
    const { key, post, commit } = await opened(harness);
    await post(scoreRequest());
    const before = await operatorRow(harness);
    const profile = await harness.send("/v1/operator/operator-1/profile", { key });
    await commit("session-1");
    assert.deepEqual(await operatorRow(harness), before);
    const after = await harness.send("/v1/operator/operator-1/profile", { key });
    assert.deepEqual(
      [after.body.profile, after.body.jis_history],
      [profile.body.profile, profile.body.jis_history],
    );
  }),
);

Deno.test(
  "a commit accepts no body, an empty one, {} and unknown fields alike",
  withHarness(async (harness) => {
    const { key, post } = await opened(harness);
    const requests: readonly RequestOptions[] = [
      { method: "POST" },
      { method: "POST", headers: { "Content-Type": "application/json" } },
      { body: "" },
      { body: {} },
      { body: { unknown: "x", session_id: "another" } },
    ];
    for (const [index, request] of requests.entries()) {
      await post(scoreRequest({ session_id: `s-${index}` }));
      const { status, body, text } = await harness.send(commitPath(`s-${index}`), { ...request, key });
      assert.equal(status, 200, text);
      assert.deepEqual([body.session_id, body.committed], [`s-${index}`, true]);
    }
    assert.equal((await harness.rowCounts()).outcome_label, 0);
  }),
);

Deno.test(
  "a session named batch can be scored and committed",
  withHarness(async (harness) => {
    const { post, commit } = await opened(harness);
    await post(scoreRequest({ session_id: "batch" }));
    assert.deepEqual([(await commit("batch")).status, (await commit("commit")).status], [200, 404]);
  }),
);

Deno.test(
  "a repeated commit gets the same bytes, whatever happened meanwhile, and writes nothing",
  withHarness(async (harness) => {
    const { key, post, commit } = await opened(harness);
    await post(unlabelled("session-1"));
    const first = await commit("session-1");
    await post(unlabelled("later"));
    await commit("later", WRONG);
    harness.clock.advance(DAY_MS);
    const before = await harness.rowCounts();
    for (const body of [undefined, "", {}]) {
      const again = await harness.send(commitPath("session-1"), {
        key,
        method: "POST",
        ...(body === undefined ? {} : { body }),
      });
      assert.equal(again.text, first.text);
      assert.equal(again.headers.get("Idempotency-Replayed"), "true");
      assert.equal(again.headers.get("X-Request-Id"), first.body.request_id);
    }
    assert.deepEqual(await harness.rowCounts(), before);
  }),
);

Deno.test(
  "after a commit a repeated score request gets its first, provisional answer",
  withHarness(async (harness) => {
    const { post, commit } = await opened(harness);
    const first = await post(unlabelled("session-1"));
    await commit("session-1", RIGHT);
    const again = await post(unlabelled("session-1"));
    assert.equal(again.headers.get("Idempotency-Replayed"), "true");
    assert.deepEqual([again.body.provisional, again.body.committed], [true, false]);
    assert.deepEqual(again.body, first.body);
  }),
);

Deno.test(
  "a commit of a score that was committed at once answers with the evidence of its scoring, and writes nothing",
  withHarness(async (harness) => {
    const { key, post, commit } = await opened(harness);
    await proveOperator(harness, key);
    const scored = await post(scoreRequest());
    assert.deepEqual([scored.body.provisional, scored.body.committed], [false, true]);
    const before = await harness.rowCounts();
    const answer = await commit("session-1");
    assert.equal(answer.status, 200);
    assert.equal(answer.body.evidence.entry.event_type, "SCORE_COMPUTED");
    assert.equal(answer.body.evidence.entry_hash, scored.body.evidence.entry_hash);
    assert.deepEqual(resultPart(answer.body), resultPart(scored.body));
    assert.equal(faultOf(harness, answer), null);
    assert.equal((await commit("session-1")).text, answer.text);
    assert.deepEqual(await harness.rowCounts(), before);
  }),
);

Deno.test(
  "commits of one score sent at once are one commit, and all get its answer",
  withHarness(async (harness) => {
    const { post, commit } = await opened(harness);
    await post(scoreRequest());
    const answers = await Promise.all(Array.from({ length: 6 }, () => commit("session-1")));
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    const replayed = answers.map(({ headers }) => headers.get("Idempotency-Replayed"));
    assert.equal(replayed.filter((value) => value === null).length, 1);
    assert.deepEqual(await eventsOf(harness), ["CHAIN_GENESIS", "SCORE_COMPUTED", "SCORE_COMMITTED"]);
  }),
);

Deno.test(
  "the same session_id in two organizations is two scores, each committed by its own",
  withHarness(async ({ send, organization, rowCounts }) => {
    const [one, two] = [await organization("one"), await organization("two")];
    await send(SCORE, { key: one, body: scoreRequest() });
    await send(SCORE, { key: two, body: scoreRequest({}, { decision: "rejected" }) });
    const { body } = await send(commitPath("session-1"), { key: one, method: "POST" });
    assert.equal(body.jis, 66.3);
    assert.equal((await rowCounts()).score_commit, 1);
  }),
);

// ---- 200: the late label ----------------------------------------------------------------------------------

async function operatorRow({ database }: Harness) {
  const [row] = await database.read(query.selectFrom("operator").selectAll().compile());
  return row!;
}

Deno.test(
  "a label with the commit is an entry of its own, and the committed score keeps its numbers",
  withHarness(async (harness) => {
    const { post, commit } = await opened(harness);
    const scored = await post(unlabelled("session-1"));
    const answer = await commit("session-1", WRONG);
    assert.equal(answer.status, 200);
    assert.deepEqual(resultPart(answer.body), {
      ...resultPart(scored.body),
      provisional: false,
      committed: true,
    });
    assert.equal(answer.body.evidence.entry.event_type, "SCORE_COMMITTED");
    assert.equal(faultOf(harness, answer), null);
    assert.deepEqual((await eventsOf(harness)).toSorted(), [
      "CHAIN_GENESIS",
      "OUTCOME_LABELLED",
      "SCORE_COMMITTED",
      "SCORE_COMPUTED",
    ]);
  }),
);

Deno.test(
  "a first label after the commit gets the same score and writes one entry",
  withHarness(async (harness) => {
    const { post, commit } = await opened(harness);
    await post(unlabelled("session-1"));
    const committed = await commit("session-1");
    const before = await harness.rowCounts();
    const labelled = await commit("session-1", RIGHT);
    assert.equal(labelled.status, 200);
    const { request_id: _first, ...score } = committed.body;
    const { request_id, ...same } = labelled.body;
    assert.deepEqual(same, score);
    assert.equal(request_id, labelled.headers.get("X-Request-Id"));
    assert.equal(labelled.headers.get("Idempotency-Replayed"), null);
    const after = await harness.rowCounts();
    const { heads: _before, ...rows } = before;
    const { heads: _after, ...grown } = after;
    const added = Object.entries(grown).filter(([table, count]) => count !== rows[table]);
    // An entry has one part here, its input. At this size of the tree it completes three nodes.
    assert.deepEqual(
      Object.fromEntries(added.map(([table, count]) => [table, Number(count) - Number(rows[table])])),
      {
        audit_checkpoint: 1,
        audit_entry: 1,
        audit_node: 3,
        audit_part: 1,
        outcome_label: 1,
      },
    );
    assert.equal((await eventsOf(harness)).at(-1), "OUTCOME_LABELLED");
  }),
);

Deno.test(
  "a first label for a score that was committed at once is applied, and gets that score",
  withHarness(async (harness) => {
    const { key, post, commit } = await opened(harness);
    await proveOperator(harness, key);
    const scored = await post(unlabelled("session-1"));
    assert.equal(scored.body.committed, true);
    const { body } = await commit("session-1", WRONG);
    assert.deepEqual(resultPart(body), resultPart(scored.body));
    assert.deepEqual(body.evidence, scored.body.evidence);
    const events = await eventsOf(harness);
    assert.equal(events.at(-1), "OUTCOME_LABELLED");
    assert.ok(!events.includes("SCORE_COMMITTED"));
  }),
);

Deno.test(
  "the same label sent again, or a commit without one, gets the first answer and writes nothing",
  withHarness(async (harness) => {
    const { post, commit } = await opened(harness);
    await post(unlabelled("session-1"));
    const first = await commit("session-1", WRONG);
    const before = await harness.rowCounts();
    const row = await operatorRow(harness);
    harness.clock.advance(DAY_MS);
    for (const label of [WRONG, WRONG, undefined]) {
      const again = await commit("session-1", label);
      assert.equal(again.text, first.text);
      assert.equal(again.headers.get("Idempotency-Replayed"), "true");
    }
    assert.deepEqual(await harness.rowCounts(), before);
    assert.deepEqual(await operatorRow(harness), row);
  }),
);

Deno.test(
  "a repeated label that came after the commit gets its own first answer, a commit without label that of the commit",
  withHarness(async (harness) => {
    const { key, post, commit } = await opened(harness);
    await post(unlabelled("late"));
    const committed = await commit("late");
    await proveOperator(harness, key);
    const atOnce = await post(unlabelled("at-once"));
    for (const [session, first] of [["late", committed.body], ["at-once", atOnce.body]] as const) {
      harness.clock.advance(DAY_MS);
      const labelled = await commit(session, WRONG);
      assert.notEqual(labelled.body.request_id, first.request_id);
      assert.equal(labelled.body.timestamp, new Date(harness.clock.now()).toISOString());
      assert.equal(faultOf(harness, labelled), null);
      harness.clock.advance(DAY_MS);
      const before = await harness.rowCounts();
      const again = await commit(session, WRONG);
      assert.equal(again.text, labelled.text);
      assert.equal(again.headers.get("Idempotency-Replayed"), "true");
      const without = await commit(session);
      assert.deepEqual(without.body, first);
      assert.equal(without.headers.get("Idempotency-Replayed"), "true");
      assert.deepEqual(await harness.rowCounts(), before);
    }
  }),
);

Deno.test(
  "a label counts from the next score on, exactly as the model says",
  withHarness(async (harness) => {
    const { post, commit } = await opened(harness);
    const first = unlabelled("first", { decision: "accepted", time_to_decision_ms: 1_400, hover_events: 1 });
    const second = unlabelled("second", { decision: "modified", modification_extent: 0.1 });
    const third = scoreRequest({ session_id: "third" }, { decision: "rejected" });
    const pure = (state: Parameters<typeof score>[1], { interaction }: { interaction: unknown }) =>
      score(
        model,
        state,
        {
          interaction: recordedInteractionSchema.parse(interaction),
          domain: "general",
          now: harness.clock.now(),
        },
        FULL,
      );
    const one = pure(null, first);
    await post(first);
    harness.clock.advance(DAY_MS / 2);
    const two = pure(one.state, second);
    await post(second);

    await commit("first", WRONG);
    await commit("second", RIGHT);
    const labelOf = (weights: typeof one.weights, decision: "accepted" | "modified", outcome: boolean) => ({
      weights,
      decision,
      scenario_type: "standard" as const,
      outcome_correct: outcome,
    });
    const labelled = applyLabel(
      model,
      applyLabel(model, two.state, labelOf(one.weights, "accepted", false)),
      labelOf(two.weights, "modified", true),
    );
    assert.equal((await operatorRow(harness)).state, canonicalJson(labelled));

    harness.clock.advance(5 * DAY_MS);
    const three = pure(labelled, third);
    const { body } = await post(third);
    for (const [name, value] of Object.entries(three.result)) assert.deepEqual(body[name], value, name);
    assert.notEqual(body.jis, pure(two.state, third).result.jis, "the labels change the score");
  }),
);

Deno.test(
  "a label leaves the profile's JIS, its band, its counts and the history as they were",
  withHarness(async (harness) => {
    const { key, post, commit } = await opened(harness);
    for (const session of ["a", "b", "c"]) await post(unlabelled(session));
    const shown = async () => {
      const { profile, jis_history } = (await harness.send("/v1/operator/operator-1/profile", { key })).body;
      const { jis, band, total_interactions, minimum_data_met, last_interaction_at, domain } = profile;
      return { jis, band, total_interactions, minimum_data_met, last_interaction_at, domain, jis_history };
    };
    const before = await shown();
    harness.clock.advance(DAY_MS);
    for (const session of ["a", "b", "c"]) await commit(session, WRONG);
    assert.deepEqual(await shown(), before);
  }),
);

Deno.test(
  "late labels are truth: after five of them the next score is not provisional",
  withHarness(async (harness) => {
    const { key, post, commit } = await opened(harness);
    const interactions = Array.from({ length: 50 }, (_, index) => ({
      session_id: `s-${index}`,
      interaction: unlabelled("").interaction,
    }));
    await post({ operator_id: "operator-1", domain: "general", interactions }, "/v1/score/batch");
    for (let index = 0; index < 4; index += 1) await commit(`s-${index}`, RIGHT);
    assert.equal((await post(unlabelled("early"))).body.provisional, true);
    await commit("s-4", WRONG);
    const late = await post(unlabelled("late"));
    assert.deepEqual([late.body.provisional, late.body.committed], [false, true]);
    const { profile } = (await harness.send("/v1/operator/operator-1/profile", { key })).body;
    assert.equal(profile.total_interactions, 52);
  }),
);

Deno.test(
  "a label changes the domain in which its case was decided, and leaves the operator's last domain as it is",
  withHarness(async (harness) => {
    const { post, commit } = await opened(harness);
    await post({ ...unlabelled("legal", { decision: "rejected" }), domain: "legal" });
    await post(unlabelled("general"));
    const before = await operatorRow(harness);
    await commit("legal", RIGHT);
    const after = await operatorRow(harness);
    assert.equal(after.domain, "general");
    const [was, is] = [JSON.parse(before.state), JSON.parse(after.state)];
    assert.deepEqual(is.K, { ...was.K, legal: [1, 0] });
  }),
);

Deno.test(
  "an unaided case can be labelled",
  withHarness(async (harness) => {
    const { post, commit } = await opened(harness);
    await post(unlabelled("session-1", { scenario_type: "ai_withheld" }));
    assert.equal((await commit("session-1", RIGHT)).status, 200);
    const { b, cnt } = JSON.parse((await operatorRow(harness)).state);
    assert.deepEqual([b.U, b.H, cnt.truth, cnt.lab], [[1, 0], [0, 0], 1, 0]);
  }),
);

Deno.test(
  "if two contradicting labels are sent at once, one is applied; the other is 409 and writes nothing",
  withHarness(async (harness) => {
    const { post, commit } = await opened(harness);
    await post(unlabelled("session-1"));
    const answers = await Promise.all([commit("session-1", WRONG), commit("session-1", RIGHT)]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
    const won = answers[0]!.status === 200 ? 0 : 1;
    const [label] = await harness.database.read(query.selectFrom("outcome_label").selectAll().compile());
    assert.equal(label!.outcome_correct, won);
    assert.equal((await eventsOf(harness)).length, 4);
  }),
);

Deno.test(
  "one label sent several times at once is one label and one commit",
  withHarness(async (harness) => {
    const { post, commit } = await opened(harness);
    await post(unlabelled("session-1"));
    const answers = await Promise.all(Array.from({ length: 5 }, () => commit("session-1", WRONG)));
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    const counts = await harness.rowCounts();
    assert.deepEqual([counts.outcome_label, counts.score_commit], [1, 1]);
  }),
);

Deno.test(
  "labels of several scores sent at once are each applied to the state that the one before left",
  withHarness(async (harness) => {
    const { post, commit } = await opened(harness);
    const sessions = Array.from({ length: 8 }, (_, index) => `s-${index}`);
    for (const session of sessions) await post(unlabelled(session));
    const answers = await Promise.all(
      sessions.map((session, index) => commit(session, { outcome_correct: index % 3 === 0 })),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.equal(JSON.parse((await operatorRow(harness)).state).cnt.truth, 8);
  }),
);

// ---- 404 --------------------------------------------------------------------------------------------------

function unknown(key: string, name: string, session: string, request: RequestOptions): Scenario {
  return {
    name,
    path: commitPath(session),
    request: { ...request, key },
    status: 404,
    code: "NOT_FOUND",
    names: session,
  };
}

Deno.test("a session or decision that this organization never scored cannot be committed or labelled: 404, nothing written", async (t) => {
  await withHarness(async (harness) => {
    const { key, post } = await opened(harness);
    const other = await harness.organization("other");
    await harness.send(SCORE, { key: other, body: unlabelled("theirs") });
    await post(unlabelled("skipped"), FROZEN);
    const decision = { operator_id: "operator-1", domain: "general", decision: "accepted" };
    await post({ ...decision, decision_id: "decision", time_to_decision_ms: 9_000 }, "/v1/decision/score");
    for (
      const [name, session] of [
        ["an unknown session", "nowhere"],
        ["a session that was only skipped", "skipped"],
        ["a session of another organization", "theirs"],
        ["a decision", "decision"],
      ] as const
    ) {
      await t.step(name, () => refuses(harness, unknown(key, name, session, { method: "POST" })));
      await t.step(
        `${name}, with a label`,
        () => refuses(harness, unknown(key, name, session, { body: RIGHT })),
      );
    }
  })();
});

Deno.test(
  "a session that was frozen first and scored later can be committed",
  withHarness(async (harness) => {
    const { post, commit } = await opened(harness);
    await post(unlabelled("session-1"), FROZEN);
    await post(unlabelled("session-1"));
    assert.equal((await commit("session-1", RIGHT)).status, 200);
  }),
);

// ---- 409 --------------------------------------------------------------------------------------------------

function contradiction(key: string, name: string, session: string, label: unknown): Scenario {
  return {
    name,
    path: commitPath(session),
    request: { key, body: label },
    status: 409,
    code: "CONFLICT",
    names: session,
  };
}

Deno.test("a label for an outcome that is already known is 409 and writes nothing, not even a commit", async (t) => {
  await withHarness(async (harness) => {
    const { key, post } = await opened(harness);
    await post(unlabelled("injected", { scenario_type: "error_injected" }));
    await post(unlabelled("injected-right", { scenario_type: "error_injected", outcome_correct: true }));
    await post(scoreRequest({ session_id: "right" }, { outcome_correct: true }));
    await post(scoreRequest({ session_id: "wrong" }, { outcome_correct: false }));
    await post(
      scoreRequest({ session_id: "unaided" }, { scenario_type: "ai_withheld", outcome_correct: true }),
    );
    for (
      const [name, session, label] of [
        ["an injected error, right", "injected", RIGHT],
        ["an injected error, wrong", "injected", WRONG],
        ["an injected error with an outcome, the same", "injected-right", RIGHT],
        ["a score with an outcome, the same", "right", RIGHT],
        ["a score with an outcome, another", "right", WRONG],
        ["a score with a bad outcome, the same", "wrong", WRONG],
        ["a score with a bad outcome, another", "wrong", RIGHT],
        ["an unaided score with an outcome", "unaided", RIGHT],
      ] as const
    ) {
      await t.step(name, () => refuses(harness, contradiction(key, name, session, label)));
    }
    assert.equal((await harness.rowCounts()).score_commit, 0);
  })();
});

Deno.test(
  "a label that contradicts the first is 409 and writes nothing, and the score stays committed",
  withHarness(async (harness) => {
    const { key, post, commit } = await opened(harness);
    await post(unlabelled("session-1"));
    const first = await commit("session-1", WRONG);
    await refuses(harness, contradiction(key, "another label", "session-1", RIGHT));
    assert.equal((await commit("session-1")).text, first.text);
    assert.equal((await commit("session-1", WRONG)).text, first.text);
  }),
);

Deno.test(
  "after a label is 409, its score can still be committed without one",
  withHarness(async (harness) => {
    const { key, post, commit } = await opened(harness);
    await post(scoreRequest());
    await refuses(harness, contradiction(key, "known at scoring", "session-1", RIGHT));
    assert.deepEqual((await commit("session-1")).body.committed, true);
  }),
);

Deno.test(
  "a label for an outcome that was known at scoring is 409 also if the score was committed at once",
  withHarness(async (harness) => {
    const { key, post } = await opened(harness);
    await proveOperator(harness, key);
    assert.equal((await post(scoreRequest())).body.committed, true);
    await refuses(harness, contradiction(key, "committed at once", "session-1", RIGHT));
  }),
);

// ---- 400, 415 and 422 -------------------------------------------------------------------------------------

Deno.test("every bad commit gets its status and code, names the field and writes nothing", async (t) => {
  await withHarness(async (harness) => {
    const { key, post } = await opened(harness);
    await post(unlabelled("session-1"));
    const path = commitPath("session-1");
    const invalid = { status: 422, code: "VALIDATION_FAILED" } as const;
    const long = "x".repeat(257);
    const scenarios: readonly Scenario[] = [
      ...["null", "true", 1, 0, [], {}].map((value) => ({
        name: `outcome_correct ${JSON.stringify(value)}`,
        path,
        request: { key, body: { outcome_correct: value } },
        names: "outcome_correct",
        ...invalid,
      })),
      ...["null", "[]", "true", '"x"'].map((body) => ({
        name: `the body ${body}`,
        path,
        request: { key, body },
        names: "object",
        ...invalid,
      })),
      ...["a.b", "a%20b", "a%2Fb", "%F0%9F%98%80", long].map((session) => ({
        name: `session_id ${session}`,
        path: commitPath(session),
        request: { key, method: "POST" },
        names: "session_id",
        ...invalid,
      })),
      {
        name: "a body that is not JSON",
        path,
        request: { key, body: "{" },
        status: 400,
        code: "INVALID_JSON",
        names: "JSON",
      },
      {
        name: "a body of another content type",
        path,
        request: { key, body: "{}", headers: { "Content-Type": "text/plain" } },
        status: 415,
        code: "UNSUPPORTED_MEDIA_TYPE",
        names: "application/json",
      },
      {
        name: "a body over 1 MB",
        path,
        request: { key, body: `{"padding":"${"x".repeat(1_048_576)}"}` },
        status: 413,
        code: "PAYLOAD_TOO_LARGE",
        names: "1048576",
      },
    ];
    for (const scenario of scenarios) await t.step(scenario.name, () => refuses(harness, scenario));
  })();
});

Deno.test("a score whose stored record was altered is neither committed nor labelled", async () => {
  for (
    const change of [
      "UPDATE audit_part SET data = json_set(data, '$.jis', 99) WHERE name = 'result' AND chain = 'org/acme'",
      "UPDATE audit_part SET data = json_set(data, '$.weights.omega', 9) WHERE name = 'input' AND chain = 'org/acme'",
      // This change alters the entry's text too, which then no longer matches its hash.
      "DROP TRIGGER audit_entry_stays",
    ]
  ) {
    const harness = await openHarness();
    const key = await harness.organization("acme");
    await harness.send("/v1/score", { key, body: scoreRequest({}, { outcome_correct: null }) });
    await harness.database.batch([
      { sql: change, parameters: [] },
      ...(change.startsWith("DROP")
        ? [{
          sql: "UPDATE audit_entry SET body = replace(body, 'SCORE_COMPUTED', 'SCORE_COMPUTER')",
          parameters: [],
        }]
        : []),
    ]);
    const before = await harness.rowCounts();
    const { status, body } = await harness.send("/v1/score/session-1/commit", {
      key,
      body: { outcome_correct: true },
    });
    assert.deepEqual([status, body.error.code], [503, "SERVICE_UNAVAILABLE"]);
    assert.deepEqual(await harness.rowCounts(), before);
    // Closing the harness would run its oracle, which would find the alteration.
    await harness.abandon();
  }
});

Deno.test(
  "outcome_correct null is no label: the commit is the same as without it",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const { send } = harness;
    for (const session_id of ["left-out", "null"]) {
      await send("/v1/score", { key, body: scoreRequest({ session_id }, { outcome_correct: null }) });
    }
    const path = (session: string) => `/v1/score/${session}/commit`;
    const bare = await send(path("left-out"), { key, body: {} });
    const nulled = await send(path("null"), { key, body: { outcome_correct: null } });
    assert.deepEqual([bare.status, nulled.status], [200, 200]);
    assert.equal(nulled.body.committed, true);
    assert.equal(nulled.headers.get("Idempotency-Replayed"), null);
    const rows = await harness.rowCounts();
    assert.equal(rows.outcome_label, 0);
    const again = await send(path("null"), { key, method: "POST" });
    assert.deepEqual([again.body, again.headers.get("Idempotency-Replayed")], [nulled.body, "true"]);
    // Null removes no label either.
    const labelled = await send(path("null"), { key, body: { outcome_correct: true } });
    assert.equal(labelled.status, 200, labelled.text);
    assert.equal((await send(path("null"), { key, body: { outcome_correct: null } })).status, 200);
    assert.equal((await harness.rowCounts()).outcome_label, 1);
  }),
);

Deno.test("a stored answer whose record was altered is refused: of a score, a batch, a commit and a report", async () => {
  const harness = await openHarness();
  const key = await harness.organization("acme");
  const send = (path: string, body?: unknown) =>
    harness.send(path, { key, ...(body === undefined ? {} : { body }) });
  const item = { session_id: "batched", time_to_decision_ms: 5000, decision: "accepted" };
  const report = "/v1/compliance/report?period_start=2026-11-01&period_end=2026-12-01";
  const calls = [
    ["/v1/score", scoreRequest({}, { outcome_correct: null })],
    ["/v1/score/batch", { operator_id: "operator-1", domain: "general", interactions: [item] }],
    ["/v1/score/session-1/commit", {}],
    [report, undefined],
  ] as const;
  for (const [path, body] of calls) {
    const first = await send(path, body);
    assert.equal(first.status, 200, first.text);
    assert.equal((await send(path, body)).status, 200);
  }
  const altered = (sql: string) => harness.database.batch([{ sql, parameters: [] }]);
  await altered("UPDATE audit_part SET data = json_set(data, '$.jis', 1) WHERE name = 'result'");
  await altered("UPDATE compliance_report SET report = replace(report, 'insufficient_data', 'compliant')");
  for (const [path, body] of calls) {
    const { status, body: answer } = await send(path, body);
    assert.deepEqual([path, status, answer.error?.code], [path, 503, "SERVICE_UNAVAILABLE"]);
  }
  await harness.abandon();
});
