/** Opening the database that the configuration names: a file with its thread, or a libSQL server over the network. */
import { STORAGE_THREAD } from "./assets.ts";
import type { Config, StorageConfig } from "./config/config.ts";
import type { Clock } from "./http/exchange.ts";
import { reasonOf } from "./domain/errors.ts";
import type { Log } from "./observability/log.ts";
import type { World } from "./operations/dependencies.ts";
import { StartError } from "./operations/start_error.ts";
import { createPrivately } from "./startup.ts";
import { keepCopy } from "./store/backup.ts";
import type { Database } from "./store/database.ts";
import { openEmbedded } from "./store/embedded.ts";
import { type LibsqlOptions, openLibsql } from "./store/libsql.ts";
import { requireFitServer, strengthen, UnfitServer } from "./store/libsql_server.ts";
import { type Patience, patientFetch } from "./store/patience.ts";
import { schemaVersionOf } from "./store/migrate.ts";
import { StorageThread } from "./store/thread.ts";
import { openThreaded, type Threaded } from "./store/threaded.ts";

/** Of requests to a database server. */
const DATABASE_PATIENCE: Patience = { requestMs: 8_000, silentMs: 1_000 };
const SESSION_ID_BYTES = 16;

interface Outside {
  readonly clock: Clock;
  readonly world: World;
}

/**
 * @throws {StartError} where it cannot be opened, or would not keep what it confirms; {DatabaseUnavailable} where a
 *   server cannot be asked for that.
 */
export async function openDatabase(
  config: Config,
  { log, onFatal, ...outside }: Outside & {
    readonly log: Log;
    /** Called once where storage failed for good: nothing may be written after it. */
    readonly onFatal: (error: unknown) => void;
  },
): Promise<Threaded> {
  const { database: location } = config;
  if (location.kind === "server") {
    const { adminUrl } = location;
    const server = serverOptions({ ...location, certificates: config.certificates }, {
      ...outside,
      onTrouble(trouble) {
        if (trouble === null) return log.info("the database server is as it must be again");
        const { message, mend, cause } = trouble;
        log.error(message, { mend, ...(cause === undefined ? {} : { error: reasonOf(cause) }) });
      },
    });
    try {
      await requireFitServer(server, location);
    } catch (error) {
      throw error instanceof UnfitServer ? new StartError(error.message) : error;
    }
    const database = openLibsql({
      ...server,
      strengthen: adminUrl === null ? null : async () => {
        await strengthen(server, adminUrl);
        log.warn("the database server had forgotten to keep what it confirms, and was told again", {
          mend: "run sqld with --enable-namespaces, which remembers a namespace's durability_mode",
        });
      },
    });
    // For `lock.db`, which lies on this host.
    const thread = new StorageThread(startThread(), onFatal);
    const close = async () => {
      await database.close();
      thread.end();
    };
    return { database: { ...database, close }, thread };
  }
  createPrivately(location.path, "");
  try {
    return await openThreaded({ path: location.path, onFatal, startThread });
  } catch (error) {
    throw new StartError(
      `the database file in JISS_DATA_DIR or JISS_DATABASE_URL cannot be opened: ${(error as Error).message}`,
    );
  }
}

/**
 * Keeps a copy of an embedded database whose schema is about to be changed: an earlier program can go on from it.
 * @throws {StartError} where it cannot be made: nothing is changed without it.
 */
export async function keepCopyBefore(
  { database: location }: Config,
  { database, to, log }: {
    readonly database: Database;
    /** The step that it is brought to. */
    readonly to: number;
    readonly log: Log;
  },
): Promise<void> {
  if (location.kind !== "file") return;
  const version = await schemaVersionOf(database);
  if (version === 0 || version >= to) return;
  try {
    const copy = await keepCopy(location.path, `schema-${version}`);
    log.info("the database is brought up to date; it was copied first", {
      copy,
      from: version,
      to,
    });
  } catch (error) {
    throw new StartError(
      `the database has to be brought up to date, and cannot be copied first (${
        (error as Error).message
      }): make room for as much as it takes`,
    );
  }
}

/** From its text, since a compiled program has no file of it. */
function startThread(): Worker {
  const url = URL.createObjectURL(new Blob([STORAGE_THREAD], { type: "text/javascript" }));
  return new Worker(url, { type: "module", name: "storage" });
}

export interface OpenStoredOptions extends Outside {
  /** Told what keeps a server from answering. */
  readonly onTrouble: LibsqlOptions["onTrouble"];
}

/** A database that is read as it stands, beside a service perhaps. @throws where it cannot be opened. */
export function openStored(
  { database: location, certificates }: StorageConfig,
  options: OpenStoredOptions,
): Database {
  return location.kind === "file"
    ? openEmbedded({ path: location.path, onFatal: () => {} })
    : openLibsql(serverOptions({ ...location, certificates }, options));
}

function serverOptions(
  { url, authToken, certificates }: {
    readonly url: string;
    readonly authToken: string | null;
    readonly certificates: readonly string[];
  },
  { clock, world, onTrouble }: OpenStoredOptions,
): LibsqlOptions {
  const client = Deno.createHttpClient({ caCerts: [...certificates] });
  return {
    url,
    authToken,
    fetch: patientFetch(
      (resource, init) => fetch(resource, { ...init, client, redirect: "error" }),
      DATABASE_PATIENCE,
    ),
    newId: () => world.random(SESSION_ID_BYTES).toHex(),
    time: clock,
    strengthen: null,
    onTrouble,
  };
}
