/**
 * A key in a POST body: it is accepted until the last millisecond before its sunset, with three headers that
 * announce the sunset, and is never stored.
 * Source: specification, Authentication, rules 2, 3 and 7, and Versioning, rule 3; contract, section 3.
 */
import assert from "node:assert/strict";
import { ROUTES } from "../../src/http/routes.ts";
import {
  type Answer,
  type Harness,
  MASTER_KEYS,
  organizationRequest,
  scoreRequest,
  withHarness,
} from "../harness.ts";
import { refusalOf, refuses, storedText } from "../scenario.ts";

/** 2026-07-14T23:59:59.999Z, the last instant of keys in bodies. */
const LAST = { startsAt: 1_784_073_599_999 };
/** An hour before it: a refusal takes 80 ms of the clock. */
const BEFORE = { startsAt: 1_784_070_000_000 };
/** 2026-07-15T00:00:00.000Z. */
const SUNSET = { startsAt: 1_784_073_600_000 };

const ANNOUNCED = [
  "true",
  "Wed, 15 Jul 2026 00:00:00 GMT",
  '<http://jiss.test/docs#authentication>; rel="deprecation"',
];
const NOTHING = [null, null, null];

const announcedBy = ({ headers }: Answer) =>
  ["Deprecation", "Sunset", "Link"].map((name) => headers.get(name));

const MEGABYTE = 1_048_576;

/** A request as text of exactly `bytes` bytes. */
function padded(body: Record<string, unknown>, bytes: number): string {
  const text = JSON.stringify({ ...body, beside: "" });
  return text.replace('"beside":""', `"beside":"${"x".repeat(bytes - text.length)}"`);
}

/** Every operation that accepts a key in its body, with a body that it accepts. They run in this order. */
const OPERATIONS: readonly (readonly [path: string, status: number, body: Record<string, unknown>])[] = [
  ["/v1/score", 200, scoreRequest({}, { outcome_correct: null })],
  ["/v1/score/session-1/commit", 200, { outcome_correct: true }],
  ["/v1/score/batch", 200, {
    operator_id: "operator-1",
    domain: "general",
    interactions: Array.from({ length: 50 }, (_, index) => ({
      session_id: `batch-${index}`,
      time_to_decision_ms: 9000,
      decision: "accepted",
    })),
  }],
  ["/v1/decision/score", 200, {
    decision_id: "decision-1",
    operator_id: "operator-1",
    domain: "general",
    time_to_decision_ms: 9000,
    decision: "accepted",
  }],
  ["/v1/maintenance/recommend", 200, { operator_id: "operator-1" }],
  ["/v1/audit/append", 201, { event_type: "POLICY_CHANGED", payload: { version: 2 } }],
];

async function isNowhere(harness: Harness, key: string): Promise<void> {
  const everything = await storedText(harness);
  assert.ok(everything.includes(key.slice(0, 8)), "the key's prefix is stored");
  assert.ok(!everything.includes(key.slice(8)));
  assert.ok(!everything.includes(new TextEncoder().encode(key).toHex()));
  assert.ok(!everything.includes('api_key\\"'), "the field's name is not stored");
}

// ---- before the sunset ------------------------------------------------------------------------------------

Deno.test(
  "at 2026-07-14T23:59:59.999Z every operation that allows it accepts a key in the body, with the three headers, and stores it nowhere",
  withHarness(async (harness) => {
    assert.equal(new Date(harness.clock.now()).toISOString(), "2026-07-14T23:59:59.999Z");
    const key = await harness.organization("acme");
    const paths = ROUTES.filter(({ method, auth, body, headerKeyOnly }) =>
      method === "POST" && auth.kind === "key" && body !== null && !headerKeyOnly
    ).map(({ path }) => path.replace("{session_id}", "session-1"));
    assert.deepEqual(OPERATIONS.map(([path]) => path).sort(), paths.sort());
    for (const [path, status, body] of OPERATIONS) {
      const answer = await harness.send(path, { body: { api_key: key, ...body } });
      assert.equal(answer.status, status, `${path}: ${answer.text}`);
      assert.deepEqual(announcedBy(answer), ANNOUNCED, path);
      assert.equal(answer.headers.get("X-RateLimit-Limit"), "1000000", path);
      assert.ok(!answer.text.includes(key), path);
    }
    assert.equal(harness.clock.now(), LAST.startsAt, "no answer is delayed");
    await isNowhere(harness, key);
  }, LAST),
);

