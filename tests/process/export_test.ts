/** `jiss export` and `jiss checkpoint`: evidence copied from the data directory, beside a running service. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { MIGRATIONS } from "../../migrations/mod.ts";
import { checkpointsIn } from "../../src/evidence/kept.ts";
import { migrate } from "../../src/store/migrate.ts";
import { save, verifyProgram, withDirectory } from "../auditing.ts";
import { embeddedTest } from "../database.ts";
import { EPOCH, scoreRequest } from "../harness.ts";
import {
  changeRows,
  createOrganization,
  environmentOf,
  freshDeployment,
  type RunningService,
  runProgram,
  startService,
  withDatabaseOf,
} from "../program.ts";

interface Site {
  readonly service: RunningService;
  readonly key: string;
  readonly directory: string;
  /** The whole environment of a command: it has no secret. */
  readonly env: Readonly<Record<string, string>>;
  /** The path of the public keys. */
  readonly jwks: string;
}

/** A running service with the organizations `acme`, which has two scores, and `other`. */
function withSite(test: (site: Site) => Promise<void>): () => Promise<void> {
  return async () => {
    const deployment = await freshDeployment();
    const env = { ...deployment.env, JISS_AUDIT_RETENTION_DAYS: "365", JISS_EVIDENCE_RETENTION_DAYS: "2000" };
    const service = await startService(["serve"], { env });
    const key = await createOrganization(service, env);
    await createOrganization(service, env, "other");
    for (const session_id of ["s-1", "s-2"]) {
      assert.equal(
        (await service.send("/v1/score", { key, body: scoreRequest({ session_id }) })).status,
        200,
      );
    }
    const { body } = await service.send("/.well-known/jwks.json");
    const jwks = await save(deployment.directory, "jwks.json", body);
    const bare = { JISS_DATA_DIR: deployment.env.JISS_DATA_DIR! };
    await test({ service, key, directory: deployment.directory, env: bare, jwks });
    await service.stop();
    await deployment.remove();
  };
}

/** Compares sizes: the system chain may be larger, because the service anchors the others in it. */
function hasSize(chain: string, size: number, expected: number): boolean {
  return chain === "sys" ? size >= expected : size === expected;
}

Deno.test(
  "every chain is exported beside the running service, without a secret, and verifies; only its owner can read the file",
  withSite(async ({ directory, env, jwks }) => {
    for (
      const [args, chain, entries, retention] of [
        [["--org", "acme"], "org/acme", 3, 2000],
        [["--org", "acme", "--chain", "evidence"], "org/acme", 3, 2000],
        [["--org", "other", "--chain", "admin"], "org/other/admin", 2, 365],
        [["--chain", "system"], "sys", 1, null],
      ] as const
    ) {
      const path = `${directory}/${chain.replaceAll("/", "-")}-${args.length}.ndjson`;
      const { code, stdout, stderr } = await runProgram(["export", ...args, "-o", path], { env });
      assert.deepEqual([code, stderr], [0, ""]);
      const text = await Deno.readTextFile(path);
      assert.equal(
        stdout,
        `Wrote ${path}: ${
          (await Deno.stat(path)).size
        } bytes, readable only by their owner. Check it with: jiss verify ${path} --key KEY\n`,
      );
      assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
      assert.equal(JSON.parse(text.split("\n")[0]!).retention_days, retention);
      const { report } = await verifyProgram([path, "--key", jwks, "--json"]);
      assert.deepEqual(
        report.bundles.map((
          bundle: Record<string, unknown>,
        ) => [bundle.chain, bundle.verdict]),
        [[chain, "INTACT, UNANCHORED"]],
      );
      assert.ok(hasSize(chain, report.bundles[0].entries, entries), chain);
    }
  }),
);

Deno.test(
  "without a file the bundle goes to standard output, and a reader that leaves early causes no message",
  withSite(async ({ directory, env, jwks }) => {
    const { code, stdout, stderr } = await runProgram(["export", "--org", "acme"], { env });
    assert.deepEqual([code, stderr], [0, ""]);
    assert.equal((await verifyProgram(["-", "--key", jwks], { stdin: stdout })).code, 0);
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", `${import.meta.dirname}/../../main.ts`, "export", "--org", "acme"],
      clearEnv: true,
      env: environmentOf(env),
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    await child.stdout.cancel();
    const [status, errors] = await Promise.all([child.status, new Response(child.stderr).text()]);
    assert.deepEqual([status.code, errors], [1, ""]);
    assert.deepEqual([...Deno.readDirSync(directory)].map(({ name }) => name).sort(), ["data", "jwks.json"]);
  }),
);

Deno.test(
  "parts are withheld as asked, and none by default",
  withSite(async ({ env }) => {
    const withheld = async (args: readonly string[]) => {
      const { stdout } = await runProgram(["export", "--org", "acme", ...args], { env });
      return stdout.split("\n").filter((line) => line.includes('"withheld":true')).length;
    };
    assert.deepEqual(
      [await withheld([]), await withheld(["--parts", "structural"]), await withheld(["--parts", "none"])],
      [0, 4, 5],
    );
  }),
);

