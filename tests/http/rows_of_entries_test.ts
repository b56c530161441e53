/**
 * Somebody has the database's file and no key. Commits, labels, batches and calls with an Idempotency-Key
 * have rows. None of these rows can be removed, added or changed so that a label counts twice or a repeated
 * call gets another answer. Verification finds what no single call can.
 */
import assert from "node:assert/strict";
import { acknowledgeRestore } from "../../src/operations/restoring/restores.ts";
import { pruneChains } from "../../src/operations/chains/retention.ts";
import { sealFamily } from "../../src/operations/restoring/resealing.ts";
import { newestHeads } from "../../src/store/chains.ts";
import { alter, select } from "../altering.ts";
import { type Answer, type Harness, type HarnessOptions, openHarness, scoreRequest } from "../harness.ts";

const DAY = 86_400_000;

interface Scene extends Harness {
  ask(
    path: string,
    options?: { readonly body?: unknown; readonly method?: string; readonly once?: string },
  ): Promise<Answer>;
  /** Scores an interaction whose truth is not known yet. */
  score(session: string, operator?: string, fields?: Record<string, unknown>): Promise<Answer>;
  commit(session: string, label?: boolean | null): Promise<Answer>;
  /** Runs statements directly on the database, as somebody with the file can. */
  change(...statements: readonly string[]): Promise<void>;
}

async function openScene(options: HarnessOptions = {}): Promise<Scene> {
  const harness = await openHarness(options);
  const key = await harness.organization("acme");
  const ask: Scene["ask"] = (path, { once, ...rest } = {}) =>
    harness.send(path, {
      key,
      ...rest,
      ...(once === undefined ? {} : { headers: { "Idempotency-Key": once } }),
    });
  const scene: Scene = {
    ...harness,
    ask,
    score: (session, operator = "bela", fields = {}) =>
      ask("/v1/score", {
        body: scoreRequest({ session_id: session, operator_id: operator }, {
          outcome_correct: null,
          ...fields,
        }),
      }),
    commit: (session, label) =>
      ask(`/v1/score/${session}/commit`, { body: label === undefined ? {} : { outcome_correct: label } }),
    change: (...statements) => alter(harness.database, ...statements),
  };
  for (const session of ["l1", "l2", "l3"]) assert.equal((await scene.score(session)).status, 200);
  assert.equal((await scene.score("c1", "cora")).status, 200);
  return scene;
}

/** A score request without a session_id, which the service then makes. */
function unnamed(operator = "bela"): Record<string, unknown> {
  const { session_id: _, interaction, ...head } = scoreRequest({ operator_id: operator });
  return { ...head, ...interaction };
}

function assertAltered(answer: Answer, what: string): void {
  assert.equal(answer.status, 503, `${what}: ${answer.text}`);
  assert.match(answer.body.error.message, /^The database was altered: /, what);
}

function assertAnswered(answer: Answer, what: string): Answer {
  assert.ok(answer.status === 200 || answer.status === 201, `${what}: ${answer.text}`);
  return answer;
}

/** Details of the fatal findings of the organization's evidence. */
async function found(scene: Scene): Promise<readonly string[]> {
  const { body, text } = await scene.ask("/v1/audit/chain/verify");
  const details = body.findings.filter(({ fatal }: { fatal: boolean }) => fatal)
    .map(({ detail }: { detail: string }) => detail);
  assert.equal(body.valid, details.length === 0, text);
  return details;
}

async function jisOf(scene: Scene, operator = "bela"): Promise<number> {
  const [row] = await select(scene.database, `SELECT jis FROM operator WHERE operator_id = '${operator}'`);
  return row!.jis as number;
}

const keep = (table: string, condition: string) =>
  `CREATE TABLE kept_${table} AS SELECT * FROM ${table} WHERE ${condition}`;
const putBack = (table: string) => `INSERT OR REPLACE INTO ${table} SELECT * FROM kept_${table}`;
const without = (table: string, condition: string) => `DELETE FROM ${table} WHERE ${condition}`;

const L1 = "session_id = 'l1'";

interface Case {
  readonly name: string;
  /** Statements before the score is committed and labelled; `statements` come after it. */
  readonly before?: readonly string[];
  readonly statements: readonly string[];
  /** The finding of the verification. */
  readonly finding: RegExp;
}

