/**
 * GET /v1/admin/audit-log and its export: which events they show, to whom, in which order, and that each
 * reading is recorded.
 * Source: specification, Audit event and Self-serve admin; contract, sections 5 and 8.13.
 */
import assert from "node:assert/strict";
import { copyDatabase } from "../database.ts";
import { directCall } from "../../src/operations/organizations/organization_change.ts";
import { rotateByHand } from "../../src/operations/organizations/organization_states.ts";
import { acknowledgeRestore } from "../../src/operations/restoring/restores.ts";
import { pruneChains } from "../../src/operations/chains/retention.ts";
import type { Database } from "../../src/store/database.ts";
import { nextTurn } from "../../src/store/turn.ts";
import { withDirectory } from "../auditing.ts";
import { until } from "../program.ts";
import { EPOCH, type Harness, openHarness, scoreRequest, withHarness } from "../harness.ts";
import { contentOf, refuses, storedEvents } from "../scenario.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const PATH = "/v1/admin/audit-log";
const EXPORT = `${PATH}/export`;

/** Every event type that the specification names, then the contract, then those that any chain may hold. */
const NAMED = [
  "KEY_ROTATED",
  "KEY_REVOKED",
  "NAMED_KEY_CREATED",
  "NAMED_KEY_REMOVED",
  "USER_INVITED",
  "USER_PROVIDED",
  "USER_LINK_ISSUED",
  "USER_CHANGED",
  "USER_ERASED",
  "USER_PASSWORD_SET",
  "USER_PASSKEY_ADDED",
  "USER_PASSKEY_REMOVED",
  "USER_SIGNED_IN",
  "USER_SIGNED_OUT",
  "USER_SESSIONS_ENDED",
  "AUTH_FAIL_SIGN_IN",
  "AUTH_FAIL_MASTER_KEY",
  "AUTH_FAIL_RATE_LIMITED_IP",
  "AUTH_FAIL_RATE_LIMITED_KEY",
  "ADMIN_ORG_SUSPEND",
  "ADMIN_BILLING_SUSPEND",
  "ADMIN_ORG_FORCE_REVOKE",
  "ORG_CREATED",
  "ADMIN_BILLING_ROTATE",
  "ADMIN_ORG_REACTIVATE",
  "ADMIN_ORG_FORCE_ROTATE",
  "ADMIN_ALERT_ACK",
  "AUDIT_LOG_READ",
  "AUDIT_LOG_EXPORTED",
  "WEBHOOK_REGISTERED",
  "WEBHOOK_LISTED",
  "WEBHOOK_REMOVED",
  "OPERATOR_ERASED",
  "RETENTION_PRUNED",
  "PROTOCOL_VIOLATION",
  "WEBHOOK_PAUSED",
  "WEBHOOK_RESUMED",
  "WEBHOOK_DISABLED",
  "WEBHOOK_TESTED",
  "WEBHOOK_REDELIVERED",
  "WEBHOOK_EVENTS_DROPPED",
  "ALERT_RAISED",
  "ALERT_ACKNOWLEDGED",
  "SUBJECT_ACCESS",
  "CHAIN_GENESIS",
  "CHAIN_RESTORED",
  "CLOCK_ANOMALY",
  "RETENTION_POLICY",
  "SIGNING_KEY_ROTATED",
];

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

// ---- fixtures ---------------------------------------------------------------------------------------------

const iso = (at: number) => new Date(at).toISOString();

/** Rotates an organization's key `count` times, `everyMs` milliseconds apart; returns the last key. */
async function rotate(
  { dependencies, clock }: Harness,
  orgId: string,
  { count, everyMs = 1 }: { readonly count: number; readonly everyMs?: number },
): Promise<string> {
  const answers = await Promise.all(Array.from({ length: count }, () => {
    clock.advance(everyMs);
    const call = directCall(orgId, { now: clock.now(), requestId: "" });
    return rotateByHand(dependencies, { actor: "system" }, call);
  }));
  return String(answers.at(-1)!.body.new_api_key);
}

