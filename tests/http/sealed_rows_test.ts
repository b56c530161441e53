/**
 * Somebody has the database's file and no key. Whatever he writes into its rows, nothing is scored, reported,
 * erased or sent by it. Requests that read altered rows are refused, others are answered.
 */
import assert from "node:assert/strict";
import { acknowledgeRestore } from "../../src/operations/restoring/restores.ts";
import { pruneChains } from "../../src/operations/chains/retention.ts";
import { verifyChain } from "../../src/operations/verification/verification.ts";
import { query } from "../../src/store/database.ts";
import { type Answer, type Harness, type HarnessOptions, openHarness, scoreRequest } from "../harness.ts";

const REPORT = "/v1/compliance/report?period_start=2026-10-01&period_end=2026-12-01";
const ARTICLE_14 = "/v1/compliance/article14";
const DASHBOARD = "/v1/organization/dashboard";
const DAY = 86_400_000;

interface Scene extends Harness {
  readonly key: string;
  readonly otherKey: string;
  /** Runs statements directly on the database, as somebody with the file can. */
  alter(...statements: readonly string[]): Promise<void>;
  score(session: string, operator: string, fields?: Record<string, unknown>): Promise<Answer>;
  ask(path: string, options?: { readonly body?: unknown; readonly method?: string }): Promise<Answer>;
}

/** Two organizations. In acme anna accepts every advice, and bela judges. */
async function openScene(options: HarnessOptions = {}): Promise<Scene> {
  const harness = await openHarness({
    startsAt: Date.parse("2026-11-20T09:00:00.000Z") - 12 * DAY,
    ...options,
  });
  const key = await harness.organization("acme");
  const otherKey = await harness.organization("other");
  const scene: Scene = {
    ...harness,
    key,
    otherKey,
    async alter(...statements) {
      const compiled = { query: {} as never, queryId: {} as never, parameters: [] };
      await harness.database.batch(statements.map((sql) => ({ ...compiled, sql })));
    },
    score: (session, operator, fields = {}) =>
      harness.send("/v1/score", {
        key,
        body: scoreRequest({ session_id: session, operator_id: operator }, fields),
      }),
    ask: (path, options = {}) => harness.send(path, { key, ...options }),
  };
  for (let index = 0; index < 6; index += 1) {
    const careless = { decision: "accepted", outcome_correct: false, time_to_decision_ms: 700 };
    const careful = { decision: index % 2 === 0 ? "rejected" : "accepted", outcome_correct: true };
    assert.equal((await scene.score(`anna-${index}`, "anna", careless)).status, 200);
    assert.equal((await scene.score(`bela-${index}`, "bela", careful)).status, 200);
    harness.clock.advance(2 * DAY);
  }
  return scene;
}

function assertAltered(answer: Answer, what: string): void {
  assert.equal(answer.status, 503, `${what}: ${answer.text}`);
  assert.equal(answer.body.error.code, "SERVICE_UNAVAILABLE", what);
  assert.match(answer.body.error.message, /^The database was altered: /, what);
}

/** Asserts that verifying the organization's chains finds the alteration, too. */
async function assertFound(scene: Scene): Promise<void> {
  const found = await Promise.all(
    ["org/acme", "org/acme/admin"].map(async (family) =>
      await verifyChain(scene.dependencies, { family, from: 0, sinceSize: null, now: scene.clock.now() })
    ),
  );
  const codes = found.flatMap(({ findings }) => findings.map(({ code }) => code));
  assert.ok(codes.includes("ROW_ALTERED"), `${codes}`);
}

/**
 * Requests that are refused after an alteration: each a path, a verb with a name, or the name of a score's
 * operator.
 */
interface Attack {
  readonly name: string;
  /** Runs before the rows are altered. */
  readonly before?: (scene: Scene) => Promise<void>;
  readonly statements: readonly string[];
  readonly refused: readonly string[];
  readonly served: readonly string[];
}

const PROFILE_ANNA = "/v1/operator/anna/profile";
const SPARKLINE_BELA = "/v1/operator/bela/sparkline?format=json";
const MAINTENANCE_BELA = "maintenance bela";
const OPERATORS = "/v1/organization/operators";
const PROFILE_BELA = "/v1/operator/bela/profile";

