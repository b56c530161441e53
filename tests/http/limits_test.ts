/** The two layers of rate limits of incoming requests. */
import assert from "node:assert/strict";
import { BreachLog, forgetBreachWindows } from "../../src/operations/organizations/breaches.ts";
import { query } from "../../src/store/database.ts";
import {
  EPOCH,
  type Harness,
  MASTER_KEY,
  memoryWindow,
  openHarness,
  organizationRequest,
  scoreRequest,
  withHarness,
} from "../harness.ts";
import { verifyDatabase } from "../oracle.ts";

Deno.test(
  "the 61st request of an address in 60 seconds is 429 with Retry-After, and one a minute later is accepted",
  withHarness(async ({ send, clock }) => {
    for (let index = 0; index < 60; index += 1) {
      assert.equal((await send("/v1")).status, 200);
      if (index === 0) clock.advance(1_500);
    }
    const refused = await send("/v1");
    assert.deepEqual([refused.status, refused.body.error.code], [429, "RATE_LIMITED"]);
    assert.equal(refused.headers.get("Retry-After"), "59");
    assert.equal((await send("/v1", { peer: "203.0.113.8" })).status, 200, "another address");
    clock.advance(58_500);
    assert.equal((await send("/v1")).status, 200, "the first request has left the window");
    assert.equal((await send("/v1")).status, 429);
  }, { rateLimitIp: 60 }),
);

Deno.test(
  "unknown paths, wrong methods and failed keys count for the address; GET / and HEAD / do not",
  withHarness(async ({ send }) => {
    for (let index = 0; index < 20; index += 1) {
      assert.equal((await send("/")).status, 200);
      assert.equal((await send("/", { method: "HEAD" })).status, 200);
    }
    await send("/nowhere");
    await send("/v1/score", { method: "PUT" });
    await send("/v1/score", { body: scoreRequest() });
    await send("/", { method: "OPTIONS" });
    await send("/", { headers: { Host: "x/v1?" } });
    assert.equal((await send("/v1")).status, 429);
    assert.equal((await send("/", { headers: { Host: "x/v1?" } })).status, 429);
    assert.equal((await send("/", { method: "POST" })).status, 429);
    assert.equal((await send("/")).status, 200);
  }, { rateLimitIp: 5 }),
);

Deno.test(
  "behind a trusted proxy the forwarded address counts, from any other peer it is ignored",
  withHarness(async ({ send }) => {
    const from = (peer: string, forwarded: string) =>
      send("/v1", { peer, headers: { "X-Forwarded-For": forwarded } });
    assert.equal((await from("10.0.0.1", "198.51.100.1")).status, 200);
    assert.equal((await from("10.0.0.1", "198.51.100.2")).status, 200);
    assert.equal((await from("10.0.0.1", "198.51.100.99, 198.51.100.1")).status, 429);
    assert.equal((await from("203.0.113.1", "198.51.100.3")).status, 200);
    assert.equal((await from("203.0.113.1", "198.51.100.4")).status, 429);
  }, { rateLimitIp: 1, trustedProxies: ["10.0.0.0/8"] }),
);

Deno.test(
  "a key's remaining calls count down, and the next beyond its limit is 429, recorded once in its own admin chain",
  withHarness(async (harness) => {
    const { send, organization, dependencies } = harness;
    const [key, other] = [await organization("acme"), await organization("other")];
    const ask = (session: string, apiKey = key) =>
      send("/v1/score", { key: apiKey, body: scoreRequest({ session_id: session }) });
    const first = await ask("1");
    assert.deepEqual(
      ["Limit", "Remaining", "Reset"].map((name) => first.headers.get(`X-RateLimit-${name}`)),
      ["3", "2", "60"],
    );
    await send("/v1/score", { key, body: "{" });
    assert.equal((await ask("3")).headers.get("X-RateLimit-Remaining"), "0");
    for (const session of ["4", "5"]) {
      const refused = await ask(session);
      assert.deepEqual([refused.status, refused.body.error.code], [429, "RATE_LIMITED"]);
      assert.equal(refused.headers.get("Retry-After"), "60");
    }
    assert.equal((await ask("6", other)).status, 200);
    await dependencies.writer.submit({ needs: [], chains: [], plan: () => () => undefined });
    const { publicKey } = harness.verifierKey("any");
    const chains = await verifyDatabase(harness.database, { publicKey });
    const admin = chains.find(({ chain }) => chain === "org/acme/admin")!;
    const breaches = admin.entries.filter(({ event_type }) => event_type === "AUTH_FAIL_RATE_LIMITED_KEY");
    assert.deepEqual(breaches.map(({ prefix }) => prefix), [key.slice(0, 8)]);
  }, { rateLimitKey: 3 }),
);

