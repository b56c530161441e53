/**
 * The connections of a listener: how many there may be, and how long each may keep the service waiting. A
 * connection that keeps the service waiting too long is closed. If there are too many, the one that has used
 * up the largest part of its time is closed.
 */
import type { ServedConnection } from "./deno_connection.ts";
import type { Client } from "./exchange.ts";

/** The longest time between two checks for connections that have used up their time, in milliseconds. */
const CHECK_INTERVAL_MS = 1_000;

/** How many connections there may be at once. */
export interface Room {
  /** The largest number, as far as it is known. */
  readonly most: number;
  /** Whether no connection may be added to the `open` ones. */
  isFull(open: number): boolean;
}

export interface Bounds {
  readonly room: Room;
  /** Time from the connection to the whole head of its first request. */
  readonly firstRequestMs: number;
  /** Time to send the next request, to send the rest of a body, or to take the next piece of an answer. */
  readonly clientMs: number;
}

/** Why the service closed connections: no request came, the client went silent later, or room was needed. */
type ClosingCause = "no_request" | "silent" | "crowded";

/** The counts of one listener, for metrics. */
export interface ConnectionCounts {
  open: number;
  readonly closed: Record<ClosingCause, number>;
}

export function noConnections(): ConnectionCounts {
  return { open: 0, closed: { no_request: 0, silent: 0, crowded: 0 } };
}

export class Connections {
  readonly #open = new Set<Connection>();
  readonly #bounds: Bounds;
  readonly #counts: ConnectionCounts;
  readonly #timer: ReturnType<typeof setInterval>;
  /** Milliseconds for a whole body; a silent connection is closed before that. */
  readonly bodyMs: number;
  #now = 0;

  constructor(bounds: Bounds, counts: ConnectionCounts) {
    this.#bounds = bounds;
    this.#counts = counts;
    const step = Math.min(CHECK_INTERVAL_MS, bounds.firstRequestMs / 4, bounds.clientMs / 4);
    this.bodyMs = bounds.clientMs + 2 * step;
    // Time is counted in these steps, so that no request has to ask a clock.
    this.#timer = setInterval(() => {
      this.#now += step;
      this.#closeSilent();
    }, step);
  }

  /** Milliseconds since the start, in whole steps. */
  get now(): number {
    return this.#now;
  }

  /** Whether a connection must be closed before another may be added. */
  get isFull(): boolean {
    return this.#bounds.room.isFull(this.#open.size);
  }

  /** Adds a connection, which `serve` starts to serve. */
  add(peer: string, serve: (connection: Connection) => ServedConnection): void {
    const connection = new Connection(peer, this);
    connection.served = serve(connection);
    this.#open.add(connection);
    this.#counts.open = this.#open.size;
    connection.served.closed.then(() => this.#remove(connection));
  }

  /**
   * Closes the connection that has used up the largest part of its time; settles once it is closed. null if
   * none can be closed.
   */
  closeMostOverdue(): Promise<void> | null {
    let mostOverdue: Connection | null = null;
    let largestShare = -1;
    for (const connection of this.#open) {
      const share = this.#usedShareOfTime(connection);
      if (share > largestShare) [mostOverdue, largestShare] = [connection, share];
    }
    if (mostOverdue === null) return null;
    this.#close(mostOverdue, "crowded");
    return mostOverdue.served!.closed;
  }

  /** Closes each connection once its requests in flight are answered. */
  async finish(): Promise<void> {
    clearInterval(this.#timer);
    const all = [...this.#open].map(({ served }) => served!);
    for (const served of all) served.finish();
    await Promise.all(all.map(({ closed }) => closed));
  }

  #closeSilent(): void {
    for (const connection of this.#open) {
      if (this.#usedShareOfTime(connection) <= 1) continue;
      this.#close(connection, connection.isNew ? "no_request" : "silent");
    }
  }

  /**
   * The part of its time that a client has used up; below 0 if it is the service's turn, or if the connection
   * is being closed.
   */
  #usedShareOfTime({ requestsInWork, isNew, turnChangedAt, isClosing }: Connection): number {
    if (requestsInWork > 0 || isClosing) return -1;
    const { firstRequestMs, clientMs } = this.#bounds;
    return (this.#now - turnChangedAt) / (isNew ? firstRequestMs : clientMs);
  }

  #close(connection: Connection, cause: ClosingCause): void {
    this.#counts.closed[cause] += 1;
    connection.isClosing = true;
    connection.served!.close();
  }

  #remove(connection: Connection): void {
    this.#open.delete(connection);
    this.#counts.open = this.#open.size;
  }
}

/** One connection, and whose turn it is: the client's or the service's. */
export class Connection {
  served: ServedConnection | null = null;
  /** Whether no request has come yet. */
  isNew = true;
  isClosing = false;
  /** Number of its requests that the service is working on; an HTTP/2 client sends several at once. */
  requestsInWork = 0;
  /** When the turn last changed or the client last acted: milliseconds of {@link Connections.now}. */
  turnChangedAt: number;
  readonly #peer: string;
  readonly #connections: Connections;

  constructor(peer: string, connections: Connections) {
    this.#peer = peer;
    this.#connections = connections;
    this.turnChangedAt = connections.now;
  }

  /** Call this when the head of a request has come. */
  beginRequest(): Required<Client> {
    this.isNew = false;
    this.turnChangedAt = this.#connections.now;
    return new RequestClient(this.#peer, this, this.#connections.bodyMs);
  }

  /** Call this when the client has taken a piece of an answer. */
  onAnswerTaken(): void {
    if (!this.isNew) this.turnChangedAt = this.#connections.now;
  }

  changeRequestsInWork(change: 1 | -1): void {
    this.requestsInWork += change;
    this.turnChangedAt = this.#connections.now;
  }
}

class RequestClient implements Required<Client> {
  readonly #connection: Connection;
  #isServiceTurn = false;

  constructor(readonly peer: string, connection: Connection, readonly bodyMs: number) {
    this.#connection = connection;
  }

  beginServiceTurn(): void {
    if (this.#isServiceTurn) return;
    this.#isServiceTurn = true;
    this.#connection.changeRequestsInWork(1);
  }

  beginClientTurn(): void {
    if (!this.#isServiceTurn) return;
    this.#isServiceTurn = false;
    this.#connection.changeRequestsInWork(-1);
  }
}
