/**
 * Idempotency-Key on an organization's own calls: a call runs once, is repeated with the same answer, and
 * refused for another request. The key is forgotten after its time, and nothing of an erased reviewer is
 * kept.
 */
import assert from "node:assert/strict";
import { query } from "../../src/store/database.ts";
import { forgetKeyedCalls } from "../../src/operations/shared/keyed_calls.ts";
import { pruneChains } from "../../src/operations/chains/retention.ts";
import { FAILED, type Recording, register, score, settledOperator, withDeliveries } from "../delivering.ts";
import { type Answer, type Harness, scoreRequest, withAlterations, withHarness } from "../harness.ts";
import { contentOf, refuses, storedEvents, storedText } from "../scenario.ts";

const DAY = 86_400_000;
const KEY = "a retry of ours/2026";

interface Setting {
  readonly harness: Harness;
  readonly key: string;
  readonly recording: Recording;
}

interface KeyedPost {
  readonly name: string;
  /** Makes the records that the call needs. @returns the path. */
  prepare(setting: Setting): Promise<string> | string;
  readonly body?: Record<string, unknown>;
  /** Another request that is valid by itself; absent if there is none. */
  readonly other?: Record<string, unknown>;
  /** Member of the first answer that a repeated answer leaves out. */
  readonly secret?: string;
  readonly status?: number;
}

const FLAT = { operator_id: "ada", domain: "financial", time_to_decision_ms: 5000, decision: "accepted" };
const PROBE = { domain: "legal", stakes: "standard", ai_correct: false };
const LATE = { outcome_correct: null };

async function commitPath({ harness, key }: Setting): Promise<string> {
  const body = scoreRequest({ session_id: "late" }, LATE);
  assert.equal((await harness.send("/v1/score", { key, body })).status, 200);
  return "/v1/score/late/commit";
}

/** Every POST by which an organization changes something, except those that end its key. */
const POSTS: readonly KeyedPost[] = [
  {
    name: "a score",
    prepare: () => "/v1/score",
    body: scoreRequest(),
    other: scoreRequest({ session_id: "session-2" }),
  },
  {
    name: "a score without a session_id",
    prepare: () => "/v1/score",
    body: FLAT,
    other: { ...FLAT, time_to_decision_ms: 5001 },
  },
  {
    name: "a frozen score",
    prepare: () => "/v1/score?mode_override=incident_frozen",
    body: FLAT,
    other: { ...FLAT, operator_id: "bela" },
  },
  {
    name: "a batch",
    prepare: () => "/v1/score/batch",
    body: {
      operator_id: "ada",
      domain: "legal",
      interactions: [1, 2, 3].map((at) => ({
        session_id: `s-${at}`,
        time_to_decision_ms: 9,
        decision: "accept",
      })),
    },
    other: {
      operator_id: "ada",
      domain: "legal",
      interactions: [{ session_id: "s-4", time_to_decision_ms: 9, decision: "accept" }],
    },
  },
  { name: "a commit", prepare: commitPath, body: {}, other: { outcome_correct: true } },
  {
    name: "a commit with a label",
    prepare: commitPath,
    body: { outcome_correct: true },
    other: { outcome_correct: null },
  },
  {
    name: "a decision",
    prepare: () => "/v1/decision/score",
    body: { ...FLAT, decision_id: "d-1" },
    other: { ...FLAT, decision_id: "d-2" },
  },
  {
    name: "a decision without an id",
    prepare: () => "/v1/decision/score",
    body: FLAT,
    other: { ...FLAT, stakes: "high" },
  },
  {
    name: "an event",
    prepare: () => "/v1/audit/append",
    body: { event_type: "POLICY_CHANGED", payload: { from: "2026-12-01", to: [1, { b: 1, a: 2 }] } },
    other: { event_type: "POLICY_CHANGED", payload: { from: "2026-12-02" } },
    status: 201,
  },
  {
    name: "a webhook",
    prepare: () => "/v1/admin/webhook/register",
    body: { url: "https://review.acme.example/hook", secret: "a-secret-of-the-receiver" },
    other: { url: "https://review.acme.example/hook", secret: "another-secret-of-the-receiver" },
    secret: "signing_secret",
    status: 201,
  },
  {
    name: "a sealed probe",
    prepare: () => "/v1/probes",
    body: { ...PROBE, probe_id: "p-1" },
    other: { ...PROBE, probe_id: "p-2" },
    status: 201,
  },
  {
    name: "a sealed probe without a probe_id",
    prepare: () => "/v1/probes",
    body: PROBE,
    other: { ...PROBE, stakes: "critical" },
    status: 201,
  },
  {
    name: "a batch of probes",
    prepare: () => "/v1/probes/batch",
    body: { probes: [{ ...PROBE, probe_id: "p-3" }, PROBE, PROBE] },
    other: { probes: [{ ...PROBE, probe_id: "p-4" }] },
    status: 201,
  },
  {
    name: "a test of a webhook",
    async prepare({ harness, key, recording }) {
      recording.answer = () => FAILED;
      return `/v1/admin/webhook/${(await register(harness, key)).id}/test`;
    },
  },
  {
    name: "a redelivery",
    async prepare({ harness, key, recording }) {
      await settledOperator(harness, key);
      const { id } = await register(harness, key);
      await score(harness, key, "told");
      await harness.deliver();
      const { deliveryId } = recording.sent[0]!;
      return `/v1/admin/webhook/${id}/deliveries/${deliveryId}/redeliver`;
    },
  },
];

