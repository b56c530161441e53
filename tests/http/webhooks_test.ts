/**
 * POST /v1/admin/webhook/register, GET /v1/admin/webhook/list, DELETE /v1/admin/webhook/{id}: destinations
 * and their secrets.
 * Source: specification, Self-serve admin, Webhook destination and Limits; contract, sections 5 and 8.14.
 */
import assert from "node:assert/strict";
import { hkdfSync } from "node:crypto";
import { query } from "../../src/store/database.ts";
import { EPOCH, type Harness, type RequestOptions, withHarness } from "../harness.ts";
import { storedEvents } from "../scenario.ts";

const REGISTER = "/v1/admin/webhook/register";
const LIST = "/v1/admin/webhook/list";
const SHARED = "a-secret-of-the-receiver";
const URL_TEXT = "https://review.acme.example/jiss";

const register = ({ send }: Pick<Harness, "send">, key: string, body: Record<string, unknown> = {}) =>
  send(REGISTER, { key, body: { url: URL_TEXT, secret: SHARED, ...body } });

async function registered(harness: Harness, key: string, body: Record<string, unknown> = {}) {
  const answer = await register(harness, key, body);
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

Deno.test(
  "a destination is registered for all events, its signing secret is derived and shown once, and both are recorded",
  withHarness(async (harness) => {
    const { send, dependencies } = harness;
    const key = await harness.organization("acme");
    const { request_id: _r, timestamp, signing_secret, ...webhook } = await registered(harness, key);
    const { id } = webhook;
    assert.equal(timestamp, new Date(EPOCH).toISOString());
    assert.deepEqual(webhook, {
      id,
      url: URL_TEXT,
      events: ["score.committed", "drs.must_review", "drs.escalation"],
      active: true,
      created_at: new Date(EPOCH).toISOString(),
    });
    const derived = new Uint8Array(
      hkdfSync("sha256", SHARED, dependencies.installation.key, `jiss webhook signing v1 ${id}`, 32),
    );
    assert.equal(signing_secret, `whsec_${derived.toBase64()}`);

    const listed = await send(LIST, { key });
    assert.deepEqual([listed.status, listed.body.webhooks, listed.body.count], [200, [{
      ...webhook,
      last_delivery: null,
    }], 1]);
    assert.ok(!listed.text.includes("whsec_"));
    const removed = await send(`/v1/admin/webhook/${id}`, { key, method: "DELETE" });
    assert.deepEqual([removed.status, removed.body.deleted, removed.body.id], [200, true, id]);
    assert.deepEqual((await send(LIST, { key })).body.webhooks, []);
    const events = (await storedEvents(harness, "org/acme/admin")).filter(({ type }) =>
      type.startsWith("WEBHOOK_")
    );
    assert.deepEqual(events.map(({ type, actor, detail }) => [type, actor, detail]), [
      ["WEBHOOK_REGISTERED", "self_serve", { id, host: "review.acme.example", events: webhook.events }],
      ["WEBHOOK_LISTED", "self_serve", {}],
      ["WEBHOOK_REMOVED", "self_serve", { id }],
      ["WEBHOOK_LISTED", "self_serve", {}],
    ]);
  }),
);

Deno.test(
  "two destinations with one shared secret sign with different secrets, and neither is in the database",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const first = await registered(harness, key);
    const second = await registered(harness, key);
    assert.notEqual(first.signing_secret, second.signing_secret);
    const rows = await harness.database.read(query.selectFrom("webhook").selectAll().compile());
    for (const { wrapped_secret } of rows) {
      assert.equal(wrapped_secret.length, 12 + 32 + 16);
      for (const { signing_secret } of [first, second]) {
        assert.ok(!wrapped_secret.toHex().includes(Uint8Array.fromBase64(signing_secret.slice(6)).toHex()));
      }
    }
  }),
);

Deno.test(
  "a destination gets the events that were asked for, each once, in one order; another organization derives another secret",
  withHarness(async (harness) => {
    const [acme, bank] = [await harness.organization("acme"), await harness.organization("bank")];
    const webhook = await registered(harness, acme, {
      events: ["case.opened", "drs.escalation", "score.committed", "drs.escalation"],
    });
    assert.deepEqual(webhook.events, ["score.committed", "drs.escalation", "case.opened"]);
    assert.deepEqual((await harness.send(LIST, { key: bank })).body.webhooks, []);
    for (const id of [webhook.id, "01UNKNOWN"]) {
      const { status, body } = await harness.send(`/v1/admin/webhook/${id}`, { key: bank, method: "DELETE" });
      assert.deepEqual([status, body.error.code], [404, "NOT_FOUND"], id);
    }
    assert.equal((await harness.send(LIST, { key: acme })).body.count, 1);
    const path = `/v1/admin/webhook/${webhook.id}`;
    const twins = await Promise.all([1, 2].map(() => harness.send(path, { key: acme, method: "DELETE" })));
    assert.deepEqual(twins.map(({ status }) => status).sort(), [200, 404]);
  }),
);

