/** Builds the store, the operations and the application: the only file that sees everything. */
import deno from "../../deno.json" with { type: "json" };
import { MIGRATIONS } from "../../migrations/mod.ts";
import { lockFollowing, openCheckpointLock } from "./checkpoint_lock.ts";
import type { Config } from "../config/config.ts";
import {
  DATABASE_FILE,
  keepCopyBefore,
  openDatabase,
  openStored,
  type OpenStoredOptions,
  unusable,
} from "./databases.ts";
import { modelSha256 } from "../evidence/hashes.ts";
import { nodeCrypto } from "../evidence/node_crypto.ts";
import { createApp } from "../http/app.ts";
import { createObservation } from "../http/observation.ts";
import type { Clock } from "../domain/world.ts";
import { type ConnectionCounts, noConnections } from "../http/connections.ts";
import type { Answering } from "../http/server.ts";
import { parseNetworks } from "../limits/networks.ts";
import { errorFields, type Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import { AuditLines } from "../operations/chains/audit_lines.ts";
import { BreachLog } from "../operations/organizations/breaches.ts";
import {
  type ClockReading,
  type ClockRule,
  ClockWatch,
  recordClockAnomaly,
} from "../operations/installation/clock_watch.ts";
import { dispatchedDeliveries } from "../operations/webhooks/deliveries.ts";
import { type Dependencies } from "../operations/dependencies.ts";
import { noDeliveries } from "../operations/shared/sending.ts";
import { SYSTEM_CHAIN } from "../evidence/chain_name.ts";
import type { World } from "../domain/world.ts";
import { openInstallation, takeUpSecrets } from "../operations/installation/installation.ts";
import { lockedSeals } from "../operations/installation/installation_seals.ts";
import { RegisteredRows } from "../operations/organizations/registered.ts";
import { Shadow } from "../operations/scoring/shadow.ts";
import { SigningKeys } from "../operations/shared/signing.ts";
import { followTampering, raiseSuspicion, TamperedChains } from "../operations/shared/tampering.ts";
import { Upkeep } from "../operations/installation/upkeep.ts";
import { isUnavailable } from "../domain/errors.ts";
import { WEBHOOK_LEASE_MARGIN_MS } from "../domain/limits.ts";
import { rateWindows } from "./rate_windows.ts";
import type { Model } from "../scoring/model.ts";
import { alertsQuery } from "../store/alerts.ts";
import { countChains, loadHeads } from "../store/chains.ts";
import { openEmbedded } from "../store/embedded.ts";
import { fileSystemOf } from "../store/file_system.ts";
import type { StorageFailure } from "../store/faults.ts";
import type { CheckpointLock } from "../store/lock.ts";
import { migrate } from "../store/migrate.ts";
import { backlogs } from "../store/backlogs.ts";
import { type Database, DatabaseBusy, DatabaseUnavailable, query } from "../store/database.ts";
import { type Setback, Writer } from "../store/writer.ts";
import { createDeliverer } from "../webhooks/delivery.ts";
import { Dispatcher } from "../webhooks/dispatcher.ts";
import { isListener, type OwnListener } from "../webhooks/target.ts";
import {
  bootstrapOrganization,
  keepStopped,
  keyInFile,
  keyMint,
  lockDirectory,
  markRunning,
  provideSigningKey,
  removeLeftOver,
  requireNoUnfinishedRestore,
  signerSource,
} from "./startup.ts";
import { generateSigningKey, realClock, resolveHost } from "./world.ts";

export { keepStopped, keyInFile, lockDirectory, openStored, type OpenStoredOptions };

export const VERSION: string = deno.version;

/** The newest step of the schema. */
export const SCHEMA_VERSION: number = MIGRATIONS.at(-1)!.version;

/** Longest wait before a commit is tried anew while another process holds the database. */
const BACKOFF_CAP_MS = 50;
/** Commits, at least, that are left to whoever won a race; twice as many at most. */
const YIELDED_COMMITS = 4;
const YIELD_CAP_MS = 500;
/** Attempts in a row before the winner is left to itself again. */
const RACES = 6;
/** How long a start waits for a database that another process holds: about six seconds. */
const START_ATTEMPTS = 30;
const START_RETRY_MS = 100;
/** How long a start goes on to ask a database server that does not answer, and how long it waits between. */
const SERVER_PATIENCE_MS = 10_000;
const SERVER_RETRY_MS = 500;
/** How often it is looked for breaches whose window is over, and for requests that no window holds any more. */
const BREACH_FLUSH_MS = 5_000;
/** How often chains are anchored, and what is past its retention is looked for. */
const UPKEEP_MS = 60_000;
/** After the start, for the first time: a service that is restarted each minute is kept up, too. */
const FIRST_UPKEEP_MS = 20_000;
/** How often the lock is brought to the disk: how much of a rollback can go unnoticed after a power cut. */
const LOCK_SYNC_MS = 1_000;

/** How often it is looked at what this machine's clock does. */
const CLOCK_LOOK_MS = 1_000;
/** For so long after an answer the next request is expected. */
const BUSY_MS = 50;

/** Brings a database's file, which nobody else has open, to the schema of this program. @throws {SchemaRefused}. */
export async function bringUpToDate(path: string): Promise<void> {
  const database = openEmbedded({ path, onFatal: () => {} });
  try {
    await migrate(database, { migrations: MIGRATIONS, now: realClock.now() });
  } finally {
    await database.close();
  }
}

export function modelOf(document: Config["model"]): Model {
  return { document, sha256: modelSha256(nodeCrypto, document) };
}

export interface ComposeOptions {
  readonly config: Config;
  readonly log: Log;
  /** How many lines of the log could not be written since the start; default: none. */
  readonly lostLines?: () => number;
  readonly clock: Clock;
  readonly world: World;
  /** Default: from the world's randomness. */
  readonly mintKey?: () => string;
  readonly clockRule: ClockRule;
  /** Called once where storage failed for good: nothing may be written after it. */
  readonly onFatal: (error: StorageFailure) => void;
  /** It is opened to record a restore: one that was cut short is no reason to refuse. */
  readonly isRestore?: boolean;
  /**
   * Whether it is the service, which logs the audit events that the commands record beside it, too, and runs the
   * candidate model.
   */
  readonly tellsOthers?: boolean;
}

/** The service, open but not yet listening. */
export interface Service {
  readonly app: Answering;
  /** For the second listener; null: there is none. */
  readonly observation: Answering | null;
  /** Of the first listener, which keeps them up to date. */
  readonly connections: ConnectionCounts;
  readonly dependencies: Dependencies;
  /** Tells the service where it listens, its own door first; it takes up its secrets. */
  announce(listeners: readonly OwnListener[]): Promise<void>;
  /** Records that this machine's clock is right after a jump; null where there is nothing to accept. */
  acceptClock(): Promise<ClockReading | null>;
  /** From now on new requests get 503. */
  drain(): void;
  /** Answers what was accepted and closes the database. */
  close(): Promise<void>;
}

/**
 * Opens the store, brings it up to date and wires the application.
 * @throws {StartError} and {SchemaRefused} where the start cannot go on; {DatabaseUnavailable} where the database could
 *   not be used for some seconds.
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
  const { config, log, clock, world, clockRule, onFatal } = options;
  const { mintKey = keyMint(world), isRestore = false, tellsOthers = false } = options;
  // One process starts at a time: the first one makes the key, the schema and the installation, the next finds them.
  using _lock = await lockDirectory(config.dataDir);
  if (!isRestore) requireNoUnfinishedRestore(config.dataDir);
  const running = await markRunning(config.dataDir);
  let failure: StorageFailure | null = null;
  const { database, thread } = await openDatabase(config, {
    log,
    clock,
    world,
    onFatal(error) {
      failure = error;
      onFatal(error);
    },
  }).catch((error) => {
    running[Symbol.dispose]();
    throw error;
  });
  let lock: CheckpointLock | undefined;
  let metrics: Metrics | null = null;
  try {
    removeLeftOver(config);
    const following = lockFollowing({ log, clock });
    lock = await openCheckpointLock(config, { thread, onTrouble: following.onTrouble });
    const applied = await whileBusy(clock, async () => {
      await keepCopyBefore(config, { database, to: SCHEMA_VERSION, log });
      return await migrate(database, { migrations: MIGRATIONS, now: clock.now() });
    });
    for (const name of applied) log.info("migration applied", { name });
    const auditLines = new AuditLines(log);
    if (tellsOthers) await auditLines.passOver(database);

    await provideSigningKey(config, { database, generate: generateSigningKey });
    const signing = new SigningKeys({
      database,
      crypto: nodeCrypto,
      world,
      log,
      source: signerSource(config),
    });
    const clockWatch = new ClockWatch({
      clock,
      lock,
      log,
      rule: clockRule,
      lastEntryAt: await lastEntryAt(database),
    });
    const shadow = config.shadowModel === null || !tellsOthers ? null : new Shadow({
      candidate: modelOf(config.shadowModel),
      since: clock.now(),
      log,
      monotonic: () => clock.monotonic(),
      onCompared: (compared) => metrics?.observeShadow(compared),
    });
    if (shadow !== null) {
      const { document, sha256 } = shadow.candidate;
      log.info("a candidate model runs in shadow", { candidate: document.version, sha256 });
    }
    const seals = lockedSeals();
    const writerOver = (written: Database) =>
      new Writer({
        database: written,
        crypto: nodeCrypto,
        seals,
        signing,
        lock: lock!,
        monotonic: () => clock.monotonic(),
        backoff: (setback) => clock.wait(backoffMs(setback, world)),
        onCommitted(commit) {
          metrics?.observeCommit(commit);
          auditLines.tellOwn(commit.entries);
          shadow?.take(commit.entries);
        },
      });
    // What must be recorded before anything else may be goes past it.
    const opening = writerOver(database);
    const watched: Database = {
      ...database,
      async batch(statements) {
        clockWatch.require();
        if (clockRule.follows) await resume();
        await database.batch(statements);
      },
    };
    const writer = writerOver(watched);
    const common = {
      database: watched,
      writer,
      crypto: nodeCrypto,
      signing,
      seals,
      lock,
      world,
      log,
      model: modelOf(config.model),
      registered: new RegisteredRows(),
      tampered: new TamperedChains(),
      shadow,
      logName: config.logName,
      auditRetentionDays: config.auditRetentionDays,
      evidenceRetentionDays: config.evidenceRetentionDays,
      assessmentRetentionDays: config.assessmentRetentionDays,
      peppers: config.peppers,
      secretsKeys: config.secretsKeys,
    };
    const openNow = ({ readsOnly }: { readonly readsOnly: boolean }) =>
      openInstallation({ ...common, database, writer: opening, now: clock.now(), readsOnly });
    const opened = await openNow({ readsOnly: clockWatch.isRefused });
    const { installation } = opened;
    let { current } = opened;
    let listeners: readonly OwnListener[] = [];
    const targets = {
      policy: {
        allowed: parseNetworks(config.webhookAllow),
        isOwn: (address: string, port: number) => listeners.some((own) => isListener(own, { address, port })),
      },
      resolve: resolveHost,
    };
    const stopping = new AbortController();
    const dependencies: Dependencies = {
      ...common,
      mintKey,
      installation,
      targets,
      deliveries: {
        deliverer: createDeliverer({
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
        stopping: stopping.signal,
      },
    };
    const unwatched = { ...dependencies, database, writer: opening };
    const completeStart = async () => {
      if (config.bootstrapOrganization === null) return;
      await bootstrapOrganization(unwatched, config.bootstrapOrganization, clock.now());
    };
    if (current) await completeStart();
    let resuming: Promise<void> | null = null;
    /** What the start left out where nothing could be recorded. */
    const resume = async () => {
      if (current) return;
      resuming ??= (async () => {
        current = (await openNow({ readsOnly: false })).current;
        if (!current) return;
        await completeStart();
        await takeUpSecrets(unwatched);
      })().finally(() => resuming = null);
      await resuming;
    };
    const lookAtClock = () =>
      clockWatch.look({ record: (anomaly) => recordClockAnomaly(unwatched, anomaly), resume });
    await lookAtClock();
    await followTampering(dependencies);
    await raiseSuspicion(dependencies, clock.now());

    let draining = false;
    let dispatched: Promise<void> | null = null;
    const breaches = new BreachLog(dependencies);
    const limits = rateWindows(config, { clock, log, world });
    const breachTimer = setInterval(() => {
      breaches.flush(clock.now());
      limits.forget();
    }, BREACH_FLUSH_MS);
    const upkeep = new Upkeep(dependencies, tellsOthers ? auditLines : null);
    let requests = 0;
    let answeredAt = -Infinity;
    const { deliverer, leaseMs } = dependencies.deliveries;
    const dispatcher = new Dispatcher(dispatchedDeliveries(dependencies), {
      clock,
      mayWait: () =>
        (requests > 0 || clock.monotonic() - answeredAt < BUSY_MS) && !dependencies.deliveries.counts.urgent,
      timeoutMs: config.webhookTimeoutMs,
      leaseMs,
      isPassing: (error) => isUnavailable(error) || error instanceof DatabaseBusy,
      onError: (error) => log.error("the webhook loop failed and goes on", errorFields(error)),
    });
    let firstUpkeep: ReturnType<typeof setTimeout> | undefined;
    const upkeepTimer = setInterval(() => upkeep.run(clock.now()), UPKEEP_MS);
    const lockTimer = setInterval(() => lock!.sync(), LOCK_SYNC_MS);
    const clockTimer = setInterval(lookAtClock, CLOCK_LOOK_MS);
    const connections = noConnections();
    metrics = config.metrics === null ? null : await metricsOf(config, {
      dependencies,
      connections,
      uncounted: () => ({ address: limits.address.uncounted, key: limits.key.uncounted }),
      isClockRefused: () => clockWatch.isRefused,
      isLockBehind: following.isBehind,
      lostLines: options.lostLines ?? (() => 0),
      clock,
    });
    const app = createApp({
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
        baseUrl: () => config.baseUrl ?? listeners[0]?.url ?? "",
      },
      adminDashboard: config.adminDashboard,
      servesTls: config.tls !== null,
      isDraining: () => draining,
    });
    const observation = metrics === null ? null : createObservation({
      metrics,
      log,
      newCall() {
        const now = clock.now();
        return { now, requestId: world.ulid(now) };
      },
      isDraining: () => draining,
      isClockRefused: () => clockWatch.isRefused,
      isAltered: () => common.tampered.mustLeaveRotation,
      reach: () => database.read(query.selectFrom("installation").select("id").compile()),
    });
    return {
      app: {
        fetch: async (request, client) => {
          requests += 1;
          try {
            return await app.fetch(request, client);
          } finally {
            requests -= 1;
            answeredAt = clock.monotonic();
          }
        },
      },
      observation,
      connections,
      dependencies,
      async announce(announced) {
        listeners = announced;
        if (current) await whileBusy(clock, () => takeUpSecrets(common));
        dispatcher.start();
        firstUpkeep = setTimeout(() => upkeep.run(clock.now()), FIRST_UPKEEP_MS);
      },
      async acceptClock() {
        const reading = clockWatch.toAccept;
        if (reading === null) return null;
        await recordClockAnomaly(unwatched, { ...reading, noticed: "accepted" });
        lock!.recordClock({ at: reading.clockAt, isRefused: false });
        return reading;
      },
      drain() {
        draining = true;
        dispatched = dispatcher.stop();
      },
      async close() {
        stopping.abort();
        await Promise.allSettled(dependencies.deliveries.tests.values());
        await (dispatched ?? dispatcher.stop());
        deliverer.close();
        clearTimeout(firstUpkeep);
        for (const timer of [breachTimer, upkeepTimer, lockTimer, clockTimer]) clearInterval(timer);
        breaches.flush(clock.now(), { isLast: true });
        await limits.close();
        await upkeep.finish(clock.now());
        await writer.close();
        await shadow?.close();
        await lookAtClock();
        await opening.close();
        clockWatch.finish();
        await lock!.close();
        await database.close();
        running[Symbol.dispose]();
      },
    };
  } catch (error) {
    await lock?.close();
    await database.close();
    running[Symbol.dispose]();
    if (failure !== null) throw unusable(DATABASE_FILE, failure);
    throw error;
  }
}