Deno.test(
  "a breach by address is recorded in the system chain once for each window",
  withHarness(async (harness) => {
    for (let index = 0; index < 10; index += 1) await harness.send("/v1");
    await harness.dependencies.writer.submit({ needs: [], chains: [], plan: () => () => undefined });
    const { publicKey } = harness.verifierKey("any");
    const chains = await verifyDatabase(harness.database, { publicKey });
    const { entries, parts } = chains.find(({ chain }) => chain === "sys")!;
    const breaches = entries.filter(({ event_type }) => event_type === "AUTH_FAIL_RATE_LIMITED_IP");
    assert.deepEqual(breaches.map(({ seq }) => parts.get(`${seq}/detail`)), [{
      address: "203.0.113.7",
      count: 1,
    }]);
    const lines = harness.log.filter(({ msg }) => msg === "authentication breach");
    assert.deepEqual(lines.map(({ count }) => count), [1]);
    assert.match(String(lines[0]!.mend), /raise JISS_RATE_LIMIT_IP; .* JISS_TRUSTED_PROXIES$/);
  }, { rateLimitIp: 2 }),
);

Deno.test(
  "further breaches of a window are recorded when it is over, or at a stop",
  withHarness(async (harness) => {
    const { send, clock, flushBreaches, dependencies } = harness;
    for (let index = 0; index < 5; index += 1) await send("/v1");
    flushBreaches(clock.now());
    clock.advance(60_000);
    flushBreaches(clock.now());
    flushBreaches(clock.now());
    clock.advance(60_000);
    flushBreaches(clock.now());
    for (let index = 0; index < 4; index += 1) await send("/v1");
    clock.advance(1_000);
    // The entry has the instant of the stop, not of its first breach.
    flushBreaches(clock.now(), { isLast: true });
    await dependencies.writer.submit({ needs: [], chains: [], plan: () => () => undefined });
    const { publicKey } = harness.verifierKey("any");
    const { entries, parts } = (await verifyDatabase(harness.database, { publicKey }))
      .find(({ chain }) => chain === "sys")!;
    const breaches = entries.filter(({ event_type }) => event_type === "AUTH_FAIL_RATE_LIMITED_IP");
    assert.deepEqual(breaches.map(({ seq }) => parts.get(`${seq}/detail`).count), [1, 2, 1, 1]);
    assert.deepEqual(breaches.map(({ timestamp }) => Date.parse(timestamp) - EPOCH), [
      0,
      60_000,
      120_000,
      121_000,
    ]);
  }, { rateLimitIp: 2 }),
);

async function recordedBreaches({ database, verifierKey, dependencies: { writer } }: Harness) {
  await writer.submit({ needs: [], chains: [], plan: () => () => undefined });
  const { entries, parts } = (await verifyDatabase(database, { publicKey: verifierKey("any").publicKey }))
    .find(({ chain }) => chain === "sys")!;
  return entries.filter(({ event_type }) => event_type.startsWith("AUTH_FAIL_"))
    .map(({ seq, timestamp }) => [Date.parse(timestamp) - EPOCH, parts.get(`${seq}/detail`)]);
}

Deno.test(
  "if several processes share a database, one records a subject's breach at once in a window, and all counts are recorded in the end",
  withHarness(async (harness) => {
    const { dependencies } = harness;
    const [one, other] = [new BreachLog(dependencies), new BreachLog(dependencies)];
    const breach = { type: "AUTH_FAIL_RATE_LIMITED_IP", address: "203.0.113.9" } as const;
    one.record(breach, EPOCH);
    assert.equal((await recordedBreaches(harness)).length, 1);
    other.record(breach, EPOCH + 30_000);
    other.record(breach, EPOCH + 59_999);
    one.record(breach, EPOCH + 50_000);
    assert.equal((await recordedBreaches(harness)).length, 1);
    other.flush(EPOCH + 60_000);
    await recordedBreaches(harness);
    one.flush(EPOCH + 60_000);
    await recordedBreaches(harness);
    one.flush(EPOCH + 110_000, { isLast: true });
    other.flush(EPOCH + 130_000);
    assert.deepEqual(await recordedBreaches(harness), [
      [0, { address: "203.0.113.9", count: 1 }],
      [60_000, { address: "203.0.113.9", count: 2 }],
      [110_000, { address: "203.0.113.9", count: 1 }],
    ]);
    const windows = query.selectFrom("breach_window").select("told_at").compile();
    await forgetBreachWindows(dependencies, EPOCH + 169_999);
    assert.deepEqual((await harness.database.read(windows)).map(({ told_at }) => told_at - EPOCH), [110_000]);
    await forgetBreachWindows(dependencies, EPOCH + 170_000);
    assert.deepEqual(await harness.database.read(windows), []);
  }),
);

