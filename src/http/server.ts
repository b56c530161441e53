/**
 * The listener: the application on a real port, plain or with TLS. It accepts connections itself, so that it bounds them
 * and outlives a want of descriptors, and drains before it closes.
 */
import { type Accepted, type Acceptor, listenPlain } from "./acceptor.ts";
import { type Bounds, type ConnectionCounts, Connections } from "./connections.ts";
import { connectionServer, type ServeConnection } from "./deno_connection.ts";
import type { Client } from "./exchange.ts";
import { isWantOfDescriptors } from "../operations/shared/start_error.ts";
import { listenTls } from "./tls_relay.ts";

/** Connections that the system holds until they are accepted, as far as it does: a burst of clients is not turned away. */
const BACKLOG = 4_096;
/** How long to wait at most before trying again where there was no descriptor, or nobody who could make room. */
const RETRY_MS = 50;
/** How often, at most, the same trouble is told. */
const TELL_MS = 60_000;

/** What answers requests; it is told who sends them. */
export interface Answering {
  readonly fetch: (request: Request, client: Client) => Response | Promise<Response>;
}

export interface Address {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
}

export interface AnswerOptions {
  readonly bounds: Bounds;
  readonly counts: ConnectionCounts;
  /** Told once in a while where connections cannot be accepted, for want of descriptors say. */
  readonly onFailure: (error: unknown) => void;
  /** The same where somebody has to make room. */
  readonly onCrowded: () => void;
  /** The same where nobody can be made to: newcomers wait. */
  readonly onStuck: () => void;
  /** The same where somebody else of this machine connects to where TLS ends. */
  readonly onStranger: () => void;
}

export type ListenOptions = Address & AnswerOptions;

/** An address that this process has for itself. The system keeps whoever connects waiting until somebody answers. */
export interface Claim {
  readonly url: string;
  /** Starts to answer. */
  answer(app: Answering, options: AnswerOptions): Listener;
  /** Gives the address up, in place of answering. */
  release(): void;
}

export interface Listener {
  /** `http://127.0.0.1:8080`, with the port that was picked. */
  readonly url: string;
  readonly port: number;
  /** Waits for the requests in flight, then closes every connection. */
  shutdown(): Promise<void>;
}

/** Claims the address and answers at once. @throws as {@link claim}. */
export function listen(app: Answering, options: ListenOptions): Listener {
  return claim(options).answer(app, options);
}

/**
 * Claims an address before anything is changed that only its owner may change.
 * @throws {Deno.errors.AddrInUse} and its like where the address cannot be had; {UnsuitableDeno}.
 */
export function claim({ host, port, tls }: Address): Claim {
  const serveConnection = connectionServer();
  const address = { hostname: host, port, tcpBacklog: BACKLOG };
  let tellStranger = () => {};
  const acceptor = tls === null
    ? listenPlain(address)
    : listenTls({ ...address, ...tls, onStranger: () => tellStranger() });
  const name = host.includes(":") ? `[${host}]` : host;
  const url = `${tls === null ? "http" : "https"}://${name}:${acceptor.addr.port}`;
  return {
    url,
    answer(app, options) {
      const connections = new Connections(options.bounds, options.counts);
      tellStranger = seldom(connections, options.onStranger);
      return answerOn(app, { acceptor, connections, serveConnection, url, options });
    },
    release: () => acceptor.close(),
  };
}

interface Answers {
  readonly acceptor: Acceptor;
  readonly connections: Connections;
  readonly serveConnection: ServeConnection;
  readonly url: string;
  readonly options: Pick<AnswerOptions, "onFailure" | "onCrowded" | "onStuck">;
}

function answerOn(
  app: Answering,
  { acceptor, connections, serveConnection, url, options }: Answers,
): Listener {
  const tellFailure = seldom(connections, options.onFailure);
  const tellCrowded = seldom(connections, options.onCrowded);
  const tellStuck = seldom(connections, options.onStuck);
  let inFlight = 0;
  let stopping = false;
  let closed = false;
  const idle = Promise.withResolvers<void>();

  const answer = async (request: Request, client: Required<Client>) => {
    inFlight += 1;
    client.waits();
    try {
      return await app.fetch(request, client);
    } finally {
      client.isWaitedFor();
      inFlight -= 1;
      if (stopping && inFlight === 0) idle.resolve();
    }
  };
  const admit = async (accepted: Accepted) => {
    while (connections.isFull && !closed) {
      const room = connections.closeLongest();
      if (room === null) tellStuck();
      else tellCrowded();
      await soon(room);
    }
    if (closed) return accepted.close();
    try {
      connections.add(accepted.hostname, (connection) =>
        accepted.serve(
          serveConnection,
          (request) => answer(request, connection.request()),
          () => connection.took(),
        ));
    } catch (error) {
      accepted.close();
      throw error;
    }
  };
  const acceptAll = async () => {
    while (!closed) {
      try {
        await admit(await acceptor.accept());
      } catch (error) {
        if (closed) return;
        if (isClientGone(error)) continue;
        tellFailure(error);
        await soon(isWantOfDescriptors(error) ? connections.closeLongest() : null);
      }
    }
  };

  acceptAll();
  return {
    url,
    port: acceptor.addr.port,
    async shutdown() {
      stopping = true;
      if (inFlight > 0) await idle.promise;
      closed = true;
      acceptor.close();
      await connections.finish();
    },
  };
}

/** Waits for what makes room, but never for long. */
async function soon(room: Promise<void> | null): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, RETRY_MS);
  await (room === null ? late.promise : Promise.race([room, late.promise]));
  clearTimeout(timer);
}

/** A client that reset its connection before it was accepted is nobody's trouble but its own. */
function isClientGone(error: unknown): boolean {
  return error instanceof Deno.errors.NotConnected || error instanceof Deno.errors.ConnectionReset ||
    error instanceof Deno.errors.ConnectionAborted;
}

/** The same trouble comes with each connection: whoever reads the log is told of it once in a while. */
function seldom<Told extends unknown[]>(
  connections: Connections,
  tell: (...told: Told) => void,
): (...told: Told) => void {
  let quietUntil = 0;
  return (...told) => {
    if (connections.now < quietUntil) return;
    quietUntil = connections.now + TELL_MS;
    tell(...told);
  };
}
