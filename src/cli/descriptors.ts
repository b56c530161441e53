/**
 * Counts the free file descriptors of the process, by opening them. Deno reports their number only with
 * --allow-sys, and a program can read /proc only with all permissions.
 */
import { CONNECTIONS_MAX, DESCRIPTOR_RESERVE } from "../domain/limits.ts";
import type { Room } from "../http/connections.ts";
import { DESCRIPTORS_PER_RELAY } from "../http/tls_relay.ts";
import { isOutOfDescriptors, MORE_DESCRIPTORS } from "../operations/shared/start_error.ts";
import { CommandFailure, EXIT } from "./shell.ts";

/** Connections for which room is counted at a time: this takes a few milliseconds. */
const CONNECTIONS_STEP = 128;

/**
 * The number of free descriptors, at most `enough`: opens a path until the open fails, and closes all again.
 * @param unreadable - the result if the path may not be opened at all; default: 0.
 */
export function freeDescriptors(path: string, enough: number, unreadable = 0): number {
  const open: Deno.FsFile[] = [];
  try {
    while (open.length < enough) open.push(Deno.openSync(path));
  } catch (error) {
    // Otherwise no descriptor is left.
    if (!isOutOfDescriptors(error)) return unreadable;
  } finally {
    for (const file of open) file.close();
  }
  return open.length;
}

/**
 * Descriptors that a command needs at once. The service needs most: database, log of checkpoints, listeners.
 */
const DESCRIPTORS_LEAST = 32;

/**
 * Requires the file descriptors that a command needs. Without them one file after the other would seem
 * unreadable, and Deno 2.9.6 may crash.
 * @throws {CommandFailure} 78 if there are too few.
 */
export function requireDescriptors(): void {
  // A program with fewer permissions than the release cannot count them, and is let through.
  const found = freeDescriptors("/", DESCRIPTORS_LEAST, DESCRIPTORS_LEAST);
  if (found >= DESCRIPTORS_LEAST) return;
  throw new CommandFailure(
    `this process can open only ${found} more files and needs at least ${DESCRIPTORS_LEAST}: ${MORE_DESCRIPTORS}`,
    EXIT.configuration,
  );
}

/** How many descriptors a connection takes. */
export function descriptorsOf({ tls }: { readonly tls: unknown }): number {
  return tls === null ? 1 : DESCRIPTORS_PER_RELAY;
}

/**
 * How many connections of `each` descriptors there may be. They leave the reserve for everything else; if
 * descriptors are few, they may take half.
 */
export function connectionsFor(descriptors: number, each: number): number {
  const given = Math.max(descriptors - DESCRIPTOR_RESERVE, Math.ceil(descriptors / 2));
  return Math.min(CONNECTIONS_MAX, Math.max(Math.floor(given / each), 1));
}

/**
 * Room for connections, counted as connections come: to count for all of them at the start would take a
 * fourth of it.
 * @param each - how many descriptors one connection takes.
 * @param free - returns how many descriptors are free, at most `enough`.
 */
export function roomForConnections(each: number, free: (enough: number) => number): Room {
  let counted = 0;
  let isFinal = false;
  const grow = () => {
    const wanted = Math.min(counted + CONNECTIONS_STEP, CONNECTIONS_MAX);
    const more = free(each * (wanted - counted) + DESCRIPTOR_RESERVE);
    const fit = Math.min(connectionsFor(each * counted + more, each), wanted);
    isFinal = fit < wanted || fit === CONNECTIONS_MAX;
    counted = Math.max(counted, fit);
  };
  grow();
  return {
    get most() {
      return counted;
    },
    isFull(open) {
      if (open >= counted && !isFinal) grow();
      return open >= counted;
    },
  };
}
