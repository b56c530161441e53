/** Lengths of time. */

/** A day, milliseconds. */
export const DAY_MS = 86_400_000;

/** A minute, milliseconds. */
export const MINUTE_MS = 60_000;
