/** The listener by itself, over real sockets: streams, clients that stop reading, and TLS. */
import { Buffer } from "node:buffer";
import { type ClientHttp2Session, connect } from "node:http2";
import assert from "node:assert/strict";
import { noConnections } from "../../src/http/connections.ts";
import { type Application, listen, type Listener } from "../../src/http/server.ts";
import type { RateWindow } from "../../src/limits/admission.ts";
import { memoryWindow, openHarness, scoreRequest } from "../harness.ts";
import { until } from "../program.ts";
import { certificate, opensslIsMissing } from "../receiver.ts";

const BOUNDS = {
  room: { most: 100, isFull: (open: number) => open >= 100 },
  firstRequestMs: 500,
  clientMs: 1_000,
};
const PIECE = new Uint8Array(16_384);

async function listening(
  fetch: Application["fetch"],
  test: (listener: Listener, closed: ReturnType<typeof noConnections>["closed"]) => Promise<void>,
  tls: { readonly cert: string; readonly key: string } | null = null,
): Promise<void> {
  const counts = noConnections();
  const unexpected = (error?: unknown) => assert.fail(`nothing is wrong: ${error}`);
  const listener = listen({ fetch }, {
    host: "127.0.0.1",
    port: 0,
    tls,
    bounds: BOUNDS,
    counts,
    onFailure: unexpected,
    onCrowded: unexpected,
    onStuck: unexpected,
    onStranger: unexpected,
  });
  await test(listener, counts.closed);
  await listener.shutdown();
}

interface Stream {
  pulled: number;
  cancelled: boolean;
}

/** Answers with `pieces` pieces, by default without end. */
function streaming(stream: Stream, pieces = Infinity): Application["fetch"] {
  return (_request, client) =>
    new Response(
      new ReadableStream<Uint8Array>({
        pull(controller) {
          client.beginServiceTurn?.();
          stream.pulled += 1;
          controller.enqueue(PIECE);
          if (stream.pulled === pieces) controller.close();
          client.beginClientTurn?.();
        },
        cancel() {
          stream.cancelled = true;
        },
      }),
    );
}

