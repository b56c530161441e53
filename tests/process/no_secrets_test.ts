/**
 * No secret is stored or printed in the clear. The test calls every endpoint of the catalogue, with good and
 * bad requests, and runs every command that uses a secret. Then it searches all bytes that the program wrote
 * or answered.
 * Source: specification, Authentication and Organization ("never persisted, logged or cached"); contract,
 * section 2.
 */
import { Buffer } from "node:buffer";
import { createPrivateKey } from "node:crypto";
import assert from "node:assert/strict";
import { unwrapInstallationKey } from "../../src/operations/installation/installation.ts";
import { deriveSecretsKey } from "../../src/keys/secrets.ts";
import { MASTER_SCOPES } from "../../src/keys/master_keys.ts";
import type { Route } from "../../src/http/exchange.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { earlierUsage } from "../alerting.ts";
import { IS_SERVER } from "../database.ts";
import { cookieIn, filledBody, fillExamples, NOBODY, SHARED_SECRET, targetOf } from "../examples.ts";
import {
  changeRows,
  databaseFolder,
  freshDeployment,
  rowsIn,
  type RunningService,
  runProgram,
  startService,
} from "../program.ts";

type Environment = Readonly<Record<string, string>>;

// ---- spellings of the secrets -----------------------------------------------------------------------------

/** A form of a secret that must occur nowhere. */
interface Needle {
  readonly name: string;
  readonly bytes: Buffer;
}

/** A secret text in plain, in hexadecimal and in base64. */
function formsOfText(name: string, text: string): readonly Needle[] {
  return [{ name, bytes: Buffer.from(text) }, ...formsOfBytes(name, Buffer.from(text)).slice(1)];
}

/**
 * Secret bytes raw, in hexadecimal and in base64, without the last characters, which depend on the following
 * bytes.
 */
function formsOfBytes(name: string, bytes: Uint8Array): readonly Needle[] {
  const buffer = Buffer.from(bytes);
  return [
    { name: `${name}, raw`, bytes: buffer },
    { name: `${name}, in hexadecimal`, bytes: Buffer.from(buffer.toString("hex")) },
    { name: `${name}, in base64`, bytes: Buffer.from(buffer.toString("base64").replace(/.{0,3}=*$/, "")) },
    {
      name: `${name}, in base64url`,
      bytes: Buffer.from(buffer.toString("base64url").replace(/.{0,3}$/, "")),
    },
  ];
}

function formsOfSigningKey(pem: string): readonly Needle[] {
  const der = createPrivateKey(pem).export({ format: "der", type: "pkcs8" });
  const body = pem.split("\n").slice(1, -2).join("");
  // RFC 8410: the seed is the last 32 bytes.
  return [
    { name: "signing key, PEM", bytes: Buffer.from(body) },
    ...formsOfBytes("signing key's seed", der.subarray(-32)),
  ];
}

/** Forms of an organization's key: the whole key, and all but the prefix, which may be stored. */
function formsOfApiKey(key: string): readonly Needle[] {
  return [
    { name: `key ${key.slice(0, 8)}`, bytes: Buffer.from(key) },
    { name: `rest of key ${key.slice(0, 8)}`, bytes: Buffer.from(key.slice(-22)) },
  ];
}

// ---- places that are searched -----------------------------------------------------------------------------

interface Place {
  readonly name: string;
  readonly bytes: Uint8Array;
}

function filesBelow(directory: string): readonly Place[] {
  return [...Deno.readDirSync(directory)].flatMap(({ name, isDirectory }) => {
    const path = `${directory}/${name}`;
    return isDirectory ? filesBelow(path) : [{ name: path, bytes: Deno.readFileSync(path) }];
  });
}

/** `needle in place`, for each needle that occurs in a place. */
function found(needles: readonly Needle[], places: readonly Place[]): readonly string[] {
  return places.flatMap((place) => {
    const bytes = Buffer.from(place.bytes);
    return needles.filter((needle) => bytes.includes(needle.bytes)).map(({ name }) =>
      `${name} in ${place.name}`
    );
  });
}

// ---- the run ----------------------------------------------------------------------------------------------

interface Call {
  readonly key?: string | undefined;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const KEY = /jis_[0-9A-HJKMNP-TV-Z]{26}/g;

/** All output and answers of the program, and the keys that it minted. */
class Outputs {
  readonly places: Place[] = [];
  readonly keys = new Set<string>();
  #count = 0;