async function read({ send }: Harness, key: string, query: Record<string, string> = {}): Promise<Json> {
  const { status, body, text } = await send(`${PATH}?${new URLSearchParams(query)}`, { key });
  assert.equal(status, 200, text);
  assert.equal(body.count, body.events.length);
  return body;
}

/** Events of an export, one from each line. */
async function exported(
  { send }: Harness,
  key: string,
  query: Record<string, string> = {},
): Promise<readonly Json[]> {
  const { status, text } = await send(`${EXPORT}?${new URLSearchParams(query)}`, { key });
  assert.equal(status, 200, text);
  assert.ok(text === "" || text.endsWith("\n"));
  return text.split("\n").slice(0, -1).map((line) => JSON.parse(line));
}

const typesOf = (events: readonly Json[]) => events.map(({ event_type }) => event_type);

/** Every event before an instant, read in pages of 500. Each page ends where the one before it began. */
async function paged(harness: Harness, key: string, until: string): Promise<readonly Json[]> {
  const events: Json[] = [];
  for (let before = until;;) {
    const page = await read(harness, key, { limit: "500", until: before });
    events.push(...page.events);
    if (page.count < 500) return events;
    before = page.events.at(-1).timestamp;
  }
}

// ---- the events -------------------------------------------------------------------------------------------

Deno.test(
  "the log shows each event with all its fields, newest first, and the filters as they were applied",
  withHarness(async (harness) => {
    const { clock, master } = harness;
    const key = await harness.organization("acme");
    clock.advance(HOUR);
    await master("ORG_SUSPEND", "/v1/admin/org/acme/suspend", {
      idempotencyKey: "s",
      body: { confirm_org_id: "acme", idempotency_key: "s" },
    });
    clock.advance(HOUR);
    await master("ORG_REACTIVATE", "/v1/admin/org/acme/reactivate", {
      idempotencyKey: "r",
      body: { confirm_org_id: "acme", idempotency_key: "r" },
    });
    clock.advance(HOUR);
    const answer = await harness.send(PATH, { key });
    const { events, ...rest } = contentOf(answer) as Json;
    assert.deepEqual(rest, {
      count: 4,
      filters: {
        event_type: null,
        user_id: null,
        since: null,
        until: "2026-11-20T12:00:00.000Z",
        limit: 100,
      },
    });
    const prefix = key.slice(0, 8);
    const shown = events.map(({ event_id, ...event }: Json) => {
      assert.match(event_id, /^01TEST[0-9]{20}$/);
      return event;
    });
    const genesis = shown.pop();
    assert.deepEqual(shown, [
      {
        event_type: "ADMIN_ORG_REACTIVATE",
        timestamp: "2026-11-20T11:00:00.000Z",
        org_id: "acme",
        prefix,
        actor: "admin-worker",
        detail: { scope: "ORG_REACTIVATE", remaining: [] },
      },
      {
        event_type: "ADMIN_ORG_SUSPEND",
        timestamp: "2026-11-20T10:00:00.000Z",
        org_id: "acme",
        prefix,
        actor: "admin-worker",
        detail: { scope: "ORG_SUSPEND" },
      },
      {
        event_type: "ORG_CREATED",
        timestamp: "2026-11-20T09:00:00.000Z",
        org_id: "acme",
        prefix,
        actor: "system",
        detail: { scope: null, name: "Organization acme", domain: "financial", tier: "standard" },
      },
    ]);
    assert.deepEqual([genesis.event_type, genesis.timestamp, genesis.org_id, genesis.prefix], [
      "CHAIN_GENESIS",
      "2026-11-20T09:00:00.000Z",
      "acme",
      null,
    ]);
    assert.equal(new Set(events.map(({ event_id }: Json) => event_id)).size, 4);
  }, { adminDashboard: true }),
);