/** Alterations after l1 was committed and labelled false, and l2 was labelled. */
const LATE: readonly Case[] = [
  {
    name: "the label is deleted",
    statements: [without("outcome_label", L1)],
    finding: /^a row of outcome_label is missing$/,
  },
  {
    name: "the label is deleted, and the score's earlier row is put back",
    before: [keep("interaction", L1)],
    statements: ["PRAGMA defer_foreign_keys = ON", without("outcome_label", L1), putBack("interaction")],
    finding: /^a row of (outcome_label is missing|interaction was altered)$/,
  },
  {
    name: "the score's row from before the label is put back",
    before: [keep("interaction", L1)],
    statements: ["PRAGMA defer_foreign_keys = ON", putBack("interaction")],
    finding: /^a row of interaction was altered$/,
  },
  {
    name: "all rows of the score and its operator are those from before the label",
    before: [keep("interaction", L1), keep("operator", "operator_id = 'bela'")],
    statements: [
      "PRAGMA defer_foreign_keys = ON",
      without("outcome_label", L1),
      without("score_commit", L1),
      putBack("interaction"),
      putBack("operator"),
    ],
    finding: /./,
  },
  {
    name: "the label is inverted",
    statements: [`UPDATE outcome_label SET outcome_correct = 1 WHERE ${L1}`],
    finding: /^a row of outcome_label was altered$/,
  },
  {
    name: "the label names another position",
    statements: [`UPDATE outcome_label SET position = position - 1 WHERE ${L1}`],
    finding: /^a row of outcome_label was altered$/,
  },
  {
    name: "the label names another call",
    statements: [`UPDATE outcome_label SET request_id = 'forged' WHERE ${L1}`],
    finding: /^a row of outcome_label was altered$/,
  },
  {
    name: "another score's label is copied over",
    statements: [
      `UPDATE outcome_label SET (outcome_correct, request_id, at, position, seal) =
        (SELECT outcome_correct, request_id, at, position, seal FROM outcome_label WHERE session_id = 'l2')
        WHERE ${L1}`,
    ],
    finding: /^a row of outcome_label was altered$/,
  },
];

for (const { name, before = [], statements, finding } of LATE) {
  Deno.test(`a further label is refused if ${name}`, async () => {
    const scene = await openScene();
    if (before.length > 0) await scene.change(...before);
    assertAnswered(await scene.commit("l1", false), "the label");
    assertAnswered(await scene.commit("l2", true), "the other label");
    assert.deepEqual(await found(scene), []);
    const jis = await jisOf(scene);
    await scene.change(...statements);
    const altered = await jisOf(scene);
    for (const label of [false, true]) assertAltered(await scene.commit("l1", label), `again ${label}`);
    assert.equal(await jisOf(scene), altered);
    if (!name.startsWith("all")) assert.equal(altered, jis);
    const details = await found(scene);
    assert.ok(details.some((detail) => finding.test(detail)), `${details}`);
    // Other operators can still be labelled.
    assertAnswered(await scene.commit("c1", true), "another operator's label");
    await scene.abandon();
  });
}

Deno.test("an invented label is neither repeated nor shown", async () => {
  const scene = await openScene();
  await scene.change(
    `INSERT INTO outcome_label (org_id, session_id, outcome_correct, request_id, at, position)
      VALUES ('acme', 'l1', 1, 'x', 1, 1)`,
  );
  for (const label of [true, false, null]) {
    assertAltered(await scene.commit("l1", label), `label ${label}`);
  }
  assertAltered(await scene.ask("/v1/decision/replay/l1"), "replay");
  assert.ok((await found(scene)).includes("there is a row that no entry stands for"));
  await scene.abandon();
});

Deno.test("a replay is refused if its label was deleted or inverted", async () => {
  const scene = await openScene();
  assertAnswered(await scene.commit("l1", false), "label");
  assert.equal(
    assertAnswered(await scene.ask("/v1/decision/replay/l1"), "replay").body.label.outcome_correct,
    false,
  );
  await scene.change(keep("outcome_label", L1), without("outcome_label", L1));
  assertAltered(await scene.ask("/v1/decision/replay/l1"), "without its label");
  await scene.change(putBack("outcome_label"), "UPDATE outcome_label SET outcome_correct = 1");
  assertAltered(await scene.ask("/v1/decision/replay/l1"), "turned round");
  await scene.abandon();
});

