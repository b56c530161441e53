/** Files that a power cut must not take, once whoever wrote them goes on: keys, secrets, copies. */
import { dirname } from "node:path";

const PRIVATE_FILE = 0o600;

/**
 * Writes a file for its owner alone, and brings it and its name to the disk.
 * @throws {Deno.errors.AlreadyExists} where it must be new and is there; {Error} of the file system.
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

/** Puts a file that is on the disk in the place of another, and brings that to the disk. */
export function renameDurably(from: string, to: string): void {
  Deno.renameSync(from, to);
  syncFolder(dirname(to));
}

/** Brings what a file holds to the disk. */
export function syncFile(path: string): void {
  syncPath(path, { read: true, write: true });
}

/** Brings the names in a folder to the disk. Windows opens no folder, and NTFS keeps names by its own log. */
export function syncFolder(path: string): void {
  if (Deno.build.os !== "windows") syncPath(path, { read: true });
}

/**
 * Not by `using`: the minifier of `deno bundle` (esbuild 0.25.5) puts what is used once in the place of its use, and nobody
 * disposes of it then.
 */
function syncPath(path: string, options: Deno.OpenOptions): void {
  const file = Deno.openSync(path, options);
  try {
    file.syncSync();
  } finally {
    file.close();
  }
}
