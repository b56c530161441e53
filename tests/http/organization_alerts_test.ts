/**
 * Alerts as the people of an organization see them: each in words with its figures, acknowledged once by name, and made from signed
 * entries, whatever the rows of alerts say.
 */
import assert from "node:assert/strict";
import { Upkeep } from "../../src/operations/installation/upkeep.ts";
import { raiseTampering } from "../../src/operations/shared/tampering.ts";
import { raiseUsageAlert, score } from "../alerting.ts";
import { alter, select, whileAltered } from "../altering.ts";
import {
  type Answer,
  type Harness,
  type HarnessOptions,
  MASTER_KEY,
  OWN_ORIGIN,
  withAlterations,
  withHarness,
} from "../harness.ts";
import { drawDue, sealStock, setPolicy } from "../probing.ts";
import { refuses, storedEvents } from "../scenario.ts";
import { signedInUser, type TestUser } from "../signing_in.ts";

const ALERTS = "/v1/organization/alerts";
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ACK_KEY = "master-key-of-the-tests-ALERT_ACK-000001";
const OPTIONS: HarnessOptions = {
  masterSecrets: { ORG_CREATE: [MASTER_KEY], ALERT_ACK: [ACK_KEY] },
  adminDashboard: true,
};

interface World {
  readonly harness: Harness;
  readonly key: string;
  /** Signs a new officer in: a session would end while the clock moves. */
  readonly signIn: () => Promise<TestUser>;
}

const worldOf = async (harness: Harness): Promise<World> => ({
  harness,
  key: await harness.organization("acme"),
  signIn: () => signedInUser(harness, { orgId: "acme", role: "officer" }),
});

function alertTest(
  name: string,
  test: (world: World) => Promise<void>,
  options: HarnessOptions = {},
): void {
  Deno.test(name, withHarness(async (harness) => test(await worldOf(harness)), { ...OPTIONS, ...options }));
}

/** A request as a page of the service makes it with a session. */
function call(
  { harness }: World,
  { cookie }: TestUser,
  path: string,
  method: "GET" | "POST" = "GET",
  more: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const headers = { Cookie: cookie, Origin: OWN_ORIGIN, "Sec-Fetch-Site": "same-origin", ...more };
  return harness.send(path, { headers, method });
}

async function listed({ harness, key }: World, query = "") {
  const { status, body, text } = await harness.send(`${ALERTS}${query}`, { key });
  assert.equal(status, 200, text);
  assert.equal(body.count, body.alerts.length);
  return body.alerts;
}

const acknowledging = (alertId: string) => `${ALERTS}/${alertId}/ack`;

/** Draws a probe for an operator and lets its time end; returns its id. */
async function loseProbe({ harness, key }: World, operator: string): Promise<string> {
  const { probe } = await drawDue({ harness, key }, { prefix: `of-${operator}`, operator_id: operator });
  harness.clock.advance(61 * 60_000);
  await new Upkeep(harness.dependencies).run(harness.clock.now());
  return probe.probe_id;
}

async function startProgramme(programme: World): Promise<void> {
  await setPolicy(programme);
  await sealStock(programme, 40);
}

async function acknowledgements({ harness }: World) {
  const events = await storedEvents(harness, "org/acme/admin");
  return events.filter(({ type }) => type === "ALERT_ACKNOWLEDGED");
}

