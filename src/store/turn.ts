/** Yields to the event loop: long work is done in slices, and other events are served between them. */

/** Resolves after the I/O that is ready now; a timer would take at least a millisecond. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
