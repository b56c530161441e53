/**
 * Whether a refused authentication reveals its reason: over real HTTP on one connection, one request at a
 * time, reasons in random order; answers are compared byte for byte and latencies by rank.
 */
import { AUTH_FLOOR_MS } from "../../src/domain/limits.ts";
import { scoreRequest, seededWorld } from "../harness.ts";
import { mannWhitney } from "../mann_whitney.ts";
import { createOrganization, freshDeployment, type RunningService, startService } from "../program.ts";

/** The probability that two equal reasons look different, over all pairs of one run. */
const SIGNIFICANCE = 0.001;

const KEYED = "/v1/score";
const MASTER = "/v1/admin/org/create";

interface Reason {
  readonly name: string;
  readonly path: string;
  readonly presented: string | null;
}

export interface TimingFigures {
  readonly refusals_of_each: number;
  readonly reasons: Readonly<
    Record<string, { readonly min_ms: number; readonly median_ms: number; readonly p95_ms: number }>
  >;
  readonly pairs: number;
  /** The pair of the first run that differs most. */
  readonly least_p: number;
  /** Pairs that both the first run and a second one, made only if needed, tell apart. */
  readonly told_apart: readonly string[];
  readonly below_floor: number;
  /** Different answers, without ids and times: 1 if no reason shows in the bytes. */
  readonly different_answers: number;
}

interface Refusal {
  readonly latency: number;
  readonly shape: string;
}

type Samples = ReadonlyMap<string, readonly Refusal[]>;

export async function refusalTiming(
  { refusals, seed }: { readonly refusals: number; readonly seed: string },
): Promise<TimingFigures> {
  const deployment = await freshDeployment();
  const env = { ...deployment.env, JISS_ADMIN_DASHBOARD: "on" };
  const service = await startService(["serve"], { env });
  try {
    const reasons = await reasonsOf(service, env);
    // A process needs longer for anything that it does for the first time.
    await sample(service, reasons, { refusals: 5, seed: `${seed}/warm` });
    const first = await sample(service, reasons, { refusals, seed });
    const suspects = differingPairs(first);
    const second = suspects.length === 0
      ? new Map<string, readonly Refusal[]>()
      : await sample(service, reasons, { refusals, seed: `${seed}/again` });
    const again = new Set(differingPairs(second));
    const all = [...first.values(), ...second.values()].flat();
    return {
      refusals_of_each: refusals,
      reasons: Object.fromEntries([...first].map(([name, rows]) => [name, figuresOf(rows)])),
      pairs: comparisons(first).length,
      least_p: Math.min(...comparisons(first).map(({ p }) => p)),
      told_apart: suspects.filter((pair) => again.has(pair)),
      below_floor: all.filter(({ latency }) => latency < AUTH_FLOOR_MS).length,
      different_answers: new Set(all.map(({ shape }) => shape)).size,
    };
  } finally {
    await service.stop();
    await deployment.remove();
  }
}

/** Every reason there is, on a route for organizations' keys and on one for master keys. */
async function reasonsOf(
  service: RunningService,
  env: Readonly<Record<string, string>>,
): Promise<readonly Reason[]> {
  const active = await createOrganization(service, env, "active");
  const revoked = await createOrganization(service, env, "revoked");
  const inactive = await createOrganization(service, env, "inactive");
  await accepted(service, "/v1/admin/key/revoke", { key: revoked, method: "POST" });
  await accepted(service, "/v1/admin/org/inactive/suspend", {
    key: env.MASTER_ADMIN_KEY_ORG_SUSPEND!,
    headers: { "Idempotency-Key": "1" },
    body: { confirm_org_id: "inactive", idempotency_key: "1" },
  });
  const lastChanged = (text: string) => text.slice(0, -1) + (text.endsWith("0") ? "1" : "0");
  const keyed: Readonly<Record<string, string | null>> = {
    missing: null,
    malformed: "not a key",
    unknown: "jis_ABCDEFGHJKMNPQRSTVWXYZ0123",
    "another rest": lastChanged(active),
    revoked,
    inactive,
    "wrong scope": env.MASTER_ADMIN_KEY_ORG_CREATE!,
  };
  const master: Readonly<Record<string, string | null>> = {
    missing: null,
    malformed: "not a key",
    unknown: lastChanged(env.MASTER_ADMIN_KEY_ORG_CREATE!),
    "wrong scope": env.MASTER_ADMIN_KEY_ALERT_ACK!,
    "an organization's key": active,
    "a revoked organization's key": revoked,
  };
  return [
    ...Object.entries(keyed).map(([name, presented]) => ({ name: `keyed: ${name}`, path: KEYED, presented })),
    ...Object.entries(master).map(([name, presented]) => ({
      name: `master: ${name}`,
      path: MASTER,
      presented,
    })),
  ];
}

