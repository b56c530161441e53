/**
 * `jiss doctor`: its findings about rotated secrets, lost keys and readable files, beside a running service,
 * and that it changes nothing.
 * Source: contract, section 1.
 */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { IS_SERVER } from "../database.ts";
import {
  changeRows,
  createOrganization,
  freshDeployment,
  NO_DATABASE,
  rowsIn,
  runProgram,
  startService,
} from "../program.ts";
import { resealedIn } from "../resealed.ts";

type Environment = Readonly<Record<string, string>>;

interface Site {
  readonly data: string;
  readonly env: Environment;
  /** Runs the doctor; returns its exit code and its findings, by check. */
  examine(env?: Environment): Promise<Examination>;
  /** Runs `work` while a service runs. */
  serving(
    env: Environment,
    work: (service: Awaited<ReturnType<typeof startService>>) => Promise<void>,
  ): Promise<void>;
}

interface Examination {
  readonly code: number;
  // deno-lint-ignore no-explicit-any -- findings are whatever the program said
  readonly found: Readonly<Record<string, any>>;
}

const CHECKS = [
  "schema",
  "file_modes",
  "lost_pepper",
  "previous_pepper",
  "installation_key",
  "installation_row",
  "webhook_secrets",
  "master_secrets",
  "signing_key",
  "models",
  "checkpoints",
  "clock",
  "durability",
  "free_space",
  "trusted_proxies",
  "descriptors",
];

function withSite(test: (site: Site) => Promise<void>): () => Promise<void> {
  return async () => {
    const { directory, env, remove } = await freshDeployment();
    await test({
      data: `${directory}/data`,
      env,
      async examine(more = {}) {
        const { code, stdout, stderr } = await runProgram(["doctor", "--json"], { env: { ...env, ...more } });
        assert.equal(stderr, "");
        const { checks, wrong } = JSON.parse(stdout);
        assert.deepEqual(checks.map(({ check }: { check: string }) => check), CHECKS);
        assert.equal(wrong, checks.filter(({ state }: { state: string }) => state === "wrong").length);
        return {
          code,
          found: Object.fromEntries(
            checks.map(({ check, ...rest }: { check: string }) => [check, rest]),
          ),
        };
      },
      async serving(more, work) {
        const service = await startService(["serve"], { env: { ...env, ...more } });
        try {
          await work(service);
        } finally {
          assert.equal(await service.stop(), 0);
        }
      },
    });
    await remove();
  };
}

/** Checks whose result depends on the machine that runs the tests. */
const MACHINE_CHECKS = ["durability", "free_space", "descriptors"];

const statesOf = ({ found }: Examination) =>
  Object.fromEntries(
    Object.entries(found).filter(([name, { state }]) => state !== "ok" && !MACHINE_CHECKS.includes(name))
      .map(([name, { state }]) => [name, state]),
  );

/**
 * Digest of the database's bytes, or every row if it is on a server, with the names of the files beside it.
 */
async function contentsOf(data: string): Promise<string> {
  const names = [...Deno.readDirSync(data)].map(({ name }) => name).sort();
  if (IS_SERVER) return `${names.join()} ${await everyRow(data)}`;
  const bytes = await Deno.readFile(`${data}/jiss.db`);
  return `${names.join()} ${new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex()}`;
}

async function everyRow(data: string): Promise<string> {
  const rows: unknown[] = [];
  const tables = await rowsIn<{ name: string }>(data, "SELECT name FROM sqlite_schema WHERE type = 'table'");
  for (const { name } of tables) rows.push([name, ...await rowsIn(data, `SELECT * FROM ${name}`)]);
  assert.ok(rows.length > 20, `${rows.length}`);
  return JSON.stringify(rows);
}

