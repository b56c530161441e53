/** Builds the stages of a start after storage; the last one answers requests. */
import { SYSTEM_CHAIN } from "../evidence/chain_name.ts";
import { createOidc } from "../identity/oidc.ts";
import { CLOCK_TOLERANCE_S, LOGOUT_TOKEN_AGE_S } from "../identity/tokens.ts";
import { SIGN_IN_STATE_SECONDS } from "../domain/limits.ts";
import { UsedOnce } from "../identity/used_once.ts";
import { openConnection } from "../identity/wire.ts";
import { oidcSettings } from "../config/config.ts";
import type { Identifying } from "../http/exchange.ts";
import { createApp } from "../http/app.ts";
import { type ConnectionCounts, noConnections } from "../http/connections.ts";
import { createObservation } from "../http/observation.ts";
import type { Application } from "../http/server.ts";
import { parseNetworks } from "../limits/networks.ts";
import type { Metrics } from "../observability/metrics.ts";
import { raiseAlteredKeys } from "../operations/chains/own_keys.ts";
import type { Dependencies } from "../operations/dependencies.ts";
import type { ClockReading } from "../operations/installation/clock_watch.ts";
import { applySecrets } from "../operations/installation/installation.ts";
import { followTampering, raiseSuspicion } from "../operations/shared/tampering.ts";
import { alertsQuery } from "../store/alerts.ts";
import { readBacklogs } from "../store/backlogs.ts";
import { countChains, loadHeads } from "../store/chains.ts";
import { fileSystemOf } from "../store/file_system.ts";
import { reachDatabase } from "../store/installation.ts";
import type { OwnListener } from "../webhooks/target.ts";
import { type Background, type BackgroundOptions, buildBackground } from "./background.ts";
import { type Storage, whileBusy } from "./opened_storage.ts";
import { recover, type Recovered, type RecoveryOptions } from "./recovery.ts";

/** Options of the stages after storage. */
export interface ServiceOptions extends RecoveryOptions, BackgroundOptions {
  /** Version of the program, as answers and metrics state it. */
  readonly version: string;
  /** Lines of the log that could not be written since the start; default 0. */
  readonly lostLines?: () => number;
  /**
   * True to record a restore: the start accepts an unfinished restore, and mends an altered table of keys.
   */
  readonly isRestore?: boolean;
  /** The most bytes for request bodies held at once; default: the program's. */
  readonly bodyMemoryBytes?: number;
}

/** The service, open but not yet listening. */
export interface Service {
  readonly app: Application;
  /** Answers at the listener for metrics; null if there is none. */
  readonly observation: Application | null;
  /** Counts of the main listener's connections; the listener keeps them up to date. */
  readonly connections: ConnectionCounts;
  readonly dependencies: Dependencies;
  /** True if a restore made the table of signing keys anew. */
  readonly areKeysMended: boolean;
  /**
   * Tells the service where it listens, its main listener first. Then keys that older secrets wrapped are
   * wrapped with the present ones, and the background work starts.
   */
  announce(listeners: readonly OwnListener[]): Promise<void>;
  /** Records that this machine's clock is right after a jump; null if there is nothing to accept. */
  acceptClock(): Promise<ClockReading | null>;
  /** From now on new requests get 503. */
  drain(): void;
  /** Answers what was accepted and closes the database. */
  close(): Promise<void>;
}

interface Stages {
  readonly storage: Storage;
  readonly recovered: Recovered;
  readonly background: Background;
}

export interface BuiltService extends Stages {
  readonly service: Service;
}

/**
 * Builds the stages after storage. No background work runs yet.
 * @throws {StartError} if the start cannot go on. The storage stays open.
 */
export async function buildService(options: ServiceOptions, storage: Storage): Promise<BuiltService> {
  const { clock } = options;
  const recovered = await recover(options, storage);
  const background = buildBackground(options, recovered);
  const { dependencies } = background;
  if (dependencies.tampered !== null) {
    await followTampering(dependencies);
    await raiseSuspicion(dependencies, clock.now());
    await raiseAlteredKeys(dependencies, clock.now());
  }
  const stages = { storage, recovered, background };
  return { ...stages, service: await serve(options, stages) };
}

async function serve(options: ServiceOptions, stages: Stages): Promise<Service> {
  const { config, clock } = options;
  const { storage, recovered, background } = stages;
  const { dependencies } = background;
  let isDraining = false;
  const connections = noConnections();
  const metrics = config.metrics === null ? null : await metricsOf(options, stages, connections);
  const provider = providerOf(options);
  const app = appOf(options, stages, {
    metrics,
    identifying: provider?.identifying ?? null,
    isDraining: () => isDraining,
  });
  return {
    app: {
      fetch: (request, client) => background.requests.during(async () => await app.fetch(request, client)),
    },
    observation: metrics && observationOf(options, stages, { metrics, isDraining: () => isDraining }),
    connections,
    dependencies,
    areKeysMended: recovered.areKeysMended,
    async announce(listeners) {
      if (recovered.isCurrent()) await whileBusy(clock, () => applySecrets(recovered.base));
      background.announce(listeners);
      background.start();
    },
    acceptClock: () => recovered.acceptClock(),
    drain() {
      isDraining = true;
      background.drain();
    },
    async close() {
      await background.close();
      provider?.close();
      await recovered.close();
      await storage.close();
    },
  };
}

