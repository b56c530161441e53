/**
 * Builds the service in four stages. Each one uses the results of those before it: storage is opened
 * (`storage.ts`), the installation is recovered (`recovery.ts`), the background work is built
 * (`background.ts`), requests are answered (`serving.ts`).
 */
import deno from "../../deno.json" with { type: "json" };
import { DatabaseUnavailable } from "../store/database.ts";
import { openStored, type OpenStoredOptions } from "./databases.ts";
import { modelOf } from "./recovery.ts";
import { buildService, type Service, type ServiceOptions } from "./serving.ts";
import { keyInFile } from "./key_files.ts";
import { keepStopped, lockDirectory, requireNoUnfinishedRestore } from "./data_directory.ts";
import {
  bringUpToDate,
  SCHEMA_VERSION,
  schemaTroubleOf,
  type StorageOptions,
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
  type Service,
};

export const VERSION: string = deno.version;

/** Milliseconds for which a start asks a database server that does not answer, and between two attempts. */
const SERVER_PATIENCE_MS = 10_000;
const SERVER_RETRY_MS = 500;

export interface ComposeOptions extends StorageOptions, Omit<ServiceOptions, "version"> {}

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
  const { config, isRestore = false } = options;
  // One process starts at a time: the first one makes the key, the schema and the installation, the next finds them.
  using _lock = await lockDirectory(config.dataDir);
  if (!isRestore) requireNoUnfinishedRestore(config.dataDir);
  return await withStorage(options, async (storage) => {
    const { service, background } = await buildService({ ...options, version: VERSION }, storage);
    background.startTimers();
    return service;
  });
}
