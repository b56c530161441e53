/**
 * Whether this machine's clock can be believed: entries take its time, and one mad jump forward would bind every chain
 * to the future, since no entry may be earlier than the one before it.
 *
 * The wall clock is held against time that never jumps, and at a start against what it said when the service ran last.
 * What is too far ahead is refused until it is right again or an administrator accepts it; a smaller jump, either way, is
 * recorded. Source: evidence design, section 4, clock.
 */
import { ADMINISTRATOR_RETRY_SECONDS, isUnavailable, unavailable } from "../../domain/errors.ts";
import { errorFields, type Log } from "../../observability/log.ts";
import { DAY_MS } from "../../domain/time.ts";
import type { CheckpointLock } from "../../store/lock.ts";
import type { KeptClock } from "../../store/issued.ts";
import type { Writer } from "../../store/writer.ts";
import { eventDraft } from "../shared/drafts.ts";
import { SYSTEM_CHAIN } from "../../evidence/chain_name.ts";
import type { World } from "../../domain/world.ts";

/** Ahead of time that never jumps. */
const AHEAD_WHILE_RUNNING_MS = DAY_MS;
/** Ahead, at a start, of when the service ran last: a site may have been off for a year. */
const AHEAD_AT_START_MS = 400 * DAY_MS;
/** What goes beyond it, either way, is recorded. */
export const RECORDED_MS = 300_000;
/** How often it is kept what the clock says. */
const KEPT_EVERY_MS = 60_000;

/** What a process does about the clock. */
export interface ClockRule {
  /** Whether a clock that is too far ahead keeps it from recording anything. */
  readonly refuses: boolean;
  /** Whether it records jumps and keeps what the clock says, as a service does. */
  readonly follows: boolean;
}

export const CLOCK_RULES = {
  service: { refuses: true, follows: true },
  local: { refuses: false, follows: true },
  command: { refuses: true, follows: false },
  acceptance: { refuses: false, follows: false },
} as const satisfies Record<string, ClockRule>;

/** Epoch milliseconds: what the clock should say, and what it says. */
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
  /** Of the newest entry of the system chain, epoch milliseconds; null: there is none. */
  readonly lastEntryAt: number | null;
}

export interface ClockSteps {
  /** Records what the clock did. */
  readonly record: (anomaly: ClockAnomaly) => Promise<void>;
  /** What a start left out because nothing could be recorded. */
  readonly resume: () => Promise<void>;
}

export class ClockWatch {
  readonly #options: ClockWatchOptions;
  /** What the wall clock said at an instant of the time that never jumps. */
  #base: Instant;
  /** The furthest that it was believed to be: a clock that went back and comes back to it binds nothing to the future. */
  #furthest: Instant;
  /** How far ahead of that it may be. */
  #aheadMs: number;
  /** Whether the base is what the clock said: time may have passed since a last entry. */
  #isExact: boolean;
  #hasLooked = false;
  #isRefused = false;
  /** Of the time that never jumps. */
  #keptAt = -Infinity;
  #looking: Promise<void> | null = null;

  constructor(options: ClockWatchOptions) {
    const { clock, lock, lastEntryAt } = options;
    const kept = lock.clock();
    const { ranLastAt, furthestAt, aheadMs } = atStart({ kept, lastEntryAt, now: clock.now() });
    const monotonic = clock.monotonic();
    this.#options = options;
    this.#base = { wall: ranLastAt, monotonic };
    this.#furthest = { wall: furthestAt, monotonic };
    this.#aheadMs = aheadMs;
    this.#isExact = kept !== null;
  }

