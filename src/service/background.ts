/** The third stage of a start: background work. Each task has its own interval and ends with the service. */
import type { Config } from "../config/config.ts";
import { isUnavailable } from "../domain/errors.ts";
import { WEBHOOK_LEASE_MARGIN_MS } from "../domain/limits.ts";
import type { Clock, World } from "../domain/world.ts";
import { parseNetworks } from "../limits/networks.ts";
import { errorFields, type Log } from "../observability/log.ts";
import type { Dependencies } from "../operations/dependencies.ts";
import { Upkeep } from "../operations/installation/upkeep.ts";
import { BreachLog } from "../operations/organizations/breaches.ts";
import type { Sending } from "../operations/shared/capabilities.ts";
import { noDeliveries } from "../operations/shared/sending.ts";
import { dispatchedDeliveries } from "../operations/webhooks/deliveries.ts";
import { DatabaseBusy } from "../store/database.ts";
import { createDeliverer, type Deliverer } from "../webhooks/delivery.ts";
import { Dispatcher } from "../webhooks/dispatcher.ts";
import { isOwnListener, type OwnListener, type Resolve } from "../webhooks/target.ts";
import { type RateWindows, rateWindows } from "./rate_windows.ts";
import type { Recovered } from "./recovery.ts";
import { resolveHost } from "./world.ts";

/** Milliseconds between two runs that record breaches of past windows and forget requests of past windows. */
const BREACH_FLUSH_MS = 5_000;
/**
 * Milliseconds between two runs of the upkeep: it anchors chains and deletes records past their retention.
 */
const UPKEEP_MS = 60_000;
/** Milliseconds from the start to the first upkeep: a service that is restarted each minute needs it, too. */
const FIRST_UPKEEP_MS = 20_000;
/** Milliseconds between two syncs of the lock: a rollback of that much can go unnoticed after a power cut. */
const LOCK_SYNC_MS = 1_000;
/** Milliseconds between two looks at this machine's clock. */
const CLOCK_LOOK_MS = 1_000;
/** Milliseconds after an answer during which the next request is expected. */
const BUSY_MS = 50;

export interface BackgroundOptions {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly world: World;
  readonly isService?: boolean;
  /** Resolves the names of webhooks' destinations; default: as the system does. */
  readonly resolve?: Resolve;
  /** Sends webhooks; default: over the network. */
  readonly deliverer?: Deliverer;
  /** Layers of rate limits in place of the configured ones. */
  readonly windows?: Partial<Pick<RateWindows, "address" | "key" | "session" | "signIn">>;
}

export interface Background {
  readonly dependencies: Dependencies;
  readonly breaches: BreachLog;
  readonly limits: RateWindows;
  /** The requests that are being answered: webhooks give way to them. */
  readonly requests: Requests;
  /** The addresses at which the service listens, its main listener first: webhooks are not sent there. */
  listeners(): readonly OwnListener[];
  /** Begins the work that no listener has to wait for. */
  startTimers(): void;
  /** Tells where the service listens. */
  announce(listeners: readonly OwnListener[]): void;
  /** Begins to send webhooks and to run the upkeep; called once the service listens. */
  start(): void;
  /** Begins to stop the sending of webhooks. */
  drain(): void;
  close(): Promise<void>;
}