Deno.test("thirty labels of two scores change the JIS twice, whatever is deleted between them", async () => {
  const scene = await openScene();
  assertAnswered(await scene.commit("l1", false), "l1");
  assertAnswered(await scene.commit("l2", false), "l2");
  const jis = await jisOf(scene);
  for (let round = 0; round < 15; round += 1) {
    await scene.change("DELETE FROM outcome_label");
    assertAltered(await scene.commit("l1", false), "l1 again");
    assertAltered(await scene.commit("l2", false), "l2 again");
  }
  assert.equal(await jisOf(scene), jis);
  const labels = await select(
    scene.database,
    "SELECT seq FROM audit_entry WHERE event_type = 'OUTCOME_LABELLED'",
  );
  assert.equal(labels.length, 2);
  await scene.abandon();
});

const COMMITS: readonly Case[] = [
  {
    name: "the commit is deleted",
    statements: [without("score_commit", L1)],
    finding: /^a row of score_commit is missing$/,
  },
  {
    name: "the commit is deleted, and the score's earlier row is put back",
    before: [keep("interaction", L1)],
    statements: ["PRAGMA defer_foreign_keys = ON", without("score_commit", L1), putBack("interaction")],
    finding: /^a row of (score_commit is missing|interaction was altered)$/,
  },
  {
    name: "the commit names another call",
    statements: [`UPDATE score_commit SET request_id = 'forged', at = at - 1 WHERE ${L1}`],
    finding: /^a row of score_commit was altered$/,
  },
  {
    name: "another score's commit is copied over",
    statements: [
      `UPDATE score_commit SET (request_id, at, position, seal) =
        (SELECT request_id, at, position, seal FROM score_commit WHERE session_id = 'l2') WHERE ${L1}`,
    ],
    finding: /^a row of score_commit was altered$/,
  },
];

for (const { name, before = [], statements, finding } of COMMITS) {
  Deno.test(`a further commit is refused if ${name}`, async () => {
    const scene = await openScene();
    if (before.length > 0) await scene.change(...before);
    assertAnswered(await scene.commit("l1"), "the commit");
    assertAnswered(await scene.commit("l2"), "the other commit");
    assert.deepEqual(await found(scene), []);
    await scene.change(...statements);
    assertAltered(await scene.commit("l1"), "again");
    const committed = await select(
      scene.database,
      "SELECT seq FROM audit_entry WHERE event_type = 'SCORE_COMMITTED'",
    );
    assert.equal(committed.length, 2);
    const details = await found(scene);
    assert.ok(details.some((detail) => finding.test(detail)), `${details}`);
    await scene.abandon();
  });
}

Deno.test("an invented commit is not repeated", async () => {
  const scene = await openScene();
  assertAnswered(await scene.commit("l1"), "commit");
  await scene.change(
    "INSERT INTO score_commit SELECT org_id, 'l2', request_id, at, position, seal FROM score_commit",
  );
  assertAltered(await scene.commit("l2"), "the copy");
  assert.ok((await found(scene)).includes("there is a row that no entry stands for"));
  await scene.abandon();
});

Deno.test("verification finds two labels of one score, even if the first was hidden when the second was given", async () => {
  const scene = await openScene();
  await scene.change(keep("interaction", L1));
  assertAnswered(await scene.commit("l1", false), "label");
  const parts =
    "seq IN (SELECT seq FROM audit_entry WHERE event_type IN ('OUTCOME_LABELLED', 'SCORE_COMMITTED'))";
  await scene.change(
    "PRAGMA defer_foreign_keys = ON",
    without("outcome_label", L1),
    without("score_commit", L1),
    putBack("interaction"),
    keep("audit_part", `chain = 'org/acme' AND ${parts}`),
    `UPDATE audit_part SET data = replace(data, '"l1"', '"xx"') WHERE chain = 'org/acme' AND ${parts}`,
  );
  // The call reads nothing that still shows the first label.
  assertAnswered(await scene.commit("l1", false), "the second label");
  await scene.change(
    `UPDATE audit_part SET data = (SELECT data FROM kept_audit_part AS k
        WHERE k.chain = audit_part.chain AND k.seq = audit_part.seq AND k.name = audit_part.name)
      WHERE (chain, seq, name) IN (SELECT chain, seq, name FROM kept_audit_part)`,
  );
  const details = await found(scene);
  assert.ok(details.includes("two entries label one score"), `${details}`);
  assert.ok(details.includes("two entries commit one score"), `${details}`);
  await scene.abandon();
});

