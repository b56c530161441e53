/**
 * The forms of an instant: those that a caller may write, and the one that the service writes. Source:
 * contract, section 4.
 */
import * as z from "zod";

/** The first and the last instant that an ISO 8601 date-time with a four-digit year can express. */
const FIRST_INSTANT = Date.parse("0000-01-01T00:00:00.000Z");
const LAST_INSTANT = Date.parse("9999-12-31T23:59:59.999Z");

const EDGE_MESSAGE = "must lie in the years 0000 to 9999 (UTC)";

const DATE = z.regexes.date.source.replace(/^\^|\$$/g, "");
/** The seconds may be left out; letters may be lower case. */
const TIME =
  "[Tt](?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d+)?)?(?:[Zz]|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)";
const INSTANT = new RegExp(`^${DATE}(?:${TIME})?$`);

/**
 * A UTC date, or a date-time with its offset, as epoch milliseconds. An instant between two milliseconds
 * becomes the later one: events have whole milliseconds, so an inclusive start and an exclusive end both stay
 * exact.
 */
export const instantSchema = z.string().regex(
  INSTANT,
  "must be an ISO date (2026-10-01) or a date-time with an offset (2026-10-01T00:00:00Z); in a query the + of an offset is written %2B",
).transform((text) => Date.parse(text.toUpperCase()) + (BETWEEN_MILLISECONDS.test(text) ? 1 : 0)).pipe(
  z.number().min(FIRST_INSTANT, EDGE_MESSAGE).max(LAST_INSTANT, EDGE_MESSAGE),
).meta({
  description:
    "A date, which begins at midnight UTC, or a date-time with its offset; the seconds may be left out.",
  examples: ["2026-10-01", "2026-10-01T00:00:00+02:00"],
});

const BETWEEN_MILLISECONDS = /\.[0-9]{3}[0-9]*[1-9]/;

/** An instant of epoch milliseconds as answers show it. */
export function isoOrNull(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

/** An instant in answers: ISO 8601 in UTC with milliseconds, so that the texts sort in the order of time. */
export const isoTimestamp = z.iso.datetime({ precision: 3 }).meta({
  id: "Timestamp",
  override: { pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$" },
});
