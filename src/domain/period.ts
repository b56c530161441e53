/** Spans of time that a report covers. */

/** Epoch milliseconds: the start is included, the end excluded. */
export interface Period {
  readonly start: number;
  readonly end: number;
}

/** The last calendar quarter (UTC) that has ended by `now`, epoch milliseconds. */
export function lastFullQuarter(now: number): Period {
  const today = new Date(now);
  const year = today.getUTCFullYear();
  const month = today.getUTCMonth() - today.getUTCMonth() % 3;
  return { start: Date.UTC(year, month - 3), end: Date.UTC(year, month) };
}
