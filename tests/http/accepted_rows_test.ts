/**
 * Somebody has altered the database's file, and an administrator acknowledges it. The service then keeps what
 * the chain proves. It removes rows that have no entry, destroys no records of another operator, and signs
 * nothing that no signature covers.
 */
import assert from "node:assert/strict";
import { acknowledgeRestore } from "../../src/operations/restoring/restores.ts";
import { verifyChain } from "../../src/operations/verification/verification.ts";
import { alter, select, whileAltered } from "../altering.ts";
import { type Answer, type Harness, openHarness, scoreRequest } from "../harness.ts";

const DASHBOARD = "/v1/organization/dashboard";
const REPORT = "/v1/compliance/report?period_start=2026-11-01&period_end=2026-12-01";

interface Scene extends Harness {
  readonly key: string;
  alter(...statements: readonly string[]): Promise<void>;
  rows(sql: string): Promise<readonly Record<string, unknown>[]>;
  score(session: string, operator: string): Promise<Answer>;
  ask(path: string, method?: string): Promise<Answer>;
  accept(): Promise<Awaited<ReturnType<typeof acknowledgeRestore>>>;
  /** Findings of the online verification of a family; by default of the evidence chain. */
  findings(family?: string): Promise<readonly string[]>;
}

async function openScene(): Promise<Scene> {
  const harness = await openHarness();
  const key = await harness.organization("acme");
  const scene: Scene = {
    ...harness,
    key,
    alter: (...statements) => alter(harness.database, "PRAGMA defer_foreign_keys = ON", ...statements),
    rows: (sql) => select(harness.database, sql),
    score: (session, operator) =>
      harness.send("/v1/score", {
        key,
        body: scoreRequest({ session_id: session, operator_id: operator }, { outcome_correct: null }),
      }),
    ask: (path, method = "GET") => harness.send(path, { key, method }),
    accept: () =>
      acknowledgeRestore(harness.dependencies, { reason: "the file was altered", now: harness.clock.now() }),
    async findings(family = "org/acme") {
      const options = { family, from: 0, sinceSize: null, now: harness.clock.now() };
      const { findings } = await verifyChain(harness.dependencies, options);
      return findings.filter(({ fatal }) => fatal).map(({ code, detail }) => `${code} ${detail}`);
    },
  };
  for (let index = 0; index < 4; index += 1) {
    for (const operator of ["anna", "bela"]) {
      assert.equal((await scene.score(`${operator}-${index}`, operator)).status, 200);
      harness.clock.advance(60_000);
    }
  }
  const decided = await harness.send("/v1/decision/score", {
    key,
    body: {
      decision_id: "bela-d",
      operator_id: "bela",
      domain: "general",
      time_to_decision_ms: 900,
      decision: "accepted",
    },
  });
  assert.equal(decided.status, 200, decided.text);
  return scene;
}

const ALTERED = "UPDATE operator SET jis = jis + 1 WHERE operator_id = 'anna'";

async function storedParts({ rows }: Scene, operator: string): Promise<number> {
  const [row] = await rows(
    `SELECT count(*) AS held FROM audit_part WHERE data IS NOT NULL AND data ->> '$.operator_id' = '${operator}'`,
  );
  return Number(row!.held);
}

function removed({ log }: Scene, table: string): unknown {
  return log.findLast((line) => line.msg === "rows without a record were removed" && line.table === table)
    ?.rows;
}

// ---- invented rows --------------------------------------------------------------------------------------------

Deno.test("an acknowledgement removes an invented name for an existing pseudonym, and erasing that name erases nobody", async () => {
  const scene = await openScene();
  const held = await storedParts(scene, "bela");
  await scene.alter(
    "INSERT INTO subject (org_id, operator_id, pseudonym) SELECT 'acme', 'ghost', pseudonym FROM subject WHERE operator_id = 'bela'",
    ALTERED,
  );
  await scene.accept();
  assert.equal(removed(scene, "subject"), 1);
  assert.equal((await scene.ask("/v1/operator/ghost", "DELETE")).status, 404);
  assert.equal(await storedParts(scene, "bela"), held);
  assert.deepEqual(await scene.findings(), []);
  assert.equal((await scene.ask("/v1/operator/bela", "DELETE")).status, 200);
  await scene.close();
});