/** Keeps a copy of rows, to be put back later. */
const kept = (
  table: string,
  where: string,
) => [`CREATE TABLE kept_${table} AS SELECT * FROM ${table} WHERE ${where}`];

const ATTACKS: readonly Attack[] = [
  {
    name: "figures of scores are improved",
    statements: [
      "UPDATE interaction SET jis = 95, low = 90, high = 99, d1 = 95, d2 = 95 WHERE operator_id = 'anna'",
    ],
    refused: [REPORT, ARTICLE_14],
    served: [DASHBOARD, PROFILE_ANNA, "anna"],
  },
  {
    name: "another operator's state is copied over",
    statements: [
      `UPDATE operator SET (state, jis, n, t0, t1, tcrit, crit_count, share_hs, share_crit, digest) =
        (SELECT state, jis, n, t0, t1, tcrit, crit_count, share_hs, share_crit, digest FROM operator
          WHERE operator_id = 'bela') WHERE operator_id = 'anna'`,
    ],
    refused: [REPORT, ARTICLE_14, DASHBOARD, PROFILE_ANNA, "anna", "decision anna", "erase anna"],
    served: [PROFILE_BELA, "bela", "decision bela"],
  },
  {
    name: "another operator's state is copied over with its seal",
    statements: [
      `UPDATE operator SET (state, jis, n, t0, t1, tcrit, crit_count, share_hs, share_crit, digest, seal, prior_seq,
          prior_hash, position) =
        (SELECT state, jis, n, t0, t1, tcrit, crit_count, share_hs, share_crit, digest, seal, prior_seq, prior_hash,
          position FROM operator WHERE operator_id = 'bela') WHERE operator_id = 'anna'`,
    ],
    before: async (scene) => {
      const unlabelled = await scene.score("unlabelled", "anna", { outcome_correct: null });
      assert.equal(unlabelled.status, 200, unlabelled.text);
    },
    refused: [REPORT, DASHBOARD, PROFILE_ANNA, "anna", "label unlabelled"],
    served: [PROFILE_BELA, "bela"],
  },
  {
    name: "a figure alone is altered, and the state is not",
    statements: ["UPDATE operator SET jis = 99 WHERE operator_id = 'anna'"],
    refused: [REPORT, DASHBOARD, PROFILE_ANNA, "/v1/organization/operators"],
    served: [PROFILE_BELA],
  },
  {
    name: "an operator's old row is put back with its seal",
    before: async (scene) => {
      await scene.alter(...kept("operator", "operator_id = 'bela'"));
      for (let index = 0; index < 4; index += 1) {
        const careless = { decision: "accepted", outcome_correct: false, time_to_decision_ms: 700 };
        assert.equal((await scene.score(`later-${index}`, "bela", careless)).status, 200);
      }
    },
    statements: ["INSERT OR REPLACE INTO operator SELECT * FROM kept_operator"],
    refused: [
      REPORT,
      ARTICLE_14,
      DASHBOARD,
      PROFILE_BELA,
      SPARKLINE_BELA,
      MAINTENANCE_BELA,
      OPERATORS,
      "bela",
      "decision bela",
    ],
    served: [PROFILE_ANNA, "anna"],
  },
  {
    name: "an operator's row is deleted",
    statements: ["DELETE FROM operator WHERE operator_id = 'bela'"],
    refused: [
      REPORT,
      ARTICLE_14,
      DASHBOARD,
      PROFILE_BELA,
      SPARKLINE_BELA,
      MAINTENANCE_BELA,
      "bela",
      "decision bela",
    ],
    served: [PROFILE_ANNA, "anna"],
  },
  {
    name: "an operator with all scores is deleted",
    statements: [
      "DELETE FROM interaction WHERE operator_id = 'anna'",
      "DELETE FROM operator WHERE operator_id = 'anna'",
    ],
    refused: [REPORT, ARTICLE_14, DASHBOARD],
    served: [PROFILE_BELA, "bela"],
  },
  {
    name: "the last score of a period is deleted",
    statements: ["DELETE FROM interaction WHERE session_id = 'anna-5'"],
    refused: [REPORT, ARTICLE_14],
    served: [DASHBOARD],
  },
  {
    name: "the first score of a period is deleted",
    statements: ["DELETE FROM interaction WHERE session_id = 'anna-0'"],
    refused: [REPORT, ARTICLE_14],
    served: [DASHBOARD],
  },
  {
    name: "scores are deleted as if they were pruned",
    statements: [
      "UPDATE audit_chain SET min_index = 8 WHERE chain = 'org/acme'",
      "DELETE FROM interaction WHERE position < 8",
    ],
    refused: [REPORT, ARTICLE_14],
    served: [DASHBOARD],
  },
  {
    name: "scores are moved out of a period",
    statements: ["UPDATE interaction SET t1 = t1 - 31536000000 WHERE operator_id = 'anna'"],
    refused: [REPORT, ARTICLE_14],
    served: [DASHBOARD],
  },
  {
    name: "the digest in the head is removed with the seals",
    statements: [
      "UPDATE operator SET seal = NULL, jis = 99",
      "UPDATE audit_chain SET held = NULL WHERE family = 'org/acme'",
    ],
    refused: [REPORT, ARTICLE_14, DASHBOARD, PROFILE_ANNA],
    served: [],
  },
  {
    name: "the organization is given another name",
    statements: ["UPDATE organization SET name = 'Somebody Else Bank' WHERE org_id = 'acme'"],
    refused: [REPORT, DASHBOARD, PROFILE_ANNA, "anna"],
    served: [],
  },
  {
    name: "frozen calls are invented",
    before: (scene) => freeze(scene, "anna", 1),
    statements: [
      `INSERT INTO skipped_interaction (org_id, session_id, operator_id, request_digest, request_id, at, position, seal,
          t0, t1, previous, n)
        SELECT org_id, 'invented', operator_id, request_digest, request_id, at, position + 1, seal, t0, t1 + 1, position,
          n + 1 FROM skipped_interaction`,
    ],
    refused: [REPORT, ARTICLE_14],
    served: [DASHBOARD, "anna", "freeze anna"],
  },
  {
    name: "the first frozen call of a period is deleted",
    before: (scene) => freeze(scene, "anna", 3),
    statements: ["DELETE FROM skipped_interaction WHERE session_id = 'frozen-anna-0'"],
    refused: [REPORT, ARTICLE_14],
    served: [DASHBOARD, "freeze anna"],
  },
  {
    name: "the last frozen call of a period is deleted",
    before: (scene) => freeze(scene, "anna", 3),
    statements: ["DELETE FROM skipped_interaction WHERE session_id = 'frozen-anna-2'"],
    refused: [REPORT, ARTICLE_14],
    served: [DASHBOARD, "freeze anna"],
  },
  {
    name: "all frozen calls of an operator who was never scored are deleted",
    before: (scene) => freeze(scene, "dora", 2),
    statements: ["DELETE FROM skipped_interaction"],
    refused: [REPORT, ARTICLE_14],
    served: [DASHBOARD],
  },
  {
    name: "all frozen calls of an operator are deleted, with the row that counts them",
    before: (scene) => freeze(scene, "dora", 2),
    statements: ["DELETE FROM skipped_interaction", "DELETE FROM frozen_operator"],
    refused: [REPORT, ARTICLE_14, DASHBOARD],
    served: [PROFILE_ANNA, "anna", "freeze anna"],
  },
  {
    name: "the row that counts an operator's frozen calls is deleted, and the calls are not",
    before: async (scene) => {
      await freeze(scene, "anna", 1);
      await freeze(scene, "bela", 1);
    },
    statements: ["DELETE FROM frozen_operator WHERE operator_id = 'anna'"],
    refused: [REPORT, ARTICLE_14, DASHBOARD],
    served: ["freeze bela"],
  },
  {
    name: "the newest frozen call is deleted, and the row that counts them is put back",
    before: async (scene) => {
      await freeze(scene, "anna", 2);
      await scene.alter(...kept("frozen_operator", "operator_id = 'anna'"));
      await freeze(scene, "anna", 3);
    },
    statements: [
      "DELETE FROM skipped_interaction WHERE session_id = 'frozen-anna-2'",
      "INSERT OR REPLACE INTO frozen_operator SELECT * FROM kept_frozen_operator",
    ],
    refused: [REPORT, ARTICLE_14, DASHBOARD],
    served: [PROFILE_ANNA, "anna"],
  },
  {
    name: "the number of an operator's frozen calls is altered",
    before: (scene) => freeze(scene, "anna", 3),
    statements: ["UPDATE frozen_operator SET n = 1"],
    refused: [REPORT, ARTICLE_14, DASHBOARD, "freeze anna"],
    served: ["anna", "freeze bela"],
  },
  {
    name: "frozen calls are moved out of a period",
    before: (scene) => freeze(scene, "anna", 3),
    statements: ["UPDATE skipped_interaction SET t1 = t1 - 31536000000, at = at - 31536000000"],
    refused: [REPORT, ARTICLE_14],
    served: [DASHBOARD],
  },
  {
    name: "the count in each frozen call is altered",
    before: (scene) => freeze(scene, "anna", 3),
    statements: ["UPDATE skipped_interaction SET n = 1"],
    refused: [REPORT, ARTICLE_14],
    served: [DASHBOARD],
  },
  {
    name: "frozen calls are deleted as if they were pruned",
    before: (scene) => freeze(scene, "anna", 3),
    statements: [
      `UPDATE audit_chain SET min_index = (SELECT position + 1 FROM skipped_interaction
        WHERE session_id = 'frozen-anna-0') WHERE chain = 'org/acme'`,
      "DELETE FROM skipped_interaction WHERE session_id = 'frozen-anna-0'",
    ],
    refused: [REPORT, ARTICLE_14],
    served: [DASHBOARD],
  },
  {
    name: "a frozen call from before an erasure is put back before the later ones",
    before: async (scene) => {
      await freeze(scene, "anna", 2);
      await scene.alter(...kept("skipped_interaction", "session_id = 'frozen-anna-0'"));
      assert.equal((await scene.ask("/v1/operator/anna", { method: "DELETE" })).status, 200);
      await freeze(scene, "anna", 4, 2);
    },
    statements: ["INSERT INTO skipped_interaction SELECT * FROM kept_skipped_interaction"],
    refused: [REPORT, ARTICLE_14],
    served: [DASHBOARD, "freeze anna"],
  },
];

