import assert from "node:assert/strict";
import fc from "fast-check";
import { ServiceError } from "../../src/domain/errors.ts";
import { BATCH_BODY_LIMIT_BYTES, BODY_MEMORY_BYTES } from "../../src/domain/limits.ts";
import { parseJson, readBody, WAITING_BYTES } from "../../src/http/body.ts";
import { type BodyLease, BodyMemory } from "../../src/http/body_memory.ts";
import { measureJson } from "../../src/http/json_cost.ts";

const LIMIT = 1000;
const within = () => ({ limit: LIMIT, lease: new BodyMemory(1_000_000).lease("somebody") });

type Read = { readonly length: number } | { readonly code: string } | { readonly refused: string };

/** The result of reading a body on a real server that got exactly these bytes on its socket. */
async function readOf(request: string, { ends = false } = {}): Promise<Read> {
  const read = Promise.withResolvers<Read>();
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    try {
      read.resolve({ length: (await readBody(request, within())).length });
    } catch (error) {
      read.resolve({ code: error instanceof ServiceError ? error.code : String(error) });
    }
    return new Response();
  });
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: server.addr.port });
  try {
    await connection.write(new TextEncoder().encode(`POST / HTTP/1.1\r\nHost: a\r\n${request}`));
    if (ends) await connection.closeWrite();
    return await Promise.race([read.promise, refusal(connection)]);
  } finally {
    connection.close();
    await server.shutdown();
  }
}

/** The server's own refusal; pending for ever if the server passed the request on. */
async function refusal(connection: Deno.Conn): Promise<Read> {
  const bytes = new Uint8Array(100);
  const count = await connection.read(bytes).catch(() => null) ?? 0;
  const status = new TextDecoder().decode(bytes.subarray(0, count)).slice(0, "HTTP/1.1 400".length);
  return status === "HTTP/1.1 400" ? { refused: status } : await new Promise(() => {});
}

const body = (length: number) => "x".repeat(length);
const declared = (length: number) => `Content-Length: ${length}\r\n\r\n`;
const chunk = (length: number) => `${length.toString(16)}\r\n${body(length)}\r\n`;
const CHUNKED = "Transfer-Encoding: chunked\r\n";

Deno.test("a body of exactly the limit is read, one byte more is refused, with and without a declared length", async () => {
  assert.deepEqual(await readOf(declared(LIMIT) + body(LIMIT)), { length: LIMIT });
  assert.deepEqual(await readOf(declared(LIMIT + 1) + body(LIMIT + 1)), { code: "PAYLOAD_TOO_LARGE" });
  assert.deepEqual(await readOf(`${CHUNKED}\r\n${chunk(LIMIT - 1)}${chunk(1)}0\r\n\r\n`), { length: LIMIT });
  assert.deepEqual(await readOf(`${CHUNKED}\r\n${chunk(LIMIT)}${chunk(1)}`), { code: "PAYLOAD_TOO_LARGE" });
});

Deno.test("a chunked body that also declares a length is refused before it is read", async () => {
  for (const head of [`${CHUNKED}${declared(5)}`, `Content-Length: 5\r\n${CHUNKED}\r\n`]) {
    assert.deepEqual(await readOf(`${head}${chunk(LIMIT)}${chunk(1)}`), { refused: "HTTP/1.1 400" }, head);
  }
});

Deno.test("bytes after the declared length do not belong to the body", async () => {
  assert.deepEqual(await readOf(`${declared(3)}abcPOST`), { length: 3 });
});

Deno.test("an empty body is read as such", async () => {
  assert.deepEqual(await readOf(declared(0)), { length: 0 });
  assert.deepEqual(await readOf("\r\n"), { length: 0 });
});

Deno.test("a body that breaks off is not JSON, with and without a declared length", async () => {
  assert.deepEqual(await readOf(declared(10) + body(9), { ends: true }), { code: "INVALID_JSON" });
  assert.deepEqual(await readOf(`${CHUNKED}\r\n${chunk(9)}`, { ends: true }), { code: "INVALID_JSON" });
});

Deno.test("a body that is longer than it declares is still held to the limit", async () => {
  const request = (length: number) =>
    new Request("http://a/", { method: "POST", body: body(length), headers: { "Content-Length": "5" } });
  assert.equal((await readBody(request(LIMIT), within())).length, LIMIT);
  await assert.rejects(readBody(request(LIMIT + 1), within()), { code: "PAYLOAD_TOO_LARGE" });
});

