/**
 * How many file descriptors are left to the process. Deno tells nobody without --allow-sys, and /proc is closed to a
 * program with less than all permissions: so they are counted, by opening them.
 */
import { CONNECTIONS_MAX, DESCRIPTOR_RESERVE } from "../domain/limits.ts";
import type { Room } from "../http/connections.ts";
import { DESCRIPTORS_OF_RELAYED } from "../http/tls_relay.ts";

/** For so many more connections room is looked for at a time: it takes a few milliseconds. */
const CONNECTIONS_STEP = 128;

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
