/**
 * A disk whose power is cut: what was acknowledged is on it, and work can go on from what it holds. The
 * control is the same program, but it does not wait for its disk.
 */
import assert from "node:assert/strict";
import { openPowerDisk, type PowerDisk, powerIsMissing } from "../power.ts";
import { scoreRequest } from "../harness.ts";
import {
  createOrganization,
  deploymentIn,
  type RunningService,
  runProgram,
  startService,
} from "../program.ts";
import { bundles, endNow, powerControl, powerCuts } from "../soak/power_cuts.ts";

const IGNORED = powerIsMissing();

interface Site {
  readonly disk: PowerDisk;
  /** The path of the data directory at present. */
  data(): string;
  /** The environment that `jiss init` described. */
  env(): Promise<Readonly<Record<string, string>>>;
  start(env?: Readonly<Record<string, string>>): Promise<RunningService>;
  run(...args: string[]): Promise<string>;
  /** Cuts the power, ends the service and remounts what the cut left. */
  cut(service?: RunningService): Promise<void>;
}

function powerTest(name: string, test: (site: Site) => Promise<void>): void {
  Deno.test({
    name: `${name} [needs the right to mount]`,
    ignore: IGNORED,
    async fn() {
      const disk = await openPowerDisk();
      const started: RunningService[] = [];
      const env = async () => (await deploymentIn(disk.folder)).env;
      try {
        await test({
          disk,
          data: () => `${disk.folder}/data`,
          env,
          async start(more = {}) {
            const service = await startService(["serve"], { env: { ...await env(), ...more } });
            started.push(service);
            return service;
          },
          async run(...args) {
            const { code, stdout, stderr } = await runProgram(args, { env: await env() });
            assert.equal(code, 0, stderr);
            return stdout;
          },
          async cut(service) {
            disk.cut();
            if (service !== undefined) await endNow(service);
            await disk.restart();
          },
        });
      } finally {
        await Promise.all(started.map(endNow));
        await disk.remove();
      }
    },
  });
}

async function scored(service: RunningService, key: string, session: string) {
  const { status, headers, body } = await service.send("/v1/score", {
    key,
    body: scoreRequest({ session_id: session }),
  });
  assert.equal(status, 200, JSON.stringify(body));
  return { isReplayed: headers.get("Idempotency-Replayed") === "true", body };
}

Deno.test({
  name:
    "3 power cuts under load lose and double nothing acknowledged, lock.db is never ahead, and every chain is whole; without synchronous=FULL a cut loses [needs the right to mount]",
  ignore: IGNORED,
  async fn() {
    const folder = await Deno.makeTempDir({ prefix: "jiss-power-bundle-" });
    const { full, normal } = await bundles(folder);
    const { acknowledged, unanswered: _, ...figures } = await powerCuts({ cuts: 3, bundle: full });
    assert.ok(acknowledged > 100, `only ${acknowledged} were acknowledged before the cuts`);
    assert.deepEqual(figures, {
      cuts: 3,
      lost: 0,
      unerased: 0,
      doubled: 0,
      usage_off_by: 0,
      lock_leads: 0,
    });
    const control = await powerControl({ cuts: 5, bundle: normal, untilLost: true });
    assert.ok(control.lost > 0, `no loss was seen in ${control.cuts} cuts`);
    await Deno.remove(folder, { recursive: true });
  },
});

powerTest(
  "a cut right after init leaves both of its files whole",
  async ({ disk, data, cut }) => {
    const before = (await deploymentIn(disk.folder)).env;
    const key = await Deno.readTextFile(`${data()}/signing-key.pem`);
    await cut();
    assert.equal(await Deno.readTextFile(`${data()}/signing-key.pem`), key);
    const { JISS_DATA_DIR: _before, ...secrets } = before;
    const { JISS_DATA_DIR: _after, ...kept } = (await deploymentIn(disk.folder)).env;
    assert.deepEqual(kept, secrets);
  },
);

powerTest(
  "after a cut right after the first start its signing key is the database's, and the bootstrap organization's key works",
  async ({ disk, data, env, start, cut }) => {
    const bootstrap = async () => {
      const keyFile = `${disk.folder}/key`;
      const file = `${disk.folder}/bootstrap.json`;
      const organization = {
        org_id: "first",
        name: "First",
        domain: "general",
        tier: "standard",
        allowed_origins: "",
        api_key_file: keyFile,
      };
      await Deno.writeTextFile(file, JSON.stringify(organization));
      return { keyFile, env: { JISS_BOOTSTRAP_ORG_FILE: file } };
    };
    await env();
    await Deno.remove(`${data()}/signing-key.pem`);
    const first = await bootstrap();
    const service = await start(first.env);
    const key = (await Deno.readTextFile(first.keyFile)).trim();
    await scored(service, key, "before");
    await cut(service);
    assert.equal((await Deno.readTextFile(`${disk.folder}/key`)).trim(), key);
    const again = await start((await bootstrap()).env);
    assert.ok((await scored(again, key, "before")).isReplayed);
    await scored(again, key, "after");
    await again.stop();
  },
);

powerTest(
  "a cut right after a rotation, or after the end of its overlap, leaves exactly the keys that were announced",
  async ({ data, env, start, run, cut }) => {
    const service = await start();
    const key = await createOrganization(service, await env());
    await run("rotate-signing-key");
    await cut(service);
    const second = await start();
    const { keys } = (await second.send("/.well-known/jwks.json")).body;
    assert.equal(keys.length, 2);
    const { body } = await scored(second, key, "by-both");
    assert.equal(body.evidence.proof.match(/^— /gm).length, 2);
    await run("rotate-signing-key", "--drop-old");
    await cut(second);
    assert.deepEqual(
      [...Deno.readDirSync(data())].map(({ name }) => name).filter((name) => name.startsWith("signing")),
      ["signing-key.pem"],
      "the deleted private half is not back",
    );
    const third = await start();
    assert.equal((await scored(third, key, "by-one")).body.evidence.proof.match(/^— /gm).length, 1);
    await third.stop();
  },
);

powerTest(
  "a cut right after a backup, or after a restore, leaves what the command reported",
  async ({ disk, env, start, run, cut }) => {
    const service = await start();
    const key = await createOrganization(service, await env());
    await scored(service, key, "in-the-backup");
    await run("backup", `${disk.folder}/night.db`);
    await scored(service, key, "after-the-backup");
    await cut(service);
    await run("restore", `${disk.folder}/night.db`, "--acknowledge", "a drill");
    await cut();
    const again = await start();
    assert.ok((await scored(again, key, "in-the-backup")).isReplayed);
    const { isReplayed, body } = await scored(again, key, "after-the-backup");
    assert.deepEqual([isReplayed, body.evidence.entry.chain], [false, "org/acme/e2"]);
    await again.stop();
  },
);