Deno.test("verification finds a session that was scored twice, and a decision that was made twice", async () => {
  const scene = await openScene();
  const decide = (time_to_decision_ms: number) =>
    scene.ask("/v1/decision/score", {
      body: {
        decision_id: "d-1",
        operator_id: "dora",
        domain: "general",
        time_to_decision_ms,
        decision: "accepted",
      },
    });
  assertAnswered(await decide(900), "decision");
  assertAnswered(await scene.score("twice", "emil"), "score");
  assertAnswered(await scene.score("last", "emil"), "score");
  assert.deepEqual(await found(scene), []);
  await scene.change(
    without("decision", "decision_id = 'd-1'"),
    without("interaction", "session_id = 'twice'"),
  );
  await decide(90_000);
  await scene.score("twice", "emil", { decision: "rejected" });
  const details = await found(scene);
  assert.ok(details.includes("two entries score one session"), `${details}`);
  assert.ok(details.includes("two entries decide under one id"), `${details}`);
  await scene.abandon();
});

// ---- batches and calls with a key -------------------------------------------------------------------------

const BATCH = {
  operator_id: "bela",
  domain: "general",
  interactions: ["b-1", "b-2"].map((session_id) => ({
    session_id,
    time_to_decision_ms: 5000,
    decision: "accepted",
  })),
};

for (
  const change of [
    "UPDATE score_batch SET request_id = 'forged'",
    "UPDATE score_batch SET at = at - 1000",
    "UPDATE score_batch SET operator_id = 'cora'",
    "UPDATE score_batch SET first_position = first_position - 1",
    "UPDATE score_batch SET seal = NULL",
  ]
) {
  Deno.test(`a repeated batch is refused after ${change}`, async () => {
    const scene = await openScene();
    const batch = () => scene.ask("/v1/score/batch", { body: BATCH });
    const first = assertAnswered(await batch(), "batch");
    assert.deepEqual(assertAnswered(await batch(), "again").body, first.body);
    assert.deepEqual(await found(scene), []);
    await scene.change(change);
    assertAltered(await batch(), "altered");
    assert.deepEqual(await found(scene), ["a row of score_batch was altered"]);
    await scene.abandon();
  });
}

for (
  const change of [
    "UPDATE keyed_call SET reference = '01FORGED'",
    "UPDATE keyed_call SET at = at - 86400000",
    "UPDATE keyed_call SET request_id = 'forged'",
    "UPDATE keyed_call SET seal = NULL",
  ]
) {
  Deno.test(`a repeated call under an Idempotency-Key is refused after ${change}`, async () => {
    const scene = await openScene();
    const calls = [
      () =>
        scene.ask("/v1/admin/webhook/register", {
          once: "key-1",
          body: {
            url: "https://review.acme.example/hook",
            secret: "a-secret-of-sixteen",
            events: ["score.committed"],
          },
        }),
      () => scene.ask("/v1/score", { once: "key-2", body: unnamed() }),
      () => scene.ask("/v1/audit/append", { once: "key-3", body: { event_type: "DONE", payload: {} } }),
    ];
    for (const call of calls) {
      assertAnswered(await call(), "first");
      const again = assertAnswered(await call(), "again");
      assert.equal(again.headers.get("Idempotency-Replayed"), "true");
    }
    assert.deepEqual(await found(scene), []);
    await scene.change(change);
    for (const call of calls) assertAltered(await call(), "altered");
    assert.deepEqual(await found(scene), ["a row of keyed_call was altered"]);
    await scene.abandon();
  });
}

