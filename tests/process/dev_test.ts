/** `jiss dev`: the first command that a newcomer runs. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { parseEnv } from "node:util";
import { scoreRequest } from "../harness.ts";
import { exists } from "../../src/cli/init.ts";
import {
  baseEnvironment,
  rowsIn,
  type RunningService,
  type RunOptions,
  runProgram,
  startService,
  until,
  watch,
} from "../program.ts";

const ROOT = await Deno.realPath(`${import.meta.dirname}/../..`);

interface Printed {
  readonly key: string;
  /** Curl line that scores an interaction. */
  readonly curl: string;
  readonly dashboard: string;
  /** Curl line that writes report.html. */
  readonly report: string;
}

function printedBy(service: RunningService): Printed {
  const key = /API key \([^)]*\): {2}(jis_\w{26})/.exec(service.output())?.[1];
  const [curl, dashboard, report] = service.output().match(/^curl .*$/gm) ?? [];
  assert.ok(key !== undefined && curl && dashboard && report, service.output());
  return { key, curl, dashboard, report };
}

/** Waits until the whole greeting is printed. It follows the listening line. */
async function greeted(service: RunningService): Promise<Printed> {
  while (!/^curl .*report\.html\n/m.test(service.output())) await new Promise((next) => setTimeout(next, 5));
  return printedBy(service);
}

/** Runs a line in a shell, as if a reader pasted it. */
async function run(line: string, cwd: string): Promise<string> {
  const { stdout, code } = await new Deno.Command("sh", { args: ["-c", line], cwd }).output();
  assert.equal(code, 0);
  return new TextDecoder().decode(stdout);
}

async function paste(line: string): Promise<Record<string, unknown>> {
  return JSON.parse(await run(line, "."));
}

async function hasCurl(): Promise<boolean> {
  try {
    return (await new Deno.Command("curl", { args: ["--version"], stdout: "null" }).output()).success;
  } catch {
    return false;
  }
}

Deno.test("dev prints a key and a curl line that answers 200 with a JIS, seven integer dimensions and evidence", async () => {
  const directory = await Deno.makeTempDir({ prefix: "jiss-dev-" });
  const options = { cwd: directory };
  const service = await startService(["dev"], options);
  const { key, curl, dashboard, report } = await greeted(service);
  assert.ok(curl.includes(key) && curl.includes(service.url));
  if (await hasCurl()) {
    const body = await paste(curl);
    assert.equal(typeof body.jis, "number");
    const dimensions = Object.values(body.dimensions as Record<string, number>);
    assert.equal(dimensions.length, 7);
    for (const value of dimensions) assert.ok(Number.isInteger(value) && value >= 0 && value <= 100);
    assert.equal((body.evidence as Record<string, unknown>).v, "jis.evidence/1");
    assert.equal(body.provisional, false, "the demo's operators have a history");
    assert.deepEqual(await paste(curl), body, "pasted twice it gets the same answer");
    const { dashboard: figures } = await paste(dashboard) as { dashboard: Record<string, number> };
    assert.ok(figures.total_operators! >= 10);
    await run(report, directory);
    const page = await Deno.readTextFile(`${directory}/report.html`);
    assert.ok(page.startsWith("<!DOCTYPE html>") && page.includes("Demo organization"));
  } else {
    assert.equal((await service.send("/v1/score", { key, body: scoreRequest() })).status, 200);
  }
  assert.equal(await service.stop(), 0);
  const files = [...Deno.readDirSync(`${directory}/data/dev`)].map(({ name }) => name).sort();
  // --fresh removes each of them except the locks, which hold no data.
  assert.deepEqual(files, [
    "dev-address.txt",
    "dev.lock",
    "jiss.db",
    "jiss.env",
    "lock.db",
    "running.lock",
    "signing-key.pem",
    "start.lock",
  ]);

  const second = await startService(["dev"], options);
  const { key: next } = await greeted(second);
  assert.notEqual(next, key);
  assert.equal((await second.send("/v1/score", { key, body: scoreRequest() })).status, 401, "the old key");
  assert.equal((await second.send("/v1/score", { key: next, body: scoreRequest() })).status, 200);
  assert.ok(!second.log().some(({ msg }) => msg === "demo history written"), "the data is kept");
  await second.stop();

  const fresh = await startService(["dev", "--fresh"], options);
  await greeted(fresh);
  assert.ok(
    fresh.log().some(({ msg, interactions }) =>
      msg === "demo history written" && Number(interactions) > 1000
    ),
  );
  await fresh.stop();
  await Deno.remove(directory, { recursive: true });
});

