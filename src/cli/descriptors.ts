/**
 * How many file descriptors are left to the process. Deno tells nobody without --allow-sys, and /proc is closed to a
 * program with less than all permissions: so they are counted, by opening them.
 */
import { CONNECTIONS_MAX, DESCRIPTOR_RESERVE } from "../domain/limits.ts";

/** Opens a path again and again, until none is left or there are `enough`, and closes them all. */
export function freeDescriptors(path: string, enough: number): number {
  const open: Deno.FsFile[] = [];
  try {
    while (open.length < enough) open.push(Deno.openSync(path));
  } catch {
    // None is left.
  } finally {
    for (const file of open) file.close();
  }
  return open.length;
}

/** Connections that leave enough of them to everything else, or half where they are few. */
export function connectionsFor(descriptors: number): number {
  return Math.min(
    CONNECTIONS_MAX,
    Math.max(descriptors - DESCRIPTOR_RESERVE, Math.ceil(descriptors / 2)),
  );
}