alertTest(
  "a usage alert tells what happened, with its figures, and who of the organization saw it",
  async (world) => {
    const { harness, key, signIn } = world;
    assert.deepEqual(await listed(world), []);
    const alertId = await raiseUsageAlert(harness, "acme", key);
    const [alert, ...others] = await listed(world);
    assert.deepEqual(others, []);
    const { entry_hash, chain, seq, next_step, ...rest } = alert;
    assert.deepEqual(rest, {
      alert_id: alertId,
      kind: "USAGE_ANOMALY",
      severity: "HIGH",
      statement:
        "11 scores in 24 hours: more than 10, which is 10 times a busy day (1) of the 30 days before.",
      created_at: "2026-11-27T09:00:00.000Z",
      raised_at: "2026-11-27T09:00:00.000Z",
      usage: { count_24h: 11, p95: 1, threshold: 10, days_with_data: 7 },
      probe_count: 0,
      probes: [],
      fault: null,
      acknowledged_at: null,
      acknowledged_by: null,
    });
    assert.match(next_step, /key/);
    const raised = (await storedEvents(harness, "org/acme/admin")).find(({ type }) =>
      type === "ALERT_RAISED"
    );
    assert.ok(
      raised !== undefined && chain === "org/acme/admin" && Number.isInteger(seq) && entry_hash.length === 64,
    );

    harness.clock.advance(HOUR);
    const officer = await signIn();
    const seen = await call(world, officer, acknowledging(alertId), "POST");
    assert.equal(seen.status, 200, seen.text);
    const { request_id: _id, timestamp: _at, ...body } = seen.body;
    const by = { actor: "user", user_id: officer.userId, user_name: seen.body.acknowledged_by.user_name };
    assert.equal(typeof by.user_name, "string");
    const at = "2026-11-27T10:00:00.000Z";
    assert.deepEqual(body, {
      acknowledged: true,
      alert_id: alertId,
      acknowledged_at: at,
      acknowledged_by: by,
    });
    assert.deepEqual(await listed(world), []);
    const [known] = await listed(world, "?state=all");
    assert.deepEqual([known.acknowledged_at, known.acknowledged_by], [at, by]);
    harness.clock.advance(HOUR);
    const log = await harness.send("/v1/admin/audit-log?event_type=ALERT_ACKNOWLEDGED", { key });
    assert.equal(log.status, 200, log.text);
    const [event] = log.body.events;
    assert.deepEqual([event.user_id, event.actor, event.detail], [officer.userId, "user", {
      alert_id: alertId,
    }]);
  },
);

alertTest("a repeated acknowledgement, and one of many at once, changes nothing", async (world) => {
  const { harness, key } = world;
  const alertId = await raiseUsageAlert(harness, "acme", key);
  const officer = await world.signIn();
  const path = acknowledging(alertId);
  const admin = await signedInUser(harness, { orgId: "acme", role: "admin" });
  const answers = await Promise.all([
    call(world, officer, path, "POST"),
    call(world, admin, path, "POST"),
    harness.send(path, { key, method: "POST" }),
    call(world, officer, path, "POST"),
  ]);
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 200]);
  const [first] = answers.map(({ body }) => body.acknowledged_by);
  for (const { body } of answers) assert.deepEqual(body.acknowledged_by, first, "all are told who was first");
  assert.equal((await acknowledgements(world)).length, 1);

  harness.clock.advance(HOUR);
  const later = await harness.send(path, { key, method: "POST", headers: { "Idempotency-Key": "one" } });
  assert.deepEqual(later.body.acknowledged_by, first);
  assert.equal(later.body.acknowledged_at, answers[0]!.body.acknowledged_at);
  const replayed = await harness.send(path, { key, method: "POST", headers: { "Idempotency-Key": "one" } });
  assert.equal(replayed.headers.get("Idempotency-Replayed"), "true");
  assert.deepEqual(replayed.body, later.body);
  assert.equal((await acknowledgements(world)).length, 1);
});

alertTest(
  "a lost probe joins the alert of its day, names its reviewer, and opens it again",
  async (world) => {
    const { harness, key } = world;
    await startProgramme(world);
    const first = await loseProbe(world, "ada");
    const [alert] = await listed(world);
    assert.deepEqual([alert.kind, alert.statement, alert.probe_count, alert.probes], [
      "PROBE_LOST",
      "1 sealed probe was shown and never decided.",
      1,
      [{ probe_id: first, operator_id: "ada" }],
    ]);
    const path = acknowledging(alert.alert_id);
    const request = { key, method: "POST", headers: { "Idempotency-Key": "seen" } } as const;
    const seen = await harness.send(path, request);
    assert.deepEqual(seen.body.acknowledged_by, { actor: "self_serve", user_id: null, user_name: null });
    assert.deepEqual(await listed(world), []);

    const second = await loseProbe(world, "bruno");
    const [again] = await listed(world);
    assert.equal(again.alert_id, alert.alert_id);
    assert.deepEqual([again.created_at, again.acknowledged_at], [alert.created_at, null]);
    assert.ok(again.raised_at > alert.raised_at);
    assert.equal(again.statement, "2 sealed probes were shown and never decided.");
    assert.deepEqual(again.probes, [
      { probe_id: first, operator_id: "ada" },
      { probe_id: second, operator_id: "bruno" },
    ]);
    // A repeat of the earlier call does not acknowledge what it has not seen.
    const replayed = await harness.send(path, request);
    assert.deepEqual([replayed.headers.get("Idempotency-Replayed"), replayed.body], ["true", seen.body]);
    assert.equal((await listed(world)).length, 1);

    const officer = await world.signIn();
    const byOfficer = await call(world, officer, path, "POST");
    assert.equal(byOfficer.body.acknowledged_by.user_id, officer.userId);
    assert.deepEqual(await listed(world), []);
    assert.equal((await acknowledgements(world)).length, 2);
  },
);