Deno.test(
  "an organization reads only its own events, whatever it asks for, and none of its scores",
  withHarness(async (harness) => {
    const { clock, send } = harness;
    const [acme, other] = [await harness.organization("acme"), await harness.organization("other")];
    await harness.organization("acme-2");
    assert.equal((await send("/v1/score", { key: acme, body: scoreRequest() })).status, 200);
    await rotate(harness, "acme-2", { count: 3 });
    clock.advance(1);
    for (const [orgId, key] of [["acme", acme], ["other", other]] as const) {
      const asked = { org_id: "acme-2", chain: "org/acme-2/admin" };
      const { events } = await read(harness, key, asked);
      assert.deepEqual(typesOf(events), ["ORG_CREATED", "CHAIN_GENESIS"]);
      assert.deepEqual(new Set(events.map(({ org_id }: Json) => org_id)), new Set([orgId]));
      const lines = await exported(harness, key, asked);
      assert.deepEqual(new Set(lines.map(({ org_id }) => org_id)), new Set([orgId]));
    }
  }),
);

// ---- filters ----------------------------------------------------------------------------------------------

Deno.test(
  "since is included and until excluded, to the millisecond, and until defaults to now",
  withHarness(async (harness) => {
    const { clock } = harness;
    await harness.organization("acme");
    clock.advance(HOUR - 1);
    // The rotations are at 10:00:00.000, .001 and .002.
    const key = await rotate(harness, "acme", { count: 3 });
    const at = (milliseconds: number) => `2026-11-20T10:00:00.00${milliseconds}Z`;
    const times = async (query: Record<string, string>) =>
      (await read(harness, key, { event_type: "KEY_ROTATED", ...query })).events
        .map(({ timestamp }: Json) => timestamp);
    assert.equal(iso(clock.now()), at(2));
    assert.deepEqual(await times({}), [at(1), at(0)], "the present instant is excluded");
    clock.advance(1);
    assert.deepEqual(await times({}), [at(2), at(1), at(0)]);
    assert.deepEqual(await times({ since: at(1) }), [at(2), at(1)]);
    assert.deepEqual(await times({ since: at(2) }), [at(2)]);
    assert.deepEqual(await times({ since: at(3) }), []);
    assert.deepEqual(await times({ until: at(2) }), [at(1), at(0)]);
    assert.deepEqual(await times({ until: at(0) }), []);
    assert.deepEqual(await times({ since: at(1), until: at(2) }), [at(1)]);
    assert.deepEqual(await times({ since: at(1), until: at(1) }), []);
    assert.deepEqual(await times({ since: at(2), until: at(0) }), []);
    assert.deepEqual(
      await times({ since: "2026-11-20T11:00:00.001+01:00", until: "2026-11-20T04:00:00.002-06:00" }),
      [at(1)],
    );
    assert.deepEqual(await times({ since: "2026-11-20", until: "2026-11-21" }), [at(2), at(1), at(0)]);
    const between = "2026-11-20T10:00:00.000500Z";
    assert.deepEqual(await times({ since: between }), [at(2), at(1)], "no event before the first");
    assert.deepEqual(await times({ until: between }), [at(0)], "every event before now");
    assert.deepEqual(await times({ since: "2026-11-20T10:00:00.00100Z" }), [at(2), at(1)]);
    assert.deepEqual(await times({ since: "2026-11-20t10:00z" }), [at(2), at(1), at(0)]);
    assert.deepEqual(await times({ until: "2026-11-20" }), []);
    assert.deepEqual(await times({ since: "2026-11-21" }), []);
    assert.deepEqual(await times({ since: at(1), limit: "1" }), [at(2)], "only the newest");
  }),
);

