/**
 * The second listener: metrics, liveness and readiness, which the first one does not serve.
 * Source: contract, sections 1 (`JISS_METRICS_ADDR`) and 7.
 */
import assert from "node:assert/strict";
import { hex } from "../../src/evidence/crypto.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { scoreRequest } from "../harness.ts";
import {
  changeRows,
  createOrganization,
  type Deployment,
  freshDeployment,
  type RunningService,
  runProgram,
  startService,
} from "../program.ts";

const METRICS = { JISS_METRICS_ADDR: "127.0.0.1:0" };

async function ask(url: string, path: string, init: RequestInit = {}) {
  const response = await fetch(url + path, init);
  return {
    status: response.status,
    type: response.headers.get("Content-Type"),
    requestId: response.headers.get("X-Request-Id"),
    text: await response.text(),
  };
}

/** The value of a sample in the text of the metrics. */
function sampleOf(text: string, sample: string): number {
  const line = text.split("\n").find((candidate) => candidate.startsWith(`${sample} `));
  assert.ok(line !== undefined, `${sample} in ${text}`);
  return Number(line.slice(sample.length + 1));
}

Deno.test("metrics, health and readiness are on the second listener alone", async () => {
  const { env, remove } = await freshDeployment();
  const service = await startService(["serve"], { env: { ...env, ...METRICS } });
  const listening = service.log().find(({ msg }) => msg === "listening")!;
  const url = String(listening.metrics_url);
  assert.notEqual(url, service.url);
  const ids = new Set<string>();
  for (const [path, said] of [["/healthz", "ok"], ["/readyz", "ready"], ["/readyz", "ready"]] as const) {
    const { status, type, text, requestId } = await ask(url, path);
    assert.deepEqual([status, type], [200, "application/json"]);
    const { request_id, timestamp, ...rest } = JSON.parse(text);
    assert.deepEqual(rest, { status: said });
    assert.match(request_id, /^[0-9A-HJKMNP-TV-Z]{26}$/);
    assert.equal(requestId, request_id);
    assert.equal(new Date(timestamp).toISOString(), timestamp);
    ids.add(request_id);
  }
  assert.equal(ids.size, 3);
  const nothing = await ask(url, "/nothing");
  const { error } = JSON.parse(nothing.text);
  assert.deepEqual([nothing.status, error.code, error.request_id], [404, "NOT_FOUND", nothing.requestId]);
  assert.equal(new Date(error.timestamp).toISOString(), error.timestamp);
  const { status, type, text } = await ask(url, "/metrics");
  assert.deepEqual([status, type], [200, "text/plain; version=0.0.4; charset=utf-8"]);
  assert.equal(
    sampleOf(text, `jiss_build_info{version="${listening.version}",model="${listening.model}"}`),
    1,
  );
  assert.equal(sampleOf(text, 'jiss_rate_limit_uncounted_total{layer="address"}'), 0);
  assert.equal(sampleOf(text, "jiss_alerts_open"), 0);
  for (const path of ["/", "/v1", "/v1/score"]) assert.equal((await ask(url, path)).status, 404, path);
  assert.equal((await ask(url, "/metrics", { method: "POST", body: "x" })).status, 404);
  for (const path of ["/metrics", "/healthz", "/readyz"]) {
    assert.equal((await ask(service.url, path)).status, 404, path);
  }

  const key = await createOrganization(service, env);
  const sql = "INSERT INTO alert VALUES (?, 'acme', 'HIGH', 'USAGE_ANOMALY', ?, '{}', 0, ?, ?)";
  await changeRows(
    env.JISS_DATA_DIR!,
    { sql, parameters: ["one", 1, 0, null] },
    { sql, parameters: ["two", 2, 0, null] },
    { sql, parameters: ["seen", 3, 1, 5] },
  );
  assert.equal(sampleOf((await ask(url, "/metrics")).text, "jiss_alerts_open"), 2);

  const { port } = new URL(url);
  const webhook = await service.send("/v1/admin/webhook/register", {
    key,
    body: { url: `https://127.0.0.1:${port}/metrics`, secret: "a-secret-of-the-receiver" },
  });
  assert.match(webhook.body.error.message, /or to the service itself/);
  assert.equal(await service.stop(), 0);
  await assert.rejects(fetch(`${url}/healthz`));
  await remove();
});

