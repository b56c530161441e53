/**
 * Deno's HTTP server on one connection: what `Deno.serve` does with each after it accepted it.
 *
 * `Deno.serve` lets nobody close a connection or bound how many there are; this is the same server with a handle on
 * each. Deno keeps it for tests of its own, outside its documented interface, so that a later Deno may lack it: the
 * start then ends and says so, and nothing else touches Deno's inside. docs/decisions.md has what the others cost.
 */

/** The program runs on a Deno that lacks what the listener stands on. */
export class UnsuitableDeno extends Error {
  override readonly name = "UnsuitableDeno";
}

export type Handler = (request: Request) => Promise<Response>;

export interface ServedConnection {
  /** Settles once it is closed, by whomever. */
  readonly closed: Promise<void>;
  /** Whether {@link close} has an effect by now. */
  readonly canClose: boolean;
  /** Closes it at once, whatever is on its way; before the end of its TLS handshake, as soon as that ends. */
  close(): void;
  /** Closes it once what is in flight is answered; it cannot be closed at once any more. */
  finish(): void;
}

interface Served {
  readonly finished: Promise<void>;
  shutdown(): Promise<void>;
}

/** What it needs of an AbortSignal. */
interface Cancellation {
  addEventListener(type: "abort", cancel: () => void): void;
}

type ServeOnConnection = (
  connection: Deno.Conn,
  signal: Cancellation,
  handler: Handler,
  onError: (error: unknown) => Response,
  onListen: () => void,
) => Served;

/** @throws {UnsuitableDeno} */
export function connectionServer(): (connection: Deno.Conn, handler: Handler) => ServedConnection {
  const serveOn = inside()?.serveHttpOnConnection;
  if (typeof serveOn !== "function") {
    throw new UnsuitableDeno(
      `Deno ${Deno.version.deno} cannot serve single connections, as Deno 2.9.6 can: run JISS on that version`,
    );
  }
  return (connection, handler) => {
    const start = () => serve(serveOn as ServeOnConnection, connection, handler);
    return isTls(connection) ? serveShaken(connection, start) : start();
  };
}

function inside(): Record<string, unknown> | undefined {
  return Reflect.get(Deno, Reflect.get(Deno, "internal"));
}

function serve(serveOn: ServeOnConnection, connection: Deno.Conn, handler: Handler): ServedConnection {
  let cancel = () => {};
  // Not an AbortSignal: what its listener throws, where the connection is about to end by itself, ends the program.
  const signal: Cancellation = { addEventListener: (_type, listener) => cancel = listener };
  const served = serveOn(connection, signal, handler, () => new Response(null, { status: 500 }), () => {});
  return {
    closed: served.finished.catch(() => {}),
    canClose: true,
    close() {
      try {
        cancel();
      } catch {
        // It is closed already.
      }
    },
    finish() {
      served.shutdown().catch(() => {});
    },
  };
}

function isTls(connection: Deno.Conn): connection is Deno.TlsConn {
  return "handshake" in connection;
}

/**
 * Serves once the TLS handshake is over. Until then Deno 2.9.6 closes the socket for nobody (docs/decisions.md): it is
 * gone when its client leaves, and counts until then.
 */
function serveShaken(connection: Deno.TlsConn, start: () => ServedConnection): ServedConnection {
  let served: ServedConnection | null = null;
  let isUnwanted = false;
  const given = Promise.withResolvers<void>();
  const shaken = connection.handshake().then(() => {
    served = start();
    if (isUnwanted) served.close();
    return served.closed;
  }, () => connection.close());
  return {
    closed: Promise.race([shaken, given.promise]),
    get canClose() {
      return served !== null;
    },
    close() {
      isUnwanted = true;
      served?.close();
    },
    finish() {
      if (served !== null) return served.finish();
      isUnwanted = true;
      given.resolve();
    },
  };
}
