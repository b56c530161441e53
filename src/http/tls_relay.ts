/**
 * TLS whose connections can be closed at any time.
 *
 * Deno 2.9.6 frees a socket of `Deno.listenTls` only after its handshake has ended, even if it is closed
 * (docs/understand/decisions.md): a silent client could keep a socket as long as it likes. So clients connect
 * to a plain listener, and each is relayed over a connection on loopback to a TLS listener: closing the relay
 * ends the handshake.
 */
import { type Accepted, type Acceptor, closeQuietly } from "./acceptor.ts";
import type { ServedConnection } from "./deno_connection.ts";

const LOOPBACK = "127.0.0.1";
/** Bytes of the buffer for each direction of a new connection; a full one is doubled, up to the most. */
const BUFFER_LEAST = 2_048;
const BUFFER_MOST = 65_536;

/** File descriptors for one connection: the client's socket and both ends of the loopback connection. */
export const DESCRIPTORS_PER_RELAY = 3;

export interface TlsListenOptions {
  readonly hostname: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly tcpBacklog: number;
  /** PEM. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
  /** Called if another process on this machine connected to the TLS listener on loopback. */
  readonly onStranger: () => void;
}

/**
 * Listens for TLS. Serves connections after their handshake. A failed `accept` keeps its client for the next.
 * @throws {Deno.errors.AddrInUse} and similar errors if the address is not available; Deno's error if `cert`
 *   or `key` is not valid.
 */
export function listenTls({ hostname, port, tcpBacklog, cert, key, onStranger }: TlsListenOptions): Acceptor {
  const listenInside = () =>
    Deno.listenTls({ hostname: LOOPBACK, port: 0, cert, key, alpnProtocols: ["h2", "http/1.1"] });
  // An invalid certificate fails at the start, not at the first client.
  listenInside().close();
  const outer = Deno.listen({ hostname, port, tcpBacklog });
  let client: Deno.TcpConn | null = null;
  return {
    addr: outer.addr as Deno.NetAddr,
    async accept() {
      // The client waits if the rest fails: it loses only time if descriptors run out in between.
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
 * Returns both ends of one connection through a listener that exists for this connection only. Anybody on the
 * machine could fill a permanent listener and keep its connections open. A stranger who connects before the
 * relay does is not served, but holds a descriptor until he leaves: the lesser evil
 * (docs/understand/security.md).
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
      if (isSameAddress(far.remoteAddr, near.localAddr)) return [near, far];
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

function isSameAddress(one: Deno.Addr, other: Deno.Addr): boolean {
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
  // Only a piece of the largest size counts as part of an answer: the reply to a client's PING is smaller.
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
      const ended = far.handshake().then(() => {
        served = serve(far, handler);
        return served.closed;
      }).catch(() => closeQuietly(far));
      return {
        // The answer may still be on its way to the client, so the client must close first: a socket that is
        // closed with unread bytes discards what the client has not received yet (RFC 9112, section 9.6).
        closed: ended.then(() => relayed),
        close() {
          served?.close();
          close();
        },
        finish() {
          if (served === null) return close();
          served.finish();
          ended.then(() => sent).then(close);
        },
      };
    },
  };
}

/** Copies all bytes, and then the end of the stream. Never throws: calls `failed` if it cannot continue. */
async function copy(
  from: Deno.TcpConn,
  to: Deno.TcpConn,
  { done, failed }: {
    /** Called after each piece, with its length in bytes. */
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
    // The client is gone.
  }
}
