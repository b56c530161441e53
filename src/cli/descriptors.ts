/**
 * How many file descriptors are left to the process. Deno tells nobody without --allow-sys, and /proc is closed to a
 * program with less than all permissions: so they are counted, by opening them.
 */
import { CONNECTIONS_MAX, DESCRIPTOR_RESERVE } from "../domain/limits.ts";
import type { Room } from "../http/connections.ts";
import { DESCRIPTORS_OF_RELAYED } from "../http/tls_relay.ts";
import { isWantOfDescriptors, MORE_DESCRIPTORS } from "../operations/shared/start_error.ts";
import { CommandFailure, EXIT } from "./shell.ts";

/** For so many more connections room is looked for at a time: it takes a few milliseconds. */
const CONNECTIONS_STEP = 128;

/**
 * Opens a path again and again, until none is left or there are `enough`, and closes them all.
 * @param unreadable - what is returned where the path may not be opened at all; default: 0.
 */
export function freeDescriptors(path: string, enough: number, unreadable = 0): number {
  const open: Deno.FsFile[] = [];
  try {
    while (open.length < enough) open.push(Deno.openSync(path));
  } catch (error) {
    // Else none is left.
    if (!isWantOfDescriptors(error)) return unreadable;
  } finally {
    for (const file of open) file.close();
  }
  return open.length;
}

/** What a command opens beside each other, the service most: its database, its log of checkpoints, what listens. */
const DESCRIPTORS_LEAST = 32;

/**
 * Looks whether a command gets the file descriptors that it needs. Without them each file would seem unreadable in its turn,
 * and Deno 2.9.6 may break down.
 * @throws {CommandFailure}
 */
export function requireDescriptors(): void {
  // A program with fewer permissions than the release's may not look, and is let through.
  const found = freeDescriptors("/", DESCRIPTORS_LEAST, DESCRIPTORS_LEAST);
  if (found >= DESCRIPTORS_LEAST) return;
  throw new CommandFailure(
    `this process may open ${found} files more and needs ${DESCRIPTORS_LEAST} at least: ${MORE_DESCRIPTORS}`,
    EXIT.configuration,
  );
}

/** How many of them a connection takes. */
export function descriptorsOf({ tls }: { readonly tls: unknown }): number {
  return tls === null ? 1 : DESCRIPTORS_OF_RELAYED;
}

/** Connections of `each` that leave enough descriptors to everything else, or half where they are few. */
export function connectionsFor(descriptors: number, each: number): number {
  const given = Math.max(descriptors - DESCRIPTOR_RESERVE, Math.ceil(descriptors / 2));
  return Math.min(CONNECTIONS_MAX, Math.max(Math.floor(given / each), 1));
}

/**
 * Room for connections, counted as they come: to count for all of them before the first would be a fourth of a start.
 * @param each - how many descriptors one takes.
 * @param free - how many descriptors are left, or `enough`.
 */
export function roomForConnections(each: number, free: (enough: number) => number): Room {
  let known = 0;
  let isAll = false;
  const grow = () => {
    const wanted = Math.min(known + CONNECTIONS_STEP, CONNECTIONS_MAX);
    const more = free(each * (wanted - known) + DESCRIPTOR_RESERVE);
    const fit = Math.min(connectionsFor(each * known + more, each), wanted);
    isAll = fit < wanted || fit === CONNECTIONS_MAX;
    known = Math.max(known, fit);
  };
  grow();
  return {
    get most() {
      return known;
    },
    isFull(open) {
      if (open >= known && !isAll) grow();
      return open >= known;
    },
  };
}
