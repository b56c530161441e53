/**
 * POST /v1/admin/key/rotate and /revoke: the state of the key, its events, and that it is shown once.
 * Source: specification, Organization active flag, Self-serve admin and Authentication, rule 10; contract,
 * section 8.11.
 */
import assert from "node:assert/strict";
import { unavailable } from "../../src/domain/errors.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { EPOCH, type Harness, openHarness, scoreRequest, withHarness } from "../harness.ts";
import { resealed } from "../resealed.ts";
import {
  contentOf,
  refusalOf,
  statusWith,
  storedEvents,
  storedOrganization,
  storedText,
} from "../scenario.ts";

/** Waits until every job submitted so far is committed or refused. */
function written({ dependencies: { writer } }: Harness): Promise<void> {
  return writer.submit({ needs: [], chains: [], plan: () => () => undefined });
}

const HOUR = 3_600_000;
const ROTATE = "/v1/admin/key/rotate";
const REVOKE = "/v1/admin/key/revoke";
const ORIGIN = "https://review.acme.example";
const WARNING =
  "Store this key now: it is shown only once and cannot be recovered, only replaced by rotation.";

// ---- fixtures ---------------------------------------------------------------------------------------------

const post = ({ send }: Harness, path: string, key: string) => send(path, { method: "POST", key });

// ---- rotation ---------------------------------------------------------------------------------------------

Deno.test(
  "a rotation answers with a new key, which works from then on, and the old one is 401",
  withHarness(async (harness) => {
    const old = await harness.organization("acme");
    assert.equal(await statusWith(harness, old), 200);
    harness.clock.advance(HOUR);
    const answer = await post(harness, ROTATE, old);
    assert.equal(answer.status, 200, answer.text);
    const { new_api_key: key } = answer.body;
    assert.match(key, /^jis_[0-9A-HJKMNP-TV-Z]{26}$/);
    assert.notEqual(key, old);
    assert.deepEqual(contentOf(answer), {
      new_api_key: key,
      prefix: key.slice(0, 8),
      rotated_at: "2026-11-20T10:00:00.000Z",
      warning: WARNING,
    });
    assert.equal(answer.headers.get("X-RateLimit-Limit"), "1000000", "Layer 2 counts the call");
    assert.equal(await statusWith(harness, key), 200);
    for (const path of [ROTATE, REVOKE, "/v1/score"]) {
      const refused = await harness.send(path, { key: old, body: scoreRequest() });
      assert.equal(refused.status, 401, path);
    }
    assert.equal(
      await statusWith(harness, key),
      200,
      "the refused revocation with the old key changed nothing",
    );
  }),
);

Deno.test(
  "each rotation adds one to the key's version and records its time",
  withHarness(async (harness) => {
    let key = await harness.organization("acme");
    const created = await storedOrganization(harness, "acme");
    assert.deepEqual([created.api_key_version, created.api_key_rotated_at], [1, null]);
    for (const version of [2, 3, 4]) {
      harness.clock.advance(HOUR);
      key = (await post(harness, ROTATE, key)).body.new_api_key;
      const { key_hash, pepper_id, ...row } = await storedOrganization(harness, "acme");
      assert.deepEqual(row, {
        active: 1,
        reasons: [],
        since: {},
        prefix: key.slice(0, 8),
        api_key_version: version,
        api_key_rotated_at: EPOCH + (version - 1) * HOUR,
      });
      assert.notEqual(key_hash, created.key_hash);
      assert.equal(pepper_id, created.pepper_id);
    }
  }),
);

Deno.test(
  "a rotation is in the organization's audit log, by self_serve, under the old key's prefix with the new one in its detail",
  withHarness(async (harness) => {
    const old = await harness.organization("acme");
    await harness.organization("other");
    harness.clock.advance(HOUR);
    const { body } = await post(harness, ROTATE, old);
    assert.deepEqual((await storedEvents(harness, "org/acme/admin")).slice(1), [{
      type: "KEY_ROTATED",
      actor: "self_serve",
      prefix: old.slice(0, 8),
      at: "2026-11-20T10:00:00.000Z",
      detail: { new_prefix: body.prefix },
    }]);
    const others = await storedEvents(harness, "org/other/admin");
    assert.deepEqual(others.map(({ type }) => type), ["ORG_CREATED"]);
    harness.clock.advance(1);
    const log = await harness.send("/v1/admin/audit-log?event_type=KEY_ROTATED", {
      key: body.new_api_key,
    });
    const { event_id: _id, ...event } = log.body.events[0];
    assert.deepEqual([log.body.count, event], [1, {
      event_type: "KEY_ROTATED",
      timestamp: "2026-11-20T10:00:00.000Z",
      org_id: "acme",
      prefix: old.slice(0, 8),
      actor: "self_serve",
      detail: { new_prefix: body.prefix },
    }]);
  }),
);