Deno.test("metrics count requests by route and status, chains, unanchored entries, and the free space", async () => {
  const { env, remove } = await freshDeployment();
  const service = await startService(["serve"], { env: { ...env, ...METRICS } });
  const url = String(service.log().find(({ msg }) => msg === "listening")!.metrics_url);
  const key = await createOrganization(service, env);
  for (let count = 0; count < 3; count += 1) {
    const body = scoreRequest({ session_id: `session-${count}` });
    assert.equal((await service.send("/v1/score", { key, body })).status, 200);
  }
  assert.equal((await service.send("/v1/score", { key, body: {} })).status, 422);
  assert.equal((await service.send("/v1/nowhere", { key })).status, 404);
  assert.equal((await service.send("/v1/decision/replay/session-1", { key })).status, 200);
  const { text } = await ask(url, "/metrics");
  const requests = (route: string, status: number) =>
    sampleOf(text, `jiss_http_requests_total{route="${route}",status="${status}"}`);
  assert.equal(requests("POST /v1/score", 200), 3);
  assert.equal(requests("POST /v1/score", 422), 1);
  assert.equal(requests("", 404), 1);
  // No label holds a session's id or a name.
  assert.equal(requests("GET /v1/decision/replay/{id}", 200), 1);
  assert.ok(!text.includes("session-1") && !text.includes("acme"));
  const scores = 'route="POST /v1/score"';
  assert.equal(sampleOf(text, `jiss_http_request_seconds_count{${scores}}`), 4);
  assert.equal(sampleOf(text, `jiss_http_request_seconds_bucket{le="+Inf",${scores}}`), 4);
  assert.ok(sampleOf(text, `jiss_http_request_seconds_sum{${scores}}`) > 0);
  assert.equal(sampleOf(text, "jiss_writes_waiting"), 0);
  assert.ok(sampleOf(text, "jiss_commit_seconds_count") >= 4);
  assert.equal(
    sampleOf(text, "jiss_commit_requests_count"),
    sampleOf(text, "jiss_commit_seconds_count"),
  );
  // The system chain, and two of the organization.
  assert.equal(sampleOf(text, "jiss_chains"), 3);
  const unanchored = sampleOf(text, "jiss_unanchored_entries");
  assert.ok(unanchored >= 5 && unanchored < sampleOf(text, "jiss_chain_entries"), `${unanchored}`);
  assert.ok(sampleOf(text, "jiss_checkpoint_age_seconds") >= 0);
  assert.equal(sampleOf(text, "jiss_chain_suspect"), 0);
  assert.equal(sampleOf(text, "jiss_clock_refused"), 0);
  assert.ok(sampleOf(text, "jiss_disk_free_bytes") > 0);
  assert.equal(await service.stop(), 0);
  await remove();
});

/** Audit events, as the lines of the log state them. */
function loggedEvents(service: RunningService): readonly string[] {
  return service.log().filter(({ msg }) => msg === "audit event")
    .map(({ audit, event, chain, seq, entry_hash }) => `${audit} ${event} ${chain} ${seq} ${entry_hash}`);
}

/** The expected line for each entry of the system chain and of the organizations' admin chains, in order. */
async function recordedEvents(
  { directory, env }: Pick<Deployment, "directory" | "env">,
  organizations: readonly string[],
): Promise<readonly string[]> {
  const events: string[] = [];
  for (const chain of [["system"], ...organizations.map((orgId) => ["admin", "--org", orgId])]) {
    const bundle = `${directory}/${chain.join("-")}.ndjson`;
    const exported = await runProgram(["export", "--chain", ...chain, "-o", bundle], { env });
    assert.equal(exported.code, 0, exported.stderr);
    for (const line of (await Deno.readTextFile(bundle)).trim().split("\n")) {
      const { event_type: event, chain, seq } = JSON.parse(line);
      // An entry's line in the bundle is the exact text that is hashed.
      const leaf = nodeCrypto.sha256(new Uint8Array([0]), new TextEncoder().encode(line));
      if (event !== undefined) events.push(`true ${event} ${chain} ${seq} ${hex(leaf)}`);
    }
  }
  return events;
}

