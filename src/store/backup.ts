/** Copies of the embedded database: whole, as of one instant, whatever is written meanwhile. */
import { backup, DatabaseSync } from "node:sqlite";

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
  syncPath(to, { write: true });
}

/**
 * Brings a file or a folder to the disk. Not by `using`: the minifier of `deno bundle` (esbuild 0.25.5) puts what is used once in
 * the place of its use, and nobody disposes of it then.
 */
export function syncPath(path: string, options: Deno.OpenOptions = {}): void {
  const file = Deno.openSync(path, { read: true, ...options });
  try {
    file.syncSync();
  } finally {
    file.close();
  }
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
    Deno.renameSync(partial, copy);
    return copy;
  } catch (error) {
    Deno.removeSync(partial);
    throw error;
  }
}
