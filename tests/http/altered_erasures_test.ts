/**
 * Somebody has the database's file and no key. Whatever he writes, an erasure either destroys all records of
 * the operator that it names and of nobody else, or is refused and destroys nothing.
 */
import assert from "node:assert/strict";
import type { Database } from "../../src/store/database.ts";
import { verifyChain } from "../../src/operations/verification/verification.ts";
import { alter, select } from "../altering.ts";
import { type Answer, type Harness, type HarnessOptions, openHarness, scoreRequest } from "../harness.ts";

interface Scene extends Harness {
  readonly key: string;
  alter(...statements: readonly string[]): Promise<void>;
  rows(sql: string): Promise<readonly Record<string, unknown>[]>;
  post(path: string, body: unknown): Promise<Answer>;
  score(session: string, operator: string): Promise<Answer>;
  erase(operator: string): Promise<Answer>;
}

/** Number of parts that are held and name an operator. */
async function storedParts({ rows }: Scene, operator: string): Promise<number> {
  const [row] = await rows(
    `SELECT count(*) AS held FROM audit_part WHERE data IS NOT NULL AND data ->> '$.operator_id' = '${operator}'`,
  );
  return Number(row!.held);
}

/** Two operators, anna and bela, each with a record of every kind. */
async function openScene(options: HarnessOptions = {}): Promise<Scene> {
  const harness = await openHarness(options);
  const key = await harness.organization("acme");
  const scene: Scene = {
    ...harness,
    key,
    alter: (...statements) => alter(harness.database, "PRAGMA defer_foreign_keys = ON", ...statements),
    rows: (sql) => select(harness.database, sql),
    async post(path, body) {
      const answer = await harness.send(path, { key, body });
      assert.equal(answer.status, 200, `${path}: ${answer.text}`);
      return answer;
    },
    score: (session, operator) =>
      harness.send("/v1/score", {
        key,
        body: scoreRequest({ session_id: session, operator_id: operator }, { outcome_correct: null }),
      }),
    erase: (operator) => harness.send(`/v1/operator/${operator}`, { method: "DELETE", key }),
  };
  for (const operator of ["anna", "bela"]) {
    for (const index of [0, 1, 2]) {
      assert.equal((await scene.score(`${operator}-${index}`, operator)).status, 200);
    }
    await scene.post(`/v1/score/${operator}-0/commit`, { outcome_correct: true });
    await scene.post("/v1/score?mode_override=incident_frozen", {
      ...scoreRequest({ session_id: `${operator}-frozen`, operator_id: operator }),
    });
    await scene.post("/v1/score/batch", {
      operator_id: operator,
      domain: "general",
      interactions: ["x", "y"].map((name) => ({
        session_id: `${operator}-${name}`,
        time_to_decision_ms: 5000,
        decision: "accepted",
      })),
    });
    await scene.post("/v1/decision/score", {
      decision_id: `${operator}-d`,
      operator_id: operator,
      domain: "general",
      time_to_decision_ms: 900,
      decision: "accepted",
    });
  }
  return scene;
}

function assertAltered({ status, body, text }: Answer, what: string): void {
  assert.deepEqual([status, body?.error?.code], [503, "SERVICE_UNAVAILABLE"], `${what}: ${text}`);
  assert.match(body.error.message, /^The database was altered: /, what);
}

const pseudonymOf = async ({ rows }: Scene, operator: string) =>
  String((await rows(`SELECT pseudonym FROM subject WHERE operator_id = '${operator}'`))[0]!.pseudonym);

/** Asserts that an erasure is refused and destroys nothing after the changes; then undoes the changes. */
async function refusesErasure(
  scene: Scene,
  { operator = "bela", changes, back, what }: {
    readonly operator?: string;
    readonly changes: readonly string[];
    readonly back: readonly string[];
    readonly what: string;
  },
): Promise<void> {
  await scene.alter(...changes);
  const before = await scene.rowCounts();
  assertAltered(await scene.erase(operator), what);
  assert.deepEqual(await scene.rowCounts(), before, what);
  await scene.alter(...back);
}

// ---- hidden entries, and other operators' entries -----------------------------------------------------------

/** Query for the entry of each kind of bela's records, by the row that points to it. */
const RECORDS: Readonly<Record<string, string>> = {
  "a score": "SELECT position FROM interaction WHERE session_id = 'bela-1'",
  "the last score": "SELECT position FROM interaction WHERE session_id = 'bela-y'",
  "a frozen call": "SELECT position FROM skipped_interaction WHERE session_id = 'bela-frozen'",
  "a decision": "SELECT position FROM decision WHERE decision_id = 'bela-d'",
  "a batch": "SELECT first_position AS position FROM score_batch WHERE operator_id = 'bela'",
  "a label": "SELECT position FROM outcome_label WHERE session_id = 'bela-0'",
  "a commit": "SELECT position FROM score_commit WHERE session_id = 'bela-0'",
};