const FREEZE = "/v1/score?mode_override=incident_frozen";

/** Freezes calls of an operator, an hour apart, from number `first` up to `count`. */
async function freeze(scene: Scene, operator: string, count: number, first = 0): Promise<void> {
  for (let index = first; index < count; index += 1) {
    const session_id = `frozen-${operator}-${index}`;
    const frozen = await scene.ask(FREEZE, { body: scoreRequest({ session_id, operator_id: operator }) });
    assert.equal(frozen.status, 200, frozen.text);
    scene.clock.advance(DAY / 24);
  }
}

/** Sends the request that an item of an attack's list names. */
async function asked(scene: Scene, what: string): Promise<Answer> {
  if (what.startsWith("/")) return await scene.ask(what);
  const [verb, name] = what.split(" ");
  if (verb === "freeze") {
    return await scene.ask(FREEZE, { body: scoreRequest({ session_id: "frozen-anew", operator_id: name! }) });
  }
  if (verb === "erase") return await scene.ask(`/v1/operator/${name}`, { method: "DELETE" });
  if (verb === "decision") {
    return await scene.ask("/v1/decision/score", {
      body: { operator_id: name, domain: "general", time_to_decision_ms: 900, decision: "accepted" },
    });
  }
  if (verb === "maintenance") {
    return await scene.ask("/v1/maintenance/recommend", { body: { operator_id: name } });
  }
  if (verb === "label") {
    return await scene.ask(`/v1/score/${name}/commit`, { body: { outcome_correct: true } });
  }
  return await scene.score(`new-${what}`, what);
}

