/**
 * Builds the service in four stages. Each one uses the results of those before it: storage is opened
 * (`storage.ts`), the installation is recovered (`recovery.ts`), the background work is set up
 * (`background.ts`), requests are answered.
 */
import { raiseAlteredKeys } from "../operations/chains/own_keys.ts";
import { SYSTEM_CHAIN } from "../evidence/chain_name.ts";
import deno from "../../deno.json" with { type: "json" };
import { createApp } from "../http/app.ts";
import { type ConnectionCounts, noConnections } from "../http/connections.ts";
import { createObservation } from "../http/observation.ts";
import type { Application } from "../http/server.ts";
import { parseNetworks } from "../limits/networks.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { Dependencies } from "../operations/dependencies.ts";
import type { ClockReading } from "../operations/installation/clock_watch.ts";
import { applySecrets } from "../operations/installation/installation.ts";
import { followTampering, raiseSuspicion } from "../operations/shared/tampering.ts";
import { alertsQuery } from "../store/alerts.ts";
import { readBacklogs } from "../store/backlogs.ts";
import { countChains, loadHeads } from "../store/chains.ts";
import { DatabaseUnavailable } from "../store/database.ts";
import { fileSystemOf } from "../store/file_system.ts";
import { reachDatabase } from "../store/installation.ts";
import type { OwnListener } from "../webhooks/target.ts";
import { type Background, runInBackground } from "./background.ts";
import { openStored, type OpenStoredOptions } from "./databases.ts";
import { modelOf, recover, type Recovered, type RecoveryOptions } from "./recovery.ts";
import { keepStopped, keyInFile, lockDirectory, requireNoUnfinishedRestore } from "./startup.ts";
import {
  bringUpToDate,
  SCHEMA_VERSION,
  schemaTroubleOf,
  type Storage,
  type StorageOptions,
  whileBusy,
  withStorage,
} from "./storage.ts";

export {
  bringUpToDate,
  keepStopped,
  keyInFile,
  lockDirectory,
  modelOf,
  openStored,
  type OpenStoredOptions,
  SCHEMA_VERSION,
  schemaTroubleOf,
};

export const VERSION: string = deno.version;

/** Milliseconds for which a start asks a database server that does not answer, and between two attempts. */
const SERVER_PATIENCE_MS = 10_000;
const SERVER_RETRY_MS = 500;

export interface ComposeOptions extends StorageOptions, RecoveryOptions {
  /** Lines of the log that could not be written since the start; default 0. */
  readonly lostLines?: () => number;
  /**
   * True to record a restore: the start accepts an unfinished restore, and mends an altered table of keys.
   */
  readonly isRestore?: boolean;
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

/**
 * Opens the store, brings it up to date and wires the application.
 * @throws {StartError} and {SchemaRefused} if the start cannot go on; {DatabaseUnavailable} if the database
 *   could not be used for some seconds.
 */
export async function openService(options: ComposeOptions): Promise<Service> {
  const { config, clock, log } = options;
  const started = clock.monotonic();
  for (let attempt = 1;; attempt += 1) {
    try {
      return await openOnce(options);
    } catch (error) {
      // A file whose disk failed must not be opened anew by this process.
      const mayPass = error instanceof DatabaseUnavailable && config.database.kind === "server";
      if (!mayPass || clock.monotonic() - started >= SERVER_PATIENCE_MS) throw error;
      if (attempt === 1) {
        log.warn("the database server cannot be used yet, and is asked again for some seconds", {
          error: error.message,
        });
      }
      await clock.wait(SERVER_RETRY_MS);
    }
  }
}

async function openOnce(options: ComposeOptions): Promise<Service> {
  const { config, clock, isRestore = false } = options;
  // One process starts at a time: the first one makes the key, the schema and the installation, the next finds them.
  using _lock = await lockDirectory(config.dataDir);
  if (!isRestore) requireNoUnfinishedRestore(config.dataDir);
  return await withStorage(options, async (storage) => {
    const recovered = await recover(options, storage);
    const background = runInBackground(options, recovered);
    const { dependencies } = background;
    await followTampering(dependencies);
    await raiseSuspicion(dependencies, clock.now());
    await raiseAlteredKeys(dependencies, clock.now());
    return await serve(options, { storage, recovered, background });
  });
}

interface Stages {
  readonly storage: Storage;
  readonly recovered: Recovered;
  readonly background: Background;
}

async function serve(options: ComposeOptions, stages: Stages): Promise<Service> {
  const { config, clock } = options;
  const { storage, recovered, background } = stages;
  const { dependencies } = background;
  let isDraining = false;
  const connections = noConnections();
  const metrics = config.metrics === null ? null : await metricsOf(options, stages, connections);
  const app = appOf(options, stages, { metrics, isDraining: () => isDraining });
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
      background.start(listeners);
    },
    acceptClock: () => recovered.acceptClock(),
    drain() {
      isDraining = true;
      background.drain();
    },
    async close() {
      await background.close();
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

function appOf(
  { config, clock, log }: ComposeOptions,
  { background: { dependencies, breaches, limits, listeners } }: Stages,
  { metrics, isDraining }: Answerers,
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
    trustedProxies: parseNetworks(config.trustedProxies),
    description: {
      version: VERSION,
      patent: config.patent,
      baseUrl: () => config.baseUrl ?? listeners()[0]?.url ?? "",
    },
    adminDashboard: config.adminDashboard,
    servesTls: config.tls !== null,
    isDraining,
  });
}

function observationOf(
  { clock, log, world }: ComposeOptions,
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
  { config, clock, lostLines = () => 0 }: ComposeOptions,
  { storage, recovered: { clockWatch, observers }, background }: Stages,
  connections: ConnectionCounts,
): Promise<Metrics> {
  const { createMetrics } = await import("../observability/metrics.ts");
  const { dependencies, limits } = background;
  const { database, deliveries, lock, model, shadow, tampered, writer } = dependencies;
  const metrics = createMetrics({
    version: VERSION,
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
    isClockRefused: () => clockWatch.isRefused,
    isLockBehind: () => storage.isLockBehind(),
    lostLines,
    freeSpace: () => fileSystemOf(config.dataDir)?.free ?? null,
    openAlerts: async () => (await database.read(alertsQuery({ all: false }))).length,
    deliveries: deliveries.counts,
    backlog: () => readBacklogs(database),
    shadow: shadow && { candidate: shadow.candidate.document.version, counts: () => shadow.counts },
  });
  observers.committed.add((commit) => metrics.observeCommit(commit));
  observers.compared.add((compared) => metrics.observeShadow(compared));
  return metrics;
}
