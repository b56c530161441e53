/** The program as an administrator uses it: set up, started, used, stopped, started again. */
import assert from "node:assert/strict";
import { IS_SERVER } from "../database.ts";
import { scoreRequest } from "../harness.ts";
import { createOrganization, freshDeployment, rowsIn, runProgram, startService, until } from "../program.ts";
import { freePort } from "../sqld.ts";

Deno.test("init, serve, create an organization, score, stop, and find everything again after a restart", async () => {
  const deployment = await freshDeployment();
  const first = await startService(["serve"], deployment);
  const key = await createOrganization(first, deployment.env);
  const scored = await first.send("/v1/score", { key, body: scoreRequest() });
  assert.equal(scored.status, 200);
  assert.equal(scored.body.jis, 48);
  assert.equal(await first.stop(), 0);
  assert.ok(first.log().some(({ msg }) => msg === "stopped"));

  const second = await startService(["serve"], deployment);
  const again = await second.send("/v1/score", { key, body: scoreRequest() });
  assert.equal(again.headers.get("Idempotency-Replayed"), "true");
  assert.deepEqual(again.body, scored.body);
  assert.equal(await second.stop(), 0);
  await deployment.remove();
});

Deno.test("every log line is one JSON object with time, level and message, and none holds a secret", async () => {
  const deployment = await freshDeployment();
  const service = await startService(["serve"], deployment);
  const key = await createOrganization(service, deployment.env);
  await service.send("/v1/score", { key, body: scoreRequest() });
  await service.stop();
  const lines = service.output().trim().split("\n");
  for (const line of lines) {
    const { time, level, msg } = JSON.parse(line);
    assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(["info", "warn", "error"].includes(level) && typeof msg === "string");
  }
  const request = service.log().find(({ route }) => route === "POST /v1/score")!;
  assert.deepEqual(
    ["request_id", "org_id", "status", "duration_ms"].map((name) => typeof request[name]),
    ["string", "string", "number", "number"],
  );
  const secrets = Object.entries(deployment.env).filter(([name]) => /PEPPER|MASTER/.test(name)).map((
    [, value],
  ) => value);
  for (const secret of [key, ...secrets]) assert.ok(!service.output().includes(secret));
  await deployment.remove();
});

Deno.test("only their owner can read the data directory and its files", async () => {
  const deployment = await freshDeployment();
  const service = await startService(["serve"], deployment);
  const mode = async (path: string) => (await Deno.stat(`${deployment.directory}/${path}`)).mode! & 0o777;
  assert.equal(await mode("data"), 0o700);
  const database = IS_SERVER ? ["lock.db"] : ["jiss.db", "jiss.db-wal", "jiss.db-shm"];
  for (const file of ["jiss.env", "signing-key.pem", ...database]) {
    assert.equal(await mode(`data/${file}`), 0o600, file);
  }
  await service.stop();
  await deployment.remove();
});

Deno.test("SIGTERM lets the requests in flight finish, and a second signal ends the program at once", async () => {
  const deployment = await freshDeployment();
  const service = await startService(["serve"], deployment);
  const key = await createOrganization(service, deployment.env);
  const inFlight = Array.from(
    { length: 20 },
    (_, index) => service.send("/v1/score", { key, body: scoreRequest({ session_id: `s-${index}` }) }),
  );
  await inFlight[0];
  service.kill("SIGTERM");
  const answers = await Promise.allSettled(inFlight);
  const acknowledged = answers.flatMap((answer, index) =>
    answer.status === "fulfilled" && answer.value.status === 200 ? [`s-${index}`] : []
  );
  assert.equal((await service.status).code, 0);

  const second = await startService(["serve"], deployment);
  for (const session_id of acknowledged) {
    const again = await second.send("/v1/score", { key, body: scoreRequest({ session_id }) });
    assert.equal(again.headers.get("Idempotency-Replayed"), "true");
  }
  // A request that never ends delays the stop. The second signal does not wait for it.
  const { hostname, port } = new URL(second.url);
  const held = await Deno.connect({ hostname, port: Number(port) });
  await held.write(new TextEncoder().encode(
    `POST /v1/score HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n`,
  ));
  const asked = new Uint8Array(64);
  await held.read(asked);
  assert.match(new TextDecoder().decode(asked), /^HTTP\/1\.1 100 /, "the service is waiting for the body");
  second.kill("SIGTERM");
  await until(() => second.log().some(({ msg }) => msg === "stopping"));
  await new Promise((later) => setTimeout(later, 500));
  second.kill("SIGTERM");
  assert.equal((await second.status).code, 130);
  held.close();
  await deployment.remove();
});

