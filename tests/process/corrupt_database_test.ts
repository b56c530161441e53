/**
 * Files that were damaged byte by byte. The program reports the damage and what to do, overwrites nothing,
 * and answers nothing that was not signed.
 */
import assert from "node:assert/strict";
import { issuedPlaces } from "../../src/store/lock.ts";
import { Acknowledged, assertChainsVerify, assertUnavailable, exitCodeOf, linesOf } from "../acknowledged.ts";
import { createOrganization, freshDeployment, runProgram, startService } from "../program.ts";

const PAGE_BYTES = 4_096;

interface Site {
  readonly env: Readonly<Record<string, string>>;
  readonly data: string;
  readonly directory: string;
  readonly key: string;
  readonly acknowledged: Acknowledged;
}

/** A deployment that was stopped after ten scores. */
function stoppedTest(name: string, test: (site: Site) => Promise<void>): void {
  Deno.test(name, async () => {
    const { directory, env, remove } = await freshDeployment();
    const service = await startService(["serve"], { env });
    const key = await createOrganization(service, env);
    const acknowledged = new Acknowledged(key);
    for (let count = 0; count < 10; count += 1) await acknowledged.score(service);
    assert.equal(await service.stop(), 0);
    await test({ env, data: env.JISS_DATA_DIR!, directory, key, acknowledged });
    await remove();
  });
}

/** Changes a file in place, so that a process that has it open sees the change. */
function spoil(path: string, change: (bytes: Uint8Array) => void): void {
  const bytes = Deno.readFileSync(path);
  change(bytes);
  const file = Deno.openSync(path, { write: true });
  try {
    for (let written = 0; written < bytes.length;) written += file.writeSync(bytes.subarray(written));
  } finally {
    file.close();
  }
}

function spoilPagesFrom(first: number): (bytes: Uint8Array) => void {
  return (bytes) => {
    for (let at = first * PAGE_BYTES; at < bytes.length; at += PAGE_BYTES) bytes.fill(0xff, at, at + 100);
  };
}

function flip(at: number): (bytes: Uint8Array) => void {
  return (bytes) => {
    bytes[at]! ^= 0xff;
  };
}

const serve = ({ env }: Site) => runProgram(["serve"], { env: { ...env, JISS_PORT: "0" } });

stoppedTest(
  "a database with a flipped byte in its header, a damaged first or inner page, half its length, or only zeros is refused with advice, and left unchanged",
  async (site) => {
    const { env, data } = site;
    const path = `${data}/jiss.db`;
    const sound = await Deno.readFile(path);
    const spoiled: readonly (readonly [string, (bytes: Uint8Array) => Uint8Array | void])[] = [
      ["name", flip(3)],
      ["size of pages", flip(16)],
      ["first page", (bytes) => void bytes.fill(0xff, 100, 500)],
      ["inner pages", spoilPagesFrom(2)],
      ["length", (bytes) => bytes.slice(0, Math.floor(bytes.length / PAGE_BYTES / 2) * PAGE_BYTES)],
      ["everything", (bytes) => void bytes.fill(0)],
    ];
    const advice = /it is damaged, or is no database, .*put a backup back \(jiss restore\)/;
    for (const [what, change] of spoiled) {
      const bytes = sound.slice();
      await Deno.writeFile(path, change(bytes) ?? bytes);
      const before = await Deno.readFile(path);
      const { code, stderr } = await serve(site);
      assert.deepEqual([what, code], [what, 78]);
      assert.match(stderr, /^jiss: cannot start: the database file .*\n$/);
      assert.match(stderr, advice);
      assert.deepEqual(await Deno.readFile(path), before, what);
    }
    for (const args of [["export", "--org", "acme"], ["doctor"], ["org", "suspend", "acme"]]) {
      const { code, stdout, stderr } = await runProgram(args, { env });
      assert.deepEqual([code, stdout], [78, ""]);
      assert.match(stderr, advice);
    }
    await Deno.writeFile(path, sound);
    const service = await startService(["serve"], { env });
    await site.acknowledged.assertKept(service);
    assert.equal(await service.stop(), 0);
  },
);

stoppedTest(
  "damage found while the service runs ends it with 74 and advice; the next start refuses, and a backup can be restored",
  async (site) => {
    const { env, data, directory, acknowledged } = site;
    const backup = `${directory}/backup.db`;
    assert.equal((await runProgram(["backup", backup], { env })).code, 0);
    const service = await startService(["serve"], { env });
    spoil(`${data}/jiss.db`, spoilPagesFrom(2));
    for (const answer of await acknowledged.scoreUntilRefused(service)) assertUnavailable(answer);
    assert.equal(await exitCodeOf(service), 74);
    const [line] = linesOf(
      service,
      "storage failed: stopping, so that a supervisor can start the service again",
    );
    assert.match(String(line!.error), /malformed/);
    assert.match(String(line!.mend), /put a backup back \(jiss restore\)/);
    assert.equal(service.errors(), "");

    const refused = await serve(site);
    assert.deepEqual([refused.code, /it is damaged/.test(refused.stderr)], [78, true], refused.stderr);
    const restored = await runProgram(["restore", backup, "--acknowledge", "the disk was damaged"], { env });
    assert.equal(restored.code, 0, restored.stderr);
    const again = await startService(["serve"], { env });
    await acknowledged.assertKept(again);
    assert.equal((await acknowledged.score(again)).status, 200);
    assert.equal(await again.stop(), 0);
    await assertChainsVerify(data);
  },
);