Deno.test("an erasure empties and seals the operator's keyed calls", async () => {
  const scene = await openScene();
  const body = unnamed("anna");
  const call = () => scene.ask("/v1/score", { once: "key-1", body });
  assertAnswered(await call(), "score");
  assertAnswered(await scene.ask("/v1/operator/anna", { method: "DELETE" }), "erasure");
  assert.equal((await call()).status, 410);
  assert.deepEqual(await found(scene), []);
  const [row] = await select(scene.database, "SELECT * FROM keyed_call");
  assert.deepEqual([row!.operator_id, row!.request_digest, row!.reference], [null, null, null]);
  await scene.change("UPDATE keyed_call SET erased_seq = erased_seq - 1");
  assertAltered(await call(), "altered");
  await scene.close();
});

Deno.test("an erasure keeps nothing of a keyed call that another process stored while it was planned", async () => {
  let isErasing = false;
  const scene: Scene = await openScene({
    wrap: (database) => ({
      ...database,
      async batch(statements) {
        const text = "INSERT INTO keyed_call SELECT * FROM kept_keyed_call";
        const isEnd = isErasing && statements.some(({ sql }) => sql.includes("tombstone"));
        if (isEnd) await database.batch([{ sql: text, parameters: [] }]);
        return await database.batch(statements);
      },
    }),
  });
  const call = { once: "key-1", body: scoreRequest({ session_id: "s", operator_id: "anna" }) };
  assertAnswered(await scene.ask("/v1/score", call), "score");
  await scene.change(keep("keyed_call", "true"), "DELETE FROM keyed_call");
  isErasing = true;
  assertAnswered(await scene.ask("/v1/operator/anna", { method: "DELETE" }), "erasure");
  assert.deepEqual(
    await select(scene.database, "SELECT name FROM keyed_call WHERE operator_id IS NOT NULL"),
    [],
  );
  assert.equal((await scene.ask("/v1/score", call)).status, 410);
  await scene.close();
});

Deno.test("an erasure that meets an altered row of a keyed call is refused", async () => {
  const scene = await openScene();
  assertAnswered(
    await scene.ask("/v1/score", { once: "k", body: scoreRequest({ session_id: "s", operator_id: "anna" }) }),
    "score",
  );
  await scene.change("UPDATE keyed_call SET operator_id = 'bela'");
  assertAltered(await scene.ask("/v1/operator/bela", { method: "DELETE" }), "erasure");
  assert.deepEqual(await found(scene), ["a row of keyed_call was altered"]);
  await acknowledgeRestore(scene.dependencies, { reason: "altered", now: scene.clock.now() });
  assert.deepEqual(await select(scene.database, "SELECT name FROM keyed_call"), []);
  assertAnswered(await scene.ask("/v1/operator/bela", { method: "DELETE" }), "erasure");
  await scene.close();
});

// ---- found only by verification ---------------------------------------------------------------------------

Deno.test("verification finds a part that an erasure left behind", async () => {
  for (
    const hidden of [
      "event_type = 'OUTCOME_LABELLED'",
      "event_type = 'SCORE_COMMITTED'",
      "event_type = 'SCORE_COMPUTED' AND seq < 3",
    ]
  ) {
    const scene = await openScene();
    assertAnswered(await scene.commit("l1", false), "label");
    const entries = `chain = 'org/acme' AND ${hidden}`;
    await scene.change(
      `CREATE TABLE bodies AS SELECT chain, seq, body FROM audit_entry WHERE ${entries}`,
      `UPDATE audit_entry SET body = json_set(body, '$.subject', '${"a".repeat(32)}') WHERE ${entries}`,
    );
    const erased = await scene.ask("/v1/operator/bela", { method: "DELETE" });
    await scene.change(
      `UPDATE audit_entry SET body = (SELECT body FROM bodies AS b WHERE b.seq = audit_entry.seq)
        WHERE chain = 'org/acme' AND seq IN (SELECT seq FROM bodies)`,
    );
    // The erasure may have found the alteration itself, which is good too.
    if (erased.status === 200) {
      const details = await found(scene);
      assert.ok(details.includes("a part of an entry outlived its operator"), `${hidden}: ${details}`);
    } else assertAltered(erased, hidden);
    await scene.abandon();
  }
});

