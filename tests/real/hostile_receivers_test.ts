/**
 * One attempt against real receivers that are not who they should be, or do not answer as they should: where
 * it connects, what it trusts, how it ends. Source: contract, sections 1 (`JISS_WEBHOOK_ALLOW`,
 * `JISS_WEBHOOK_TIMEOUT_MS`) and 8.14; issue: "Safe targets".
 */
import assert from "node:assert/strict";
import { parseNetworks } from "../../src/limits/networks.ts";
import { createDeliverer, type Deliverer } from "../../src/webhooks/delivery.ts";
import type { AttemptResult } from "../../src/webhooks/health.ts";
import { isOwnListener } from "../../src/webhooks/target.ts";
import { type Answering, openRawReceiver, openSilentReceiver, type RawReceiver } from "../raw_receiver.ts";
import { certificate, makeCertificate, openReceiver } from "../receiver.ts";

/** The time limit of attempts that the limit is to end. */
const SHORT_MS = 500;
/** Such attempts must have ended within this time, however slow the machine is. */
const WIDE_MS = 20 * SHORT_MS;
/** The time limit of the other attempts: they never reach it. */
const LONG_MS = 60_000;

const OWN = { url: "http://127.0.0.1:9", host: "127.0.0.1" };

interface World {
  /** The answers of the look-ups in turn; the last one repeats. */
  answers: (readonly string[])[];
  readonly looked: string[];
  readonly deliverer: Deliverer;
  post(url: string): Promise<Omit<AttemptResult, "durationMs">>;
}

interface WorldOptions {
  readonly timeoutMs?: number;
  readonly certificates?: readonly string[];
  readonly resolve?: () => Promise<readonly string[]>;
}

function opensslIsMissing(): boolean {
  try {
    return !new Deno.Command("openssl", { args: ["version"], stdout: "null", stderr: "null" }).outputSync()
      .success;
  } catch {
    return true;
  }
}

/** Runs a test with a deliverer that may call loopback and resolves every name to it. */
async function withWorld(test: (world: World) => Promise<void>, options: WorldOptions = {}): Promise<void> {
  const looked: string[] = [];
  const allowed = parseNetworks(["127.0.0.0/8"]);
  const world = { answers: [["127.0.0.1"]] as (readonly string[])[], looked };
  const deliverer = createDeliverer({
    policy: { allowed, isOwn: (address, port) => isOwnListener(OWN, { address, port }) },
    resolve: options.resolve ?? ((name) => {
      looked.push(name);
      return Promise.resolve(world.answers.length > 1 ? world.answers.shift()! : world.answers[0]!);
    }),
    certificates: options.certificates ?? [(await certificate()).authority],
    timeoutMs: options.timeoutMs ?? LONG_MS,
    clock: { now: Date.now, monotonic: () => performance.now() },
  });
  let id = 0;
  try {
    await test(Object.assign(world, {
      deliverer,
      async post(url: string) {
        const { durationMs, ...result } = await deliverer.deliver({
          url: new URL(url),
          body: `{"event":"ping","n":${id}}`,
          secret: new Uint8Array(32).fill(1),
          deliveryId: `00000000-0000-4000-8000-${String(id++).padStart(12, "0")}`,
        }, new AbortController().signal);
        assert.ok(durationMs < WIDE_MS, `${durationMs}`);
        return result;
      },
    }));
  } finally {
    deliverer.close();
  }
}

async function withRaw(
  answer: Answering,
  test: (receiver: RawReceiver) => Promise<void>,
): Promise<void> {
  const receiver = await openRawReceiver(answer);
  try {
    await test(receiver);
  } finally {
    await receiver.close();
  }
}

function real(name: string, fn: () => Promise<void>): void {
  Deno.test({ name: `${name} [needs openssl]`, ignore: opensslIsMissing(), fn });
}

const DELIVERED = { status: 204, error: null };
const NO_CONTENT = "HTTP/1.1 204 No Content\r\n\r\n";

function failed(error: AttemptResult["error"], status: number | null = null) {
  return { status, error };
}

// ---- destinations -----------------------------------------------------------------------------------------

