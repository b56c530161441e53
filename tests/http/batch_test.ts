/** POST /v1/score/batch: its answer and evidence, repeated batches, and refusals. */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { verifyDocument } from "../../src/evidence/document.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { parseCheckpoint, parseNote, verifyNote } from "../../src/evidence/note.ts";
import { type Answer, EPOCH, type Harness, scoreRequest, withHarness } from "../harness.ts";
import { refuses, type Scenario } from "../scenario.ts";

const PATH = "/v1/score/batch";
const LIMIT_BYTES = 5_242_880;
const DAY_MS = 86_400_000;
const USAGE_KEY = "usage-key-of-the-tests-0123456789-0123";

interface Item extends Readonly<Record<string, unknown>> {
  readonly session_id: string;
}

/** A batch item that holds the interaction of the model's first worked example. */
function item(sessionId: string, fields: Record<string, unknown> = {}): Item {
  return {
    session_id: sessionId,
    time_to_decision_ms: 14200,
    decision: "accepted",
    outcome_correct: true,
    hover_events: 5,
    scroll_depth: 0.8,
    alternative_views_checked: 1,
    ...fields,
  };
}

/** Items of different kinds of evidence, so that their order matters. */
function variedItems(count: number): readonly Item[] {
  const kinds = [
    {},
    { decision: "rejected", outcome_correct: false },
    { time_to_decision_ms: 900, outcome_correct: false, hover_events: 0 },
    { decision: "modified", modification_extent: 0.4, outcome_correct: null },
    { scenario_type: "error_injected", decision: "overridden", outcome_correct: null },
    { decision: "escalated", scenario_type: "critical", scroll_depth: null },
    { ai_available: false, outcome_correct: false },
  ];
  return Array.from({ length: count }, (_, index) => item(`s-${index}`, kinds[index % kinds.length]));
}

function nested({ session_id, ...interaction }: Item): Item {
  return { session_id, interaction };
}

function batch(interactions: readonly unknown[], fields: Record<string, unknown> = {}) {
  return { operator_id: "operator-1", domain: "general", interactions, ...fields };
}

/** The score request with the same content as a batch item. */
function single({ session_id, ...interaction }: Item) {
  return { session_id, operator_id: "operator-1", domain: "general", interaction };
}

function sha256(...chunks: Uint8Array[]): Uint8Array {
  return new Uint8Array(hash("sha256", Uint8Array.from(chunks.flatMap((chunk) => [...chunk])), "buffer"));
}

