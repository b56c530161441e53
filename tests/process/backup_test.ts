/**
 * `jiss backup FILE` and `jiss restore FILE --acknowledge REASON`: the drill that an administrator should do
 * before it is needed, and the refusals.
 */
import { DatabaseSync } from "node:sqlite";
import assert from "node:assert/strict";
import { save, verifyProgram } from "../auditing.ts";
import { scoreRequest } from "../harness.ts";
import { IS_SERVER } from "../database.ts";
import { MIGRATIONS } from "../../migrations/mod.ts";
import { openEmbedded } from "../../src/store/embedded.ts";
import { schemaVersionOf } from "../../src/store/migrate.ts";
import { earlierDatabase } from "../earlier_schema.ts";
import {
  createOrganization,
  freshDeployment,
  rowsIn,
  type RunningService,
  runProgram,
  startService,
} from "../program.ts";

const MODEL_BEFORE = `${import.meta.dirname}/../../docs/understand/models/jis-1.1.0.json`;

interface Site {
  /** The directory that holds the data directory. */
  readonly directory: string;
  readonly data: string;
  readonly env: Readonly<Record<string, string>>;
  run(...args: string[]): ReturnType<typeof runProgram>;
}

function drill(name: string, test: (site: Site) => Promise<void>): void {
  Deno.test({
    name: IS_SERVER ? `${name} [needs the embedded database's file]` : name,
    ignore: IS_SERVER,
    async fn() {
      const deployment = await freshDeployment();
      const { directory, env } = deployment;
      await test({ directory, data: `${directory}/data`, env, run: (...args) => runProgram(args, { env }) });
      await deployment.remove();
    },
  });
}

