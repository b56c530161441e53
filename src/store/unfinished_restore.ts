/**
 * The mark of a restore that has moved a database into place but has not recorded that yet. Until then
 * nothing may be written: a restored database that continued in the old epoch would be a fork, and `lock.db`
 * may lag too far to notice.
 */
import { syncFolder, writeDurably } from "./durable_file.ts";

const markOf = (directory: string) => `${directory}/restore.unfinished`;

/** Sets the mark; it is on the disk when this returns. */
export function markRestore(directory: string): void {
  writeDurably(markOf(directory), "", { mustBeNew: false });
}

export function isRestoreUnfinished(directory: string): boolean {
  try {
    Deno.lstatSync(markOf(directory));
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Removes the mark once the restore is recorded. */
export function unmarkRestore(directory: string): void {
  if (!isRestoreUnfinished(directory)) return;
  Deno.removeSync(markOf(directory));
  syncFolder(directory);
}