Deno.test(
  "an organization can have ten destinations, also if many are sent at once, and one more after one is removed",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const answers = await Promise.all(Array.from({ length: 12 }, () => register(harness, key)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(10).fill(201), 409, 409]);
    assert.match(answers.find(({ status }) => status === 409)!.text, /at most 10: remove one first/);
    await registered(harness, await harness.organization("bank"));
    const { id } = answers.find(({ status }) => status === 201)!.body;
    assert.equal((await harness.send(`/v1/admin/webhook/${id}`, { key, method: "DELETE" })).status, 200);
    await registered(harness, key);
    assert.equal((await register(harness, key)).status, 409);
  }),
);

const REFUSED: readonly (readonly [name: string, body: Record<string, unknown>, message: RegExp])[] = [
  ["no url", { url: undefined }, /url is missing|Change url: is missing/],
  ["no secret", { secret: undefined }, /is missing/],
  ["a secret of 15 characters", { secret: "x".repeat(15) }, /secret/],
  ["a secret of 1,025 characters", { secret: "x".repeat(1_025) }, /secret/],
  ["no events", { events: [] }, /events/],
  ["an unknown event", { events: ["score.computed"] }, /events/],
  ["a number", { url: 1 }, /url/],
  ["http", { url: "http://review.acme.example/" }, /must begin with https/],
  ["another scheme", { url: "file:///etc/passwd" }, /must begin with https/],
  ["no absolute URL", { url: "review.acme.example" }, /must be an absolute URL/],
  ["a user", { url: "https://user@review.acme.example/" }, /no user and no password/],
  ["a password", { url: "https://:word@review.acme.example/" }, /no user and no password/],
  ["port 0", { url: "https://review.acme.example:0/" }, /must name a port from 1 to 65535/],
  ["a fragment", { url: "https://review.acme.example/#x" }, /no fragment/],
  ["2,049 characters", { url: `${URL_TEXT}?${"x".repeat(2_049 - URL_TEXT.length - 1)}` }, /url/],
  ["loopback", { url: "https://127.0.0.1/" }, /JISS_WEBHOOK_ALLOW/],
  ["metadata", { url: "https://169.254.169.254/" }, /must not lead to a link-local/],
  ["a name within", { url: "https://within.example/" }, /JISS_WEBHOOK_ALLOW/],
  ["a name in both worlds", { url: "https://mixed.example/" }, /JISS_WEBHOOK_ALLOW/],
  ["a name of nobody", { url: "https://nobody.example/" }, /JISS_WEBHOOK_ALLOW/],
];

const HOSTS = { "within.example": ["10.0.0.5"], "mixed.example": ["198.41.0.4", "10.0.0.5"] };

Deno.test(
  "a refused registration names the field, and changes nothing",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const before = await harness.rowCounts();
    for (const [name, body, message] of REFUSED) {
      const answer = await register(harness, key, body);
      assert.deepEqual([answer.status, answer.body.error.code], [422, "VALIDATION_FAILED"], name);
      assert.match(answer.body.error.message, message, name);
      assert.equal(answer.body.error.details[0].path.split(".")[0], Object.keys(body)[0], name);
      assert.ok(!/10\.0\.0\.5/.test(answer.text), name);
    }
    assert.deepEqual(await harness.rowCounts(), before);
    for (const secret of ["x".repeat(16), "x".repeat(1_024)]) await registered(harness, key, { secret });
    await registered(harness, key, { url: `${URL_TEXT}?${"x".repeat(2_048 - URL_TEXT.length - 1)}` });
  }, { hosts: HOSTS }),
);

Deno.test(
  "a network that the administrator allows may be called",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    for (const url of ["https://within.example/", "https://mixed.example:8443/", "https://10.0.0.9/"]) {
      assert.equal((await registered(harness, key, { url })).url, url);
    }
    assert.equal((await register(harness, key, { url: "https://192.168.0.1/" })).status, 422);
  }, { hosts: HOSTS, webhookAllow: ["10.0.0.0/8"] }),
);

Deno.test(
  "a key in the body is refused, before its sunset too",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const options: RequestOptions = { body: { url: URL_TEXT, secret: SHARED, api_key: key } };
    assert.equal((await harness.send(REGISTER, options)).status, 401);
  }, { startsAt: Date.UTC(2026, 5, 1) }),
);