Deno.test(
  "the answer repeats the filters as applied: instants in UTC with milliseconds, omitted ones as null or their default",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const filters = async (query: Record<string, string>) => (await read(harness, key, query)).filters;
    const now = "2026-11-20T09:00:00.000Z";
    assert.deepEqual(await filters({}), {
      event_type: null,
      user_id: null,
      since: null,
      until: now,
      limit: 100,
    });
    assert.deepEqual(
      await filters({
        event_type: "KEY_REVOKED",
        since: "2026-11-01",
        until: "2026-11-02T01:00:00+01:00",
        limit: "7",
      }),
      {
        event_type: "KEY_REVOKED",
        user_id: null,
        since: "2026-11-01T00:00:00.000Z",
        until: "2026-11-02T00:00:00.000Z",
        limit: 7,
      },
    );
    assert.deepEqual(await filters({ until: "2030-01-01" }), {
      event_type: null,
      user_id: null,
      since: null,
      until: "2030-01-01T00:00:00.000Z",
      limit: 100,
    });
  }),
);

Deno.test(
  "every named event type can be asked for, and any other is 422",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    harness.clock.advance(1);
    assert.equal(NAMED.length, 49);
    for (const event_type of NAMED) {
      for (const path of [PATH, EXPORT]) {
        const { status, text } = await harness.send(`${path}?event_type=${event_type}&until=2026-11-20`, {
          key,
        });
        assert.equal(status, 200, `${event_type}: ${text}`);
      }
    }
    const { events } = await read(harness, key, { event_type: "ORG_CREATED" });
    assert.deepEqual(typesOf(events), ["ORG_CREATED"]);
    for (
      const value of [
        "UNKNOWN",
        "key_rotated",
        "KEY_ROTATED,KEY_REVOKED",
        "KEY_",
        "SCORE_COMPUTED",
        "SUBJECT_ERASED",
        "SIGNING_KEY_COMPROMISED",
        "MODEL_CHANGED",
        "protocol_violation",
      ]
    ) {
      for (const path of [PATH, EXPORT]) {
        await refuses(harness, {
          name: value,
          path: `${path}?event_type=${value}`,
          request: { key },
          status: 422,
          code: "VALIDATION_FAILED",
          names: "event_type must be one of ORG_CREATED, KEY_ROTATED",
        });
      }
    }
  }),
);

Deno.test(
  "limit is 1 to 500, is 100 by default, and selects the newest events",
  withHarness(async (harness) => {
    await harness.organization("acme");
    const key = await rotate(harness, "acme", { count: 499 });
    harness.clock.advance(1);
    // 499 rotations, the creation and the genesis of the chain.
    const until = iso(harness.clock.now());
    const all = await exported(harness, key, { until });
    assert.equal(all.length, 501);
    for (
      const [limit, count] of [[undefined, 100], ["1", 1], ["99", 99], ["101", 101], ["500", 500]] as const
    ) {
      const { events, filters } = await read(harness, key, {
        until,
        ...(limit === undefined ? {} : { limit }),
      });
      assert.equal(events.length, count);
      assert.equal(filters.limit, count);
      assert.deepEqual(events, all.slice(0, count));
    }
    for (const limit of ["0", "501", "01", "-1", "1.0", "1e2", "0x10", "%2B1", "%201", "a", "1000"]) {
      await refuses(harness, {
        name: limit,
        path: `${PATH}?limit=${limit}`,
        request: { key },
        status: 422,
        code: "VALIDATION_FAILED",
        names: "limit must be a whole number from 1 to 500",
      });
    }
  }),
);

Deno.test(
  "an instant that is not ISO, empty or given twice is 422 on both routes, and the attempt is not recorded",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const instants = [
      "yesterday",
      "2026-02-30",
      "2026-13-01",
      "2026-11-20T09:00:00",
      "2026-11-20T25:00:00Z",
      "2026-11-20 09:00:00Z",
      "20261120",
      "1795165200000",
      "%2B002026-11-20",
    ];
    const queries: (readonly [string, string])[] = ["since", "until"].flatMap((name) =>
      instants.map((value) => [`${name}=${value}`, `${name} must be an ISO date`] as const)
    );
    for (
      const [name, value] of [["since", "2026-11-20"], ["until", "2026-11-20"], ["event_type", NAMED[0]]]
    ) {
      queries.push([`${name}=`, `${name} must not be empty`]);
      queries.push([`${name}=${value}&${name}=${value}`, `${name} must be given once`]);
    }
    for (const path of [PATH, EXPORT]) {
      for (const [query, names] of queries) {
        await refuses(harness, {
          name: query,
          path: `${path}?${query}`,
          request: { key },
          status: 422,
          code: "VALIDATION_FAILED",
          names,
        });
      }
    }
    for (
      const [query, names] of [["limit=", "must not be empty"], ["limit=1&limit=1", "must be given once"]]
    ) {
      await refuses(harness, {
        name: query!,
        path: `${PATH}?${query}`,
        request: { key },
        status: 422,
        code: "VALIDATION_FAILED",
        names: `limit ${names}`,
      });
    }
  }),
);

