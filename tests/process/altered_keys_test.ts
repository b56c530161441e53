/**
 * Somebody alters the rows of signing keys or of the model in the database. The doctor and a start report it,
 * no command relies on it, and `jiss restore --acknowledge` makes the rows anew from the keys at hand and the
 * system chain.
 */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { IS_SERVER } from "../database.ts";
import {
  changeRows,
  createOrganization,
  freshDeployment,
  rowsIn,
  type RunningService,
  runProgram,
  startService,
} from "../program.ts";

type Environment = Readonly<Record<string, string>>;

const OBSERVED = { JISS_METRICS_ADDR: "127.0.0.1:0" };

interface Site {
  readonly data: string;
  readonly env: Environment;
  alter(...texts: readonly string[]): Promise<void>;
  run(...args: readonly string[]): ReturnType<typeof runProgram>;
  /** Names of the doctor's checks whose state is wrong. */
  wrong(): Promise<readonly string[]>;
}

/** A deployment whose signing key was rotated once and is in the overlap. */
function withSite(test: (site: Site) => Promise<void>): () => Promise<void> {
  return async () => {
    const { directory, env, remove } = await freshDeployment();
    const data = `${directory}/data`;
    const site: Site = {
      data,
      env,
      alter: (...texts) => changeRows(data, ...texts.map((sql) => ({ sql, parameters: [] }))),
      run: (...args) => runProgram(args, { env }),
      async wrong() {
        const { stdout } = await runProgram(["doctor", "--json"], { env });
        const checks: readonly { readonly check: string; readonly state: string }[] =
          JSON.parse(stdout).checks;
        return checks.filter(({ state }) => state === "wrong").map(({ check }) => check);
      },
    };
    const service = await startService(["serve"], { env });
    await createOrganization(service, env);
    assert.equal(await service.stop(), 0);
    assert.equal((await site.run("rotate-signing-key")).code, 0);
    await test(site);
    await remove();
  };
}

async function readiness(service: RunningService): Promise<readonly [status: number, said: string]> {
  const listening = service.log().find(({ msg }) => msg === "listening")!;
  const response = await fetch(`${listening.metrics_url}/readyz`);
  return [response.status, (await response.json()).status];
}

/**
 * Asserts that a service starts, makes an organization and stops. It may not be ready: an open alert stays
 * until the service's own round has found the chain whole.
 */
async function assertWorks({ env }: Site, orgId: string): Promise<void> {
  const service = await startService(["serve"], { env });
  await createOrganization(service, env, orgId);
  assert.equal(await service.stop(), 0);
}

const STRANGE_KEY = "x'3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29'";

/** SQL of each alteration, and whether a service starts after it. */
const ALTERED_KEYS: readonly (readonly [sql: string, starts: boolean])[] = [
  ["UPDATE signing_key SET until_size = 100", true],
  ["UPDATE signing_key SET from_size = 5 WHERE ordinal = 2", true],
  ["UPDATE signing_key SET certificate = 'x' WHERE ordinal = 2", true],
  [`UPDATE signing_key SET public_key = ${STRANGE_KEY} WHERE ordinal = 2`, false],
  [
    `INSERT INTO signing_key (ordinal, public_key, certificate, from_size) VALUES (3, ${STRANGE_KEY}, 'x', 9)`,
    false,
  ],
  ["DELETE FROM signing_key WHERE ordinal = 1", true],
  ["UPDATE signing_key SET ordinal = 9 WHERE ordinal = 2", true],
];

