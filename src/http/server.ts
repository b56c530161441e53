/** The listener: the application on a real port, plain or with TLS. */
import type { App } from "./app.ts";

export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
}

export interface Listener {
  /** `http://127.0.0.1:8080`, with the port that was picked. */
  readonly url: string;
  readonly port: number;
  /** Refuses new connections and waits for the requests in flight. */
  shutdown(): Promise<void>;
}

/** Starts to listen. @throws {Deno.errors.AddrInUse} and its like where the address cannot be had. */
export function listen(app: App, { host, port, tls }: ListenOptions): Listener {
  const server = Deno.serve(
    { hostname: host, port, onListen: () => {}, ...(tls ?? {}) },
    (request, info) => app.fetch(request, { peer: info.remoteAddr.hostname }),
  );
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    url: `${tls === null ? "http" : "https"}://${name}:${server.addr.port}`,
    port: server.addr.port,
    shutdown: () => server.shutdown(),
  };
}
