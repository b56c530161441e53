/** The first stage of a start: it opens the database and brings it to the schema of this program. */
import { MIGRATIONS, SCHEMA_SHA256 } from "../../migrations/mod.ts";
import type { Config } from "../config/config.ts";
import type { Clock, World } from "../domain/world.ts";
import { hex, utf8 } from "../evidence/crypto.ts";
import { nodeCrypto } from "../evidence/node_crypto.ts";
import type { Log } from "../observability/log.ts";
import type { Database } from "../store/database.ts";
import { openEmbedded } from "../store/embedded.ts";
import type { StorageFailure } from "../store/faults.ts";
import type { CheckpointLock } from "../store/lock.ts";
import { migrate } from "../store/migrate.ts";
import {
  expectedSchema,
  readSchema,
  requireNone,
  type SchemaObjects,
  schemaText,
  type SchemaTrouble,
  schemaTrouble,
} from "../store/schema_check.ts";
import { lockFollowing, openCheckpointLock } from "./checkpoint_lock.ts";
import { DATABASE_FILE, keepCopyBefore, openDatabase, unusable } from "./databases.ts";
import { type Storage, whileBusy } from "./opened_storage.ts";
import { markRunning, removeLeftOver } from "./data_directory.ts";
import { realClock } from "./world.ts";

/** The newest step of the schema. */
export const SCHEMA_VERSION: number = MIGRATIONS.at(-1)!.version;

export interface StorageOptions {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly world: World;
  /** Called once if storage failed for good: nothing may be written after it. */
  readonly onFatal: (error: StorageFailure) => void;
}

let expected: Promise<SchemaObjects> | null = null;

/**
 * How the schema of a database of this program's version differs from the expected one; null if it does not.
 */
export async function schemaTroubleOf(database: Database): Promise<SchemaTrouble | null> {
  const text = schemaText(await readSchema(database));
  if (hex(nodeCrypto.sha256(utf8(text))) === SCHEMA_SHA256) return null;
  // Tables and indexes of a replication are allowed; and a difference has a name.
  return await schemaTrouble(database, await (expected ??= expectedSchema(MIGRATIONS)));
}

/** Brings a database file that nobody else has open to this program's schema. @throws {SchemaRefused}. */
export async function bringUpToDate(path: string): Promise<void> {
  const database = openEmbedded({ path, onFatal: () => {} });
  try {
    await migrate(database, { migrations: MIGRATIONS, now: realClock.now() });
    requireNone(await schemaTroubleOf(database));
  } finally {
    await database.close();
  }
}

/**
 * Opens the database and `lock.db`, and runs `rest` with them. If that fails, all is closed again.
 * @throws {StartError}; {SchemaRefused}; {DatabaseUnavailable}; what `rest` throws.
 */
export async function withStorage<Result>(
  options: StorageOptions,
  rest: (storage: Storage) => Promise<Result>,
): Promise<Result> {
  const { config, log, clock, world } = options;
  const running = await markRunning(config.dataDir);
  let failure: StorageFailure | null = null;
  const onFatal = (error: StorageFailure) => {
    failure = error;
    options.onFatal(error);
  };
  const { database, thread } = await openDatabase(config, { log, clock, world, onFatal }).catch((error) => {
    running[Symbol.dispose]();
    throw error;
  });
  let lock: CheckpointLock | undefined;
  const close = async () => {
    await lock?.close();
    await database.close();
    running[Symbol.dispose]();
  };
  try {
    removeLeftOver(config);
    const following = lockFollowing({ log, clock });
    lock = await openCheckpointLock(config, { thread, onTrouble: following.onTrouble });
    await bringToSchema(options, database);
    return await rest({ database, lock, isLockBehind: following.isBehind, close });
  } catch (error) {
    await close();
    if (failure !== null) throw unusable(DATABASE_FILE, failure);
    throw error;
  }
}

async function bringToSchema({ config, log, clock }: StorageOptions, database: Database): Promise<void> {
  const applied = await whileBusy(clock, async () => {
    await keepCopyBefore(config, { database, to: SCHEMA_VERSION, log });
    const steps = await migrate(database, { migrations: MIGRATIONS, now: clock.now() });
    requireNone(await schemaTroubleOf(database));
    return steps;
  });
  for (const name of applied) log.info("migration applied", { name });
}
