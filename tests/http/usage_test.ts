/**
 * GET /v1/admin/org/{org_id}/usage: what counts, over which window, and who may ask.
 * Source: specification, Usage record and Master-key admin; contract, section 5.
 */
import assert from "node:assert/strict";
import {
  type Answer,
  type Harness,
  MASTER_KEY,
  scoreRequest,
  withAlterations,
  withHarness,
} from "../harness.ts";
import { verifyDatabase } from "../oracle.ts";
import { resealed } from "../resealed.ts";
import { refuses } from "../scenario.ts";

const DAY = 86_400_000;
const HOUR = 3_600_000;
const USAGE_KEY = "master-key-of-the-tests-ORG_USAGE_READ-0001";
const OPTIONS = { masterSecrets: { ORG_CREATE: [MASTER_KEY], ORG_USAGE_READ: [USAGE_KEY] } };

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

// ---- fixtures ---------------------------------------------------------------------------------------------

let sessions = 0;

async function score({ send }: Harness, key: string, query = ""): Promise<string> {
  const session = `s-${sessions += 1}`;
  const answer = await send(`/v1/score${query}`, { key, body: scoreRequest({ session_id: session }) });
  assert.equal(answer.status, 200, answer.text);
  return session;
}

function batchOf(count: number) {
  return {
    operator_id: "operator-1",
    domain: "general",
    interactions: Array.from({ length: count }, () => ({
      session_id: `s-${sessions += 1}`,
      time_to_decision_ms: 9000,
      decision: "accepted",
    })),
  };
}

const pathOf = (orgId: string) => `/v1/admin/org/${orgId}/usage`;

async function usageOf({ send }: Harness, orgId = "acme"): Promise<Json> {
  const answer = await send(pathOf(orgId), { key: USAGE_KEY });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

const countOf = async (harness: Harness, orgId = "acme") =>
  (await usageOf(harness, orgId)).interaction_count_current_period;

/** Moves the clock to an instant, an ISO date-time. */
function moveTo({ clock }: Harness, instant: string): void {
  clock.advance(Date.parse(instant) - clock.now());
}

// ---- what is counted --------------------------------------------------------------------------------------

Deno.test(
  "the usage record has the specification's fields, of the 30 days before now",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key);
    const { request_id, timestamp, ...record } = await usageOf(harness);
    assert.match(request_id, /^01TEST/);
    assert.equal(timestamp, "2026-11-20T09:00:00.000Z");
    assert.deepEqual(record, {
      org_id: "acme",
      tier: "standard",
      active: true,
      interaction_count_current_period: 1,
      period_start: "2026-10-21T09:00:00.000Z",
      period_end: "2026-11-20T09:00:00.000Z",
      tier_limit: 100_000,
      utilization_ratio: 0.00001,
      threshold_crossed: false,
    });
  }, OPTIONS),
);

Deno.test(
  "a single score counts once, in lite mode too, and a batch once for each of its items",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    assert.equal(await countOf(harness), 0);
    await score(harness, key);
    await score(harness, key, "?mode=lite");
    assert.equal(await countOf(harness), 2);
    assert.equal((await harness.send("/v1/score/batch", { key, body: batchOf(100) })).status, 200);
    assert.equal(await countOf(harness), 102);
    assert.equal((await harness.send("/v1/score/batch", { key, body: batchOf(1) })).status, 200);
    assert.equal(await countOf(harness), 103);
  }, OPTIONS),
);