alertTest(
  "where reviewers are pseudonyms, a lost probe has one, and an erased reviewer has none",
  async (world) => {
    const { harness, key } = world;
    for (const operator_id of ["ada", "bruno"]) {
      const body = {
        session_id: `score-of-${operator_id}`,
        operator_id,
        domain: "general",
        interaction: { time_to_decision_ms: 9000, decision: "accepted" },
      };
      assert.equal((await harness.send("/v1/score", { key, body })).status, 200);
    }
    await startProgramme(world);
    for (const operator of ["ada", "bruno"]) await loseProbe(world, operator);
    const { text, body: { alerts: [alert] } } = await call(
      world,
      await world.signIn(),
      ALERTS,
    );
    assert.doesNotMatch(text, /"(?:ada|bruno)"/);
    for (const { operator_id } of alert.probes) assert.match(operator_id, /^[0-9a-f]{32}$/);
    assert.equal((await harness.send("/v1/operator/ada", { key, method: "DELETE" })).status, 200);
    const [after] = await listed(world);
    assert.deepEqual(after.probes.map(({ operator_id }: { operator_id: string | null }) => operator_id), [
      null,
      "bruno",
    ]);
  },
  { privacy: "pseudonymous" },
);

alertTest(
  "the administrator's acknowledgement is told as that; the organization's leaves the administrator's list and alarm",
  async (world) => {
    const { harness, key } = world;
    const { dependencies, clock } = harness;
    const fault = { chain: "org/acme", code: "ROOT_MISMATCH", seq: 3, what: "the root is another" };
    await raiseTampering(dependencies, fault, clock.now());
    const [alert] = await listed(world);
    assert.deepEqual([alert.kind, alert.fault, alert.statement], [
      "CHAIN_TAMPERED",
      { family: "org/acme", ...fault },
      "The evidence in the database is not what was signed. The root is another.",
    ]);
    assert.match(alert.next_step, /jiss verify/);
    const { alert_id: alertId } = alert;
    const officer = await world.signIn();
    assert.equal((await call(world, officer, acknowledging(alertId), "POST")).status, 200);
    const [row] = await select(harness.database, "SELECT acknowledged FROM alert");
    assert.equal(row!.acknowledged, 0, "`jiss alerts list` still shows it");
    assert.deepEqual(dependencies.tampered!.families, ["org/acme"], "the alarm goes on");

    clock.advance(DAY);
    await raiseTampering(dependencies, { ...fault, chain: "org/acme/admin" }, clock.now());
    const [other] = await listed(world);
    assert.equal(other.kind, "ADMIN_CHAIN_TAMPERED");
    const master = await harness.send(`/v1/admin/alerts/${other.alert_id}/ack`, {
      key: ACK_KEY,
      headers: { "Idempotency-Key": "one" },
      body: { idempotency_key: "one" },
    });
    assert.equal(master.status, 200, master.text);
    const [ofMaster, ofOfficer] = await listed(world, "?state=all");
    assert.deepEqual(ofMaster.acknowledged_by, { actor: "admin-worker", user_id: null, user_name: null });
    assert.equal(ofOfficer.acknowledged_by.user_id, officer.userId);
    const repeated = await harness.send(acknowledging(other.alert_id), { key, method: "POST" });
    assert.equal(repeated.body.acknowledged_by.actor, "admin-worker");
    assert.equal((await acknowledgements(world)).length, 1);
  },
  { raisesTampering: true },
);

