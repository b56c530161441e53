/**
 * Rate limits of the whole program over real HTTP: at their edges in memory, and over a Deno KV file that two
 * processes share. The file may be impossible to open, on a full disk, locked, or fail to be written.
 */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { RELEASE_PERMISSIONS, UNSTABLE_FEATURES } from "../../scripts/compile.ts";
import { copyInto, fill, MOUNT_IS_MISSING, mountSmall, unmount } from "../disks.ts";
import { scoreRequest } from "../harness.ts";
import { assertClosed, recovered } from "../shared_limits.ts";
import { straceIsMissing, tamperWith } from "../traced.ts";
import {
  baseEnvironment,
  createOrganization,
  freshDeployment,
  putBundle,
  type RunningService,
  startService,
  until,
  watch,
} from "../program.ts";

const MAIN = `${import.meta.dirname}/../../main.ts`;

type Deployment = Awaited<ReturnType<typeof freshDeployment>>;

/** Starts services of one deployment, runs the test, stops them and removes it. */
async function withServices(
  settings: Readonly<Record<string, string>>,
  test: (services: readonly RunningService[], deployment: Deployment) => Promise<void>,
  { count = 1 }: { readonly count?: number } = {},
): Promise<void> {
  const fresh = await freshDeployment();
  const deployment = { ...fresh, env: { ...fresh.env, ...settings } };
  const services: RunningService[] = [];
  try {
    for (let n = 0; n < count; n += 1) services.push(await startService(["serve"], deployment));
    await test(services, deployment);
    for (const service of services) assert.equal(await service.stop(), 0);
  } finally {
    await fresh.remove();
  }
}

async function statuses(ask: () => Promise<{ readonly status: number }>, count: number): Promise<number[]> {
  const all: number[] = [];
  for (let n = 0; n < count; n += 1) all.push((await ask()).status);
  return all;
}

const times = (count: number, status: number) => Array<number>(count).fill(status);

// ---- in memory --------------------------------------------------------------------------------------------

Deno.test("60 requests of an address are admitted, the 61st is 429", () =>
  withServices({ JISS_RATE_LIMIT_IP: "60" }, async ([service]) => {
    assert.deepEqual(await statuses(() => service!.send("/v1"), 60), times(60, 200));
    const { status, body, headers } = await service!.send("/v1");
    assert.deepEqual([status, body.error.code], [429, "RATE_LIMITED"]);
    assert.match(headers.get("Retry-After")!, /^(?:[1-9]|[1-5][0-9]|60)$/);
    assert.equal((await service!.send("/")).status, 200, "a liveness probe is never refused");
  }));

Deno.test("1,000 requests under a key are admitted, the 1,001st is 429", () =>
  withServices({ JISS_RATE_LIMIT_KEY: "1000" }, async ([service], { env }) => {
    const key = await createOrganization(service!, env);
    const ask = () => service!.send("/v1/organization/operators", { key });
    const first = await ask();
    assert.deepEqual([first.status, first.headers.get("X-RateLimit-Remaining")], [200, "999"]);
    const connections = Array.from({ length: 9 }, () => statuses(ask, 111));
    assert.deepEqual((await Promise.all(connections)).flat(), times(999, 200));
    const { status, body, headers } = await ask();
    assert.deepEqual([status, body.error.code], [429, "RATE_LIMITED"]);
    assert.deepEqual([headers.get("X-RateLimit-Limit"), headers.get("X-RateLimit-Remaining")], ["1000", "0"]);
    assert.match(headers.get("Retry-After")!, /^(?:[1-9]|[1-5][0-9]|60)$/);
  }));

// ---- shared -----------------------------------------------------------------------------------------------

const KV = { JISS_RATE_LIMIT_STORE: "kv" };

Deno.test("two processes of one host together admit an address's limit and a key's, whichever process is asked", () =>
  withServices(
    { ...KV, JISS_RATE_LIMIT_IP: "60", JISS_RATE_LIMIT_KEY: "7" },
    async (services, deployment) => {
      const key = await createOrganization(services[0]!, deployment.env);
      let turn = 0;
      const next = () => services[turn++ % 2]!;
      const scored = await statuses(
        () => next().send("/v1/score", { key, body: scoreRequest({ session_id: `s-${turn}` }) }),
        9,
      );
      assert.deepEqual(scored, [...times(7, 200), 429, 429]);
      assert.deepEqual(await statuses(() => next().send("/v1"), 49), times(49, 200));
      // One of the 60 is left. Of many requests at once at most one is admitted.
      const burst = await Promise.all(Array.from({ length: 40 }, () => next().send("/v1")));
      const admitted = burst.filter(({ status }) => status === 200).length;
      assert.ok(admitted <= 1, `${admitted} of 1`);
      assert.deepEqual(
        new Set(burst.map(({ status }) => status).filter((status) => status !== 200)),
        new Set([429]),
      );
      const breaches = () =>
        services.flatMap((service) => service.log()).filter(({ msg }) => msg === "authentication breach");
      await until(() => breaches().length >= 2);
      assert.deepEqual(
        breaches().map(({ type, count }) => `${type} ${count}`).sort(),
        ["AUTH_FAIL_RATE_LIMITED_IP 1", "AUTH_FAIL_RATE_LIMITED_KEY 1"],
        "once for each subject and window",
      );
      for (const suffix of ["", "-wal", "-shm"]) {
        const { mode } = await Deno.stat(`${deployment.directory}/data/kv.db${suffix}`);
        assert.equal(mode! & 0o777, 0o600, `kv.db${suffix}`);
      }
    },
    { count: 2 },
  ));

