/** An instant as a caller writes it. Source: contract, section 4. */
import * as z from "zod";

/** The instants that an ISO 8601 date-time with four digits for the year can say. */
const FIRST_INSTANT = Date.parse("0000-01-01T00:00:00.000Z");
const LAST_INSTANT = Date.parse("9999-12-31T23:59:59.999Z");

const EDGE_MESSAGE = "must lie in the years 0000 to 9999 (UTC)";

/**
 * A UTC date, or a date-time with its offset, as epoch milliseconds. What lies between two milliseconds is the later
 * one: events have whole milliseconds, so that an inclusive start and an exclusive end both stay exact.
 */
export const instantSchema = z.string().transform((text) => text.toUpperCase()).pipe(
  z.union([
    z.iso.date(),
    z.iso.datetime({ offset: true }),
    // Without seconds.
    z.iso.datetime({ offset: true, precision: -1 }),
  ], {
    error:
      "must be an ISO date (2026-10-01) or a date-time with an offset (2026-10-01T00:00:00Z); in a query the + of an offset is written %2B",
  }),
).transform((text) => Date.parse(text) + (BETWEEN_MILLISECONDS.test(text) ? 1 : 0)).pipe(
  z.number().min(FIRST_INSTANT, EDGE_MESSAGE).max(LAST_INSTANT, EDGE_MESSAGE),
).meta({
  override: { type: "string", examples: ["2026-10-01", "2026-10-01T00:00:00+02:00"] },
});

const BETWEEN_MILLISECONDS = /\.[0-9]{3}[0-9]*[1-9]/;
