/**
 * Slow clients, in a thread of their own: what they do at once must not delay the good client, which is measured in
 * another thread. Each comes again if the service closes it.
 */
const TRICKLE_MS = 1_000;

export interface SlowKind {
  /** Sent at once. */
  readonly beginning: string;
  /** Sent again and again, a second apart; empty: nothing. */
  readonly trickle: string;
}

/** The thread's orders: the first begins, the second ends. */
export type SlowOrder =
  | {
    readonly hostname: string;
    readonly port: number;
    readonly connections: number;
    readonly kinds: readonly SlowKind[];
  }
  | "end";

/** The thread's answer to its end. */
export interface SlowAnswer {
  /** Connections that found themselves closed by the service. */
  readonly cameAgain: number;
}

/** Slow clients that run until they are told to end. */
export class SlowClients {
  readonly #worker = new Worker(import.meta.url, { type: "module" });

  begin(order: Exclude<SlowOrder, string>): void {
    this.#worker.postMessage(order satisfies SlowOrder);
  }

  async end(): Promise<SlowAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<SlowAnswer>();
    this.#worker.onmessage = ({ data }) => resolve(data);
    this.#worker.onerror = (event) => reject(new Error(event.message));
    this.#worker.postMessage("end" satisfies SlowOrder);
    try {
      return await promise;
    } finally {
      this.#worker.terminate();
    }
  }
}

class Clients {
  #isOver = false;
  #cameAgain = 0;
  #all: Promise<void>[] = [];

  begin({ hostname, port, connections, kinds }: Exclude<SlowOrder, string>): void {
    this.#all = Array.from(
      { length: connections },
      (_, index) => this.#run({ hostname, port }, kinds[index % kinds.length]!),
    );
  }

  async end(): Promise<SlowAnswer> {
    this.#isOver = true;
    await Promise.all(this.#all);
    return { cameAgain: this.#cameAgain };
  }

  async #run(address: Deno.ConnectOptions, { beginning, trickle }: SlowKind): Promise<void> {
    const encoder = new TextEncoder();
    while (!this.#isOver) {
      const connection = await Deno.connect(address).catch(() => null);
      if (connection === null) {
        await wait(TRICKLE_MS);
        continue;
      }
      let isClosed = false;
      const gone = drained(connection).then(() => isClosed = true);
      await connection.write(encoder.encode(beginning)).catch(() => {});
      while (!isClosed && !this.#isOver) {
        await Promise.race([gone, wait(TRICKLE_MS)]);
        if (trickle !== "") await connection.write(encoder.encode(trickle)).catch(() => {});
      }
      if (isClosed) this.#cameAgain += 1;
      connection.close();
      await gone;
    }
  }
}

/** Resolves once nothing more comes. */
async function drained(connection: Deno.Conn): Promise<void> {
  const piece = new Uint8Array(4_096);
  while (await connection.read(piece).catch(() => null) !== null) { /* The answer that goes with a close. */ }
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** The part of a worker's global scope that is used here. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<SlowOrder>) => void) | null;
  postMessage(answer: SlowAnswer): void;
}

if (globalThis.constructor.name === "DedicatedWorkerGlobalScope") {
  const scope = globalThis as unknown as WorkerScope;
  const clients = new Clients();
  scope.onmessage = async ({ data }) => {
    if (data === "end") scope.postMessage(await clients.end());
    else clients.begin(data);
  };
}
