/**
 * Builds the real clock, randomness, store, operations and application: the only file that sees everything, and
 * with `config/` the only one that touches time, entropy and the environment.
 */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { lookup } from "node:dns/promises";
import { monotonicFactory } from "ulid";
import deno from "../deno.json" with { type: "json" };
import { MIGRATIONS } from "../migrations/mod.ts";
import type { Config, Environment } from "./config/config.ts";
import { keepCopyBefore, openDatabase, openStored, type OpenStoredOptions } from "./databases.ts";
import { hex } from "./evidence/crypto.ts";
import { modelSha256 } from "./evidence/hashes.ts";
import { nodeCrypto } from "./evidence/node_crypto.ts";
import { createApp } from "./http/app.ts";
import { createObservation } from "./http/observation.ts";
import type { Clock } from "./http/exchange.ts";
import { type ConnectionCounts, noConnections } from "./http/connections.ts";
import type { Answering } from "./http/server.ts";
import type { RateWindow } from "./limits/admission.ts";
import { parseNetworks } from "./limits/networks.ts";
import { SharedCounters } from "./limits/shared_counters.ts";
import { SharedWindow } from "./limits/shared_window.ts";
import { SlidingWindow } from "./limits/sliding_window.ts";
import { causeFields, createLog, errorFields, type Log } from "./observability/log.ts";
import type { Metrics } from "./observability/metrics.ts";
import { BreachLog } from "./operations/breaches.ts";
import { dispatchedDeliveries } from "./operations/deliveries.ts";
import {
  type Dependencies,
  isEvidenceChain,
  noDeliveries,
  SYSTEM_CHAIN,
  type World,
} from "./operations/dependencies.ts";
import { openInstallation, takeUpSecrets } from "./operations/installation.ts";
import { SigningKeys } from "./operations/signing.ts";
import { StartError } from "./operations/start_error.ts";
import { Upkeep } from "./operations/upkeep.ts";
import { isUnavailable } from "./domain/errors.ts";
import {
  RATE_STORE_TIMEOUT_MS,
  RATE_WINDOW_MS,
  RESOLUTION_TIMEOUT_MS,
  WEBHOOK_LEASE_MARGIN_MS,
} from "./domain/limits.ts";
import type { Model } from "./scoring/model.ts";
import { alertsQuery } from "./store/alerts.ts";
import { countChains, loadHeads } from "./store/chains.ts";
import { openEmbedded } from "./store/embedded.ts";
import { fileSystemOf } from "./store/file_system.ts";
import { type CheckpointLock, openLock } from "./store/lock.ts";
import type { StorageThread } from "./store/thread.ts";
import { openThreadedLock } from "./store/threaded_lock.ts";
import { migrate } from "./store/migrate.ts";
import { backlogs } from "./store/backlogs.ts";
import { nextTurn } from "./store/turn.ts";
import { DatabaseBusy, DatabaseUnavailable, query } from "./store/database.ts";
import { type Setback, Writer } from "./store/writer.ts";
import { createDeliverer } from "./webhooks/delivery.ts";
import { Dispatcher } from "./webhooks/dispatcher.ts";
import { isListener, type OwnListener } from "./webhooks/target.ts";
import {
  bootstrapOrganization,
  createPrivately,
  keepStopped,
  keyInFile,
  keyMint,
  lockDirectory,
  markRunning,
  provideSigningKey,
  signerSource,
} from "./startup.ts";

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
/** How often the lock is brought to the disk: how much of a rollback can go unnoticed after a power cut. */
const LOCK_SYNC_MS = 1_000;

/** For so long after an answer the next request is expected. */
const BUSY_MS = 50;

/** A timer may fire so much later than it was set for. */
const TIMER_GRAIN_MS = 2;

export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  wait: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  async until(instant) {
    for (;;) {
      const left = instant - realClock.monotonic();
      if (left <= 0) return;
      // What a timer is too coarse for is waited out in turns, between which everything else is done.
      await (left > TIMER_GRAIN_MS ? realClock.wait(left - TIMER_GRAIN_MS) : nextTurn());
    }
  },
};

/** Secure randomness; ULIDs increase within the process. */
export function realWorld(): World {
  const nextUlid = monotonicFactory(randomFractions());
  return { random: (length) => new Uint8Array(randomBytes(length)), ulid: (at) => nextUlid(at) };
}

const FRACTIONS_DRAWN = 256;

/** Random numbers from 0 to below 1, many drawn at once: a new millisecond's ULID takes sixteen. */
function randomFractions(): () => number {
  const words = new Uint32Array(FRACTIONS_DRAWN);
  let used = words.length;
  return () => {
    if (used === words.length) {
      crypto.getRandomValues(words);
      used = 0;
    }
    const word = words[used]!;
    used += 1;
    return word / 2 ** 32;
  };
}

