/**
 * The baseline of a durable write: `node:sqlite` inserts of the same bytes, as durable as the service's own.
 */
import { DatabaseSync } from "node:sqlite";

export interface RawInserts {
  /** Microseconds of one synced transaction with each of the texts as a row. */
  insert(texts: readonly string[]): number;
  close(): void;
}

export function rawInserts(directory: string): RawInserts {
  const database = new DatabaseSync(`${directory}/raw.db`);
  database.exec("PRAGMA journal_mode = WAL");
  database.exec("PRAGMA synchronous = FULL");
  database.exec("CREATE TABLE raw (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT");
  const begin = database.prepare("BEGIN IMMEDIATE");
  const insert = database.prepare("INSERT INTO raw (body) VALUES (?)");
  const commit = database.prepare("COMMIT");
  return {
    insert(texts) {
      const started = performance.now();
      begin.run();
      for (const text of texts) insert.run(text);
      commit.run();
      return 1000 * (performance.now() - started);
    },
    close: () => database.close(),
  };
}