/** The root that a path leads to, as RFC 9162 checks it (section 2.1.3.2); null if the path does not fit. */
function rootOfPath(
  { index, size, leaf, path }: {
    readonly index: number;
    readonly size: number;
    readonly leaf: Uint8Array;
    readonly path: readonly Uint8Array[];
  },
): Uint8Array | null {
  let [position, last, root] = [index, size - 1, leaf];
  for (const sibling of path) {
    if (last === 0) return null;
    if (position % 2 === 1 || position === last) {
      root = sha256(Uint8Array.of(1), sibling, root);
      while (position % 2 === 0 && position > 0) {
        position = Math.floor(position / 2);
        last = Math.floor(last / 2);
      }
    } else {
      root = sha256(Uint8Array.of(1), root, sibling);
    }
    position = Math.floor(position / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? root : null;
}

/**
 * Asserts that every item of a batch's compact evidence is under its one signed checkpoint, in the order of
 * the results.
 */
function verifyBatchEvidence({ verifierKey }: Harness, { body }: Answer): void {
  const { evidence, results } = body;
  assert.deepEqual(Object.keys(evidence).sort(), ["checkpoint", "items", "v"]);
  assert.equal(evidence.v, "jis.evidence-batch/1");
  const note = parseNote(evidence.checkpoint);
  const { origin, size, root } = parseCheckpoint(note.text);
  assert.ok(origin.endsWith("/org/acme"));
  assert.equal(verifyNote(nodeCrypto, note, [verifierKey(origin)]), "verified");
  const sessions = (rows: { session_id: string }[]) => rows.map(({ session_id }) => session_id);
  assert.deepEqual(sessions(evidence.items), sessions(results));
  for (const [place, { index, entry_hash, path }] of evidence.items.entries()) {
    assert.equal(
      index,
      evidence.items[0].index + place,
      "entries follow one another in the order of the array",
    );
    const reached = rootOfPath({
      index,
      size,
      leaf: Uint8Array.fromHex(entry_hash),
      path: path.map((text: string) => Uint8Array.fromBase64(text)),
    });
    assert.deepEqual(reached, root, `item ${place}`);
  }
}

const replayOf = ({ send }: Harness, key: string, id: string) => send(`/v1/decision/replay/${id}`, { key });

// ---- 200: scored ------------------------------------------------------------------------------------------

Deno.test(
  "a batch of one answers with its score, its count, its operator and its compact evidence, and nothing else",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const answer = await harness.send(PATH, { key, body: batch([item("s-0")]) });
    assert.equal(answer.status, 200);
    const { evidence: _evidence, request_id, ...rest } = answer.body;
    assert.deepEqual(rest, {
      results: [{ session_id: "s-0", jis: 66.3 }],
      count: 1,
      operator_id: "operator-1",
      timestamp: new Date(EPOCH).toISOString(),
    });
    assert.equal(request_id, answer.headers.get("X-Request-Id"));
    assert.equal(answer.headers.get("Idempotency-Replayed"), null);
    verifyBatchEvidence(harness, answer);
  }),
);

Deno.test(
  "a batch of 100 keeps the order of its array and proves each of its entries under one signature",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await harness.send("/v1/score", { key, body: scoreRequest({ session_id: "before" }) });
    const items = variedItems(100);
    const answer = await harness.send(PATH, { key, body: batch(items) });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body.count, 100);
    assert.deepEqual(
      answer.body.results.map((row: Item) => row.session_id),
      items.map(({ session_id }) => session_id),
    );
    for (const row of answer.body.results) assert.deepEqual(Object.keys(row).sort(), ["jis", "session_id"]);
    verifyBatchEvidence(harness, answer);
    assert.equal((await harness.rowCounts()).interaction, 101);
  }),
);

Deno.test(
  "batches of every size up to 9 prove their entries, whatever the shape of the tree before them",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    for (let size = 1; size <= 9; size += 1) {
      const items = Array.from({ length: size }, (_, index) => item(`${size}-${index}`));
      verifyBatchEvidence(harness, await harness.send(PATH, { key, body: batch(items) }));
    }
  }),
);

Deno.test(
  "a batch gets the same scores as the same interactions posted one after another",
  withHarness(async (harness) => {
    const { send, organization } = harness;
    const [together, apart] = [await organization("together"), await organization("apart")];
    const items = variedItems(30);
    const { body } = await send(PATH, { key: together, body: batch(items) });
    const singles = [];
    for (const row of items) singles.push((await send("/v1/score", { key: apart, body: single(row) })).body);
    assert.deepEqual(
      body.results,
      singles.map(({ session_id, jis }) => ({ session_id, jis })),
    );
    assert.ok(new Set(singles.map(({ jis }) => jis)).size > 10, "the items change the score");
    for (const [index, row] of items.entries()) {
      const { recorded } = (await replayOf(harness, together, row.session_id)).body;
      const { evidence: _evidence, request_id: _id, timestamp: _at, ...result } = singles[index];
      assert.deepEqual(recorded, result, row.session_id);
    }
    const next = scoreRequest({ session_id: "next" });
    const [afterTogether, afterApart] = [
      await send("/v1/score", { key: together, body: next }),
      await send("/v1/score", { key: apart, body: next }),
    ];
    assert.deepEqual(afterTogether.body.dimensions, afterApart.body.dimensions);
  }),
);

