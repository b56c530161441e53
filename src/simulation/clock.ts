/** Simulated time: when the case with an index, from 0, is decided. */
import { DAY_MS } from "../domain/time.ts";

/**
 * A history begins at 2026-01-05, a Monday, and has this many cases a day, evenly spread. Weekends and
 * working hours are not simulated.
 */
const START_AT = Date.UTC(2026, 0, 5);
const CASES_PER_DAY = 8;
const NOON_MS = DAY_MS / 2;

/** The instant of a case, epoch milliseconds; `daysBetween` is the time from one case to the next. */
export function instantOf(index: number, daysBetween = 1 / CASES_PER_DAY): number {
  return START_AT + Math.floor(index * DAY_MS * daysBetween);
}

/** Whether a case is decided before noon, UTC: half of them are. */
export function isMorning(index: number): boolean {
  return instantOf(index) % DAY_MS < NOON_MS;
}
