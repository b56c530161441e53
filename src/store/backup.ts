/**
 * Copies of the embedded database. Each copy is complete and of one instant, even if the database is written
 * meanwhile.
 */
import { backup, DatabaseSync } from "node:sqlite";
import { renameDurably, syncFile } from "./durable_file.ts";

/** Milliseconds that opening waits for another process's lock. */
const BUSY_TIMEOUT_MS = 5_000;
/** Pages that are copied in one step. */
const PAGES_IN_STEP = 4_096;

const PRIVATE_FILE = 0o600;

/** Result of `integrity_check` for a database whose pages are consistent. */
const SOUND = "ok";

/**
 * Copies the database at `from` over the file `to`, and syncs it to the disk. The copy is one file.
 * @throws {Error} from SQLite or the file system; `to` is then unusable.
 */
export async function copyFile(from: string, to: string): Promise<void> {
  const source = new DatabaseSync(from, { timeout: BUSY_TIMEOUT_MS });
  try {
    // Holds one snapshot: without it the copy restarts with each commit of another connection.
    source.exec("BEGIN");
    source.prepare("SELECT count(*) FROM sqlite_schema").get();
    await backup(source, to, { rate: PAGES_IN_STEP });
  } finally {
    source.close();
  }
  syncFile(to);
}

/**
 * Checks every page and index of a database against the others.
 * @returns the first fault; null if there is none.
 */
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

/**
 * Whether a sound database belongs to this service: it holds a chain from its first start on, in any schema
 * version.
 */
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
 * Keeps a copy of a database that is about to be changed, beside it and readable by its owner only. Replaces
 * an earlier copy.
 * @returns the path of the copy.
 * @throws {Error} from SQLite or the file system; the earlier copy is then unchanged.
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
