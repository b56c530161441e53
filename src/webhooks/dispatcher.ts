/**
 * The loop that sends deliveries. It looks for due deliveries, claims slightly more than it can send at once,
 * sends with limited concurrency for each destination and in total, and settles the outcomes.
 *
 * Failing, slow, new and swift destinations each share the connections of their own kind, so that many
 * destinations of one kind do not keep the others from being served. Attempts begin one at a time with a
 * pause in between; the pause is longer while requests are served.
 * Source: contract, section 5; specification, Events.
 */
import { LEAST_LEASE_MARGIN_MS } from "../domain/limits.ts";

/** Maximum number of attempts at one destination at once. */
const SLOTS_EACH = 8;
/** The same for a failing destination, and for a new one, which has not taken any delivery yet. */
const SLOTS_FAILING = 2;
const SLOTS_NEW = 1;
/** Maximum number of attempts at once at all destinations of a kind. */
const SLOTS_OF_KIND = 32;
/** An attempt that took longer than this makes a destination slow. */
const SLOW_MS = 1_000;
/** Number of failures in a row that makes a destination failing. */
const FAILING_AFTER = 3;
/** Milliseconds between the starts of attempts at a failing destination. */
const FAILING_PACE_MS = 100;
/**
 * Milliseconds between two looks for due deliveries, and the shortest pause between two turns of the loop.
 */
const POLL_MS = 250;
const PACE_MS = 20;
/**
 * While requests are served: milliseconds between the starts of attempts, and between the writes of their
 * outcomes.
 */
const YIELDING_MS = 10;
const YIELDING_PACE_MS = 100;
/** Milliseconds that attempts in progress may take once the service stops. */
const STOP_MS = 4_000;

type Kind = "swift" | "slow" | "new" | "failing";
const KINDS: readonly Kind[] = ["swift", "slow", "new", "failing"];

/** The fields of a destination that the loop reads. */
export interface DispatchedDestination {
  readonly webhook_id: string;
  readonly failures: number;
  readonly paused_at: number | null;
  /** null if no attempt was made there yet. */
  readonly last_delivery: unknown;
}

export interface DispatchedClaim {
  readonly webhookId: string;
  /** The instant from which somebody else may claim it, epoch milliseconds. */
  readonly lease: { readonly until: number };
}

/** The operations that the loop calls: the transactions around attempts, and the attempts. */
export interface Dispatched<
  Destination extends DispatchedDestination,
  Claim extends DispatchedClaim,
  Outcome,
> {
  /** Destinations with something due. */
  ready(now: number): Promise<readonly Destination[]>;
  /** Claims due deliveries, and returns the destinations as they are after that. */
  claim(
    claimable: readonly { readonly destination: Destination; readonly count: number }[],
    now: number,
  ): Promise<{ readonly claims: readonly Claim[]; readonly destinations: readonly Destination[] }>;
  /** Makes one attempt and returns its outcome. Never throws. */
  attempt(claim: Claim, signal: AbortSignal): Promise<Outcome>;
  /** The outcome of a claim that is given back. */
  release(claim: Claim): Outcome;
  /** Stores outcomes, and returns the destinations that they changed. */
  settle(outcomes: readonly Outcome[], now: number): Promise<readonly Destination[]>;
}

export interface DispatcherOptions {
  readonly clock: {
    /** Epoch milliseconds. */
    now(): number;
    wait(milliseconds: number, cut?: AbortSignal): Promise<void>;
  };
  /**
   * True if a client waits for an answer of the service and nothing is urgent: then attempts begin at
   * intervals.
   */
  shouldYield(): boolean;
  /** Limit for a whole attempt, milliseconds. */
  readonly timeoutMs: number;
  readonly leaseMs: number;
  /** Whether an error passes by itself, for example because another process holds the database. */
  isPassing(error: unknown): boolean;
  /** Called with errors that do not pass. */
  onError(error: unknown): void;
}

export class Dispatcher<Destination extends DispatchedDestination, Claim extends DispatchedClaim, Outcome> {
  readonly #dispatched: Dispatched<Destination, Claim, Outcome>;
  readonly #options: DispatcherOptions;
  /**
   * Destinations with something due, in their last known state, except those whose due deliveries are all
   * claimed.
   */
  readonly #ready = new Map<string, Destination>();
  readonly #failing = new Set<string>();
  /** Destinations that accept deliveries, as far as is known. */
  readonly #proven = new Set<string>();
  readonly #slow = new Set<string>();
  /** Claims that have not begun, by destination. */
  readonly #waiting = new Map<string, Claim[]>();
  readonly #inFlight = new Map<string, number>();
  /** Start of the last attempt at each failing destination, epoch milliseconds. */
  readonly #lastAttemptAt = new Map<string, number>();
  readonly #attempts = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  #outcomes: Outcome[] = [];
  #stopping = false;
  #beginning = false;
  #running: Promise<void> | null = null;
  #polledAt = -Infinity;
  #wake: () => void = () => {};

