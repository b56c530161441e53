/**
 * Counters that processes share. A count comes in time or not at all: any failure is an error, never a
 * number.
 */
import {
  CounterQueue,
  type CounterQueueOptions,
  type CounterStore,
  secondOf,
  type Tally,
} from "./counter_queue.ts";
import { type Time, WallClock } from "./wall_clock.ts";

export interface SharedCountersOptions {
  readonly open: () => Promise<CounterStore>;
  readonly time: Time;
  readonly windowMs: number;
  /** Milliseconds that a request waits for its count. */
  readonly timeoutMs: number;
}

/** The count is not available; trying again makes sense after `retryMs`. */
export class CountersAway extends Error {
  override readonly name = "CountersAway";

  constructor(message: string, readonly retryMs: number, options: ErrorOptions = {}) {
    super(message, options);
  }
}

/**
 * Maximum length of a subject's name in a key. Names with the same beginning of this length are counted as
 * one.
 */
const NAME_LENGTH = 64;
/**
 * Milliseconds after which a store that does not answer is abandoned and another one opened; SQLite gives up
 * after five seconds.
 */
const ABANDON_MS = 10_000;

export class SharedCounters {
  readonly #options: SharedCountersOptions;
  readonly #queueOptions: CounterQueueOptions;
  readonly #wall: WallClock;
  #queue: CounterQueue;

  constructor(options: SharedCountersOptions) {
    const { open, time, windowMs } = options;
    this.#options = options;
    this.#wall = new WallClock({ time, windowMs });
    this.#queueOptions = { open, wall: this.#wall, monotonic: () => time.monotonic(), windowMs };
    this.#queue = new CounterQueue(this.#queueOptions);
  }

  /**
   * Counts a request of `subject` that arrived at `arrivedAt`, monotonic.
   * @throws {CountersAway} if the count is not available.
   */
  async count(
    subject: string,
    { layer, arrivedAt }: { readonly layer: string; readonly arrivedAt: number },
  ): Promise<Tally> {
    const { time, windowMs, timeoutMs } = this.#options;
    const untrustedMs = this.#wall.msUntilTrusted();
    if (untrustedMs > 0) throw new CountersAway("the clock went back", untrustedMs);
    const busyFor = this.#queue.busyFor(time.monotonic());
    if (busyFor > ABANDON_MS) this.#replaceQueue();
    else if (busyFor > timeoutMs) throw new CountersAway("the store does not respond", timeoutMs);

    const { promise, resolve, reject } = Promise.withResolvers<Tally>();
    let isGone = false;
    const timer = setTimeout(() => {
      isGone = true;
      reject(new CountersAway(`the store did not answer within ${timeoutMs} ms`, timeoutMs));
    }, timeoutMs);
    this.#queue.add({
      layer,
      subject: subject.slice(0, NAME_LENGTH),
      from: secondOf(this.#wall.at(arrivedAt) - windowMs),
      isGone: () => isGone,
      resolve,
      reject: (cause) => reject(new CountersAway("the store failed", timeoutMs, { cause })),
    });
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Resolves once no operation is under way, including the sweep. */
  idle(): Promise<void> {
    return this.#queue.idle();
  }

  /** Waits for the operation under way, unless the store does not answer. */
  async close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, this.#options.timeoutMs);
    await Promise.race([this.#queue.retire(), promise]);
    clearTimeout(timer);
  }

  #replaceQueue(): void {
    // Not awaited, because it may never end.
    void this.#queue.retire();
    this.#queue = new CounterQueue(this.#queueOptions);
  }
}
