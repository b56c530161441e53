/**
 * Bytes on a socket in place of a request: broken lines, heads without end, bodies that contradict their
 * lengths, several requests at once, and text that is no text. Each is sent on a connection of its own.
 */
import fc from "fast-check";
import { joined } from "./altered_files.ts";

export interface RawRequest {
  readonly bytes: Uint8Array;
  /** How many answers must come; null: any number, but no failure. */
  readonly answers: number | null;
}

export interface RawAnswers {
  readonly statuses: readonly number[];
  /** The faults of the answers. */
  readonly problems: readonly string[];
}

const encoder = new TextEncoder();
/** Text whose characters are bytes. */
const latin = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0) & 255);

/** Until the expected answers have come, or nothing more will. */
const OWED_MS = 5_000;
const UNOWED_MS = 200;
const ANSWER = /HTTP\/1\.1 (\d{3})[^\r\n]*\r\n([^]*?)\r\n\r\n/g;

const BODIES: readonly Uint8Array[] = [
  latin('{"operator_id":"\xff\xfe","outcome_correct":true}'),
  latin('\xef\xbb\xbf{"operator_id":"x"}'),
  encoder.encode('{"operator_id":"x","operator_id":7,"operator_id":null}'),
  encoder.encode(`{"payload":${"[".repeat(100_000)}`),
  encoder.encode(`{"operator_id":${"9".repeat(50_000)}}`),
  encoder.encode(`{"operator_id":1e${"9".repeat(500)}}`),
  encoder.encode('{"operator_id":"\\ud800"}'),
  encoder.encode('{"__proto__":{"operator_id":"x"}}'),
  encoder.encode(`"${"\\u0000".repeat(10_000)}"`),
  encoder.encode(" ".repeat(300_000)),
  latin("\x00".repeat(1_000)),
  latin("\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80"),
];

const body = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...BODIES) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }) },
);

const post = (path: string, key: string, headers: readonly string[]) =>
  latin([`POST ${path} HTTP/1.1`, "Host: x", `X-API-Key: ${key}`, ...headers, "", ""].join("\r\n"));

const GET = latin("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
const LAST_GET = latin("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");

/** A longer body comes in longer chunks. */
const CHUNKS_AT_MOST = 1_000;

function chunked(data: Uint8Array, sizes: readonly number[]): Uint8Array {
  const chunks: Uint8Array[] = [];
  const least = Math.ceil(data.length / CHUNKS_AT_MOST);
  for (let at = 0, index = 0; at < data.length; index += 1) {
    const piece = data.subarray(at, at + Math.max(least, sizes[index % sizes.length]!));
    chunks.push(latin(`${piece.length.toString(16)};x=y\r\n`), piece, latin("\r\n"));
    at += piece.length;
  }
  return joined(...chunks, latin("0\r\nTrailer: x\r\n\r\n"));
}

const PATHS = ["/v1/score", "/v1/audit/append", "/v1/maintenance/recommend", "/v1/score/x/commit"];

/** Whole requests, which must be answered, whatever their bodies hold. */
function wholeRequests(key: string): fc.Arbitrary<RawRequest> {
  const path = fc.constantFrom(...PATHS);
  const plain = fc.tuple(path, body).map(([to, data]) =>
    joined(post(to, key, [`Content-Length: ${data.length}`, "Connection: close"]), data)
  );
  const inChunks = fc.tuple(path, body, fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1 })).map((
    [to, data, sizes],
  ) => joined(post(to, key, ["Transfer-Encoding: chunked", "Connection: close"]), chunked(data, sizes)));
  return fc.oneof(plain, inChunks).map((bytes) => ({ bytes, answers: 1 }));
}

/** Several on one connection, each with its answer. */
const pipelined: fc.Arbitrary<RawRequest> = fc.integer({ min: 1, max: 20 }).map((count) => ({
  bytes: joined(...Array.from({ length: count }, () => GET), LAST_GET),
  answers: count + 1,
}));

