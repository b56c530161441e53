/** Where connections come from: plain, or with TLS through `tls_relay.ts`. */
import type { Handler, ServeConnection, ServedConnection } from "./deno_connection.ts";

export interface Accepted {
  /** Of the client: its address. */
  readonly hostname: string;
  /** @param onTaken - the client took a piece of what was on its way to it after it had left the server. */
  serve(serve: ServeConnection, handler: Handler, onTaken: () => void): ServedConnection;
  /** In place of serving it. */
  close(): void;
}

export interface Acceptor {
  readonly addr: Deno.NetAddr;
  /** The next connection; one call at a time. */
  accept(): Promise<Accepted>;
  close(): void;
}

/** @throws {Deno.errors.AddrInUse} and its like where the address cannot be had. */
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

/** Closes what may be closed already. */
export function closeQuietly(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // It is.
  }
}