// ---- records of reading -----------------------------------------------------------------------------------

Deno.test(
  "each reading and each export is recorded with its filters, by self_serve, and does not show itself",
  withHarness(async (harness) => {
    const { clock } = harness;
    const key = await harness.organization("acme");
    clock.advance(HOUR);
    await read(harness, key);
    clock.advance(HOUR);
    const far = await read(harness, key, {
      event_type: "AUDIT_LOG_READ",
      since: "2026-11-20",
      until: "2027-01-01",
      limit: "5",
    });
    assert.deepEqual(far.events.map(({ timestamp }: Json) => timestamp), ["2026-11-20T10:00:00.000Z"]);
    clock.advance(HOUR);
    const lines = await exported(harness, key, { event_type: "AUDIT_LOG_EXPORTED", until: "2027-01-01" });
    assert.deepEqual(lines, []);
    clock.advance(HOUR);
    await exported(harness, key);
    const prefix = key.slice(0, 8);
    const own = { actor: "self_serve", prefix };
    assert.deepEqual((await storedEvents(harness, "org/acme/admin")).slice(1), [
      {
        type: "AUDIT_LOG_READ",
        ...own,
        at: "2026-11-20T10:00:00.000Z",
        detail: { event_type: null, since: null, until: "2026-11-20T10:00:00.000Z", limit: 100 },
      },
      {
        type: "AUDIT_LOG_READ",
        ...own,
        at: "2026-11-20T11:00:00.000Z",
        detail: {
          event_type: "AUDIT_LOG_READ",
          since: "2026-11-20T00:00:00.000Z",
          until: "2027-01-01T00:00:00.000Z",
          limit: 5,
        },
      },
      {
        type: "AUDIT_LOG_EXPORTED",
        ...own,
        at: "2026-11-20T12:00:00.000Z",
        detail: { event_type: "AUDIT_LOG_EXPORTED", since: null, until: "2027-01-01T00:00:00.000Z" },
      },
      {
        type: "AUDIT_LOG_EXPORTED",
        ...own,
        at: "2026-11-20T13:00:00.000Z",
        detail: { event_type: null, since: null, until: "2026-11-20T13:00:00.000Z" },
      },
    ]);
  }),
);

Deno.test("a reading that cannot be recorded is not answered", async () => {
  let failing = false;
  const harness = await openHarness({
    wrap: (database) => ({
      ...database,
      batch: (statements) => (failing ? Promise.reject(new Error("a fault")) : database.batch(statements)),
    }),
  });
  const key = await harness.organization("acme");
  failing = true;
  for (const path of [PATH, EXPORT]) {
    const { status, body } = await harness.send(path, { key });
    assert.deepEqual([status, body.error.code], [500, "INTERNAL_ERROR"], path);
  }
  failing = false;
  await harness.close();
});

// ---- the export -------------------------------------------------------------------------------------------

