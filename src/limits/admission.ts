/** What a layer of rate limits says to one request, and the layer as the door sees it. */

export interface Admission {
  readonly admitted: boolean;
  /** False where the limiter itself could not count the request, and refused it for that. */
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

/** Called where requests are refused uncounted, at most once a window, with how many there were in all. */
export type TellUncounted = (uncounted: number, cause?: unknown) => void;

/** Counts the requests that could not be counted, and tells of them once a window. */
export class UncountedTally {
  #toldAt = -Infinity;
  #total = 0;

  constructor(private readonly options: { readonly windowMs: number; readonly tell: TellUncounted }) {}

  get total(): number {
    return this.#total;
  }

  add(now: number, cause?: unknown): void {
    this.#total += 1;
    if (now - this.#toldAt < this.options.windowMs) return;
    this.#toldAt = now;
    this.options.tell(this.#total, cause);
  }
}
