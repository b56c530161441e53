/**
 * An altered chain in the database raises a HIGH alert, whether a verification, a request, a webhook or the
 * service's own round finds it.
 * Source: evidence design, section 8.
 */
import assert from "node:assert/strict";
import { anchorChains } from "../../src/operations/chains/anchoring.ts";
import { ChainWatch } from "../../src/operations/verification/chain_watch.ts";
import {
  followTampering,
  raiseTampering,
  systemAlerts,
  TamperedChains,
} from "../../src/operations/shared/tampering.ts";
import { verifyChain } from "../../src/operations/verification/verification.ts";
import { alertsQuery } from "../../src/store/alerts.ts";
import { alter, select } from "../altering.ts";
import { type Harness, MASTER_SECRETS, openHarness, scoreRequest } from "../harness.ts";

const DAY_MS = 86_400_000;
const VERIFY = "/v1/audit/chain/verify";
/** Alters the salt of the genesis entry's part, which only a verification reads. */
const PART_OF = (chain: string) =>
  `UPDATE audit_part SET salt = zeroblob(32) WHERE chain = '${chain}' AND seq = 0`;

async function open(): Promise<
  { readonly harness: Harness; readonly key: string; readonly tampered: TamperedChains }
> {
  const harness = await openHarness({
    raisesTampering: true,
    masterSecrets: MASTER_SECRETS,
    adminDashboard: true,
  });
  const key = await harness.organization("acme");
  assert.equal((await harness.send("/v1/score", { key, body: scoreRequest() })).status, 200);
  await anchorChains(harness.dependencies, harness.clock.now());
  return { harness, key, tampered: harness.dependencies.tampered! };
}

const alertsOf = async ({ database }: Harness) =>
  (await database.read(alertsQuery({ all: true }))).map((
    { org_id, severity, kind, detail, acknowledged },
  ) => ({
    org_id,
    severity,
    kind,
    acknowledged,
    code: JSON.parse(detail).code,
    chain: JSON.parse(detail).chain,
  }));

const raisedOn = async ({ database }: Harness, chain: string) => {
  const rows = await select(
    database,
    `SELECT p.data FROM audit_entry AS e JOIN audit_part AS p ON p.chain = e.chain AND p.seq = e.seq
     WHERE e.chain = '${chain}' AND e.event_type = 'ALERT_RAISED' ORDER BY e.seq`,
  );
  return rows.map(({ data }) => JSON.parse(String(data)));
};

const acknowledge = (harness: Harness, path: string) =>
  harness.master("ALERT_ACK", path, { body: { idempotency_key: "ack-1" }, idempotencyKey: "ack-1" });

const verifySystem = ({ dependencies, clock }: Harness) =>
  verifyChain(dependencies, { family: "sys", from: 0, sinceSize: null, now: clock.now() });

Deno.test("a verification that finds an alteration raises one HIGH alert for each chain and UTC day, with its event, and readiness stays", async () => {
  const { harness, key, tampered } = await open();
  assert.equal((await harness.send(VERIFY, { key })).body.valid, true);
  assert.deepEqual([tampered.families, await alertsOf(harness)], [[], []]);
  await alter(harness.database, PART_OF("org/acme"));
  for (let looks = 0; looks < 3; looks += 1) {
    assert.equal((await harness.send(VERIFY, { key })).body.valid, false);
  }
  const alert = {
    org_id: "acme",
    severity: "HIGH",
    kind: "CHAIN_TAMPERED",
    acknowledged: 0,
    code: "COMMITMENT_MISMATCH",
    chain: "org/acme",
  };
  assert.deepEqual(await alertsOf(harness), [alert]);
  const [event, ...others] = await raisedOn(harness, "org/acme/admin");
  assert.deepEqual(others, []);
  assert.deepEqual([event.kind, event.severity, event.code, event.chain], [
    "CHAIN_TAMPERED",
    "HIGH",
    "COMMITMENT_MISMATCH",
    "org/acme",
  ]);
  assert.deepEqual([tampered.families, tampered.mustLeaveRotation], [["org/acme"], false]);
  // An organization is still served, and its new records have evidence.
  const next = await harness.send("/v1/score", { key, body: scoreRequest({ session_id: "s-2" }) });
  assert.equal(next.status, 200);
  harness.clock.advance(DAY_MS);
  await harness.send(VERIFY, { key });
  assert.deepEqual(await alertsOf(harness), [alert, alert]);
  await harness.abandon();
});

