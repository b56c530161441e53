import assert from "node:assert/strict";
import { ServiceError } from "../../src/domain/errors.ts";
import { readBody } from "../../src/http/body.ts";
import { BodyMemory } from "../../src/http/body_memory.ts";

const LIMIT = 1000;
const within = () => ({ limit: LIMIT, lease: new BodyMemory(LIMIT).lease() });

type Read = { readonly length: number } | { readonly code: string } | { readonly refused: string };

/** What a body is read as by a real server that got exactly this on its socket. */
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

/** What the server itself answers; nothing where the request was handed on. */
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

Deno.test("a body of exactly the limit is read, one byte more is not, whether or not it declares its length", async () => {
  assert.deepEqual(await readOf(declared(LIMIT) + body(LIMIT)), { length: LIMIT });
  assert.deepEqual(await readOf(declared(LIMIT + 1) + body(LIMIT + 1)), { code: "PAYLOAD_TOO_LARGE" });
  assert.deepEqual(await readOf(`${CHUNKED}\r\n${chunk(LIMIT - 1)}${chunk(1)}0\r\n\r\n`), { length: LIMIT });
  assert.deepEqual(await readOf(`${CHUNKED}\r\n${chunk(LIMIT)}${chunk(1)}`), { code: "PAYLOAD_TOO_LARGE" });
});

Deno.test("a chunked body that declares a length as well does not get as far as being read", async () => {
  for (const head of [`${CHUNKED}${declared(5)}`, `Content-Length: 5\r\n${CHUNKED}\r\n`]) {
    assert.deepEqual(await readOf(`${head}${chunk(LIMIT)}${chunk(1)}`), { refused: "HTTP/1.1 400" }, head);
  }
});

Deno.test("what comes past the declared length is no part of the body", async () => {
  assert.deepEqual(await readOf(`${declared(3)}abcPOST`), { length: 3 });
});

Deno.test("a body without a byte is read as such", async () => {
  assert.deepEqual(await readOf(declared(0)), { length: 0 });
  assert.deepEqual(await readOf("\r\n"), { length: 0 });
});

Deno.test("a body that breaks off is no JSON, whether or not it declares its length", async () => {
  assert.deepEqual(await readOf(declared(10) + body(9), { ends: true }), { code: "INVALID_JSON" });
  assert.deepEqual(await readOf(`${CHUNKED}\r\n${chunk(9)}`, { ends: true }), { code: "INVALID_JSON" });
});

Deno.test("in memory a body that is longer than it declares is held to the limit all the same", async () => {
  const request = (length: number) =>
    new Request("http://a/", { method: "POST", body: body(length), headers: { "Content-Length": "5" } });
  assert.equal((await readBody(request(LIMIT), within())).length, LIMIT);
  await assert.rejects(readBody(request(LIMIT + 1), within()), { code: "PAYLOAD_TOO_LARGE" });
});