async function asking(listener: Listener, authority?: string): Promise<Deno.Conn> {
  const address = { hostname: "127.0.0.1", port: listener.port };
  const connection = authority === undefined
    ? await Deno.connect(address)
    : await Deno.connectTls({ ...address, caCerts: [authority] });
  await connection.write(new TextEncoder().encode("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
  return connection;
}

type Encryption = { readonly authority?: string; readonly tls: { cert: string; key: string } | null };

/** Runs the same test with a plain listener and with one over TLS, which is built differently. */
function bothWays(name: string, test: (encryption: Encryption) => Promise<void>): void {
  Deno.test(name, () => test({ tls: null }));
  Deno.test({
    name: `over TLS: ${name} [needs openssl]`,
    ignore: opensslIsMissing(),
    async fn() {
      const { authority, cert, key } = await certificate();
      await test({ authority, tls: { cert, key } });
    },
  });
}

bothWays(
  "a stream that nobody reads is produced no further than sockets buffer, and ends when the client's time is over",
  async ({ authority, tls }) => {
    const stream = { pulled: 0, cancelled: false };
    await listening(streaming(stream), async (listener, closed) => {
      using _deaf = await asking(listener, authority);
      await until(() => stream.cancelled);
      assert.ok(stream.pulled * PIECE.length < 50_000_000, `${stream.pulled} pieces`);
      assert.equal(closed.silent, 1);
    }, tls);
  },
);

bothWays("a stream ends as soon as its client goes away", async ({ authority, tls }) => {
  const stream = { pulled: 0, cancelled: false };
  await listening(streaming(stream), async (listener, closed) => {
    const connection = await asking(listener, authority);
    await connection.read(new Uint8Array(100));
    connection.close();
    await until(() => stream.cancelled);
    assert.equal(closed.silent, 0);
  }, tls);
});

bothWays(
  "a client that reads a stream slowly gets all of it, however long that takes",
  async ({ authority, tls }) => {
    const stream = { pulled: 0, cancelled: false };
    const pieces = 900;
    await listening(streaming(stream, pieces), async (listener) => {
      using connection = await asking(listener, authority);
      const taken = new Uint8Array(1_048_576);
      let bytes = 0;
      for (let read = await connection.read(taken); read !== null; read = await connection.read(taken)) {
        const rest = bytes % taken.length;
        bytes += read;
        if (rest + read >= taken.length) await new Promise((next) => setTimeout(next, 250));
      }
      assert.ok(bytes > pieces * PIECE.length, `${bytes} bytes`);
      assert.equal(stream.cancelled, false);
    }, tls);
  },
);

bothWays("megabytes go both ways at once, byte for byte", async ({ authority, tls }) => {
  const echo: Application["fetch"] = (request) => new Response(request.body);
  await listening(echo, async (listener, closed) => {
    const body = new Uint8Array(8_388_608);
    for (let at = 0; at < body.length; at += 65_536) crypto.getRandomValues(body.subarray(at, at + 65_536));
    using client = Deno.createHttpClient({ caCerts: authority === undefined ? [] : [authority] });
    const answer = await fetch(listener.url, { method: "POST", body, client });
    assert.ok(Buffer.from(await answer.arrayBuffer()).equals(body));
    assert.deepEqual(closed, { no_request: 0, silent: 0, crowded: 0 });
  }, tls);
});

/** An HTTP/2 client that can do what a browser's would not. */
function http2(listener: Listener, authority?: string): ClientHttp2Session {
  return connect(
    listener.url.replace("127.0.0.1", "localhost"),
    authority === undefined ? {} : { ca: authority },
  );
}

bothWays(
  "a client that sends nothing but PINGs counts as silent and is closed",
  async ({ authority, tls }) => {
    await listening(() => new Response("hello"), async (listener, closed) => {
      const session = http2(listener, authority);
      const gone = new Promise((resolve) => session.on("close", resolve));
      session.on("error", () => {});
      const pings = setInterval(() => session.destroyed || session.ping(() => {}), 100);
      const stream = session.request({ ":path": "/" });
      stream.resume();
      await new Promise((resolve) => stream.on("end", resolve));
      await gone;
      clearInterval(pings);
      assert.deepEqual(closed, { no_request: 0, silent: 1, crowded: 0 });
    }, tls);
  },
);

Deno.test("a late body has its own time limit whatever else its client does on the connection, and frees its memory", async () => {
  const harness = await openHarness({ bodyMemoryBytes: 200_000 });
  const key = await harness.organization("acme");
  await listening((request, client) => harness.app.fetch(request, client), async (listener, closed) => {
    const session = http2(listener);
    const late = session.request({
      ":method": "POST",
      ":path": "/v1/score",
      "x-api-key": key,
      "content-type": "application/json",
    });
    late.write("{");
    let status = 0;
    let text = "";
    late.on("response", (headers) => status = headers[":status"]!);
    late.on("data", (data) => text += data);
    late.on("error", () => {});
    let others = 0;
    while (status === 0 || text === "") {
      const other = session.request({ ":path": "/assets/nothing" });
      other.resume();
      await new Promise((resolve) => other.on("end", resolve));
      others += 1;
      await new Promise((next) => setTimeout(next, 100));
    }
    assert.equal(status, 400);
    assert.match(text, /The body was not received completely in time/);
    assert.ok(others > 1);
    assert.equal(closed.silent, 0);
    // Bytes that come after that take no memory from other requests.
    late.write(" ".repeat(1_800));
    await new Promise((next) => setTimeout(next, 200));
    const next = await harness.send("/v1/score", { key, body: scoreRequest({ note: "x".repeat(15_000) }) });
    assert.equal(next.status, 200, next.text);
    session.destroy();
  });
  await harness.close();
});

/** Ports on which this process listens. */
function ownPorts(): readonly number[] {
  const own = new Set<string>();
  for (const { name } of Deno.readDirSync("/proc/self/fd")) {
    try {
      own.add(/^socket:\[(\d+)\]$/.exec(Deno.readLinkSync(`/proc/self/fd/${name}`))?.[1] ?? "");
    } catch {
      // It was the directory's own.
    }
  }
  const LISTEN = "0A";
  return Deno.readTextFileSync("/proc/self/net/tcp").split("\n").slice(1).map((line) =>
    line.trim().split(/\s+/)
  )
    .filter((fields) => fields[3] === LISTEN && own.has(fields[9]!))
    .map((fields) => parseInt(fields[1]!.split(":")[1]!, 16));
}

Deno.test({
  name: "with TLS no other port of the process can be connected to [needs openssl, /proc]",
  ignore: opensslIsMissing() || Deno.build.os !== "linux",
  async fn() {
    const { authority, cert, key } = await certificate();
    const before = ownPorts();
    await listening(() => new Response("hello"), async (listener) => {
      using client = Deno.createHttpClient({ caCerts: [authority] });
      for (let request = 0; request < 20; request += 1) {
        assert.equal(await (await fetch(listener.url, { client })).text(), "hello");
        assert.deepEqual(ownPorts().filter((port) => !before.includes(port)), [listener.port]);
      }
    }, { cert, key });
  },
});

Deno.test({
  name:
    "a stranger who connects to the inner port before the relay is not served, and keeps no client out [needs openssl]",
  ignore: opensslIsMissing(),
  async fn() {
    const { authority, cert, key } = await certificate();
    let strangers = 0;
    const listener = listen({ fetch: () => new Response("hello") }, {
      host: "127.0.0.1",
      port: 0,
      tls: { cert, key },
      bounds: BOUNDS,
      counts: noConnections(),
      onFailure: (error) => assert.fail(`nothing is wrong: ${error}`),
      onCrowded: () => assert.fail("there is room"),
      onStuck: () => assert.fail("there is room"),
      onStranger: () => strangers += 1,
    });
    const { connect } = Deno;
    const stranger = Promise.withResolvers<Deno.Conn>();
    Deno.connect = (async (options: Deno.ConnectOptions) => {
      Deno.connect = connect;
      stranger.resolve(await connect(options));
      return await connect(options);
    }) as typeof connect;
    try {
      using client = Deno.createHttpClient({ caCerts: [authority] });
      assert.equal(await (await fetch(listener.url, { client })).text(), "hello");
      assert.equal(strangers, 1);
    } finally {
      Deno.connect = connect;
      (await stranger.promise).close();
      await listener.shutdown();
    }
  },
});

/** Connects and resets at once, as port scans and health checks do, while the listener is busy. */
const RESETS = `
import { connect } from "node:net";
const [port] = Deno.args;
await Promise.all(Array.from({ length: 60 }, () => new Promise((resolve) => {
  const socket = connect(Number(port), "127.0.0.1", () => socket.resetAndDestroy());
  socket.on("error", () => {});
  socket.on("close", resolve);
})));`;

Deno.test("clients that reset their connection at once cause no failure and keep nobody out", async () => {
  await listening(() => new Response("hello"), async (listener) => {
    const resets = new Deno.Command(Deno.execPath(), {
      args: ["eval", RESETS, String(listener.port)],
      stdin: "null",
      stdout: "inherit",
      stderr: "inherit",
    }).spawn();
    const ended = resets.status.then(() => true);
    // The thread is busy, so that the clients are gone by the time they are accepted.
    while (!await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5, false))])) {
      for (const until = performance.now() + 30; performance.now() < until;);
    }
    // If the listener reported each as a failed accept, this test would have failed.
    assert.equal(await (await fetch(listener.url)).text(), "hello");
  });
});

