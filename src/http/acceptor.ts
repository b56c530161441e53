/** Accepts connections: plain ones here, those with TLS in `tls_relay.ts`. */
import type { Handler, ServeConnection, ServedConnection } from "./deno_connection.ts";

export interface Accepted {
  /** The client's address. */
  readonly hostname: string;
  /** @param onTaken - called if the client took a piece of an answer after it had left the server. */
  serve(serve: ServeConnection, handler: Handler, onTaken: () => void): ServedConnection;
  /** Closes the connection instead of serving it. */
  close(): void;
}

export interface Acceptor {
  readonly addr: Deno.NetAddr;
  /** Waits for the next connection; only one call at a time. */
  accept(): Promise<Accepted>;
  close(): void;
}

/** @throws {Deno.errors.AddrInUse} and similar errors if the address is not available. */
export function listenPlain(options: Deno.TcpListenOptions & { tcpBacklog: number }): Acceptor {
  const listener = Deno.listen(options);
  return {
    addr: listener.addr as Deno.NetAddr,
    async accept() {
      const connection = await listener.accept();
      return {
        hostname: (connection.remoteAddr as Deno.NetAddr).hostname,
        serve: (serve, handler) => serve(connection, handler),
        close: () => closeQuietly(connection),
      };
    },
    close: () => listener.close(),
  };
}

/** Closes a connection, which may be closed already. */
export function closeQuietly(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // It is closed already.
  }
}
