/**
 * A disk that answers with errors: strace injects each failing system call into the running program. Source:
 * contract, section 6.
 */
import assert from "node:assert/strict";
import { Acknowledged, assertChainsVerify, assertUnavailable, exitCodeOf, linesOf } from "../acknowledged.ts";
import { createOrganization, freshDeployment, type RunningService, startService } from "../program.ts";
import { straceIsMissing, tamperWith } from "../traced.ts";

interface Site {
  readonly service: RunningService;
  readonly env: Readonly<Record<string, string>>;
  readonly key: string;
  readonly acknowledged: Acknowledged;
  /** Makes the calls fail on these files; @returns a function that ends that. */
  failing(calls: string, ...names: readonly string[]): Promise<() => Promise<void>>;
}

function faultTest(name: string, test: (site: Site) => Promise<void>): void {
  Deno.test({
    name: `${name} [needs strace]`,
    ignore: straceIsMissing(),
    async fn() {
      const deployment = await freshDeployment();
      const env: Record<string, string> = { ...deployment.env, JISS_METRICS_ADDR: "127.0.0.1:0" };
      const data = env.JISS_DATA_DIR!;
      const service = await startService(["serve"], { env });
      const key = await createOrganization(service, env);
      const acknowledged = new Acknowledged(key);
      for (let count = 0; count < 5; count += 1) await acknowledged.score(service);
      await test({
        service,
        env,
        key,
        acknowledged,
        async failing(calls, ...names) {
          const files = names.map((end) => `${data}/${end}`);
          const { end } = await tamperWith(service.pid, { inject: `${calls}:error=EIO`, files });
          return end;
        },
      });
      await deployment.remove();
    },
  });
}

/**
 * Starts the service again, as its supervisor would: what was acknowledged is there, and new scores are
 * accepted.
 */
async function assertRecovers({ env, acknowledged }: Site): Promise<void> {
  const service = await startService(["serve"], { env });
  await acknowledged.assertKept(service);
  assert.equal((await acknowledged.score(service)).status, 200);
  assert.equal(await service.stop(), 0);
  await assertChainsVerify(env.JISS_DATA_DIR!);
}

for (
  const [what, calls, names, message] of [
    [
      "sync of the write-ahead log",
      "fsync,fdatasync",
      ["jiss.db-wal"],
      "disk I/O error (SQLite's result code 1034)",
    ],
    [
      "write to the write-ahead log",
      "pwrite64",
      ["jiss.db-wal"],
      "disk I/O error (SQLite's result code 778)",
    ],
    // SQLite's message for a sector that cannot be read.
    [
      "read of the database",
      "pread64",
      ["jiss.db", "jiss.db-wal"],
      "database disk image is malformed (SQLite's result code 11)",
    ],
  ] as const
) {
  faultTest(
    `a failed ${what} ends the service with 74: no write is falsely acknowledged, the log says why, and the next start has all`,
    async (site) => {
      const { service, acknowledged } = site;
      const end = await site.failing(calls, ...names);
      const refused = await acknowledged.scoreUntilRefused(service);
      for (const answer of refused) assertUnavailable(answer);
      assert.ok(refused.length > 0, "it is answered, not cut off");
      const exitCode = await exitCodeOf(service);
      await end();
      assert.equal(exitCode, 74);
      assert.equal(service.errors(), "");
      const lines = linesOf(
        service,
        "storage failed: stopping, so that a supervisor can start the service again",
      );
      assert.deepEqual(lines.map(({ level, error }) => [level, error]), [["error", message]]);
      assert.match(String(lines[0]!.mend), /dmesg/);
      await assertRecovers(site);
    },
  );
}

faultTest(
  "a database file that cannot be synced is found when the log is next emptied: an erasure counts, its bytes are pending, and the service ends with 74",
  async (site) => {
    const { service, key, env } = site;
    const end = await site.failing("fsync,fdatasync", "jiss.db");
    const erased = await service.send("/v1/operator/operator-1", { key, method: "DELETE" });
    assert.deepEqual([erased.status, erased.body.physical], [200, "pending"]);
    const code = await exitCodeOf(service);
    await end();
    assert.equal(code, 74);
    const again = await startService(["serve"], { env });
    const answer = await again.send("/v1/operator/operator-1/profile", { key });
    assert.equal(answer.status, 404);
    assert.equal(await again.stop(), 0);
    await assertChainsVerify(env.JISS_DATA_DIR!);
  },
);

async function isLockBehind(service: RunningService): Promise<boolean> {
  const { metrics_url: url } = linesOf(service, "listening")[0]!;
  const text = await (await fetch(`${url}/metrics`)).text();
  return /^jiss_lock_behind ([01])$/m.exec(text)![1] === "1";
}

for (
  const [what, calls, names] of [
    ["written", "pwrite64", ["lock.db-wal"]],
    ["synced", "fsync,fdatasync", ["lock.db", "lock.db-wal"]],
  ] as const
) {
  faultTest(
    `a lock.db that cannot be ${what} stops no score, is reported in the log and the metrics, and catches up`,
    async (site) => {
      const { service, acknowledged } = site;
      const lines = () => linesOf(service, /^lock\.db /).map(({ level, msg }) => [level, msg]);
      const end = await site.failing(calls, ...names);
      const failing = [
        "error",
        "lock.db cannot be read or written: an older database, put back, may go unnoticed",
      ];
      while (lines().length === 0) assert.equal((await acknowledged.score(service)).status, 200);
      assert.equal((await acknowledged.score(service)).status, 200);
      assert.deepEqual(lines(), [failing], "once, not for each score");
      assert.ok(await isLockBehind(service));
      await end();
      while (await isLockBehind(service)) await new Promise((next) => setTimeout(next, 100));
      assert.deepEqual(lines(), [failing, ["info", "lock.db is read and written again"]]);
      assert.equal(await service.stop(), 0);
      await assertRecovers(site);
    },
  );
}
