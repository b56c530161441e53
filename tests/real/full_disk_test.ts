/**
 * A disk that is full, or that its kernel remounts read-only, tried on small disks. Writes are refused, reads
 * continue, and nothing acknowledged is lost. Source: contract, section 6.
 */
import assert from "node:assert/strict";
import { Acknowledged, assertChainsVerify, assertUnavailable, linesOf } from "../acknowledged.ts";
import {
  command,
  copyInto,
  failingDiskIsMissing,
  fill,
  MOUNT_IS_MISSING,
  mountFailing,
  mountSmall,
  remountReadOnly,
  resize,
  unmount,
} from "../disks.ts";
import {
  createOrganization,
  environmentOf,
  freshDeployment,
  programLine,
  type RunningService,
  runProgram,
  startService,
  until,
} from "../program.ts";

type Environment = Readonly<Record<string, string>>;

const FULL = "the database takes no writes, as its disk is full: they are refused, reads are served";
const READ_ONLY =
  "the database takes no writes, as its disk can only be read: they are refused, reads are served";
const AGAIN = "the database takes writes again";

/** A deployment whose data directory lies on a disk of six million bytes. */
async function onSmallDisk(test: (disk: string, env: Environment) => Promise<void>): Promise<void> {
  const { directory, env, remove } = await freshDeployment();
  const disk = `${directory}/disk`;
  await mountSmall(disk, "6m");
  try {
    await copyInto(`${directory}/data`, disk);
    await test(disk, { ...env, JISS_DATA_DIR: disk });
  } finally {
    await unmount(disk);
    await remove();
  }
}

function smallDiskTest(name: string, test: (disk: string, env: Environment) => Promise<void>): void {
  Deno.test({
    name: `${name} [needs mount]`,
    ignore: MOUNT_IS_MISSING,
    fn: () => onSmallDisk(test),
  });
}

/** Calls that only read are served, and say the same as before. */
async function assertReads(service: RunningService, key: string, report: string): Promise<void> {
  for (
    const path of [
      "/v1/organization/dashboard",
      "/v1/organization/operators",
      "/v1/organization/decisions",
      "/v1/operator/operator-1/profile",
      "/v1/decision/replay/session-0",
      `/v1/compliance/report/${report}`,
      "/v1/compliance/article14",
      "/v1/audit/checkpoint",
    ]
  ) {
    assert.equal((await service.send(path, { key })).status, 200, path);
  }
  const verified = await service.send("/v1/audit/chain/verify", { key });
  assert.deepEqual([verified.status, verified.body.valid], [200, true]);
  const exported = await fetch(`${service.url}/v1/audit/chain/export`, { headers: { "X-API-Key": key } });
  const lines = (await exported.text()).trimEnd().split("\n");
  assert.ok(JSON.parse(lines.at(-1)!).bundle_sha256, "whole, to its trailer");
}

async function savedReport(service: RunningService, key: string): Promise<string> {
  const period = "period_start=2026-01-01&period_end=2027-01-01";
  const { status, body } = await service.send(`/v1/compliance/report?${period}`, { key });
  assert.equal(status, 200, JSON.stringify(body));
  return body.report.report_id;
}

const levels = (service: RunningService, message: string | RegExp) =>
  linesOf(service, message).map(({ level, msg }) => [level, msg]);

