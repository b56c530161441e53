/**
 * The state of a delivery after an attempt, and of a destination after many.
 * Source: specification, Events (delivery rules); contract, section 5.
 */
import { WEBHOOK_ATTEMPTS, WEBHOOK_PAUSE_FAILURES, WEBHOOK_PAUSE_MS } from "../domain/limits.ts";
import type { AttemptError, DeliveryAttempt } from "../domain/webhook.ts";

/** The outcome of one attempt. */
export interface AttemptResult {
  /** Status of the answer; null if there was none. */
  readonly status: number | null;
  /** null if it was delivered. */
  readonly error: AttemptError | null;
  readonly durationMs: number;
}

/** RFC 9110, section 15.5.11: the receiver is gone and asks not to be called any more. */
export const GONE_STATUS = 410;

/** Maximum number of attempts in a delivery's log; a paused destination may have many. */
const ATTEMPTS_SHOWN = 10;

export interface DeliveryProgress {
  readonly counted: number;
  readonly attempts: readonly DeliveryAttempt[];
}

export interface AfterAttempt extends DeliveryProgress {
  readonly status: "queued" | "delivered" | "dead";
  /** The instant of the next attempt, epoch milliseconds; meaningless once the delivery is settled. */
  readonly nextAt: number;
}

/** A random factor for a wait, new each time: 0.8 to 1.2. */
export type Jitter = () => number;

/**
 * The state of a delivery after an attempt.
 * @param counts False for a paused destination: its delivery stays queued, however often it is tried.
 */
export function afterAttempt(
  before: DeliveryProgress,
  { result, at, counts, attemptsMax = WEBHOOK_ATTEMPTS, backoffMs, jitter }: {
    readonly result: AttemptResult;
    /** The instant at which it began, epoch milliseconds. */
    readonly at: number;
    readonly counts: boolean;
    readonly attemptsMax?: number;
    /** Waits before attempts 2 and 3. */
    readonly backoffMs: readonly number[];
    readonly jitter: Jitter;
  },
): AfterAttempt {
  const { status, error } = result;
  const durationMs = Math.round(result.durationMs);
  const counted = before.counted + (counts ? 1 : 0);
  const attempt: DeliveryAttempt = {
    at: new Date(at).toISOString(),
    response_status: status,
    error,
    duration_ms: durationMs,
    counted: counts,
  };
  const attempts = [...before.attempts, attempt].slice(-ATTEMPTS_SHOWN);
  const ended = at + durationMs;
  if (error === null) return { status: "delivered", counted, attempts, nextAt: ended };
  if (status === GONE_STATUS || counted >= attemptsMax) {
    return { status: "dead", counted, attempts, nextAt: ended };
  }
  const wait = counts ? backoffMs[Math.min(counted, backoffMs.length) - 1]! : 0;
  return { status: "queued", counted, attempts, nextAt: Math.round(ended + wait * jitter()) };
}

/** The recent success of a destination. */
export interface Health {
  /** Number of failed attempts since the last success. */
  readonly failures: number;
  /** The first of those failures, epoch milliseconds. */
  readonly failing_since: number | null;
  readonly paused_at: number | null;
}

/**
 * Whether a destination must be paused: its deliveries are then held back, except for an occasional probe.
 */
export function mustPause({ failures, failing_since, paused_at }: Health, now: number): boolean {
  return paused_at === null && failures >= WEBHOOK_PAUSE_FAILURES && failing_since !== null &&
    now - failing_since >= WEBHOOK_PAUSE_MS;
}

/** Whether a paused destination took a delivery again, so that it must resume. */
export function mustResume({ failures, paused_at }: Health): boolean {
  return paused_at !== null && failures === 0;
}
