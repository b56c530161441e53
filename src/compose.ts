/**
 * Builds the real clock, randomness, store, operations and application: the only file that sees everything, and
 * with `config/` the only one that touches time, entropy and the environment.
 */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { monotonicFactory } from "ulid";
import deno from "../deno.json" with { type: "json" };
import { MIGRATIONS } from "../migrations/mod.ts";
import type { Config, Environment } from "./config/config.ts";
import { modelSha256 } from "./evidence/hashes.ts";
import { nodeCrypto } from "./evidence/node_crypto.ts";
import { type App, createApp } from "./http/app.ts";
import type { Clock } from "./http/exchange.ts";
import { parseNetworks } from "./limits/client_address.ts";
import { SlidingWindow } from "./limits/sliding_window.ts";
import { createLog, errorFields, type Log } from "./observability/log.ts";
import { BreachLog } from "./operations/breaches.ts";
import type { Dependencies, World } from "./operations/dependencies.ts";
import { openInstallation } from "./operations/installation.ts";
import { SigningKeys } from "./operations/signing.ts";
import { StartError } from "./operations/start_error.ts";
import { Upkeep } from "./operations/upkeep.ts";
import { RATE_WINDOW_MS } from "./domain/limits.ts";
import type { Model } from "./scoring/model.ts";
import { openEmbedded } from "./store/embedded.ts";
import { type CheckpointLock, openLock } from "./store/lock.ts";
import { migrate } from "./store/migrate.ts";
import { type Database, DatabaseBusy } from "./store/database.ts";
import { Writer } from "./store/writer.ts";
import {
  bootstrapOrganization,
  createPrivately,
  lockDirectory,
  provideSigningKey,
  signerSource,
} from "./startup.ts";

export { lockDirectory };

export const VERSION: string = deno.version;

/** The newest step of the schema. */
export const SCHEMA_VERSION: number = MIGRATIONS.at(-1)!.version;

/** Longest wait before a commit that lost a race is planned anew. */
const BACKOFF_CAP_MS = 50;
/** How long a start waits for a database that another process holds: about six seconds. */
const START_ATTEMPTS = 30;
const START_RETRY_MS = 100;
/** How often chains are anchored, and what is past its retention is looked for. */
const UPKEEP_MS = 60_000;
/** How often the lock is brought to the disk: how much of a rollback can go unnoticed after a power cut. */
const LOCK_SYNC_MS = 1_000;

export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  wait: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

/** Secure randomness; ULIDs increase within the process. */
export function realWorld(): World {
  const nextUlid = monotonicFactory(() => randomBytes(4).readUInt32BE() / 2 ** 32);
  return { random: (length) => new Uint8Array(randomBytes(length)), ulid: (at) => nextUlid(at) };
}

export function readEnvironment(): Environment {
  return Deno.env.toObject();
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
  /** Called once where storage failed for good: nothing may be written after it. */
  readonly onFatal: (error: unknown) => void;
}

/** The service, open but not yet listening. */
export interface Service {
  readonly app: App;
  readonly dependencies: Dependencies;
  /** Tells the service where it listens, where the configuration does not name its address. */
  announce(url: string): void;
  /** From now on new requests get 503. */
  drain(): void;
  /** Answers what was accepted and closes the database. */
  close(): Promise<void>;
}

/**
 * Opens the store, brings it up to date and wires the application.
 * @throws {StartError} and {NewerSchema} where the start cannot go on.
 */
export async function openService({ config, log, clock, world, onFatal }: ComposeOptions): Promise<Service> {
  // One process starts at a time: the first one makes the key, the schema and the installation, the next finds them.
  using _lock = await lockDirectory(config.dataDir);
  createPrivately(config.databaseFile, "");
  const database = openDatabase(config, onFatal);
  let lock: CheckpointLock | undefined;
  try {
    lock = openCheckpointLock(config, log);
    const applied = await whileBusy(
      clock,
      () => migrate(database, { migrations: MIGRATIONS, now: clock.now() }),
    );
    for (const name of applied) log.info("migration applied", { name });

    await provideSigningKey(config, { database, generate: generateSigningKey });
    const signing = new SigningKeys({ database, world, source: signerSource(config) });
    const writer = new Writer({
      database,
      crypto: nodeCrypto,
      signing: () => signing.refresh(),
      lock,
      backoff: (attempt) => clock.wait(jitter(world, Math.min(2 ** attempt, BACKOFF_CAP_MS))),
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
    };
    const { installation, current } = await openInstallation({
      ...common,
      secretsKeys: config.secretsKeys,
      now: clock.now(),
    });
    const dependencies: Dependencies = { ...common, peppers: config.peppers, installation };
    if (config.bootstrapOrganization !== null && current) {
      await bootstrapOrganization(dependencies, config.bootstrapOrganization, clock.now());
    }

    let url = "";
    let draining = false;
    const breaches = new BreachLog(dependencies);
    const breachTimer = setInterval(() => breaches.flush(clock.now()), RATE_WINDOW_MS);
    const upkeep = new Upkeep(dependencies);
    const upkeepTimer = setInterval(() => upkeep.run(clock.now()), UPKEEP_MS);
    const lockTimer = setInterval(() => lock!.sync(), LOCK_SYNC_MS);
    const app = createApp({
      dependencies,
      masterSecrets: config.masterSecrets,
      clock,
      log,
      breaches,
      addressWindow: new SlidingWindow({ limit: config.rateLimitIp, windowMs: RATE_WINDOW_MS }),
      keyWindow: new SlidingWindow({ limit: config.rateLimitKey, windowMs: RATE_WINDOW_MS }),
      trustedProxies: parseNetworks(config.trustedProxies),
      description: { version: VERSION, patent: config.patent, baseUrl: () => config.baseUrl ?? url },
      servesTls: config.tls !== null,
      isDraining: () => draining,
    });
    return {
      app,
      dependencies,
      announce(listening) {
        url = listening;
      },
      drain() {
        draining = true;
      },
      async close() {
        for (const timer of [breachTimer, upkeepTimer, lockTimer]) clearInterval(timer);
        breaches.flush(Infinity);
        await upkeep.finish(clock.now());
        await writer.close();
        await database.close();
        lock!.close();
      },
    };
  } catch (error) {
    await database.close();
    lock?.close();
    throw error;
  }
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

function jitter(world: World, upTo: number): number {
  return (world.random(1)[0]! / 255) * upTo;
}

function openCheckpointLock({ lockFile, databaseFile }: Config, log: Log): CheckpointLock {
  createPrivately(lockFile, "");
  try {
    return openLock({
      path: databaseFile === ":memory:" ? ":memory:" : lockFile,
      onFailure: (error) => log.error("lock.db could not follow the database", errorFields(error)),
    });
  } catch (error) {
    throw new StartError(`lock.db in JISS_DATA_DIR cannot be opened: ${(error as Error).message}`);
  }
}

function openDatabase(config: Config, onFatal: (error: unknown) => void): Database {
  try {
    return openEmbedded({ path: config.databaseFile, onFatal });
  } catch (error) {
    throw new StartError(
      `the database file in JISS_DATA_DIR or JISS_DATABASE_URL cannot be opened: ${(error as Error).message}`,
    );
  }
}