Deno.test("every audit event has a line in the log with its entry's hash; scores have none", async () => {
  const { directory, env, remove } = await freshDeployment();
  const service = await startService(["serve"], { env });
  const key = await createOrganization(service, env);
  assert.equal((await service.send("/v1/score", { key, body: scoreRequest() })).status, 200);
  assert.equal((await service.send("/v1/organization/dashboard", { key: `${key}x` })).status, 401);
  assert.equal((await service.send("/v1/admin/audit-log", { key })).status, 200);
  assert.equal(await service.stop(), 0);
  const recorded = await recordedEvents({ directory, env }, ["acme"]);
  assert.ok(recorded.length >= 4, `${recorded}`);
  assert.deepEqual([...loggedEvents(service)].sort(), [...recorded].sort());
  await remove();
});

Deno.test("events that a command records are logged once and in order by the running service, and by no later one", async () => {
  const { directory, env, remove } = await freshDeployment();
  const command = async (...args: readonly string[]) => {
    const { code, stderr } = await runProgram(args, { env });
    assert.equal(code, 0, stderr);
  };
  const service = await startService(["serve"], { env });
  await createOrganization(service, env);
  await command("rotate-signing-key");
  await command("org", "suspend", "acme");
  await command("org", "reactivate", "acme");
  await command(...["org", "create", "beta", "--name", "Beta", "--domain", "legal", "--tier", "starter"]);
  // The service's own events come on the system chain after those that it has not seen yet.
  await createOrganization(service, env, "gamma");
  assert.equal(await service.stop(), 0);
  const recorded = await recordedEvents({ directory, env }, ["acme", "beta", "gamma"]);
  for (const event of ["SIGNING_KEY_ROTATED", "ADMIN_ORG_SUSPEND", "ADMIN_ORG_REACTIVATE"]) {
    assert.ok(recorded.some((line) => line.includes(` ${event} `)), `${event} in ${recorded.join("\n")}`);
  }
  const logged = loggedEvents(service);
  assert.deepEqual([...logged].sort(), [...recorded].sort());
  const isOfCommands = (line: string) => /org\/(acme|beta)\/admin/.test(line);
  assert.deepEqual(logged.filter(isOfCommands), recorded.filter(isOfCommands));

  await command("org", "suspend", "beta");
  const next = await startService(["serve"], { env });
  assert.equal(await next.stop(), 0);
  assert.deepEqual(loggedEvents(next).filter(isOfCommands), [], "the event is only in the chain");
  await remove();
});

Deno.test("if the second listener's address cannot be used the start ends and names the variable", async () => {
  const { env, remove } = await freshDeployment();
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { code, stderr } = await runProgram(["serve"], {
    env: { ...env, JISS_PORT: "0", JISS_METRICS_ADDR: `127.0.0.1:${taken.addr.port}` },
  });
  assert.equal(code, 1);
  assert.match(stderr, /cannot listen on 127\.0\.0\.1:[0-9]+ \(JISS_METRICS_ADDR\)/);
  await remove();
});

Deno.test("while the service drains it is alive and not ready", async () => {
  const { env, remove } = await freshDeployment();
  const service = await startService(["serve"], { env: { ...env, ...METRICS } });
  const url = String(service.log().find(({ msg }) => msg === "listening")!.metrics_url);
  const key = await createOrganization(service, env);
  const { hostname, port } = new URL(service.url);
  const held = await Deno.connect({ hostname, port: Number(port) });
  await held.write(new TextEncoder().encode(
    `POST /v1/score HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n`,
  ));
  await held.read(new Uint8Array(64));
  service.kill("SIGTERM");
  let ready = await ask(url, "/readyz");
  while (ready.status === 200) ready = await ask(url, "/readyz");
  const { status, request_id, timestamp } = JSON.parse(ready.text);
  assert.deepEqual([ready.status, status, request_id], [503, "draining", ready.requestId]);
  assert.equal(new Date(timestamp).toISOString(), timestamp);
  assert.equal((await ask(url, "/healthz")).status, 200);
  held.close();
  assert.equal((await service.status).code, 0);
  await remove();
});

