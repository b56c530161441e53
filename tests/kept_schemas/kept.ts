/**
 * Deployments that the programs of earlier schema steps wrote, and what must hold once today's program took
 * one over.
 */
import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { openEmbedded } from "../../src/store/embedded.ts";
import { rowsOf } from "../earlier_schema.ts";
import { scoreRequest } from "../harness.ts";
import { type RunningService, runProgram, startService } from "../program.ts";

export interface KeptCall {
  readonly method: string;
  readonly path: string;
  /** The organization whose key was sent. */
  readonly organization: string;
  readonly body?: unknown;
  /** The body of the answer, whose status was 200. */
  readonly text: string;
  /** Whether a repeated request must get the very same answer. */
  readonly isRepeatable: boolean;
}

export interface KeptSchema {
  readonly version: number;
  /** The program's commit in the repository. */
  readonly commit: string;
  /** The instant of keeping, ISO 8601. */
  readonly keptAt: string;
  readonly env: Readonly<Record<string, string>>;
  /** By name, in base64. */
  readonly files: Readonly<Record<string, string>>;
  /** By organization. */
  readonly keys: Readonly<Record<string, string>>;
  /** Organizations that were suspended at the end. */
  readonly suspended: readonly string[];
  /** Operators of the first organization that were erased, each with its session. */
  readonly erased: Readonly<Record<string, string>>;
  readonly calls: readonly KeptCall[];
}

/** The kept deployment of each step, the first one first. */
export function keptSchemas(): readonly KeptSchema[] {
  return [...Deno.readDirSync(import.meta.dirname!)].filter(({ name }) => name.endsWith(".json.gz"))
    .map(({ name }) => gunzipSync(Deno.readFileSync(`${import.meta.dirname}/${name}`)))
    .map((bytes) => JSON.parse(new TextDecoder().decode(bytes)) as KeptSchema)
    .sort((one, other) => one.version - other.version);
}

/** 400 days after the last entry, a start asks whether the clock is right. */
const CLOCK_TRUSTED_MS = 399 * 86_400_000;

/** Puts a kept deployment into a data directory. @returns its environment. */
export function unpackSchema(
  { env, files }: KeptSchema,
  data: string,
): Readonly<Record<string, string>> {
  Deno.mkdirSync(data, { recursive: true, mode: 0o700 });
  for (const [name, content] of Object.entries(files)) {
    Deno.writeFileSync(`${data}/${name}`, Uint8Array.fromBase64(content), { mode: 0o600 });
  }
  return {
    ...env,
    JISS_DATA_DIR: data,
    JISS_RATE_LIMIT_IP: "1000000",
    JISS_RATE_LIMIT_KEY: "1000000",
  };
}

/**
 * Starts the service on a kept deployment, long after it was kept; an administrator has accepted the clock.
 */
export async function startOn(
  { keptAt }: KeptSchema,
  env: Readonly<Record<string, string>>,
): Promise<RunningService> {
  const service = await startService(["serve"], { env });
  if (Date.now() - Date.parse(keptAt) < CLOCK_TRUSTED_MS) return service;
  await service.stop();
  const { code, stderr } = await runProgram(["doctor", "--accept-clock"], { env });
  assert.equal(code, 0, stderr);
  return await startService(["serve"], { env });
}

/** Every row of a database's file. */
export async function contentOf(path: string): Promise<unknown> {
  const database = openEmbedded({ path, onFatal: () => {} });
  const tables = await rowsOf(database, "SELECT name, sql FROM sqlite_schema ORDER BY name");
  const rows: unknown[] = [tables];
  for (const { name, sql } of tables) {
    if (String(sql).startsWith("CREATE TABLE")) rows.push(await rowsOf(database, `SELECT * FROM ${name}`));
  }
  await database.close();
  return rows;
}

/** Private, PKCS#8 PEM: the key that signed the first entry. */
export function firstKey({ files }: KeptSchema): string {
  const pem = files["signing-key-previous.pem"] ?? files["signing-key.pem"]!;
  return new TextDecoder().decode(Uint8Array.fromBase64(pem));
}

