/**
 * `jiss rotate-signing-key`: beside a running service, between the visits of an auditor, and cut short at
 * each of its steps.
 * Source: evidence design, section 11.
 */
import assert from "node:assert/strict";
import { nodeCrypto, signerFromPem } from "../../src/evidence/node_crypto.ts";
import { parseNote } from "../../src/evidence/note.ts";
import { fingerprint } from "../../src/evidence/trust.ts";
import { save, verifyProgram } from "../auditing.ts";
import { pemOf, scoreRequest } from "../harness.ts";
import {
  createOrganization,
  freshDeployment,
  type RunningService,
  runProgram,
  startService,
} from "../program.ts";

interface Site {
  readonly directory: string;
  readonly data: string;
  readonly env: Readonly<Record<string, string>>;
  start(env?: Readonly<Record<string, string>>): Promise<RunningService>;
  rotate(...args: string[]): ReturnType<typeof runProgram>;
  /** The bundle of a chain. */
  exported(...args: string[]): Promise<string>;
}

function withSite(test: (site: Site) => Promise<void>): () => Promise<void> {
  return async () => {
    const deployment = await freshDeployment();
    const { directory, env } = deployment;
    let count = 0;
    await test({
      directory,
      data: `${directory}/data`,
      env,
      start: (more = {}) => startService(["serve"], { env: { ...env, ...more } }),
      rotate: (...args) => runProgram(["rotate-signing-key", ...args], { env }),
      async exported(...args) {
        const path = `${directory}/bundle-${count += 1}.ndjson`;
        const { code, stderr } = await runProgram(["export", ...args, "-o", path], { env });
        assert.equal(code, 0, stderr);
        return path;
      },
    });
    await deployment.remove();
  };
}

let sessions = 0;

/** Scores a new session; returns the answer, whose evidence must have `signatures` signatures. */
async function score(service: RunningService, key: string, signatures: number) {
  sessions += 1;
  const { status, body } = await service.send("/v1/score", {
    key,
    body: scoreRequest({ session_id: `s-${sessions}` }),
  });
  assert.equal(status, 200, JSON.stringify(body));
  const note = body.evidence.proof.split("\n\n").slice(1).join("\n\n");
  assert.equal(parseNote(note).signatures.length, signatures);
  return body;
}

async function keysOf(service: RunningService) {
  return (await service.send("/.well-known/jwks.json")).body;
}

async function verdictOf(args: readonly string[]): Promise<string> {
  const { report, stderr } = await verifyProgram([...args, "--json"]);
  return report?.verdict ?? stderr;
}

const fingerprintOf = (pem: string) => fingerprint(nodeCrypto, signerFromPem(pem).publicKey);
const namesIn = (directory: string) =>
  [...Deno.readDirSync(directory)].map(({ name }) => name).filter((name) => name.startsWith("signing"))
    .sort();