Deno.test(
  "a batch may mix items with fields beside the session and items with an interaction object",
  withHarness(async (harness) => {
    const { send, organization } = harness;
    const [mixed, flat] = [await organization("acme"), await organization("flat")];
    const items = variedItems(8);
    const answer = await send(PATH, {
      key: mixed,
      body: batch(items.map((row, index) => index % 2 === 0 ? row : nested(row))),
    });
    const { body } = await send(PATH, { key: flat, body: batch(items) });
    assert.deepEqual(answer.body.results, body.results);
    verifyBatchEvidence(harness, answer);
  }),
);

Deno.test(
  "a profile counts each item of a batch and shows its scores in their order",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    const { body } = await send(PATH, { key, body: batch(variedItems(12)) });
    const { profile, jis_history } = (await send("/v1/operator/operator-1/profile", { key })).body;
    assert.equal(profile.total_interactions, 12);
    assert.equal(profile.jis, body.results[11].jis);
    assert.deepEqual(
      jis_history.map(({ jis }: { jis: number }) => jis),
      body.results.map(({ jis }: { jis: number }) => jis),
    );
  }),
);

Deno.test(
  "a batch ignores parameters: each item is scored in full and never frozen",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const answer = await harness.send(`${PATH}?mode=lite&mode_override=incident_frozen`, {
      key,
      headers: { "X-Service-Role-Tier": "tier_3" },
      body: batch([item("s-0")]),
    });
    assert.equal(answer.body.results[0].jis, 66.3);
    const { recorded } = (await replayOf(harness, key, "s-0")).body;
    assert.deepEqual([recorded.mode, recorded.role_tier, recorded.mode_override], [
      "standard",
      "tier_1",
      "normal",
    ]);
  }),
);

Deno.test(
  "a replay of an item gives its full result and its own evidence",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const { body } = await harness.send(PATH, { key, body: batch(variedItems(5)) });
    for (const [index, { session_id, jis }] of body.results.entries()) {
      const replay = (await replayOf(harness, key, session_id)).body;
      assert.deepEqual([replay.kind, replay.match, replay.recorded.jis], ["score", true, jis]);
      assert.equal(replay.recorded.dimensions_computed, 7);
      assert.equal(replay.evidence.entry_hash, body.evidence.items[index].entry_hash);
      assert.equal(replay.evidence.entry.seq, body.evidence.items[index].index);
      const { origin } = parseCheckpoint(parseNote(body.evidence.checkpoint).text);
      const keysFor = () => [harness.verifierKey(origin)];
      assert.equal(verifyDocument(nodeCrypto, replay, { keysFor }).fault, null);
      assert.equal(verifyDocument(nodeCrypto, body, { keysFor }).fault, null);
    }
  }),
);

Deno.test(
  "a session that was only frozen before can be scored in a batch",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    await send("/v1/score?mode_override=incident_frozen", { key, body: single(item("s-0")) });
    const { status, body } = await send(PATH, { key, body: batch([item("s-0")]) });
    assert.equal(status, 200);
    assert.equal(body.results[0].jis, 66.3);
  }),
);

Deno.test(
  "two organizations can use the same session_ids in batches",
  withHarness(async ({ send, organization }) => {
    for (const org of ["one", "two"]) {
      const key = await organization(org);
      const { status, headers } = await send(PATH, { key, body: batch(variedItems(2)) });
      assert.deepEqual([status, headers.get("Idempotency-Replayed")], [200, null]);
    }
  }),
);

Deno.test(
  "every item of a batch counts once for usage, and a repeated batch not at all",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    for (let time = 0; time < 2; time += 1) await send(PATH, { key, body: batch(variedItems(7)) });
    await send("/v1/score", { key, body: single(variedItems(7)[0]!) });
    const usage = await send("/v1/admin/org/acme/usage", { headers: { "X-API-Key": USAGE_KEY } });
    assert.equal(usage.body.interaction_count_current_period, 7);
  }, { masterSecrets: { ORG_USAGE_READ: [USAGE_KEY] } }),
);