const post = (
  { harness, key }: Pick<Setting, "harness" | "key">,
  path: string,
  { body, name = KEY }: { readonly body?: Record<string, unknown>; readonly name?: string } = {},
) =>
  harness.send(path, {
    key,
    method: "POST",
    headers: { "Idempotency-Key": name },
    ...(body === undefined ? {} : { body }),
  });

const isReplay = ({ headers }: Answer) => headers.get("Idempotency-Replayed") === "true";

/**
 * The answer as it is repeated: without the member that is shown once, and with `already_provisioned` in its
 * place.
 */
function again({ body }: Answer, secret: string | undefined): Record<string, unknown> {
  if (secret === undefined) return body;
  const { [secret]: _shownOnce, ...rest } = body;
  return { ...rest, already_provisioned: true };
}

for (const { name, prepare, body, other, secret, status = 200 } of POSTS) {
  Deno.test(
    `${name} under an Idempotency-Key runs once and is answered again; the key with another request is refused`,
    withDeliveries(async (harness, { key, recording }) => {
      const setting = { harness, key, recording };
      const path = await prepare(setting);
      const first = await post(setting, path, { body });
      assert.deepEqual([first.status, isReplay(first)], [status, false], first.text);
      const after = await harness.rowCounts();
      const { sent: { length } } = recording;
      harness.clock.advance(29 * DAY);
      for (let time = 0; time < 2; time += 1) {
        const repeated = await post(setting, path, { body });
        assert.deepEqual([repeated.status, isReplay(repeated)], [status, true], repeated.text);
        assert.deepEqual(repeated.body, again(first, secret));
      }
      assert.deepEqual(await harness.rowCounts(), after, "nothing more is written");
      assert.equal(recording.sent.length, length, "nothing more is sent");
      if (other !== undefined) {
        await refuses(harness, {
          name,
          path,
          request: { key, body: other, headers: { "Idempotency-Key": KEY } },
          status: 422,
          code: "IDEMPOTENCY_KEY_REUSED",
          names: "new key",
        });
      }
      // The database holds neither the key nor the value that was shown once.
      const stored = await storedText(harness);
      assert.ok(!stored.includes(KEY));
      if (secret !== undefined) assert.ok(!stored.includes(first.body[secret]));
    }),
  );

  Deno.test(
    `${name}, sent ten times at once under one Idempotency-Key, runs once`,
    withDeliveries(async (harness, { key, recording }) => {
      const setting = { harness, key, recording };
      const path = await prepare(setting);
      const entries = async () => JSON.stringify((await harness.rowCounts()).heads);
      const answers = await Promise.all(Array.from({ length: 10 }, () => post(setting, path, { body })));
      const after = await entries();
      const done = answers.filter((answer) => answer.status === status && !isReplay(answer));
      assert.equal(done.length, 1, answers.map(({ text }) => text).join("\n"));
      for (const answer of answers.filter((each) => each !== done[0])) {
        // A webhook test that is still running has no result yet.
        if (answer.status === 409 && path.endsWith("/test")) continue;
        assert.deepEqual([answer.status, isReplay(answer)], [status, true], answer.text);
        assert.deepEqual(answer.body, again(done[0]!, secret));
      }
      assert.equal((await post(setting, path, { body })).status, status);
      assert.equal(await entries(), after);
    }),
  );

  if (other === undefined) continue;

  Deno.test(
    `${name}: a refused call does not use its Idempotency-Key, and a key is forgotten after 30 days`,
    withDeliveries(async (harness, { key, recording }) => {
      const setting = { harness, key, recording };
      const path = await prepare(setting);
      const before = await harness.rowCounts();
      const refused = await post(setting, path, { body: { ...body, ...BAD } });
      assert.equal(refused.status, 422, refused.text);
      assert.deepEqual(await harness.rowCounts(), before);
      assert.equal((await post(setting, path, { body })).status, status);
      harness.clock.advance(30 * DAY);
      // Only the time counts, not whether the row was deleted.
      const later = await post(setting, path, { body: other });
      assert.deepEqual([later.status, later.body.error?.code], [status, undefined], later.text);
      assert.equal((await harness.rowCounts()).keyed_call, 1);
      const repeated = await post(setting, path, { body: other });
      assert.deepEqual(repeated.body, again(later, secret));
    }),
  );
}

