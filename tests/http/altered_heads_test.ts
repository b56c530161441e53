/**
 * Somebody has the database's file and no key. He alters the heads of chains, an organization's row, its
 * webhooks' or an alert's. The service signs, opens and sends nothing by what he wrote, also if he puts back
 * an older row.
 */
import assert from "node:assert/strict";
import { anchorChains } from "../../src/operations/chains/anchoring.ts";
import { followTampering } from "../../src/operations/shared/tampering.ts";
import { alter, select } from "../altering.ts";
import { type Answer, type Harness, MASTER_SECRETS, openHarness, scoreRequest } from "../harness.ts";

const VERIFY = "/v1/audit/chain/verify";
const HEAD = "origin, first_position, epoch, key_ordinal, peaks";

interface Site extends Harness {
  readonly key: string;
  /** API key of the other organization. */
  readonly otherKey: string;
  readonly sent: readonly string[];
  score(session: string, key?: string): Promise<Answer>;
}

async function open(): Promise<Site> {
  const sent: string[] = [];
  const harness = await openHarness({
    raisesTampering: true,
    masterSecrets: MASTER_SECRETS,
    adminDashboard: true,
    deliverer: {
      deliver({ url }) {
        sent.push(url.href);
        return Promise.resolve({ status: 200, error: null, durationMs: 1 });
      },
      close() {},
    },
  });
  const key = await harness.organization("acme");
  const otherKey = await harness.organization("other");
  const score = (session: string, by = key) =>
    harness.send("/v1/score", { key: by, body: scoreRequest({ session_id: session }) });
  assert.equal((await score("first")).status, 200);
  assert.equal((await score("first", otherKey)).status, 200);
  return { ...harness, key, otherKey, sent, score };
}

/** Alters the heads of both evidence chains while `look` runs. */
async function withHeads(
  { database }: Harness,
  changes: readonly string[],
  look: () => Promise<void>,
): Promise<void> {
  await alter(
    database,
    `CREATE TABLE kept AS SELECT chain, ${HEAD} FROM audit_chain WHERE family IN ('org/acme', 'org/other')`,
    ...changes,
  );
  await look();
  await alter(
    database,
    `UPDATE audit_chain SET (${HEAD}) = (SELECT ${HEAD} FROM kept WHERE kept.chain = audit_chain.chain)
      WHERE chain IN (SELECT chain FROM kept)`,
    "DROP TABLE kept",
  );
}

const alertsIn = async ({ database }: Harness) =>
  (await select(database, "SELECT severity, kind, acknowledged FROM alert ORDER BY org_id, kind"))
    .map(({ severity, kind, acknowledged }) => ({ severity, kind, acknowledged }));

const raisedEvents = ({ database }: Harness) =>
  select(database, "SELECT chain FROM audit_entry WHERE event_type = 'ALERT_RAISED'");

function assertAltered({ status, body, text }: Answer): void {
  assert.equal(status, 503, text);
  assert.match(body.error.message, /^The database was altered: /, text);
}

/** Alterations of a head, each with its SQL. */
const HEADS = [
  {
    what: "with another organization's origin",
    changes: [
      "UPDATE audit_chain SET origin = origin || 'x' WHERE chain = 'org/other'",
      "UPDATE audit_chain SET origin = replace(origin, 'acme', 'other') WHERE chain = 'org/acme'",
    ],
  },
  {
    what: "with another first position",
    changes: ["UPDATE audit_chain SET first_position = 1000 WHERE chain = 'org/acme'"],
  },
  { what: "with another epoch", changes: ["UPDATE audit_chain SET epoch = 3 WHERE chain = 'org/acme'"] },
  {
    what: "with another key",
    changes: ["UPDATE audit_chain SET key_ordinal = 0 WHERE chain = 'org/acme'"],
  },
  {
    what: "with another tree",
    changes: ["UPDATE audit_chain SET peaks = zeroblob(length(peaks)) WHERE chain = 'org/acme'"],
  },
];

for (const { what, changes } of HEADS) {
  Deno.test(`a score behind a head ${what} is refused, and an alert is raised`, async () => {
    const site = await open();
    await withHeads(site, changes, async () => assertAltered(await site.score("second")));
    await site.dependencies.tampered!.inTurn(() => Promise.resolve());
    assert.deepEqual(await alertsIn(site), [{ severity: "HIGH", kind: "CHAIN_TAMPERED", acknowledged: 0 }]);
    assert.equal((await site.score("second")).status, 200, "after the head is put back, scores are accepted");
    assert.equal((await site.send(VERIFY, { key: site.key })).body.valid, true);
    await site.close();
  });
}

