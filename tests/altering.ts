/**
 * Alters a database beneath the open service, on either backend, as somebody with write access to the file
 * can.
 */
import type { Database } from "../src/store/database.ts";

const statement = (sql: string) => ({ sql, parameters: [] });

/** Reads with SQL text. */
export function select(database: Database, sql: string): Promise<readonly Record<string, unknown>[]> {
  return database.read<Record<string, unknown>>({
    sql,
    parameters: [],
    query: {} as never,
    queryId: {} as never,
  });
}

/** Runs statements in one batch with no trigger in the way; all triggers are there again afterwards. */
export async function alter(database: Database, ...changes: readonly string[]): Promise<void> {
  const triggers = await select(
    database,
    "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name",
  );
  await database.batch([
    ...triggers.map(({ name }) => statement(`DROP TRIGGER ${name}`)),
    ...changes.map(statement),
    ...triggers.map(({ sql }) => statement(String(sql))),
  ]);
}

/** Alters, checks, and puts the rows of the named tables back. */
export async function whileAltered<Seen>(
  database: Database,
  { tables, changes }: { readonly tables: readonly string[]; readonly changes: readonly string[] },
  look: () => Promise<Seen>,
): Promise<Seen> {
  const columns = new Map<string, string>();
  for (const table of tables) {
    const rows = await select(
      database,
      `SELECT name FROM pragma_table_xinfo('${table}') WHERE hidden = 0`,
    );
    columns.set(table, rows.map(({ name }) => name).join(", "));
  }
  await database.batch(
    tables.map((table) =>
      statement(`CREATE TABLE kept_${table} AS SELECT ${columns.get(table)} FROM ${table}`)
    ),
  );
  await alter(database, ...changes);
  try {
    return await look();
  } finally {
    await alter(
      database,
      "PRAGMA defer_foreign_keys = ON",
      ...tables.flatMap((table) => [
        `DELETE FROM ${table}`,
        `INSERT INTO ${table} (${columns.get(table)}) SELECT * FROM kept_${table}`,
        `DROP TABLE kept_${table}`,
      ]),
    );
  }
}