real(
  "a name is resolved once for each attempt, which connects to an allowed address of that answer or to nothing",
  () =>
    withWorld(async (world) => {
      const receiver = await openReceiver();
      const url = `https://receiver.test:${receiver.port}/jiss`;
      world.answers = [["127.0.0.1"], ["169.254.169.254"], ["127.0.0.1", "10.0.0.1"], [], ["127.0.0.1"]];
      assert.deepEqual(await world.post(url), DELIVERED);
      assert.equal(world.looked.length, 1);
      for (const looked of [2, 3, 4]) {
        assert.deepEqual(await world.post(url), failed("refused_target"), `${looked}`);
        assert.equal(world.looked.length, looked);
        assert.equal(receiver.arrivals.length, 1, "nor is a kept connection used");
      }
      assert.deepEqual(await world.post(url), DELIVERED);
      assert.deepEqual(world.looked, Array(5).fill("receiver.test"));
      assert.equal(receiver.arrivals.length, 2);
      await receiver.close();
    }),
);

real(
  "a kept connection is not used for a name that resolves to another address by then",
  () =>
    withWorld(async (world) => {
      const answer: Answering = async ({ send }) => {
        await send(NO_CONTENT);
        return "keep";
      };
      const first = await openRawReceiver(answer);
      const second = await openRawReceiver(answer, { hostname: "127.0.0.2", port: first.port });
      const url = `https://receiver.test:${first.port}/`;
      world.answers = [["127.0.0.1"], ["127.0.0.2"], ["127.0.0.1"]];
      const seen: number[][] = [];
      for (let attempt = 0; attempt < 3; attempt++) {
        assert.deepEqual(await world.post(url), DELIVERED);
        seen.push([first.requests.length, second.requests.length]);
      }
      assert.deepEqual(seen, [[1, 0], [1, 1], [2, 1]]);
      await first.close();
      await second.close();
    }),
);

real(
  "the receiver is addressed by its name, in TLS and in HTTP, though the connection is made by address",
  () =>
    withWorld(async (world) => {
      const receiver = await openReceiver();
      assert.deepEqual(await world.post(`https://receiver.test:${receiver.port}/jiss?a=1`), DELIVERED);
      assert.deepEqual(await world.post(`https://127.0.0.1:${receiver.port}/`), DELIVERED);
      const [named, numbered] = receiver.arrivals;
      assert.deepEqual([named!.method, named!.path, named!.headers.get("Host")], [
        "POST",
        "/jiss?a=1",
        `receiver.test:${receiver.port}`,
      ]);
      assert.equal(numbered!.headers.get("Host"), `127.0.0.1:${receiver.port}`);
      assert.deepEqual(world.looked, ["receiver.test"]);
      await receiver.close();
    }),
);

real(
  "the TLS client hello names the host without its trailing dot, and names no IP address",
  () =>
    withWorld(async (world) => {
      for (const [host, named] of [["receiver.test", 1], ["receiver.test.", 1], ["127.0.0.1", 0]] as const) {
        const silent = openSilentReceiver();
        assert.deepEqual(await world.post(`https://${host}:${silent.port}/`), failed("timeout"), host);
        assert.equal(silent.connections, 1);
        assert.equal(silent.said.charCodeAt(0), 0x16, "a TLS handshake");
        assert.equal(silent.said.split("\0\x0dreceiver.test").length - 1, named, host);
        assert.ok(!silent.said.includes("receiver.test."));
        assert.ok(!silent.said.includes("127.0.0.1"));
        await silent.close();
      }
    }, { timeoutMs: SHORT_MS }),
);

real(
  "redirects end the attempt with their status and are not followed",
  () =>
    withWorld(async (world) => {
      const other = await openReceiver();
      const locations = [
        "https://169.254.169.254/latest/meta-data/",
        "http://169.254.169.254/",
        `${OWN.url}/v1/score`,
        `https://127.0.0.1:${other.port}/`,
        `//receiver.test:${other.port}/`,
      ];
      for (const location of locations) {
        for (const status of [301, 302, 303, 307, 308]) {
          const receiver = await openReceiver(() =>
            new Response(null, { status, headers: { Location: location } })
          );
          const answer = await world.post(`https://receiver.test:${receiver.port}/`);
          assert.deepEqual(answer, failed("redirect", status), `${status} ${location}`);
          assert.equal(receiver.arrivals.length, 1);
          await receiver.close();
        }
      }
      assert.equal(other.arrivals.length, 0);
      assert.equal(world.looked.length, locations.length * 5);
      await other.close();
    }),
);