for (const { name, before, statements, refused, served } of ATTACKS) {
  Deno.test(`altered rows are not used for an answer: ${name}`, async () => {
    const scene = await openScene();
    await before?.(scene);
    for (const what of [...refused, ...served]) {
      if (what.startsWith("/")) assert.equal((await scene.ask(what)).status, 200, `${what} before`);
    }
    const chains = await scene.ask("/v1/audit/chain/verify");
    assert.equal(chains.body.valid, true, chains.text);
    await scene.alter(...statements);
    for (const what of refused) assertAltered(await asked(scene, what), what);
    await assertFound(scene);
    for (const what of served) {
      const answer = await asked(scene, what);
      assert.equal(answer.status, 200, `${what} is still answered: ${answer.text}`);
    }
    // The other organization is not affected.
    const other = await scene.send("/v1/score", {
      key: scene.otherKey,
      body: scoreRequest({ session_id: "s-1", operator_id: "cleo" }),
    });
    assert.equal(other.status, 200, other.text);
    await scene.abandon();
  });
}

Deno.test("a report is as it was once its altered rows are put back", async () => {
  const scene = await openScene();
  const before = await scene.ask(REPORT);
  await scene.alter(
    "CREATE TABLE put_by AS SELECT * FROM interaction",
    "UPDATE interaction SET jis = 95 WHERE operator_id = 'anna'",
  );
  assertAltered(await scene.ask(REPORT), "altered");
  await scene.alter(
    "UPDATE interaction SET jis = (SELECT jis FROM put_by WHERE put_by.session_id = interaction.session_id)",
    "DROP TABLE put_by",
  );
  assert.deepEqual((await scene.ask(REPORT)).body.report, before.body.report);
  await scene.close();
});

