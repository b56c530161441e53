/**
 * The program's listener: clients that are slow, silent, many or broken, over real sockets. None of them
 * stops another. The time-outs are those of `hasty_program.ts`.
 */
import assert from "node:assert/strict";
import { scoreRequest } from "../harness.ts";
import {
  createOrganization,
  freshDeployment,
  type RunningService,
  runProgram,
  startService,
  until,
} from "../program.ts";

const METRICS = { JISS_METRICS_ADDR: "127.0.0.1:0" };
const HASTY = { main: "tests/hasty_program.ts" };

interface Door {
  readonly service: RunningService;
  readonly key: string;
  /** Connects, and sends a text. */
  open(text?: string): Promise<Deno.Conn>;
  /** Sends a text on its own connection; returns everything received until the service closes it. */
  exchange(text: string): Promise<string>;
}

function withDoor(
  options: { readonly main?: string; readonly descriptors?: number; readonly env?: Record<string, string> },
  test: (door: Door) => Promise<void>,
): () => Promise<void> {
  return async () => {
    const deployment = await freshDeployment();
    const env = { ...deployment.env, ...options.env };
    const service = await startService(["serve"], { ...options, env });
    const key = await createOrganization(service, env);
    const { hostname, port } = new URL(service.url);
    const open = async (text = "") => {
      const connection = await Deno.connect({ hostname, port: Number(port) });
      await connection.write(new TextEncoder().encode(text)).catch(() => {});
      return connection;
    };
    const exchange = async (text: string) => {
      using connection = await open(text);
      return await new Response(connection.readable).text().catch(() => "");
    };
    try {
      await test({ service, key, open, exchange });
    } finally {
      assert.equal(await service.stop(), 0, service.errors());
      await deployment.remove();
    }
  };
}

/** Resolves once the service has closed the connection. */
async function closed(connection: Deno.Conn): Promise<void> {
  const piece = new Uint8Array(65_536);
  while (await connection.read(piece).catch(() => null) !== null) { /* What was sent before. */ }
}

function close(connections: readonly Deno.Conn[]): void {
  for (const connection of connections) connection.close();
}

/** Number of connections that the service closed for a cause, by its own count. */
async function closedBy(service: RunningService, cause: string): Promise<number> {
  const { metrics_url: url } = service.log().find(({ msg }) => msg === "listening")!;
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(
    new RegExp(`^jiss_connections_closed_total\\{cause="${cause}"\\} (\\d+)$`, "m").exec(text)![1],
  );
}

/** The whole answer to a request on a keep-alive connection. */
async function ask(connection: Deno.Conn, text: string): Promise<string> {
  await connection.write(new TextEncoder().encode(text));
  const piece = new Uint8Array(65_536);
  const length = await connection.read(piece);
  return new TextDecoder().decode(piece.subarray(0, length ?? 0));
}

Deno.test(
  "1,500 clients that send nothing, half a head or half a body stop no other client, and the service closes each",
  withDoor({ ...HASTY, env: METRICS }, async ({ service, key, open }) => {
    const halves = [
      "",
      "POST /v1/score HTTP/1.1\r\nHost: x\r\nX-API-",
      `POST /v1/score HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Length: 500\r\n\r\n{"session_id":`,
    ];
    const slow: Deno.Conn[] = [];
    for (let index = 0; index < 1_500; index += 1) {
      slow.push(await open(halves[index % 3]));
      if (index % 100 !== 99) continue;
      const { status } = await service.send("/v1/score", {
        key,
        body: scoreRequest({ session_id: `s-${index}` }),
      });
      assert.equal(status, 200);
    }
    await Promise.all(slow.map(closed));
    close(slow);
    assert.equal((await service.send("/v1/score", { key, body: scoreRequest() })).status, 200);

    assert.equal(await closedBy(service, "no_request"), 1_000);
    assert.ok(await closedBy(service, "silent") >= 500);
    assert.equal(await closedBy(service, "crowded"), 0);
  }),
);

Deno.test(
  "a connection in use is kept, and one that becomes silent between or within requests is closed",
  withDoor(HASTY, async ({ open }) => {
    const used = await open();
    const silent = [await open(), await open()];
    const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    for (const connection of silent) assert.match(await ask(connection, request), /^HTTP\/1\.1 200 /);
    await silent[1]!.write(new TextEncoder().encode("GET / HTTP/1.1\r\nHo"));
    let isOver = false;
    const over = Promise.all(silent.map(closed)).then(() => isOver = true);
    while (!isOver) {
      assert.match(await ask(used, request), /^HTTP\/1\.1 200 /);
      await new Promise((next) => setTimeout(next, 100));
    }
    await over;
    assert.match(await ask(used, request), /^HTTP\/1\.1 200 /);
    close([used, ...silent]);
  }),
);