Deno.test("requests that read an altered chain raise one alert, too, however many they are", async () => {
  const { harness, key, tampered } = await open();
  await alter(harness.database, "UPDATE audit_node SET hash = zeroblob(32) WHERE chain = 'org/acme'");
  const asked = Array.from({ length: 5 }, () => harness.send("/v1/score", { key, body: scoreRequest() }));
  for (const { status } of await Promise.all(asked)) assert.equal(status, 503);
  await tampered.inTurn(() => Promise.resolve());
  assert.deepEqual((await alertsOf(harness)).map(({ code, kind }) => [code, kind]), [[
    "ALTERED",
    "CHAIN_TAMPERED",
  ]]);
  await harness.abandon();
});

Deno.test("a replay of an altered part raises the alert, too, of a score, a label and a decision", async (t) => {
  const parts = [
    ["unlabelled", "SCORE_COMPUTED", "commit.input"],
    ["unlabelled", "OUTCOME_LABELLED", "label.commit.input"],
    ["d-1", "DRS_COMPUTED", "commit.input"],
  ] as const;
  for (const [id, event, path] of parts) {
    await t.step(event, async () => {
      const { harness, key, tampered } = await open();
      const calls = [
        ["/v1/score", scoreRequest({ session_id: "unlabelled" }, { outcome_correct: null })],
        ["/v1/score/unlabelled/commit", { outcome_correct: true }],
        ["/v1/decision/score", {
          ...{ decision_id: "d-1", operator_id: "operator-1", domain: "general", stakes: "high" },
          ...{ time_to_decision_ms: 1400, decision: "accepted" },
        }],
      ] as const;
      for (const [path, body] of calls) {
        const { status, text } = await harness.send(path, { key, body });
        assert.equal(status, 200, text);
      }
      await alter(
        harness.database,
        `UPDATE audit_part SET salt = zeroblob(32) WHERE name = 'input' AND chain = 'org/acme' AND seq =
          (SELECT max(seq) FROM audit_entry WHERE chain = 'org/acme' AND event_type = '${event}')`,
      );
      const { status, body: replay } = await harness.send(`/v1/decision/replay/${id}`, { key });
      assert.deepEqual([status, replay.match], [200, false]);
      assert.ok(replay.differences.some((one: { path: string }) => one.path === path), replay.differences);
      await tampered.inTurn(() => Promise.resolve());
      assert.deepEqual((await alertsOf(harness)).map(({ code, chain }) => [code, chain]), [[
        "ALTERED",
        "org/acme",
      ]]);
      await harness.abandon();
    });
  }
});

Deno.test("if the audit log itself cannot be written, the alert's event is on the system chain", async () => {
  const { harness, tampered } = await open();
  await alter(harness.database, "UPDATE audit_chain SET head = zeroblob(32) WHERE chain = 'org/acme/admin'");
  // Like another process, which has not written to the chain itself.
  const found = {
    chain: "org/acme/admin",
    code: "ROOT_MISMATCH",
    seq: 1,
    what: "The end is not what was signed.",
  };
  await raiseTampering(harness.dependencies, found, harness.clock.now());
  assert.deepEqual((await alertsOf(harness)).map(({ kind }) => kind), ["ADMIN_CHAIN_TAMPERED"]);
  assert.deepEqual(await raisedOn(harness, "org/acme/admin"), []);
  assert.equal((await raisedOn(harness, "sys")).length, 1);
  assert.deepEqual(tampered.families, ["org/acme/admin"]);
  await harness.abandon();
});

Deno.test("an altered system chain makes the service not ready, until an administrator has acknowledged the alert", async () => {
  const { harness, tampered } = await open();
  await alter(harness.database, PART_OF("sys"));
  assert.equal((await verifySystem(harness)).valid, false);
  assert.deepEqual([tampered.families, tampered.mustLeaveRotation], [["sys"], true]);
  assert.deepEqual(await alertsOf(harness), [], "the alert belongs to no organization");
  const [alert, ...others] = await systemAlerts(harness.dependencies);
  assert.deepEqual([others, alert!.kind, alert!.acknowledged_at], [[], "SYSTEM_CHAIN_TAMPERED", null]);

  const path = `/v1/admin/alerts/${alert!.alert_id}/ack`;
  const answer = await acknowledge(harness, path);
  assert.deepEqual([answer.status, answer.body?.acknowledged], [200, true], answer.text);
  assert.deepEqual([tampered.families, tampered.mustLeaveRotation], [[], false]);
  // The acknowledged finding does not count again; another one does.
  harness.clock.advance(DAY_MS);
  assert.equal((await verifySystem(harness)).valid, false);
  assert.deepEqual(tampered.families, []);
  await alter(harness.database, "UPDATE audit_entry SET body = ' ' || body WHERE chain = 'sys' AND seq = 0");
  assert.equal((await verifySystem(harness)).valid, false);
  assert.deepEqual(tampered.families, ["sys"]);
  await harness.abandon();
});

