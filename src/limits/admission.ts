/** The answer of a layer of rate limits to one request, and the interface of a layer. */

export interface Admission {
  readonly admitted: boolean;
  /** False if the limiter could not count the request and therefore refused it. */
  readonly counted: boolean;
  readonly limit: number;
  /** Requests still admitted now. */
  readonly remaining: number;
  /** Milliseconds until the oldest counted request leaves the window, or until asking again makes sense. */
  readonly resetMs: number;
}

export interface RateWindow {
  /** Requests refused since the start because they could not be counted. */
  readonly uncounted: number;
  /** Admits or refuses a request of `subject` that arrived at `now`, monotonic milliseconds. */
  admit(subject: string, now: number): Admission | Promise<Admission>;
}

/** Called if requests are refused uncounted, at most once in a window, with their total number. */
export type ReportUncounted = (uncounted: number, cause?: unknown) => void;

/** Counts the requests that could not be counted, and reports them once in a window. */
export class UncountedTally {
  #reportedAt = -Infinity;
  #total = 0;

  constructor(private readonly options: { readonly windowMs: number; readonly report: ReportUncounted }) {}

  get total(): number {
    return this.#total;
  }

  add(now: number, cause?: unknown): void {
    this.#total += 1;
    if (now - this.#reportedAt < this.options.windowMs) return;
    this.#reportedAt = now;
    this.options.report(this.#total, cause);
  }
}