async function scored(
  service: RunningService,
  key: string,
  session: string,
): Promise<Record<string, unknown>> {
  const { status, body } = await service.send("/v1/score", {
    key,
    body: scoreRequest({ session_id: session, operator_id: `operator-${session.length}` }),
  });
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

/** Scores until `stop` is called. */
function load(service: RunningService, key: string): { stop(): Promise<readonly string[]> } {
  let stopped = false;
  const acknowledged: string[] = [];
  const client = async (name: string) => {
    for (let count = 0; !stopped; count += 1) {
      await scored(service, key, `${name}-${count}`);
      acknowledged.push(`${name}-${count}`);
    }
  };
  const clients = Promise.all(["a", "b", "c"].map(client));
  return {
    async stop() {
      stopped = true;
      await clients;
      return acknowledged;
    },
  };
}

drill(
  "a backup made under load is restored on another machine: it verifies, earlier checkpoints agree, and the service continues in the next epoch",
  async ({ directory, data, env, run }) => {
    const service = await startService(["serve"], { env });
    const key = await createOrganization(service, env);
    const known = await save(directory, "known.json", await scored(service, key, "before"));
    const jwks = await save(directory, "jwks.json", (await service.send("/.well-known/jwks.json")).body);
    const running = load(service, key);
    const backup = `${directory}/night.db`;
    const made = await run("backup", backup);
    assert.equal(made.code, 0, made.stderr);
    assert.match(
      made.stdout,
      /^Wrote \S+night\.db: \d+ bytes, readable only by their owner, 3 chains, as of 20\d\d-\S+Z\.\n/,
    );
    assert.equal((await Deno.stat(backup)).mode! & 0o777, 0o600);
    await running.stop();
    const lost = await save(directory, "lost.json", await scored(service, key, "after"));
    await service.stop();

    // Another machine: it has the backup, the signing key and the secrets, and nothing else.
    const elsewhere = `${directory}/elsewhere`;
    await Deno.mkdir(elsewhere, { mode: 0o700 });
    await Deno.copyFile(`${data}/signing-key.pem`, `${elsewhere}/signing-key.pem`);
    const there = { ...env, JISS_DATA_DIR: elsewhere };
    const restored = await runProgram(["restore", backup, "--acknowledge", "a drill"], { env: there });
    assert.equal(restored.code, 0, restored.stderr);
    assert.match(restored.stdout, /^\S+night\.db was verified and is now the database\.\n/);
    assert.match(
      restored.stdout,
      /\nThe database was accepted as it is\. Each of its 3 chains began a new epoch/,
    );
    assert.match(restored.stdout, /\nStart the service again\.\n/);

    const again = await startService(["serve"], { env: there });
    const answer = await scored(again, key, "goes-on") as { evidence: { entry: { chain: string } } };
    assert.equal(answer.evidence.entry.chain, "org/acme/e2");
    assert.deepEqual((await scored(again, key, "before")).session_id, "before", "its stored answer");
    await again.stop();
    const bundle = `${directory}/acme.ndjson`;
    assert.equal(
      (await runProgram(["export", "--org", "acme", "-o", bundle], { env: there })).code,
      0,
    );
    const visit = async (document: string) => {
      const { code, report } = await verifyProgram([bundle, document, "--key", jwks, "--json"]);
      return [code, report.documents[0].place];
    };
    assert.deepEqual(await visit(known), [0, "held"]);
    // Nothing there shows how much was issued. An answer that a client kept does.
    assert.deepEqual(await visit(lost), [2, "beyond"]);
  },
);

drill(
  "a restore replaces an existing database and keeps the old one",
  async (site) => {
    const { directory, data, env, run } = site;
    let service = await startService(["serve"], { env });
    const key = await createOrganization(service, env);
    await scored(service, key, "one");
    assert.equal((await run("backup", `${directory}/one.db`)).code, 0);
    await scored(service, key, "two");
    const busy = await run("restore", `${directory}/one.db`, "--acknowledge", "a drill");
    assert.deepEqual([busy.code, busy.stdout], [1, ""]);
    assert.match(busy.stderr, /a service uses this data directory: stop it first/);
    assert.equal((await scored(service, key, "two")).session_id, "two");
    await service.stop();

    const restored = await run("restore", `${directory}/one.db`, "--acknowledge", "a drill");
    assert.equal(restored.code, 0, restored.stderr);
    const aside = /^The earlier database is now (\S+): delete it/m.exec(restored.stdout)![1]!;
    assert.match(aside, new RegExp(`^${data}/jiss\\.db\\.replaced-20`));
    service = await startService(["serve"], { env });
    assert.equal((await service.send("/v1/decision/replay/two", { key })).status, 404, "the score is lost");
    assert.equal((await scored(service, key, "two")).session_id, "two", "the session can be scored again");
    await service.stop();
    // The database that was replaced can itself be restored.
    await Deno.remove(`${data}/lock.db`);
    const back = await run("restore", aside, "--acknowledge", "the first one was the right one");
    assert.equal(back.code, 0, back.stderr);
    service = await startService(["serve"], { env });
    assert.equal((await service.send("/v1/decision/replay/two", { key })).status, 200);
    await service.stop();
  },
);

drill(
  "a file that is not a sound backup of this installation is refused, and nothing is changed",
  async (site) => {
    const { directory, data, env, run } = site;
    const service = await startService(["serve"], { env });
    const key = await createOrganization(service, env);
    for (let count = 0; count < 40; count += 1) await scored(service, key, `session-${count}`);
    const backup = `${directory}/backup.db`;
    assert.equal((await run("backup", backup)).code, 0);
    const there = await run("backup", backup);
    assert.deepEqual([there.code, there.stderr], [
      1,
      `jiss: ${backup} already exists and was not changed\n`,
    ]);
    await service.stop();
    const before = await Deno.readFile(`${data}/jiss.db`);
    const refused = async (file: string, why: RegExp) => {
      const { code, stdout, stderr } = await run("restore", file, "--acknowledge", "a drill");
      assert.deepEqual([code, stdout], [1, ""], stderr);
      assert.match(stderr, why);
      assert.deepEqual(await Deno.readFile(`${data}/jiss.db`), before);
      assert.deepEqual(
        [...Deno.readDirSync(data)].map(({ name }) => name).filter((name) => /restoring|replaced/.test(name)),
        [],
      );
    };
    await refused(`${directory}/nothing.db`, /there is no file \S+nothing\.db/);
    const text = await save(directory, "text.db", "this is no database");
    await refused(text, /is damaged or not a database/);
    // For SQLite an empty file is a sound database. So is the database of another program.
    const empty = await save(directory, "empty.db", "");
    await refused(empty, /it contains no chain, so it is not a backup of this service/);
    const foreign = `${directory}/foreign.db`;
    const another = new DatabaseSync(foreign);
    another.exec("CREATE TABLE organization (id INTEGER PRIMARY KEY)");
    another.close();
    await refused(foreign, /it contains no chain, so it is not a backup of this service/);

    const bytes = await Deno.readFile(backup);
    const cut = `${directory}/cut.db`;
    await Deno.writeFile(cut, bytes.slice(0, Math.floor(bytes.length / 2)));
    await refused(cut, /is damaged or not a database/);
    // A score with an improved decision: every page is sound.
    const forged = `${directory}/forged.db`;
    const found = new TextDecoder("latin1").decode(bytes).indexOf('"decision":"accepted"');
    assert.ok(found > 0);
    const changed = bytes.slice();
    changed.set(new TextEncoder().encode('"decision":"rejected"'), found);
    await Deno.writeFile(forged, changed);
    await refused(forged, /its evidence does not verify\. \S+: \w+, /);
  },
);

drill(
  "before a start migrates the schema it keeps a copy, which the earlier program can use",
  async (site) => {
    const { data, env } = site;
    // A verdict, which the last step added, is sealed with its row. The model before has none.
    let service = await startService(["serve"], { env: { ...env, JISS_SCORING_MODEL_FILE: MODEL_BEFORE } });
    const key = await createOrganization(service, env);
    await scored(service, key, "one");
    await service.stop();
    const version = MIGRATIONS.length - 1;
    await takenBackTo(version, data);
    const before = await rowsIn<{ version: number }>(
      data,
      "SELECT max(version) AS version FROM schema_migration",
    );
    assert.equal(before[0]!.version, version);
    // Left by an upgrade that was undone.
    await Deno.writeTextFile(`${data}/jiss.db.schema-${version}`, "an older copy", { mode: 0o600 });

    service = await startService(["serve"], { env });
    const copy = `${data}/jiss.db.schema-${version}`;
    const line = service.log().find(({ msg }) => String(msg).includes("it was copied first"))!;
    assert.deepEqual([line.copy, line.from, line.to], [copy, version, version + 1]);
    assert.equal((await Deno.stat(copy)).mode! & 0o777, 0o600);
    assert.equal((await service.send("/v1/decision/replay/one", { key })).status, 200);
    await service.stop();
    const database = openEmbedded({ path: copy, onFatal: () => {} });
    assert.equal(await schemaVersionOf(database), version);
    await database.close();

    service = await startService(["serve"], { env });
    assert.ok(
      !service.log().some(({ msg }) => String(msg).includes("it was copied first")),
      "copied only once",
    );
    await service.stop();
  },
);

/** Replaces a stopped service's database by the same at an earlier schema step. */
async function takenBackTo(version: number, data: string): Promise<void> {
  const path = `${data}/jiss.db`;
  const today = openEmbedded({ path, onFatal: () => {} });
  await (await earlierDatabase(today, { version, path: `${path}.earlier` })).close();
  await today.close();
  await Deno.rename(`${path}.earlier`, path);
}

drill(
  "a backup whose chains ended before a finished rotation is restored: the system chain holds their ends",
  async ({ directory, env, run }) => {
    const service = await startService(["serve"], { env });
    const key = await createOrganization(service, env);
    await scored(service, key, "before");
    for (const args of [[], ["--drop-old"]]) {
      const rotation = await run("rotate-signing-key", ...args);
      assert.equal(rotation.code, 0, rotation.stderr);
    }
    assert.equal((await run("backup", `${directory}/night.db`)).code, 0);
    await service.stop();
    const restored = await run("restore", `${directory}/night.db`, "--acknowledge", "a drill");
    assert.equal(restored.code, 0, restored.stderr);
  },
);

drill(
  "a backup of another installation than lock.db is refused before anything is moved, and restored once those files are moved away",
  async ({ directory, data, env, run }) => {
    let service = await startService(["serve"], { env });
    const key = await createOrganization(service, env);
    await scored(service, key, "before");
    await service.stop();
    assert.equal((await run("backup", `${directory}/night.db`)).code, 0);

    // Another machine, on which a service was started before the restore and made its own installation.
    const there = `${directory}/there`;
    await Deno.mkdir(there, { mode: 0o700 });
    await Deno.copyFile(`${data}/signing-key.pem`, `${there}/signing-key.pem`);
    const elsewhere = { env: { ...env, JISS_DATA_DIR: there } };
    await (await startService(["serve"], elsewhere)).stop();
    await Deno.writeTextFile(`${there}/jiss.db.restoring`, "of a restore that was killed while it looked");
    const restore = () =>
      runProgram(["restore", `${directory}/night.db`, "--acknowledge", "a drill"], elsewhere);
    const refused = await restore();
    assert.deepEqual([refused.code, refused.stdout], [1, ""]);
    assert.match(
      refused.stderr,
      /lock\.db belongs to another installation than the backup.* Nothing was changed/,
    );
    await (await startService(["serve"], elsewhere)).stop();
    assert.ok(![...Deno.readDirSync(there)].some(({ name }) => name.includes(".re")), "nothing is left over");

    for (const name of ["jiss.db", "lock.db"]) {
      await Deno.rename(`${there}/${name}`, `${there}/${name}.aside`);
    }
    const restored = await restore();
    assert.equal(restored.code, 0, restored.stderr);
    service = await startService(["serve"], elsewhere);
    await scored(service, key, "after");
    await service.stop();

    await Deno.rename(`${there}/lock.db.aside`, `${there}/lock.db`);
    const doctor = await runProgram(["doctor"], elsewhere);
    assert.equal(doctor.code, 1);
    assert.match(
      doctor.stdout,
      /^wrong +checkpoints .*lock\.db belongs to another installation than the database/m,
    );
  },
);

drill("a backup that is not an ordinary file is refused", async ({ env, run }) => {
  await (await startService(["serve"], { env })).stop();
  const refused = await run("restore", "/dev/null", "--acknowledge", "a drill");
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /\/dev\/null is not a regular file: name a backup/);
});