Deno.test(
  "batches, scores, labels and decisions of one operator sent at once are each applied whole and stored as answered",
  withHarness(async (harness) => {
    const { send, organization } = harness;
    const key = await organization("acme");
    const unlabelled = Array.from(
      { length: 4 },
      (_, index) => item(`old-${index}`, { outcome_correct: null }),
    );
    await send(PATH, { key, body: batch(unlabelled) });
    const requests: readonly (readonly [path: string, body: unknown])[] = [
      ...Array.from({ length: 6 }, (_, index) => {
        const items = variedItems(5).map((row) => ({ ...row, session_id: `${index}-${row.session_id}` }));
        return [PATH, batch(items)] as const;
      }),
      ...Array.from(
        { length: 6 },
        (_, index) => ["/v1/score", scoreRequest({ session_id: `single-${index}` })] as const,
      ),
      ...unlabelled.map(({ session_id }, index) =>
        [`/v1/score/${session_id}/commit`, { outcome_correct: index % 2 === 0 }] as const
      ),
      ...Array.from({ length: 3 }, (_, index) =>
        ["/v1/decision/score", {
          decision_id: `decision-${index}`,
          operator_id: "operator-1",
          domain: "general",
          time_to_decision_ms: 5_000,
          decision: "accepted",
        }] as const),
    ];
    const answers = await Promise.all(requests.map(([path, body]) => send(path, { key, body })));
    assert.deepEqual(answers.map(({ status }) => status), answers.map(() => 200));
    for (const [index, [path, body]] of requests.entries()) {
      const again = await send(path, { key, body });
      assert.equal(again.headers.get("Idempotency-Replayed"), "true", path);
      assert.deepEqual(again.body, answers[index]!.body, path);
    }
    for (const answer of answers.slice(0, 6)) verifyBatchEvidence(harness, answer);
    const counts = await harness.rowCounts();
    assert.deepEqual([counts.interaction, counts.score_commit, counts.outcome_label, counts.decision], [
      40,
      4,
      4,
      3,
    ]);
  }),
);

// ---- 200: repeated ----------------------------------------------------------------------------------------

Deno.test(
  "a repeated batch gets the same bytes and counts nothing twice, in either form of its items",
  withHarness(async (harness) => {
    const { send, organization, clock, rowCounts } = harness;
    const key = await organization("acme");
    const items = variedItems(9);
    const first = await send(PATH, { key, body: batch(items) });
    const before = await rowCounts();
    clock.advance(DAY_MS);
    for (
      const body of [
        batch(items),
        batch(items.map(nested)),
        batch(items.map((row) => ({ scenario_type: "standard", ai_available: true, ...row, unknown: [1] }))),
        { ...batch(items), api_key: "x", padding: "x" },
      ]
    ) {
      const again = await send(PATH, { key, body });
      assert.equal(again.status, 200, again.text);
      assert.equal(again.text, first.text);
      assert.equal(again.headers.get("Idempotency-Replayed"), "true");
      assert.equal(again.headers.get("X-Request-Id"), first.body.request_id);
    }
    assert.deepEqual(await rowCounts(), before);
  }),
);

Deno.test(
  "a repeated batch gets the same bytes after later scores, commits, labels and decisions",
  withHarness(async (harness) => {
    const { send, organization, clock } = harness;
    const key = await organization("acme");
    const items = variedItems(6);
    const first = await send(PATH, { key, body: batch(items) });
    const again = async (after: string) => {
      clock.advance(DAY_MS);
      const { text, headers } = await send(PATH, { key, body: batch(items) });
      assert.equal(text, first.text, after);
      assert.equal(headers.get("Idempotency-Replayed"), "true", after);
    };
    await send("/v1/score", { key, body: scoreRequest({ session_id: "later" }) });
    await again("a score");
    await send("/v1/score/s-0/commit", { key, method: "POST" });
    await again("a commit");
    await send("/v1/score/s-3/commit", { key, body: { outcome_correct: false } });
    await again("a label");
    await send("/v1/decision/score", {
      key,
      body: {
        operator_id: "operator-1",
        domain: "general",
        time_to_decision_ms: 9_000,
        decision: "accepted",
      },
    });
    await again("a decision");
    await send(PATH, { key, body: batch([item("other")]) });
    await again("another batch");
  }),
);