Deno.test("two signals at once, as from deno task and the terminal, count as one", async () => {
  const deployment = await freshDeployment();
  const service = await startService(["serve"], deployment);
  const key = await createOrganization(service, deployment.env);
  const asked = service.send("/v1/score", { key, body: scoreRequest() });
  await service.send("/");
  service.kill("SIGINT");
  service.kill("SIGINT");
  service.kill("SIGTERM");
  assert.equal((await asked).status, 200);
  assert.equal((await service.status).code, 0);
  assert.ok(service.log().some(({ msg }) => msg === "stopped"));
  await deployment.remove();
});

Deno.test("healthcheck succeeds while the service answers, and fails if nothing or another program answers", async () => {
  const deployment = await freshDeployment();
  const service = await startService(["serve"], deployment);
  const port = new URL(service.url).port;
  const check = (env: Record<string, string>) => runProgram(["healthcheck"], { env });
  assert.equal((await check({ JISS_PORT: port })).code, 0);
  assert.equal((await check({ JISS_PORT: port, JISS_HOST: "0.0.0.0" })).code, 0);
  await service.stop();
  const down = await check({ JISS_PORT: port });
  assert.equal(down.code, 1);
  assert.match(down.stderr, /not healthy/);
  const other = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response("hello"),
  );
  assert.equal((await check({ JISS_PORT: String(other.addr.port) })).code, 1);
  await other.shutdown();
  await deployment.remove();
});

Deno.test("a start whose port is taken names the port, and ends", async () => {
  const deployment = await freshDeployment();
  const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { code, stderr } = await runProgram(["serve"], {
    env: { ...deployment.env, JISS_PORT: String(taken.addr.port) },
  });
  assert.equal(code, 1);
  assert.match(stderr, /JISS_PORT/);
  taken.close();
  await deployment.remove();
});

Deno.test("a start whose port is taken has changed nothing: no file, no table, no entry, no setting", async () => {
  const deployment = await freshDeployment();
  const data = deployment.env.JISS_DATA_DIR!;
  const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const port = String(taken.addr.port);
  const refused = async (env: Readonly<Record<string, string>>) => {
    const { code, stderr } = await runProgram(["serve"], { env: { ...deployment.env, ...env } });
    assert.equal(code, 1);
    assert.match(stderr, /cannot listen on 127\.0\.0\.1:/);
  };
  const files = () => [...Deno.readDirSync(data)].map(({ name }) => name).sort();
  const before = files();
  const keyFile = `${deployment.directory}/key`;
  const firstOrganization = await bootstrapFile(deployment.directory, keyFile);
  await refused({ JISS_PORT: port, JISS_BOOTSTRAP_ORG_FILE: firstOrganization });
  await refused({ JISS_METRICS_ADDR: `127.0.0.1:${port}`, JISS_PORT: "0" });
  assert.deepEqual(files(), before);

  // Beside a running service, whose settings the second one would record anew.
  const running = await startService(["serve"], { env: deployment.env });
  const entries = () => rowsIn(data, "SELECT chain, seq, event_type FROM audit_entry ORDER BY chain, seq");
  const recorded = await entries();
  assert.ok(recorded.length > 0);
  await refused({
    JISS_PORT: new URL(running.url).port,
    JISS_AUDIT_RETENTION_DAYS: "30",
    JISS_BOOTSTRAP_ORG_FILE: firstOrganization,
  });
  assert.deepEqual(await entries(), recorded);
  await assert.rejects(Deno.stat(keyFile), Deno.errors.NotFound);
  assert.equal(await running.stop(), 0);
  taken.close();
  await deployment.remove();
});

Deno.test("a client that connects while the service starts is answered once it has started", async () => {
  const deployment = await freshDeployment();
  const data = deployment.env.JISS_DATA_DIR!;
  // A start waits for this lock, which another process would hold.
  const held = Deno.openSync(`${data}/start.lock`, { create: true, write: true, mode: 0o600 });
  held.lockSync(true);
  const port = await freePort();
  const starting = startService(["serve"], { env: { ...deployment.env, JISS_PORT: String(port) } });
  const connected = await connection(port);
  await connected.write(
    new TextEncoder().encode("GET / HTTP/1.1\r\nHost: jiss\r\nConnection: close\r\n\r\n"),
  );
  held.close();
  assert.match(await new Response(connected.readable).text(), /^HTTP\/1\.1 200 /);
  assert.equal(await (await starting).stop(), 0);
  await deployment.remove();
});

