/** Files that must survive a power cut once the write has returned: keys, secrets, copies. */
import { dirname } from "node:path";

const PRIVATE_FILE = 0o600;

/**
 * Writes a file that only its owner can read, and syncs it and its name to the disk.
 * @throws {Deno.errors.AlreadyExists} if it must be new and exists; {Error} from the file system.
 */
export function writeDurably(
  path: string,
  content: string,
  { mustBeNew }: { readonly mustBeNew: boolean },
): void {
  const how = mustBeNew ? { createNew: true } : { create: true, truncate: true };
  const file = Deno.openSync(path, { write: true, mode: PRIVATE_FILE, ...how });
  try {
    const bytes = new TextEncoder().encode(content);
    for (let written = 0; written < bytes.length;) written += file.writeSync(bytes.subarray(written));
    file.syncSync();
  } finally {
    file.close();
  }
  syncFolder(dirname(path));
}

/**
 * Moves a file that is on the disk to another path, replacing what is there, and syncs the new name to the
 * disk.
 */
export function renameDurably(from: string, to: string): void {
  Deno.renameSync(from, to);
  syncFolder(dirname(to));
}

/** Syncs the content of a file to the disk. */
export function syncFile(path: string): void {
  syncPath(path, { read: true, write: true });
}

/**
 * Syncs the names in a folder to the disk. Windows cannot open a folder, and NTFS keeps names by its own log.
 */
export function syncFolder(path: string): void {
  if (Deno.build.os !== "windows") syncPath(path, { read: true });
}

/**
 * Does not use `using`: the minifier of `deno bundle` (esbuild 0.25.5) inlines a variable that is used once,
 * and then nothing disposes of it.
 */
function syncPath(path: string, options: Deno.OpenOptions): void {
  const file = Deno.openSync(path, options);
  try {
    file.syncSync();
  } finally {
    file.close();
  }
}
