/**
 * Receivers that write their answers over TLS by hand, or none at all: answers that no correct server gives.
 */
import { certificate, type Certified } from "./receiver.ts";

/** One connection to a receiver, after a request was read from it. */
export interface Exchange {
  /** The lines before the body, and the body. */
  readonly request: string;
  /** The number of the request on its connection, from 1. */
  readonly nth: number;
  /** Sends text or bytes. @throws if the other side has closed. */
  send(data: string | Uint8Array): Promise<void>;
  /** Resolves when the other side has closed. */
  closed(): Promise<void>;
}

export interface RawReceiver {
  readonly port: number;
  /** Connections that were accepted. */
  readonly connections: number;
  readonly requests: readonly string[];
  close(): Promise<void>;
}

/** The answer to a request; the connection is kept open for another if it returns "keep". */
export type Answering = (exchange: Exchange) => Promise<"keep" | void>;

export interface RawOptions {
  readonly hostname?: string;
  readonly port?: number;
  readonly certified?: Certified;
}

export async function openRawReceiver(answer: Answering, options: RawOptions = {}): Promise<RawReceiver> {
  const { hostname = "127.0.0.1", port = 0, certified } = options;
  const { cert, key } = certified ?? await certificate();
  return serving(Deno.listenTls({ hostname, port, cert, key }), answer);
}

/** Accepts connections and never sends anything; `said` holds what came in, as Latin-1. */
export function openSilentReceiver(): RawReceiver & { readonly said: string } {
  let said = "";
  const receiver = accepting(Deno.listen({ hostname: "127.0.0.1", port: 0 }), async (connection) => {
    for await (const chunk of connection.readable) said += latin1(chunk);
  });
  return {
    port: receiver.port,
    get connections() {
      return receiver.connections;
    },
    requests: [],
    get said() {
      return said;
    },
    close: receiver.close,
  };
}

function latin1(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}

function serving(listener: Deno.Listener<Deno.TcpConn | Deno.TlsConn>, answer: Answering): RawReceiver {
  const requests: string[] = [];
  const receiver = accepting(listener, async (connection) => {
    const read = requestsOf(connection);
    for (let nth = 1;; nth++) {
      const request = await read();
      if (request === null) return;
      requests.push(request);
      const kept = await answer({
        request,
        nth,
        async send(data) {
          const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
          for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
        },
        async closed() {
          while (await read() !== null);
        },
      });
      if (kept !== "keep") return;
    }
  });
  return {
    port: receiver.port,
    get connections() {
      return receiver.connections;
    },
    requests,
    close: receiver.close,
  };
}

/**
 * Reads one request after another, each with a body of its Content-Length; null if the other side has closed.
 */
function requestsOf(connection: Deno.Conn): () => Promise<string | null> {
  const buffer = new Uint8Array(65_536);
  let text = "";
  return async () => {
    for (;;) {
      const head = text.indexOf("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (head >= 0 && text.length >= head + 4 + length) {
        const request = text.slice(0, head + 4 + length);
        text = text.slice(request.length);
        return request;
      }
      const read = await connection.read(buffer);
      if (read === null) return null;
      text += latin1(buffer.subarray(0, read));
    }
  };
}

/** Accepts connections until it is closed; a failure on one of them ends that one. */
function accepting(
  listener: Deno.Listener<Deno.TcpConn | Deno.TlsConn>,
  serve: (connection: Deno.TcpConn | Deno.TlsConn) => Promise<void>,
): { readonly port: number; readonly connections: number; close(): Promise<void> } {
  const open = new Set<Deno.Conn>();
  const serving = new Set<Promise<void>>();
  let connections = 0;
  const shut = (connection: Deno.Conn) => {
    open.delete(connection);
    try {
      connection.close();
    } catch {
      // It is already.
    }
  };
  const accepted = (async () => {
    for await (const connection of listener) {
      connections += 1;
      open.add(connection);
      const served = serve(connection).catch(() => {}).finally(() => {
        shut(connection);
        serving.delete(served);
      });
      serving.add(served);
    }
  })();
  return {
    port: (listener.addr as Deno.NetAddr).port,
    get connections() {
      return connections;
    },
    async close() {
      listener.close();
      for (const connection of [...open]) shut(connection);
      await accepted;
      await Promise.all(serving);
    },
  };
}
