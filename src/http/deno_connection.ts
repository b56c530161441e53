/**
 * Deno's HTTP server on one connection: it does what `Deno.serve` does with each accepted connection.
 *
 * `Deno.serve` cannot close a connection and does not bound their number; this is the same server with a
 * handle for each connection. Deno has it for its own tests, outside its documented interface, so a later
 * Deno may lack it: then the start fails and says so. Nothing else uses Deno's internals.
 * docs/understand/performance.md compares the alternatives.
 */

/** This version of Deno lacks the function that the listener needs. */
export class UnsuitableDeno extends Error {
  override readonly name = "UnsuitableDeno";
}

export type Handler = (request: Request) => Promise<Response>;
/** Serves HTTP on a connection, which is plain or has finished its TLS handshake. */
export type ServeConnection = (connection: Deno.Conn, handler: Handler) => ServedConnection;

export interface ServedConnection {
  /** Settles once either side has closed it. */
  readonly closed: Promise<void>;
  /** Closes it at once, even if requests are in flight. */
  close(): void;
  /** Closes it once the requests in flight are answered. After this call it cannot be closed at once. */
  finish(): void;
}

interface Served {
  readonly finished: Promise<void>;
  shutdown(): Promise<void>;
}

/** The part of an AbortSignal that the server uses. */
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

/** @throws {UnsuitableDeno} if this version of Deno lacks the function. */
export function connectionServer(): ServeConnection {
  const serveOn = denoInternals()?.serveHttpOnConnection;
  if (typeof serveOn !== "function") {
    throw new UnsuitableDeno(
      `Deno ${Deno.version.deno} cannot serve single connections, as Deno 2.9.6 can: run JISS on that version`,
    );
  }
  return (connection, handler) => serve(serveOn as ServeOnConnection, connection, handler);
}

function denoInternals(): Record<string, unknown> | undefined {
  return Reflect.get(Deno, Reflect.get(Deno, "internal"));
}

function serve(serveOn: ServeOnConnection, connection: Deno.Conn, handler: Handler): ServedConnection {
  let cancel = () => {};
  // Not an AbortSignal: if the connection is just ending, its listener throws, which would end the program.
  const signal: Cancellation = { addEventListener: (_type, listener) => cancel = listener };
  const served = serveOn(connection, signal, handler, () => new Response(null, { status: 500 }), () => {});
  return {
    closed: served.finished.catch(() => {}),
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
