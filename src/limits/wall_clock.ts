/**
 * The wall clock, which processes of one host share and which may be set: after a step back nothing is counted
 * until it is caught up, at most for a window, because a window after the step nothing from before it counts.
 */

/** The outside world's time, as `Clock` of the HTTP layer has it. */
export interface Time {
  /** Epoch milliseconds. */
  now(): number;
  /** Milliseconds that never go back. */
  monotonic(): number;
}

export class WallClock {
  #last: number;
  #latest: number;
  /** When the clock last went back; nobody knows of the time before the start. */
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

  /** Milliseconds until the clock can be believed; 0 where it can. */
  behind(): number {
    const { time, windowMs } = this.options;
    const [now, monotonic] = [time.now(), time.monotonic()];
    if (now < this.#last) this.#steppedAt = monotonic;
    this.#last = now;
    const left = Math.min(this.#latest - now, this.#steppedAt + windowMs - monotonic);
    if (left > 0) return left;
    this.#latest = now;
    return 0;
  }

  /** Whether it has not gone back for a window: what stands in its future is then older than that. */
  isSteady(): boolean {
    const { time, windowMs } = this.options;
    return this.behind() === 0 && time.monotonic() - this.#steppedAt >= windowMs;
  }
}
