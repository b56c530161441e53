/** The listener: the application on a real port, plain or with TLS, that drains before it closes. */

/** How long to wait before listening again after the listener failed, for want of descriptors say. */
const RELISTEN_MS = 200;

/** What answers requests; it is told who sends them. */
export interface Answering {
  readonly fetch: (request: Request, environment: { readonly peer: string }) => Response | Promise<Response>;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** Told each time the listener failed and is set up again. */
  readonly onFailure: (error: unknown) => void;
}

export interface Listener {
  /** `http://127.0.0.1:8080`, with the port that was picked. */
  readonly url: string;
  readonly port: number;
  /** Waits for the requests in flight, then closes every connection. */
  shutdown(): Promise<void>;
}

/** Starts to listen. @throws {Deno.errors.AddrInUse} and its like where the address cannot be had. */
export function listen(app: Answering, { host, port, tls, onFailure }: ListenOptions): Listener {
  let inFlight = 0;
  let stopping = false;
  const idle = Promise.withResolvers<void>();

  const handle = async (request: Request, info: Deno.ServeHandlerInfo<Deno.NetAddr>) => {
    inFlight += 1;
    try {
      return await app.fetch(request, { peer: info.remoteAddr.hostname });
    } finally {
      inFlight -= 1;
      if (stopping && inFlight === 0) idle.resolve();
    }
  };
  const serveOn = (chosen: number) => {
    const started = Deno.serve({ hostname: host, port: chosen, onListen: () => {}, ...(tls ?? {}) }, handle);
    started.finished.catch(relisten);
    return started;
  };
  // Where descriptors run out, accept fails and Deno's server ends: it is set up again on the same port.
  const relisten = async (error: unknown) => {
    onFailure(error);
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, RELISTEN_MS));
      if (stopping) return;
      try {
        server = serveOn(address.port);
        return;
      } catch {
        // Descriptors are still short, or the old socket is not yet gone.
      }
    }
  };

  let server = serveOn(port);
  const address = server.addr;
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    url: `${tls === null ? "http" : "https"}://${name}:${address.port}`,
    port: address.port,
    async shutdown() {
      stopping = true;
      if (inFlight > 0) await idle.promise;
      await server.shutdown();
    },
  };
}
