/**
 * An exact sliding window in memory: no span of the window's length, wherever it starts, contains more
 * admitted requests than the limit.
 *
 * The times of the admitted requests are kept on a monotonic clock, so that a jump of the wall clock admits
 * nothing. Refused requests are not counted. No subject is forgotten early: if there is no room for a time,
 * the request is refused.
 */
import { RATE_SUBJECTS_MAX, RATE_TIMES_MAX } from "../domain/limits.ts";
import { type Admission, type RateWindow, type ReportUncounted, UncountedTally } from "./admission.ts";
import { SubjectTimes } from "./subject_times.ts";

export interface SlidingWindowOptions {
  readonly limit: number;
  readonly windowMs: number;
  /** Two random words that key the hash of subjects. */
  readonly hashKey: readonly [number, number];
  readonly reportUncounted: ReportUncounted;
  readonly subjectsMax?: number;
  readonly timesMax?: number;
}

export class SlidingWindow implements RateWindow {
  readonly #times: SubjectTimes;
  readonly #uncounted: UncountedTally;
  #latest = -Infinity;

  constructor(private readonly options: SlidingWindowOptions) {
    const { hashKey, windowMs, reportUncounted } = options;
    const { subjectsMax = RATE_SUBJECTS_MAX, timesMax = RATE_TIMES_MAX } = options;
    this.#times = new SubjectTimes({ subjectsMax, timesMax, hashKey });
    this.#uncounted = new UncountedTally({ windowMs, report: reportUncounted });
  }

  /** Requests refused since the start because the table was full. */
  get uncounted(): number {
    return this.#uncounted.total;
  }

  /** Number of subjects with a time in the window. */
  get subjects(): number {
    return this.#times.subjects;
  }

  /** Size in bytes. */
  get bytes(): number {
    return this.#times.bytes;
  }

  admit(subject: string, now: number): Admission {
    const refusal = this.refusal(subject, now);
    if (refusal !== null) return refusal;
    if (this.record(subject, now)) return this.#admission(subject, true);
    const { limit, windowMs } = this.options;
    this.#uncounted.add(this.#latest);
    const resetMs = (this.#times.oldest ?? this.#latest) + windowMs - this.#latest;
    return { admitted: false, counted: false, limit, remaining: 0, resetMs };
  }

  /** The refusal for a request of `subject` at `now`; null if it has admissions left. */
  refusal(subject: string, now: number): Admission | null {
    this.#moveTo(now);
    return this.#times.timesOf(subject).count < this.options.limit ? null : this.#admission(subject, false);
  }

  /** Counts an admitted request. Returns false if there is no room for it. */
  record(subject: string, now: number): boolean {
    this.#moveTo(now);
    return this.#times.push(subject, this.#latest);
  }

  /**
   * Forgets the times that are outside of the window at `now`; a request exactly one window ago no longer
   * counts.
   */
  forget(now: number): void {
    this.#moveTo(now);
  }

  /** Moves the window to `now`, never back: a request that waited counts from the time of its decision. */
  #moveTo(now: number): void {
    this.#latest = Math.max(this.#latest, now);
    this.#times.forget(this.#latest - this.options.windowMs);
  }

  #admission(subject: string, admitted: boolean): Admission {
    const { limit, windowMs } = this.options;
    const { count, oldest } = this.#times.timesOf(subject);
    return {
      admitted,
      counted: true,
      limit,
      remaining: Math.max(0, limit - count),
      resetMs: Math.max(0, oldest + windowMs - this.#latest),
    };
  }
}
