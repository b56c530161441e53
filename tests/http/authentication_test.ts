/** Authentication: who is admitted, and that all refusals look the same and take at least 80 ms. */
import assert from "node:assert/strict";
import { createOrganizationSchema } from "../../src/domain/organization.ts";
import { NoKeyMinted, storedKey } from "../../src/operations/organizations/key_issue.ts";
import { createOrganization } from "../../src/operations/organizations/organizations.ts";
import { query } from "../../src/store/database.ts";
import {
  type Harness,
  MASTER_KEY,
  openHarness,
  organizationRequest,
  scoreRequest,
  withHarness,
} from "../harness.ts";
import { verifyDatabase } from "../oracle.ts";
import { until } from "../program.ts";
import { resealed } from "../resealed.ts";
import { refusalOf } from "../scenario.ts";

const UNKNOWN_KEY = "jis_ABCDEFGHJKMNPQRSTVWXYZ0123";

async function deactivate({ database, dependencies }: Harness, orgId: string): Promise<void> {
  await database.batch([
    query.updateTable("organization").set({ inactive_reasons: '["manual"]' }).where("org_id", "=", orgId)
      .compile(),
  ]);
  await resealed(dependencies);
}

Deno.test(
  "every failed authentication is the same 401, whatever the reason, and takes at least the floor",
  withHarness(async (harness) => {
    const { send, organization, clock } = harness;
    const inactive = await organization("inactive");
    const active = await organization("active");
    await deactivate(harness, "inactive");
    const flipped = active.slice(0, -1) + (active.endsWith("0") ? "1" : "0");
    const presented: readonly (readonly [string, string, string | undefined])[] = [
      ["missing", "/v1/score", undefined],
      ["empty", "/v1/score", ""],
      ["malformed", "/v1/score", "not a key"],
      ["unknown", "/v1/score", UNKNOWN_KEY],
      ["right prefix, wrong rest", "/v1/score", flipped],
      ["inactive organization", "/v1/score", inactive],
      ["a master key", "/v1/score", MASTER_KEY],
      ["no master key", "/v1/admin/org/create", undefined],
      ["wrong master key", "/v1/admin/org/create", `${MASTER_KEY}x`],
      ["an organization's key for a master", "/v1/admin/org/create", active],
    ];
    const shapes = [];
    for (const [name, path, key] of presented) {
      const before = clock.monotonic();
      const body = path === "/v1/score" ? scoreRequest() : organizationRequest();
      const answer = await send(path, { body, ...(key === undefined ? {} : { key }) });
      assert.equal(answer.status, 401, name);
      assert.equal(answer.body.error.code, "UNAUTHORIZED");
      assert.ok(clock.monotonic() - before >= 80, `${name}: before the floor`);
      shapes.push(refusalOf(answer));
    }
    for (const shape of shapes) assert.deepEqual(shape, shapes[0]);
  }),
);

Deno.test(
  "the key with which a missing key is compared can be given to no organization and opens none",
  withHarness(async ({ database, dependencies, clock, organization, send }) => {
    const nobody = `jis_${"0".repeat(26)}`;
    const create = createOrganization(dependencies, { actor: "system", orgId: null, prefix: null }, {
      organization: createOrganizationSchema.parse(organizationRequest()),
      call: { now: clock.now(), requestId: "request" },
      scope: null,
      idempotency: null,
      apiKey: nobody,
    });
    await assert.rejects(create, NoKeyMinted);
    // An earlier version of the program may have stored such a key.
    const other = await organization("other");
    await database.batch([
      query.updateTable("organization").set(storedKey(nobody, dependencies.peppers[0]!)).compile(),
    ]);
    assert.equal((await send("/v1/score", { body: scoreRequest(), key: other })).status, 401);
    for (const key of [undefined, "malformed", nobody]) {
      const { status } = await send("/v1/score", {
        body: scoreRequest(),
        ...(key === undefined ? {} : { key }),
      });
      assert.equal(status, 401, key ?? "missing");
    }
  }),
);

Deno.test("the time of a refusal does not show how long the key's look-up took", async () => {
  let work = 0;
  const harness: Harness = await openHarness({
    wrap: (database) => ({
      ...database,
      read(compiled) {
        if (work > 0) harness.clock.advance(work);
        return database.read(compiled);
      },
    }),
  });
  const { clock, send } = harness;
  const left: number[] = [];
  for (work of [0, 0.25, 3, 19, 79, 90, 97]) {
    clock.advance(1000 - clock.monotonic() % 1000 + 5);
    const arrivedAt = clock.monotonic();
    assert.equal((await send("/v1/score", { key: UNKNOWN_KEY, body: scoreRequest() })).status, 401);
    left.push(clock.monotonic() - arrivedAt);
  }
  // A request arrives 5 ms after an instant of the 100 ms grid, so the next one past the floor is 95 ms
  // later. A refusal that takes longer than that leaves at an instant of the grid too. A key is looked up twice: among
  // organizations' own keys, and among named ones.
  assert.deepEqual(left, [95, 95, 95, 95, 175, 195, 195]);
  work = 0;
  await harness.close();
});

Deno.test(
  "a successful call is not delayed",
  withHarness(async ({ send, organization, clock }) => {
    const key = await organization("acme");
    const before = clock.monotonic();
    assert.equal((await send("/v1/score", { key, body: scoreRequest() })).status, 200);
    assert.equal(clock.monotonic(), before);
  }),
);