Deno.test("dev on a database older than its lock ends with a message that says what to do, and --fresh starts over", async () => {
  const directory = await Deno.makeTempDir({ prefix: "jiss-dev-" });
  const options = { cwd: directory };
  const data = `${directory}/data/dev`;
  const first = await startService(["dev"], options);
  await greeted(first);
  assert.equal(await first.stop(), 0);
  await Deno.copyFile(`${data}/jiss.db`, `${directory}/backup.db`);
  // Each run mints a key, which is one more entry.
  const second = await startService(["dev"], options);
  await greeted(second);
  assert.equal(await second.stop(), 0);
  await Deno.copyFile(`${directory}/backup.db`, `${data}/jiss.db`);

  const message = await startService(["dev"], options).then(
    async (service) => `listened and ended with ${await service.stop()}`,
    (error: Error) => error.message,
  );
  assert.match(message, /^ended with 1 before it listened: /);
  assert.match(message, /jiss: the demo organization cannot get a key: .*jiss restore --acknowledge REASON/);
  assert.doesNotMatch(message, /^ +at .*:\d+:\d+/m, "no stack trace");
  assert.doesNotMatch(message, /API key/);

  const fresh = await startService(["dev", "--fresh"], options);
  const { key } = await greeted(fresh);
  assert.equal((await fresh.send("/v1/score", { key, body: scoreRequest() })).status, 200);
  assert.equal(await fresh.stop(), 0);
  await Deno.remove(directory, { recursive: true });
});

const FIXED_KEY = "jis_F1XEDF0R10CA1TEST1NG000000";

async function failure(args: readonly string[], options: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await runProgram(args, {
    ...options,
    env: { JISS_PORT: "0", ...options.env },
  });
  assert.notEqual(code, 0, stdout);
  assert.doesNotMatch(stderr, /^ +at .*:\d+:\d+/m, "no stack trace");
  return stderr;
}

Deno.test("a second dev on one data directory is refused with the first one's address, and changes nothing", async () => {
  const directory = await Deno.makeTempDir({ prefix: "jiss-dev-" });
  const options = { cwd: directory };
  const data = `${directory}/data/dev`;
  const first = await startService(["dev"], options);
  const { key } = await greeted(first);
  const secrets = await Deno.readTextFile(`${data}/jiss.env`);
  const entries = () =>
    rowsIn(data, "SELECT event_type FROM audit_entry WHERE event_type IN ('ORG_CREATED', 'KEY_ROTATED')");
  const before = await entries();
  const { port } = new URL(first.url);
  for (const args of [["dev"], ["dev", "--fresh"], ["dev", "--key", FIXED_KEY]]) {
    // At the first one's port as by default, and at another one.
    for (const JISS_PORT of [port, "0"]) {
      const message = await failure(args, { ...options, env: { JISS_PORT } });
      assert.ok(message.includes(`already runs on ./data/dev, at ${first.url}`), message);
    }
  }
  assert.deepEqual(await entries(), before);
  assert.equal(await Deno.readTextFile(`${data}/jiss.env`), secrets);
  assert.equal(
    (await first.send("/v1/score", { key, body: scoreRequest() })).status,
    200,
    "the first one's key",
  );
  assert.equal(await first.stop(), 0);

  const next = await startService(["dev"], options);
  assert.equal(await next.stop(), 0, "files that the first one left do not prevent a start");
  await Deno.remove(directory, { recursive: true });
});

