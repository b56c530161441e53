/**
 * Restores. A database that was put back is noticed, and nothing is recorded in it until an administrator
 * says why. Then every chain continues in its next epoch, and erasures are repeated. Every run ends with the
 * oracle.
 * Source: evidence design, section 10 and "Read first", point 4.
 */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { nodeCrypto, signerFromPem } from "../../src/evidence/node_crypto.ts";
import { BundleVerifier } from "../../src/evidence/verifier.ts";
import { CLOCK_RULES } from "../../src/operations/installation/clock_watch.ts";
import type { OrganizationCaller } from "../../src/operations/shared/call.ts";
import { eraseOperator } from "../../src/operations/subjects/erasure.ts";
import { anchorChains } from "../../src/operations/chains/anchoring.ts";
import { bundleFile } from "../../src/operations/chains/export.ts";
import { directCall } from "../../src/operations/organizations/organization_change.ts";
import { rotateByHand } from "../../src/operations/organizations/organization_states.ts";
import {
  acknowledgeRestore,
  compareWithLock,
  followOtherHosts,
} from "../../src/operations/restoring/restores.ts";
import { pruneChains } from "../../src/operations/chains/retention.ts";
import { StartError } from "../../src/operations/shared/start_error.ts";
import type { Database } from "../../src/store/database.ts";
import { type Row, rowsOf } from "../earlier_schema.ts";
import {
  type Answer,
  EPOCH,
  type Harness,
  type HarnessOptions,
  MASTER_KEY,
  openHarness,
  organizationRequest,
  pemOf,
  type RequestOptions,
  scoreRequest,
  SIGNING_KEY_PEM,
  writingAfterReads,
} from "../harness.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const FIRST = signerFromPem(SIGNING_KEY_PEM);
const SECOND = signerFromPem(pemOf("jiss test signing key, the second one"));
const REASON = "the disk failed, put back from last night";
const ORIGIN = "jiss.test/01TEST00000000000000000000/";

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

// ---- fixtures ---------------------------------------------------------------------------------------------

/** Rotates acme's key by the administrator's command; returns the new key. */
async function rotate({ dependencies, clock }: Harness): Promise<string> {
  const call = directCall("acme", { now: clock.now(), requestId: "" });
  return String((await rotateByHand(dependencies, { actor: "system" }, call)).body.new_api_key);
}

/** Runs of one deployment, each a process an hour after the one before, with backups between them. */
interface Deployment {
  start(options?: HarnessOptions): Promise<Harness>;
  /** Copies the database. */
  backUp(name?: string): void;
  /** Puts a copy of the database back. */
  putBack(name?: string): void;
  /** Changes a row in the stopped service's database; returns the row before. */
  alter(table: string, change: { readonly set: string; readonly where: string }): Row;
  removeLock(): void;
  keepLock(): void;
  putLockBack(): void;
}

