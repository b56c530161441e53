/**
 * Random and damaged bodies, headers and queries against the real program: every answer has the envelope,
 * none is a 5xx, nothing hangs, and afterwards the service still scores and its chains are whole.
 */
import fc from "fast-check";
import { signerFromPem } from "../../src/evidence/node_crypto.ts";
import { scoreRequest, seededWorld } from "../harness.ts";
import { rawRequests, sendRaw } from "../fuzzing/raw_requests.ts";
import { verifyDatabase } from "../oracle.ts";
import {
  createOrganization,
  type Deployment,
  freshDeployment,
  type RunningService,
  startService,
  withDatabaseOf,
} from "../program.ts";
import { type FileFigures, fuzzFiles } from "./fuzz_files.ts";

const TIMEOUT_MS = 10_000;
const CONNECTIONS = 16;

export interface FuzzFigures {
  readonly requests: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** Each answer of 500 and above, with its request and its log line. */
  readonly server_errors: readonly string[];
  readonly without_envelope: number;
  readonly hung: number;
  readonly chains_verified: boolean;
  /** The counts for raw bytes on sockets, one socket for each ten requests. */
  readonly raw: RawFigures;
  /** The counts for altered files, as many as sockets. */
  readonly files: FileFigures;
}

interface RawFigures {
  readonly sent: number;
  readonly answered: number;
  readonly findings: readonly string[];
}

type Draw = (below: number) => number;

/** A generator seeded by a label: the same requests in every run. */
function drawer(seed: string): Draw {
  const { random } = seededWorld(seed);
  return (below) => new DataView(random(4).buffer).getUint32(0) % below;
}

const VALUES: readonly string[] = [
  "null",
  "true",
  "-1",
  "0",
  "1e999",
  "9007199254740993",
  "0.1",
  '""',
  '"\\ud800"',
  '"\\u0000"',
  "[]",
  "{}",
  '{"__proto__":{"x":1}}',
  '"accepted"',
  "[".repeat(17) + "]".repeat(17),
];

/** A body that is valid for one of the routes. */
function wholeBody(draw: Draw, index: number): unknown {
  const request = scoreRequest({ session_id: `fuzz-${index}` });
  const { session_id, operator_id, domain, interaction } = request;
  switch (draw(5)) {
    case 0:
      return { operator_id, domain, interactions: [{ session_id, ...interaction }] };
    case 1:
      return { decision_id: session_id, operator_id, domain, stakes: "high", ...interaction };
    case 2:
      return { operator_id, outcome_correct: draw(2) === 0 };
    case 3:
      return { event_type: draw(4) === 0 ? "SCORE_FORGED" : "FUZZED", payload: { index, interaction } };
    default:
      return request;
  }
}