// ---- certificates -----------------------------------------------------------------------------------------

real(
  "nothing is delivered to a receiver whose certificate has another name, an untrusted authority, or has expired",
  async () => {
    const wrongName = await makeCertificate("DNS:other.test,IP:127.0.0.9");
    const untrusted = await makeCertificate("DNS:receiver.test,IP:127.0.0.1");
    const expired = await makeCertificate("DNS:receiver.test,IP:127.0.0.1", -1);
    await withWorld(async (world) => {
      for (const [what, certified] of Object.entries({ wrongName, untrusted, expired })) {
        const receiver = await openReceiver(undefined, certified);
        for (const host of ["receiver.test", "127.0.0.1"]) {
          const answer = await world.post(`https://${host}:${receiver.port}/`);
          assert.deepEqual(answer, failed("certificate"), `${what} ${host}`);
        }
        assert.equal(receiver.arrivals.length, 0, what);
        await receiver.close();
      }
    }, { certificates: [wrongName.authority, expired.authority] });
  },
);

real(
  "a certificate for the address alone is refused for the name, and the other way round",
  async () => {
    const named = await makeCertificate("DNS:receiver.test");
    const numbered = await makeCertificate("IP:127.0.0.1");
    await withWorld(async (world) => {
      for (
        const [certified, right, wrong] of [
          [named, "receiver.test", "127.0.0.1"],
          [numbered, "127.0.0.1", "receiver.test"],
        ] as const
      ) {
        const receiver = await openReceiver(undefined, certified);
        assert.deepEqual(await world.post(`https://${wrong}:${receiver.port}/`), failed("certificate"));
        assert.deepEqual(await world.post(`https://${right}:${receiver.port}/`), DELIVERED);
        assert.deepEqual(await world.post(`https://${wrong}:${receiver.port}/`), failed("certificate"));
        assert.equal(receiver.arrivals.length, 1);
        await receiver.close();
      }
    }, { certificates: [named.authority, numbered.authority] });
  },
);

real(
  "a receiver that speaks HTTP without TLS gets no byte of the delivery",
  () =>
    withWorld(async (world) => {
      const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      let said = "";
      const served = (async () => {
        const connection = await listener.accept();
        const buffer = new Uint8Array(65_536);
        said = new TextDecoder("latin1").decode(buffer.subarray(0, await connection.read(buffer) ?? 0));
        await connection.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
        while (await connection.read(buffer).catch(() => null) !== null);
        connection.close();
      })();
      const port = (listener.addr as Deno.NetAddr).port;
      assert.deepEqual(await world.post(`https://receiver.test:${port}/`), failed("tls"));
      await served;
      assert.ok(!/POST|ping|X-SERVICE/i.test(said));
      listener.close();
    }),
);

// ---- endings ----------------------------------------------------------------------------------------------

real(
  "a port at which nobody listens ends the attempt with connection_failed",
  () =>
    withWorld(async (world) => {
      const receiver = await openReceiver();
      await receiver.close();
      assert.deepEqual(
        await world.post(`https://receiver.test:${receiver.port}/`),
        failed("connection_failed"),
      );
    }),
);

