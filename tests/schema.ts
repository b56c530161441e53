/**
 * The schema of this program in an empty database, as all its migrations leave it, in one batch: a harness
 * opens in a quarter of the time that the migrations need one by one. The migrations have tests of their own.
 */
import { CompiledQuery } from "kysely";
import { MIGRATIONS } from "../migrations/mod.ts";
import type { Database, Statement } from "../src/store/database.ts";
import { openEmbedded } from "../src/store/embedded.ts";
import { migrate } from "../src/store/migrate.ts";

type Row = Readonly<Record<string, unknown>>;

function rowsOf<Result = Row>(database: Database, sql: string): Promise<readonly Result[]> {
  return database.read(CompiledQuery.raw(sql) as CompiledQuery<Result>);
}

/** Content of a database after the migrations: each object's definition, then the rows of each table. */
async function migrated(): Promise<readonly Statement[]> {
  const database = openEmbedded({ path: ":memory:", onFatal: () => {} });
  await migrate(database, { migrations: MIGRATIONS, now: 0 });
  const objects = await rowsOf<{ type: string; name: string; sql: string }>(
    database,
    "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
  );
  const statements: Statement[] = objects.map(({ sql }) => ({ sql, parameters: [] }));
  for (const { type, name } of objects) {
    // The rows of the migrations have another time in each database.
    if (type !== "table" || name === "schema_migration") continue;
    for (const row of await rowsOf(database, `SELECT * FROM "${name}"`)) {
      const columns = Object.keys(row);
      statements.push({
        sql: `INSERT INTO "${name}" (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
        parameters: Object.values(row),
      });
    }
  }
  await database.close();
  return statements;
}

let statements: Promise<readonly Statement[]> | null = null;

/** Brings a database to the program's schema: an empty one at once, any other by its pending migrations. */
export async function bringToSchema(database: Database, now: number): Promise<void> {
  const [held] = await rowsOf<{ n: number }>(database, "SELECT count(*) AS n FROM sqlite_schema");
  if (held!.n > 0) {
    await migrate(database, { migrations: MIGRATIONS, now });
    return;
  }
  const steps = MIGRATIONS.map(({ version, name }): Statement => ({
    sql: "INSERT INTO schema_migration (version, name, applied_at) VALUES (?, ?, ?)",
    parameters: [version, name, now],
  }));
  await database.batch([...await (statements ??= migrated()), ...steps]);
}
