/** Opens the configured database: a file with its thread, or a libSQL server over the network. */
import { STORAGE_THREAD } from "../http/assets.ts";
import type { Config, StorageConfig } from "../config/config.ts";
import type { Clock, World } from "../domain/world.ts";
import { reasonOf } from "../domain/errors.ts";
import type { Log } from "../observability/log.ts";
import { StartError } from "../operations/shared/start_error.ts";
import { createPrivately } from "./data_directory.ts";
import { keepCopy } from "../store/backup.ts";
import type { Database } from "../store/database.ts";
import { openEmbedded } from "../store/embedded.ts";
import { type LibsqlOptions, openLibsql, type ServerTrouble } from "../store/libsql.ts";
import { requireFitServer, strengthen, UnfitServer } from "../store/libsql_server.ts";
import { fetchWithTimeouts, type RequestTimeouts } from "../store/request_timeouts.ts";
import { FAULT_TEXTS, type PassingFault, StorageFailure } from "../store/faults.ts";
import { schemaVersionOf } from "../store/migrate.ts";
import { StorageThread } from "../store/thread.ts";
import { openThreaded, type Threaded } from "../store/threaded.ts";

/** Time limits of requests to a database server. */
const DATABASE_PATIENCE: RequestTimeouts = { requestMs: 8_000, silentMs: 1_000 };
const SESSION_ID_BYTES = 16;

interface Outside {
  readonly clock: Clock;
  readonly world: World;
}

/**
 * @throws {StartError} if the database cannot be opened, or would not keep what it confirms;
 *   {DatabaseUnavailable} if a server cannot be asked whether it would.
 */
export async function openDatabase(
  config: Config,
  { log, onFatal, ...outside }: Outside & {
    readonly log: Log;
    /** Called once if storage failed for good: nothing may be written after it. */
    readonly onFatal: (error: StorageFailure) => void;
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
    // The thread is for `lock.db`, which lies on this host.
    const thread = new StorageThread(startThread(), onFatal);
    const close = async () => {
      await database.close();
      thread.end();
    };
    return { database: { ...database, close }, thread };
  }
  createPrivately(location.path, "");
  try {
    return await openThreaded({ path: location.path, onFatal, onPassing: refusalLog(log), startThread });
  } catch (error) {
    throw unusable(DATABASE_FILE, error);
  }
}

/** Name of the database file in the messages of a start. */
export const DATABASE_FILE = "the database file in JISS_DATA_DIR or JISS_DATABASE_URL";

const REFUSALS: Readonly<Record<PassingFault, readonly [message: string, mend: string]>> = {
  full: [
    "the database takes no writes, as its disk is full: they are refused, reads are served",
    "make room where JISS_DATA_DIR lies; the service accepts writes again by itself",
  ],
  read_only: [
    "the database takes no writes, as its disk can only be read: they are refused, reads are served",
    "find out why (dmesg); once it can be written, the service accepts writes again by itself, or restart the service",
  ],
  unopened: [
    "the database cannot do everything, as a file cannot be opened: what needs one is refused",
    "grant the process more file descriptors (jiss doctor)",
  ],
};

/** Logs when a passing fault begins and when it ends, but not each refused write. */
function refusalLog(log: Log): (fault: PassingFault | null) => void {
  let told: PassingFault | null = null;
  return (fault) => {
    if (fault === told) return;
    told = fault;
    if (fault === null) return log.info("the database takes writes again");
    const [message, mend] = REFUSALS[fault];
    log.error(message, { mend });
  };
}

/** The error of a start that cannot use a file. */
export function unusable(what: string, error: unknown, mend?: string): StartError {
  const { message } = error as Error;
  if (!(error instanceof StorageFailure)) return new StartError(`${what} cannot be opened: ${message}`);
  const [why, mends] = FAULT_TEXTS[error.fault];
  return new StartError(`${what} cannot be used, as ${why}: ${mend ?? mends} (${message})`, {
    isTemporary: error.fault === "full" || error.fault === "failed",
  });
}

/**
 * Copies an embedded database before its schema is changed: an earlier program can go on from the copy.
 * @throws {StartError} if the copy cannot be made: nothing is changed without it.
 */
export async function keepCopyBefore(
  { database: location }: Config,
  { database, to, log }: {
    readonly database: Database;
    /** Step of the schema to which the database is brought. */
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

/** Starts the thread from its text, because a compiled program has no file for it. */
function startThread(): Worker {
  const url = URL.createObjectURL(new Blob([STORAGE_THREAD], { type: "text/javascript" }));
  return new Worker(url, { type: "module", name: "storage" });
}

export interface OpenStoredOptions extends Outside {
  /** Called with what keeps a server from answering, or with the final failure of a file. */
  readonly onTrouble: (trouble: ServerTrouble | StorageFailure | null) => void;
}

/** Opens a database to read it as it is; a service may use it meanwhile. @throws if it cannot be opened. */
export function openStored(
  { database: location, certificates }: StorageConfig,
  options: OpenStoredOptions,
): Database {
  return location.kind === "file"
    ? openEmbedded({ path: location.path, onFatal: options.onTrouble })
    : openLibsql(serverOptions({ ...location, certificates }, options));
}

function serverOptions(
  { url, authToken, certificates }: {
    readonly url: string;
    readonly authToken: string | null;
    readonly certificates: readonly string[];
  },
  { clock, world, onTrouble }: Outside & Pick<LibsqlOptions, "onTrouble">,
): LibsqlOptions {
  const client = Deno.createHttpClient({ caCerts: [...certificates] });
  return {
    url,
    authToken,
    fetch: fetchWithTimeouts(
      (resource, init) => fetch(resource, { ...init, client, redirect: "error" }),
      DATABASE_PATIENCE,
    ),
    newId: () => world.random(SESSION_ID_BYTES).toHex(),
    time: clock,
    strengthen: null,
    onTrouble,
  };
}
