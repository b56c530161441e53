/** Brings a database to the schema that this program knows, and refuses one that is ahead of it. */
import { sql } from "kysely";
import { ServiceError } from "../domain/errors.ts";
import { type Database, DatabaseBusy, query, WriteConflict } from "./database.ts";
import { StorageFailure } from "./faults.ts";

/** One step of the schema; `migrations/` lists them all. */
export interface Migration {
  /** 1, 2, 3 … without a gap. */
  readonly version: number;
  readonly name: string;
  /** Run in one atomic batch, in order. */
  readonly statements: readonly string[];
}

/** The database cannot be brought to the schema of this program. The message says why, and how to mend it. */
export class SchemaRefused extends Error {
  override readonly name = "SchemaRefused";
}

/** The schema version of a database; 0 if it has none. */
export async function schemaVersionOf(database: Database): Promise<number> {
  return await hasTable(database, "schema_migration") ? await schemaVersion(database) : 0;
}

/**
 * Applies pending migrations, each in one atomic batch. If another host migrates at the same time, each
 * migration is applied by one of them.
 * @returns the names of the migrations applied.
 * @throws {SchemaRefused} if the database has a later schema version than this program, or its tables are not
 * those of its version.
 */
export async function migrate(
  database: Database,
  { migrations, now }: { readonly migrations: readonly Migration[]; readonly now: number },
): Promise<readonly string[]> {
  if (!await hasTable(database, "schema_migration")) {
    await database.batch([{
      sql: `CREATE TABLE IF NOT EXISTS schema_migration (
        version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT`,
      parameters: [],
    }]);
  }
  const known = migrations.at(-1)?.version ?? 0;
  const applied: string[] = [];
  for (;;) {
    const current = await schemaVersion(database);
    if (current > known) {
      throw new SchemaRefused(
        `the database has schema version ${current}, but this program knows versions up to ${known}: run the program that wrote it, or a newer one`,
      );
    }
    const next = migrations.find((migration) => migration.version > current);
    if (next === undefined) return applied;
    try {
      await apply(database, next, now);
      applied.push(next.name);
    } catch (error) {
      // Another host did the same step first.
      if (error instanceof WriteConflict && await schemaVersion(database) !== current) continue;
      if (isOfStorage(error)) throw error;
      throw new SchemaRefused(
        `the database names its schema version ${current}, but the step to version ${next.version} fails (${
          (error as Error).message
        }): its tables are not those of that version. Put the database, or a backup of it, back`,
      );
    }
  }
}

/** Whether the error is about the storage of the database and not about its tables. */
function isOfStorage(error: unknown): boolean {
  return [WriteConflict, DatabaseBusy, ServiceError, StorageFailure].some((kind) => error instanceof kind);
}

async function schemaVersion(database: Database): Promise<number> {
  const [row] = await database.read(
    query.selectFrom("schema_migration").select(sql<number | null>`max(version)`.as("version")).compile(),
  );
  return row?.version ?? 0;
}

async function apply(
  database: Database,
  { version, name, statements }: Migration,
  now: number,
): Promise<void> {
  await database.batch([
    // First, so that a host that comes second fails here, before a statement that cannot run twice.
    query.insertInto("schema_migration").values({ version, name, applied_at: now }).compile(),
    ...statements.map((text) => ({ sql: text, parameters: [] })),
  ]);
}

async function hasTable(database: Database, name: string): Promise<boolean> {
  const rows = await database.read(
    sql<{ name: string }>`SELECT name FROM sqlite_schema WHERE type = 'table' AND name = ${name}`.compile(
      query,
    ),
  );
  return rows.length > 0;
}