Deno.test("an erasure is refused if an entry was moved to another pseudonym", async () => {
  const scene = await openScene();
  const pseudonym = await pseudonymOf(scene, "bela");
  for (const [what, sql] of Object.entries(RECORDS)) {
    const { position } = (await scene.rows(sql))[0] ?? {};
    if (position === undefined) continue;
    const renamed = (from: string, to: string) =>
      `UPDATE audit_entry SET body = replace(body, '${from}', '${to}') WHERE chain = 'org/acme' AND seq = ${position}`;
    await refusesErasure(scene, {
      what,
      changes: [renamed(pseudonym, "a".repeat(32))],
      back: [renamed("a".repeat(32), pseudonym)],
    });
  }
  const { status, body, text } = await scene.erase("bela");
  assert.deepEqual([status, body.detail?.entries], [200, 9], text);
  assert.equal(await storedParts(scene, "bela"), 0);
  await scene.close();
});

Deno.test("an erasure is refused if the entry of a score or label was moved to another pseudonym and its row deleted", async () => {
  const scene = await openScene();
  const pseudonym = await pseudonymOf(scene, "bela");
  for (const table of ["interaction", "outcome_label"]) {
    const session = table === "interaction" ? "bela-1" : "bela-0";
    const [row] = await scene.rows(`SELECT position FROM ${table} WHERE session_id = '${session}'`);
    const renamed = (from: string, to: string) =>
      `UPDATE audit_entry SET body = replace(body, '${from}', '${to}')
        WHERE chain = 'org/acme' AND seq = ${row!.position}`;
    await refusesErasure(scene, {
      what: table,
      changes: [
        renamed(pseudonym, "a".repeat(32)),
        `CREATE TABLE put_by AS SELECT * FROM ${table} WHERE session_id = '${session}'`,
        `DELETE FROM ${table} WHERE session_id = '${session}'`,
      ],
      back: [
        renamed("a".repeat(32), pseudonym),
        `INSERT INTO ${table} SELECT * FROM put_by`,
        "DROP TABLE put_by",
      ],
    });
  }
  assert.equal((await scene.erase("bela")).status, 200);
  await scene.close();
});

Deno.test("an erasure is refused if another operator's entries were moved to the erased pseudonym", async () => {
  const scene = await openScene();
  const [anna, bela] = [await pseudonymOf(scene, "anna"), await pseudonymOf(scene, "bela")];
  const ofAnna = await storedParts(scene, "anna");
  const [{ seqs }] = await scene.rows(
    `SELECT group_concat(seq) AS seqs FROM audit_entry WHERE subject = '${anna}'`,
  ) as [{ seqs: string }];
  await refusesErasure(scene, {
    what: "anna's entries under bela's pseudonym",
    changes: [`UPDATE audit_entry SET body = replace(body, '${anna}', '${bela}')`],
    back: [`UPDATE audit_entry SET body = replace(body, '${bela}', '${anna}') WHERE seq IN (${seqs})`],
  });
  assert.equal((await scene.erase("bela")).status, 200);
  assert.equal(await storedParts(scene, "anna"), ofAnna);
  assert.equal((await scene.erase("anna")).status, 200);
  await scene.close();
});

