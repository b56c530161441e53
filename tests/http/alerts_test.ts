/**
 * Usage alerts: what raises one, how often, and POST /v1/admin/alerts/{alert_id}/ack.
 * Source: specification, Alert and Limits (quota breach); contract, sections 5 and 8.10.
 */
import assert from "node:assert/strict";
import { query } from "../../src/store/database.ts";
import { alertsQuery } from "../../src/store/alerts.ts";
import { raiseUsageAlerts } from "../../src/operations/organizations/alerts.ts";
import { Upkeep } from "../../src/operations/installation/upkeep.ts";
import { alertsOf, raiseUsageAlert, runUpkeep, score, useOn } from "../alerting.ts";
import { withDirectory } from "../auditing.ts";
import {
  type Harness,
  MASTER_KEY,
  openHarness,
  organizationRequest,
  scoreRequest,
  withHarness,
} from "../harness.ts";
import { refuses } from "../scenario.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ACK_KEY = "master-key-of-the-tests-ALERT_ACK-000001";
const SECRETS = { masterSecrets: { ORG_CREATE: [MASTER_KEY], ALERT_ACK: [ACK_KEY] } };
const DASHBOARD = { ...SECRETS, adminDashboard: true };

/** Details of the raised alerts in an organization's audit log. */
async function raisedOf({ database }: Harness, orgId: string): Promise<readonly unknown[]> {
  const rows = await database.read(
    query.selectFrom("audit_entry as e")
      .innerJoin(
        "audit_part as p",
        (join) => join.onRef("p.chain", "=", "e.chain").onRef("p.seq", "=", "e.seq"),
      )
      .select(["p.data", "e.body"]).where("e.chain", "=", `org/${orgId}/admin`)
      .where("e.event_type", "=", "ALERT_RAISED").orderBy("e.seq").compile(),
  );
  return rows.map(({ data, body }) => ({ ...JSON.parse(data!), actor: JSON.parse(body).actor }));
}

/** Makes an organization with unusual usage; returns its key and the alert's id. */
async function raised(harness: Harness, orgId = "acme") {
  const key = await harness.organization(orgId);
  return { key, alertId: await raiseUsageAlert(harness, orgId, key) };
}

// ---- raising alerts ---------------------------------------------------------------------------------------

Deno.test(
  "ten times the p95 raises no alert; one score more raises one in the table, the audit log and the log, and throttles nothing",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await useOn(harness, key, 7);
    await score(harness, key, 10);
    await runUpkeep(harness);
    assert.deepEqual(await alertsOf(harness), []);
    assert.deepEqual(await raisedOf(harness, "acme"), []);

    await score(harness, key, 1);
    await runUpkeep(harness);
    const detail = { count_24h: 11, p95: 1, threshold: 10, days_with_data: 7 };
    const [alert, ...others] = await alertsOf(harness);
    assert.deepEqual(others, []);
    assert.match(alert!.alert_id, /^[A-Za-z0-9_-]{1,128}$/);
    assert.deepEqual({ ...alert, detail: JSON.parse(alert!.detail) }, {
      alert_id: alert!.alert_id,
      org_id: "acme",
      severity: "HIGH",
      kind: "USAGE_ANOMALY",
      // 27 November 2026
      day: 20_784,
      detail,
      created_at: Date.UTC(2026, 10, 27, 9),
      acknowledged: 0,
      acknowledged_at: null,
    });
    assert.deepEqual(await raisedOf(harness, "acme"), [
      { alert_id: alert!.alert_id, severity: "HIGH", kind: "USAGE_ANOMALY", ...detail, actor: "system" },
    ]);
    const warnings = harness.log.filter(({ level }) => level === "warn");
    assert.deepEqual(
      warnings.map(({ msg, org_id, alert_id, count_24h }) => [msg, org_id, alert_id, count_24h]),
      [
        ["usage anomaly", "acme", alert!.alert_id, 11],
      ],
    );
    const next = await harness.send("/v1/score", { key, body: scoreRequest() });
    assert.equal(next.status, 200);
  }),
);

Deno.test(
  "unusual usage raises no alert with scores on 6 earlier days, and raises one with scores on 7",
  withHarness(async (harness) => {
    const [six, seven] = [await harness.organization("six"), await harness.organization("seven")];
    await useOn(harness, seven, 1);
    for (let day = 0; day < 6; day += 1) {
      await score(harness, six, 1);
      await useOn(harness, seven, 1);
    }
    await score(harness, six, 100);
    await score(harness, seven, 100);
    await runUpkeep(harness);
    assert.deepEqual((await alertsOf(harness)).map(({ org_id }) => org_id), ["seven"]);
  }),
);