Deno.test(
  "a rotated key is shown once: neither the database nor the log holds it or the one before it",
  withHarness(async (harness) => {
    const old = await harness.organization("acme");
    const { body } = await post(harness, ROTATE, old);
    await statusWith(harness, body.new_api_key);
    const everything = await storedText(harness);
    for (const key of [old, body.new_api_key]) {
      assert.ok(!everything.includes(key.slice(8)));
      assert.ok(!everything.includes(new TextEncoder().encode(key).toHex()));
      assert.ok(everything.includes(key.slice(0, 8)), "its prefix is in the audit log");
    }
  }),
);

Deno.test(
  "if rotations are sent at once with one key, one is answered; the others are 401 after the floor like any refused key",
  withHarness(async (harness) => {
    const { send, clock } = harness;
    const old = await harness.organization("acme", { allowed_origins: [ORIGIN] });
    const headers = { Origin: ORIGIN };
    const unknown = refusalOf(await send(ROTATE, { method: "POST", key: "nobody's", headers }));
    assert.equal(unknown.status, 401);

    const before = clock.monotonic();
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const answer = await send(ROTATE, { method: "POST", key: old, headers });
        return { answer, elapsed: clock.monotonic() - before };
      }),
    );
    const done = answers.filter(({ answer }) => answer.status === 200);
    assert.equal(done.length, 1);
    assert.equal(done[0]!.answer.headers.get("Access-Control-Allow-Origin"), ORIGIN);
    for (const { answer, elapsed } of answers.filter((each) => each !== done[0])) {
      assert.deepEqual(refusalOf(answer), unknown);
      assert.ok(elapsed >= 80, `after ${elapsed} ms`);
    }
    const row = await storedOrganization(harness, "acme");
    assert.deepEqual([row.api_key_version, row.prefix], [2, done[0]!.answer.body.prefix]);
    const events = await storedEvents(harness, "org/acme/admin");
    assert.deepEqual(events.map(({ type }) => type), ["ORG_CREATED", "KEY_ROTATED"]);
    assert.equal(await statusWith(harness, done[0]!.answer.body.new_api_key), 200);
  }),
);

Deno.test(
  "a rotation beyond the key's rate limit is 429 and leaves the key as it is",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    assert.equal(await statusWith(harness, key), 200);
    const refused = await post(harness, ROTATE, key);
    assert.deepEqual([refused.status, refused.body.error.code], [429, "RATE_LIMITED"]);
    assert.equal(refused.headers.get("Retry-After"), "60");
    assert.equal((await storedOrganization(harness, "acme")).api_key_version, 1);
  }, { rateLimitKey: 1 }),
);

Deno.test("a rotation that gets no new key, or cannot be written, is 500 and the key keeps working", async () => {
  let mint: (() => string) | null = null;
  let failing = false;
  const keys = ["jis_AAAA0000000000000000000001", "jis_BBBB0000000000000000000002"];
  let minted = 0;
  const harness = await openHarness({
    // The service draws sixteen candidates for each key.
    mintKey: () => mint?.() ?? keys[Math.floor(minted++ / 16)]!,
    wrap: (database) => ({
      ...database,
      batch: (statements) => (failing ? Promise.reject(new Error("a fault")) : database.batch(statements)),
    }),
  });
  const key = await harness.organization("acme");
  assert.equal(key, keys[0]);
  const before = await harness.rowCounts();
  const refused = async () => {
    const { status, body, text } = await post(harness, ROTATE, key);
    assert.deepEqual([status, body.error.code], [500, "INTERNAL_ERROR"]);
    assert.ok(!text.includes("fault"));
    assert.deepEqual(await harness.rowCounts(), before);
  };
  for (const none of ["", "jis_", "a key of another form"]) {
    mint = () => none;
    await refused();
  }
  mint = () => {
    throw new Error("a fault of the mint");
  };
  await refused();
  mint = null;
  failing = true;
  await refused();
  failing = false;
  minted = 16;
  const mended = await post(harness, ROTATE, key);
  assert.deepEqual([mended.status, mended.body.new_api_key], [200, keys[1]]);
  await harness.close();
});

Deno.test("while the database refuses writes, a key stored under an old pepper works, and nothing is logged", async () => {
  let refusing = false;
  const harness = await openHarness({
    wrap: (database) => ({
      ...database,
      batch: (statements) =>
        refusing ? Promise.reject(unavailable("no writes in the test")) : database.batch(statements),
    }),
  });
  const key = await harness.organization("acme");
  await harness.database.batch([{ sql: "UPDATE organization SET pepper_id = NULL", parameters: [] }]);
  await resealed(harness.dependencies);
  refusing = true;
  assert.equal((await harness.send("/v1/organization/dashboard", { key })).status, 200);
  await written(harness).catch(() => {});
  refusing = false;
  assert.deepEqual(harness.log.filter(({ level }) => level === "error"), []);
  assert.equal((await storedOrganization(harness, "acme")).pepper_id, null);
  assert.equal((await harness.send("/v1/organization/dashboard", { key })).status, 200);
  await written(harness);
  assert.match((await storedOrganization(harness, "acme")).pepper_id!, /^[0-9a-f]{16}$/);
  await harness.close();
});

