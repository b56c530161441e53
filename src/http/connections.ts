/**
 * The connections of a listener: how many there may be, and how long each may keep the service waiting. Whoever has the
 * service wait too long is closed; where there are too many, whoever used up most of its patience makes room.
 */
import type { ServedConnection } from "./deno_connection.ts";
import type { Client } from "./exchange.ts";

/** How often, at most, it is looked for those who used up their time. */
const LOOK_MS = 1_000;

/** How many connections there may be at once. */
export interface Room {
  /** As far as is known. */
  readonly most: number;
  /** Whether there may be no more than so many, which are open. */
  isFull(open: number): boolean;
}

export interface Bounds {
  readonly room: Room;
  /** From the connection to the whole head of its first request. */
  readonly firstRequestMs: number;
  /** For the next request, for the rest of a body, and for taking the next piece of an answer. */
  readonly clientMs: number;
}

/** Why the service closed connections: no request came, the client went silent later, or room was needed. */
export type ClosingCause = "no_request" | "silent" | "crowded";

/** Of one listener, for metrics. */
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
  /** Milliseconds for a whole body: the connection's own time ends before it. */
  readonly bodyMs: number;
  #now = 0;

  constructor(bounds: Bounds, counts: ConnectionCounts) {
    this.#bounds = bounds;
    this.#counts = counts;
    const step = Math.min(LOOK_MS, bounds.firstRequestMs / 4, bounds.clientMs / 4);
    this.bodyMs = bounds.clientMs + 2 * step;
    // Time is counted in these steps, so that no request has to ask a clock.
    this.#timer = setInterval(() => {
      this.#now += step;
      this.#closeSilent();
    }, step);
  }

  /** Milliseconds since it began, to a step. */
  get now(): number {
    return this.#now;
  }

  /** Whether somebody must leave before another may come. */
  get isFull(): boolean {
    return this.#bounds.room.isFull(this.#open.size);
  }

  /** Takes up a connection that serves itself by `serve`. */
  add(peer: string, serve: (connection: Connection) => ServedConnection): void {
    const connection = new Connection(peer, this);
    connection.served = serve(connection);
    this.#open.add(connection);
    this.#counts.open = this.#open.size;
    connection.served.closed.then(() => this.#remove(connection));
  }

  /** Closes whoever used up most of its time; settles once that is done. null where nobody can be. */
  closeLongest(): Promise<void> | null {
    let longest: Connection | null = null;
    let most = -1;
    for (const connection of this.#open) {
      const impatience = this.#impatience(connection);
      if (impatience > most) [longest, most] = [connection, impatience];
    }
    if (longest === null) return null;
    this.#close(longest, "crowded");
    return longest.served!.closed;
  }

  /** Closes each once what is in flight on it is answered. */
  async finish(): Promise<void> {
    clearInterval(this.#timer);
    const all = [...this.#open].map(({ served }) => served!);
    for (const served of all) served.finish();
    await Promise.all(all.map(({ closed }) => closed));
  }

  #closeSilent(): void {
    for (const connection of this.#open) {
      if (this.#impatience(connection) <= 1) continue;
      this.#close(connection, connection.isNew ? "no_request" : "silent");
    }
  }

  /** The part of its time that a client has used up; below 0 where it is the service's turn, or closed already. */
  #impatience({ owed, isNew, since, isClosing }: Connection): number {
    if (owed > 0 || isClosing) return -1;
    const { firstRequestMs, clientMs } = this.#bounds;
    return (this.#now - since) / (isNew ? firstRequestMs : clientMs);
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

/** One connection, and whose turn it is on it. */
export class Connection {
  served: ServedConnection | null = null;
  /** Whether no request came yet. */
  isNew = true;
  isClosing = false;
  /** Requests on it that the service is busy with; a client of HTTP/2 sends several at once. */
  owed = 0;
  /** When the client last did what was waited for. */
  since: number;
  readonly #peer: string;
  readonly #connections: Connections;

  constructor(peer: string, connections: Connections) {
    this.#peer = peer;
    this.#connections = connections;
    this.since = connections.now;
  }

  /** The head of a request came. */
  request(): Required<Client> {
    this.isNew = false;
    this.since = this.#connections.now;
    return new RequestClient(this.#peer, this, this.#connections.bodyMs);
  }

  /** The client took a piece of an answer. */
  took(): void {
    if (!this.isNew) this.since = this.#connections.now;
  }

  turn(owed: 1 | -1): void {
    this.owed += owed;
    this.since = this.#connections.now;
  }
}

class RequestClient implements Required<Client> {
  readonly #connection: Connection;
  #waits = false;

  constructor(readonly peer: string, connection: Connection, readonly bodyMs: number) {
    this.#connection = connection;
  }

  waits(): void {
    if (this.#waits) return;
    this.#waits = true;
    this.#connection.turn(1);
  }

  isWaitedFor(): void {
    if (!this.#waits) return;
    this.#waits = false;
    this.#connection.turn(-1);
  }
}