const BESIDE: readonly (readonly [name: string, statements: readonly string[], finding: string])[] = [
  [
    "an invented name with another's pseudonym",
    [
      `INSERT INTO subject (org_id, operator_id, pseudonym)
        SELECT 'acme', 'ghost', pseudonym FROM subject WHERE operator_id = 'bela'`,
    ],
    "a row of subject was altered",
  ],
  [
    "an invented name with a pseudonym and a seal of others",
    [
      `INSERT INTO subject (org_id, operator_id, pseudonym, seal)
        SELECT 'acme', 'ghost', '${"f".repeat(32)}', seal FROM subject WHERE operator_id = 'bela'`,
    ],
    "a row of subject was altered",
  ],
  [
    "an invented operator",
    [
      `INSERT INTO subject (org_id, operator_id, pseudonym) VALUES ('acme', 'ghost', '${"f".repeat(32)}')`,
      `INSERT INTO operator SELECT org_id, 'ghost', state, domain, prior_seq, prior_hash, position, jis, n, t0, t1, tcrit,
        crit_count, share_hs, share_crit, digest, seal, verdict, team FROM operator WHERE operator_id = 'bela'`,
    ],
    "a row of operator was altered",
  ],
  [
    "a name that was taken away",
    [
      "PRAGMA defer_foreign_keys = ON",
      "DELETE FROM operator WHERE operator_id = 'cora'",
      "DELETE FROM subject WHERE operator_id = 'cora'",
    ],
    "a part of an entry outlived its operator",
  ],
];

for (const [name, statements, finding] of BESIDE) {
  Deno.test(`verification finds ${name}`, async () => {
    const scene = await openScene();
    assert.deepEqual(await found(scene), []);
    await scene.change(...statements);
    const details = await found(scene);
    assert.ok(details.includes(finding), `${details}`);
    await scene.abandon();
  });
}

Deno.test("verification finds rows of an erased operator that were put back", async () => {
  const scene = await openScene();
  assertAnswered(await scene.commit("l1", false), "label");
  assertAnswered(await scene.ask("/v1/score/batch", { body: BATCH }), "batch");
  const tables = ["subject", "operator", "interaction", "score_commit", "outcome_label", "score_batch"];
  await scene.change(
    ...tables.map((table) => `CREATE TABLE kept_${table} AS SELECT * FROM ${table} WHERE org_id = 'acme'`),
  );
  assertAnswered(await scene.ask("/v1/operator/bela", { method: "DELETE" }), "erasure");
  assert.deepEqual(await found(scene), []);
  const finding: Readonly<Record<string, string>> = {
    subject: "a row of subject was put back after its erasure",
    score_batch: "a row of score_batch was put back",
  };
  for (const table of ["subject", "score_batch"]) {
    await scene.change(`INSERT OR IGNORE INTO ${table} SELECT * FROM kept_${table}`);
    const details = await found(scene);
    assert.deepEqual(details, [finding[table]]);
    await scene.change(without(table, "operator_id = 'bela'"));
    assert.deepEqual(await found(scene), []);
  }
  await scene.change(
    "PRAGMA defer_foreign_keys = ON",
    ...["interaction", "score_commit", "outcome_label"].map((table) =>
      `INSERT OR IGNORE INTO ${table} SELECT * FROM kept_${table}`
    ),
  );
  assert.ok((await found(scene)).includes("there is a row that no entry stands for"));
  await scene.abandon();
});

Deno.test("verification has no finding after commits, labels, an erasure, a new start under the name and pruning", async () => {
  const scene = await openScene({ evidenceRetentionDays: 3 });
  const call = { once: "k", body: unnamed() };
  assertAnswered(await scene.ask("/v1/score", call), "call under a key");
  assertAnswered(await scene.ask("/v1/score/batch", { body: BATCH }), "batch");
  assertAnswered(await scene.commit("l1", false), "label");
  assertAnswered(await scene.commit("l1", false), "label again");
  assertAnswered(await scene.commit("l2"), "commit");
  assertAnswered(await scene.commit("l2", true), "label after the commit");
  assertAnswered(
    await scene.ask("/v1/score?mode_override=incident_frozen", {
      body: scoreRequest({ session_id: "frozen", operator_id: "frieda" }),
    }),
    "frozen call",
  );
  assert.deepEqual(await found(scene), []);
  assertAnswered(await scene.ask("/v1/operator/cora", { method: "DELETE" }), "erasure");
  assertAnswered(await scene.score("again", "cora"), "a new start");
  assert.deepEqual(await found(scene), []);
  scene.clock.advance(2 * DAY);
  // The score of l3 is pruned below, its label is not.
  assertAnswered(await scene.commit("l3", true), "a label of later");
  scene.clock.advance(2 * DAY);
  await pruneChains(scene.dependencies, scene.clock.now());
  const held = await select(scene.database, "SELECT session_id FROM outcome_label");
  assert.deepEqual(held, []);
  assert.deepEqual(await found(scene), []);
  scene.clock.advance(4 * DAY);
  await pruneChains(scene.dependencies, scene.clock.now());
  assert.deepEqual(await found(scene), []);
  assertAnswered(await scene.score("after"), "score");
  assert.deepEqual(await found(scene), []);
  await scene.close();
});

