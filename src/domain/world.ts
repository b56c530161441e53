/** The outside world as it is passed to all other code: randomness, ids and time. */

/** Randomness and ids. */
export interface World {
  /** Secure random bytes. */
  random(length: number): Uint8Array;
  /** A ULID, increasing within a process; `at` is epoch milliseconds. */
  ulid(at: number): string;
}

/** The outside world's time. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Milliseconds that never go back. */
  monotonic(): number;
  /** Resolves after `milliseconds`, or as soon as `cut` is aborted. */
  wait(milliseconds: number, cut?: AbortSignal): Promise<void>;
  /**
   * Resolves at an instant of {@link monotonic}, never before; within microseconds if nothing else is to be
   * done.
   */
  until(instant: number): Promise<void>;
}