Deno.test(
  "breaches of addresses beyond the limit of remembered ones are recorded together, and none is left out",
  withHarness(async (harness) => {
    const breaches = new BreachLog(harness.dependencies, { subjectLimit: 2 });
    for (const last of [1, 2, 3, 4, 5, 1]) {
      breaches.record({ type: "AUTH_FAIL_RATE_LIMITED_IP", address: `203.0.113.${last}` }, EPOCH);
    }
    breaches.flush(EPOCH + 60_000);
    assert.deepEqual(await recordedBreaches(harness), [
      [0, { address: "203.0.113.1", count: 1 }],
      [0, { address: "203.0.113.2", count: 1 }],
      [0, { address: null, count: 1 }],
      [60_000, { address: "203.0.113.1", count: 1 }],
      [60_000, { address: null, count: 2 }],
    ]);
  }),
);

Deno.test("breaches that cannot be written are recorded once they can", async () => {
  let failing = true;
  const harness = await openHarness({
    wrap: (database) => ({
      ...database,
      batch: (statements) =>
        failing && statements.some(({ sql }) => sql.includes("breach_window"))
          ? Promise.reject(new Error("no room"))
          : database.batch(statements),
    }),
  });
  try {
    const breaches = new BreachLog(harness.dependencies);
    const breach = { type: "AUTH_FAIL_RATE_LIMITED_IP", address: "203.0.113.9" } as const;
    breaches.record(breach, EPOCH);
    breaches.record(breach, EPOCH);
    assert.deepEqual(await recordedBreaches(harness), []);
    failing = false;
    breaches.flush(EPOCH + 4_999);
    assert.deepEqual(await recordedBreaches(harness), []);
    breaches.flush(EPOCH + 5_000);
    assert.deepEqual(await recordedBreaches(harness), [[5_000, { address: "203.0.113.9", count: 2 }]]);
  } finally {
    await harness.close();
  }
});

Deno.test(
  "a failed key does not count for the key layer",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    const wrong = key.slice(0, -1) + (key.endsWith("0") ? "1" : "0");
    for (let index = 0; index < 5; index += 1) await send("/v1/score", { key: wrong, body: scoreRequest() });
    assert.equal((await send("/v1/score", { key, body: scoreRequest() })).status, 200);
  }, { rateLimitKey: 1 }),
);

Deno.test(
  "an address beyond the full table gets 503 with Retry-After, and no breach is recorded",
  withHarness(async ({ send, log }) => {
    assert.equal((await send("/v1", { peer: "203.0.113.1" })).status, 200);
    assert.equal((await send("/v1", { peer: "2001:db8::1" })).status, 200);
    const refused = await send("/v1", { peer: "203.0.113.2" });
    assert.deepEqual([refused.status, refused.body.error.code], [503, "SERVICE_UNAVAILABLE"]);
    assert.equal(refused.headers.get("Retry-After"), "60");
    assert.equal(
      (await send("/v1", { peer: "2001:db8::2" })).status,
      200,
      "an address of a /64 in the table",
    );
    assert.deepEqual(log.filter(({ msg }) => msg === "authentication breach"), []);
  }, { addressWindow: memoryWindow(60, { subjectsMax: 2 }) }),
);

Deno.test(
  "master-key calls are bound by the address layer only and carry no rate-limit headers",
  withHarness(async ({ send }) => {
    const create = (org_id: string) =>
      send("/v1/admin/org/create", {
        headers: { "X-API-Key": MASTER_KEY, "Idempotency-Key": org_id },
        body: organizationRequest({ org_id }),
      });
    for (const org of ["a", "b", "c"]) {
      const { status, headers } = await create(org);
      assert.equal(status, 201);
      assert.deepEqual([...headers.keys()].filter((name) => name.startsWith("x-ratelimit")), []);
    }
    assert.equal((await create("d")).status, 429);
  }, { rateLimitKey: 1, rateLimitIp: 3 }),
);