Deno.test(
  "in a sound deployment every check is ok, with one line each, and nothing is written",
  withSite(async ({ data, env, examine, serving }) => {
    await serving({}, async (service) => {
      await createOrganization(service, env);
      assert.deepEqual(statesOf(await examine()), {}, "beside a running service too");
    });
    const before = await contentsOf(data);
    const { stdout, stderr } = await runProgram(["doctor"], { env });
    assert.equal(stderr, "");
    const lines = stdout.trimEnd().split("\n");
    assert.deepEqual(lines.map((line) => line.split(/ +/)[1]), CHECKS);
    assert.deepEqual(
      lines.filter((line) => !MACHINE_CHECKS.includes(line.split(/ +/)[1]!)).map((line) =>
        line.replaceAll(/  +/g, "  ")
      ),
      [
        "ok  schema  the database has the schema of this program",
        "ok  file_modes  only their owner can access secrets and data",
        "ok  lost_pepper  no key depends on a pepper that is not configured",
        "ok  previous_pepper  no key depends on a previous pepper",
        "ok  installation_key  the installation key is wrapped with the present secret",
        "ok  installation_row  the installation's row is as the service wrote it",
        "ok  webhook_secrets  the signing secrets of webhooks are wrapped with the present secret",
        "ok  master_secrets  no previous master secret is accepted",
        "ok  signing_key  one key signs",
        "ok  models  the model documents are unaltered",
        "ok  checkpoints  the database is not older than the 3 issued checkpoints; keep some elsewhere: jiss checkpoint",
        "ok  clock  this machine's clock continues from the last run of the service",
        "ok  trusted_proxies  each address may send 1000000 requests a minute, and no proxy is trusted",
      ],
    );
    assert.equal(await contentsOf(data), before);
  }),
);

Deno.test(
  "keys on a previous pepper are counted and named until each was used; doctor reports keys on an unknown pepper as wrong, and the start warns",
  withSite(async ({ data, env, examine, serving }) => {
    const keys: string[] = [];
    await serving({}, async (service) => {
      for (const name of ["one", "two", "three"]) keys.push(await createOrganization(service, env, name));
    });
    // A program before schema step 4 left it so.
    await changeRows(
      data,
      { sql: "UPDATE organization SET pepper_id = NULL WHERE org_id = ?", parameters: ["three"] },
      {
        sql: "UPDATE organization SET inactive_reasons = ? WHERE org_id = ?",
        parameters: ['["manual"]', "two"],
      },
    );
    await resealedIn(env);
    const pepper = "the-pepper-that-comes-next-0123456789-01";
    const rotating = { JISS_KEY_PEPPER: pepper, JISS_KEY_PEPPER_PREVIOUS: env.JISS_KEY_PEPPER! };
    const early = await examine(rotating);
    assert.equal(early.code, 0);
    assert.deepEqual(statesOf(early), { previous_pepper: "note", installation_key: "note" });
    assert.equal(
      early.found.previous_pepper.what,
      "2 keys depend on the previous pepper, 1 key depends on a pepper that was not recorded: the present one or an earlier one: one, three, two (inactive organizations, which cannot use their keys: 1)",
    );
    assert.match(
      early.found.previous_pepper.mend,
      /^keep JISS_KEY_PEPPER_PREVIOUS until each key was used once/,
    );
    assert.deepEqual(early.found.previous_pepper.organizations, ["one", "three", "two"]);
    assert.match(early.found.installation_key.mend, /restart the service with both/);

    await serving(rotating, async (service) => {
      for (const [key, status] of [[keys[0]!, 200], [keys[1]!, 401], [keys[2]!, 200]] as const) {
        assert.equal((await service.send("/v1/organization/dashboard", { key })).status, status);
      }
      assert.ok(!service.output().includes("depend on a pepper"));
    });
    const used = await examine(rotating);
    assert.deepEqual(statesOf(used), { previous_pepper: "note" });
    assert.deepEqual(used.found.previous_pepper.organizations, ["two"]);

    const alone = await examine({ JISS_KEY_PEPPER: pepper });
    assert.equal(alone.code, 1);
    assert.deepEqual(statesOf(alone), { lost_pepper: "wrong" });
    assert.equal(
      alone.found.lost_pepper.what,
      "1 key depends on a pepper that is not configured, so that it is refused: two",
    );
    assert.match(
      alone.found.lost_pepper.mend,
      /^set JISS_KEY_PEPPER_PREVIOUS .* jiss org rotate-key ORG, or a new named key$/,
    );
    await serving({ JISS_KEY_PEPPER: pepper }, (service) => {
      const [warning] = service.log().filter(({ level }) => level === "warn");
      assert.equal(warning?.msg, "some keys depend on a pepper that is not configured, and are refused");
      assert.equal(warning.keys, 1);
      return Promise.resolve();
    });
  }),
);

