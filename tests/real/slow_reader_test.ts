/**
 * The write-ahead log does not grow while clients of an export have stopped reading; it does grow while a
 * read is held open. Source: platform facts, SQLite inside Deno.
 */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { startWithLongChain } from "../long_chain.ts";
import { environmentOf, programLine, type RunningService } from "../program.ts";

const WAL_LIMIT_BYTES = 32 * 1024 * 1024;
/** Each batch is about 0.7 MB in the write-ahead log. */
const BATCHES = 60;
const CONNECTIONS = 4;

function batchOf(name: string) {
  return {
    operator_id: name,
    domain: "general",
    interactions: Array.from({ length: 100 }, (_, index) => ({
      session_id: `${name}-${index}`,
      time_to_decision_ms: 5_000,
      decision: "accepted",
    })),
  };
}

/** Writes the batches; @returns the largest size of the file meanwhile. */
async function largestWhileWriting(
  service: RunningService,
  { key, name, wal }: { readonly key: string; readonly name: string; readonly wal: string },
): Promise<number> {
  let sent = 0;
  let largest = 0;
  await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
    while (sent < BATCHES) {
      const body = batchOf(`${name}-${sent++}`);
      assert.equal((await service.send("/v1/score/batch", { key, body })).status, 200);
      largest = Math.max(largest, Deno.statSync(wal).size);
    }
  }));
  return largest;
}

Deno.test("clients who stop reading an export do not let the write-ahead log grow: it stays below a quarter of 32 MiB", async () => {
  const { service, key, data, close } = await startWithLongChain({ entries: 8_000, operators: 100 });
  const wal = `${data}/jiss.db-wal`;
  const { hostname, port } = new URL(service.url);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  await connection.write(
    new TextEncoder().encode(
      `GET /v1/audit/chain/export HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nConnection: close\r\n\r\n`,
    ),
  );
  const [program, ...args] = programLine(["export", "--org", "acme"]);
  const command = new Deno.Command(program, {
    args,
    clearEnv: true,
    env: environmentOf({ JISS_DATA_DIR: data }),
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const pipe = command.stdout.getReader();
  // Both exports have begun, and nobody reads the rest.
  const first = await pipe.read();
  assert.ok((await connection.read(new Uint8Array(1_024)))! > 0);

  const largest = await largestWhileWriting(service, { key, name: "beside", wal });
  assert.ok(largest < WAL_LIMIT_BYTES / 4, `${largest} bytes`);

  // They were cut short in the middle: the rest of each export still comes, to its end.
  let length = first.value!.length;
  let end = new Uint8Array();
  for (let piece = await pipe.read(); !piece.done; piece = await pipe.read()) {
    length += piece.value.length;
    end = piece.value;
  }
  assert.equal((await command.status).code, 0);
  assert.match(new TextDecoder().decode(end), /"bundle_sha256":"[0-9a-f]{64}"[^\n]*\n$/);
  const received = await new Response(connection.readable).bytes();
  assert.match(new TextDecoder().decode(received.slice(-2_000)), /"bundle_sha256":"[0-9a-f]{64}"/);
  assert.ok(Math.min(length, received.length) > 2 * 10_000_000, `${length} and ${received.length} bytes`);

  // The control: the same writes while a read is held open.
  const reader = new DatabaseSync(`${data}/jiss.db`);
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM sqlite_schema").get();
  const held = await largestWhileWriting(service, { key, name: "held", wal });
  reader.close();
  assert.ok(held > WAL_LIMIT_BYTES, `${held} bytes`);
  await close();
});