async function accepted(
  service: RunningService,
  ...[path, options]: Parameters<RunningService["send"]>
): Promise<void> {
  const { status, body } = await service.send(path, options);
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
}

// ---- measuring --------------------------------------------------------------------------------------------

async function sample(
  service: RunningService,
  reasons: readonly Reason[],
  { refusals, seed }: { readonly refusals: number; readonly seed: string },
): Promise<Samples> {
  const { hostname, port } = new URL(service.url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  connection.setNoDelay(true);
  const requests = new Map(reasons.map((reason) => [reason.name, requestOf(reason)]));
  const samples = new Map(reasons.map(({ name }) => [name, [] as Refusal[]]));
  for (const name of shuffled(reasons.flatMap(({ name }) => Array(refusals).fill(name)), seed)) {
    samples.get(name)!.push(await refusal(connection, requests.get(name)!));
  }
  return samples;
}

function requestOf({ path, presented }: Reason): Uint8Array {
  const body = JSON.stringify(scoreRequest());
  const lines = [
    `POST ${path} HTTP/1.1`,
    "Host: jiss.test",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    ...(presented === null ? [] : [`X-API-Key: ${presented}`]),
  ];
  return new TextEncoder().encode(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

const buffer = new Uint8Array(65_536);

/** Sends one request and reads its whole answer, which must be a 401. */
async function refusal(connection: Deno.Conn, request: Uint8Array): Promise<Refusal> {
  const sentAt = performance.now();
  await connection.write(request);
  let text = "";
  let latency = 0;
  while (!isWhole(text)) {
    const length = await connection.read(buffer);
    latency = performance.now() - sentAt;
    if (length === null) throw new Error(`the connection ended: ${text}`);
    text += new TextDecoder().decode(buffer.subarray(0, length));
  }
  if (!text.startsWith("HTTP/1.1 401 ")) throw new Error(text);
  return { latency, shape: shapeOf(text) };
}

function isWhole(text: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(text)?.[1];
  return end >= 0 && length !== undefined && text.length >= end + 4 + Number(length);
}

/** All bytes of an answer, without its ids and times. */
export function shapeOf(text: string): string {
  return text
    .replaceAll(/[0-9A-HJKMNP-TV-Z]{26}/g, "ID")
    .replace(/"timestamp":"[^"]*"/, '"timestamp":"AT"')
    .replace(/\r\ndate: [^\r]*\r\n/i, "\r\ndate: AT\r\n");
}

/** Shuffled in an order that the seed determines (Fisher and Yates). */
export function shuffled<Value>(values: readonly Value[], seed: string): readonly Value[] {
  const { random } = seededWorld(seed);
  const result = [...values];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const chosen = new DataView(random(4).buffer).getUint32(0) % (last + 1);
    [result[last], result[chosen]] = [result[chosen]!, result[last]!];
  }
  return result;
}

// ---- judging ----------------------------------------------------------------------------------------------

interface Comparison {
  readonly pair: string;
  readonly p: number;
}

function comparisons(samples: Samples): readonly Comparison[] {
  const names = [...samples.keys()];
  const latencies = (name: string) => samples.get(name)!.map(({ latency }) => latency);
  return names.flatMap((one, index) =>
    names.slice(index + 1).map((other) => ({
      pair: `${one} | ${other}`,
      p: mannWhitney(latencies(one), latencies(other)).p,
    }))
  );
}

/** The pairs that one run tells apart, with Bonferroni's correction over all pairs. */
function differingPairs(samples: Samples): readonly string[] {
  const compared = comparisons(samples);
  return compared.filter(({ p }) => p < SIGNIFICANCE / compared.length).map(({ pair }) => pair);
}

function figuresOf(rows: readonly Refusal[]): TimingFigures["reasons"][string] {
  const sorted = rows.map(({ latency }) => latency).sort((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)]! * 100) / 100;
  return { min_ms: at(0), median_ms: at(0.5), p95_ms: at(0.95) };
}
