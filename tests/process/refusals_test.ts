/** Starts that the program refuses, and their messages. */
import assert from "node:assert/strict";
import { embeddedTest } from "../database.ts";
import { MOUNT_IS_MISSING, mountSmall, resize, unmount } from "../disks.ts";
import { scoreRequest } from "../harness.ts";
import {
  changeRows,
  createOrganization,
  freshDeployment,
  rowsIn,
  runProgram,
  startService,
} from "../program.ts";

Deno.test({
  name:
    "an init that fails on the second file leaves none, so that the next one can write both [needs mount]",
  ignore: MOUNT_IS_MISSING,
  async fn() {
    const directory = await Deno.makeTempDir({ prefix: "jiss-init-" });
    const disk = `${directory}/disk`;
    // Room for one of the two files.
    await mountSmall(disk, "4k");
    try {
      const { code, stderr } = await runProgram(["init", disk]);
      assert.equal(code, 1);
      assert.match(stderr, /No space left/);
      assert.deepEqual([...Deno.readDirSync(disk)], []);
      await resize(disk, "1m");
      assert.equal((await runProgram(["init", disk])).code, 0);
    } finally {
      await unmount(disk);
    }
    await Deno.remove(directory, { recursive: true });
  },
});

Deno.test("serve ends with 78 and names every problem of the configuration, and no value", async () => {
  const { code, stderr, stdout } = await runProgram(["serve"], {
    env: {
      JISS_PORT: "99999",
      JISS_HOTS: "value-one",
      JISS_KEY_PEPPER: "short-value-two",
      JISS_TRUSTED_PROXIES: "value-three",
      MASTER_ADMIN_KEY_ORG_CREATE: "the-same-value-used-twice-0123456789",
      MASTER_ADMIN_KEY_ALERT_ACK: "the-same-value-used-twice-0123456789",
      JISS_DATABASE_URL: "ftp://SHOWN-NOWHERE",
      JISS_LOG: "value-five",
    },
  });
  assert.equal(code, 78);
  assert.equal(stdout, "");
  for (
    const name of [
      "JISS_PORT",
      "JISS_HOTS",
      "JISS_KEY_PEPPER",
      "JISS_TRUSTED_PROXIES",
      "MASTER_ADMIN_KEY_ORG_CREATE",
      "MASTER_ADMIN_KEY_ALERT_ACK",
      "JISS_DATABASE_URL",
      "JISS_LOG",
    ]
  ) assert.ok(stderr.includes(name), `${name}: ${stderr}`);
  assert.match(stderr, /JISS_HOTS .*JISS_HOST\?/);
  assert.ok(!/value-(one|two|three|four|five)|used-twice/.test(stderr), stderr);
});

Deno.test("a bad scoring model is refused with every problem named, and a good one is used and recorded", async () => {
  const deployment = await freshDeployment();
  const model = JSON.parse(
    await Deno.readTextFile(`${import.meta.dirname}/../../src/scoring/jis-2.0.0.json`),
  );
  const path = `${deployment.directory}/model.json`;
  const env = { ...deployment.env, JISS_SCORING_MODEL_FILE: path };
  const bad = structuredClone(model);
  bad.bands.adequate = 90;
  bad.dimensions.error_detection.weight = 0.6;
  delete bad.retention.exponent;
  await Deno.writeTextFile(path, JSON.stringify(bad));
  const refused = await runProgram(["serve"], { env });
  assert.equal(refused.code, 78);
  for (const place of ["bands", "dimensions", "retention.exponent"]) {
    assert.ok(refused.stderr.includes(place));
  }

  const plain = await startService(["serve"], deployment);
  const key = await createOrganization(plain, deployment.env);
  const builtIn = await plain.send("/v1/score", { key, body: scoreRequest({ session_id: "a" }) });
  await plain.stop();

  model.version = "acme-1";
  model.domains.general.reference_ms = 30_000;
  await Deno.writeTextFile(path, JSON.stringify(model));
  const calibrated = await startService(["serve"], { env });
  const scored = await calibrated.send("/v1/score", { key, body: scoreRequest({ session_id: "b" }) });
  assert.equal(scored.body.model.version, "acme-1");
  assert.notEqual(scored.body.model.sha256, builtIn.body.model.sha256);
  await calibrated.stop();
  const version = await runProgram(["version"], { env });
  assert.ok(version.stdout.includes(`model sha256 ${scored.body.model.sha256}`));

  const changes = await rowsIn<{ data: string }>(
    `${deployment.directory}/data`,
    `SELECT p.data FROM audit_entry e JOIN audit_part p USING (chain, seq)
     WHERE e.chain = 'sys' AND e.event_type = 'MODEL_CHANGED'`,
  );
  assert.deepEqual(changes.map(({ data }) => JSON.parse(data)), [{
    from_sha256: builtIn.body.model.sha256,
    to_sha256: scored.body.model.sha256,
    to_version: "acme-1",
  }]);
  await deployment.remove();
});