Deno.test(
  "an export is NDJSON with one event on a line, as a file named after the organization",
  withHarness(async (harness) => {
    await harness.organization("acme");
    const key = await rotate(harness, "acme", { count: 2 });
    harness.clock.advance(1);
    const { headers, text } = await harness.send(EXPORT, { key });
    assert.equal(headers.get("Content-Type"), "application/x-ndjson");
    assert.equal(headers.get("Content-Disposition"), 'attachment; filename="acme-audit-log.ndjson"');
    assert.ok(headers.get("X-Request-Id"));
    const lines = text.split("\n");
    assert.deepEqual([lines.length, lines.pop()], [5, ""]);
    assert.deepEqual(typesOf(lines.map((line) => JSON.parse(line))), [
      "KEY_ROTATED",
      "KEY_ROTATED",
      "ORG_CREATED",
      "CHAIN_GENESIS",
    ]);
    assert.deepEqual(Object.keys(JSON.parse(lines[0]!)), [
      "event_id",
      "event_type",
      "timestamp",
      "org_id",
      "prefix",
      "actor",
      "detail",
    ]);
  }),
);

Deno.test(
  "an export of 1,200 rotations holds exactly the events that the log shows in pages",
  withHarness(async (harness) => {
    const { clock } = harness;
    await harness.organization("acme");
    const key = await rotate(harness, "acme", { count: 1_200 });
    clock.advance(1);
    const until = iso(clock.now());
    const lines = await exported(harness, key, { until });
    assert.equal(lines.length, 1_202);
    assert.deepEqual(lines.map(({ timestamp }) => timestamp), [
      ...Array.from({ length: 1_201 }, (_, index) => iso(EPOCH + 1_200 - index)),
      iso(EPOCH),
    ]);
    assert.deepEqual(await paged(harness, key, until), lines);

    const since = iso(EPOCH + 400);
    const part = { since, until: iso(EPOCH + 1_000), event_type: "KEY_ROTATED" };
    const some = await exported(harness, key, part);
    assert.deepEqual(some, lines.slice(201, 801));
    assert.equal(some.at(-1)!.timestamp, since);
    const newest = await read(harness, key, { ...part, limit: "500" });
    assert.deepEqual(newest.events, some.slice(0, 500));
    assert.deepEqual(typesOf(await exported(harness, key, { event_type: "ORG_CREATED" })), ["ORG_CREATED"]);
  }),
);

Deno.test("after an acknowledged restore the log and its export cover both epochs", () =>
  withDirectory(async (directory) => {
    const [path, lockPath] = [`${directory}/jiss.db`, `${directory}/lock.db`];
    const start = (run: number) => openHarness({ path, lockPath, run, startsAt: EPOCH + run * HOUR });
    const first = await start(0);
    await first.organization("acme");
    const key = await rotate(first, "acme", { count: 120 });
    await first.close();
    await copyDatabase(path, `${directory}/backup`);
    const second = await start(1);
    await read(second, key);
    await second.close();
    await copyDatabase(`${directory}/backup`, path);
    const harness = await start(2);
    await acknowledgeRestore(harness.dependencies, { reason: "the disk failed", now: harness.clock.now() });
    const last = await rotate(harness, "acme", { count: 130 });
    harness.clock.advance(1);
    const until = iso(harness.clock.now());

    const lines = await exported(harness, last, { until });
    assert.deepEqual(typesOf(lines), [
      ...Array.from({ length: 130 }, () => "KEY_ROTATED"),
      "CHAIN_GENESIS",
      ...Array.from({ length: 120 }, () => "KEY_ROTATED"),
      "ORG_CREATED",
      "CHAIN_GENESIS",
    ]);
    assert.equal(lines[130]!.detail.reason, "the disk failed");
    assert.deepEqual((await read(harness, last, { until, limit: "500" })).events, lines);
    const acrossBoth = { since: iso(EPOCH + 100), until: iso(EPOCH + 2 * HOUR + 21) };
    assert.deepEqual(await exported(harness, last, acrossBoth), lines.slice(110, 152));
    const rotations = await exported(harness, last, { ...acrossBoth, event_type: "KEY_ROTATED" });
    assert.equal(rotations.length, 41);
    const { events } = await read(harness, last, { until: iso(EPOCH + HOUR), limit: "10" });
    assert.deepEqual(events, lines.slice(131, 141), "events of the first epoch alone");
    await harness.close();
  }));

