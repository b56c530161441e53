/** Rate limits over a real Deno KV store, as several processes of one host share them. */
import assert from "node:assert/strict";
import { RATE_STORE_TIMEOUT_MS, RATE_WINDOW_MS } from "../src/domain/limits.ts";
import type { Admission } from "../src/limits/admission.ts";
import type { CounterStore } from "../src/limits/counter_queue.ts";
import { SharedCounters } from "../src/limits/shared_counters.ts";
import { SharedWindow } from "../src/limits/shared_window.ts";
import type { Time } from "../src/limits/wall_clock.ts";
import { memoryWindow } from "./harness.ts";
import type { RunningService } from "./program.ts";

export interface SharedLimit {
  readonly window: SharedWindow;
  /**
   * A request that arrives now, and then everything that the store still has to do: a test's clock stands
   * still meanwhile.
   */
  admit(subject: string): Promise<Admission>;
  close(): Promise<void>;
}

export interface SharedLimitOptions {
  readonly open: () => Promise<CounterStore>;
  readonly clock: Time;
  readonly layer?: string;
  readonly timeoutMs?: number;
  /** Reports of requests that could not be counted. */
  readonly reported?: { total: number; cause: unknown }[];
}

/** One process's side of a limit. */
export function sharedLimit(
  limit: number,
  { open, clock, layer = "address", timeoutMs = RATE_STORE_TIMEOUT_MS, reported = [] }: SharedLimitOptions,
): SharedLimit {
  const windowMs = RATE_WINDOW_MS;
  const counters = new SharedCounters({ open, time: clock, windowMs, timeoutMs });
  const window = new SharedWindow({
    layer,
    limit,
    windowMs,
    counters,
    ownAdmissions: memoryWindow(limit),
    time: clock,
    reportUncounted: (total, cause) => reported.push({ total, cause }),
  });
  return {
    window,
    async admit(subject) {
      const admission = await window.admit(subject, clock.monotonic());
      if (admission.counted) await counters.idle();
      return admission;
    },
    close: () => counters.close(),
  };
}

/** Runs a test over a store in a file of its own. */
export async function withStore(test: (open: () => Promise<Deno.Kv>) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "jiss-test-" });
  try {
    await test(() => Deno.openKv(`${directory}/kv.db`));
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** A store that runs `before` ahead of each transaction. */
export function watchedStore(store: Deno.Kv, before: () => void | Promise<void>): CounterStore {
  return {
    list: store.list.bind(store),
    close: () => store.close(),
    atomic() {
      const transaction = store.atomic();
      const commit = transaction.commit.bind(transaction);
      transaction.commit = async () => {
        await before();
        return await commit();
      };
      return transaction;
    },
  };
}

/** Asks until it is let through again: the service must recover by itself. */
export async function recovered(service: RunningService): Promise<void> {
  let status = 503;
  while (status === 503) ({ status } = await service.send("/v1"));
  assert.equal(status, 200);
}

/** No path with a rate limit by address is let through. */
export async function assertClosed(service: RunningService): Promise<void> {
  for (let n = 0; n < 3; n += 1) {
    const { status, body, headers } = await service.send("/v1");
    assert.deepEqual([status, body.error.code], [503, "SERVICE_UNAVAILABLE"]);
    assert.equal(headers.get("Retry-After"), "1");
  }
  assert.equal((await service.send("/")).status, 200, "a probe is never locked out");
}