  /** @throws if a claim does not outlast an attempt. */
  constructor(dispatched: Dispatched<Destination, Claim, Outcome>, options: DispatcherOptions) {
    const { timeoutMs, leaseMs } = options;
    if (leaseMs < timeoutMs + LEAST_LEASE_MARGIN_MS) {
      throw new Error(`a claim of ${leaseMs} ms does not outlast an attempt of ${timeoutMs} ms`);
    }
    this.#dispatched = dispatched;
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Begins no more attempts, waits until those in progress end or are cut, and settles everything. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#wake();
    await this.#running;
    if (this.#attempts.size > 0) {
      const ended = new AbortController();
      void this.#options.clock.wait(STOP_MS, ended.signal).then(() => {
        if (!ended.signal.aborted) this.#abort.abort();
      });
      await Promise.all(this.#attempts);
      ended.abort();
    }
    for (const claims of this.#waiting.values()) {
      this.#outcomes.push(...claims.map((claim) => this.#dispatched.release(claim)));
    }
    this.#waiting.clear();
    await this.#guarded(() => this.#settle());
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      const isDone = await this.#guarded(() => this.#runTurn());
      void this.#beginAll();
      const isBusy = isDone && (this.#outcomes.length > 0 || this.#claimable().length > 0);
      const { clock, shouldYield } = this.#options;
      await (isBusy ? clock.wait(shouldYield() ? YIELDING_PACE_MS : PACE_MS) : this.#waitForWork());
    }
  }