Deno.test(
  "repeated calls, frozen ones, decisions, commits, labels, reads and refused calls do not count",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const { send } = harness;
    const batch = batchOf(3);
    const labelled = scoreRequest({ session_id: "labelled" }, { outcome_correct: null });
    await send("/v1/score", { key, body: labelled });
    const session = await score(harness, key);
    await send("/v1/score/batch", { key, body: batch });
    assert.equal(await countOf(harness), 5);
    const decision = {
      decision_id: "decision-1",
      operator_id: "operator-1",
      domain: "legal",
      time_to_decision_ms: 900,
      decision: "accepted",
    };
    const used = { ...batch, interactions: [...batch.interactions, ...batchOf(1).interactions] };
    const calls: readonly (readonly [string, unknown, number])[] = [
      ["/v1/score", labelled, 200],
      ["/v1/score", scoreRequest({ session_id: session }, { decision: "rejected" }), 409],
      ["/v1/score", scoreRequest({ session_id: "bad" }, { decision: "maybe" }), 422],
      ["/v1/score?mode_override=incident_frozen", scoreRequest({ session_id: "frozen" }), 200],
      ["/v1/score/batch", batch, 200],
      ["/v1/score/batch", used, 409],
      ["/v1/score/labelled/commit", { outcome_correct: true }, 200],
      [`/v1/score/${session}/commit`, undefined, 200],
      ["/v1/decision/score", decision, 200],
      ["/v1/decision/score", decision, 200],
      ["/v1/operator/operator-1/profile", null, 200],
      ["/v1/compliance/report?period_start=2026-10-01&period_end=2027-01-01", null, 200],
    ];
    for (const [path, body, status] of calls) {
      const answer = await send(path, { key, ...(body === null ? {} : { method: "POST", body }) });
      assert.equal(answer.status, status, `${path}: ${answer.text}`);
      assert.equal(await countOf(harness), 5, path);
    }
    // After the incident the session that it froze is scored, and counts.
    await send("/v1/score", { key, body: scoreRequest({ session_id: "frozen" }) });
    assert.equal(await countOf(harness), 6);
  }, OPTIONS),
);

Deno.test(
  "scores sent at once all count, equal requests once",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const twin = scoreRequest({ session_id: "twin" });
    await Promise.all([
      ...Array.from({ length: 30 }, () => score(harness, key)),
      ...Array.from({ length: 5 }, () => harness.send("/v1/score", { key, body: twin })),
    ]);
    assert.equal(await countOf(harness), 31);
  }, OPTIONS),
);

Deno.test(
  "usage counts one organization alone",
  withHarness(async (harness) => {
    const [one, two] = [await harness.organization("one"), await harness.organization("two")];
    await score(harness, one);
    await score(harness, two);
    await score(harness, two);
    assert.deepEqual([await countOf(harness, "one"), await countOf(harness, "two")], [1, 2]);
  }, OPTIONS),
);

// ---- the window -------------------------------------------------------------------------------------------

Deno.test(
  "a score counts from its own millisecond until 30 days later, without a write at its end",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    harness.clock.advance(23 * 60_000 + 4567);
    await score(harness, key);
    assert.equal(await countOf(harness), 1, "at once");
    const before = await harness.rowCounts();
    harness.clock.advance(30 * DAY - 1);
    assert.equal(await countOf(harness), 1);
    harness.clock.advance(1);
    const record = await usageOf(harness);
    assert.equal(record.interaction_count_current_period, 0);
    assert.equal(record.period_start, "2026-11-20T09:23:04.567Z");
    assert.deepEqual(await harness.rowCounts(), before);
  }, OPTIONS),
);

Deno.test(
  "the window's edges are exact, on the hour and beside it",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const instants = [
      "2026-11-20T09:59:59.999Z",
      "2026-11-20T10:00:00.000Z",
      "2026-11-20T10:00:00.001Z",
      "2026-11-20T10:59:59.999Z",
      "2026-11-20T11:00:00.000Z",
    ];
    for (const instant of instants) {
      moveTo(harness, instant);
      await score(harness, key);
    }
    assert.equal(await countOf(harness), 5);
    // 30 days later, before and after each of them: what is exactly 30 days old no longer counts.
    for (const [index, instant] of instants.entries()) {
      const edge = Date.parse(instant) + 30 * DAY;
      moveTo(harness, new Date(edge - 1).toISOString());
      assert.equal(await countOf(harness), 5 - index, `a millisecond before ${instant} leaves`);
      moveTo(harness, new Date(edge).toISOString());
      assert.equal(await countOf(harness), 4 - index, `${instant} has left`);
    }
  }, OPTIONS),
);

Deno.test(
  "counts stay exact while old instants are deleted, at the beginning of each hour, 31 days back",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const scored: number[] = [];
    const expected = () => {
      const now = harness.clock.now();
      return scored.filter((at) => at > now - 30 * DAY && at <= now).length;
    };
    // Every 7 hours 13 minutes for 70 days, and sometimes a batch.
    for (let index = 0; index < 233; index += 1) {
      scored.push(harness.clock.now());
      if (index % 40 === 0) {
        await harness.send("/v1/score/batch", { key, body: batchOf(3) });
        scored.push(harness.clock.now(), harness.clock.now());
      } else await score(harness, key);
      assert.equal(await countOf(harness), expected(), `after ${index}`);
      harness.clock.advance(7 * HOUR + 13 * 60_000);
      assert.equal(await countOf(harness), expected(), `before ${index + 1}`);
    }
    const counts = await harness.rowCounts();
    assert.ok(Number(counts.usage_instant) <= 31 * 24 / 7 + 2, `${counts.usage_instant} instants are kept`);
    assert.equal(counts.usage_hour, 233);
    harness.clock.advance(15 * DAY);
    assert.equal(await countOf(harness), expected());
  }, OPTIONS),
);