function uncountedReports(service: RunningService): readonly Record<string, unknown>[] {
  return service.log().filter(({ msg }) =>
    msg === "requests are refused because the rate limiter cannot count them"
  );
}

Deno.test("while the shared store cannot be opened no request is admitted, which is logged once; once it can, requests are counted", async () => {
  const { directory, env, remove } = await freshDeployment();
  const file = `${directory}/data/kv.db`;
  await Deno.mkdir(file);
  const service = await startService(["serve"], { env: { ...env, ...KV, JISS_METRICS_ADDR: "127.0.0.1:0" } });
  await assertClosed(service);
  const metricsUrl = service.log().find(({ msg }) => msg === "listening")!.metrics_url;
  const metrics = await (await fetch(`${metricsUrl}/metrics`)).text();
  assert.match(metrics, /^jiss_rate_limit_uncounted_total\{layer="address"\} 3$/m);
  assert.deepEqual(
    uncountedReports(service).map(({ level, layer, refused_uncounted }) => [level, layer, refused_uncounted]),
    [
      ["error", "address", 1],
    ],
  );
  await Deno.remove(file);
  await recovered(service);
  assert.equal(await service.stop(), 0);
  await remove();
});

Deno.test("a damaged shared store admits no request and is left unchanged; once it is moved away, requests are counted", async () => {
  const { directory, env, remove } = await freshDeployment();
  const file = `${directory}/data/kv.db`;
  const damaged = "not a store, and long enough to be read as a header of one ".repeat(20);
  await Deno.writeTextFile(file, damaged);
  const service = await startService(["serve"], { env: { ...env, ...KV } });
  await assertClosed(service);
  assert.match(String(uncountedReports(service)[0]!.cause), /not a database/);
  assert.equal(await Deno.readTextFile(file), damaged);
  await Deno.remove(file);
  await recovered(service);
  assert.equal(await service.stop(), 0);
  await remove();
});

Deno.test("while another program locks the shared store no request is admitted; once it is unlocked, requests are counted", () =>
  withServices(KV, async ([service], { directory }) => {
    assert.equal((await service!.send("/v1")).status, 200);
    const other = new DatabaseSync(`${directory}/data/kv.db`, { timeout: 5_000 });
    other.exec("BEGIN IMMEDIATE");
    await assertClosed(service!);
    other.exec("ROLLBACK");
    other.close();
    await recovered(service!);
  }));

Deno.test({
  name:
    "while writes to the shared store fail no request is admitted; once they succeed, requests are counted [needs strace]",
  ignore: straceIsMissing(),
  async fn() {
    const { directory, env, remove } = await freshDeployment();
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-prompt", ...RELEASE_PERMISSIONS, MAIN, "serve"],
      clearEnv: true,
      env: { ...baseEnvironment(), ...env, ...KV, JISS_PORT: "0", JISS_LOG: "json" },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const service = await watch(child);
    assert.equal((await service.send("/v1")).status, 200);
    const tampering = await tamperWith(child.pid, {
      inject: "pwrite64:error=EIO",
      files: ["kv.db", "kv.db-wal"].map((name) => `${directory}/data/${name}`),
    });
    let { status } = await service.send("/v1");
    while (status === 200) ({ status } = await service.send("/v1"));
    await assertClosed(service);
    assert.match(String(uncountedReports(service)[0]!.cause), /disk I\/O error/);
    await tampering.end();
    await recovered(service);
    assert.equal(await service.stop(), 0);
    await remove();
  },
});

Deno.test({
  name:
    "while the disk of the shared store is full no request is admitted; once there is room, requests are counted [needs mount]",
  ignore: MOUNT_IS_MISSING,
  async fn() {
    const { directory, env, remove } = await freshDeployment();
    const disk = `${directory}/disk`;
    await mountSmall(disk, "16m");
    try {
      await copyInto(`${directory}/data`, disk);
      const service = await startService(["serve"], { env: { ...env, ...KV, JISS_DATA_DIR: disk } });
      assert.equal((await service.send("/v1")).status, 200);
      await fill(`${disk}/filling`);
      let { status } = await service.send("/v1");
      while (status === 200) ({ status } = await service.send("/v1"));
      await assertClosed(service);
      await Deno.remove(`${disk}/filling`);
      await recovered(service);
      assert.equal(await service.stop(), 0);
    } finally {
      await unmount(disk);
      await remove();
    }
  },
});

// ---- the bundle -------------------------------------------------------------------------------------------

Deno.test("the bundle shares its limits with the release's flags and its own files only, and names the missing flag", async () => {
  const place = await Deno.makeTempDir({ prefix: "jiss-bundle-" });
  const { directory, env, remove } = await freshDeployment();
  await putBundle(`${place}/jiss.js`);
  const data = `${directory}/data`;
  const start = (flags: readonly string[]) =>
    new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--quiet",
        "--no-prompt",
        "--no-config",
        ...flags,
        `--allow-read=${data}`,
        `--allow-write=${data}`,
        "--allow-net",
        "--allow-env",
        `${place}/jiss.js`,
        "serve",
      ],
      clearEnv: true,
      env: { ...baseEnvironment(), ...env, ...KV, JISS_RATE_LIMIT_IP: "1", JISS_PORT: "0", JISS_LOG: "json" },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    });
  const { code, stdout, stderr } = await start([]).output();
  assert.equal(code, 78);
  assert.match(
    new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr),
    /JISS_RATE_LIMIT_STORE.*--unstable-kv/,
  );
  const service = await watch(start(UNSTABLE_FEATURES).spawn());
  assert.deepEqual(await statuses(() => service.send("/v1"), 2), [200, 429]);
  assert.equal(await service.stop(), 0);
  await remove();
  await Deno.remove(place, { recursive: true });
});