/** Members that make each of these requests invalid. */
const BAD = {
  operator_id: 7,
  outcome_correct: "yes",
  event_type: "no such!",
  url: 7,
  domain: 7,
  probes: 7,
};

Deno.test(
  "an Idempotency-Key belongs to one organization and one endpoint, and a call without one is not a repetition",
  withHarness(async (harness) => {
    const acme = { harness, key: await harness.organization("acme") };
    const beta = { harness, key: await harness.organization("beta") };
    const path = "/v1/decision/score";
    const first = await post(acme, path, { body: FLAT });
    const foreign = await post(beta, path, { body: { ...FLAT, operator_id: "other" } });
    assert.deepEqual([foreign.status, isReplay(foreign)], [200, false]);
    const elsewhere = await post(acme, "/v1/score", { body: FLAT });
    assert.deepEqual([elsewhere.status, isReplay(elsewhere)], [200, false]);
    const another = await post(acme, path, { body: FLAT, name: `${KEY}2` });
    assert.notEqual(another.body.decision_id, first.body.decision_id);
    const without = await harness.send(path, { key: acme.key, body: FLAT });
    assert.deepEqual([without.status, isReplay(without)], [200, false]);
    const spelled = await post(acme, path, { body: { ...FLAT, decision: "accept", unknown: 1 } });
    assert.deepEqual(
      [isReplay(spelled), spelled.body],
      [true, first.body],
      "the same request in another spelling",
    );
    // The parameters are a part of the request.
    const lite = await post(acme, "/v1/score?mode=lite", { body: FLAT });
    assert.deepEqual([lite.status, lite.body.error.code], [422, "IDEMPOTENCY_KEY_REUSED"]);
  }),
);

Deno.test(
  "an Idempotency-Key has 1 to 256 characters on endpoints that honour it, and is ignored elsewhere",
  withDeliveries(async (harness, { key, recording }) => {
    for (const [index, { name, prepare, body }] of POSTS.entries()) {
      // These two are prepared like another one, which is enough.
      if (name === "a commit with a label" || name === "a redelivery") continue;
      const path = await prepare({ harness, key, recording });
      for (const value of ["", "x".repeat(257)]) {
        await refuses(harness, {
          name: `${name} ${value.length}`,
          path,
          request: { key, method: "POST", body, headers: { "Idempotency-Key": value } },
          status: 400,
          code: "VALIDATION_FAILED",
          names: "256",
        });
      }
      const longest = String.fromCharCode(0x61 + index).repeat(256);
      const answer = await post({ harness, key }, path, { body, name: longest });
      assert.ok(answer.status < 300, answer.text);
    }
    const headers = { "Idempotency-Key": "x".repeat(300) };
    for (const path of ["/v1/admin/key/rotate", "/v1/admin/key/revoke"]) {
      const { status } = await harness.send(path, { key, method: "POST", headers });
      assert.equal(status, 400, path);
    }
    const read = await harness.send("/v1/organization/dashboard", { key, headers });
    assert.equal(read.status, 200);
    const advice = await harness.send("/v1/maintenance/recommend", {
      key,
      headers,
      body: { operator_id: "nobody" },
    });
    assert.equal(advice.status, 404);
  }),
);

