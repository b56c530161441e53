/**
 * The wall clock, which the processes of a host share and which can be set. After it goes back, nothing is
 * counted until it has caught up, for at most one window: one window after the step, no request from before
 * it counts.
 */

/** The time source, as the `Clock` of the HTTP layer defines it. */
export interface Time {
  /** Epoch milliseconds. */
  now(): number;
  /** Milliseconds that never go back. */
  monotonic(): number;
}

export class WallClock {
  #last: number;
  #latest: number;
  /**
   * The monotonic instant at which the clock last went back. It starts as the start of the process, since
   * earlier steps are unknown.
   */
  #steppedAt: number;

  constructor(private readonly options: { readonly time: Time; readonly windowMs: number }) {
    const { time } = options;
    this.#last = this.#latest = time.now();
    this.#steppedAt = time.monotonic();
  }

  /** Epoch milliseconds at an instant of the monotonic clock. */
  at(monotonic: number): number {
    const { time } = this.options;
    return time.now() - (time.monotonic() - monotonic);
  }

  /** Milliseconds until the clock can be trusted; 0 if it can. */
  msUntilTrusted(): number {
    const { time, windowMs } = this.options;
    const [now, monotonic] = [time.now(), time.monotonic()];
    if (now < this.#last) this.#steppedAt = monotonic;
    this.#last = now;
    const remaining = Math.min(this.#latest - now, this.#steppedAt + windowMs - monotonic);
    if (remaining > 0) return remaining;
    this.#latest = now;
    return 0;
  }

  /**
   * Whether the clock has not gone back for one window. If so, counts in its future are older than a window.
   */
  isSteady(): boolean {
    const { time, windowMs } = this.options;
    return this.msUntilTrusted() === 0 && time.monotonic() - this.#steppedAt >= windowMs;
  }
}