Deno.test(
  "after the chain's beginning was pruned, the log and its export begin at its first kept entry",
  withHarness(async (harness) => {
    const { clock, dependencies } = harness;
    await harness.organization("acme");
    await rotate(harness, "acme", { count: 5, everyMs: DAY });
    clock.advance(90 * DAY);
    const key = await rotate(harness, "acme", { count: 2, everyMs: DAY });
    await pruneChains(dependencies, clock.now());
    clock.advance(DAY);
    const lines = await exported(harness, key);
    assert.deepEqual(typesOf(lines), ["RETENTION_PRUNED", "KEY_ROTATED", "KEY_ROTATED"]);
    assert.deepEqual(await exported(harness, key, { since: "2026-11-01", event_type: "KEY_ROTATED" }), [
      lines[1],
      lines[2],
    ]);
    const { events } = await read(harness, key, { until: iso(clock.now()), limit: "500" });
    assert.deepEqual(events.slice(-3), lines);
    assert.deepEqual(await exported(harness, key, { until: "2026-11-30" }), []);
  }),
);

/** A database that counts the pages of the log that are read. */
function countingPages(database: Database, pages: { count: number }): Database {
  return {
    ...database,
    read(compiled) {
      if (/^select "seq" from "audit_entry" .*limit/.test(compiled.sql)) pages.count += 1;
      return database.read(compiled);
    },
  };
}

/** Waits until `count` pages were read, and asserts that no more are. */
async function settleAt(pages: { readonly count: number }, count: number, message?: string): Promise<void> {
  await until(() => pages.count >= count);
  for (let turn = 0; turn < 100; turn += 1) await nextTurn();
  assert.equal(pages.count, count, message ?? "pages");
}

Deno.test("an export is read from the database as it is sent: a slow reader holds up the reading, and one who leaves ends it", async () => {
  const pages = { count: 0 };
  const harness = await openHarness({ wrap: (database) => countingPages(database, pages) });
  await harness.organization("acme");
  const key = await rotate(harness, "acme", { count: 1_200 });
  harness.clock.advance(1);
  const { text: whole } = await harness.send(EXPORT, { key });
  assert.equal(pages.count, 13, "pages of a hundred events each");

  pages.count = 0;
  const request = { headers: { "X-API-Key": key } };
  const ask = async () =>
    await harness.app.fetch(new Request(`http://jiss.test${EXPORT}`, request), { peer: "203.0.113.7" });
  const response = await ask();
  await settleAt(pages, 1, "before anything was taken");
  const reader = response.body!.getReader();
  const { value } = await reader.read();
  assert.ok(value!.length >= 16_384 && value!.length < 17_384);
  await settleAt(pages, 2, "what was taken, and a piece ahead");
  await reader.cancel();
  await settleAt(pages, 2, "nobody reads any more");

  pages.count = 0;
  let text = "";
  for await (const piece of (await ask()).body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    await nextTurn();
  }
  assert.equal(pages.count, 13);
  assert.equal(text, whole);
  await harness.close();
});

Deno.test("an export whose reading fails on the way is cut off, and the log reports the failure", async () => {
  const pages = { count: 0 };
  let failsAt = Infinity;
  const harness = await openHarness({
    wrap(database) {
      const counting = countingPages(database, pages);
      return {
        ...counting,
        read(compiled) {
          const read = counting.read(compiled);
          return pages.count < failsAt ? read : Promise.reject(new Error("a fault of the disk"));
        },
      };
    },
  });
  await harness.organization("acme");
  const key = await rotate(harness, "acme", { count: 300 });
  harness.clock.advance(1);
  failsAt = 3;
  await assert.rejects(() => harness.send(EXPORT, { key }));
  failsAt = Infinity;
  const failures = harness.log.filter(({ msg }) => msg === "request failed");
  assert.deepEqual(failures.map(({ route }) => route), [`GET ${EXPORT}`]);
  await harness.close();
});