Deno.test("a dev whose port is taken, or whose configuration or key is invalid, changes nothing", async () => {
  const directory = await Deno.makeTempDir({ prefix: "jiss-dev-" });
  const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const JISS_PORT = String(taken.addr.port);
  const attempts = async () => {
    assert.match(
      await failure(["dev"], { cwd: directory, env: { JISS_PORT } }),
      /cannot listen on .*JISS_PORT/,
    );
    assert.match(
      await failure(["dev", "--fresh"], { cwd: directory, env: { JISS_PORT } }),
      /cannot listen on .*JISS_PORT/,
    );
    assert.match(
      await failure(["dev", "--fresh"], { cwd: directory, env: { JISS_RATE_LIMIT_IP: "many" } }),
      /JISS_RATE_LIMIT_IP/,
    );
    for (const key of ["", "jis_short", FIXED_KEY.toLowerCase(), `jis_${"0".repeat(26)}`]) {
      const message = await failure(["dev", "--fresh", "--key", key], { cwd: directory });
      assert.match(message, /^jiss: --key /);
      assert.ok(key === "" || !message.includes(key), "no error shows the key");
    }
  };
  await attempts();
  assert.deepEqual([...Deno.readDirSync(directory)], [], "nothing was made");

  const first = await startService(["dev"], { cwd: directory });
  const { key } = await greeted(first);
  assert.equal(await first.stop(), 0);
  await attempts();
  const again = await startService(["serve"], {
    env: {
      ...parseEnv(await Deno.readTextFile(`${directory}/data/dev/jiss.env`)) as Record<string, string>,
      JISS_DATA_DIR: `${directory}/data/dev`,
    },
  });
  assert.equal(
    (await again.send("/v1/score", { key, body: scoreRequest() })).status,
    200,
    "the key still works",
  );
  // A service uses the directory: its files are not removed.
  for (const args of [["dev"], ["dev", "--fresh"]]) {
    const message = await failure(args, { cwd: directory });
    assert.match(message, /another process uses \.\/data\/dev/);
  }
  assert.equal((await again.send("/v1/organization/dashboard", { key })).status, 200);
  assert.equal(await again.stop(), 0);
  taken.close();
  await Deno.remove(directory, { recursive: true });
});

Deno.test("a deployment that dev did not make is left alone, and an empty JISS_DATA_DIR counts as not set", async () => {
  const directory = await Deno.makeTempDir({ prefix: "jiss-dev-" });
  assert.equal((await runProgram(["init", `${directory}/real`])).code, 0);
  const env = { JISS_DATA_DIR: `${directory}/real` };
  const entries = () => [...Deno.readDirSync(`${directory}/real`)].map(({ name }) => name).sort();
  for (const args of [["dev"], ["dev", "--fresh"]]) {
    assert.match(await failure(args, { env }), /contains a deployment that jiss dev did not make/);
    assert.deepEqual(entries(), ["jiss.env", "signing-key.pem"]);
  }
  const unset = await startService(["dev"], { cwd: directory, env: { JISS_DATA_DIR: "" } });
  await greeted(unset);
  assert.equal(await unset.stop(), 0);
  assert.ok(exists(`${directory}/data/dev/dev.lock`));
  await Deno.writeTextFile(`${directory}/file`, "");
  for (const path of [`${directory}/file`, `${directory}/file/x`]) {
    for (const args of [["dev"], ["init", path]]) {
      const message = await failure(args, { env: { JISS_DATA_DIR: path } });
      assert.match(message, /^jiss: the directory ".*\/file.*" cannot be created \(\w+\): check the path/);
    }
  }
  await Deno.remove(directory, { recursive: true });
});