stoppedTest(
  "a byte flipped within a record is found by the chain's verification, here and offline, and the record is not answered again",
  async (site) => {
    const { env, data, directory, key } = site;
    const text = new TextEncoder().encode('"session_id":"session-3"');
    spoil(`${data}/jiss.db`, (bytes) => {
      const at = indexOf(bytes, text);
      bytes[at + text.length - 2]! ^= 1;
    });
    const service = await startService(["serve"], { env });
    const { status, body } = await service.send("/v1/audit/chain/verify", { key });
    assert.deepEqual([status, body.valid, body.first_bad === null], [200, false, false]);
    const again = await new Acknowledged(key).score(service, "session-3");
    assert.notEqual(again.status, 200);
    assert.equal(
      (await new Acknowledged(key).score(service, "another")).status,
      200,
      "other requests are served",
    );
    assert.equal(await service.stop(), 0);
    const bundle = `${directory}/bundle.ndjson`;
    assert.equal((await runProgram(["export", "--org", "acme", "-o", bundle], { env })).code, 0);
    const verified = await runProgram(["verify", bundle, "--json"]);
    assert.notEqual(verified.code, 0);
    assert.equal(JSON.parse(verified.stdout).bundles[0].verdict.startsWith("INTACT"), false);
  },
);

stoppedTest(
  "after a flipped byte in the write-ahead log SQLite uses only what is before it; the service knows that more was issued, and refuses writes",
  async ({ env, data, key, acknowledged }) => {
    const killed = await startService(["serve"], { env });
    for (let count = 0; count < 10; count += 1) await acknowledged.score(killed);
    const { size } = (await killed.send("/v1/audit/checkpoint", { key })).body;
    const issued = () => issuedPlaces(`${data}/lock.db`).get("org/acme")!.size;
    while (issued() < size) await new Promise((next) => setTimeout(next, 20));
    killed.kill("SIGKILL");
    await killed.status;
    spoil(`${data}/jiss.db-wal`, (bytes) => flip(Math.floor(bytes.length / 2))(bytes));

    const service = await startService(["serve"], { env });
    assert.ok(linesOf(service, /^ROLLBACK_DETECTED/).length > 0);
    assertUnavailable(await acknowledged.score(service));
    // The database is older now: single records are read, but no figure over all operators is answered.
    assert.equal((await service.send("/v1/organization/operators", { key })).status, 200);
    assertUnavailable(await service.send("/v1/organization/dashboard", { key }));
    const verified = await service.send("/v1/audit/chain/verify", { key });
    assert.deepEqual([verified.status, verified.body.valid], [200, false]);
    assert.equal(await service.stop(), 0);
    assert.ok(issued() >= size, "the lock still knows the issued size");
  },
);

stoppedTest(
  "a damaged lock.db is refused at the start with advice, and reported by the doctor; without it the start names what is not known any more",
  async (site) => {
    const { env, data, acknowledged } = site;
    const path = `${data}/lock.db`;
    const sound = await Deno.readFile(path);
    for (const change of [spoilPagesFrom(1), flip(3)]) {
      const bytes = sound.slice();
      change(bytes);
      await Deno.writeFile(path, bytes);
      const { code, stderr, stdout } = await serve(site);
      assert.equal(code, 78);
      assert.match(stderr, /^jiss: cannot start: [^\n]*lock\.db[^\n]*\n$/);
      assert.match(stderr + stdout, /move lock\.db with its -wal and -shm away/);
    }
    const doctor = await runProgram(["doctor"], { env });
    assert.deepEqual([doctor.code, doctor.stderr], [1, ""]);
    assert.match(doctor.stdout, /^wrong +checkpoints +.*lock\.db cannot be read.*move lock\.db .* away/m);

    for (const end of ["", "-wal", "-shm"]) await Deno.remove(path + end).catch(() => {});
    const again = await startService(["serve"], { env });
    assert.equal(linesOf(again, /^lock\.db is new, but the database is not/)[0]?.level, "warn");
    await acknowledged.assertKept(again);
    assert.equal((await acknowledged.score(again)).status, 200);
    assert.equal(await again.stop(), 0);
  },
);

function indexOf(bytes: Uint8Array, part: Uint8Array): number {
  for (let at = bytes.indexOf(part[0]!); at >= 0; at = bytes.indexOf(part[0]!, at + 1)) {
    if (part.every((byte, index) => bytes[at + index] === byte)) return at;
  }
  throw new Error("there is no such text in the file");
}
