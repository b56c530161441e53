/** The data directory: its locks, private files in it, and what a cut-off restore left there. */
import type { Config } from "../config/config.ts";
import { adviceForFile, StartError } from "../operations/shared/start_error.ts";
import { writeDurably } from "../store/durable_file.ts";
import { FAULT_TEXTS, faultOfFile } from "../store/faults.ts";
import { isRestoreUnfinished } from "../store/unfinished_restore.ts";

const PRIVATE_FILE = 0o600;
const LOCK_FILE = "start.lock";
const RUNNING_FILE = "running.lock";
const PRIVATE_DIRECTORY = 0o700;

/**
 * Makes the data directory if it is missing, and holds a lock on it until disposed of; waits while another
 * process holds the lock.
 * @throws {StartError} if the directory cannot be made or written.
 */
export async function lockDirectory(directory: string): Promise<Disposable> {
  try {
    Deno.mkdirSync(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
    const file = Deno.openSync(`${directory}/${LOCK_FILE}`, {
      create: true,
      write: true,
      mode: PRIVATE_FILE,
    });
    await file.lock(true);
    return file;
  } catch (error) {
    throw unwritable("JISS_DATA_DIR cannot be made or written", error, "check the path and its permissions");
  }
}

/** @throws {StartError} if a restore was cut short: the directory may then hold any database, or none. */
export function requireNoUnfinishedRestore(directory: string): void {
  if (!isRestoreUnfinished(directory)) return;
  throw new StartError(
    "a restore into JISS_DATA_DIR was cut short: run `jiss restore FILE --acknowledge REASON` again",
  );
}

/**
 * Deletes the copy of a backup that a killed restore left: it was checking the copy and had changed nothing
 * yet. Call it while `markRunning` holds: no restore runs beside that.
 */
export function removeLeftOver({ database }: Pick<Config, "database">): void {
  if (database.kind !== "file") return;
  for (const end of ["", "-wal", "-shm"]) {
    try {
      Deno.removeSync(`${database.path}.restoring${end}`);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) {
        throw unwritable("JISS_DATA_DIR cannot be written", error, "check its permissions");
      }
    }
  }
}

/** Marks the directory as used by a process, until the mark is disposed of or the process ends. */
export async function markRunning(directory: string): Promise<Disposable> {
  const file = openRunning(directory);
  await file.lock(false);
  return file;
}

/** Keeps processes from using the directory until disposed of; null if a process uses it now. */
export async function keepStopped(directory: string): Promise<Disposable | null> {
  const file = openRunning(directory);
  if (await file.tryLock(true)) return file;
  file.close();
  return null;
}

function openRunning(directory: string): Deno.FsFile {
  try {
    return Deno.openSync(`${directory}/${RUNNING_FILE}`, { create: true, write: true, mode: PRIVATE_FILE });
  } catch (error) {
    throw unwritable("JISS_DATA_DIR cannot be written", error, "check its permissions");
  }
}

/** Creates a file that only its owner can read, durably, unless it exists. Returns whether it was created. */
export function createPrivately(path: string, content: string): boolean {
  if (path === ":memory:") return false;
  try {
    writeDurably(path, content, { mustBeNew: true });
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return false;
    throw unwritable("a file cannot be created in JISS_DATA_DIR", error, "check its permissions");
  }
}

function unwritable(what: string, error: unknown, mend: string): StartError {
  const fault = faultOfFile(error);
  if (fault === null) {
    return new StartError(`${what} (${(error as Error).name}): ${adviceForFile(error, mend)}`);
  }
  const [why, mends] = FAULT_TEXTS[fault];
  return new StartError(`${what}, as ${why}: ${mends}`, { isTemporary: fault === "full" });
}