Deno.test(
  "an existing file is left unchanged, and a failed export leaves no partial file",
  withSite(async ({ directory, env }) => {
    const path = await save(directory, "kept.ndjson", "mine");
    const { code, stdout, stderr } = await runProgram(["export", "--org", "acme", "-o", path], { env });
    assert.deepEqual([code, stdout], [1, ""]);
    assert.equal(stderr, `jiss: ${path} already exists and was not changed\n`);
    assert.equal(await Deno.readTextFile(path), "mine");
    const nowhere = await runProgram(["export", "--org", "acme", "-o", `${directory}/none/x`], { env });
    assert.equal(nowhere.code, 1);
    assert.deepEqual(
      [...Deno.readDirSync(directory)].map(({ name }) => name).sort(),
      ["data", "jwks.json", "kept.ndjson"],
    );
  }),
);

Deno.test(
  '"-o -" is standard output, not a file of that name',
  withSite(async ({ directory, env, jwks }) => {
    const cwd = `${directory}/here`;
    await Deno.mkdir(cwd);
    const { code, stdout, stderr } = await runProgram(["export", "--org", "acme", "-o", "-"], { env, cwd });
    assert.deepEqual([code, stderr], [0, ""]);
    assert.ok(
      stdout.split("\n").slice(0, -1).every((line) => line.startsWith("{")),
      "the bundle and nothing else",
    );
    const { report } = await verifyProgram(["-", "--key", jwks, "--json"], { stdin: stdout });
    const [{ chain, entries, verdict }] = report.bundles;
    assert.deepEqual([chain, entries, verdict], ["org/acme", 3, "INTACT, UNANCHORED"]);
    assert.deepEqual([...Deno.readDirSync(cwd)], []);
  }),
);

Deno.test(
  "a file that cannot be made is named as it was given, with 1, and no partial file stays",
  withSite(async ({ directory, env }) => {
    const cwd = `${directory}/here`;
    await Deno.mkdir(cwd);
    for (const path of ["missing-directory/x", `${cwd}/missing-directory/x`]) {
      const { code, stdout, stderr } = await runProgram(["export", "--org", "acme", "-o", path], {
        env,
        cwd,
      });
      assert.deepEqual([code, stdout], [1, ""]);
      assert.ok(stderr.startsWith(`jiss: ${path} cannot be written: No such file or directory`), stderr);
    }
    assert.deepEqual([...Deno.readDirSync(cwd)], []);
  }),
);

Deno.test(
  "an unknown organization is refused with 1 and names no other; arguments that do not select one chain are refused with 2",
  withSite(async ({ env }) => {
    for (const org of ["acm", "acme/admin", "ACME", "acme ", "../sys"]) {
      const { code, stdout, stderr } = await runProgram(["export", "--org", org], { env });
      assert.deepEqual([code, stdout], [1, ""]);
      assert.equal(stderr, `jiss: there is no organization "${org}" in this database\n`);
    }
    for (
      const [args, why] of [
        [[], /--org is missing/],
        [["--chain", "admin"], /--org is missing/],
        [["--chain", "system", "--org", "acme"], /leave out --org/],
        [["--chain", "sys"], /Allowed choices are evidence, admin, system/],
        [["--org", "acme", "--parts", "some"], /Allowed choices are all, structural, none/],
        [["--org", "acme", "--force"], /unknown option '--force'/],
      ] as const
    ) {
      const { code, stdout, stderr } = await runProgram(["export", ...args], { env });
      assert.deepEqual([code, stdout], [2, ""]);
      assert.match(stderr, why);
    }
  }),
);

/** Commands that copy evidence. */
const COMMANDS = [["export", "--org", "acme"], ["checkpoint"]];

/** Asserts that the commands end with 78 and make nothing. */
async function assertRefused(env: Readonly<Record<string, string>>, why: RegExp): Promise<void> {
  for (const args of COMMANDS) {
    const { code, stdout, stderr } = await runProgram(args, { env });
    assert.deepEqual([code, stdout], [78, ""], stderr);
    assert.match(stderr, why);
  }
}

embeddedTest(
  "without the service's database, or with a file that is not one, nothing is made and the exit code is 78",
  () =>
    withDirectory(async (directory) => {
      await assertRefused(
        { JISS_DATA_DIR: `${directory}/none` },
        /there is no database at .*none\/jiss\.db: start the service there once, or set JISS_DATA_DIR/,
      );
      assert.deepEqual([...Deno.readDirSync(directory)], []);
      await Deno.writeTextFile(`${directory}/text.db`, "no database, but a text of some length ".repeat(40));
      await assertRefused(
        { JISS_DATABASE_URL: `file:${directory}/text.db` },
        /text\.db cannot be used because it is damaged, or is no database/,
      );
    }),
);

