/** Instants in the browser's own time zone, short and unambiguous. */

const LOCAL = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
  timeZoneName: "short",
});

/** An instant in ISO 8601 as the browser's clock shows it, with the short name of its zone: `27 Nov 2026, 12:43 CET`. */
export function localInWords(instant: string): string {
  return LOCAL.format(new Date(instant));
}