Deno.test("an erasure is refused if a part, an entry, the tree or a row of a record was altered", async () => {
  const scene = await openScene();
  const [{ seq }] = await scene.rows(
    "SELECT position AS seq FROM interaction WHERE session_id = 'bela-1'",
  ) as [{ seq: number }];
  const kept = (table: string, columns: string) => [
    `CREATE TABLE put_by AS SELECT ${columns} FROM ${table}`,
  ];
  const at = `chain = 'org/acme' AND seq = ${seq}`;
  await refusesErasure(scene, {
    what: "a part that names somebody else",
    changes: [
      ...kept("audit_part", "*"),
      `UPDATE audit_part SET data = json_set(data, '$.operator_id', 'cleo') WHERE ${at} AND name = 'input'`,
    ],
    back: [
      `UPDATE audit_part SET data = (SELECT data FROM put_by AS p
        WHERE p.chain = audit_part.chain AND p.seq = audit_part.seq AND p.name = audit_part.name) WHERE ${at}`,
      "DROP TABLE put_by",
    ],
  });
  await refusesErasure(scene, {
    what: "a result that was altered",
    changes: [
      ...kept("audit_part", "*"),
      `UPDATE audit_part SET data = json_set(data, '$.jis', 99) WHERE ${at} AND name = 'result'`,
    ],
    back: [
      `UPDATE audit_part SET data = (SELECT data FROM put_by AS p
        WHERE p.chain = audit_part.chain AND p.seq = audit_part.seq AND p.name = audit_part.name) WHERE ${at}`,
      "DROP TABLE put_by",
    ],
  });
  await refusesErasure(scene, {
    what: "an entry's text",
    changes: [`UPDATE audit_entry SET body = replace(body, '"actor":"api"', '"actor":"system"') WHERE ${at}`],
    back: [`UPDATE audit_entry SET body = replace(body, '"actor":"system"', '"actor":"api"') WHERE ${at}`],
  });
  await refusesErasure(scene, {
    what: "the tree",
    changes: [
      ...kept("audit_node", "chain, idx, hash"),
      "UPDATE audit_node SET hash = zeroblob(32) WHERE chain = 'org/acme'",
    ],
    back: [
      "UPDATE audit_node SET hash = (SELECT hash FROM put_by AS p WHERE p.chain = audit_node.chain AND p.idx = audit_node.idx)",
      "DROP TABLE put_by",
    ],
  });
  await refusesErasure(scene, {
    what: "a row of somebody else's session",
    changes: ["UPDATE interaction SET operator_id = 'bela' WHERE session_id = 'anna-1'"],
    back: ["UPDATE interaction SET operator_id = 'anna' WHERE session_id = 'anna-1'"],
  });
  await refusesErasure(scene, {
    what: "a commit that stands nowhere",
    changes: [
      "INSERT INTO score_commit (org_id, session_id, request_id, at, position) VALUES ('acme', 'bela-2', 'x', 1, 1)",
    ],
    back: ["DELETE FROM score_commit WHERE request_id = 'x'"],
  });
  await refusesErasure(scene, {
    what: "a batch of more",
    changes: ["UPDATE score_batch SET count = 1000000000000 WHERE operator_id = 'bela'"],
    back: ["UPDATE score_batch SET count = 2 WHERE operator_id = 'bela'"],
  });
  assert.equal((await scene.erase("bela")).status, 200);
  await scene.close();
});

// ---- writes during an erasure -------------------------------------------------------------------------------

/** A database that calls `afterRead` after each of its reads. */
function watched(database: Database, afterRead: () => Promise<void>): Database {
  return {
    ...database,
    async read(compiled) {
      const rows = await database.read(compiled);
      await afterRead();
      return rows;
    },
    async snapshot(queries) {
      const rows = await database.snapshot(queries);
      await afterRead();
      return rows;
    },
  };
}

Deno.test("a score that another process writes during an erasure is erased with the rest, or belongs to a returned operator", async () => {
  const directory = await Deno.makeTempDir({ prefix: "jiss-erasures-" });
  const files = { path: `${directory}/jiss.db`, lockPath: `${directory}/lock.db` };
  const scene = await openScene(files);
  let interruptions = 0;
  for (let at = 1;; at += 1) {
    const operator = `operator-${at}`;
    assert.equal((await scene.score(`${operator}-first`, operator)).status, 200);
    let reads: number | null = null;
    const other = await openHarness({
      ...files,
      run: at,
      wrap: (database) =>
        watched(database, async () => {
          if (reads === null || ++reads !== at) return;
          interruptions += 1;
          assert.equal((await scene.score(`${operator}-late`, operator)).status, 200);
          assert.equal((await scene.score(`beside-${at}`, "anna")).status, 200);
        }),
    });
    reads = 0;
    const answer = await other.send(`/v1/operator/${operator}`, { method: "DELETE", key: scene.key });
    const isDone = reads < at;
    reads = null;
    assert.equal(answer.status, 200, answer.text);
    const held = await storedParts(scene, operator);
    const known = await scene.rows(`SELECT * FROM subject WHERE operator_id = '${operator}'`);
    assert.equal(held, known.length === 0 ? 0 : 2, `after ${at} reads`);
    if (known.length === 0 && !isDone) assert.equal(answer.body.detail.entries, 2);
    await other.close();
    if (isDone) break;
  }
  assert.ok(interruptions > 6, `${interruptions}`);
  await scene.close();
  await Deno.remove(directory, { recursive: true });
});

Deno.test("an erasure erases and counts records of many pages in one call", async () => {
  const scene = await openScene();
  for (let batch = 0; batch < 5; batch += 1) {
    await scene.post("/v1/score/batch", {
      operator_id: "cleo",
      domain: "general",
      interactions: Array.from({ length: 90 }, (_, index) => ({
        session_id: `cleo-${batch}-${index}`,
        time_to_decision_ms: 5000,
        decision: "accepted",
      })),
    });
    assert.equal((await scene.score(`between-${batch}`, "anna")).status, 200);
  }
  const { status, body, text } = await scene.erase("cleo");
  assert.deepEqual([status, body.detail?.entries], [200, 450], text.slice(0, 300));
  assert.equal(await storedParts(scene, "cleo"), 0);
  const verified = await verifyChain(scene.dependencies, {
    family: "org/acme",
    from: 0,
    sinceSize: null,
    now: scene.clock.now(),
  });
  assert.deepEqual(verified.findings.filter(({ fatal }) => fatal), []);
  await scene.close();
});