Deno.test("one holder's bodies take at most half of the memory, so that there is room for the others'", () => {
  const memory = new BodyMemory(100);
  const [first, second, other] = ["a", "a", "b"].map((holder) => memory.lease(holder)) as [
    BodyLease,
    BodyLease,
    BodyLease,
  ];
  first.take(40);
  assert.throws(() => memory.lease("a").take(11), /of your large requests/);
  second.take(10);
  other.take(50);
  const third = memory.lease("c");
  assert.throws(
    () => memory.lease("c").take(1),
    /^ServiceError: Too many large requests are being processed/,
  );
  first.release();
  third.take(1);
  second.take(30);
  for (const lease of [first, second, other, third]) lease.release();
  // A single body is accepted at any size.
  const large = memory.lease("a");
  large.take(1_000);
  assert.throws(() => memory.lease("b").take(1), /Too many large requests are being processed/);
  large.release();
  memory.lease("b").take(100);
});

Deno.test("a lease that was released takes no more memory", () => {
  const memory = new BodyMemory(100);
  const lease = memory.lease("a");
  lease.take(10);
  lease.release();
  assert.throws(() => lease.take(1), ServiceError);
  memory.lease("a").take(50);
  memory.lease("b").take(50);
});

Deno.test("memory is given back to the holder for whom it was taken, also if the lease changed its holder", () => {
  const memory = new BodyMemory(100);
  const lease = memory.lease("address");
  lease.take(30);
  lease.holder = "organization";
  lease.take(50);
  assert.throws(() => memory.lease("organization").take(1), /of your large requests/);
  memory.lease("address").take(20);
  lease.release();
  memory.lease("organization").take(50);
  memory.lease("address").take(30);
});

Deno.test("a body that counts for more than half of the memory has a place of its own, for one at a time", () => {
  const memory = new BodyMemory(100);
  const [small, heavy, other] = ["a", "a", "b"].map((holder) => memory.lease(holder)) as [
    BodyLease,
    BodyLease,
    BodyLease,
  ];
  small.takeParsed(50);
  heavy.take(0);
  heavy.takeParsed(51);
  assert.throws(() => memory.lease("b").takeParsed(51), /as large as this one/);
  other.takeParsed(50);
  heavy.release();
  const next = memory.lease("b");
  next.takeParsed(1_000);
  // A refused body gives back nothing of another one.
  other.release();
  assert.throws(() => memory.lease("c").takeParsed(51), /as large as this one/);
});

Deno.test("the parsed value of a body counts once, however often it is parsed", () => {
  const memory = new BodyMemory(100);
  const bytes = new TextEncoder().encode("[]");
  const { cost } = measureJson(bytes);
  const tight = new BodyMemory(2 * cost).lease("a");
  assert.deepEqual([parseJson(bytes, tight), parseJson(bytes, tight)], [[], []]);
  const lease = memory.lease("a");
  lease.takeParsed(50);
  lease.takeParsed(50);
  memory.lease("b").take(50);
  assert.throws(() => memory.lease("c").take(1), /being processed/);
});

Deno.test("a body is refused before it is parsed if there is no room for its parsed value", () => {
  const memory = new BodyMemory(10_000);
  const objects = new TextEncoder().encode(`[${Array(50).fill("{}").join(",")}]`);
  assert.ok(measureJson(objects).cost > 20 * objects.length);
  const first = memory.lease("a");
  parseJson(objects, first);
  assert.throws(() => parseJson(objects, memory.lease("a")), { code: "SERVICE_UNAVAILABLE" });
  first.release();
  parseJson(objects, memory.lease("a"));
});

Deno.test("brackets, commas and quotes in strings count as text", () => {
  const costOf = (text: string) => measureJson(new TextEncoder().encode(text)).cost;
  assert.equal(costOf('["[{,:}]\\""]'), costOf('["xxxxxx\\""]'));
  assert.deepEqual(measureJson(new TextEncoder().encode('[{"a":["]]"]},[]]')).depth, 3);
});

Deno.test("if too many bodies come at once, some are refused, which leaves room for the others", () => {
  const memory = new BodyMemory(100);
  const leases = Array.from({ length: 10 }, () => memory.lease("a"));
  const isTaken = leases.map(() => true);
  // All of them piece by piece in turn, before any is answered.
  for (let piece = 0; piece < 20; piece += 1) {
    leases.forEach((lease, index) => {
      if (!isTaken[index]) return;
      try {
        lease.take(1);
      } catch {
        isTaken[index] = false;
      }
    });
  }
  // Each has 20: two fit into half.
  assert.equal(isTaken.filter(Boolean).length, 2);
});