Deno.test("an erasure is refused if another operator's pseudonym was written beside the name", async () => {
  const scene = await openScene();
  await scene.alter(
    `UPDATE subject SET pseudonym = (SELECT pseudonym FROM subject WHERE operator_id = 'bela')
      WHERE operator_id = 'anna'`,
  );
  assertAltered(await scene.ask("/v1/operator/anna", { method: "DELETE" }), "erasure");
  assertAltered(await scene.score("new", "anna"), "score under another's pseudonym");
  await assertFound(scene);
  const kept = await scene.ask("/v1/decision/replay/bela-0");
  assert.equal(kept.status, 200, kept.text);
  assert.equal(kept.body.match, true, kept.text);
  await scene.abandon();
});

Deno.test("an erasure is refused if the pseudonym of an earlier operator of that name was put back", async () => {
  const scene = await openScene();
  await scene.alter("CREATE TABLE put_by AS SELECT * FROM subject WHERE operator_id = 'anna'");
  assert.equal((await scene.ask("/v1/operator/anna", { method: "DELETE" })).status, 200);
  assert.equal((await scene.score("again", "anna")).status, 200);
  await scene.alter(
    `UPDATE subject SET (pseudonym, seal) = (SELECT pseudonym, seal FROM put_by) WHERE operator_id = 'anna'`,
  );
  assertAltered(await scene.ask("/v1/operator/anna", { method: "DELETE" }), "erasure");
  await assertFound(scene);
  await scene.abandon();
});

Deno.test("an operator whose pseudonym was replaced is neither scored nor erased", async () => {
  const scene = await openScene();
  await scene.alter(
    "CREATE TABLE operator_by AS SELECT * FROM operator WHERE operator_id = 'anna'",
    "DELETE FROM operator WHERE operator_id = 'anna'",
    "DELETE FROM subject WHERE operator_id = 'anna'",
    "PRAGMA defer_foreign_keys = ON",
    `INSERT INTO subject (org_id, operator_id, pseudonym) VALUES ('acme', 'anna', '${"0".repeat(32)}')`,
    "INSERT INTO operator SELECT * FROM operator_by",
  );
  assertAltered(await scene.score("new", "anna"), "score");
  assertAltered(await scene.ask("/v1/operator/anna", { method: "DELETE" }), "erasure");
  await scene.abandon();
});

Deno.test("a copy and a list are refused if the operator's pseudonym alone was removed", async () => {
  const scene = await openScene({ raisesTampering: true });
  await scene.alter(
    // Without the foreign key, which somebody with the file can drop.
    "CREATE TABLE operator_by AS SELECT * FROM operator",
    "DROP TABLE operator",
    "DELETE FROM subject WHERE operator_id = 'bela'",
    "ALTER TABLE operator_by RENAME TO operator",
  );
  const calls = ["/v1/operator/bela/export", "/v1/organization/decisions?operator_id=bela"];
  for (const path of calls) assertAltered(await scene.ask(path), path);
  await scene.dependencies.tampered!.inTurn(() => Promise.resolve());
  const alerts = await scene.database.read(
    query.selectFrom("alert").select(["kind", "detail"]).where("org_id", "=", "acme").compile(),
  );
  assert.deepEqual(
    alerts.map(({ kind, detail }) => [kind, JSON.parse(detail).chain]),
    [["CHAIN_TAMPERED", "org/acme"]],
  );
  assert.equal((await scene.ask("/v1/operator/nobody/export")).status, 404);
  assert.deepEqual((await scene.ask("/v1/organization/decisions?operator_id=nobody")).body.decisions, []);
  await scene.abandon();
});