Deno.test(
  "after the clock went back the count is that of the instants in the moved window",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key);
    harness.clock.advance(-HOUR);
    assert.equal(await countOf(harness), 0, "a score an hour ahead is not yet in the window");
    await score(harness, key);
    assert.equal(await countOf(harness), 1);
    harness.clock.advance(HOUR);
    assert.equal(await countOf(harness), 2);
  }, OPTIONS),
);

// ---- the limit --------------------------------------------------------------------------------------------

interface Counters {
  readonly harness: Harness;
  readonly key: string;
  /** Sets how many interactions were scored at each instant. */
  count(rows: readonly (readonly [at: number, count: number])[]): Promise<void>;
}

/** Runs a test on counters that no score wrote; nothing is verified at its end. */
function withCounters(test: (counters: Counters) => Promise<void>, tier: string): () => Promise<void> {
  return withAlterations(async (harness) => {
    const created = await harness.send("/v1/admin/org/create", {
      headers: { "X-API-Key": MASTER_KEY, "Idempotency-Key": "1" },
      body: { org_id: "acme", name: "Acme", domain: "legal", tier, allowed_origins: "" },
    });
    assert.equal(created.status, 201);
    const into = (table: string, at: number, count: number) => ({
      sql: `INSERT INTO ${table} VALUES ('acme', ?, ?)`,
      parameters: [at, count],
    });
    await test({
      harness,
      key: created.body.api_key,
      count: (rows) =>
        harness.database.batch(rows.flatMap(([at, count]) => [
          into("usage_instant", at, count),
          into("usage_hour", Math.floor(at / HOUR), count),
        ])),
    });
  }, OPTIONS);
}

for (
  const [tier, limit] of [["starter", 10_000], ["standard", 100_000], ["enterprise", 1_000_000]] as const
) {
  Deno.test(
    `threshold_crossed becomes true at exactly ${limit} interactions in the tier ${tier}`,
    withCounters(async ({ harness, count }) => {
      const now = harness.clock.now();
      const record = async (...rows: readonly (readonly [number, number])[]) => {
        await count(rows);
        const usage = await usageOf(harness);
        assert.deepEqual([usage.tier, usage.tier_limit], [tier, limit]);
        return [usage.interaction_count_current_period, usage.utilization_ratio, usage.threshold_crossed];
      };
      assert.deepEqual(await record(), [0, 0, false]);
      assert.deepEqual(await record([now - 10 * DAY, limit - 1]), [limit - 1, (limit - 1) / limit, false]);
      assert.deepEqual(await record([now - DAY, 1]), [limit, 1, true]);
      assert.deepEqual(await record([now, limit / 2]), [limit * 1.5, 1.5, true]);
      // And false again, once the last interaction is 30 days old.
      harness.clock.advance(20 * DAY);
      assert.deepEqual(await record(), [limit / 2 + 1, (limit / 2 + 1) / limit, false]);
    }, tier),
  );
}

Deno.test(
  "crossing the limit throttles nothing",
  withCounters(async ({ harness, key, count }) => {
    await count([[harness.clock.now() - DAY, 20_000]]);
    await score(harness, key);
    const { utilization_ratio, threshold_crossed } = await usageOf(harness);
    assert.deepEqual([utilization_ratio, threshold_crossed], [2.0001, true]);
  }, "starter"),
);

// ---- authorization ----------------------------------------------------------------------------------------

Deno.test(
  "usage carries no rate-limit headers, is never cached, and reading it writes nothing",
  withHarness(async (harness) => {
    await harness.organization("acme");
    const before = await harness.rowCounts();
    const { status, headers } = await harness.send(`${pathOf("acme")}?unknown=&unknown=`, { key: USAGE_KEY });
    assert.equal(status, 200);
    for (const [name] of headers) assert.doesNotMatch(name, /ratelimit/i);
    assert.equal(headers.get("Cache-Control"), "no-store");
    assert.equal(headers.get("Idempotency-Replayed"), null);
    assert.deepEqual(await harness.rowCounts(), before);
  }, OPTIONS),
);

