/**
 * Upgrades from every schema step. Programs of each step wrote a deployment (`tests/kept_schemas/keep.ts`),
 * which today's program migrates.
 */
import assert from "node:assert/strict";
import { createPublicKey } from "node:crypto";
import { MIGRATIONS } from "../../migrations/mod.ts";
import { signerFromPem } from "../../src/evidence/node_crypto.ts";
import { checkFile } from "../../src/store/backup.ts";
import { save, verifyProgram } from "../auditing.ts";
import { schemaVersionOf } from "../../src/store/migrate.ts";
import { embeddedTest, openServer } from "../database.ts";
import {
  assertContinues,
  contentOf,
  firstKey,
  keptSchemas,
  startOn,
  unpackSchema,
} from "../kept_schemas/kept.ts";
import { verifyDatabase } from "../oracle.ts";
import { HAS_SQLD, withSqld } from "../sqld.ts";
import { rowsIn, runProgram, withDatabaseOf } from "../program.ts";

const NEWEST = MIGRATIONS.length;
const KEPT = keptSchemas();
const SEALED = [
  "organization",
  "webhook",
  "subject",
  "operator",
  "interaction",
  "skipped_interaction",
  "frozen_operator",
  "decision",
];

/** Steps that were released together with the next one: no database has them as its last step. */
const PASSED: readonly number[] = [10];

Deno.test("there is a kept deployment of every schema step", () => {
  const steps = MIGRATIONS.map(({ version }) => version).filter((version) => !PASSED.includes(version));
  assert.deepEqual(KEPT.map(({ version }) => version), steps);
});

for (const kept of KEPT) {
  embeddedTest(
    `from schema step ${kept.version}: every answer is repeated, erased and inactive records stay so, chains verify and continue, and a copy of the old database is kept`,
    async () => {
      const directory = await Deno.makeTempDir({ prefix: "jiss-upgrade-" });
      const data = `${directory}/data`;
      const env = unpackSchema(kept, data);
      const original = `${directory}/original.db`;
      await Deno.copyFile(`${data}/jiss.db`, original);

      const service = await startOn(kept, env);
      await assertContinues(service, kept);
      assert.equal(await service.stop(), 0);

      const { publicKey } = signerFromPem(firstKey(kept));
      await withDatabaseOf(data, (database) => verifyDatabase(database, { publicKey }));
      for (const table of SEALED) {
        assert.deepEqual(await rowsIn(data, `SELECT * FROM ${table} WHERE seal IS NULL`), [], table);
      }
      assert.deepEqual(await rowsIn(data, "SELECT chain FROM audit_chain WHERE held IS NULL"), []);
      assert.deepEqual(service.log().filter(({ level }) => level === "error"), []);
      const names = [...Deno.readDirSync(data)].map(({ name }) => name);
      const copies = names.filter((name) => name.startsWith("jiss.db.schema-"));
      assert.deepEqual(copies, kept.version < NEWEST ? [`jiss.db.schema-${kept.version}`] : []);
      for (const copy of copies.map((name) => `${data}/${name}`)) {
        assert.equal((await Deno.stat(copy)).mode! & 0o777, 0o600);
        assert.equal(checkFile(copy), null);
        assert.deepEqual(
          await contentOf(copy),
          await contentOf(original),
          "an earlier program continues from the copy",
        );
      }

      const bundle = `${directory}/acme.ndjson`;
      const [doctor, exported] = await Promise.all([
        runProgram(["doctor", "--json"], { env }),
        runProgram(["export", "--org", "acme", "-o", bundle], { env }),
      ]);
      const wrong = JSON.parse(doctor.stdout).checks.filter(({ state }: { state: string }) =>
        state === "wrong"
      );
      assert.deepEqual([wrong, doctor.code], [[], 0]);
      assert.equal(exported.code, 0, exported.stderr);
      const pem = `${directory}/first-key.pem`;
      const pinned = createPublicKey(firstKey(kept)).export({ format: "pem", type: "spki" });
      await Deno.writeTextFile(pem, pinned.toString());
      const answer = await save(directory, "answer.json", JSON.parse(kept.calls[0]!.text));
      const { report, stderr } = await verifyProgram([
        ...[bundle, answer, "--key", pem],
        ...["--checkpoint", answer, "--json"],
      ]);
      assert.equal(report?.verdict, "INTACT", stderr + JSON.stringify(report));
      await Deno.remove(directory, { recursive: true });
    },
  );
}

Deno.test({
  name: "from schema step 1, on a libSQL server, as on the embedded database [needs sqld]",
  ignore: !HAS_SQLD,
  async fn() {
    const [kept] = KEPT;
    const directory = await Deno.makeTempDir({ prefix: "jiss-upgrade-" });
    const data = `${directory}/data`;
    const env = unpackSchema(kept!, data);
    const files = `${directory}/sqld/data/dbs/default`;
    await Deno.mkdir(files, { recursive: true });
    await Deno.rename(`${data}/jiss.db`, `${files}/data`);
    await withSqld(async (sqld) => {
      const named = { JISS_DATABASE_URL: sqld.url, JISS_DATABASE_ADMIN_URL: sqld.adminUrl };
      const service = await startOn(kept!, { ...env, ...named });
      await assertContinues(service, kept!);
      assert.equal(await service.stop(), 0);
      const database = openServer(sqld);
      assert.equal(await schemaVersionOf(database), NEWEST);
      await verifyDatabase(database, { publicKey: signerFromPem(firstKey(kept!)).publicKey });
      await database.close();
    }, { directory: `${directory}/sqld` });
    await Deno.remove(directory, { recursive: true });
  },
});
