/** POST /v1/admin/org/create: what it creates, what it shows only once, and its repeated answer. */
import assert from "node:assert/strict";
import {
  EPOCH,
  type Harness,
  MASTER_KEY,
  organizationRequest,
  scoreRequest,
  withHarness,
} from "../harness.ts";
import { verifyDatabase } from "../oracle.ts";
import { storedText } from "../scenario.ts";

const PATH = "/v1/admin/org/create";

const create = (
  { send }: Harness,
  { idempotencyKey = "create-1", fields = {} }: {
    readonly idempotencyKey?: string;
    readonly fields?: Record<string, unknown>;
  } = {},
) =>
  send(PATH, {
    headers: { "X-API-Key": MASTER_KEY, "Idempotency-Key": idempotencyKey },
    body: organizationRequest(fields),
  });

Deno.test(
  "creating an organization answers 201 with a key that works, shown once",
  withHarness(async (harness) => {
    const { status, body, headers } = await create(harness);
    assert.equal(status, 201);
    assert.deepEqual(Object.keys(body).sort(), [
      "api_key",
      "created_at",
      "org_id",
      "prefix",
      "request_id",
      "timestamp",
      "warning",
    ]);
    assert.match(body.api_key, /^jis_[0-9A-HJKMNP-TV-Z]{26}$/);
    assert.equal(body.prefix, body.api_key.slice(0, 8));
    assert.equal(body.org_id, "acme");
    assert.equal(body.created_at, new Date(EPOCH).toISOString());
    assert.equal(headers.get("X-RateLimit-Limit"), null);
    assert.equal((await harness.send("/v1/score", { key: body.api_key, body: scoreRequest() })).status, 200);
  }),
);

Deno.test(
  "the database and the log never hold the key, only its keyed hash and its prefix",
  withHarness(async (harness) => {
    const { body } = await create(harness);
    const everything = await storedText(harness);
    assert.ok(!everything.includes(body.api_key));
    assert.ok(!everything.includes(body.api_key.slice(8)));
    assert.ok(!everything.includes(MASTER_KEY));
    assert.ok(everything.includes(body.prefix));
  }),
);

Deno.test(
  "both chains begin in the transaction that creates the organization, the admin chain with ORG_CREATED",
  withHarness(async (harness) => {
    const { body } = await create(harness);
    const { publicKey } = harness.verifierKey("any");
    const chains = await verifyDatabase(harness.database, { publicKey });
    const byName = Object.fromEntries(chains.map((chain) => [chain.chain, chain]));
    assert.deepEqual(Object.keys(byName).sort(), ["org/acme", "org/acme/admin", "sys"]);
    assert.deepEqual(byName["org/acme"]!.entries.map(({ event_type }) => event_type), ["CHAIN_GENESIS"]);
    const admin = byName["org/acme/admin"]!;
    assert.deepEqual(
      admin.entries.map(({ event_type, actor, prefix }) => [event_type, actor, prefix]),
      [["CHAIN_GENESIS", "system", null], ["ORG_CREATED", "payment-worker", body.prefix]],
    );
    assert.deepEqual(admin.parts.get("1/detail"), {
      scope: "ORG_CREATE",
      name: "Acme Bank",
      domain: "financial",
      tier: "standard",
    });
    assert.equal(admin.parts.get("0/detail").retention_days, 90);
    assert.equal(byName["org/acme"]!.parts.get("0/detail").retention_days, null);
  }),
);

Deno.test(
  "the same call again gets an answer without the key and creates nothing",
  withHarness(async (harness) => {
    const first = await create(harness);
    const before = await harness.rowCounts();
    const again = await create(harness, { fields: { unknown: 1 } });
    assert.equal(again.status, 201);
    assert.equal(again.headers.get("Idempotency-Replayed"), "true");
    const { request_id, timestamp, ...rest } = again.body;
    assert.deepEqual(rest, { prefix: first.body.prefix, already_provisioned: true });
    assert.equal(request_id, again.headers.get("X-Request-Id"));
    assert.equal(timestamp, new Date(EPOCH).toISOString());
    assert.deepEqual(await harness.rowCounts(), before);
  }),
);

Deno.test(
  "the same Idempotency-Key with another body is 422 and creates nothing",
  withHarness(async (harness) => {
    await create(harness);
    const before = await harness.rowCounts();
    const other = await create(harness, { fields: { org_id: "other" } });
    assert.deepEqual([other.status, other.body.error.code], [422, "IDEMPOTENCY_KEY_REUSED"]);
    assert.deepEqual(await harness.rowCounts(), before);
  }),
);

Deno.test(
  "if three calls are sent at once with one Idempotency-Key, one runs, and the others get its answer",
  withHarness(async (harness) => {
    const answers = await Promise.all([create(harness), create(harness), create(harness)]);
    assert.deepEqual(answers.map(({ status }) => status), [201, 201, 201]);
    assert.equal(answers.filter(({ body }) => body.api_key !== undefined).length, 1);
    assert.equal(new Set(answers.map(({ body }) => body.prefix)).size, 1);
    assert.equal((await harness.rowCounts()).organization, 1);
  }),
);

Deno.test(
  "if two calls are sent at once for one org_id with different Idempotency-Keys, one creates, the other is 409",
  withHarness(async (harness) => {
    const answers = await Promise.all([
      create(harness, { idempotencyKey: "a" }),
      create(harness, { idempotencyKey: "b" }),
    ]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409]);
  }),
);

Deno.test(
  "a refused call is not remembered: the same Idempotency-Key then succeeds",
  withHarness(async (harness) => {
    await create(harness, { idempotencyKey: "taken" });
    const refused = await create(harness, { idempotencyKey: "retry" });
    assert.equal(refused.status, 409);
    const mended = await create(harness, { idempotencyKey: "retry", fields: { org_id: "another" } });
    assert.equal(mended.status, 201);
    assert.ok(mended.body.api_key);
  }),
);

Deno.test(
  "an Idempotency-Key is forgotten after 30 days",
  withHarness(async (harness) => {
    await create(harness);
    harness.clock.advance(30 * 86_400_000 - 1);
    assert.equal((await create(harness)).headers.get("Idempotency-Replayed"), "true");
    harness.clock.advance(1);
    assert.equal((await create(harness)).status, 409);
    assert.equal((await create(harness, { fields: { org_id: "fresh" } })).status, 201);
  }),
);

Deno.test(
  "a name is trimmed and an empty list of origins is accepted",
  withHarness(async (harness) => {
    const { status } = await create(harness, { fields: { name: "  Acme  ", allowed_origins: "" } });
    assert.equal(status, 201);
  }),
);

Deno.test({
  name: "a failed transaction answers 500, creates nothing, and the same Idempotency-Key then succeeds",
  async fn() {
    let failing: Error | null = null;
    await withHarness(async (harness) => {
      const before = await harness.rowCounts();
      failing = new Error("no room in the test");
      const failed = await create(harness);
      failing = null;
      assert.deepEqual([failed.status, failed.body.error.code], [500, "INTERNAL_ERROR"]);
      assert.ok(!failed.text.includes("no room"));
      assert.deepEqual(await harness.rowCounts(), before);
      const mended = await create(harness);
      assert.equal(mended.status, 201);
      assert.ok(mended.body.api_key);
    }, {
      wrap: (database) => ({
        ...database,
        batch: (statements) => (failing === null ? database.batch(statements) : Promise.reject(failing)),
      }),
    })();
  },
});