/** Requests whose bodies do not arrive: each holds its memory until `end`. */
async function lateBodies(
  count: number,
  { head, memory }: { readonly head: string; readonly memory: BodyMemory },
) {
  const refused: string[] = [];
  let arrived = 0;
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    arrived += 1;
    const lease = memory.lease("somebody");
    try {
      await readBody(request, { limit: LIMIT_OF_MANY, lease });
    } catch (error) {
      refused.push((error as ServiceError).code);
    } finally {
      lease.release();
    }
    return new Response();
  });
  const connections: Deno.TcpConn[] = [];
  for (let index = 0; index < count; index += 1) {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port: server.addr.port });
    connection.setNoDelay();
    connections.push(connection);
    await connection.write(new TextEncoder().encode(`POST / HTTP/1.1\r\nHost: a\r\n${head}`));
  }
  while (arrived < count) await new Promise((next) => setTimeout(next, 5));
  return {
    connections,
    refused,
    async end() {
      for (const connection of connections) connection.close();
      await server.shutdown();
    },
  };
}

const LIMIT_OF_MANY = 1_048_576;

for (
  const [what, head, each] of [
    ["small body", declared(100), WAITING_BYTES + 200],
    ["large body", `${declared(1_000_000)}{`, WAITING_BYTES + 2 * 16_384],
    ["body without a declared length", `${CHUNKED}\r\n${chunk(1)}`, WAITING_BYTES + 2 * 16_384],
  ] as const
) {
  Deno.test(`a request that waits for its ${what} counts, and a holder with too many of them is refused with 503`, async () => {
    // One holder can take half of it.
    const memory = new BodyMemory(2 * 5 * each);
    const late = await lateBodies(8, { head, memory });
    while (late.refused.length < 3) await new Promise((next) => setTimeout(next, 5));
    assert.deepEqual(late.refused, Array(3).fill("SERVICE_UNAVAILABLE"));
    assert.throws(() => memory.lease("somebody").take(1), /of your large requests/);
    memory.lease("another").take(each);
    await late.end();
    // All of it is free again.
    memory.lease("somebody").take(5 * each);
  });
}

Deno.test("after its body has arrived a request counts for no more than the body", async () => {
  for (const length of [0, 10, 16_384, 16_385, 100_000]) {
    const lease = new BodyMemory(10_000_000).lease("somebody");
    const body = new ReadableStream({
      type: "bytes",
      start(controller) {
        if (length > 0) controller.enqueue(new Uint8Array(length));
        controller.close();
      },
    });
    const headers = { "Content-Length": String(length) };
    const request = new Request("http://a/", { method: "POST", body, headers });
    assert.equal((await readBody(request, { limit: LIMIT_OF_MANY, lease })).length, length);
    assert.ok(lease.taken >= 2 * length && lease.taken <= 2 * length + 200, `${length}: ${lease.taken}`);
  }
});

Deno.test("a body that arrives byte by byte takes no more memory than one that arrives at once", async () => {
  const before = Deno.memoryUsage();
  const memory = new BodyMemory(100_000_000);
  const late = await lateBodies(10, { head: declared(1_000_000), memory });
  for (let count = 0; count < 300; count += 1) {
    for (const connection of late.connections) await connection.write(new Uint8Array([32]));
    await new Promise((next) => setTimeout(next, 1));
  }
  const after = Deno.memoryUsage();
  // 3,000 pieces of 64 KiB each would be 190 MiB.
  const taken = after.external + after.heapUsed - before.external - before.heapUsed;
  assert.ok(taken < 40 * 1_048_576, `${taken}`);
  await late.end();
  assert.deepEqual(late.refused, Array(10).fill("INVALID_JSON"));
});

Deno.test("a single body of any length and cost is accepted, however it arrives", () => {
  const half = BODY_MEMORY_BYTES / 2;
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: BATCH_BODY_LIMIT_BYTES }),
      // The parsed value takes at most 33 times the bytes. Values near half of the memory are tried more
      // often.
      fc.oneof(
        fc.integer({ min: 0, max: 40 * BATCH_BODY_LIMIT_BYTES }),
        fc.integer({ min: half - 2e7, max: half }),
      ),
      fc.array(fc.integer({ min: 1, max: 1_000 }), { maxLength: 20 }),
      fc.boolean(),
      (length, cost, parts, startsAsStranger) => {
        const lease = new BodyMemory(BODY_MEMORY_BYTES).lease(startsAsStranger ? "stranger" : "a");
        lease.take(WAITING_BYTES);
        const sum = parts.reduce((one, other) => one + other, 0);
        for (const part of parts) lease.take(Math.round(2 * length * part / sum));
        lease.giveBack(WAITING_BYTES);
        lease.holder = "a";
        lease.takeParsed(cost);
        lease.release();
      },
    ),
    { numRuns: 2_000 },
  );
});