smallDiskTest(
  "with a full disk the service refuses writes with 503, changes no key, serves reads, and accepts writes once there is room, with all that it acknowledged",
  async (disk, env) => {
    const service = await startService(["serve"], { env });
    const key = await createOrganization(service, env);
    const acknowledged = new Acknowledged(key);
    await acknowledged.score(service);
    const report = await savedReport(service, key);

    for (const answer of await acknowledged.scoreUntilRefused(service)) assertUnavailable(answer);
    await fill(`${disk}/filling`);
    assertUnavailable((await acknowledged.scoreUntilRefused(service, 1))[0]!);
    // Reading the audit log records the smallest entry of all, so that afterwards there is no room for any other.
    let auditLog = await service.send("/v1/admin/audit-log", { key });
    while (auditLog.status === 200) auditLog = await service.send("/v1/admin/audit-log", { key });
    assertUnavailable(auditLog);
    assertUnavailable(await service.send("/v1/admin/key/rotate", { key, method: "POST" }));
    assertUnavailable(await service.send("/v1/operator/operator-1", { key, method: "DELETE" }));
    const stranger = await service.send("/v1/admin/org/create", { key: "no master key", body: {} });
    assert.equal(stranger.status, 401, "a refusal needs no room for its entry");
    await assertReads(service, key, report);
    await until(() => levels(service, FULL).length > 0);
    assert.equal(levels(service, FULL)[0]![0], "error");

    await Deno.remove(`${disk}/filling`);
    await resize(disk, "48m");
    assert.equal((await acknowledged.score(service)).status, 200);
    await until(() => levels(service, AGAIN).length > 0);
    assert.equal(levels(service, AGAIN).at(-1)![0], "info");
    assert.ok(levels(service, FULL).length < 10, "reported when it begins, not for each");
    assert.equal((await service.send("/v1/admin/audit-log", { key })).status, 200);
    await acknowledged.assertKept(service);
    assert.equal(await service.stop(), 0);
    assert.equal(service.errors(), "");
    await assertChainsVerify(disk);
  },
);

smallDiskTest(
  "a start on a full disk ends with 74, says what is missing and changes nothing; with room it succeeds",
  async (disk, env) => {
    await fill(`${disk}/filling`);
    const serve = async () => {
      const { code, stderr } = await runProgram(["serve"], { env: { ...env, JISS_PORT: "0" } });
      assert.equal(code, 74, stderr);
      assert.match(stderr, /^jiss: cannot start at the moment: .*disk is full: make room there/m);
      assert.doesNotMatch(stderr, /\n\s+at /);
    };
    await serve();
    await Deno.remove(`${disk}/filling`);
    const service = await startService(["serve"], { env });
    const key = await createOrganization(service, env);
    const acknowledged = new Acknowledged(key);
    await acknowledged.score(service);
    assert.equal(await service.stop(), 0);

    await fill(`${disk}/filling`);
    await serve();
    for (const args of [["export", "--org", "acme"], ["doctor"], ["org", "suspend", "acme"]]) {
      const { code, stderr } = await runProgram(args, { env });
      assert.deepEqual([code, /its disk is full .*: make room there/.test(stderr)], [74, true], stderr);
    }
    await Deno.remove(`${disk}/filling`);
    const again = await startService(["serve"], { env });
    await acknowledged.assertKept(again);
    assert.equal(await again.stop(), 0);
  },
);

smallDiskTest(
  "on a read-only disk, export and examine are refused with advice, and a bundle can be verified",
  async (disk, env) => {
    const service = await startService(["serve"], { env });
    const key = await createOrganization(service, env);
    await new Acknowledged(key).score(service);
    const keys = `${disk}/jwks.json`;
    await Deno.writeTextFile(keys, JSON.stringify((await service.send("/.well-known/jwks.json")).body));
    assert.equal(await service.stop(), 0);
    const bundle = `${disk}/bundle.ndjson`;
    assert.equal((await runProgram(["export", "--org", "acme", "-o", bundle], { env })).code, 0);
    await remountReadOnly(disk);
    const start = await runProgram(["serve"], { env: { ...env, JISS_PORT: "0" } });
    assert.equal(start.code, 78);
    assert.match(start.stderr, /^jiss: cannot start: JISS_DATA_DIR .* its disk can only be read: /);
    for (const args of [["export", "--org", "acme"], ["doctor"], ["checkpoint"], ["org", "list"]]) {
      const { code, stderr, stdout } = await runProgram(args, { env });
      assert.deepEqual([code, stdout], [78, ""], stderr);
      assert.match(stderr, /its disk can only be read .*: copy the directory to a disk that can be written/);
    }
    const { code, stdout } = await runProgram(["verify", bundle, "--key", keys]);
    assert.deepEqual([code, /INTACT/.test(stdout)], [0, true], stdout);
    const copy = `${disk}/../copy`;
    await Deno.mkdir(copy);
    await copyInto(disk, copy);
    const exported = await runProgram(["export", "--org", "acme"], { env: { ...env, JISS_DATA_DIR: copy } });
    assert.equal(exported.code, 0, exported.stderr);
  },
);

/** Lines that are written at once, in four kilobytes. */
const LINES_OF_A_PIECE = 20;