Deno.test("a client is not closed as silent while the service works on its request for long", async () => {
  const answer: Application["fetch"] = async (_request, client) => {
    client.beginServiceTurn?.();
    await new Promise((done) => setTimeout(done, 2 * BOUNDS.clientMs));
    return new Response(client.peer);
  };
  await listening(answer, async (listener, closed) => {
    assert.equal(await (await fetch(listener.url)).text(), "127.0.0.1");
    assert.deepEqual(closed, { no_request: 0, silent: 0, crowded: 0 });
  });
});

Deno.test("if the service already works on as many requests as allowed, a newcomer waits, is reported, and is served later", async () => {
  const reported: string[] = [];
  const release = Promise.withResolvers<void>();
  let begun = 0;
  const fetching: Application["fetch"] = async (_request, client) => {
    client.beginServiceTurn?.();
    begun += 1;
    await release.promise;
    return new Response("hello");
  };
  const listener = listen({ fetch: fetching }, {
    host: "127.0.0.1",
    port: 0,
    tls: null,
    bounds: { ...BOUNDS, room: { most: 2, isFull: (open) => open >= 2 } },
    counts: noConnections(),
    onFailure: (error) => assert.fail(`nothing is wrong: ${error}`),
    onCrowded: () => reported.push("crowded"),
    onStuck: () => reported.push("stuck"),
    onStranger: () => reported.push("stranger"),
  });
  const ask = async () => {
    using connection = await asking(listener);
    return await new Response(connection.readable).text();
  };
  const first = [ask(), ask()];
  await until(() => begun === 2);
  const newcomer = ask();
  await until(() => reported.length > 0);
  release.resolve();
  for (const answer of await Promise.all([...first, newcomer])) assert.match(answer, /^HTTP\/1.1 200 /);
  assert.equal(reported[0], "stuck");
  await listener.shutdown();
});