/** Bytes that no HTTP parser has to accept. */
function brokenRequests(key: string): fc.Arbitrary<Uint8Array> {
  const line = (text: string) => latin(`${text}\r\nHost: x\r\nConnection: close\r\n\r\n`);
  const heads = [
    "GET",
    "GET /",
    "GET / HTTP/9.9",
    "GET / HTTP/1.0",
    "GET  /  HTTP/1.1",
    "G\x00T / HTTP/1.1",
    "GET /\x00 HTTP/1.1",
    "GET /\xff HTTP/1.1",
    "GET http://elsewhere.example/v1 HTTP/1.1",
    "GET * HTTP/1.1",
    "CONNECT x:443 HTTP/1.1",
    "TRACE / HTTP/1.1",
    `GET /${"x".repeat(100_000)} HTTP/1.1`,
    `${"X".repeat(70_000)} / HTTP/1.1`,
    "PRI * HTTP/2.0\r\n\r\nSM",
    "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
  ].map(line);
  const headers = [
    `X: ${"y".repeat(400_000)}`,
    Array.from({ length: 5_000 }, (_, index) => `X-${index}: y`).join("\r\n"),
    "X : y",
    " folded: y",
    "X: a\r\n b",
    "X: \x00",
    "X\xff: \xff",
    "Host: y",
    "Host: a/b?c",
    "Host:",
    "Content-Length: -1",
    "Content-Length: 1e3",
    "Content-Length: 99999999999999999999999",
    "Content-Length: 3\r\nContent-Length: 4",
    "Content-Length: 3\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked, identity",
    "Transfer-Encoding: \x0bchunked",
    "Expect: 100-continue",
    "Expect: x",
    "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings",
    "Upgrade: websocket\r\nConnection: Upgrade",
  ].map((header) => joined(post("/v1/score", key, [header, "Connection: close"]), latin("{}")));
  const chunks = [
    "zz\r\n",
    "-1\r\n{}\r\n",
    `${"f".repeat(40)}\r\n`,
    "2\r\n{}X",
    `1;${"e".repeat(99_999)}\r\n`,
    "5\r\n{}",
  ]
    .map((text) => joined(post("/v1/score", key, ["Transfer-Encoding: chunked"]), latin(text)));
  const short = fc.tuple(body, fc.integer({ min: 1, max: 3_000_000 })).map(([data, more]) =>
    joined(post("/v1/score", key, [`Content-Length: ${data.length + more}`]), data)
  );
  const flipped = fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })).map(([at, mask]) =>
    LAST_GET.map((byte, index) => index === at % LAST_GET.length ? byte ^ mask : byte)
  );
  const cut = fc.nat().map((at) => LAST_GET.subarray(0, at % LAST_GET.length));
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...heads, ...headers, ...chunks) },
    { weight: 1, arbitrary: short },
    { weight: 1, arbitrary: flipped },
    { weight: 1, arbitrary: cut },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 500 }) },
  );
}

export function rawRequests(key: string): fc.Arbitrary<RawRequest> {
  return fc.oneof(
    { weight: 4, arbitrary: wholeRequests(key) },
    { weight: 1, arbitrary: pipelined },
    { weight: 5, arbitrary: brokenRequests(key).map((bytes) => ({ bytes, answers: null })) },
  );
}

/** Sends it and checks the answers. */
export async function sendRaw(
  { hostname, port }: { readonly hostname: string; readonly port: number },
  { bytes, answers }: RawRequest,
): Promise<RawAnswers> {
  const connection = await Deno.connect({ hostname, port });
  const timer = setTimeout(() => connection.close(), answers === null ? UNOWED_MS : OWED_MS);
  const [text] = await Promise.all([
    readAll(connection),
    whileOpen(async () => {
      for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
    }),
  ]);
  clearTimeout(timer);
  await whileOpen(() => Promise.resolve(connection.close()));
  return judged(text, answers);
}

async function readAll(connection: Deno.Conn): Promise<string> {
  const decoder = new TextDecoder("latin1");
  const piece = new Uint8Array(65_536);
  let text = "";
  await whileOpen(async () => {
    for (let got = await connection.read(piece); got !== null; got = await connection.read(piece)) {
      text += decoder.decode(piece.subarray(0, got), { stream: true });
    }
  });
  return text;
}

/**
 * Until either side ends the connection: the service if it refuses the bytes, this side if no more answers
 * are due.
 */
async function whileOpen(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

function isGone(error: unknown): boolean {
  const { BadResource, ConnectionReset, BrokenPipe, Interrupted } = Deno.errors;
  return [BadResource, ConnectionReset, BrokenPipe, Interrupted].some((kind) => error instanceof kind);
}

function judged(text: string, answers: number | null): RawAnswers {
  const found = [...text.matchAll(ANSWER)].filter(([, status]) => status !== "100");
  const statuses = found.map(([, status]) => Number(status));
  const problems = found.flatMap(([whole, status, headers]) => [
    ...(Number(status) >= 500 && !["501", "503", "505"].includes(status!) ? [`status ${status}`] : []),
    ...(Number(status) >= 400 && /^content-type: application\/json/im.test(headers!)
      ? envelopeProblems(text, whole)
      : []),
  ]);
  if (answers !== null && statuses.length !== answers) {
    problems.push(`${statuses.length} answers, not ${answers}`);
  }
  return { statuses, problems };
}

/** Errors with a body carry the envelope. */
function envelopeProblems(text: string, head: string): readonly string[] {
  const body = text.slice(text.indexOf(head) + head.length);
  return body.startsWith('{"error":') && body.includes('"request_id":"')
    ? []
    : [`no envelope: ${body.slice(0, 200)}`];
}