function withDeployment(test: (deployment: Deployment) => Promise<void>): () => Promise<void> {
  return async () => {
    const directory = await Deno.makeTempDir({ prefix: "jiss-restores-" });
    const [path, lockPath] = [`${directory}/jiss.db`, `${directory}/lock.db`];
    const replace = (from: string, to: string) => {
      for (const suffix of ["-wal", "-shm"]) {
        assert.throws(() => Deno.statSync(to + suffix), Deno.errors.NotFound, "nobody has it open");
      }
      Deno.copyFileSync(from, to);
    };
    let run = 0;
    try {
      await test({
        start(options = {}) {
          const startsAt = EPOCH + run * HOUR;
          // A service would record each pause between two runs, and these tests count entries.
          const clockRule = CLOCK_RULES.command;
          return openHarness({ path, lockPath, run: run++, startsAt, clockRule, ...options });
        },
        backUp: (name = "backup") => replace(path, `${directory}/${name}`),
        putBack: (name = "backup") => replace(`${directory}/${name}`, path),
        alter(table, { set, where }) {
          using file = new DatabaseSync(path);
          // This trigger only protects the service from its own mistakes.
          file.exec("DROP TRIGGER audit_checkpoint_stays");
          const row = { ...file.prepare(`SELECT * FROM ${table} WHERE ${where}`).get() };
          assert.equal(file.prepare(`UPDATE ${table} SET ${set} WHERE ${where}`).run().changes, 1);
          return row;
        },
        removeLock: () => Deno.removeSync(lockPath),
        keepLock: () => replace(lockPath, `${directory}/lock-kept`),
        putLockBack: () => replace(`${directory}/lock-kept`, lockPath),
      });
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  };
}

async function ask({ send }: Pick<Harness, "send">, path: string, request: RequestOptions): Promise<Answer> {
  const answer = await send(path, request);
  assert.equal(answer.status, 200, `${path}: ${answer.text}`);
  return answer;
}

const unlabelled = (session: string, operator = "operator-1") =>
  scoreRequest({ session_id: session, operator_id: operator }, { outcome_correct: null });

async function score(harness: Harness, key: string, session: string, operator?: string): Promise<Json> {
  return (await ask(harness, "/v1/score", { key, body: unlabelled(session, operator) })).body;
}

const decisionOf = (id: string) => ({
  decision_id: id,
  operator_id: "operator-1",
  domain: "general",
  time_to_decision_ms: 5000,
  decision: "accepted",
});

const batchOf = (name: string) => ({
  operator_id: "operator-2",
  domain: "general",
  interactions: ["a", "b"].map((suffix) => ({
    session_id: `${name}-${suffix}`,
    time_to_decision_ms: 5000,
    decision: "accepted",
  })),
});

const REPORT = "/v1/compliance/report?period_start=2026-11-19&period_end=2026-11-20";

const acknowledge = ({ dependencies, clock }: Harness, reason = REASON) =>
  acknowledgeRestore(dependencies, { reason, now: clock.now() });

const ACME: OrganizationCaller = { actor: "api", orgId: "acme", prefix: null };

async function erase({ dependencies, clock }: Harness, operatorId: string): Promise<void> {
  const call = { now: clock.now(), requestId: dependencies.world.ulid(clock.now()) };
  await eraseOperator(dependencies, ACME, { operatorId, call });
}

/** `<chain> <size>` of every chain, in the order of their names. */
async function sizesOf({ database }: Pick<Harness, "database">): Promise<readonly string[]> {
  const rows = await rowsOf(database, "SELECT chain, size FROM audit_chain ORDER BY chain");
  return rows.map(({ chain, size }) => `${chain} ${size}`);
}

/** The first entry of a chain: its event and its detail. */
async function genesisOf(database: Database, chain: string): Promise<Json> {
  const [row] = await rowsOf(
    database,
    `SELECT event_type, ts, data FROM audit_entry JOIN audit_part USING (chain, seq)
      WHERE chain = '${chain}' AND seq = 0`,
  );
  return { event_type: row!.event_type, ts: row!.ts, ...JSON.parse(String(row!.data)) };
}

const pseudonymOf = async (database: Database, operatorId: string) => {
  const [row] = await rowsOf(database, `SELECT pseudonym FROM subject WHERE operator_id = '${operatorId}'`);
  return row?.pseudonym;
};

async function isRefused({ send }: Harness, path: string, request: RequestOptions): Promise<void> {
  const { status, body, headers } = await send(path, request);
  assert.deepEqual([status, body?.error.code], [503, "SERVICE_UNAVAILABLE"], path);
  assert.ok(body.error.message.includes("`jiss restore --acknowledge REASON`"), path);
  assert.equal(headers.get("Retry-After"), "60", path);
}

/** The log's reports of chains that are behind. */
function noticedBy({ log }: Harness): readonly unknown[] {
  return log.filter(({ msg }) => String(msg).startsWith("ROLLBACK_DETECTED")).map((
    { level, chain, issued_size, size },
  ) => `${level} ${chain} ${issued_size} ${size}`);
}

/**
 * Makes a day's history, a backup of it, and more that the backup does not have; then puts the backup back.
 */
async function lostWrites({ start, backUp, putBack }: Deployment) {
  const first = await start();
  const key = await first.organization("acme");
  const other = await first.organization("other");
  const old = await score(first, key, "old");
  await score(first, other, "old");
  await ask(first, "/v1/score/batch", { key, body: batchOf("old") });
  await ask(first, "/v1/decision/score", { key, body: decisionOf("old-decision") });
  const { report } = (await ask(first, REPORT, { key })).body;
  await first.close();
  backUp();
  const second = await start();
  const lost = await score(second, key, "lost");
  await anchorChains(second.dependencies, second.clock.now());
  await second.close();
  putBack();
  return { key, other, old, lost, reportId: report.report_id as string };
}

// ---- detection --------------------------------------------------------------------------------------------

Deno.test(
  "a database that was put back is noticed at the start: writes and figures of all operators are 503, other reads are answered, and nothing is written",
  withDeployment(async (deployment) => {
    const { key, other, reportId } = await lostWrites(deployment);
    const third = await deployment.start();
    assert.deepEqual(noticedBy(third), ["error org/acme 7 6", "error sys 2 1"]);
    const before = await third.rowCounts();
    const writes: readonly (readonly [path: string, request: RequestOptions])[] = [
      ["/v1/score", { key, body: unlabelled("new") }],
      ["/v1/score", { key, body: unlabelled("lost") }],
      ["/v1/score?mode_override=incident_frozen", { key, body: unlabelled("new") }],
      ["/v1/score/batch", { key, body: batchOf("new") }],
      ["/v1/score/old/commit", { key, body: {} }],
      ["/v1/decision/score", { key, body: decisionOf("new") }],
      // An organization whose chains are whole in the backup.
      ["/v1/score", { key: other, body: unlabelled("new") }],
      ["/v1/admin/org/create", {
        key: MASTER_KEY,
        headers: { "Idempotency-Key": "create-new" },
        body: organizationRequest({ org_id: "new" }),
      }],
    ];
    for (const [path, request] of writes) await isRefused(third, path, request);
    for (
      const path of [
        "/v1/decision/replay/old",
        "/v1/decision/replay/old-decision",
        `/v1/compliance/report/${reportId}`,
        "/v1/operator/operator-1/profile",
        "/v1/organization/operators",
      ]
    ) await ask(third, path, { key });
    // Operators may be missing in an older state, which does not show.
    for (const path of ["/v1/organization/dashboard", "/v1/compliance/article14"]) {
      await isRefused(third, path, { key });
    }
    assert.deepEqual(await third.rowCounts(), before);
    await third.close();

    const again = await deployment.start();
    assert.equal(noticedBy(again).length, 2, "it is noticed as long as it is not acknowledged");
    await isRefused(again, "/v1/score", { key, body: unlabelled("new") });
    await again.close();
  }),
);

Deno.test(
  "a verification finds a database that was put back, until its restore is acknowledged",
  withDeployment(async (deployment) => {
    const { key, other } = await lostWrites(deployment);
    const third = await deployment.start();
    const before = await third.rowCounts();
    const { body } = await ask(third, "/v1/audit/chain/verify", { key });
    assert.deepEqual(
      [body.valid, body.code, body.first_bad, body.entries_checked],
      [false, "ROLLBACK_VS_KNOWN_CHECKPOINT", 6, 6],
    );
    assert.deepEqual(
      body.findings.map(({ chain, seq, detail }: Json) => [chain, seq, detail]),
      [["org/acme", 6, "you hold a signed checkpoint of size 7, bundle ends at 6"]],
    );
    assert.equal((await ask(third, "/v1/audit/chain/verify", { key: other })).body.valid, true);
    assert.deepEqual(await third.rowCounts(), before);
    await acknowledge(third);
    const { body: after } = await ask(third, "/v1/audit/chain/verify", { key });
    assert.deepEqual([after.valid, after.findings, after.entries_checked], [true, [], 7]);
    await third.close();
  }),
);

for (
  const [what, table, set, where] of [
    ["a chain's head that is behind the issued checkpoint", "audit_chain", "size = 2", "chain = 'org/acme'"],
    [
      "a chain's tree that differs from the issued checkpoint",
      "audit_node",
      "hash = zeroblob(32)",
      "chain = 'org/acme' AND idx = 2",
    ],
  ] as const
) {
  Deno.test(
    `${what} is noticed at the start, and nothing is signed over it`,
    withDeployment(async ({ start, alter }) => {
      const first = await start();
      const key = await first.organization("acme");
      const other = await first.organization("other");
      await score(first, key, "one");
      await score(first, key, "two");
      await first.close();
      const row = alter(table, { set, where });

      const second = await start();
      const size = table === "audit_chain" ? 2 : 3;
      assert.deepEqual(noticedBy(second), [`error org/acme 3 ${size}`]);
      const before = await second.rowCounts();
      await isRefused(second, "/v1/score", { key, body: unlabelled("three") });
      await isRefused(second, "/v1/score", { key: other, body: unlabelled("one") });
      await assert.rejects(anchorChains(second.dependencies, second.clock.now()), { status: 503 });
      assert.deepEqual(await second.rowCounts(), before);
      const issued = second.dependencies.lock.issued().map(({ family, size }) => `${family} ${size}`);
      assert.deepEqual(issued, [
        "org/acme 3",
        "org/acme/admin 2",
        "org/other 1",
        "org/other/admin 2",
        "sys 1",
      ]);
      const column = table === "audit_chain" ? "size" : "hash";
      await second.database.batch([
        { sql: `UPDATE ${table} SET ${column} = ? WHERE ${where}`, parameters: [row[column]] },
      ]);
      await second.close();

      const third = await start();
      assert.deepEqual(noticedBy(third), []);
      assert.equal((await score(third, key, "three")).evidence.entry.seq, 3);
      await third.close();
    }),
  );
}

/** The sizes of the earlier epochs of evidence chains, as the first entries of the next ones state them. */
async function restoredSizes({ database }: Harness): Promise<readonly string[]> {
  const rows = await rowsOf(
    database,
    "SELECT chain, data ->> '$.restored_size' AS size FROM audit_part WHERE seq = 0 AND chain GLOB 'org/*/e2'",
  );
  return rows.map(({ chain, size }) => `${chain} ${size}`).filter((line) => !line.includes("/admin/")).sort();
}

/** Alterations of the data from which a chain continues; its size is 3. */
const UNSIGNED_HEADS = {
  "another hash of the last entry": ["audit_chain", "head = zeroblob(32)", "chain = 'org/acme'"],
  "another tree": ["audit_chain", "peaks = zeroblob(64)", "chain = 'org/acme'"],
  "no tree": ["audit_chain", "peaks = x'0011'", "chain = 'org/acme'"],
  "another size": ["audit_chain", "size = 4", "chain = 'org/acme'"],
  "a later instant": ["audit_chain", "last_ts = '2999-01-01T00:00:00.000Z'", "chain = 'org/acme'"],
  "a checkpoint of another size": ["audit_checkpoint", "size = 9", "chain = 'org/acme' AND size = 3"],
  "an altered last entry": ["audit_node", "hash = zeroblob(32)", "chain = 'org/acme' AND idx = 3"],
} as const;

for (const [what, [table, set, where]] of Object.entries(UNSIGNED_HEADS)) {
  Deno.test(
    `nothing is signed over ${what}: a start notices it with and without the lock, and a running writer does`,
    withDeployment(async ({ start, alter, removeLock, backUp, putBack }) => {
      const first = await start();
      const key = await first.organization("acme");
      const other = await first.organization("other");
      await score(first, key, "one");
      await score(first, key, "two");
      await first.close();
      backUp("whole");
      alter(table, { set, where });

      const noticing = await start();
      assert.deepEqual(noticedBy(noticing).map((line) => String(line).split(" ").slice(0, 2).join(" ")), [
        "error org/acme",
      ]);
      await isRefused(noticing, "/v1/score", { key: other, body: unlabelled("one") });
      await noticing.abandon();

      backUp();
      const mended = await start();
      await acknowledge(mended);
      const { entry } = (await score(mended, key, "three")).evidence;
      assert.deepEqual([entry.chain, entry.seq], ["org/acme/e2", 1]);
      assert.deepEqual(await restoredSizes(mended), ["org/acme/e2 3", "org/other/e2 1"]);
      await mended.abandon();
      putBack();

      removeLock();
      const unaware = await start();
      assert.equal(noticedBy(unaware).length, 1);
      const before = await unaware.rowCounts();
      for (const one of [key, other]) {
        await isRefused(unaware, "/v1/score", { key: one, body: unlabelled("x") });
      }
      assert.deepEqual(await unaware.rowCounts(), before);
      await acknowledge(unaware);
      assert.equal((await score(unaware, key, "three")).evidence.entry.chain, "org/acme/e2");
      await unaware.abandon();
      putBack("whole");
      removeLock();

      const running = await start();
      assert.deepEqual(noticedBy(running), []);
      assert.equal((await score(running, other, "one")).evidence.entry.seq, 1);
      alter(table, { set, where });
      await isRefused(running, "/v1/score", { key, body: unlabelled("three") });
      assert.equal((await score(running, other, "two")).evidence.entry.seq, 2);
      await running.abandon();
    }),
  );
}

Deno.test(
  "the newer database, put back afterwards, continues as before",
  withDeployment(async (deployment) => {
    const { start, backUp, putBack } = deployment;
    const first = await start();
    const key = await first.organization("acme");
    await first.close();
    backUp("older");
    const second = await start();
    await score(second, key, "second");
    await second.close();
    backUp("newer");
    putBack("older");
    const third = await start();
    await isRefused(third, "/v1/score", { key, body: unlabelled("third") });
    await third.close();
    putBack("newer");
    const fourth = await start();
    assert.deepEqual(noticedBy(fourth), []);
    await score(fourth, key, "third");
    assert.deepEqual(await sizesOf(fourth), ["org/acme 3", "org/acme/admin 2", "sys 1"]);
    await fourth.close();
  }),
);

Deno.test(
  "another history is noticed even if it is longer, and is not continued",
  withDeployment(async (deployment) => {
    const { start, backUp, putBack, keepLock, putLockBack, removeLock } = deployment;
    const first = await start();
    const key = await first.organization("acme");
    await first.close();
    backUp();
    const second = await start();
    await score(second, key, "one");
    await second.close();
    keepLock();
    // Without its lock the copy is continued: a fork.
    putBack();
    removeLock();
    const third = await start();
    assert.deepEqual(noticedBy(third), []);
    for (const session of ["other", "and", "longer"]) await score(third, key, session);
    await third.close();
    putLockBack();
    const fourth = await start();
    assert.deepEqual(noticedBy(fourth), ["error org/acme 2 4"]);
    await isRefused(fourth, "/v1/score", { key, body: unlabelled("more") });
    await acknowledge(fourth);
    const { evidence } = await score(fourth, key, "more");
    assert.equal(evidence.entry.chain, "org/acme/e2");
    await fourth.close();
  }),
);

Deno.test(
  "a lock that lags is updated from the database, and a missing one is made anew",
  withDeployment(async ({ start, removeLock, keepLock, putLockBack }) => {
    const first = await start();
    const key = await first.organization("acme");
    await first.close();
    keepLock();
    const second = await start();
    await score(second, key, "second");
    const issued = second.dependencies.lock.issued().map((row) => ({ ...row }));
    await second.close();
    putLockBack();
    const third = await start();
    assert.deepEqual(noticedBy(third), []);
    assert.deepEqual(third.dependencies.lock.issued().map((row) => ({ ...row })), issued);
    await third.close();
    removeLock();
    const fourth = await start();
    assert.deepEqual(noticedBy(fourth), []);
    assert.deepEqual(fourth.dependencies.lock.issued().map((row) => ({ ...row })), issued);
    await score(fourth, key, "fourth");
    await fourth.close();
  }),
);

Deno.test(
  "writes of a service while the database is compared with the lock do not look like a restore",
  withDeployment(async ({ start }) => {
    const first = await start();
    const key = await first.organization("acme");
    let sessions = 0;
    const database = writingAfterReads(first.database, async () => {
      sessions += 1;
      if (sessions <= 3) await score(first, key, `session-${sessions}`);
    });
    assert.deepEqual(await compareWithLock({ ...first.dependencies, database }), []);
    assert.ok(sessions >= 3);
    const [issued] = first.dependencies.lock.issued();
    assert.deepEqual([issued!.family, issued!.size], ["org/acme", 4]);
    assert.equal(issued!.note.split("\n")[1], "4");
    await score(first, key, "after");
    await first.close();
  }),
);

// ---- a lock of another deployment -------------------------------------------------------------------------

const isStrangeLock = (error: unknown) =>
  error instanceof StartError &&
  error.message.startsWith("lock.db in JISS_DATA_DIR belongs to another database");

Deno.test(
  "the lock of another deployment is refused: beside its database, beside one of a later epoch, and beside none",
  withDeployment(async (deployment) => {
    const { key } = await lostWrites(deployment);
    const restored = await deployment.start();
    await acknowledge(restored);
    await score(restored, key, "new");
    await restored.close();
    const directory = await Deno.makeTempDir({ prefix: "jiss-restores-other-" });
    const other = { path: `${directory}/jiss.db`, lockPath: `${directory}/lock.db` };
    // Its ids begin elsewhere, so that it is another deployment.
    const foreign = await openHarness({ ...other, run: 500 });
    await foreign.organization("acme");
    await foreign.close();
    const unchanged = Deno.readFileSync(other.path);
    await assert.rejects(deployment.start({ lockPath: other.lockPath }), isStrangeLock, "an earlier epoch");
    await assert.rejects(deployment.start({ path: other.path }), isStrangeLock, "a later epoch");
    assert.deepEqual(Deno.readFileSync(other.path), unchanged);
    await assert.rejects(deployment.start({ path: `${directory}/new.db` }), isStrangeLock, "no database yet");
    await Deno.remove(directory, { recursive: true });
  }),
);

// ---- continuing after a restore ---------------------------------------------------------------------------

Deno.test(
  "without an older state there is nothing to acknowledge",
  withDeployment(async ({ start }) => {
    const first = await start();
    await first.organization("acme");
    const before = await first.rowCounts();
    await assert.rejects(acknowledge(first), { code: "CONFLICT" });
    assert.deepEqual(await first.rowCounts(), before);
    await first.close();
  }),
);

Deno.test(
  "an acknowledged restore begins the next epoch of every chain, whose first entry says why and from which size",
  withDeployment(async (deployment) => {
    await lostWrites(deployment);
    const third = await deployment.start();
    const { database, dependencies: { lock } } = third;
    const issued = new Map(lock.issued().map(({ family, note }) => [family, note]));
    const record = await acknowledge(third);
    assert.deepEqual(record, { chains: 5, erased: [], lost: [] });
    assert.deepEqual(await sizesOf(third), [
      "org/acme 6",
      "org/acme/admin 2",
      "org/acme/admin/e2 1",
      "org/acme/e2 1",
      "org/other 2",
      "org/other/admin 2",
      "org/other/admin/e2 1",
      "org/other/e2 1",
      "sys 1",
      "sys/e2 1",
    ]);
    for (
      const [family, size, days] of [
        ["org/acme", 6, null],
        ["org/acme/admin", 2, 90],
        ["org/other", 2, null],
        ["org/other/admin", 2, 90],
        ["sys", 1, null],
      ] as const
    ) {
      const { restored_root, vkey, ...genesis } = await genesisOf(database, `${family}/e2`);
      assert.match(restored_root, /^[0-9a-f]{64}$/);
      assert.ok(vkey.startsWith(`${ORIGIN}${family}/e2+`));
      assert.deepEqual(genesis, {
        event_type: family === "sys" ? "CHAIN_RESTORED" : "CHAIN_GENESIS",
        ts: "2026-11-20T11:00:00.000Z",
        deployment: "01TEST00000000000000000000",
        origin: `${ORIGIN}${family}/e2`,
        retention_days: days,
        previous_origin: `${ORIGIN}${family}`,
        last_known_checkpoint: issued.get(family),
        restored_size: size,
        reason: REASON,
        ...(family === "sys" ? { erased: [], lost: [] } : {}),
      });
    }
    assert.deepEqual(
      lock.issued().map(({ family, epoch, size }) => [family, epoch, size]),
      [...issued.keys()].map((family) => [family, 2, 1]),
    );
    await assert.rejects(acknowledge(third), { code: "CONFLICT" });
    await third.close();
  }),
);

Deno.test(
  "after a restore old records are answered as before, lost ones can be sent again, and all chains continue",
  withDeployment(async (deployment) => {
    const { key, old, lost, reportId } = await lostWrites(deployment);
    const third = await deployment.start();
    await acknowledge(third);
    // Earlier answers are from the earlier epoch.
    assert.deepEqual((await ask(third, "/v1/score", { key, body: unlabelled("old") })).body, old);
    await ask(third, "/v1/score/batch", { key, body: batchOf("old") });
    await ask(third, "/v1/decision/score", { key, body: decisionOf("old-decision") });
    const { report } = (await ask(third, REPORT, { key })).body;
    assert.equal(report.report_id, reportId);
    const replayed = await ask(third, "/v1/decision/replay/old", { key });
    assert.deepEqual([replayed.body.match, replayed.body.evidence.entry.chain], [true, "org/acme"]);

    // A lost score is scored anew, in the new epoch.
    const anew = (await ask(third, "/v1/score", { key, body: unlabelled("lost") })).body;
    assert.deepEqual([anew.evidence.entry.chain, anew.evidence.entry.seq, anew.jis], [
      "org/acme/e2",
      1,
      lost.jis,
    ]);
    assert.notDeepEqual(anew.evidence, lost.evidence);

    // A commit and a late label of an old score are in the new epoch, and so are all new records.
    const committed =
      (await ask(third, "/v1/score/old/commit", { key, body: { outcome_correct: true } })).body;
    assert.equal(committed.evidence.entry.chain, "org/acme/e2");
    assert.deepEqual(
      (await ask(third, "/v1/score/old/commit", { key, body: { outcome_correct: true } })).body,
      committed,
    );
    await ask(third, "/v1/score/batch", { key, body: batchOf("new") });
    await ask(third, "/v1/score/batch", { key, body: batchOf("new") });
    await ask(third, "/v1/decision/score", { key, body: decisionOf("new-decision") });
    const next = "/v1/compliance/report?period_start=2026-11-20&period_end=2026-11-21";
    const issued = (await ask(third, next, { key })).body;
    assert.deepEqual((await ask(third, next, { key })).body.report, issued.report);
    for (const id of ["old", "old-a", "old-decision", "lost", "new-b", "new-decision"]) {
      const { match, label, evidence } = (await ask(third, `/v1/decision/replay/${id}`, { key })).body;
      assert.equal(match, true, id);
      assert.equal(label?.outcome_correct ?? null, id === "old" ? true : null, id);
      assert.equal(evidence.entry.chain, id.startsWith("old") ? "org/acme" : "org/acme/e2", id);
    }
    // Positions continue over both epochs.
    assert.deepEqual(
      await rowsOf(
        third.database,
        "SELECT session_id, position FROM interaction WHERE org_id = 'acme' ORDER BY position",
      ),
      [
        { session_id: "old", position: 1 },
        { session_id: "old-a", position: 2 },
        { session_id: "old-b", position: 3 },
        { session_id: "lost", position: 7 },
        { session_id: "new-a", position: 10 },
        { session_id: "new-b", position: 11 },
      ],
    );
    const { profile } = (await ask(third, "/v1/operator/operator-1/profile", { key })).body;
    assert.equal(profile.total_interactions, 2);
    await anchorChains(third.dependencies, third.clock.now());
    await third.close();

    const fourth = await deployment.start();
    assert.deepEqual(noticedBy(fourth), []);
    await score(fourth, key, "later");
    await fourth.close();
  }),
);

Deno.test(
  "a service that runs beside the acknowledgement accepts writes again by itself",
  withDeployment(async (deployment) => {
    const { key, other } = await lostWrites(deployment);
    const service = await deployment.start();
    await isRefused(service, "/v1/score", { key, body: unlabelled("new") });
    const command = await deployment.start();
    await acknowledge(command);
    await score(service, key, "new");
    await score(service, other, "new");
    await command.close();
    await service.close();
  }),
);

Deno.test(
  "a restore after a restore begins the next epoch",
  withDeployment(async (deployment) => {
    const { key } = await lostWrites(deployment);
    const third = await deployment.start();
    await acknowledge(third);
    await score(third, key, "in-e2");
    await third.close();
    deployment.backUp("of-e2");
    const fourth = await deployment.start();
    await score(fourth, key, "lost-again");
    await fourth.close();
    deployment.putBack("of-e2");
    const fifth = await deployment.start();
    assert.deepEqual(noticedBy(fifth), ["error org/acme 3 2"]);
    await acknowledge(fifth, "again");
    const { evidence } = await score(fifth, key, "in-e3");
    assert.deepEqual([evidence.entry.chain, evidence.entry.seq], ["org/acme/e3", 1]);
    const { previous_origin, restored_size } = await genesisOf(fifth.database, "org/acme/e3");
    assert.deepEqual([previous_origin, restored_size], [`${ORIGIN}org/acme/e2`, 2]);
    for (const id of ["old", "in-e2", "in-e3"]) {
      assert.equal((await ask(fifth, `/v1/decision/replay/${id}`, { key })).body.match, true, id);
    }
    await fifth.close();

    // The first backup has none of the later epochs. The next one gets a number after all of them.
    deployment.putBack();
    const sixth = await deployment.start();
    await acknowledge(sixth, "from far back");
    const last = await score(sixth, key, "in-e4");
    assert.equal(last.evidence.entry.chain, "org/acme/e4");
    const genesis = await genesisOf(sixth.database, "org/acme/e4");
    assert.deepEqual([genesis.previous_origin, genesis.restored_size], [`${ORIGIN}org/acme`, 6]);
    await sixth.close();
  }),
);

Deno.test(
  "chains of an organization that is not in the database continue in their next epoch, and it can be created again",
  withDeployment(async ({ start, backUp, putBack }) => {
    const first = await start();
    await first.organization("acme");
    await first.close();
    backUp();
    const second = await start();
    const gone = await second.organization("lost");
    await score(second, gone, "gone");
    const issued = new Map(second.dependencies.lock.issued().map(({ origin, note }) => [origin, note]));
    await second.close();
    putBack();
    const third = await start();
    assert.deepEqual(noticedBy(third), ["error org/lost 2 0", "error org/lost/admin 2 0"]);
    const lost = [`${ORIGIN}org/lost`, `${ORIGIN}org/lost/admin`];
    assert.deepEqual(await acknowledge(third), { chains: 5, erased: [], lost });
    const record = await genesisOf(third.database, "sys/e2");
    assert.deepEqual(record.lost, lost.map((origin) => ({ origin, checkpoint: issued.get(origin) })));
    const { previous_origin, restored_size, restored_root, last_known_checkpoint } = await genesisOf(
      third.database,
      "org/lost/e2",
    );
    assert.deepEqual([previous_origin, restored_size, restored_root, last_known_checkpoint], [
      lost[0],
      0,
      null,
      issued.get(lost[0]!),
    ]);
    assert.equal((await third.send("/v1/decision/replay/gone", { key: gone })).status, 401);
    const key = await third.organization("lost");
    const { evidence } = await score(third, key, "gone");
    assert.deepEqual([evidence.entry.chain, evidence.entry.seq], ["org/lost/e2", 1]);
    const events = await rowsOf(
      third.database,
      "SELECT event_type FROM audit_entry WHERE chain = 'org/lost/admin/e2' ORDER BY seq",
    );
    assert.deepEqual(events.map(({ event_type }) => event_type), ["CHAIN_GENESIS", "ORG_CREATED"]);
    await third.close();
  }),
);

Deno.test(
  "a change of the retention is recorded in chains of which a restore left nothing else, so that they can be pruned by it",
  withDeployment(async ({ start, backUp, putBack }) => {
    await (await start()).close();
    backUp();
    const second = await start();
    await second.organization("lost");
    await second.close();
    putBack();
    const third = await start();
    await acknowledge(third);
    await third.close();
    const fourth = await start({ evidenceRetentionDays: 30, auditRetentionDays: 60 });
    const recorded = await rowsOf(
      fourth.database,
      `SELECT chain, data ->> '$.policy' AS policy FROM audit_entry JOIN audit_part USING (chain, seq)
        WHERE event_type = 'RETENTION_POLICY' ORDER BY chain, policy`,
    );
    assert.deepEqual(recorded.map(({ chain, policy }) => `${chain} ${policy}`), [
      "org/lost/admin/e2 audit_log",
      "org/lost/e2 evidence",
      "sys/e2 audit_log",
      "sys/e2 evidence",
    ]);
    await fourth.close();
  }),
);

Deno.test(
  "a rotation after a restore counts sizes over the system chain's epochs",
  withDeployment(async (deployment) => {
    const { key } = await lostWrites(deployment);
    const third = await deployment.start();
    await acknowledge(third);
    await third.rotateSigningKey(SECOND);
    await score(third, key, "new");
    const rows = await rowsOf(third.database, "SELECT ordinal, from_size, until_size FROM signing_key");
    // One entry before the restore, the record of the restore, and the rotation.
    assert.deepEqual(rows, [
      { ordinal: 1, from_size: 0, until_size: null },
      { ordinal: 2, from_size: 3, until_size: null },
    ]);
    await third.close();
  }),
);

Deno.test(
  "a database from before a rotation continues with the old key, and the next start adds the new one",
  withDeployment(async ({ start, backUp, putBack }) => {
    const first = await start();
    const key = await first.organization("acme");
    await first.close();
    backUp();
    const second = await start();
    await second.rotateSigningKey(SECOND);
    await score(second, key, "lost");
    await second.close();
    putBack();
    const third = await start({ signers: [SECOND, FIRST] });
    assert.deepEqual(noticedBy(third), ["error org/acme 3 1", "error sys 2 1"]);
    await isRefused(third, "/v1/score", { key, body: unlabelled("new") });
    await acknowledge(third);
    await score(third, key, "new");
    await third.close();
    const fourth = await start({ signers: [SECOND, FIRST] });
    await score(fourth, key, "newer");
    const own = await rowsOf(
      fourth.database,
      "SELECT chain, key_ordinal FROM audit_chain WHERE chain LIKE '%e2' ORDER BY chain",
    );
    assert.deepEqual(own, [
      { chain: "org/acme/admin/e2", key_ordinal: 1 },
      { chain: "org/acme/e2", key_ordinal: 2 },
      { chain: "sys/e2", key_ordinal: 2 },
    ]);
    await fourth.close();
  }),
);

Deno.test(
  "a restore that cannot be written changes nothing, and the next attempt completes it",
  withDeployment(async (deployment) => {
    const { key } = await lostWrites(deployment);
    let isBroken = true;
    const third = await deployment.start({
      wrap: (database) => ({
        ...database,
        batch: (statements) => isBroken ? Promise.reject(new Error("killed")) : database.batch(statements),
      }),
    });
    const before = await third.rowCounts();
    await assert.rejects(acknowledge(third), /killed/);
    assert.deepEqual(await third.rowCounts(), before);
    isBroken = false;
    await isRefused(third, "/v1/score", { key, body: unlabelled("new") });
    await acknowledge(third);
    await score(third, key, "new");
    await third.close();
  }),
);

// ---- erasures ---------------------------------------------------------------------------------------------

Deno.test(
  "erasures that the database does not have are repeated and listed, and those that it has are not",
  withDeployment(async ({ start, backUp, putBack }) => {
    const first = await start();
    const key = await first.organization("acme");
    for (const operator of ["stays", "erased-before", "erased-after", "returned", "returned-and-left"]) {
      await score(first, key, `${operator}-1`, operator);
    }
    await erase(first, "erased-before");
    await erase(first, "returned");
    await erase(first, "returned-and-left");
    first.clock.advance(1);
    await score(first, key, "returned-2", "returned");
    await score(first, key, "returned-and-left-2", "returned-and-left");
    await first.close();
    backUp();
    const second = await start();
    await erase(second, "erased-after");
    await erase(second, "returned-and-left");
    await second.close();
    putBack();

    const third = await start();
    const { database } = third;
    const pseudonyms = [
      await pseudonymOf(database, "erased-after"),
      await pseudonymOf(database, "returned-and-left"),
    ];
    assert.ok(pseudonyms.every((pseudonym) => pseudonym !== undefined), "they are here again");
    const { erased } = await acknowledge(third);
    assert.deepEqual(erased.toSorted(), pseudonyms.toSorted());
    assert.deepEqual((await genesisOf(database, "sys/e2")).erased, erased);
    const operators = await rowsOf(database, "SELECT operator_id FROM subject ORDER BY operator_id");
    assert.deepEqual(operators.map(({ operator_id }) => operator_id), ["returned", "stays"]);
    for (
      const [id, status] of [
        ["stays-1", 200],
        ["returned-2", 200],
        ["returned-1", 410],
        ["erased-before-1", 410],
        ["erased-after-1", 410],
        ["returned-and-left-1", 410],
        ["returned-and-left-2", 410],
      ] as const
    ) {
      const { status: replayed, body } = await third.send(`/v1/decision/replay/${id}`, { key });
      assert.deepEqual([id, replayed, body.error?.details?.reason], [
        id,
        status,
        status === 410 ? "erased" : undefined,
      ]);
    }
    const recorded = await rowsOf(
      database,
      `SELECT chain, event_type, subject, data ->> '$.basis' AS basis FROM audit_entry JOIN audit_part USING (chain, seq)
        WHERE event_type LIKE '%ERASED' AND chain LIKE '%/e2' ORDER BY chain, seq`,
    );
    assert.deepEqual(recorded.map(({ chain, event_type, basis }) => `${chain} ${event_type} ${basis}`), [
      "org/acme/admin/e2 OPERATOR_ERASED restore",
      "org/acme/admin/e2 OPERATOR_ERASED restore",
      "org/acme/e2 SUBJECT_ERASED restore",
      "org/acme/e2 SUBJECT_ERASED restore",
    ]);
    await score(third, key, "stays-2", "stays");
    await score(third, key, "anew", "erased-after");
    await third.close();
  }),
);

Deno.test(
  "a restore does not erase an operator who returned after an erasure whose entry was pruned",
  withDeployment(async ({ start, backUp, putBack }) => {
    const kept = { evidenceRetentionDays: 30 };
    const first = await start(kept);
    const key = await first.organization("acme");
    await score(first, key, "before", "returned");
    await erase(first, "returned");
    first.clock.advance(DAY);
    await score(first, key, "after", "returned");
    first.clock.advance(29 * DAY + HOUR);
    await pruneChains(first.dependencies, first.clock.now());
    assert.deepEqual(
      await rowsOf(first.database, "SELECT seq FROM audit_entry WHERE event_type = 'SUBJECT_ERASED'"),
      [],
    );
    await first.close();
    backUp();
    const second = await start({ ...kept, startsAt: EPOCH + 31 * DAY });
    await score(second, key, "lost", "returned");
    await second.close();
    putBack();
    const third = await start({ ...kept, startsAt: EPOCH + 32 * DAY });
    assert.deepEqual((await acknowledge(third)).erased, []);
    await score(third, key, "later", "returned");
    assert.equal((await ask(third, "/v1/decision/replay/after", { key })).body.match, true);
    assert.equal((await third.send("/v1/decision/replay/before", { key })).status, 410);
    await third.close();
  }),
);

Deno.test(
  "a removal within which the backup was taken is completed after the restore, in its own epoch",
  withDeployment(async ({ start, backUp, putBack }) => {
    const kept = { evidenceRetentionDays: 30 };
    const first = await start({
      ...kept,
      startsAt: EPOCH,
      wrap: (database) => ({
        ...database,
        batch: (statements) =>
          statements.some(({ sql }) => sql.startsWith('delete from "audit_entry"'))
            ? Promise.reject(new Error("killed"))
            : database.batch(statements),
      }),
    });
    const key = await first.organization("acme");
    await score(first, key, "old");
    first.clock.advance(40 * DAY);
    await assert.rejects(pruneChains(first.dependencies, first.clock.now()), /killed/);
    await first.close();
    backUp();
    const second = await start({ ...kept, startsAt: EPOCH + 40 * DAY });
    await score(second, key, "lost");
    await second.close();
    putBack();
    const third = await start({ ...kept, startsAt: EPOCH + 40 * DAY });
    await acknowledge(third);
    assert.equal((await third.send("/v1/decision/replay/old", { key })).status, 410);
    await pruneChains(third.dependencies, third.clock.now());
    assert.deepEqual(
      await rowsOf(
        third.database,
        "SELECT chain, min(seq) AS first FROM audit_entry WHERE chain LIKE 'org/acme%' GROUP BY chain",
      ),
      [
        { chain: "org/acme", first: 2 },
        { chain: "org/acme/admin", first: 0 },
        { chain: "org/acme/admin/e2", first: 0 },
        { chain: "org/acme/e2", first: 0 },
      ],
    );
    const { status, body } = await third.send("/v1/decision/replay/old", { key });
    assert.deepEqual([status, body.error.details.entry.seq], [410, 2]);
    await third.close();
  }),
);

Deno.test(
  "retention prunes the epoch before a restore: the new one records the cut, and both together verify",
  withDeployment(async (deployment) => {
    const { key } = await lostWrites(deployment);
    const kept = { evidenceRetentionDays: 30 };
    const third = await deployment.start({ startsAt: EPOCH + 59 * DAY });
    await acknowledge(third);
    await score(third, key, "in-e2");
    await ask(third, "/v1/score/batch", { key, body: batchOf("in-e2") });
    await third.close();
    const fourth = await deployment.start({ ...kept, startsAt: EPOCH + 60 * DAY });
    await pruneChains(fourth.dependencies, fourth.clock.now());
    assert.equal((await fourth.send("/v1/decision/replay/in-e2", { key })).status, 200);
    assert.equal((await fourth.send("/v1/decision/replay/old", { key })).status, 410);
    const again = await fourth.send("/v1/score/batch", { key, body: batchOf("old") });
    assert.deepEqual([again.status, again.body.error.details.reason], [410, "pruned"]);
    const { dependencies, clock } = fourth;
    const options = { parts: "all", retentionDays: 30, now: clock.now(), software: "test" } as const;
    const reports = async (family: string, skip: number) => {
      const text = await Array.fromAsync(bundleFile(dependencies, { ...options, family }));
      const lines = text.join("").split(/(?<=\n)(?=\{"base")/);
      const pins = [{ ...fourth.verifierKey(""), prefix: null, from: null, until: null }];
      const verifier = new BundleVerifier(nodeCrypto, { pins, known: [], expected: [], replay: true });
      verifier.push(new TextEncoder().encode(lines.slice(0, lines.length - skip).join("")));
      return verifier.end().map((
        { chain, entries, verdict, findings },
      ) => [chain, entries, verdict, findings.map(({ code }) => code)]);
    };
    assert.deepEqual(await reports("org/acme", 0), [
      ["org/acme", 0, "INTACT, UNANCHORED", ["PRUNED_PREFIX"]],
      ["org/acme/e2", 6, "INTACT, UNANCHORED", ["STATE_UNANCHORED"]],
    ]);
    assert.deepEqual(await reports("org/acme", 1), [
      ["org/acme", 0, "TAMPERED", ["PRUNED_PREFIX_UNPROVEN"]],
    ]);
    await fourth.close();
  }),
);

Deno.test(
  "a key that was rotated in lost time is the old one again, and can be rotated again",
  withDeployment(async ({ start, backUp, putBack }) => {
    const first = await start();
    const key = await first.organization("acme");
    await first.close();
    backUp();
    const second = await start();
    const apiKey = await rotate(second);
    await second.close();
    putBack();
    const third = await start();
    await acknowledge(third);
    assert.equal((await third.send("/v1/organization/dashboard", { key: apiKey })).status, 401);
    await score(third, key, "new");
    await rotate(third);
    assert.deepEqual(await sizesOf(third), [
      "org/acme 1",
      "org/acme/admin 2",
      "org/acme/admin/e2 2",
      "org/acme/e2 2",
      "sys 1",
      "sys/e2 1",
    ]);
    await third.close();
  }),
);

// ---- hosts with a lock each -------------------------------------------------------------------------------

Deno.test(
  "after a restore was acknowledged at one host every other host repeats its own erasures, and knows all issued checkpoints",
  withDeployment(async ({ start, backUp, putBack }) => {
    const directory = await Deno.makeTempDir({ prefix: "jiss-restores-" });
    const shared = { wrap: (database: Database): Database => ({ ...database, isShared: true }) };
    const other = { ...shared, lockPath: `${directory}/lock.db` };
    const first = await start(shared);
    const key = await first.organization("acme");
    await score(first, key, "kept-1", "kept");
    await score(first, key, "erased-1", "erased");
    await first.close();
    backUp();
    const beside = await start(other);
    await erase(beside, "erased");
    await beside.organization("beta");
    assert.equal(await followOtherHosts(beside.dependencies, { from: null, now: beside.clock.now() }), 1);
    await beside.close();
    const before = await start(shared);
    // This host learns of the other host's organization from the database.
    const families = () => before.dependencies.lock.issued().map(({ family }) => family);
    before.dependencies.lock.forgetErased(Infinity);
    await followOtherHosts(before.dependencies, { from: null, now: before.clock.now() });
    assert.ok(families().includes("org/beta"));
    await before.close();
    putBack();

    const here = await start(shared);
    const { lost, erased } = await acknowledge(here);
    assert.deepEqual(erased, [], "this host erased nobody");
    assert.equal(lost.length, 2, "both chains of beta");
    assert.equal(
      (await rowsOf(here.database, "SELECT * FROM subject WHERE operator_id = 'erased'")).length,
      1,
    );
    await here.close();
    const there = await start(other);
    const epoch = await followOtherHosts(there.dependencies, { from: null, now: there.clock.now() });
    assert.equal(epoch, 2);
    assert.equal(
      (await rowsOf(there.database, "SELECT * FROM subject WHERE operator_id = 'erased'")).length,
      0,
    );
    const { status } = await there.send("/v1/decision/replay/erased-1", { key });
    assert.equal(status, 410);
    const entries = await rowsOf(there.database, "SELECT count(*) AS n FROM audit_entry");
    assert.equal(await followOtherHosts(there.dependencies, { from: null, now: there.clock.now() }), 2);
    assert.deepEqual(await rowsOf(there.database, "SELECT count(*) AS n FROM audit_entry"), entries);
    await there.close();
    await Deno.remove(directory, { recursive: true });
  }),
);
