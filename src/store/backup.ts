/** Copies of the embedded database: whole, as of one instant, whatever is written meanwhile. */
import { backup, DatabaseSync } from "node:sqlite";
import { renameDurably, syncFile } from "./durable_file.ts";

/** How long opening waits for another process's lock. */
const BUSY_TIMEOUT_MS = 5_000;
/** Pages that are copied in one step. */
const PAGES_IN_STEP = 4_096;

const PRIVATE_FILE = 0o600;

/** What `checkFile` says of a database whose pages fit together. */
const SOUND = "ok";

/**
 * Copies the database at `from` over the file `to`, and brings it to the disk. The copy is one file.
 * @throws {Error} of SQLite or of the file system; `to` is then of no use.
 */
export async function copyFile(from: string, to: string): Promise<void> {
  const source = new DatabaseSync(from, { timeout: BUSY_TIMEOUT_MS });
  try {
    // One snapshot, held: without it the copy begins anew with each commit of somebody else.
    source.exec("BEGIN");
    source.prepare("SELECT count(*) FROM sqlite_schema").get();
    await backup(source, to, { rate: PAGES_IN_STEP });
  } finally {
    source.close();
  }
  syncFile(to);
}

/** Holds every page and index of a database against the others. @returns what is wrong first; null: nothing. */
export function checkFile(path: string): string | null {
  const connection = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    const [row] = connection.prepare("PRAGMA integrity_check(1)").all() as { integrity_check: string }[];
    return row!.integrity_check === SOUND ? null : row!.integrity_check;
  } catch (error) {
    return (error as Error).message;
  } finally {
    connection.close();
  }
}

/** Whether a sound database is one of this service: it holds a chain from its first start on, in any schema. */
export function holdsChain(path: string): boolean {
  const connection = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    const tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    if (!["schema_migration", "audit_chain"].every((known) => tables.some(({ name }) => name === known))) {
      return false;
    }
    return connection.prepare("SELECT 1 FROM audit_chain LIMIT 1").get() !== undefined;
  } finally {
    connection.close();
  }
}

/**
 * Keeps a copy of a database that is about to be changed beside it, for its owner alone, in the place of an earlier one.
 * @returns where it is.
 * @throws {Error} of SQLite or of the file system; the earlier one is then as it was.
 */
export async function keepCopy(path: string, name: string): Promise<string> {
  const copy = `${path}.${name}`;
  const partial = `${copy}.part`;
  Deno.openSync(partial, { create: true, truncate: true, write: true, mode: PRIVATE_FILE }).close();
  try {
    await copyFile(path, partial);
    renameDurably(partial, copy);
    return copy;
  } catch (error) {
    Deno.removeSync(partial);
    throw error;
  }
}
