/**
 * Clients that send the head of a request and at most a part of its body: over HTTP/1.1, and many on one
 * connection of HTTP/2.
 */

const encoder = new TextEncoder();

async function connectTo(url: string): Promise<Deno.TcpConn> {
  const { hostname, port } = new URL(url);
  return await Deno.connect({ hostname, port: Number(port) });
}

/** If a service closed meanwhile, the bytes that it did not read do not matter. */
async function write(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  try {
    for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe || error instanceof Deno.errors.ConnectionReset) return;
    throw error;
  }
}

export interface LateBody {
  readonly declared: number;
  readonly sent: number;
  /** Without a key the request goes to the public demo. */
  readonly key?: string;
}

/** `count` connections, each with one request whose body does not come. */
export async function lateBodies(
  url: string,
  { count, declared, sent, key }: LateBody & { readonly count: number },
): Promise<readonly Deno.TcpConn[]> {
  const head = [
    `POST ${key === undefined ? "/assessments" : "/v1/score/batch"} HTTP/1.1`,
    "Host: jiss.test",
    "Content-Type: application/json",
    ...(key === undefined ? [] : [`X-API-Key: ${key}`]),
    `Content-Length: ${declared}`,
  ].join("\r\n");
  const bytes = encoder.encode(`${head}\r\n\r\n${`{"note":"${"x".repeat(sent)}`.slice(0, sent)}`);
  const connections: Deno.TcpConn[] = [];
  for (let index = 0; index < count; index += 1) {
    const connection = await connectTo(url);
    connections.push(connection);
    await write(connection, bytes);
  }
  return connections;
}

/** Types of frames (RFC 9113, section 6), and the flag of a complete head. */
const HEADERS = 1;
const SETTINGS = 4;
const END_HEADERS = 4;

function frame(type: number, flags: number, { stream, payload }: { stream: number; payload: Uint8Array }) {
  const bytes = new Uint8Array(9 + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, payload.length << 8);
  view.setUint8(3, type);
  view.setUint8(4, flags);
  view.setUint32(5, stream);
  bytes.set(payload, 9);
  return bytes;
}

/** Fields as literals without an index (RFC 7541, section 6.2.2). */
function fields(pairs: Readonly<Record<string, string>>): Uint8Array {
  const text = Object.entries(pairs)
    .map(([name, value]) =>
      `\0${String.fromCharCode(name.length)}${name}${String.fromCharCode(value.length)}${value}`
    );
  return encoder.encode(text.join(""));
}

/** Connections of HTTP/2, each with `streams` requests whose bodies do not come. */
export async function lateStreams(
  url: string,
  { sessions, streams }: { readonly sessions: number; readonly streams: number },
): Promise<readonly Deno.TcpConn[]> {
  const payload = fields({
    ":method": "POST",
    ":scheme": "http",
    ":path": "/assessments",
    ":authority": "jiss.test",
    "content-type": "application/json",
    "content-length": "1000",
  });
  const pieces = [
    encoder.encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    frame(SETTINGS, 0, { stream: 0, payload: new Uint8Array() }),
    ...Array.from(
      { length: streams },
      (_, index) => frame(HEADERS, END_HEADERS, { stream: 1 + 2 * index, payload }),
    ),
  ];
  const bytes = new Uint8Array(await new Blob(pieces).arrayBuffer());
  const connections: Deno.TcpConn[] = [];
  for (let index = 0; index < sessions; index += 1) {
    const connection = await connectTo(url);
    connections.push(connection);
    await write(connection, bytes);
  }
  return connections;
}
