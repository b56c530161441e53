/**
 * Requests that wait to be counted in a Deno KV store: one counter for each subject and second.
 *
 * A request is added to its counter first, and its window is read afterwards. Of any requests in a window,
 * the one that is added last has therefore seen them all. Seconds after its own are read too: another process
 * may have counted there already, and after the clock went back the past is found there.
 *
 * Only one operation runs at a time, for all waiting requests. Two processes that send many operations at
 * once keep each other from SQLite's lock for more than a second, and closing a store while it works stops
 * the whole program.
 */
import type { WallClock } from "./wall_clock.ts";

/** The operations of a store that are used; Deno's own store has them. */
export type CounterStore = Pick<Deno.Kv, "atomic" | "list" | "close">;

export interface Bucket {
  readonly second: number;
  readonly count: number;
}

/** The seconds of a window that hold requests, oldest first, including the request that was counted. */
export interface Tally {
  readonly buckets: readonly Bucket[];
  /** Epoch milliseconds. */
  readonly readAt: number;
}

export interface WaitingRequest {
  readonly layer: string;
  readonly subject: string;
  /** The first second of its window. */
  readonly from: number;
  /** Whether the caller has given up waiting. */
  readonly isGone: () => boolean;
  readonly resolve: (tally: Tally) => void;
  readonly reject: (error: unknown) => void;
}

export interface CounterQueueOptions {
  readonly open: () => Promise<CounterStore>;
  readonly wall: WallClock;
  readonly monotonic: () => number;
  readonly windowMs: number;
}

const ROOT = "rate";
/** Deno KV takes at most 1,000 changes, with 80 KB of keys, in one transaction. */
const BATCH_SIZE = 400;
const SWEEP_PAGE = 500;
/** Margin of the sweep: a request that waited to be counted has a window that began earlier. */
const SWEEP_MARGIN_SECONDS = 5;
/** Maximum difference between the clocks of hosts that share a store. */
const SKEW_SECONDS = 2;

export class CounterQueue {
  readonly #options: CounterQueueOptions;
  #waiting: WaitingRequest[] = [];
  #store: CounterStore | null = null;
  #work: Promise<void> | null = null;
  #busySince = Infinity;
  #sweptAt = -Infinity;
  #sweep: AsyncIterator<Deno.KvEntry<unknown>> | null = null;
  #retired = false;

  constructor(options: CounterQueueOptions) {
    this.#options = options;
  }

  /** Milliseconds that the store has worked on the current operation; 0 if there is none. */
  busyFor(now: number): number {
    return Math.max(0, now - this.#busySince);
  }

  add(waiting: WaitingRequest): void {
    this.#waiting.push(waiting);
    this.#work ??= this.#run();
  }

  /** Resolves once no operation is under way. */
  async idle(): Promise<void> {
    await this.#work;
  }

  /** Accepts no more work, and closes the store once its current operation has finished. */
  async retire(): Promise<void> {
    this.#retired = true;
    await this.#work;
    this.#closeStore();
  }

  async #run(): Promise<void> {
    while (!this.#retired && (this.#waiting.length > 0 || this.#isSweepDue())) {
      this.#busySince = this.#options.monotonic();
      const batch = this.#waiting.splice(0, BATCH_SIZE).filter(({ isGone }) => !isGone());
      try {
        this.#store ??= await this.#options.open();
        if (batch.length > 0) await this.#count(this.#store, batch);
        if (this.#isSweepDue()) await this.#sweepPage(this.#store);
      } catch (error) {
        for (const { reject } of batch) reject(error);
        this.#closeStore();
        // No request waits for a sweep: the next request tries again.
        if (this.#waiting.length === 0) break;
      }
    }
    this.#busySince = Infinity;
    this.#work = null;
  }

  /** Must be called only while no operation is under way. */
  #closeStore(): void {
    this.#store?.close();
    this.#store = null;
    this.#sweep = null;
  }

  // ---- counting -------------------------------------------------------------------------------------------

  async #count(store: CounterStore, batch: readonly WaitingRequest[]): Promise<void> {
    const groups = Map.groupBy(batch, ({ layer, subject }) => JSON.stringify([layer, subject]));
    const second = secondOf(this.#options.wall.at(this.#options.monotonic()));
    const sums = store.atomic();
    for (const group of groups.values()) {
      const { layer, subject } = group[0]!;
      sums.sum([ROOT, layer, subject, second], BigInt(group.length));
    }
    await sums.commit();
    const readings = [...groups.values()].map(async (group) => {
      const buckets = await this.#read(store, group);
      const readAt = this.#options.wall.at(this.#options.monotonic());
      group.forEach(({ from, resolve }, rank) => {
        // The requests of one transaction count in the order in which they came.
        const later = group.length - 1 - rank;
        resolve({
          buckets: buckets.filter((bucket) => bucket.second >= from)
            .map((bucket) => bucket.second === second ? { second, count: bucket.count - later } : bucket),
          readAt,
        });
      });
    });
    // Waits for all of them even if one fails: the store may then be closed.
    const failed = (await Promise.allSettled(readings)).find(({ status }) => status === "rejected");
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
  }

  async #read(store: CounterStore, group: readonly WaitingRequest[]): Promise<readonly Bucket[]> {
    const { layer, subject } = group[0]!;
    const prefix = [ROOT, layer, subject];
    const from = group.reduce((least, waiting) => Math.min(least, waiting.from), Infinity);
    const buckets: Bucket[] = [];
    const selector = { start: [...prefix, from], end: [...prefix, this.#firstStaleSecond()] };
    for await (const { key, value } of store.list<Deno.KvU64>(selector)) {
      buckets.push({ second: Number(key.at(-1)), count: Number(value.value) });
    }
    return buckets;
  }

  /** A bucket from this second on was filled before the clock went back, more than a window ago. */
  #firstStaleSecond(): number {
    const { wall, monotonic } = this.#options;
    return wall.isSteady() ? secondOf(wall.at(monotonic())) + SKEW_SECONDS + 1 : Infinity;
  }

  // ---- sweeping stale counters ----------------------------------------------------------------------------

  #isSweepDue(): boolean {
    return this.#sweep !== null || this.#options.monotonic() - this.#sweptAt >= this.#options.windowMs;
  }

  async #sweepPage(store: CounterStore): Promise<void> {
    const { wall, monotonic, windowMs } = this.#options;
    this.#sweptAt = monotonic();
    this.#sweep ??= store.list({ prefix: [ROOT] }, { batchSize: SWEEP_PAGE })[Symbol.asyncIterator]();
    const oldest = secondOf(wall.at(monotonic()) - windowMs) - SWEEP_MARGIN_SECONDS;
    const stale = this.#firstStaleSecond();
    const deletions = store.atomic();
    for (let checked = 0; checked < SWEEP_PAGE; checked += 1) {
      const next = await this.#sweep.next();
      if (next.done) {
        this.#sweep = null;
        break;
      }
      const second = Number(next.value.key.at(-1));
      if (second < oldest || second >= stale) deletions.delete(next.value.key);
    }
    await deletions.commit();
  }
}

export function secondOf(milliseconds: number): number {
  return Math.floor(milliseconds / 1_000);
}