Deno.test(
  "the last 24 hours end at the run, to the millisecond, and the 30 days end where those begin",
  withHarness(async (harness) => {
    const { clock } = harness;
    const key = await harness.organization("acme");
    clock.advance(17 * 60_000 + 123);
    await useOn(harness, key, 7);
    await score(harness, key, 11);
    clock.advance(DAY);
    await runUpkeep(harness);
    assert.deepEqual(
      await alertsOf(harness),
      [],
      "scores that are exactly a day old belong to the day before",
    );
    await score(harness, key, 1);
    clock.advance(-1);
    await raiseUsageAlerts(harness.dependencies, clock.now());
    assert.deepEqual((await alertsOf(harness)).map(({ detail }) => JSON.parse(detail).count_24h), [11]);

    // The first days are now 30 days old or older: 6 of the 7 are left, and the two after them.
    clock.advance(23 * DAY + 1);
    await score(harness, key, 100);
    clock.advance(DAY - 1);
    await runUpkeep(harness);
    const [, later] = await alertsOf(harness);
    assert.deepEqual(JSON.parse(later!.detail), {
      count_24h: 100,
      p95: 1,
      threshold: 10,
      days_with_data: 8,
    });
  }),
);

Deno.test(
  "after a clock was set back, scores ahead of it are not counted until it passes them",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await useOn(harness, key, 7);
    harness.clock.advance(3 * HOUR);
    await score(harness, key, 11);
    harness.clock.advance(-2 * HOUR);
    await runUpkeep(harness);
    assert.deepEqual(await alertsOf(harness), []);
    harness.clock.advance(2 * HOUR);
    await runUpkeep(harness);
    assert.equal((await alertsOf(harness)).length, 1);
  }),
);

Deno.test(
  "an alert is raised once on a UTC day, and again on the next if usage is still unusual",
  withHarness(async (harness) => {
    const { key } = await raised(harness);
    await score(harness, key, 100);
    await runUpkeep(harness);
    harness.clock.advance(15 * HOUR - 1);
    await runUpkeep(harness);
    assert.equal((await alertsOf(harness)).length, 1, "a millisecond before midnight no new alert");
    harness.clock.advance(1);
    await runUpkeep(harness);
    const rows = await alertsOf(harness);
    assert.deepEqual(rows.map(({ day, detail }) => [day, JSON.parse(detail).count_24h]), [
      [20_784, 11],
      [20_785, 111],
    ]);
    assert.equal((await raisedOf(harness, "acme")).length, 2);
    harness.clock.advance(2 * DAY);
    await runUpkeep(harness);
    assert.equal((await alertsOf(harness)).length, 2, "no alert without new scores");
  }),
);

Deno.test(
  "each organization is compared with its own days, and two with unusual usage get one alert each",
  withHarness(async (harness) => {
    const keys = [];
    for (const orgId of ["busy", "quiet", "other"]) keys.push(await harness.organization(orgId));
    const [busy, quiet, other] = keys as [string, string, string];
    for (let day = 0; day < 7; day += 1) {
      await score(harness, busy, 50);
      await score(harness, quiet, 1);
      await useOn(harness, other, 1);
    }
    for (const key of [busy, quiet, other]) await score(harness, key, 60);
    await Promise.all([1, 2, 3].map(() => raiseUsageAlerts(harness.dependencies, harness.clock.now())));
    assert.deepEqual((await alertsOf(harness)).map(({ org_id }) => org_id).sort(), ["other", "quiet"]);
    assert.deepEqual((await raisedOf(harness, "busy")).length, 0);
    assert.deepEqual((await raisedOf(harness, "quiet")).length, 1);
    assert.deepEqual((await raisedOf(harness, "other")).length, 1);
    assert.equal(harness.log.filter(({ msg }) => msg === "usage anomaly").length, 2);
  }),
);

Deno.test("two processes over one database raise one alert between them", () =>
  withDirectory(async (directory) => {
    const over = { path: `${directory}/jiss.db`, lockPath: `${directory}/lock.db` };
    const first = await openHarness(over);
    const key = await first.organization("acme");
    await useOn(first, key, 7);
    await score(first, key, 11);
    const second = await openHarness({ ...over, run: 1, startsAt: first.clock.now() });
    await Promise.all([first, second].map(runUpkeep));
    assert.equal((await alertsOf(first)).length, 1);
    assert.equal((await raisedOf(first, "acme")).length, 1);
    const lines = [first, second].flatMap(({ log }) => log.filter(({ msg }) => msg === "usage anomaly"));
    assert.equal(lines.length, 1);
    await second.close();
    await first.close();
  }));

// ---- acknowledging ----------------------------------------------------------------------------------------

const pathOf = (alertId: string) => `/v1/admin/alerts/${alertId}/ack`;
const call = (idempotencyKey: string) => ({
  key: ACK_KEY,
  headers: { "Idempotency-Key": idempotencyKey },
  body: { idempotency_key: idempotencyKey },
});