Deno.test(
  "a running service signs with both keys from its next write on, then with the new one alone; every pin and kept checkpoint still verifies",
  withSite(async ({ directory, data, env, start, rotate, exported }) => {
    const service = await start();
    const key = await createOrganization(service, env);
    await score(service, key, 1);
    const oldKeys = await save(directory, "old.json", await keysOf(service));
    const kept = await save(directory, "kept.txt", (await runProgram(["checkpoint"], { env })).stdout);
    const oldPem = await Deno.readTextFile(`${data}/signing-key.pem`);

    const rotated = await rotate();
    assert.deepEqual([rotated.code, rotated.stderr], [0, ""]);
    const newPem = await Deno.readTextFile(`${data}/signing-key.pem`);
    assert.ok(
      rotated.stdout.includes(`\n  new key  ${fingerprintOf(newPem)}\n  old key  ${fingerprintOf(oldPem)}\n`),
    );
    assert.equal(await Deno.readTextFile(`${data}/signing-key-previous.pem`), oldPem);
    assert.deepEqual(namesIn(data), ["signing-key-previous.pem", "signing-key.pem"]);
    for (const name of namesIn(data)) assert.equal((await Deno.stat(`${data}/${name}`)).mode! & 0o777, 0o600);
    const answer = await save(directory, "both.json", await score(service, key, 2));
    assert.equal((await keysOf(service)).keys.length, 2);
    const printed = (await runProgram(["checkpoint"], { env })).stdout.split("\n")[1]!;
    assert.equal(printed, `Keys in use: ${fingerprintOf(newPem)} and ${fingerprintOf(oldPem)}`);

    const dropped = await rotate("--drop-old");
    assert.deepEqual([dropped.code, dropped.stderr], [0, ""]);
    assert.ok(
      dropped.stdout.includes(
        `\n  key in use   ${fingerprintOf(newPem)}\n  retired key  ${fingerprintOf(oldPem)}\n`,
      ),
    );
    assert.deepEqual(namesIn(data), ["signing-key.pem"]);
    await score(service, key, 1);
    const newKeys = await save(directory, "new.json", await keysOf(service));
    const newPin = await save(directory, "new-only.json", { keys: [(await keysOf(service)).keys[0]] });

    const bundles = [
      await exported("--chain", "system"),
      await exported("--org", "acme"),
      await exported("--org", "acme", "--chain", "admin"),
    ];
    for (const pin of [oldKeys, newKeys, newPin]) {
      assert.equal(await verdictOf([...bundles, "--key", pin]), "INTACT, UNANCHORED");
      assert.equal(await verdictOf([...bundles, "--key", pin, "--checkpoint", kept]), "INTACT");
    }
    assert.equal(await verdictOf([answer, bundles[1]!, "--key", oldKeys]), "INTACT, UNANCHORED");

    assert.equal(await service.stop(), 0);
    const again = await start();
    await score(again, key, 1);
    await again.stop();
    assert.equal(
      await verdictOf([await exported("--chain", "system"), "--key", oldKeys]),
      "INTACT, UNANCHORED",
    );
  }),
);

Deno.test(
  "an auditor's memory follows a rotation by its certificate, without a key; then answers signed by the new key alone are known",
  withSite(async ({ directory, env, start, rotate, exported }) => {
    const service = await start();
    const key = await createOrganization(service, env);
    const jwks = await save(directory, "jwks.json", await keysOf(service));
    const state = `${directory}/memory`;
    assert.equal(
      await verdictOf([await exported("--org", "acme"), "--key", jwks, "--state", state]),
      "INTACT, UNANCHORED",
    );
    await rotate();
    await rotate("--drop-old");
    const answer = await save(directory, "answer.json", await score(service, key, 1));
    assert.equal(
      await verdictOf([answer, "--state", state]),
      "NOT VERIFIABLE",
      "no certificate was seen yet",
    );
    assert.equal(await verdictOf([await exported("--org", "acme"), "--state", state]), "INTACT");
    assert.equal(await verdictOf([answer, "--state", state]), "INTACT, UNANCHORED");
    await service.stop();
  }),
);

Deno.test(
  "during an overlap a further rotation is refused, without one there is no key to drop, and of two rotations at once one is made",
  withSite(async ({ data, env, start, rotate }) => {
    const service = await start();
    const key = await createOrganization(service, env);
    const early = await rotate("--drop-old");
    assert.equal(early.code, 1);
    assert.match(early.stderr, /there is no old key to drop/);
    const both = await Promise.all([rotate(), rotate()]);
    // The second one either completes the same rotation or finds its overlap.
    assert.ok(both.some(({ code }) => code === 0));
    for (const { stderr } of both.filter(({ code }) => code !== 0)) {
      assert.match(stderr, /overlap of the last rotation has not ended/);
    }
    const again = await rotate();
    assert.deepEqual([again.code, again.stdout], [1, ""]);
    assert.match(again.stderr, /overlap of the last rotation has not ended: end it first with/);
    assert.equal((await keysOf(service)).keys.length, 2);
    await score(service, key, 2);
    assert.deepEqual(namesIn(data), ["signing-key-previous.pem", "signing-key.pem"]);
    // The overlap can be ended also if the old key's file was deleted.
    await Deno.remove(`${data}/signing-key-previous.pem`);
    assert.equal((await rotate("--drop-old")).code, 0);
    await score(service, key, 1);
    await service.stop();
  }),
);

