/**
 * The listener: serves the application on a real port, plain or with TLS. It accepts connections itself, so
 * it can bound their number and survive a lack of file descriptors. It drains before it closes.
 */
import { type Accepted, type Acceptor, listenPlain } from "./acceptor.ts";
import { type Bounds, type ConnectionCounts, Connections } from "./connections.ts";
import { connectionServer, type ServeConnection } from "./deno_connection.ts";
import type { Client } from "./exchange.ts";
import { isOutOfDescriptors } from "../operations/shared/start_error.ts";
import { listenTls } from "./tls_relay.ts";

/** Connections that the system queues (its own limit may be lower): a burst of clients is not refused. */
const BACKLOG = 4_096;
/** The longest wait before the next try if no descriptor was free, or no connection could be closed. */
const RETRY_MS = 50;
/** The shortest time between two reports of the same trouble. */
const REPORT_INTERVAL_MS = 60_000;

/** The application that answers requests; it is told who sends them. */
export interface Application {
  readonly fetch: (request: Request, client: Client) => Response | Promise<Response>;
}

export interface Address {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
}

export interface AnswerOptions {
  readonly bounds: Bounds;
  readonly counts: ConnectionCounts;
  /**
   * Called, at most once a minute, if connections cannot be accepted, for example without free descriptors.
   */
  readonly onFailure: (error: unknown) => void;
  /** Called, at most once a minute, if a connection is closed to make room. */
  readonly onCrowded: () => void;
  /** Called, at most once a minute, if there is no room and no connection can be closed: new ones wait. */
  readonly onStuck: () => void;
  /** Called, at most once a minute, if another process on this machine connects to the inner TLS listener. */
  readonly onStranger: () => void;
}

export type ListenOptions = Address & AnswerOptions;

/** An address that only this process listens on. The system lets clients wait until the process answers. */
export interface Claim {
  readonly url: string;
  /** Starts to answer. */
  answer(app: Application, options: AnswerOptions): Listener;
  /** Gives up the address instead of answering. */
  release(): void;
}

export interface Listener {
  /** For example `http://127.0.0.1:8080`, with the port that was picked. */
  readonly url: string;
  readonly port: number;
  /** Waits for the requests in flight, then closes every connection. */
  shutdown(): Promise<void>;
}

/** Claims the address and answers at once. @throws the same errors as {@link claim}. */
export function listen(app: Application, options: ListenOptions): Listener {
  return claim(options).answer(app, options);
}

/**
 * Claims an address, before anything is changed that only the process at that address may change.
 * @throws {Deno.errors.AddrInUse} and similar errors if the address is not available; {UnsuitableDeno}.
 */
export function claim({ host, port, tls }: Address): Claim {
  const serveConnection = connectionServer();
  const address = { hostname: host, port, tcpBacklog: BACKLOG };
  let reportStranger = () => {};
  const acceptor = tls === null
    ? listenPlain(address)
    : listenTls({ ...address, ...tls, onStranger: () => reportStranger() });
  const name = host.includes(":") ? `[${host}]` : host;
  const url = `${tls === null ? "http" : "https"}://${name}:${acceptor.addr.port}`;
  return {
    url,
    answer(app, options) {
      const connections = new Connections(options.bounds, options.counts);
      reportStranger = limitReports(connections, options.onStranger);
      return answerOn(app, { acceptor, connections, serveConnection, url, options });
    },
    release: () => acceptor.close(),
  };
}

interface AnswerContext {
  readonly acceptor: Acceptor;
  readonly connections: Connections;
  readonly serveConnection: ServeConnection;
  readonly url: string;
  readonly options: Pick<AnswerOptions, "onFailure" | "onCrowded" | "onStuck">;
}

function answerOn(
  app: Application,
  { acceptor, connections, serveConnection, url, options }: AnswerContext,
): Listener {
  const reportFailure = limitReports(connections, options.onFailure);
  const reportCrowded = limitReports(connections, options.onCrowded);
  const reportStuck = limitReports(connections, options.onStuck);
  let inFlight = 0;
  let stopping = false;
  let closed = false;
  const idle = Promise.withResolvers<void>();

  const answer = async (request: Request, client: Required<Client>) => {
    inFlight += 1;
    client.beginServiceTurn();
    try {
      return await app.fetch(request, client);
    } finally {
      client.beginClientTurn();
      inFlight -= 1;
      if (stopping && inFlight === 0) idle.resolve();
    }
  };
  const admit = async (accepted: Accepted) => {
    while (connections.isFull && !closed) {
      const room = connections.closeMostOverdue();
      if (room === null) reportStuck();
      else reportCrowded();
      await waitBriefly(room);
    }
    if (closed) return accepted.close();
    try {
      connections.add(accepted.hostname, (connection) =>
        accepted.serve(
          serveConnection,
          (request) => answer(request, connection.beginRequest()),
          () => connection.onAnswerTaken(),
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
        reportFailure(error);
        await waitBriefly(isOutOfDescriptors(error) ? connections.closeMostOverdue() : null);
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

/** Waits for `room`, but at most {@link RETRY_MS}; waits that long if `room` is null. */
async function waitBriefly(room: Promise<void> | null): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, RETRY_MS);
  await (room === null ? late.promise : Promise.race([room, late.promise]));
  clearTimeout(timer);
}

/** Whether the client reset its connection before it was accepted: this is not reported. */
function isClientGone(error: unknown): boolean {
  return error instanceof Deno.errors.NotConnected || error instanceof Deno.errors.ConnectionReset ||
    error instanceof Deno.errors.ConnectionAborted;
}

/** Limits a report to one in {@link REPORT_INTERVAL_MS}: the same trouble comes with each connection. */
function limitReports<Details extends unknown[]>(
  connections: Connections,
  report: (...details: Details) => void,
): (...details: Details) => void {
  let quietUntil = 0;
  return (...details) => {
    if (connections.now < quietUntil) return;
    quietUntil = connections.now + REPORT_INTERVAL_MS;
    report(...details);
  };
}
