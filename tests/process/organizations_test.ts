/**
 * `jiss org …` and `jiss alerts list`: the administrator's commands, beside a running service.
 * Source: contract, sections 1, 5 and 8.11.
 */
import assert from "node:assert/strict";
import { exists } from "../../src/cli/init.ts";
import { save, verifyProgram } from "../auditing.ts";
import {
  changeRows,
  createOrganization,
  freshDeployment,
  NO_DATABASE,
  type RunningService,
  runProgram,
  startService,
} from "../program.ts";

interface Site {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly service: RunningService;
  jiss(...args: string[]): ReturnType<typeof runProgram>;
  /** Runs `jiss`, which must succeed with nothing on standard error; returns its output. */
  outputOf(...args: string[]): Promise<string>;
  /** The status of a request with a key. */
  statusOf(key: string): Promise<number>;
}

/** A running service, stopped after the test. */
function withSite(test: (site: Site) => Promise<void>): () => Promise<void> {
  return async () => {
    const { directory, env, remove } = await freshDeployment();
    const service = await startService(["serve"], { env });
    const jiss = (...args: string[]) => runProgram(args, { env });
    try {
      await test({
        directory,
        env,
        service,
        jiss,
        async outputOf(...args) {
          const { code, stdout, stderr } = await jiss(...args);
          assert.deepEqual([code, stderr], [0, ""], args.join(" "));
          return stdout;
        },
        statusOf: async (key) => (await service.send("/v1/organization/dashboard", { key })).status,
      });
    } finally {
      await service.stop();
      await remove();
    }
  };
}

const KEY = /jis_[0-9A-HJKMNP-TV-Z]{26}/g;

/** The one key that a command prints. */
function keyIn(text: string): string {
  const keys = text.match(KEY) ?? [];
  assert.equal(keys.length, 1, text);
  return keys[0]!;
}

const ACME = ["org", "create", "acme", "--name", "Acme Bank", "--domain", "financial", "--tier", "standard"];

/** The events of an organization's audit log, the oldest first. */
async function eventsOf({ service }: Site, key: string) {
  const { body } = await service.send("/v1/admin/audit-log", { key });
  return body.events.map((
    { event_type, actor, detail }: Record<string, unknown>,
  ) => [event_type, actor, detail]).reverse();
}

Deno.test(
  "`jiss org create` prints the key once, the organization is served at once, and `jiss org show` does not show its key",
  withSite(async ({ service, jiss, outputOf, statusOf }) => {
    assert.equal(
      await outputOf("org", "list"),
      "There are no organizations yet: create one with jiss org create.\n",
    );
    const created = await outputOf(
      ...ACME,
      "--allowed-origins",
      "https://b.example, https://A.example",
    );
    const key = keyIn(created);
    assert.equal(await statusOf(key), 200);
    await outputOf(
      "org",
      "create",
      "beta",
      "--name",
      "Béta \u202e",
      "--domain",
      "government",
      "--tier",
      "starter",
    );

    const shown = JSON.parse(await outputOf("org", "show", "acme", "--json"));
    const { created_at: createdAt, ...rest } = shown;
    assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual(rest, {
      org_id: "acme",
      name: "Acme Bank",
      domain: "financial",
      tier: "standard",
      allowed_origins: ["https://a.example", "https://b.example"],
      active: 1,
      reasons: [],
      prefix: key.slice(0, 8),
      api_key_version: 1,
      api_key_rotated_at: null,
    });
    assert.equal(
      await outputOf("org", "show", "acme"),
      `org_id           acme
name             Acme Bank
domain           financial
tier             standard
allowed origins  https://a.example https://b.example
active           yes
key prefix       ${key.slice(0, 8)}
key version      1
key rotated at   never
created at       ${createdAt}
`,
    );
    const listed = JSON.parse(await outputOf("org", "list", "--json"));
    assert.equal(listed.count, 2);
    assert.deepEqual(listed.organizations[0], shown);
    const table = (await outputOf("org", "list")).trimEnd().split("\n");
    assert.match(table[0]!, /^ORG +TIER +DOMAIN +STATE +PREFIX +CREATED +NAME$/);
    assert.deepEqual(
      table.slice(1).map((line) => line.split(/ {2,}/).filter((_, index) => index !== 4 && index !== 5)),
      [
        ["acme", "standard", "financial", "active", "Acme Bank"],
        ["beta", "starter", "public_sector", "active", "Béta \\u{202e}"],
      ],
    );
    for (const args of [["list"], ["list", "--json"], ["show", "acme"], ["show", "acme", "--json"]]) {
      assert.doesNotMatch(await outputOf("org", ...args), new RegExp(KEY.source));
    }
    assert.ok(!service.output().includes(key), "the service's log shows no key");

    const again = await jiss(...ACME);
    assert.deepEqual([again.code, again.stdout], [1, ""]);
    assert.match(again.stderr, /^jiss: org_id acme exists: choose another one\.\n$/);
    assert.equal(await statusOf(key), 200);
  }),
);