Deno.test("an acknowledgement removes an invented operator, who then counts nowhere", async () => {
  const scene = await openScene();
  const before = await scene.ask(DASHBOARD);
  await scene.alter(
    `INSERT INTO subject (org_id, operator_id, pseudonym) VALUES ('acme', 'ghost', '${"c".repeat(32)}')`,
    `INSERT INTO operator (org_id, operator_id, state, domain, prior_seq, prior_hash, position, jis, n, t0, t1, tcrit,
        crit_count, share_hs, share_crit)
      SELECT org_id, 'ghost', state, domain, prior_seq, prior_hash, position, 99, n, t0, t1, tcrit, crit_count, share_hs,
        share_crit FROM operator WHERE operator_id = 'bela'`,
  );
  await scene.accept();
  assert.deepEqual([removed(scene, "operator"), removed(scene, "subject")], [1, 1]);
  const { request_id: _, timestamp: __, ...figures } = (await scene.ask(DASHBOARD)).body;
  const { request_id: ___, timestamp: ____, ...expected } = before.body;
  assert.deepEqual(figures, expected);
  assert.equal((await scene.ask("/v1/operator/ghost/profile")).status, 404);
  assert.equal((await scene.score("ghost-1", "ghost")).body.evidence.entry.chain, "org/acme/e2");
  await scene.close();
});

Deno.test("a repeated erasure destroys no records of another operator", async () => {
  const scene = await openScene();
  assert.equal((await scene.ask("/v1/operator/anna", "DELETE")).status, 200);
  const held = await storedParts(scene, "bela");
  scene.clock.advance(1000);
  await scene.alter(
    "INSERT INTO subject (org_id, operator_id, pseudonym) SELECT 'acme', 'anna', pseudonym FROM subject WHERE operator_id = 'bela'",
    "DELETE FROM tombstone",
    "UPDATE operator SET jis = jis + 1",
  );
  const { erased } = await scene.accept();
  assert.deepEqual(erased, []);
  assert.equal(await storedParts(scene, "bela"), held);
  assert.equal((await scene.ask("/v1/decision/replay/bela-0")).body.match, true);
  await scene.abandon();
});

Deno.test("an acknowledgement seals rows only by the inputs that the entries commit to", async () => {
  const scene = await openScene();
  const before = await scene.ask("/v1/operator/bela/profile");
  const [{ seq }] = await scene.rows(
    "SELECT position AS seq FROM interaction WHERE session_id = 'bela-3'",
  ) as [
    { seq: number },
  ];
  await scene.alter(
    `CREATE TABLE put_by AS SELECT * FROM audit_part WHERE chain = 'org/acme' AND seq = ${seq}`,
    `UPDATE audit_part SET data = json_set(data, '$.operator_id', 'anna') WHERE name = 'input' AND seq = ${seq}
      AND chain = 'org/acme'`,
    "UPDATE interaction SET jis = 99 WHERE operator_id = 'bela'",
    "UPDATE operator SET jis = 99 WHERE operator_id = 'bela'",
  );
  await scene.accept();
  const after = await scene.ask("/v1/operator/bela/profile");
  assert.equal(after.status, 200, after.text);
  assert.equal(after.body.profile.total_interactions, 3, "an altered input does not count");
  assert.notEqual(after.body.profile.jis, 99);
  assert.notEqual(before.body.profile.total_interactions, 3);
  const anna = await scene.ask("/v1/operator/anna/profile");
  assert.equal(anna.body.profile.total_interactions, 4);
  assert.equal((await scene.ask(REPORT)).status, 200);
  // The altered input lies in the epoch that was acknowledged. It must not prevent the erasure.
  assert.equal((await scene.ask("/v1/operator/bela", "DELETE")).status, 200);
  assert.equal(await storedParts(scene, "bela"), 0);
  assert.equal(await storedParts(scene, "anna"), 8);
  await scene.abandon();
});

