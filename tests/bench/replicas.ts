/**
 * Two replicas of the service on one libSQL server against one replica on it: scores a second, and no conflict lost.
 *
 * Here because its goal stands with the others; what it needs is not there yet.
 */
import type { BenchOptions, Row } from "./figures.ts";

/** Two replicas must not be slower than one by more than a tenth. */
export const AT_LEAST = 0.9;

export function replicas(_options: BenchOptions): Promise<readonly Row[]> {
  return Promise.resolve([{
    name: "two replicas on one sqld",
    skipped: "the service has no libSQL backend yet",
  }]);
}
