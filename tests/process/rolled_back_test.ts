/**
 * An older database under a running service, and backups that no key at hand fits: each is reported, and
 * nothing is changed.
 */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { IS_SERVER } from "../database.ts";
import { scoreRequest } from "../harness.ts";
import {
  createOrganization,
  freshDeployment,
  type RunningService,
  runProgram,
  startService,
  until,
} from "../program.ts";

/** Puts the rows of every table back as a backup has them, while others use the database. */
function rollBack(data: string, backup: string): void {
  using database = new DatabaseSync(`${data}/jiss.db`, {
    timeout: 5_000,
    enableForeignKeyConstraints: false,
  });
  database.prepare("ATTACH ? AS backup").run(backup);
  database.exec("BEGIN IMMEDIATE");
  const named = (type: string) =>
    database.prepare("SELECT name, sql FROM main.sqlite_schema WHERE type = ?").all(
      type,
    ) as unknown as readonly { readonly name: string; readonly sql: string }[];
  const triggers = named("trigger");
  for (const { name } of triggers) database.exec(`DROP TRIGGER ${name}`);
  for (const { name } of named("table")) {
    const columns = database.prepare("SELECT name FROM pragma_table_info(?)").all(name)
      .map((column) => `"${column.name}"`).join();
    database.exec(`DELETE FROM main.${name}`);
    database.exec(`INSERT INTO main.${name} (${columns}) SELECT ${columns} FROM backup.${name}`);
  }
  for (const { sql } of triggers) database.exec(sql);
  database.exec("COMMIT");
}

async function score(service: RunningService, key: string, session: string): Promise<number> {
  const body = scoreRequest({ session_id: session, operator_id: "operator-1" });
  return (await service.send("/v1/score", { key, body })).status;
}

async function metricOf(service: RunningService, name: string): Promise<number> {
  const { metrics_url } = service.log().find(({ msg }) => msg === "listening")!;
  const text = await (await fetch(`${metrics_url}/metrics`)).text();
  return Number(new RegExp(`^${name} (.*)$`, "m").exec(text)![1]);
}

for (const first of ["score", "dashboard"] as const) {
  Deno.test({
    name:
      `a database that is rolled back under a running service raises the alarm with the first ${first}; reads and verification go on, nothing is recorded until the newer one is back [needs the embedded database's file]`,
    ignore: IS_SERVER,
    fn: async () => {
      const deployment = await freshDeployment();
      const data = `${deployment.directory}/data`;
      const env = { ...deployment.env, JISS_METRICS_ADDR: "127.0.0.1:0" };
      const [older, newer] = [`${deployment.directory}/older.db`, `${deployment.directory}/newer.db`];
      const service = await startService(["serve"], { env });
      const key = await createOrganization(service, env);
      const other = await createOrganization(service, env, "other");
      assert.equal(await score(service, key, "s-1"), 200);
      assert.equal((await runProgram(["backup", older], { env })).code, 0);
      assert.equal(await score(service, key, "s-2"), 200);
      const erased = await service.send("/v1/operator/operator-1", { method: "DELETE", key });
      assert.equal(erased.status, 200);
      assert.equal((await service.send("/v1/organization/dashboard", { key })).status, 200);
      assert.equal((await runProgram(["backup", newer], { env })).code, 0);

      rollBack(data, older);
      const refused = first === "score"
        ? await score(service, key, "s-3")
        : (await service.send("/v1/organization/dashboard", { key })).status;
      assert.equal(refused, 503);
      const told = () => service.log().filter(({ audit, level }) => audit === true && level === "error");
      await until(() => told().length > 0);
      assert.equal(await metricOf(service, "jiss_chain_suspect"), 1);
      assert.ok(await metricOf(service, "jiss_chains_altered") >= 1);

      const verified = await service.send("/v1/audit/chain/verify", { key });
      assert.deepEqual([verified.status, verified.body.valid], [200, false]);
      const alerts = await runProgram(["alerts", "list"], { env });
      assert.equal(alerts.code, 0, alerts.stderr);
      assert.match(alerts.stdout, /HIGH/);
      assert.equal(await score(service, key, "s-4"), 503);
      assert.equal(await score(service, other, "s-5"), 503, "nothing is recorded anywhere");
      const before = told().length;
      for (let call = 0; call < 5; call += 1) await score(service, key, `s-6-${call}`);
      const warned = service.log().filter(({ msg }) =>
        msg === "an alert cannot be recorded in this chain"
      ).length;
      assert.ok(told().length >= before && warned < 20, `${warned}`);
      const checkpoint = await runProgram(["checkpoint"], { env });
      assert.deepEqual([checkpoint.code, checkpoint.stdout], [1, ""]);
      assert.match(checkpoint.stderr, /is older than what was issued of it/);

      rollBack(data, newer);
      assert.equal(await score(service, other, "s-7"), 200);
      assert.equal(await score(service, key, "s-8"), 200);
      assert.equal((await service.send("/v1/audit/chain/verify", { key })).body.valid, true);
      assert.equal((await runProgram(["checkpoint"], { env })).code, 0);
      assert.equal(await service.stop(), 0);
      await deployment.remove();
    },
  });
}

Deno.test({
  name:
    "a backup that no key at hand signed last, or whose secret is gone, is refused before anything is changed [needs the embedded database's file]",
  ignore: IS_SERVER,
  fn: async () => {
    const { directory, env, remove } = await freshDeployment();
    const backup = `${directory}/backup.db`;
    const service = await startService(["serve"], { env });
    const key = await createOrganization(service, env);
    assert.equal(await score(service, key, "s-1"), 200);
    assert.equal((await runProgram(["backup", backup], { env })).code, 0);
    assert.equal(await service.stop(), 0);
    const refuses = async (why: RegExp, changed: Readonly<Record<string, string>> = {}) => {
      const args = ["restore", backup, "--acknowledge", "a disk failed"];
      const { code, stdout, stderr } = await runProgram(args, { env: { ...env, ...changed } });
      assert.deepEqual([code, stdout], [1, ""], stderr);
      assert.match(stderr, why);
      assert.match(stderr, /Nothing was changed/);
      assert.ok(![...Deno.readDirSync(`${directory}/data`)].some(({ name }) => name.includes("replaced")));
    };
    await refuses(/opens its installation key/, {
      JISS_KEY_PEPPER: "p".repeat(64),
      JISS_SECRETS_KEY: "q".repeat(64),
    });
    assert.equal((await runProgram(["rotate-signing-key"], { env })).code, 0);
    assert.equal((await runProgram(["rotate-signing-key", "--drop-old"], { env })).code, 0);
    await refuses(/none of the private keys at hand is the one that signed it last/);
    const again = await startService(["serve"], { env });
    assert.equal(await score(again, key, "s-2"), 200);
    assert.equal(await again.stop(), 0);
    await remove();
  },
});