Deno.test(
  "key rotations sent at once under one Idempotency-Key are one rotation; the repeated answers do not show the new key",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const path = "/v1/admin/key/rotate";
    const answers = await Promise.all([1, 2, 3].map(() => post({ harness, key }, path)));
    assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200]);
    const [minted] = answers.filter((answer) => !isReplay(answer));
    assert.equal(answers.filter(isReplay).length, 2);
    for (const answer of answers.filter(isReplay)) {
      assert.deepEqual(contentOf(answer), { prefix: minted!.body.prefix, already_provisioned: true });
    }
    // Under the new key the call is a repetition, and the old key is refused.
    const fresh = minted!.body.new_api_key;
    const repeated = await post({ harness, key: fresh }, path);
    assert.deepEqual([isReplay(repeated), repeated.body.prefix], [true, minted!.body.prefix]);
    assert.equal((await post({ harness, key }, path)).status, 401);
    const events = await storedEvents(harness, "org/acme/admin");
    assert.deepEqual(events.filter(({ type }) => type === "KEY_ROTATED").length, 1);
    assert.ok(!(await storedText(harness)).includes(fresh.slice(8)));
    const revoked = await Promise.all(
      [1, 2].map(() => post({ harness, key: fresh }, "/v1/admin/key/revoke")),
    );
    assert.deepEqual(revoked.map(({ status }) => status), [200, 200]);
    assert.deepEqual(revoked[0]!.body, revoked[1]!.body);
    assert.equal(revoked.filter(isReplay).length, 1);
  }),
);

Deno.test(
  "a repeated score without a key can be sent under one, which from then on belongs to that request",
  withHarness(async (harness) => {
    const setting = { harness, key: await harness.organization("acme") };
    const plain = await harness.send("/v1/score", { key: setting.key, body: scoreRequest() });
    const keyed = await post(setting, "/v1/score", { body: scoreRequest() });
    assert.deepEqual([isReplay(keyed), keyed.body], [true, plain.body]);
    const other = await post(setting, "/v1/score", { body: scoreRequest({ session_id: "new" }) });
    assert.deepEqual([other.status, other.body.error.code], [422, "IDEMPOTENCY_KEY_REUSED"]);
  }),
);

// ---- erasure and retention ----------------------------------------------------------------------------------

Deno.test(
  "nothing of an erased reviewer is kept of keyed calls, and their keys are 410 with the erasure's entry",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const setting = { harness, key };
    const operator_id = "emil-who-goes";
    const flat = { ...FLAT, operator_id };
    const calls: readonly (readonly [string, Record<string, unknown>])[] = [
      ["/v1/score", scoreRequest({ session_id: "named-by-emil", operator_id }, LATE)],
      ["/v1/score/named-by-emil/commit", { outcome_correct: true }],
      ["/v1/score", flat],
      ["/v1/score?mode_override=incident_frozen", flat],
      ["/v1/decision/score", flat],
      ["/v1/score/batch", {
        operator_id,
        domain: "legal",
        interactions: [{ session_id: "batch-of-emil", time_to_decision_ms: 9, decision: "accepted" }],
      }],
    ];
    const ids: string[] = [];
    for (const [index, [path, body]] of calls.entries()) {
      const answer = await post(setting, path, { body, name: `call-${index}` });
      assert.equal(answer.status, 200, answer.text);
      ids.push(answer.body.session_id, answer.body.decision_id);
    }
    const kept = await post(setting, "/v1/score", {
      body: scoreRequest({ session_id: "stays", operator_id: "stays" }),
      name: "call-of-another",
    });
    const digests = () =>
      harness.database.read(query.selectFrom("keyed_call").selectAll().orderBy("at").compile());
    const before = await digests();
    assert.equal(before.filter((row) => row.operator_id === operator_id).length, calls.length);

    const erased = await harness.send(`/v1/operator/${operator_id}`, { key, method: "DELETE" });
    assert.equal(erased.status, 200, erased.text);
    const stored = await storedText(harness);
    const digestsOf = (rows: Awaited<ReturnType<typeof digests>>) =>
      rows.flatMap((row) => row.operator_id === operator_id ? [row.request_digest!.toHex()] : []);
    for (
      const word of [
        operator_id,
        "named-by-emil",
        "batch-of-emil",
        ...ids.filter((id) => id !== undefined),
        ...digestsOf(before),
      ]
    ) {
      assert.ok(!stored.includes(word), word);
    }
    const { entry: { seq }, entry_hash } = erased.body.evidence;
    for (const [index, [path, body]] of calls.entries()) {
      for (const request of [body, { ...body, time_to_decision_ms: 1, operator_id: "ada" }]) {
        const answer = await post(setting, path, { body: request, name: `call-${index}` });
        assert.equal(answer.status, 410, `${path} ${answer.text}`);
        assert.deepEqual(answer.body.error.details, { reason: "erased", entry: { seq, entry_hash } });
      }
    }
    assert.equal((await harness.rowCounts()).operator, 1, "a repeated call brings no operator back");
    const repeated = await post(setting, "/v1/score", {
      body: scoreRequest({ session_id: "stays", operator_id: "stays" }),
      name: "call-of-another",
    });
    assert.deepEqual(repeated.body, kept.body);
  }),
);