  /** Waits until the next look is due, or an attempt has ended. */
  async #waitForWork(): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await this.#options.clock.wait(POLL_MS, woken.signal);
  }

  /** Returns whether the work succeeded. */
  async #guarded(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!this.#options.isPassing(error)) this.#options.onError(error);
      return false;
    }
  }

  async #runTurn(): Promise<void> {
    await this.#settle();
    const now = this.#options.clock.now();
    if (Math.abs(now - this.#polledAt) >= POLL_MS) {
      this.#ready.clear();
      for (const destination of await this.#dispatched.ready(now)) this.#addReady(destination);
      this.#polledAt = now;
    }
    const claimable = this.#claimable();
    if (claimable.length === 0) return;
    const { claims, destinations } = await this.#dispatched.claim(claimable, now);
    const present = new Map(destinations.map((destination) => [destination.webhook_id, destination]));
    const claimed = Map.groupBy(claims, ({ webhookId }) => webhookId);
    for (const { destination: { webhook_id: id }, count } of claimable) {
      const own = claimed.get(id) ?? [];
      if (own.length > 0) this.#waiting.set(id, [...this.#waiting.get(id) ?? [], ...own]);
      const after = present.get(id);
      // A destination may have more due deliveries, unless it is paused: then it has none until its next
      // probe.
      if (own.length >= count && after?.paused_at === null) this.#addReady(after);
      else this.#ready.delete(id);
    }
  }

  #addReady(destination: Destination): void {
    this.#ready.set(destination.webhook_id, destination);
    this.#classify(destination);
  }

  #classify({ webhook_id: id, failures, last_delivery }: Destination): void {
    const isFailing = failures >= FAILING_AFTER;
    mark(this.#failing, id, isFailing);
    // After one or two failures the destination stays as it was.
    if (isFailing) this.#proven.delete(id);
    else if (failures === 0 && last_delivery !== null) this.#proven.add(id);
  }

  #kindOf(id: string): Kind {
    if (this.#failing.has(id)) return "failing";
    if (!this.#proven.has(id)) return "new";
    return this.#slow.has(id) ? "slow" : "swift";
  }

  /**
   * The number of deliveries that each destination can take now: enough to begin, and as many again to
   * continue with.
   */
  #claimable(): { readonly destination: Destination; readonly count: number }[] {
    // Destinations with the fewest held deliveries come first, so that each gets its turn.
    const order = [...this.#ready.values()].map((destination) => ({
      destination,
      room: this.#roomOf(destination),
    }))
      .filter(({ room }) => room > 0)
      .sort((a, b) => this.#held(a.destination.webhook_id) - this.#held(b.destination.webhook_id));
    return KINDS.flatMap((kind) => {
      const candidates = order.filter(({ destination }) => this.#kindOf(destination.webhook_id) === kind);
      // A claim that waits until it expires was made in vain: the waiting ones are limited to twice the
      // slots.
      let left = 2 * SLOTS_OF_KIND;
      for (const [id, claims] of this.#waiting) if (this.#kindOf(id) === kind) left -= claims.length;
      const share = Math.max(1, Math.floor(left / candidates.length));
      return candidates.flatMap(({ destination, room }) => {
        const count = Math.min(room, share, left);
        if (count <= 0) return [];
        left -= count;
        return [{ destination, count }];
      });
    });
  }

  #roomOf({ webhook_id: id, paused_at }: Destination): number {
    const slots = this.#slotsOf(id);
    const held = this.#held(id);
    if (paused_at !== null) return 1 - held;
    return held > slots ? 0 : (this.#proven.has(id) ? 2 * slots : slots) - held;
  }

  #held(id: string): number {
    return (this.#inFlight.get(id) ?? 0) + (this.#waiting.get(id)?.length ?? 0);
  }

  #slotsOf(id: string): number {
    if (this.#failing.has(id)) return SLOTS_FAILING;
    return this.#proven.has(id) ? SLOTS_EACH : SLOTS_NEW;
  }

  async #settle(): Promise<void> {
    if (this.#outcomes.length === 0) return;
    const outcomes = this.#outcomes;
    this.#outcomes = [];
    try {
      const changed = await this.#dispatched.settle(outcomes, this.#options.clock.now());
      for (const destination of changed) {
        this.#classify(destination);
        if (destination.paused_at !== null) this.#giveBack(destination.webhook_id);
      }
    } catch (error) {
      // Outcomes are settled with the next ones. If they can never be written, the claim expires and the
      // attempt is made again.
      if (this.#options.isPassing(error)) this.#outcomes = [...outcomes, ...this.#outcomes];
      throw error;
    }
  }

  #giveBack(id: string): void {
    const claims = this.#waiting.get(id) ?? [];
    this.#waiting.delete(id);
    this.#outcomes.push(...claims.map((claim) => this.#dispatched.release(claim)));
  }

  /** Begins all attempts that may begin. Destinations with the fewest attempts in progress come first. */
  async #beginAll(): Promise<void> {
    if (this.#beginning) return;
    this.#beginning = true;
    for (let id = this.#nextDestination(); id !== null; id = this.#nextDestination()) {
      this.#begin(id);
      const { clock, shouldYield } = this.#options;
      await clock.wait(shouldYield() ? YIELDING_MS : 0);
    }
    this.#beginning = false;
  }

  #nextDestination(): string | null {
    if (this.#stopping) return null;
    const now = this.#options.clock.now();
    const inFlight = { swift: 0, slow: 0, new: 0, failing: 0 };
    for (const [id, count] of this.#inFlight) inFlight[this.#kindOf(id)] += count;
    let best: { id: string; count: number } | null = null;
    for (const id of this.#waiting.keys()) {
      const count = this.#inFlight.get(id) ?? 0;
      if (count >= this.#slotsOf(id) || inFlight[this.#kindOf(id)] >= SLOTS_OF_KIND) continue;
      if (this.#failing.has(id) && this.#isTooSoon(id, now)) continue;
      if (best === null || count < best.count) best = { id, count };
    }
    return best?.id ?? null;
  }

  #isTooSoon(id: string, now: number): boolean {
    return Math.abs(now - (this.#lastAttemptAt.get(id) ?? -Infinity)) < FAILING_PACE_MS;
  }

  #begin(id: string): void {
    const claims = this.#waiting.get(id)!;
    const claim = claims.shift()!;
    if (claims.length === 0) this.#waiting.delete(id);
    const { clock, timeoutMs } = this.#options;
    const now = clock.now();
    if (claim.lease.until - now < timeoutMs + LEAST_LEASE_MARGIN_MS / 2) {
      this.#outcomes.push(this.#dispatched.release(claim));
      return;
    }
    if (this.#failing.has(id)) this.#lastAttemptAt.set(id, now);
    else this.#lastAttemptAt.delete(id);
    this.#inFlight.set(id, (this.#inFlight.get(id) ?? 0) + 1);
    const attempt = this.#dispatched.attempt(claim, this.#abort.signal).then((outcome) => {
      this.#outcomes.push(outcome);
      mark(this.#slow, id, clock.now() - now > SLOW_MS);
      const left = this.#inFlight.get(id)! - 1;
      if (left === 0) this.#inFlight.delete(id);
      else this.#inFlight.set(id, left);
      this.#attempts.delete(attempt);
      this.#wake();
      void this.#beginAll();
    });
    this.#attempts.add(attempt);
  }
}

function mark(set: Set<string>, id: string, belongs: boolean): void {
  if (belongs) set.add(id);
  else set.delete(id);
}