Deno.test("an acknowledgement that can mend nothing is refused, and says what it looked at and where the rest is reported", async (t) => {
  const scene = await openScene();
  assert.equal((await scene.ask(REPORT)).status, 200);
  const changes = {
    compliance_report: "UPDATE compliance_report SET report = report || ' '",
    audit_ladder:
      "INSERT INTO audit_ladder (chain, size, ts) VALUES ('org/acme', 100000, '2020-01-01T00:00:00.000Z')",
    audit_part: "UPDATE audit_part SET salt = zeroblob(32) WHERE chain = 'org/acme' AND seq = 0",
    audit_chain: "UPDATE audit_chain SET min_index = 1 WHERE chain = 'org/acme'",
  };
  for (const [table, change] of Object.entries(changes)) {
    await t.step(table, async () => {
      await whileAltered(scene.database, { tables: [table], changes: [change] }, async () => {
        assert.notDeepEqual([...await scene.findings(), ...await scene.findings("sys")], []);
        await assert.rejects(scene.accept(), {
          code: "CONFLICT",
          message:
            'There is nothing to acknowledge: the database is not older than what was issued, its chains end as they were signed, and the sealed rows beside them are those that were written. Entries, their parts, reports, older models and retention\'s columns were not checked: jiss alerts list and GET /v1/audit/chain/verify report their faults. Put back from a backup what they report, or acknowledge the alert if there is no backup (docs/operate/troubleshooting.md, "A chain was altered", step 5).',
        });
      });
    });
  }
  assert.deepEqual([...await scene.findings(), ...await scene.findings("sys")], []);
  await scene.close();
});

Deno.test("an acknowledgement makes deleted rows anew from the chain, and repeated calls are recognised by them", async () => {
  const scene = await openScene();
  const first = await scene.score("bela-1", "bela");
  const { body: { report: before } } = await scene.ask(REPORT);
  await scene.alter(
    "DELETE FROM interaction WHERE operator_id = 'bela'",
    "DELETE FROM decision",
    "DELETE FROM operator",
    "DELETE FROM subject",
  );
  await scene.accept();
  assert.deepEqual(await scene.findings(), []);
  const again = await scene.score("bela-1", "bela");
  assert.deepEqual([again.status, again.headers.get("Idempotency-Replayed")], [200, "true"], again.text);
  assert.deepEqual(again.body.evidence, first.body.evidence);
  assert.equal(again.body.timestamp, first.body.timestamp);
  const { body: { report: after } } = await scene.ask(REPORT);
  assert.deepEqual(after.figures, before.figures);
  assert.equal((await scene.ask("/v1/operator/bela", "DELETE")).body.detail.entries, 5);
  await scene.close();
});

Deno.test("an acknowledgement takes the time of a call from its record, and replaces a request id that was forged", async () => {
  const scene = await openScene();
  const sql = (table: string) =>
    `SELECT at, request_digest, r.request_id, e.id FROM ${table} AS r JOIN audit_entry AS e
      ON e.chain = 'org/acme' AND e.seq = r.position ORDER BY r.position`;
  for (const table of ["interaction", "decision"]) {
    const before = await scene.rows(sql(table));
    await scene.alter(
      `UPDATE ${table} SET at = at - 1000, request_digest = zeroblob(32), request_id = 'forged' WHERE position IN (4, 9)`,
      ALTERED,
    );
    await scene.accept();
    const after = await scene.rows(sql(table));
    const expected = before.map((row) => ({ ...row }));
    const [forged] = expected.splice(table === "interaction" ? 3 : 0, 1);
    const [mended] = after.map((row) => ({ ...row })).splice(table === "interaction" ? 3 : 0, 1);
    assert.deepEqual(mended, { ...forged, request_id: forged!.id });
    const rest = after.map((row) => ({ ...row })).filter(({ id }) => id !== forged!.id);
    assert.deepEqual(rest, expected);
  }
  await scene.close();
});

Deno.test("a part that is not even JSON does not prevent an acknowledgement", async () => {
  const scene = await openScene();
  await scene.alter("UPDATE audit_part SET data = 'x' WHERE chain = 'org/acme' AND seq = 3", ALTERED);
  await scene.accept();
  assert.equal((await scene.score("new", "anna")).status, 200);
  assert.equal((await scene.ask("/v1/operator/anna", "DELETE")).status, 200);
  await scene.abandon();
});

// ---- sizes ----------------------------------------------------------------------------------------------------