for (
  const [what, change] of [
    ["tree", "UPDATE audit_chain SET peaks = zeroblob(length(peaks)) WHERE chain = 'org/acme'"],
    ["origin", "UPDATE audit_chain SET origin = 'jiss.test/nobody/org/acme' WHERE chain = 'org/acme'"],
  ] as const
) {
  Deno.test(`a head with another ${what} is never anchored, the others are, and an alert is raised`, async () => {
    const site = await open();
    const { database, dependencies, clock } = site;
    await withHeads(site, [change], () => anchorChains(dependencies, clock.now()));
    const anchored = async () =>
      (await select(
        database,
        `SELECT c.value ->> '$.origin' AS origin FROM audit_entry AS e
          JOIN audit_part AS p ON p.chain = e.chain AND p.seq = e.seq, json_each(p.data, '$.checkpoints') AS c
          WHERE e.event_type = 'ORG_CHECKPOINTS' ORDER BY e.seq`,
      )).map(({ origin }) => String(origin).split("/").slice(2).join("/"));
    const first = await anchored();
    assert.ok(first.includes("org/other") && !first.includes("org/acme"), String(first));
    assert.equal((await alertsIn(site)).length, 1);
    await anchorChains(dependencies, clock.now());
    assert.ok((await anchored()).includes("org/acme"));
    await site.close();
  });
}

const ROW = "key_hash, pepper_id, prefix, api_key_version, api_key_rotated_at, seal";

Deno.test("a key that was rotated is refused, also if its old row is put back", async () => {
  const site = await open();
  const { database, key } = site;
  await alter(database, `CREATE TABLE kept AS SELECT ${ROW} FROM organization WHERE org_id = 'acme'`);
  const rotated = await site.send("/v1/admin/key/rotate", { key, body: {} });
  assert.equal(rotated.status, 200, rotated.text);
  const fresh = rotated.body.new_api_key ?? rotated.body.api_key;
  assert.equal((await site.score("second", fresh)).status, 200);
  await alter(
    database,
    `UPDATE organization SET (${ROW}) = (SELECT ${ROW} FROM kept)
      WHERE org_id = 'acme'`,
  );
  assertAltered(await site.score("third", key));
  assertAltered(await site.send("/v1/organization/dashboard", { key }));
  await site.dependencies.tampered!.inTurn(() => Promise.resolve());
  assert.deepEqual(await alertsIn(site), [{
    severity: "HIGH",
    kind: "ADMIN_CHAIN_TAMPERED",
    acknowledged: 0,
  }]);
  assert.equal(
    (await site.score("second", site.otherKey)).status,
    200,
    "the other organization is served as before",
  );
  await site.abandon();
});

Deno.test("nothing is sent to a webhook that was removed, also if its row is put back, and the list is refused", async () => {
  const site = await open();
  const { database, key } = site;
  const body = { url: "https://review.acme.example/hook", secret: "a-secret-of-sixteen" };
  const registered = await site.send("/v1/admin/webhook/register", { key, body });
  assert.equal(registered.status, 201, registered.text);
  await alter(database, "CREATE TABLE kept AS SELECT * FROM webhook");
  const removed = await site.send(`/v1/admin/webhook/${registered.body.id}`, { key, method: "DELETE" });
  assert.equal(removed.status, 200, removed.text);
  await alter(database, "INSERT INTO webhook SELECT * FROM kept", "UPDATE webhook SET cursor = 0");
  assert.equal(await site.deliver(), 0);
  assert.deepEqual(site.sent, []);
  assertAltered(await site.send("/v1/admin/webhook/list", { key }));
  await site.abandon();
});

Deno.test("no answer uses an older checkpoint in place of the newest one", async () => {
  const site = await open();
  const { database, key } = site;
  assert.equal((await site.score("second")).status, 200);
  await alter(
    database,
    "DELETE FROM audit_checkpoint WHERE chain = 'org/acme' AND size = (SELECT size FROM audit_chain WHERE chain = 'org/acme')",
  );
  assertAltered(await site.send("/v1/audit/checkpoint", { key }));
  assertAltered(await site.send("/v1/audit/chain/proof/0", { key }));
  await site.abandon();
});

Deno.test("an alert counts as acknowledged only by a signed entry, whatever its columns say", async () => {
  const site = await open();
  const { database, dependencies, key } = site;
  await alter(database, "UPDATE audit_part SET salt = zeroblob(32) WHERE chain = 'org/acme' AND seq = 1");
  assert.equal((await site.send(VERIFY, { key })).body.valid, false);
  assert.deepEqual(dependencies.tampered!.families, ["org/acme"]);
  await alter(
    database,
    "UPDATE alert SET acknowledged = 1, acknowledged_at = 1",
    "UPDATE audit_entry SET event_type = 'ADMIN_ALERT_ACK' WHERE event_type = 'ALERT_RAISED'",
  );
  await followTampering(dependencies);
  assert.deepEqual(dependencies.tampered!.families, ["org/acme"]);
  await site.abandon();
});

Deno.test("an alert row that somebody wrote prevents no real alert from being raised", async () => {
  const site = await open();
  const { database, key, clock } = site;
  const day = Math.floor(clock.now() / 86_400_000);
  await alter(
    database,
    `INSERT INTO alert VALUES ('01PRE', 'acme', 'LOW', 'CHAIN_TAMPERED', ${day}, '{}', 1, 1, 1)`,
    "UPDATE audit_part SET salt = zeroblob(32) WHERE chain = 'org/acme' AND seq = 1",
  );
  assert.equal((await site.send(VERIFY, { key })).body.valid, false);
  assert.deepEqual(await alertsIn(site), [{ severity: "HIGH", kind: "CHAIN_TAMPERED", acknowledged: 0 }]);
  assert.equal((await raisedEvents(site)).length, 1);
  await site.abandon();
});
