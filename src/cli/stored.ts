/**
 * The database as it stands, for commands that read it beside a running service: no secret is needed, nothing is
 * migrated, and nothing is made where there is no database.
 */
import { sql } from "kysely";
import { readStorage, type StorageConfig } from "../config/config.ts";
import { ServiceError } from "../domain/errors.ts";
import { type Database, DatabaseBusy, query } from "../store/database.ts";
import { openEmbedded } from "../store/embedded.ts";
import { exists } from "./init.ts";
import { reportProblems } from "./run_service.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";

/** Reading takes part in SQLite's write-ahead log, so it needs to write beside the database. */
const ADVICE = "run this as the user that the service runs as, with the service's JISS_DATA_DIR";

/** Where the environment says that everything lies. @throws {CommandFailure} 78. */
export function storageOf(shell: Shell): StorageConfig {
  return reportProblems(() => readStorage(shell.readEnvironment()));
}

/**
 * Opens the database, hands it over and closes it.
 * @throws {CommandFailure} 78 where there is none, or it is of another version of this program.
 */
export async function withStored<Result>(
  shell: Shell,
  { databaseFile }: Pick<StorageConfig, "databaseFile">,
  use: (database: Database) => Promise<Result>,
): Promise<Result> {
  if (!isThere(databaseFile)) {
    throw new CommandFailure(
      `there is no database at ${databaseFile}: start the service there once, or let JISS_DATA_DIR (or JISS_DATABASE_URL) say where it keeps its own`,
      EXIT.configuration,
    );
  }
  const database = open(databaseFile);
  try {
    await requireOwnSchema(database, { databaseFile, known: shell.schemaVersion });
    return await use(database);
  } catch (error) {
    if (error instanceof DatabaseBusy) {
      throw new CommandFailure("another process holds the database: try again", EXIT.failure);
    }
    if (error instanceof ServiceError) throw new CommandFailure(error.message, EXIT.failure);
    throw error;
  } finally {
    await database.close();
  }
}

/** @throws {CommandFailure} 78 where that cannot be known. */
function isThere(path: string): boolean {
  try {
    return exists(path);
  } catch (error) {
    throw new CommandFailure(
      `the database ${path} cannot be reached (${(error as Error).message}): ${ADVICE}`,
      EXIT.configuration,
    );
  }
}

function open(path: string): Database {
  try {
    return openEmbedded({ path, onFatal: () => {} });
  } catch (error) {
    throw new CommandFailure(
      `the database ${path} cannot be opened (${(error as Error).message}): ${ADVICE}`,
      EXIT.configuration,
    );
  }
}

async function requireOwnSchema(
  database: Database,
  { databaseFile, known }: { readonly databaseFile: string; readonly known: number },
): Promise<void> {
  const version = await schemaVersionOf(database);
  if (version === known) return;
  throw new CommandFailure(
    version === null
      ? `${databaseFile} is not a database of this program`
      : version < known
      ? `the database has schema version ${version}, this program works with ${known}: start the service once with this program, which brings it up to date`
      : `the database has schema version ${version}, this program knows up to ${known}: run the program that wrote it, or a newer one`,
    EXIT.configuration,
  );
}

/** null where the program has never written to it. */
async function schemaVersionOf(database: Database): Promise<number | null> {
  const tables = await database.read(
    sql<{ name: string }>`SELECT name FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migration'`
      .compile(query),
  );
  if (tables.length === 0) return null;
  const [row] = await database.read(
    query.selectFrom("schema_migration").select(sql<number | null>`max(version)`.as("version")).compile(),
  );
  return row?.version ?? null;
}