real(
  "the deadline ends a look-up, a handshake, an answer's head or an answer's body that never comes",
  async () => {
    const never = () => new Promise<never>(() => {});
    await withWorld(async ({ post }) => {
      assert.deepEqual(await post("https://receiver.test/"), failed("timeout"), "look-up");
    }, { timeoutMs: SHORT_MS, resolve: never });
    await withWorld(async ({ post }) => {
      const silent = openSilentReceiver();
      assert.deepEqual(await post(`https://receiver.test:${silent.port}/`), failed("timeout"), "handshake");
      await silent.close();
      const heads = ["", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 100 Continue\r\n\r\n"];
      for (const head of heads) {
        const answer: Answering = async ({ send, closed }) => {
          await send(head);
          await closed();
        };
        await withRaw(answer, async ({ port, requests }) => {
          assert.deepEqual(await post(`https://receiver.test:${port}/`), failed("timeout"), head);
          assert.equal(requests.length, 1);
        });
      }
      const dripping: Answering = async ({ send }) => {
        await send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (;;) {
          await send("1\r\nx\r\n");
          await new Promise((next) => setTimeout(next, 5));
        }
      };
      await withRaw(dripping, async ({ port }) => {
        assert.deepEqual(await post(`https://receiver.test:${port}/`), { status: 200, error: null }, "body");
      });
      const drippingHead: Answering = async ({ send }) => {
        await send("HTTP/1.1 200 OK\r\n");
        for (;;) {
          await send("X: y\r\n");
          await new Promise((next) => setTimeout(next, 5));
        }
      };
      await withRaw(drippingHead, async ({ port }) => {
        const { status, error } = await post(`https://receiver.test:${port}/`);
        assert.equal(status, null);
        assert.ok(error === "timeout" || error === "invalid_answer", `${error}`);
      });
    }, { timeoutMs: SHORT_MS });
  },
);

real(
  "an answer without an end is not read to its end, and its status counts",
  () =>
    withWorld(async (world) => {
      const whole = 64 * 1_048_576;
      const chunk = new Uint8Array(65_536);
      let sent = 0;
      const ended = Promise.withResolvers<void>();
      const answer: Answering = async ({ send }) => {
        try {
          await send(`HTTP/1.1 200 OK\r\nContent-Length: ${whole}\r\n\r\n`);
          for (; sent < whole; sent += chunk.length) await send(chunk);
        } finally {
          ended.resolve();
        }
      };
      await withRaw(answer, async ({ port }) => {
        assert.deepEqual(await world.post(`https://receiver.test:${port}/`), { status: 200, error: null });
        await ended.promise;
        // The kernel between the two buffers some bytes, which are not the product's.
        assert.ok(sent < whole / 2, `${sent}`);
      });
    }),
);

const NOT_ANSWERS: readonly (readonly [what: string, answer: string])[] = [
  ["nothing", ""],
  ["a greeting of mail", "220 receiver.test ESMTP\r\n"],
  ["text", "hello\r\n\r\n"],
  ["half a status line", "HTTP/1.1 20"],
  ["half a head", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"],
  ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n"],
  ["a status that is none", "HTTP/1.1 abc OK\r\n\r\n"],
  ["another protocol", "ICY 200 OK\r\n\r\n"],
  ["a version that does not exist", "HTTP/9.9 200 OK\r\n\r\n"],
  ["a line that is no header", "HTTP/1.1 200 OK\r\nno header\r\n\r\n"],
  ["a header without a name", "HTTP/1.1 200 OK\r\n: x\r\n\r\n"],
  ["a null in a header", "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n"],
  ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"],
  ["a length that is none", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"],
  ["a head of a mebibyte", `HTTP/1.1 200 OK\r\nX: ${"y".repeat(1_048_576)}\r\n\r\n`],
  ["a hundred thousand headers", `HTTP/1.1 200 OK\r\n${"X: y\r\n".repeat(100_000)}\r\n`],
  [
    "a switch to another protocol",
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
  ],
  ["an interim answer and no more", "HTTP/1.1 100 Continue\r\n\r\n"],
  ["hints, and no more", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"],
];

real("an answer that is not HTTP delivers nothing and has no status", () =>
  withWorld(async (world) => {
    for (const [what, text] of NOT_ANSWERS) {
      await withRaw(async ({ send }) => await send(text), async ({ port, requests }) => {
        const { status, error } = await world.post(`https://receiver.test:${port}/`);
        assert.equal(status, null, what);
        assert.ok(error === "connection_lost" || error === "invalid_answer", `${what}: ${error}`);
        assert.equal(requests.length, 1, what);
      });
    }
  }));

real(
  "only a 2xx status counts as delivered, also after an interim one",
  () =>
    withWorld(async (world) => {
      const answered = async (text: string) => {
        let result: Omit<AttemptResult, "durationMs"> | undefined;
        await withRaw(async ({ send }) => await send(text), async ({ port }) => {
          result = await world.post(`https://receiver.test:${port}/`);
        });
        return result;
      };
      const head = (status: number) =>
        `HTTP/1.1 ${status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
      for (const status of [200, 201, 202, 206, 299]) {
        assert.deepEqual(await answered(head(status)), { status, error: null });
      }
      for (const status of [400, 401, 404, 408, 410, 418, 429, 500, 503, 599]) {
        assert.deepEqual(await answered(head(status)), failed("status", status));
      }
      for (const status of [300, 304, 399]) {
        assert.deepEqual(await answered(head(status)), failed("redirect", status));
      }
      const interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n";
      assert.deepEqual(await answered(interim + head(200)), { status: 200, error: null });
      assert.deepEqual(await answered(interim + head(503)), failed("status", 503));
    }),
);

real(
  "a connection that breaks within the answer's body leaves the answer's status",
  () =>
    withWorld(async (world) => {
      for (const [status, expected] of [[200, null], [500, "status"]] as const) {
        const answer: Answering = async ({ send }) =>
          await send(`HTTP/1.1 ${status} X\r\nContent-Length: 1000\r\n\r\n{"half":`);
        await withRaw(answer, async ({ port }) => {
          assert.deepEqual(await world.post(`https://receiver.test:${port}/`), { status, error: expected });
        });
      }
    }),
);

real(
  "a receiver that closes the connection after each answer still gets each delivery once",
  () =>
    withWorld(async (world) => {
      const closes: Answering = async ({ send }) => await send(NO_CONTENT);
      await withRaw(closes, async (receiver) => {
        const url = `https://receiver.test:${receiver.port}/`;
        for (let count = 1; count <= 5; count++) {
          assert.deepEqual(await world.post(url), DELIVERED, `${count}`);
          assert.equal(receiver.requests.length, count);
        }
        assert.equal(receiver.connections, 5);
        const ids = receiver.requests.map((request) => /webhook-id: (.*)\r\n/i.exec(request)![1]);
        assert.equal(new Set(ids).size, 5);
      });
    }),
);

real("a connection is kept for the next delivery to the same name", () =>
  withWorld(async (world) => {
    const keeps: Answering = async ({ send }) => {
      await send(NO_CONTENT);
      return "keep";
    };
    await withRaw(keeps, async (receiver) => {
      for (let count = 1; count <= 3; count++) {
        assert.deepEqual(await world.post(`https://receiver.test:${receiver.port}/`), DELIVERED);
      }
      assert.deepEqual([receiver.connections, receiver.requests.length], [1, 3]);
      assert.deepEqual(await world.post(`https://localhost:${receiver.port}/`), DELIVERED);
      assert.equal(receiver.connections, 2, "another name");
    });
  }));

real(
  "a delivery that fails on a kept connection is posted once, and the connection is closed",
  () =>
    withWorld(async (world) => {
      const failures: readonly (readonly [name: string, answer: Answering])[] = [
        ["never answered", ({ closed }) => closed()],
        ["closed", () => Promise.resolve()],
        ["no HTTP", async ({ send }) => await send("220 mail.example ESMTP\r\n")],
        ["an interim answer and no other", async ({ send, closed }) => {
          await send("HTTP/1.1 100 Continue\r\n\r\n");
          await closed();
        }],
        ["half an answer", async ({ send }) => await send("HTTP/1.1 200 ")],
      ];
      for (const [name, fail] of failures) {
        const answer: Answering = async (exchange) => {
          if (exchange.nth > 1) return await fail(exchange);
          await exchange.send(NO_CONTENT);
          return "keep";
        };
        await withRaw(answer, async (receiver) => {
          const url = `https://receiver.test:${receiver.port}/`;
          assert.deepEqual(await world.post(url), DELIVERED, name);
          const { status, error } = await world.post(url);
          assert.equal(status, null, name);
          assert.notEqual(error, null, name);
          // Longer than the runtime would take to try again by itself.
          await new Promise((wait) => setTimeout(wait, 300));
          assert.deepEqual([receiver.requests.length, receiver.connections], [2, 1], name);
        });
      }
    }, { timeoutMs: 500 }),
);