Deno.test(
  "a repeated call for a pruned record is 410 and does not run again",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const setting = { harness, key };
    const calls: readonly (readonly [string, Record<string, unknown>])[] = [
      ["/v1/score", FLAT],
      ["/v1/score?mode_override=incident_frozen", { ...FLAT, operator_id: "frozen" }],
      ["/v1/decision/score", FLAT],
      ["/v1/audit/append", { event_type: "NOTE", payload: { a: 1 } }],
    ];
    for (const [index, [path, body]] of calls.entries()) {
      const answer = await post(setting, path, { body, name: `call-${index}` });
      assert.ok(answer.status < 300, answer.text);
    }
    harness.clock.advance(3 * DAY);
    await harness.send("/v1/score", { key, body: scoreRequest() });
    await pruneChains(harness.dependencies, harness.clock.now());
    for (const [index, [path, body]] of calls.entries()) {
      const before = await harness.rowCounts();
      const answer = await post(setting, path, { body, name: `call-${index}` });
      assert.deepEqual([answer.status, answer.body.error.code], [410, "GONE"], `${path} ${answer.text}`);
      assert.deepEqual(await harness.rowCounts(), before);
    }
  }, { evidenceRetentionDays: 1 }),
);

Deno.test(
  "keyed calls are deleted after 30 days, however many, and not before",
  withHarness(async (harness) => {
    const setting = { harness, key: await harness.organization("acme") };
    for (let index = 0; index < 3; index += 1) {
      await post(setting, "/v1/audit/append", {
        body: { event_type: "NOTE", payload: {} },
        name: `old-${index}`,
      });
    }
    const [row] = await harness.database.read(query.selectFrom("keyed_call").selectAll().compile());
    await harness.database.batch(
      Array.from({ length: 2_100 }, (_, index) =>
        query.insertInto("keyed_call").values({
          ...row!,
          name: new Uint8Array(32).fill(7).with(0, index & 0xff).with(1, index >> 8),
        }).compile()),
    );
    harness.clock.advance(DAY);
    await post(setting, "/v1/audit/append", { body: { event_type: "NOTE", payload: {} }, name: "young" });
    const forget = () => forgetKeyedCalls(harness.dependencies, harness.clock.now());
    harness.clock.advance(29 * DAY - 1);
    await forget();
    assert.equal((await harness.rowCounts()).keyed_call, 2_104);
    harness.clock.advance(1);
    await forget();
    assert.equal((await harness.rowCounts()).keyed_call, 1);
  }),
);

// ---- rows that somebody altered -----------------------------------------------------------------------------

Deno.test(
  "a keyed call whose row points to another record is refused: an event, a score and a decision",
  withAlterations(async (harness) => {
    const setting = { harness, key: await harness.organization("acme") };
    const note = (payload: Record<string, unknown>) => ({ event_type: "NOTE", payload });
    const calls: readonly (readonly [string, Record<string, unknown>, Record<string, unknown>])[] = [
      ["/v1/audit/append", note({ a: 1 }), note({ a: 2 })],
      ["/v1/score", FLAT, { ...FLAT, time_to_decision_ms: 9 }],
      ["/v1/decision/score", FLAT, { ...FLAT, stakes: "high" }],
    ];
    for (const [path, one, other] of calls) {
      await post(setting, path, { body: one, name: "one" });
      const second = await post(setting, path, { body: other, name: "other" });
      const references = await harness.database.read(
        query.selectFrom("keyed_call").select(["name", "reference"]).where("at", "=", harness.clock.now())
          .where("request_id", "=", second.body.request_id).compile(),
      );
      await harness.database.batch([
        query.updateTable("keyed_call").set({ reference: references[0]!.reference })
          .where("request_id", "!=", second.body.request_id).where("reference", "is not", null).compile(),
      ]);
      const before = await harness.rowCounts();
      const answer = await post(setting, path, { body: one, name: "one" });
      assert.ok(answer.status >= 400, answer.text);
      assert.equal(answer.body.evidence, undefined);
      assert.deepEqual(await harness.rowCounts(), before);
      await harness.database.batch([query.deleteFrom("keyed_call").compile()]);
    }
  }),
);
