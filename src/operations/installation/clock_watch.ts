/**
 * Decides whether this machine's clock can be believed. Entries take its time, and one wild jump forward
 * would bind every chain to the future, because no entry may be earlier than the one before it.
 *
 * The wall clock is compared with the monotonic clock, and at a start with its own last reading from the
 * previous run. A clock that is too far ahead is refused until it is right again or an administrator accepts
 * it. A smaller jump, forward or back, is recorded. Source: evidence design, section 4, clock.
 */
import { ADMINISTRATOR_RETRY_SECONDS, isUnavailable, unavailable } from "../../domain/errors.ts";
import { errorFields, type Log } from "../../observability/log.ts";
import { DAY_MS } from "../../domain/time.ts";
import type { CheckpointLock } from "../../store/lock.ts";
import type { StoredClock } from "../../store/issued.ts";
import type { Writer } from "../../store/writer.ts";
import { eventDraft } from "../shared/drafts.ts";
import { SYSTEM_CHAIN } from "../../evidence/chain_name.ts";
import type { World } from "../../domain/world.ts";

/** How far, in milliseconds, the wall clock may be ahead of the monotonic clock. */
const AHEAD_WHILE_RUNNING_MS = DAY_MS;
/** How far, in milliseconds, it may be ahead of the last run at a start: a site may be off for a year. */
const AHEAD_AT_START_MS = 400 * DAY_MS;
/** A larger deviation, forward or back, is recorded; milliseconds. */
export const RECORDED_MS = 300_000;
/** Milliseconds between two times that the clock's reading is stored. */
const STORED_EVERY_MS = 60_000;

/** How a process treats the clock. */
export interface ClockRule {
  /** Whether the process records nothing while the clock is too far ahead. */
  readonly refuses: boolean;
  /** Whether the process records jumps and stores the clock's readings, as a service does. */
  readonly recordsClock: boolean;
}

export const CLOCK_RULES = {
  service: { refuses: true, recordsClock: true },
  local: { refuses: false, recordsClock: true },
  command: { refuses: true, recordsClock: false },
  acceptance: { refuses: false, recordsClock: false },
} as const satisfies Record<string, ClockRule>;

/** The expected time and the clock's time, epoch milliseconds. */
export interface ClockReading {
  readonly expectedAt: number;
  readonly clockAt: number;
}

export interface ClockAnomaly extends ClockReading {
  readonly noticed: "at_start" | "while_running" | "accepted";
}

export interface ClockWatchOptions {
  readonly clock: { now(): number; monotonic(): number };
  readonly lock: Pick<CheckpointLock, "clock" | "recordClock">;
  readonly log: Log;
  readonly rule: ClockRule;
  /** Timestamp of the newest entry of the system chain, epoch milliseconds; null if there is none. */
  readonly lastEntryAt: number | null;
}

export interface ClockActions {
  /** Records an anomaly of the clock. */
  readonly record: (anomaly: ClockAnomaly) => Promise<void>;
  /** Does what a start left out because nothing could be recorded. */
  readonly resume: () => Promise<void>;
}

export class ClockWatch {
  readonly #options: ClockWatchOptions;
  /** The wall clock's reading at an instant of the monotonic clock. */
  #base: Instant;
  /** The furthest reading that was believed: a clock that went back may return to it without harm. */
  #furthest: Instant;
  /** How far ahead of the expected and the furthest reading the clock may be, milliseconds. */
  #aheadMs: number;
  /** Whether the base is a reading of the clock; it may be the last entry's time, which can be long ago. */
  #isExact: boolean;
  #hasChecked = false;
  #isRefused = false;
  /** When a reading was last stored, by the monotonic clock. */
  #storedAt = -Infinity;
  #checking: Promise<void> | null = null;

  constructor(options: ClockWatchOptions) {
    const { clock, lock, lastEntryAt } = options;
    const stored = lock.clock();
    const { ranLastAt, furthestAt, aheadMs } = startReference({ stored, lastEntryAt, now: clock.now() });
    const monotonic = clock.monotonic();
    this.#options = options;
    this.#base = { wall: ranLastAt, monotonic };
    this.#furthest = { wall: furthestAt, monotonic };
    this.#aheadMs = aheadMs;
    this.#isExact = stored !== null;
  }