async function asked(service: RunningService, { keys }: KeptSchema, call: KeptCall) {
  const { method, path, organization, body } = call;
  const response = await fetch(service.url + path, {
    method,
    headers: {
      "X-API-Key": keys[organization]!,
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/**
 * The step from which a repeated answer is the same byte for byte; before it, the same members in another
 * order.
 */
const BYTES_PROMISED = 2;

const isReport = ({ path }: KeptCall) => /^\/v1\/compliance\/report\/./.test(path);

async function isAsBefore(service: RunningService, kept: KeptSchema, call: KeptCall): Promise<void> {
  const { status, headers, text } = await asked(service, kept, call);
  const what = `${call.method} ${call.path} ${JSON.stringify(call.body)}: ${text}`;
  assert.equal(status, 200, what);
  const [now, then] = [JSON.parse(text), JSON.parse(call.text)];
  if (isReport(call)) {
    assert.deepEqual([now.report, now.report_sha256], [then.report, then.report_sha256]);
    return;
  }
  assert.equal(headers.get("Idempotency-Replayed"), "true", what);
  assert.deepEqual(now, then, what);
  if (kept.version >= BYTES_PROMISED) assert.equal(text, call.text);
}

/** How many scores of anna the first organization was told, and how many operators it has. */
function countsOf({ calls, erased }: KeptSchema): { readonly n: number; readonly operators: number } {
  const scored = calls.filter(({ method, path, organization }) =>
    method === "POST" && organization === "acme" && !path.includes("incident_frozen") &&
    (path.split("?")[0] === "/v1/score" || path === "/v1/score/batch")
  ).map(({ body }) => (body as { readonly operator_id: string }).operator_id);
  return {
    n: scored.filter((operator) => operator === "anna").length,
    // One more was scored, and stays if the program could not erase yet.
    operators: new Set(scored).size + (Object.keys(erased).length === 0 ? 1 : 0),
  };
}

/** A named key still opens what its scopes allow, and users are as they were. */
async function haveNamedKeysAndUsers(service: RunningService, { keys, calls }: KeptSchema): Promise<void> {
  const textOf = (method: string, path: string) =>
    calls.find((call) => call.method === method && call.path === path)?.text;
  const named = textOf("POST", "/v1/keys");
  if (named !== undefined) {
    const key = JSON.parse(named).api_key;
    assert.equal((await service.send("/v1/organization/dashboard", { key })).status, 200);
    assert.equal((await service.send("/v1/score", { key, body: scoreRequest() })).status, 403);
  }
  const users = textOf("GET", "/v1/users");
  if (users !== undefined) {
    const { body } = await service.send("/v1/users", { key: keys.acme! });
    assert.deepEqual(body.users, JSON.parse(users).users);
  }
}

/** Everything acknowledged is kept, and the service continues. */
export async function assertContinues(service: RunningService, kept: KeptSchema): Promise<void> {
  for (const call of kept.calls.filter(({ organization }) => !kept.suspended.includes(organization))) {
    if (call.isRepeatable || isReport(call)) await isAsBefore(service, kept, call);
  }
  const key = kept.keys.acme!;
  for (const [operator, session] of Object.entries(kept.erased)) {
    const replay = await service.send(`/v1/decision/replay/${session}`, { key });
    const profile = await service.send(`/v1/operator/${operator}/profile`, { key });
    assert.deepEqual([replay.status, profile.status], [410, 404]);
  }
  for (const organization of kept.suspended) {
    const { status } = await service.send("/v1/organization/dashboard", { key: kept.keys[organization]! });
    assert.equal(status, 401);
  }
  await haveNamedKeysAndUsers(service, kept);
  const replay = await service.send("/v1/decision/replay/s-2", { key });
  assert.deepEqual([replay.status, replay.body.match], [200, true]);
  const body = scoreRequest({ session_id: "after-the-upgrade", operator_id: "anna" });
  const scored = await service.send("/v1/score", { key, body });
  assert.equal(scored.status, 200, JSON.stringify(scored.body));
  const { n, operators } = countsOf(kept);
  const bodyAt = async (path: string) => {
    const answer = await service.send(path, { key });
    assert.equal(answer.status, 200, `${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  assert.equal((await bodyAt("/v1/operator/anna/profile")).profile.total_interactions, n + 1);
  assert.equal((await bodyAt("/v1/organization/dashboard")).dashboard.total_operators, operators);
  await bodyAt("/v1/compliance/article14");
  const dayOf = (at: number) => new Date(at).toISOString().slice(0, "YYYY-MM-DD".length);
  const keptAt = Date.parse(kept.keptAt);
  const period = `period_start=${dayOf(keptAt)}&period_end=${dayOf(keptAt + 86_400_000)}`;
  const { report } = await bodyAt(`/v1/compliance/report?${period}`);
  assert.equal(report.population.operators, operators);
  for (const path of ["/v1/audit/chain/verify", "/v1/admin/audit/verify-chain"]) {
    const verified = await service.send(path, { key });
    assert.equal(verified.body.valid, true, JSON.stringify(verified.body));
  }
}