for (const [sql, starts] of ALTERED_KEYS) {
  Deno.test(
    `altered signing keys are found by the doctor and restored by an acknowledgement: ${sql.slice(0, 60)}`,
    withSite(async (site) => {
      const honest = (await site.run("checkpoint")).stdout.split("\n")[1];
      const before = await rowsIn(site.data, "SELECT * FROM signing_key ORDER BY ordinal");
      await site.alter(sql);
      assert.deepEqual(await site.wrong(), ["signing_key"]);
      const printed = await site.run("checkpoint");
      assert.deepEqual([printed.code, printed.stdout.split("\n")[1]], [0, honest]);
      for (let start = 1; start <= 2; start += 1) {
        if (starts) {
          const service = await startService(["serve"], { env: { ...site.env, ...OBSERVED } });
          assert.deepEqual(await readiness(service), [503, "chains altered"], `start ${start}`);
          assert.equal(await service.stop(), 0);
        } else {
          const { code, stderr } = await site.run("serve");
          assert.equal(code, 78);
          assert.match(stderr, /rows of signing_key in the database were altered/);
        }
      }
      const { code, stdout, stderr } = await site.run("restore", "--acknowledge", "keys altered");
      assert.equal(code, 0, stderr);
      assert.match(stdout, /The rows of signing_key were written again/);
      assert.deepEqual(await rowsIn(site.data, "SELECT * FROM signing_key ORDER BY ordinal"), before);
      assert.deepEqual(await site.wrong(), []);
      await assertWorks(site, "beta");
    }),
  );
}

Deno.test(
  "a start makes the signing keys anew if every row was deleted",
  withSite(async (site) => {
    const before = await rowsIn(site.data, "SELECT * FROM signing_key ORDER BY ordinal");
    await site.alter("DELETE FROM signing_key");
    assert.deepEqual(await site.wrong(), ["signing_key"]);
    await assertWorks(site, "beta");
    assert.deepEqual(await rowsIn(site.data, "SELECT * FROM signing_key ORDER BY ordinal"), before);
  }),
);

/** Alters rows of a table whose triggers forbid it. */
async function alterKept(site: Site, { table, sql }: { readonly table: string; readonly sql: string }) {
  const triggers = await rowsIn<{ name: string; sql: string }>(
    site.data,
    `SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = '${table}'`,
  );
  await site.alter(
    ...triggers.map(({ name }) => `DROP TRIGGER ${name}`),
    sql,
    ...triggers.map(({ sql }) => sql),
  );
}

Deno.test(
  "a signature line of a strange key is not printed with a checkpoint",
  withSite(async (site) => {
    const notesOf = (stdout: string) => stdout.split("\n").slice(1);
    const honest = await site.run("checkpoint");
    await alterKept(site, {
      table: "audit_checkpoint",
      sql: `UPDATE audit_checkpoint SET note = note || '— strange.test/key ${
        btoa("x".repeat(68))
      }' || char(10)`,
    });
    const { code, stdout } = await site.run("checkpoint");
    assert.equal(code, 0);
    assert.deepEqual(notesOf(stdout), notesOf(honest.stdout));
  }),
);

/** Deletes rows that others refer to, which only somebody with the embedded database's file can do. */
function deleteRows(data: string, ...texts: readonly string[]): void {
  const connection = new DatabaseSync(`${data}/jiss.db`);
  connection.exec("PRAGMA foreign_keys = OFF");
  for (const text of texts) connection.exec(text);
  connection.close();
}

async function assertNoCheckpoint(site: Site): Promise<void> {
  const { code, stdout, stderr } = await site.run("checkpoint");
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /the chain org\/acme(\/admin)? is missing: the database was altered/);
}

Deno.test({
  name:
    "no checkpoint is printed if a chain's row is gone, with lock.db or without it [needs the embedded database's file]",
  ignore: IS_SERVER,
  fn: withSite(async (site) => {
    deleteRows(site.data, "DELETE FROM audit_chain WHERE chain = 'org/acme'");
    await assertNoCheckpoint(site);
    for (const { name } of [...Deno.readDirSync(site.data)]) {
      if (name.startsWith("lock.db")) Deno.removeSync(`${site.data}/${name}`);
    }
    await assertNoCheckpoint(site);
  }),
});