Deno.test("altered chains of two organizations make the service not ready, until they are found whole again", async () => {
  const { harness, key, tampered } = await open();
  const other = await harness.organization("other");
  const salts = await select(
    harness.database,
    "SELECT chain, hex(salt) AS salt FROM audit_part WHERE seq = 0 AND chain IN ('org/acme', 'org/other')",
  );
  for (const chain of ["org/acme", "org/other"]) await alter(harness.database, PART_OF(chain));
  for (const whose of [key, other]) await harness.send(VERIFY, { key: whose });
  assert.deepEqual([tampered.families, tampered.mustLeaveRotation], [["org/acme", "org/other"], true]);
  for (const { chain, salt } of salts) {
    await alter(
      harness.database,
      `UPDATE audit_part SET salt = x'${salt}' WHERE seq = 0 AND chain = '${chain}'`,
    );
  }
  assert.equal((await harness.send(VERIFY, { key })).body.valid, true);
  assert.deepEqual([tampered.families, tampered.mustLeaveRotation], [["org/other"], false]);
  // The open alert does not bring back a chain that was found whole.
  await followTampering(harness.dependencies);
  assert.deepEqual(tampered.families, ["org/other"]);
  await harness.abandon();
});

Deno.test("another process counts an open alert from its start on, and its acknowledgement only if it is signed", async () => {
  const { harness, key } = await open();
  await alter(harness.database, PART_OF("org/acme"));
  await harness.send(VERIFY, { key });
  const beside = async () => {
    const tampered = new TamperedChains();
    await followTampering({ ...harness.dependencies, tampered });
    return tampered;
  };
  assert.deepEqual((await beside()).families, ["org/acme"]);
  const [openAlert] = await harness.database.read(alertsQuery({ all: true }));
  const { alert_id } = openAlert!;
  await alter(harness.database, "UPDATE alert SET acknowledged = 1, acknowledged_at = 1");
  assert.deepEqual((await beside()).families, ["org/acme"]);
  await alter(harness.database, "UPDATE alert SET acknowledged = 0, acknowledged_at = NULL");
  const running = await beside();
  const path = `/v1/admin/alerts/${alert_id}/ack`;
  assert.equal((await acknowledge(harness, path)).status, 200);
  assert.deepEqual((await beside()).families, []);
  await followTampering({ ...harness.dependencies, tampered: running });
  assert.deepEqual(running.families, []);
  await harness.abandon();
});

Deno.test("the service's own round verifies each chain once a day, finds what no request reads, and stops when it is told to", async () => {
  const { harness, tampered } = await open();
  const watch = new ChainWatch(harness.dependencies);
  watch.start(harness.clock.now());
  await watch.idle();
  assert.deepEqual(tampered.families, []);
  await alter(
    harness.database,
    "UPDATE audit_node SET hash = zeroblob(32) WHERE chain = 'org/acme/admin' AND idx = 0",
    PART_OF("sys"),
  );
  watch.start(harness.clock.now());
  await watch.idle();
  assert.deepEqual(tampered.families, [], "found on the same day");
  harness.clock.advance(DAY_MS);
  watch.start(harness.clock.now());
  await watch.idle();
  assert.deepEqual(tampered.families.toSorted(), ["org/acme/admin", "sys"]);
  assert.deepEqual((await alertsOf(harness)).map(({ kind, code }) => [kind, code]), [
    ["ADMIN_CHAIN_TAMPERED", "NODE_MISMATCH"],
  ]);
  harness.clock.advance(DAY_MS);
  watch.start(harness.clock.now());
  await watch.stop();
  watch.start(harness.clock.now());
  await watch.idle();
  await harness.abandon();
});