async function lastEntryAt(database: Database): Promise<number | null> {
  const [head] = await loadHeads(database, [SYSTEM_CHAIN]);
  return head === undefined ? null : Date.parse(head.lastTimestamp);
}

/** Loaded where they are asked for alone: a start without them is shorter. */
async function metricsOf(
  config: Config,
  { dependencies, connections, uncounted, isClockRefused, isLockBehind, lostLines, clock }: {
    readonly dependencies: Dependencies;
    readonly connections: ConnectionCounts;
    readonly uncounted: () => Readonly<Record<string, number>>;
    readonly isClockRefused: () => boolean;
    readonly isLockBehind: () => boolean;
    readonly lostLines: () => number;
    readonly clock: Clock;
  },
): Promise<Metrics> {
  const { createMetrics } = await import("../observability/metrics.ts");
  const { database, deliveries, lock, model, shadow, tampered, writer } = dependencies;
  return createMetrics({
    version: VERSION,
    model: model.document.version,
    uncounted,
    connections,
    waitingWrites: () => writer.waiting,
    chains: () => countChains(database, { except: SYSTEM_CHAIN }),
    async checkpointAge() {
      const [head] = await loadHeads(database, [SYSTEM_CHAIN]);
      return Math.max(0, clock.now() - Date.parse(head!.lastTimestamp)) / 1000;
    },
    isSuspect: () => lock.suspected() !== null || (tampered?.families.length ?? 0) > 0,
    alteredChains: () => tampered?.families.length ?? 0,
    isClockRefused,
    isLockBehind,
    lostLines,
    freeSpace: () => fileSystemOf(config.dataDir)?.free ?? null,
    openAlerts: async () => (await database.read(alertsQuery({ all: false }))).length,
    deliveries: deliveries.counts,
    backlog: () => backlogs(database),
    shadow: shadow && { candidate: shadow.candidate.document.version, counts: () => shadow.counts },
  });
}

/** Tries again while another process, a backup perhaps, holds the database. */
async function whileBusy<T>(clock: Clock, run: () => Promise<T>): Promise<T> {
  for (let attempt = 1;; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof DatabaseBusy) || attempt >= START_ATTEMPTS) throw error;
      await clock.wait(START_RETRY_MS);
    }
  }
}

/**
 * How long to wait before a commit is tried anew. Who loses a race leaves the winner to itself for some commits, since
 * of two that race each time one works in vain; then it tries at once until it wins, as the other does after that.
 */
function backoffMs({ attempt, tookMs, cause }: Setback, world: World): number {
  const fraction = world.random(1)[0]! / 255;
  if (cause === "busy") return fraction * Math.min(2 ** attempt, BACKOFF_CAP_MS);
  if (attempt % RACES !== 1) return 0;
  return Math.min((YIELDED_COMMITS + fraction * YIELDED_COMMITS) * tookMs, YIELD_CAP_MS);
}