Deno.test(
  "a call with a refused key writes nothing",
  withHarness(async ({ send, rowCounts }) => {
    const before = await rowCounts();
    await send("/v1/score", { key: UNKNOWN_KEY, body: scoreRequest() });
    assert.deepEqual(await rowCounts(), before);
  }),
);

Deno.test(
  "authentication comes before the body: a bad key with a bad body is 401",
  withHarness(async ({ send }) => {
    assert.equal((await send("/v1/score", { key: UNKNOWN_KEY, body: "{" })).status, 401);
    assert.equal(
      (await send("/v1/score?mode=quick", { key: UNKNOWN_KEY, body: scoreRequest() })).status,
      401,
    );
  }),
);

Deno.test(
  "an api_key in the body is refused after its sunset",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    assert.equal((await send("/v1/score", { body: { ...scoreRequest(), api_key: key } })).status, 401);
  }),
);

Deno.test(
  "a failed master key that is an organization's key is recorded with its prefix, one that only begins like it without",
  withHarness(async (harness) => {
    const { send, organization, dependencies } = harness;
    const [acme, bank] = [await organization("acme"), await organization("bank")];
    const attempt = (presented: string) =>
      send("/v1/admin/org/create", { key: presented, body: organizationRequest() });
    const made = acme.slice(0, 8) + "0".repeat(22);
    for (const presented of [made, bank, acme, "garbage", acme]) await attempt(presented);
    await dependencies.writer.submit({ needs: [], chains: [], plan: () => () => undefined });
    const { publicKey } = harness.verifierKey("any");
    const { entries } = (await verifyDatabase(harness.database, { publicKey }))
      .find(({ chain }) => chain === "sys")!;
    assert.deepEqual(
      entries.filter(({ event_type }) => event_type === "AUTH_FAIL_MASTER_KEY").map(({ prefix }) => prefix),
      [null, bank.slice(0, 8), acme.slice(0, 8)],
    );
  }),
);

Deno.test(
  "a failed master key is recorded once in the system chain for each window, with scope and the presented key's prefix",
  withHarness(async (harness) => {
    const { send, organization, clock, dependencies } = harness;
    const key = await organization("acme");
    const attempt = (presented: string) =>
      send("/v1/admin/org/create", { key: presented, body: organizationRequest() });
    for (let index = 0; index < 5; index += 1) await attempt(key);
    clock.advance(60_000);
    await attempt(key);
    await attempt("something else");
    await dependencies.writer.submit({ needs: [], chains: [], plan: () => () => undefined });

    const { publicKey } = harness.verifierKey("any");
    const chains = await verifyDatabase(harness.database, { publicKey });
    const { entries, parts } = chains.find(({ chain }) => chain === "sys")!;
    const failures = entries.filter(({ event_type }) => event_type === "AUTH_FAIL_MASTER_KEY");
    assert.deepEqual(
      failures.map(({ org_id, prefix, actor }) => [org_id, prefix, actor]),
      [[null, key.slice(0, 8), "system"], [null, key.slice(0, 8), "system"], [null, null, "system"]],
    );
    assert.deepEqual(failures.map(({ seq }) => parts.get(`${seq}/detail`)), [
      { scope: "ORG_CREATE", address: "203.0.113.7", count: 1 },
      { scope: "ORG_CREATE", address: "203.0.113.7", count: 5 },
      { scope: "ORG_CREATE", address: "203.0.113.7", count: 1 },
    ]);
  }),
);

Deno.test(
  "the previous secret of a scope is accepted, another scope's is not, and a scope without a secret accepts none",
  withHarness(async ({ send }) => {
    const attempt = (key: string, org_id: string) =>
      send("/v1/admin/org/create", {
        headers: { "X-API-Key": key, "Idempotency-Key": org_id },
        body: organizationRequest({ org_id }),
      });
    assert.equal((await attempt("n".repeat(32), "new")).status, 201);
    assert.equal((await attempt("o".repeat(32), "old")).status, 201);
    assert.equal((await attempt("s".repeat(32), "suspend")).status, 401);
  }, {
    masterSecrets: { ORG_CREATE: ["n".repeat(32), "o".repeat(32)], ORG_SUSPEND: ["s".repeat(32)] },
  }),
);

Deno.test(
  "a scope without any secret refuses every key",
  withHarness(async ({ send }) => {
    for (const key of ["", "undefined", MASTER_KEY]) {
      assert.equal((await send("/v1/admin/org/create", { key, body: organizationRequest() })).status, 401);
    }
  }, { masterSecrets: {} }),
);

Deno.test(
  "beyond 1,000 delayed refusals at once the answer is 429",
  withHarness(async (harness) => {
    const release = Promise.withResolvers<void>();
    const { clock } = harness;
    (clock as { until: (instant: number) => Promise<void> }).until = () => release.promise;
    let answered = 0;
    const attempts = Array.from({ length: 1_005 }, async () => {
      const answer = await harness.send("/v1/score", { body: scoreRequest() });
      answered += 1;
      return answer;
    });
    // The requests over the limit are answered although the others still wait.
    const first = await Promise.race(attempts);
    assert.deepEqual([first.status, first.body.error.code], [429, "RATE_LIMITED"]);
    assert.equal(first.headers.get("Retry-After"), "1");
    await until(() => answered === 5);
    release.resolve();
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 401).length, 1_000);
    assert.equal(statuses.filter((status) => status === 429).length, 5);
  }),
);
