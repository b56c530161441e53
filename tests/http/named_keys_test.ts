/**
 * Named keys: what each scope may call, expiry, last use, removal, pepper, and what becomes of them if the organization's key
 * is destroyed.
 */
import assert from "node:assert/strict";
import { ACCESS, isGranted, SCOPES } from "../../src/domain/access.ts";
import { NAMED_KEYS_MAX } from "../../src/domain/limits.ts";
import type { Route } from "../../src/http/exchange.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { rowsOf } from "../earlier_schema.ts";
import { pathOf } from "../examples.ts";
import { EPOCH, type Harness, openHarness, scoreRequest, withHarness } from "../harness.ts";
import { refuses, storedEvents, storedText } from "../scenario.ts";

const MINUTE = 60_000;

interface Made {
  readonly key: string;
  readonly id: string;
}

/** Makes a named key with the organization's own. */
async function make(
  { send }: Harness,
  own: string,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<Made> {
  const body = { name: "review desk", scopes: ["score"], ...fields };
  const answer = await send("/v1/keys", { key: own, body });
  assert.equal(answer.status, 201, answer.text);
  return { key: answer.body.api_key, id: answer.body.key_id };
}

function keyTest(name: string, test: (harness: Harness, own: string) => Promise<void>): void {
  Deno.test(
    name,
    withHarness(async (harness) => await test(harness, await harness.organization("acme"))),
  );
}

const KEYED = ROUTES.filter(({ auth }) => auth.kind === "key");

/** Calls a route as its first example does, with names that nothing has. */
function call({ send }: Harness, route: Route, key: string) {
  const [example] = route.examples;
  return send(pathOf(route, example!.path ?? {}), {
    method: route.method,
    key,
    ...(route.body === null ? {} : { body: example!.body ?? {} }),
  });
}

for (const scope of SCOPES) {
  keyTest(
    `a key with the scope ${scope} alone makes the calls of that scope, and is refused each other one`,
    async (harness, own) => {
      const { key } = await make(harness, own, { scopes: [scope] });
      // The first use of the key is recorded, which would count as a write.
      await harness.send("/v1/organization/dashboard", { key });
      // And so would the first refusal: the others of its minute are counted with it.
      await harness.send("/v1/audit/append", { key, body: {} });
      for (const route of KEYED) {
        const { access } = route.auth as { readonly access: keyof typeof ACCESS };
        const before = await harness.rowCounts();
        const answer = await call(harness, route, key);
        const name = `${route.operationId}: ${answer.text.slice(0, 200)}`;
        if (isGranted({ kind: "scopes", scopes: [scope] }, access)) {
          assert.ok(![401, 403].includes(answer.status), name);
          continue;
        }
        assert.equal(answer.status, 403, name);
        assert.equal(answer.body.error.code, "FORBIDDEN", name);
        assert.match(answer.body.error.message, new RegExp(`; this key has the scopes ${scope}\\.$`), name);
        assert.deepEqual(await harness.rowCounts(), before, name);
      }
    },
  );
}

keyTest("the organization's own key makes every call, as before", async (harness, own) => {
  for (const route of KEYED.filter(({ operationId }) => !/^postKeyR|^deleteOperator/.test(operationId))) {
    const answer = await call(harness, route, own);
    assert.ok(![401, 403].includes(answer.status), `${route.operationId}: ${answer.text.slice(0, 200)}`);
  }
});

keyTest(
  "a key is shown once, stored as a hash, listed without itself, and named by its entries",
  async (harness, own) => {
    const answer = await harness.send("/v1/keys", {
      key: own,
      body: { name: "  audit of 2027 ", scopes: ["export", "read", "export"], expires_at: "2027-01-01" },
    });
    const { api_key: key, key_id, warning, request_id: _id, timestamp: _at, ...shown } = answer.body;
    assert.match(key, /^jis_[0-9A-HJKMNP-TV-Z]{26}$/);
    assert.match(warning, /shown only once/);
    assert.deepEqual(shown, {
      name: "audit of 2027",
      prefix: key.slice(0, 8),
      scopes: ["read", "export"],
      created_at: new Date(EPOCH).toISOString(),
      expires_at: "2027-01-01T00:00:00.000Z",
      last_used_at: null,
    });
    const listed = await harness.send("/v1/keys", { key: own });
    assert.deepEqual(listed.body.keys, [{ key_id, ...shown }]);
    assert.equal(listed.body.count, 1);
    assert.doesNotMatch(await storedText(harness), new RegExp(key.slice(8)));
    await harness.send("/v1/admin/audit-log", { key });
    const [created, read] = (await storedEvents(harness, "org/acme/admin")).slice(-2);
    assert.deepEqual([created!.type, created!.actor, created!.prefix], [
      "NAMED_KEY_CREATED",
      "self_serve",
      own.slice(0, 8),
    ]);
    assert.deepEqual(created!.detail, {
      key_id,
      name: "audit of 2027",
      scopes: ["read", "export"],
      expires_at: "2027-01-01T00:00:00.000Z",
    });
    assert.deepEqual([read!.type, read!.prefix], ["AUDIT_LOG_READ", key.slice(0, 8)]);
  },
);

keyTest("a key is refused from its end on, like an unknown one", async (harness, own) => {
  const end = EPOCH + 10 * MINUTE;
  const { key } = await make(harness, own, { expires_at: new Date(end).toISOString() });
  const score = (session: string) =>
    harness.send("/v1/score", { key, body: scoreRequest({ session_id: session }) });
  harness.clock.advance(10 * MINUTE - 1);
  assert.equal((await score("s-1")).status, 200);
  harness.clock.advance(1);
  const late = await score("s-2");
  assert.deepEqual([late.status, late.body.error.code], [401, "UNAUTHORIZED"]);
  assert.doesNotMatch(late.text, /expire/);
});

keyTest("the last use is recorded, exact to a minute", async (harness, own) => {
  const { key } = await make(harness, own, { scopes: ["read"] });
  const lastUse = async () => {
    await harness.rowCounts();
    return (await harness.send("/v1/keys", { key: own })).body.keys[0].last_used_at;
  };
  const use = () => harness.send("/v1/organization/dashboard", { key });
  await use();
  const first = new Date(harness.clock.now()).toISOString();
  assert.equal(await lastUse(), first);
  harness.clock.advance(MINUTE - 1);
  await use();
  assert.equal(await lastUse(), first);
  harness.clock.advance(1);
  await use();
  assert.equal(await lastUse(), new Date(harness.clock.now()).toISOString());
});

keyTest("a removed key is refused, also if its row is put back with its seal", async (harness, own) => {
  const { key, id } = await make(harness, own, { scopes: ["read"] });
  const use = () => harness.send("/v1/organization/dashboard", { key });
  await use();
  await harness.rowCounts();
  const [row] = await rowsOf(harness.database, "SELECT * FROM named_key");
  const removed = await harness.send(`/v1/keys/${id}`, { method: "DELETE", key: own });
  assert.deepEqual([removed.status, removed.body.deleted, removed.body.key_id], [200, true, id]);
  assert.equal((await use()).status, 401);
  const event = (await storedEvents(harness, "org/acme/admin")).at(-1)!;
  assert.deepEqual([event.type, event.detail], ["NAMED_KEY_REMOVED", { key_id: id }]);
  const columns = Object.keys(row!);
  const put = `INSERT INTO named_key (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
  await harness.database.batch([{ sql: put, parameters: Object.values(row!) }]);
  assert.equal((await use()).status, 503);
  await harness.database.batch([{ sql: "DELETE FROM named_key", parameters: [] }]);
  assert.equal((await use()).status, 401);
});

keyTest("a key whose scopes were altered in the file is refused", async (harness, own) => {
  const { key } = await make(harness, own, { scopes: ["read"] });
  const set = (scopes: string) =>
    harness.database.batch([{ sql: "UPDATE named_key SET scopes = ?", parameters: [scopes] }]);
  await set("score read export probe");
  assert.equal((await harness.send("/v1/organization/dashboard", { key })).status, 503);
  await set("read");
  assert.equal((await harness.send("/v1/organization/dashboard", { key })).status, 200);
});

Deno.test(
  "a key of another organization is not found, and a suspended organization's keys are refused",
  withHarness(async (harness) => {
    const [acme, other] = [await harness.organization("acme"), await harness.organization("other")];
    const { key, id } = await make(harness, acme, { scopes: ["read"] });
    await refuses(harness, {
      name: "another organization",
      path: `/v1/keys/${id}`,
      request: { method: "DELETE", key: other },
      status: 404,
      code: "NOT_FOUND",
      names: "GET /v1/keys",
    });
    const change = (scope: "ORG_SUSPEND" | "ORG_REACTIVATE" | "ORG_FORCE_REVOKE", path: string) =>
      harness.master(scope, `/v1/admin/org/acme/${path}`, {
        idempotencyKey: path,
        body: { confirm_org_id: "acme", idempotency_key: path },
      });
    const use = async () => (await harness.send("/v1/organization/dashboard", { key })).status;
    assert.equal((await change("ORG_SUSPEND", "suspend")).status, 200);
    assert.equal(await use(), 401);
    assert.equal((await change("ORG_REACTIVATE", "reactivate")).status, 200);
    assert.equal(await use(), 200);
  }, { adminDashboard: true }),
);

keyTest(
  "named keys end with the organization's own key if that is destroyed, and outlive its rotation",
  async (harness, own) => {
    const { key } = await make(harness, own, { scopes: ["read"] });
    const use = async (used: string) =>
      (await harness.send("/v1/organization/dashboard", { key: used })).status;
    const rotated = await harness.send("/v1/admin/key/rotate", { method: "POST", key: own });
    const next: string = rotated.body.new_api_key;
    assert.deepEqual([await use(key), await use(own)], [200, 401]);
    harness.clock.advance(1);
    assert.equal((await harness.send("/v1/admin/key/revoke", { method: "POST", key: next })).status, 200);
    harness.clock.advance(1);
    const paid = await harness.master("BILLING_ROTATE", "/v1/admin/billing/org/acme/rotate", {
      idempotencyKey: "paid",
      body: { confirm_org_id: "acme", idempotency_key: "paid" },
    });
    assert.equal(paid.status, 200, paid.text);
    assert.equal(await use(paid.body.new_api_key), 200);
    assert.equal(await use(key), 401);
    const { key: later } = await make(harness, paid.body.new_api_key, { name: "later", scopes: ["read"] });
    assert.equal(await use(later), 200);
  },
);

keyTest(
  "a repeated call gets the id and not the key; another body under its Idempotency-Key is refused",
  async (harness, own) => {
    const send = (name: string) =>
      harness.send("/v1/keys", {
        key: own,
        headers: { "Idempotency-Key": "one-key" },
        body: { name, scopes: ["read"] },
      });
    const first = await send("one");
    const again = await send("one");
    assert.deepEqual([first.status, again.status], [201, 201]);
    assert.equal(again.headers.get("Idempotency-Replayed"), "true");
    const { key_id, already_provisioned, api_key } = again.body;
    assert.deepEqual([key_id, already_provisioned, api_key], [first.body.key_id, true, undefined]);
    assert.equal((await send("two")).status, 422);
    assert.equal((await harness.send("/v1/keys", { key: own })).body.count, 1);
  },
);

keyTest("bad requests for a key change nothing", async (harness, own) => {
  await make(harness, own);
  const rows = [
    ["a taken name", { name: "review desk", scopes: ["read"] }, 409, "CONFLICT", "review desk"],
    ["no scope", { name: "a", scopes: [] }, 422, "VALIDATION_FAILED", "scopes"],
    ["an unknown scope", { name: "a", scopes: ["all"] }, 422, "VALIDATION_FAILED", "scopes"],
    ["no name", { name: " ", scopes: ["read"] }, 422, "VALIDATION_FAILED", "name"],
    ["a long name", { name: "n".repeat(81), scopes: ["read"] }, 422, "VALIDATION_FAILED", "name"],
    [
      "an end that is past",
      { name: "a", scopes: ["read"], expires_at: "2026-01-01" },
      422,
      "VALIDATION_FAILED",
      "expires_at",
    ],
    [
      "an end that is no instant",
      { name: "a", scopes: ["read"], expires_at: "soon" },
      422,
      "VALIDATION_FAILED",
      "expires_at",
    ],
  ] as const;
  for (const [name, body, status, code, names] of rows) {
    await refuses(harness, { name, path: "/v1/keys", request: { key: own, body }, status, code, names });
  }
});

keyTest(
  `an organization has at most ${NAMED_KEYS_MAX} keys, and two calls at once never share a name`,
  async (harness, own) => {
    const twice = await Promise.all(
      ["one", "one"].map((name) => harness.send("/v1/keys", { key: own, body: { name, scopes: ["read"] } })),
    );
    assert.deepEqual(twice.map(({ status }) => status).sort(), [201, 409]);
    for (let index = 1; index < NAMED_KEYS_MAX; index += 1) {
      await make(harness, own, {
        name: `key ${index}`,
      });
    }
    await refuses(harness, {
      name: "one too many",
      path: "/v1/keys",
      request: { key: own, body: { name: "last", scopes: ["read"] } },
      status: 409,
      code: "CONFLICT",
      names: "remove one first",
    });
  },
);

Deno.test("a key under the previous pepper works, and its next use stores it under the present one", async () => {
  const harness = await openHarness();
  const own = await harness.organization("acme");
  const { key } = await make(harness, own, { scopes: ["read"] });
  const peppers = harness.dependencies.peppers as string[];
  const before = [...peppers];
  peppers.splice(0, 1, "a-new-pepper-0123456789-0123456789-0123", before[0]!);
  assert.equal((await harness.send("/v1/organization/dashboard", { key })).status, 200);
  await harness.rowCounts();
  peppers.splice(1, 1);
  assert.equal((await harness.send("/v1/organization/dashboard", { key })).status, 200);
  await harness.close();
});
