/**
 * A schema that was altered: tables and triggers are missing or were added. No start accepts it, and every
 * command reports it in the same words.
 */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { embeddedTest } from "../database.ts";
import {
  changeRows,
  createOrganization,
  freshDeployment,
  rowsIn,
  runProgram,
  startService,
} from "../program.ts";

const statement = (sql: string) => ({ sql, parameters: [] });

const PUT_BACK = "put the database, or a backup of it, back";

Deno.test(
  "a start and the commands refuse a schema with a missing table or trigger, or a foreign trigger, and name it; once it is restored the service starts",
  async () => {
    const { directory, env, remove } = await freshDeployment();
    const data = `${directory}/data`;
    const service = await startService(["serve"], { env });
    await createOrganization(service, env);
    assert.equal(await service.stop(), 0);

    const objects = await rowsIn<{ name: string; tbl_name: string; sql: string }>(
      data,
      "SELECT name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid",
    );
    /** Statements that make an object and its dependents anew. */
    const made = (name: string) =>
      objects.filter((row) => row.name === name || row.tbl_name === name).map(({ sql }) => statement(sql));
    const dropped = (type: string, name: string) => ({
      change: `DROP ${type} ${name}`,
      what: `the ${type} ${name} is missing`,
      mend: PUT_BACK,
      undo: made(name),
    });
    const added = (name: string, table: string, body: string) => ({
      change: `CREATE TRIGGER ${name} AFTER INSERT ON ${table} BEGIN ${body}; END`,
      what: `the trigger ${name} on ${table} is not this program's`,
      mend: `${PUT_BACK}, or remove what is not this program's (DROP TRIGGER ${name})`,
      undo: [statement(`DROP TRIGGER ${name}`)],
    });
    const alterations = [
      ...["tombstone", "alert"].map((name) => dropped("table", name)),
      dropped("trigger", "audit_entry_moves_head"),
      added("raises", "interaction", "UPDATE operator SET jis = 99"),
      added("silences", "alert", "DELETE FROM alert"),
    ];
    for (const { change, what, mend, undo } of alterations) {
      await changeRows(data, statement(change));
      const sentence = `the database's schema was altered (${what}): ${mend}`;
      const refused = await runProgram(["serve"], { env: { ...env, JISS_PORT: "0" } });
      assert.deepEqual([refused.code, refused.stderr], [78, `jiss: cannot start: ${sentence}\n`]);
      const restored = await runProgram(["restore", "--acknowledge", "it was altered"], { env });
      assert.deepEqual([restored.code, restored.stderr], [78, `jiss: ${sentence}\n`]);
      const examined = await runProgram(["doctor", "--json"], { env });
      assert.equal(examined.stderr, "");
      const [first] = JSON.parse(examined.stdout).checks;
      assert.deepEqual(first, {
        check: "schema",
        state: "wrong",
        what: `the database's schema was altered (${what})`,
        mend,
      });
      await changeRows(data, ...undo);
    }

    await changeRows(
      data,
      ...["alert", "organization_origin"].map((name) => statement(`DROP TABLE ${name}`)),
    );
    const both =
      /^jiss: the database's schema was altered \((?=.*the table alert is missing)(?=.*organization_origin is missing)[^\n]*\n$/;
    for (const args of [["alerts", "list"], ["org", "suspend", "acme"], ["org", "rotate-key", "acme"]]) {
      const { code, stderr } = await runProgram(args, { env });
      assert.equal(code, 78, args.join(" "));
      assert.match(stderr, both, args.join(" "));
    }
    const readable = await runProgram(["export", "--org", "acme"], { env });
    assert.deepEqual(
      [readable.code, readable.stderr],
      [0, ""],
      "an export reads what can still be read",
    );
    await changeRows(
      data,
      ...made("alert"),
      ...made("organization_origin"),
      statement("CREATE TABLE _replica_position (id INTEGER PRIMARY KEY)"),
    );
    const again = await startService(["serve"], { env });
    assert.equal(await again.stop(), 0);
    await remove();
  },
);

embeddedTest("a backup whose schema was altered is refused", async () => {
  const { directory, env, remove } = await freshDeployment();
  const service = await startService(["serve"], { env });
  assert.equal(await service.stop(), 0);
  const backup = `${directory}/backup.db`;
  assert.equal((await runProgram(["backup", backup], { env })).code, 0);
  const sound = await Deno.readFile(backup);
  const altered = new DatabaseSync(backup);
  altered.exec("CREATE TRIGGER raises AFTER INSERT ON interaction BEGIN UPDATE operator SET jis = 99; END");
  altered.close();
  const refused = await runProgram(["restore", backup, "--acknowledge", "it was altered"], { env });
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /was not put back: the database's schema was altered \(the trigger raises on interaction .* Nothing was changed\n$/,
  );
  await Deno.writeFile(backup, sound);
  const restored = await runProgram(["restore", backup, "--acknowledge", "it was altered"], { env });
  assert.equal(restored.code, 0, restored.stderr);
  await remove();
});