/** A valid body with one or many faults. */
function damaged(draw: Draw, index: number): string {
  const text = JSON.stringify(wholeBody(draw, index));
  switch (draw(6)) {
    case 0:
      return text.slice(0, draw(text.length));
    case 1: {
      const at = draw(text.length);
      return text.slice(0, at) + String.fromCharCode(draw(256)) + text.slice(at + 1);
    }
    case 2: {
      const fields = [...text.matchAll(/:("[^"]*"|[^,{}]+)/g)];
      const field = fields[draw(fields.length)]!;
      return text.slice(0, field.index) + ":" + VALUES[draw(VALUES.length)] +
        text.slice(field.index! + field[0].length);
    }
    case 3:
      return VALUES[draw(VALUES.length)]!;
    case 4:
      return text + text.slice(0, draw(text.length));
    default:
      return text;
  }
}

function pathOf(draw: Draw, index: number): string {
  const earlier = `fuzz-${draw(index + 1)}`;
  const paths = [
    "/v1/score",
    "/v1/score",
    "/v1/score/batch",
    `/v1/score/${earlier}/commit`,
    "/v1/decision/score",
    `/v1/decision/replay/${earlier}`,
    "/v1/operator/operator-1/profile",
    "/v1/operator/%2e%2e/profile",
    "/v1/operator/operator-1/sparkline",
    "/v1/operator/operator-1/export",
    "/v1/operator/operator-1",
    "/v1/operator/%00",
    "/v1/organization/operators",
    "/v1/organization/dashboard",
    "/v1/maintenance/recommend",
    "/v1/compliance/report",
    "/v1/compliance/report/01",
    "/v1/compliance/article14",
    "/v1/audit/append",
    "/v1/audit/append",
    "/v1/audit/chain/verify",
    "/v1/audit/chain/export",
    `/v1/audit/chain/proof/${draw(2) === 0 ? draw(index + 9) : "9".repeat(1 + draw(20))}`,
    "/v1/audit/checkpoint",
    "/v1/admin/audit/verify-chain",
    "/.well-known/jwks.json",
    "/v1/admin/org/acme/usage",
    "/v1/admin/org/create",
    "/v1",
    "/",
    "/v1/score/%00",
    "/%ff",
    "//",
  ];
  const queries = [
    "",
    "",
    "?mode=lite",
    "?mode=",
    "?mode=lite&mode=full",
    "?role_tier=%00",
    "?mode_override=incident_frozen",
    "?days=365&format=svg",
    "?days=0",
    "?sort=-jis&limit=200&include=sparkline",
    "?cursor=eyJzb3J0IjoiamlzIn0",
    "?cursor=%00",
    "?band=at_risk",
    "?period_start=2020-01-01&period_end=2030-01-01",
    "?period_start=2020-01-01T00:00:00%2B02:00&period_end=2030-01-01&format=html",
    "?period_start=9999-12-31&period_end=0000-01-01",
    "?format=html",
    "?parts=structural",
    "?parts=%00",
    "?chain=admin",
    "?from=3&since_size=2",
    "?from=9007199254740993",
    "?since_size=0",
  ];
  return paths[draw(paths.length)]! + queries[draw(queries.length)]!;
}

/** Keys with which a request passes authentication, by path. */
interface Keys {
  readonly organization: string;
  readonly master: string;
  readonly usage: string;
}

function headersOf(draw: Draw, path: string, keys: Keys): Record<string, string> {
  const key = path.includes("/usage")
    ? keys.usage
    : path.startsWith("/v1/admin/org")
    ? keys.master
    : keys.organization;
  const types = ["application/json", "application/json; charset=utf-8", "text/plain", "x/y", ""];
  return {
    "Content-Type": types[draw(draw(3) === 0 ? types.length : 2)]!,
    "X-API-Key": draw(40) === 0 ? "jis_bad" : key,
    ...(draw(4) === 0 ? { "Idempotency-Key": "k".repeat(draw(300)) } : {}),
    ...(draw(6) === 0 ? { "X-Service-Mode": "LITE" } : {}),
    ...(draw(6) === 0 ? { Origin: "https://elsewhere.example" } : {}),
  };
}

interface Tally {
  readonly statuses: Record<string, number>;
  /** Log lines by the request's id. */
  readonly serverErrors: Map<string, string>;
  withoutEnvelope: number;
  hung: number;
}

/** Reads a body to its end; null for an export of data that was erased meanwhile, which must end early. */
async function bodyOf(response: Response, path: string): Promise<string | null> {
  try {
    return await response.text();
  } catch (error) {
    if ((error as Error).name !== "TimeoutError" && path.startsWith("/v1/operator/operator-1/export")) {
      return null;
    }
    throw error;
  }
}

/** Whether a successful answer has the envelope: it is no page, picture, bundle or key set. */
function hasEnvelope({ headers }: Response, path: string): boolean {
  return headers.get("Content-Type") === "application/json" && !path.startsWith("/.well-known/");
}

async function ask(service: RunningService, { path, init, tally }: {
  readonly path: string;
  readonly init: RequestInit;
  readonly tally: Tally;
}): Promise<void> {
  try {
    const response = await fetch(service.url + path, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
    tally.statuses[response.status] = (tally.statuses[response.status] ?? 0) + 1;
    const text = await bodyOf(response, path);
    if (response.status >= 500) {
      const id = response.headers.get("X-Request-Id") ?? "";
      tally.serverErrors.set(id, `${init.method} ${path} ${init.body ?? ""}: ${response.status} ${text}`);
    }
    if (text === null || init.method === "HEAD" || response.status === 204) return;
    if (response.ok && !hasEnvelope(response, path)) return;
    const body = JSON.parse(text);
    const { request_id, timestamp } = response.ok ? body : body.error;
    if (typeof request_id !== "string" || typeof timestamp !== "string") tally.withoutEnvelope += 1;
  } catch (error) {
    if ((error as Error).name === "TimeoutError") tally.hung += 1;
    else tally.withoutEnvelope += 1;
  }
}

function withLog(service: RunningService, serverErrors: ReadonlyMap<string, string>): readonly string[] {
  const lines = service.log();
  return [...serverErrors].map(([id, text]) =>
    [text, ...lines.filter(({ request_id }) => request_id === id).map((line) => JSON.stringify(line))].join(
      "\n",
    )
  );
}

/** Arbitrary bytes for a socket. */
async function fuzzSockets(
  service: RunningService,
  { count, seed, key }: { readonly count: number; readonly seed: number; readonly key: string },
): Promise<RawFigures> {
  const { hostname, port } = new URL(service.url);
  const requests = rawRequests(key);
  const findings: string[] = [];
  let answered = 0;
  let next = 0;
  const work = async () => {
    while (next < count) {
      const [one] = fc.sample(requests, { numRuns: 1, seed: seed + next++ });
      const { statuses, problems } = await sendRaw({ hostname, port: Number(port) }, one!);
      answered += statuses.length;
      const shown = new TextDecoder("latin1").decode(one!.bytes.subarray(0, 300));
      for (const problem of problems) findings.push(`${problem}: ${JSON.stringify(shown)}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  return { sent: count, answered, findings };
}

/** An organization with short chains that hold something of every kind. */
async function smallOrganization(service: RunningService, env: Deployment["env"]): Promise<void> {
  const key = await createOrganization(service, env, "small");
  const ask = (path: string, body: unknown) => service.send(path, { key, body });
  for (const operator_id of ["ada", "ben", "ada"]) {
    await ask("/v1/score", {
      ...scoreRequest({ operator_id }, { outcome_correct: null }),
      session_id: undefined,
    });
  }
  await ask(
    "/v1/score",
    scoreRequest({ session_id: "labelled", operator_id: "ada" }, { outcome_correct: null }),
  );
  await ask("/v1/score/labelled/commit", { outcome_correct: true });
  await ask("/v1/audit/append", { event_type: "REVIEW_POLICY_CHANGED", payload: { from: "2026-12-01" } });
  await service.send("/v1/operator/ben", { method: "DELETE", key });
}

export async function fuzz(
  { requests, seed }: { readonly requests: number; readonly seed: string },
): Promise<FuzzFigures> {
  const deployment = await freshDeployment();
  const service = await startService(["serve"], deployment);
  const key = await createOrganization(service, deployment.env);
  const draw = drawer(seed);
  const tally: Tally = { statuses: {}, serverErrors: new Map(), withoutEnvelope: 0, hung: 0 };
  const keys = {
    organization: key,
    master: deployment.env.MASTER_ADMIN_KEY_ORG_CREATE!,
    usage: deployment.env.MASTER_ADMIN_KEY_ORG_USAGE_READ!,
  };
  const methods = ["POST", "POST", "POST", "GET", "GET", "HEAD", "PUT", "DELETE", "OPTIONS"];
  let next = 0;
  const work = async () => {
    while (next < requests) {
      const index = next++;
      const path = pathOf(draw, index);
      const method = methods[draw(methods.length)]!;
      const body = damaged(draw, index);
      const init = {
        method,
        headers: headersOf(draw, path, keys),
        ...(method === "GET" || method === "HEAD" ? {} : { body }),
      };
      await ask(service, { path, init, tally });
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  const count = Math.ceil(requests / 10);
  const number = draw(2 ** 31);
  const raw = await fuzzSockets(service, { count, seed: number, key });
  await smallOrganization(service, deployment.env);
  const published = `${deployment.directory}/jwks.json`;
  await Deno.writeTextFile(published, JSON.stringify((await service.send("/.well-known/jwks.json")).body));
  const alive = await service.send("/v1/score", { key, body: scoreRequest({ session_id: "still-alive" }) });
  await service.stop();
  const data = `${deployment.directory}/data`;
  const { publicKey } = signerFromPem(await Deno.readTextFile(`${data}/signing-key.pem`));
  const chains = await withDatabaseOf(data, (database) => verifyDatabase(database, { publicKey }));
  const files = await fuzzFiles(deployment, { files: count, seed: number, org: "small", key: published });
  await deployment.remove();
  return {
    requests,
    statuses: tally.statuses,
    server_errors: withLog(service, tally.serverErrors),
    without_envelope: tally.withoutEnvelope,
    hung: tally.hung,
    chains_verified: chains.length >= 3 && alive.status === 200,
    raw,
    files,
  };
}
