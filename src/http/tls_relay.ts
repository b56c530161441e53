/**
 * TLS whose connections can be closed at any time.
 *
 * Deno 2.9.6 frees a socket of `Deno.listenTls` only once its handshake ended, whatever is closed (docs/understand/decisions.md): a
 * client that connects and is silent would keep it for as long as it likes. So clients connect to a plain listener,
 * and each is relayed over a connection on loopback to where its TLS ends: closing the relay ends the handshake behind it.
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
  /** Somebody else of this machine connected to where TLS ends. */
  readonly onStranger: () => void;
}

/**
 * Connections are served once their handshake is over. A failed `accept` keeps its client for the next one.
 * @throws {Deno.errors.AddrInUse} and its like where the address cannot be had; what is wrong with `cert` and `key`.
 */
export function listenTls({ hostname, port, tcpBacklog, cert, key, onStranger }: TlsListenOptions): Acceptor {
  const listenInside = () =>
    Deno.listenTls({ hostname: LOOPBACK, port: 0, cert, key, alpnProtocols: ["h2", "http/1.1"] });
  // What is wrong with the certificate is told at the start, and not to the first client.
  listenInside().close();
  const outer = Deno.listen({ hostname, port, tcpBacklog });
  let client: Deno.TcpConn | null = null;
  return {
    addr: outer.addr as Deno.NetAddr,
    async accept() {
      // It waits where the rest fails: a want of descriptors in between costs it nothing but time.
      client ??= await outer.accept();
      const [near, far] = await pairFrom(listenInside(), onStranger);
      const relayed = relay(client, near, far);
      client = null;
      return relayed;
    },
    close() {
      outer.close();
      if (client !== null) closeQuietly(client);
    },
  };
}

/**
 * Both ends of one connection through a listener that is there for nothing else: one that stayed could be filled by
 * anybody on the machine, and would hold whoever connects for as long as they like. Whoever is quicker than the relay
 * itself is served nothing, and holds a descriptor until they leave: the lesser evil (docs/understand/security.md).
 */
async function pairFrom(
  inner: Deno.TlsListener,
  onStranger: () => void,
): Promise<readonly [near: Deno.TcpConn, far: Deno.TlsConn]> {
  let near: Deno.TcpConn | null = null;
  try {
    near = await Deno.connect({ hostname: LOOPBACK, port: (inner.addr as Deno.NetAddr).port });
    for (;;) {
      const far = await inner.accept();
      if (isSame(far.remoteAddr, near.localAddr)) return [near, far];
      closeQuietly(far);
      onStranger();
    }
  } catch (error) {
    if (near !== null) closeQuietly(near);
    throw error;
  } finally {
    inner.close();
  }
}

function isSame(one: Deno.Addr, other: Deno.Addr): boolean {
  const [a, b] = [one, other] as [Deno.NetAddr, Deno.NetAddr];
  return a.hostname === b.hostname && a.port === b.port;
}

function relay(client: Deno.TcpConn, near: Deno.TcpConn, far: Deno.TlsConn): Accepted {
  for (const socket of [client, near]) setNoDelay(socket);
  const close = () => {
    closeQuietly(client);
    closeQuietly(near);
  };
  let onTaken = () => {};
  // A large piece is one of an answer: the client's own doing, as an answered PING, is not to look like one.
  const sent = copy(near, client, {
    done: (bytes) => bytes === BUFFER_MOST && onTaken(),
    failed: close,
  });
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
    readonly done: (bytes: number) => void;
    readonly failed: () => void;
  },
): Promise<void> {
  try {
    let buffer = new Uint8Array(BUFFER_LEAST);
    for (let read = await from.read(buffer); read !== null; read = await from.read(buffer)) {
      for (let written = 0; written < read;) written += await to.write(buffer.subarray(written, read));
      done(read);
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
