/** The two layers of rate limits, in this process alone or shared through a store. */
import type { Config } from "../config/config.ts";
import {
  RATE_STORE_TIMEOUT_MS,
  RATE_WINDOW_MS,
  SIGN_IN_ATTEMPTS_ADDRESS,
  SIGN_IN_ATTEMPTS_USER,
  SIGN_IN_WINDOW_MS,
} from "../domain/limits.ts";
import type { Clock, World } from "../domain/world.ts";
import type { RateWindow } from "../limits/admission.ts";
import { SharedCounters } from "../limits/shared_counters.ts";
import { SharedWindow } from "../limits/shared_window.ts";
import { SlidingWindow } from "../limits/sliding_window.ts";
import { causeFields, type Log } from "../observability/log.ts";
import { StartError } from "../operations/shared/start_error.ts";
import { createPrivately } from "./data_directory.ts";

export interface RateWindows {
  readonly address: RateWindow;
  readonly key: RateWindow;
  readonly session: RateWindow;
  /** Attempts to sign in as one user: from one address, and from all. */
  readonly signIn: { readonly address: RateWindow; readonly user: RateWindow };
  /** Frees the memory of requests that no window holds any more. */
  forget(): void;
  close(): Promise<void>;
}

/** @throws {StartError} if the rate store needs Deno KV and Deno was started without it. */
export function rateWindows(
  { rateLimitIp, rateLimitKey, rateLimitSession, rateLimitKv }: Config,
  { clock, log, world }: { readonly clock: Clock; readonly log: Log; readonly world: World },
): RateWindows {
  const layer = (name: string, limit: number, windowMs = RATE_WINDOW_MS) => {
    const reportUncounted = (uncounted: number, cause?: unknown) =>
      log.error("requests are refused because the rate limiter cannot count them", {
        layer: name,
        refused_uncounted: uncounted,
        ...(cause === undefined
          ? { error: "too many subjects or requests in a window" }
          : causeFields(cause)),
      });
    const [low, high] = new Uint32Array(world.random(8).slice().buffer);
    const ownAdmissions = new SlidingWindow({ limit, windowMs, hashKey: [low!, high!], reportUncounted });
    return { layer: name, limit, windowMs, ownAdmissions, time: clock, reportUncounted };
  };
  const [address, key, session] = [
    layer("address", rateLimitIp),
    layer("key", rateLimitKey),
    layer("session", rateLimitSession),
  ];
  // Each process counts attempts to sign in by itself: a password costs it more than a count.
  const [addressAttempts, userAttempts] = [
    layer("sign-in address", SIGN_IN_ATTEMPTS_ADDRESS, SIGN_IN_WINDOW_MS),
    layer("sign-in user", SIGN_IN_ATTEMPTS_USER, SIGN_IN_WINDOW_MS),
  ];
  const signIn = { address: addressAttempts.ownAdmissions, user: userAttempts.ownAdmissions };
  const forget = () =>
    [address, key, session, addressAttempts, userAttempts].forEach(({ ownAdmissions }) =>
      ownAdmissions.forget(clock.monotonic())
    );
  if (rateLimitKv === null) {
    return {
      address: address.ownAdmissions,
      key: key.ownAdmissions,
      session: session.ownAdmissions,
      signIn,
      forget,
      close: () => Promise.resolve(),
    };
  }
  const counters = new SharedCounters({
    open: kvStore(rateLimitKv),
    time: clock,
    windowMs: RATE_WINDOW_MS,
    timeoutMs: RATE_STORE_TIMEOUT_MS,
  });
  return {
    address: new SharedWindow({ ...address, counters }),
    key: new SharedWindow({ ...key, counters }),
    session: new SharedWindow({ ...session, counters }),
    signIn,
    forget,
    close: () => counters.close(),
  };
}

/** Opens a Deno KV store, a file or an address. @throws {StartError} if Deno was started without Deno KV. */
function kvStore(location: string): () => Promise<Deno.Kv> {
  if (typeof Deno.openKv !== "function") {
    throw new StartError("JISS_RATE_LIMIT_STORE needs Deno KV: start deno with --unstable-kv");
  }
  return async () => {
    if (!/^https?:/.test(location)) createPrivately(location, "");
    return await Deno.openKv(location);
  };
}