Deno.test("an issued report whose row was deleted or given to another organization is refused with 503, not 404", async () => {
  for (const change of ["DELETE FROM compliance_report", "UPDATE compliance_report SET org_id = 'other'"]) {
    const scene = await openScene();
    const { report } = (await scene.ask(REPORT)).body;
    const path = `/v1/compliance/report/${report.report_id}`;
    assert.equal((await scene.ask(path)).status, 200);
    await scene.alter(change);
    assertAltered(await scene.ask(path), change);
    const unknown = `/v1/compliance/report/${report.report_id.replace(/.$/, "X")}`;
    assert.equal((await scene.ask(unknown)).status, 404);
    assert.equal((await scene.send(path, { key: scene.otherKey })).status === 200, false);
    await scene.abandon();
  }
});

Deno.test("a key whose hash was written into another organization's row is refused", async () => {
  const scene = await openScene();
  await scene.alter(
    "UPDATE organization SET prefix = NULL, key_hash = NULL WHERE org_id = 'acme'",
    `UPDATE organization SET (prefix, key_hash, pepper_id) = (NULL, NULL, NULL) WHERE org_id = 'none'`,
    "CREATE TABLE put_by AS SELECT prefix, key_hash, pepper_id FROM organization WHERE org_id = 'other'",
    "UPDATE organization SET prefix = NULL, key_hash = NULL WHERE org_id = 'other'",
    "UPDATE organization SET (prefix, key_hash, pepper_id) = (SELECT * FROM put_by) WHERE org_id = 'acme'",
  );
  assertAltered(await scene.send(DASHBOARD, { key: scene.otherKey }), "the other's key");
  await assertFound(scene);
  await scene.abandon();
});

Deno.test("nothing is sent to an address that was written over a webhook's own", async () => {
  const sent: string[] = [];
  const scene = await openScene({
    deliverer: {
      deliver({ url }) {
        sent.push(url.href);
        return Promise.resolve({ status: 200, error: null, durationMs: 1 });
      },
      close() {},
    },
  });
  const registered = await scene.ask("/v1/admin/webhook/register", {
    body: {
      url: "https://review.acme.example/hook",
      secret: "a-secret-of-sixteen",
      events: ["score.committed"],
    },
  });
  assert.equal(registered.status, 201, registered.text);
  assert.equal((await scene.score("told", "bela", { outcome_correct: true })).status, 200);
  await scene.alter("UPDATE webhook SET url = 'https://evil.example/hook'");
  assert.equal(await scene.deliver(), 0);
  assert.deepEqual(sent, []);
  assert.ok(scene.log.some(({ msg }) => String(msg).startsWith("a webhook's row was altered")));
  assertAltered(await scene.ask(`/v1/admin/webhook/${registered.body.id}/deliveries`), "the deliveries");
  await scene.alter("UPDATE webhook SET url = 'https://review.acme.example/hook'");
  await scene.deliver();
  assert.ok(sent.every((url) => url === "https://review.acme.example/hook"));
  await scene.abandon();
});

Deno.test("a start does not seal rows anew in a database whose rows are sealed", async () => {
  const directory = await Deno.makeTempDir();
  const files = { path: `${directory}/jiss.db`, lockPath: `${directory}/lock.db` };
  const scene = await openScene(files);
  await scene.alter(
    "UPDATE audit_chain SET held = NULL",
    "UPDATE operator SET seal = NULL, jis = 99",
    "UPDATE organization SET seal = NULL, name = 'Somebody Else Bank'",
  );
  await scene.abandon();
  const again = await openHarness({ ...files, run: 1 });
  assertAltered(await again.send(DASHBOARD, { key: scene.key }), "dashboard");
  await again.abandon();
  await Deno.remove(directory, { recursive: true });
});