Deno.test(
  "a key without a recorded pepper gets the present one recorded by its next use",
  withSite(async ({ data, env, examine, serving }) => {
    let key = "";
    await serving({}, async (service) => {
      key = await createOrganization(service, env);
    });
    await changeRows(data, { sql: "UPDATE organization SET pepper_id = NULL", parameters: [] });
    await resealedIn(env);
    assert.deepEqual(statesOf(await examine()), { previous_pepper: "note" });
    await serving({}, async (service) => {
      assert.equal((await service.send("/v1/organization/dashboard", { key })).status, 200);
    });
    assert.deepEqual(statesOf(await examine()), {});
  }),
);

Deno.test(
  "a useless secrets key, a foreign signing key, an overlap, a rotation cut short and previous master secrets are reported with advice",
  withSite(async ({ data, env, examine, serving }) => {
    await serving({}, () => Promise.resolve());
    const lost = await examine({ JISS_KEY_PEPPER: "another-pepper-0123456789-0123456789" });
    assert.equal(lost.code, 1);
    assert.deepEqual(statesOf(lost), { installation_key: "wrong", installation_row: "note" });
    assert.match(lost.found.installation_key.what, /the service cannot start/);

    const scoped = await examine({
      MASTER_ADMIN_KEY_ALERT_ACK_PREVIOUS: "the-secret-of-yesterday-0123456789-01",
    });
    assert.deepEqual(statesOf(scoped), { master_secrets: "note" });
    assert.equal(scoped.found.master_secrets.what, "previous master secrets are still accepted: ALERT_ACK");

    const [present, previous] = [`${data}/signing-key.pem`, `${data}/signing-key-previous.pem`];
    const own = await Deno.readTextFile(present);
    assert.equal((await runProgram(["rotate-signing-key"], { env })).code, 0);
    const overlap = await examine();
    assert.equal(overlap.code, 0);
    assert.deepEqual(statesOf(overlap), { signing_key: "note" });
    assert.match(overlap.found.signing_key.what, /^the previous key still signs beside the present one: /);
    assert.match(overlap.found.signing_key.mend, /--drop-old/);

    assert.equal((await runProgram(["rotate-signing-key", "--drop-old"], { env })).code, 0);
    assert.deepEqual(statesOf(await examine()), {});
    await Deno.writeTextFile(previous, own, { mode: 0o600 });
    assert.match((await examine()).found.signing_key.what, /contains a key that no longer signs$/);

    const next = await Deno.readTextFile(present);
    await Deno.writeTextFile(present, own);
    const strange = await examine();
    assert.equal(strange.code, 1);
    assert.match(strange.found.signing_key.what, /another key than the one that signed last/);
    await Deno.writeTextFile(previous, next);
    const short = await examine();
    assert.equal(short.code, 0);
    assert.match(short.found.signing_key.what, /interrupted before it was recorded/);
    await Deno.writeTextFile(present, "nonsense");
    assert.match((await examine()).found.signing_key.what, /cannot be read or contains no Ed25519 key/);
  }),
);

Deno.test(
  "files that others can read or write are wrong, those that their group can read are noted, each by its path and mode",
  withSite(async ({ data, examine, serving }) => {
    await serving({}, () => Promise.resolve());
    await Deno.chmod(data, 0o755);
    assert.deepEqual((await examine()).found.file_modes, {
      state: "note",
      what: `other users can list ${data} (0755), but can read no file there`,
      mend: `chmod 0700 ${data}`,
    });
    await Deno.chmod(data, 0o700);
    await Deno.chmod(`${data}/signing-key.pem`, 0o640);
    const shared = await examine();
    assert.equal(shared.code, 0);
    assert.deepEqual(shared.found.file_modes, {
      state: "note",
      what: `the group can read ${data}/signing-key.pem (0640)`,
      mend: `chmod go= ${data}/signing-key.pem`,
    });
    // If the database is on a server, the lock is the only file that is checked.
    const database = IS_SERVER ? "lock.db" : "jiss.db";
    await Deno.chmod(`${data}/jiss.env`, 0o644);
    await Deno.chmod(`${data}/${database}`, 0o620);
    const open = await examine();
    assert.equal(open.code, 1);
    assert.deepEqual(open.found.file_modes, {
      state: "wrong",
      what: `other users can access ${data}/jiss.env (0644), ${data}/${database} (0620)`,
      mend: `chmod go= ${data}/jiss.env ${data}/${database}`,
    });
    await Deno.chmod(data, 0o777);
    assert.deepEqual((await examine()).found.file_modes, {
      state: "wrong",
      what: `other users can put files into ${data} (0777)`,
      mend: `chmod go-w ${data}`,
    });
  }),
);