export function readEnvironment(): Environment {
  return Deno.env.toObject();
}

/** Brings a database's file, which nobody else has open, to the schema of this program. @throws {NewerSchema}. */
export async function bringUpToDate(path: string): Promise<void> {
  const database = openEmbedded({ path, onFatal: () => {} });
  try {
    await migrate(database, { migrations: MIGRATIONS, now: realClock.now() });
  } finally {
    await database.close();
  }
}

/** An Ed25519 private key, PKCS#8 PEM. */
export function generateSigningKey(): string {
  return generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }).toString();
}

/** A secret of 256 random bits, in base64url. */
export function generateSecret(): string {
  return randomBytes(32).toString("base64url");
}

export function modelOf(document: Config["model"]): Model {
  return { document, sha256: modelSha256(nodeCrypto, document) };
}

/** The log on standard output; `pretty` on a terminal where the configuration does not say. */
export function standardLog(format: Config["logFormat"]): Log {
  const encoder = new TextEncoder();
  return createLog({
    format: format ?? (Deno.stdout.isTerminal() ? "pretty" : "json"),
    clock: () => realClock.now(),
    write: (line) => Deno.stdout.writeSync(encoder.encode(line)),
  });
}

export interface ComposeOptions {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly world: World;
  /** Default: from the world's randomness. */
  readonly mintKey?: () => string;
  /** Called once where storage failed for good: nothing may be written after it. */
  readonly onFatal: (error: unknown) => void;
}

/** Every address of a name, as the system resolves it. @throws where it has none, or that takes too long. */
async function resolveHost(host: string): Promise<readonly string[]> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error("the name was not resolved in time")),
    RESOLUTION_TIMEOUT_MS,
  );
  try {
    const answers = await Promise.race([lookup(host, { all: true, verbatim: true }), late.promise]);
    return answers.map(({ address }) => address);
  } finally {
    clearTimeout(timer);
  }
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
  /** From now on new requests get 503. */
  drain(): void;
  /** Answers what was accepted and closes the database. */
  close(): Promise<void>;
}

/**
 * Opens the store, brings it up to date and wires the application.
 * @throws {StartError} and {NewerSchema} where the start cannot go on; {DatabaseUnavailable} where the database could
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
  const { config, log, clock, world, onFatal } = options;
  const { mintKey = keyMint(world) } = options;
  // One process starts at a time: the first one makes the key, the schema and the installation, the next finds them.
  using _lock = await lockDirectory(config.dataDir);
  const running = await markRunning(config.dataDir);
  const { database, thread } = await openDatabase(config, { log, clock, world, onFatal }).catch((error) => {
    running[Symbol.dispose]();
    throw error;
  });
  let lock: CheckpointLock | undefined;
  let metrics: Metrics | null = null;
  try {
    lock = await openCheckpointLock(config, { log, thread });
    const applied = await whileBusy(clock, async () => {
      await keepCopyBefore(config, { database, to: SCHEMA_VERSION, log });
      return await migrate(database, { migrations: MIGRATIONS, now: clock.now() });
    });
    for (const name of applied) log.info("migration applied", { name });

    await provideSigningKey(config, { database, generate: generateSigningKey });
    const signing = new SigningKeys({ database, world, log, source: signerSource(config) });
    const writer = new Writer({
      database,
      crypto: nodeCrypto,
      signing,
      lock,
      monotonic: () => clock.monotonic(),
      backoff: (setback) => clock.wait(backoffMs(setback, world)),
      onCommitted(commit) {
        metrics?.observeCommit(commit);
        for (const { family, entry, hash } of commit.entries) {
          if (isEvidenceChain(family)) continue;
          log.info("audit event", {
            audit: true,
            event: entry.event_type,
            chain: entry.chain,
            seq: entry.seq,
            entry_hash: hex(hash),
            actor: entry.actor,
            org_id: entry.org_id,
          });
        }
      },
    });
    const common = {
      database,
      writer,
      crypto: nodeCrypto,
      signing,
      lock,
      world,
      log,
      model: modelOf(config.model),
      logName: config.logName,
      auditRetentionDays: config.auditRetentionDays,
      evidenceRetentionDays: config.evidenceRetentionDays,
      assessmentRetentionDays: config.assessmentRetentionDays,
      peppers: config.peppers,
      secretsKeys: config.secretsKeys,
    };
    const { installation, current } = await openInstallation({ ...common, now: clock.now() });
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
    if (config.bootstrapOrganization !== null && current) {
      await bootstrapOrganization(dependencies, config.bootstrapOrganization, clock.now());
    }

    let draining = false;
    let dispatched: Promise<void> | null = null;
    const breaches = new BreachLog(dependencies);
    const limits = rateWindows(config, { clock, log, world });
    const breachTimer = setInterval(() => {
      breaches.flush(clock.now());
      limits.forget();
    }, BREACH_FLUSH_MS);
    const upkeep = new Upkeep(dependencies);
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
    const upkeepTimer = setInterval(() => upkeep.run(clock.now()), UPKEEP_MS);
    const lockTimer = setInterval(() => lock!.sync(), LOCK_SYNC_MS);
    const connections = noConnections();
    metrics = config.metrics === null ? null : await metricsOf(config, {
      dependencies,
      connections,
      uncounted: () => ({ address: limits.address.uncounted, key: limits.key.uncounted }),
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
      isDraining: () => draining,
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
        for (const timer of [breachTimer, upkeepTimer, lockTimer]) clearInterval(timer);
        breaches.flush(clock.now(), { isLast: true });
        await limits.close();
        await upkeep.finish(clock.now());
        await writer.close();
        await lock!.close();
        await database.close();
        running[Symbol.dispose]();
      },
    };
  } catch (error) {
    await lock?.close();
    await database.close();
    running[Symbol.dispose]();
    throw error;
  }
}

/** Loaded where they are asked for alone: a start without them is shorter. */
async function metricsOf(
  config: Config,
  { dependencies, connections, uncounted, clock }: {
    readonly dependencies: Dependencies;
    readonly connections: ConnectionCounts;
    readonly uncounted: () => Readonly<Record<string, number>>;
    readonly clock: Clock;
  },
): Promise<Metrics> {
  const { createMetrics } = await import("./observability/metrics.ts");
  const { database, deliveries, lock, model, writer } = dependencies;
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
    isSuspect: () => lock.suspected() !== null,
    freeSpace: () => fileSystemOf(config.dataDir)?.free ?? null,
    openAlerts: async () => (await database.read(alertsQuery({ all: false }))).length,
    deliveries: deliveries.counts,
    backlog: () => backlogs(database),
  });
}