Deno.test("a first dev that was killed while it wrote the demo's history is completed by the next", async () => {
  const directory = await Deno.makeTempDir({ prefix: "jiss-dev-" });
  const data = `${directory}/data/dev`;
  const found = (sql: string) => rowsIn(data, sql);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", `${ROOT}/main.ts`, "dev"],
    cwd: directory,
    clearEnv: true,
    env: { ...baseEnvironment(), JISS_PORT: "0" },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  // Read only: a connection that may write would make the file, and dev refuses a file that it did not make.
  const hasBegun = () => {
    try {
      const database = new DatabaseSync(`${data}/jiss.db`, { readOnly: true });
      try {
        return database.prepare("SELECT 1 FROM organization").all().length > 0;
      } finally {
        database.close();
      }
    } catch {
      return false;
    }
  };
  let hasEnded = false;
  child.status.then(() => hasEnded = true);
  while (!hasBegun()) {
    assert.ok(!hasEnded, "dev ended by itself");
    await new Promise((next) => setTimeout(next, 1));
  }
  child.kill("SIGKILL");
  await child.status;
  const before = (await found("SELECT 1 FROM interaction")).length;
  const next = await startService(["dev"], { cwd: directory });
  const { key } = await greeted(next);
  const { body } = await next.send("/v1/organization/dashboard", { key });
  assert.ok(body.dashboard.total_operators >= 10);
  const written = next.log().find(({ msg }) => msg === "demo history written");
  const all = (await found("SELECT 1 FROM interaction")).length;
  assert.equal(before + Number(written?.interactions ?? 0), all);
  assert.ok(all > 1000, `${all}`);
  assert.equal(await next.stop(), 0);
  await Deno.remove(directory, { recursive: true });
});

Deno.test("a key fixed by --key is the demo's in every run, and without it a minted one replaces it", async () => {
  const directory = await Deno.makeTempDir({ prefix: "jiss-dev-" });
  const options = { cwd: directory };
  const rotations = () =>
    rowsIn<{ n: number }>(
      `${directory}/data/dev`,
      "SELECT count(*) AS n FROM audit_entry WHERE event_type = 'KEY_ROTATED'",
    );
  const works = async (service: RunningService, key: string) =>
    (await service.send("/v1/organization/dashboard", { key })).status === 200;
  const run = async (
    args: readonly string[],
    look: (service: RunningService, key: string) => Promise<void>,
  ) => {
    const service = await startService(["dev", ...args], options);
    const { key } = await greeted(service);
    await look(service, key);
    assert.equal(await service.stop(), 0);
  };
  for (const attempt of [1, 2]) {
    await run(["--key", FIXED_KEY], async (service, key) => {
      assert.equal(key, FIXED_KEY);
      assert.match(service.output(), /API key \(fixed by --key, only for local testing\)/);
      assert.ok(await works(service, key), `${attempt}`);
      assert.ok(!JSON.stringify(service.log()).includes(FIXED_KEY));
    });
    assert.deepEqual(
      (await rotations()).map(({ n }) => Number(n)),
      [0],
      "the same key again is not a rotation",
    );
  }
  let minted = "";
  await run([], async (service, key) => {
    minted = key;
    assert.notEqual(key, FIXED_KEY);
    assert.ok(await works(service, key) && !await works(service, FIXED_KEY));
  });
  await run(["--key", FIXED_KEY], async (service, key) => {
    assert.ok(await works(service, key) && !await works(service, minted));
  });
  assert.deepEqual((await rotations()).map(({ n }) => Number(n)), [2]);

  // An organization that revoked its own key accepts no key: the run says so.
  await run(["--key", FIXED_KEY], async (service) => {
    const { status } = await service.send("/v1/admin/key/revoke", { key: FIXED_KEY, method: "POST" });
    assert.equal(status, 200);
  });
  await run(["--key", FIXED_KEY], async (service, key) => {
    assert.equal(await works(service, key), false);
    assert.match(service.output(), /is inactive \(self_revoked\): .*jiss dev --fresh/);
  });
  await run(["--fresh", "--key", FIXED_KEY], async (service, key) => assert.ok(await works(service, key)));
  await Deno.remove(directory, { recursive: true });
});