/** Connects as soon as the port listens. @throws if it does not for about half a minute. */
async function connection(port: number): Promise<Deno.TcpConn> {
  for (let attempt = 1;; attempt += 1) {
    try {
      return await Deno.connect({ hostname: "127.0.0.1", port });
    } catch (error) {
      if (!(error instanceof Deno.errors.ConnectionRefused) || attempt === 3_000) throw error;
      await new Promise((next) => setTimeout(next, 10));
    }
  }
}

/** Writes a bootstrap file and returns its path. */
async function bootstrapFile(directory: string, apiKeyFile: string): Promise<string> {
  const path = `${directory}/org.json`;
  await Deno.writeTextFile(
    path,
    JSON.stringify({
      org_id: "first",
      name: "First",
      domain: "general",
      tier: "starter",
      allowed_origins: "",
      api_key_file: apiKeyFile,
    }),
  );
  return path;
}

Deno.test("the bootstrap organization is created once, and its key is in its file, for its owner alone", async () => {
  const deployment = await freshDeployment();
  const keyFile = `${deployment.directory}/key`;
  const env = {
    ...deployment.env,
    JISS_BOOTSTRAP_ORG_FILE: await bootstrapFile(deployment.directory, keyFile),
  };
  for (const session_id of ["before-restart", "after-restart"]) {
    const service = await startService(["serve"], { env });
    const key = (await Deno.readTextFile(keyFile)).trim();
    assert.equal((await service.send("/v1/score", { key, body: scoreRequest({ session_id }) })).status, 200);
    await service.stop();
  }
  assert.equal((await Deno.stat(keyFile)).mode! & 0o777, 0o600);
  await deployment.remove();
});

Deno.test("a key that the administrator wrote into the bootstrap key file is used", async () => {
  const deployment = await freshDeployment();
  const keyFile = `${deployment.directory}/key`;
  const key = "jis_BR0VGHTBYTHEADM1N1STRAT0R0";
  await Deno.writeTextFile(keyFile, `${key}\n`);
  const path = await bootstrapFile(deployment.directory, keyFile);
  const service = await startService(["serve"], {
    env: { ...deployment.env, JISS_BOOTSTRAP_ORG_FILE: path },
  });
  assert.equal((await service.send("/v1/score", { key, body: scoreRequest() })).status, 200);
  await service.stop();
  await deployment.remove();
});

Deno.test("each start warns of a bootstrap key file without a working key of the organization", async () => {
  const deployment = await freshDeployment();
  const keyFile = `${deployment.directory}/key`;
  const path = await bootstrapFile(deployment.directory, keyFile);
  const env = { ...deployment.env, JISS_BOOTSTRAP_ORG_FILE: path };
  const warned = async () => {
    const service = await startService(["serve"], { env });
    assert.equal(await service.stop(), 0);
    return service.log().filter(({ level }) => level === "warn").map(({ msg, org_id }) => [msg, org_id]);
  };
  assert.deepEqual(await warned(), []);
  assert.deepEqual(await warned(), []);
  await Deno.writeTextFile(keyFile, "jis_BR0VGHTBYTHEADM1N1STRAT0R0\n");
  const warning = ["the bootstrap organization's api_key_file holds no key of it that works", "first"];
  assert.deepEqual(await warned(), [warning]);
  await Deno.remove(keyFile);
  assert.deepEqual(await warned(), [warning]);
  await new Deno.Command("mkfifo", { args: [keyFile] }).output();
  assert.deepEqual(await warned(), [warning], "a start does not wait for a pipe");
  await deployment.remove();
});

Deno.test("a request whose body is still arriving at the stop is scored", async () => {
  const deployment = await freshDeployment();
  const service = await startService(["serve"], deployment);
  const key = await createOrganization(service, deployment.env);
  const { hostname, port } = new URL(service.url);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const text = JSON.stringify(scoreRequest());
  const encoder = new TextEncoder();
  await connection.write(encoder.encode(
    `POST /v1/score HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nExpect: 100-continue\r\nContent-Length: ${text.length}\r\n\r\n`,
  ));
  const answer = new Uint8Array(16_384);
  await connection.read(answer);
  await connection.write(encoder.encode(text.slice(0, 20)));
  service.kill("SIGTERM");
  while (!service.log().some(({ msg }) => msg === "stopping")) {
    await new Promise((next) => setTimeout(next, 5));
  }
  const late = await service.send("/v1").catch(() => null);
  assert.ok(late === null || late.status === 503, "a request after the stop is refused");
  await connection.write(encoder.encode(text.slice(20)));
  const length = await connection.read(answer);
  assert.match(new TextDecoder().decode(answer.subarray(0, length!)), /^HTTP\/1\.1 200 /);
  connection.close();
  assert.equal((await service.status).code, 0);
  await deployment.remove();
});