smallDiskTest(
  "a log that cannot be written stops nothing, and the number of lost lines is logged once it can be",
  async (disk, env) => {
    await Deno.writeTextFile(`${disk}/log`, "");
    const child = new Deno.Command("sh", {
      args: ["-c", `exec "$@" > ${disk}/log`, "sh", ...programLine(["serve"])],
      clearEnv: true,
      env: environmentOf({ ...env, JISS_DATA_DIR: `${disk}/../data`, JISS_PORT: "0", JISS_LOG: "json" }),
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const errors = new Response(child.stderr).text();
    const log = () =>
      Deno.readTextFileSync(`${disk}/log`).split("\n").slice(0, -1).flatMap((line) =>
        line.endsWith("}") ? [JSON.parse(line) as Record<string, unknown>] : []
      );
    await until(() => log().some(({ msg }) => msg === "listening"));
    const url = String(log().find(({ msg }) => msg === "listening")!.url);
    const answers = async () => (await (await fetch(url)).json()).status;
    await fill(`${disk}/filling`);
    // Until the block that holds the log's end is full, too.
    for (let count = 0; count < 60; count += 1) assert.equal(await answers(), "ok");
    await Deno.remove(`${disk}/filling`);
    const losses = () => log().filter(({ msg }) => msg === "log lines could not be written");
    const kept = () => log().filter(({ msg }) => msg === "request").length;
    const keptWhileFull = kept();
    assert.equal(await answers(), "ok");
    // Lines are written in the background.
    await until(() => losses().length > 0 && kept() > keptWhileFull);
    const lost = losses().reduce((sum, line) => sum + Number(line.lost), 0);
    assert.ok(lost > 10, `${lost}`);
    // Deno keeps the rest of the piece that met the full disk: its lines are counted as lost, but are written
    // in the end.
    const countedTwice = kept() + lost - 61;
    assert.ok(countedTwice >= 0 && countedTwice <= LINES_OF_A_PIECE, `${kept()} and ${lost}`);
    child.kill("SIGTERM");
    assert.equal((await child.status).code, 0);
    assert.match(await errors, /^jiss: the log cannot be written, [^\n]*No space left on device[^\n]*\n$/);
  },
);

Deno.test({
  name:
    "on a disk that its kernel remounts read-only, writes are refused and reads served; after a new mount all is there [needs mount]",
  ignore: failingDiskIsMissing(),
  async fn() {
    const { directory, env: common, remove } = await freshDeployment();
    const disk = `${directory}/disk`;
    const env = { ...common, JISS_DATA_DIR: disk };
    const failing = await mountFailing(`${directory}/image`, disk);
    try {
      await copyInto(`${directory}/data`, disk);
      await Deno.chmod(disk, 0o700);
      await command("sync", "--file-system", disk);
      const service = await startService(["serve"], { env });
      const key = await createOrganization(service, env);
      const acknowledged = new Acknowledged(key);
      await acknowledged.score(service);
      const report = await savedReport(service, key);
      const refusals = acknowledged.scoreUntilRefused(service);
      await failing.fail();
      for (const answer of await refusals) assertUnavailable(answer);
      await assertReads(service, key, report);
      assertUnavailable(await acknowledged.score(service));
      await until(() => levels(service, READ_ONLY).length > 0);
      assert.deepEqual(levels(service, READ_ONLY), [["error", READ_ONLY]]);
      assert.equal(await service.stop(), 0);

      const refused = await runProgram(["serve"], { env: { ...env, JISS_PORT: "0" } });
      assert.equal(refused.code, 78);
      assert.match(refused.stderr, /^jiss: cannot start: JISS_DATA_DIR .* its disk can only be read: /);
      await failing.replace();
      const again = await startService(["serve"], { env });
      await acknowledged.assertKept(again);
      assert.equal((await acknowledged.score(again)).status, 200);
      assert.equal(await again.stop(), 0);
      // This process opens nothing on the disk, so that nothing of it can keep the disk busy.
      await Deno.mkdir(`${directory}/copy`);
      await copyInto(disk, `${directory}/copy`);
      await assertChainsVerify(`${directory}/copy`);
    } finally {
      // Lazily, so that a service which an error above left running does not hide that error.
      await unmount(disk);
      await remove();
    }
  },
});