Deno.test(
  "a score request with exactly an item's content gets the score that the batch stored",
  withHarness(async (harness) => {
    const { send, organization, verifierKey, rowCounts } = harness;
    const key = await organization("acme");
    const items = variedItems(5);
    const { body: batched } = await send(PATH, { key, body: batch(items) });
    const before = await rowCounts();
    for (const [index, row] of items.entries()) {
      const { status, body, headers } = await send("/v1/score", { key, body: single(row) });
      assert.equal(status, 200);
      assert.equal(headers.get("Idempotency-Replayed"), "true");
      assert.equal(body.jis, batched.results[index].jis);
      assert.equal(body.request_id, batched.request_id);
      const { origin } = parseCheckpoint(parseNote(batched.evidence.checkpoint).text);
      assert.equal(verifyDocument(nodeCrypto, body, { keysFor: () => [verifierKey(origin)] }).fault, null);
    }
    assert.deepEqual(await rowCounts(), before);
  }),
);

Deno.test(
  "if two equal batches are sent at once, one runs, and both get its answer",
  withHarness(async ({ send, organization, rowCounts }) => {
    const key = await organization("acme");
    const answers = await Promise.all(
      Array.from({ length: 2 }, () => send(PATH, { key, body: batch(variedItems(20)) })),
    );
    assert.deepEqual(answers.map(({ status }) => status), [200, 200]);
    assert.equal(answers[0]!.text, answers[1]!.text);
    const replayed = answers.map(({ headers }) => headers.get("Idempotency-Replayed"));
    assert.equal(replayed.filter((value) => value === "true").length, 1);
    assert.equal((await rowCounts()).interaction, 20);
  }),
);

// ---- 409 --------------------------------------------------------------------------------------------------

/** A batch that must be 409, name the session and write nothing. */
function conflict(key: string, name: string, body: Record<string, unknown>, session: string): Scenario {
  return { name, path: PATH, request: { key, body }, status: 409, code: "CONFLICT", names: session };
}

Deno.test("an answered batch that is sent again reordered, cut, extended or changed is 409 and writes nothing", async (t) => {
  await withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const items = variedItems(4);
    const [first, second, third, fourth] = items as [Item, Item, Item, Item];
    await harness.send(PATH, { key, body: batch(items) });
    const scenarios = [
      conflict(key, "reordered", batch([second, first, third, fourth]), "s-1"),
      conflict(key, "a subset", batch([first, second, third]), "s-0"),
      conflict(key, "one of it", batch([fourth]), "s-3"),
      conflict(key, "a superset", batch([...items, item("s-new")]), "s-0"),
      conflict(key, "new items before a used one", batch([item("s-new"), item("s-newer"), third]), "s-2"),
      conflict(
        key,
        "one field changed",
        batch([first, second, third, { ...fourth, time_to_decision_ms: 14_201 }]),
        "s-0",
      ),
      conflict(
        key,
        "not measured instead of 0",
        batch([first, second, { ...third, hover_events: null }, fourth]),
        "s-0",
      ),
      conflict(key, "another operator", batch(items, { operator_id: "operator-2" }), "s-0"),
      conflict(key, "another domain", batch(items, { domain: "legal" }), "s-0"),
    ];
    for (const scenario of scenarios) await t.step(scenario.name, () => refuses(harness, scenario));
  })();
});