Deno.test("the size at which an epoch ended is one that was signed, whatever other checkpoints were written", async () => {
  const scene = await openScene();
  const [{ size }] = await scene.rows("SELECT size FROM audit_chain WHERE chain = 'org/acme'") as [
    { size: number },
  ];
  await scene.alter(
    `INSERT INTO audit_checkpoint (chain, size, ts, note)
      SELECT chain, 5000, ts, replace(note, char(10) || '${size}' || char(10), char(10) || '5000' || char(10))
      FROM audit_checkpoint WHERE chain = 'org/acme' AND size = ${size}`,
    "UPDATE audit_chain SET first_position = 700 WHERE chain = 'org/acme'",
    ALTERED,
  );
  await scene.accept();
  const [genesis] = await scene.rows(
    "SELECT data ->> '$.restored_size' AS size FROM audit_part WHERE chain = 'org/acme/e2' AND seq = 0",
  );
  assert.equal(genesis!.size, size);
  const places = await scene.rows(
    "SELECT chain, first_position FROM audit_chain WHERE family = 'org/acme' ORDER BY epoch",
  );
  assert.deepEqual(places.map(({ chain, first_position }) => [chain, first_position]), [
    ["org/acme", 0],
    ["org/acme/e2", size],
  ]);
  assert.equal((await scene.ask("/v1/decision/replay/bela-0")).body.match, true);
  await scene.abandon();
});

// ---- erased records put back ----------------------------------------------------------------------------------

const KEPT = ["subject", "operator", "interaction", "audit_part"] as const;
const PARTS_BACK = `UPDATE audit_part SET (salt, data) = (SELECT salt, data FROM kept_audit_part AS k
  WHERE k.chain = audit_part.chain AND k.seq = audit_part.seq AND k.name = audit_part.name) WHERE data IS NULL`;
const rowsBack = (table: string) =>
  `INSERT INTO ${table} SELECT * FROM kept_${table} WHERE operator_id = 'anna'`;

/** Data of an erased operator that is put back, and the finding that the verification must report. */
const PUT_BACK: Readonly<Record<string, { readonly changes: readonly string[]; readonly found: RegExp }>> = {
  "the parts alone": { changes: [PARTS_BACK], found: /ROW_ALTERED a part of an entry outlived/ },
  "the name alone": {
    changes: [rowsBack("subject")],
    found: /ROW_ALTERED a row of subject was put back/,
  },
  "the parts and the scores": {
    changes: [PARTS_BACK, rowsBack("interaction")],
    found: /ROW_ALTERED a part of an entry outlived/,
  },
  "everything, without the record of the erasure": {
    changes: [
      PARTS_BACK,
      ...(["subject", "operator", "interaction"] as const).map(rowsBack),
      "DELETE FROM tombstone",
    ],
    found: /ROW_ALTERED a row of subject was put back/,
  },
};

for (const [what, { changes, found }] of Object.entries(PUT_BACK)) {
  Deno.test(`verification finds data of an erased operator that was put back, and an acknowledgement removes it: ${what}`, async () => {
    const scene = await openScene();
    await scene.alter(...KEPT.map((table) => `CREATE TABLE kept_${table} AS SELECT * FROM ${table}`));
    assert.equal((await scene.ask("/v1/operator/anna", "DELETE")).status, 200);
    scene.clock.advance(1000);
    await scene.alter(...changes);
    const findings = await scene.findings();
    assert.ok(findings.some((finding) => found.test(finding)), findings.join("\n"));
    const erasure = await scene.ask("/v1/operator/anna", "DELETE");
    assert.ok([404, 503].includes(erasure.status), erasure.text);
    if (changes.includes(rowsBack("subject"))) {
      const refused = await scene.score("under-an-erased-name", "anna");
      assert.equal(refused.status, 503, refused.text);
    }
    const { erased } = await scene.accept();
    assert.deepEqual(erased, []);
    assert.equal(await storedParts(scene, "anna"), 0);
    assert.deepEqual(await scene.findings(), []);
    assert.equal((await scene.ask("/v1/operator/anna/profile")).status, 404);
    for (const session of ["anna-0", "anna-3"]) {
      const { status, text } = await scene.score(session, "anna");
      // The rows that were put back hold the names that stay used.
      if (!what.startsWith("the name")) assert.equal(status, 410, text);
    }
    assert.equal((await scene.ask(DASHBOARD)).status, 200);
    await scene.alter(...KEPT.map((table) => `DROP TABLE kept_${table}`));
    await scene.close();
  });
}