Deno.test("sealing anew restores the rows of commits, labels and batches from the chain, and removes those without an entry", async () => {
  const scene = await openScene();
  assertAnswered(await scene.commit("l1", false), "l1");
  assertAnswered(await scene.commit("l2", true), "l2");
  assertAnswered(await scene.ask("/v1/score/batch", { body: BATCH }), "batch");
  const rows = () =>
    Promise.all(
      ["interaction", "score_commit", "outcome_label", "score_batch"].map((table) =>
        select(scene.database, `SELECT * FROM ${table} ORDER BY 1, 2`)
      ),
    );
  const before = await rows();
  await scene.change(
    "UPDATE outcome_label SET outcome_correct = 1 - outcome_correct, position = 0, at = 5, seal = NULL",
    "UPDATE score_commit SET position = 1, at = 5",
    "UPDATE interaction SET commit_position = NULL, label_position = 3",
    `INSERT INTO outcome_label (org_id, session_id, outcome_correct, request_id, at, position)
      VALUES ('acme', 'l3', 1, 'x', 1, 1)`,
    `INSERT INTO score_commit (org_id, session_id, request_id, at, position) VALUES ('acme', 'l3', 'x', 1, 1)`,
    "UPDATE score_batch SET seal = NULL",
    `INSERT INTO score_batch SELECT org_id, replace(request_digest, substr(request_digest, 1, 8), '00000000'),
      request_id, at, 'cora', first_position, count, seal FROM score_batch`,
  );
  const head = (await newestHeads(scene.database)).get("org/acme")!;
  await sealFamily(scene.dependencies, head, { isUpgrade: true });
  assert.deepEqual(await rows(), before);
  assert.deepEqual(await found(scene), []);
  await scene.change(without("outcome_label", L1), without("score_commit", L1));
  await sealFamily(scene.dependencies, head, { isUpgrade: true });
  assert.deepEqual(await found(scene), []);
  assertAnswered(await scene.commit("l1", false), "the label again");
  assert.equal((await scene.commit("l1", true)).status, 409);
  await scene.close();
});

Deno.test("an acknowledgement makes altered rows of labels and commits anew from the chain", async () => {
  const scene = await openScene();
  assertAnswered(await scene.commit("l1", false), "l1");
  assertAnswered(await scene.commit("l2", true), "l2");
  const jis = await jisOf(scene);
  await scene.change(without("outcome_label", L1), "UPDATE score_commit SET request_id = 'forged'");
  assertAltered(await scene.commit("l1", true), "before");
  await acknowledgeRestore(scene.dependencies, { reason: "rows were altered", now: scene.clock.now() });
  assert.deepEqual(await found(scene), []);
  assertAnswered(await scene.commit("l1", false), "the label again");
  assert.equal((await scene.commit("l1", true)).status, 409);
  assert.equal(await jisOf(scene), jis);
  assert.equal(
    assertAnswered(await scene.commit("l3", true), "another").headers.get("Idempotency-Replayed"),
    null,
  );
  // In the next epoch an earlier label is still known.
  await scene.change(without("outcome_label", L1));
  assertAltered(await scene.commit("l1", false), "after");
  await assert.rejects(async () => {
    await acknowledgeRestore(scene.dependencies, { reason: "again", now: scene.clock.now() });
    await acknowledgeRestore(scene.dependencies, { reason: "nothing", now: scene.clock.now() });
  }, /There is nothing to acknowledge/);
  await scene.close();
});