Deno.test(
  "a batch with a session that a single score used is 409, also with the same content, and writes nothing",
  withHarness(async (harness) => {
    const { send, organization } = harness;
    const key = await organization("acme");
    await send("/v1/score", { key, body: single(item("used")) });
    await refuses(harness, conflict(key, "alone", batch([item("used")]), "used"));
    await refuses(harness, conflict(key, "last", batch([item("s-0"), item("s-1"), item("used")]), "used"));
  }),
);

Deno.test(
  "a batch with a session_id that names a decision is 409 and writes nothing",
  withHarness(async (harness) => {
    const { send, organization } = harness;
    const key = await organization("acme");
    const decision = { decision_id: "taken", operator_id: "operator-1", domain: "general" };
    await send("/v1/decision/score", {
      key,
      body: { ...decision, time_to_decision_ms: 9_000, decision: "accepted" },
    });
    await refuses(harness, conflict(key, "decision", batch([item("s-0"), item("taken")]), "taken"));
  }),
);

Deno.test(
  "if two different batches that share a session are sent at once, one is scored; the other is 409 and writes nothing",
  withHarness(async ({ send, organization, rowCounts }) => {
    const key = await organization("acme");
    const answers = await Promise.all([
      send(PATH, { key, body: batch([item("a-0"), item("shared"), item("a-1")]) }),
      send(PATH, { key, body: batch([item("b-0"), item("shared")]) }),
    ]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
    const winner = answers.find(({ status }) => status === 200)!;
    const loser = answers.find(({ status }) => status === 409)!;
    assert.equal(loser.body.error.code, "CONFLICT");
    assert.ok(loser.body.error.message.includes("shared"));
    const counts = await rowCounts();
    assert.equal(counts.interaction, winner.body.count);
    assert.equal(counts.score_batch, 1);
  }),
);

Deno.test(
  "if a batch and a single score of one of its sessions are sent at once, one is scored, the other is 409",
  withHarness(async ({ send, organization, rowCounts }) => {
    const key = await organization("acme");
    const [batched, alone] = await Promise.all([
      send(PATH, { key, body: batch([item("a"), item("shared")]) }),
      send("/v1/score", { key, body: single(item("shared", { decision: "rejected" })) }),
    ]);
    assert.deepEqual([batched.status, alone.status].sort(), [200, 409]);
    assert.equal((await rowCounts()).interaction, batched.status === 200 ? 2 : 1);
  }),
);

// ---- 413 --------------------------------------------------------------------------------------------------

Deno.test(
  "exactly 5 MiB is accepted, by declared and by received bytes, and one byte more is not",
  withHarness(async (harness) => {
    const { send, organization, rowCounts } = harness;
    const key = await organization("acme");
    const padded = (sessionId: string, length: number) => {
      const text = JSON.stringify({ ...batch([item(sessionId)]), padding: "" });
      return text.replace('"padding":""', `"padding":"${"x".repeat(length - text.length)}"`);
    };
    const whole = padded("s-0", LIMIT_BYTES);
    assert.equal(whole.length, 5 * 1024 * 1024);
    const declared = { "Content-Length": String(LIMIT_BYTES) };
    assert.equal((await send(PATH, { key, headers: declared, body: whole })).status, 200);
    assert.equal((await send(PATH, { key, body: padded("s-1", LIMIT_BYTES) })).status, 200);
    const before = await rowCounts();
    const received = await send(PATH, { key, body: padded("s-2", LIMIT_BYTES + 1) });
    assert.deepEqual([received.status, received.body.error.code], [413, "PAYLOAD_TOO_LARGE"]);
    assert.ok(received.body.error.message.includes("5242880"));
    const said = await send(PATH, {
      key,
      body: batch([item("s-2")]),
      headers: { "Content-Length": String(LIMIT_BYTES + 1) },
    });
    assert.deepEqual([said.status, said.body.error.code], [413, "PAYLOAD_TOO_LARGE"]);
    assert.deepEqual(await rowCounts(), before);
  }),
);

// ---- 422 --------------------------------------------------------------------------------------------------

const BAD_BATCHES: readonly (readonly [name: string, body: Record<string, unknown>, names: string])[] = [
  ["no interactions", batch([], { interactions: undefined }), "interactions"],
  ["0 items", batch([]), "interactions"],
  ["101 items", batch(Array.from({ length: 101 }, (_, index) => item(`s-${index}`))), "interactions"],
  ["interactions as an object", batch([], { interactions: { 0: item("s-0") } }), "interactions"],
  ["no operator_id", batch([item("s-0")], { operator_id: undefined }), "operator_id"],
  ["operator_id with a dot", batch([item("s-0")], { operator_id: "a.b" }), "operator_id"],
  ["no domain", batch([item("s-0")], { domain: undefined }), "domain"],
  ["unknown domain", batch([item("s-0")], { domain: "space" }), "domain"],
  [
    "no session_id",
    batch([item("s-0"), item("s-1", { session_id: undefined })]),
    "interactions.1.session_id",
  ],
  [
    "no session_id beside an interaction",
    batch([{ interaction: nested(item("s-0")).interaction }]),
    "interactions.0.session_id",
  ],
  ["session_id with a space", batch([item("a b")]), "interactions.0.session_id"],
  ["session_id too long", batch([item("x".repeat(257))]), "interactions.0.session_id"],
  [
    "modification_extent above 1",
    batch([item("s-0"), item("s-1"), item("s-2", { modification_extent: 1.01 })]),
    "interactions.2.modification_extent",
  ],
  [
    "a number as text",
    batch([item("s-0", { time_to_decision_ms: "8500" })]),
    "interactions.0.time_to_decision_ms",
  ],
  ["no decision", batch([item("s-0", { decision: undefined })]), "interactions.0.decision"],
  ["unknown decision", batch([item("s-0", { decision: "approved" })]), "interactions.0.decision"],
  [
    "a bad field in an interaction object",
    batch([item("s-0"), nested(item("s-1", { scroll_depth: 1.1 }))]),
    "interactions.1.interaction.scroll_depth",
  ],
  ["interaction null", batch([{ session_id: "s-0", interaction: null }]), "interactions.0.interaction"],
  ["an item that is not an object", batch([item("s-0"), 7]), "interactions.1"],
  ["a null item", batch([null]), "interactions.0"],
  [
    "the same session in two items",
    batch([item("s-0"), item("s-1"), item("s-0")]),
    "interactions.2.session_id",
  ],
  [
    "the same session in two items with different content",
    batch([item("s-0"), item("s-0", { decision: "rejected" })]),
    "interactions.1.session_id",
  ],
  [
    "the same session in two forms",
    batch([item("s-0"), nested(item("s-0"))]),
    "interactions.1.session_id",
  ],
];

Deno.test("every bad batch is 422, names the field by its index, and writes nothing", async (t) => {
  await withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await harness.send(PATH, { key, body: batch([item("good")]) });
    for (const [name, body, names] of BAD_BATCHES) {
      const scenario = {
        name,
        path: PATH,
        request: { key, body },
        names,
        status: 422,
        code: "VALIDATION_FAILED",
      };
      await t.step(name, () => refuses(harness, scenario));
    }
  })();
});

Deno.test(
  "one answer lists the problems of all items",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    const { body } = await send(PATH, {
      key,
      body: batch([
        item("s-0", { decision: "x", scroll_depth: 2 }),
        item("s-1"),
        nested(item("s-2", { hover_events: -1 })),
      ]),
    });
    assert.deepEqual(body.error.details.map(({ path }: { path: string }) => path), [
      "interactions.0.decision",
      "interactions.0.scroll_depth",
      "interactions.2.interaction.hover_events",
    ]);
  }),
);