interface Exported {
  readonly resourceMetrics?: readonly { readonly scopeMetrics: readonly { readonly metrics: unknown[] }[] }[];
  readonly resourceSpans?: readonly { readonly scopeSpans: readonly { readonly spans: unknown[] }[] }[];
}

Deno.test("with OTEL_DENO the collector in the environment gets metrics, and spans unless they are off", async () => {
  const { env, remove } = await freshDeployment();
  let gotten: Exported[] = [];
  const collector = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    gotten.push(await request.json());
    return Response.json({});
  });
  const telemetry = {
    OTEL_DENO: "true",
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.addr.port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  };
  for (const [sampler, hasSpans] of [["always_off", false], ["always_on", true]] as const) {
    gotten = [];
    const service = await startService(["serve"], {
      env: { ...env, ...telemetry, OTEL_TRACES_SAMPLER: sampler },
    });
    assert.equal((await service.send("/")).status, 200);
    // Data not sent yet is sent at the end.
    assert.equal(await service.stop(), 0);
    const names = gotten.flatMap(({ resourceMetrics = [] }) =>
      resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
    ).map((metric) => (metric as { readonly name: string }).name);
    assert.ok(names.includes("http.server.request.duration"), names.join(" "));
    const spans = gotten.flatMap(({ resourceSpans = [] }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    );
    assert.equal(spans.length > 0, hasSpans);
    assert.doesNotMatch(JSON.stringify(gotten), /MASTER|jis_/);
  }
  await collector.shutdown();
  await remove();
});

Deno.test("an altered chain shows in the metrics and the alerts; the service is not ready if more than one organization is concerned", async () => {
  const { env, remove } = await freshDeployment();
  const start = async () => {
    const service = await startService(["serve"], { env: { ...env, ...METRICS } });
    return { service, url: String(service.log().find(({ msg }) => msg === "listening")!.metrics_url) };
  };
  const alter = (...changes: readonly string[]) =>
    changeRows(env.JISS_DATA_DIR!, ...changes.map((sql) => ({ sql, parameters: [] })));
  let { service, url } = await start();
  const key = await createOrganization(service, env);
  const metric = async (name: string) => sampleOf((await ask(url, "/metrics")).text, name);
  assert.equal(await metric("jiss_chains_altered"), 0);
  await alter("UPDATE audit_part SET salt = zeroblob(32) WHERE chain = 'org/acme' AND seq = 0");
  assert.equal((await service.send("/v1/audit/chain/verify", { key })).body.valid, false);
  assert.deepEqual(
    [
      await metric("jiss_chain_suspect"),
      await metric("jiss_chains_altered"),
      await metric("jiss_alerts_open"),
    ],
    [1, 1, 1],
  );
  assert.equal((await ask(url, "/readyz")).status, 200);

  await alter("UPDATE signing_key SET from_size = 7");
  assert.equal((await service.send("/.well-known/jwks.json")).status, 503);
  const deadline = performance.now() + 20_000;
  while ((await ask(url, "/readyz")).status === 200 && performance.now() < deadline);
  const ready = await ask(url, "/readyz");
  const { status, request_id } = JSON.parse(ready.text);
  assert.deepEqual([ready.status, status, request_id], [503, "chains altered", ready.requestId]);
  assert.equal(await service.stop(), 0);

  const listed = await runProgram(["alerts", "list", "--json"], { env });
  const { alerts } = JSON.parse(listed.stdout);
  assert.deepEqual(
    alerts.map((alert: Record<string, unknown>) => [alert.org_id, alert.kind, alert.severity]),
    [
      [null, "SYSTEM_CHAIN_TAMPERED", "HIGH"],
      ["acme", "CHAIN_TAMPERED", "HIGH"],
    ],
  );
  assert.match((await runProgram(["alerts", "list"], { env })).stdout, / - +HIGH +SYSTEM_CHAIN_TAMPERED /);

  // An open alert counts from the start on.
  ({ service, url } = await start());
  assert.equal(await metric("jiss_chains_altered"), 2);
  assert.equal((await ask(url, "/readyz")).status, 503);
  assert.equal(await service.stop(), 0);
  await remove();
});