Deno.test("a start records no model change that only the database's file shows", async () => {
  const directory = await Deno.makeTempDir();
  const files = { path: `${directory}/jiss.db`, lockPath: `${directory}/lock.db` };
  const scene = await openScene(files);
  const [{ entries: before }] = await countOf(scene, "MODEL_CHANGED");
  await scene.alter(
    "PRAGMA defer_foreign_keys = ON",
    "INSERT INTO model_document SELECT 'f' || substr(sha256, 2), document, first_used_at FROM model_document",
    "UPDATE installation SET model_sha256 = (SELECT sha256 FROM model_document ORDER BY sha256 DESC LIMIT 1)",
  );
  await scene.abandon();
  const again = await openHarness({ ...files, run: 1 });
  const [{ entries: after }] = await countOf(again, "MODEL_CHANGED");
  assert.equal(after, before);
  const refused = await again.send("/v1/score", {
    key: scene.key,
    body: scoreRequest({ session_id: "after", operator_id: "bela" }),
  });
  assert.equal(refused.status, 503, refused.text);
  await again.abandon();
  await Deno.remove(directory, { recursive: true });
});

async function countOf({ database }: Pick<Harness, "database">, eventType: string) {
  const rows = await database.read(
    query.selectFrom("audit_entry").select(({ fn }) => fn.countAll<number>().as("entries"))
      .where("event_type", "=", eventType).compile(),
  );
  return rows as [{ entries: number }];
}

Deno.test("verification finds an origin that no organization registered", async () => {
  const scene = await openScene();
  await scene.alter(
    "INSERT INTO organization_origin (origin, org_id) VALUES ('https://evil.example', 'acme')",
  );
  await assertFound(scene);
  await scene.abandon();
});

Deno.test("pruning is not signed if a size in the database's file has no checkpoint", async () => {
  const scene = await openScene({ evidenceRetentionDays: 3 });
  await scene.alter("UPDATE audit_ladder SET size = size + 1 WHERE chain = 'org/acme'");
  await pruneChains(scene.dependencies, scene.clock.now());
  const cut = await scene.database.read(
    query.selectFrom("audit_entry").select("chain").where("event_type", "=", "RETENTION_PRUNED").compile(),
  );
  // The other organization's chain, which was not altered, is pruned.
  assert.deepEqual(cut.map(({ chain }) => chain), ["org/other"]);
  await scene.abandon();
});

Deno.test("an acknowledgement makes rows anew from the chain, and deactivates altered keys and webhooks", async () => {
  const scene = await openScene();
  const registered = await scene.ask("/v1/admin/webhook/register", {
    body: {
      url: "https://review.acme.example/hook",
      secret: "a-secret-of-sixteen",
      events: ["score.committed"],
    },
  });
  assert.equal(registered.status, 201, registered.text);
  const before = await scene.ask(REPORT);
  await scene.alter(
    "UPDATE interaction SET jis = 95, d1 = 95 WHERE operator_id = 'anna'",
    "UPDATE operator SET state = (SELECT state FROM operator WHERE operator_id = 'bela'), jis = 95 WHERE operator_id = 'anna'",
    "UPDATE webhook SET url = 'https://evil.example/hook'",
  );
  const accepted = await acknowledgeRestore(scene.dependencies, {
    reason: "the file was altered",
    now: scene.clock.now(),
  });
  assert.ok(accepted.chains > 0);
  const after = await scene.ask(REPORT);
  assert.deepEqual(after.body.report.figures, before.body.report.figures);
  const { body } = await scene.ask("/v1/admin/webhook/list");
  assert.deepEqual(body.webhooks.map(({ active }: { active: boolean }) => active), [false]);
  // The other organization's chains continue in their next epochs, too.
  assert.equal((await scene.send(DASHBOARD, { key: scene.otherKey })).status, 200);
  await scene.alter("UPDATE organization SET name = 'Somebody Else Bank' WHERE org_id = 'acme'");
  await acknowledgeRestore(scene.dependencies, { reason: "altered again", now: scene.clock.now() });
  assert.equal((await scene.ask(DASHBOARD)).status, 401);
  await scene.close();
});