/** For each step: the files on the disk if the command is cut short there. */
const CUT_SHORT: readonly (readonly [
  step: string,
  leave: (data: string, next: string) => Promise<void>,
  rotatedByStart: boolean,
])[] = [
  [
    "the new key is half written beside the present one",
    (data, next) => Deno.writeTextFile(`${data}/signing-key.pem.next`, next.slice(0, 30)),
    false,
  ],
  ["the present key's second file is half written", async (data, next) => {
    await Deno.writeTextFile(`${data}/signing-key.pem.next`, next);
    await Deno.writeTextFile(`${data}/signing-key-previous.pem.next`, "-----BEGIN");
  }, false],
  ["the present key has both names", async (data, next) => {
    await Deno.writeTextFile(`${data}/signing-key.pem.next`, next);
    await Deno.copyFile(`${data}/signing-key.pem`, `${data}/signing-key-previous.pem`);
  }, false],
  ["the new key is in place and not recorded", async (data, next) => {
    await Deno.copyFile(`${data}/signing-key.pem`, `${data}/signing-key-previous.pem`);
    await Deno.writeTextFile(`${data}/signing-key.pem.next`, next);
    await Deno.rename(`${data}/signing-key.pem.next`, `${data}/signing-key.pem`);
  }, true],
];

for (const [step, leave, rotatedByStart] of CUT_SHORT) {
  Deno.test(
    `a rotation cut short while ${step} harms neither a running service nor the next start, and the next attempt makes it`,
    withSite(async ({ directory, data, env, start, rotate, exported }) => {
      const running = await start();
      const key = await createOrganization(running, env);
      const jwks = await save(directory, "jwks.json", await keysOf(running));
      await leave(data, pemOf(`cut short where ${step}`));
      await score(running, key, 1);
      await running.stop();

      const next = await start();
      await score(next, key, rotatedByStart ? 2 : 1);
      const { code, stdout } = await rotate();
      // If the start completed the rotation, the attempt falls into its overlap.
      assert.equal(code, rotatedByStart ? 1 : 0);
      assert.equal(stdout === "", rotatedByStart);
      await score(next, key, 2);
      await next.stop();
      assert.deepEqual(namesIn(data), ["signing-key-previous.pem", "signing-key.pem"]);
      const bundles = [await exported("--chain", "system"), await exported("--org", "acme")];
      assert.equal(await verdictOf([...bundles, "--key", jwks]), "INTACT, UNANCHORED");
    }),
  );
}

Deno.test(
  "a rotation cut short before its record is completed by the command, beside a service that uses the old key until then",
  withSite(async ({ data, env, start, rotate }) => {
    const service = await start();
    const key = await createOrganization(service, env);
    await CUT_SHORT.at(-1)![1](data, pemOf("completed by the command"));
    await score(service, key, 1);
    const { code, stdout } = await rotate();
    assert.equal(code, 0);
    assert.ok(stdout.includes(`  new key  ${fingerprintOf(pemOf("completed by the command"))}\n`));
    await score(service, key, 2);
    await service.stop();
  }),
);

Deno.test(
  "dropping the old key, if cut short, is completed by the next attempt, which deletes the key's file",
  withSite(async ({ data, env, start, rotate }) => {
    const service = await start();
    const key = await createOrganization(service, env);
    await rotate();
    const old = await Deno.readTextFile(`${data}/signing-key-previous.pem`);
    // Renamed, but not retired yet.
    await Deno.rename(`${data}/signing-key-previous.pem`, `${data}/signing-key-previous.pem.dropped`);
    await score(service, key, 1);
    assert.equal((await rotate("--drop-old")).code, 0);
    assert.deepEqual(namesIn(data), ["signing-key.pem"]);
    // Retired, but not deleted yet; then put back by hand.
    for (const name of ["signing-key-previous.pem.dropped", "signing-key-previous.pem"]) {
      await Deno.writeTextFile(`${data}/${name}`, old);
      const { code, stdout } = await rotate("--drop-old");
      assert.equal(code, 0);
      assert.match(stdout, /had been retired before; its private key was deleted now/);
      assert.deepEqual(namesIn(data), ["signing-key.pem"]);
    }
    await score(service, key, 1);
    await service.stop();
  }),
);