  take(name: string, text: string): void {
    for (const key of text.match(KEY) ?? []) this.keys.add(key);
    this.places.push({ name: `${name} (${this.#count += 1})`, bytes: Buffer.from(text) });
  }

  /** Calls the service; returns status and text. */
  async call(service: RunningService, path: string, { key, method, headers = {}, body }: Call = {}) {
    const response = await fetch(service.url + path, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(key === undefined ? {} : { "X-API-Key": key }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const head = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    this.take(`${response.status} of ${method ?? ""} ${path}`, `${head}\n\n${text}`);
    return { status: response.status, text, cookie: cookieIn(response.headers) };
  }

  /** Runs a command, which must end with `code`; returns what it printed. */
  async command(args: readonly string[], env: Environment, code = 0): Promise<string> {
    const { stdout, stderr, ...ended } = await runProgram(args, { env });
    assert.equal(ended.code, code, `${args.join(" ")}: ${stderr}`);
    this.take(`jiss ${args.join(" ")}`, stdout);
    this.take(`jiss ${args.join(" ")}, errors`, stderr);
    return stdout;
  }

  /** Stops a service and takes what it wrote. */
  async end(service: RunningService): Promise<void> {
    assert.equal(await service.stop(), 0);
    this.take("log", service.output());
    this.take("standard error", service.errors());
  }
}

const isRevocation = ({ operationId }: Route) => operationId === "postKeyRevocation";

/** {@link useUsers} makes these calls: their examples name secrets that only the service can give. */
const isAboutUsers = ({ auth, path }: Route) => auth.kind === "user" || /^\/v1\/(?:users|sign-in)/.test(path);

/**
 * Routes in an order in which all work: own pages first, since a later call issues a newer link; deletions after other
 * calls; calls that end an organization last.
 */
function inOrder(): readonly Route[] {
  const rank = (route: Route) =>
    route.path.startsWith("/me/")
      ? -1
      : route.auth.kind === "master"
      ? 3
      : isRevocation(route)
      ? 2
      : route.method === "DELETE"
      ? 1
      : 0;
  return ROUTES.filter((route) => !isAboutUsers(route)).sort((a, b) => rank(a) - rank(b));
}

/**
 * Sends every example of the catalogue, and to each route a wrong key, a broken body and misplaced keys. Returns the
 * token of the link to a reviewer's own page.
 */
async function callEverything(outputs: Outputs, service: RunningService, { env, first, alert }: {
  readonly env: Environment;
  readonly first: string;
  readonly alert: () => Promise<void>;
}): Promise<string> {
  let own = first;
  const filled = await fillExamples(async (path, body) => {
    const { status, text } = await outputs.call(service, path, { key: own, body });
    assert.ok(status === 200 || status === 201, text);
    return JSON.parse(text);
  }, () => new Promise((wait) => setTimeout(wait, 50)));
  await alert();
  let alertId: string | undefined;
  while (alertId === undefined) {
    const { text } = await outputs.call(service, "/v1/organization/alerts", { key: own });
    alertId = JSON.parse(text).alerts[0]?.alert_id;
    if (alertId === undefined) await new Promise((wait) => setTimeout(wait, 500));
  }
  const names: Readonly<Record<string, string>> = { ...filled, "01ALERTOFTHEEXAMPLE0000000": alertId };
  for (const route of inOrder()) {
    const { auth, method } = route;
    const key = auth.kind === "master"
      ? env[`MASTER_ADMIN_KEY_${auth.scope}`]!
      : auth.kind === "key"
      ? own
      : undefined;
    for (const [index, example] of route.examples.entries()) {
      const path = targetOf(route, example, names);
      const headers = { "Idempotency-Key": String(example.body?.idempotency_key ?? `example-${index}`) };
      const isWebhook = example.body?.url !== undefined;
      // The host name of this example cannot be resolved here.
      const body = isWebhook
        ? { ...example.body, url: NOBODY, secret: SHARED_SECRET }
        : filledBody(example, names);
      await callBadly(outputs, service, { route, path, key, own, env });
      const good = await outputs.call(service, path, { key, method, headers, body });
      assert.equal(good.status, route.success.status, `${path}: ${good.text}`);
      // A repeated answer does not show the key again.
      if (route.idempotent) await outputs.call(service, path, { key, method, headers, body });
      own = /"new_api_key":"([^"]+)"/.exec(good.text)?.[1] ?? own;
    }
    if (isRevocation(route)) {
      const { text } = await outputs.call(service, "/v1/admin/billing/org/caller/rotate", {
        key: env.MASTER_ADMIN_KEY_BILLING_ROTATE!,
        headers: { "Idempotency-Key": "back" },
        body: {},
      });
      own = JSON.parse(text).new_api_key;
    }
  }
  return names["01PAGEOFTHEEXAMPLE00000000.TOKENOFTHEEXAMPLE00000"]!;
}

/** Invites a user, signs in in every way, and returns what only the user may know, each with its name. */
async function useUsers(
  outputs: Outputs,
  service: RunningService,
  key: string,
): Promise<Readonly<Record<string, string>>> {
  const call = async (path: string, options: Call, status = 200) => {
    const answer = await outputs.call(service, path, options);
    assert.equal(answer.status, status, `${path}: ${answer.text}`);
    return { ...answer, body: JSON.parse(answer.text) };
  };
  const passwords = { first: "the first password of a user", second: "the second password of a user" };
  const email = "ada@caller.example";
  const invited = await call("/v1/users", { key, body: { email, name: "Ada", role: "admin" } }, 201);
  const token = invited.body.link.split("#")[1];
  await call("/v1/sign-in/link", { body: { token } });
  const first = await call("/v1/sign-in/link/use", { body: { token, password: passwords.first } });
  await call("/v1/sign-in/link/use", { body: { token, password: passwords.second } }, 404);
  const headers = { Cookie: first.cookie, Origin: service.url };
  await call("/v1/me", { headers });
  const change = { current_password: passwords.first, new_password: passwords.second };
  await call("/v1/me/password", { headers, body: { ...change, current_password: "a wrong password" } }, 422);
  const second = await call("/v1/me/password", { headers, body: change });
  await call("/v1/sign-in", { body: { email, password: passwords.first } }, 401);
  const third = await call("/v1/sign-in", { body: { email, password: passwords.second } });
  await call("/v1/me/sessions", { headers: { Cookie: third.cookie } });
  await call("/v1/sign-out", { headers: { Cookie: second.cookie, Origin: service.url }, method: "POST" });
  const again = await call(`/v1/users/${invited.body.user_id}/link`, { key, method: "POST" }, 201);
  return {
    ...passwords,
    "a link's token": token,
    "another link's token": again.body.link.split("#")[1],
    ...Object.fromEntries(
      [first, second, third].map(({ cookie }, index) => [`cookie ${index}`, cookie.split("=")[1]!]),
    ),
  };
}

async function callBadly(
  outputs: Outputs,
  service: RunningService,
  { route, path, key, own, env }: {
    readonly route: Route;
    readonly path: string;
    readonly key: string | undefined;
    readonly own: string;
    readonly env: Environment;
  },
): Promise<void> {
  const { method, auth, body } = route;
  const send = (call: Call, query = "") => outputs.call(service, path + query, { method, ...call });
  const empty = body === null ? {} : { body: {} };
  if (auth.kind !== "none") {
    const others = [
      own,
      env.MASTER_ADMIN_KEY_ALERT_ACK!,
      env.MASTER_ADMIN_KEY_ORG_CREATE!,
      env.JISS_KEY_PEPPER!,
    ];
    // Keys in places where none is read.
    const misplaced = { Authorization: `Bearer ${key}`, Cookie: `key=${key}` };
    const refused = await Promise.all([
      ...others.filter((other) => other !== key).map((wrong) => send({ ...empty, key: wrong })),
      send({ ...empty, headers: misplaced }, `?api_key=${key}`),
      ...(body === null ? [] : [send({ body: { api_key: key } })]),
    ]);
    assert.deepEqual(new Set(refused.map(({ status }) => status)), new Set([401]));
  }
  if (body !== null) {
    const headers = { "Idempotency-Key": "bad" };
    assert.equal((await send({ key, headers, body: `{"api_key":"${key}",` })).status, 400);
    assert.ok((await send({ key, headers, body: [{ api_key: key }] })).status >= 400);
  }
}

const ORGANIZATION = ["--name", "Second", "--domain", "legal", "--tier", "starter"];

/** Every command that reads or makes a secret. */
async function runEverything(outputs: Outputs, { env, directory }: {
  readonly env: Environment;
  readonly directory: string;
}): Promise<void> {
  const run = (args: readonly string[], code = 0, more: Environment = {}) =>
    outputs.command(args, { ...env, ...more }, code);
  await run(["org", "create", "second", ...ORGANIZATION]);
  await run(["org", "create", "third", ...ORGANIZATION, "--key-file", `${directory}/keys/third.key`]);
  await run(["org", "create", "third", ...ORGANIZATION], 1);
  await run(["org", "rotate-key", "second"]);
  await run(["org", "suspend", "second"]);
  await run(["org", "reactivate", "second"]);
  for (const json of [[], ["--json"]]) {
    await run(["org", "list", ...json]);
    await run(["org", "show", "second", ...json]);
    await run(["alerts", "list", "--all", ...json]);
    await run(["doctor", ...json]);
  }
  await run(["rotate-signing-key"]);
  await run(["checkpoint"]);
  await run(["doctor"]);
  await run(["doctor"], 1, { JISS_KEY_PEPPER: "a-pepper-of-nobody-0123456789-0123456789" });
  await run(["export", "--chain", "system"]);
  for (const org of ["caller", "second", "third"]) {
    for (const chain of ["evidence", "admin"]) await run(["export", "--org", org, "--chain", chain]);
  }
  for (const json of [[], ["--json"]]) await run(["calibrate", "--org", "caller", ...json], 1);
  await run(["restore", "--acknowledge", "nothing is lost"], 1);
  await run(["openapi"]);
  await run(["version"]);
  await run(["serve"], 78, { MASTER_ADMIN_KEY_ALERT_ACK: env.MASTER_ADMIN_KEY_ORG_CREATE! });
  await run(["serve"], 78, {
    JISS_KEY_PEPPER: "a-pepper-of-nobody-0123456789-0123456789",
    JISS_SECRETS_KEY: "",
  });
}

Deno.test("after every endpoint and every command no secret is in the database, the lock, the log or an answer, except each new key in one answer", async () => {
  const deployment = await freshDeployment();
  const { directory } = deployment;
  const data = `${directory}/data`;
  const folders = [...new Set([data, databaseFolder(data)])];
  // Files that hold secrets by purpose lie elsewhere, so that all of the data directory is searched.
  await Deno.mkdir(`${directory}/keys`);
  const keyFile = `${directory}/keys/signing-key.pem`;
  await Deno.rename(`${data}/signing-key.pem`, keyFile);
  await Deno.rename(`${data}/jiss.env`, `${directory}/keys/jiss.env`);
  const old = {
    ...deployment.env,
    JISS_SIGNING_KEY_FILE: keyFile,
    JISS_SIGNING_KEY_PREVIOUS_FILE: `${directory}/keys/previous.pem`,
    JISS_SECRETS_KEY: "the-secrets-key-of-yesterday-0123456789",
    JISS_ADMIN_DASHBOARD: "on",
    JISS_WEBHOOK_ALLOW: "127.0.0.0/8",
    JISS_WEBHOOK_BACKOFF_MS: "0,0",
  };
  const previous = Object.fromEntries(
    MASTER_SCOPES.map((
      scope,
    ) => [`MASTER_ADMIN_KEY_${scope}_PREVIOUS`, `previous-of-${scope}-0123456789-0123`]),
  );
  const env: Environment = {
    ...old,
    ...previous,
    JISS_KEY_PEPPER: "the-pepper-that-came-next-0123456789-012",
    JISS_KEY_PEPPER_PREVIOUS: deployment.env.JISS_KEY_PEPPER!,
  };
  const secrets = Object.entries(env).filter(([name]) => /PEPPER|MASTER|JISS_SECRETS_KEY/.test(name));
  assert.equal(secrets.length, 21);
  const outputs = new Outputs();

  const before = await startService(["serve"], { env: old });
  const created = await outputs.call(before, "/v1/admin/org/create", {
    key: env.MASTER_ADMIN_KEY_ORG_CREATE!,
    headers: { "Idempotency-Key": "caller" },
    body: { org_id: "caller", name: "Planted", domain: "financial", tier: "standard", allowed_origins: "" },
  });
  assert.equal(created.status, 201, created.text);
  await outputs.end(before);

  const service = await startService(["serve"], { env });
  const pageToken = await callEverything(outputs, service, {
    env,
    first: JSON.parse(created.text).api_key,
    alert: () =>
      changeRows(data, {
        sql: "INSERT INTO alert VALUES (?, 'caller', 'HIGH', 'USAGE_ANOMALY', 20777, '{}', 0, 0, NULL)",
        parameters: ["alert-of-the-example"],
      }, ...earlierUsage("caller", Date.now())),
  });
  const firstPem = await Deno.readTextFile(keyFile);
  await runEverything(outputs, { env, directory });
  assert.equal((await outputs.call(service, "/v1")).status, 200);
  const thirdKey = (await Deno.readTextFile(`${directory}/keys/third.key`)).trim();
  const userSecrets = {
    ...await useUsers(outputs, service, thirdKey),
    "the token of a reviewer's page": pageToken,
  };
  const filesNow = () => folders.flatMap(filesBelow);
  // Upkeep empties the write-ahead log now and then. An event that is recorded now is in it.
  const late = { key: thirdKey, body: { event_type: "LATE_EVENT", payload: {} } };
  assert.equal((await outputs.call(service, "/v1/audit/append", late)).status, 201);
  const running = filesNow();
  assert.ok(running.some(({ name, bytes }) => /\/(?:jiss\.db|data)-wal$/.test(name) && bytes.length > 0));
  await outputs.end(service);
  await outputs.command(["rotate-signing-key", "--drop-old"], env);

  const [installation] = await rowsIn<{ wrapped_key: Uint8Array }>(
    data,
    "SELECT wrapped_key FROM installation",
  );
  const wrapping = deriveSecretsKey(env.JISS_SECRETS_KEY!);
  const needles = [
    ...secrets.flatMap(([name, value]) => formsOfText(name, value)),
    ...formsOfSigningKey(firstPem),
    ...formsOfSigningKey(await Deno.readTextFile(keyFile)),
    ...formsOfBytes("wrapping key", wrapping),
    ...formsOfBytes("installation key", unwrapInstallationKey(installation!.wrapped_key, [wrapping])!.plain),
    ...formsOfApiKey(thirdKey),
    ...formsOfText("secret that a webhook's receiver shared", SHARED_SECRET),
  ];
  const files = [...running, ...filesNow()];
  assert.deepEqual(found(needles, [...files, ...outputs.places]), []);

  // Keys by: creation, own rotation, reactivation after a revocation, payment, a forced rotation, the example, three
  // named ones, and two commands.
  assert.equal(outputs.keys.size, 11, "every new key was seen");
  for (const key of outputs.keys) {
    const forms = formsOfApiKey(key);
    assert.deepEqual(found(forms, files), []);
    assert.equal(found(forms.slice(0, 1), outputs.places).length, 1, "shown once");
    assert.equal(found(forms.slice(1), outputs.places).length, 1, "the rest of the key is shown once");
  }

  for (const [name, secret] of Object.entries(userSecrets)) {
    assert.deepEqual(found(formsOfText(name, secret), files), []);
    const shown = /password/.test(secret) ? 0 : 1;
    assert.equal(found([{ name, bytes: Buffer.from(secret) }], outputs.places).length, shown, name);
  }

  // One secret of the fixtures, two of the examples. The bytes that the text encodes are wrapped.
  const signing = new Set(
    outputs.places.flatMap(({ bytes }) =>
      Buffer.from(bytes).toString().match(/whsec_[A-Za-z0-9+/=]{44}/g) ?? []
    ),
  );
  assert.equal(signing.size, 3);
  for (const secret of signing) {
    const forms = formsOfBytes("signing secret", Buffer.from(secret.slice("whsec_".length), "base64"));
    assert.deepEqual(found(forms, files), []);
    assert.equal(found([{ name: "signing secret", bytes: Buffer.from(secret) }], outputs.places).length, 1);
  }

  // The search itself works: it finds a name in the database, an answer and the log; a prefix; a planted
  // file.
  const planted = [...outputs.keys][0]!;
  await Deno.writeTextFile(
    `${data}/planted`,
    `...${Buffer.from(env.JISS_KEY_PEPPER!).toString("base64")}...`,
  );
  const hits = found(
    [
      { name: "organization", bytes: Buffer.from("caller") },
      { name: "prefix", bytes: Buffer.from(planted.slice(0, 8)) },
      ...needles,
    ],
    [...filesNow(), ...outputs.places],
  );
  const database = IS_SERVER ? `${databaseFolder(data)}/data/dbs/default/data` : `${data}/jiss.db`;
  for (const what of ["organization", "prefix"]) {
    assert.ok(hits.some((hit) => hit.startsWith(`${what} in ${database}`)), what);
  }
  assert.ok(hits.some((hit) => /^organization in log /.test(hit)));
  assert.ok(hits.some((hit) => /^organization in 200 of GET \/v1\/admin\/audit-log/.test(hit)));
  assert.ok(hits.includes(`JISS_KEY_PEPPER, in base64 in ${data}/planted`));
  await deployment.remove();
});