interface RateWindows {
  readonly address: RateWindow;
  readonly key: RateWindow;
  /** Gives back the memory of a time without requests. */
  forget(): void;
  close(): Promise<void>;
}

/** @throws {StartError} where the program was started without what a shared store needs. */
function rateWindows(
  { rateLimitIp, rateLimitKey, rateLimitKv }: Config,
  { clock, log, world }: Pick<ComposeOptions, "clock" | "log" | "world">,
): RateWindows {
  const windowMs = RATE_WINDOW_MS;
  const layer = (name: string, limit: number) => {
    const tellUncounted = (uncounted: number, cause?: unknown) =>
      log.error("requests are refused because the rate limiter cannot count them", {
        layer: name,
        refused_uncounted: uncounted,
        ...(cause === undefined
          ? { error: "too many subjects or requests in a window" }
          : causeFields(cause)),
      });
    const [low, high] = new Uint32Array(world.random(8).slice().buffer);
    const own = new SlidingWindow({ limit, windowMs, hashKey: [low!, high!], tellUncounted });
    return { layer: name, limit, windowMs, own, time: clock, tellUncounted };
  };
  const [address, key] = [layer("address", rateLimitIp), layer("key", rateLimitKey)];
  const forget = () => [address, key].forEach(({ own }) => own.forget(clock.monotonic()));
  if (rateLimitKv === null) {
    return { address: address.own, key: key.own, forget, close: () => Promise.resolve() };
  }
  const counters = new SharedCounters({
    open: kvStore(rateLimitKv),
    time: clock,
    windowMs,
    timeoutMs: RATE_STORE_TIMEOUT_MS,
  });
  return {
    address: new SharedWindow({ ...address, counters }),
    key: new SharedWindow({ ...key, counters }),
    forget,
    close: () => counters.close(),
  };
}

/** Opens a Deno KV store, a file or an address. @throws {StartError} where Deno was started without it. */
function kvStore(location: string): () => Promise<Deno.Kv> {
  if (typeof Deno.openKv !== "function") {
    throw new StartError("JISS_RATE_LIMIT_STORE needs Deno KV: start deno with --unstable-kv");
  }
  return async () => {
    if (!/^https?:/.test(location)) createPrivately(location, "");
    return await Deno.openKv(location);
  };
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

async function openCheckpointLock(
  { lockFile, database }: Config,
  { log, thread }: { readonly log: Log; readonly thread: StorageThread },
): Promise<CheckpointLock> {
  const onFailure = (error: unknown) =>
    log.error("lock.db could not follow the database", errorFields(error));
  if (database.kind === "file" && database.path === ":memory:") {
    return openLock({ path: ":memory:", onFailure });
  }
  createPrivately(lockFile, "");
  try {
    return await openThreadedLock({ path: lockFile, onFailure }, thread);
  } catch (error) {
    throw new StartError(`lock.db in JISS_DATA_DIR cannot be opened: ${(error as Error).message}`);
  }
}
