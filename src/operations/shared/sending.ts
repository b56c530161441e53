/** The tools for sending webhooks, and the counts of deliveries. */
import type { Deliverer } from "../../webhooks/delivery.ts";

export interface Deliveries {
  readonly deliverer: Deliverer;
  /** Waits before attempts 2 and 3, in milliseconds. */
  readonly backoffMs: readonly number[];
  /** Duration of a claim in milliseconds; longer than a whole attempt. */
  readonly leaseMs: number;
  readonly clock: { now(): number };
  readonly counts: DeliveryCounts;
  /** Tests in progress, by destination. */
  readonly tests: Map<string, Promise<unknown>>;
  /** Ends tests when the service stops. */
  readonly stopping: AbortSignal;
}

/** Counts since the start, for the metrics. */
export interface DeliveryCounts {
  /** Number of attempts by outcome: `delivered`, or the class of error. */
  readonly attempts: Map<string, number>;
  /** Number of events that were given up before they could be delivered. */
  dropped: number;
  /** True if a queue is so long that it should no longer give way to requests. */
  urgent: boolean;
}

export function noDeliveries(): DeliveryCounts {
  return { attempts: new Map(), dropped: 0, urgent: false };
}