Deno.test(
  "a rotation with files that cannot be written, or with an unknown previous key, changes nothing",
  withSite(async ({ data, env, start, rotate }) => {
    const service = await start();
    const key = await createOrganization(service, env);
    const present = await Deno.readTextFile(`${data}/signing-key.pem`);
    await Deno.mkdir(`${data}/signing-key.pem.next/in-the-way`, { recursive: true });
    const blocked = await rotate();
    assert.equal(blocked.code, 1);
    assert.match(
      blocked.stderr,
      /files cannot be written \(.*\): the key in use is unchanged\.\nIf they are mounted/,
    );
    await Deno.remove(`${data}/signing-key.pem.next`, { recursive: true });
    await Deno.writeTextFile(`${data}/signing-key-previous.pem`, pemOf("of another deployment"));
    const strange = await rotate();
    assert.deepEqual([strange.code, strange.stdout], [1, ""]);
    assert.match(strange.stderr, /does not know: move the file away first/);
    assert.equal(await Deno.readTextFile(`${data}/signing-key-previous.pem`), pemOf("of another deployment"));
    assert.equal(await Deno.readTextFile(`${data}/signing-key.pem`), present);
    await score(service, key, 1);
    await service.stop();
  }),
);

Deno.test(
  "a command with fewer settings than the service changes neither its settings nor the log's name, and a linked key file stays a link",
  withSite(async ({ directory, data, env, start, rotate, exported }) => {
    await Deno.mkdir(`${directory}/keys`);
    await Deno.rename(`${data}/signing-key.pem`, `${directory}/keys/key.pem`);
    await Deno.symlink(`${directory}/keys/key.pem`, `${data}/signing-key.pem`);
    const service = await start({
      JISS_LOG_NAME: "log.bank.example/oversight",
      JISS_AUDIT_RETENTION_DAYS: "365",
      JISS_EVIDENCE_RETENTION_DAYS: "2000",
    });
    const key = await createOrganization(service, env);
    const jwks = await save(directory, "jwks.json", await keysOf(service));
    assert.equal((await rotate()).code, 0);
    assert.ok((await Deno.lstat(`${data}/signing-key.pem`)).isSymlink);
    await score(service, key, 2);
    assert.equal((await rotate("--drop-old")).code, 0);
    const sys = await exported("--chain", "system");
    const events = (await Deno.readTextFile(sys)).split("\n").flatMap((line) =>
      /"event_type":"([A-Z_]+)"/.exec(line)?.[1] ?? []
    );
    assert.deepEqual(events.filter((type) => type !== "ORG_CHECKPOINTS"), [
      "CHAIN_GENESIS",
      "SIGNING_KEY_ROTATED",
      "SIGNING_KEY_ROTATED",
    ]);
    assert.equal(
      await verdictOf([sys, await exported("--org", "acme"), "--key", jwks]),
      "INTACT, UNANCHORED",
    );
    await service.stop();
  }),
);

Deno.test({
  name: "a rotation by root leaves the key files with their owner [needs root]",
  ignore: Deno.uid() !== 0,
  fn: withSite(async ({ data, env, start, rotate }) => {
    const owner = 65_534;
    await Deno.chown(`${data}/signing-key.pem`, owner, owner);
    const service = await start();
    const key = await createOrganization(service, env);
    assert.equal((await rotate()).code, 0);
    for (const name of ["signing-key.pem", "signing-key-previous.pem"]) {
      const { uid, gid, mode } = await Deno.stat(`${data}/${name}`);
      assert.deepEqual([uid, gid, mode! & 0o777], [owner, owner, 0o600], name);
    }
    await score(service, key, 2);
    await service.stop();
  }),
});