Deno.test(
  "an acknowledged alert keeps the instant of the first call, whichever calls follow",
  withHarness(async (harness) => {
    const { alertId } = await raised(harness);
    const { send, clock } = harness;
    const first = await send(pathOf(alertId), call("one"));
    const { request_id: _id, timestamp: _at, ...body } = first.body;
    assert.deepEqual([first.status, body], [200, {
      acknowledged: true,
      alert_id: alertId,
      acknowledged_at: "2026-11-27T09:00:00.000Z",
    }]);
    const [row] = await alertsOf(harness);
    assert.deepEqual([row!.acknowledged, row!.acknowledged_at], [1, Date.UTC(2026, 10, 27, 9)]);
    assert.deepEqual(await harness.database.read(alertsQuery({ all: false })), []);

    clock.advance(HOUR);
    const replayed = await send(pathOf(alertId), call("one"));
    assert.equal(replayed.headers.get("Idempotency-Replayed"), "true");
    const again = await send(pathOf(alertId), call("two"));
    assert.equal(again.headers.get("Idempotency-Replayed"), null);
    for (const { status, body: repeated } of [replayed, again]) {
      assert.deepEqual([status, repeated.acknowledged_at], [200, "2026-11-27T09:00:00.000Z"]);
    }
    const events = await harness.database.read(
      query.selectFrom("audit_entry").select("body").where("event_type", "=", "ADMIN_ALERT_ACK").compile(),
    );
    assert.deepEqual(events.map((event) => JSON.parse(event.body).actor), ["admin-worker"]);
    await runUpkeep(harness);
    assert.equal(
      (await alertsOf(harness)).length,
      1,
      "an acknowledged alert still counts as the alert of its day",
    );
  }, DASHBOARD),
);

Deno.test(
  "a malformed alert_id is 400 before the body is read, an unknown one is 404, and nothing is written",
  withHarness(async (harness) => {
    const { alertId } = await raised(harness);
    const refused = [
      ["no%20id", 400, "VALIDATION_FAILED", "alert_id"],
      ["a".repeat(129), 400, "VALIDATION_FAILED", "alert_id"],
      ["a.b", 400, "VALIDATION_FAILED", "alert_id"],
      ["unknown", 404, "NOT_FOUND", "unknown"],
      ["a".repeat(128), 404, "NOT_FOUND", "alert"],
    ] as const;
    for (const [id, status, code, names] of refused) {
      await refuses(harness, { name: id, path: pathOf(id), request: call("x"), status, code, names });
    }
    const bodies = [
      [pathOf("no%20id"), {}, 400, "alert_id"],
      [pathOf(alertId), {}, 422, "idempotency_key"],
      [pathOf("unknown"), { idempotency_key: "another" }, 422, "idempotency_key"],
    ] as const;
    for (const [path, body, status, names] of bodies) {
      const request = { ...call("x"), body };
      await refuses(harness, { name: path, path, request, status, code: "VALIDATION_FAILED", names });
    }
    await refuses(harness, {
      name: "no Idempotency-Key",
      path: pathOf(alertId),
      request: { key: ACK_KEY, body: { idempotency_key: "x" } },
      status: 400,
      code: "VALIDATION_FAILED",
      names: "Idempotency-Key",
    });
  }, DASHBOARD),
);

Deno.test(
  "an acknowledgement with the dashboard off is 501 after authentication, and the alert stays open",
  withHarness(async (harness) => {
    const { alertId } = await raised(harness);
    for (const id of [alertId, "unknown", "no%20id"]) {
      await refuses(harness, {
        name: id,
        path: pathOf(id),
        request: call("x"),
        status: 501,
        code: "NOT_IMPLEMENTED",
        names: "JISS_ADMIN_DASHBOARD=on",
      });
    }
    const other = await harness.send(pathOf(alertId), { ...call("x"), key: MASTER_KEY });
    assert.equal(other.status, 401);
    assert.equal((await harness.database.read(alertsQuery({ all: false }))).length, 1);
  }, SECRETS),
);

// ---- upkeep -----------------------------------------------------------------------------------------------

Deno.test(
  "the daily upkeep deletes the answer to a master call when it is 30 days old",
  withHarness(async (harness) => {
    const { clock, send, rowCounts } = harness;
    clock.advance(-9 * HOUR);
    const body = organizationRequest();
    const create = () =>
      send("/v1/admin/org/create", { key: MASTER_KEY, headers: { "Idempotency-Key": "1" }, body });
    assert.equal((await create()).status, 201);
    const upkeep = new Upkeep(harness.dependencies);
    clock.advance(30 * DAY - 1);
    await upkeep.run(clock.now());
    assert.equal((await rowCounts()).idempotency, 1);
    assert.equal((await create()).body.already_provisioned, true);
    clock.advance(1);
    await upkeep.run(clock.now());
    assert.equal((await rowCounts()).idempotency, 0, "deleted on the new day");
    assert.equal((await create()).status, 409);
  }, SECRETS),
);