  /** Whether nothing may be recorded now. */
  get isRefused(): boolean {
    const reading = this.#read();
    if (!this.#isRefused && this.#isTooFarAhead(reading)) this.#refuse(reading);
    return this.#isRefused;
  }

  /** @throws {ServiceError} SERVICE_UNAVAILABLE if nothing may be recorded now. */
  require(): void {
    if (!this.isRefused) return;
    throw unavailable(
      "This machine's clock has jumped too far ahead: nothing is recorded until it is right again, or an administrator accepts it with `jiss doctor --accept-clock`.",
      ADMINISTRATOR_RETRY_SECONDS,
    );
  }

  /** Checks the clock, at the start and each second. A failure is logged, and the next call tries again. */
  check(steps: ClockActions): Promise<void> {
    if (!this.#options.rule.recordsClock) return Promise.resolve();
    this.#checking ??= this.#checkOnce(steps).catch((error) => {
      // The refusal was already logged.
      if (isUnavailable(error)) return;
      this.#options.log.error("an anomaly of the clock could not be recorded", errorFields(error));
    }).finally(() => this.#checking = null);
    return this.#checking;
  }

  /** The reading that an administrator would accept; null if there is nothing to accept. */
  get readingToAccept(): ClockReading | null {
    const reading = this.#read();
    return this.#isBeyond(reading) ? reading : null;
  }

  /** Stores the clock's reading when the process ends. */
  finish(): void {
    if (this.#options.rule.recordsClock && !this.isRefused) this.#storeReading();
  }

  async #checkOnce({ record, resume }: ClockActions): Promise<void> {
    const wasRefused = this.isRefused;
    if (wasRefused) this.#adoptAcceptance();
    const reading = this.#read();
    if (this.#isTooFarAhead(reading)) return;
    if (wasRefused) await resume();
    if (this.#isAnomaly(reading)) {
      await record({ ...reading, noticed: this.#hasChecked ? "while_running" : "at_start" });
      this.#rebase(reading);
    } else if (!this.#hasChecked) this.#rebase(reading);
    this.#hasChecked = true;
    this.#aheadMs = AHEAD_WHILE_RUNNING_MS;
    if (this.#isRefused) {
      this.#isRefused = false;
      this.#storedAt = -Infinity;
      this.#options.log.info("this machine's clock is accepted again: entries are recorded");
    }
    if (reading.monotonic - this.#storedAt >= STORED_EVERY_MS) this.#storeReading();
  }

  #read(): Reading {
    const { clock } = this.#options;
    const monotonic = clock.monotonic();
    const expectedAt = Math.round(this.#base.wall + monotonic - this.#base.monotonic);
    return { expectedAt, clockAt: clock.now(), monotonic };
  }

  #isBeyond({ expectedAt, clockAt, monotonic }: Reading): boolean {
    const furthestAt = this.#furthest.wall + monotonic - this.#furthest.monotonic;
    return clockAt - Math.max(expectedAt, furthestAt) > this.#aheadMs;
  }

  #isTooFarAhead(reading: Reading): boolean {
    return this.#options.rule.refuses && this.#isBeyond(reading);
  }

  #isAnomaly({ expectedAt, clockAt }: ClockReading): boolean {
    if (clockAt < expectedAt - RECORDED_MS) return true;
    return this.#isExact && clockAt > expectedAt + RECORDED_MS;
  }

  #refuse(reading: ClockReading): void {
    const { lock, log, rule } = this.#options;
    this.#isRefused = true;
    log.error("this machine's clock has jumped too far ahead: nothing is recorded", {
      ...formatReading(reading),
      mend: "set the clock; or, if it is right, run jiss doctor --accept-clock",
    });
    if (rule.recordsClock) lock.recordClock({ at: reading.expectedAt, isRefused: true });
  }

  /** Accepts the clock if another process has stored that an administrator accepted its reading. */
  #adoptAcceptance(): void {
    const stored = this.#options.lock.clock();
    const reading = this.#read();
    if (stored === null || stored.isRefused || reading.clockAt - stored.at > AHEAD_WHILE_RUNNING_MS) return;
    this.#rebase({ ...reading, clockAt: stored.at });
  }

  #rebase({ clockAt, monotonic }: Reading): void {
    this.#base = { wall: clockAt, monotonic };
    if (clockAt > this.#furthest.wall + monotonic - this.#furthest.monotonic) this.#furthest = this.#base;
    this.#isExact = true;
    this.#storedAt = -Infinity;
  }

  #storeReading(): void {
    const { clock, lock } = this.#options;
    this.#storedAt = clock.monotonic();
    lock.recordClock({ at: clock.now(), isRefused: false });
  }
}

/** A reading of both clocks, milliseconds. */
interface Instant {
  readonly wall: number;
  readonly monotonic: number;
}

interface Reading extends ClockReading {
  readonly monotonic: number;
}

/** The times to which a start compares the clock, epoch milliseconds, and how far ahead it may be. */
export function startReference(
  { stored, lastEntryAt, now }: {
    readonly stored: StoredClock | null;
    /** Timestamp of the newest entry of the system chain; null if there is none. */
    readonly lastEntryAt: number | null;
    readonly now: number;
  },
): { readonly ranLastAt: number; readonly furthestAt: number; readonly aheadMs: number } {
  const ranLastAt = stored?.at ?? lastEntryAt ?? now;
  return {
    ranLastAt,
    furthestAt: Math.max(ranLastAt, lastEntryAt ?? -Infinity),
    // A restart does not make a refused clock acceptable.
    aheadMs: stored?.isRefused === true ? AHEAD_WHILE_RUNNING_MS : AHEAD_AT_START_MS,
  };
}

/** The reading in the form of the log, the evidence and a command. */
export function formatReading(
  { expectedAt, clockAt }: ClockReading,
): { readonly expected_at: string; readonly clock_at: string } {
  return { expected_at: new Date(expectedAt).toISOString(), clock_at: new Date(clockAt).toISOString() };
}

/**
 * Appends an entry for the clock's anomaly to the system chain.
 * @throws {ServiceError} SERVICE_UNAVAILABLE.
 */
export async function recordClockAnomaly(
  { writer, world }: { readonly writer: Writer; readonly world: World },
  { noticed, ...reading }: ClockAnomaly,
): Promise<void> {
  const draft = eventDraft(world, {
    type: "CLOCK_ANOMALY",
    caller: { actor: "system", orgId: null, prefix: null },
    now: reading.clockAt,
    detail: { ...formatReading(reading), noticed },
  });
  await writer.submit({
    needs: [],
    chains: [SYSTEM_CHAIN],
    plan(unit) {
      unit.append(SYSTEM_CHAIN, draft);
      return () => undefined;
    },
  });
}
