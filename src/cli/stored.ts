/**
 * Opens the database for commands that only read it, also while the service runs: no secret is needed,
 * nothing is migrated, and no database is made if there is none.
 */
import { readStorage, type StorageConfig } from "../config/config.ts";
import { reasonOf, ServiceError } from "../domain/errors.ts";
import { type Database, DatabaseBusy } from "../store/database.ts";
import { FAULT_TEXTS, StorageFailure } from "../store/faults.ts";
import { schemaVersionOf } from "../store/migrate.ts";
import { exists } from "./init.ts";
import { reportProblems } from "./run_service.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";

/** Reading takes part in SQLite's write-ahead log, so it needs to write beside the database. */
const ADVICE = "run this as the user of the service, with the service's JISS_DATA_DIR";

/** The places of all data, from the environment. @throws {CommandFailure} 78 */
export function storageOf(shell: Shell): StorageConfig {
  return reportProblems(() => readStorage(shell.readEnvironment(), Deno.readTextFileSync));
}

/**
 * Opens the database, passes it to `use` and closes it.
 * @throws {CommandFailure} 78 if there is none or it cannot be opened, if it is of another version of this
 *   program, or if it cannot be read because its schema was altered; 74 if storage fails; 1 if it is busy, or
 *   for a {ServiceError}.
 */
export async function withStored<Result>(
  shell: Shell,
  storage: StorageConfig,
  use: (database: Database) => Promise<Result>,
): Promise<Result> {
  const { database: location } = storage;
  const where = location.kind === "file" ? location.path : location.url;
  if (location.kind === "file" && !databaseExists(location.path)) {
    throw new CommandFailure(
      `there is no database at ${where}: start the service there once, or set JISS_DATA_DIR or JISS_DATABASE_URL as the service has it`,
      EXIT.configuration,
    );
  }
  let trouble: unknown = null;
  const database = open(shell, storage, { where, onTrouble: (error) => trouble = error });
  try {
    await requireOwnSchema(database, { where, known: shell.schemaVersion });
    return await use(database);
  } catch (error) {
    if (error instanceof DatabaseBusy) {
      throw new CommandFailure("another process holds the database: try again", EXIT.failure);
    }
    if (trouble instanceof StorageFailure) throw storageFailed(where, trouble, EXIT.ioError);
    if (error instanceof ServiceError) {
      const why = trouble === null ? "" : ` (${reasonOf(trouble)})`;
      throw new CommandFailure(`${error.message}${why}`, EXIT.failure);
    }
    await requireUnaltered(shell, database, error);
    throw error;
  } finally {
    await database.close();
  }
}

/** @throws {CommandFailure} 78 if this cannot be known. */
function databaseExists(path: string): boolean {
  try {
    return exists(path);
  } catch (error) {
    throw new CommandFailure(
      `the database ${path} cannot be reached (${(error as Error).message}): ${ADVICE}`,
      EXIT.configuration,
    );
  }
}

function open(
  shell: Shell,
  storage: StorageConfig,
  { where, onTrouble }: { readonly where: string; readonly onTrouble: (error: unknown) => void },
): Database {
  try {
    return shell.openStored(storage, { clock: shell.clock, world: shell.realWorld(), onTrouble });
  } catch (error) {
    if (!(error instanceof StorageFailure)) {
      throw new CommandFailure(
        `the database ${where} cannot be opened (${(error as Error).message}): ${ADVICE}`,
        EXIT.configuration,
      );
    }
    const mayPass = error.fault === "full" || error.fault === "failed";
    throw storageFailed(where, error, mayPass ? EXIT.ioError : EXIT.configuration);
  }
}

function storageFailed(where: string, { fault, message }: StorageFailure, exitCode: number): CommandFailure {
  const [why, mend] = FAULT_TEXTS[fault];
  return new CommandFailure(
    `the database ${where} cannot be used because ${why} (${message}): ${mend}`,
    exitCode,
  );
}

async function requireOwnSchema(
  database: Database,
  { where, known }: { readonly where: string; readonly known: number },
): Promise<void> {
  const version = await schemaVersionOf(database);
  if (version === known) return;
  throw new CommandFailure(
    version === 0
      ? `${where} is not a database of this program`
      : version < known
      ? `the database has schema version ${version}, but this program needs ${known}: start the service once with this program, which migrates it`
      : `the database has schema version ${version}, but this program knows versions up to ${known}: run the program that wrote it, or a newer one`,
    EXIT.configuration,
  );
}

/**
 * Explains a failed command on an altered database. Data that can still be read is shown as it is.
 * @throws {CommandFailure} 78 if the schema was altered.
 */
async function requireUnaltered(shell: Shell, database: Database, error: unknown): Promise<void> {
  if (error instanceof CommandFailure) return;
  const trouble = await shell.schemaTroubleOf(database).catch(() => null);
  if (trouble !== null) throw new CommandFailure(`${trouble.what}: ${trouble.mend}`, EXIT.configuration);
}