Deno.test(
  "with --key-file a key is written for its owner alone or read from there, never printed, and not written if the organization exists",
  withSite(async ({ directory, jiss, outputOf, statusOf }) => {
    const file = `${directory}/acme.key`;
    assert.doesNotMatch(await outputOf(...ACME, "--key-file", file), new RegExp(KEY.source));
    const key = (await Deno.readTextFile(file)).trimEnd();
    assert.equal((await Deno.stat(file)).mode! & 0o777, 0o600);
    assert.equal(await statusOf(key), 200);

    const own = await save(directory, "own.key", "jis_0123456789ABCDEFGHJKMNPQRS\n");
    await Deno.chmod(own, 0o644);
    const named = (orgId: string) => ACME.map((word) => word === "acme" ? orgId : word);
    await outputOf(...named("owner"), "--key-file", own);
    assert.equal(await Deno.readTextFile(own), "jis_0123456789ABCDEFGHJKMNPQRS\n");
    assert.equal((await Deno.stat(own)).mode! & 0o777, 0o600);
    assert.equal(await statusOf("jis_0123456789ABCDEFGHJKMNPQRS"), 200);

    const linked = await save(directory, "linked.key", "jis_ABCDEFGHJKMNPQRSTVWXYZ0123\n");
    await Deno.chmod(linked, 0o640);
    await Deno.symlink(linked, `${directory}/link`);
    await outputOf(...named("linked"), "--key-file", `${directory}/link`);
    assert.equal(await statusOf("jis_ABCDEFGHJKMNPQRSTVWXYZ0123"), 200);
    assert.equal((await Deno.stat(linked)).mode! & 0o777, 0o640, "the target of the link is left as it is");

    const pipe = `${directory}/pipe`;
    await new Deno.Command("mkfifo", { args: ["-m", "666", pipe] }).output();
    await Deno.symlink(`${directory}/nowhere`, `${directory}/dangling`);
    await Deno.symlink(pipe, `${directory}/to-pipe`);
    const unused = `${directory}/unused.key`;
    const strange = await save(directory, "strange.key", "not a key");
    for (
      const [args, message] of [
        [[...ACME, "--key-file", unused], /org_id acme exists/],
        [[...named("second"), "--key-file", own], /first 8 characters are another organization's/],
        [[...named("second"), "--key-file", pipe], /--key-file must be an ordinary file/],
        [[...named("second"), "--key-file", `${directory}/to-pipe`], /--key-file must be an ordinary file/],
        [[...named("second"), "--key-file", "/dev/null"], /--key-file must be an ordinary file/],
        [[...named("second"), "--key-file", `${directory}/dangling`], /--key-file is a link to no key/],
        [[...named("second"), "--key-file", strange], /--key-file holds something else than a key/],
        [
          [...named("second"), "--key-file", `${directory}/missing/key`],
          /--key-file cannot be written: check the path/,
        ],
      ] as const
    ) {
      const { code, stdout, stderr } = await jiss(...args);
      assert.deepEqual([code, stdout], [1, ""], stderr);
      assert.match(stderr, message);
    }
    assert.equal(await Deno.readTextFile(strange), "not a key");
    assert.equal((await Deno.stat(pipe)).mode! & 0o777, 0o666);
    await assert.rejects(Deno.stat(unused), Deno.errors.NotFound);
    const { organizations } = JSON.parse(await outputOf("org", "list", "--json"));
    assert.deepEqual(organizations.map(({ org_id }: { org_id: string }) => org_id), [
      "acme",
      "linked",
      "owner",
    ]);
  }),
);

Deno.test(
  "a command takes effect in the running service at once, is in the audit log with the actor system, and the chain verifies",
  withSite(async (site) => {
    const { directory, env, service, outputOf, statusOf } = site;
    const first = await createOrganization(service, env);
    const rotated = await outputOf("org", "rotate-key", "acme");
    const key = keyIn(rotated);
    assert.deepEqual([await statusOf(first), await statusOf(key)], [401, 200]);

    const suspended = await outputOf("org", "suspend", "acme");
    assert.equal(await statusOf(key), 401);
    assert.equal(await outputOf("org", "suspend", "acme"), suspended, "a repeat changes nothing");
    const shown = JSON.parse(await outputOf("org", "show", "acme", "--json"));
    const [, since] = /since (\S+):/.exec(suspended)!;
    assert.deepEqual([shown.active, shown.reasons], [0, [{ reason: "manual", since }]]);
    assert.match(
      await outputOf("org", "show", "acme"),
      new RegExp(`\\nactive +no: manual since ${since}\\nkey prefix +${key.slice(0, 8)}\\n`),
    );
    const early = await outputOf("org", "rotate-key", "acme");
    assert.match(
      early,
      /The key works once acme is active; it is inactive \(manual since .*\): jiss org react/,
    );
    assert.equal(await statusOf(keyIn(early)), 401);

    assert.match(
      await outputOf("org", "reactivate", "acme"),
      /^acme is active again\. Its key works again\./,
    );
    assert.equal(await statusOf(keyIn(early)), 200);
    const after = JSON.parse(await outputOf("org", "show", "acme", "--json"));
    assert.deepEqual([after.active, after.reasons, after.api_key_version], [1, [], 3]);
    assert.deepEqual((await eventsOf(site, keyIn(early))).slice(1), [
      ["ORG_CREATED", "payment-worker", {
        scope: "ORG_CREATE",
        name: "acme",
        domain: "financial",
        tier: "standard",
      }],
      ["KEY_ROTATED", "system", { new_prefix: key.slice(0, 8) }],
      ["ADMIN_ORG_SUSPEND", "system", {}],
      ["KEY_ROTATED", "system", { new_prefix: keyIn(early).slice(0, 8) }],
      ["ADMIN_ORG_REACTIVATE", "system", { remaining: [] }],
    ]);

    const bundle = `${directory}/admin.ndjson`;
    await outputOf("export", "--org", "acme", "--chain", "admin", "-o", bundle);
    const jwks = await save(directory, "jwks.json", (await service.send("/.well-known/jwks.json")).body);
    const { report } = await verifyProgram([bundle, "--key", jwks, "--json"]);
    assert.equal(report.verdict, "INTACT, UNANCHORED");
    assert.ok(!(await Deno.readTextFile(bundle)).includes(key.slice(8)), "no key is in the evidence");
  }),
);

Deno.test(
  "reactivate lifts every reason at once, and rotate-key mints a key if none is left",
  withSite(async ({ env, service, jiss, outputOf, statusOf }) => {
    const first = await createOrganization(service, env);
    assert.equal((await service.send("/v1/admin/key/revoke", { method: "POST", key: first })).status, 200);
    await service.send("/v1/admin/billing/org/acme/suspend", {
      key: env.MASTER_ADMIN_KEY_BILLING_SUSPEND!,
      headers: { "Idempotency-Key": "1" },
      body: {},
    });
    await outputOf("org", "suspend", "acme");
    const shown = JSON.parse(await outputOf("org", "show", "acme", "--json"));
    assert.deepEqual(shown.reasons.map(({ reason }: { reason: string }) => reason), [
      "billing",
      "manual",
      "self_revoked",
    ]);
    assert.equal(shown.prefix, null);
    assert.match(
      await outputOf("org", "list"),
      /^acme +standard +financial +billing,manual,self_revoked +none +/m,
    );
    assert.match(
      await outputOf("org", "reactivate", "acme"),
      /Its key was destroyed: mint a new one with jiss org rotate-key acme\./,
    );
    assert.equal(await statusOf(first), 401);
    const key = keyIn(await outputOf("org", "rotate-key", "acme"));
    assert.deepEqual([await statusOf(first), await statusOf(key)], [401, 200]);

    const again = await jiss("org", "reactivate", "acme");
    assert.deepEqual([again.code, again.stdout, again.stderr], [1, "", "jiss: acme is active.\n"]);
  }),
);

Deno.test("a key is minted only under the pepper of the running service", async () => {
  const { env: fresh, remove } = await freshDeployment();
  const env: Readonly<Record<string, string>> = {
    ...fresh,
    JISS_SECRETS_KEY: "a secrets key of its own, of 32 characters",
  };
  const pepper = env.JISS_KEY_PEPPER!;
  const other = "another pepper than the service has, of 32 characters";
  const service = await startService(["serve"], { env });
  const statusOf = async (key: string) => (await service.send("/v1/organization/dashboard", { key })).status;
  try {
    const strange = await runProgram(ACME, { env: { ...env, JISS_KEY_PEPPER: other } });
    assert.deepEqual([strange.code, strange.stdout], [78, ""]);
    assert.match(
      strange.stderr,
      /^jiss: JISS_KEY_PEPPER is not the pepper with which the service last started: set it/,
    );
    assert.doesNotMatch(strange.stderr, new RegExp(`${other}|${pepper}`));

    const rotating = { ...env, JISS_KEY_PEPPER: other, JISS_KEY_PEPPER_PREVIOUS: pepper };
    const created = await runProgram(ACME, { env: rotating });
    assert.deepEqual([created.code, created.stderr], [0, ""]);
    assert.equal(
      await statusOf(keyIn(created.stdout)),
      200,
      "although the service does not have the new pepper yet",
    );
    assert.equal(await service.stop(), 0);

    const again = await startService(["serve"], { env: { ...env, JISS_KEY_PEPPER: other } });
    assert.equal(await again.stop(), 0);
    const replaced = await runProgram(["org", "rotate-key", "acme"], { env });
    assert.equal(replaced.code, 78, "the service has another pepper now");
  } finally {
    await service.stop().catch(() => {});
    await remove();
  }
});

Deno.test("a command with other secrets than the service's, or in the middle of a rotation, does not affect the service's next start", async () => {
  const { env, remove } = await freshDeployment();
  try {
    assert.equal(await (await startService(["serve"], { env })).stop(), 0);
    const rotating = {
      ...env,
      JISS_KEY_PEPPER: "the next pepper, which no start has had, of 32 characters",
      JISS_KEY_PEPPER_PREVIOUS: env.JISS_KEY_PEPPER!,
    };
    assert.equal((await runProgram(ACME, { env: rotating })).code, 0);
    const stray = { ...env, JISS_SECRETS_KEY: "a secrets key that the service has not, of 32 characters" };
    assert.equal((await runProgram(["org", "suspend", "acme"], { env: stray })).code, 0);
    assert.equal(await (await startService(["serve"], { env })).stop(), 0);
    assert.equal(await (await startService(["serve"], { env: rotating })).stop(), 0);
    assert.equal((await runProgram(["org", "rotate-key", "acme"], { env: rotating })).code, 0);
  } finally {
    await remove();
  }
});

Deno.test("a start that fails does not affect the running service's secrets, nor the commands that use them", async () => {
  const { env, remove } = await freshDeployment();
  const service = await startService(["serve"], { env });
  try {
    const { port } = new URL(service.url);
    const next = "another pepper than the service has, of 32 characters";
    const failed = await runProgram(["serve"], {
      env: { ...env, JISS_PORT: port, JISS_KEY_PEPPER: next, JISS_KEY_PEPPER_PREVIOUS: env.JISS_KEY_PEPPER! },
    });
    assert.equal(failed.code, 1, failed.stderr);
    const created = await runProgram(ACME, { env });
    assert.deepEqual([created.code, created.stderr], [0, ""]);
    const { status } = await service.send("/v1/organization/dashboard", { key: keyIn(created.stdout) });
    assert.equal(status, 200);
    assert.equal(await service.stop(), 0);
    assert.equal(await (await startService(["serve"], { env })).stop(), 0);
  } finally {
    await service.stop().catch(() => {});
    await remove();
  }
});

Deno.test("a mistake on the command line is 2 and names the nearest word, and an unknown organization is 1", async () => {
  const { env, remove } = await freshDeployment();
  const create = (...args: string[]) => ["org", "create", ...args];
  const whole = ["--name", "Acme", "--domain", "legal", "--tier", "starter"];
  const mistakes: readonly (readonly [readonly string[], RegExp])[] = [
    [["org", "shwo", "acme"], /^jiss: unknown command 'shwo': did you mean show\?\n$/],
    [["alerts", "lsit"], /^jiss: unknown command 'lsit': did you mean list\?\n$/],
    [["org", "list", "--jsno"], /^jiss: unknown option '--jsno': did you mean --json\?\n$/],
    [create("acme", ...whole, "--key-flie", "x"), /unknown option '--key-flie': did you mean --key-file\?/],
    [["org", "show"], /missing required argument 'ORG'/],
    [["org", "suspend", "acme", "beta"], /too many arguments/],
    [create(...whole), /missing required argument 'ORG'/],
    [create("acme", ...whole.slice(2)), /required option '--name <NAME>' not specified/],
    [create("acme", ...whole.with(3, "law")), /'--domain <DOMAIN>' argument 'law' is invalid.*general/],
    [create("acme", ...whole.with(5, "gold")), /'--tier <TIER>' argument 'gold' is invalid.*enterprise/],
    [
      create("no id!", ...whole.with(1, " "), "--allowed-origins", "https://*.example"),
      /^jiss: ORG must be 1 to 128 letters.*; --name must be 1 to 200 .*; --allowed-origins must be origins/,
    ],
  ];
  for (const [args, message] of mistakes) {
    const { code, stdout, stderr } = await runProgram(args, { env });
    assert.deepEqual([code, stdout], [2, ""], args.join(" "));
    assert.match(stderr, message);
  }
  for (const [name, first] of [["org", "create"], ["alerts", "list"]] as const) {
    const alone = await runProgram([name], { env });
    assert.equal(alone.code, 2);
    assert.match(alone.stderr, new RegExp(`Usage: jiss ${name} .*\\n  ${first} `, "s"));
    const help = await runProgram([name, first, "--help"], { env });
    assert.deepEqual([help.code, help.stderr], [0, ""]);
    assert.match(help.stdout, new RegExp(`^Usage: jiss ${name} ${first} `));
  }
  for (
    const args of [["org", "list"], ["org", "show", "acme"], ["org", "suspend", "acme"], ["alerts", "list"]]
  ) {
    const { code, stderr } = await runProgram(args, { env });
    assert.equal(code, 78, args.join(" "));
    assert.match(stderr, NO_DATABASE);
  }

  await (await startService(["serve"], { env })).stop();
  for (const command of ["show", "rotate-key", "suspend", "reactivate"]) {
    for (const orgId of ["nobody", "acme/admin", ""]) {
      const { code, stdout, stderr } = await runProgram(["org", command, orgId], { env });
      assert.deepEqual([code, stdout], [1, ""], `${command} ${orgId}: ${stderr}`);
      assert.match(stderr, /^jiss: [Tt]here is no organization /);
    }
  }
  await remove();
});

Deno.test("open alerts are listed with their details, and acknowledged ones if they are asked for", async () => {
  const { env, remove } = await freshDeployment();
  const service = await startService(["serve"], { env });
  await createOrganization(service, env);
  await service.stop();
  const list = async (...args: string[]) => {
    const { code, stdout, stderr } = await runProgram(["alerts", "list", ...args], { env });
    assert.deepEqual([code, stderr], [0, ""]);
    return stdout;
  };
  assert.equal(await list(), "There are no open alerts.\n");
  assert.equal(await list("--all"), "There were no alerts.\n");
  assert.deepEqual(JSON.parse(await list("--json")), { alerts: [], count: 0 });

  const sql = "INSERT INTO alert VALUES (?, 'acme', 'HIGH', 'USAGE_ANOMALY', ?, ?, ?, ?, ?)";
  const detail = '{"count_24h":201,"p95":20,"threshold":200,"days_with_data":7}';
  await changeRows(
    env.JISS_DATA_DIR!,
    { sql, parameters: ["second", 20_777, detail, Date.UTC(2026, 10, 20, 9), 0, null] },
    {
      sql,
      parameters: ["first", 20_776, detail, Date.UTC(2026, 10, 19, 9), 1, Date.UTC(2026, 10, 19, 10)],
    },
  );

  const open = {
    alert_id: "second",
    org_id: "acme",
    severity: "HIGH",
    kind: "USAGE_ANOMALY",
    detail: { count_24h: 201, p95: 20, threshold: 200, days_with_data: 7 },
    created_at: "2026-11-20T09:00:00.000Z",
    acknowledged: 0,
    acknowledged_at: null,
  };
  assert.deepEqual(JSON.parse(await list("--json")), { alerts: [open], count: 1 });
  assert.equal(
    await list(),
    `ALERT_ID  ORG   SEVERITY  KIND           CREATED                   ACKNOWLEDGED  DETAIL
second    acme  HIGH      USAGE_ANOMALY  2026-11-20T09:00:00.000Z  no            count_24h=201 p95=20 threshold=200 days_with_data=7
`,
  );
  assert.deepEqual(JSON.parse(await list("--all", "--json")).alerts, [{
    ...open,
    alert_id: "first",
    created_at: "2026-11-19T09:00:00.000Z",
    acknowledged: 1,
    acknowledged_at: "2026-11-19T10:00:00.000Z",
  }, open]);
  await remove();
});

Deno.test({
  name:
    "if a new key cannot be printed none is minted: the old one keeps working, and no organization is made [needs /dev/full]",
  ignore: !exists("/dev/full"),
  fn: withSite(async ({ env, service, outputOf, statusOf }) => {
    const key = await createOrganization(service, env);
    for (const args of [["org", "rotate-key", "acme"], ["org", "create", "beta", ...ACME.slice(3)]]) {
      const { code, stderr } = await runProgram(args, { env, output: "/dev/full" });
      assert.equal(code, 1);
      assert.match(
        stderr,
        /^jiss: the new key could not be printed \(No space left.*\): nothing was changed\n$/,
      );
    }
    assert.equal(await statusOf(key), 200);
    const { organizations } = JSON.parse(await outputOf("org", "list", "--json"));
    assert.deepEqual(organizations.map(({ org_id }: { org_id: string }) => org_id), ["acme"]);
  }),
});