Deno.test(
  "a client that never reads its answers is closed, and the memory for it is bounded",
  withDoor({ ...HASTY, env: METRICS }, async ({ service, key, open }) => {
    const memory = async () =>
      Number(/VmRSS:\s+(\d+)/.exec(await Deno.readTextFile(`/proc/${service.pid}/status`))![1]);
    const { length } = JSON.stringify((await service.send("/openapi.json")).body);
    const before = await memory();
    // Much more than the sockets' own buffers hold.
    const requests = Math.ceil(200_000_000 / length);
    const deaf = await open("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(requests));
    assert.equal((await service.send("/v1/score", { key, body: scoreRequest() })).status, 200);
    while (await closedBy(service, "silent") === 0) await new Promise((next) => setTimeout(next, 100));
    const answered = service.log().filter(({ route }) => route === "GET /openapi.json").length;
    assert.ok(answered > 1 && answered < requests / 2, `${answered} of ${requests} were answered`);
    assert.ok(await memory() - before < 100_000, `${before} KB, then ${await memory()} KB`);
    deaf.close();
  }),
);

Deno.test(
  "with few descriptors the connections are limited: the one that is silent longest is closed, and the next client is served",
  withDoor({ descriptors: 256 }, async ({ service, open }) => {
    const held: Deno.Conn[] = [];
    for (let index = 0; index < 400; index += 1) held.push(await open(index % 2 === 0 ? "GET / HT" : ""));
    for (let index = 0; index < 20; index += 1) assert.equal((await service.send("/")).status, 200);
    const messages = () => service.log().filter(({ level }) => level !== "info").map(({ msg }) => msg);
    await until(() => messages().length > 0);
    assert.deepEqual(messages(), [
      "the maximum number of connections is open: the one that has kept the service waiting longest is closed",
    ], "logged once, and the descriptors did not run out");
    close(held);
    assert.equal((await service.send("/")).status, 200);
  }),
);

Deno.test(
  "if descriptors run out all the same, the service neither ends nor stops, and accepts clients once there are some",
  withDoor({ ...HASTY, descriptors: 128 }, async ({ service, open }) => {
    const held: Deno.Conn[] = [];
    for (let index = 0; index < 300; index += 1) held.push(await open("GET / HT"));
    await until(() =>
      service.log().some(({ msg }) => msg === "connections cannot be accepted at the moment")
    );
    // The held connections are still open: the one that is silent longest is closed.
    assert.equal((await service.send("/")).status, 200);
    close(held);
    for (let index = 0; index < 20; index += 1) assert.equal((await service.send("/")).status, 200);
  }),
);

Deno.test(
  "a request that is not HTTP, or has two lengths, is answered 400 and closed, and the next client is served",
  withDoor({}, async ({ service, exchange }) => {
    const head = "POST /v1/score HTTP/1.1\r\nHost: x\r\n";
    const broken = [
      "NONSENSE\r\n\r\n",
      "\x16\x03\x01\x00\x05hello",
      "GET / HTTP/9.9\r\nHost: x\r\n\r\n",
      `GET / HTTP/1.1\r\nHost: x\r\n${"X-Long: y\r\n".repeat(2_000)}\r\n`,
      `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      `${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`,
      `${head}Content-Length: -5\r\n\r\n`,
    ];
    for (const text of broken) {
      assert.match(await exchange(text), /^HTTP\/1\.[01] (?:400|431) /, text.slice(0, 60));
    }
    assert.equal((await service.send("/")).status, 200);
  }),
);

Deno.test(
  "HTTP/1.0, pipelining, HEAD, a chunked body and a body refused before it is read are answered",
  withDoor({}, async ({ key, open, exchange }) => {
    const old = await exchange("GET / HTTP/1.0\r\nHost: x\r\n\r\n");
    assert.match(old, /^HTTP\/1\.0 200 .*"status":"ok"/s);
    const get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    const last = "HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    const three = await exchange(get + get + last);
    assert.equal(three.match(/HTTP\/1\.1 200 /g)?.length, 3);
    assert.equal(three.match(/"status":"ok"/g)?.length, 2, "HEAD has no body");

    const head = `POST /v1/score HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-Key: ${key}\r\n`;
    const text = JSON.stringify(scoreRequest());
    const chunks = [text.slice(0, 50), text.slice(50)].map((chunk) =>
      `${chunk.length.toString(16)}\r\n${chunk}\r\n`
    );
    assert.match(
      await exchange(`${head}Transfer-Encoding: chunked\r\n\r\n${chunks.join("")}0\r\n\r\n`),
      /^HTTP\/1\.1 200 /,
    );
    const large = await open(`${head}Content-Length: 1048577\r\n\r\n`);
    assert.match(await ask(large, "{"), /^HTTP\/1\.1 413 /);
    const stranger = await open("POST /v1/score HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n");
    assert.match(await ask(stranger, "{"), /^HTTP\/1\.1 401 /);
    close([large, stranger]);
  }),
);

Deno.test("on a Deno without the listener's internals a start ends, and names the Deno to use", async () => {
  const { env, remove } = await freshDeployment();
  const { code, stderr } = await runProgram(["serve"], { env, main: "tests/other_deno.ts" });
  assert.equal(code, 78);
  assert.match(stderr, /cannot serve single connections, as Deno 2\.9\.6 can: run JISS on that version/);
  await remove();
});