Deno.test("a missing, broken or foreign signing key is refused once the database holds chains", async () => {
  const deployment = await freshDeployment();
  await (await startService(["serve"], deployment)).stop();
  const path = `${deployment.directory}/data/signing-key.pem`;
  const right = await Deno.readTextFile(path);
  const serve = () => runProgram(["serve"], { env: { ...deployment.env, JISS_PORT: "0" } });

  await Deno.remove(path);
  const missing = await serve();
  assert.deepEqual([missing.code, /JISS_SIGNING_KEY_FILE/.test(missing.stderr)], [78, true]);
  await assert.rejects(Deno.stat(path), Deno.errors.NotFound);

  await Deno.writeTextFile(path, "nonsense");
  const broken = await serve();
  assert.deepEqual([broken.code, /PKCS#8/.test(broken.stderr)], [78, true]);

  await Deno.remove(path);
  const elsewhere = `${deployment.directory}/other`;
  await runProgram(["init", elsewhere]);
  await Deno.copyFile(`${elsewhere}/signing-key.pem`, path);
  const foreign = await serve();
  assert.deepEqual([foreign.code, /another key/.test(foreign.stderr)], [78, true]);

  await Deno.writeTextFile(path, right);
  await (await startService(["serve"], deployment)).stop();
  await deployment.remove();
});

Deno.test("an empty signing key file, which a first start that was cut short can leave, is filled; once the database holds chains it is refused", async () => {
  const deployment = await freshDeployment();
  const keyFile = `${deployment.directory}/data/signing-key.pem`;
  await Deno.writeTextFile(keyFile, "");
  await (await startService(["serve"], deployment)).stop();
  assert.match(await Deno.readTextFile(keyFile), /^-----BEGIN PRIVATE KEY-----\n/);
  await Deno.writeTextFile(keyFile, "");
  const { code, stderr } = await runProgram(["serve"], deployment);
  assert.deepEqual([code, /JISS_SIGNING_KEY_FILE/.test(stderr)], [78, true], stderr);
  assert.equal(await Deno.readTextFile(keyFile), "");
  await deployment.remove();
});

Deno.test("another pepper than the database's is refused; during its rotation the previous one opens and verifies", async () => {
  const deployment = await freshDeployment();
  const first = await startService(["serve"], deployment);
  const key = await createOrganization(first, deployment.env);
  await first.stop();
  const pepper = "another-pepper-0123456789-0123456789";
  const wrong = await runProgram(["serve"], {
    env: { ...deployment.env, JISS_PORT: "0", JISS_KEY_PEPPER: pepper },
  });
  assert.equal(wrong.code, 78);
  assert.match(wrong.stderr, /JISS_KEY_PEPPER_PREVIOUS/);
  const rotating = {
    ...deployment.env,
    JISS_KEY_PEPPER: pepper,
    JISS_KEY_PEPPER_PREVIOUS: deployment.env.JISS_KEY_PEPPER!,
  };
  const second = await startService(["serve"], { env: rotating });
  assert.equal((await second.send("/v1/score", { key, body: scoreRequest() })).status, 200);
  await second.stop();
  await deployment.remove();
});

Deno.test("a database with a newer schema is refused with advice", async () => {
  const deployment = await freshDeployment();
  await (await startService(["serve"], deployment)).stop();
  await changeRows(`${deployment.directory}/data`, {
    sql: "INSERT INTO schema_migration VALUES (99, 'future', 0)",
    parameters: [],
  });
  const newer = await runProgram(["serve"], { env: { ...deployment.env, JISS_PORT: "0" } });
  assert.deepEqual([newer.code, /schema version 99/.test(newer.stderr)], [78, true]);
  await deployment.remove();
});

embeddedTest("a file that is not a database is refused with advice", async () => {
  const deployment = await freshDeployment();
  await Deno.writeTextFile(
    `${deployment.directory}/data/jiss.db`,
    "this is not a database, and longer than a header of one hundred bytes ".repeat(9),
  );
  const broken = await runProgram(["serve"], { env: { ...deployment.env, JISS_PORT: "0" } });
  assert.equal(broken.code, 78, broken.stderr);
  await deployment.remove();
});

Deno.test("a data directory that cannot be made or used is refused by its variable's name, without its value", async () => {
  const deployment = await freshDeployment();
  const file = `${deployment.directory}/a-file`;
  await Deno.writeTextFile(file, "");
  for (const path of [file, `${file}/below`]) {
    const { code, stderr } = await runProgram(["serve"], { env: { ...deployment.env, JISS_DATA_DIR: path } });
    assert.equal(code, 78);
    assert.match(stderr, /JISS_DATA_DIR/);
    assert.ok(!stderr.includes("a-file"), stderr);
  }
  await deployment.remove();
});

Deno.test("init never overwrites: if either file exists, it fails and changes neither", async () => {
  const directory = await Deno.makeTempDir({ prefix: "jiss-test-" });
  assert.equal((await runProgram(["init", directory])).code, 0);
  const [env, key] = [`${directory}/jiss.env`, `${directory}/signing-key.pem`];
  const before = [await Deno.readTextFile(env), await Deno.readTextFile(key)];
  assert.equal((await runProgram(["init", directory])).code, 1);
  assert.deepEqual([await Deno.readTextFile(env), await Deno.readTextFile(key)], before);
  await Deno.remove(env);
  assert.equal((await runProgram(["init", directory])).code, 1);
  await assert.rejects(Deno.stat(env), Deno.errors.NotFound);
  assert.equal(await Deno.readTextFile(key), before[1]);
  await Deno.remove(directory, { recursive: true });
});

Deno.test("init writes a pepper and nine master keys, all different, and prints none of them", async () => {
  const directory = await Deno.makeTempDir({ prefix: "jiss-test-" });
  const { stdout } = await runProgram(["init", directory]);
  const lines = (await Deno.readTextFile(`${directory}/jiss.env`)).trim().split("\n");
  assert.deepEqual(lines.map((line) => line.split("=")[0]), [
    "JISS_KEY_PEPPER",
    "MASTER_ADMIN_KEY_ORG_CREATE",
    "MASTER_ADMIN_KEY_BILLING_SUSPEND",
    "MASTER_ADMIN_KEY_BILLING_ROTATE",
    "MASTER_ADMIN_KEY_ORG_USAGE_READ",
    "MASTER_ADMIN_KEY_ORG_SUSPEND",
    "MASTER_ADMIN_KEY_ORG_REACTIVATE",
    "MASTER_ADMIN_KEY_ORG_FORCE_ROTATE",
    "MASTER_ADMIN_KEY_ORG_FORCE_REVOKE",
    "MASTER_ADMIN_KEY_ALERT_ACK",
  ]);
  const values = lines.map((line) => line.slice(line.indexOf("=") + 1));
  assert.equal(new Set(values).size, 10);
  for (const value of values) assert.ok(value.length >= 32 && !stdout.includes(value));
  assert.match(await Deno.readTextFile(`${directory}/signing-key.pem`), /^-----BEGIN PRIVATE KEY-----/);
  await Deno.remove(directory, { recursive: true });
});

Deno.test("a mistyped command or flag, an extra argument or no argument ends with 2 and names the nearest word", async () => {
  for (
    const [args, expected] of [
      [["serv"], /unknown command 'serv': did you mean serve\?/],
      [["zzz"], /did you mean \w+\?/],
      [["dev", "--frsh"], /unknown option '--frsh': did you mean --fresh\?/],
      [["serve", "--port"], /unknown option '--port': did you mean --help\?/],
      [["--hlp"], /did you mean --help\?/],
      [["init", "a", "b"], /too many arguments/],
      [[], /Usage: jiss/],
    ] as const
  ) {
    const { code, stderr } = await runProgram(args);
    assert.equal(code, 2, args.join(" "));
    assert.match(stderr, expected);
  }
});

Deno.test("every command has --help", async () => {
  const { code, stdout } = await runProgram(["--help"]);
  assert.equal(code, 0);
  const commands = ["dev", "serve", "init", "doctor", "healthcheck", "openapi", "version"];
  for (const command of commands) {
    assert.ok(stdout.includes(`  ${command}`), command);
    const help = await runProgram([command, "--help"]);
    assert.deepEqual([help.code, help.stdout.includes(`Usage: jiss ${command}`)], [0, true]);
  }
});

Deno.test("--help marks the required options, lists the allowed words, and shows no empty default", async () => {
  const help = async (...command: string[]) =>
    (await runProgram([...command, "--help"])).stdout.replaceAll(/\s+/g, " ");
  assert.match(await help("restore"), /--acknowledge <REASON> [^(]*\(required\)/);
  assert.match(
    await help("org", "create"),
    /--tier <TIER> [^(]*\(required; choices: starter, standard, enterprise\)/,
  );
  assert.match(
    await help("export"),
    /--chain <CHAIN> [^(]*\(choices: evidence, admin, system; default: evidence\)/,
  );
  for (const command of [["dev"], ["doctor"], ["org", "create"]]) {
    assert.doesNotMatch(await help(...command), /default: (?:false|""|\))/);
  }
});

Deno.test("version names everything that an answer can depend on", async () => {
  const { code, stdout } = await runProgram(["version"]);
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^jiss \d+\.\d+\.\d+\ndeno \d+\.\S+\nv8 \S+\nsqlite 3\.\S+\nmodel jis-2\.0\.0\nmodel sha256 [0-9a-f]{64}\n$/,
  );
});

Deno.test("with too few file descriptors the service and the commands say so, and no message blames permissions", async () => {
  const { env, remove } = await freshDeployment();
  for (const args of [["serve"], ["org", "list"], ["doctor"]]) {
    for (const descriptors of [24, 32, 40]) {
      const { code, stderr } = await runProgram(args, { env: { ...env, JISS_PORT: "0" }, descriptors });
      assert.equal(code, 78, `${args} with ${descriptors}: ${stderr}`);
      assert.match(
        stderr,
        /^jiss: this process can open only \d+ more files and needs at least 32: grant it more/,
      );
      assert.doesNotMatch(stderr, /permission|\n\s+at /);
    }
  }
  await remove();
});