/** Builds the background work; none of it runs before it is started. */
export function buildBackground(options: BackgroundOptions, recovered: Recovered): Background {
  const { config, log, clock, world, isService = false } = options;
  const { lock } = recovered.base;
  let listeners: readonly OwnListener[] = [];
  let dispatched: Promise<void> | null = null;
  let timers: readonly ReturnType<typeof setInterval>[] = [];
  let firstUpkeep: ReturnType<typeof setTimeout> | undefined;
  const stopping = new AbortController();
  const sending = sendingOf(options, {
    stopping: stopping.signal,
    isOwn: (address, port) => listeners.some((own) => isOwnListener(own, { address, port })),
  });
  const dependencies: Dependencies = { ...recovered.base, ...sending };
  const requests = new Requests(clock);
  const dispatcher = dispatcherOf(dependencies, { config, log, clock, requests });
  const breaches = new BreachLog(dependencies);
  const limits = { ...rateWindows(config, { clock, log, world }), ...options.windows };
  const upkeep = new Upkeep(dependencies, isService ? recovered.auditLines : null);
  return {
    dependencies,
    breaches,
    limits,
    requests,
    listeners: () => listeners,
    startTimers() {
      timers = [
        setInterval(() => {
          breaches.flush(clock.now());
          limits.forget();
        }, BREACH_FLUSH_MS),
        setInterval(() => upkeep.run(clock.now()), UPKEEP_MS),
        setInterval(() => lock.sync(), LOCK_SYNC_MS),
        setInterval(() => recovered.lookAtClock(), CLOCK_LOOK_MS),
      ];
    },
    announce(announced) {
      listeners = announced;
    },
    start() {
      dispatcher.start();
      firstUpkeep = setTimeout(() => upkeep.run(clock.now()), FIRST_UPKEEP_MS);
    },
    drain() {
      dispatched = dispatcher.stop();
    },
    async close() {
      stopping.abort();
      await Promise.allSettled(sending.deliveries.tests.values());
      await (dispatched ?? dispatcher.stop());
      sending.deliveries.deliverer.close();
      clearTimeout(firstUpkeep);
      for (const timer of timers) clearInterval(timer);
      breaches.flush(clock.now(), { isLast: true });
      await limits.close();
      await upkeep.finish(clock.now());
    },
  };
}

/** Counts the requests that are being answered, and keeps when the last one was. */
class Requests {
  #open = 0;
  #answeredAt = -Infinity;

  constructor(private readonly clock: Pick<Clock, "monotonic">) {}

  /** True while a request is being answered, and shortly after one was: the next one is expected then. */
  get isBusy(): boolean {
    return this.#open > 0 || this.clock.monotonic() - this.#answeredAt < BUSY_MS;
  }

  async during<Answer>(answer: () => Promise<Answer>): Promise<Answer> {
    this.#open += 1;
    try {
      return await answer();
    } finally {
      this.#open -= 1;
      this.#answeredAt = this.clock.monotonic();
    }
  }
}

function sendingOf(
  { config, clock, resolve = resolveHost, deliverer }: BackgroundOptions,
  { stopping, isOwn }: {
    readonly stopping: AbortSignal;
    readonly isOwn: (address: string, port: number) => boolean;
  },
): Sending {
  const targets = {
    policy: { allowed: parseNetworks(config.webhookAllow), isOwn },
    resolve,
  };
  return {
    targets,
    deliveries: {
      deliverer: deliverer ?? createDeliverer({
        ...targets,
        certificates: config.certificates,
        timeoutMs: config.webhookTimeoutMs,
        clock,
      }),
      backoffMs: config.webhookBackoffMs,
      leaseMs: config.webhookTimeoutMs + WEBHOOK_LEASE_MARGIN_MS,
      clock,
      counts: noDeliveries(),
      tests: new Map(),
      stopping,
    },
  };
}

function dispatcherOf(
  dependencies: Dependencies,
  { config, log, clock, requests }: Pick<BackgroundOptions, "config" | "log" | "clock"> & {
    readonly requests: Requests;
  },
) {
  return new Dispatcher(dispatchedDeliveries(dependencies), {
    clock,
    shouldYield: () => requests.isBusy && !dependencies.deliveries.counts.urgent,
    timeoutMs: config.webhookTimeoutMs,
    leaseMs: dependencies.deliveries.leaseMs,
    isPassing: (error) => isUnavailable(error) || error instanceof DatabaseBusy,
    onError: (error) => log.error("the webhook loop failed and goes on", errorFields(error)),
  });
}
