/**
 * The embedded backend: one SQLite file through `node:sqlite`, which is inside Deno, so that the compiled
 * binary needs no native add-on and no FFI permission.
 */
import type { CompiledQuery } from "kysely";
import { Clearing } from "./clearing.ts";
import { type Database, DatabaseBusy, type Statement, WriteConflict } from "./database.ts";
import { connectTo } from "./faults.ts";
import { type EmbeddedOptions, FileConnection, stopping } from "./file_connection.ts";

/**
 * Opens the file and creates it if it is missing.
 * @throws {StorageFailure} if it is not a database or cannot be opened.
 */
export function openEmbedded(options: EmbeddedOptions): Database {
  const file = new FileConnection(options);
  const clearing = new Clearing(file, options.path);
  return {
    isShared: false,
    read: <Row>(compiled: CompiledQuery<Row>) => file.answer(() => file.rows(compiled) as Row[]),
    snapshot: <Rows extends readonly unknown[]>(
      queries: { readonly [Index in keyof Rows]: CompiledQuery<Rows[Index]> },
    ) =>
      file.answer(() => {
        const rows = file.reading(() => queries.map((compiled) => file.rows(compiled)));
        return rows as unknown as { readonly [Index in keyof Rows]: readonly Rows[Index][] };
      }),
    batch: (statements) =>
      file.hasFailed ? Promise.reject(stopping()) : file.answer(() => runBatch(file, clearing, statements)),
    async expunge() {
      try {
        return await clearing.clear() ? "done" : "pending";
      } catch (error) {
        const translated = file.translate(error);
        if (translated instanceof DatabaseBusy) return "pending";
        throw translated;
      }
    },
    close() {
      file.close();
      clearing.close();
      return Promise.resolve();
    },
  };
}

/** The version of SQLite that runs the embedded database, such as `3.50.4`. */
export function sqliteVersion(): string {
  const memory = connectTo(":memory:", {}, []);
  const row = memory.prepare("SELECT sqlite_version() AS version").get() as { readonly version: string };
  memory.close();
  return row.version;
}

function runBatch(file: FileConnection, clearing: Clearing, statements: readonly Statement[]): void {
  file.writing(() => {
    for (const { sql, parameters, mustChange, impersonal, replacesPersonal } of statements) {
      const { changes } = file.prepare(sql).run(...parameters as never[]);
      if (replacesPersonal || (/^delete /i.test(sql) && !impersonal)) clearing.noteDeletion();
      if (mustChange !== undefined && Number(changes) !== mustChange) {
        throw new WriteConflict(`changed ${changes} rows instead of ${mustChange}`);
      }
    }
  });
}