Deno.test("the time that the service takes to authenticate does not count against the rest of the client's request", async () => {
  const quick = memoryWindow();
  const slow: RateWindow = {
    uncounted: 0,
    async admit(subject, now) {
      await new Promise((done) => setTimeout(done, 2 * BOUNDS.clientMs));
      return quick.admit(subject, now);
    },
  };
  const harness = await openHarness({ keyWindow: slow });
  const key = await harness.organization("acme");
  const body = JSON.stringify(scoreRequest());
  const head = `POST /v1/score HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\nConnection: close\r\n` +
    `Content-Length: ${body.length}\r\n\r\n`;
  await listening((request, client) => harness.app.fetch(request, client), async (listener, closed) => {
    using patient = await Deno.connect({ hostname: "127.0.0.1", port: listener.port });
    using silent = await Deno.connect({ hostname: "127.0.0.1", port: listener.port });
    for (const connection of [patient, silent]) await connection.write(new TextEncoder().encode(head));
    await new Promise((done) => setTimeout(done, 2.5 * BOUNDS.clientMs));
    assert.equal(closed.silent, 0);
    await patient.write(new TextEncoder().encode(body));
    assert.match(await new Response(patient.readable).text(), /^HTTP\/1.1 200 /);
    await until(() => closed.silent === 1);
  });
  await harness.close();
});

Deno.test({
  name:
    "over TLS, HTTP/2 and HTTP/1.1 are offered; a client that never shakes hands blocks nobody, nor the shutdown [needs openssl]",
  ignore: opensslIsMissing(),
  async fn() {
    const { authority, cert, key } = await certificate();
    const silent: Deno.Conn[] = [];
    await listening(
      () => new Response("hello"),
      async (listener, closed) => {
        const { port } = listener;
        silent.push(await Deno.connect({ hostname: "127.0.0.1", port }));
        for (const protocol of ["h2", "http/1.1"]) {
          const connection = await Deno.connectTls({
            hostname: "localhost",
            port,
            caCerts: [authority],
            alpnProtocols: [protocol],
          });
          assert.equal((await connection.handshake()).alpnProtocol, protocol);
          connection.close();
        }
        using client = Deno.createHttpClient({ caCerts: [authority], http2: true });
        const url = `https://localhost:${port}`;
        const many = await Promise.all(Array.from({ length: 50 }, () => fetch(url, { client })));
        assert.deepEqual([...new Set(await Promise.all(many.map((answer) => answer.text())))], ["hello"]);
        await until(() => closed.no_request === 1);
        silent.push(await Deno.connect({ hostname: "127.0.0.1", port }));
        assert.equal(await (await fetch(url, { client })).text(), "hello");
      },
      { cert, key },
    );
    for (const connection of silent) connection.close();
  },
});
