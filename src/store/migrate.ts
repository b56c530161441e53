/** Brings a database to the schema that this program knows; refuses one that is ahead of it. */
import { sql } from "kysely";
import { type Database, query } from "./database.ts";

/** One step of the schema; `migrations/` lists them all. */
export interface Migration {
  /** 1, 2, 3 … without a gap. */
  readonly version: number;
  readonly name: string;
  /** Run in one atomic batch, in order. */
  readonly statements: readonly string[];
}

/** The database was written by a newer program. */
export class NewerSchema extends Error {
  override readonly name = "NewerSchema";
}

/**
 * Applies what is pending, each step in one atomic batch.
 * @returns the names of the steps applied.
 * @throws {NewerSchema} where the database knows a step that this program does not.
 */
export async function migrate(
  database: Database,
  { migrations, now }: { readonly migrations: readonly Migration[]; readonly now: number },
): Promise<readonly string[]> {
  if (!await hasTable(database, "schema_migration")) {
    await database.batch([{
      sql: `CREATE TABLE schema_migration (
        version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT`,
      parameters: [],
    }]);
  }
  const [row] = await database.read(
    query.selectFrom("schema_migration").select(sql<number | null>`max(version)`.as("version")).compile(),
  );
  const current = row?.version ?? 0;
  const known = migrations.at(-1)?.version ?? 0;
  if (current > known) {
    throw new NewerSchema(
      `the database has schema version ${current}, this program knows up to ${known}: run the program that wrote it, or a newer one`,
    );
  }
  const pending = migrations.filter((migration) => migration.version > current);
  for (const { version, name, statements } of pending) {
    await database.batch([
      ...statements.map((text) => ({ sql: text, parameters: [] })),
      query.insertInto("schema_migration").values({ version, name, applied_at: now }).compile(),
    ]);
  }
  return pending.map((migration) => migration.name);
}

async function hasTable(database: Database, name: string): Promise<boolean> {
  const rows = await database.read(
    sql<{ name: string }>`SELECT name FROM sqlite_schema WHERE type = 'table' AND name = ${name}`.compile(
      query,
    ),
  );
  return rows.length > 0;
}