alertTest(
  "alerts about the system's chain and about another organization are nobody's here",
  async (world) => {
    const { harness } = world;
    const { dependencies, clock } = harness;
    const otherKey = await harness.organization("other");
    const stranger = await signedInUser(harness, { orgId: "other", role: "officer" });
    const fault = { code: "ROOT_MISMATCH", seq: 0, what: "the root is another" };
    await raiseTampering(dependencies, { chain: "sys", ...fault }, clock.now());
    await raiseTampering(dependencies, { chain: "org/acme", ...fault }, clock.now());
    const [own, ...more] = await listed(world, "?state=all");
    assert.deepEqual([own.kind, more], ["CHAIN_TAMPERED", []]);
    const [{ data }] = await select(
      harness.database,
      `SELECT p.data FROM audit_entry AS e JOIN audit_part AS p ON p.chain = e.chain AND p.seq = e.seq
     WHERE e.chain = 'sys' AND e.event_type = 'ALERT_RAISED'`,
    ) as [{ data: string }];
    const { alert_id: ofSystem } = JSON.parse(data);
    assert.deepEqual((await call(world, stranger, `${ALERTS}?state=all`)).body.alerts, []);
    for (
      const [name, path, key] of [
        ["another organization's", acknowledging(own.alert_id), otherKey],
        ["the system's", acknowledging(ofSystem), world.key],
        ["one that does not exist", acknowledging("0".repeat(26)), world.key],
      ] as const
    ) {
      const request = { key, method: "POST" } as const;
      await refuses(harness, { name, path, request, status: 404, code: "NOT_FOUND", names: ALERTS });
    }
    const request = { key: world.key, method: "POST" } as const;
    const name = "a malformed id";
    const path = acknowledging("no-alert");
    await refuses(harness, {
      name,
      path,
      request,
      status: 422,
      code: "VALIDATION_FAILED",
      names: "alert_id",
    });
    assert.equal((await listed(world)).length, 1);
  },
  { raisesTampering: true },
);

alertTest("officers and admins acknowledge, auditors only read, and viewers see none", async (world) => {
  const { harness, key } = world;
  const alertId = await raiseUsageAlert(harness, "acme", key);
  const [reading, scoring] = await Promise.all(["read", "score"].map(async (scope) => {
    const made = await harness.send("/v1/keys", { key, body: { name: `may ${scope}`, scopes: [scope] } });
    return made.body.api_key as string;
  }));
  const userOf = (role: "viewer" | "auditor" | "admin") => signedInUser(harness, { orgId: "acme", role });
  const [viewer, auditor, admin] = [await userOf("viewer"), await userOf("auditor"), await userOf("admin")];
  const path = acknowledging(alertId);
  const statuses = [
    (await call(world, viewer, ALERTS)).status,
    (await call(world, auditor, ALERTS)).status,
    (await call(world, viewer, path, "POST")).status,
    (await call(world, auditor, path, "POST")).status,
    (await harness.send(ALERTS, { key: reading })).status,
    (await harness.send(ALERTS, { key: scoring })).status,
    (await harness.send(path, { key: reading, method: "POST" })).status,
    (await harness.send(ALERTS)).status,
  ];
  assert.deepEqual(statuses, [403, 200, 403, 403, 200, 403, 403, 401]);
  assert.equal((await listed(world)).length, 1, "it is still open");
  assert.equal((await call(world, admin, path, "POST")).status, 200);
});

