/** Letting others run: long work is done in slices, between which the event loop serves what came meanwhile. */

/** After the I/O that is ready now; a timer would cost at least a millisecond. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