Deno.test(
  "at 2026-07-15T00:00:00.000Z a key in the body is 401 like any refused key, and nothing is announced or written",
  withHarness(async (harness) => {
    const { send, clock } = harness;
    assert.equal(new Date(clock.now()).toISOString(), "2026-07-15T00:00:00.000Z");
    const key = await harness.organization("acme");
    const unknown = refusalOf(await send("/v1/score", { key: "nobody's", body: scoreRequest() }));
    const counts = await harness.rowCounts();
    for (const [path, , body] of OPERATIONS) {
      const before = clock.monotonic();
      const answer = await send(path, { body: { ...body, api_key: key } });
      assert.deepEqual(refusalOf(answer), unknown, path);
      assert.equal(answer.status, 401);
      assert.deepEqual(announcedBy(answer), NOTHING);
      assert.equal(clock.monotonic() - before, 80, path);
    }
    assert.deepEqual(await harness.rowCounts(), counts);
    const answer = await send("/v1/score", { key, body: { ...scoreRequest(), api_key: key } });
    assert.deepEqual(
      [answer.status, announcedBy(answer)],
      [200, NOTHING],
      "the key in the header is still accepted",
    );
    await isNowhere(harness, key);
  }, SUNSET),
);

Deno.test(
  "a key in the body is accepted a millisecond before the sunset and refused at it",
  withHarness(async ({ send, organization, clock }) => {
    const key = await organization("acme");
    const ask = () => send("/v1/maintenance/recommend", { body: { operator_id: "nobody", api_key: key } });
    const before = await ask();
    assert.deepEqual([before.status, announcedBy(before)], [404, ANNOUNCED]);
    clock.advance(1);
    const after = await ask();
    assert.deepEqual([after.status, announcedBy(after)], [401, NOTHING]);
  }, LAST),
);

Deno.test(
  "refusals after authentication announce the sunset too: 415, 422, 429",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    const answers = [
      await send("/v1/score", { body: { api_key: key } }),
      await send("/v1/score", {
        headers: { "Content-Type": "text/plain" },
        body: JSON.stringify({ api_key: key }),
      }),
      await send("/v1/score", { body: { ...scoreRequest(), api_key: key } }),
    ];
    assert.deepEqual(answers.map(({ status }) => status), [422, 415, 429]);
    for (const answer of answers) assert.deepEqual(announcedBy(answer), ANNOUNCED);
  }, { ...LAST, rateLimitKey: 2 }),
);

Deno.test(
  "a body whose key does not count is 401 like any refused key, and announces nothing",
  withHarness(async (harness) => {
    const { send } = harness;
    const key = await harness.organization("acme");
    const unknown = refusalOf(await send("/v1/score", { key: "nobody's", body: scoreRequest() }));
    const counts = await harness.rowCounts();
    const bodies: readonly unknown[] = [
      scoreRequest(),
      { ...scoreRequest(), api_key: "jis_00000000000000000000000000" },
      { ...scoreRequest(), api_key: `${key} ` },
      { ...scoreRequest(), api_key: "" },
      { ...scoreRequest(), api_key: 1 },
      { ...scoreRequest(), api_key: null },
      { ...scoreRequest(), api_key: [key] },
      { ...scoreRequest(), API_KEY: key },
      scoreRequest({}, { api_key: key }),
      [{ api_key: key }],
      "null",
      JSON.stringify(key),
      "",
      `{"api_key":"${key}"`,
      `${"[".repeat(17)}${"]".repeat(17)}`,
      Uint8Array.of(0xff, 0xfe),
    ];
    for (const [index, body] of bodies.entries()) {
      const answer = await send("/v1/score", { body });
      assert.deepEqual(refusalOf(answer), unknown, `body ${index}`);
    }
    const none = await send("/v1/score", { method: "POST" });
    assert.deepEqual(refusalOf(none), unknown);
    const query = await send(`/v1/score?api_key=${key}`, { body: scoreRequest() });
    assert.deepEqual(refusalOf(query), unknown);
    assert.deepEqual(await harness.rowCounts(), counts);
  }, BEFORE),
);

// ---- beside a header --------------------------------------------------------------------------------------