alertTest(
  "alerts are listed page by page, the last created first, and an ended page of open ones has no acknowledged one",
  async (world) => {
    const { harness, key } = world;
    await raiseUsageAlert(harness, "acme", key);
    for (let day = 0; day < 3; day += 1) {
      harness.clock.advance(DAY);
      await score(harness, key, 50);
      await score(harness, key, 50);
      await score(harness, key, 50);
      await new Upkeep(harness.dependencies).run(harness.clock.now());
      await new Upkeep(harness.dependencies).run(harness.clock.now());
    }
    const pages = async (query: string) => {
      const seen: { readonly alert_id: string; readonly created_at: string }[] = [];
      for (let cursor: string | null = ""; cursor !== null;) {
        const { body, status, text }: Answer = await harness.send(`${ALERTS}?limit=1${query}${cursor}`, {
          key,
        });
        assert.equal(status, 200, text);
        seen.push(...body.alerts);
        cursor = body.next_cursor === null ? null : `&cursor=${body.next_cursor}`;
      }
      return seen;
    };
    const all = await pages("&state=all");
    assert.ok(all.length >= 2, "the test needs more than one page");
    assert.deepEqual(
      all.map(({ alert_id }) => alert_id),
      (await listed(world)).map(
        ({ alert_id }: { alert_id: string }) => alert_id,
      ),
    );
    assert.deepEqual(
      all.map(({ created_at }) => created_at),
      all.map(({ created_at }) => created_at).toSorted().toReversed(),
    );
    const [first, ...rest] = all;
    await harness.send(acknowledging(first!.alert_id), { key, method: "POST" });
    assert.deepEqual((await pages("")).map(({ alert_id }) => alert_id), rest.map(({ alert_id }) => alert_id));
    assert.equal((await pages("&state=all")).length, all.length);
    for (const query of ["?state=seen", "?limit=0", "?limit=101", "?cursor=x"]) {
      assert.equal((await harness.send(`${ALERTS}${query}`, { key })).status, 422, query);
    }
  },
);

Deno.test(
  "what the rows of alerts say changes nothing, and altered entries are refused",
  withAlterations(async (harness) => {
    const world = await worldOf(harness);
    const { key } = world;
    const alertId = await raiseUsageAlert(harness, "acme", key);
    const officer = await world.signIn();
    const before = await listed(world);
    for (
      const change of [
        "UPDATE alert SET acknowledged = 1, acknowledged_at = 1, severity = 'LOW', detail = '{}', kind = 'PROBE_LOST'",
        "DELETE FROM alert",
      ]
    ) {
      await alter(harness.database, change);
      assert.deepEqual(await listed(world), before, change);
    }
    assert.equal((await call(world, officer, acknowledging(alertId), "POST")).status, 200);
    const [seen] = await listed(world, "?state=all");
    assert.equal(seen.acknowledged_by.user_id, officer.userId);

    const partOf = (type: string) =>
      `SELECT seq FROM audit_entry WHERE chain = 'org/acme/admin' AND event_type = '${type}'`;
    const raisedPart = `chain = 'org/acme/admin' AND seq IN (${partOf("ALERT_RAISED")})`;
    const signedIn = partOf("USER_SIGNED_IN");
    const alterations = [
      [
        "another figure",
        [`UPDATE audit_part SET data = replace(data, '"count_24h":11', '"count_24h":9999') WHERE ${raisedPart}`],
        [503, 503],
      ],
      [
        "another time of the acknowledgement",
        [`UPDATE audit_entry SET body = replace(body, '2026-11-27T09', '2026-11-27T08')
          WHERE chain = 'org/acme/admin' AND event_type = 'ALERT_ACKNOWLEDGED'`],
        [503, 503],
      ],
      [
        "a sign-in as an acknowledgement",
        [
          `UPDATE audit_part SET data = '{"alert_id":"${alertId}"}'
           WHERE chain = 'org/acme/admin' AND seq IN (${signedIn})`,
          `UPDATE audit_entry SET event_type = 'ALERT_ACKNOWLEDGED'
           WHERE chain = 'org/acme/admin' AND event_type = 'USER_SIGNED_IN'`,
        ],
        [503, 503],
      ],
      [
        "the alert's detail as that of another",
        [`UPDATE audit_part SET data = replace(data, '${alertId}', '${"0".repeat(26)}') WHERE ${raisedPart}`],
        [503, 404],
      ],
      ["a detail that is no JSON", [`UPDATE audit_part SET data = 'x' WHERE ${raisedPart}`], [503, 404]],
      ["no detail", [`DELETE FROM audit_part WHERE ${raisedPart}`], [503, 404]],
    ] as const;
    for (const [name, changes, expected] of alterations) {
      const tables = ["audit_entry", "audit_part"];
      const found = await whileAltered(harness.database, { tables, changes }, async () => [
        (await harness.send(`${ALERTS}?state=all`, { key })).status,
        (await harness.send(acknowledging(alertId), { key, method: "POST" })).status,
      ]);
      assert.deepEqual(found, expected, name);
    }
    assert.deepEqual(await listed(world, "?state=all"), [seen], "all is as it was");
  }, OPTIONS),
);
