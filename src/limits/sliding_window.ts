/**
 * An exact sliding window in memory: in no span of the window's length, wherever it starts, are more requests
 * admitted than the limit.
 *
 * The times of the admitted requests are kept, on a monotonic clock, so that a jump of the wall clock opens
 * nothing. Refused requests are not counted.
 */

/** Subjects that are tracked at once; beyond it new ones are refused, which fails closed. */
const SUBJECT_LIMIT = 200_000;
/** Times before the head that are kept before an array is cut. */
const SLACK = 64;

export interface Admission {
  readonly admitted: boolean;
  readonly limit: number;
  /** Requests still admitted now. */
  readonly remaining: number;
  /** Milliseconds until the oldest counted request leaves the window. */
  readonly resetMs: number;
}

interface Log {
  times: number[];
  head: number;
}

export class SlidingWindow {
  readonly #logs = new Map<string, Log>();
  #sweptAt = -Infinity;

  constructor(private readonly options: { readonly limit: number; readonly windowMs: number }) {}

  /** Admits or refuses a request of `subject` at `now`, monotonic milliseconds. */
  admit(subject: string, now: number): Admission {
    const { limit, windowMs } = this.options;
    this.#sweep(now);
    let log = this.#logs.get(subject);
    if (log === undefined) {
      if (this.#logs.size >= SUBJECT_LIMIT) {
        return { admitted: false, limit, remaining: 0, resetMs: windowMs };
      }
      log = { times: [], head: 0 };
      this.#logs.set(subject, log);
    }
    forget(log, now - windowMs);
    const counted = log.times.length - log.head;
    const admitted = counted < limit;
    if (admitted) log.times.push(now);
    const oldest = log.times[log.head] ?? now;
    return {
      admitted,
      limit,
      remaining: Math.max(0, limit - counted - (admitted ? 1 : 0)),
      resetMs: Math.max(0, oldest + windowMs - now),
    };
  }

  /** Once a window, forgets the subjects that have none left in it. */
  #sweep(now: number): void {
    const { windowMs } = this.options;
    if (now - this.#sweptAt < windowMs) return;
    this.#sweptAt = now;
    for (const [subject, log] of this.#logs) {
      forget(log, now - windowMs);
      if (log.head === log.times.length) this.#logs.delete(subject);
    }
  }
}

/** Drops the times at or before `until`: a request exactly one window ago no longer counts. */
function forget(log: Log, until: number): void {
  while (log.head < log.times.length && log.times[log.head]! <= until) log.head += 1;
  if (log.head > SLACK && log.head * 2 > log.times.length) {
    log.times = log.times.slice(log.head);
    log.head = 0;
  }
}
