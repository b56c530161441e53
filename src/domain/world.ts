/** The outside world, as everything else is given it: randomness, ids and time. */

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
  /** Resolves after so long, or as soon as it is cut. */
  wait(milliseconds: number, cut?: AbortSignal): Promise<void>;
  /** Resolves at an instant of {@link monotonic}, to some microseconds where nothing else is to be done, never before. */
  until(instant: number): Promise<void>;
}
