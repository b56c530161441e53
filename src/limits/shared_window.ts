/**
 * A sliding window over counters that processes share. It never admits more than the limit in any span, and
 * may refuse up to a second too early. An admission waits for the counters; only a refusal may be decided
 * without them.
 */
import { type Admission, type RateWindow, type ReportUncounted, UncountedTally } from "./admission.ts";
import type { Bucket, Tally } from "./counter_queue.ts";
import { CountersAway, type SharedCounters } from "./shared_counters.ts";
import type { SlidingWindow } from "./sliding_window.ts";
import type { Time } from "./wall_clock.ts";

export interface SharedWindowOptions {
  readonly layer: string;
  readonly limit: number;
  readonly windowMs: number;
  readonly counters: SharedCounters;
  /**
   * The requests that this process admitted, by the monotonic clock. This window holds even if the wall clock
   * jumps ahead.
   */
  readonly ownAdmissions: SlidingWindow;
  readonly time: Time;
  readonly reportUncounted: ReportUncounted;
}

/** Maximum number of subjects whose refusal is remembered. For the others the counters are asked. */
const REFUSALS_MAX = 100_000;
const SECOND = 1_000;

export class SharedWindow implements RateWindow {
  /** The monotonic instant until which each subject is refused. */
  readonly #refusedUntil = new Map<string, number>();
  readonly #uncounted: UncountedTally;

  constructor(private readonly options: SharedWindowOptions) {
    const { windowMs, reportUncounted } = options;
    this.#uncounted = new UncountedTally({ windowMs, report: reportUncounted });
  }

  get uncounted(): number {
    return this.#uncounted.total;
  }

  admit(subject: string, now: number): Admission | Promise<Admission> {
    return this.options.ownAdmissions.refusal(subject, now) ?? this.#knownRefusal(subject, now) ??
      this.#askCounters(subject, now);
  }

  #knownRefusal(subject: string, now: number): Admission | null {
    const until = this.#refusedUntil.get(subject);
    if (until === undefined) return null;
    if (until > now) return this.#refusal(until - now);
    this.#refusedUntil.delete(subject);
    return null;
  }

  async #askCounters(subject: string, now: number): Promise<Admission> {
    const { counters, layer, limit, ownAdmissions, time } = this.options;
    let tally: Tally;
    try {
      tally = await counters.count(subject, { layer, arrivedAt: now });
    } catch (error) {
      this.#uncounted.add(time.monotonic(), error);
      const resetMs = error instanceof CountersAway ? error.retryMs : SECOND;
      return { admitted: false, counted: false, limit, remaining: 0, resetMs };
    }
    const total = sumOf(tally.buckets);
    if (total > limit) {
      const waitMs = this.#untilFewerThan(limit, tally);
      this.#remember(subject, time.monotonic() + waitMs);
      return this.#refusal(waitMs);
    }
    ownAdmissions.record(subject, now);
    return {
      admitted: true,
      counted: true,
      limit,
      remaining: limit - total,
      resetMs: this.#untilFewerThan(total, tally),
    };
  }

  /** Milliseconds until enough buckets have left the window that fewer than `count` requests are in it. */
  #untilFewerThan(count: number, { buckets, readAt }: Tally): number {
    let remaining = sumOf(buckets);
    let leavesAt = readAt;
    for (const bucket of buckets) {
      if (remaining < count) break;
      remaining -= bucket.count;
      leavesAt = (bucket.second + 1) * SECOND + this.options.windowMs;
    }
    // A bucket in the future, after the clock went back, counts no longer than a window either.
    return Math.min(Math.max(0, leavesAt - readAt), this.options.windowMs + SECOND);
  }

  #refusal(resetMs: number): Admission {
    return { admitted: false, counted: true, limit: this.options.limit, remaining: 0, resetMs };
  }

  #remember(subject: string, until: number): void {
    if (this.#refusedUntil.size >= REFUSALS_MAX) this.#refusedUntil.clear();
    this.#refusedUntil.set(subject, until);
  }
}

function sumOf(buckets: readonly Bucket[]): number {
  return buckets.reduce((sum, { count }) => sum + count, 0);
}
