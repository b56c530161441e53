/**
 * The addresses of the service. They are claimed before anything is changed: if a second process finds one
 * taken, it ends and has not changed the database, the keys or the settings of the first.
 */
import type { Config } from "../config/config.ts";
import { CLIENT_WAIT_MS, FIRST_REQUEST_MS } from "../domain/limits.ts";
import type { Service } from "../service/compose.ts";
import { type Bounds, noConnections } from "../http/connections.ts";
import { UnsuitableDeno } from "../http/deno_connection.ts";
import { type Address, type Claim, claim, type Listener } from "../http/server.ts";
import type { Log } from "../observability/log.ts";
import { descriptorsOf, freeDescriptors, roomForConnections } from "./descriptors.ts";
import { CommandFailure, EXIT } from "./shell.ts";

/** The addresses that the configuration sets. */
export interface Addresses {
  readonly service: Claim;
  /** null if metrics have no listener. */
  readonly metrics: Claim | null;
}

export interface Listeners {
  readonly service: Listener;
  readonly metrics: Listener | null;
}

/** @throws {CommandFailure} if an address is not available; then none stays claimed. */
export function claimAddresses({ host, port, tls, metrics }: Config): Addresses {
  const second = metrics === null ? null : claimAddress({ ...metrics, tls: null }, "JISS_METRICS_ADDR");
  try {
    return { service: claimAddress({ host, port, tls }, "JISS_HOST, JISS_PORT"), metrics: second };
  } catch (error) {
    second?.release();
    throw error;
  }
}

function claimAddress(address: Address, variables: string): Claim {
  try {
    return claim(address);
  } catch (error) {
    if (error instanceof UnsuitableDeno) throw new CommandFailure(error.message, EXIT.configuration);
    throw new CommandFailure(
      `cannot listen on ${address.host}:${address.port} (${variables}): ${(error as Error).message}`,
      EXIT.failure,
    );
  }
}

export function releaseAddresses({ service, metrics }: Addresses): void {
  service.release();
  metrics?.release();
}

/** The listeners for `Service.announce`: that of the API first. */
export function ownListeners(
  { service, metrics }: Addresses,
  config: Pick<Config, "host" | "metrics">,
): Parameters<Service["announce"]>[0] {
  return [
    { url: service.url, host: config.host },
    ...(metrics === null ? [] : [{ url: metrics.url, host: config.metrics!.host }]),
  ];
}

/** Starts to answer at both addresses. */
export function answerAt(
  { service: serviceClaim, metrics }: Addresses,
  { service, config, log, bounds: overrides }: {
    readonly service: Service;
    readonly config: Config;
    readonly log: Log;
    /** Bounds that differ from the program's own. */
    readonly bounds: Partial<Bounds>;
  },
): Listeners {
  const bounds: Bounds = {
    room: roomForConnections(descriptorsOf(config), (enough) => freeDescriptors(config.dataDir, enough)),
    firstRequestMs: FIRST_REQUEST_MS,
    clientMs: CLIENT_WAIT_MS,
    ...overrides,
  };
  const common = {
    bounds,
    // Logged without the stack: if no file can be opened, Deno 2.9.6 crashes while it makes one.
    onFailure: (error: unknown) =>
      log.error("connections cannot be accepted at the moment", { error: String(error) }),
    onCrowded: () =>
      log.warn(
        "the maximum number of connections is open: the one that has kept the service waiting longest is closed",
        {
          connections: bounds.room.most,
        },
      ),
    onStranger: () =>
      log.warn("another process on this machine connects to the inner TLS listener, and is not served", {
        mend: "find the process (ss -tnp), or put a proxy before the service",
      }),
    onStuck: () =>
      log.error(
        "the maximum number of connections is open, and none can be closed: new ones wait",
        {
          connections: bounds.room.most,
        },
      ),
  };
  return {
    metrics: metrics?.answer(service.observation!, { ...common, counts: noConnections() }) ?? null,
    service: serviceClaim.answer(service.app, { ...common, counts: service.connections }),
  };
}
