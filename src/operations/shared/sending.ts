/** What webhooks are sent with. */
import type { Deliverer } from "../../webhooks/delivery.ts";

export interface Deliveries {
  readonly deliverer: Deliverer;
  /** Waits before attempts 2 and 3, milliseconds. */
  readonly backoffMs: readonly number[];
  /** How long a claim stands, milliseconds: longer than a whole attempt. */
  readonly leaseMs: number;
  readonly clock: { now(): number };
  readonly counts: DeliveryCounts;
  /** Tests in progress, by their destination. */
  readonly tests: Map<string, Promise<unknown>>;
  /** Ends tests, as the service stops. */
  readonly stopping: AbortSignal;
}

/** What was counted since the start, for the metrics. */
export interface DeliveryCounts {
  /** Attempts by how they ended: `delivered`, or the class of error. */
  readonly attempts: Map<string, number>;
  /** Events that were given up before they could be delivered. */
  dropped: number;
  /** Whether a queue is so long that it should no longer give way to requests. */
  urgent: boolean;
}

export function noDeliveries(): DeliveryCounts {
  return { attempts: new Map(), dropped: 0, urgent: false };
}