Deno.test(
  "the header's key is used and the body's ignored: a wrong one in the header is 401 beside a right one in the body",
  withHarness(async ({ send, organization }) => {
    const [acme, other] = [await organization("acme"), await organization("other")];
    const answer = await send("/v1/score", { key: acme, body: { ...scoreRequest(), api_key: other } });
    assert.deepEqual([answer.status, announcedBy(answer)], [200, NOTHING]);
    const profile = (key: string) => send("/v1/operator/operator-1/profile", { key });
    assert.deepEqual([(await profile(acme)).status, (await profile(other)).status], [200, 404]);
    const { error } = (await send("/v1/score", { key: acme, body: { api_key: 1 } })).body;
    assert.ok(!JSON.stringify(error).includes("api_key"), "api_key is not a field of the request");
    for (const key of ["nobody's", ""]) {
      const refused = await send("/v1/score", { key, body: { ...scoreRequest(), api_key: other } });
      assert.deepEqual([refused.status, announcedBy(refused)], [401, NOTHING]);
    }
  }, BEFORE),
);

Deno.test(
  "a request sent again with its key in the header in place of the body is a repetition",
  withHarness(async (harness) => {
    const { send } = harness;
    const key = await harness.organization("acme");
    for (const [path, status, body] of OPERATIONS.slice(0, 4)) {
      const first = await send(path, { body: { ...body, api_key: key } });
      assert.equal(first.status, status, first.text);
      const counts = await harness.rowCounts();
      const again = await send(path, { key, body });
      assert.equal(again.text, first.text, path);
      assert.deepEqual(
        [again.headers.get("Idempotency-Replayed"), announcedBy(again)],
        ["true", NOTHING],
        path,
      );
      const third = await send(path, { body: { ...body, api_key: key } });
      assert.deepEqual([third.text, announcedBy(third)], [first.text, ANNOUNCED], path);
      assert.deepEqual(await harness.rowCounts(), counts, path);
    }
    await isNowhere(harness, key);
  }, LAST),
);

// ---- routes without body keys -----------------------------------------------------------------------------

Deno.test(
  "no endpoint under /v1/admin accepts its key from the body",
  withHarness(async (harness) => {
    const { send } = harness;
    const key = await harness.organization("acme");
    const unknown = refusalOf(await send("/v1/score", { key: "nobody's", body: scoreRequest() }));
    const admin = ROUTES.filter(({ path, method }) => path.startsWith("/v1/admin/") && method === "POST");
    assert.ok(admin.length >= 10);
    for (const { path, auth } of admin) {
      const own = auth.kind === "master" ? MASTER_KEYS[auth.scope] : key;
      const answer = await send(path.replaceAll(/\{\w+\}/g, "acme"), {
        headers: { "Idempotency-Key": "k" },
        body: { ...organizationRequest({ org_id: "another" }), api_key: own },
      });
      assert.deepEqual(refusalOf(answer), unknown, path);
    }
    assert.equal((await harness.rowCounts()).organization, 1);
  }, { ...BEFORE, adminDashboard: true }),
);

// ---- the size of the key ----------------------------------------------------------------------------------

Deno.test(
  "the size limit is checked before a key in the body: a body at the limit is accepted, a byte more is 413",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const body = { ...scoreRequest(), api_key: key };
    const whole = await harness.send("/v1/score", { body: padded(body, MEGABYTE) });
    assert.deepEqual([whole.status, announcedBy(whole)], [200, ANNOUNCED], whole.text);
    const [, , batch] = OPERATIONS[2]!;
    const large = await harness.send("/v1/score/batch", {
      body: padded({ ...batch, api_key: key }, 5 * MEGABYTE),
    });
    assert.deepEqual([large.status, announcedBy(large)], [200, ANNOUNCED], large.text);
    const tooLarge = (path: string, text: string, headers: Record<string, string> = {}) =>
      refuses(harness, {
        name: path,
        path,
        request: { body: text, headers },
        status: 413,
        code: "PAYLOAD_TOO_LARGE",
        names: "at most",
      });
    await tooLarge("/v1/score", padded(body, MEGABYTE + 1));
    await tooLarge("/v1/score/batch", padded({ ...batch, api_key: key }, 5 * MEGABYTE + 1));
    await tooLarge("/v1/score", JSON.stringify(body), { "Content-Length": String(MEGABYTE + 1) });
    await isNowhere(harness, key);
  }, LAST),
);
