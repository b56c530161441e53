/**
 * Deno's HTTP server on one connection: what `Deno.serve` does with each after it accepted it.
 *
 * `Deno.serve` lets nobody close a connection or bound how many there are; this is the same server with a handle on
 * each. Deno keeps it for tests of its own, outside its documented interface, so that a later Deno may lack it: the
 * start then ends and says so, and nothing else touches Deno's inside. docs/understand/performance.md has what the others cost.
 */

/** The program runs on a Deno that lacks what the listener stands on. */
export class UnsuitableDeno extends Error {
  override readonly name = "UnsuitableDeno";
}

export type Handler = (request: Request) => Promise<Response>;
/** Serves HTTP on a connection, which is plain or whose TLS handshake is over. */
export type ServeConnection = (connection: Deno.Conn, handler: Handler) => ServedConnection;

export interface ServedConnection {
  /** Settles once it is closed, by whomever. */
  readonly closed: Promise<void>;
  /** Closes it at once, whatever is on its way. */
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
export function connectionServer(): ServeConnection {
  const serveOn = inside()?.serveHttpOnConnection;
  if (typeof serveOn !== "function") {
    throw new UnsuitableDeno(
      `Deno ${Deno.version.deno} cannot serve single connections, as Deno 2.9.6 can: run JISS on that version`,
    );
  }
  return (connection, handler) => serve(serveOn as ServeOnConnection, connection, handler);
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