Deno.test(
  "an altered row of the installation or of the signing key is wrong; the service names it, is not ready, and works again once it is restored",
  withSite(async ({ data, env, examine, serving }) => {
    const observed = { JISS_METRICS_ADDR: "127.0.0.1:0" };
    await serving({}, async (service) => void await createOrganization(service, env));
    const rows = [
      ["installation", "installation_row", "evidence_retention_days = 30", "evidence_retention_days = NULL"],
      ["signing_key", "signing_key", "until_size = 1", "until_size = NULL"],
    ] as const;
    for (const [table, check, altered, asItWas] of rows) {
      await changeRows(data, { sql: `UPDATE ${table} SET ${altered}`, parameters: [] });
      const examined = await examine();
      assert.deepEqual(statesOf(examined), { [check]: "wrong" });
      assert.match(examined.found[check].what, /(?:was|were) altered/);
      await serving(observed, async (service) => {
        const body = {
          org_id: "beta",
          name: "b",
          domain: "financial",
          tier: "standard",
          allowed_origins: "",
        };
        const headers = { "Idempotency-Key": "create-beta" };
        const refused = await service.send("/v1/admin/org/create", {
          key: env.MASTER_ADMIN_KEY_ORG_CREATE!,
          headers,
          body,
        });
        assert.equal(refused.status, 503);
        assert.match(refused.body.error.message, new RegExp(`^The database was altered: .*row of ${table}`));
        const listening = service.log().find(({ msg }) => msg === "listening")!;
        const ready = await fetch(`${listening.metrics_url}/readyz`);
        assert.deepEqual([ready.status, (await ready.json()).status], [503, "chains altered"]);
      });
      await changeRows(data, { sql: `UPDATE ${table} SET ${asItWas}`, parameters: [] });
      assert.deepEqual(statesOf(await examine()), {});
    }
    await serving({}, async (service) => void await createOrganization(service, env, "beta"));
  }),
);

Deno.test(
  "an altered deployment id is wrong; a start and a command say that the database was altered, and name no setting",
  withSite(async ({ data, env, examine, serving }) => {
    await serving({}, async (service) => void await createOrganization(service, env));
    const [row] = await rowsIn<{ deployment_id: string }>(data, "SELECT deployment_id FROM installation");
    const set = (id: string) =>
      changeRows(data, { sql: "UPDATE installation SET deployment_id = ?", parameters: [id] });
    await set("01ARZ3NDEKTSV4RRFFQ69G5FAV");
    assert.deepEqual(statesOf(await examine()), { installation_row: "wrong" });
    const sentence =
      "the database was altered: the row of installation and the origin of the system chain do not name the same deployment: put the database, or a backup of it, back\n";
    const refused = await runProgram(["serve"], { env: { ...env, JISS_PORT: "0" } });
    assert.deepEqual([refused.code, refused.stderr], [78, `jiss: cannot start: ${sentence}`]);
    const command = await runProgram(["org", "suspend", "acme"], { env });
    assert.deepEqual([command.code, command.stderr], [78, `jiss: ${sentence}`]);
    await set(row!.deployment_id);
    assert.deepEqual(statesOf(await examine()), {});
  }),
);

Deno.test("a secret's own file is checked like the others", async () => {
  const { directory, env, remove } = await freshDeployment();
  const { JISS_KEY_PEPPER, ...rest } = env;
  const path = `${directory}/pepper`;
  await Deno.writeTextFile(path, JISS_KEY_PEPPER!);
  await Deno.chmod(path, 0o666);
  const given = { ...rest, JISS_KEY_PEPPER_FILE: path };
  assert.equal(await (await startService(["serve"], { env: given })).stop(), 0);
  const { code, stdout } = await runProgram(["doctor"], { env: given });
  assert.equal(code, 1);
  assert.match(stdout, new RegExp(`wrong +file_modes +other users can access ${path} \\(0666\\)`));
  await remove();
});

Deno.test("few file descriptors are noted, with the number of connections that they allow", async () => {
  const { env, remove } = await freshDeployment();
  assert.equal(await (await startService(["serve"], { env })).stop(), 0);
  const { code, stdout } = await runProgram(["doctor", "--json"], { env, descriptors: 1_024 });
  assert.equal(code, 0);
  const { state, what, mend } = JSON.parse(stdout).checks.at(-1);
  assert.equal(state, "note");
  assert.match(
    what,
    /^a process started here gets about (?:9\d\d|10\d\d) file descriptors, enough for [89]\d\d connections$/,
  );
  assert.match(mend, /^give the service 65536: with LimitNOFILE=/);
  await remove();
});

