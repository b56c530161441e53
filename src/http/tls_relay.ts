/**
 * TLS whose connections can be closed at any time.
 *
 * Deno 2.9.6 frees a socket of `Deno.listenTls` only once its handshake ended, whatever is closed (docs/decisions.md): a
 * client that connects and is silent would keep it for as long as it likes. So clients connect to a plain listener,
 * and each is relayed to a TLS listener on loopback: closing this side of the relay ends the handshake behind it.
 */
import { type Accepted, type Acceptor, closeQuietly } from "./acceptor.ts";
import type { ServedConnection } from "./deno_connection.ts";

const LOOPBACK = "127.0.0.1";
/** What a direction of a silent connection holds; whoever fills it gets twice as much, up to the most. */
const BUFFER_LEAST = 2_048;
const BUFFER_MOST = 65_536;

/** File descriptors that one connection takes: the client's socket and both ends of the one on loopback. */
export const DESCRIPTORS_OF_RELAYED = 3;

export interface TlsListenOptions {
  readonly hostname: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly tcpBacklog: number;
  /** PEM. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
}

/**
 * Connections are served once their handshake is over. A failed `accept` keeps its client for the next one.
 * @throws {Deno.errors.AddrInUse} and its like where the address cannot be had; what is wrong with `cert` and `key`.
 */
export function listenTls({ hostname, port, tcpBacklog, cert, key }: TlsListenOptions): Acceptor {
  const inner = Deno.listenTls({
    hostname: LOOPBACK,
    port: 0,
    tcpBacklog,
    cert,
    key,
    alpnProtocols: ["h2", "http/1.1"],
  });
  const outer = listenBefore(inner, { hostname, port, tcpBacklog });
  const innerPort = portOf(inner.addr);
  let client: Deno.TcpConn | null = null;
  return {
    addr: outer.addr as Deno.NetAddr,
    async accept() {
      // It waits where the rest fails: a want of descriptors in between costs it nothing but time.
      client ??= await outer.accept();
      const near = await Deno.connect({ hostname: LOOPBACK, port: innerPort });
      const far = await acceptFrom(near, inner);
      const relayed = relay(client, near, far);
      client = null;
      return relayed;
    },
    close() {
      outer.close();
      inner.close();
      if (client !== null) closeQuietly(client);
    },
  };
}

function listenBefore(inner: Deno.Listener, options: Deno.TcpListenOptions & { tcpBacklog: number }) {
  try {
    return Deno.listen(options);
  } catch (error) {
    inner.close();
    throw error;
  }
}

/** The other end of `near`: whoever else of this machine connects there is nobody's client. */
async function acceptFrom(near: Deno.TcpConn, inner: Deno.TlsListener): Promise<Deno.TlsConn> {
  try {
    for (;;) {
      const far = await inner.accept();
      if (portOf(far.remoteAddr) === portOf(near.localAddr)) return far;
      closeQuietly(far);
    }
  } catch (error) {
    closeQuietly(near);
    throw error;
  }
}

function portOf(address: Deno.Addr): number {
  return (address as Deno.NetAddr).port;
}

function relay(client: Deno.TcpConn, near: Deno.TcpConn, far: Deno.TlsConn): Accepted {
  for (const socket of [client, near]) setNoDelay(socket);
  const close = () => {
    closeQuietly(client);
    closeQuietly(near);
  };
  let onTaken = () => {};
  const sent = copy(near, client, { done: () => onTaken(), failed: close });
  const relayed = Promise.all([sent, copy(client, near, { done() {}, failed: close })]).then(close);
  return {
    hostname: (client.remoteAddr as Deno.NetAddr).hostname,
    close() {
      close();
      closeQuietly(far);
    },
    serve(serve, handler, taken) {
      onTaken = taken;
      let served: ServedConnection | null = null;
      const over = far.handshake().then(() => {
        served = serve(far, handler);
        return served.closed;
      }).catch(() => closeQuietly(far));
      return {
        // What was answered may still be on its way to the client then, and the client is to be the first to close: a
        // socket that is closed with bytes unread takes back what the client has not received yet (RFC 9112, 9.6).
        closed: over.then(() => relayed),
        close() {
          served?.close();
          close();
        },
        finish() {
          if (served === null) return close();
          served.finish();
          over.then(() => sent).then(close);
        },
      };
    },
  };
}

/** Hands on what comes, and its end; never fails, and says where it cannot go on. */
async function copy(
  from: Deno.TcpConn,
  to: Deno.TcpConn,
  { done, failed }: {
    /** After each piece. */
    readonly done: () => void;
    readonly failed: () => void;
  },
): Promise<void> {
  try {
    let buffer = new Uint8Array(BUFFER_LEAST);
    for (let read = await from.read(buffer); read !== null; read = await from.read(buffer)) {
      for (let written = 0; written < read;) written += await to.write(buffer.subarray(written, read));
      done();
      if (read === buffer.length && read < BUFFER_MOST) buffer = new Uint8Array(2 * read);
    }
    await to.closeWrite();
  } catch {
    failed();
  }
}

function setNoDelay(socket: Deno.TcpConn): void {
  try {
    socket.setNoDelay();
  } catch {
    // Its client is gone.
  }
}