// ---- revocation -------------------------------------------------------------------------------------------

Deno.test(
  "a revocation ends the key and the organization's access: active 0, for the reason self_revoked, without a key",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    harness.clock.advance(HOUR);
    const answer = await post(harness, REVOKE, key);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(contentOf(answer), {
      revoked: true,
      org_id: "acme",
      revoked_at: "2026-11-20T10:00:00.000Z",
    });
    assert.deepEqual(await storedOrganization(harness, "acme"), {
      active: 0,
      reasons: ["self_revoked"],
      since: { self_revoked: EPOCH + HOUR },
      prefix: null,
      key_hash: null,
      pepper_id: null,
      api_key_version: 1,
      api_key_rotated_at: null,
    });
    assert.deepEqual((await storedEvents(harness, "org/acme/admin")).slice(1), [{
      type: "KEY_REVOKED",
      actor: "self_serve",
      prefix: key.slice(0, 8),
      at: "2026-11-20T10:00:00.000Z",
      detail: {},
    }]);
  }),
);

Deno.test(
  "after a revocation the key is 401 on every route with a key, a second revocation included, and nothing is written",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const other = await harness.organization("other");
    assert.equal((await post(harness, REVOKE, key)).status, 200);
    const unknown = refusalOf(await post(harness, REVOKE, "nobody's"));
    const before = await harness.rowCounts();
    const keyed = ROUTES.filter(({ auth }) => auth.kind === "key");
    assert.ok(keyed.length >= 20);
    for (const { method, path, body } of keyed) {
      const answer = await harness.send(path.replaceAll(/\{\w+\}/g, "x"), {
        method,
        key,
        ...(body === null ? {} : { body: scoreRequest() }),
      });
      assert.deepEqual(refusalOf(answer), unknown, `${method} ${path}`);
    }
    assert.deepEqual(await harness.rowCounts(), before);
    assert.equal(await statusWith(harness, other), 200);
  }),
);

Deno.test(
  "if two revocations are sent at once, one is answered and the other 401; likewise a rotation and a revocation",
  withHarness(async (harness) => {
    const both = [[REVOKE, REVOKE], [ROTATE, REVOKE], [REVOKE, ROTATE]] as const;
    for (const [index, paths] of both.entries()) {
      const orgId = `org-${index}`;
      const key = await harness.organization(orgId);
      const answers = await Promise.all(paths.map((path) => post(harness, path, key)));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401], paths.join());
      const isRotated = answers.some(({ body }) => body.new_api_key !== undefined);
      const row = await storedOrganization(harness, orgId);
      assert.deepEqual([row.active, row.key_hash === null], isRotated ? [1, false] : [0, true], paths.join());
      const events = await storedEvents(harness, `org/${orgId}/admin`);
      assert.deepEqual(events.slice(1).map(({ type }) => type), [isRotated ? "KEY_ROTATED" : "KEY_REVOKED"]);
    }
  }),
);

Deno.test(
  "an organization that revoked its key is active again after a payment, with a new key",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await post(harness, REVOKE, key);
    const answer = await harness.master("BILLING_ROTATE", "/v1/admin/billing/org/acme/rotate", { body: {} });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(await statusWith(harness, answer.body.new_api_key), 200);
    assert.equal(await statusWith(harness, key), 401);
  }),
);

// ---- places of the key ------------------------------------------------------------------------------------

Deno.test(
  "rotation and revocation take the key only from the header: one in the body is 401 before the sunset too, and the body is ignored",
  withHarness(async (harness) => {
    const { send } = harness;
    const [key, other] = [await harness.organization("acme"), await harness.organization("other")];
    const before = await harness.rowCounts();
    for (const path of [ROTATE, REVOKE]) {
      const answer = await send(path, { body: { api_key: key } });
      assert.deepEqual([answer.status, answer.body.error.code], [401, "UNAUTHORIZED"]);
      for (const name of ["Deprecation", "Sunset", "Link"]) assert.equal(answer.headers.get(name), null);
    }
    assert.deepEqual(await harness.rowCounts(), before);
    const rotated = await send(ROTATE, { key, body: { api_key: other } });
    assert.deepEqual([rotated.status, rotated.headers.get("Deprecation")], [200, null]);
    const revoked = await send(REVOKE, { key: rotated.body.new_api_key, body: "{" });
    assert.deepEqual([revoked.status, revoked.body.org_id], [200, "acme"]);
    assert.equal(await statusWith(harness, other), 200);
  }, { startsAt: Date.UTC(2026, 6, 1) }),
);