Deno.test({
  name:
    "no checkpoint is printed if lock.db knows an organization of which the database knows nothing [needs the embedded database's file]",
  ignore: IS_SERVER,
  fn: withSite(async (site) => {
    deleteRows(
      site.data,
      "DELETE FROM audit_chain WHERE family LIKE '%/acme'",
      "DELETE FROM organization WHERE org_id = 'acme'",
    );
    await assertNoCheckpoint(site);
  }),
});

Deno.test(
  "the doctor finds an installation whose row is gone, and a start says so",
  withSite(async (site) => {
    await site.alter("DELETE FROM installation");
    assert.ok((await site.wrong()).includes("installation_row"));
    for (const args of [["serve"], ["org", "suspend", "acme"], ["restore", "--acknowledge", "row gone"]]) {
      const { code, stderr } = await site.run(...args);
      assert.equal(code, 78, stderr);
      assert.match(stderr, /the row of installation is missing/);
    }
  }),
);

Deno.test(
  "a checkpoint that the service did not sign is not printed",
  withSite(async (site) => {
    await alterKept(site, {
      table: "audit_checkpoint",
      sql: "UPDATE audit_checkpoint SET note = replace(note, '— ', '— x') WHERE chain = 'org/acme'",
    });
    const { code, stdout, stderr } = await site.run("checkpoint");
    assert.equal(code, 1);
    assert.equal(stdout, "");
    assert.match(stderr, /the newest checkpoint of org\/acme is not the one that the service signed/);
  }),
);

Deno.test(
  "without a signing key, or with another one, no checkpoint is printed",
  withSite(async ({ data, env, run }) => {
    const strange = await freshDeployment();
    const other = await startService(["serve"], { env: strange.env });
    assert.equal(await other.stop(), 0);
    const strangeKey = `${strange.directory}/data/signing-key.pem`;
    for (
      const [file, why] of [
        [`${data}/none.pem`, /contains no readable key/],
        [strangeKey, /signed no checkpoint of this database's system chain/],
      ] as const
    ) {
      const { code, stdout, stderr } = await runProgram(["checkpoint"], {
        env: { ...env, JISS_SIGNING_KEY_FILE: file, JISS_SIGNING_KEY_PREVIOUS_FILE: `${data}/none.pem` },
      });
      assert.deepEqual([code, stdout], [78, ""]);
      assert.match(stderr, why);
    }
    assert.equal((await run("checkpoint")).code, 0);
    await strange.remove();
  }),
);

const NO_MODEL = "0".repeat(64);

for (
  const [what, ...texts] of [
    [
      "the installation names another model",
      `INSERT INTO model_document (sha256, document, first_used_at) VALUES ('${NO_MODEL}', '{}', 0)`,
      `UPDATE installation SET model_sha256 = '${NO_MODEL}'`,
    ],
    ["its document was altered", "UPDATE model_document SET document = '{'"],
  ]
) {
  Deno.test(
    `an unreadable model gives no stack trace, and an acknowledgement continues with the model in use: ${what}`,
    withSite(async (site) => {
      await site.alter(...texts);
      assert.ok((await site.wrong()).includes("models"));
      const listed = await site.run("org", "show", "acme");
      assert.ok([0, 1].includes(listed.code), listed.stderr);
      assert.doesNotMatch(listed.stderr, /\n {4}at /);
      const { code, stderr } = await site.run("restore", "--acknowledge", "model altered");
      assert.equal(code, 0, stderr);
      assert.deepEqual(await site.wrong(), []);
      await assertWorks(site, "beta");
    }),
  );
}

Deno.test({
  name:
    "a missing model is named by a refusal, and an acknowledgement continues with the model in use [needs the embedded database's file]",
  ignore: IS_SERVER,
  fn: withSite(async (site) => {
    deleteRows(site.data, "DELETE FROM model_document");
    assert.deepEqual(await site.wrong(), ["models"]);
    const refused = await site.run("rotate-signing-key", "--drop-old");
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /the scoring model that it names is missing or was altered/);
    const { code, stderr } = await site.run("restore", "--acknowledge", "model gone");
    assert.equal(code, 0, stderr);
    await assertWorks(site, "beta");
  }),
});