Deno.test("without a database, or with an invalid configuration, the doctor ends with 78 and says why", async () => {
  const { env, remove } = await freshDeployment();
  const early = await runProgram(["doctor"], { env });
  assert.deepEqual([early.code, early.stdout], [78, ""]);
  assert.match(early.stderr, NO_DATABASE);
  const wrong = await runProgram(["doctor"], { env: { ...env, JISS_KEY_PEPPER: "short" } });
  assert.deepEqual([wrong.code, wrong.stdout], [78, ""]);
  assert.match(wrong.stderr, /JISS_KEY_PEPPER must hold at least 32 characters/);
  await remove();
});

Deno.test(
  "a missing or newer lock, a wrong clock, and trusting all proxies are wrong; the default limit is noted",
  withSite(async ({ data, env, examine, serving }) => {
    await serving({}, async (service) => {
      await createOrganization(service, env);
    });
    const lock = await Deno.readFile(`${data}/lock.db`);
    await Deno.remove(`${data}/lock.db`);
    const missing = await examine();
    assert.deepEqual([missing.code, statesOf(missing)], [1, { checkpoints: "wrong" }]);
    assert.match(missing.found.checkpoints.what, /lock\.db is missing/);
    // A power cut right after a first start leaves an empty file.
    await Deno.writeFile(`${data}/lock.db`, new Uint8Array(), { mode: 0o600 });
    assert.deepEqual(statesOf(await examine()), {});
    await Deno.writeFile(`${data}/lock.db`, lock, { mode: 0o600 });
    const atLast = (instant: number) => ({
      sql: "UPDATE audit_chain SET last_ts = ? WHERE chain = 'sys'",
      parameters: [new Date(instant).toISOString()],
    });
    const DAY_MS = 86_400_000;
    const requireOff = async (expected: RegExp) => {
      const off = await examine();
      assert.deepEqual([off.code, statesOf(off)], [1, { clock: "wrong" }]);
      assert.match(off.found.clock.what, expected);
    };
    await changeRows(data, atLast(Date.now() + 10 * 60_000));
    await requireOff(/: new entries get that time until the clock has caught up$/);
    await changeRows(data, atLast(Date.now() - 500 * DAY_MS));
    const ranLast = (instant: number, isRefused: 0 | 1) => {
      using kept = new DatabaseSync(`${data}/lock.db`);
      kept.prepare("UPDATE clock SET at = ?, is_refused = ?").run(instant, isRefused);
    };
    ranLast(Date.now() - 401 * DAY_MS, 0);
    await requireOff(/, but the service ran last at [^ ]+: nothing is recorded$/);
    ranLast(Date.now() - 2 * DAY_MS, 1);
    await requireOff(/, but the service ran last at [^ ]+: nothing is recorded$/);
    // It was wrong, and now agrees with the last entry.
    await changeRows(data, atLast(Date.now() - 60_000));
    assert.deepEqual(statesOf(await examine()), {});
    ranLast(Date.now() - 399 * DAY_MS, 0);
    await changeRows(data, atLast(Date.now()), {
      sql: "UPDATE audit_chain SET size = size - 1 WHERE chain = 'org/acme'",
      parameters: [],
    });
    const older = await examine();
    assert.deepEqual([older.code, statesOf(older)], [1, { checkpoints: "wrong" }]);
    assert.match(
      older.found.checkpoints.what,
      /older than the issued checkpoints of org\/acme: nothing is recorded$/,
    );

    const proxies = async (more: Environment) => (await examine(more)).found.trusted_proxies;
    assert.equal((await proxies({ JISS_TRUSTED_PROXIES: "0.0.0.0/0" })).state, "wrong");
    assert.equal((await proxies({ JISS_TRUSTED_PROXIES: "10.0.0.0/8,::/0" })).state, "wrong");
    assert.equal((await proxies({ JISS_TRUSTED_PROXIES: "10.1.2.3/32" })).state, "ok");
    const standard = await proxies({ JISS_RATE_LIMIT_IP: "60" });
    assert.equal(standard.state, "note");
    assert.match(standard.mend, /^raise JISS_RATE_LIMIT_IP /);
  }),
);