Deno.test({
  name:
    "with --open the task opens the console in a browser; the release may not, and prints its address [needs Linux]",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const directory = await Deno.makeTempDir({ prefix: "jiss-dev-" });
    await Deno.mkdir(`${directory}/bin`);
    const opened = `${directory}/opened`;
    const opener = async (script: string) => {
      await Deno.writeTextFile(`${directory}/bin/xdg-open`, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    };
    const { tasks } = JSON.parse(await Deno.readTextFile(`${ROOT}/deno.json`));
    const base = baseEnvironment();
    const task = () =>
      watch(
        new Deno.Command("sh", {
          args: [
            "-c",
            `exec ${tasks.dev.command.replace("deno", "$DENO").replace("main.ts", "$MAIN")} --open`,
          ],
          cwd: directory,
          clearEnv: true,
          env: {
            ...base,
            DENO: Deno.execPath(),
            MAIN: `${ROOT}/main.ts`,
            PATH: `${directory}/bin:${base.PATH}`,
            JISS_PORT: "0",
            JISS_LOG: "json",
          },
          stdin: "null",
          stdout: "piped",
          stderr: "piped",
        }).spawn(),
      );
    await opener(
      `echo "$@" > ${opened}.part; mv ${opened}.part ${opened}; while [ -e ${opened} ]; do sleep 0.1; done`,
    );
    const service = await task();
    await until(() => exists(opened));
    const address = await Deno.readTextFile(opened);
    assert.ok(address.startsWith(`${service.url}/console/link#usr_`), address);
    assert.doesNotMatch(address, /jis_/, "a link that signs in once, without the key");
    assert.equal(await service.stop(), 0, "the service does not wait for the browser");

    await opener("exit 3");
    const failed = await task();
    await until(() => failed.output().includes("The browser was not opened: xdg-open failed."));
    assert.equal(await failed.stop(), 0);

    const release = await startService(["dev", "--open"], { cwd: directory });
    await until(() => release.output().includes(`The browser was not opened: `));
    assert.match(
      release.output(),
      /was not given --allow-run=xdg-open\. Open it yourself:\n\n {2}http:\S+\/console\/link#usr_\S+\n/,
    );
    assert.equal(await release.stop(), 0);
    await Deno.remove(directory, { recursive: true });
  },
});

Deno.test("upkeep runs soon after a start: it leaves the demo's history whole, and prunes it if a retention is set", async () => {
  const directory = await Deno.makeTempDir({ prefix: "jiss-dev-" });
  const data = `${directory}/data/dev`;
  const entries = (where: string) =>
    rowsIn<{ seq: number; event_type: string }>(
      data,
      `SELECT seq, event_type FROM audit_entry WHERE ${where}`,
    );
  const genesis = () => entries("chain LIKE 'org/demo%' AND seq = 0");
  /** A service that is restarted each minute has no more time than this. */
  const withinAMinute = async (condition: () => Promise<boolean>) => {
    for (let attempt = 0; attempt < 450; attempt += 1) {
      if (await condition()) return true;
      await new Promise((next) => setTimeout(next, 100));
    }
    return false;
  };
  const run = async (env: Readonly<Record<string, string>>, condition: () => Promise<boolean>) => {
    const service = await startService(["dev"], { cwd: directory, env });
    const wasSo = await withinAMinute(condition);
    // Work that runs at that moment ends before the program does.
    assert.equal(await service.stop(), 0);
    return wasSo;
  };
  // The first step of upkeep anchors the chains, the last one prunes.
  const anchored = async () => (await entries("event_type = 'ORG_CHECKPOINTS'")).length > 0;
  assert.ok(await run({}, anchored));
  assert.equal((await entries("event_type = 'RETENTION_PRUNED'")).length, 0);
  assert.equal((await genesis()).length, 2, "of the evidence chain and of the admin chain");

  const pruned = async () => (await entries("event_type = 'RETENTION_PRUNED'")).length > 0;
  assert.ok(await run({ JISS_AUDIT_RETENTION_DAYS: "90" }, pruned));
  assert.equal((await genesis()).length, 1, "the evidence is kept, as its retention says");
  await Deno.remove(directory, { recursive: true });
});
