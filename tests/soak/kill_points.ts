/**
 * Kills commands with strace at each point at which something can be lost: before a sync, a rename or a
 * removal, one after another. What runs next must be able to continue without help.
 */
import assert from "node:assert/strict";
import { MIGRATIONS } from "../../migrations/mod.ts";
import { signerFromPem } from "../../src/evidence/node_crypto.ts";
import { scoreRequest } from "../harness.ts";
import {
  assertContinues,
  contentOf,
  firstKey,
  type KeptSchema,
  startOn,
  unpackSchema,
} from "../kept_schemas/kept.ts";
import { verifyDatabase } from "../oracle.ts";
import {
  createOrganization,
  type Finished,
  freshDeployment,
  type RunningService,
  runProgram,
  startService,
  withDatabaseOf,
} from "../program.ts";
import { runKilled } from "../traced.ts";

/** A process is killed at this place: at the `count`th such call of one of its threads, on one file or on any. */
export interface KillPoint {
  readonly count: number;
  /** A file of the data directory; null: any file. */
  readonly file: string | null;
}

/** A command with a fresh site for each time that it is killed. */
export interface Killed {
  /** Files of the data directory whose calls are counted separately: another thread makes them. */
  readonly files: readonly string[];
  /** Kills it there and checks what follows. @returns false if it ended, or listened, before that point. */
  at(point: KillPoint): Promise<boolean>;
}

/** Kills at every point in turn. @returns how many there are. */
export async function killEverywhere({ files, at }: Killed): Promise<number> {
  let points = 0;
  for (const file of [null, ...files]) {
    for (let count = 1; await at({ count, file }); count += 1) points += 1;
  }
  return points;
}

type Environment = Readonly<Record<string, string>>;

function killedAt(
  point: KillPoint,
  { args, env }: { readonly args: readonly string[]; readonly env: Environment },
) {
  const path = point.file === null ? null : `${env.JISS_DATA_DIR}/${point.file}`;
  return runKilled(args, { env, count: point.count, path });
}

async function scored(service: RunningService, key: string, session: string) {
  return await service.send("/v1/score", { key, body: scoreRequest({ session_id: session }) });
}

/** A start that brings a kept deployment's schema up to date. */
export function killedUpgrade(kept: KeptSchema): Killed {
  return {
    files: ["jiss.db-wal"],
    async at(point) {
      const directory = await Deno.makeTempDir({ prefix: "jiss-killed-" });
      const data = `${directory}/data`;
      const env = unpackSchema(kept, data);
      await Deno.copyFile(`${data}/jiss.db`, `${directory}/original.db`);
      const wasKilled = await killedAt(point, { args: ["serve"], env });
      if (wasKilled) {
        const service = await startOn(kept, env);
        await assertContinues(service, kept);
        assert.equal(await service.stop(), 0);
        const { publicKey } = signerFromPem(firstKey(kept));
        await withDatabaseOf(data, (database) => verifyDatabase(database, { publicKey }));
        const copy = `${data}/jiss.db.schema-${kept.version}`;
        assert.deepEqual(await contentOf(copy), await contentOf(`${directory}/original.db`));
        assert.ok(kept.version < MIGRATIONS.length);
      }
      await Deno.remove(directory, { recursive: true });
      return wasKilled;
    },
  };
}

/** The very first start, which makes the signing key. */
export function killedFirstStart(): Killed {
  return {
    files: ["jiss.db-wal", "lock.db-wal"],
    async at(point) {
      const { directory, env, remove } = await freshDeployment();
      const keyFile = `${directory}/data/signing-key.pem`;
      await Deno.remove(keyFile);
      const wasKilled = await killedAt(point, { args: ["serve"], env });
      if (wasKilled) {
        const service = await startService(["serve"], { env });
        const key = await createOrganization(service, env);
        assert.equal((await scored(service, key, "first")).status, 200);
        assert.equal(await service.stop(), 0);
        const { publicKey } = signerFromPem(await Deno.readTextFile(keyFile));
        await withDatabaseOf(`${directory}/data`, (database) => verifyDatabase(database, { publicKey }));
      }
      await remove();
      return wasKilled;
    },
  };
}

/**
 * A restore of a backup. A start in between has the database from before, or the backup's in its next epoch,
 * or ends with 78 and says what to do. The same command again succeeds.
 */
export function killedRestore(): Killed {
  return {
    files: ["jiss.db-wal"],
    async at(point) {
      const { directory, env, remove } = await freshDeployment();
      const backup = `${directory}/night.db`;
      const service = await startService(["serve"], { env });
      const key = await createOrganization(service, env);
      assert.equal((await scored(service, key, "in-the-backup")).status, 200);
      isWell(await runProgram(["backup", backup], { env }));
      const after = await scored(service, key, "after-the-backup");
      // With a write-ahead log, as a failed machine leaves it.
      service.kill("SIGKILL");
      await service.status;

      const restore = ["restore", backup, "--acknowledge", "a drill"];
      const wasKilled = await killedAt(point, { args: restore, env });
      if (wasKilled) {
        await standsBetween({ env, key, after: after.body });
        isWell(await runProgram(restore, { env }));
        const again = await startService(["serve"], { env });
        assert.equal((await scored(again, key, "in-the-backup")).headers.get("Idempotency-Replayed"), "true");
        const anew = await scored(again, key, "after-the-backup");
        assert.equal(anew.status, 200);
        assert.match(anew.body.evidence.entry.chain, /^org\/acme\/e[23]$/);
        assert.equal(await again.stop(), 0);
        const { publicKey } = signerFromPem(await Deno.readTextFile(`${directory}/data/signing-key.pem`));
        await withDatabaseOf(`${directory}/data`, (database) => verifyDatabase(database, { publicKey }));
      }
      await remove();
      return wasKilled;
    },
  };
}

function isWell({ code, stderr }: Finished): void {
  assert.equal(code, 0, stderr);
}

async function standsBetween({ env, key, after }: {
  readonly env: Environment;
  readonly key: string;
  readonly after: unknown;
}): Promise<void> {
  const service = await startService(["serve"], { env }).catch((error: Error) => error);
  if (service instanceof Error) {
    assert.match(
      service.message,
      /^ended with 78 before it listened: jiss: cannot start: a restore into JISS_DATA_DIR was cut short/,
    );
    return;
  }
  const { status, headers, body } = await scored(service, key, "after-the-backup");
  await service.stop();
  if (headers.get("Idempotency-Replayed") === "true") assert.deepEqual(body, after);
  else assert.deepEqual([status, body.evidence?.entry.chain], [200, "org/acme/e2"], JSON.stringify(body));
}