/** The dependencies of both listeners besides the stages. */
interface Answerers {
  readonly metrics: Metrics | null;
  readonly isDraining: () => boolean;
}

/** The identity provider of the configuration; null if there is none. Nothing is sent before somebody signs in. */
function providerOf(
  { config: { oidc, baseUrl, certificates }, clock, world }: ServiceOptions,
): { readonly identifying: Identifying; close(): void } | null {
  if (oidc === null) return null;
  const connection = openConnection(certificates);
  return {
    identifying: {
      oidc: createOidc(oidcSettings(oidc, baseUrl!), {
        fetch: connection.fetch,
        now: clock.now,
        random: (length) => world.random(length),
      }),
      issuer: oidc.issuer,
      map: oidc.map,
      // What is older is refused, whatever the clocks show (Back-Channel Logout 1.0, section 2.6, step 8).
      usedOnce: new UsedOnce(
        1_000 * Math.max(LOGOUT_TOKEN_AGE_S + 2 * CLOCK_TOLERANCE_S, SIGN_IN_STATE_SECONDS),
      ),
    },
    close: () => connection.close(),
  };
}

function appOf(
  { version, config, clock, log, bodyMemoryBytes }: ServiceOptions,
  { background: { dependencies, breaches, limits, listeners } }: Stages,
  { metrics, identifying, isDraining }: Answerers & { readonly identifying: Identifying | null },
) {
  return createApp({
    dependencies,
    ...(metrics === null ? {} : { observe: metrics.observeRequest }),
    masterSecrets: config.masterSecrets,
    clock,
    log,
    breaches,
    addressWindow: limits.address,
    keyWindow: limits.key,
    identifying,
    sessionWindow: limits.session,
    signInWindows: limits.signIn,
    trustedProxies: parseNetworks(config.trustedProxies),
    description: {
      version,
      patent: config.patent,
      baseUrl: () => config.baseUrl ?? listeners()[0]?.url ?? "",
    },
    adminDashboard: config.adminDashboard,
    servesTls: config.tls !== null,
    isDraining,
    ...(bodyMemoryBytes === undefined ? {} : { bodyMemoryBytes }),
  });
}

function observationOf(
  { clock, log, world }: ServiceOptions,
  { storage: { database }, recovered: { clockWatch, base: { tampered } } }: Stages,
  { metrics, isDraining }: Answerers & { readonly metrics: Metrics },
): Application {
  return createObservation({
    metrics,
    log,
    newCall() {
      const now = clock.now();
      return { now, requestId: world.ulid(now) };
    },
    isDraining,
    isClockRefused: () => clockWatch.isRefused,
    isAltered: () => tampered?.mustLeaveRotation ?? false,
    readDatabase: () => reachDatabase(database),
  });
}

/** The module of metrics is loaded only if metrics are configured: a start without it is shorter. */
async function metricsOf(
  { version, config, clock, lostLines = () => 0 }: ServiceOptions,
  { storage, recovered, background }: Stages,
  connections: ConnectionCounts,
): Promise<Metrics> {
  const { createMetrics } = await import("../observability/metrics.ts");
  const { dependencies, limits } = background;
  const { database, deliveries, lock, model, shadow, tampered, writer } = dependencies;
  const metrics = createMetrics({
    version,
    model: model.document.version,
    uncounted: () => ({ address: limits.address.uncounted, key: limits.key.uncounted }),
    connections,
    waitingWrites: () => writer.waiting,
    chains: () => countChains(database, { except: SYSTEM_CHAIN }),
    async checkpointAge() {
      const [head] = await loadHeads(database, [SYSTEM_CHAIN]);
      return Math.max(0, clock.now() - Date.parse(head!.lastTimestamp)) / 1000;
    },
    isSuspect: () => lock.isInDoubt() || (tampered?.families.length ?? 0) > 0,
    alteredChains: () => tampered?.families.length ?? 0,
    isClockRefused: () => recovered.clockWatch.isRefused,
    isLockBehind: () => storage.isLockBehind(),
    lostLines,
    freeSpace: () => fileSystemOf(config.dataDir)?.free ?? null,
    openAlerts: async () => (await database.read(alertsQuery({ all: false }))).length,
    deliveries: deliveries.counts,
    backlog: () => readBacklogs(database),
    shadow: shadow && { candidate: shadow.candidate.document.version, counts: () => shadow.counts },
  });
  recovered.observe({
    onCommitted: (commit) => metrics.observeCommit(commit),
    onCompared: (compared) => metrics.observeShadow(compared),
  });
  return metrics;
}