Deno.test("if the server cannot be reached the commands say why and end with 1, so that a script can try again", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const JISS_DATABASE_URL = `http://127.0.0.1:${listener.addr.port}`;
  listener.close();
  for (const args of COMMANDS) {
    const { code, stdout, stderr } = await runProgram(args, { env: { JISS_DATABASE_URL } });
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /^jiss: The database server does not answer; .* \(.*refused.*\)\n$/);
  }
});

Deno.test("with an empty database, or another version's, nothing is made and the exit code is 78", async () => {
  const { env, remove } = await freshDeployment();
  const data = env.JISS_DATA_DIR!;
  const bare = { JISS_DATA_DIR: data };
  const migrateTo = (steps: number) =>
    withDatabaseOf(
      data,
      (database) => migrate(database, { migrations: MIGRATIONS.slice(0, steps), now: EPOCH }),
    );
  // Opened once, so that there is a file.
  await withDatabaseOf(data, () => Promise.resolve());
  await assertRefused(bare, /is not a database of this program/);
  await migrateTo(2);
  await assertRefused(bare, /schema version 2, .* start the service once with this program/);
  await migrateTo(MIGRATIONS.length);
  await changeRows(data, { sql: "INSERT INTO schema_migration VALUES (99, 'later', 0)", parameters: [] });
  await assertRefused(bare, /schema version 99, .* run the program that wrote it, or a newer one/);
  await remove();
});

Deno.test(
  "an export of a damaged row names it in words, on the command line and over HTTP, and leaves no partial file",
  withSite(async ({ service, key, directory, env }) => {
    const data = env.JISS_DATA_DIR!;
    await changeRows(data, { sql: "UPDATE model_document SET document = '{'", parameters: [] });
    const path = `${directory}/acme.ndjson`;
    const { code, stdout, stderr } = await runProgram(["export", "--org", "acme", "-o", path], { env });
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(
      stderr,
      /^jiss: the export stopped: the model document [0-9a-f]{64} is damaged in the database \(.+\)\n$/,
    );
    await assert.rejects(() => Deno.stat(path), Deno.errors.NotFound);

    const answer = await service.send("/v1/audit/chain/export", { key });
    assert.deepEqual([answer.status, answer.body.error.code], [500, "INTERNAL_ERROR"]);
    assert.equal(answer.headers.get("Content-Type"), "application/json");
    // Chains without parts need no model, and are exported as before.
    assert.equal((await runProgram(["export", "--org", "acme", "--parts", "none"], { env })).code, 0);
  }),
);

embeddedTest(
  "an export of a part that is not text any more names its entry",
  withSite(async ({ env }) => {
    {
      const options = { timeout: 5000, enableForeignKeyConstraints: false };
      using file = new DatabaseSync(`${env.JISS_DATA_DIR}/jiss.db`, options);
      // A table without types, as in a file that was repaired by hand.
      file.exec("CREATE TABLE repaired AS SELECT * FROM audit_part");
      file.exec("DROP TABLE audit_part");
      file.exec("ALTER TABLE repaired RENAME TO audit_part");
      file.exec(
        "UPDATE audit_part SET data = x'00ff' WHERE chain = 'org/acme' AND seq = 2 AND name = 'input'",
      );
    }
    const { code, stderr } = await runProgram(["export", "--org", "acme"], { env });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^jiss: the export stopped: entry 2 of org\/acme is damaged in the database \(.+\)\n$/,
    );
  }),
);

Deno.test(
  "a printed checkpoint lists every chain, the system's own first, and anchors each of them later",
  withSite(async ({ service, key, directory, env, jwks }) => {
    const { code, stdout, stderr } = await runProgram(["checkpoint"], { env });
    assert.deepEqual([code, stderr], [0, ""]);
    const found = checkpointsIn(stdout);
    const sizes = [["sys", 1], ["org/acme", 3], ["org/acme/admin", 2], ["org/other", 1], [
      "org/other/admin",
      2,
    ]];
    const chainOf = (origin: string) => origin.split("/").slice(2).join("/");
    assert.deepEqual(found.map(({ origin }) => chainOf(origin)), sizes.map(([chain]) => chain));
    found.forEach(({ origin, size }, index) =>
      assert.ok(hasSize(chainOf(origin), Number(size), Number(sizes[index]![1])), origin)
    );
    const [first, second] = stdout.split("\n");
    assert.match(
      first!,
      /^Checkpoints of jiss\.local\/[0-9A-Z]{26}\/ at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
    );
    assert.match(second!, /^Key in use: SHA256:[A-Za-z0-9+/]{43}$/);
    assert.match(stdout, /jiss verify BUNDLE --key KEY --checkpoint THIS_FILE/);

    const kept = await save(directory, "kept.txt", stdout);
    await service.send("/v1/score", { key, body: scoreRequest({ session_id: "s-3" }) });
    for (const args of [["--org", "acme"], ["--org", "other", "--chain", "admin"], ["--chain", "system"]]) {
      const bundle = (await runProgram(["export", ...args], { env })).stdout;
      const { stdout } = await verifyProgram(["-", "--key", jwks, "--checkpoint", kept], { stdin: bundle });
      assert.match(stdout, /^INTACT\n/);
    }
  }),
);