Deno.test(
  "the usage of an inactive organization is answered, with active false",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await score(harness, key);
    await harness.database.batch([
      { sql: `UPDATE organization SET inactive_reasons = '["billing"]'`, parameters: [] },
    ]);
    await resealed(harness.dependencies);
    const { active, interaction_count_current_period } = await usageOf(harness);
    assert.deepEqual([active, interaction_count_current_period], [false, 1]);
  }, OPTIONS),
);

Deno.test(
  "usage of an unknown organization is 404, of a malformed org_id 422",
  withHarness(async (harness) => {
    await harness.organization("acme");
    for (
      const [orgId, status, code, names] of [
        ["unknown", 404, "NOT_FOUND", "unknown"],
        ["ACME", 404, "NOT_FOUND", "ACME"],
        ["a".repeat(128), 404, "NOT_FOUND", "org_id"],
        ["a".repeat(129), 422, "VALIDATION_FAILED", "org_id"],
        ["no%20id", 422, "VALIDATION_FAILED", "org_id"],
        ["a%2Fb", 422, "VALIDATION_FAILED", "org_id"],
        ["%C3%A9", 422, "VALIDATION_FAILED", "org_id"],
        ["acme%00", 422, "VALIDATION_FAILED", "org_id"],
        ["a.b", 422, "VALIDATION_FAILED", "org_id"],
      ] as const
    ) {
      await refuses(harness, {
        name: orgId,
        path: pathOf(orgId),
        request: { key: USAGE_KEY },
        status,
        code,
        names,
      });
    }
  }, OPTIONS),
);

Deno.test(
  "only the scope's own secret reads usage: any other key is the same 401, whatever the organization",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const shapes = [];
    for (const presented of [key, MASTER_KEY, `${USAGE_KEY}x`, "", undefined]) {
      for (const orgId of ["acme", "unknown", "no%20id"]) {
        const before = harness.clock.monotonic();
        const answer: Answer = await harness.send(
          pathOf(orgId),
          presented === undefined ? {} : { key: presented },
        );
        assert.ok(harness.clock.monotonic() - before >= 80, "the floor");
        const { request_id: _id, timestamp: _at, ...error } = answer.body.error;
        const headers = [...answer.headers].filter(([name]) => name !== "x-request-id");
        shapes.push({ status: answer.status, headers, error });
      }
    }
    assert.equal(shapes[0]!.status, 401);
    assert.equal(shapes[0]!.error.code, "UNAUTHORIZED");
    for (const shape of shapes) assert.deepEqual(shape, shapes[0]);
  }, OPTIONS),
);

Deno.test(
  "a failed master key is AUTH_FAIL_MASTER_KEY in the system chain, with scope and an organization's prefix",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await harness.send(pathOf("acme"), { key });
    harness.clock.advance(60_000);
    await harness.send(pathOf("acme"), { key: MASTER_KEY });
    await harness.dependencies.writer.submit({ needs: [], chains: [], plan: () => () => undefined });
    const { publicKey } = harness.verifierKey("any");
    const chains = await verifyDatabase(harness.database, { publicKey });
    const { entries, parts } = chains.find(({ chain }) => chain === "sys")!;
    const failures = entries.filter(({ event_type }) => event_type === "AUTH_FAIL_MASTER_KEY");
    assert.deepEqual(
      failures.map(({ seq, org_id, prefix, actor }) => [org_id, prefix, actor, parts.get(`${seq}/detail`)]),
      [
        [null, key.slice(0, 8), "system", { scope: "ORG_USAGE_READ", address: "203.0.113.7", count: 1 }],
        [null, null, "system", { scope: "ORG_USAGE_READ", address: "203.0.113.7", count: 1 }],
      ],
    );
    const text = JSON.stringify([entries, [...parts.values()], harness.log]);
    for (const secret of [key, MASTER_KEY]) assert.ok(!text.includes(secret));
  }, OPTIONS),
);

Deno.test(
  "without a secret of its scope usage is refused to every key",
  withHarness(async (harness) => {
    await harness.organization("acme");
    for (const key of [USAGE_KEY, MASTER_KEY]) {
      assert.equal((await harness.send(pathOf("acme"), { key })).status, 401);
    }
  }, { masterSecrets: { ORG_CREATE: [MASTER_KEY] } }),
);