  /** Whether nothing may be recorded now. */
  get isRefused(): boolean {
    const reading = this.#read();
    if (!this.#isRefused && this.#isTooFarAhead(reading)) this.#refuse(reading);
    return this.#isRefused;
  }

  /** @throws {ServiceError} SERVICE_UNAVAILABLE where nothing may be recorded now. */
  require(): void {
    if (!this.isRefused) return;
    throw unavailable(
      "This machine's clock is too far ahead of where it was: nothing is recorded until it is right again, or an administrator accepts it with `jiss doctor --accept-clock`.",
      ADMINISTRATOR_RETRY_SECONDS,
    );
  }

  /** Looks at the clock: as the service starts, and each second. What fails is told, and tried again with the next. */
  look(steps: ClockSteps): Promise<void> {
    if (!this.#options.rule.follows) return Promise.resolve();
    this.#looking ??= this.#look(steps).catch((error) => {
      // Whoever refused it has told so.
      if (isUnavailable(error)) return;
      this.#options.log.error("what the clock did could not be recorded", errorFields(error));
    }).finally(() => this.#looking = null);
    return this.#looking;
  }

  /** What an administrator would accept; null where there is nothing to. */
  get toAccept(): ClockReading | null {
    const reading = this.#read();
    return this.#isBeyond(reading) ? reading : null;
  }

  /** Keeps what the clock says, as the process ends. */
  finish(): void {
    if (this.#options.rule.follows && !this.isRefused) this.#keep();
  }

  async #look({ record, resume }: ClockSteps): Promise<void> {
    const wasRefused = this.isRefused;
    if (wasRefused) this.#takeUpAcceptance();
    const reading = this.#read();
    if (this.#isTooFarAhead(reading)) return;
    if (wasRefused) await resume();
    if (this.#isAnomaly(reading)) {
      await record({ ...reading, noticed: this.#hasLooked ? "while_running" : "at_start" });
      this.#rebase(reading);
    } else if (!this.#hasLooked) this.#rebase(reading);
    this.#hasLooked = true;
    this.#aheadMs = AHEAD_WHILE_RUNNING_MS;
    if (this.#isRefused) {
      this.#isRefused = false;
      this.#keptAt = -Infinity;
      this.#options.log.info("this machine's clock is believed again, and entries are recorded");
    }
    if (reading.monotonic - this.#keptAt >= KEPT_EVERY_MS) this.#keep();
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
    log.error("this machine's clock is too far ahead of where it was: nothing is recorded", {
      ...toldReading(reading),
      mend: "set the clock; or, where it is right, run jiss doctor --accept-clock",
    });
    if (rule.follows) lock.recordClock({ at: reading.expectedAt, isRefused: true });
  }

  /** Where another process has kept that an administrator accepted what the clock says. */
  #takeUpAcceptance(): void {
    const kept = this.#options.lock.clock();
    const reading = this.#read();
    if (kept === null || kept.isRefused || reading.clockAt - kept.at > AHEAD_WHILE_RUNNING_MS) return;
    this.#rebase({ ...reading, clockAt: kept.at });
  }

  #rebase({ clockAt, monotonic }: Reading): void {
    this.#base = { wall: clockAt, monotonic };
    if (clockAt > this.#furthest.wall + monotonic - this.#furthest.monotonic) this.#furthest = this.#base;
    this.#isExact = true;
    this.#keptAt = -Infinity;
  }

  #keep(): void {
    const { clock, lock } = this.#options;
    this.#keptAt = clock.monotonic();
    lock.recordClock({ at: clock.now(), isRefused: false });
  }
}

/** Of both clocks, milliseconds. */
interface Instant {
  readonly wall: number;
  readonly monotonic: number;
}

interface Reading extends ClockReading {
  readonly monotonic: number;
}

/** What a start holds the clock against, epoch milliseconds, and how far ahead of the furthest it may be. */
export function atStart(
  { kept, lastEntryAt, now }: {
    readonly kept: KeptClock | null;
    /** Of the newest entry of the system chain; null: there is none. */
    readonly lastEntryAt: number | null;
    readonly now: number;
  },
): { readonly ranLastAt: number; readonly furthestAt: number; readonly aheadMs: number } {
  const ranLastAt = kept?.at ?? lastEntryAt ?? now;
  return {
    ranLastAt,
    furthestAt: Math.max(ranLastAt, lastEntryAt ?? -Infinity),
    // A restart does not make right what was refused.
    aheadMs: kept?.isRefused === true ? AHEAD_WHILE_RUNNING_MS : AHEAD_AT_START_MS,
  };
}

/** As the log, the evidence and a command tell of it. */
export function toldReading(
  { expectedAt, clockAt }: ClockReading,
): { readonly expected_at: string; readonly clock_at: string } {
  return { expected_at: new Date(expectedAt).toISOString(), clock_at: new Date(clockAt).toISOString() };
}

/** Makes the clock's anomaly an entry of the system chain. @throws {ServiceError} SERVICE_UNAVAILABLE. */
export async function recordClockAnomaly(
  { writer, world }: { readonly writer: Writer; readonly world: World },
  { noticed, ...reading }: ClockAnomaly,
): Promise<void> {
  const draft = eventDraft(world, {
    type: "CLOCK_ANOMALY",
    caller: { actor: "system", orgId: null, prefix: null },
    now: reading.clockAt,
    detail: { ...toldReading(reading), noticed },
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
